#!/usr/bin/env bash
# OpenSM's own tables of a real fabric, with hosts that import leaves out: loads as a tracer finds them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
samples=${FABRISCOPE_SAMPLES:-}
if [[ ! -e $samples/opensm-dumps/topograph-minhop-lfts.dump.xz ]]; then
  echo "skipped: FABRISCOPE_SAMPLES has no opensm-dumps"
  exit 77
fi
xz -dc "$samples/opensm-dumps/topograph-minhop-lfts.dump.xz" >lfts.dump
cp "$samples/ibnetdiscover/topograph-dgx-ndr.out" net.out
"$program" import net.out --output net.xml --quiet >/dev/null
for traffic in pattern:shift,by=4 pattern:shift,by=40 pattern:permutation; do
  "$program" route net.xml --traffic "$traffic" --engine file,path=lfts.dump --export graph.graphml --force --format flows --quiet >flows.csv 2>err ||
    fail "$traffic: $(<err)"
  python3 "$root/tests/cli/check_traced.py" lfts.dump graph.graphml flows.csv >log 2>&1 || fail "$traffic: $(tail -n 1 log)"
  cat log
done
# Of a design every name must be one of its own.
"$program" route clos:gpus=64 --traffic pattern:ring --engine file,path=lfts.dump --quiet >out 2>err && fail "another fabric's tables are read"
grep -q 'names no' err || fail "$(<err)"
exit $((failures > 0))
