"""Takes cables and switches out of a perfect dump of ibnetdiscover and tells the bisection before and after.
Usage: bisection_cases.py DUMP FOLDER: for every case NAME.net, NAME.plan.json (what an audit against the perfect dump must say)
and NAME.alone.json (what one without a plan must say: the bisection before only where the structure still shows it)."""
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import networkx

text = Path(sys.argv[1]).read_text()
out = Path(sys.argv[2])
GBPS = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}


def boxes_of(dump):
    """Name: (kind, label, {port: (far name, far port, bit/s)})"""
    boxes = {}
    for line in dump.split("\n"):
        head = re.match(r'(Switch|Ca)\s+\d+ "([^"]+)".*?# "([^"]*)"', line)
        port = re.match(r'\[(\d+)\].*?"([^"]+)"\[(\d+)\].*\s(\d+)x([A-Z]+)$', line)
        if head:
            at = head.group(2)
            boxes[at] = (head.group(1), head.group(3), {})
        elif port:
            rate = int(int(port.group(4)) * GBPS[port.group(5)] * 10**9)
            boxes[at][2][port.group(1)] = (port.group(2), port.group(3), rate)
    return boxes


def bisection(dump, servers):
    """Minimum cut between the NICs of the two halves of the servers."""
    boxes = boxes_of(dump)
    capacity = Counter()
    for at, (kind, label, ports) in boxes.items():
        for far, _, rate in ports.values():
            if kind == "Switch" and boxes[far][0] == "Switch":
                capacity[at, far] += rate
            elif kind == "Ca":
                first = servers.index(label.split()[0]) < len(servers) // 2
                capacity[("source", far) if first else (far, "sink")] += rate
    graph = networkx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for (tail, head), rate in capacity.items():
        graph.add_edge(tail, head, capacity=rate)
    return networkx.maximum_flow_value(graph, "source", "sink")


perfect = boxes_of(text)
servers = sorted({b[1].split()[0] for b in perfect.values() if b[0] == "Ca"}, key=lambda s: int(re.search(r"\d+", s).group()))
trunks = sorted({tuple(sorted([(at, port), far[:2]])) for at, b in perfect.items() if b[0] == "Switch"
                 for port, far in b[2].items() if perfect[far[0]][0] == "Switch"})
plugs = sorted({((at, port), far[:2]) for at, b in perfect.items() if b[0] == "Ca" for port, far in b[2].items()})
whole = bisection(text, servers)


def edited(cables, change):
    """The dump in which change(line) stands at both ends of these cables; None: nothing."""
    ends = {end for cable in cables for end in cable}
    lines, at = [], None
    for line in text.split("\n"):
        head = re.match(r'(?:Switch|Ca)\s+\d+ "([^"]+)"', line)
        at = head.group(1) if head else at
        port = re.match(r"\[(\d+)\]", line)
        lines.append(change(line) if port and (at, port.group(1)) in ends else line)
    return "\n".join(line for line in lines if line is not None)


def without(cables):
    """The dump without these cables, at both ends."""
    return edited(cables, lambda line: None)


def slowed(cables):
    """The dump with these cables at half the rate, at both ends."""
    return edited(cables, lambda line: re.sub("(NDR|HDR)$", lambda rate: {"NDR": "HDR", "HDR": "EDR"}[rate.group()], line))


def pair(cable):
    return tuple(sorted(end[0] for end in cable))


joined = networkx.Graph(pair(cable) for cable in trunks)
blocks = [{pair(c) for c in trunks if c[0][0] in part} for part in networkx.connected_components(joined)]


def shows(cables):
    """Whether most trunks of every block are as they were."""
    touched = {pair(cable) for cable in cables}
    return all(2 * len(block & touched) < len(block) for block in blocks)


def save(case, dump, alone):
    wanted = {"bisection_bps": bisection(dump, servers), "planned_bisection_bps": whole}
    (out / f"{case}.net").write_text(dump)
    (out / f"{case}.plan.json").write_text(json.dumps(wanted))
    if not alone:
        del wanted["planned_bisection_bps"]
    plugged = {b[1].split()[0] for b in boxes_of(dump).values() if b[0] == "Ca" and b[2]}
    if plugged == set(servers):  # others would not count, and move the halves
        (out / f"{case}.alone.json").write_text(json.dumps(wanted))


save("perfect", text, True)
for seed in range(6):
    rng = random.Random(seed)
    gone = rng.sample(trunks, 1 + seed * len(trunks) // 60)
    save(f"trunks{seed}", without(gone), shows(gone))
    save(f"many{seed}", without(rng.sample(trunks, len(trunks) // 3) + rng.sample(plugs, 1 + seed)), False)
save("slow", slowed(random.Random(7).sample(trunks, 3) + random.Random(8).sample(plugs, 1)), True)
for label in ("leaf-1", "spine-1"):
    box = next(at for at, b in perfect.items() if b[1] == label)
    cables = [((box, port), far[:2]) for port, far in perfect[box][2].items()]
    kept = without(cables).split("\n\n")
    peers = sum(b[1].startswith(label[:5]) for b in perfect.values())
    save(label, "\n\n".join(r for r in kept if not re.search(rf'^Switch\s+\d+ "{box}"', r, re.M)), peers >= 10)
