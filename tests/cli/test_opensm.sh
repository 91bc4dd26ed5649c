#!/usr/bin/env bash
# Against InfiniBand's own tools: ibsim loads our fabrics, ibnetdiscover reads them back, opensm routes them, its tables
# give the loads that an independent walk counts, and opensm installs tables of ours.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check="/usr/bin/python3 $root/tests/cli/check_lft.py"
PATH=$PATH:/usr/sbin

shim=$(ls /usr/lib/*/umad2sim/libumad2sim.so /usr/lib/umad2sim/libumad2sim.so 2>/dev/null | head -n 1 || true)
for tool in opensm ibsim ibnetdiscover dump_lfts; do
  if ! command -v $tool >/dev/null || [[ -z $shim ]]; then
    echo "$tool or ibsim's library is not installed (scripts/setup --tests): skipped" >&2
    exit 77
  fi
done

simulator=
stop() {
  [[ -z $simulator ]] || { kill "$simulator" 2>/dev/null || true; wait "$simulator" 2>/dev/null || true; }
  simulator=
}
trap 'stop; rm -rf "$work"' EXIT

# manage NET FOLDER ENGINE [ARGUMENTS...]: the subnet of $from (default: that of the first adapter) under an engine of
# opensm; leaves opensm-lfts.dump, osm.log and, where $look is yes, what ibnetdiscover and dump_lfts see in the folder.
from= look=no
manage() {
  local net=$1 folder=$work/$2 engine=$3
  mkdir -p "$folder"
  export IBSIM_SOCKNAME=fabriscope-test-$$-$2 OSM_TMP_DIR=$folder OSM_CACHE_DIR=$folder
  timeout 60 ibsim -s -n -N 30000 -S 6000 -P 300000 -L 49152 "$net" >"$folder/ibsim.log" 2>&1 </dev/null &
  simulator=$!
  for ((i = 0; i < 100; i++)); do
    ! grep -q 'simulator ready' "$folder/ibsim.log" 2>/dev/null || break
    sleep 0.05
  done
  SIM_HOST=${from:-$(sed -nE '/^Ca/{s/^[^"]*"([^"]*)".*/\1/p;q}' "$net")}
  export SIM_HOST
  LD_PRELOAD=$shim timeout 60 opensm -F /dev/null -o -e -s 0 -f "$folder/osm.log" -D 0x43 -R "$engine" \
    --dump_files_dir "$folder" "${@:4}" >"$folder/out" 2>&1 </dev/null || fail "$2: opensm: $(tail -n 2 "$folder/out")"
  # An engine that fails is replaced by minhop, and only the log tells.
  grep -q "$engine tables configured" "$folder/osm.log" || fail "$2: opensm did not route by $engine"
  if [[ $look == yes ]]; then
    LD_PRELOAD=$shim timeout 60 ibnetdiscover >"$folder/net" 2>/dev/null || fail "$2: ibnetdiscover"
    LD_PRELOAD=$shim timeout 60 dump_lfts >"$folder/dump_lfts" 2>/dev/null || fail "$2: dump_lfts"
  fi
  stop
}
graph() { # graph DESIGN BY ENGINE: the fabric with its loads
  "$program" route "$1" --traffic "pattern:shift,by=$2" --engine "$3" --format graphml --quiet
}

# judge NAME DESIGN BY ENGINES: BY steps over whole servers, so that every flow is in the network.
judge() {
  local name=$1 design=$2 by=$3 engine
  "$program" build "$design" --format ibnet --quiet >"$name.net" || { fail "$name: no export"; return; }
  look=yes
  # shellcheck disable=SC2086
  for engine in $(some $4); do
    manage "$name.net" "$name-$engine" "$engine"
    for dump in opensm-lfts.dump dump_lfts; do
      [[ $dump == opensm-lfts.dump || $look == yes ]] || continue
      graph "$design" "$by" "file,path=$name-$engine/$dump" >"$name.graphml" || { fail "$name, $engine, $dump: not read"; continue; }
      $check loads "$name.net" "$name-$engine/$dump" "$name.graphml" "$by" || fail "$name, $engine, $dump: other loads"
    done
    [[ $look == yes ]] || continue
    # Same lines but for the order of nodes, the speed, which ibsim does not know, and comments.
    diff <(grep -v '^#' "$name.net" | sed -E 's/4x[A-Z]+$/4xSDR/' | sort) \
      <(grep -v '^#' "$name-$engine/net" | sort) >diff.out || fail "$name: ibnetdiscover sees another fabric: $(head -n 3 diff.out)"
    $check same "$name.net" "$name-$engine/net" || fail "$name: ibnetdiscover sees other cables"
    look=no
  done
  # Ours, installed.
  "$program" route "$design" --engine updn --dump "$name.lft" --dump-format lft --quiet >report || fail "$name: no dump"
  manage "$name.net" "$name-file" file -U "$work/$name.lft"
  $check tables "$name.lft" "$name-file/opensm-lfts.dump" || fail "$name: opensm installs other tables"
  graph "$design" "$by" updn | grep '<edge ' >one
  graph "$design" "$by" "file,path=$name-file/opensm-lfts.dump" | grep '<edge ' >two
  cmp one two || fail "$name: other loads than by the engine itself"
}
judge tree4 fat-tree:k=4,gpus-per-server=1 3 "minhop updn ftree dfsssp"
judge tree8 fat-tree:k=8,gpus-per-server=1 37 "minhop updn ftree dfsssp"
judge trunk 'fat-tree:xgft=2;6,4;1,3;1,2,gpus-per-server=2' 4 "minhop updn ftree dfsssp"
judge taper clos:gpus=48,gpus-per-server=1,radix=16,taper=3 13 "minhop updn dfsssp"
judge rails rail-spine:gpus=64,gpus-per-server=8,radix=16 24 "minhop updn ftree dfsssp"

# Planes: a subnet each, so a subnet manager each; the dumps one after the other are the fabric.
planes=rail-spine:gpus=64,gpus-per-server=8,planes=2,radix=16
"$program" build $planes --format ibnet --quiet >planes.net
manage planes.net plane-0 minhop
from=$(sed -nE 's/^Switch.*"(S-[0-9a-f]*)".*# "leaf-8".*/\1/p' planes.net)
manage planes.net plane-1 minhop
from=
cat plane-0/opensm-lfts.dump plane-1/opensm-lfts.dump >both
"$program" route $planes --traffic pattern:shift,by=8 --engine file,path=both --quiet >report || fail "two planes: not read"
code=0
"$program" route $planes --traffic pattern:shift,by=8 --engine file,path=plane-0/opensm-lfts.dump --quiet >out 2>err || code=$?
[[ $code -eq 4 ]] && grep -q 'no route from nic-[0-9]* on leaf-[0-9]*' err || fail "one plane of two: $code, $(cat err)"

# A perfect tree of three tiers, 432 hosts: what is known of opensm's engines.
tree=fat-tree:k=12,gpus-per-server=1
"$program" build $tree --format ibnet --quiet >tree.net
worst() { # worst ENGINE: largest collision factor over some shifts
  local by
  for by in 1 6 36 37 72 216 333; do
    "$program" route $tree --traffic "pattern:shift,by=$by" --engine "$1" --json --quiet |
      grep -o '"max_collision_factor": *[0-9.]*' | head -n 1 | grep -o '[0-9.]*$'
  done | sort -g | tail -n 1
}
for expected in minhop=6 ftree=1 dfsssp=4; do
  engine=${expected%=*}
  manage tree.net "tree-$engine" "$engine"
  found=$(worst "file,path=tree-$engine/opensm-lfts.dump")
  [[ $found == "${expected#*=}" ]] || fail "worst shift under $engine: $found, not ${expected#*=}"
done
# ftree is D-mod-K wherever packets get to.
for by in 1 37 216; do
  [[ $(graph $tree $by dmodk | grep '<edge ' | cksum) == $(graph $tree $by file,path=tree-ftree/opensm-lfts.dump | grep '<edge ' | cksum) ]] ||
    fail "ftree is not D-mod-K for a shift by $by"
done
exit $((failures > 0))
