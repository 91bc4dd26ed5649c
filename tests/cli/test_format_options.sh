#!/usr/bin/env bash
# What stands behind the name of a format: columns of lists of cables, and boxes that are left out.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# Columns by any names, in any order, are those of the list that we write.
"$program" build clos:gpus=64,radix=16 --format cables --quiet >plan.csv
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("plan.csv")))
names = {"A-node": "To", "A-port": "Eth", "Z-node": "Switch name", "Z-port": "Neighbor", "rate": "Gb", "length": "to"}
for name, separator in (("comma.csv", ","), ("semicolon.csv", ";"), ("tab.csv", "\t")):
    out = csv.writer(open(name, "w", newline=""), delimiter=separator, lineterminator="\n")
    out.writerow(["no", *reversed(names.values())])
    for i, row in enumerate(rows):
        out.writerow([i, *reversed([row[key] for key in names])])
PY
map='cables,a-node=To,a-port=Eth,z-node=switch name,z-port=Neighbor,rate=Gb'
"$program" import plan.csv --json --quiet >wanted
for list in comma.csv semicolon.csv tab.csv; do
  sed -i '1s/,to,/,how far,/; 1s/;to;/;how far;/; 1s/\tto\t/\thow far\t/' $list
  "$program" import $list --input-format "$map,length=how far" --output $list.xml --json --quiet >out 2>err || fail "$list: $(<err)"
  python3 - <<'PY' || fail "$list: another network"
import json, sys
a, b = (json.load(open(name)) for name in ("wanted", "out"))
for r in (a, b):
    r.pop("meta")
    for key in ("path", "output", "digest"):
        r["import"].pop(key, None)
    for f in r.get("fabrics", []):
        f.pop("digest", None), f.pop("name", None)
text = [json.dumps(r).replace("comma.csv", "plan.csv").replace("semicolon.csv", "plan.csv").replace("tab.csv", "plan.csv") for r in (a, b)]
sys.exit(a["import"] != b["import"] and text[0] != text[1])
PY
  "$program" build $list.xml --format cables --quiet >back.csv 2>err || fail "$list.xml: $(<err)"
  "$program" build installed:plan.csv --format cables --quiet >forth.csv
  cmp -s back.csv forth.csv || fail "$list: the design that import writes is another network"
done
# What is excluded is as if the file did not have it; several patterns; boxes of a host by its name.
grep -v -e spine-1 plan.csv >without.csv
"$program" audit without.csv --json --quiet >wanted
"$program" audit plan.csv --input-format 'auto,exclude=spine-1' --json --quiet >out 2>err || fail "exclude: $(<err)"
[[ $(sed 's/plan.csv/without.csv/' out | grep -v -e '"line"' -e left_out) == "$(grep -v -e '"line"' -e left_out wanted)" ]] || fail "exclude: another network"
"$program" audit plan.csv --input-format 'cables,exclude=spine-1' 2>err >out
grep -q '1 left out: boxes that exclude names' err || fail "what was left out is not said: $(<err)"
"$program" import plan.csv --input-format 'auto,exclude=server-7,exclude=server-[56]' --json --quiet >out 2>err || fail "hosts: $(<err)"
python3 -c 'import json; r = json.load(open("out"))["import"]; exit(r["servers"] != 5)' || fail "hosts that exclude names: $(grep servers out)"
# refused CODE PATTERN COMMAND...
refused() {
  local code=0 wanted=$1 pattern=$2
  shift 2
  "$program" "$@" >out 2>err || code=$?
  [[ $code -eq $wanted ]] && grep -qE "$pattern" err || fail "$*: $code: $(<err)"
}
refused 3 "no box of 'plan.csv' is called so" audit plan.csv --input-format 'auto,exclude=nobody*'
refused 3 "plan.csv:1:1: there is no column 'Nobody' \(a-node\)" audit plan.csv --input-format cables,a-node=Nobody
refused 2 "no key 'a-nod'; did you mean 'a-node'" audit plan.csv --input-format cables,a-nod=To
refused 2 'columns \(rate\) are of format cables' audit plan.csv --input-format ptm,rate=Gb
refused 2 "'exclude' has no value" audit plan.csv --input-format auto,exclude=
refused 2 'unknown format' audit plan.csv --input-format table,exclude=a
exit $((failures > 0))
