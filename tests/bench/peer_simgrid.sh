#!/usr/bin/env bash
# SimGrid routes a permutation over the same XGFT by D-mod-K. What a peer is called with: scripts/bench.
# Usage: peer_simgrid.sh check | run XGFT, with $FABRISCOPE and a folder $WORK that later runs find again
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
flow_bytes=1000000 # of a flow of our patterns
limit_s=300

check() {
  local missing=()
  command -v g++ >/dev/null || missing+=(g++)
  [[ -e /usr/include/simgrid/s4u.hpp ]] || missing+=(libsimgrid-dev)
  [[ ${#missing[@]} -eq 0 ]] || { echo "${missing[*]}"; return 1; }
}

ours() { # ours COMMAND XGFT ARGUMENTS...: of the same permutation; one GPU per server, so that every flow is in the network
  "$FABRISCOPE" "$1" "fat-tree:xgft=$2,gpus-per-server=1" --traffic pattern:permutation "${@:3}" --quiet
}

count_ours() { # count_ours XGFT: how many links carry how many flows, in the words of peer_simgrid.cpp
  ours route "$1" --engine dmodk --format graphml |
    awk -v bytes="$flow_bytes" '
      function value(key) {
        return match($0, "\"" key "\">[^<]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
      }
      /<edge .*"e_kind">(access|fabric)</ {
        up[value("e_tier") " " value("load_fwd") / bytes]++
        down[value("e_tier") " " value("load_rev") / bytes]++
      }
      END {
        for (i in up) if (i !~ / 0$/) print "links up", i, up[i]
        for (i in down) if (i !~ / 0$/) print "links down", i, down[i]
      }' | sort
}

measure() { # measure XGFT PAIRS OUT OPTION...
  if ! timeout "$limit_s" "$WORK/peer_simgrid" "$1" "$flow_bytes" "${@:4}" <"$2" >"$3" 2>"$WORK/simgrid.log"; then
    echo "peer_simgrid.sh: SimGrid failed or took more than $limit_s s: $(tail -n 3 "$WORK/simgrid.log")" >&2
    return 1
  fi
}

same_counts() { # same_counts XGFT OUT
  if ! diff <(count_ours "$1") <(grep '^links' "$2" | sort) >"$WORK/diff"; then
    echo "peer_simgrid.sh: $1: other flows per link than ours: $(head -n 5 "$WORK/diff")" >&2
    return 1
  fi
}

make_pairs() { # make_pairs XGFT
  ours traffic "$1" --export - | awk -F, 'NR > 1 {print $1, $2}'
}

prepare() { # once: the program, the pairs, and a look whether both sides mean the same
  [[ ! -f $WORK/pairs ]] || return 0
  g++ -std=c++17 -O2 -Wall -Wextra -o "$WORK/peer_simgrid" "$here/peer_simgrid.cpp" -lsimgrid
  local small='3;4,4,8;1,4,4;1,1,1' most slowest
  make_pairs "$small" >"$WORK/small"
  measure "$small" "$WORK/small" "$WORK/small.out" --finish
  same_counts "$small" "$WORK/small.out"
  # With one capacity everywhere the slowest rate of a max-min solution is the capacity / the flows of the fullest link.
  most=$(awk '/^links/ && $4 > m {m = $4} END {print m}' "$WORK/small.out")
  slowest=$(awk '/^slowest_ratio/ {printf "%.6f", $2}' "$WORK/small.out")
  if [[ $slowest != "$most.000000" ]]; then
    echo "peer_simgrid.sh: $small: the slowest flow gets 1/$slowest of a link, the fullest link has $most flows" >&2
    return 1
  fi
  make_pairs "$xgft" >"$WORK/pairs.part"
  mv "$WORK/pairs.part" "$WORK/pairs"
}

seconds() { # seconds STEP
  awk -v step="$1" '$1 == step {printf "%.4f", $2}' "$WORK/out"
}

case ${1-} in
check) check ;;
run)
  xgft=${2:?}
  : "${FABRISCOPE:?}" "${WORK:?}"
  prepare
  measure "$xgft" "$WORK/pairs" "$WORK/out"
  same_counts "$xgft" "$WORK/out"
  version=$(sed -nE 's/.*"SimGrid version ([0-9.]+)".*/\1/p' /usr/include/simgrid/version.h)
  echo "peer simgrid $version fat-tree, CM02"
  echo "cpu_s $(awk -v a="$(seconds load_s)" -v b="$(seconds flows_s)" 'BEGIN {printf "%.4f", a + b}')"
  printf 'part %s\n' "load $(seconds load_s)" "flows $(seconds flows_s)" "left_out $(seconds solve_s)"
  echo "did loads the platform and starts $(wc -l <"$WORK/pairs") flows, which finds their routes; as many links of every tier carry as many flows as with ours. Left out: its first solution of the rates, which is part of ours"
  ;;
*)
  echo "usage: peer_simgrid.sh check | run XGFT" >&2
  exit 2
  ;;
esac
