#!/usr/bin/env bash
# The five lines with which a report begins: what they promise is what a run with it gives; every case has them; the same words in every format.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
/usr/bin/python3 "$root/tests/cli/check_verdict.py" "$program" || fail "the verdict"
"$program" run clos:gpus=64 --quiet >short && "$program" run clos:gpus=64 --conventions --quiet >long || fail "run"
grep -q "HOW THIS WAS COUNTED" short && fail "conventions without --conventions"
grep -q "HOW THIS WAS COUNTED" long && grep -q "lower bounds\|left out:" long || fail "no conventions with --conventions"
grep -q "conventions" short || fail "nothing says where the conventions are"

says() { # says TEXT ARGUMENTS...: the five lines have it
  "$program" "${@:2}" --quiet >out || fail "${*:2}"
  sed '/^$/,$d' out | cut -c13- | tr '\n' ' ' >lines
  grep -qF -- "$1" lines || { cat lines; fail "${*:2}: no '$1'"; }
}
lacks() { # lacks TEXT: those of the run before
  ! grep -qF -- "$1" lines || { cat lines; fail "says '$1'"; }
}
# Several jobs, each alone on its links: together they lose half, which no line may leave out.
python3 - <<'PYTHON' >many.xml
jobs = "".join(f'<job id="j{i}" model="llama3-8b" plan="given" servers="{i},{i + 20},{i + 40},{i + 60}"/>' for i in range(20))
print(f'<design><fabric family="clos" gpus="640" radix="32"><tier level="1" taper="2"/></fabric>{jobs}<engine use="spray"/></design>')
PYTHON
says "job j0 of 20 loses most to the others: iteration 27.83 s instead of 27.83 s, x1.000, where phases meet by chance; no single job costs it a thousandth of its time (19 tried); while the longest fall together once 27.98 s, x1.005; 20 of 20 are slowed" run many.xml
lacks "the taper costs nothing"
grep -qE "the busiest, \S+ > \S+, those of j0 and j1 for .*. Job j0 alone: none" lines || fail "the link that they share: $(<lines)"
says "--engine ecmp,qp=16 saves 0.94 % of the jobs' GPU time where phases meet by chance, 20 of 20 are faster" run many.xml --engine ecmp
says "one draw" run many.xml --engine ecmp
# Engines are compared by all jobs, also where the first is on one server and takes the same under each.
python3 - <<'PYTHON' >inside.xml
jobs = "".join(f'<job id="j{i}" model="llama3-8b" plan="given" servers="{i},{i + 20},{i + 40},{i + 60}"/>' for i in range(1, 20))
print(f'<design><fabric family="clos" gpus="640" radix="32"><tier level="1" taper="3"/></fabric><job id="j0" model="gpt-1.7b" tp="8" servers="0"/>{jobs}</design>')
PYTHON
several=(run inside.xml --engine ecmp,qp=1 --engine ecmp,qp=4 --engine ecmp,qp=16)
says "Best for all jobs together [3] ecmp,qp=16; worst [1] ecmp,qp=1:" "${several[@]}"
"$program" "${several[@]}" --json --quiet >out
/usr/bin/python3 - <<'PYTHON' || fail "engines of several jobs"
import json
r = json.load(open("out"))
alone = [e["time_s"] for e in r["iteration"]]
s = [e["all_jobs_s"] for e in r["contention"]["engines"]]
assert max(alone) == min(alone) and min(s) == s[2] and max(s) == s[0], (alone, s)
bound = r["verdict"]["bound_by"]
assert f"{100 * (s[0] / s[2] - 1):.1f} % more; of ecmp more queue pairs help up to" in bound, (bound, s)
PYTHON
# Two engines, of which one draws; several of a name.
says "[1] spray: every seed gives the same; [2] ecmp: one draw" run clos:gpus=64,radix=16 --job tp=8 --engine spray --engine ecmp
says "[2] spray: every seed gives the same; [1] ecmp: 3 seeds, mean time +-" run clos:gpus=64,radix=16 --job tp=8 --engine ecmp --engine spray --seeds 3
says "Best [2] ecmp,qp=64; worst [1] ecmp,qp=1:" run clos:gpus=64,radix=16 --job tp=8 --engine ecmp,qp=1 --engine ecmp,qp=64
grep -qE '^  \[1\] qp=1 ' out && grep -qE '^  \[2\] qp=64 ' out || fail "a table of engines that differ in an option"
# Queue pairs: the fewest that are about 1 % behind the best.
pairs=(run clos:gpus=512,taper=2 --job model=gpt-18.4b,tp=8 --engine ecmp,qp=1 --engine ecmp,qp=4 --engine ecmp,qp=16 --engine ecmp,qp=64)
says "take [3] ecmp,qp=16; more queue pairs save 1 % at most in this draw ([4] ecmp,qp=64)" "${pairs[@]}" --out pairs
cp pairs/report.json out
/usr/bin/python3 - <<'PYTHON' || fail "queue pairs"
import json
s = [e["time_s"] for e in json.load(open("out"))["iteration"]]
assert min(s) == s[3] and s[2] / s[3] < 1.0125 < s[1] / s[3] and round(100 * (1 - s[3] / s[2])) == 1, s
text = json.load(open("out"))["verdict"]["bound_by"]
assert f"; of ecmp more queue pairs help up to 16, {100 * (1 - s[2] / s[0]):.3g} % less time than 1; more, up to 64, save 1 %" in text, text
PYTHON
says "; more, up to 64, save 1 % in this draw (--seeds 8 has means)" "${pairs[@]}"
"$program" "${pairs[@]}" --seeds 8 --quiet | tr -s ' \n' ' ' >out
grep -F "of ecmp more queue pairs help" out >/dev/null && ! grep -F "in this draw" out >/dev/null || fail "means of 8 seeds are called a draw"
says "worst [1] ecmp,hash=ideal,qp=2" "${pairs[@]:0:4}" --engine ecmp,hash=ideal,qp=2 --engine ecmp,hash=ideal,qp=4 --engine ecmp,qp=4 --engine ecmp,qp=2
lacks "queue pairs help" # of unlike hashes, two of each
# Serving: too many requests, nearly as many, and fewer.
served=(run rail-spine:gpus=64 --engine spray --job)
says "overload: 20 requests/s cannot be served, at most 14.908" "${served[@]}" kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=20
grep -q '^bound by    overload' out && grep -q "^to do       serve more at once: --job batch=104 carries" out || fail "overload comes first"
says "at 99.9 % of the most they are of this window, and grow with it" "${served[@]}" kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=14.9
tr '\n' ' ' <out | grep -qE "those of the +692\.4 s simulated, and still grow" || fail "a window beside the percentiles"
says "at 10 of at most 14.908 requests/s p50 65.7 ms, p99 72.97 ms" "${served[@]}" kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=10
lacks "grow with it"
"$program" mix rail-spine:gpus=64 rail-spine:gpus=64,taper=2 --job model=gpt-1.7b,tp=8 --serving model=llama3-70b,tp=8,batch=64,request-rate=20 --engine spray --quiet >out
[[ $(grep -c "does not serve all: more requests come than" out) -eq 2 ]] || fail "a mix with more requests than can be served"
"$program" "${served[@]}" kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=14.9 --json --quiet >out
/usr/bin/python3 - <<'PYTHON' || fail "load and window"
import json
s = json.load(open("out"))["serving"][0]
assert abs(s["load_ratio"] - 14.9 / s["most_requests_per_s"]) < 1e-9 and 0.9 < s["window_s"] * 14.9 / 10000 < 1.1, s
PYTHON
# An exchange takes 1.25 of its time in TRAFFIC, and tensor exchanges 1.5 of that where they are done again.
"$program" run clos:gpus=2048 --job model=llama3-70b,tp=8,pp=4 --engine spray --json --quiet >out
/usr/bin/python3 - <<'PYTHON' || fail "exposed times"
import json
r = json.load(open("out"))
phase = {p["name"]: p["engines"][0] for p in r["phases"]}
tp, dp, it = phase["tp"], phase["dp"], r["iteration"][0]
assert abs(it["exposed_tp_s"] / (1.5 * (1.25 * tp["transfer_s"] + tp["latency_s"])) - 1) < 0.01, it
assert abs(it["exposed_dp_s"] / (1.25 * dp["transfer_s"] + dp["latency_s"]) - 1) < 0.01, it
PYTHON
# Advice: of ties what is set most easily; slower is said as slower; what was not looked for is said.
says "(a path set for each flow)" route clos:gpus=256,radix=32 --job pp=2 --engine ecmp --advise
grep -qF "; by queue pairs or hashes alone, --engine ecmp,qp=" lines || fail "what run advises: $(<lines)"
grep -qE '^ +slow x[0-9.]+ .*--job order=' out || fail "slower is no gain"
# Ranks in order cost nothing: of a job that is placed otherwise they stand before all that costs something, and take what a run of them takes.
random=(rail-spine:gpus=1024 --job model=llama3-8b,placement=random)
says "--job placement=order costs nothing and takes 557.2 ms, 32 % less, by its own plan; as it is placed: --engine" run "${random[@]}"
says "costs nothing and takes 4.722 s, 5 % less, under [2] spray; as it is placed: take [2] spray" run clos:gpus=256,radix=16,pod=64,tiers=3,taper=1/2 --job model=gpt-18.4b,tp=8,sharded=yes,placement=random --engine ecmp,qp=4 --engine spray
grep -q "^to do       --job placement=order" out || fail "ranks in order are not the first"
says "take [2] spray" run "${random[@]}" --engine ecmp --engine spray
lacks "placement=order" # sprayed, it takes as long
says "by queue pairs or hashes alone, --engine ecmp,qp=" route "${random[@]}" --advise
grep -qE -- "--job placement=order costs nothing and saves [0-9.]+ % of the time of all phases; --engine \S+ --job placement=order takes an iteration of" lines || fail "the first change: $(<lines)"
"$program" route "${random[@]}" --advise --json --quiet >advised && "$program" run "${random[@]}" --json --quiet >told && "$program" run "${random[@]}",placement=order --json --quiet >ordered || fail "placements"
eval "\"$program\" $(/usr/bin/python3 -c 'import json; print(json.load(open("advised"))["advice"]["best"]["command"].removeprefix("fabriscope "))') --json --quiet" >followed || fail "what is advised does not run"
/usr/bin/python3 - <<'PYTHON' || fail "ranks in order"
import json
advised, told, ordered, followed = (json.load(open(name)) for name in ("advised", "told", "ordered", "followed"))
time = lambda r: r["iteration"][0]["time_s"]
assert told["verdict"]["in_order_s"] == time(ordered) < 0.95 * time(told) and "in_order_s" not in ordered["verdict"], told["verdict"]
best = advised["advice"]["best"]
row, = [c for c in advised["advice"]["candidates"] if c["change"] == "--job placement=order"]
assert best["kinds"][0] == "placement" and row["gain_ratio"] > 0.05, (best, row)
assert abs(best["iteration_s"] / time(followed) - 1) < 1e-12 and best["iteration_s"] < best["base_iteration_s"], (best, time(followed))
PYTHON
# Of engines with plans of their own each has what its own search proves.
"$program" run "${random[@]}" --engine ecmp --engine spray --json --quiet >both && "$program" run "${random[@]}" --engine spray --json --quiet >spray || fail "two engines"
"$program" run "${random[@]}" --engine ecmp --engine spray --quiet | tr -s ' \n' ' ' >out
/usr/bin/python3 - <<'PYTHON' || fail "bounds of plans"
import json
both, *alone = (json.load(open(name)) for name in ("both", "told", "spray"))
for it, r in zip(both["iteration"], alone):
    assert it["plan_lower_bound_s"] == r["plan"]["lower_bound_s"] and it["plan_is_proven"] == r["plan"]["is_proven"], (it, r["plan"])
ecmp, spray = both["iteration"]
assert spray["plan_lower_bound_s"] < spray["time_s"] < ecmp["time_s"] < ecmp["plan_lower_bound_s"]
assert f"817.6 ms; proven best: others take {1e3 * ecmp['plan_lower_bound_s']:.4g} ms at least." in open("out").read()
PYTHON
says "a better plan was not looked for with packets" run clos:gpus=64,radix=16 --transport pfc --job tp=8
# Failures under a hash: histories are dealt to the seeds of times, so that no draw makes spares look bad.
for seed in 1 2; do
  "$program" sweep clos:gpus=256 --vary spares=0,1,8 --job model=llama3-8b --scenarios time:90d@24 --policy first-spare --seed $seed --json --quiet >spares.$seed || fail "spares"
done
/usr/bin/python3 - <<'PYTHON' || fail "spares under two seeds"
import json
found = []
for seed in 1, 2:
    points = [p["engines"][0] for p in json.load(open(f"spares.{seed}"))["sweep"]["points"]]
    found.append([(p["goodput_ratio"], p["goodput_ci95_ratio"]) for p in points])
    usd = [p["owned_usd_per_1e9_tokens"] / p["goodput_ratio"] for p in points]
    assert usd[2] == max(usd) and points[0]["draws"] == 8, usd
for (a, u), (b, w) in zip(*found):
    assert abs(a - b) <= 2 * (u + w), found
PYTHON
# Senders of spray-ack leave full links: bounds of plans go by none.
"$program" run clos:gpus=64,radix=16 --transport spray-ack --quiet >out || fail "a plan under spray-ack"
# Queue pairs that gain nothing are not advised.
says "Best [2] ecmp,qp=4; worst [1] ecmp,qp=1" run clos:gpus=256 --job model=llama3-8b --engine ecmp,qp=1 --engine ecmp,qp=4 --engine ecmp,qp=16 --engine ecmp,qp=64
says "tokens/s of h100-80gb" run clos:gpus=64 --job model=llama3-8b --engine spray
# GPUs whose number few sizes divide: fewer of them are faster, which plan, run and compare say; and it is so.
"$program" plan clos:gpus=296,radix=64 --job model=llama3-70b --engine spray --json --quiet >all.json
fewer=$(python3 -c 'import json; print(json.load(open("all.json"))["plan"]["fewer_job"])')
"$program" run clos:gpus=296,radix=64 --job "model=llama3-70b,$fewer" --engine spray --json --quiet >fewer.json
/usr/bin/python3 - <<'PYTHON' || fail "fewer GPUs"
import json
plan = json.load(open("all.json"))["plan"]
best = json.load(open("fewer.json"))["iteration"][0]["tokens_per_s"] / plan["plans"][0]["tokens_per_s"]
assert plan["fewer_servers"] == 36 and plan["fewer_gpus"] == 288, plan
assert plan["fewer_gain_ratio"] > 1.05 and abs(best / plan["fewer_gain_ratio"] - 1) < 1e-9, (plan["fewer_gain_ratio"], best)
PYTHON
says "leave GPUs idle: on 288 of 296, with batch 504 in place of 481, the job does x1.1 the tokens: --job n-servers=36,tp=" run clos:gpus=296,radix=64 --job model=llama3-70b --engine spray
"$program" compare clos:gpus=296,radix=64 clos:gpus=320,radix=64 --job model=llama3-70b --engine spray --quiet >out
grep -qF "[1] clos: leave GPUs idle: on 288 of 296" out && [[ $(grep -c "GPUs idle" out) -eq 1 ]] || fail "fewer GPUs of a compared design"
"$program" compare clos:gpus=296,radix=64 clos:gpus=320,radix=64 --job model=llama3-70b --engine spray --engine ecmp --quiet | tr -s ' \n' ' ' >out
grep -qF "[1] clos under spray,weights=equal: leave GPUs idle: on 288 of 296" out || fail "fewer GPUs under the first engine"
# A batch that was chosen for all of these GPUs goes along.
says "leave GPUs idle: on 288 of 296, with batch 504 in place of 518, the job does x1.09 the tokens: --job n-servers=36,batch=504," run clos:gpus=296,radix=64 --job model=llama3-70b,batch=518 --engine spray
# What the batch gains is not told as a gain of idle GPUs: all of them with as much for each come first.
large=rail-spine:gpus=8192
"$program" run $large --job model=llama3-8b --seeds 8 --json --quiet >all.json
jq -r .verdict.to_do all.json >out
# It goes by means over the seeds, as the plan does.
grep -qF "the tokens (means of 8 seeds): --job batch=1024," out || fail "the seeds of another batch: $(<out)"
keys=$(grep -o 'batch=1024,tp=[^ ;]*' out)
"$program" run $large --job "model=llama3-8b,$keys" --seeds 8 --json --quiet >batch.json
jq -se '(.[1].iteration[0].tokens_per_s / .[0].iteration[0].tokens_per_s) as $gain | $gain > 1.05 and $gain < 2 and
  (.[2] | test("with 1,024 the job does x" + ($gain * 100 | round / 100 | tostring)))' all.json batch.json <(jq -R . out) >/dev/null ||
  fail "another batch gains otherwise: $(<out) $(jq .iteration[0].tokens_per_s all.json batch.json)"
says "the tokens (means of 8 seeds): --job n-servers=36," run clos:gpus=296,radix=64 --job model=llama3-70b --engine ecmp
# Of taper and hash the larger one bounds a phase, and an engine is named where none was tried.
"$program" run clos:gpus=128,taper=3 --job kind=ranking --engine ecmp --json --quiet >hashed.json
"$program" run clos:gpus=128,taper=3 --job kind=ranking --engine spray --json --quiet >sprayed.json
"$program" run clos:gpus=128 --job kind=ranking --engine ecmp --json --quiet >wide.json
/usr/bin/python3 - <<'PYTHON' || fail "hash beside taper"
import json, re
hashed, sprayed, wide = (json.load(open(f"{name}.json")) for name in ("hashed", "sprayed", "wide"))
dp = [next(p for p in r["phases"] if p["name"] == "dp") for r in (hashed, sprayed, wide)]
seconds = [p["engines"][0]["time_s"] for p in dp]
assert seconds[0] - seconds[1] > seconds[0] - seconds[2] > 0, seconds  # the hash costs more than the taper
hash_factor, taper = map(float, re.match(r"hash collisions x([\d.]+) \(taper x([\d.]+)\), in dp", hashed["verdict"]["bound_by"]).groups())
assert abs(taper - dp[0]["max_cut_factor"]) < 0.01 and hash_factor > taper
assert abs(hash_factor * taper / dp[0]["engines"][0]["max_collision_factor"] - 1) < 0.01
assert "try --engine spray" in hashed["verdict"]["to_do"], hashed["verdict"]["to_do"]
PYTHON
# A taper is told by the load of its links, and by the bytes that it holds up; times are as long.
tapered=(--job "model=llama3-70b,tp=2,cp=8,pp=8,dp=4,zero=1" --engine spray --quiet)
for taper in 1 3; do
  "$program" run "clos:gpus=512,taper=$taper" "${tapered[@]}" --json >taper.$taper.json
done
"$program" run clos:gpus=512,taper=3 "${tapered[@]}" >out
/usr/bin/python3 - <<'PYTHON' || fail "what a taper costs a phase"
import json, re
wide, tapered = ({p["name"]: p for p in json.load(open(f"taper.{t}.json"))["phases"]} for t in (1, 3))
text = re.sub(r"\s+", " ", open("out").read())
found = re.findall(r"offered x([\d.]+) what they carry, whatever the routing: bytes take x([\d.]+) what those of the hosts do", text)
p = tapered["dp-rs"]
assert len(found) == 2 and "times slower whatever" not in text, found
assert abs(float(found[0][0]) - p["max_cut_factor"]) < 0.01 and abs(float(found[0][1]) - p["least_time_s"] / p["hosts_time_s"]) < 0.01
longer = p["engines"][0]["time_s"] / wide["dp-rs"]["engines"][0]["time_s"]
assert abs(float(found[0][1]) - longer) < 0.01 < abs(float(found[0][0]) - longer), (found, longer)
PYTHON
# Trees that are read have pods by their cables: three of 2 leaves with 4 hosts, one cable up from each switch. 8 GB from
# pod to pod over one of 400 Gb/s take 160 ms, and nothing else may be said: there is one path.
python3 - <<'PYTHON'
print("A-node,A-port,Z-node,Z-port,rate", file=(cables := open("tree.csv", "w")))
for pod in range(3):
    for leaf in range(2):
        for host in range(4):
            print(f"h{pod}{leaf}{host} HCA-1,1,leaf-{pod}-{leaf},{host + 1},400Gb/s", file=cables)
        print(f"leaf-{pod}-{leaf},9,spine-{pod},{leaf + 1},400Gb/s", file=cables)
    print(f"spine-{pod},9,core,{pod + 1},400Gb/s", file=cables)
print("src,dst,bytes", *(f"{i},{8 + i},1e9" for i in range(8)), sep="\n", file=open("pods.csv", "w"))
PYTHON
"$program" import tree.csv --set gpus-per-server=1 --output tree.xml --quiet >/dev/null
for bound in "" --bound; do
  "$program" route tree.xml --traffic file:pods.csv --engine ecmp --engine spray $bound --json --quiet >tree.json
  python3 - <<'PYTHON' || fail "a tree of single cables $bound"
import json
r = json.load(open("tree.json"))
p = r["phases"][0]
assert abs(p["max_cut_factor"] - 8) < 1e-9 and abs(p["least_time_s"] - 0.16) < 1e-9 and abs(p["hosts_time_s"] - 0.02) < 1e-9, p
assert r["verdict"]["bound_by"].startswith("taper, in matrix: 160 ms"), r["verdict"]
assert "its time is the least all the same" in r["verdict"]["collisions"] and "20 ms at least, 87 %" in r["verdict"]["to_do"], r["verdict"]
PYTHON
  "$program" route tree.xml --traffic file:pods.csv --engine ecmp $bound --quiet | tr -s ' \n' ' ' >out
  grep -q "8 flows cross, its links are offered x8.00 what they carry, whatever the routing: bytes take x8.00" out &&
    ! grep -q "another routing\|hash collisions" out || fail "another routing where there is one path $bound"
done
# One thing is said of the routing.
"$program" run clos:gpus=256 --job model=llama3-8b --engine ecmp,qp=1 --engine spray --quiet | tr -s ' \n' ' ' >out
grep 'to do take \[2\] spray; ' out >/dev/null && ! grep 'take .*keep the routing' out >/dev/null || fail "both another routing and the same: $(head -c 900 out)"
# What is bounded is of the plan that was chosen: another engine, or no taper, has a better one.
planned=(rail-spine:gpus=2048,nic=400Gb/s,tiers=2,radix=64,port=400Gb/s,breakout=1/2,breakout-up=2,taper=7 --job model=llama3-70b --quiet --json)
"$program" run "${planned[@]}" >planned.json
"$program" run "${planned[@]}" --engine spray >sprayed.json
"$program" run "${planned[@]}" --set taper=1 >wide.json
/usr/bin/python3 - <<'PYTHON' || fail "bounds of a plan that is chosen"
import json, re
planned, sprayed, wide = (json.load(open(f"{name}.json")) for name in ("planned", "sprayed", "wide"))
took, by_spray, without = (r["iteration"][0]["time_s"] for r in (planned, sprayed, wide))
text = planned["verdict"]["to_do"]
saves_s = float(re.search(r"no routing saves more than ([\d.]+) ms under this plan; none was tried", text).group(1)) / 1e3
least_s = float(re.search(r"uplinks win the taper, load x[\d.]+ in \w+: under this plan ([\d.]+) s at least", text).group(1))
assert "with a plan of its own, or route --advise" in text and "(--set taper=1 tells, by its own plan)" in text, text
assert took - by_spray > saves_s and without < least_s, (took, by_spray, saves_s, without, least_s)
PYTHON
# What NICs hold as long is bound by them, whatever the taper: as long without it, and no uplinks are advised.
hotspot=(--traffic pattern:hotspot --engine spray --json --quiet)
"$program" route clos:gpus=128,radix=32,taper=4 "${hotspot[@]}" >tapered.json
"$program" route clos:gpus=128,radix=32,taper=1 "${hotspot[@]}" >wide.json
"$program" route clos:gpus=128,radix=32,taper=4 --traffic pattern:all-to-all --engine spray --json --quiet >held.json
{ echo src,dst,bytes; for ((i = 0; i < 64; i++)); do echo "$i,$(((i + 8) % 64)),1GB"; done; for ((i = 0; i < 8; i++)); do echo "$i,$((56 + i)),4GB"; done; } >uneven.csv
"$program" route clos:gpus=64,radix=32,taper=2 --traffic file:uneven.csv --engine ecmp --json --quiet >hashed.json
"$program" route clos:gpus=64,radix=32,taper=1 --traffic file:uneven.csv --engine ecmp --json --quiet >hashed.full.json
{ echo src,dst,bytes; for i in {0..63}; do for j in {0..63}; do [ $i = $j ] || echo "$i,$j,$([ $i,$j = 0,40 ] && echo 200GB || echo 1GB)"; done; done; } >hot.csv
for taper in 2 1; do
  "$program" route clos:gpus=512,radix=64,taper=$taper --traffic file:hot.csv,rows=servers --engine spray --json --quiet >sprayed.$taper.json
done
mv sprayed.2.json sprayed.json && mv sprayed.1.json sprayed.full.json
/usr/bin/python3 - <<'PYTHON' || fail "what NICs hold"
import json, re
tapered, wide, held, hashed = (json.load(open(f"{name}.json")) for name in ("tapered", "wide", "held", "hashed"))
times = [r["phases"][0]["engines"][0]["time_s"] for r in (tapered, wide)]
assert abs(times[0] / times[1] - 1) < 1e-3 and tapered["phases"][0]["max_cut_factor"] > 3, times
assert tapered["verdict"]["bound_by"].startswith("NICs, in hotspot") and "more uplinks win nothing" in tapered["verdict"]["to_do"], tapered["verdict"]
assert tapered["verdict"]["uplinks_s"] >= times[0] * (1 - 1e-9)
text = hashed["verdict"]["to_do"]
assert "win nothing" not in text and "win the taper" not in text, text
# Where NICs need as long as any routing must, and this one takes longer, uplinks win up to the difference: under spray all of it.
for name in "hashed", "sprayed":
    r, full = (json.load(open(f"{x}.json")) for x in (name, name + ".full"))
    took, without = (x["phases"][0]["engines"][0]["time_s"] for x in (r, full))
    nics_ms, percent = re.search(r"NICs alone take ([\d.]+) ms in matrix: more uplinks save ([\d.]+) % of it at most \(--set taper=1 tells\)", r["verdict"]["to_do"]).groups()
    assert abs(float(nics_ms) - 1e3 * r["phases"][0]["hosts_time_s"]) < 0.06 and abs(float(percent) / 100 - (1 - float(nics_ms) / 1e3 / took)) < 6e-3, (name, took, r["verdict"]["to_do"])
    assert without >= float(nics_ms) / 1e3 * (1 - 1e-3), (name, without)
    assert name == "hashed" or without < 1.001 * float(nics_ms) / 1e3 < 0.9 * took, (took, without)
assert held["verdict"]["bound_by"].startswith("taper, in all-to-all") and "only more uplinks win the taper" in held["verdict"]["to_do"], held["verdict"]
PYTHON
# What is called the worst is the worst of all phases, also where another costs more.
"$program" run clos:gpus=512,taper=3 --job model=llama3-70b --engine ecmp,qp=4 --quiet --json >hidden.json
python3 - <<'PYTHON' || fail "the largest collision factor"
import json, re
r = json.load(open("hidden.json"))
factors = {p["name"]: p["engines"][0]["max_collision_factor"] for p in r["phases"]}
most = max(factors, key=factors.get)
text = r["verdict"]["collisions"]
costly, by = re.match(r"x([\d.]+) in ([\w-]+) \(it loses most time\) = taper", text).groups()
worst, where = re.search(r"x([\d.]+) at worst, in ([\w-]+)$", text).groups()
assert where == most != by and abs(float(worst) - factors[most]) < 0.006 and abs(float(costly) - factors[by]) < 0.006, (text, factors)
PYTHON
# What holds of one draw of a hash says so, with what plans took over more; several seeds that mostly lack a collision have a part of one.
lucky=(run clos:gpus=12,gpus-per-server=2,radix=8 --job model=gpt-1.7b --seed 3)
"$program" "${lucky[@]}" --quiet --json >lucky.json && "$program" "${lucky[@]}" --seeds 8 --quiet --json >seeds.json || fail "${lucky[*]}"
python3 - <<'PYTHON' || fail "one draw"
import json, re
lucky, seeds = (json.load(open(f"{name}.json")) for name in ("lucky", "seeds"))
said = re.search(r"needs in this draw; over 8 seeds the mean is ([\d.]+) s, the longest ([\d.]+) s \(--seeds 8\)", lucky["verdict"]["to_do"])
time = seeds["iteration"][0]["seeds"]["time_s"]
assert abs(float(said.group(1)) / time["mean"] - 1) < 1e-3 and abs(float(said.group(2)) / time["max"] - 1) < 1e-3, (said, time)
assert time["max"] > 1.005 * lucky["iteration"][0]["time_s"]
PYTHON
says 'The 2 engines take the same in this draw' "${lucky[@]}" --engine ecmp --engine spray
says 'take [2] spray, whose time no seed changes; every phase' "${lucky[@]}" --engine ecmp --engine spray
says '; 0.25 of 2 flows cross an overfull link' route clos:gpus=48,gpus-per-server=1,radix=32 --traffic pattern:shift,by=2,from=14-17 --seeds 8
# Several planes: what is assumed of a single queue pair stands there, and not of as many as planes.
planes=(route rail-only:gpus=64,planes=2 --traffic pattern:shift,by=8)
says "a queue pair on each of the 2 planes: with one alone it has 1/2 of its NIC's rate at most" "${planes[@]}"
for engine in ecmp,qp=2 spray; do
  says "every seed gives the same" "${planes[@]}" --engine "$engine" && lacks "of the 2 planes"
done
# Jobs that cost each other nothing still gain where flows of each collide with its own, wherever the first job stands.
python3 - <<'PYTHON' >apart.xml
jobs = "".join(f'<job id="j{i}" model="llama3-8b" n-servers="4"/>' for i in range(20))
print(f'<design><fabric family="clos" gpus="640" radix="32"><tier level="1" taper="2"/></fabric>{jobs}</design>')
PYTHON
says "--engine ecmp,qp=16 saves 1.9 % of the jobs' GPU time where phases meet by chance, 20 of 20 are faster; where switches can, --engine spray saves 2.3 %" run apart.xml
says "nothing to move: the jobs hardly cost each other time" run apart.xml
says "nothing to move" run apart.xml --engine spray && lacks "saves"
# Of engines that take the same the first is the best, and all of them are named.
"$program" run clos:gpus=104 --job model=llama3-8b --engine ecmp,qp=16 --engine ecmp --engine spray --quiet --json >even.json
python3 - <<'PYTHON' || fail "engines that take the same"
import json
r = json.load(open("even.json"))
times = [i["time_s"] for i in r["iteration"]]
v = r["verdict"]
assert times[0] == times[2] < 0.99 * times[1] and (v["best_engine"], v["worst_engine"]) == (0, 1), (times, v)
assert "Best [1] ecmp,qp=16 or [3] spray; worst [2]" in v["bound_by"] and v["to_do"].startswith("take [1] ecmp,qp=16 or [3] spray; "), v
PYTHON
# Engines that differ in queue pairs are told apart.
"$program" place clos:gpus=256,taper=2 --job model=llama3-8b,tp=4,pp=2,zero=1 --engine ecmp --engine ecmp,qp=16 --budget 20 --quiet | tr -s ' \n' ' ' >out
grep -q "Under ecmp with 1 queue pair the worst placement" out && grep -q "Under ecmp with 16 queue pairs the worst placement" out ||
  fail "placements under two numbers of queue pairs: $(head -c 900 out)"
# A better plan may differ in other than sizes.
"$program" sweep clos:gpus=104 --job model=llama3-8b,tp=1,cp=2,pp=1,zero=1 --vary 'engine=ecmp|spray' --quiet | tr -s ' \n' ' ' >out
grep -q "What is given of the job is not the fastest: at ecmp a better plan takes .*recompute=none" out || fail "what is not the fastest: $(head -c 900 out)"
for command in compare sweep; do
  "$program" help $command | tr -s ' \n' ' ' | grep -q "default 1, and means of 8 in compare, .*sweep .*where paths are drawn" || fail "seeds of $command"
done

# What an imported list leaves open stands beside what bounds; experts that no link between switches sees are told, and others not.
printf 'SwitchName=leaf%d Nodes=node[%d-%d]\n' 1 1 4 2 5 8 >names.conf
echo 'SwitchName=spine Switches=leaf[1-2]' >>names.conf
says "; with 1 cable from a switch up (cables) as assumed, which the file does not say" route installed:names.conf --traffic pattern:shift,by=4
says "; with 2 cables from a switch up (cables) as assumed" route installed:names.conf --set cables=2 --traffic pattern:shift,by=4
inner=(clos:gpus=256 rail-only:gpus=256 --job model=deepseek-v3,tp=1,cp=1,pp=1,memory-check=off --engine spray --quiet)
for ep in 8 64; do
  "$program" compare "${inner[@]}" --job ep=$ep | tr -s ' \n' ' ' >ep$ep
  "$program" run "${inner[0]}" "${inner[@]:2}" --job ep=$ep --json >ep$ep.json
done
told='experts are exchanged within servers and leaves: no link between switches carries any of it'
grep -qF "[1] $told" ep8 && ! grep -qF "[1] $told" ep64 || fail "experts within servers: $(head -c 900 ep8 ep64)"
python3 - <<'PYTHON' || fail "flows of experts"
import json
for ep, crosses in (("8", False), ("64", True)):
    r = json.load(open(f"ep{ep}.json"))
    crossing = sum(p["fabric_flows"] for p in r["phases"] if p["name"].startswith("ep-"))
    told = any("no link between switches carries" in w for w in r["meta"].get("warnings", []))
    assert (crossing > 0) == crosses and told == (not crosses), (ep, crossing, r["meta"])
PYTHON

# The least load, which no switch routes by, is never taken, nor named beside what is.
bound=(clos:gpus=128,radix=32,taper=2,spares=2 --job model=llama3-8b --engine optimal --engine spray --quiet)
"$program" run "${bound[@]}" | sed '/^clos/,$d' | tr -s ' \n' ' ' >out
grep -E '\[1\] optimal, the least load of the fullest link, which no switch routes by, takes [0-9.]+ s' out >/dev/null && grep -F 'to do where switches can, --engine spray,weights=capacity saves 28.46 ms' out >/dev/null && ! grep 'to do.*optimal.*how sure' out >/dev/null ||
  fail "a bound is no advice: $(head -c 900 out)"
"$program" run "${bound[@]}" --engine ecmp | sed '/^clos/,$d' | tr -s ' \n' ' ' | grep -F 'Best [2] spray; worst [3] ecmp' >/dev/null || fail "a bound beside two engines"
"$program" run "${bound[@]:0:5}" --quiet | sed '/^clos/,$d' | tr -s ' \n' ' ' >out
grep -F ', at the least load of the fullest link, which no switch routes by' out >/dev/null && ! grep -F 'keep the routing' out >/dev/null ||
  fail "a routing that no switch has is kept: $(head -c 900 out)"
exit $((failures > 0))
