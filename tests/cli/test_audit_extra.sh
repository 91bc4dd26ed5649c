#!/usr/bin/env bash
# Audits: what is there and should not be, what a plan has and the fabric has not, what hangs on one switch; and cells,
# records and columns that cannot be read.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

found() { # found FILE [OPTION...]: one finding a line
  "$program" audit "$@" --json --quiet >audit.json || { fail "audit $*"; return; }
  $python -c 'import json
for f in json.load(open("audit.json"))["audit"]["findings"]:
    print(*(f.get(k, "-") for k in ("finding", "node", "port", "other_node", "other_port", "cables")))'
}
"$program" build rail-spine:gpus=256,radix=32 --format ibnet --quiet >perfect.net
mkdir cases
$python "$root/tests/cli/audit_cases.py" perfect.net cases

# --- against a plan: a whole switch, and a cable too many ---
[[ $(found cases/absent.net --against rail-spine:gpus=256,radix=32 | grep '^absent-switch') == "absent-switch leaf-3 - - - 32" ]] ||
  fail "a switch of the plan that is not there: $(found cases/absent.net --against rail-spine:gpus=256,radix=32 | head -n 3)"
IFS=' ' read -r kind node port other other_port _ < <(found cases/missing.net)
[[ $kind == missing-cable ]] || fail "no missing cable to begin with: $kind"
[[ $(found perfect.net --against cases/missing.net) == "extra-cable $node $port $other $other_port "* ]] ||
  fail "a cable that the plan has not: $(found perfect.net --against cases/missing.net)"

# --- without a plan: one trunk of more cables than all others ---
printf 'A-node,A-port,Z-node,Z-port\n' >wiring.csv
for leaf in 0 1 2 3; do
  for spine in 0 1; do
    printf 'leaf-%d,%d,spine-%d,%d\n' $leaf $((10 + spine)) $spine $leaf
  done
  for host in 0 1; do
    printf 'host-%d,1,leaf-%d,%d\n' $((2 * leaf + host)) $leaf $host
    printf 'host-%d,2,leaf-%d,%d\n' $((2 * leaf + host)) $(((leaf + 1) % 4)) $((2 + host))
  done
done >>wiring.csv
[[ -z $(found wiring.csv) ]] || fail "a whole wiring: $(found wiring.csv)"
{ cat wiring.csv && echo 'leaf-2,20,spine-1,20'; } >extra.csv
[[ $(found extra.csv) == "extra-cable leaf-2 - spine-1 - 1" ]] || fail "a trunk of two cables among trunks of one: $(found extra.csv)"
grep -v '^host-5,2,' wiring.csv >single.csv
[[ $(found single.csv | grep '^single-point') == "single-point leaf-2 "* ]] || fail "a host behind one leaf: $(found single.csv)"

# --- what cannot be read ---
refuse() { # refuse FILE PLACE PATTERN
  local code=0
  "$program" audit "$1" --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE "^fabriscope: $1$2.*$3" err || fail "$1: exit code $code, $(<err)"
}
csv() { # csv PLACE PATTERN LINE...: a list of cables of these lines
  local place=$1 pattern=$2
  shift 2
  printf '%s\n' "$@" >list.csv
  refuse list.csv "$place" "$pattern"
}
long=$(printf 'x%.0s' {1..300})
csv ':1:1: ' 'more than 32 columns' "A-node,Z-node$(printf ',c%d' {1..40})"
csv ':1:15: ' 'second column of that meaning' 'A-node,Z-node,A-node'
csv ':1:1: ' 'ports of one end only' 'A-node,A-port,Z-node'
csv ':2:1: ' 'without a node' 'A-node,Z-node' ',b'
csv ':2:1: ' 'longer than 255 bytes' 'A-node,Z-node' "$long,b"
csv ':2:4: ' 'where a comma was expected' 'A-node,Z-node' '"a"b,c'
net() { # net PLACE PATTERN LINE: a dump whose 21st line this is
  { head -n 20 perfect.net && echo "$3"; } >bad.net
  refuse bad.net "$1" "$2"
}
net ':21:8: ' 'no hexadecimal number' 'vendid=zz'
net ':21:8: ' 'no number of ports' 'Switch 999 "S-1" # "a"'
net ':21:12: ' 'has a record on line' "Switch 32 $(grep -oE '"S-[0-9a-f]+"' perfect.net | head -n 1) # \"leaf-0\""
net ':21:1: ' 'vendid=, devid=' 'Plug'
# A chain of 100,000 switches, each a tier of its own, is a matter of a second: the time must not grow with their square.
{
  echo A-node,A-port,Z-node,Z-port
  echo server-0,1,switch-0,9
  for ((i = 1; i < 100000; i++)); do echo "switch-$((i - 1)),2,switch-$i,1"; done
} >chain.csv
"$program" audit chain.csv --max-time 20s --quiet >out 2>err || fail "a chain of switches: $(cat err)"
grep -qF "100000 switches" out || fail "a chain of switches: $(cat out)"
# Cells of a Dragonfly+: leaves and spines in each, spines joined across; names have the number of the cell before the word.
# ASICs of a director share its description, and GUIDs tell them apart.
python3 - >cells.csv <<'PY'
port = {}
def end(name):
    port[name] = port.get(name, 0) + 1
    return f"{name},{port[name]}"
print("A-node,A-port,Z-node,Z-port,rate")
for c in range(5):
    for l in range(4):
        for k in range(4):
            print(end(f"node{(c * 4 + l) * 4 + k:03d}"), end(f"c{c}-leaf{l}"), "200Gb/s", sep=",")
    for l in range(4):
        for s in range(4):
            print(end(f"c{c}-leaf{l}"), end(f"c{c}-spine{s}"), "200Gb/s", sep=",")
for c in range(5):
    for d in range(c + 1, 5):
        for s in range(4):
            print(end(f"c{c}-spine{s}"), end(f"c{d}-spine{s}"), "200Gb/s", sep=",")
PY
findings() { # findings FILE: kind and box of each
  "$program" audit "$1" --json --quiet | python3 -c 'import json, sys
for f in json.load(sys.stdin)["audit"]["findings"]: print(f["finding"], f.get("node"), f.get("other_node", "-"))'
}
[[ -z $(findings cells.csv) ]] || fail "cells: $(findings cells.csv)"
for box in c0-leaf1 c2-leaf1 c1-leaf0 c3-leaf2 c2-spine1 c0-spine3; do
  grep -v "$box," cells.csv >now.csv
  [[ $(findings now.csv) == "absent-switch $box -" ]] || fail "$box is not there: $(findings now.csv)"
done
grep -v '^c1-spine2,.*,c3-spine2,' cells.csv >now.csv
[[ $(findings now.csv | cut -d ' ' -f 1) == missing-cable ]] || fail "a cable between cells: $(findings now.csv)"
"$program" build clos:gpus=64,gpus-per-server=2,radix=8,tiers=3 --format ibnet --quiet >plain.net
sed -E 's/"(spine|core)-([0-9])"/"director-1"/; s/"(spine|core)-([0-9]+)"/"director-2"/' plain.net >director.net
[[ -z $(findings director.net) ]] || fail "a director: $(findings director.net)"
[[ $("$program" import director.net --json --quiet | python3 -c 'import json, sys; print([[b["switches"], b["cables"]] for b in json.load(sys.stdin)["import"]["boundaries"]])') == '[[16, 64], [16, 64], [8, 64]]' ]] || fail "tiers of a director"
# Boards of a director: its links are no cables, an empty slot is a choice, and a board that others have is absent.
directors() { # directors LAYOUT [CHANGE...]: what is found
  python3 "$root/tests/cli/directors.py" "$@" >now.net
  findings now.net
}
first="MF0;ib-core-1:CS8500"
for layout in spines whole partly chips; do
  [[ -z $(directors "$layout") ]] || fail "directors, $layout: $(findings now.net)"
done
while IFS='|' read -r change expected; do
  read -ra words <<<"$change"
  [[ $(directors "${words[@]}") == "$expected" ]] || fail "directors, $change: $(findings now.net)"
done <<EOF
spines link:L02:S1|backplane $first/L02/U1 $first/S1/U1
partly link:L02:S3 link:L02:S3|backplane $first/L02/U1 $first/S3/U1
whole slow:L01:S3|wrong-speed $first/L01/U1 $first/S3/U1
spines link:leaf-03:L04|missing-cable MF0;ib-leaf-03:MQM8700/U1 $first/L04/U1
spines board:S1|absent-switch $first/S1/U1 -
spines board:S2|absent-switch $first/S2/U1 -
spines board:S4|absent-switch $first/S4/U1 -
spines board:L01|absent-switch $first/L01/U1 -
spines board:L03|absent-switch $first/L03/U1 -
chips board:S3|absent-switch $first/S3/U1 -
whole board:L03|
EOF
directors spines link:L02:S1 link:L02:S1 link:L03:S2 >/dev/null
"$program" audit now.net --json --quiet >out.json
"$program" audit now.net --quiet >out
python3 - <<'PY' || fail "counts of directors: $(head -c 600 out)"
import json
audit = json.load(open("out.json"))["audit"]
got = [audit[k] for k in ("switches", "directors", "chips", "inside_links", "missing_inside_links", "cables")]
assert got == [36, 2, 24, 189, 3, 384], got
assert all(f["cables"] == 0 for f in audit["findings"])
assert "24 of the switches are chips of 2 directors: 189 of 192 links inside are" in open("out").read()
PY
cp now.net today.net && directors spines >/dev/null
"$program" audit today.net --against now.net --json --quiet >out.json
python3 -c 'import json; assert [f["finding"] for f in json.load(open("out.json"))["audit"]["findings"]] == 3 * ["backplane"]' || fail "links inside, against yesterday"
"$program" cost "installed:$PWD/now.net" >out && grep -q 'link 200 Gb/s inside a switch *192 *\$0.00' out || fail "links inside a director cost something: $(cat out)"
"$program" import now.net --quiet >out && tr -s ' \n' ' ' <out | grep -qF '24 of the switches are chips of 2 directors' || fail "import of directors: $(cat out)"
exit $((failures > 0))
