#!/usr/bin/env bash
# Every engine runs the job under the plan that is fastest under it: what is said of one does not depend on which others
# are given, and in which order.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

design=(clos:gpus=128,taper=4 --job model=gpt-3.6b --quiet)
"$program" schema result >result.schema.json
"$program" schema report >report.xsd
"$program" run "${design[@]}" --engine ecmp --engine spray --seeds 2 --out both >both.json --json || fail "run"
"$program" run "${design[@]}" --engine spray --engine ecmp --seeds 2 --json >turned.json || fail "run, turned round"
"$program" run "${design[@]}" --engine ecmp --engine ecmp,qp=4 --engine spray --seeds 2 --json >three.json || fail "run of three"
for engine in ecmp spray; do
  "$program" run "${design[@]}" --engine $engine --seeds 2 --json >$engine.json || fail "run under $engine"
  "$program" run "${design[@]}" --engine $engine --format flows >$engine.csv || fail "flows under $engine"
done
xmllint --noout --schema report.xsd both/report.xml 2>log || { cat log; fail "the XML report does not validate"; }

cat >check.py <<'PYTHON'
import json, jsonschema, subprocess, sys
program, design = sys.argv[1], sys.argv[2:]
schema = json.load(open("result.schema.json"))
def read(name):
    report = json.load(open(name + ".json"))
    jsonschema.validate(report, schema)
    return report
both, turned, three, ecmp, spray = map(read, ("both", "turned", "three", "ecmp", "spray"))
def rest(of, *but):
    return {key: value for key, value in of.items() if key not in but}
def iteration(report, engine):
    return next(it for it in report["iteration"] if it["engine"] == engine)
def phases(report, engine, only):
    """The phases that an engine runs, with its figures alone."""
    return [{**rest(p, "run"), "engines": [rest(e, "number") for e in p["engines"] if e["options"] == engine]}
            for p in report["phases"] if engine in [e["options"] for e in p["engines"]]]
labels = {"ecmp": ecmp["phases"][0]["engines"][0]["options"], "spray": spray["phases"][0]["engines"][0]["options"]}
plans = [it["plan"] for it in both["iteration"]]
assert plans[0] != plans[1], "the test needs engines whose plans differ"
for engine, alone in ("ecmp", ecmp), ("spray", spray):
    for name, report in ("both", both), ("turned", turned), ("three", three):
        assert iteration(report, engine) == alone["iteration"][0] if name != "three" or engine == "spray" else \
            report["iteration"][0] == alone["iteration"][0], (name, engine, "another iteration than alone")
        assert phases(report, labels[engine], engine) == phases(alone, labels[engine], engine), (name, engine, "other phases than alone")
# What is said of the job as a whole is of the fastest, whichever comes first.
assert iteration(both, "spray")["time_s"] < iteration(both, "ecmp")["time_s"]
for report in both, turned:
    assert report["job"] == spray["job"] and report["plan"] == spray["plan"], "the job is not that of the fastest"
    assert report["meta"]["traffic"] == spray["meta"]["traffic"]
    assert "each under its own plan" in report["verdict"]["bound_by"], report["verdict"]
# Numbers are those of the command line.
for report, order in (both, ("ecmp", "spray")), (turned, ("spray", "ecmp")):
    assert [it["engine"] for it in report["iteration"]] == list(order)
    for p in report["phases"]:
        for e in p["engines"]:
            assert order[e["number"] - 1] == e["engine"], (p["name"], e["number"])
# The plan that is printed gives the figure when it is pasted; that of the other engine is slower.
def pasted(engine, plan):
    words = [design[0], "--job", "model=gpt-3.6b," + plan, "--engine", engine, "--seeds", "2", "--json", "--quiet"]
    return json.loads(subprocess.run([program, "run", *words], capture_output=True, check=True).stdout)["iteration"][0]
mean = lambda x: x["mean"] if isinstance(x, dict) else x
for own, other, engine in (plans[0], plans[1], "ecmp"), (plans[1], plans[0], "spray"):
    assert abs(mean(pasted(engine, own)["time_s"]) / mean(iteration(both, engine)["time_s"]) - 1) < 1e-12, engine
    assert mean(pasted(engine, other)["time_s"]) > mean(iteration(both, engine)["time_s"]) * (1 + 1e-6), engine
PYTHON
/usr/bin/env python3 check.py "$program" "${design[@]}" || fail "run: figures depend on the other engines"

# --- what other seeds make of the plan that is taken is said of its engine ---
rails=(rail-spine:gpus=1024 --job model=llama3-70b --quiet --json)
"$program" route "${rails[@]}" --engine ecmp,qp=1 --engine ecmp,qp=16 >seeds.json || fail "route of queue pairs"
"$program" route "${rails[@]}" --engine ecmp,qp=16 --engine ecmp,qp=1 >seeds.turned.json || fail "route of queue pairs, turned round"
for pairs in 1 16; do
  "$program" route "${rails[@]}" --engine ecmp,qp=$pairs >seeds.$pairs.json || fail "route of $pairs queue pairs"
done
/usr/bin/env python3 - <<'PYTHON' || fail "seeds of another engine's plan"
import json, re
both, turned, one, many = (json.load(open(f"seeds.{x}json")) for x in ("", "turned.", "1.", "16."))
def seeds(report):
    return re.search(r"over \d+ seeds[^;]*", report["verdict"]["to_do"]).group()
fastest = {report["plan"]["plans"][0]["mean_s"] for report in (both, turned, many)}
assert len(fastest) == 1 and fastest.pop() < one["plan"]["plans"][0]["mean_s"] * 0.99, "the test needs unlike means"
assert seeds(both) == seeds(turned) == seeds(many), (seeds(both), seeds(turned), seeds(many))
PYTHON

# --- text, pictures, flows and what parts do ---
"$program" run "${design[@]}" --engine ecmp --engine spray >text || fail "text"
grep -q '^TRAFFIC  each engine in its own way' text || fail "the text does not say that plans differ"
grep -q '^  \[1\] ecmp:$' text || fail "the text lacks the plan of the other engine"
grep -Eq '^PHASE dp-rs OF \[2\]' text || fail "a phase does not say whose it is"
[ "$(grep -c '^PHASE dp-rs OF ' text)" = 2 ] || fail "a phase of each plan is missing"
"$program" run "${design[@]}" --engine ecmp --engine spray --format flows >flows.csv || fail "flows"
for engine in ecmp spray; do
  cmp <(grep -E "^[^,]*,[12] $engine," flows.csv | sed 's/,[12] /,/') <(grep -v '^phase,' $engine.csv | sed 's/,1 /,/') >/dev/null ||
    fail "flows under $engine are others than alone"
done
for first in ecmp spray; do
  second=$([ $first = ecmp ] && echo spray || echo ecmp)
  "$program" run "${design[@]}" --engine $first --engine $second --export $first.svg --picture phase=dp-rs >/dev/null || fail "picture"
  "$program" run "${design[@]}" --engine $first --engine $second --fail leaf-0:1 --degrade nic-3=0.5 --json >fail.$first.json || fail "--fail"
done
"$program" run "${design[@]}" --engine spray --fail leaf-0:1 --degrade nic-3=0.5 --json >fail.alone.json || fail "--fail of one"
"$program" run "${design[@]}" --engine spray --export alone.svg --picture phase=dp-rs >/dev/null || fail "picture of one"
unnamed() { # without the line that compares engines
  grep -vE 'of the [0-9.]+ m?s iteration' "$1"
}
cmp <(unnamed ecmp.svg) <(unnamed spray.svg) || fail "the picture depends on the order of engines"
cmp <(unnamed ecmp.svg) <(unnamed alone.svg) || fail "the picture is not of the fastest engine"
/usr/bin/env python3 - <<'PYTHON' || fail "what parts do depends on the order of engines"
import json
a, b, alone = (json.load(open(f"fail.{x}.json")) for x in ("ecmp", "spray", "alone"))
for key in "failures", "degradation":
    assert a[key] == b[key] == alone[key], key
PYTHON
"$program" run "${design[@]}" --engine ecmp --engine spray --certificate c.txt >/dev/null 2>log && fail "a certificate of two plans"
grep -q 'plans of these engines differ' log || fail "the certificate is refused without a reason"

# --- a better plan is sought under the fastest engine and what it has chosen, whichever others run alike ---
best=(clos:gpus=64,radix=16,taper=2 --job model=gpt-3.6b,tp=4,dp-collective=best,tp-collective=best --quiet --json)
"$program" run "${best[@]}" --engine ecmp --engine spray --engine pinned >best.json || fail "run of chosen collectives"
"$program" run "${best[@]}" --engine spray >best.alone.json || fail "run of chosen collectives under one engine"
"$program" sweep "${best[@]}" --vary spares=0,1 --engine spray >best.sweep.json || fail "sweep of chosen collectives"
/usr/bin/env python3 - <<'PYTHON' || fail "the better plan depends on the other engines, or on the command"
import json
three, alone = (json.load(open(x))["verdict"] for x in ("best.json", "best.alone.json"))
point = json.load(open("best.sweep.json"))["sweep"]["points"][0]
assert point["better_plan"] == alone["plan"] and point["better_plan_s"] == alone["plan_s"], (point, alone)
assert "each in its own way" in three["bound_by"], three
assert three["plan"] == alone["plan"] and three["plan_s"] == alone["plan_s"], (three, alone)
PYTHON

# --- place: searches by engine ---
for order in 'ecmp spray' 'spray ecmp'; do
  read -r first second <<<"$order"
  "$program" place clos:gpus=128,taper=4 --job model=gpt-3.6b,n-servers=8 --engine $first --engine $second --budget 8 --seeds 2 --quiet --json >place.$first.json ||
    fail "place $order"
done
/usr/bin/env python3 - <<'PYTHON' || fail "place: searches depend on the order of engines"
import json
a, b = (json.load(open(f"place.{x}.json"))["sweep"] for x in ("ecmp", "spray"))
by = lambda s: {x["label"].split(",")[0]: x for x in s["searches"]}
assert by(a) == by(b) and len(by(a)) == 2, "searches"
for s in a, b:
    listed = s["points"][0]
    for x in s["searches"]:
        engine = next(e for e in listed["engines"] if e["label"].split(",")[0] == x["label"].split(",")[0])
        assert x["plan"], "no plan"
        assert abs(x["listed"]["time_s"] / engine["time_s"] - 1) < 1e-9, (x["label"], x["listed"], engine["time_s"])
PYTHON

# --- study and diff have one plan for all, and say so in either order ---
for order in 'ecmp spray' 'spray ecmp'; do
  read -r first second <<<"$order"
  "$program" study "${design[@]}" --scenarios links:1@2 --engine $first --engine $second --store s.$first >/dev/null 2>log && fail "study: one plan of two"
  grep -q "unlike fastest plans.*$first tp=.*$second tp=" log || fail "study does not say which plans"
  "$program" diff "${design[0]}" clos:gpus=128,taper=2 "${design[@]:1}" --engine $first --engine $second >/dev/null 2>log && fail "diff: one plan of two"
  grep -q 'unlike fastest plans' log || fail "diff does not say which plans"
done
"$program" study "${design[@]}" --scenarios links:1@2 --engine ecmp --engine ecmp,seed=1 --store same >/dev/null || fail "study of one plan"
