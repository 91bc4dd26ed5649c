#!/usr/bin/env bash
# Many jobs on one fabric: in every command that has jobs, as tables and data; one too many is refused.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 - <<'PYTHON'
# jobs of two servers that stand far apart, so that they share uplinks; the last ones take what is left
def write(name, n, gpus, per_server=8):
    servers = gpus // per_server
    jobs = "".join(f'<job id="j{i}" model="gpt-1.7b" tp="{per_server}" dp="2" batch="64" memory-check="off"'
                   + (f' servers="{i},{i + servers // 2}"' if i < n - 3 else "") + "/>" for i in range(n))
    open(name, "w").write(f'<design name="many"><fabric family="clos" gpus="{gpus}" gpus-per-server="{per_server}">'
                          f'<tier level="1" taper="2"/></fabric>{jobs}<engine use="ecmp"/></design>')
write("20.xml", 20, 512)
write("65.xml", 65, 2048)
write("256.xml", 256, 1024, 2)
write("257.xml", 257, 1028, 2)
jobs = "".join(f'<job id="j{i}" model="llama3-8b" plan="given" batch="16" servers="{",".join(str(i + 20 * k) for k in range(4))}"/>' for i in range(20))
open("strided.xml", "w").write(f'<design><fabric family="clos" gpus="640" radix="64"/>{jobs}<engine use="ecmp"/></design>')
for n in (32, 33):  # no two are alike, so that each has a row
    job = lambda i: (f'<job id="j{i}" model="gpt-1.7b" tp="8" dp="{i + 1}" batch="{64 * (i + 1)}" memory-check="off" '
                     f'servers="{i * (i + 1) // 2}-{(i + 1) * (i + 2) // 2 - 1}"/>')
    open(f"unlike{n}.xml", "w").write('<design><fabric family="clos" gpus="4608"/>' + "".join(map(job, range(n))) + '<engine use="spray"/></design>')
PYTHON
runs() { # runs CODE ARGUMENTS...
  local code=0
  "$program" "${@:2}" --quiet >out 2>err || code=$?
  [[ $code == "$1" ]] || { cat err; fail "${*:2}: exit code $code"; }
}
"$program" schema design >design.xsd
for n in 20 256; do
  xmllint --noout --schema design.xsd $n.xml 2>log || { cat log; fail "$n jobs do not validate"; }
done
xmllint --noout --schema design.xsd 257.xml 2>log && fail "257 jobs validate"
runs 3 run 257.xml
grep ': more than 256 jobs' err >/dev/null || fail "257 jobs: $(<err)"
runs 2 run 65.xml --interference
grep '65 jobs are 2080 pairs; at most 64' err >/dev/null || fail "65 jobs in pairs: $(<err)"

runs 0 route 20.xml
runs 0 traffic 20.xml
runs 0 cost 20.xml
runs 0 sweep 20.xml --vary taper.1=1,2
runs 0 study 20.xml --scenarios switches:1@2 --store store
runs 0 run 20.xml --fail leaf-1
runs 0 run 20.xml --interference
grep -E '^  j0 and 19 more +16 +2 .*tp 8 pp 1 dp 2$' out >/dev/null || fail "jobs that are alike in one row"
[[ $(sed -n '/^SEVERAL JOBS/,/^FABRIC/p' out | grep -cE '^  j[0-9]+ +16 .* x[0-9.]+ +dp +x[0-9.]+') == 20 ]] || fail "a table of what 20 jobs lose"
grep -A3 'pairs of jobs' out | grep -E 'j[0-9]+ +dp +j[0-9]+ +dp' >/dev/null || fail "the worst pairs of 20 jobs"
[[ $(sed -n '/^SEVERAL JOBS/,/^FABRIC/p' out | awk '{ if (length($0) > w) w = length($0) } END { print w }') -le 80 ]] || fail "wider than 80 columns"
for n in 32 33; do
  runs 0 run unlike$n.xml
  [[ $(grep -c 'all in --json' out) == $((n - 32)) ]] || fail "$n jobs of which 32 have a row: $(grep -c 'all in --json' out) say that some are left out"
done

# What judges the first job alone says so, and sweeps what all of them make of the points: as run at each of these.
runs 0 sweep 20.xml --vary taper.1=1,2,4 --seeds 1 --json
cp out sweep.json
for taper in 1 2 4; do
  runs 0 run 20.xml --set taper.1=$taper --json
  cp out run.$taper.json
done
python3 - <<'PYTHON' || fail "20 jobs over tapers"
import json
found = []
for point, taper in zip(json.load(open("sweep.json"))["sweep"]["points"], (1, 2, 4)):
    c = json.load(open(f"run.{taper}.json"))["contention"]
    gpus = {j["job"]: j["gpus"] for j in c["jobs"]}
    times = [(gpus[j["job"]], j["iteration_together_s"]) for j in c["engines"][0]["jobs"]]
    mean = sum(n * s for n, s in times) / sum(n for n, _ in times)
    assert len(times) == 20 and point["job"] == "j0" and point["other_jobs"] == 19
    for figure in point["engines"][0]["all_jobs_s"], c["engines"][0]["all_jobs_s"]:
        assert abs(figure / mean - 1) < 1e-9, (taper, figure, mean)
    found.append(mean)
assert found[2] > 1.05 * found[0], found
PYTHON
for command in "sweep 20.xml --vary taper.1=1,2" "compare 20.xml 20.xml" "route 20.xml --advise"; do
  # shellcheck disable=SC2086 # words of a command
  runs 0 $command
  tr -s ' \n' ' ' <out | grep 'of job j0 alone: the other 19 jobs of the design are left out' >/dev/null || fail "$command: who is judged"
done
tr -s ' \n' ' ' <out | grep '^bound by for job j0 alone (19 others left out): ' >/dev/null || fail "route: the verdict does not say whom it is of"
grep 'taper costs nothing' out >/dev/null && fail "route: a taper that costs other jobs time costs nothing"
runs 0 run 20.xml
grep 'left out' out >/dev/null && fail "run judges all jobs, and says that it leaves some out"

runs 0 run strided.xml --json
cp out 20.json
runs 0 run 256.xml --out report --json
cp out 256.json
for threads in 1 2; do "$program" run 65.xml --json --quiet --threads $threads | grep -v '"threads"' >"threads-$threads"; done
grep '"loses_most_to"' threads-1 >/dev/null && cmp threads-1 threads-2 || fail "65 jobs: other bytes on one thread"
"$program" schema report >report.xsd
xmllint --noout --schema report.xsd report/report.xml 2>log || { cat log; fail "the XML report does not validate"; }
grep -E 'and 224 more, slowed by x[0-9.]+ at most: --json has all' report/report.md >/dev/null || fail "the text does not say how many it leaves out"
python3 - <<'PYTHON' || fail "256 jobs in JSON"
import json
c = json.load(open("256.json"))["contention"]
assert len(c["jobs"]) == 256 and len(c["engines"][0]["jobs"]) == 256
servers = sum(job["servers"] for job in c["jobs"])
assert servers == 512, servers
for job in c["engines"][0]["jobs"]:
    assert job["together_s"] >= job["alone_s"] * (1 - 1e-9) and abs(job["together_s"] / job["alone_s"] - job["slowdown_ratio"]) < 1e-9
    assert job["left_out"] == 255 and job.get("loses_most_to") != job["job"], job
    assert ("loses_most_to" in job) == ("without_s" in job) and job.get("without_s", 0) < job["iteration_together_s"], job
assert any("loses_most_to" in job for job in c["engines"][0]["jobs"])
told = json.load(open("20.json"))
saved = [(m["what"], m["saved_ratio"]) for m in told["contention"]["remedies"]]
assert [what for what, _ in saved] == ["ecmp,qp=16", "spray", "in order"] and saved[2][1] > saved[0][1] + 1e-3 and abs(saved[2][1] - saved[1][1]) < 1e-3, saved
# What costs nothing stands first where settings save hardly more, and what needs switches beside it where it saves as much.
said = told["verdict"]["to_do"]
assert said.startswith(f"servers in order saves {100 * saved[2][1]:.2g} % of the jobs"), said
assert "must move (n-servers" in said and ", as much by --engine spray where switches can" in said and "qp=16" not in said, said
order = c["remedies"][-1]  # behind all that moves no job
assert order["what"] == "in order" and order["saved_ratio"] > 0 and order["jobs_slower"] == 0, order
assert max(job["slowdown_ratio"] for job in c["engines"][0]["jobs"]) > 1.5
PYTHON
# Who is named as the cause is one: without it, and none beside it moved, the job takes what was said, where phases meet by chance as all that stands beside it.
python3 - "$program" <<'PYTHON' || fail "who costs a job most"
import json, random, re, subprocess, sys
servers = random.Random(5).sample(range(64), 50)
jobs = [f'<job id="j{i}" model="llama3-8b" plan="given" batch="{20 * (1 + i % 4)}" servers="{",".join(map(str, servers[5 * i:5 * i + 5]))}"/>' for i in range(10)]
def run(jobs, *more):
    open("named.xml", "w").write('<design><fabric family="clos" gpus="512" taper="2"/>' + "".join(jobs) + '<engine use="ecmp"/></design>')
    return subprocess.run([sys.argv[1], "run", "named.xml", "--quiet", *more], check=True, capture_output=True, text=True).stdout
def times(jobs, *more):
    return {j["job"]: j for j in json.loads(run(jobs, "--json", *more))["contention"]["engines"][0]["jobs"]}
for more in ([], ["--seeds", "8"]):
    found = times(jobs, *more)
    without = [times(jobs[:k] + jobs[k + 1:], *more) for k in range(10)]
    for job in found.values():
        least = min(then[job["job"]]["expected_s"] for then in without if job["job"] in then)
        assert job["left_out"] == 9, job
        if "loses_most_to" not in job:
            assert least > job["expected_s"] * (1 - 1.001e-3), (job, least)
            continue
        then = without[int(job["loses_most_to"][1:])][job["job"]]["expected_s"]
        assert abs(job["without_s"] / then - 1) < 1e-9, (job, then)
        assert abs(then / least - 1) < 1e-9 and then < job["expected_s"] * (1 - 1e-3), (job, least)
    assert sum("loses_most_to" in job for job in found.values()) > (1 if more else 4), [j.get("loses_most_to") for j in found.values()]
text = " ".join(run(jobs).split())
worst = re.search(r"job (j\d+) of 10 loses most to the others: .*?; (?:without (j\d+) it takes|no single job costs it a thousandth of its time \(9 tried\))", text)
assert worst and times(jobs)[worst[1]].get("loses_most_to") == worst[2], text[:400]
assert "loses to, by chance where that is known: without which job" in text
# Who costs the others most is who does by the figures, and what all cost is what all lose; the verdict begins with what to expect.
engine = json.loads(run(jobs, "--json"))["contention"]["engines"][0]
costs = {j["job"]: j.get("costs_gpus", 0) for j in engine["jobs"]}
said = re.search(r"[Jj]ob (j\d+) costs the others most: by chance the time of ([\d.]+) of their GPUs", text)
assert said and costs[said[1]] == max(costs.values()) > 0 and abs(float(said[2]) / costs[said[1]] - 1) < 0.01, (said, costs)
lost = sum(40 * (1 - j["iteration_alone_s"] / j["expected_s"]) for j in engine["jobs"])
assert abs(sum(costs.values()) / lost - 1) < 1e-9 and abs(engine["expected_lost_ratio"] / (lost / 400) - 1) < 1e-9, (costs, lost)
by_chance = re.search(r"loses most to the others: iteration .*? instead of .*?, x([\d.]+), where phases meet by chance", text)
job = next(j for j in engine["jobs"] if j["job"] == worst[1])
assert by_chance and abs(float(by_chance[1]) - job["expected_s"] / job["iteration_alone_s"]) < 6e-4, (by_chance, job)
assert 0 < engine["expected_lost_ratio"] < engine["lost_ratio"], engine
# Who leads, in the line and the table, loses most by what is said first; what is saved is what a run of the change saves, by the same figure.
longer = lambda j: j["expected_s"] / j["iteration_alone_s"]
most = max(map(longer, engine["jobs"]))
assert longer(job) > most - 1.001e-3 and max(engine["jobs"], key=lambda j: j["slowdown_ratio"])["job"] != job["job"], (job, most)
rows = re.findall(r"^  (j\d+) .* x[\d.]+ .* x([\d.]+) ", run(jobs).split("spine down")[0], re.M)
assert rows[0][0] == job["job"] and all(float(a[1]) > float(b[1]) - 2.1e-3 for a, b in zip(rows, rows[1:])) and len(rows) == 10, rows
order, = [r for r in json.loads(run(jobs, "--json"))["contention"]["remedies"] if r["what"] == "in order"]
then = times([re.sub(' servers="[^"]*"', ' n-servers="5"', j) for j in jobs])
saved = lambda key: [1 - then[j["job"]][key] / j[key] for j in engine["jobs"]]  # of as many GPUs each
by_chance, at_once = saved("expected_s"), saved("iteration_together_s")
assert order["by_chance"] and abs(order["saved_ratio"] - sum(by_chance) / 10) < 1e-9 and order["jobs_faster"] == sum(s > 1e-3 for s in by_chance), (order, by_chance)
assert abs(sum(at_once) / 10 - order["saved_ratio"]) > 0.01 and "of the jobs' GPU time where phases meet by chance" in text, (order, at_once)
# A job without an iteration leaves the others their figures, and its phase is not counted as all that it does.
more = json.loads(run(jobs + ['<job id="rank" kind="ranking" model="dlrm-dcnv2" n-servers="8"/>'], "--json"))["contention"]["engines"][0]
assert [j["job"] for j in more["jobs"] if "expected_s" not in j] == ["rank"] and len(more["jobs"]) == 11
for j, was in zip(more["jobs"], engine["jobs"]):
    assert j["expected_s"] == was["expected_s"], (j, was)
assert abs(more["expected_lost_ratio"] / engine["expected_lost_ratio"] - 1) < 1e-9
lost = [1 - j["iteration_alone_s"] / j["iteration_together_s"] for j in more["jobs"] if "expected_s" in j]
assert abs(more["lost_ratio"] - sum(lost) / 10) < 1e-9, (more["lost_ratio"], lost)
said = " ".join(run(jobs + ['<job id="rank" kind="ranking" model="dlrm-dcnv2" n-servers="8"/>']).split())
assert "where phases of jobs with iterations meet by chance" in said and "; rank is not counted, without an iteration" in said, said[:1500]
# Jobs that are spread over two domains, and in order have no network phase: what is saved goes by what they take alone there.
apart = [f'<job id="d{i}" model="gpt-7.5b" tp="4" dp="4" memory-check="off" batch="64" servers="{i},{i + 4},{i + 8},{i + 12}"/>' for i in (0, 1)]
open("domains.xml", "w").write('<design><fabric family="clos" gpus="64" gpus-per-server="4" domain="16" radix="24" taper="4"/>' + "".join(apart) + '<engine use="spray"/></design>')
result = lambda *words: json.loads(subprocess.run([sys.argv[1], "run", *words, "--engine", "spray", "--quiet", "--json"], check=True, capture_output=True, text=True).stdout)
found = result("domains.xml")["contention"]
inside = result("clos:gpus=64,gpus-per-server=4,domain=16,radix=24,taper=4", "--job", "model=gpt-7.5b,tp=4,dp=4,memory-check=off,batch=64,servers=0-3")["iteration"][0]["time_s"]
order, = [r for r in found["remedies"] if r["what"] == "in order"]
assert abs(order["saved_ratio"] - (1 - inside / found["engines"][0]["jobs"][0]["expected_s"])) < 1e-9 and 0 < order["saved_ratio"] < 0.5, (order, inside)
one, two = (run(jobs, "--json", "--threads", n).replace(f'"threads": {n}', "") for n in "12")
assert one == two
# More replays than are affordable: no figure by chance, which is said, of the one that loses most alone whom to, and the text says how many were tried.
said = " ".join(run(jobs, "--seeds", "4800", "--out", "many").split())
many = {j["job"]: j for j in json.load(open("many/report.json"))["contention"]["engines"][0]["jobs"]}
assert not any("expected_s" in j for j in many.values())
assert "together; by chance less, which one seed tells" in said
tried = {name: j.get("left_out", 0) for name, j in many.items()}
assert sum(n > 0 for n in tried.values()) == 1 and 0 < max(tried.values()) < 9, tried
assert f"(tried: the {max(tried.values())} that share its latest links)" in said
PYTHON
# Jobs that do not say how they run: each as 'run' of it alone on its servers runs it, and as its printed keys do.
cat >open.xml <<'XML'
<design><fabric family="clos" gpus="128" radix="24" taper="2"/>
  <job id="a" model="gpt-3.6b" servers="0,2,4,6"/>
  <job id="b" model="gpt-1.7b" tp="auto" n-servers="2"/>
  <job id="c" model="gpt-1.7b" tp="8" n-servers="2"/>
  <job id="d" model="gpt-3.6b" servers="8,10,12,14"/>
  <job id="e" model="gpt-1.7b"/>
  <engine use="ecmp"/></design>
XML
for threads in 1 2; do "$program" run open.xml --json --quiet --threads $threads | grep -v '"threads"' >"open-$threads"; done
cmp open-1 open-2 || fail "plans of several jobs: other bytes on one thread"
python3 - "$program" <<'PYTHON' || fail "plans of several jobs"
import json, re, subprocess, sys
def result(*words):
    return json.loads(subprocess.run([sys.argv[1], *words, "--quiet", "--json"], check=True, capture_output=True, text=True).stdout)
def same(plan, keys):
    told = {True: "yes", False: "no"}
    for key, value in (pair.split("=") for pair in keys.split(",")):
        has = plan.get(key.replace("-", "_"), "no" if key == "sequence-parallel" else None)
        assert str(told[has] if isinstance(has, bool) else has) == value, (key, has, value, plan)
text = open("open.xml").read()
found = result("run", "open.xml")["contention"]
keys = {j["job"]: j.get("plan_keys", "") for j in found["jobs"]}
assert [job for job in keys if keys[job]] == ["a", "b", "d", "e"] and keys["a"] == keys["d"], keys
for job, servers in {"a": "0,2,4,6", "b": "1,3", "e": "9,11,13,15"}.items():  # c has 5 and 7
    alone = re.sub(rf' *<job id="(?!{job}").*\n', "", text)
    alone = re.sub(r"(<job .*?)( n-servers=\S+?| servers=\S+?)?/>", rf'\1 servers="{servers}"/>', alone)
    open("alone.xml", "w").write(alone)
    same(result("run", "alone.xml")["plan"]["plans"][0], keys[job])
typed = text.replace(' tp="auto"', "")
for job in keys:
    pairs = (pair.split("=") for pair in keys[job].split(",") if pair)
    typed = typed.replace(f'<job id="{job}"', f'<job id="{job}"' + "".join(f' {k}="{v}"' for k, v in pairs))
open("typed.xml", "w").write(typed)
again = result("run", "typed.xml")["contention"]
assert not any("plan_keys" in j for j in again["jobs"])
for a, b in zip(found["engines"][0]["jobs"], again["engines"][0]["jobs"]):
    assert a["iteration_together_s"] == b["iteration_together_s"] and a["iteration_alone_s"] == b["iteration_alone_s"], (a, b)
engine = result("sweep", "open.xml", "--vary", "taper.1=2", "--seeds", "1")["sweep"]["points"][0]["engines"][0]
same(engine["plan"], keys["a"])
assert abs(engine["all_jobs_s"] / found["engines"][0]["all_jobs_s"] - 1) < 1e-9, engine
PYTHON
runs 0 run open.xml
tr -s ' \n' ' ' <out | grep 'finds for each alone on its servers under ecmp' >/dev/null || fail "plans of several jobs do not say what they are of"
grep -E '^    a and 1 more:' out >/dev/null || fail "jobs that are alike do not have one line"
grep '^PLAN' out >/dev/null && fail "the plan of the first job is told twice"
runs 0 route open.xml
grep '^PLAN  of job a, alone on its servers$' out >/dev/null || fail "route: whose plan it shows"
runs 4 run open.xml --set job.b.model=llama3-405b
grep "^fabriscope: open.xml:3:3: job 'b': none of " err >/dev/null || fail "a job that does not fit: $(<err)"
runs 3 plan open.xml
grep 'this search is of one job, and the design has 5: run plans each' err >/dev/null || fail "plan: $(<err)"
runs 3 run open.xml --max-memory 10MB

# --- engines whose plans differ: each with its own, as if it were given alone; what is typed stays the same for all ---
apart="clos:gpus=256,radix=16,pod=64,tiers=3,taper=1/2 --job id=a,model=gpt-18.4b,gpus=128,placement=random --job id=b,model=llama3-8b,gpus=64"
for engines in ecmp spray ecmp,qp=2 "spray ecmp ecmp,qp=2"; do
  runs 0 run $apart $(printf -- '--engine %s ' $engines) --interference --json
  cp out "${engines// /+}.json"
done
python3 - <<'PYTHON' || fail "plans of several jobs, each engine by itself"
import json
read = lambda name: json.load(open(name + ".json"))
engines = ["spray", "ecmp", "ecmp,qp=2"]
plans = {}
for number, engine in enumerate(engines, 1):
    both, alone = (read(name)["contention"] for name in ("+".join(engines), engine))
    found, = [e for e in both["engines"] if e["engine"] == alone["engines"][0]["engine"]]
    jobs = [j for j in both["jobs"] if str(number) in j["engines"].split(", ")]
    plans[engine] = [j["plan_keys"] for j in jobs]
    for j in jobs + alone["jobs"]:  # engines of one plan stand together
        j.pop("engines", None)
        j["alone"] = [p for p in j["alone"] if p["engine"] == found["engine"]]
    for job in found["jobs"] + alone["engines"][0]["jobs"]:
        job.pop("to_do", None)  # of the best engine alone
    assert jobs == alone["jobs"] and found == alone["engines"][0], (engine, jobs, alone["jobs"])
    assert [p for p in both["interference"] if p["engine"] == found["engine"]] == alone["interference"]
    iteration, = read(engine)["iteration"]
    whole = read("+".join(engines))["iteration"][number - 1]
    assert whole["plan"] == iteration["plan"] and whole["time_s"] == iteration["time_s"], (whole, iteration)
assert len({str(p) for p in plans.values()}) > 1, plans
PYTHON
runs 0 run $apart --engine spray --engine ecmp
tr -s ' \n' ' ' <out >text
for engine in spray ecmp; do
  grep "finds for each alone on its servers under $engine," text >/dev/null || fail "plans under $engine are not told"
done
runs 3 study $apart --engine spray --engine ecmp --scenarios switches:1@2 --store apart
grep 'these engines have unlike fastest plans' err >/dev/null || fail "study: $(<err)"

# --- jobs of options: an id is of the job that has it, or of one more; the same as in a file ---
of_a=model=gpt-7.5b,tp=8,dp=4,batch=64,servers=0,2,4,6,memory-check=off of_b=model=gpt-7.5b,tp=8,pp=2,batch=64,memory-check=off
runs 0 run "clos:gpus=64,gpus-per-server=8,taper.1=2,radix.1=24,radix.2=16" --job "id=a,$of_a" --job "id=b,$of_b" --job id=b,dp=2 --engine ecmp --json
cp out options.json
runs 0 run "$root/tests/data/two_jobs.xml" --json
python3 -c 'import json; a, b = (json.load(open(f))["contention"] for f in ("options.json", "out")); assert a == b and len(a["jobs"]) == 2, (a, b)' || fail "jobs of options"
exit $((failures > 0))
