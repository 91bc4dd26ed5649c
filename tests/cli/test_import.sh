#!/usr/bin/env bash
# Installed fabrics as designs: ours exported and read back give the same figures, every command works on a dump, by the
# names that are installed; what is missing is left out and said; what cannot be is refused.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3

expect() { # expect STATUS PATTERN COMMAND...: exit status and what stderr says
  local wanted=$1 pattern=$2 status=0
  shift 2
  "$program" "$@" --quiet >out.txt 2>err.txt || status=$?
  [[ $status -eq $wanted ]] || fail "$*: exit $status, not $wanted: $(head -c 300 err.txt)"
  grep -qE -- "$pattern" err.txt || fail "$*: no '$pattern' in: $(head -c 400 err.txt)"
}
works() { # works COMMAND...
  "$program" "$@" --quiet >out.txt 2>err.txt || fail "$*: $(head -c 300 err.txt)"
}

# --- round trips ---
same() { # same DESIGN KEYS: lengths are by tier, since the file has none
  set -- "$1,floor.lengths=tier" "$2"
  "$program" build "$1" --format ibnet --quiet >trip.net || { fail "export of $1"; return; }
  "$program" run "$1" --engine ecmp --engine updn --engine spray --set fabric.wire=infiniband --json --quiet >a.json
  "$program" run "installed:trip.net$2" --engine ecmp --engine updn --engine spray --set fabric.wire=infiniband --json --quiet >b.json
  $python "$root/tests/cli/import_same.py" a.json b.json >differ.txt || fail "$1: $(<differ.txt)"
}
same clos:gpus=128,radix=16,taper=2 ""
same fat-tree:k=8 ""
same rail-spine:gpus=128,radix=32,nics-per-server=4 ,gpus-per-server=8
same rail-spine:gpus=512,radix=16,taper=2,spares=3 ,spares=3
same rail-only:gpus=128,radix=32,domain=64,forwarding=sequential ,domain=64,forwarding=sequential
same clos:gpus=256,radix=16,planes=2,tiers=3,pod=64 ""
# A list of cables says no ports: switches are those that its cables need, and every answer with a price says so.
"$program" build rail-spine:gpus=104,radix=16,taper=2 --format cables --quiet >wires.csv
"$program" compare rail-spine:gpus=104,radix=16,taper=2 installed:wires.csv,gpus-per-server=8 --job model=llama2-7b,tp=8,pp=1 --engine spray --json --quiet >wires.json
"$program" cost installed:wires.csv,gpus-per-server=8 --json --quiet >assumed.json
"$program" cost installed:wires.csv,gpus-per-server=8,radix=64 --json --quiet >given.json
"$program" run installed:wires.csv,gpus-per-server=8 --engine spray --quiet | tr -s ' \n' ' ' >sure.txt
$python - <<'END' || fail "ports that no file says"
import json
wires, assumed, given = (json.load(open(f"{name}.json")) for name in ("wires", "assumed", "given"))
ours, read = (p["total_usd"] for p in wires["sweep"]["points"])
assert abs(read / ours - 1) < 1e-9, (ours, read)
said = "the file of the network leaves open what every price rests on; assumed: 16 ports at 20 switches, which are priced by them (radix)"
assert "[2] " + said in wires["meta"]["warnings"] and assumed["meta"]["warnings"] == [said], (wires["meta"], assumed["meta"])
assert not given["meta"].get("warnings") and given["cost"]["total_usd"] > 2.5 * assumed["cost"]["total_usd"], given
assert "so assumed: 16 ports at 20 switches" in open("sure.txt").read()
END
# a part at half its speed; tables that know switches and adapters by the GUIDs that are installed alone
tree=clos:gpus=128,radix=16,taper=2,floor.lengths=tier
"$program" build $tree --format ibnet --quiet >trip.net
for design in $tree installed:trip.net; do
  "$program" route $design --traffic pattern:shift,by=17 --engine spray --degrade spine-0=0.5 --json --quiet >${design%%:*}.json
done
$python - <<'END' || fail "a slower spine"
import json
a, b = (json.load(open(name + ".json"))["degradation"] for name in ("clos", "installed"))
assert a == b and a["cables"] == 16 and a["phases"][0]["factor_ratio"] > 1.5, (a, b)
END
"$program" route $tree --traffic pattern:shift,by=17 --engine dmodk --dump-format lft --dump tables --json --quiet >clos.json
sed 's/2fab10/c42a10/g; s/2fab20/c42a20/g' trip.net >own.net
sed "s/02fab10/0c42a10/; s/02fab20/0c42a20/; s/'[^']*'/'unnamed'/" tables >own.lft
"$program" route installed:own.net --traffic pattern:shift,by=17 --engine file,path=own.lft --json --quiet >installed.json 2>err.txt || fail "GUIDs: $(<err.txt)"
$python - <<'END' || fail "tables by GUIDs"
import json
a, b = (json.load(open(name + ".json"))["phases"][0]["engines"][0] for name in ("clos", "installed"))
assert a["link_loads"] == b["link_loads"] and a["time_s"] == b["time_s"], (a, b)
END
# what has no tiers is a graph: the same routes, other names of its boundaries
"$program" build dragonfly:dragonfly=2,4,2 --format ibnet --quiet >trip.net
for design in dragonfly:dragonfly=2,4,2 installed:trip.net,gpus-per-server=8; do
  "$program" route $design --traffic pattern:shift,by=9 --engine spray --json --quiet
done >both.json
$python - <<'END' || fail "dragonfly: other utilisation"
import json
a, b = (json.loads(part) for part in open("both.json").read().replace("}\n{", "}\0{").split("\0"))
one, two = (r["phases"][0]["engines"][0] for r in (a, b))
assert one["max_utilisation_ratio"] == two["max_utilisation_ratio"] > 0, (one, two)
assert two["mean_collision_factor"] == one["mean_collision_factor"]
END
expect 3 "dmodk chooses among the uplinks of a tree; a graph has none" route installed:trip.net --engine dmodk

# --- a small site, written by hand: a host without its second NIC, a management host, cables of a graph ---
cat >site.csv <<'END'
A-node,A-port,Z-node,Z-port,rate
node-1/nic-0,1,leaf-a,swp1,400Gb/s
node-1/nic-1,1,leaf-b,swp1,400Gb/s
node-2/nic-0,1,leaf-a,swp2,400Gb/s
node-2/nic-1,1,leaf-b,swp2,400Gb/s
node-10/nic-0,1,leaf-a,swp3,400Gb/s
node-10/nic-1,1,leaf-b,swp3,400Gb/s
node-11/nic-0,1,leaf-a,swp4,400Gb/s
leaf-a,swp31,spine-x,swp1,400Gb/s
leaf-b,swp31,spine-x,swp2,400Gb/s
END
works import site.csv --json
$python - <<'END' || fail "import of a small site: $(head -c 600 out.txt)"
import json
found = json.load(open("out.txt"))["import"]
assert (found["servers"], found["incomplete_servers"], found["nics_per_server"]) == (3, 0, 2), found
assert [left["kind"] for left in found["left_out"]] == ["management-hosts"], found["left_out"]
assert found["left_out"][0]["first"] == "node-11" and found["wiring"] == "tree"
assert [b.get("switches") for b in found["boundaries"]] == [2, 1]
assert [b["cables"] for b in found["boundaries"]] == [6, 2]
END
"$program" schema result >result.schema.json
"$program" schema report >report.xsd
$python -c 'import json, jsonschema
jsonschema.validate(json.load(open("out.txt")), json.load(open("result.schema.json")))' || fail "JSON schema"
works import site.csv --format xml
xmllint --noout --schema report.xsd out.txt 2>log || fail "XML schema: $(<log)"
mkdir -p made
works import site.csv --output made/site.xml --set gpus-per-server=4
expect 5 "exists already" import site.csv --output made/site.xml
grep -q 'digest="[0-9a-f]\{16\}" gpus-per-server="4"' made/site.xml || fail "the design: $(<made/site.xml)"
works route made/site.xml --traffic pattern:ring --explain leaf-a:swp31
grep -q "LINK leaf-a:swp31 > spine-x:swp1" out.txt || fail "ports by name: $(head -n 3 out.txt)"
works route made/site.xml --traffic pattern:ring --fail leaf-a:swp31 --fail node-2
grep -q "leaf-a:swp31" out.txt || fail "a failed port by name"
expect 3 "names no node" route made/site.xml --traffic pattern:ring --fail leaf-q
(cd made && "$program" build site.xml --quiet >/dev/null) || fail "a relative path from the folder of the design"

# the third server lacks a cable: it is there, and no job takes it unless asked to
sed '/node-10\/nic-1/d;s/^node-11.*/node-11\/nic-0,1,leaf-a,swp4,400Gb\/s\nnode-11\/nic-1,1,leaf-b,swp4,400Gb\/s\nnode-10\/nic-2,1,leaf-b,swp9,400Gb\/s\nnode-1\/nic-2,1,leaf-b,swp10,400Gb\/s\nnode-2\/nic-2,1,leaf-b,swp11,400Gb\/s\nnode-11\/nic-2,1,leaf-b,swp12,400Gb\/s/' site.csv >cut.csv
works import cut.csv --json
$python - <<'END' || fail "import of an incomplete server"
import json
found = json.load(open("out.txt"))["import"]
assert (found["servers"], found["incomplete_servers"], found["nics_per_server"]) == (3, 1, 3), found
END
works traffic installed:cut.csv --traffic pattern:ring
grep -q "9 flows\|  9 " out.txt || fail "a ring over the whole servers: $(<out.txt)"
printf 'src,dst,bytes\n0,9,1000\n0,10,1000\n' >matrix.csv
for engine in ecmp updn spray adaptive optimal; do
  expect 4 "gpu-10 has no way into the network: nic-10 of node-10 has no cable" route installed:cut.csv --traffic file:matrix.csv --engine $engine
done
expect 4 "nic-10 of node-10 has no cable" route installed:cut.csv --traffic pattern:all-to-all,gpus=0-11 --engine ecmp
expect 4 "nic-10 of node-10 has no cable" run installed:cut.csv --job servers=0,3,plan=given
works route installed:cut.csv --traffic pattern:permutation --engine ecmp --engine updn --fail spine-x

# parts without a cable between them, and a ring of switches
printf 'A-node,A-port,Z-node,Z-port\nnode-1,1,leaf-a,1\nnode-2,1,leaf-a,2\nnode-3,1,leaf-b,1\n' >parts.csv
expect 4 "no route from leaf-[ab] to leaf-[ab]: .*--job servers=" route installed:parts.csv --traffic pattern:ring --engine ecmp
works run installed:parts.csv --job servers=0-1,model=gpt-1.7b # as it says
works route installed:parts.csv --traffic pattern:ring,gpus=0-1 --engine ecmp
printf 'A-node,A-port,Z-node,Z-port\n' >ring.csv
for i in 0 1 2 3 4; do printf 'node-%d,1,sw-%d,1\nsw-%d,2,sw-%d,3\n' $i $i $i $(((i + 1) % 5)); done >>ring.csv
works route installed:ring.csv --traffic pattern:all-to-all --engine ecmp --engine updn --engine optimal --engine adaptive --json
$python - <<'END' || fail "a ring of switches"
import json
r = json.load(open("out.txt"))
assert len(r["fabric"]["tiers"]) == 2 and r["fabric"]["switches"] == 5 and r["fabric"]["cables"] == 10
ecmp, updn = r["phases"][0]["engines"][:2]
assert ecmp["max_collision_factor"] < updn["max_collision_factor"], "up/down avoids the link across from its root"
assert updn["deadlock_free"] and not ecmp["deadlock_free"]
END

# switches alone, and a scheduler's tree
printf 'A-node,A-port,Z-node,Z-port\nsw-0,1,sw-1,1\nsw-1,2,sw-2,1\nsw-2,2,sw-0,2\n' >bare.csv
expect 3 "hosts-per-switch" build installed:bare.csv
works run installed:bare.csv,hosts-per-switch=2,gpus-per-server=1
works import bare.csv --set hosts-per-switch=2 --json
grep -q '"servers": 6' out.txt || fail "hosts that the file does not have"
expect 3 "has hosts of its own" build installed:site.csv,hosts-per-switch=2
printf 'SwitchName=top Switches=s[0-1]\nSwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\n' >topology.conf
works import topology.conf --set cables=2 --set nics-per-server=4 --set nic=200Gb/s --json
$python - <<'END' || fail "a scheduler's tree"
import json
found = json.load(open("out.txt"))["import"]
assert [b["cables"] for b in found["boundaries"]] == [32, 4], found
assert all(b["cable_bps"] == 200e9 for b in found["boundaries"])
assert any("no cables" in a["what"] for a in found["assumed"])
END

# --- what cannot be ---
expect 3 "digest: .* is not the file that the design was made for" build installed:site.csv,digest=0123456789abcdef
expect 5 "cannot be read" build installed:nowhere.csv
expect 3 "file is required" build installed:gpus-per-server=8
expect 3 "gpus: the file has 6 of them" build installed:site.csv,gpus=8
expect 3 "tiers: the file" build installed:site.csv,tiers=2
expect 3 "the file of an installed fabric decides that" build installed:site.csv,taper=2
expect 3 "keys of installed; the family is clos" build clos:gpus=64,hosts-per-switch=2
head -c 150 site.csv >short.csv
expect 3 "short.csv:" import short.csv
head -c 4096 /dev/urandom >noise.bin
expect 3 "noise.bin" import noise.bin
printf 'A-node,A-port,Z-node,Z-port\n' >empty.csv
expect 3 "empty.csv" import empty.csv

# --- a study: it keeps the file, and refuses another ---
works study plan made/site.xml --scenarios links:1 --traffic pattern:ring --engine ecmp --store store
printf '\n' >>site.csv
expect 3 "digest" study plan made/site.xml --scenarios links:1 --traffic pattern:ring --engine ecmp --store store
works study run --store store
works study gather --store store
works study show --store store
grep -q "leaf-a:swp31 > spine-x:swp1" out.txt || fail "the study names what is installed: $(head -n 30 out.txt)"
works import site.csv --output site.xml --force --set gpus-per-server=4
expect 3 "another|differ|digest|was planned" study plan site.xml --scenarios links:1 --traffic pattern:ring --engine ecmp --store store

# --- adapters by any of their names ---
works build clos:gpus=32,radix=16 --format ibnet
sed -E 's#"server-([0-9]+) HCA-([0-9]+)"#"server-\1/nic-\2"#' out.txt >slashed.net
works import slashed.net
grep -q "4 servers of 8 NICs" out.txt || fail "server-0/nic-1 is no adapter of server-0: $(<out.txt)"

# --- the real one ---
if [[ -z ${FABRISCOPE_SAMPLES:-} ]]; then
  echo "the real fabric is skipped: FABRISCOPE_SAMPLES is not set"
else
  dump=$FABRISCOPE_SAMPLES/ibnetdiscover/topograph-dgx-ndr.out
  works import "$dump" --output ndr.xml --json
  $python - <<'END' || fail "import of the real fabric: $(head -c 600 out.txt)"
import json
found = json.load(open("out.txt"))["import"]
assert (found["servers"], found["incomplete_servers"], found["nics_per_server"], found["nic_bps"]) == (109, 11, 4, 400e9)
assert found["rails"] and found["wiring"] == "tree"
assert [(b["switches"], b["radix"]) for b in found["boundaries"]] == [(31, 64), (9, 64)]
left = {l["kind"]: l["number"] for l in found["left_out"]}
assert left == {"aggregation-nodes": 40, "management-hosts": 2, "nameless-adapters": 69}, left
assert found["boundaries"][1]["cables"] == 532
assert found["boundaries"][0]["cables"] == 109 * 4 + 11 * 3 == 542 - 69 - 4
END
  works run "installed:$dump" --export net.svg # a box of a switch shows what tells it from the others; its bisection is of other servers than that of an audit, and says so
  tr -s ' \n' ' ' <out.txt | grep -q "the two halves of the 109 servers that have all their cables" || fail "whom a bisection is of: $(head -n 40 out.txt)"
  (($(grep -oE '<text class="q"[^>]*>…0[0-9](-0[0-9])?</text>' net.svg | sed 's/.*>…//' | sort -u | wc -l) == 31 + 9)) || fail "names of switches: $(grep -o 'class="q".*' net.svg)"
  printf 'src,dst,bytes\n0,50,1000000\n3,400,3000000\n17,120,500\n435,2,70000\n44,1,1000\n9,14,12345\n' >matrix.csv
  works route ndr.xml --traffic file:matrix.csv --engine spray --export loads.graphml
  $python "$root/tests/cli/import_count.py" "$dump" matrix.csv loads.graphml || fail "loads on the real fabric"
  works route ndr.xml --traffic pattern:permutation --engine ecmp --engine updn --threads 1 --json
  cp out.txt one.json
  works route "installed:$dump" --traffic pattern:permutation --engine ecmp --engine updn --threads 2 --json
  $python - <<'END' || fail "the same for any number of threads"
import json
a, b = (json.load(open(path)) for path in ("one.json", "out.txt"))
assert a["phases"] == b["phases"] and a["fabric"] == b["fabric"]
assert a["phases"][0]["flows"] == 436
END
  works run ndr.xml --engine ecmp --engine updn --fail 'MF0;A09-P1-IBLEAF-04-04:MQM9701/U1' --policy none
  grep -q "IBLEAF-04-04" out.txt || fail "a leaf that fails, by its name"
  works build ndr.xml --format ibnet
  cp out.txt again.net
  works import again.net --json
  $python - <<'END' || fail "the real fabric, exported and imported again"
import json
found = json.load(open("out.txt"))["import"]
assert (found["servers"], found["incomplete_servers"], found["rails"]) == (109, 11, True), found
END
fi
# Names that a spreadsheet, a terminal or a shell would obey, or a reader take for a comment: none is lost, none gets through.
printf 'A-node,A-port,Z-node,Z-port,rate\n=cmd|x,1,leaf\xe2\x80\xaeX,1,400Gb/s\nb\xc2\x9b31mad,1,leaf\xe2\x80\xaeX,2,400Gb/s\n"#h1",1,leaf\xe2\x80\xaeX,3,400Gb/s\n-1,1,leaf\xe2\x80\xaeX,4,400Gb/s\n' >"it's.csv"
works build "installed:it's.csv" --format cables
cp out.txt again.csv
grep -q "^'=cmd|x,1" again.csv && grep -q '^"#h1",1' again.csv && grep -q '^-1,1' again.csv || fail "$(cat again.csv)"
works build installed:again.csv --format cables
cmp out.txt again.csv || fail "names change when they are read again"
works import "it's.csv"
grep -qF "fabriscope run 'installed:it'\''s.csv'" out.txt || grep -qF "installed:'it'\''s.csv'" out.txt || fail "the next command is not quoted: $(tail -5 out.txt)"
for format in text markdown json xml svg dot graphml csv; do
  works build "installed:it's.csv" --format $format $([[ $format == csv ]] && echo --table fabric)
  ! grep -qP '\xc2\x9b|\xe2\x80\xae' out.txt || fail "$format: a control character of a name gets through"
done
$python "$root/tests/cli/hidden_names.py" "$program" "$root/tests/data/sites" || fail "hidden characters in names"
[[ $failures -eq 0 ]]
