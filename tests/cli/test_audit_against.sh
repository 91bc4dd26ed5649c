#!/usr/bin/env bash
# Audits against what was there before: a file against itself has no finding, one absent switch is one finding, and boxes
# are the same by GUID, by a map of names, and by what is plugged where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

found() { # found FILE OTHER [OPTION...]: one finding a line
  local file=$1 other=$2
  shift 2
  "$program" audit "$file" --against "$other" "$@" --json --quiet >audit.json 2>err || { fail "audit $file --against $other: $(<err)"; return; }
  $python -c 'import json
a = json.load(open("audit.json"))["audit"]
assert all(f["confidence"] == 1 for f in a["findings"] if not f["is_choice"]) and a["cables_with_rule"] == a["cables"], a
for f in a["findings"]: print(*(f.get(k, "-") for k in ("finding", "node", "other_node", "cables")))'
}

# --- itself ---
n=0
for design in rail-spine:gpus=256,radix=32 clos:gpus=64,radix=32,gpus-per-server=4,planes=2 dragonfly:gpus=144,dragonfly=4,4,2,9 fat-tree:k=8; do
  for format in ibnet cables ptm graphml slurm-tree; do
    "$program" build "$design" --format $format --quiet >same.$format 2>err || continue
    n=$((n + 1))
    [[ -z $(found same.$format same.$format) ]] || fail "$design as $format against itself: $(found same.$format same.$format | head -n 3)"
  done
done
[[ $n -ge 12 ]] || fail "only $n files were compared with themselves"
if [[ -n ${FABRISCOPE_SAMPLES-} ]]; then
  for file in "$FABRISCOPE_SAMPLES"/{ibnetdiscover,ptm-dot,slurm-topology,simai-topo,topology-zoo}/* "$FABRISCOPE_SAMPLES"/htsim/*.topo; do
    "$program" audit "$file" --quiet >/dev/null 2>&1 || continue
    [[ -z $(found "$file" "$file") ]] || fail "$file against itself: $(found "$file" "$file" | head -n 3)"
  done
else
  echo "FABRISCOPE_SAMPLES is unset: the samples are skipped" >&2
fi

# --- one switch less ---
"$program" build clos:gpus=256,radix=16,gpus-per-server=4 --format ibnet --quiet >before.net
without() { # without SWITCH: its record, the cables to it, and hosts that have no other
  $python - "$1" <<'END'
import re, sys
text = open("before.net").read()
name = re.search(rf'^Switch.*?"(S-[^"]*)".*"{sys.argv[1]}"', text, re.M).group(1)
records = ["\n".join(l for l in r.split("\n") if not (l.startswith("[") and f'"{name}"' in l)) for r in text.split("\n\n")
           if not re.search(rf'^Switch\s+\d+ "{name}"', r, re.M)]
print("\n\n".join(r for r in records if not re.search(r'^Ca\s', r, re.M) or re.search(r"^\[", r, re.M)))
END
}
without spine-1 >after.net
[[ $(found after.net before.net) == "absent-switch spine-1 - 16" ]] || fail "one spine less: $(found after.net before.net | head -n 3)"
without leaf-5 >after.net
[[ $(found after.net before.net | grep -v ^unreachable) == "absent-switch leaf-5 - 16" ]] || fail "one leaf less: $(found after.net before.net | head -n 3)"
[[ $(found before.net after.net | head -n 1) == "extra-cable "* ]] || fail "one leaf more: $(found before.net after.net | head -n 3)"

# --- other names ---
sed -E 's/# "leaf-([0-9]+)"/# "tor\1"/; s/# "server-([0-9]+) HCA/# "n\1 HCA/' before.net >renamed.net
[[ -z $(found renamed.net before.net) ]] || fail "other names of the same GUIDs: $(found renamed.net before.net | head -n 3)"
"$program" build clos:gpus=256,radix=16,gpus-per-server=4 --format cables --quiet >names.csv
sed -E 's/leaf-([0-9]+)/tor\1/g; s/spine-([0-9]+)/agg\1/g; s/server-([0-9]+) HCA/n\1 HCA/g' names.csv >other.csv
[[ -z $(found other.csv names.csv) ]] || fail "other names at the same ports: $(found other.csv names.csv | head -n 3)"
sed '40d' other.csv >less.csv
[[ $(found less.csv names.csv | wc -l) -eq 1 ]] || fail "one cable less under other names: $(found less.csv names.csv | head -n 3)"
sed -nE 's/^(Switch|Ca).*"[SH]-([0-9a-f]+)".*# "(.*)".*/0x\2 "\3"/p' before.net >map
sed -E 's/# "[^"]*"/# "anonymous"/' before.net >nameless.net
[[ -z $(found nameless.net names.csv --node-name-map map) ]] || fail "with a map of names: $(found nameless.net names.csv --node-name-map map | head -n 3)"
code=0
printf '0x1 "a"\nred "b"\n' >bad.map
"$program" audit before.net --node-name-map bad.map --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q 'bad.map:2:1: .*is no GUID' err || fail "a map that is none: $code $(<err)"
sed 's/"leaf-3"/"leaf-03"/' before.net >one.net
"$program" audit one.net --against before.net --quiet | tr -s ' \n' ' ' | grep "note: 1 box has another name than in the plan, by GUID or by what is plugged where: 0x[0-9a-f]* is 'leaf-03', in the plan 'leaf-3'" >/dev/null ||
  fail "a name that changed: $("$program" audit one.net --against before.net --quiet)"

# --- every file of wiring, in the words of each ---
for design in rail-spine:gpus=64,radix=16 clos:gpus=32,radix=16,gpus-per-server=4,planes=2; do
  rm -rf wiring && mkdir -p wiring/sonic.box wiring/frr.box
  for format in cables ptm containerlab netbox-csv ibnet; do
    "$program" build "$design" --format $format --quiet >wiring/$format
  done
  "$program" build "$design" --format sonic --quiet | tar x -C wiring/sonic.box && mv wiring/sonic.box/config_db wiring/sonic
  "$program" build "$design" --format frr --quiet | tar x -C wiring/frr.box && mv wiring/frr.box/fabric.clab.yml wiring/frr
  rm -r wiring/*.box
  for file in wiring/*; do
    [[ -z $(found "$file" "$design") ]] || fail "$file against $design: $(found "$file" "$design" | head -n 3)"
    for plan in wiring/*; do
      [[ -z $(found "$file" "$plan") ]] || fail "$file against $plan: $(found "$file" "$plan" | head -n 3)"
    done
  done
  for format in cables ptm containerlab netbox-csv; do # a cable of a host, and one between switches
    for cable in 'server-3[^0-9].*leaf-2[^0-9]' 'leaf-1[^0-9].*spine-1[^0-9]'; do
      line=$(grep -nE "$cable" wiring/$format | head -n 1 | cut -d: -f1) || continue
      sed "${line}d" wiring/$format >less
      for plan in "$design" wiring/{cables,ptm,sonic}; do
        one=$(found less "$plan")
        [[ $one == missing-*\ 1 && $one != *$'\n'* ]] || fail "$format without line $line of $design against $plan: $one"
      done
    done
  done
done

# --- what is exchanged is one finding ---
"$program" build rail-spine:gpus=64,radix=16 --format cables --quiet >plan.csv
"$program" build rail-spine:gpus=64,radix=16 --format ibnet --quiet >plan.net
swap() { sed -E "s/$2/@@/; s/$3/$2/; s/@@/$3/" "$1"; }
exchanged() { [[ $(found $1 $2) == "$3" ]] || fail "$4: $(found $1 $2 | head -n 3)"; }
swap plan.csv server-2 server-5 >now.csv
exchanged now.csv plan.csv "swapped-hosts server-2 server-5 16" "two hosts by name"
grep -q '"work": "Exchange the two boxes, or their names, or their 16 cables."' audit.json || fail "two hosts: $(<audit.json)"
# more than two, each where the next belongs: one finding with all names, and the pair beside them its own
$python - >now.csv <<'END'
import re
ring = {"2": "5", "5": "6", "6": "2", "1": "4", "4": "1"}
print(re.sub(r"server-(\d+)(?=[ /])", lambda m: "server-" + ring.get(m[1], m[1]), open("plan.csv").read()), end="")
END
exchanged now.csv plan.csv $'swapped-hosts server-2 server-5 24\nswapped-hosts server-1 server-4 16' "a ring of three hosts and a pair"
grep -q "server-5 where server-2 belongs, server-6 where server-5 belongs, server-2 where server-6 belongs" audit.json || fail "who stands where"
sed -E '/HCA-[23],/{s/server-2 /@@ /; s/server-5 /server-2 /; s/@@ /server-5 /}' plan.csv >now.csv
exchanged now.csv plan.csv "swapped-hosts server-2 server-5 4" "two rails of two hosts"
grep -q '"work": "Exchange these 4 cables alone: not all of both boxes."' audit.json || fail "two rails of two hosts: $(<audit.json)"
swap plan.csv 'leaf-0,10,' 'leaf-1,11,' >now.csv
exchanged now.csv plan.csv "crossed-uplinks leaf-0 leaf-1 2" "two uplinks"
swap plan.csv 'server-3 HCA-2,' 'server-3 HCA-5,' >now.csv
exchanged now.csv plan.csv "swapped-rails leaf-1 leaf-4 2" "two rails"
$python - >now.net <<'END'
import re
text = open("plan.net").read() # the adapters of two servers, whose descriptions stay where they were
for x in range(8):
    a, b = (f"02fab2000000{server * 8 + x:02x}00" for server in (2, 5))
    text = re.sub(f"{a[1:-2]}|{b[1:-2]}", lambda m: b[1:-2] if m[0] == a[1:-2] else a[1:-2], text)
print(text, end="")
END
exchanged now.net plan.net "swapped-hosts server-2 server-5 16" "two hosts by GUID"
# adapters that no name tells apart: by the GUIDs of the design they are its servers, and by those of others it is said
nameless='s/(^Ca.*# )".*"/\1"MT4129 ConnectX7   Mellanox Technologies"/; s/(^\[.*"H-.*# )"[^"]*"/\1"MT4129 ConnectX7   Mellanox Technologies"/'
sed -E "$nameless" plan.net >nameless.net
sed -E "$nameless" now.net >now-nameless.net
design=rail-spine:gpus=64,radix=16
lost() { "$program" audit "$@" --quiet | tr -s ' \n' ' ' >out; }
exchanged nameless.net $design "" "adapters without names"
lost nameless.net --against $design
grep -F 'bisection: 12.8 Tb/s of 12.8 Tb/s,' out >/dev/null && ! grep -F 'plugged where alone' out || fail "all cables are there: $(<out)"
grep -F 'no name of an adapter tells which server it is in' out >/dev/null || fail "servers of one adapter: $(<out)"
exchanged now-nameless.net $design "swapped-hosts server-2 server-5 16" "two hosts without names"
sed 's/2fab/2fac/g' now-nameless.net >others.net
exchanged others.net $design "" "GUIDs of others"
lost others.net --against $design
grep -F 'bisection: 12.8 Tb/s of 12.8 Tb/s,' out >/dev/null &&
  grep -F '64 hosts of the plan are known by what is plugged where alone: hosts that have changed places do not show' out >/dev/null ||
  fail "hosts by place: $(<out)"
lost plan.net --against $design
! grep -E 'plugged where alone|no name of an adapter' out || fail "hosts by name: $(<out)"
"$program" import nameless.net --quiet | tr -s ' \n' ' ' | grep -F 'each adapter is a server of its own' >/dev/null || fail "import of adapters without names"
sed -E '/^server-/{s/,leaf-2,/,@,/; s/,leaf-5,/,leaf-2,/; s/,@,/,leaf-5,/}' plan.csv >now.csv
exchanged now.csv plan.csv "crossed-uplinks leaf-2 leaf-5 16" "all cables to hosts of two leaves"
grep -q '"work": "Exchange these 16 cables, or the two boxes with their uplinks."' audit.json || fail "two leaves: $(<audit.json)"
sed '/^server-3 HCA-1,/d' now.csv >less.csv
exchanged less.csv plan.csv $'crossed-uplinks leaf-2 leaf-5 16\nmissing-port server-3 HCA-1 - 1' "two leaves and a lost adapter"
# --- a server that is not there, or not planned, is one finding ---
sed '/^server-3 /d' plan.csv >now.csv
exchanged now.csv plan.csv "missing-port server-3 - 8" "a server that is not there"
exchanged plan.csv now.csv "extra-cable server-3 - 8" "a server that is not planned"
# --- adapters that the plan calls otherwise are those in their slots: what is exchanged is found all the same ---
tiers=clos:gpus=256,radix=32,pod=64,tiers=3,taper=1/4
for plan in rail-spine:gpus=64,radix=16 $tiers; do
  "$program" build $plan --patch patch.csv --force --quiet >/dev/null
  sed -E 's#(server-[0-9]+)/nic-#\1 mlx5_#' patch.csv >mlx.csv
  for list in patch mlx; do
    exchanged $list.csv $plan "" "other adapters ($list) of $plan"
    $python - $list.csv >now.csv <<'END'
import re, sys
print(re.sub("server-(2|5)(?=[ /])", lambda m: "server-5" if m[1] == "2" else "server-2", open(sys.argv[1]).read()), end="")
END
    exchanged now.csv $plan "swapped-hosts server-2 server-5 16" "two hosts, other adapters ($list) of $plan"
    $python - $list.csv >now.csv <<'END'
import re, sys
print(re.sub("(server-3(?:/nic-| mlx5_))(1|4),", lambda m: m[1] + ("4," if m[2] == "1" else "1,"), open(sys.argv[1]).read()), end="")
END
    [[ $(found now.csv $plan) == swapped-rails\ leaf-*\ leaf-*\ 2 ]] || fail "two adapters ($list) of $plan: $(found now.csv $plan)"
  done
done
# servers that count otherwise are who they are by their cables
sed -E 's#server-([0-9]+)/nic#server-X\1/nic#' patch.csv | $python -c 'import re, sys
print(re.sub(r"server-X(\d+)", lambda m: f"server-{(int(m[1]) + 1) % 32}", sys.stdin.read()), end="")' >now.csv
exchanged now.csv $tiers "" "servers that count from another one"

# --- servers by other names: the same halves of them, so that the bisection is what it was ---
"$program" build clos:gpus=128,radix=16,taper=2 --format ibnet --quiet >plan.net
for change in 's/"server-/"SERVER-/' 's/"server-3 /"login /' 's/"server-(1?[0-9]) /"n\1x /'; do
  sed -E "$change" plan.net >now.net
  [[ -z $(found now.net plan.net) ]] || fail "$change: $(found now.net plan.net | head -n 3)"
  grep -q '"lost_bisection_bps": 0\b' audit.json || fail "$change: a bisection is lost by names: $(grep bisection audit.json)"
done

# --- what is elsewhere gains no bisection: exchanged hosts count where they stand, and what is more says why ---
bisection() { # bisection WHAT PRESENT PLANNED TEXT: of now.csv
  "$program" audit now.csv --against $tapered --json --quiet >audit.json
  jq -e --argjson is "$2" --argjson was "$3" '.audit | .bisection_bps == $is and .planned_bisection_bps == $was' audit.json >/dev/null ||
    fail "$1: $(grep bisection audit.json)"
  "$program" audit now.csv --against $tapered --quiet | tr -s ' \n' ' ' | grep -F -- "$4" >/dev/null || fail "$1 is not told"
}
tapered=clos:gpus=256,radix=32,taper=2
"$program" build $tapered --patch patch.csv --force --quiet >/dev/null
sed -E 's#server-3/#@/#; s#server-20/#server-3/#; s#@/#server-20/#' patch.csv >now.csv
bisection "hosts of both halves that are exchanged" 25.6e12 25.6e12 "25.6 Tb/s of 25.6 Tb/s, between the halves of all servers by name, incomplete ones too; the exchanged hosts count where they stand"
sed -i '/,leaf-3,\(17\|18\),/d' now.csv # of 8 uplinks that are as many as 16 NICs need two times over
bisection "an exchange and two lost uplinks" 24.8e12 25.6e12 "lost 800 Gb/s"
sed -E '/server-(0|24).nic-[0-3],/{s#,leaf-0,#,@,#; s#,leaf-12,#,leaf-0,#; s#,@,#,leaf-12,#}' patch.csv >now.csv
bisection "half of the cables of two hosts" 28.8e12 25.6e12 "28.8 Tb/s of 25.6 Tb/s, between the halves of all servers by name, incomplete ones too; more than planned: cables that are elsewhere than planned"
sed -E 's#,leaf-0,#,@,#; s#,leaf-12,#,leaf-0,#; s#,@,#,leaf-12,#' patch.csv >now.csv
bisection "two leaves with their uplinks" 25.6e12 25.6e12 "they are exchanged: 48 of their cables, all 32 to hosts among them"
# --- cables that are there are those that are planned and those that are not ---
tapered=clos:gpus=256,radix=64,taper=2
"$program" build $tapered --patch patch.csv --force --quiet >/dev/null
{ cat patch.csv; echo "x1,,leaf-0,61,,spine-3,61,leaf-spine,400Gb/s,AOC,7"; } >now.csv
"$program" audit now.csv --against $tapered --quiet >out
grep -F 'leaf-spine: 128 of 128 cables (100 %), and 1 that is not planned' out >/dev/null && grep -F 'nic-leaf: 256 of 256 cables (100 %)' out >/dev/null &&
  grep -F 'rules speak of 385 of 385 cables' out >/dev/null || fail "a cable that is not planned: $(head -6 out)"
exit $((failures > 0))
