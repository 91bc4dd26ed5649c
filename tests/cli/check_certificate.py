#!/usr/bin/python3
"""Checks a certificate of fabriscope against a GraphML export of the same fabric, with nothing but the standard library.

    check_certificate.py CERTIFICATE.csv FABRIC.graphml

Links and capacities must be those of the graph; loads must carry the demands over paths with the fewest links; the
largest utilisation must be `upper`; and the lengths must prove `lower`: see the formulas at the top of a certificate.
"""
import heapq
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
MAGIC = "# fabriscope-certificate 1"
LINK_NAME = re.compile(r"(\S+):(\d+) > (\S+):(\d+)\Z")
RELATIVE = 1e-9


class Problem(Exception):
    pass


def need(condition, message, *values):
    if not condition:
        raise Problem(message % values)


def near(value, expected, what):
    need(abs(value - expected) <= RELATIVE * max(abs(value), abs(expected)), "%s is %.17g, not %.17g", what, value,
         expected)


class Certificate:
    def __init__(self, path):
        self.bounds = {}
        self.links = []    # name, tail, head, capacity, load, length
        self.demands = []  # source, destination, rate
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        need(lines[0] == MAGIC, "the first line is not '%s'", MAGIC)
        n = 0
        while lines[n].startswith("#"):
            match = re.match(r"# (upper|lower)=(\S+)\Z", lines[n])
            if match:
                self.bounds[match[1]] = float(match[2])
            n += 1
        need(set(self.bounds) == {"upper", "lower"}, "no upper and lower in the comments")
        need(lines[n] == "link,capacity_bps,load_bps,length", "line %d is no header of links", n + 1)
        blank = lines.index("", n)
        need(lines[blank + 1] == "source,destination,rate_bps", "line %d is no header of demands", blank + 2)
        need(lines[-1] == "", "the last line is cut off")
        for line in lines[n + 1:blank]:
            name, capacity, load, length = line.split(",")
            match = LINK_NAME.match(name)
            need(match, "'%s' is no name of a link", name)
            self.links.append((name, match[1], match[3], float(capacity), float(load), float(length)))
        for line in lines[blank + 2:-1]:
            source, destination, rate = line.split(",")
            self.demands.append((source, destination, float(rate)))


def read_graph(path):
    """Capacity by name of directed link, of all links between switches."""
    names = {}
    label = {}
    capacities = {}
    for _, element in ElementTree.iterparse(path):
        tag = element.tag[len(NAMESPACE):]
        if tag == "key":
            names[element.get("id")] = element.get("attr.name")
        elif tag in ("node", "edge"):
            data = {names[child.get("key")]: child.text for child in element}
            if tag == "node":
                label[element.get("id")] = data["label"]
            elif data["kind"] == "fabric":
                a = f"{label[element.get('source')]}:{data['src_port']}"
                b = f"{label[element.get('target')]}:{data['dst_port']}"
                capacities[f"{a} > {b}"] = capacities[f"{b} > {a}"] = float(data["capacity_bps"])
            element.clear()
    return capacities


def check_links(links, capacities):
    seen = set()
    for name, _, _, capacity, load, length in links:
        need(name in capacities, "%s is no link of the graph", name)
        need(capacity == capacities[name], "%s has a capacity of %.17g, in the graph %.17g", name, capacity,
             capacities[name])
        need(load >= 0 and length >= 0, "%s has a load of %g and a length of %g", name, load, length)
        need(name not in seen, "%s occurs twice", name)
        seen.add(name)


def distances(destination, entering):
    """Of every switch: the fewest links to the destination, and the least sum of lengths along so few."""
    best = {}
    heap = [(0, 0.0, destination)]
    while heap:
        hops, length, switch = heapq.heappop(heap)
        if switch in best:
            continue
        best[switch] = (hops, length)
        for tail, more in entering[switch]:
            if tail not in best:
                heapq.heappush(heap, (hops + 1, length + more, tail))
    return best


def check_flow(links, demands, n_hops):
    """What enters a switch leaves it, and nothing takes a detour."""
    excess = defaultdict(float)
    total = sum(load for _, _, _, _, load, _ in links)
    for _, tail, head, _, load, _ in links:
        excess[tail] -= load
        excess[head] += load
    for source, destination, rate in demands:
        excess[source] += rate
        excess[destination] -= rate
    for switch, value in excess.items():
        need(abs(value) <= RELATIVE * max(total, 1), "%s receives %g bit/s more than it sends on", switch, value)
    near(total, n_hops, "the sum of the loads")


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        certificate = Certificate(arguments[1])
        check_links(certificate.links, read_graph(arguments[2]))
        entering = defaultdict(list)
        for _, tail, head, _, _, length in certificate.links:
            entering[head].append((tail, length))
        by_destination = defaultdict(list)
        for source, destination, rate in certificate.demands:
            by_destination[destination].append((source, rate))
        needed = 0.0
        n_hops = 0.0
        for destination, sources in by_destination.items():
            best = distances(destination, entering)
            for source, rate in sources:
                need(source in best, "no path from %s to %s", source, destination)
                n_hops += rate * best[source][0]
                needed += rate * best[source][1]
        check_flow(certificate.links, certificate.demands, n_hops)
        upper = max((load / capacity for _, _, _, capacity, load, _ in certificate.links), default=0.0)
        room = sum(length * capacity for _, _, _, capacity, _, length in certificate.links)
        lower = needed / room if room > 0 else 0.0
        near(upper, certificate.bounds["upper"], "the largest utilisation")
        near(lower, certificate.bounds["lower"], "the bound that the lengths prove")
    except (Problem, OSError, ValueError, IndexError, KeyError, ElementTree.ParseError) as problem:
        print(f"{arguments[1]}: {problem}", file=sys.stderr)
        return 1
    print(f"{arguments[1]}: proved, between {lower:.9g} and {upper:.9g}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
