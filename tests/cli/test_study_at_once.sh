#!/usr/bin/env bash
# study DESIGN: the same report as the four steps, in a folder that is named and stays; what is there is checked before anything is computed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=(clos:gpus=64,radix=16,spares=1 --scenarios servers:1 --policy none,first-spare --engine ecmp --engine spray --seed 3)
"$program" study plan "${design[@]}" --store steps --quiet >/dev/null && "$program" study run --store steps --quiet >/dev/null &&
  "$program" study gather --store steps --quiet >/dev/null && "$program" study show --store steps --quiet >steps.txt || fail "the four steps"
mkdir tmp
TMPDIR=$PWD/tmp "$program" study "${design[@]}" >once.txt 2>err || fail "at once: $(cat err)"
cmp once.txt steps.txt || fail "at once and in steps differ"
folder=$(sed -n "s/.*the study is in \([^:]*\): .*/\1/p" err)
[[ $folder == "$PWD"/tmp/* && -s $folder/results.db ]] || fail "the folder is not named: $(cat err)"
cmp "$folder/results.db" steps/results.db || fail "the stores differ"
"$program" study show --store "$folder" --quiet | cmp - steps.txt || fail "the folder cannot be shown"
"$program" study "${design[@]}" --store named --json --out report --quiet >once.json && [[ -s named/results.db && -s report/report.html ]] || fail "a named folder"
"$program" study show --store steps --json --quiet | cmp - once.json || fail "JSON"
"$program" study "${design[@]}" --store named --quiet | cmp - steps.txt || fail "once more in the same folder"
refused() { "$program" study "${@:2}" --quiet >out 2>err && fail "taken: ${*:2}"; grep -q -- "$1" err || fail "${*:2}: $(cat err)"; }
mkdir foreign && echo '{}' >foreign/report.json && rm -r tmp/*
TMPDIR=$PWD/tmp refused "exists already" "${design[@]}" --out foreign
[[ -z $(ls tmp) ]] || fail "a folder was made before the outputs were looked at"
TMPDIR=$PWD/tmp refused "radix" clos:gpus=64,radix=1 --scenarios servers:1
[[ -z $(ls tmp) ]] || fail "the folder of a study that could not be planned stays"
refused "needs --scenarios" clos:gpus=64
refused "study run" "${design[@]}" --shard 0/2
refused "did you mean 'plan'" plann

# checkpoint=auto is the interval of this job: no fixed one of a sweep around it has more goodput, within 1 % of what is lost.
"$program" sweep clos:gpus=64,radix=32,spares=2,full-spares=yes --job model=gpt-1.7b,tp=2,memory-check=off --set failures.software-mtbf=100d \
  --set failures.checkpoint-write=20s --vary failures.checkpoint=auto,5min,10min,20min,30min,40min,60min,80min,3h --scenarios time:60d@60 \
  --json --quiet >sweep.json || fail "a sweep of checkpoints"
python3 - <<'PY' || fail "checkpoint=auto"
import json
auto, *fixed = (point["engines"][0]["goodput_ratio"] for point in json.load(open("sweep.json"))["sweep"]["points"])
best = max(fixed)
assert best not in (fixed[0], fixed[-1]) and best - fixed[-1] > 0.01, fixed
assert auto > best - 0.01 * (1 - best), (auto, fixed)
PY
exit $((failures > 0))
