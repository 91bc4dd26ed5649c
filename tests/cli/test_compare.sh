#!/usr/bin/env bash
# Compared designs are priced by one book, sweeps say what a taper changes besides, and how far seeds lie apart.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
quick=(--job model=gpt-7.5b,tp=8 --engine ecmp,qp=4 --quiet)
says() { # says TEXT ARGUMENTS...: whatever the lines
  "$program" "${@:2}" >out 2>err || { fail "${*:2}: exit code $?: $(<err)"; return; }
  tr -s ' \n' '  ' <out | grep -F -- "$1" >/dev/null || fail "${*:2}: no '$1'"
}
silent() { # silent TEXT ARGUMENTS...
  "$program" "${@:2}" >out 2>err || { fail "${*:2}: exit code $?: $(<err)"; return; }
  if tr -s ' \n' '  ' <out | grep -F -- "$1" >/dev/null; then fail "${*:2}: says '$1'"; fi
}

# --- one price book ---
says 'All are priced by today-800g' compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16 "${quick[@]}"
"$program" compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16 "${quick[@]}" --json >book.json
"$program" cost rail-spine:gpus=64,radix=16 --prices today-800g --json --quiet >cost.json
"$program" compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16,prices=deepseek-2025 "${quick[@]}" \
  >out 2>err && fail "two books are compared"
grep 'costs by two books do not compare' err >/dev/null || fail "two books: $(<err)"

# --- like with like ---
says 'Not the taper alone: a leaf has 16 cables to NICs at 1' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 "${quick[@]}"
silent 'Not the taper alone' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 --set down.1=16 "${quick[@]}"
silent 'Not the taper alone' sweep clos:gpus=256,radix=32 --vary nic=200Gb/s,400Gb/s "${quick[@]}"

# --- draws ---
says 'One draw: what the seed picks' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 "${quick[@]}"
says 'Means of 4 seeds: they lie up to' compare clos:gpus=128,radix=16,taper=2 clos:gpus=128,radix=16 "${quick[@]}" --seeds 4
silent 'One draw' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 --job model=gpt-7.5b,tp=8 --engine spray --quiet
"$program" compare clos:gpus=128,radix=16,taper=2 clos:gpus=128,radix=16 "${quick[@]}" --seeds 4 --json >seeds.json

# A verdict without --seeds is that of --seeds 8, and says where the first seed alone is in favour of another.
taper3=(clos:gpus=256 clos:gpus=256,taper=3)
says 'Over 8 seeds [1] costs least' compare "${taper3[@]}" --quiet
says 'The first seed alone, which the tables show, is in favour of [2].' compare "${taper3[@]}" --quiet
silent 'seeds' compare "${taper3[@]}" --engine spray --quiet
silent 'Over 8 seeds' compare "${taper3[@]}" --seeds 2 --quiet
says 'By one draw' compare clos:gpus=1024,gpus-per-server=1,radix=64 clos:gpus=1024,gpus-per-server=1,radix=64,taper=2 \
  --traffic pattern:all-to-all --engine ecmp --quiet
"$program" compare "${taper3[@]}" --quiet --json >one.json
"$program" compare "${taper3[@]}" --quiet --json --seeds 8 >eight.json
says 'are even' compare rail-spine:gpus=256 rail-spine:gpus=256,taper=1.1 --job model=gpt-7.5b,tp=8 --engine ecmp --quiet
python3 - <<'PYTHON' || fail "a verdict is not that of eight seeds"
import json
one, eight = (json.load(open(name))["sweep"]["verdicts"][0] for name in ("one.json", "eight.json"))
assert one.pop("draws") == 8 and "draws" not in eight
assert one.keys() == eight.keys(), (one, eight)
for key in one:
    same = abs(one[key] - eight[key]) < 1e-9 if isinstance(one[key], float) else one[key] == eight[key]
    assert same, (key, one[key], eight[key])
assert one["best"] == 1 and one["margin_ratio"] > one["uncertainty_ratio"] > 0
PYTHON

# --- what the network has of time and cost, by the figures of the report ---
"$program" compare clos:gpus=256,taper=2 rail-only:gpus=256 "${quick[@]}" --json >network.json
"$program" compare clos:gpus=256,taper=2 rail-only:gpus=256 "${quick[@]}" | tr -s ' \n' '  ' >network.txt
python3 - <<'PYTHON' || fail "figures of a comparison"
import json, re
def points(name):
    return json.load(open(name))["sweep"]["points"]
book = json.load(open("book.json"))["sweep"]
assert book["prices"] == "today-800g", book["prices"]
assert book["points"][1]["total_usd"] == json.load(open("cost.json"))["cost"]["total_usd"]
for point in points("seeds.json"):
    engine = point["engines"][0]
    assert engine["is_drawn"] and engine["least_s"] <= engine["iteration_s"] <= engine["most_s"], engine
assert points("seeds.json")[0]["engines"][0]["least_s"] < points("seeds.json")[0]["engines"][0]["most_s"]
text = open("network.txt").read()
said = re.search(r"hides is ([\d.]+) to ([\d.]+) % of the time; the network is ([\d.]+) to ([\d.]+) % of the cost by GPU hours "
                 r"and ([\d.]+) to ([\d.]+) % of what", text)
assert said, text[:900]
time, hours, owned = [], [], []
for point in points("network.json"):
    engine = point["engines"][0]
    o = point["ownership"]
    time.append(100 * engine["exposed_s"] / engine["iteration_s"])
    gpus = 256 * point["gpu_hour_usd"] * 24 * 365
    year = engine["usd_per_1e9_tokens"] * engine["tokens_per_s"] / 1e9 * 365 * 24 * 3600
    hours.append(100 * (year - gpus) / year)
    owned.append(100 * o["network_usd"] / o["total_usd"])
for i, figures in enumerate((time, hours, owned)):
    for j, want in enumerate((min(figures), max(figures))):
        assert abs(float(said[2 * i + j + 1]) / want - 1) < 0.01, (said.groups(), time, hours, owned)
assert "A GPU hour is $12.50" in text and "job.gpu-hour-usd" in text
PYTHON

# --- failures: goodput is what a study of the same histories finds, and designs are judged with it ---
histories=(--scenarios time:90d@12 --seed 3)
failing=(--job model=gpt-7.5b,tp=8 --engine ecmp --set failures.server-mtbf=4000h --quiet)
compared=(clos:gpus=64,radix=16 clos:gpus=64,radix=16,spares=1)
"$program" compare "${compared[@]}" "${failing[@]}" "${histories[@]}" --json >failing.json || fail "failures: $?"
"$program" compare "${compared[@]}" "${failing[@]}" "${histories[@]}" --threads 1 --json | grep -v '"threads"' >one.json
grep -v '"threads"' failing.json | cmp - one.json || fail "goodput depends on the threads"
for i in 0 1; do
  "$program" study "${compared[i]}" "${failing[@]}" "${histories[@]}" --policy first-spare --store "store-$i" --json >"study-$i.json" || fail "study $i"
done
says 'with failures' compare "${compared[@]}" "${failing[@]}" "${histories[@]}"
says 'So few histories leave' compare "${compared[@]}" "${failing[@]}" "${histories[@]}"
says 'policy none' compare "${compared[@]}" "${failing[@]}" "${histories[@]}" --policy none
refused() { # refused TEXT ARGUMENTS...
  "$program" compare "${compared[@]}" "${failing[@]}" "${@:2}" >out 2>err && fail "${*:2}: not refused"
  grep -F -- "$1" err >/dev/null || fail "${*:2}: $(<err)"
}
refused 'has no time' --scenarios links:1
refused 'nothing fails' --policy none
refused 'under one' "${histories[@]}" --policy none --policy shrink
python3 - <<'PYTHON' || fail "goodput of a comparison"
import json
sweep = json.load(open("failing.json"))["sweep"]
verdict = sweep["verdicts"][0]
assert verdict["has_failures"] and sweep["policy"] == "first-spare" and sweep["scenarios"] == "time:90d@12", verdict
figures = []
for i, point in enumerate(sweep["points"]):
    engine = point["engines"][0]
    study = json.load(open(f"study-{i}.json"))["study"]
    want = study["policy"][0]["goodput_ratio"]
    want = want["mean"] if isinstance(want, dict) else want
    assert abs(engine["goodput_ratio"] - want) < 1e-12, (engine["goodput_ratio"], want)
    assert 0.2 < want < 1
    figures.append(engine["usd_per_1e9_tokens"] / want)
best = figures.index(min(figures))
assert verdict["best"] == best + 1, (verdict, figures)
assert abs(verdict["margin_ratio"] - (max(figures) / min(figures) - 1)) < 1e-9, (verdict, figures)
PYTHON
exit $((failures > 0))
