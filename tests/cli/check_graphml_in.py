"""What the GraphML reader makes of files, against networkx and igraph: boxes, cables, degrees, labels, rates.
Usage: check_graphml_in.py SITE_TOOL [FILE...]; without files random graphs, with and without directions."""
import collections
import random
import subprocess
import sys

import networkx

tool, files = sys.argv[1], sys.argv[2:]


def read(path):
    """Labels by name, pairs of names, rates by pair."""
    out = subprocess.run([tool, "list", path], check=True, capture_output=True, text=True).stdout
    lines = [line.split("\t") for line in out.splitlines()]
    labels = {f[1]: f[2] for f in lines if f[0] == "node"}
    cables = [(f[1], f[3], float(f[5])) for f in lines if f[0] == "cable"]
    return labels, cables


def pairs(edges):
    return collections.Counter(tuple(sorted((str(u), str(v)))) for u, v in edges)


for path in files:
    labels, cables = read(path)
    graph = networkx.read_graphml(path, force_multigraph=True)
    assert labels == {n: str(d.get("label", n)) for n, d in graph.nodes(data=True)}, path
    assert pairs((u, v) for u, v, _ in cables) == pairs(graph.edges()), path
    degrees = collections.Counter(n for u, v, _ in cables for n in (u, v))
    assert all(degrees[n] == graph.degree(n) for n in graph), path
    speeds = sorted(float(d.get("LinkSpeedRaw", d.get("capacity_bps", 0))) for _, _, d in graph.edges(data=True))
    assert sorted(rate for _, _, rate in cables) == speeds, path
    try:
        import igraph
    except ImportError:
        print("python3-igraph is not installed", file=sys.stderr)
        continue
    other = igraph.Graph.Read_GraphML(path)
    assert (other.vcount(), other.ecount()) == (len(labels), len(cables)), path
    assert sorted(other.degree()) == sorted(degrees[n] for n in labels), path

rng = random.Random(8)
for case in range(0 if files else 24):
    n = rng.randrange(2, 30)
    directed = case % 2 == 1
    graph = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    graph.add_nodes_from(f"box {i}\"<&>" if case == 5 else f"b{i}" for i in range(n))
    names = list(graph)
    ported = case % 3 == 0
    for i in range(rng.randrange(60)):
        u, v = rng.choice(names), rng.choice(names)
        if ported:  # a cable that stands there from both ends is one
            graph.add_edge(u, v, src_port=f"p{i}", dst_port=f"q{i}", rate="400Gb/s")
            if directed and rng.random() < 0.5:
                graph.add_edge(v, u, src_port=f"q{i}", dst_port=f"p{i}", rate="400Gb/s")
        else:
            graph.add_edge(u, v, capacity_bps=1e9 * (i + 1))
    networkx.write_graphml(graph, "random.graphml")
    labels, cables = read("random.graphml")
    assert set(labels) == set(names)
    if not directed:
        expected = pairs(graph.edges())
    elif ported:
        expected = pairs((u, v) for u, v, d in graph.edges(data=True) if d["src_port"][0] == "p")
    else:
        ways = collections.Counter((u, v) for u, v in graph.edges())
        expected = collections.Counter()
        for (u, v), count in ways.items():
            expected[tuple(sorted((u, v)))] = max(count, ways[(v, u)])
    assert pairs((u, v) for u, v, _ in cables) == expected, (case, expected)
    assert not ported or all(rate == 4e11 for _, _, rate in cables)
