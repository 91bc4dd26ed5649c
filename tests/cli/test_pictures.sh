#!/usr/bin/env bash
# Pictures for slides: those of the documents are what the program draws, png and pdf are drawn by librsvg, and what a
# picture cannot show is refused. UPDATE=1 draws those of the documents again.
#
#     test_pictures.sh PROGRAM
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mkdir drawn
"$root/scripts/pictures" "$program" drawn || fail "scripts/pictures"
for picture in drawn/*.svg; do
  name=$(basename "$picture")
  [[ -z ${UPDATE-} ]] || cp "$picture" "$root/src/doc/pictures/"
  cmp "$picture" "$root/src/doc/pictures/$name" || fail "src/doc/pictures/$name is not what scripts/pictures draws"
  grep -rqF "pictures/$name" "$root/README.md" "$root/src/doc/manual" || fail "no page shows $name"
done

# What colours tell: the phase alone, dollars that add up to the bill's, and a verdict in one line.
grep -q '>phase dp<\|; phase dp<' drawn/phase.svg || fail "the picture of a phase does not name it"
grep -q 'The network costs \$' drawn/cost.svg || fail "the picture of cost has no total"
grep -q 'The network costs \$' drawn/load.svg && fail "the picture of loads tells of cost"
grep -q '>Network \$[^<]*; 1e9 tokens: \$[^<]* tokens/s of ' drawn/phase.svg || fail "no costs in the picture of a run"
grep -q 'compute, [0-9]* % of the' drawn/phase.svg || fail "no verdict in the picture of a run"
# One picture has one engine, the first, which its title names, and no line is of another; prices that are alike have no colour of the dearest.
"$program" run clos:gpus=64,radix=16,tiers=3,taper=2 --job model=gpt-1.7b,tp=8,placement=random --engine ecmp,qp=4 --engine spray --export engines.svg --quiet --json >engines.json
python3 - <<'PYTHON' || fail "a picture of two engines"
import json, re
r, svg = json.load(open("engines.json")), open("engines.svg").read()
first, best = (f"{r['iteration'][i]['time_s']:.4g}" for i in (0, r["verdict"]["best_engine"]))
texts = re.findall(r">([^<]*)</text>", svg)
assert r["verdict"]["best_engine"] == 1 and texts[0].startswith("clos:gpus=64,radix=16,tiers=3,taper=2 under ecmp,"), texts[:4]
assert re.match(r"An iteration takes ([\d.]+) m?s; under engine 2, spray, which is not drawn, ([\d.]+) m?s$", texts[3]), texts[3]
total = r["cost"]["total_usd"]
assert re.match(r"Network \$[\d.]+k, \$\d+ per GPU, [\d.]+ kW$", texts[2]) and abs(float(re.findall(r"[\d.]+", texts[2])[0]) * 1e3 / total - 1) < 1e-3, (texts[2], total)
worst = max(p["engines"][0]["max_collision_factor"] for p in r["phases"])
assert f"Largest collision factor {worst:.2f}; " in texts[4] and texts[4].endswith("random placement (seed 0)"), texts[4]
PYTHON
# Compared designs: what is best, as the report has it, and bars as long as figures; one that is not built says why; no other format, told before anything runs.
compared=(compare clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=3 clos:gpus=63 --job model=gpt-1.7b --engine spray --quiet)
"$program" "${compared[@]}" --export compared.svg --export compared.pdf --json >compared.json
"$program" "${compared[@]}" >compared.txt
python3 - <<'PYTHON' || fail "the picture of compared designs"
import json, re
s, svg = json.load(open("compared.json"))["sweep"], open("compared.svg").read()
texts = [t.replace("&gt;", ">") for t in re.findall(r">([^<]*)</text>", svg)]
text = re.sub(r"\s+", " ", open("compared.txt").read())
said = " ".join(texts[1:next(i for i, t in enumerate(texts) if t.startswith("gpt-1.7b: "))])
assert texts[0] == "3 designs under one job" and said.startswith("Under spray ") and said.endswith(".") and said in text, texts
bars = [tuple(map(float, b)) for b in re.findall(r'<rect class="n l3" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)]
figures = {"network": lambda p: p["total_usd"], "bisection": lambda p: p["bisection_ratio"],
           "tokens/s": lambda p: p["engines"][0]["tokens_per_s"], "1e9 tokens by hours": lambda p: p["engines"][0]["usd_per_1e9_tokens"],
           "1e9 tokens, bought": lambda p: p["engines"][0]["owned_usd_per_1e9_tokens"]}
columns = [t for t in texts if t in figures]
assert columns == list(figures) and len(bars) == 15, (columns, bars)
for k, name in enumerate(columns):
    first, second, third = (bar[2] for bar in bars[3 * k:3 * k + 3])
    a, b = (figures[name](p) for p in s["points"][:2])
    assert third == 0 and abs(second / first / (b / a) - 1) < 1e-3 and len({bar[0] for bar in bars[3 * k:3 * k + 3]}) == 1, (name, bars)
assert any(t.startswith("[3] clos:gpus=63: ") for t in texts) and open("compared.pdf", "rb").read(5) == b"%PDF-", texts
PYTHON
# A study: what its report says first, uncut, and whether there are spares; boxes are framed whose loss costs something.
studied() { # studied NAME ARGUMENTS...
  "$program" study "${@:2}" --quiet --export "$1.svg" >"$1.txt" || fail "study ${*:2}"
}
studied spared clos:gpus=256,radix=16,spares=2 --job model=llama3-8b --scenarios time:365d@400
studied unspared rail-spine:gpus=128,radix=16 --job model=llama3-8b --scenarios time:90d@20
studied lost rail-spine:gpus=128,radix=16 --job model=llama3-8b --scenarios switches:1
studied even clos:gpus=64,radix=16 --job model=gpt-1.7b --scenarios links:1 --engine spray
python3 - <<'PYTHON' || fail "the picture of a study"
import html, re
def heading(name):
    texts = [html.unescape(t) for t in re.findall(r'<text class="[hs]"[^>]*>([^<]*)</text>', open(name + ".svg").read())]
    said = " ".join(texts[2:])
    report = re.sub(r"\s+", " ", open(name + ".txt").read())
    assert all(part in report for part in re.split(r"\.(?: |$)", said)) and "\u2026" not in "".join(texts) and len(texts) <= 6, (said, report[:900])
    return texts[0], texts[1], said
name, counts, said = heading("spared")
assert name == "clos:gpus=256,radix=16,spares=2" and counts.endswith(" with spare servers \u00b7 study of time:365d@400"), counts
assert re.search(r"In 365 days the job does [\d.]+ % of .* on average\. At this rate failures cost \$[\d.]+k (?:\+- \$[\d.]+k? )?a quarter, .*\. Highest impact: ", said), said
assert "no spare servers" in heading("unspared")[1] and " % of the work " in heading("unspared")[2]
assert heading("lost")[2] == "The job stops in 16 of 24 scenarios (66.7 %); in the others it takes x1.000. Highest impact: any of the 16 leaf switches (the job stops)."
boxes = re.findall(r'<rect class="u6 l3" stroke-width="5"[^>]*><title>(leaf-\d+)[^<]*; criticality 1</title>', open("lost.svg").read())
assert len(boxes) == 16 and "criticality, beside the worst of 1:" in open("lost.svg").read(), boxes
assert heading("even")[2].startswith("The job ") and "worst of 0:" not in open("even.svg").read(), heading("even")
PYTHON
"$program" "${compared[@]}" --export compared.dot 2>err && fail "a graph of compared designs"
grep -q 'compared.dot: dot shows one fabric, and several are compared; svg, png and pdf show all' err || fail "a graph of compared designs: $(<err)"

# Of several seeds the first is drawn, which the title says; a heading that is too long for a line has two, and no cut.
"$program" run rail-spine:gpus=256,radix=32,taper=2 --seeds 2 --seed 7 --engine ecmp --export seeds.svg --quiet >/dev/null
grep -q '>rail-spine:gpus=256,radix=32,taper=2 under ecmp,[^<]*, seed 7, the first of 2<' seeds.svg || fail "the seed of the picture"
grep -q 'on 256</text>' seeds.svg && grep -q '>GPUs, batch 1024 in 16 microbatches of 1<' seeds.svg || fail "a long heading is cut: $(grep 'class="s"' seeds.svg)"
"$program" run rail-spine:gpus=64,radix=16 --seeds 2 --engine spray --export spray.svg --quiet >/dev/null
grep -q 'the first of' spray.svg && fail "a seed of what needs none"
"$program" build rail-only:gpus=8 --picture cost --export alike.svg --quiet >/dev/null
grep -q '>all alike, within a fifth<' alike.svg && ! grep -q '>to 100 %<' alike.svg || fail "prices that are alike"
grep -q '>Bound by compute, ' drawn/phase.svg || fail "what bounds the job has no label"
# Names of groups stand where no line passes: below everything of theirs.
bottom=$(grep -oE 'class="b"[^>]*y="[0-9.]+"[^>]*height="[0-9.]+"' drawn/load.svg | sed -E 's/.* y="([0-9.]+)".*height="([0-9.]+)"/\1 \2/' | awk '{ if ($1 + $2 > most) most = $1 + $2 } END { print most }')
name=$(grep -oE 'class="g" x="[0-9.]+" y="[0-9.]+"' drawn/load.svg | sed -E 's/.* y="([0-9.]+)"/\1/' | sort -n | head -n 1)
awk -v name="$name" -v bottom="$bottom" 'BEGIN { exit !(name > bottom) }' || fail "pods are named at $name, within their bands (to $bottom)"
# Two tiers of rails: rails side by side, not one box for each tier.
"$program" build rail-spine:gpus=2048 --format svg >rails.svg || fail "a drawing of rails"
[[ $(grep -c '<rect class="n ' rails.svg) -ge 24 ]] || fail "2,048 GPUs on rails are drawn as a few boxes"

refused() { # refused CODE TEXT ARGUMENT...
  local code=0
  "$program" "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 ]] && grep -qF "$2" err || fail "${*:3}: code $code, $(cat err)"
}
refused 2 "is none of load, cost, failures" build fat-tree:k=4 --format svg --picture heat
refused 3 "nothing has failed" build fat-tree:k=4 --format svg --picture failures
for scenarios in time:30d@10 servers:1; do # which rank no part that is drawn
  refused 3 "scenarios switches:1, links:1, nics:1 or gpus:1 do" study clos:gpus=64,radix=16 --scenarios $scenarios --seeds 1 \
    --store "ranks-none-$scenarios" --format svg --picture failures
  "$program" study show --store "ranks-none-$scenarios" --format svg >out 2>err || fail "a picture of $scenarios"
  grep criticality out >/dev/null && fail "a picture of $scenarios ranks parts"
done
refused 3 "no traffic was replayed" build fat-tree:k=4 --format svg --picture load
refused 3 "there is no such phase; one of permutation" route fat-tree:k=4 --traffic pattern:permutation --format svg --picture phase=dp

# Without the converter: an error that says what to install, and no file.
tools=$PATH
mkdir bin
ln -s "$(command -v grep)" "$(command -v cat)" bin
PATH=$PWD/bin
refused 3 "librsvg2-bin" build fat-tree:k=4 --export x.png
PATH=$tools
[[ ! -e x.png ]] || fail "a picture that could not be drawn is there"
if ! command -v rsvg-convert >/dev/null; then
  echo "rsvg-convert is not installed: png and pdf are not drawn (scripts/setup --tests)"
  [[ $failures -eq 0 ]] && exit 77 || exit 1
fi
"$program" build clos:gpus=2048,taper=2 --export slide.png --export slide.pdf --quiet >/dev/null || fail "png and pdf"
size=$(od -An -j16 -N8 -tu1 slide.png | awk '{ print $1*16777216+$2*65536+$3*256+$4, $5*16777216+$6*65536+$7*256+$8 }')
read -r width height <<<"$size"
[[ $(od -An -N8 -tx1 slide.png | tr -d ' ') == 89504e470d0a1a0a ]] || fail "slide.png is no PNG"
((width == 1920 && height == 1080)) || fail "slide.png has $size pixels"
[[ $(head -c 5 slide.pdf) == %PDF- ]] && tail -c 32 slide.pdf | grep -a '%%EOF' >/dev/null || fail "slide.pdf is no PDF"
# of several jobs the links are of the first alone, which the picture says
printf '<design><fabric family="clos" gpus="64" radix="16"/><job id="a" model="gpt-1.7b" tp="8" n-servers="4"/><job id="b" model="gpt-1.7b" tp="8" n-servers="4"/></design>' >two.xml
"$program" run two.xml --export two.svg --quiet >/dev/null && grep -q '>Links of job a alone, of 2 jobs: ' two.svg || fail "a picture of several jobs"
exit $((failures > 0))
