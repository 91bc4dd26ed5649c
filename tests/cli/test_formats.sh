#!/usr/bin/env bash
# Fabrics as files for other tools: what they say, that others parse them, and that our readers give the same back.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
tool=$(dirname "$program")/network_tool

# --- every writer says the same of a fabric ---
number=0
for design in fat-tree:k=4 rail-spine:gpus=64,gpus-per-server=4,radix=8 rail-spine:gpus=64,radix=16,domain=16 \
  clos:gpus=64,gpus-per-server=2,radix=8,tiers=3 clos:gpus=32,radix=16,planes=2 rail-only:gpus=64,radix=16; do
  number=$((number + 1))
  mkdir $number
  "$program" build "$design" --quiet --export $number/f.cables.csv --export $number/f.ptm.dot --export $number/f.tree.conf \
    --export $number/f.block.conf --export $number/f.clab.yml --export $number/f.netbox.csv --export $number/f.graphml --export $number/f.gexf >out 2>err || fail "$design: $(<err)"
  $python "$root/tests/cli/check_network_files.py" $number 2>err || fail "$design: $(tail -n 3 err)"
  "$tool" write cables $number/f.cables.csv | cmp -s - $number/f.cables.csv || fail "$design: cables read back"
  "$tool" write netbox-csv $number/f.netbox.csv | cmp -s - $number/f.netbox.csv || fail "$design: cables of NetBox read back"
  [[ -z $("$program" audit $number/f.netbox.csv --against $number/f.cables.csv --quiet --json | $python -c 'import json, sys
for f in json.load(sys.stdin)["audit"]["findings"]: print(f)') ]] || fail "$design: cables of NetBox are others"
  "$tool" write ptm $number/f.ptm.dot | cmp -s - $number/f.ptm.dot || fail "$design: PTM read back"
  "$tool" write slurm-tree $number/f.tree.conf | cmp -s - $number/f.tree.conf || fail "$design: Slurm's tree read back"
  "$tool" write slurm-block $number/f.block.conf | cmp -s - $number/f.block.conf || fail "$design: Slurm's blocks read back"
  for writer in cables slurm-tree slurm-block ptm; do
    cmp -s <("$tool" write $writer $number/f.graphml 2>&1) <("$tool" write $writer $number/f.gexf 2>&1 | sed 's/gexf/graphml/g') || fail "$design: GEXF is not what GraphML is, as $writer"
  done
  for pair in cables:f.cables.csv ptm:f.ptm.dot slurm-tree:f.tree.conf slurm-block:f.block.conf; do # by way of GraphML
    cmp -s <("$tool" write ${pair%%:*} $number/f.graphml | sort) <(sort $number/${pair#*:}) || fail "$design: GraphML read back, as $pair"
  done
  [[ -z $("$program" audit $number/f.cables.csv --quiet --json | $python -c 'import json, sys
for f in json.load(sys.stdin)["audit"]["findings"]: print(f)') ]] || fail "$design: an audit of its cables finds something"
done

$python "$root/tests/cli/check_graphml_in.py" "$tool" 2>err || fail "random GraphML: $(tail -n 3 err)"
code=0
"$program" build fat-tree:k=4 --view pod --format graphml --quiet >merged.graphml
"$tool" list merged.graphml >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -qE '^merged.graphml:[0-9]+:[0-9]+: .*--view whole' err || fail "a merged view: $code $(<err)"

# --- every reader has a seed for its fuzz target: tests/faults/fault_cover.c sees to it that faults strike it too ---
"$program" list formats --json >formats.json
$python - "$root/tests/fuzz/corpus" <<'END' || fail "readers without a seed"
import json, os, sys
missing = []
for row in json.load(open("formats.json")):
    if row["direction"] == "in":
        kind = row["summary"].split(":")[0] if ":" in row["summary"] else ""
        kind = {"traffic": "traffic", "counters": "counters", "server": "server", "forwarding tables": "tables"}.get(kind, "network")
        seeds = [name.replace("_", "-") for name in os.listdir(os.path.join(sys.argv[1], kind))]
        missing += [row["name"]] * (not any(row["name"] in name for name in seeds))
print(missing)
sys.exit(bool(missing))
END

$python "$root/tests/cli/check_reader_memory.py" "$tool" "$root/tests/data/sites" 2>err || fail "memory of readers: $(tail -n 1 err)"

$python - <<'PY' 2>err || fail "networkx: $(tail -n 1 err)"
import networkx as nx
g = nx.Graph()
for name, kind in (("server-0", "server"), ("server-1", "server"), ("leaf & 0", "switch"), ("spine <0>", "switch")):
    g.add_node(name, kind=kind)
for a, b in (("server-0", "leaf & 0"), ("server-1", "leaf & 0"), ("leaf & 0", "spine <0>")):
    g.add_edge(a, b, rate="400Gb/s", length_m=2.5)
nx.write_gexf(g, "nx.gexf")
nx.write_graphml(g, "nx.graphml")
PY
[[ $("$tool" write cables nx.gexf) == "$("$tool" write cables nx.graphml)" && $("$tool" write cables nx.gexf | wc -l) -eq 4 ]] || fail "GEXF of networkx: $("$tool" write cables nx.gexf 2>&1)"

cat >yed.graphml <<'END'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="node" id="d0" yfiles.type="nodegraphics"/><key for="edge" id="d1" yfiles.type="edgegraphics"/>
<graph edgedefault="directed"><node id="n0"><data key="d0"><y:ShapeNode><y:NodeLabel>leaf &amp; 1<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d0"><y:ShapeNode><y:Fill color="#FFCC00"/><y:NodeLabel>host 1</y:NodeLabel></y:ShapeNode></data></node>
<edge id="e0" source="n0" target="n1"><data key="d1"><y:PolyLineEdge/></data></edge></graph></graphml>
END
[[ $("$tool" list yed.graphml | cut -f 1-3 | tr '\t\n' ' ;') == 'node n0 leaf & 1;node n1 host 1;cable n0 -;' ]] || fail "labels of yEd: $("$tool" list yed.graphml)"

# --- what a format cannot say ---
refuse() { # refuse WRITER FILE TEXT
  local code=0
  "$tool" write "$1" "$2" >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -q "$3" err || fail "$1 $2: $code $(<err)"
}
printf 'A-node,Z-node\nserver-0,leaf-0\nserver-1,leaf-0\n' >portless.csv
printf 'A-node,A-port,Z-node,Z-port\nserver 0,1,leaf-0,1\nserver_0,1,leaf-0,2\n' >same.csv
printf 'A-node,A-port,Z-node,Z-port\nleaf-0,1,leaf-1,1\n' >nohost.csv
printf 'A-node,A-port,Z-node,Z-port\nserver-0,1,leaf-0,GigabitEthernet1/0/1\n' >long.csv
printf 'SwitchName=a Switches=b\nSwitchName=b Switches=a\n' >circle.conf
refuse ptm portless.csv 'has no name'
refuse containerlab portless.csv 'has no name'
refuse netbox-csv portless.csv 'has no name'
refuse containerlab same.csv "called 'server_0'"
refuse ptm long.csv 'GigabitEthernet1/0/1'
refuse slurm-tree nohost.csv 'no host'
refuse slurm-tree circle.conf 'circle'

# --- lists of names: folded and unfolded ---
printf 'SwitchName=s Nodes=a1,a2,a3,a9,a10,b007,b008,b010,c,d1e,d2e,x12345678901,x12345678902,a4\n' >names.conf
[[ $("$tool" write slurm-tree names.conf) == 'SwitchName=s Nodes=a[1-3,9-10],b[007-008,010],c,d1e,d2e,x12[345678901-345678902],a4' ]] ||
  fail "folded: $("$tool" write slurm-tree names.conf)"

printf 'SwitchName=s1 Nodes=n[1-2],n1,n[1-2],n[1-2],n[1-2]\nSwitchName=s2 Nodes=n3\nSwitchName=top Switches=s[1-2],s1,s[1-2]\n' >twice.conf
[[ $("$tool" write slurm-tree twice.conf | sort | tr '\n' ';') == 'SwitchName=s1 Nodes=n[1-2];SwitchName=s2 Nodes=n3;SwitchName=top Switches=s[1-2];' ]] ||
  fail "names listed twice: $("$tool" write slurm-tree twice.conf)"

# --- real ones ---
if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: real files are skipped" >&2
else
  # opensm's list and ibnetdiscover's dump of one fabric: the same boxes, the same cables
  listed=0
  xz -dc "$FABRISCOPE_SAMPLES/opensm-dumps/topograph-subnet.lst.xz" >subnet.lst
  for file in subnet.lst "$FABRISCOPE_SAMPLES/ibnetdiscover/topograph-dgx-ndr.out"; do
    listed=$((listed + 1))
    "$tool" list "$file" >all || fail "$file"
    grep '^node' all | sort >nodes.$listed
    awk -F '\t' '/^cable/ { x = $2 ":" $3; y = $4 ":" $5; print (x < y ? x " " y : y " " x), $8 }' all | sort >cables.$listed
  done
  cmp nodes.1 nodes.2 && cmp cables.1 cables.2 || fail "opensm's list differs from ibnetdiscover's dump"
  [[ $(grep -c . cables.1) -eq 1114 && $(grep -c ' 11$' cables.1) -eq 1114 ]] || fail "cables of the subnet list: $(wc -l <cables.1)"
  # 2.5 Gb/s a lane is what OpenSM says where it does not know: no rate, rather than a network of 10 Gb/s
  "$program" import subnet.lst --quiet | grep -q "1,074 cables without a rate have that of their tier, NICs 400 Gb/s" || fail "rates that OpenSM does not know"
  "$program" audit subnet.lst --json --quiet >audit.json
  $python -c 'import json
a = json.load(open("audit.json"))["audit"]
assert (a["adapters"], a["switches"], a["aggregation_nodes"]) == (542, 40, 40), a
assert a["boundaries"][1]["present_cables"] == 532
assert sum(f["cables"] for f in a["findings"] if f["finding"] == "missing-cable") == 26' || fail "audit of the subnet list"
  "$tool" list "$FABRISCOPE_SAMPLES/ptm-dot/topology.dot.sample" | grep ^cable | cut -f 2-5 >out
  printf 'switch1\tswp%d\tswitch2\tswp%d\n' 1 41 2 42 3 43 4 44 | cmp - out || fail "the sample of PTM: $(<out)"
  $python "$root/tests/cli/check_graphml_in.py" "$tool" "$FABRISCOPE_SAMPLES"/topology-zoo/*.graphml 2>err ||
    fail "Topology Zoo: $(tail -n 3 err)"
  "$tool" write slurm-block "$FABRISCOPE_SAMPLES/slurm-topology/topograph-block.conf" >blocks.conf
  cmp <(grep ^BlockName "$FABRISCOPE_SAMPLES/slurm-topology/topograph-block.conf") <(grep ^BlockName blocks.conf) ||
    fail "blocks of topograph: $(<blocks.conf)"
fi
exit $((failures > 0))
