"""htsim's files by another reading of their format, with networkx.

    check_htsim.py same FILE.topo FILE.graphml   the network that htsim builds is that of the design
    check_htsim.py cables FILE.topo...           their cables as lists (NAME.csv), by the names that fabriscope gives
    check_htsim.py found FILE.topo...            NAME.json, an audit against that list, finds nothing and misses no cable
    check_htsim.py random FOLDER SEED            random topologies, as htsim's own checks allow them
"""
import json
import os
import random
import sys

import networkx as nx


def read_topo(path):
    header, tiers = {}, {}
    section = header
    for line in open(path):
        words = line.split("#")[0].split()
        if not words:
            continue
        key, value = words[0].lower(), int(words[1])
        if key == "tier":
            section = tiers.setdefault(value, {})
        else:
            section[key] = value
    return header, tiers


def network(path):
    """As fat_tree_topology.cpp: counts from speeds and oversubscription, not from Radix_Up."""
    header, t = read_topo(path)
    n, pod = header["nodes"], header["podsize"]
    speed = [t[i]["downlink_speed_gbps"] for i in range(header["tiers"])]
    over = [t[i].get("oversubscribed", 1) for i in range(header["tiers"])]
    bundle = [t[i].get("bundle", 1) for i in range(header["tiers"])]
    pods = n // pod
    tors = pod // t[0]["radix_down"]
    tor_uplinks = n * speed[0] // (speed[1] * over[0])
    aggs = tor_uplinks // (pods * t[1]["radix_down"])
    graph = nx.MultiGraph()
    for host in range(n):
        graph.add_edge(f"host-{host}", f"tor-{host // t[0]['radix_down']}", speed=speed[0])
    for tor in range(tors * pods):
        for agg in range(aggs):
            for _ in range(bundle[1]):
                graph.add_edge(f"tor-{tor}", f"agg-{tor // tors * aggs + agg}", speed=speed[1])
    if header["tiers"] == 3:
        for agg in range(aggs * pods):
            for i in range(t[1]["radix_up"] // bundle[2]):
                for _ in range(bundle[2]):
                    graph.add_edge(f"agg-{agg}", f"core-{agg % aggs + aggs * i}", speed=speed[2])
    return graph


def simple(graph, kind_of):
    """Parallel cables as one edge with their number; hosts keep their number."""
    out = nx.Graph()
    for node in graph:
        out.add_node(node, kind=kind_of(node))
    for a, b, data in graph.edges(data=True):
        before = out.get_edge_data(a, b, {"n": 0})["n"]
        out.add_edge(a, b, n=before + 1, speed=data["speed"])
    return out


def designed(path):
    source = nx.read_graphml(path, force_multigraph=True)
    graph = nx.MultiGraph()
    for a, b, data in source.edges(data=True):
        if data["kind"] in ("access", "fabric"):
            graph.add_edge(a, b, speed=round(data["capacity_bps"] / 1e9))
    names = {v: source.nodes[v]["label"] for v in graph}
    return nx.relabel_nodes(graph, names)


def same(topo, graphml):
    ours = designed(graphml)
    theirs = network(topo)
    a = simple(ours, lambda v: "host-" + v.split("-")[1] if v.startswith("nic-") else v.split("-")[0])
    kinds = {"tor": "leaf", "agg": "spine", "core": "core"}
    b = simple(theirs, lambda v: v if v.startswith("host") else kinds[v.split("-")[0]])
    matcher = nx.isomorphism.GraphMatcher(a, b, nx.isomorphism.categorical_node_match("kind", None),
                                          nx.isomorphism.categorical_edge_match(["n", "speed"], [0, 0]))
    assert matcher.is_isomorphic(), "another network"


def cables(topos):
    for topo in topos:
        with open(os.path.basename(topo) + ".csv", "w") as f:
            print("A-node,Z-node,rate", file=f)
            for a, b, data in network(topo).edges(data=True):
                print(f"{a},{b},{data['speed']}Gb/s", file=f)


def found(topos):
    for topo in topos:
        name = os.path.basename(topo)
        audit = json.load(open(name + ".json"))["audit"]
        assert not audit["findings"], (name, audit["findings"][:2])
        sums = [sum(b[key] for b in audit["boundaries"]) for key in ("present_cables", "planned_cables")]
        lines = sum(1 for _ in open(name + ".csv")) - 1
        assert sums == [lines, lines], (name, sums, lines)


def make(folder, seed):
    rng = random.Random(seed)
    for i in range(12):
        tiers = rng.choice([2, 3])
        over = [rng.choice([1, 1, 2, 3]), rng.choice([1, 2])]
        bundle = [1, rng.choice([1, 2, 3]), rng.choice([1, 2])]
        tors, aggs = rng.randint(1, 4), rng.randint(1, 3)
        pods = rng.randint(1, 4) if tiers == 3 else 1
        up = [aggs * bundle[1], rng.randint(1, 3) * bundle[2]]
        down = [up[0] * over[0], tors * bundle[1], pods * bundle[2]]
        speed = [100, 100, 100]
        if tiers == 3:  # a speed of the top tier that makes the oversubscription whole
            total = down[1] * speed[1]
            if total % (up[1] * over[1]):
                over[1], speed = 1, [100 * up[1], 100 * up[1], 100 * down[1]]
            else:
                speed[2] = total // (up[1] * over[1])
        keys = lambda t: [f"Downlink_speed_Gbps {speed[t]}", f"Radix_Down {down[t]}", f"Downlink_Latency_ns {500 + t}",
                          f"Switch_Latency_ns {100 * t}"] + ([f"Radix_Up {up[t]}"] if t + 1 < tiers else []) + (
            [f"Bundle {bundle[t]}"] if bundle[t] > 1 else []) + (
            [f"Oversubscribed {over[t]}"] if t + 1 < tiers and over[t] > 1 else [])
        with open(f"{folder}/random-{i}.topo", "w") as f:
            hosts = down[0] * tors * pods
            head = [f"Nodes {hosts}", f"Tiers {tiers}", f"Podsize {hosts // pods}"]
            rng.shuffle(head)
            print("# made at random", *head, sep="\n", file=f)
            order = list(range(tiers))
            rng.shuffle(order)
            for t in order:
                lines = keys(t)
                rng.shuffle(lines)
                print(f"\nTier {t}", *lines, sep="\n", file=f)


if sys.argv[1] == "same":
    same(*sys.argv[2:])
elif sys.argv[1] == "cables":
    cables(sys.argv[2:])
elif sys.argv[1] == "found":
    found(sys.argv[2:])
else:
    make(sys.argv[2], int(sys.argv[3]))
