#!/usr/bin/python3
"""ECMP routes of a permutation with networkx, as one would write them: search from the destination, walk at random.

What a peer is called with: scripts/bench.
Usage: peer_networkx.py check | run DESIGN host|leaf, with $FABRISCOPE
  host  one breadth-first search for every pair of hosts
  leaf  one for every leaf switch: what someone who knows fat-trees saves
"""

import collections
import csv
import io
import os
import random
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def fabriscope(*arguments):
    command = [os.environ["FABRISCOPE"], *arguments, "--quiet"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_network(networkx, text):
    """The switches, NICs and cables between them, node = label, and per tier the loads in flows that fabriscope found."""
    labels, kinds, loads = {}, {}, collections.Counter()
    network = networkx.Graph()
    for element in xml.fromstring(text).find(GRAPHML + "graph"):
        data = {d.get("key"): d.text for d in element.findall(GRAPHML + "data")}
        if element.tag == GRAPHML + "node":
            labels[element.get("id")], kinds[element.get("id")] = data["n_label"], data["n_kind"]
        elif element.tag == GRAPHML + "edge" and data["e_kind"] in ("access", "fabric"):
            source, target = element.get("source"), element.get("target")
            network.add_edge(labels[source], labels[target], tier=int(data["e_tier"]))
            loads[int(data["e_tier"])] += float(data["load_fwd"]) + float(data["load_rev"])
    return network, loads


def route(networkx, network, pairs, per_leaf, rng):
    """Flows on every directed link: each pair takes a random shortest path."""
    loads = collections.Counter()
    searches = {}
    for source, destination in pairs:
        root = destination
        if per_leaf:
            (root,) = network[destination]
            if root not in searches:
                searches[root] = networkx.predecessor(network, root)
            before = searches[root]
            path = [source]
            while path[-1] != root:
                path.append(rng.choice(before[path[-1]]))
            path.append(destination)
        else:
            before = networkx.predecessor(network, root)
            path = [source]
            while path[-1] != root:
                path.append(rng.choice(before[path[-1]]))
        loads.update(zip(path, path[1:]))
    return loads


def run(networkx, design, search):
    traffic = ["--traffic", "pattern:permutation"]
    matrix = fabriscope("traffic", design, *traffic, "--export", "-")
    graph = fabriscope("route", design, *traffic, "--engine", "ecmp", "--format", "graphml")
    network, ours = read_network(networkx, graph)
    rows = list(csv.DictReader(io.StringIO(matrix)))
    pairs = [(f"nic-{row['src']}", f"nic-{row['dst']}") for row in rows]
    flow_bytes = float(rows[0]["bytes"])

    start = time.process_time()
    loads = route(networkx, network, pairs, search == "leaf", random.Random(1))
    cpu_s = time.process_time() - start

    # Which links carry a flow is a matter of luck, how many of every tier is not.
    theirs = collections.Counter()
    for (a, b), flows in loads.items():
        theirs[network.edges[a, b]["tier"]] += flows
    if theirs != {tier: round(load / flow_bytes) for tier, load in ours.items()}:
        sys.exit(f"peer_networkx.py: flows by tier {dict(theirs)}, those of fabriscope {dict(ours)}")
    print(f"peer networkx {networkx.__version__}, search per {search}")
    print(f"cpu_s {cpu_s:.4f}")
    print(
        f"did random shortest paths of {len(pairs)} pairs by the predecessors of one search per {search}, "
        f"and the flows on every link, without building the graph ({len(network)} nodes); "
        "as many flows cross every tier as with ours"
    )


def main():
    try:
        import networkx
    except ImportError:
        print("python3-networkx")
        sys.exit(1)
    if sys.argv[1:] == ["check"]:
        return
    if len(sys.argv) != 4 or sys.argv[1] != "run" or sys.argv[3] not in ("host", "leaf"):
        sys.exit("usage: peer_networkx.py check | run DESIGN host|leaf")
    run(networkx, sys.argv[2], sys.argv[3])


if __name__ == "__main__":
    main()
