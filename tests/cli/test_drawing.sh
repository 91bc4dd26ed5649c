#!/usr/bin/env bash
# Pictures of installed networks that are no tree: every box within the frame, none on another, every cable drawn, the same
# bytes again.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

/usr/bin/python3 - <<'PY'
import random
random.seed(7)

def write(name, n, edges):
    with open(name, "w", encoding="utf-8") as out:
        out.write("A-node,A-port,Z-node,Z-port,rate\n")
        used = [1] * n
        for i in range(n):
            out.write(f"sw{i},{used[i]},host{i},1,400Gb/s\n")
        for a, b in edges:
            used[a] += 1
            used[b] += 1
            out.write(f"sw{a},{used[a]},sw{b},{used[b]},400Gb/s\n")

write("chord.csv", 5, [(i, (i + 1) % 5) for i in range(5)] + [(0, 2)])
write("stars.csv", 9, [(0, i) for i in range(1, 5)] + [(5, i) for i in range(6, 9)] + [(0, 5), (1, 6), (1, 2)])
write("drawn.csv", 12, sorted({(random.randrange(i), i) for i in range(1, 12)} | {(0, 11), (3, 7), (2, 9), (4, 10)}))
PY

for network in chord stars drawn; do
  "$program" build "installed:$network.csv" --format svg --quiet >"$network.svg" || fail "$network: exit code $?"
  "$program" build "installed:$network.csv" --format svg --quiet --threads 1 | cmp - "$network.svg" || fail "$network: not the same again"
  /usr/bin/python3 - "$network" <<'PY' || fail "$network"
import itertools, sys
import xml.etree.ElementTree as tree
name = sys.argv[1]
svg = tree.parse(f"{name}.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
left, top, width, height = map(float, svg.get("viewBox").split())
boxes = {}
for rect in svg.iter(f"{space}rect"):
    title = rect.find(f"{space}title")
    if title is not None and rect.get("class").startswith("n "):
        x, y = float(rect.get("x")), float(rect.get("y"))
        boxes[title.text] = (x, y, x + float(rect.get("width")), y + float(rect.get("height")))
cables = open(f"{name}.csv", encoding="utf-8").read().splitlines()[1:]
switches = {f"sw{i}" for i in range(sum("host" in cable for cable in cables))}
assert switches <= boxes.keys(), boxes.keys()
for box, (x0, y0, x1, y1) in boxes.items():
    assert left <= x0 < x1 <= left + width and top <= y0 < y1 <= top + height, (box, x0, y0, x1, y1)
for (a, p), (b, q) in itertools.combinations(boxes.items(), 2):
    assert p[2] <= q[0] or q[2] <= p[0] or p[3] <= q[1] or q[3] <= p[1], f"{a} lies on {b}"
lines = [path.find(f"{space}title").text for path in svg.iter(f"{space}path") if path.find(f"{space}title") is not None]
drawn = {frozenset(line.split(": ")[0].split(" – ")) for line in lines}
for cable in cables:
    a, _, b, _, _ = cable.split(",")
    assert b.startswith("host") or frozenset((a, b)) in drawn, f"no line of {a} and {b}"
PY
done

# What boxes are is said where it is not what the row counts: servers behind the same leaves, nodes of a pod.
boxes() { # boxes DESIGN COUNTED SAID N CLASS
  "$program" build "$1" --format svg --quiet >boxes.svg || fail "$1: exit code $?"
  grep -A 1 ">$2</text>" boxes.svg | grep ">$3</text>" >/dev/null || fail "$1: boxes of '$2' are not called '$3'"
  [[ $(grep -c "<rect class=\"n $5\"" boxes.svg) -eq $4 ]] || fail "$1: $4 boxes of class $5: $(grep -c "<rect class=\"n $5\"" boxes.svg)"
}
boxes rail-spine:gpus=1024,radix=32 '128 servers' '8 leaf groups' 8 l0
boxes rail-spine:gpus=3200,radix=32 '200 leaves' '13 pods' 13 l3
# A heading that is too long goes on in the next line after a whole word.
"$program" run rail-spine:gpus=3200,radix=32 --job model=gpt-1t,recompute=full --engine ecmp,qp=4 --format svg --quiet >long.svg
/usr/bin/python3 - <<'PY' || fail "a heading is cut within a word: $(grep 'class="s"' long.svg)"
import re
svg = open("long.svg").read()
lines = re.findall(r'<text class="s"[^>]*>([^<]*)</text>', svg)
first = next(n for n, line in enumerate(lines) if line.startswith("Largest collision factor"))
assert f"{lines[first]} {lines[first + 1]}" in re.search(r"<desc[^>]*>([^<]*)", svg)[1], lines
PY

# The page of a slide, whatever is drawn: 16 to 9, nothing beyond its edges, heading and legend of at least 17 and 11
# pixels of 1200, wider than a third of the page where there is more than one box in a row.
for design in clos:gpus=256 clos:gpus=24576 torus:torus=8,8,4,gpus=256 dragonfly:gpus=1024 rail-only:gpus=512; do
  "$program" build "$design" --format svg --quiet >page.svg || fail "$design: exit code $?"
  /usr/bin/python3 - <<'PY' || fail "$design: not the page of a slide"
import re
import xml.etree.ElementTree as tree
svg = tree.parse("page.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
left, top, width, height = map(float, svg.get("viewBox").split())
assert abs(width / height - 16 / 9) < 1e-3 and (svg.get("width"), svg.get("height")) == ("1920", "1080")
boxes = [r for r in svg.iter(f"{space}rect") if r.get("class").startswith("n ")]
ends = [(float(r.get("x")), float(r.get("y")), float(r.get("width")), float(r.get("height"))) for r in boxes]
assert all(left <= x and x + w <= left + width and top <= y and y + h <= top + height for x, y, w, h in ends)
assert max(x + w for x, y, w, h in ends) - min(x for x, y, w, h in ends) > width / 3
groups = [g for g in svg.iter(f"{space}g") if g.get("transform") is not None]
assert len(groups) == 2
y = []
for group in groups:
    x, down, scale = map(float, re.fullmatch(r"translate\((\S+) (\S+)\) scale\((\S+)\)", group.get("transform")).groups())
    assert abs(x - left) < 1 and scale * 1200 >= 0.99 * width, (group.get("transform"), width)
    y.append([down + scale * float(text.get("y")) for text in group.iter(f"{space}text")])
    assert y[-1] and all(top < at < top + height for at in y[-1])
tops = [y for x, y, w, h in ends]
assert max(y[0]) < min(tops) and min(y[1]) > max(tops), "heading above, legend below"
PY
done
[[ $failures -eq 0 ]]
