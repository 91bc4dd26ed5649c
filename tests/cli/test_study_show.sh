#!/usr/bin/env bash
# Studies from end to end, as `study show` reports them: computed again from the rows of their stores by another program,
# valid by the schemas, in graphs, as CSV, and asked in SQL.
#
#     test_study_show.sh PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
here=$root/tests/cli
python=/usr/bin/python3 # Debian's, which sees Debian's packages
if ! "$python" -c 'import jsonschema, networkx' 2>/dev/null; then
  echo "python3-jsonschema or python3-networkx is not installed: skipped" >&2
  exit 77
fi

study() { # study STORE PLAN-ARGUMENTS...: planned, run and gathered
  local store=$1
  shift
  "$program" study plan "$@" --store "$store" --quiet >log 2>&1 && "$program" study run --store "$store" --quiet >log 2>&1 &&
    "$program" study gather --store "$store" --quiet >log 2>&1 || { cat log; fail "study of $*"; return 1; }
}
show() { # show STORE [OPTIONS...]
  local store=$1
  shift
  "$program" study show --store "$store" --quiet "$@"
}
"$program" schema result >result.schema.json
"$program" schema report >report.xsd
checked=()
check() { # check STORE: all that is said of it
  local store=$1 report=$1.json
  checked+=("$store")
  show "$store" --json >"$report" || fail "$store: no JSON"
  show "$store" --format csv >"$store.csv" || fail "$store: no CSV"
  show "$store" --format xml >"$store.xml" || fail "$store: no XML"
  show "$store" >"$store.txt" || fail "$store: no text"
  "$python" "$here/check_study.py" "$store/results.db" "$report" "$store.csv" || fail "$store: other figures"
  "$python" "$here/check_queries.py" "$root/src/doc/study-store.md" "$store/results.db" "$report" || fail "$store: queries"
  show "$store" | cmp -s - "$store.txt" || fail "$store: another text the second time"
  named "$store" >/dev/null
}
named() { # named STORE: how many parts are, in text, page and picture alike
  show "$1" --top 1000 --out "$1.named" --force >"$1.named.txt" || fail "$1: no reports"
  ! command -v node >/dev/null || node "$root/tests/web/named.mjs" "$1.named" "$1.named.txt" 2>log || { cat log; fail "$1: other parts"; }
}
says() { # says STORE TEXT: however the text is wrapped
  tr -s ' \n' ' ' <"$1.txt" | grep -F -- "$2" >/dev/null || { cat "$1.txt"; fail "$1 does not say: $2"; }
}

# --- every link alone; graphs; what is not there ---
study links clos:gpus=64,gpus-per-server=4,radix=8 --scenarios links:1
check links
says links "The job stops in 64 of 192 scenarios (33.3 %)"
says links "Highest impact: any of the 64 nic-leaf links (the job stops)."
says links "single-homed. One link is 1/4 of the server's bandwidth (25 %)."
show links --out files --top 1000 >/dev/null || fail "--out"
show links --out files --top 1000 >/dev/null || fail "--out again into its own folder"
mkdir foreign && echo notes >foreign/report.json
show links --out foreign >/dev/null 2>log && fail "files of others are overwritten"
cmp -s files/scenarios.csv links.csv || fail "rows under --out"
grep -q "criticality" files/fabric.svg || fail "impact in a drawing"
"$python" -W ignore - files/fabric.graphml files/report.json <<'PY' || fail "impact in graphs"
import json, sys
import networkx
graph = networkx.read_graphml(sys.argv[1])
study = json.load(open(sys.argv[2]))["study"]
damage = {part["name"]: part["impact_ratio"] for part in study["policy"][0]["links"]}
seen = 0
for a, b, edge in graph.edges(data=True):
    if edge["kind"] in ("access", "fabric"):
        name = "%s:%d > %s:%d" % (graph.nodes[a]["label"], edge["src_port"], graph.nodes[b]["label"], edge["dst_port"])
        other = "%s:%d > %s:%d" % (graph.nodes[b]["label"], edge["src_port"], graph.nodes[a]["label"], edge["dst_port"])
        should = damage[name] if name in damage else damage[other]
        assert edge["criticality"] == max(should, 0), (name, edge)
        seen += 1
    else:
        assert "criticality" not in edge, edge
assert seen == 192 == len(damage), (seen, len(damage))
assert not any("criticality" in node for _, node in graph.nodes(data=True))
PY
show links --format csv --out files --force | cmp -s - links.csv || fail "rows, and files"
for bad in "2 --top 0" "2 --top 1001" "2 --variant 2" "3 --format flows" "5 --out foreign"; do
  code=0
  # shellcheck disable=SC2086
  show links ${bad#* } >out 2>log || code=$?
  [[ $code == "${bad%% *}" && ! -s out ]] || { cat log; fail "exit $code of ${bad#* }"; }
done
code=0; "$program" study show --quiet >out 2>log || code=$?; [[ $code == 2 ]] || fail "exit $code without --store"
code=0; show nowhere >out 2>log || code=$?; [[ $code != 0 ]] || fail "a store that is not there"
code=0; show links --format csv >/dev/full 2>log || code=$?; [[ $code == 5 ]] || fail "exit $code on a full disk"

# --- pairs of links: the links that stop the job are named, or what chance draws is not, in text, page and picture ---
rail=rail-spine:gpus=64,radix=16,gpus-per-server=4
study weak $rail --scenarios links:2@1500
check weak
says weak "64 of 128 parts stand out, such as nic-0:2 > leaf-0:1 (the job stops)"
study chance $rail --scenarios fabric-links:2@1500
check chance
says chance "Nothing stands out"
study classes $rail --traffic pattern:shift,by=24 --scenarios links:2@classes --engine spray # a parallel cable makes up for a loss
show classes >classes.txt
says classes "What 64 parts cost alone these scenarios do not say"
study leaves clos:gpus=64,radix=16 --scenarios switches:2
check leaves
study cells dragonfly:gpus=36,gpus-per-server=4,dragonfly=4,2,2 --scenarios links:2@300 # no link that costs nothing
check cells
says cells "10 of 51 parts stand out"
if command -v node >/dev/null; then
  of=$(for store in weak chance classes leaves; do named $store; done | paste -sd' ')
  [[ $of == "64 0 64 8" ]] || fail "named are $of"
fi

# --- of several jobs of a design the first is looked at, and the report says so ---
printf '%s\n' '<design><fabric family="clos" gpus="64" radix="32"/><job id="a" model="llama3-8b" servers="0-3" tp="8"/>' \
  '<job id="b" model="llama3-8b" servers="4-5" tp="8"/></design>' >two.xml
study two two.xml --scenarios servers:1
show two >two.txt
says two "traffic job (a; the other job of the design is left out)"

# --- switches by their loads alone: nodes of graphs ---
study loads clos:gpus=64,gpus-per-server=4,radix=8 --scenarios switches:1 --figures loads
check loads
says loads "in parts of its rate"
show loads --format graphml >loads.graphml
"$python" -W ignore -c '
import networkx, sys
nodes = networkx.read_graphml(sys.argv[1]).nodes(data=True)
assert all(("criticality" in node) == (node["kind"] == "switch") for _, node in nodes)' loads.graphml || fail "nodes"

# --- sets of several, policies and engines; details of another variant ---
study policies clos:gpus=64,gpus-per-server=4,radix=8,spares=3 --job model=gpt-3.6b,tp=1,pp=4,dp=16 --scenarios servers:2@24 --policy first-spare \
  --policy none --policy collision-aware --engine ecmp --engine spray
check policies
says policies "POLICIES ecmp"
says policies "collision-aware"
show policies --variant 2 --json >second.json
"$python" - policies.json second.json <<'PY' || fail "the variant shown"
import json, sys
a, b = (json.load(open(path))["study"] for path in sys.argv[1:])
assert a["policy"] == b["policy"] and a["shown_policy"] == "first-spare" and b["shown_policy"] == "none"
assert b["worst"] == a["policy"][1]["worst"] and b["stopped"] == a["policy"][1]["stopped"] > 0
PY

# --- a list with names, among them slower parts; and a part of it ---
cp "$root/tests/data/scenarios_mixed.csv" list.csv
study listed clos:gpus=32,gpus-per-server=2,radix=8 --scenarios file:list.csv
rm list.csv # the store has a copy
check listed
grep -q ',one leaf$' listed.csv || fail "names of scenarios"
grep -q 'leaf-0:5 > spine-0:1 + leaf-3\*0.5\|leaf-3\*0.5 + leaf-0:5 > spine-0:1' listed.csv || fail "slower parts"
"$program" study plan clos:gpus=32,gpus-per-server=2,radix=8 --scenarios links:2@3000 --figures loads --store part --quiet >log
"$program" study run --store part --shard 1/3 --quiet >log
show part >out 2>log && fail "nothing is gathered"
"$program" study gather --store part --partial --quiet >log
check part
says part "Only"

# --- histories ---
study months clos:gpus=256,spares=4,radix=16 --scenarios time:60d@150 --policy none --policy first-spare
check months
says months "In 60 days the job does"
says months "Highest impact: gpus;"
"$python" - <<'PY' || fail "what the first class costs"
import json, re
v = max(json.load(open("months.json"))["study"]["policy"], key=lambda v: v["goodput_ratio"]["mean"])
said = re.search(r"makes ([\d.]+) % of what failures cost besides the writing of checkpoints: \$([\d.]+)([kM]) \+- \$[\d.]+[kM]? a quarter", re.sub(r"\s+", " ", open("months.txt").read()))
lost = v["quarterly_lost_usd"] * (1 - v["write_ratio"] / (1 - v["goodput_ratio"]["mean"]))
usd = float(said[2]) * {"k": 1e3, "M": 1e6}[said[3]]
assert abs(usd / (float(said[1]) / 100 * lost) - 1) < 0.02 and v["write_ratio"] > 0, (usd, lost, said[0])
PY

# --- who is not told which policies compares those that fit; what does best stands first, in every report ---
policies() { # policies STORE WANTED
  show "$1" --json >"$1.json"
  [[ $("$python" -c 'import json, sys; print(*[v["policy"] for v in json.load(open(sys.argv[1]))["study"]["policy"]])' "$1.json") == "$2" ]] ||
    fail "$1: other policies than $2"
}
replicas=(--job model=gpt-1.7b,tp=2,memory-check=off)
study spare clos:gpus=64,radix=32,spares=5,full-spares=yes "${replicas[@]}" --scenarios time:90d@40
check spare
policies spare "none first-spare shrink"
says spare "[2] first-spare does best of 3. In 90 days the job does 9"
says spare "Policies first-spare and shrink do the same in every scenario. Where nobody moves, [1] none, it does"
says spare "Not tried (--policy): same-pod, same-slice, collision-aware."
grep '\[3\]' spare.txt && fail "what does the same has a line of its own"
study alone clos:gpus=64,radix=32 "${replicas[@]}" --scenarios time:90d@40
check alone
policies alone "none shrink"
says alone "[2] shrink does best of 2."
says alone "It holds where replicas that are left do all of the batch (--set failures.keep-batch=no: a smaller batch). Where nobody moves"
says alone "Not tried (--policy): first-spare, same-pod, same-slice, collision-aware; they take idle servers (spares=N)."
show alone --variant 1 >alone.txt
says alone "[1] none of 2."
says alone "Under the best, [2] shrink, it does 9"
grep 'It holds where' alone.txt && fail "without shrink no batch is kept"
study fewer clos:gpus=64,radix=32 "${replicas[@]}" --scenarios time:90d@40 --set failures.keep-batch=no
check fewer
says fewer "It holds where the batch is smaller without lost replicas (--set failures.keep-batch=yes: those left do all of it)."
"$python" -c 'import json
kept, fewer = ([v["goodput_ratio"]["mean"] for v in json.load(open(n + ".json"))["study"]["policy"] if v["policy"] == "shrink"][0] for n in ("alone", "fewer"))
assert 1 - fewer < 0.95 * (1 - kept), (kept, fewer)' || fail "the other batch keeps as much: nothing to be said of it"
study whole clos:gpus=64,radix=32 --job model=gpt-1.7b,tp=8,pp=8,dp=1,memory-check=off --scenarios time:30d@10 # one replica
check whole
policies whole none
study served clos:gpus=64,radix=32 --job kind=serving,model=gpt-1.7b,tp=8,tokens=4,memory-check=off --scenarios time:30d@10
policies served none
study lost clos:gpus=64,radix=32,spares=1,full-spares=yes "${replicas[@]}" --scenarios servers:1 --engine ecmp --engine spray
check lost
policies lost "none first-spare none first-spare"
says lost "first-spare does best of 4. The job runs in all 9 scenarios"
says lost "none, it stops in 8 scenarios and loses"
says lost "where nothing fails its time is x"
study cables clos:gpus=64,radix=32,spares=1,full-spares=yes "${replicas[@]}" --scenarios fabric-links:2@60
check cables
says cables "Policies none and first-spare do the same in every scenario."
grep -E '^POLICIES|\[2\]' cables.txt && fail "policies that do the same are compared"
study folded clos:gpus=64,radix=32,spares=1,full-spares=yes "${replicas[@]}" --scenarios links:1@classes --engine spray
policies folded none

# What does best by less than its histories tell, by the pairs of them in the store, is not told from the next.
study close clos:gpus=512,spares=2 --job model=llama3-70b --scenarios time:90d@8
check close
"$python" - <<'PY' || fail "policies that histories do not tell apart: $(head -4 close.txt)"
import re, sqlite3, statistics
rows = sqlite3.connect("close/results.db").execute("select variant, goodput from history order by variant, scenario").fetchall()
kept = {v: [g for w, g in rows if w == v] for v in (1, 2)}
mean = {v: statistics.mean(k) for v, k in kept.items()}
pairs = [a / mean[2] - b / mean[1] for a, b in zip(kept[2], kept[1])]
chance = 2.3646 * statistics.stdev(pairs) / len(pairs) ** 0.5 # Student's t of 7
text = re.sub(r"\s+", " ", open("close.txt").read())
more, less = map(float, re.search(r"\[3\] shrink does best of 3, but 8 histories do not tell it from \[2\] \(([\d.]+) % \+- ([\d.]+) %\)", text).groups())
assert 0 < mean[2] / mean[1] - 1 < chance, (mean, chance)
assert abs(more / (100 * (mean[2] / mean[1] - 1)) - 1) < 0.01 and abs(less / (100 * chance) - 1) < 0.02, (more, less, chance)
PY

study one clos:gpus=64,radix=32 "${replicas[@]}" --scenarios time:90d@1
show one >one.txt
says one "[2] shrink does best of 2, in one history alone."

# --- software fails where ranks are: spare GPUs, and those of nobody, have none ---
study software clos:gpus=64,radix=32,spares=2 --set failures.set=none --set failures.software-mtbf=10d \
  --job servers=0,tp=8,gpu-hour-usd=3 --scenarios time:30d@20
show software --json >software.json
"$python" - software.json <<'PY' || fail "software of GPUs without ranks is counted"
import json, sys
study = json.load(open(sys.argv[1]))["study"]
policy = study["policy"][0]
assert [c["name"] for c in policy["causes"]] == ["software"], policy["causes"]
assert policy["causes"][0]["failures"] == policy["failures"] == policy["stops"] > 15, policy["causes"]
assert all(w["failed"] == f"{w['stops']} software" for w in policy["worst"]), policy["worst"]
PY

# --- what failures cost in a quarter of a year, 2,190 hours: GPU hours of the job that are lost, of nobody else's and of no set ---
lost_hours() { # lost_hours STORE GPUS USD
  jq -e --argjson gpus "$2" --argjson usd "$3" '.study | .gpu_hour_usd == $usd and
    all(.policy[]; .quarterly_lost_usd / ((1 - .goodput_ratio.mean) * $gpus * $usd * 2190) - 1 | fabs < 1e-9)' "$1.json" >/dev/null ||
    fail "$1: lost hours cost otherwise: $(jq -c '.study | .gpu_hour_usd, [.policy[] | .quarterly_lost_usd, .goodput_ratio.mean]' "$1.json")"
}
lost_hours software 8 3
lost_hours alone 64 12.5
lost_hours spare 64 12.5
says alone "At this rate failures cost \$"
says alone "worst a quarter"
grep -E 'quarterly_lost_usd|gpu_hour_usd' folded.json && fail "sets cost dollars"

# --- racks of the design's floor: one server and its leaf in each of eight, a job in four of them, and one of spines ---
study racks clos:gpus=64,floor.rack-power=11kW --job model=llama3-8b,tp=8,gpus=32,memory-check=off --scenarios racks:1 --policy none
check racks
says racks "The job stops in 5 of 9 scenarios (55.6 %); in the others it takes x1.000."
says racks "5 of the 9 racks, such as rack-0 (the job stops)."

# --- two ways into the network against one: 1/16 of the bandwidth against the job ---
for planes in 2 1; do
  study "planes-$planes" "rail-spine:gpus=64,planes=$planes,radix=32" --scenarios access-links:1
  check "planes-$planes"
done
says planes-2 "The job runs in all 128 scenarios"
says planes-2 "dual-homed. One link is 1/16 of the server's bandwidth (6.25 %)."
says planes-1 "The job stops in all 64 scenarios."
says planes-1 "single-homed. One link is 1/8 of the server's bandwidth (12.5 %)."
"$python" - planes-2.json planes-1.json <<'PY' || fail "homing"
import json, sys
two, one = (json.load(open(path))["study"] for path in sys.argv[1:])
assert two["homing"] == {"links_per_server": 16, "ports_per_nic": 2, "switches_per_nic": 2, "lost_ratio": 1 / 16}
assert one["homing"] == {"links_per_server": 8, "ports_per_nic": 1, "switches_per_nic": 1, "lost_ratio": 1 / 8}
a, b = two["policy"][0]["access_loss"], one["policy"][0]["access_loss"]
assert a["scenarios"] == 128 and a["stopped"] == 0 and a["slower"] == 128 and 1 < a["mean_slowdown_ratio"] < 2, a
assert b["scenarios"] == b["stopped"] == 64 and "mean_slowdown_ratio" not in b, b
PY

# --- all of them by the schemas, and no line is wide ---
"$python" -W ignore - "${checked[@]}" <<'PY' || fail "JSON does not fit its schema, or lines are wide"
import json, sys
import jsonschema
schema = jsonschema.Draft202012Validator(json.load(open("result.schema.json")))
for store in sys.argv[1:]:
    schema.validate(json.load(open(f"{store}.json")))
    assert max(len(line.rstrip("\n")) for line in open(f"{store}.txt", encoding="utf-8")) <= 80, store
PY
xmllint --noout --nonet --schema report.xsd "${checked[@]/%/.xml}" 2>log || { grep -v 'validates$' log; fail "XML"; }
[[ $failures -eq 0 ]]
