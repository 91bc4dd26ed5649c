#!/usr/bin/env bash
# Installed fabrics: perfect ones give no finding, broken ones the one that was made, the real one of the samples those
# that are known of it; malformed files say where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

findings() { # findings FILE [OPTION...]: "KIND NODE" a line
  "$program" audit "$@" --json --quiet >audit.json || { fail "audit $*"; return; }
  $python -c 'import json
for f in json.load(open("audit.json"))["audit"]["findings"]: print(f["finding"], f.get("node", ""), f.get("other_node", ""))'
}

# --- perfect ---
for design in rail-spine:gpus=256,radix=32 clos:gpus=128,radix=16,gpus-per-server=4 fat-tree:k=8 \
  rail-only:gpus=256,radix=64 clos:gpus=256,radix=16,tiers=3 rail-spine:gpus=512,radix=32,taper=2 clos:gpus=64,radix=32,planes=2; do
  "$program" build "$design" --format ibnet --quiet >perfect.net
  [[ -z $(findings perfect.net) ]] || fail "$design: $(findings perfect.net | head -n 3)"
  "$program" build "$design" --json --quiet >build.json
  $python -c 'import json
a, b = json.load(open("audit.json"))["audit"], json.load(open("build.json"))["fabric"]["bisection_bps"]
assert (a["bisection_bps"], a["planned_bisection_bps"], a["lost_bisection_bps"]) == (b, b, 0), (a, b)' || fail "$design: bisection"
  [[ -z $(findings perfect.net --against "$design") ]] || fail "$design against itself: $(findings perfect.net --against "$design" | head -n 3)"
done

# --- spares and servers that are dealt unevenly: trunks differ on purpose, and a lost cable is found beside them ---
for design in clos:gpus=128,radix=16,spares={1,2} clos:gpus=256,radix={32,64},spares=1 clos:gpus=1024,radix=32,spares=5 fat-tree:gpus=200 \
  fat-tree:gpus=384,radix=16,spares=1 fat-tree:gpus=104,radix=32,spares=5 rail-spine:gpus=1024,radix=64,spares=2 rail-spine:gpus=256,radix=64,spares=3 \
  rail-only:gpus=512,radix=32,spares=3 rail-only:gpus=2048,radix=16,spares=3; do
  "$program" build "$design" --format cables --quiet >perfect.csv
  [[ -z $(findings perfect.csv) ]] || fail "$design: $(findings perfect.csv | head -n 3)"
  case $design in clos:gpus=128*=2) lost=leaf-3,.*spine-5 ;; rail-spine:gpus=1024*) lost=leaf-3,.*spine-5 ;; *) continue ;; esac
  sed "0,/^$lost,/{/^$lost,/d}" perfect.csv >lost.csv
  [[ $(findings lost.csv) == "missing-cable ${lost%%,*} ${lost##*\*}" ]] || fail "$design without a cable: $(findings lost.csv)"
done

# --- a spine without a free port lacks no cable ---
for design in clos:gpus=64,radix=16,taper=2,spares=1 clos:gpus=128,radix=16,taper=3,spares=1; do
  "$program" build "$design" --format ibnet --quiet >perfect.net
  [[ -z $(findings perfect.net) ]] || fail "$design: $(findings perfect.net | head -n 3)"
done
# --- two whole servers at each other's leaf are one finding, four are two; where all are mixed it is no order of names ---
"$program" build clos:gpus=512 --format ibnet --quiet >perfect.net
exchange() { sed -E "s/\"server-$1 /\"@ /; s/\"server-$2 /\"server-$1 /; s/\"@ /\"server-$2 /"; }
exchange 3 40 <perfect.net >swapped.net
[[ $(findings swapped.net) == "swapped-hosts server-3 server-40" ]] || fail "two whole servers: $(findings swapped.net)"
grep -q '"cables": 16\b' audit.json && grep -q 'names around server-3 are on leaf-0, those around server-40 on leaf-10' audit.json || fail "evidence: $(<audit.json)"
exchange 10 20 <swapped.net >other.net
[[ $(findings other.net | sort) == $'swapped-hosts server-10 server-20\nswapped-hosts server-3 server-40' ]] || fail "two pairs of servers: $(findings other.net)"
$python - >mixed.net <<'END'
import random, re
new = list(range(64))
random.Random(7).shuffle(new)
print(re.sub(r'"server-(\d+) ', lambda m: f'"server-{new[int(m[1])]} ', open("perfect.net").read()), end="")
END
[[ -z $(findings mixed.net) ]] || fail "names in no order: $(findings mixed.net | head -n 3)"
grep -q '"cables_out_of_order": 512,' audit.json && grep -q '"cables_out_of_port_order": 512,' audit.json || fail "no order is not said: $(grep out_of audit.json)"
"$program" audit mixed.net --quiet | tr -s ' \n' ' ' | grep -q 'names tell no order of hosts at 512 cables: hosts that have changed places do not show there' || fail "no order in words: $("$program" audit mixed.net --quiet)"

# --- two of one leaf group, of few servers: neighbours by name, and any; with a cable lost beside them ---
for design in rail-spine:gpus=64,radix=16 rail-spine:gpus=128,radix=32 fat-tree:gpus=64,xgft='3;4,4,4;1,2,2'; do
  "$program" build "$design" --format ibnet --quiet >perfect.net
  [[ -z $(findings perfect.net) ]] && grep -q '"cables_out_of_port_order": 0,' audit.json || fail "$design: $(grep out_of audit.json)"
  for two in '4 5' '2 6'; do
    exchange $two <perfect.net >swapped.net
    [[ $(findings swapped.net) == "swapped-hosts server-${two/ / server-}" ]] && grep -q '"cables": 16\b' audit.json || fail "$design, $two: $(findings swapped.net | head -n 3)"
  done
done
"$program" build rail-spine:gpus=128,radix=32 --format cables --quiet >perfect.csv
sed -E 's/^server-4 /@ /; s/^server-5 /server-4 /; s/^@ /server-5 /; /^server-5 HCA-3,/d' perfect.csv >swapped.csv
[[ $(findings swapped.csv | sort | tr '\n' ';') == "missing-port server-5 ;swapped-hosts server-4 server-5;" ]] || fail "two servers, one without a cable: $(findings swapped.csv)"

# --- one port of every leaf for all adapters of a server: whoever is at that port, or nobody, it is the wrong cable that is named ---
"$program" build rail-spine:gpus=512,radix=64 --format cables --quiet >perfect.csv
moved() { # moved SED-SCRIPT CABLES TEXT: one finding of swapped hosts, of so many cables, that says TEXT
  sed -E "$1" perfect.csv >moved.csv
  findings moved.csv >found
  $python - "$2" "$3" <<'END' || fail "$1: $(<found)"
import json, sys
found = [f for f in json.load(open("audit.json"))["audit"]["findings"] if f["finding"] == "swapped-hosts"]
assert len(found) == 1 and found[0]["cables"] == int(sys.argv[1]) and sys.argv[2] in found[0]["what"] + found[0]["work"], found
END
}
# 4 is unnamed at the port of 2, which is at that of 4; 2 is pulled, and 4 at its port; three in a round; two of each other
moved 's/^server-4 (HCA-1,)/@\1/; s/^server-2 (HCA-1,.*)$/unnamed-x \1/; s/^@/server-2 /' 2 "'server-2 HCA-1' belongs on leaf-0, port 3."
moved '/^server-4 HCA-1,/d; s/^server-2 (HCA-1,)/server-4 \1/' 1 "Move the cable: 'server-4 HCA-1' belongs on leaf-0, port 5."
moved 's/^server-3 (HCA-1,)/@\1/; s/^server-4 (HCA-1,)/server-3 \1/; s/^server-5 (HCA-1,)/server-4 \1/; s/^@/server-5 /' 3 "'server-3 HCA-1' on port 4, 'server-5 HCA-1' on port 6, 'server-4 HCA-1' on port 5."
moved 's/^server-3 (HCA-1,)/@\1/; s/^server-9 (HCA-1,)/server-3 \1/; s/^@/server-9 /' 2 "are at each other's port"

# --- as built: spares at ports that are left, groups of a dragonfly without hosts, pods with one server, numbers through all tiers ---
for design in fat-tree:k=8,spares=2 clos:gpus=180,radix=64,gpus-per-server=2,spares=2 dragonfly:gpus=96,radix=12,gpus-per-server=1 \
  dragonfly:gpus=440,radix=24,gpus-per-server=4 rail-spine:gpus=56,radix=8,tiers=3,spares=2 clos:gpus=170,radix=16,gpus-per-server=2,taper=1/2,pod=8; do
  for format in cables simai; do
    "$program" build "$design" --format $format --quiet >perfect.$format 2>err || continue # SimAI has no servers of one GPU
    [[ -z $(findings perfect.$format | grep -v ^single-point) ]] || fail "$design as $format: $(findings perfect.$format | head -n 3)"
  done
done
"$program" build clos:gpus=81,radix=8,gpus-per-server=1,spares=3 --format slurm-tree --quiet >perfect.conf
[[ -z $(findings perfect.conf) ]] || fail "a tree that skips a tier: $(findings perfect.conf)"
code=0
"$program" audit perfect.conf --against clos:gpus=81,radix=8,gpus-per-server=1,spares=3 --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q '^fabriscope: perfect.conf: says who is below whom, and of no cable' err || fail "a tree against cables: $code $(<err)"

# two servers of a rail fabric that have changed places are one finding, at neighbouring leaves and far ones, in any order of
# names and ports; the search ends, as each exchange leaves fewer hosts out of order
places() { # places DESIGN A B [AWK]: one exchange in a list of cables
  "$program" build "$1" --format cables --quiet | sed "s/server-$2 /@@ /; s/server-$3 /server-$2 /; s/@@ /server-$3 /" |
    awk -F, -v OFS=, "${4-1}" >swapped.csv
  timeout 60 "$program" audit swapped.csv --json --quiet >audit.json || { fail "$1 with $2 and $3 exchanged: exit code $?"; return; }
  $python - "server-$2" "server-$3" <<'END' || fail "$1 with $2 and $3 exchanged: $(<audit.json)"
import json, sys
found = json.load(open("audit.json"))["audit"]["findings"]
assert [(f["finding"], f["cables"], *sorted((f["node"], f["other_node"]))) for f in found] == [("swapped-hosts", 16, *sorted(sys.argv[1:]))]
END
}
for pair in 3:9 1:14 0:8 7:8 3:4; do
  places rail-spine:gpus=128,radix=16 ${pair/:/ }
done
for pair in 1:6 3:4 0:7 0:4; do
  places rail-spine:gpus=64,radix=8 ${pair/:/ }
done
places rail-spine:gpus=192,radix=16 3 12
places rail-spine:gpus=192,radix=16 0 23
places rail-spine:gpus=1024,radix=32 3 92
# ports of leaves that follow no names
places rail-spine:gpus=192,radix=16 3 12 '$3 ~ /^leaf/ && $4 < 9 {$4 = 1 + ($4 * 5 + $3) % 8} 1'
# many hosts at the places of others are an order of their own: it takes no longer than the names
"$program" build rail-spine:gpus=16384,radix=64 --format cables --quiet >perfect.csv
$python - <<'END'
import re
hosts = list(range(2048))
for k in range(38):
    a, b = 5 + 23 * k, 2040 - 29 * k
    hosts[a], hosts[b] = hosts[b], hosts[a]
with open("perfect.csv") as old, open("swapped.csv", "w") as new:
    new.writelines(re.sub(r"^server-(\d+) ", lambda m: f"server-{hosts[int(m[1])]} ", line) for line in old)
END
timeout 60 "$program" audit swapped.csv --json --quiet >audit.json || fail "38 pairs among 2,048 servers: exit code $?"
[[ $(grep -c '"cables": 16,' audit.json) -eq 38 ]] || fail "38 pairs among 2,048 servers: $(grep -c '"cables": 16,' audit.json) found"

# --- one box all of whose cables are slow is told once; two of them are another type ---
"$program" build rail-spine:gpus=128,radix=32 --format cables --quiet >perfect.csv
for box in leaf-0:'^leaf-0,[0-9]+,spine':16 server-3:'^server-3 ':8 spine-0:',spine-0,':32; do
  IFS=: read -r name lines n <<<"$box"
  sed -E "/$lines/s/400Gb/100Gb/" perfect.csv >slow.csv
  [[ $(findings slow.csv) == "wrong-speed $name " ]] || fail "all cables of $name: $(findings slow.csv)"
  grep -q "\"cables\": $n\b" audit.json || fail "all $n cables of $name: $(<audit.json)"
done
sed -E '/^server-[34] /s/400Gb/100Gb/' perfect.csv >slow.csv
[[ -z $(findings slow.csv) ]] || fail "two servers of another type: $(findings slow.csv)"

# --- broken in one place ---
"$program" build rail-spine:gpus=256,radix=32 --format ibnet --quiet >perfect.net
mkdir cases
$python "$root/tests/cli/audit_cases.py" perfect.net cases
for case in cases/*.net; do
  name=$(basename "$case" .net)
  findings "$case" >found
  $python - "$name" <<'END' || fail "$name: $(<found)"
import json, sys
wanted = json.load(open(f"cases/{sys.argv[1]}.json"))
found = json.load(open("audit.json"))["audit"]["findings"]
same = [f for f in found if all(f.get(k) == v for k, v in wanted.items())]
assert len(same) == 1, wanted
others = [f for f in found if f is not same[0]]
# what goes with a leaf: nothing else where a cable, a speed, a swap was broken
assert not others, others
END
done

# --- bisection: as networkx counts it ---
proven=0
for design in rail-spine:gpus=128,radix=32,taper=2 rail-spine:gpus=512,radix=32 clos:gpus=64,radix=16,gpus-per-server=4,taper=3 \
  clos:gpus=64,radix=32,gpus-per-server=4,planes=2; do
  rm -rf lost && mkdir lost
  "$program" build "$design" --format ibnet --quiet >perfect.net
  "$program" build "$design" --json --quiet >build.json
  $python "$root/tests/cli/bisection_cases.py" perfect.net lost
  for case in lost/*.net; do
    "$program" audit "$case" --against "$design" --json --quiet >"${case%.net}.plan.out" || fail "$case against $design"
    "$program" audit "$case" --json --quiet >"${case%.net}.alone.out" || fail "$case of $design"
  done
  $python - >seen <<'END' || fail "bisection of $design"
import json, pathlib
built = json.load(open("build.json"))["fabric"]["bisection_bps"]
proven = 0
for path in sorted(pathlib.Path("lost").glob("*.json")):
    wanted = json.load(open(path))
    a = json.load(open(path.with_suffix(".out")))["audit"]
    if "planned_bisection_bps" in wanted:
        assert wanted["planned_bisection_bps"] == built, built
        lost = wanted["lost_bisection_bps"] = built - wanted["bisection_bps"]
        assert abs(a["lost_bisection_ratio"] - lost / built) < 1e-12, path
        proven += path.stem.endswith(".alone") and lost > 0
    assert {key: a.get(key) for key in wanted} == wanted, (path, wanted, a.get("bisection_bps"), a.get("planned_bisection_bps"))
print(proven)
END
  proven=$((proven + $(<seen)))
done
[[ $proven -ge 10 ]] || fail "only $proven losses are seen without a plan"
# what nothing tells is not guessed
refuse_to_guess() { # refuse_to_guess DESIGN SWITCH TEXT
  without "$1" "$2"
  "$program" audit broken.net --quiet >out
  grep -q "^absent-switch" <(sed 's/^ *//' out) && grep -qF "what is lost is not known: $3" <(tr -s ' \n' ' ' <out) || fail "$1 without $2: $(<out)"
}
without() { # without DESIGN SWITCH: broken.net
  "$program" build "$1" --format ibnet --quiet >perfect.net
  $python - "$2" >broken.net <<'END'
import re, sys
text = open("perfect.net").read()
name = re.search(rf'^Switch.*?"(S-[^"]*)".*"{sys.argv[1]}"', text, re.M).group(1)
kept = [r for r in text.split("\n\n") if not re.search(rf'^Switch\s+\d+ "{name}"', r, re.M)]
print("\n\n".join("\n".join(l for l in r.split("\n") if f'"{name}"' not in l) for r in kept))
END
}
# a core of three tiers is joined to one block of several, and that block has one core less than the others
without fat-tree:k=8 core-3
"$program" audit broken.net --quiet >out
grep -q 'bisection: 24 Tb/s of 25.6 Tb/s; lost 1.6 Tb/s' out || fail "fat-tree without core-3: $(<out)"
refuse_to_guess clos:gpus=256,radix=32,gpus-per-server=4 leaf-3 'nothing tells which hosts the absent leaf would serve'
printf 'A-node,A-port,Z-node,Z-port\nserver-0,1,leaf-0,1\nserver-1,1,leaf-0,2\n' >rateless.csv
"$program" audit rateless.csv --quiet | grep 'bisection: not known; the file: it has no rates' >/dev/null || fail "no rates"
printf 'A-node,A-port,Z-node,Z-port,rate\nrouter-0,1,router-1,1,400Gb/s\nrouter-1,2,router-2,1,400Gb/s\nrouter-2,2,router-0,2,400Gb/s\n' >routers.csv
"$program" audit routers.csv --quiet | grep 'bisection: not known; the file: ' >/dev/null || fail "routers alone"
"$program" build rail-spine:gpus=256,radix=32 --format ibnet --quiet >perfect.net

# --- against a plan ---
"$program" audit cases/missing.net --against rail-spine:gpus=256,radix=32 --json --quiet >audit.json
$python - <<'END' || fail "against a plan: a missing cable"
import json
wanted = json.load(open("cases/missing.json"))
found = json.load(open("audit.json"))["audit"]["findings"]
assert len(found) == 1 and all(found[0].get(k) == v for k, v in wanted.items() if k != "cables"), found
END
printf 'A-node,A-port,Z-node,Z-port,rate\nleaf-0,1,spine-0,1,400Gb/s\nleaf-1,1,spine-0,2,400Gb/s\nserver-0,1,leaf-0,2,400Gb/s\nserver-1,1,leaf-1,2,400Gb/s\n' >plan.csv
sed 's/spine-0,1,/spine-0,2,/;t;s/spine-0,2,/spine-0,1,/' plan.csv >swapped.csv
[[ $(findings swapped.csv --against plan.csv) == "crossed-uplinks leaf-0 leaf-1" ]] || fail "crossed: $(findings swapped.csv --against plan.csv)"
grep -v '^leaf-1' plan.csv >less.csv
[[ $(findings less.csv --against plan.csv | head -n 1) == "unreachable"* || $(findings less.csv --against plan.csv) == *"missing-cable leaf-1 spine-0"* ]] ||
  fail "missing: $(findings less.csv --against plan.csv)"
sed 's/400Gb/200 Gb/' plan.csv >half.csv # all of them, so that no cable differs from its peers
[[ $(findings half.csv --against plan.csv) == "wrong-speed  
wrong-speed  " ]] || fail "half the rate everywhere: $(findings half.csv --against plan.csv)"
[[ -z $(findings half.csv) ]] || fail "half the rate is no finding without a plan: $(findings half.csv)"
"$program" audit half.csv --against plan.csv --quiet | grep 'all 2 cables below tier 1 (of hosts) run at 200 Gb/s, planned at 400 Gb/s' >/dev/null ||
  fail "half the rate everywhere, in words"
sed '2s/400Gb/200Gb/' plan.csv >one.csv
[[ $(findings one.csv --against plan.csv) == "wrong-speed leaf-0 spine-0" ]] || fail "half the rate of one: $(findings one.csv --against plan.csv)"
# The same list as others write it: other columns, rates as transceivers are called.
sed '1s/.*/From,From port,To,To port,Speed/; s/400Gb.s/400G/' plan.csv >other.csv
[[ -z $(findings other.csv --against plan.csv) ]] || fail "from, to, 400G: $(findings other.csv --against plan.csv)"
code=0
sed 's/leaf/tor/g; s/spine/agg/g' plan.csv >named.csv
"$program" audit perfect.net --against named.csv --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q 'same names' err || fail "a plan of other names: $code $(<err)"

# --- the work order, and the schemas ---
"$program" audit cases/missing.net --format csv --quiet >order.csv
[[ $(wc -l <order.csv) -eq 2 && $(head -n 1 order.csv) == finding,damage_gbps,* ]] || fail "work order: $(<order.csv)"
"$program" schema result >result.schema.json
$python -c 'import json, jsonschema
jsonschema.validate(json.load(open("audit.json")), json.load(open("result.schema.json")))' || fail "JSON schema"
"$program" schema report >report.xsd
"$program" audit cases/missing.net --format xml --quiet >audit.xml
xmllint --noout --schema report.xsd audit.xml 2>err || fail "XML schema: $(<err)"

# --- lists of names ---
printf 'SwitchName=s0 Nodes=a[01-03,07],b\nSwitchName=s1 Nodes=c[1-2]x[0-1]\nSwitchName=top Switches=s[0-1]\n' >topology.conf
"$program" audit topology.conf --json --quiet >audit.json
$python -c 'import json
a = json.load(open("audit.json"))["audit"]
assert (a["hosts"], a["switches"], len(a["boundaries"])) == (9, 3, 2), a
assert "bisection_bps" not in a and "no cables" in a["bisection_unknown"], a' || fail "Slurm's names"

# --- malformed ---
refuse() { # refuse NAME PLACE TEXT
  local code=0
  "$program" audit "$1" --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] || fail "$1: exit code $code"
  grep -qE "^fabriscope: $1$2" err && grep -qE -e "$3" err || fail "$1: $(<err)"
}
head -c 3000 perfect.net >truncated.net
sed 's/"\[1\]/"[x]/' perfect.net | sed -n 1,30p >port.net
{ head -n 20 perfect.net; echo 'Switch 36 noquote'; } >header.net
{ head -n 20 perfect.net; echo '[1] "S-1"[1]'; } >early.net
printf 'A-node,A-port,Z-node,Z-port\na,1,b,1\na,1,c,1\n' >double.csv
printf 'A-node,A-port,Z-node,Z-port\na,1,b\n' >short.csv
printf 'A-node,A-port,Z-node,Z-port\n"a,1,b,1\n' >quote.csv
printf 'A-node,Z-node,rate\na,b,fast\n' >rate.csv
printf 'SwitchName=s0 Nodes=a[3-1]\n' >range.conf
printf 'SwitchName=s0 Nodes=a[1-\n' >bracket.conf
printf 'SwitchName=s0\n' >nothing.conf
printf 'SwitchName=s0 Nodes=a\nColour=red\n' >word.conf
head -c 4000 /dev/urandom >noise.bin
iconv -f UTF-8 -t UTF-16 perfect.net >utf16.net
refuse port.net ':[0-9]+:[0-9]+: ' 'port'
refuse header.net ':21:[0-9]+: ' 'quotes'
refuse double.csv ':3: ' 'two cables; line 2'
refuse short.csv ':2:1: ' '3 columns; the first line has 4'
refuse quote.csv ':2:1: ' 'not closed'
refuse rate.csv ':2:5: ' 'fast'
refuse range.conf ':1: ' "3-1.*range"
refuse bracket.conf ':1: ' 'not closed'
refuse nothing.conf ':1:[0-9]+: ' 'neither'
refuse word.conf ':2:1: ' 'Colour'
refuse noise.bin ':1: ' 'looks like none of'
refuse utf16.net ':1: ' 'UTF-16'
code=0
"$program" audit truncated.net --quiet >out 2>err || code=$?
[[ $code -eq 0 || $code -eq 3 ]] || fail "truncated: exit code $code"
sed 's/$/\r/' perfect.net >crlf.net
[[ -z $(findings crlf.net) ]] || fail "CRLF: $(findings crlf.net | head -n 3)"

# --- the real one ---
if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: the real fabric is skipped" >&2
else
  findings "$FABRISCOPE_SAMPLES/ibnetdiscover/topograph-dgx-ndr.out" >found
  $python - <<'END' || fail "the real fabric: $(<found)"
import json
a = json.load(open("audit.json"))["audit"]
assert a["aggregation_nodes"] == 40 and a["adapters"] == 542 and a["switches"] == 40
upper = a["boundaries"][1]
assert (upper["present_cables"], upper["planned_cables"]) == (532, 558), upper
assert (a["bisection_bps"], a["planned_bisection_bps"]) == (89.2e12, 96e12), a["bisection_bps"]
kinds = {}
for f in a["findings"]:
    kinds.setdefault(f["finding"], []).append(f)
assert set(kinds) == {"absent-switch", "missing-cable", "swapped-rails", "swapped-hosts", "absent-host"}, kinds.keys()
for pair in kinds["swapped-hosts"]:  # one column of ports alone is out of the order that all others of these hosts follow
    assert pair["cables"] == 2 and pair["damage_bps"] == 0 and pair["node"] == pair["other_node"], pair
assert sorted(f["what"][5:25] for f in kinds["swapped-hosts"]) == ["p1-dgx-01-c12 HCA-2'", "p1-dgx-01-c14 HCA-6'", "p1-dgx-06-c02 HCA-1'", "p1-dgx-06-c07 HCA-2'"]
for host, here, belongs in ("c02", "4", "2"), ("01-c12", "11", "12"), ("01-c14", "11", "14"):  # not who is there, at the port of its siblings
    unnamed, = [f for f in kinds["swapped-hosts"] if host in f["what"]]
    assert (unnamed["port"], unnamed["other_port"]) == (here, belongs) and f"port {belongs} of their leaves" in unnamed["what"], unnamed
assert (a["cables_out_of_order"], a["cables_out_of_port_order"]) == (76, 76), a
host, = kinds["absent-host"]  # eight of nine are there, and a port between those of c04 and c06 is free on all leaves
assert host["node"] == "b07-p1-dgx-07-c05" and host["is_choice"] and host["confidence"] > 0.9, host
assert [f["node"] for f in kinds["absent-switch"]] == ["IBLEAF-03-01"]
assert sum(f["cables"] for f in kinds["missing-cable"]) == 26
swap, = kinds["swapped-rails"]
assert "b08-p1-dgx-08-c01" in swap["what"] and {swap["port"], swap["other_port"]} == {"1"}, swap
assert "LEAF-04-08" in swap["node"] + swap["other_node"] and "LEAF-03-08" in swap["node"] + swap["other_node"]
END
  "$program" audit "$FABRISCOPE_SAMPLES/slurm-topology/leonardo_topo.txt" --json --quiet >audit.json
  $python -c 'import json
a = json.load(open("audit.json"))["audit"]
assert a["switches"] == 418 and a["hosts"] == 4992 + 32, a' || fail "Leonardo"
fi

# --- a drawing of boxes with long names shows of each what tells it from its neighbours, and where to walk to as a whole ---
"$program" build rail-spine:gpus=512,radix=16 --format ibnet --quiet |
  sed -E 's/"(leaf|spine)-([0-9]+)"/"MF0;A09-P1-IB\1-01-\2:MQM9701\/U1"/' >long.net
$python - <<'END'
import re
text = open("long.net").read()
records = text.split("\n\n")
one_end = re.compile(r'^\[\d+\]\t"S-[^\n]*IBspine[^\n]*\n', re.M)
lost = []
for i, record in enumerate(records):
    name = re.search(r'^Switch\s+\d+ "(S-\w+)".*IBleaf', record, re.M)
    cable = name and one_end.search(record)
    if cable and i % 9 == 0:
        records[i] = record.replace(cable[0], "", 1)
        port, far, far_port = re.match(r'\[(\d+)\]\t"(S-\w+)"\[(\d+)\]', cable[0]).groups()
        lost.append((far, f'[{far_port}]\t"{name[1]}"[{port}]'))
for far, begins in lost:
    for i, record in enumerate(records):
        if re.search(rf'^Switch\s+\d+ "{far}"', record, re.M):
            records[i] = "\n".join(l for l in record.split("\n") if not l.startswith(begins))
open("long.net", "w").write("\n\n".join(records))
END
drawn() { # drawn FILE: names in its boxes, and lines of what to do, beside the findings
  "$program" audit "$1" --export boxes.svg --force --json --quiet >audit.json 2>err || { fail "a drawing of $1: $(<err)"; return; }
  $python - <<'END' || fail "what is drawn of $1"
import json, re
import xml.etree.ElementTree as tree
space = "{http://www.w3.org/2000/svg}"
findings = json.load(open("audit.json"))["audit"]["findings"]
svg = tree.parse("boxes.svg").getroot()
rows = {}
for rect in svg.iter(f"{space}rect"):
    title = rect.find(f"{space}title")
    if title is not None:
        middle = float(rect.get("x")) + float(rect.get("width")) / 2, float(rect.get("y")) + float(rect.get("height")) / 2 + 4
        rows.setdefault(middle[1], []).append((middle[0], title.text.split("\n")[0]))
texts = [(float(t.get("x")), float(t.get("y")), t.text) for t in svg.iter(f"{space}text")]
longest = 0
for y, boxes in rows.items():
    shown = [text for x, name in boxes for tx, ty, text in texts if abs(tx - x) < 0.01 and abs(ty - y) < 0.01]
    assert len(shown) == len(set(shown)) == len(boxes), shown
    for text, (_, name) in zip(shown, boxes):
        head, _, tail = text.partition("…")
        own = re.escape(head) + ".*" + re.escape(tail)
        assert re.search(own, name) and (tail or not text.endswith("…")), (text, name)
    longest = max(longest, len(boxes))
assert longest > 3, rows
from_y = next(y for _, y, text in texts if text.startswith("Walk to"))
lines = [text for _, y, text in sorted(texts, key=lambda t: t[1]) if y > from_y and not text.startswith(("missing:", "wrong:", "a choice"))]
told = " ".join(lines)
works = {f["work"] for f in findings if not f["is_choice"]}
assert "…" not in told and sum(work in told for work in works) >= min(len(works), 4), told
END
}
drawn long.net
[[ -z ${FABRISCOPE_SAMPLES-} ]] || drawn "$FABRISCOPE_SAMPLES/ibnetdiscover/topograph-dgx-ndr.out"

# --- where faults hide what the rule was, how many cables there should be is not said ---
"$program" build preset:dgx-h100-superpod-1su --format cables --quiet >plan.csv
$python - <<'END'
rows = [line.rstrip("\n").split(",") for line in open("plan.csv")]
at = {tuple(r[:2]): r for r in rows}
for a, b in ((("leaf-7", "47"), ("leaf-3", "64")), (("leaf-0", "59"), ("leaf-2", "49"))): # cross-plugged
    at[a][2:4], at[b][2:4] = at[b][2:4], at[a][2:4]
missing = (("leaf-4", "35"), ("leaf-5", "56"), ("leaf-0", "47"))
open("hidden.csv", "w").writelines(",".join(r) + "\n" for r in rows if tuple(r[:2]) not in missing)
END
"$program" audit hidden.csv --quiet | tr -s ' \n' ' ' >out
grep -F 'leaf-spine: 253 cables; how many there should be no rule says: a plan does (--against)' out >/dev/null || fail "without a rule: $(<out)"
! grep -F 'leaf-spine: 253 of' out | grep -F '(100 %)' | grep -F 'leaf-spine: 253 of 253 cables (' || fail "no rule, and 100 %"
[[ $(findings hidden.csv --against plan.csv | wc -l) -ge 5 ]] || fail "a plan does not tell: $(findings hidden.csv --against plan.csv)"

# --- hosts that are exchanged stay where they are in both bisections without a plan, which is said; with one they count where
# they stand, as nothing is gained by them ---
"$program" build rail-spine:gpus=512,radix=32,taper=2 --format cables --quiet >plan.csv
$python - <<'END'
rows = [line.rstrip("\n").split(",") for line in open("plan.csv")]
at = {r[0]: r for r in rows}
for k in range(1, 9):
    a, b = at[f"server-3 HCA-{k}"], at[f"server-40 HCA-{k}"]
    a[2:4], b[2:4] = b[2:4], a[2:4]
open("now.csv", "w").writelines(",".join(r) + "\n" for r in rows)
END
says='both with the exchanged hosts where they are (--against a plan has them where they belong)'
"$program" audit now.csv --quiet | tr -s ' \n' ' ' >out
grep -F 'bisection: 57.6 Tb/s of 57.6 Tb/s,' out | grep -F "$says" >/dev/null || fail "exchanged hosts: $(<out)"
"$program" audit now.csv --against plan.csv --quiet | tr -s ' \n' ' ' >out
grep -F 'bisection: 51.2 Tb/s of 51.2 Tb/s,' out >/dev/null && ! grep -F "$says" out || fail "exchanged hosts, against a plan: $(<out)"
exit $((failures > 0))
