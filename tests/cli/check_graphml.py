#!/usr/bin/python3
"""Checks a GraphML file of fabriscope: the portable dialect, and that networkx and igraph read what is in it.

    check_graphml.py FILE.graphml [REPORT.json]

With the JSON report of the same run, counts and loads must agree with it.
"""
import json
import math
import re
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
NMTOKEN = re.compile(r"[-.:\w]+\Z")
NETWORK_KINDS = ("access", "fabric")


class Problem(Exception):
    pass


def need(condition, message, *values):
    if not condition:
        raise Problem(message % values)


def check_dialect(path):
    """Streams through the file; returns the kinds of nodes and edges, and the bytes by tier and direction."""
    seen_graph = False
    keys = {}
    nodes = Counter()
    edges = Counter()
    loads = {}
    ids = set()
    for event, element in ElementTree.iterparse(path, events=("start", "end")):
        need(element.tag.startswith(NAMESPACE), "element %s is outside the GraphML namespace", element.tag)
        tag = element.tag[len(NAMESPACE):]
        if event == "start":
            if tag == "graph":
                need(not seen_graph, "more than one graph")
                seen_graph = True
                need(element.get("edgedefault") == "undirected", "edgedefault is %s", element.get("edgedefault"))
            continue
        need(tag not in ("port", "default", "hyperedge"), "element <%s> is not portable", tag)
        if tag == "key":
            need(not seen_graph, "key %s stands behind the graph", element.get("id"))
            need(NMTOKEN.match(element.get("id")), "key id %s", element.get("id"))
            keys[element.get("id")] = (element.get("for"), element.get("attr.name"))
        elif tag in ("node", "edge"):
            need(NMTOKEN.match(element.get("id")), "%s id %s", tag, element.get("id"))
            need(element.get("id") not in ids, "%s id %s occurs twice", tag, element.get("id"))
            ids.add(element.get("id"))
            data = {}
            for child in element:
                domain, name = keys[child.get("key")]
                need(domain == tag, "key %s on a %s", child.get("key"), tag)
                data[name] = child.text
            if tag == "node":
                need(data.get("label"), "node %s has no label", element.get("id"))
                nodes[data["kind"]] += 1
            else:
                edges[data["kind"]] += 1
                need(int(data["src_port"]) > 0 and int(data["dst_port"]) > 0, "edge %s has no ports", element.get("id"))
                if data["kind"] in NETWORK_KINDS and "load_fwd" in data:
                    for direction, name in (("up", "load_fwd"), ("down", "load_rev")):
                        place = (int(data["tier"]), direction)
                        loads[place] = loads.get(place, 0.0) + float(data[name])
            element.clear()
    need(len({place for place in keys.values()}) == len(keys), "an attribute has two keys")
    return nodes, edges, loads


def check_networkx(path, n_nodes, n_edges):
    import networkx

    graph = networkx.read_graphml(path, force_multigraph=True)
    need(graph.number_of_nodes() == n_nodes, "networkx reads %d nodes of %d", graph.number_of_nodes(), n_nodes)
    need(graph.number_of_edges() == n_edges, "networkx reads %d edges of %d", graph.number_of_edges(), n_edges)
    need(networkx.is_connected(graph), "the graph is not connected")
    need(len({d["label"] for _, d in graph.nodes(data=True)}) == n_nodes, "two nodes share a label")


def check_igraph(path, n_nodes, n_edges):
    import igraph

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = igraph.Graph.Read_GraphML(path)
    need(graph.vcount() == n_nodes, "igraph reads %d nodes of %d", graph.vcount(), n_nodes)
    need(graph.ecount() == n_edges, "igraph reads %d edges of %d", graph.ecount(), n_edges)
    need(graph.is_connected(), "the graph is not connected")
    for name in ("label", "kind", "tier"):
        need(name in graph.vs.attributes(), "igraph finds no node attribute %s", name)
    for name in ("kind", "capacity_bps", "src_port", "dst_port"):
        need(name in graph.es.attributes(), "igraph finds no edge attribute %s", name)


def check_report(report, nodes, edges, loads):
    fabric = report["fabric"]
    for kind, name in (("gpu", "gpus"), ("nic", "nics"), ("domain", "domains"), ("switch", "switches")):
        need(nodes[kind] == fabric[name], "%d nodes of kind %s, the report says %d", nodes[kind], kind, fabric[name])
    cables = sum(edges[kind] for kind in NETWORK_KINDS)
    need(cables == fabric["cables"], "%d cables, the report says %d", cables, fabric["cables"])
    if not loads:
        return
    expected = {place: 0.0 for place in loads}
    for phase in report.get("phases", []):
        for load in phase["engines"][0]["link_loads"] if phase["engines"] else []:
            expected[(load["tier"], load["direction"])] += load["bytes"]
    for place, value in expected.items():
        need(math.isclose(value, loads[place], rel_tol=1e-6, abs_tol=1), "%s: %g bytes, the report says %g", place,
             loads[place], value)


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    path = arguments[1]
    try:
        nodes, edges, loads = check_dialect(path)
        n_nodes = sum(nodes.values())
        n_edges = sum(edges.values())
        check_networkx(path, n_nodes, n_edges)
        check_igraph(path, n_nodes, n_edges)
        if len(arguments) == 3:
            with open(arguments[2], encoding="utf-8") as file:
                check_report(json.load(file), nodes, edges, loads)
    except Problem as problem:
        print(f"{path}: {problem}", file=sys.stderr)
        return 1
    print(f"{path}: {n_nodes} nodes, {n_edges} edges")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
