#!/usr/bin/env bash
# SimGrid runs flows over an XGFT to the end; its finishing times must be ours. What a peer is called with: scripts/bench.
# Usage: peer_simgrid_finish.sh check | run XGFT ROW, ROW of bench_rates, with $FABRISCOPE and a folder $WORK that later
#        runs find again
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
limit_s=1000

case ${1-} in
check) "$here/peer_simgrid.sh" check ;;
run)
  xgft=${2:?}
  row=${3:?}
  : "${FABRISCOPE:?}" "${WORK:?}"
  if [[ ! -f $WORK/flows ]]; then
    g++ -std=c++17 -O2 -Wall -Wextra -o "$WORK/peer_simgrid" "$here/peer_simgrid.cpp" -lsimgrid
    "$(dirname "$FABRISCOPE")/bench_rates" --print "fat-tree:xgft=$xgft,gpus-per-server=1" "$row" >"$WORK/flows.part"
    mv "$WORK/flows.part" "$WORK/flows"
  fi
  if ! cut -d' ' -f1-3 "$WORK/flows" |
    timeout "$limit_s" "$WORK/peer_simgrid" "$xgft" --times >"$WORK/out" 2>"$WORK/simgrid.log"; then
    echo "peer_simgrid_finish.sh: SimGrid failed or took more than $limit_s s: $(tail -n 3 "$WORK/simgrid.log")" >&2
    exit 1
  fi
  worst=$(paste -d' ' "$WORK/flows" <(grep '^time ' "$WORK/out") |
    awk 'NF != 7 {bad = 1}
         {d = $4 > $7 ? $4 - $7 : $7 - $4; if ($7 <= 0) bad = 1; else if (d / $7 > worst) worst = d / $7}
         END {print (bad || NR == 0 ? 1 : worst + 0)}')
  if ! awk -v worst="$worst" 'BEGIN {exit !(worst <= 1e-9)}'; then
    echo "peer_simgrid_finish.sh: $xgft $row: finishing times differ from ours by up to $worst of them" >&2
    exit 1
  fi
  version=$(sed -nE 's/.*"SimGrid version ([0-9.]+)".*/\1/p' /usr/include/simgrid/version.h)
  echo "peer simgrid $version fat-tree, CM02"
  awk '/^[a-z]+_s / {sum += $2} END {printf "cpu_s %.4f\n", sum}' "$WORK/out"
  sed -nE 's/^(load|flows|run)_s /part \1 /p' "$WORK/out"
  echo "did loads the platform, starts $(wc -l <"$WORK/flows") flows and runs them to the end; finishing times differ from ours by at most $worst of them"
  ;;
*)
  echo "usage: peer_simgrid_finish.sh check | run XGFT ROW" >&2
  exit 2
  ;;
esac
