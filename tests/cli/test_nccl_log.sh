#!/usr/bin/env bash
# Logs of NCCL as traffic: rings, adapters and bytes are those that a draw of its own has put into them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
same() { # same DESIGN LOG
  "$program" route "$1" --traffic "file:$2" --engine spray --format flows --quiet >flows.csv 2>err || { fail "$1, $2: $(<err)" && return; }
  python3 - "$2.flows" <<'PY' >log 2>&1 || fail "$1, $2: $(tail -n 1 log)"
import collections, csv, sys
wanted = {(int(a), int(b)): float(size) for a, b, size in map(str.split, open(sys.argv[1])) if float(size) >= 0.5}
found, n = collections.Counter(), collections.Counter()
for row in csv.DictReader(open("flows.csv")):
    found[int(row["src_gpu"]), int(row["dst_gpu"])] += int(row["bytes"])
    n[int(row["src_gpu"]), int(row["dst_gpu"])] += 1
assert set(found) == set(wanted), (set(found) ^ set(wanted))
for pair in wanted:
    assert abs(found[pair] - wanted[pair]) <= n[pair], (pair, found[pair], wanted[pair])
PY
}
for of in coll/clos:gpus=32,gpus-per-server=4,radix=16/1 \
  $(some {coll,one,cut,files,nics}/{clos:gpus=32\,gpus-per-server=4\,radix=16,rail-spine:gpus=64\,gpus-per-server=8\,radix=16,clos:gpus=6\,gpus-per-server=2\,radix=8}/{2,3,4}); do
  IFS=/ read -r kind design seed <<<"$of"
  per=$(sed -E 's/.*per-server=([0-9]+).*/\1/' <<<"$design")
  gpus=$(sed -E 's/.*:gpus=([0-9]+).*/\1/' <<<"$design")
  python3 "$root/tests/cli/nccl_logs.py" $kind.$seed $((gpus / per)) $per $seed $kind
  same "$design" $kind.$seed
done
# What is installed is known by its names.
"$program" build rail-spine:gpus=64,gpus-per-server=8,radix=16 --format cables --quiet | sed 's/server-/gpu-node-/g' >site.csv
python3 "$root/tests/cli/nccl_logs.py" site 8 8 99 coll && sed -i 's/server-\([0-9]*\):/gpu-node-\1.cluster.example:/' site
same installed:site.csv site
refused() { # refused PATTERN SED
  local code=0
  sed -E "$2" coll.1 >bad
  ! cmp -s bad coll.1 || fail "$2 changes nothing"
  "$program" route clos:gpus=32,gpus-per-server=4,radix=16 --traffic file:bad --engine spray --quiet >out 2>err || code=$?
  [[ $code -eq 3 ]] && grep -qE "bad.*$1" err || fail "$2: $code: $(<err)"
}
refused 'is no server of this fabric' 's/server-3:/elsewhere:/'
refused 'is not in the log' '/rank 5 nranks/d'
refused 'is not in the log' '/rank 31 nranks/d'
refused 'would be on one GPU' 's/ nvmlDev [0-9]+//'
refused 'has a GPU 9 here' 's/nvmlDev 3/nvmlDev 9/'
refused 'names no rank' '/Init COMPLETE/d'
refused 'rings of this communicator' '/ Ring [0-9]+ : |Channel [0-9]+\/[0-9]+ : +[0-9]+ +[0-9]+/d'
refused 'is no ring of the' 's/Ring 00 : ([0-9]+) -> ([0-9]+) -> [0-9]+/Ring 00 : \1 -> \2 -> \2/'
refused 'does not say count' 's/(AllReduce|AllGather|ReduceScatter|Broadcast): (.*) datatype [0-9]+/\1: \2 datatype 77/'
refused 'add COLL' '/opCount/d'
# A job whose log it is, observed: what the log says is predicted, and a clean pair has no suspect.
exit $((failures > 0))
