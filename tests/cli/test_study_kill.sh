#!/usr/bin/env bash
# Workers and merges of a study are killed at random moments, dozens of times, with other shares and threads each time:
# what is gathered in the end is byte for byte what an undisturbed run gives, and nothing that was stored is lost.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [[ -d /dev/shm && -w /dev/shm ]]; then # the end of a process takes nothing from a file, whether a disk is below or not
  rm -rf "$work"
  work=$(mktemp -d -p /dev/shm)
  cd "$work"
fi

wanted=40 kills_per_round=14 merges_per_round=3
ms_since() { echo $((($(date +%s%N) - $1) / 1000000)); }
"$program" study plan rail-spine:gpus=128,gpus-per-server=4,radix=16 --scenarios links:4@12000 --engine ecmp,qp=16 \
  --figures loads --store plan --quiet >/dev/null
cp -r plan undisturbed
begin=$(date +%s%N)
"$program" study run --store undisturbed --threads 1 --quiet >/dev/null
run_ms=$(ms_since "$begin")
begin=$(date +%s%N)
"$program" study gather --store undisturbed --quiet >/dev/null
gather_ms=$(ms_since "$begin")
begin=$(date +%s%N)
"$program" study run --store undisturbed --quiet >/dev/null # nothing is left to do
start_ms=$(ms_since "$begin")

killed=0
# dies MOST_MS COMMAND...: kills it after up to so many milliseconds; true if that was before its end
dies() {
  local delay=$((RANDOM % $1 + 1)) code=0 pid
  shift
  "$@" >out 2>err &
  pid=$!
  sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
  kill -KILL $pid 2>/dev/null || true
  wait $pid 2>/dev/null || code=$?
  [[ $code -eq 0 || $code -eq 137 ]] || fail "$* exits with $code: $(cat err)"
  [[ $code -eq 137 ]]
}
stored() { # scenarios that a merge finds
  "$program" study gather --store "$1" --partial --quiet >out 2>err || fail "gather --partial: $(cat err)"
  sed -nE 's/^([0-9,]+) of .*/\1/p' out | tr -d ,
}

for ((round = 0; killed < wanted && round < 9; round++)); do
  store=store-$round
  cp -r plan $store
  before=0
  for ((kill = 0; kill < kills_per_round; )); do
    n=$((RANDOM % 4 + 1))
    if dies $((start_ms + run_ms / 8)) "$program" study run --store $store --shard $((RANDOM % n))/$n \
      --threads $((RANDOM % 3 + 1)) --quiet; then
      kill=$((kill + 1))
    elif [[ $(stored $store) -eq 12000 ]]; then
      break
    fi
    if ((kill % 8 == 7)); then
      now=$(stored $store)
      ((now >= before)) || fail "scenarios were lost: $before, then $now"
      before=$now
    fi
  done
  killed=$((killed + kill))
  echo "round $round: $(stored $store) scenarios after $kill kills"
  "$program" study run --store $store --quiet >out 2>err || fail "the last run: $(cat err)"
  rm -f $store/results.db
  for ((merge = 0; merge < merges_per_round; merge++)); do
    if dies $((gather_ms + 1)) "$program" study gather --store $store --quiet; then
      killed=$((killed + 1))
    fi
    [[ ! -e $store/results.db ]] || cmp undisturbed/results.db $store/results.db || fail "a killed merge left another file"
  done
  "$program" study gather --store $store --quiet >out 2>err || fail "the last merge: $(cat err)"
  cmp undisturbed/results.db $store/results.db || fail "round $round: other results than an undisturbed run"
  left=$(find $store \( -name '*.new*' -o -name '*-wal' \) -print)
  [[ -z $left ]] || fail "left over: $left"
done
# Histories remember states: a run that begins anew knows none of them, and gives the same.
"$program" study plan rail-spine:gpus=128,gpus-per-server=4,radix=16,spares=1 --set failures.gpu-mtbf=200d \
  --scenarios time:30d@1500 --policy none,first-spare,shrink --store months --quiet >/dev/null
cp -r months as_planned
begin=$(date +%s%N)
"$program" study run --store months --threads 1 --quiet >/dev/null
months_ms=$(ms_since "$begin")
"$program" study gather --store months --quiet >/dev/null
deaths=0
for ((round = 0; round < 6 && deaths < 6; round++)); do
  rm -rf killed
  cp -r as_planned killed
  for ((kill = 0; kill < 6; kill++)); do
    if dies $((start_ms + months_ms / 4)) "$program" study run --store killed --threads $((kill % 3 + 1)) --quiet; then
      deaths=$((deaths + 1))
    fi
  done
  "$program" study run --store killed --quiet >out 2>err || fail "the last run of histories: $(cat err)"
  "$program" study gather --store killed --quiet >out 2>err || fail "the merge of histories: $(cat err)"
  cmp months/results.db killed/results.db || fail "histories that were killed $deaths times give other results"
done
[[ $deaths -ge 6 ]] || fail "histories were killed only $deaths times"

echo "killed $killed times; a start takes $start_ms ms, a run $run_ms ms, a merge $gather_ms ms"
[[ $killed -ge $wanted ]] || fail "killed only $killed times"
exit $((failures > 0))
