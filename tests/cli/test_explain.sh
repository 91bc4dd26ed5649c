#!/usr/bin/env bash
# route --explain, as an operator calls it: every format, and what it refuses.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fails() { # fails CODE TEXT ARGUMENTS...: exit code, and what stderr must say
  local code=0
  "$program" "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 ]] || fail "${*:3}: exit code $code, not $1"
  grep -qF -- "$2" err || fail "${*:3}: $(cat err)"
  [[ ! -s out ]] || fail "${*:3}: something on stdout"
}
explain() { # explain ARGUMENTS...
  "$program" route rail-spine:gpus=512,radix=16 --traffic pattern:permutation --quiet "$@"
}

# The worst link of a report is explained by its name; both count the same flows.
explain --engine ecmp,qp=4 --json >report.json
link=$(python3 -c 'import json; print(json.load(open("report.json"))["phases"][0]["engines"][0]["hot_links"][0]["link"])')
explain --engine ecmp,qp=4 --explain "$link" --json >explain.json
explain --engine ecmp,qp=4 --explain "$link" --format xml >explain.xml
python3 - <<'PY' || fail "the explanation of the worst link differs from the report"
import json
hot = json.load(open("report.json"))["phases"][0]["engines"][0]["hot_links"][0]
found = json.load(open("explain.json"))["explain"]
phase = found["phases"][0]
assert found["link"] == hot["link"] and found["link_id"] == hot["link_id"]
assert phase["n_flows"] == len(phase["flows"]) == hot["n_flows"]
assert abs(phase["utilisation_ratio"] - hot["factor"]) < 1e-9
for flow in phase["flows"]:
    for path in flow["paths"]:
        assert found["link_id"] in [d["link_id"] for d in path["decisions"]]
PY
[[ $(explain --engine ecmp,qp=4 --explain "$(python3 -c 'import json; print(json.load(open("explain.json"))["explain"]["link_id"])')") == \
  $(explain --engine ecmp,qp=4 --explain "$link") ]] || fail "number and name of a link are told apart"
explain --engine ecmp,qp=4 --explain "$link" | awk 'length > 80 {exit 1}' || fail "a line is too wide"

# The slowest flow of the report takes the decisions that the explanation of its bottleneck traces.
held=$(python3 -c 'import json; print(json.load(open("report.json"))["phases"][0]["engines"][0]["last_flow"]["bottleneck_id"])')
explain --engine ecmp,qp=4 --explain "$held" --json >held.json
python3 - <<'PY' || fail "the way of the slowest flow differs from its explanation"
import json
last = json.load(open("report.json"))["phases"][0]["engines"][0]["last_flow"]
found = json.load(open("held.json"))["explain"]
phase = found["phases"][0]
assert found["link_id"] == last["bottleneck_id"] and found["link"] == last["bottleneck"]
assert phase["n_flows"] == last["bottleneck_flows"] and len(last["flows"]) == min(16, phase["n_flows"])
share = {flow["flow"]: flow["share"] for flow in phase["flows"]}
for flow in last["flows"]:
    assert abs(share[flow["flow"]] - flow["share"]) < 1e-9, flow
mine = next(flow for flow in phase["flows"] if flow["flow"] == last["flow"])
ways = [[d["link_id"] for d in path["decisions"]] for path in mine["paths"]]
assert any(set(way) <= set(last["path"]) and len(way) > 1 for way in ways), (ways, last["path"])
PY

if python3 -c 'import jsonschema' 2>/dev/null; then
  "$program" schema result >schema.json
  python3 -W ignore -c 'import json, jsonschema
jsonschema.Draft202012Validator(json.load(open("schema.json"))).validate(json.load(open("explain.json")))' || fail "JSON does not fit its schema"
fi
if command -v xmllint >/dev/null; then
  "$program" schema report >schema.xsd
  xmllint --noout --nonet --schema schema.xsd explain.xml 2>err || fail "$(cat err)"
fi

fails 3 "there is no leaf-999" route fat-tree:k=4 --explain leaf-999 --quiet
fails 3 "may be 4 links" route fat-tree:k=4 --explain leaf-1 --quiet
fails 2 "one --engine" route fat-tree:k=4 --engine dmodk --engine ecmp --explain 3 --quiet
fails 2 "give --seed" route fat-tree:k=4 --explain 3 --seeds 4 --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --out folder --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --dump - --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --format graphml --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --advise --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --advise-budget 4 --quiet
fails 2 "takes the place of the report" route fat-tree:k=4 --explain 3 --bound --quiet
exit $((failures > 0))
