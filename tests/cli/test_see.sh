#!/usr/bin/env bash
# What a search prints to see its winner alone gives the same figures; dollars say what they are counted by.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 "$root/tests/cli/check_see.py" "$program" || fail "printed commands"

# Hours and ownership are far apart: 12 of 13 dollars of an hour are no GPU.
design=rail-only:gpus=256,nic=400Gb/s,tiers=1,radix=64,port=400Gb/s,prices=today-800g
job=(--job model=gpt-18.4b --engine spray --quiet)
says() { # says TEXT ARGUMENTS...: whatever the lines
  "$program" "${@:2}" >out 2>err || { fail "${*:2}: exit code $?: $(<err)"; return; }
  tr -s ' \n' '  ' <out | grep -F -- "$1" >/dev/null || fail "${*:2}: no '$1'"
}
says '1e9 tokens: $1,081 by GPU hours at $12.50, $96.01 bought and run for 5 years;' run $design "${job[@]}"
says '1e9 tokens cost $96.01 of ownership' optimize --gpus 256 --family rail-only "${job[@]}"
says 'even by GPU hours: $1,081 per 1e9 tokens' compare $design clos:gpus=256,prices=today-800g "${job[@]}"
says 'by GPU hours at $12.50; 827,518' run ${design/today-800g/deepseek-2025} "${job[@]}"

# --- spares pay or not by what becomes of ranks without one: the policy is named, and another that answers otherwise ---
spares=(sweep clos:gpus=256 --vary spares=0,1,2 --job model=gpt-3.6b,tp=4 --engine spray --scenarios time:30d@20 --quiet)
both spares "${spares[@]}" || fail "spares"
tr -s ' \n' '  ' <spares.txt >out
grep -F 'where servers are lost, policy shrink; ranks on a spare go home where that pays.' out >/dev/null && grep -F ' Under first-spare, which waits for the repair where no spare is, it is otherwise: spares=1 has the fewest dollars bought and run: ' out >/dev/null ||
  fail "the policy is not named: $(<out)"
"$program" "${spares[@]}" --policy shrink --json >shrink.json
"$program" "${spares[@]}" --policy first-spare --json >first.json
"$program" "${spares[@]}" --set failures.keep-batch=no --json >smaller.json
python3 - <<'PYTHON' || fail "what policies answer"
import json, re
unasked, shrink, first, smaller = ([p["engines"][0] for p in json.load(open(f"{n}.json"))["sweep"]["points"]] for n in ("spares", "shrink", "first", "smaller"))
assert [e["goodput_ratio"] for e in unasked] == [e["goodput_ratio"] for e in shrink]
assert [e["waiting_goodput_ratio"] for e in unasked] == [e["goodput_ratio"] for e in first]
assert all("waiting_goodput_ratio" not in e for e in shrink + first)
owned = [[e["owned_usd_per_1e9_tokens"] / e["goodput_ratio"] for e in engines] for engines in (first, shrink)]
assert [usd.index(min(usd)) for usd in owned] == [1, 0], owned
text = " ".join(open("out").read().split())
margin = re.search(r"tokens, spares=(\d) ([0-9.]+) % more", text[text.index("Under first-spare"):])
best, following = sorted(owned[0])[:2] # by the next, not by the last
assert owned[0][int(margin[1])] == following and abs(float(margin[2]) - 100 * (following / best - 1)) < 0.06, (margin[0], owned)
# The batch that is kept is an assumption too: what is said of the other one is what a sweep with it finds.
assert [(e["other_batch_goodput_ratio"], e["goodput_ratio"]) for e in unasked] == [(e["goodput_ratio"], e["other_batch_goodput_ratio"]) for e in smaller]
usd = [e["owned_usd_per_1e9_tokens"] / e["goodput_ratio"] for e in smaller]
said = re.search(r"\(failures.keep-batch=yes, .*With --set failures.keep-batch=no, [^:]* spares=(\d) has the fewest dollars bought and run[^:]*: \$([0-9.]+) per", text)
assert int(said[1]) == usd.index(min(usd)) and abs(float(said[2]) / min(usd) - 1) < 1e-3, (said[0], usd)
PYTHON
# "too" is of the point that stood first, not of one that is not told apart from it.
says 'spares=0 has the fewest dollars bought and run (not told apart from spares=2): ' sweep rail-spine:gpus=1024 --vary spares=0,2,8 --scenarios time:90d@100 --quiet \
  --job model=llama3-70b,tp=2,cp=4,pp=4,dp=32,interleave=4,microbatch=1,zero=1,recompute=none,sequence-parallel=yes,order=tp-cp-dp-pp
# A study runs the plan that failures leave most, which is that of a sweep and not the fastest without them; it names it.
open=(clos:gpus=512,radix=32 --job model=llama3-8b --scenarios time:90d@40 --quiet --json)
"$program" study "${open[@]}" >planned.json
"$program" sweep "${open[@]}" --vary spares=0 >swept.json
"$program" run "${open[@]:0:3}" --quiet --json >fastest.json
python3 - <<'PYTHON' || fail "the plan of a study"
import json
study, swept, fastest = (json.load(open(f"{n}.json")) for n in ("planned", "swept", "fastest"))
study, engine = study["study"], swept["sweep"]["points"][0]["engines"][0]
shrink = next(v for v in study["policy"] if v["policy"] == "shrink")
keys = dict(key.split("=") for key in study["plan_keys"].split(","))
assert engine["plans_tried"] > 1 and all(keys[k] == str(v) for k, v in engine["plan"].items()), (keys, engine["plan"])
assert abs(shrink["goodput_ratio"]["mean"] - engine["goodput_ratio"]) < 1e-9, (shrink, engine)
assert study["plan_keys"] not in json.dumps(fastest)
PYTHON
# Of a job whose stages are those that fit the chunks are chosen too: the printed keys run it as it was run.
design=rail-spine:gpus=256,radix=64
"$program" study $design --job model=llama3-70b,tp=8 --scenarios time:90d@2 --json --quiet >keys.json
keys=$(grep -o '"plan_keys": "[^"]*' keys.json | cut -d'"' -f4)
for job in tp=8 "$keys"; do
  "$program" run $design --job "model=llama3-70b,$job" --json --quiet | grep -o '"tokens_per_s": [0-9.]*' | head -1
done >speeds
[[ $keys == *,interleave=auto,* && $(wc -l <speeds) == 2 && $(uniq speeds | wc -l) == 1 ]] || fail "the plan of a study: $keys $(<speeds)"
says "--job tp=2,cp=2,pp=2,dp=64,ep=1," study "${open[@]:0:6}"
says 'against this design without failures; compare tells' study clos:gpus=64,spares=1 --job model=gpt-1.7b,tp=4,pp=1,dp=16 --engine spray --scenarios time:30d@20 --quiet
# A comparison and a study of the same design have the same default and the same goodput; experts cannot do without a replica.
study=(clos:gpus=64 --job model=gpt-1.7b,tp=4,pp=1,dp=16 --engine spray --scenarios time:30d@20 --quiet)
"$program" study "${study[@]}" --store one --json >study.json
"$program" compare clos:gpus=64 "${study[@]}" --json >compared.json
"$program" compare clos:gpus=64,spares=1 clos:gpus=64 --job model=mixtral-8x7b,tp=1,pp=1,dp=64,ep=8,memory-check=off --engine spray --scenarios time:30d@5 --json --quiet >experts.json
python3 - <<'PYTHON' || fail "one default policy"
import json
study, compared, experts = (json.load(open(f"{n}.json")) for n in ("study", "compared", "experts"))
shrink = next(v for v in study["study"]["policy"] if v["policy"] == "shrink")
for p in compared["sweep"]["points"]:
    assert p["policy"] == "shrink" and abs(p["engines"][0]["goodput_ratio"] - shrink["goodput_ratio"]["mean"]) < 1e-9, (p, shrink)
assert experts["sweep"]["policy"] == "first-spare" and "waiting_goodput_ratio" not in experts["sweep"]["points"][0]["engines"][0], experts["sweep"]["policy"]
PYTHON

# --- what uplinks may win: no run with more of them is faster, and a full bisection takes just that ---
for taper in 1 3 7; do
  "$program" run rail-spine:gpus=512,radix=32,taper=$taper --job model=gpt-18.4b,tp=8,pp=1,placement=random --engine spray --json --quiet >taper$taper.json
done
python3 - <<'PYTHON' || fail "what uplinks win"
import json
full, *tapered = (json.load(open(f"taper{t}.json")) for t in (1, 3, 7))
time_s = full["iteration"][0]["time_s"]
assert "uplinks_s" not in full["verdict"]
for r in tapered:
    v = r["verdict"]
    assert 0.9999 * time_s < v["uplinks_s"] <= time_s < 0.9 * v["compared_s"], (v["uplinks_s"], time_s)
    assert "2.695 s at least" in v["to_do"] and "--set taper=1 tells" in v["to_do"], v["to_do"]
PYTHON

# --- what lifts a taper is named, where a setting does: spares make it here, and full-spares=yes ends it, at its price and not always for the better ---
spares=(run rail-spine:gpus=512,spares=2 --job model=llama3-8b --quiet)
says 'this plan nothing (factor 0.03); without it another may be faster (full-spares=yes has no taper, for $925.8k more and with other leaves: fabriscope compare tells)' "${spares[@]}"
says 'full-spares=yes keeps the taper with 35 switches in 2 tiers, for $925.8k more, but with other leaves: fabriscope compare tells' "${spares[@]}"
"$program" "${spares[@]}" --json >some.json
"$program" "${spares[@]}" --set full-spares=yes --json >full.json
"$program" "${spares[@]}" --set full-spares=yes >out
! grep 'taper costs' out || fail "full-spares=yes leaves a taper"
held=(compare rail-spine:gpus=1024,spares=2 rail-spine:gpus=1024,spares=2,full-spares=yes --job model=llama3-70b,tp=2,cp=4,pp=4,interleave=4,microbatch=1,recompute=none,zero=1,sequence-parallel=yes,order=tp-cp-dp-pp --quiet)
"$program" "${held[@]}" >out
! grep 'holds it' out || fail "what is compared is told to be compared"
"$program" "${held[@]}" --json >held.json
python3 - <<'PYTHON' || fail "what full-spares=yes does"
import json
cost = [json.load(open(f"{n}.json"))["cost"]["total_usd"] for n in ("some", "full")]
assert round((cost[1] - cost[0]) / 100) == 9258, cost
few, full = json.load(open("held.json"))["sweep"]["points"]
assert full["total_usd"] > few["total_usd"] and full["engines"][0]["time_s"] > 1.05 * few["engines"][0]["time_s"], (few, full)
PYTHON
"$program" build rail-spine:gpus=512,spares=2 --export spares.cables.csv --quiet >/dev/null
"$program" run installed:spares.cables.csv,spares=2 "${spares[@]:2}" >out
grep 'taper costs this plan nothing' out >/dev/null && ! grep -e '--set' out || fail "a setting for what is installed: $(<out)"

# --- fewer servers, or another batch: the gain is that of the two commands which are printed ---
python3 - "$program" <<'PYTHON' || fail "the gain of fewer servers"
import json, shlex, subprocess, sys
def run(words):
    return json.loads(subprocess.run([sys.argv[1], *words, "--json", "--quiet"], check=True, capture_output=True).stdout)
for design, model, engine, advice, least in (("clos:gpus=344", "gpt-18.4b", "ecmp", "n-servers=42,tp=", 1.1),
                                             ("clos:gpus=952", "llama3-8b", "ecmp", "n-servers=117,tp=", 1.05),
                                             ("clos:gpus=832", "llama3-8b", "spray", "batch=416,tp=", 1.05)):
    found = run(["plan", design, "--job", f"model={model}", "--engine", engine])
    plan = found["plan"]
    assert plan["fewer_job"].startswith(advice), plan["fewer_job"]
    few = ["run", design, "--job", f"model={model},{plan['fewer_job']}", "--engine", engine, "--seeds", str(plan.get("draws", 1))]
    tokens = [run(words)["iteration"][0]["tokens_per_s"] for words in (shlex.split(found["meta"]["see"])[1:], few)]
    assert abs(tokens[1] / tokens[0] / plan["fewer_gain_ratio"] - 1) < 1e-9 and plan["fewer_gain_ratio"] > least, (tokens, plan)
PYTHON

# --- unlike jobs are refused, of whatever kind and place ---
design() { # design FILE JOBS
  echo "<design><fabric family='clos' gpus='64' radix='16'/>$2</design>" >"$1.xml"
}
two='<job id="a" model="gpt-3.6b" tp="4" n-servers="4"/><job id="b" tp="4" n-servers="4" model='
design a "$two'gpt-3.6b'/>"
design b "$two'gpt-7.5b'/>"
design c '<job kind="serving" model="llama3-8b" tp="4"/>'
design d '<job kind="serving" model="llama3-70b" tp="4"/>'
unlike() { # unlike TEXT DESIGN DESIGN
  local code=0
  "$program" compare "$2" "$3" --quiet >out 2>err || code=$?
  [[ $code == 3 ]] && grep -F -- "$1" err >/dev/null || fail "$2 $3: $code $(<err)"
}
unlike 'b.xml: its job 2 is training gpt-7.5b, that of another design training gpt-3.6b: times of unlike jobs do not compare' a.xml b.xml
unlike 'its job 1 is serving llama3-70b, that of another design serving llama3-8b' c.xml d.xml
unlike 'its job 1 is serving llama3-8b, that of another design training gpt-3.6b' a.xml c.xml
says 'are the same: ' compare c.xml d.xml --job model=llama3-8b --quiet

# --- queue pairs that seeds tell apart by their ranks: the most ---
says '--engine ecmp,qp=32 saves 10.4 % of the time of all phases, the most of 29 configurations without other switches (a setting of the hosts)' \
  route clos:gpus=64,radix=16/8,taper=3 --traffic pattern:all-to-all --engine ecmp --advise --advise-budget 0 --quiet

# --- leaves: those of a family with each other ---
says 'than 32 (48 at 3, clos), which' sweep clos:gpus=256 --vary taper=1,3 --vary fabric.family=clos,rail-spine --job model=gpt-3.6b,tp=4 --engine spray --quiet
"$program" compare rail-spine:gpus=256,radix=32 clos:gpus=256,radix=64,taper=3 --job model=gpt-3.6b,tp=4 --engine spray --quiet >out
! grep 'Not the taper alone' out || fail "leaves of two families are compared"

# --- the better plan of a job whose sizes are given carries its batch, and takes what is promised ---
mixtral=(run rail-only:gpus=2048 --engine spray --json --quiet --job)
"$program" "${mixtral[@]}" model=mixtral-8x7b,tp=1,pp=4,ep=8 >given.json
plan=$(python3 -c 'import json; print(json.load(open("given.json"))["verdict"]["plan"])')
"$program" "${mixtral[@]}" "model=mixtral-8x7b,$plan" >better.json
python3 - <<'PYTHON' || fail "a better plan takes what is promised"
import json
given, better = (json.load(open(f"{n}.json")) for n in ("given", "better"))
assert better["iteration"][0]["time_s"] == given["verdict"]["plan_s"] < given["iteration"][0]["time_s"]
assert better["job"]["batch"] == given["job"]["batch"]
PYTHON


# --- whatever chooses the plan tries two orders of ranks, and none beats another's by it ---
rails=(rail-only:gpus=1024 --json --quiet --seeds 8 --job)
for order in '' ,order=tp-cp-pp-dp ,order=tp-cp-dp-pp; do
  "$program" run "${rails[@]}" "model=llama3-70b$order" >"run$order.json"
done
"$program" compare rail-only:gpus=1024 clos:gpus=1024 --job model=llama3-70b --json --quiet >compared.json
"$program" plan rail-only:gpus=1024 --job model=llama3-70b --json --quiet >planned.json
python3 - <<'PYTHON' || fail "two orders of ranks"
import json
mean = lambda name: json.load(open(f"{name}.json"))["iteration"][0]["seeds"]["time_s"]["mean"]
chosen, usual, other = (mean(f"run{order}") for order in ("", ",order=tp-cp-pp-dp", ",order=tp-cp-dp-pp"))
assert chosen == other < 0.97 * usual, (chosen, usual, other)
point = json.load(open("compared.json"))["sweep"]["points"][0]
assert point["engines"][0]["plan"]["order"] == "tp-cp-dp-pp" and abs(point["engines"][0]["time_s"] / chosen - 1) < 1e-9, point
assert json.load(open("planned.json"))["plan"]["plans"][0]["mean_s"] <= chosen * (1 + 1e-9)
given = json.load(open("run,order=tp-cp-pp-dp.json"))["plan"]
assert "orders" not in given and "order" not in given, "an order that is given is not changed"
PYTHON
exit $((failures > 0))
