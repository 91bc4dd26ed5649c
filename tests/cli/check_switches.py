"""What `build --format sonic|frr|containerlab|topograph|kueue|slurm-yaml` wrote, unpacked, against the list of cables, read
without our readers. Usage: check_switches.py FOLDER, with f.cables.csv, f.clab.yml, f.tree.yaml, f.model.yaml,
f.kueue.yaml, and the folders sonic and frr"""
import collections
import csv
import glob
import ipaddress
import json
import os
import re
import subprocess
import sys

import networkx
import yaml

folder = sys.argv[1]


def links(path):
    lab = yaml.safe_load(open(path))["topology"]
    return collections.Counter(frozenset(tuple(e.split(":")) for e in link["endpoints"]) for link in lab["links"]), lab


wanted, lab = links(f"{folder}/f.clab.yml")
assert sum(wanted.values()) == sum(1 for _ in csv.DictReader(open(f"{folder}/f.cables.csv"))) > 0
hosts = {name for name, node in lab["nodes"].items() if node["kind"] == "linux"}
switches = set(lab["nodes"]) - hosts

# --- SONiC: neighbors are the cables, from both ends; lanes, addresses and sessions ---
configs = {os.path.basename(p)[:-5]: json.load(open(p)) for p in glob.glob(f"{folder}/sonic/config_db/*.json")}
assert set(configs) == switches
number = {(name, port): "eth" + row["index"] for name, c in configs.items() for port, row in c["PORT"].items()}
found = collections.Counter()
sides = collections.Counter()
for name, c in configs.items():
    assert c["DEVICE_METADATA"]["localhost"]["hostname"] == name
    lanes = [lane for row in c["PORT"].values() for lane in row["lanes"].split(",")]
    assert len(lanes) == len(set(lanes)), name
    assert all(int(port[8:]) + 1 == int(row["lanes"].split(",")[0]) for port, row in c["PORT"].items())
    assert set(c["PORT"]) == set(c["DEVICE_NEIGHBOR"])
    unnumbered = {p for p, row in c["INTERFACE"].items() if row.get("ipv6_use_link_local_only") == "enable"}
    assert unnumbered == {p for p, row in c["DEVICE_NEIGHBOR"].items() if row["name"] in switches}
    assert {"default|" + p for p in unnumbered} == set(c["BGP_NEIGHBOR"])
    assert {"default|" + p + "|ipv4_unicast" for p in unnumbered} == set(c["BGP_NEIGHBOR_AF"])
    for port, row in c["DEVICE_NEIGHBOR"].items():
        far = (row["name"], number.get((row["name"], row["port"]), row["port"]))
        sides[frozenset([(name, number[name, port]), far])] += 1
assert sides == collections.Counter({link: sum(e[0] in switches for e in link) for link in wanted}), "neighbors"
rates = collections.Counter(float(re.match(r"[\d.e+]+", r["rate"])[0]) * {"G": 1e3, "T": 1e6, "M": 1}[re.sub(r"[\d.e+]", "", r["rate"])[0]]
                            for r in csv.DictReader(open(f"{folder}/f.cables.csv")))
speeds = collections.Counter()
for name, c in configs.items():
    for port, row in c["PORT"].items():
        speeds[float(row["speed"])] += 1 if c["DEVICE_NEIGHBOR"][port]["name"] in hosts else 0.5
assert rates == speeds, (rates, speeds)

# --- FRR: the same fabric, the same addresses and systems ---
frr = {os.path.basename(p)[:-5]: open(p).read() for p in glob.glob(f"{folder}/frr/frr/*.conf")}
assert set(frr) == switches
taken = set()
for name, text in frr.items():
    c = configs[name]
    interfaces = dict(re.findall(r"^interface (\S+)\n((?: .*\n)*)exit", text, re.M))
    assert set(interfaces) == {"lo"} | {"swp" + number[name, p][3:] for p in c["PORT"]}, name
    for port, row in c["DEVICE_NEIGHBOR"].items():
        body = interfaces["swp" + number[name, port][3:]]
        far = number.get((row["name"], row["port"]))
        assert f" description {row['name']} {'swp' + far[3:] if far else row['port']}\n" in body, body
        mine = [k.split("|")[1] for k in c["INTERFACE"] if k.startswith(port + "|")]
        assert re.findall(r"ip address (\S+)", body) == mine
        for text_of in mine:
            net = ipaddress.ip_interface(text_of)
            assert net.network not in taken
            taken.add(net.network)
            block = [ipaddress.ip_network(k.split("|")[2]) for k in c["BGP_GLOBALS_AF_AGGREGATE_ADDR"]]
            assert net.network.subnet_of(block[0])
    asn = c["BGP_GLOBALS"]["default"]["local_asn"]
    assert f"\nrouter bgp {asn}\n" in text and f"maximum-paths {c['BGP_GLOBALS_AF']['default|ipv4_unicast']['max_ebgp_paths']}\n" in text
    assert set(re.findall(r"neighbor (swp\d+) interface", text)) == {"swp" + number[name, k.split("|")[1]][3:] for k in c["BGP_NEIGHBOR"]}
loops = [k.split("|")[1] for c in configs.values() for k in c["LOOPBACK_INTERFACE"] if "|" in k]
assert len(set(loops)) == len(loops) == len(switches)
# No two neighbors are one system; where the fabric is a tree of tiers, no shortest way up and down is refused for its
# path: systems of a tier are one where they are joined from below.
asn = {name: c["BGP_GLOBALS"]["default"]["local_asn"] for name, c in configs.items()}
for link in wanted:
    ends = [e[0] for e in link if e[0] in switches]
    assert len(ends) < 2 or asn[ends[0]] != asn[ends[1]]
graph = networkx.Graph((a[0], b[0]) for a, b in map(tuple, wanted))
leaves = sorted({e[0] for link in wanted if any(x[0] in hosts for x in link) for e in link if e[0] in switches})
plain = graph.subgraph(switches)
for a in leaves[:6]:
    lengths = networkx.single_source_shortest_path_length(plain, a)
    for b in leaves:
        if b in lengths and a != b:
            paths = networkx.all_shortest_paths(plain, a, b)
            for _, path in zip(range(20), paths):
                assert len({asn[v] for v in path}) == len(path), path
if os.path.isdir(f"{folder}/frr") and subprocess.run(["which", "vtysh"], capture_output=True).returncode == 0:
    for name in sorted(switches)[:2] + sorted(switches)[-2:]:
        done = subprocess.run(["vtysh", "-C", "-f", f"{folder}/frr/frr/{name}.conf"], capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stdout, done.stderr)

# --- the labs that run them: the same links, every file that is bound is there ---
assert links(f"{folder}/sonic/fabric.clab.yml")[0] == wanted
swp = collections.Counter(frozenset((n, p.replace("eth", "swp") if n in switches else p) for n, p in link) for link in wanted)
assert links(f"{folder}/frr/fabric.clab.yml")[0] == swp
for kind in ("sonic", "frr"):
    nodes = links(f"{folder}/{kind}/fabric.clab.yml")[1]["nodes"]
    assert set(nodes) == hosts | switches
    for name in switches:
        assert nodes[name]["binds"] and all(os.path.isfile(f"{folder}/{kind}/{b.split(':')[0]}") for b in nodes[name]["binds"])
    given = [c.split()[3] for name in hosts for c in nodes[name]["exec"] if "address add" in c]
    assert {ipaddress.ip_interface(a).network for a in given} == taken and len(given) == len(taken)

# --- schedulers: what is below what, and the labels of nodes ---
tree = {s["switch"]: s for s in yaml.safe_load(open(f"{folder}/f.tree.yaml"))[0]["tree"]["switches"]}


def expand(text):
    """Names of a list of Slurm's."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, _, ranges = part.partition("[")
        for piece in ranges.rstrip("]").split(",") if ranges else [""]:
            first, _, last = piece.partition("-")
            names += [prefix + str(i).zfill(len(first)) for i in range(int(first), int(last or first) + 1)] if ranges else [prefix]
    return names


model = yaml.safe_load(open(f"{folder}/f.model.yaml"))
inner = {s: set(expand(row["children"])) for s, row in tree.items() if "children" in row}
assert inner == {s: set(row["switches"]) for s, row in (model["switches"] or {}).items()}
nodes = collections.defaultdict(set)
for block in model["blocks"]:
    for text in block["nodes"]:
        nodes[block["switch"]] |= set(expand(text))
assert nodes == {s: set(expand(row["nodes"])) for s, row in tree.items() if "nodes" in row}
documents = list(yaml.safe_load_all(open(f"{folder}/f.kueue.yaml")))
levels = [level["nodeLabel"] for level in documents[0]["spec"]["levels"]]
assert documents[0]["kind"] == "Topology" and levels[-1] == "kubernetes.io/hostname"
flavors = [d for d in documents if d["kind"] == "ResourceFlavor"]
parent = {child: s for s, children in inner.items() for child in children}
assert {tuple(f["spec"]["nodeLabels"].values()) for f in flavors} == {(s,) for s in tree if s not in parent}
labels = {d["metadata"]["name"]: d["metadata"]["labels"] for d in documents if d["kind"] == "Node"}
assert set(labels) == hosts
for unit, members in nodes.items():
    chain = [unit]
    while chain[-1] in parent:
        chain.append(parent[chain[-1]])
    for name in members:
        mine = [labels[name][level] for level in levels[-2::-1]]
        assert list(dict.fromkeys(mine)) == chain, (name, mine, chain)
        assert sum(all(labels[name].get(k) == v for k, v in f["spec"]["nodeLabels"].items()) for f in flavors) == 1
