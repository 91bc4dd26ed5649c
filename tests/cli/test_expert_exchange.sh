#!/usr/bin/env bash
# Experts by one copy for every domain, beside measured dispatch and combine; popular experts and what they cost.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python3 "$root/tests/cli/check_experts.py" "$program" || fail "dispatch and combine are off"

# Files of loads and tables: what is wrong with them has a line.
seq 1 8 >loads
"$program" run rail-spine:gpus=64 --job model=mixtral-8x7b,tp=4,pp=1,ep=8,expert-loads=loads --json --quiet >skewed || fail "a file of loads"
"$program" run rail-spine:gpus=64 --job model=mixtral-8x7b,tp=4,pp=1,ep=8 --json --quiet >even || fail "no file"
python3 - <<'CHECK' || fail "popular experts"
import json
skewed, even = json.load(open("skewed")), json.load(open("even"))
a, b = skewed["iteration"][0], even["iteration"][0]
assert a["time_s"] > 1.3 * b["time_s"], (a["time_s"], b["time_s"])
assert abs(a["tflops_per_gpu"] * a["time_s"] / (b["tflops_per_gpu"] * b["time_s"]) - 1) < 1e-9  # the same work
CHECK
refuse() { # refuse TEXT ARGUMENTS...
  local status=0 text=$1
  shift
  "$program" "$@" --quiet >out 2>err || status=$?
  [[ $status == 3 && ! -s out ]] && grep -q -- "$text" err || fail "$*: exit $status, $(cat err)"
}
refuse "has 8 lines for 256 experts" route rail-spine:gpus=64 --job model=deepseek-v3,tp=1,pp=1,ep=8,expert-loads=loads,memory-check=off --traffic job:ep-dispatch
printf '1\n2\nmany\n' >words
refuse "words:3:1: 'many' is no load of an expert" route rail-spine:gpus=64 --job model=mixtral-8x7b,tp=4,pp=1,ep=8,expert-loads=words --traffic job:ep-dispatch
printf '1000 64 3\n2000 128 1\n500 16 0\n' >tables
refuse "table 3 needs" route rail-spine:gpus=64 --job kind=ranking,tables-file=tables
printf '# rows columns pooling\n1000000 64 30\n2000000 128 1\n500000 256 8\n' >tables
"$program" run clos:gpus=16,radix=16 --job kind=ranking,tables-file=tables,table-sharding=tables --engine spray --json --quiet >ranked || fail "a file of tables"
python3 - <<'CHECK' || fail "tables of a file"
import json
r = json.load(open("ranked"))
batch, n, columns, lookups = 65536, 16, 64 + 128 + 256, 64 * 30 + 128 + 256 * 8
phases = {p["name"]: p for p in r["phases"]}
for name in ("embedding", "embedding-grad"):
    assert abs(phases[name]["bytes"] / (batch * columns * 2 * 15 / 16) - 1) < 1e-3, phases[name]["bytes"]
k = r["ranking"][0]
mean = 3 * 4 * batch / n * lookups / 3.35e12
assert mean < k["lookup_s"] < 2 * mean, (k["lookup_s"], mean)
assert abs(k["batch_s"] - k["lookup_s"] - k["dense_s"] - k["exchange_s"] - k["reduction_s"]) < 1e-12
assert abs(k["exchange_s"] - sum(phases[p]["engines"][0]["time_s"] for p in ("embedding", "embedding-grad"))) < 1e-12
assert abs(k["samples_per_s"] * k["batch_s"] / batch - 1) < 1e-9
CHECK
refuse "hierarchical needs" route rail-spine:gpus=64 --job model=mixtral-8x7b,tp=4,pp=1,ep=8,expert-exchange=hierarchical,expert-skew=1 --traffic job:ep-dispatch

# Equal bytes under ideal spraying end with the fullest link, in lists as without them.
"$program" route rail-spine:gpus=64 --traffic pattern:all-to-all --engine spray --json --quiet >listed || fail "a small all-to-all"
python3 - <<'CHECK' || fail "the fullest link"
import json
e = json.load(open("listed"))["phases"][0]["engines"][0]
assert abs(e["transfer_s"] / e["busiest_link_s"] - 1) < 1e-9, (e["transfer_s"], e["busiest_link_s"])
CHECK

# Experts that stay on one rail do not test rail-only, whose relays they need not.
warned() { # warned ARGUMENTS...: as one line in out
  "$program" "$@" >lines 2>err || fail "$*: exit code $?: $(<err)"
  tr -s ' \n' '  ' <lines >out
}
says() { # says TEXT ARGUMENTS...
  warned "${@:2}"
  grep -F -- "$1" out >/dev/null || fail "${*:2}: no '$1'"
}
silent() { # silent TEXT ARGUMENTS...
  warned "${@:2}"
  ! grep -F -- "$1" out >/dev/null || fail "${*:2}: says '$1'"
}
rails=(compare rail-only:gpus=256,radix=16,taper=2 rail-spine:gpus=256,radix=32 --engine spray --quiet --job)
expert=model=mixtral-8x7b,experts=64,batch=512,memory-check=off
says 'experts are exchanged within rails, since tp fills scale-up domains, which puts those of a group on the same GPU of their servers; with tp=1,order=tp-cp-dp-pp the all-to-all changes rails' "${rails[@]}" $expert,tp=8,pp=1,ep=16
silent 'GPUs pass traffic between rails' "${rails[@]}" $expert,tp=8,pp=1,ep=16
says 'experts are exchanged within rails, since tp fills' "${rails[@]}" $expert,tp=8,pp=2,ep=8,order=tp-cp-dp-pp
says 'experts are exchanged within rails, since order=tp-cp-pp-dp puts' "${rails[@]}" $expert,tp=1,pp=8,ep=16
for crossing in tp=1,pp=8,ep=16 tp=4,pp=2,ep=16 tp=1,pp=1,ep=16; do # as that sentence says, rails are changed
  silent 'within rails' "${rails[@]}" $expert,$crossing,order=tp-cp-dp-pp
  says 'GPUs pass traffic between rails' "${rails[@]}" $expert,$crossing,order=tp-cp-dp-pp
done
for inner in tp=1,pp=1,ep=8 tp=2,pp=1,ep=4; do
  silent 'within rails' "${rails[@]}" $expert,$inner
done

echo "$failures failures"
[[ $failures -eq 0 ]]
