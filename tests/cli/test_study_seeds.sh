#!/usr/bin/env bash
# Failures over seeds of paths: means of studies of one seed each, histories whose mean is no luck, and no part that is blamed for a draw.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
study() { "$program" study "${@:2}" --store "$1" --json --quiet >"$1.json" 2>err || fail "$*: $(cat err)"; }

# --- a set is the mean of its draws; where these do not tell it from none, its time is the healthy one ---
small=(clos:gpus=64,radix=16,taper=3,spares=1 --job model=llama3-8b,tp=4,memory-check=off --scenarios fabric-links:1 --policy none)
study mean "${small[@]}" --seeds 4 --seed 1
for s in 1 2 3 4; do study "one-$s" "${small[@]}" --seeds 1 --seed "$s"; done
python3 - <<'PY' || fail "means of sets"
import math, sqlite3
def rows(store):
    db = sqlite3.connect(store + "/results.db")
    healthy = db.execute("SELECT whole_time_s FROM variant").fetchone()[0]
    return healthy, db.execute("SELECT time_s, slowdown, worst_ratio FROM outcome ORDER BY scenario").fetchall()
mean_s, means = rows("mean")
ones = [rows("one-%d" % s) for s in (1, 2, 3, 4)]
close = lambda a, b: math.isclose(a, b, rel_tol=1e-12)
assert len({h for h, _ in ones}) > 1, "nothing is drawn"
assert close(mean_s, sum(h for h, _ in ones) / 4)
told = 0
for i, (time_s, slowdown, ratio) in enumerate(means):
    added = [r[i][0] - h for h, r in ones]
    mean = sum(added) / 4
    ci95 = 3.182446305 * math.sqrt(sum((a - mean) ** 2 for a in added) / 3 / 4) # Student's t, 3 degrees
    wide = min(5 / 3.182446305, 1 + math.log10(len(means)) / 2)
    is_told = abs(mean) > wide * ci95
    told += is_told
    assert close(slowdown, 1 + mean / mean_s), (i, slowdown)
    assert close(ratio, sum(r[i][2] for _, r in ones) / 4), i
    assert close(time_s, mean_s + mean if is_told else mean_s), (i, added)
assert told < len(means), told
PY

# --- one draw blames cables; eight do not, and say what is not told apart ---
links=(clos:gpus=512,taper=3 --scenarios fabric-links:1 --job model=llama3-8b)
"$program" study "${links[@]}" --seeds 1 --quiet | tr '\n' ' ' | tr -s ' ' >one.txt
grep -q "By one draw of the paths" one.txt && grep -q "Highest impact: 7 of the 176 leaf-spine links" one.txt || fail "one draw: $(cut -c 1-600 one.txt)"
"$program" study "${links[@]}" --quiet | tr '\n' ' ' | tr -s ' ' >eight.txt
grep -q "Not told apart: the draw" eight.txt && grep -q "Means over 8 seeds" eight.txt || fail "eight seeds: $(cut -c 1-600 eight.txt)"
"$program" study "${links[@]}" --engine spray --quiet >spray.txt || fail "a study under spray"
grep -q "By one draw\|seeds of paths" spray.txt && fail "spray draws nothing"
# what every seed has is told: half of a dual-homed NIC
"$program" study rail-spine:gpus=64,planes=2,radix=32 --scenarios access-links:1 --quiet | tr '\n' ' ' | grep "Highest impact: any of the 128 nic-leaf links" >/dev/null || fail "a link of every NIC"

# --- histories: no more than all but restarts, redone work and writes, within what seeds leave; shares of what failures cost ---
for s in 1 2 6; do
  study "time-$s" clos:gpus=256,radix=32,spares=2 --scenarios time:90d@200 --job model=llama3-8b --policy first-spare --seed "$s"
done
python3 - <<'PY' || fail "histories"
import json
told = 0
for s in (1, 2, 6):
    v = json.load(open("time-%d.json" % s))["study"]["policy"][0]
    # one draw: -0.0047 to 0.0032 and beyond; ranks that luck makes faster on a spare stay there, the others go home (ADR 84)
    assert -0.004 < v["slow_ratio"] < 0.004, (s, v["slow_ratio"])
    shares = [c["share_ratio"] for c in v["causes"]]
    assert all(0 <= x <= 1 for x in shares) and abs(sum(shares) - 1) < 1e-9, shares
    first = v["causes"][0]
    told += first["impact_ratio"] > first["impact_ci95_ratio"]
    assert first["name"] == "gpus" or first["impact_ratio"] <= first["impact_ci95_ratio"], first
    lost = v["restart_ratio"] + v["redo_ratio"] + v["slow_ratio"] + v["wait_ratio"]
    for c in v["causes"]: # failures times the cost of one is the share of what is lost
        assert abs(c["failures"] * c["impact_ratio"] - c["share_ratio"] * lost) < 1e-12, (c, lost)
assert told == 2, told
PY

# --- run --fail: the time under several seeds is the mean of runs of one ---
route=(clos:gpus=128,radix=32,taper=2 --traffic pattern:shift,by=16 --fail 'leaf-0:17 > spine-0:1' --json --quiet)
for s in 1 2 3 4; do "$program" route "${route[@]}" --seed "$s" >"run-$s.json" || fail "run $s"; done
"$program" route "${route[@]}" --seeds 4 >run.json || fail "run"
python3 - <<'PY' || fail "run --fail --seeds"
import json, math
def times(name):
    e = json.load(open(name))["failures"]["engines"][0]
    return e["healthy"]["time_s"], e["policies"][0]["time_s"]
ones = [times("run-%d.json" % s) for s in (1, 2, 3, 4)]
both = times("run.json")
assert len({b / a for a, b in ones}) > 1, ones
for i in (0, 1):
    assert math.isclose(both[i], sum(o[i] for o in ones) / 4, rel_tol=1e-12), (both, ones)
PY
"$program" run clos:gpus=512,taper=3 --job model=llama3-8b --fail 'leaf-6:54 > spine-1:26' --seeds 20 --quiet | tr '\n' ' ' | tr -s ' ' | grep "(mean of 20 seeds, not told apart)" >/dev/null || fail "the sentence of a run"

# --- what a quarter costs has the interval that compare has of the goodput: histories of one draw have its luck in common ---
wide=(rail-spine:gpus=512,radix=32,spares=4,full-spares=yes --job model=llama3-8b --scenarios time:90d@64 --policy shrink)
study quarter "${wide[@]}"
"$program" compare "${wide[0]}" rail-spine:gpus=512,radix=32 "${wide[@]:1:4}" --policy shrink --json --quiet >both.json 2>err || fail "compare: $(<err)"
python3 - <<'PY' || fail "the interval of a quarter"
import json
v = json.load(open("quarter.json"))["study"]["policy"][0]
e = json.load(open("both.json"))["sweep"]["points"][0]["engines"][0]
usd = 512 * 12.5 * 2190
assert abs(v["quarterly_lost_ci95_usd"] / usd / e["goodput_ci95_ratio"] - 1) < 1e-6
assert v["quarterly_lost_ci95_usd"] > 0.1 * v["quarterly_lost_usd"]
PY
exit $((failures > 0))
