#!/usr/bin/python3
"""Checks that every format of one graph says the same, as programs that did not write it read it.

    check_exports.py readers FOLDER [GRAPHOLOGY]   g.graphml, g.gexf, g.yed.graphml and g.dot.json of one graph; the file
                                                   GRAPHOLOGY holds what graphology reads in the first three, a line each
    check_exports.py merged WHOLE VIEW FILE        FILE is the graph of WHOLE, merged by VIEW (pod, rail, plane, tier)
"""
import json
import math
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

G = "{http://graphml.graphdrawing.org/xmlns}"
Y = "{http://www.yworks.com/xml/graphml}"
X = "{http://www.gexf.net/1.2draft}"
VIZ = "{http://www.gexf.net/1.2draft/viz}"
TYPES = {"string": str, "int": int, "integer": int, "double": float}


class Problem(Exception):
    pass


def need(condition, message, *values):
    if not condition:
        raise Problem(message % values)


class Graph:
    """Nodes {id: attributes}, edges {id: (source, target, attributes)}; what is not known is left out."""

    def __init__(self, nodes=None, edges=None):
        self.nodes = nodes or {}
        self.edges = edges or {}

    def same(self, other, name, without=()):
        need(self.nodes.keys() == other.nodes.keys(), "%s: %d nodes of %d", name, len(other.nodes), len(self.nodes))
        need(self.edges.keys() == other.edges.keys(), "%s: %d edges of %d", name, len(other.edges), len(self.edges))
        for node, attributes in self.nodes.items():
            compare(attributes, other.nodes[node], f"{name}: node {node}", without)
        for edge, (source, target, attributes) in self.edges.items():
            ends = other.edges[edge][:2]
            need(set(ends) == {source, target}, "%s: edge %s joins %s", name, edge, ends)
            compare(attributes, other.edges[edge][2], f"{name}: edge {edge}", without)


def compare(expected, found, name, without):
    for key, value in expected.items():
        if key in without:
            continue
        need(key in found, "%s has no %s", name, key)
        if isinstance(value, str):
            need(found[key] == value, "%s: %s is %r, not %r", name, key, found[key], value)
        else:
            need(float(found[key]) == float(value), "%s: %s is %r, not %r", name, key, found[key], value)
    for key, value in found.items(): # nothing is made up
        need(key in expected, "%s: %s is %r, where nothing is known", name, key, value)


# --- readers ----------------------------------------------------------------------------------------------------------


def read_graphml(path):
    """By the letter of the format."""
    root = ElementTree.parse(path).getroot()
    keys = {k.get("id"): (k.get("attr.name"), TYPES.get(k.get("attr.type"))) for k in root.findall(G + "key")}
    out = Graph()
    places = {}

    def attributes_of(element):
        found = {}
        for data in element.findall(G + "data"):
            name, cast = keys[data.get("key")]
            if cast is not None:
                found[name] = cast(data.text)
        return found

    graph = root.find(G + "graph")
    for node in graph.findall(G + "node"):
        out.nodes[node.get("id")] = attributes_of(node)
        for geometry in node.iter(Y + "Geometry"):
            places[node.get("id")] = tuple(float(geometry.get(k)) for k in ("x", "y", "width", "height"))
    for edge in graph.findall(G + "edge"):
        out.edges[edge.get("id")] = (edge.get("source"), edge.get("target"), attributes_of(edge))
    return out, places


def by_networkx(path, kind):
    import networkx

    if kind == "gexf":
        graph = networkx.read_gexf(path)
        key_of = "id"
    else:
        graph = networkx.read_graphml(path, force_multigraph=True)
        key_of = None
    out = Graph({n: dict(d) for n, d in graph.nodes(data=True)})
    for source, target, key, data in graph.edges(keys=True, data=True) if graph.is_multigraph() else (
            (s, t, d["id"], d) for s, t, d in graph.edges(data=True)):
        data = dict(data)
        out.edges[data.pop("id") if key_of else key] = (source, target, data)
    return out


def by_igraph(path):
    import igraph

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = igraph.Graph.Read_GraphML(path)

    def known(attributes):
        return {k: v for k, v in attributes.items()
                if k != "id" and v is not None and v != "" and not (isinstance(v, float) and math.isnan(v))}

    ids = graph.vs["id"]
    out = Graph({v["id"]: known(v.attributes()) for v in graph.vs})
    for edge in graph.es:
        out.edges[edge["id"]] = (ids[edge.source], ids[edge.target], known(edge.attributes()))
    return out


def by_graphviz(path):
    """`dot -Tdot_json`: all values are texts."""
    own = {"id", "name", "_gvid", "tail", "head", "pos", "color", "style", "penwidth", "constraint", "fontname", "fontsize",
           "fontcolor", "height", "width", "margin", "shape"}
    with open(path, encoding="utf-8") as file:
        graph = json.load(file)
    nodes = [o for o in graph["objects"] if not o["name"].startswith("level_")]
    out = Graph({n["name"]: {k: v for k, v in n.items() if k not in own} for n in nodes})
    names = {o["_gvid"]: o["name"] for o in graph["objects"]}
    for edge in graph["edges"]:
        out.edges[edge["id"]] = (names[edge["tail"]], names[edge["head"]],
                                   {k: v for k, v in edge.items() if k not in own})
    places = {n["name"]: tuple(float(v) for v in n["pos"].rstrip("!").split(",")) for n in nodes}
    return out, places


def gexf_places(path):
    root = ElementTree.parse(path).getroot()
    return {n.get("id"): (float(n.find(VIZ + "position").get("x")), float(n.find(VIZ + "position").get("y")))
            for n in root.iter(X + "node")}


def strip(graph, *names):
    for attributes in graph.nodes.values():
        for name in names:
            attributes.pop(name, None)
    for _, _, attributes in graph.edges.values():
        for name in names:
            attributes.pop(name, None)
    return graph


def check_readers(folder, graphology):
    graph, _ = read_graphml(f"{folder}/g.graphml")
    need(graph.nodes and graph.edges, "the graph is empty")
    graph.same(by_networkx(f"{folder}/g.graphml", "graphml"), "networkx")
    graph.same(by_igraph(f"{folder}/g.graphml"), "igraph")
    places = ("x", "y")
    # yEd: the same attributes, and boxes around the same places
    yed, boxes = read_graphml(f"{folder}/g.yed.graphml")
    graph.same(yed, "yed", places)
    graph.same(strip(by_networkx(f"{folder}/g.yed.graphml", "graphml"), "shape_type", "x", "y"), "yed in networkx", places)
    for node, (x, y, width, height) in boxes.items():
        need(x + width / 2 == graph.nodes[node]["x"] and y + height / 2 == graph.nodes[node]["y"], "yed: place of %s",
             node)
    need(len(boxes) == len(graph.nodes), "yed: %d boxes", len(boxes))
    # GEXF
    graph.same(strip(by_networkx(f"{folder}/g.gexf", "gexf"), "viz", "weight"), "gexf in networkx", places)
    spots = gexf_places(f"{folder}/g.gexf")
    total = {round(graph.nodes[n]["y"] + y, 3) for n, (_, y) in spots.items()}
    need(len(total) == 1, "gexf: y is not the same picture upside down")
    need(all(graph.nodes[n]["x"] == x for n, (x, _) in spots.items()), "gexf: x")
    # DOT
    dot, spots = by_graphviz(f"{folder}/g.dot.json")
    graph.same(dot, "graphviz")
    need(len(spots) == len(graph.nodes), "graphviz: %d places", len(spots))
    if graphology is not None:
        with open(graphology, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        need(len(lines) == 3, "graphology read %d files", len(lines))
        for name, found in zip(("graphml", "yed", "gexf"), lines):
            read = Graph(found["nodes"], {k: tuple(v) for k, v in found["edges"].items()})
            if name == "yed": # graphology keeps what has no name
                strip(read, "")
            if name == "gexf":
                strip(read, "x", "y", "z", "size", "color", "weight", "shape")
            graph.same(read, f"{name} in graphology", () if name == "graphml" else places)
    print(f"{len(graph.nodes)} nodes, {len(graph.edges)} edges, {len(next(iter(graph.edges.values()))[2])} attributes")


# --- merged views -----------------------------------------------------------------------------------------------------


def check_merged(whole_path, view, path):
    """Sums, means and extremes of the whole graph, made here, against those of the merged one."""
    whole, _ = read_graphml(whole_path)
    merged, _ = read_graphml(path)
    group = {n: (a["kind"], a["tier"], a.get(view) if view != "tier" else None) for n, a in whole.nodes.items()}
    of = {}
    for node, attributes in merged.nodes.items():
        # gpus and domains without a pod and the like are groups of their own: their merged node has no such attribute
        key = (attributes["kind"], attributes["tier"], attributes.get(view) if view != "tier" else None)
        need(key not in of, "two nodes of %s", key)
        of[key] = node
    count = defaultdict(int)
    for node in whole.nodes:
        need(group[node] in of, "nobody stands for %s", group[node])
        count[of[group[node]]] += 1
    for node, attributes in merged.nodes.items():
        need(attributes["nodes"] == count[node], "%s stands for %d nodes, not %d", attributes["label"], count[node],
             attributes["nodes"])
    cables = defaultdict(list)
    for source, target, attributes in whole.edges.values():
        a, b = of[group[source]], of[group[target]]
        if a == b and attributes["kind"] != "fabric":
            continue
        flipped = int(a[1:]) > int(b[1:])
        cables[(b, a) if flipped else (a, b)].append((attributes, flipped))
    need(len(cables) == len(merged.edges), "%d edges, not %d", len(merged.edges), len(cables))
    for source, target, found in merged.edges.values():
        check_edge(cables[(source, target)], found)
    print(f"view {view}: {len(merged.nodes)} nodes, {len(merged.edges)} edges")


def check_edge(cables, found):
    def values(name, other=None):
        return [a[other if flipped and other else name] for a, flipped in cables if name in a]

    def near(name, value):
        need(math.isclose(found[name], value, rel_tol=1e-9, abs_tol=1e-9), "%s is %g, not %g", name, found[name], value)

    n = len(cables)
    near("cables", n)
    near("capacity_bps", sum(values("capacity_bps")))
    near("length_m", sum(values("length_m")) / n)
    if values("cost_usd"):
        near("cost_usd", sum(values("cost_usd")))
    for e in ("", "_2"):
        for way, back in (("fwd", "rev"), ("rev", "fwd")):
            loads = values(f"load_{way}{e}", f"load_{back}{e}")
            if not loads:
                continue
            near(f"load_{way}{e}", sum(loads))
            near(f"max_load_{way}{e}", max(loads))
            near(f"mean_load_{way}{e}", sum(loads) / n)
            use = values(f"utilisation_{way}{e}", f"utilisation_{back}{e}")
            near(f"utilisation_{way}{e}", max(use))
            near(f"mean_utilisation_{way}{e}", sum(use) / n)
        if values(f"collided{e}"):
            near(f"collided{e}", sum(values(f"collided{e}")))
            near(f"collision_factor{e}", max(values(f"collision_factor{e}")))
    if "failed" in found:
        near("failed", sum(values("failed")))
        left = sum(a["residual_ratio"] * a["capacity_bps"] for a, _ in cables)
        near("residual_ratio", left / sum(values("capacity_bps")))


def main(arguments):
    try:
        if arguments[1:2] == ["readers"] and len(arguments) in (3, 4):
            check_readers(arguments[2], arguments[3] if len(arguments) == 4 else None)
        elif arguments[1:2] == ["merged"] and len(arguments) == 5:
            check_merged(*arguments[2:])
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except Problem as problem:
        print(f"{' '.join(arguments[1:])}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
