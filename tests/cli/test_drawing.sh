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
width, height = map(float, svg.get("viewBox").split()[2:])
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
    assert 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height, (box, x0, y0, x1, y1)
for (a, p), (b, q) in itertools.combinations(boxes.items(), 2):
    assert p[2] <= q[0] or q[2] <= p[0] or p[3] <= q[1] or q[3] <= p[1], f"{a} lies on {b}"
lines = [path.find(f"{space}title").text for path in svg.iter(f"{space}path") if path.find(f"{space}title") is not None]
drawn = {frozenset(line.split(": ")[0].split(" – ")) for line in lines}
for cable in cables:
    a, _, b, _, _ = cable.split(",")
    assert b.startswith("host") or frozenset((a, b)) in drawn, f"no line of {a} and {b}"
PY
done
[[ $failures -eq 0 ]]
