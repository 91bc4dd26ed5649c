#!/usr/bin/env bash
# Simulated pairs of snapshots: a link at 95 % and a host that is 3 % late are found, nothing is in a clean pair.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1
for what in seeds large forms; do
  python3 "$root/tests/cli/check_observe.py" "$program" "$what" >log 2>&1 || fail "$what: $(tail -n 3 log)"
  cat log
done
# What is refused.
design=clos:gpus=8,gpus-per-server=2,radix=4
refuse() { # refuse CODE TEXT ARGUMENTS...
  local code=0
  "$program" observe "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 && ! -s out ]] && grep -qE -- "$2" err || fail "${*:3}: exit code $code, $(head -n 1 err)"
}
list=$root/tests/data/counters/csv
refuse 2 'two snapshots are wanted' $design
refuse 2 'there are 3' $design --counters "$list" --counters "$list" "$list"
refuse 2 'the network has one; there are 2' $design --counters "$list" --engine spray --engine ecmp
refuse 3 'nothing since the first snapshot' $design --counters "$list" "$list" --traffic pattern:ring
awk -F, -v OFS=, 'NR > 1 { $3 = int($3 / 2); $4 = int($4 / 2); $6 = 9 } 1' "$list" >half.csv
refuse 3 'the counters run backwards, of 32 ports' $design --counters "$list" half.csv --traffic pattern:ring
grep -E '^(node|leaf-3,1)' "$list" >one.csv
printf 'src,dst,bytes\n0,2,1e6\n' >flow.csv
refuse 3 'none of the 4 links that the job uses has a port in both snapshots' $design --counters one.csv --traffic file:flow.csv
printf "node,port,sent_bytes\nswitch-of-others,1,5\n" >others.csv
refuse 3 "none of its 1 ports is one of this fabric, such as switch-of-others:1" $design --counters others.csv
refuse 5 'cannot' $design --counters nowhere.txt
refuse 3 'ways to do the same' $design --counters "$list" --traffic pattern:all-reduce,algorithm=all
for format in perfquery ibdiagnet prometheus json csv sysfs; do
  "$program" observe $design --counters "$root/tests/data/counters/$format" --traffic pattern:ring --engine spray --json --quiet >report.json
  python3 - "$format" <<'PY' || fail "$format: figures"
import json, sys
o = json.load(open("report.json"))["observe"]
assert o["format"] == sys.argv[1] and o["unknown_ports"] == 0 and o["iterations"] == 40, o
assert o["measured_links"] == (16 if sys.argv[1] == "sysfs" else 32) and o["fits"]
assert [s["suspect"] for s in o["suspects"]] == (["errors"] if sys.argv[1] == "perfquery" else []), o["suspects"]
PY
done
exit $((failures > 0))
