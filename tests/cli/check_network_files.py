"""What `build --format cables|ptm|containerlab|slurm-tree|slurm-block` wrote, against each other and against the GraphML
export as networkx reads it. Usage: check_network_files.py FOLDER"""
import collections
import csv
import json
import re
import subprocess
import sys

import networkx

folder = sys.argv[1]


def expand(text):
    """Names of a list of Slurm's, without our reader."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, _, ranges = part.partition("[")
        if not ranges:
            names.append(prefix)
            continue
        for piece in ranges.rstrip("]").split(","):
            first, _, last = piece.partition("-")
            last = last or first
            names += [prefix + str(i).zfill(len(first)) for i in range(int(first), int(last) + 1)]
    return names


# --- the list of cables: what the others are compared with ---
with open(f"{folder}/f.cables.csv") as file:
    rows = list(csv.DictReader(file))
graph = networkx.read_graphml(f"{folder}/f.graphml", force_multigraph=True)
network = [(u, v, d) for u, v, d in graph.edges(data=True) if d["kind"] in ("access", "fabric")]
assert len(rows) == len(network) > 0, (len(rows), len(network))


def label(node):
    data = graph.nodes[node]
    if data["kind"] != "nic":
        return data["label"]
    number = int(data["label"].split("-")[1])
    first = min(int(d["label"].split("-")[1]) for _, d in graph.nodes(data=True)
                if d["kind"] == "nic" and d["server"] == data["server"])
    return f"server-{data['server']} HCA-{number - first + 1}"


labels = {node: label(node) for node in graph if graph.nodes[node]["kind"] in ("nic", "switch")}
wanted = collections.Counter(frozenset([labels[u], labels[v]]) for u, v, _ in network)
assert wanted == collections.Counter(frozenset([r["A-node"], r["Z-node"]]) for r in rows)
assert {r["rate"] for r in rows} == {f"{d['capacity_bps'] / 1e9:g}Gb/s" for _, _, d in network}
ends = [(r[f"{side}-node"], r[f"{side}-port"]) for r in rows for side in "AZ"]
assert len(set(ends)) == len(ends), "a port twice"

# --- the same cables between boxes ---
ports = collections.defaultdict(list)
for node, port in ends:
    adapter = re.match(r"(server-\d+) HCA-(\d+)$", node)
    if adapter:
        ports[adapter[1]].append((int(adapter[2]), int(port)))
for server in ports:
    ports[server].sort()


def box(node, port, prefix):
    match = re.match(r"(server-\d+) HCA-(\d+)$", node)
    if match:
        return match[1], f"eth{ports[match[1]].index((int(match[2]), int(port))) + 1}"
    return node, f"{prefix}{port}"


def between_boxes(prefix):
    return collections.Counter(frozenset([box(r["A-node"], r["A-port"], prefix), box(r["Z-node"], r["Z-port"], prefix)])
                               for r in rows)


parsed = json.loads(subprocess.run(["dot", "-Tdot_json", f"{folder}/f.ptm.dot"], check=True, capture_output=True).stdout)
names = [o["name"] for o in parsed["objects"]]
assert between_boxes("swp") == collections.Counter(
    frozenset([(names[e["tail"]], e["tailport"]), (names[e["head"]], e["headport"])]) for e in parsed["edges"])
functions = {o["name"]: o.get("function") for o in parsed["objects"]}
for node, name in labels.items():
    data = graph.nodes[node]
    function = functions[name.split(" ")[0]]
    assert function == ("host" if data["kind"] == "nic" else {1: "leaf", 2: "spine", 3: "superspine"}[data["tier"]])

lab_path = f"{folder}/f.clab.yml"
links = re.findall(r'^    - endpoints: \["([\w.-]+):([\w.-]+)", "([\w.-]+):([\w.-]+)"\]$', open(lab_path).read(), re.M)
assert between_boxes("eth") == collections.Counter(frozenset([(a, p), (b, q)]) for a, p, b, q in links)
try:
    import yaml
except ImportError:
    print("python3-yaml is not installed: the lab is checked line by line alone", file=sys.stderr)
else:
    lab = yaml.safe_load(open(lab_path))
    assert set(lab["topology"]["nodes"]) == set(names)
    assert {n["kind"] for n in lab["topology"]["nodes"].values()} == set(lab["topology"]["kinds"])
    assert [re.split(":", e) for link in lab["topology"]["links"] for e in link["endpoints"]] == \
        [[x, y] for a, p, b, q in links for x, y in ((a, p), (b, q))]

# --- Slurm: what can be reached without going above a tier ---
below = {}
for line in open(f"{folder}/f.tree.conf"):
    match = re.fullmatch(r"SwitchName=(\S+) (Nodes|Switches)=(\S+)\n", line)
    below[match[1]] = (match[2], expand(match[3]))
children = [name for _, names in below.values() for name in names]
assert len(children) == len(set(children)), "a name below two"


def hosts(name):
    kind, names = below[name]
    return frozenset(names) if kind == "Nodes" else frozenset().union(*map(hosts, names))


units = {hosts(name) for name in below}
servers = {graph.nodes[n]["server"]: f"server-{graph.nodes[n]['server']}" for n in graph if graph.nodes[n]["kind"] == "nic"}
assert set(children) - set(below) == set(servers.values())
meant = set()
for top in range(4):
    part = networkx.Graph()
    part.add_nodes_from(servers.values())
    for u, v, _ in network:
        tiers = [graph.nodes[n]["tier"] if graph.nodes[n]["kind"] == "switch" else 0 for n in (u, v)]
        if max(tiers) <= max(top, 1) and (top > 0 or min(tiers) == 0):
            part.add_edge(*(servers[graph.nodes[n]["server"]] if graph.nodes[n]["kind"] == "nic" else n for n in (u, v)))
    for component in networkx.connected_components(part):
        meant.add(frozenset(component) & frozenset(servers.values()))
meant.discard(frozenset())
assert units == meant, (sorted(map(sorted, units - meant))[:3], sorted(map(sorted, meant - units))[:3])

blocks = {}
sizes = None
for line in open(f"{folder}/f.block.conf"):
    match = re.fullmatch(r"BlockName=(\S+) Nodes=(\S+)\n", line)
    if match:
        blocks[match[1]] = expand(match[2])
    else:
        sizes = re.fullmatch(r"BlockSizes=(\d+)\n", line)
members = [name for names in blocks.values() for name in names]
assert sorted(members) == sorted(servers.values()) and int(sizes[1]) == min(map(len, blocks.values()))
domains = collections.defaultdict(set)
for u, v, data in graph.edges(data=True):
    if data["kind"] == "scale-up":
        domain, gpu = (u, v) if graph.nodes[u]["kind"] == "domain" else (v, u)
        domains[domain].add(f"server-{graph.nodes[gpu]['server']}")
if max(map(len, domains.values()), default=0) > 1:
    assert {frozenset(names) for names in blocks.values()} == {frozenset(d) for d in domains.values()}
else:
    assert {frozenset(names) for names in blocks.values()} == {hosts(n) for n in below if below[n][0] == "Nodes"}
