#!/usr/bin/env bash
# Compared designs are priced by one book, sweeps say what a taper changes besides, and how far seeds lie apart.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
quick=(--job model=gpt-1.7b,tp=8 --engine ecmp,qp=4 --quiet)
printed() { # printed ARGUMENTS...: as one line in out; the same command runs once
  local last
  last=said-$(cksum <<<"$*" | tr ' ' -)
  [[ -e $last ]] || "$program" "$@" >"$last" 2>err || fail "$*: exit code $?: $(<err)"
  tr -s ' \n' '  ' <"$last" >out
}
printed_both() { # printed_both NAME ARGUMENTS...: also for "says" and silent of the same arguments
  both "$@" || fail "${*:2}: exit code $?"
  cp "$1.txt" "said-$(cksum <<<"${*:2}" | tr ' ' -)"
}
says() { # says TEXT ARGUMENTS...: whatever the lines
  printed "${@:2}"
  grep -F -- "$1" out >/dev/null || fail "${*:2}: no '$1'"
}
silent() { # silent TEXT ARGUMENTS...
  printed "${@:2}"
  ! grep -F -- "$1" out >/dev/null || fail "${*:2}: says '$1'"
}

# --- one price book ---
says 'All are priced by today-800g' compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16 "${quick[@]}"
"$program" compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16 "${quick[@]}" --json >book.json
"$program" cost rail-spine:gpus=64,radix=16 --prices today-800g --json --quiet >cost.json
"$program" compare clos:gpus=64,radix=16,prices=today-800g rail-spine:gpus=64,radix=16,prices=deepseek-2025 "${quick[@]}" \
  >out 2>err && fail "two books are compared"
grep 'costs by two books do not compare' err >/dev/null || fail "two books: $(<err)"

# files of two vendors, one for each: the cost of each is what cost says of it
sed 's/<prices name="[^"]*"/<prices name="a"/' "$root/topologies/prices/today-400g.xml" >a.xml
sed -E 's/(<switch .*usd[a-z-]*=")/\19/' a.xml >b.xml
! cmp -s a.xml b.xml || fail "two books are one"
"$program" compare clos:gpus=64,radix=16,prices=a.xml clos:gpus=64,radix=16,prices=b.xml "${quick[@]}" --json >two.json || fail "two vendors"
for vendor in a b; do "$program" cost clos:gpus=64,radix=16 --prices $vendor.xml --json --quiet >$vendor.json; done
python3 - <<'PYTHON' || fail "costs of two vendors"
import json
points = json.load(open("two.json"))["sweep"]["points"]
usd = [json.load(open(f"{v}.json"))["cost"]["total_usd"] for v in "ab"]
assert [p["total_usd"] for p in points] == usd and usd[1] > 2 * usd[0], (points[0]["total_usd"], usd)
PYTHON

# --- like with like ---
says 'Not the taper alone: a leaf fills its ports and has more cables to NICs than 16 (24 at 3), which' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 "${quick[@]}"
# Which points show more than the taper, and what their leaves send: five servers of a leaf at 2:1 against stages of four.
printed_both leaves sweep clos:gpus=512 --vary taper=1,2,3,4,7 --job model=gpt-7.5b,tp=8,pp=4 --engine spray --quiet
says 'than 32 (40 at 2; 48 at 3, 4; 56 at 7), which changes the flows that leave it; leaves do not send alike, the fullest more than the mean (x1.33 in pp at 2; x1.38 in pp at 7). --set down.1=32 shows' \
  sweep clos:gpus=512 --vary taper=1,2,3,4,7 --job model=gpt-7.5b,tp=8,pp=4 --engine spray --quiet
silent 'Not the taper alone' sweep clos:gpus=512 --vary taper=1,2,3,4,7 --set down.1=32 --job model=gpt-7.5b,tp=8,pp=4 --engine spray --quiet
/usr/bin/python3 - <<'PYTHON' || fail "what leaves send"
import json
for point in json.load(open("leaves.json"))["sweep"]["points"]:
    pp = next(p for p in point["phases"] if p["name"] == "pp")
    size = pp["leaf_cables"] // 8
    sent = [0] * -(-64 // size)
    for s in range(63): # a replica is four servers, and stages send forward and backward
        if s % 4 < 3 and s // size != (s + 1) // size:
            sent[s // size] += 1
            sent[(s + 1) // size] += 1
    full = sent[:64 // size]
    expected = max(full) * len(full) / sum(full) if sum(full) else None
    assert pp.get("leaf_excess_ratio") == expected or abs(pp["leaf_excess_ratio"] / expected - 1) < 1e-9, (pp, expected)
PYTHON
silent 'Not the taper alone' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 --set down.1=16 "${quick[@]}"
silent 'Not the taper alone' sweep clos:gpus=256,radix=32 --vary nic=200Gb/s,400Gb/s "${quick[@]}"

says 'more cables to NICs than 32 (48 at [2] clos)' compare clos:gpus=256,radix=64 clos:gpus=256,radix=64,taper=3 "${quick[@]}"
silent 'Not the taper alone' compare clos:gpus=256,radix=64 clos:gpus=256,radix=64,taper=3 --set down.1=32 "${quick[@]}"

# Spares change the design too: what leaves give up for them, and where nothing is given up.
spares=(sweep rail-spine:gpus=256,radix=32 --vary spares=0,1,4,8 "${quick[@]}")
says 'Not the spares alone: leaves give up uplinks for them, and their taper as built is more than 1 (1.13 of 24 switches at 1; 1.29 of 24 switches at 4; 1.6 of 32 switches at 8)' "${spares[@]}"
says '--set full-spares=yes holds it, by more switches or a tier more; its leaves are others, and jobs may take longer: compare that too.' "${spares[@]}"
says 'compare that too. Where trunks are unequal then, --engine spray,weights=capacity shares in proportion, if switches can: compare under that too.' "${spares[@]}" --engine spray
silent 'in proportion' "${spares[@]/ecmp,qp=4/spray,weights=capacity}"
silent 'Not the spares alone' "${spares[@]}" --set full-spares=yes
says 'Not the spares alone: ports suffice for 2 tiers without them (3 tiers of 54 switches at 2)' sweep rail-spine:gpus=128,radix=16 --vary spares=0,2 --set full-spares=yes "${quick[@]}"
silent 'Not the spares alone' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 "${quick[@]}"
says 'more than 1 (1.07 of 25 switches at [2] clos)' compare clos:gpus=256,radix=32 clos:gpus=256,radix=32,spares=1 "${quick[@]}"

silent 'Not the spares alone' compare clos:gpus=256,radix=32,spares=1,full-spares=yes clos:gpus=256,radix=32,down.1=24 "${quick[@]}"

# --- many queue pairs: the fewest that do nearly as well ---
pairs=(sweep clos:gpus=256,radix=32 --job model=gpt-7.5b,tp=8 --quiet)
says 'many queue pairs cost a NIC (its connections, their memory) is not modelled: with fewer engine=ecmp,qp=16 takes only' "${pairs[@]}" --vary qp=1,16,1024
silent 'many queue pairs cost a NIC' "${pairs[@]}" --vary qp=1,4,32
silent 'many queue pairs cost a NIC' "${pairs[@]}" --vary qp=1,1024

# --- orders of ranks, which plan alone searches ---
says 'each the fastest of all that fit in two orders of ranks (where none is given: fabriscope plan tries others)' compare clos:gpus=64 clos:gpus=64,taper=3 --job model=llama3-8b --quiet
says 'Proven best in one order of ranks' run clos:gpus=64 --job model=llama3-8b,order=tp-dp-cp-pp --quiet
says 'Every design runs its best plan in two orders of ranks' optimize --gpus 128 --job model=llama3-8b --quiet

# --- engines of their own stand before what lies between designs that have them ---
says 'The engines differ, [1] dmodk, [2] ecmp with 1 queue pair: what lies between these designs may be routing; compare them under one (--engine). Under spray' \
  compare preset:dgx-h100-superpod-1su clos:gpus=256 --job model=llama3-8b --quiet
says 'Each under its own, over 8 seeds, [1] costs least' compare preset:dgx-h100-superpod-1su clos:gpus=256 --job model=llama3-8b --quiet
silent 'The engines differ' compare preset:dgx-h100-superpod-1su clos:gpus=256 --job model=llama3-8b --engine dmodk --quiet
# What is fastest goes by the same margin as what costs least.
says 'Fastest: [1] and [2], even within 0.00' compare rail-spine:gpus=1024 rail-only:gpus=1024,taper=4 clos:gpus=1024,taper=4 --engine spray \
  --job model=llama3-70b,tp=2,cp=4,pp=4,interleave=7,microbatch=1,recompute=none,zero=1,sequence-parallel=yes --quiet

# --- the engine: what spraying makes of a verdict is what --engine spray finds ---
trio=(rail-only:gpus=256 clos:gpus=256,taper=7 clos:gpus=256 --job model=llama3-8b --quiet) # [2] is next when sprayed, [3] when hashed
pair=("${trio[@]:0:2}" "${trio[@]:3}")
says 'Under spray, by GPU hours, [1] and [2] are even' compare "${pair[@]}"
says '[2] is best too, [1] 2.07 % more (--engine spray). Bought for 5 years, [2] and [1] are even: $33.46 per 1e9 tokens.' \
  compare clos:gpus=64,radix=16,taper=2 clos:gpus=64,radix=16 --job model=llama3-8b --quiet
says 'the routing decides more than the designs' compare "${pair[@]}"
silent 'Not even a network for nothing' compare "${pair[@]}" # another routing brings them level
says "Not even a network for nothing" compare clos:gpus=256 clos:gpus=256,taper=7 --job model=gpt-7.5b,tp=8,placement=random --engine spray --quiet
printed_both hashed compare "${trio[@]}"
"$program" compare "${trio[@]}" --engine spray --json >sprayed.json
python3 - <<'PYTHON' || fail "a verdict under spray"
import json
hashed, sprayed = (json.load(open(f"{name}.json"))["sweep"] for name in ("hashed", "sprayed"))
v, w = hashed["verdicts"][0], sprayed["verdicts"][0]
assert len(hashed["verdicts"]) == 1 and all(len(p["engines"]) == 1 for p in hashed["points"])
assert v["sprayed_best"] == w["best"] and v["sprayed_next"] == w["next"] == 2 and "sprayed_best" not in w and v["next"] == 3
assert v["sprayed_margin_ratio"] == w["margin_ratio"] < 0.01 < 0.1 < v["margin_ratio"], (v, w)
PYTHON

# --- designs of unlike GPUs: whose prices of an hour are of which list, and that they decide ---
for gpu in h100-80gb h200-141gb; do
  echo "<design name=\"$gpu\"><fabric family=\"rail-spine\" gpus=\"256\"/><job model=\"llama3-8b\" gpu=\"$gpu\"/></design>" >$gpu.xml
done
decide='job.gpu-hour-usd sets one price: these prices decide the order by GPU hours, which is not that by time or by what is bought.'
says 'A GPU hour is $12.50 in [1] ($100 for eight H100, 2024), $5.41 in [2] (AWS' compare h100-80gb.xml h200-141gb.xml --engine spray --quiet
says "$decide" compare h100-80gb.xml h200-141gb.xml --engine spray --quiet
silent 'Not even a network for nothing' compare h100-80gb.xml h200-141gb.xml --engine spray --quiet
unlike=(sweep clos:gpus=256 --vary job.gpu=h100-80gb,h200-141gb,b200-180gb --engine spray --job model=llama3-8b --quiet)
says 'A GPU hour is $12.50 at job.gpu=h100-80gb ($100 for eight H100, 2024), $5.41 at job.gpu=h200-141gb (AWS' "${unlike[@]}"
says "$decide" "${unlike[@]}"
silent 'A GPU hour is' "${unlike[@]}" --job gpu-hour-usd=4
says 'A GPU hour is $4.00 (job.gpu-hour-usd; job.gpu-hour-usd)' compare h100-80gb.xml h200-141gb.xml --engine spray --job gpu-hour-usd=4 --quiet
# a price alone decides what is equal in all else; and not what is the same by time and by what is bought
sed 's/gpu="/gpu-hour-usd="5" gpu="/' h100-80gb.xml >five.xml
says 'A GPU hour is $12.50 in [1] ($100 for eight H100, 2024), $5.00 in [2] (job.gpu-hour-usd)' compare h100-80gb.xml five.xml --engine spray --quiet
says "$decide" compare h100-80gb.xml five.xml --engine spray --quiet
silent 'these prices decide' compare h100-80gb.xml h200-141gb.xml --set gpus=64 --engine spray --quiet

# --- sizes that are given and slower than a plan ---
sizes=(clos:gpus=64 --job model=llama3-8b,tp=8,pp=4 --quiet)
says 'What is given of the job is not the fastest: at 1 a better plan takes' sweep "${sizes[@]}" --vary taper=1,3
says 'What is given of the job is not the fastest: at [1] clos' compare clos:gpus=64,taper=3 "${sizes[@]}"
drawn=(sweep clos:gpus=64,radix=16 --vary taper=1 --json --quiet)
"$program" "${drawn[@]}" --job model=llama3-8b,tp=8,pp=4 >given.json
"$program" "${drawn[@]}" --job "model=llama3-8b,$(python3 -c 'import json; print(json.load(open("given.json"))["sweep"]["points"][0]["better_plan"])')" >better.json
python3 - <<'PYTHON' || fail "the time of a better plan is of one draw"
import json
given, better = (json.load(open(f"{name}.json"))["sweep"]["points"][0] for name in ("given", "better"))
engine = better["engines"][0]
assert engine["least_s"] < engine["iteration_s"] < engine["most_s"]
assert abs(given["better_plan_s"] / engine["iteration_s"] - 1) < 1e-9, (given["better_plan_s"], engine)
PYTHON
silent 'The sizes that are given' sweep clos:gpus=64 --job model=llama3-8b --quiet --vary taper=1,3

# --- several engines: each has the plan that it has alone, whatever stands before it ---
several=(clos:gpus=128,taper=2 rail-spine:gpus=128 clos:gpus=128 --quiet --json)
for engines in "ecmp spray" "spray ecmp" ecmp spray; do
  read -ra each <<<"$engines"
  "$program" compare "${several[@]}" "${each[@]/#/--engine=}" >"engines-${engines// /-}.json" || fail "engines $engines"
done
"$program" sweep clos:gpus=128 --vary taper.1=1,3 --job model=llama3-8b --engine ecmp,qp=16 --engine spray --json --quiet >vary-both.json || fail "a sweep of engines"
"$program" sweep clos:gpus=128 --vary taper.1=1,3 --job model=llama3-8b --engine spray --json --quiet >vary-spray.json || fail "a sweep of spray"
python3 - <<'PYTHON' || fail "an engine under the plans of another"
import json
load = lambda name: json.load(open(name + ".json"))["sweep"]
both, back = load("engines-ecmp-spray"), load("engines-spray-ecmp")
differ = 0
for e, name in enumerate(("ecmp", "spray")):
    alone = load("engines-" + name)
    for k, point in enumerate(alone["points"]):
        mine, its = both["points"][k], point["engines"][0]
        assert mine["engines"][e] == its == back["points"][k]["engines"][1 - e], (name, k)
        assert all(p["engines"][e] in [q["engines"][0] for q in point["phases"] if q["engines"][0]["label"] == p["engines"][e]["label"]]
                   for p in mine["phases"] if "time_s" in p["engines"][e])
        assert len([p for p in mine["phases"] if "time_s" in p["engines"][e]]) == len(point["phases"]), (name, k)
    assert both["verdicts"][e] == {k: v for k, v in alone["verdicts"][0].items() if not k.startswith("sprayed_")}
    assert back["verdicts"][1 - e] == both["verdicts"][e]
plan = lambda p, e: [p["engines"][e]["plan"][k] for k in ("tp", "cp", "pp", "dp")]
assert any(plan(p, 0) != plan(p, 1) for p in both["points"]), "engines that differ have one plan everywhere"
two, one = load("vary-both"), load("vary-spray")
assert [p["engines"][1] for p in two["points"]] == [p["engines"][0] for p in one["points"]]
PYTHON
# under spray a third design is named with the two
third=(clos:gpus=256 clos:gpus=256,radix=32 clos:gpus=256,taper=7 --job model=gpt-7.5b,tp=8,placement=random --quiet)
both third compare "${third[@]}" && "$program" compare "${third[@]}" --engine spray --json >third-spray.json || fail "three designs"
python3 - <<'PYTHON' || fail "a third design under spray"
import json
v, w = (json.load(open(f"third{name}.json"))["sweep"]["verdicts"][0] for name in ("", "-spray"))
assert v["sprayed_margin_ratio"] < 0.01 and (v["sprayed_behind"], v["sprayed_behind_ratio"]) == (w["behind"], w["behind_ratio"]), (v, w)
PYTHON
tr -s ' \n' ' ' <third.txt | grep -E 'Under spray, by GPU hours, \[1\] and \[2\] are (the same|even, [0-9.e-]+ % apart, less than the model is exact); \[3\] [0-9.]+ % more' >/dev/null ||
  fail "a third design is not named under spray"
# two designs are even or not, whoever is compared with them; the best is named under spray too, wherever it stands then
taller=(clos:gpus=256,taper=7 clos:gpus=256 --job model=llama3-8b --engine spray --quiet)
says '[1] and [2] are even by GPU hours' compare "${taller[@]}"
says '[1] and [2] are even by GPU hours: $372.9 per 1e9 tokens, 0.88 % apart, less than the model is exact; [3] 1.32 % more, even with [2]' compare rail-only:gpus=256 "${taller[@]}"

# --- relays between rails, which the verdict rests on ---
experts=(--job model=mixtral-8x7b,tp=2,pp=2,ep=8,order=tp-cp-dp-pp,batch=512 --engine spray --quiet)
says '[1]: GPUs pass traffic between rails on as it comes' compare rail-only:gpus=64 rail-spine:gpus=64,radix=16 "${experts[@]}"
silent 'GPUs pass traffic' compare rail-only:gpus=64,forwarding=sequential rail-spine:gpus=64,radix=16 "${experts[@]}"
silent 'GPUs pass traffic' compare rail-only:gpus=64 rail-spine:gpus=64,radix=16 "${quick[@]}"
silent 'GPUs pass traffic' compare rail-only:gpus=64 rail-only:gpus=64,forwarding=sequential rail-spine:gpus=64,radix=16 "${experts[@]}"
says '[1]: GPUs pass traffic between rails on as it comes' compare rail-only:gpus=64 rail-only:gpus=64,length=5,forwarding=sequential rail-spine:gpus=64,radix=16 "${experts[@]}"

# Seeds that leave two points even say what they leave open, and how many leave as little as the model is exact: of a
# difference of 1 %, and not of the one that happens to be seen, so that what follows it does not find more are needed.
even=(sweep clos:gpus=128,taper=2 --vary job.placement=random,scattered --job model=llama3-8b --engine ecmp --quiet)
says 'both points are even: 3.948 s, 1,062,436 tokens/s, up to 5.6 % apart, less than the 9.2 % that 3 seeds leave open (about --seeds 56 leave 1 %)' "${even[@]}" --seeds 3
says 'is fastest' "${even[@]}" --seeds 22
still=(sweep clos:gpus=128,radix=32 --vary job.placement=random,scattered --job model=llama3-8b --engine ecmp --quiet)
says 'up to 1.7 % apart, less than the 2.2 % that 8 seeds leave open (about --seeds 29 leave 1 %)' "${still[@]}"
says 'less than the 0.91 % that 60 seeds leave open;' "${still[@]}" --seeds 60

# --- with failures the fastest is what they leave most tokens per second ---
says 'Fastest with failures: [2]' compare clos:gpus=256 clos:gpus=256,spares=2 --scenarios time:90d@200 --policy first-spare --job model=llama3-8b --quiet
# of which histories tell none apart none is named alone, as in a sweep
histories=(--scenarios time:90d@100 --policy first-spare --job model=llama3-8b --engine spray --quiet)
says 'Fastest with failures: [2] and [3], even within 0.05 %; cheapest' compare clos:gpus=64 clos:gpus=64,spares=1 clos:gpus=64,spares=2 "${histories[@]}"
says 'spares=2 is fastest (not told apart from spares=1 by these histories)' sweep clos:gpus=64 --vary spares=0,1,2 "${histories[@]}"

# --- chance is judged by pairs, the same history and seed of both: figures of study and run, paired here ---
paired=(--job model=llama3-8b,tp=2,pp=2,dp=16 --policy first-spare --scenarios time:90d@60 --quiet)
for engine in spray ecmp; do
  for spares in 1 2; do
    "$program" study clos:gpus=64,radix=16,spares=$spares "${paired[@]}" --engine $engine --out pairs.$engine.$spares >/dev/null || fail "study of pairs"
    for seed in 1 2 3 4 5 6 7 8; do
      "$program" run clos:gpus=64,radix=16,spares=$spares "${paired[@]:0:2}" --engine $engine --seed $seed --seeds 1 --json --quiet >pairs.$engine.$spares.$seed.json || fail "run of a seed"
    done
  done
  "$program" compare clos:gpus=64,radix=16,spares=1 clos:gpus=64,radix=16,spares=2 "${paired[@]}" --engine $engine --json >pairs.$engine.json || fail "compare of pairs"
done
says 'Fastest with failures: all alike' compare clos:gpus=64,radix=16,spares=1 clos:gpus=64,radix=16,spares=1,taper=1 "${paired[@]}" --engine spray
"$program" compare clos:gpus=64,radix=16,spares=1 clos:gpus=64,radix=16,spares=1,taper=1 "${paired[@]}" --engine spray --json >pairs.same.json
python3 - <<'PYTHON' || fail "chance by pairs"
import csv, json, math, statistics as st
T = {7: 2.365, 31: 2.0395} # 97.5 % quantiles of Student's t
def mean_of_parts(values, n):
    m = st.mean(values)
    return [st.mean(values[k::n]) / m for k in range(n)]
def half(d):
    return T[len(d) - 1] * st.stdev(d) / math.sqrt(len(d))
for engine, n in ("spray", 32), ("ecmp", 8):
    kept, time = {}, {}
    for spares in 1, 2:
        rows = list(csv.DictReader(open(f"pairs.{engine}.{spares}/scenarios.csv")))
        kept[spares] = [float(r["goodput"]) for r in sorted(rows, key=lambda r: int(r["scenario"])) if r["policy"] == "first-spare"]
        time[spares] = [json.load(open(f"pairs.{engine}.{spares}.{seed}.json"))["iteration"][0]["time_s"] for seed in range(1, 9)]
        assert len(kept[spares]) == 60
    sweep = json.load(open(f"pairs.{engine}.json"))["sweep"]
    v = sweep["verdicts"][0]
    figure = lambda s, k: (time[s][k] / st.mean(time[s]) if engine == "ecmp" else 1) - mean_of_parts(kept[s], n)[k]
    pairs = half([figure(1, k) - figure(2, k) for k in range(n)])
    alone = math.hypot(*(x for s in (1, 2) for x in (half(mean_of_parts(kept[s], n)), half([t / st.mean(time[s]) for t in time[s]]))))
    shown = [p["engines"][0] for p in sweep["points"]]
    assert abs(v["uncertainty_ratio"] / pairs - 1) < 2e-3, (engine, v["uncertainty_ratio"], pairs)
    assert pairs < 0.9 * alone, (engine, "the test needs what pairs have in common", pairs, alone)
    for s, e in zip((1, 2), shown):
        assert abs(e["goodput_ratio"] - st.mean(kept[s])) < 1e-12 and (engine == "spray" or abs(e["time_s"] / st.mean(time[s]) - 1) < 1e-12), (engine, s)
same = json.load(open("pairs.same.json"))["sweep"]["verdicts"][0]
assert same["margin_ratio"] == 0 and "uncertainty_ratio" not in same, same
PYTHON
# dollars bought lie 3.7 % apart, of which seeds and histories would leave more open if these had none in common
says 'spares=0 has the fewest dollars bought and run' sweep clos:gpus=256,radix=64,taper=2 --vary spares=0,1 --job model=llama3-8b,tp=2,pp=2 --policy shrink --scenarios time:90d@40 --quiet

# --- of those that are even all are named, so that the next that is named is the next in order ---
says '[2], [6], [4], [1] and [3] are even by GPU hours: $3,368 per 1e9 tokens, 0.52 % apart, less than the model is exact; [5] 4.38 % more' compare rail-spine:gpus=256 rail-only:gpus=256 clos:gpus=256 clos:gpus=256,taper=3 clos:gpus=256,taper=7 rail-spine:gpus=256,taper=7 --job model=llama3-70b --engine spray --quiet
# a verdict of many figures is whole, and spare GPUs are paid by the hour
says 'Under ecmp with 1 queue pair, over 8 seeds, [1] and [2] are even by GPU hours' compare clos:gpus=256,spares=1 clos:gpus=256 \
  clos:gpus=256,spares=4,full-spares=yes --job model=llama3-8b --scenarios time:90d@16 --policy first-spare --quiet
tr -s ' \n' ' ' <out | grep -E '; \[3\] [0-9.]+ % more, even with \[2\]\. Bought for 5 years, \[1\] and \[2\] are even: ' >/dev/null || fail "a headline is cut"
says 'Under spray [1] costs least by GPU hours' compare clos:gpus=256 clos:gpus=256,spares=1,full-spares=yes --engine spray --policy shrink \
  --job model=llama3-8b --scenarios time:90d@100 --quiet

# --- with failures each runs the plan of which they leave most, of its own and of those of the others: slowly, one by one ---
failing=(rail-only:gpus=256 rail-spine:gpus=256,spares=1 rail-only:gpus=256,spares=2)
share=(--job model=llama3-8b,order=tp-cp-pp-dp --engine spray --scenarios time:30d@50)
"$program" compare "${failing[@]}" "${share[@]}" --json --quiet --threads 1 >failing.json || fail "plans with failures"
"$program" compare "${failing[@]}" "${share[@]}" --json --quiet --threads 2 | diff <(grep -v '"threads"' failing.json) <(grep -v '"threads"') || fail "plans with failures: other bytes for two threads"
python3 - "$program" "${failing[@]}" <<'PYTHON' || fail "a plan that was not tried leaves more"
import json, subprocess, sys
program, *designs = sys.argv[1:]
JOB = ["--job", "model=llama3-8b,order=tp-cp-pp-dp", "--engine", "spray", "--json", "--quiet"]
ask = lambda *words: json.loads(subprocess.run([program, *words, *JOB], capture_output=True, check=True).stdout)
KEYS = "tp cp pp dp ep interleave microbatch recompute zero".split()
keys = lambda p: ",".join(f"{k}={p[k]}" for k in KEYS) + ",sequence-parallel=" + ("yes" if p.get("sequence_parallel") else "no")
sweep = json.load(open("failing.json"))["sweep"]
engines = [p["engines"][0] for p in sweep["points"]]
shown = [e["time_s"] / e["goodput_ratio"] for e in engines]
lists = [[keys(p) for p in ask("plan", d)["plan"]["plans"]] for d in designs]
chosen = [keys(e["plan"]) for e in engines]
def slowly(design, plan): # None: it does not fit
    study = ["study", design, "--job", plan, "--scenarios", "time:30d@50", "--policy", "shrink"]
    try:
        time_s = ask("run", design, "--job", plan)["iteration"][0]["time_s"]
        return time_s / ask(*study)["study"]["policy"][0]["goodput_ratio"]["mean"]
    except subprocess.CalledProcessError:
        return None
old = []
for i, design in enumerate(designs):
    found = {plan: slowly(design, plan) for plan in {*lists[i], *chosen}}
    best = min(t for t in found.values() if t is not None)
    assert abs(found[chosen[i]] / shown[i] - 1) < 1e-9, (design, found[chosen[i]], shown[i])
    assert shown[i] <= best * (1 + 1e-9), (design, chosen[i], found)
    assert 1 <= engines[i]["plans_tried"] <= 8 + len(designs)
    old.append(found[lists[i][0]])
# by the fastest plans the other fabric costs less by GPU hours
usd = [e["usd_per_1e9_tokens"] / e["time_s"] for e in engines]
by_fastest = min(range(3), key=lambda i: usd[i] * old[i])
assert sweep["verdicts"][0]["best"] - 1 != by_fastest, (by_fastest, old, shown)
assert any(new < was * 0.98 for new, was in zip(shown, old)), (old, shown)
PYTHON

# --- jobs on unlike numbers of GPUs are compared per GPU ---
unlike=(compare preset:dgx-a100-4node preset:alvis-a100 preset:dgx-h100-superpod-1su --quiet)
printed_both unlike "${unlike[@]}"
says 'Fastest per GPU: [1] and [3], even within 0.21 %' "${unlike[@]}"
says 'The jobs run on 16, 128 and 16 GPUs' "${unlike[@]}"
silent 'per GPU' compare clos:gpus=64 clos:gpus=64,taper=2 --job model=gpt-1.7b --quiet
python3 - <<'PYTHON' || fail "jobs on unlike numbers of GPUs"
import json
engines = [p["engines"][0] for p in json.load(open("unlike.json"))["sweep"]["points"]]
work = [e["compared_s"] * e["tokens_per_s"] / gpus for e, gpus in zip(engines, (16, 128, 16))]
assert all(abs(w / work[0] - 1) < 1e-9 for w in work), work
PYTHON

# --- queue pairs are an option of an engine ---
"$program" sweep clos:gpus=64,radix=16 --job model=gpt-1.7b --vary qp=1,4 --quiet >pairs.txt || fail "sweep of qp"
"$program" sweep clos:gpus=64,radix=16 --job model=gpt-1.7b --vary engine=ecmp,qp=1,4 --quiet | cmp - pairs.txt || fail "qp is no alias"
cat >hashed.xml <<'X'
<design><fabric family="clos" gpus="64" radix="16"/><engine use="ecmp,hash=crc16"/></design>
X
lost() { # lost TEXT ARGUMENTS...: options of the engine would be
  local code=0
  "$program" sweep "${@:2}" --job model=gpt-1.7b --quiet >out 2>err || code=$?
  [[ $code == 2 ]] && grep -F -- "$1" err >/dev/null || fail "${*:2}: $(<err)"
}
lost "qp= is of plain ecmp, and the design has ecmp,hash=crc16; write --vary 'engine=ecmp,hash=crc16,qp=1|ecmp,hash=crc16,qp=4'" hashed.xml --vary qp=1,4
lost 'the design has spray' clos:gpus=64,radix=16 --vary engine.1=ecmp,spray --vary qp=1,4
# Options of engines have no path: what to write instead is said, and runs.
for path in engine.qp ecmp.qp job.qp; do
  lost "$path is no path of a design: engines are varied as a whole; write --vary 'engine=ecmp,qp=1|ecmp,qp=4'" clos:gpus=64,radix=16 --vary "$path=1,4"
done
lost "write --vary 'engine=pinned,slices=2|pinned,slices=4'" clos:gpus=64,radix=16 --vary engine.slices=2,4
lost 'spray is no path of a design, but an engine; write --vary engine=spray,...' clos:gpus=64,radix=16 --vary spray=1
"$program" sweep clos:gpus=64,radix=16 --job model=gpt-1.7b --vary 'engine=ecmp,qp=1|ecmp,qp=4' --quiet | cmp - pairs.txt || fail "what is to be written does not run"
lost 'the design has spray' clos:radix=16 --engine spray --vary gpus=64,128 --vary qp=1,4

# --- draws: what nobody asked seeds of has the means of eight, and says where these tell nothing apart ---
says 'Under ecmp with 4 queue pairs, over 8 seeds, taper.1=' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 "${quick[@]}"
seeds=(compare clos:gpus=128,radix=16,taper=2 clos:gpus=128,radix=16 "${quick[@]}" --seeds 4)
printed_both seeds "${seeds[@]}"
says 'Means of 4 seeds: they lie up to' "${seeds[@]}"
silent 'seeds' sweep clos:gpus=256,radix=32 --vary taper.1=1,3 --job model=gpt-7.5b,tp=8 --engine spray --quiet
sized=(sweep clos:gpus=64,radix=16/8 --vary taper=1,3 --job tp=8,pp=2 --quiet)
taper3=(clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=3)
swept=("${sized[@]}" --seed 23)
printed_both one "${swept[@]}"
printed_both first "${swept[@]}" --seeds 1
says 'Under ecmp with 1 queue pair, over 8 seeds, taper=1 is fastest' "${swept[@]}"
says 'Under ecmp with 1 queue pair, by one draw, taper=3 is fastest' "${swept[@]}" --seeds 1
says 'One draw: what the seed picks' "${swept[@]}" --seeds 1
says 'By this draw, instead of taper=1, taper=3 (2.67 as built) takes' "${swept[@]}" --seeds 1
says 'the hash is part of it: --engine spray tells what the taper costs without.' "${swept[@]}"
silent 'the hash is part of it' "${swept[@]}" --engine spray
# --- what tapers cost the job and save: the figures of the points ---
both tapers sweep clos:gpus=256,radix=16 --job model=gpt-18.4b,tp=8 --vary taper=2,1,3 --engine spray --engine ecmp --quiet || fail "what tapers cost"
python3 - <<'PYTHON' || fail "what tapers cost: $(<tapers.txt)"
import json, re
text = re.sub(r"\s+", " ", open("tapers.txt").read())
points = {p["values"][0]: p for p in json.load(open("tapers.json"))["sweep"]["points"]}
assert text.count("Instead of taper=1, taper=2 takes") == 2, text
for e in range(2):
    said = re.findall(r"taper=(\d)(?: \(([\d.]+)/1 as built\))? takes ([\d.]+) ms \(([\d.]+) %\) longer and saves \$([\d.]+)k", text.split("Instead of")[e + 1])
    assert [t for t, *_ in said[:2]] == ["2", "3"], said
    for taper, built, ms, percent, usd in said[:2]:
        p, least = points[taper], points["1"]
        assert abs(p["built_taper"][0] - float(built or taper)) < 5e-3, (built, p["built_taper"])
        a, b = p["engines"][e]["time_s"], least["engines"][e]["time_s"]
        assert abs(float(ms) / 1e3 - (a - b)) < 1e-3 * (a - b) and abs(float(percent) - 100 * (a / b - 1)) < 0.06, (said, a, b)
        saved = least["total_usd"] - p["total_usd"]
        assert abs(float(usd) * 1e3 / saved - 1) < 1e-3, (said, saved)
PYTHON
says 'Instead of taper=1, taper=2 takes as long and saves' sweep clos:gpus=64,radix=16 --vary taper=1,2 --job model=gpt-1.7b,tp=8 --engine spray --traffic pattern:ring
says 'Instead of taper=1, taper=3 (2.67 as built) takes' sweep clos:gpus=128,radix=16 --vary taper=1,3 --set down.1=8 --job model=gpt-1.7b,tp=8 --engine spray --traffic pattern:shift,by=8
silent 'Instead of taper' sweep clos:gpus=64,radix=16 --vary spares=1,2 --job model=gpt-1.7b,tp=8 --engine spray
says 'by one draw, [1] costs least' compare "${taper3[@]}" --quiet --seeds 1
silent 'seeds' compare "${taper3[@]}" --engine spray --quiet
says 'over 2 seeds, [' compare "${taper3[@]}" --seeds 2 --quiet
says 'by one draw, [' compare clos:gpus=1024,gpus-per-server=1,radix=64 clos:gpus=1024,gpus-per-server=1,radix=64,taper=2 \
  --traffic pattern:all-to-all --engine ecmp --quiet
says 'One draw of 1024: too many flows for several unasked. The others are means' sweep clos:gpus=64,gpus-per-server=1,radix=16 --vary gpus=64,1024 \
  --traffic pattern:all-to-all --engine ecmp --quiet
says 'are even' compare rail-spine:gpus=256 rail-spine:gpus=256,taper=1.1 --job model=gpt-7.5b,tp=8 --engine ecmp --quiet
even=(--job model=gpt-3.6b --engine ecmp --quiet)
both even compare clos:gpus=64,radix=16/8,taper=1.2 clos:gpus=64,radix=16/8,taper=1.5 clos:gpus=64,radix=16/8,taper=2 "${even[@]}" || fail "even designs"
"$program" compare clos:gpus=64,radix=16/8,taper=1.2 clos:gpus=64,radix=16/8,taper=2 "${even[@]}" --json >even2.json || fail "two even designs"
python3 - <<'PYTHON' || fail "how far designs are apart, and what seeds make of it, are not of the same two"
import json, re
apart, chance = map(float, re.search(r"all\s3\sare\seven.*?([\d.]+)\s%\sapart,\sless\sthan\sseeds\smake,\s([\d.]+)\s%", open("even.txt").read(), re.S).groups())
engines = sorted((p["engines"][0] for p in json.load(open("even.json"))["sweep"]["points"]), key=lambda e: e["usd_per_1e9_tokens"])
best, last = engines[0], engines[-1]
assert apart == float("%.2g" % (100 * (last["usd_per_1e9_tokens"] / best["usd_per_1e9_tokens"] - 1))), apart
two = json.load(open("even2.json"))["sweep"]
assert [p["engines"][0]["time_s"] for p in two["points"]] == [best["time_s"], last["time_s"]]
assert chance == float("%.2g" % (100 * two["verdicts"][0]["uncertainty_ratio"])), chance
PYTHON
says '(even with taper=1.1)' sweep clos:gpus=256,radix=32 --vary taper=1,1.1,4 --job model=gpt-7.5b,tp=8 --engine ecmp --quiet
"$program" "${swept[@]}" --json --threads 1 | grep -v '"threads"' | cmp - <(grep -v '"threads"' one.json) || fail "draws depend on the threads"
"$program" "${swept[@]}" --json --seeds 8 >eight.json
"$program" "${swept[@]}" --format csv >swept.csv
for seed in 1 2 3 4 5 6 7 8; do "$program" "${sized[@]}" --json --seeds 1 --seed "$seed" >"seed-$seed.json"; done
"$program" "${sized[@]}" --json >mean.json
python3 - <<'PYTHON' || fail "a sweep is not that of eight seeds"
import csv, json
def engines(name):
    return [p["engines"][0] for p in json.load(open(name))["sweep"]["points"]]
one, eight, first = engines("one.json"), engines("eight.json"), engines("first.json")
assert one == eight and [e["draws"] for e in one] == [8, 8] and [e["draws"] for e in first] == [1, 1]
assert one[0]["slowdown_ratio"] == 1 < one[1]["slowdown_ratio"] and first[1]["slowdown_ratio"] == 1 < first[0]["slowdown_ratio"]
assert all(e["least_s"] <= e["time_s"] <= e["most_s"] and e["ci95_ratio"] > 0 for e in one)
phase = json.load(open("one.json"))["sweep"]["points"][0]["phases"][-1]["engines"][0]
many = json.load(open("eight.json"))["sweep"]["points"][0]["phases"][-1]["engines"][0]
assert phase["time_s"] == many["time_s"]["mean"], (phase, many)
rows = list(csv.DictReader(open("swept.csv")))
assert [float(r["draws"]) for r in rows] == [8, 8] and all(abs(float(r["time_s"]) / e["time_s"] - 1) < 1e-5 for r, e in zip(rows, one))
# The mean is that of eight runs, each of one seed.
for point in (0, 1):
    runs = [engines(f"seed-{seed}.json")[point]["time_s"] for seed in range(1, 9)]
    mean = engines("mean.json")[point]
    assert abs(sum(runs) / 8 / mean["time_s"] - 1) < 1e-9 and abs(min(runs) / mean["least_s"] - 1) < 1e-9, (runs, mean)
    assert abs(max(runs) / mean["most_s"] - 1) < 1e-9, (runs, mean)
PYTHON

# --- what the network has of time and cost, by the figures of the report ---
both network compare clos:gpus=256,taper=2 rail-only:gpus=256 "${quick[@]}" || fail "what the network has"
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
text = re.sub(r"\s+", " ", open("network.txt").read())
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
histories=(--scenarios time:90d@12 --seed 2) # under seed 3 paths from the spare are faster by luck, and goodput is above 1
failing=(--job model=gpt-7.5b,tp=8 --engine ecmp --set failures.server-mtbf=4000h --quiet)
compared=(clos:gpus=64,radix=16 clos:gpus=64,radix=16,spares=1)
"$program" compare "${compared[@]}" "${failing[@]}" "${histories[@]}" --policy first-spare --seeds 1 --json >failing.json || fail "failures: $?"
"$program" compare "${compared[@]}" "${failing[@]}" "${histories[@]}" --policy first-spare --seeds 1 --threads 1 --json | grep -v '"threads"' >one.json
grep -v '"threads"' failing.json | cmp - one.json || fail "goodput depends on the threads"
for i in 0 1; do
  "$program" study "${compared[i]}" "${failing[@]}" "${histories[@]}" --seeds 1 --policy first-spare --store "store-$i" --json >"study-$i.json" || fail "study $i"
done
says 'with failures' compare "${compared[@]}" "${failing[@]}" "${histories[@]}"
says 'So few histories leave' compare "${compared[0]}" clos:gpus=64,radix=32 "${failing[@]}" --scenarios time:90d@12 --seed 3 --seeds 1
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
assert "sprayed_best" not in verdict, "without failures, beside a verdict with them"
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
# without --seeds they are dealt to the seeds of times in turn, as those of a study, and an engine without draws has them once
"$program" compare "${compared[1]}" "${compared[1]}" --job model=gpt-7.5b,tp=8 --set failures.server-mtbf=4000h "${histories[@]}" --policy first-spare --engine ecmp --engine spray --quiet --json >dealt.json || fail "dealt: $?"
"$program" study "${compared[1]}" --job model=gpt-7.5b,tp=8 --set failures.server-mtbf=4000h "${histories[@]}" --engine ecmp --engine spray --policy first-spare --store dealt --quiet --json >dealt-study.json || fail "study of two engines"
python3 - <<'PYTHON' || fail "histories dealt to seeds"
import json
ecmp, spray = json.load(open("dealt.json"))["sweep"]["points"][0]["engines"]
once = [v["goodput_ratio"] for v in sorted(json.load(open("dealt-study.json"))["study"]["policy"], key=lambda v: v["engine"])]
once = [g["mean"] if isinstance(g, dict) else g for g in once]
assert abs(spray["goodput_ratio"] - once[1]) < 1e-12, (spray["goodput_ratio"], once)
assert abs(ecmp["goodput_ratio"] - once[0]) < 1e-12, (ecmp["goodput_ratio"], once)
assert ecmp["draws"] == 8 and ecmp["goodput_ci95_ratio"] > 0, ecmp
PYTHON
# --- the order of the dimensions on the ranks ---
# plan searches all that have tp innermost: as good as the best of six searches, each with its order given, and run agrees.
planned=(clos:gpus=128,radix=16,taper=4 --engine spray --quiet --json --job)
"$program" plan "${planned[@]}" model=gpt-18.4b >orders.json || fail "plan over orders"
for order in tp-cp-pp-dp tp-cp-dp-pp tp-dp-cp-pp tp-dp-pp-cp tp-pp-cp-dp tp-pp-dp-cp; do
  "$program" plan "${planned[@]}" model=gpt-18.4b,order=$order >"order-$order.json" || fail "plan with $order"
done
/usr/bin/python3 - <<'PYTHON' || fail "orders of ranks"
import glob, json
found = json.load(open("orders.json"))["plan"]
given = {f[6:-5]: json.load(open(f))["plan"] for f in glob.glob("order-*.json")}
least = min(given.values(), key=lambda p: p["plans"][0]["time_s"])["plans"][0]["time_s"]
usual = given["tp-cp-pp-dp"]["plans"][0]["time_s"]
assert len(given) == 6 and all("orders" not in p for p in given.values())
assert least < usual * 0.999 and found["usual_order_s"] == usual and found["orders"] == 5, (least, usual, found["usual_order_s"])
assert found["plans"][0]["time_s"] == given[found["order"]]["plans"][0]["time_s"] <= least / 0.999
assert found["space"] == found["evaluated"] + found["unfit"] + found["bounded"] + found["untimed"]
assert found["lower_bound_s"] >= 0.999 * least
PYTHON
# Of many GPUs with drawn paths two are searched, by means: the faster one leads, and nothing that is printed beats it.
both many plan rail-only:gpus=5120,radix=64,down=32/64 --job model=llama3-70b --quiet || fail "orders of many GPUs"
/usr/bin/python3 - <<'PYTHON' || fail "orders of many GPUs: $(<many.txt)"
import json, re
plan, text = json.load(open("many.json"))["plan"], re.sub(r"\s+", " ", open("many.txt").read())
first = plan["plans"][0]
assert plan["orders"] == 1 and plan["order"] == first["order"] == "tp-cp-dp-pp", plan["order"]
mean = first["mean_s"]
assert mean < plan["usual_order_s"] * 0.9 and all(mean <= p.get("mean_s", mean) for p in plan["plans"]), plan["plans"]
assert len(plan["front"]) > 1 and "to see it: fabriscope run" in text and "order=tp-cp-dp-pp --seeds 8" in text
assert f"tp-cp-pp-dp takes {plan['usual_order_s']:.4g} s" in text and "no further order is searched" in text and "tries others" not in text
PYTHON
# --- one history has no interval, and says nothing of others ---
one=(compare clos:gpus=64 clos:gpus=64,spares=1 --job model=llama3-8b --engine spray --quiet --scenarios)
says '% not known' "${one[@]}" time:90d@1
says 'One history tells nothing of others' "${one[@]}" time:90d@1
silent 'One history' "${one[@]}" time:90d@20
# --- hierarchical exchanges have a closed form: their search ends with a proof, and nothing is to be said of it ---
record=(compare rail-spine:gpus=2048 clos:gpus=2048,taper=2 --job model=deepseek-v3,expert-exchange=hierarchical --engine spray --quiet)
"$program" "${record[@]}" --json --threads 1 >record.json
/usr/bin/python3 - <<'PYTHON' || fail "hierarchical exchanges"
import json
engines = [p["engines"][0] for p in json.load(open("record.json"))["sweep"]["points"]]
assert all(e["plan_is_proven"] and e["time_s"] < 23 for e in engines), engines
PYTHON
silent 'short search' "${record[@]}"
# --- plans of a short search that bounds leave room under are said first: the order may be theirs ---
both short compare rail-spine:gpus=2048 clos:gpus=2048,taper=2 --job model=mixtral-8x7b --engine ecmp --quiet || fail "a short search"
/usr/bin/python3 - <<'PYTHON' || fail "plans of a short search"
import json, re
engines = [p["engines"][0] for p in json.load(open("short.json"))["sweep"]["points"]]
open_ = [e for e in engines if not e["plan_is_proven"] and e["plan_lower_bound_s"] < 0.95 * e["time_s"]]
text = re.sub(r"\s+", " ", open("short.txt").read())
counted = "One plan is" if len(open_) == 1 else f"{len(open_)} plans are"
assert open_ and f"{counted} of a short search" in text and "the order may be that of plans: --job plan=auto searches on" in text
figures = re.search(r"takes ([\d.]+) (m?s), no less under any plan of the others, and no plan less than ([\d.]+) (m?s)\.", text).groups()
takes, least = (float(figures[i]) / (1000 if figures[i + 1] == "ms" else 1) for i in (0, 2))
widest = min(open_, key=lambda e: e["plan_lower_bound_s"] / e["time_s"])
assert abs(takes / widest["time_s"] - 1) < 1e-3 and abs(least / widest["plan_lower_bound_s"] - 1) < 1e-3
PYTHON
silent 'short search' compare clos:gpus=64 rail-only:gpus=64 --job model=llama3-8b --engine spray --quiet
# --- what the replicas that are left do of the batch may decide: it is named, with what a run of the other way finds ---
batch=(compare clos:gpus=128,radix=32 clos:gpus=128,radix=32,spares=1 --job model=gpt-3.6b,tp=8,pp=1,batch=16,microbatch=1,interleave=1 --engine spray
  --scenarios time:30d@10 --set failures.server-mtbf=60d --quiet)
for keep in yes no; do "$program" "${batch[@]}" --set failures.keep-batch=$keep --json >keep-$keep.json; done
"$program" "${batch[@]}" >keep.txt
tr -s '\n ' ' ' <keep.txt | grep -q "It rests on failures.keep-batch=yes: .* With --set failures.keep-batch=no, .*, \[1\] is best, \[2\] 4.37 % more." ||
  fail "a batch that is kept decides: $(<keep.txt)"
python3 - <<'PYTHON' || fail "the other way of the batch"
import json
yes, no = (json.load(open(f"keep-{k}.json"))["sweep"] for k in ("yes", "no"))
v, w = yes["verdicts"][0], no["verdicts"][0]
assert v["hangs_on_batch"] and w["hangs_on_batch"] and (v["batch_best"], v["batch_next"]) == (w["best"], w["next"]) == (1, 2), (v, w)
assert abs(v["batch_margin_ratio"] - w["margin_ratio"]) < 1e-9 and abs(w["batch_margin_ratio"] - v["margin_ratio"]) < 1e-9, (v, w)
for p, q in zip(yes["points"], no["points"]):
    a, b = p["engines"][0], q["engines"][0]
    assert (a["other_batch_goodput_ratio"], a["goodput_ratio"]) == (b["goodput_ratio"], b["other_batch_goodput_ratio"]), (a, b)
PYTHON
exit $((failures > 0))
