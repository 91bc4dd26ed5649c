#!/usr/bin/env bash
# --fail and --policy: reports fit their schemas, figures add up, and threads change nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
"$program" schema result >result.schema.json
"$program" schema report >report.xsd
count=0

# check PYTHON ARGUMENTS...: JSON and XML by their schemas; PYTHON is true of `f`, the object `failures`
check() {
  local claim=$1
  shift
  count=$((count + 1))
  "$program" "$@" --quiet --threads 3 --out "report$count" >/dev/null || { fail "$*: it does not run"; return; }
  if command -v xmllint >/dev/null; then
    xmllint --noout --schema report.xsd "report$count/report.xml" 2>log || { cat log; fail "$*: the XML report does not validate"; }
  fi
  "$program" "$@" --quiet --json --threads 1 >one.json
  cmp -s one.json "report$count/report.json" || fail "$*: threads change the report"
  python3 -W ignore - one.json "$claim" <<'PYTHON' || fail "$*"
import json, sys
result = json.load(open(sys.argv[1]))
try:
    import jsonschema
    jsonschema.validate(result, json.load(open("result.schema.json")))
except ImportError:
    pass
f = result["failures"]
for engine in f["engines"]:
    for state in [engine["healthy"]] + engine["policies"]:
        assert state["disconnected_flows"] == sum(p["disconnected_flows"] for p in state["phases"]), engine["engine"]
        links = [p["collisions"] for p in state["phases"]]  # a link counts once, whatever the number of phases
        assert max(links, default=0) <= state["collisions"] <= sum(links), (engine["engine"], links)
        assert state["worst_ratio"] == max([p["worst_ratio"] for p in state["phases"]], default=0), engine["engine"]
    for policy in engine["policies"]:
        moved = {m["from_server"] for m in policy["moves"] if not m["healthy"]}
        lost = {s["server"] for s in f["lost"]}
        assert moved | {s["server"] for s in policy["unplaced"]} == lost, (moved, lost)
        assert policy["possible"] == (not policy["unplaced"])
    by_name = {p["policy"]: p for p in engine["policies"]}
    if "saved_collisions" in engine:
        first, aware = by_name["first-spare"], by_name["collision-aware"]
        assert engine["saved_collisions"] == first["collisions"] - aware["collisions"]
        assert all(aware["collisions"] <= p["collisions"] for n, p in by_name.items() if n != "none")
policies = {p["policy"]: p for p in f["engines"][0]["policies"]} if f["engines"] else {}
assert eval("(" + sys.argv[2] + ")"), sys.argv[2]
PYTHON
}

# The talk's servers 1 to 6 are 0 to 5: 4 is dead, 5 collides, 6 does not.
check 'policies["first-spare"]["collisions"] == 8 and policies["first-spare"]["moves"][0]["to_server"] == 4
  and policies["collision-aware"]["collisions"] == 0 and policies["collision-aware"]["moves"][0]["to_server"] == 5
  and policies["collision-aware"]["optimal"] and f["engines"][0]["saved_collisions"] == 8' \
  run preset:llama3-talk-racks --engine pinned --engine ecmp,qp=2 --engine spray --fail server-3
# Without the good spare it says so, and gives the least.
check 'policies["collision-aware"]["collisions"] == 8 and policies["collision-aware"]["optimal"]
  and "saved_collisions" in f["engines"][0] and f["spares"] == 1' \
  route preset:llama3-talk-racks --engine pinned --fail server-3 --fail server-5
# Nobody is lost.
check 'f["lost"] == [] and all(p["moves"] == [] for p in f["engines"][0]["policies"])' \
  route rail-spine:gpus=128,radix=16,spares=2 --fail spine-0 --engine adaptive
# Racks of a floor plan; fewer spares than lost servers.
check 'len(f["lost"]) == 2 and f["spares"] == 1 and not policies["same-rack"]["possible"]' \
  route clos:gpus=32,gpus-per-server=4,radix=8,spares=1 --set floor.servers-per-rack=2 --fail rack-1
# A pattern has no ranks: GPUs with flows count.
check 'f["lost"][0]["ranks"] == "8-15" and f["spares"] == 4' \
  route clos:gpus=64,radix=16 --traffic pattern:all-reduce,gpus=0-31 --fail gpu-9
# Of two planes every engine says what happens.
check 'all(len(e["policies"]) == 5 and "note" not in e for e in f["engines"]) and len(f["engines"]) == 3' \
  route clos:gpus=64,radix=16,planes=2,spares=1 --engine adaptive --engine ecmp --engine spray --fail leaf-0
# Too many paths.
check '[p["name"] for p in f["phases_left_out"]] == ["all-to-all"] and f["engines"][0]["healthy"]["phases"] == []' \
  route rail-spine:gpus=3072,radix=64 --traffic pattern:all-to-all --fail server-3 --policy none

echo "$failures failures"
[[ $failures -eq 0 ]]
