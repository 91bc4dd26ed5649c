#!/usr/bin/env bash
# Topologies and connection matrices of htsim: what is written is the network that htsim would build of it, what is read
# has the cables that another reading of the format finds, and what cannot be said or read is refused with its place.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
check=$root/tests/cli/check_htsim.py
$python -c 'import networkx' 2>/dev/null || { echo "skipped: missing python3-networkx (scripts/setup --tests installs it)"; exit 77; }

refuse() { # refuse CODE TEXT COMMAND...
  local code=0
  "$program" "${@:3}" --quiet >out 2>err || code=$?
  [[ $code -eq $1 && ! -s out ]] && grep -qE -e "$2" err || fail "${*:3}: exit code $code: $(<err)"
}

# --- topologies out: the same network ---
for design in fat-tree:k=4 clos:gpus=36,radix=12,tiers=2,gpus-per-server=1,taper=3 'fat-tree:xgft=3;4,3,2;1,2,2;1,2,1,gpus-per-server=1' \
  'fat-tree:xgft=3;4,4,2;1,2,2;1,1,2,gpus-per-server=1' clos:gpus=32,radix=8,gpus-per-server=4; do
  "$program" build "$design,floor.lengths=tier" --format htsim --quiet >design.topo || { fail "$design: not written"; continue; }
  "$program" build "$design" --format graphml --quiet >design.graphml
  $python "$check" same design.topo design.graphml 2>err || fail "$design: $(tail -n 1 err)"
done
"$program" build fat-tree:k=4,floor.lengths=tier --export k4.topo --quiet >/dev/null
"$program" build fat-tree:k=4,floor.lengths=tier --format htsim --quiet | cmp - k4.topo || fail "--export writes other bytes"
sed 's/Radix_Down 4/Radix_Down 2/' k4.topo | sed '/^Tier 2/,$s/Radix_Down 2/Radix_Down 4/' >other.topo
sed -i 's/^Nodes 16/Nodes 8/; s/^Podsize 4/Podsize 2/' other.topo
"$program" build fat-tree:k=4,floor.lengths=tier --format graphml --quiet >k4.graphml
! $python "$check" same other.topo k4.graphml 2>err || fail "another network passes for the same"

refuse 3 'nic-1 is on leaf-1; htsim has' build rail-spine:gpus=64,radix=16,floor.lengths=tier --format htsim
refuse 3 'trees of 2 or 3 switch tiers' build torus:torus=4,4,gpus=64,gpus-per-server=4,floor.lengths=tier --format htsim
refuse 3 'trees of 2 or 3 switch tiers' build clos:gpus=32,radix=64,floor.lengths=tier --format htsim
refuse 3 'have one port' build clos:gpus=64,radix=16,planes=2,floor.lengths=tier --format htsim
refuse 3 '2 NICs in a server' build clos:gpus=64,radix=8,gpus-per-server=4,nics-per-server=2,floor.lengths=tier --format htsim
refuse 3 'whole oversubscription' build clos:gpus=36,radix=15,tiers=2,gpus-per-server=1,taper=1.5,domain=1,floor.lengths=tier --format htsim
refuse 3 'alike' build clos:gpus=40,radix=32,tiers=2,gpus-per-server=8,floor.lengths=tier --format htsim
refuse 3 'builds none' cost fat-tree:k=4 --format htsim

# --- topologies in: the same cables ---
same_cables() { # same_cables FILE...
  local file
  $python "$check" cables "$@" 2>err || fail "cables: $(tail -n 1 err)"
  for file in "$@"; do
    "$program" audit "$file" --against "$(basename "$file").csv" --json --quiet >"$(basename "$file").json" 2>err || fail "$file: $(<err)"
  done
  $python "$check" found "$@" 2>err || fail "other cables: $(tail -n 1 err)"
}
same_cables k4.topo
mkdir random
$python "$check" random random 1
same_cables random/*.topo
# A design of what was read, written again: the same figures, whatever their order. (Latencies are those of the import.)
figures() { # figures: of a topology on stdin, tier by tier
  awk '$1 == "Tier" {tier = $2} NF == 2 && $1 != "#" && $1 !~ /Latency|^Tier$/ && !($1 ~ /^(Bundle|Oversubscribed)$/ && $2 == 1) {print tier, $1, $2}' | sort
}
for file in k4.topo random/random-[0-3].topo; do
  "$program" build "installed:$file" --format htsim --quiet 2>err | figures >again
  figures <"$file" | diff - again >diff || fail "$file written again: $(head -n 3 err) $(head -n 4 diff)"
done
sed -i '5d' random-3.topo.csv
"$program" audit random/random-3.topo --against random-3.topo.csv --json --quiet | grep '"extra-cable"' >/dev/null || fail "a cable more than in the list is not found"
sed 's/$/\r/' k4.topo >crlf.topo
same_cables crlf.topo

wrong() { # wrong FILE PLACE TEXT
  refuse 3 "^fabriscope: $1$2.*$3" audit "$1"
}
topo() { # topo SED-SCRIPT NAME
  sed "$1" k4.topo >"$2"
}
topo 's/^Nodes 16/Nodes sixteen/' nodes.topo
topo 's/^Tiers 3/Tiers 4/' tiers.topo
topo '/^Podsize/d' pod.topo
topo 's/^Podsize 4/Podsize 5/' divide.topo
topo 's/^Tier 2/Tier 1/' twice.topo
topo '0,/^Radix_Down 2/s//Radix_Down 3/' radix.topo
topo 's/^Radix_Down 4/Radix_Down 6/' core.topo
topo '/^Tier 2/,$d' cut.topo
topo '0,/^Radix_Up 2/s//Radix_Up 2 3/' more.topo
topo '0,/^Downlink_speed_Gbps 400/s//Downlink_speed_Gbps 400\nDownlink_speed_Gbps 400/' again.topo
topo '0,/^Downlink_speed_Gbps 400/s//Downlink_speed_Gbps 200/' speed.topo
topo 's/^Nodes 16/Nodes 16777216/; s/^Podsize 4/Podsize 8388608/' huge.topo
wrong nodes.topo ':2:7: ' 'whole number'
wrong tiers.topo ':3:7: ' '2 or 3'
wrong pod.topo ':[0-9]+:1: ' 'without Podsize'
wrong divide.topo ':4:9: ' 'does not divide'
wrong twice.topo ':[0-9]+:1: ' 'given twice'
wrong radix.topo ':[0-9]+:[0-9]+: ' 'does not divide a pod'
wrong core.topo ':[0-9]+:12: ' '4 pods'
wrong cut.topo ':[0-9]+:1: ' 'without Downlink_speed_Gbps of Tier 2'
wrong more.topo ':[0-9]+:12: ' 'end of the line'
wrong again.topo ':8:1: ' 'line 7 has it'
wrong speed.topo ':[0-9]+:10: ' 'as Oversubscribed says'
wrong huge.topo ':[0-9]+:' ''

# --- connection matrices ---
printf 'Nodes 16\nConnections 3\n7->5 id 1 start 0 size 2000\n15->1 start 0 id 2 size 4000 prio 3\n7->5 start 0 size 1\n' >good.cm
"$program" traffic fat-tree:k=4 --traffic file:good.cm --export - --quiet >out
printf 'src,dst,bytes\n7,5,2001\n15,1,4000\n' | diff - out || fail "connections"
sed 's/$/\r/' good.cm >crlf.cm
"$program" traffic fat-tree:k=4 --traffic file:crlf.cm --export - --quiet | diff - out || fail "connections with CRLF"
"$program" traffic fat-tree:k=4 --traffic file:- --export - --quiet <good.cm | diff - out || fail "connections from stdin"
connections() { # connections CODE PLACE TEXT: the text on stdin
  cat >bad.cm
  refuse "$1" "bad.cm$2.*$3" traffic fat-tree:k=4 --traffic file:bad.cm
}
head='Nodes 16\nConnections 1\n'
printf "${head}7->16 start 0 size 1\n" | connections 3 ':3:4: ' 'no node from 0 to 15'
printf "${head}7>5 start 0 size 1\n" | connections 3 ':3:1: ' 'SOURCE->DESTINATION'
printf "${head}7->7 start 0 size 1\n" | connections 3 ':3:1: ' 'sends to itself'
printf "${head}7->5 start 0\n" | connections 3 ':3:1: ' 'has no size'
printf "${head}7->5 size 1\n" | connections 3 ':3:1: ' 'has no start'
printf "${head}7->5 start soon size 1\n" | connections 3 ':3:12: ' 'no time'
printf "${head}7->5 start 0 size x\n" | connections 3 ':3:19: ' 'no value of size'
printf "${head}7->5 start 0 size\n" | connections 3 ':3:[0-9]+: ' 'ends behind size'
printf "${head}7->5 start 0 size 0\n" | connections 3 ':3:14: ' 'without an end'
printf "${head}7->5 start 0 size 1 color red\n" | connections 3 ':3:21: ' "'color' stands where"
printf "${head}7->5 trigger 1 size 1\n" | connections 3 ':3:6: ' 'wait for others'
printf "${head}7->5 start 0 size 1 send_done_trigger 2\n" | connections 3 ':3:21: ' 'wait for others'
printf 'Nodes 16\nConnections 1\nTriggers 1\n' | connections 3 ':3:1: ' 'not supported'
printf "${head}trigger id 1 oneshot\n" | connections 3 ':3:1: ' 'not supported'
printf "${head}failure switch_type AGG switch_id 0 link_id 0\n" | connections 3 ':3:1: ' 'not supported'
printf 'Nodes 16\nConnections 2\n1->2 start 0 size 1\n2->3 start 5 size 1\n' | connections 3 ':4:12: ' 'another start'
printf 'Nodes 16\nConnections 2\n1->2 id 4 start 0 size 1\n2->3 id 4 start 0 size 1\n' | connections 3 ':4:1: ' 'the id 4'
printf 'Nodes 16\nConnections 2\n1->2 start 0 size 1\n' | connections 3 ':3:1: ' 'after 1 connections; line 2 says 2'
printf "${head}1->2 start 0 size 1\n2->3 start 0 size 1\n" | connections 3 ':4:1: ' 'one more than'
printf 'Nodes 17\nConnections 1\n1->2 start 0 size 1\n' | connections 3 ':1:7: ' '1 to 16'
printf 'Nodes 16\n1->2 start 0 size 1\n' | connections 3 ':2:1: ' 'stands before Connections'
printf 'Nodes 16\nConnections 1\n' | connections 3 ':[0-9]+:1: ' 'ends before the first'
printf 'Nodes 16\nConnections 1\n1->2 start 0 size 1\0\n' | connections 3 ':3:20: ' 'zero byte'

# --- the samples ---
if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: htsim's own files are skipped" >&2
else
  same_cables "$FABRISCOPE_SAMPLES"/htsim/*.topo
  for file in "$FABRISCOPE_SAMPLES"/htsim/*.cm; do
    "$program" traffic clos:gpus=128,radix=32 --traffic "file:$file" --export - --quiet | sort >ours
    { echo src,dst,bytes; sed -nE 's/\r$//; s/^([0-9]+)->([0-9]+) .*size ([0-9]+).*/\1,\2,\3/p' "$file"; } | sort >theirs
    cmp -s ours theirs || fail "$file: other flows: $(diff ours theirs | head -n 3)"
  done
fi
exit $((failures > 0))
