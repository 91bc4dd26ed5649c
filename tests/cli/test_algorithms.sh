#!/usr/bin/env bash
# A sweep over sizes with algorithm=all is what each algorithm takes by itself: every time is the sum of a replay of its
# own, its parts add up, and a key that is varied replaces the one that is given.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=clos:gpus=32,gpus-per-server=4,radix=8,taper=3
"$program" sweep $design --set host=nccl-efa-h100 --traffic pattern:all-reduce,bytes=7MB,algorithm=all --vary traffic.bytes=2kB,300kB,40MB \
  --engine ecmp --engine spray --seeds 3 --json --quiet >"$work/sweep.json"
for of in $(some {2kB,300kB,40MB}-{ring,doubling,halving-doubling,tree,mesh,hierarchical}); do
  "$program" route $design --set host=nccl-efa-h100 --traffic pattern:all-reduce,bytes="${of%%-*}",algorithm="${of#*-}" \
    --engine ecmp --engine spray --seeds 3 --json --quiet >"$work/$of.json"
done
python3 - "$work" <<'PYTHON'
import json, math, pathlib, sys

work = pathlib.Path(sys.argv[1])
mean = lambda x: x["mean"] if isinstance(x, dict) else x
compared = 0
for point in json.load(open(work / "sweep.json"))["sweep"]["points"]:
    size = point["values"][0]
    for algorithm in point["algorithms"]:
        if not (work / f"{size}-{algorithm['name']}.json").exists():
            continue
        phases = json.load(open(work / f"{size}-{algorithm['name']}.json"))["phases"]
        for e, engine in enumerate(algorithm["engines"]):
            alone = [p["engines"][e] for p in phases]
            want = sum(mean(a["time_s"]) for a in alone)
            assert math.isclose(engine["time_s"], want, rel_tol=1e-9), (size, algorithm["name"], engine["time_s"], want)
            bytes_s = sum(mean(a["transfer_s"]) for a in alone)
            assert math.isclose(engine["time_s"], engine["latency_s"] + bytes_s, rel_tol=1e-9)
            assert 0 <= engine["host_s"] <= engine["latency_s"] and 0 <= engine["routing_s"] <= bytes_s * (1 + 1e-9)
            factors = [mean(a["max_collision_factor"]) for p, a in zip(phases, alone) if p["fabric_flows"] > 0]
            assert math.isclose(engine["max_collision_factor"], max(factors), rel_tol=1e-9)
            assert math.isclose(engine["min_collision_factor"], min(factors), rel_tol=1e-9)
            compared += 1
assert compared >= 3 * 2, compared
PYTHON
expect_failure() { # expect_failure CODE TEXT ARGUMENT...
  local code=$1 text=$2 got=0
  shift 2
  "$program" "$@" >"$work/out" 2>"$work/err" || got=$?
  [[ $got -eq $code ]] && grep -qF -- "$text" "$work/err" || fail "exit $got, $(head -1 "$work/err")"
}
expect_failure 2 'is a key of a pattern' sweep $design --vary traffic.bytes=1MB,2MB
expect_failure 3 'colour' sweep $design --traffic pattern:ring --vary traffic.colour=red,blue

# What replays choose is chosen anew at every point, and each point is what a run of it is.
small=clos:gpus=32,radix=16
cd "$work"
"$program" sweep $small --traffic pattern:all-reduce,algorithm=best --vary traffic.bytes=1kB,1GB --seeds 1 --quiet --json >swept.json || fail "a sweep by best"
for bytes in 1kB 1GB; do
  "$program" route $small --traffic pattern:all-reduce,algorithm=best,bytes=$bytes --quiet --json >of_$bytes.json || fail "best at $bytes"
done
job=model=gpt-1.7b,tp=2,dp-collective=best,memory-check=off
"$program" compare $small $small,taper=4 --job $job --seeds 1 --quiet --json >compared.json || fail "a comparison by best"
"$program" run $small,taper=4 --job $job --quiet --json >ran.json || fail "a run by best"
python3 - <<'END' || fail "points by best differ from runs"
import json
names = set()
for point, bytes in zip(json.load(open("swept.json"))["sweep"]["points"], ("1kB", "1GB")):
    alone = json.load(open(f"of_{bytes}.json"))["phases"]
    assert [p["name"] for p in point["phases"]] == [p["name"] for p in alone]
    for of_point, of_run in zip(point["phases"], alone):
        time = of_run["engines"][0]["time_s"]
        assert of_point["engines"][0]["time_s"] == (time["mean"] if isinstance(time, dict) else time), (bytes, of_point)
    assert "best is" in point["traffic"]
    names.add(alone[0]["name"])
assert len(names) == 2, f"one algorithm for 1 kB and 1 GB: {names}"
second = json.load(open("compared.json"))["sweep"]["points"][1]
assert second["engines"][0]["iteration_s"] == json.load(open("ran.json"))["iteration"][0]["time_s"], "iterations differ"
END

# Hashes of many flows are estimated: all draws that are walked lie in the range, their mean near the estimate; 65,536 GPUs end in seconds.
# Every queue pair hashes by itself, flows of one pair of NICs alike; what relays store first takes its time before.
for of in $(some clos:gpus=512,radix=16/1 {rail-spine:gpus=256\,radix=32,clos:gpus=256\,radix=16\,planes=2,rail-only:gpus=256\,radix=8\,forwarding=sequential,clos:gpus=256\,radix=16\,nics-per-server=4}/{1,4}); do
  fabric=${of%/*} pairs=${of#*/}
  "$program" route $fabric --traffic pattern:all-to-all,bytes=1MB --engine ecmp,qp=$pairs --engine ecmp,qp=$pairs,flows=estimated --engine spray --seeds 10 --json --quiet >hashed.json || fail "an estimate on $fabric"
  python3 - $fabric $pairs <<'END' || fail "an estimate on $fabric with $pairs queue pairs"
import json, sys
walked, estimated, spray = json.load(open("hashed.json"))["phases"][0]["engines"]
time, guess = walked["time_s"], estimated["time_s"]["mean"]
assert "shortest_time_s" not in walked and estimated["shortest_time_s"] <= guess <= estimated["longest_time_s"]
assert estimated["shortest_time_s"] <= time["min"] * (1 + 1e-9) and time["max"] <= estimated["longest_time_s"] * (1 + 1e-9), (time, estimated)
assert abs(time["mean"] / guess - 1) < 0.03 and abs(walked["max_collision_factor"]["mean"] / estimated["max_collision_factor"]["mean"] - 1) < 0.03, (time, guess)
few = "rail-only" in sys.argv[1] or sys.argv[2] == "4" # uplinks of a leaf, or links that collide
assert (0.6 if few else 0.95) < walked["collided_flows"]["mean"] / estimated["collided_flows"]["mean"] < 1.05 and not estimated.get("hot_links")
END
done
"$program" route rail-spine:gpus=65536,radix=128 --job kind=ranking --traffic job --quiet >many || fail "an all-to-all of 65,536 GPUs by a hash"
grep -q "how sure    an estimate" many && tr -s " \n" "  " <many >line && grep -q "Between .* and .*, but for one draw of a hash in a thousand" line || fail "an estimate that does not say so: $(head -8 many)"
"$program" route clos:gpus=256,radix=16 --traffic pattern:all-to-all --engine ecmp,offset=0,flows=estimated --json --quiet >polarized || fail "a hash that polarizes"
grep -q shortest_time_s polarized && fail "a hash that polarizes is estimated"
# Of unequal flows, in groups: draws lie in the range. None ends a quarter after its fullest link.
for of in $(some {clos:gpus=64\,radix=16,clos:gpus=128\,radix=16\,taper=2,rail-spine:gpus=64\,radix=32}/{1,4}); do
  fabric=${of%/*} pairs=${of#*/}
  "$program" run $fabric --job kind=ranking,table-sharding=tables,table-group=64,memory-check=off --engine ecmp,qp=$pairs --engine ecmp,qp=$pairs,flows=estimated --engine spray --seeds 6 --json --quiet >uneven.json || fail "unequal flows on $fabric"
  python3 - <<'END' || fail "an estimate of unequal flows on $fabric with $pairs queue pairs"
import json
least = lambda of: of["min"] if isinstance(of, dict) else of
most = lambda of: of["max"] if isinstance(of, dict) else of
mean = lambda of: of["mean"] if isinstance(of, dict) else of
phases = [p for p in json.load(open("uneven.json"))["phases"] if p["name"].startswith("embedding")]
assert len(phases) == 2
for phase in phases:
    walked, guess, spray = phase["engines"]
    assert guess["shortest_time_s"] <= least(walked["time_s"]) * (1 + 1e-9) and most(walked["time_s"]) <= guess["longest_time_s"] * (1 + 1e-9), (walked["time_s"], guess)
    assert 0.95 < mean(walked["time_s"]) / mean(guess["time_s"]) < 1.05, (walked["time_s"], guess["time_s"])
    for engine in (walked, spray):
        assert 1 - 1e-9 <= mean(engine["transfer_s"]) / mean(engine["busiest_link_s"]) < 1.25, (engine["engine"], engine["transfer_s"], engine["busiest_link_s"])
END
done
"$program" run clos:gpus=128,radix=16,tiers=3,taper=1.5 --job kind=ranking,table-sharding=tables,table-group=64,memory-check=off --engine spray --json --quiet >late.json
python3 -c '
import json
ends = [p["engines"][0]["transfer_s"] / p["engines"][0]["busiest_link_s"] for p in json.load(open("late.json"))["phases"] if p["name"].startswith("embedding")]
assert len(ends) == 2 and all(1.1 < end < 1.25 for end in ends), ends' || fail "flows that end after their fullest link"
# 65,536 GPUs, table by table: a time under a hash and sprayed, as an estimate; a model of too few columns says so.
huge=(run clos:gpus=65536,radix=64,tiers=3 --quiet --json --engine ecmp --engine spray --job)
"$program" "${huge[@]}" kind=ranking,table-sharding=tables,table-group=512,memory-check=off >huge.json || fail "unequal flows of 65,536 GPUs"
python3 - <<'END' || fail "no time of unequal flows of 65,536 GPUs"
import json
phases = [p for p in json.load(open("huge.json"))["phases"] if p["name"].startswith("embedding")]
assert len(phases) == 2 and all(e["shortest_time_s"] <= e["time_s"] < e["longest_time_s"] for p in phases for e in p["engines"]), phases
END
"$program" run rail-only:gpus=65536 --job kind=ranking --quiet >relayed || fail "an all-to-all of 65,536 GPUs that relay"
grep -q "how sure    an estimate" relayed || fail "an estimate over relays that does not say so: $(head -8 relayed)"
refused=$("$program" run rail-only:gpus=65536,forward=destination --job kind=ranking --quiet 2>&1) && fail "4.3e9 flows looked at"
[[ $refused == *"the limit is 67108864"*"forward=source"* ]] || fail "$refused"
refused=$("$program" "${huge[@]}" kind=ranking,table-sharding=tables,table-group=1024,memory-check=off 2>&1) && fail "832 pieces for 1,024 GPUs"
[[ $refused == *"832 pieces of at least 4 columns do not give each of 1024 GPUs one; table-group= says"* ]] || fail "$refused"
# Whoever compares times says that some are estimates, and how far they may be off.
estimated=(--engine ecmp,flows=estimated --quiet)
mesh=(--job model=gpt-1.7b,tp=1,pp=1,dp-collective=mesh,zero=1)
small=(clos:gpus=32,radix=16 rail-spine:gpus=32,radix=16)
"$program" route clos:gpus=64,radix=16 --traffic pattern:all-to-all "${estimated[@]}" --json >alone.json
"$program" sweep clos:gpus=64,radix=16 --vary taper=1,3 --traffic pattern:all-to-all "${estimated[@]}" --json >sweep.json
"$program" compare "${small[@]}" "${mesh[@]}" "${estimated[@]}" --json >compare.json
"$program" plan "${small[0]}" "${mesh[@]}" "${estimated[@]}" --json >plan.json
"$program" mix "${small[@]}" "${mesh[@]}" --ranking batch=65536 "${estimated[@]}" --json >mix.json
python3 - <<'END' || fail "an estimate is not marked"
import json
alone, sweep, compare, plan, mix = (json.load(open(f"{name}.json")) for name in ("alone", "sweep", "compare", "plan", "mix"))
phase = alone["phases"][0]["engines"][0]
point = sweep["sweep"]["points"][0]["engines"][0]
assert point["estimated_ratio"] == phase["longest_time_s"] / phase["time_s"] - 1 > 0 and not point["is_drawn"], (point, phase)
assert all(p["engines"][0]["estimated_ratio"] > 0 for p in compare["sweep"]["points"])
assert plan["plan"]["plans"][0]["estimated_ratio"] > 0
assert all(d["engines"][0]["estimated_ratio"] > 0 for d in mix["mix"]["designs"]), mix["mix"]
END
marked() { # marked TEXT ARGUMENTS...
  "$program" "${@:2}" "${estimated[@]}" | tr -s ' \n' '  ' | grep -F -- "$1" >/dev/null || fail "${*:2}: no '$1'"
}
marked 'by an estimate, taper=1 is fastest' sweep clos:gpus=64,radix=16 --vary taper=1,3 --traffic pattern:all-to-all
marked 'no phase takes more than 27 % longer' sweep clos:gpus=64,radix=16 --vary taper=1,3 --traffic pattern:all-to-all
marked 'estimate, [' compare "${small[@]}" "${mesh[@]}"
marked 'An estimate: so many flows' plan "${small[0]}" "${mesh[@]}"
marked 'estimate, [' mix "${small[@]}" "${mesh[@]}" --ranking batch=65536
"$program" sweep clos:gpus=64,radix=16 --vary taper=1,3 --traffic pattern:all-to-all "${estimated[@]}" --format csv | python3 -c '
import csv, sys
assert all(float(row["estimated_ratio"]) > 0 for row in csv.DictReader(sys.stdin))' || fail "an estimate is not marked in CSV"
[[ $failures -eq 0 ]]
