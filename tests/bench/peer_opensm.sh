#!/usr/bin/env bash
# OpenSM computes the forwarding tables of a fat-tree that ibsim simulates. What a peer is called with: scripts/bench.
# Usage: peer_opensm.sh check | run DESIGN ENGINE, with $FABRISCOPE and a folder $WORK that later runs find again
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin
limit_s=300

find_shim() { # the library that hands opensm's packets to ibsim
  local path
  for path in /usr/lib/*/umad2sim/libumad2sim.so /usr/lib/umad2sim/libumad2sim.so; do
    [[ ! -e $path ]] || { echo "$path"; return; }
  done
  return 1
}

check() {
  local missing=()
  command -v opensm >/dev/null || missing+=(opensm)
  { command -v ibsim >/dev/null && find_shim >/dev/null; } || missing+=(ibsim-utils)
  command -v cc >/dev/null || missing+=(gcc)
  [[ ${#missing[@]} -eq 0 ]] || { echo "${missing[*]}"; return 1; }
}

prepare() { # once: the fabric for ibsim, and the library that reads the processor time off
  [[ -f $WORK/net ]] || {
    "$FABRISCOPE" build "$design" --format ibnet --quiet >"$WORK/net.part"
    mv "$WORK/net.part" "$WORK/net"
  }
  [[ -f $WORK/clock.so ]] ||
    cc -std=c11 -O2 -Wall -Wextra -shared -fPIC -o "$WORK/clock.so" "$here/opensm_clock.c" -ldl
}

simulator=
manager=
stop() {
  local pid
  for pid in $manager $simulator; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$run"
}

start_simulator() { # its default limits are 2,048 nodes and 256 switches
  : >"$run/ibsim.log"
  timeout $((limit_s + 60)) ibsim -s -n -N 30000 -S 6000 -P 300000 -L 49152 "$WORK/net" >"$run/ibsim.log" 2>&1 </dev/null &
  simulator=$!
  for ((i = 0; i < 300; i++)); do
    ! grep -q 'simulator ready' "$run/ibsim.log" || return 0
    kill -0 "$simulator" 2>/dev/null || break
    sleep 0.1
  done
  echo "peer_opensm.sh: ibsim did not start: $(tail -n 1 "$run/ibsim.log")" >&2
  return 1
}

mark() { # mark TEXT: the processor time beside that message
  sed -n "/$1/{s/ .*//p;q}" "$run/clock"
}

run_once() {
  local shim host first last
  shim=$(find_shim)
  host=$(sed -nE '/^Ca/{s/^[^"]*"([^"]*)".*/\1/p;q}' "$WORK/net")
  start_simulator
  # Level 0x07 has the messages that clock.so looks for. In the background, so that a signal reaches stop at once.
  timeout "$limit_s" env OPENSM_CLOCK="$run/clock" SIM_HOST="$host" LD_PRELOAD="$WORK/clock.so:$shim" \
    opensm -F /dev/null -o -e -s 0 -f "$run/osm.log" -D 0x07 -R "$engine" --dump_files_dir "$run" \
    >"$run/out" 2>&1 </dev/null &
  manager=$!
  if ! wait "$manager"; then
    echo "peer_opensm.sh: opensm failed or took more than $limit_s s: $(tail -n 3 "$run/out")" >&2
    return 1
  fi
  manager=
  # ftree says when it is done; minhop has only the message after the tables have been handed to the switches.
  last=$(mark "routing is done")
  [[ -n $last ]] || last=$(mark "$engine tables configured on all switches")
  first=$(mark "building routing with '$engine'")
  # An engine that fails is replaced by minhop, and only the log tells.
  if [[ -z $first || -z $last ]] || ! grep -q "$engine tables configured" "$run/clock" || ! grep -q 'SUBNET UP' "$run/osm.log"; then
    echo "peer_opensm.sh: the log does not say that $engine routed the subnet" >&2
    return 1
  fi
  echo "peer opensm $(opensm --version | sed -nE 's/^OpenSM ([0-9.]+).*/\1/p') $engine"
  echo "cpu_s $(awk -v a="$first" -v b="$last" 'BEGIN {printf "%.4f", b - a}')"
  case $engine in
  ftree) echo "did forwarding tables of every switch for every host and switch LID: its thread's processor time from the message 'building routing' to 'FatTree routing is done'" ;;
  *) echo "did forwarding tables of every switch for every host and switch LID: its thread's processor time from the message 'building routing' to 'tables configured', the posting of the tables (some 5 %) included" ;;
  esac
}

case ${1-} in
check) check ;;
run)
  design=${2:?} engine=${3:?}
  : "${FABRISCOPE:?}" "${WORK:?}"
  run=$(mktemp -d "$WORK/opensm.XXXXXX")
  trap stop EXIT
  trap 'exit 130' INT TERM HUP
  export IBSIM_SOCKNAME=fabriscope-bench-$$ OSM_TMP_DIR=$run OSM_CACHE_DIR=$run
  prepare
  run_once
  ;;
*)
  echo "usage: peer_opensm.sh check | run DESIGN minhop|ftree" >&2
  exit 2
  ;;
esac
