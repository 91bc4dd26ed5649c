"""Counts loads on a dump of ibnetdiscover by itself, and compares them with those of a GraphML export.
Usage: import_count.py DUMP MATRIX.csv EXPORT.graphml: GPU g is adapter g % 4 of the server g // 4, servers with four
adapters by their names; flows spread evenly over all next hops that come nearer (engine spray)."""
import collections
import csv
import re
import sys
import xml.etree.ElementTree as xml

dump, matrix, export = sys.argv[1:]
boxes, cables, current, device = {}, collections.defaultdict(list), None, None
for line in open(dump):
    if found := re.match(r"devid=0x(\w+)", line):
        device = found[1]
    elif found := re.match(r'(Switch|Ca)\t\d+ "([^"]+)"\s*# "(.*?)"', line):
        current = found[2]
        boxes[current] = (found[1], found[3].strip(), device)
    elif found := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\]', line):
        cables[current].append((int(found[1]), found[2], int(found[3])))

switches = {guid for guid, box in boxes.items() if box[0] == "Switch"}
adapters = {guid: box[1] for guid, box in boxes.items() if box[0] == "Ca" and box[2] != "cf09"}
assert len(adapters) == 542, len(adapters)
assert len(switches) == 40, len(switches)
leaves = {far for guid in adapters for _, far, _ in cables[guid]}
assert (len(leaves), len(switches - leaves)) == (31, 9)
assert sum(far in switches for guid in leaves for _, far, _ in cables[guid]) == 532

hosts = collections.defaultdict(dict)
for guid, label in adapters.items():
    if found := re.fullmatch(r"(\S+) (?:HCA-(\d+)|mlx5_(\d+))", label):
        hosts[found[1]][int(found[2]) - 1 if found[2] else int(found[3])] = guid
natural = lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
whole = sorted((name for name, nics in hosts.items() if len(nics) == 4), key=natural)
assert (len(whole), sum(len(nics) == 3 for nics in hosts.values())) == (109, 11)
gpus = [hosts[name][slot] for name in whole for slot in sorted(hosts[name])]


def distances(to):
    reached, queue = {to: 0}, collections.deque([to])
    while queue:
        at = queue.popleft()
        for _, far, _ in cables[at]:
            if far in switches and far not in reached:
                reached[far] = reached[at] + 1
                queue.append(far)
    return reached


load = collections.Counter()  # (box, port) that a cable is left through
for row in csv.DictReader(open(matrix)):
    source, target = gpus[int(row["src"])], gpus[int(row["dst"])]
    (port, leaf, _), (_, last, last_port) = cables[source][0], cables[target][0]
    size = float(row["bytes"])
    load[source, port] += size
    load[last, last_port] += size
    far_from = distances(last)
    share = collections.Counter({leaf: size})
    for hops in range(far_from[leaf], 0, -1):
        for box in [b for b in share if far_from[b] == hops]:
            nearer = [(p, far) for p, far, _ in cables[box] if far in switches and far_from[far] == hops - 1]
            for p, far in nearer:
                load[box, p] += share[box] / len(nearer)
                share[far] += share[box] / len(nearer)

space = "{http://graphml.graphdrawing.org/xmlns}"
graph = xml.parse(export).getroot().find(space + "graph")
value = lambda item: {data.get("key"): data.text for data in item.findall(space + "data")}
label = {node.get("id"): value(node)["n_label"] for node in graph.findall(space + "node")}
guid_of = {box[1]: guid for guid, box in boxes.items() if box[2] != "cf09"}
n_loaded = 0
for edge in graph.findall(space + "edge"):
    v = value(edge)
    if v["e_kind"] not in ("access", "fabric"):
        continue
    ends = [(label[edge.get("source")], v["src_port"], v["load_fwd"]), (label[edge.get("target")], v["dst_port"], v["load_rev"])]
    for name, port, bytes_ in ends:
        guid = guid_of[name]
        wanted = load[guid, int(port) if guid in switches else cables[guid][0][0]]
        assert abs(float(bytes_) - wanted) <= 1e-6 * max(wanted, 1), (name, port, bytes_, wanted)
        n_loaded += wanted > 0
assert n_loaded == sum(bytes_ > 0 for bytes_ in load.values()) > 20, (n_loaded, len(load))
