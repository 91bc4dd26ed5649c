#!/usr/bin/env bash
# SimAI's workloads: groups and bytes of every collective as another program counts them; malformed ones say where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=$root/tests/cli/check_workload.py
design=rail-spine:gpus=32,radix=8

counts() { # counts FILE
  "$program" traffic "$design" --traffic "file:$1" --json --quiet >list.json 2>err &&
    "$program" route "$design" --traffic "file:$1" --engine dmodk --format flows --quiet >flows.csv 2>err || { fail "$1: $(<err)"; return; }
  python3 "$check" count "$1" 32 list.json flows.csv 2>err || fail "$1: $(tail -n 1 err)"
}
mkdir random
python3 "$check" random random 1
for file in random/*.txt; do
  counts "$file"
done
sed 's/$/\r/' random/0.txt >crlf.txt
"$program" traffic "$design" --traffic file:crlf.txt --json --quiet | sed 's/crlf/0/' >list.json
"$program" traffic "$design" --traffic file:random/0.txt --json --quiet | cmp - list.json || fail "CRLF makes other phases"
"$program" traffic "$design" --traffic file:random/0.txt --json --quiet | sed 's/"bytes": \([0-9]\)/"bytes": 1\1/' >list.json
"$program" route "$design" --traffic file:random/0.txt --engine dmodk --format flows --quiet >flows.csv
! python3 "$check" count random/0.txt 32 list.json flows.csv 2>err || fail "other bytes pass for the same"

wrong() { # wrong PLACE TEXT: the workload on stdin
  local code=0
  cat >bad.txt
  "$program" traffic "$design" --traffic file:bad.txt --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE -e "bad.txt$1.*$2" err || fail "$2: exit code $code: $(<err)"
}
head='HYBRID_TRANSFORMER model_parallel_NPU_group: 8 all_gpus: 32\n1\n'
layer='a -1 5 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n'
printf 'HYBRID_DLRM\n1\n' | wrong ':1:1: ' 'not supported'
printf 'MODEL tp: 8\n1\n' | wrong ':1:7: ' "'tp:' stands where"
printf 'HYBRID_TRANSFORMER ep: x\n1\n' | wrong ':1:24: ' 'no value of ep'
printf 'HYBRID_TRANSFORMER ep:\n1\n' | wrong ':1:[0-9]+: ' 'ends before the ep'
printf 'HYBRID_TRANSFORMER all_gpus: 64\n1\n' | wrong ':1:1: ' 'the fabric has 32'
printf 'HYBRID_TRANSFORMER model_parallel_NPU_group: 5\n1\n' | wrong ':1:1: ' 'tp 5'
printf 'HYBRID_TRANSFORMER model_parallel_NPU_group: 8 ep: 3\n1\n' | wrong ':1:1: ' 'ep 3'
printf 'HYBRID_TRANSFORMER model_parallel_NPU_group: 8 pp: 2 pp_comm: 100\n1\n' | wrong ':1:54: ' 'how often'
printf 'HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 checkpoints: 2 1 2\n1\n' | wrong ':1:61: ' 'not supported'
printf 'MICRO\n' | wrong ':1:1: ' 'ends before the number of layers'
printf 'MICRO\nmany\n' | wrong ':2:1: ' 'number of layers'
printf "$head" | wrong ':2:1: ' 'after 0 of 1'
printf "$head$layer$layer" | wrong ':4:1: ' 'a layer more'
printf "${head}a\n" | wrong ':3:[0-9]+: ' 'dependency'
printf "${head}a -1 5 BROADCAST 4096 1 NONE 0 1 NONE 0 1\n" | wrong ':3:8: ' "'BROADCAST' stands where"
printf "${head}a -1 5 ALLREDUCE_ALL 4096 1 NONE 0 1 NONE 0 1\n" | wrong ':3:8: ' "'ALLREDUCE_ALL' stands where"
printf "${head}a -1 5 ALLREDUCEALLTOALL 4096 1 NONE 0 1 NONE 0 1\n" | wrong ':3:8: ' "stands where"
printf "${head}a -1 -5 NONE 0 1 NONE 0 1 NONE 0 1\n" | wrong ':3:6: ' 'no value of time'
printf "${head}a -1 5 ALLREDUCE 4k 1 NONE 0 1 NONE 0 1\n" | wrong ':3:18: ' 'no value of size'
printf "${head}a -1 5 ALLREDUCE 4096 1 NONE 0\n" | wrong ':3:[0-9]+: ' 'ends before the time'
printf "${head}a -1 5 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1 DATA\n" | wrong ':3:43: ' 'twelve columns'
printf 'MICRO\n1\na -1 5 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n' | wrong ':3:8: ' 'sends nothing'
printf "${head}a -1 5 NONE 0 1 NONE 0 1 NONE 0 1\n" | wrong ': ' 'no layer has a collective'
printf "${head}a\0 -1 5 NONE 0 1 NONE 0 1 NONE 0 1\n" | wrong ':3:2: ' 'zero byte'
{ printf 'MICRO\n600\n'; seq 600 | awk '{print "a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE", 1000 + $1, 1}'; } | wrong ':515:26: ' '513th'

if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: SimAI's own workloads are skipped" >&2
else
  for file in "$FABRISCOPE_SAMPLES"/simai/*.txt; do
    counts "$file"
  done
fi
exit $((failures > 0))
