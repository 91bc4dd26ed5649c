#!/usr/bin/env bash
# Rates and finishing times against SimGrid on the same flows and paths: relative 1e-9. Equal sizes show the rates of the
# first solution (time = size / rate), unequal ones every solution after it. Skipped where SimGrid is missing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
peer=$root/tests/bench/peer_simgrid_finish.sh
if ! missing=$("$peer" check); then
  echo "skipped: missing $missing (scripts/setup --tests installs it)"
  exit 77
fi
[[ -x $(dirname "$program")/bench_rates ]] || { echo "skipped: bench_rates is not built beside the program"; exit 77; }

compiled=
for xgft in '3;4,4,8;1,4,4;1,1,1' '3;4,4,8;1,2,2;1,1,1' '2;8,16;1,4;1,1' '3;4,4,4;1,4,2;1,1,1'; do # single cables: SimGrid's choice among parallel ones on the way down is its own
  for row in whole-permutation whole-random whole-random-equal; do
    folder=$work/$xgft-$row
    mkdir -p "$folder"
    if [[ -n $compiled ]]; then # the program is the same every time
      cp "$compiled" "$folder/peer_simgrid"
      "$(dirname "$program")/bench_rates" --print "fat-tree:xgft=$xgft,gpus-per-server=1" "$row" >"$folder/flows"
    fi
    if ! FABRISCOPE=$program WORK=$folder "$peer" run "$xgft" "$row" >out 2>err; then
      fail "$xgft $row: $(cat err)"
    elif [[ $(grep -c '^time ' "$folder/out") -ne $(wc -l <"$folder/flows") || ! -s $folder/flows ]]; then
      fail "$xgft $row: not every flow was compared"
    fi
    compiled=$folder/peer_simgrid
  done
done

# A time that is not ours is noticed.
awk '{$4 *= 1 + 1e-8; print}' "$folder/flows" >changed && mv changed "$folder/flows"
if FABRISCOPE=$program WORK=$folder "$peer" run "$xgft" "$row" >out 2>err; then
  fail "times that differ by 1e-8 pass for the same"
fi
grep -q 'finishing times differ' err || fail "not said what differs: $(cat err)"
exit $((failures > 0))
