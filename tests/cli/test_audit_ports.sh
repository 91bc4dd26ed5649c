#!/usr/bin/env bash
# `ibnetdiscover -p`: the port reports of a subnet give the findings that its full dump gives, whatever is broken in it;
# malformed lines say where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

findings() { # findings FILE: one a line, without what the two forms name otherwise (GUIDs)
  "$program" audit "$1" --json --quiet >audit.json || { fail "audit $1"; return; }
  $python -c 'import json
a = json.load(open("audit.json"))["audit"]
print(a["switches"], a["adapters"], a["hosts"], [(b["present_cables"], b["planned_cables"]) for b in a["boundaries"]])
for f in a["findings"]: print(*(f.get(k) for k in ("finding", "node", "port", "other_node", "other_port", "cables", "damage_bps")))'
}

"$program" build rail-spine:gpus=256,radix=32 --format ibnet --quiet >perfect.net
mkdir cases
$python "$root/tests/cli/audit_cases.py" perfect.net cases
cp perfect.net cases
n=0
for dump in cases/*.net; do
  $python "$root/tests/cli/ports_of_dump.py" "$dump" >dump.ports
  findings "$dump" >of_dump
  findings dump.ports >of_ports
  diff of_dump of_ports || fail "$(basename "$dump" .net): other findings in the port reports"
  n=$((n + 1))
done
[[ $n -ge 6 && $(wc -l <of_dump) -ge 1 ]] || fail "few cases"

$python "$root/tests/cli/ports_of_dump.py" perfect.net >dump.ports
"$program" audit dump.ports --quiet >out || fail "audit as text"
grep -q 'Nothing departs from the structure' out || fail "a whole subnet is not called so: $(<out)"
unseen='The last switch of a tier, gone with all its cables, leaves no gap that shows'
grep -q "$unseen" out || fail "what cannot be seen without a plan is not said: $(<out)"
"$program" audit dump.ports --against perfect.net --quiet >out || fail "audit against the plan"
grep -q 'Nothing departs from the structure' out && ! grep -q "$unseen" out || fail "with a plan it is seen: $(<out)"

refuse() { # refuse LINE PLACE PATTERN: exit code 3, and where and why
  local code=0
  { head -n 2 dump.ports && echo "$1"; } >bad.ports
  "$program" audit bad.ports --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE "^fabriscope: bad.ports$2.*$3" err || fail "'$1': exit code $code, $(<err)"
}
end="0x02fab10000000000 4x NDR - CA 1 1 0x2fab20000000001 ( 'leaf-0' - 'server-0 HCA-1' )"
refuse "XX 1 1 $end" ':3:1: ' 'SW, CA or RT'
refuse "SW 70000 1 $end" ':3:4: ' 'is no LID'
refuse "SW x 1 $end" ':3:4: ' 'is no LID'
refuse "SW 1 300 $end" ':3:6: ' 'is no port'
refuse "SW 1 1 fab1 4x NDR - CA 1 1 0x2fab20000000001 ( 'a' - 'b' )" ':3:8: ' 'is no GUID'
refuse "SW 1 1 0xfab1 4x WARP - CA 1 1 0x2fab20000000001 ( 'a' - 'b' )" ':3:15: ' 'is no width and speed'
refuse "SW 1 1 0xfab1 4x NDR - CA 1 1" ':3:' 'is no GUID'
exit $((failures > 0))
