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

# --- uplinks that are dealt to leaves until the spines are full: three to most leaves, four to the last two ---
"$program" build clos:gpus=64,radix=16,taper=2,spares=2 --format cables --quiet >dealt.csv
[[ -z $(found dealt.csv --threads 1) ]] || fail "uplinks that are dealt: $(found dealt.csv)"
{ cat dealt.csv && echo 'leaf-9,99,spine-1,99,400Gb/s,6m'; } >added.csv # then the spines are uneven
[[ $(found added.csv) == *"extra-cable leaf-9 "* ]] || fail "a cable too many: $(found added.csv)"

# --- servers of which a part hangs on the next leaf: each leaf is filled before it, or spares hang on all ---
for design in fat-tree:gpus=128,radix=64,taper=4 fat-tree:gpus=256,radix=64,taper=1.5,spares=1 fat-tree:gpus=136,radix=32,taper=4,tiers=3; do
  "$program" build $design --format ibnet --quiet >filled.net
  [[ -z $(found filled.net | grep -v '^single-point') ]] || fail "$design: $(found filled.net | head -n 3)"
done
"$program" build fat-tree:gpus=256,radix=64,taper=1.5 --format cables --quiet | sed '/^server-2 HCA-3,/s/leaf-0,[0-9]*/leaf-5,99/' >moved.csv
[[ $(found moved.csv) == *"wrong-leaf server-2 HCA-3 "* ]] || fail "an adapter on another leaf: $(found moved.csv)"

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
# --- several uplinks of one switch, a half of the leaves, a file that ends early ---
"$program" build rail-spine:gpus=64,radix=16 --format cables --quiet >whole.csv
uplinks_of() { grep -n "^leaf-$1,[0-9]*,spine-" whole.csv | cut -d : -f 1; } # uplinks_of LEAF: lines
lose() { # lose TEXT LINE...: what is found, and both counts of the upper cables and the bisection, without these lines
  local text=$1
  shift
  sed "$(printf '%sd;' "$@")" whole.csv >now.csv
  "$program" audit now.csv --json --quiet | $python -c 'import json, sys
a = json.load(sys.stdin)["audit"]
f = a["findings"]
b = a["boundaries"][1]
print(",".join(sorted({x["finding"] for x in f})), ",".join(sorted({x["node"] for x in f})), sum(x["cables"] for x in f), b["present_cables"], b["planned_cables"], min([x["confidence"] for x in f]) < 0.6)' >out
  [[ $(<out) == "$text" ]] || fail "lost uplinks: $(<out), not $text"
}
mapfile -t up < <(uplinks_of 5)
for n in 1 2 3 4 5 6 7 8; do
  lose "missing-cable leaf-5 $n $((64 - n)) 64 False" "${up[@]:0:n}"
done
mapfile -t up < <(uplinks_of 5 | sed '2d;6d;8d' && grep -n ',spine-1,' whole.csv | cut -d : -f 1) # with an absent spine
lose 'absent-switch,missing-cable leaf-5,spine-1 19 43 48 False' "${up[@]}"
mapfile -t up < <(uplinks_of '[4-7]')
lose 'missing-cable leaf-4,leaf-5,leaf-6,leaf-7 32 32 64 True' "${up[@]}"
mapfile -t up < <(uplinks_of '[3-7]' | tail -n 38)
lose 'missing-cable leaf-3,leaf-4,leaf-5,leaf-6,leaf-7 38 26 64 True' "${up[@]}"
"$program" build clos:gpus=256,radix=32,taper=2 --format cables --quiet >whole.csv
mapfile -t up < <(uplinks_of 5)
lose 'missing-cable leaf-5 3 125 128 False' "${up[@]:0:3}"
"$program" audit now.csv --quiet >out && grep -qF 'bisection: 24.4 Tb/s of 25.6 Tb/s; lost 1.2 Tb/s' out || fail "bisection without three uplinks: $(<out)"

# three leaves of seven lack one each, at three spines of four: which then have as many cables as one another
"$program" build clos:gpus=104,radix=32 --format cables --quiet >whole.csv
mapfile -t up < <(grep -nE '^leaf-(4,32|2,17|5,31),' whole.csv | cut -d : -f 1)
lose 'missing-cable leaf-2,leaf-4,leaf-5 3 109 112 False' "${up[@]}"

# --- crossed cables: the ports that break the pattern ---
"$program" build rail-spine:gpus=64,radix=16 --format cables --quiet >whole.csv
sed -E 's/^leaf-0,10,spine-1,/leaf-0,10,SPINE-2,/; s/^leaf-1,11,spine-2,/leaf-1,11,spine-1,/; s/SPINE/spine/' whole.csv |
  awk -F, -v OFS=, '$1 == "leaf-0" && $2 == 10 { $4 = 3 } $1 == "leaf-1" && $2 == 11 { $4 = 1 } { print }' >now.csv
[[ $(found now.csv) == 'crossed-uplinks leaf-0 10 leaf-1 11 2' ]] || fail "crossed: $(found now.csv)"
awk -F, -v OFS=, 'NR > 1 && $3 ~ /^spine/ { n = substr($1, 6); $2 = 9 + ($2 * 3 + n * 5) % 8 } { print }' now.csv >mixed.csv
[[ $(found mixed.csv) == 'crossed-uplinks leaf-0  leaf-1  2' ]] || [[ $(found mixed.csv) == 'crossed-uplinks leaf-0 - leaf-1 - 2' ]] ||
  fail "crossed, and no pattern of ports: $(found mixed.csv)"
"$program" audit mixed.csv --quiet | tr -s ' \n' ' ' | grep -qF 'any may be the one' || fail "crossed, and no pattern of ports: not said"

# --- networks of sites have no tiers; nodes without records are one message ---
{
  echo 'A-node,A-port,Z-node,Z-port'
  for ((i = 0; i < 16; i++)); do echo "site-$i,1,site-$(((i + 1) % 16)),2"; done
  printf 'server-0,1,site-0,3\nserver-1,1,site-1,3\nsite-2,4,site-9,4\nsite-4,4,site-12,4\n'
} >sites.csv
[[ -z $(found sites.csv) ]] || fail "a network of sites: $(found sites.csv)"
"$program" audit sites.csv --quiet | grep -qF 'No regular structure was found' || fail "a network of sites has a structure"
awk -v RS= -v ORS='\n\n' 'NR < 40' perfect.net >cut.net
[[ $(found cut.net | cut -d ' ' -f 1 | sort | uniq -c | tr -s ' ') == ' 1 contradiction' ]] || fail "a file that is cut: $(found cut.net | head -n 4)"
"$program" audit cut.net --quiet | tr -s ' \n' ' ' | grep -qF 'what is lost is not known: the file is cut' || fail "bisection of a file that is cut"
echo 'A-node,A-port,Z-node,Z-port' >head.csv
for file in head.csv sites.csv; do
  grep -q 'hosts-per-switch' <("$program" audit "$file" --quiet) && fail "$file: an option that audit has not"
done
# A host that is missing by its number alone: where its number is left out once, and its leaf has room. Numbers that
# leave out more, a leaf that is full without it, and numbers that nothing stands on both sides of say nothing.
"$program" build clos:gpus=1024,radix=64 --export hosts.cables.csv --quiet >out
python3 - <<'PYTHON'
import re
lines = open("hosts.cables.csv").read().splitlines()
def write(name, keep=lambda n: True, label=lambda n: f"gpu-{n + 1:03}"):
    with open(name, "w") as out:
        for line in lines:
            n = re.match(r"server-(\d+) ", line)
            if n is None or keep(int(n[1])):
                print(line if n is None else re.sub(r"^server-\d+", label(int(n[1])), line), file=out)
write("all.csv")
write("gap.csv", lambda n: n + 1 != 57)
write("last.csv", lambda n: n + 1 != 128)
write("rows.csv", lambda n: n + 1 != 57, lambda n: f"gpu-{n + 1 + n // 8}")  # every eighth number is left out
write("full.csv", lambda n: True, lambda n: f"gpu-{n + 1 + (n >= 56):03}")   # one is left out, no cable is
write("escape.csv", label=lambda n: f"gpu-\x1f{n + 1:03}")
PYTHON
sed -i '/^gpu-.003 HCA-1,/ s/leaf-0,17/leaf-9,1/; /^gpu-.037 HCA-1,/ s/leaf-9,1,/leaf-0,17,/' escape.csv
for file in all last rows full; do
  ! found $file.csv | grep absent-host || fail "$file.csv: a host that was never there"
done
[[ $(found gap.csv) == "absent-host gpu-057 "* ]] || fail "gpu-057 is missing: $(found gap.csv)"
# Of few hosts: between their ports one is free on every leaf, as between no others, or a leaf has none. A host at an end
# leaves no gap of numbers; where the ports are closed up, or every second one is free, a number says nothing.
for design in clos:gpus=64 clos:gpus=64,radix=16 rail-spine:gpus=64 rail-only:gpus=64 fat-tree:gpus=64; do
  "$program" build "$design" --format cables --quiet >small.csv
  for host in 1 3 6; do
    sed "/^server-$host /d" small.csv >gone.csv
    leaf=leaf-0
    [[ $design == *radix=16 ]] && leaf=leaf-$host
    [[ $(found gone.csv) == "absent-host server-$host - $leaf - "* ]] || fail "$design without server-$host: $(found gone.csv)"
  done
  for host in 0 7; do
    sed "/^server-$host /d" small.csv >gone.csv
    [[ -z $(found gone.csv) ]] || fail "$design without server-$host: $(found gone.csv)"
  done
  sed -E 's/^server-7 /server-8 /; s/^server-6 /server-7 /; s/^server-5 /server-6 /; s/^server-4 /server-5 /; s/^server-3 /server-4 /' small.csv >renamed.csv
  [[ -z $(found renamed.csv) ]] || fail "$design with other numbers: $(found renamed.csv)"
done
"$program" audit gap.csv --quiet | grep '0 findings, and 1 more that may be meant so' >/dev/null || fail "a gap of names is a fault"
"$program" audit escape.csv --json --quiet >escape.json
python3 - <<'PYTHON' || fail "a separator in a name cuts a text: $(<escape.json)"
import json
finding, = json.load(open("escape.json"))["audit"]["findings"]
assert "each other's port" in finding["what"] and finding["work"].startswith("Exchange the two cables"), finding
PYTHON
printf 'Ca\t1 "H-0000000000000001"\t\t# "gpu-1 HCA-1"\n' >lone.net
"$program" audit lone.net --quiet >out
grep -z 'This is no network: no cable joins its 1 adapter and 0 switches' out >/dev/null || fail "a lone adapter: $(<out)"
! grep 'Nothing departs' out || fail "nothing departs from no network"
exit $((failures > 0))
