"""Loads of links by a tracer of its own: every flow is walked over the tables of OpenSM's dump, hop by hop.
Usage: check_traced.py LFTS.dump GRAPH.graphml FLOWS.csv"""
import collections
import csv
import re
import sys
import xml.etree.ElementTree as tree

tables, table = {}, None
for line in open(sys.argv[1], encoding="utf-8"):
    head = re.match(r"Unicast lids .* guid 0x[0-9a-f]+ \('(.*)'\):", line)
    entry = re.match(r"0x([0-9a-f]+) (\d+) # (Channel Adapter|Switch)", line)
    if head:
        table = tables[head[1]] = {}
    elif entry:
        table[int(entry[1], 16)] = (int(entry[2]), entry[3] == "Channel Adapter")

name, kind, server, ahead, loads, nic_of = {}, {}, {}, {}, {}, {}
for _, item in tree.iterparse(sys.argv[2]):
    tag, data = item.tag.split("}")[-1], {d.get("key"): d.text for d in item}
    if tag == "node":
        name[item.get("id")], kind[item.get("id")] = data["n_label"], data["n_kind"]
        server[item.get("id")] = data.get("n_server")
    elif tag == "edge":
        ends = item.get("source"), item.get("target")
        ports = data["src_port_name"], data["dst_port_name"]
        for i in (0, 1):
            ahead[ends[i], ports[i]] = (ends[1 - i], ports[1 - i])
            loads[ends[i], ports[i]] = float(data["load_fwd" if i == 0 else "load_rev"])
            if kind[ends[i]] == "gpu" and kind[ends[1 - i]] == "nic":
                nic_of[ends[i]] = ends[1 - i]
gpu = {int(name[n].split("-")[1]): n for n in name if kind[n] == "gpu"}
access = {end[0]: (end, far) for end, far in ahead.items() if kind[end[0]] == "nic" and kind[far[0]] == "switch"}
lid_at = {}  # the LID that a leaf hands over at a port
for switch in (n for n in name if kind[n] == "switch"):
    for lid, (port, is_adapter) in tables[name[switch]].items():
        if is_adapter and kind.get(ahead.get((switch, str(port)), ("",))[0]) == "nic":
            lid_at[switch, str(port)] = lid

found, n_flows, n_hops = collections.Counter(), 0, 0
for row in csv.DictReader(open(sys.argv[3], encoding="utf-8")):
    if server[gpu[int(row["src_gpu"])]] == server[gpu[int(row["dst_gpu"])]]:
        continue  # inside a server
    (start, (switch, _)), (_, last) = access[nic_of[gpu[int(row["src_gpu"])]]], access[nic_of[gpu[int(row["dst_gpu"])]]]
    found[start] += int(row["bytes"])
    lid = lid_at[last]
    while True:
        port = str(tables[name[switch]][lid][0])
        found[switch, port] += int(row["bytes"])
        n_hops += 1
        if (switch, port) == last:
            break
        switch = ahead[switch, port][0]
        assert kind[switch] == "switch", (row, switch)
    n_flows += 1
network = {end for end, far in ahead.items() if {kind[end[0]], kind[far[0]]} <= {"nic", "switch"}}
wrong = [(name[e[0]], e[1], found[e], loads[e]) for e in network if abs(found[e] - loads[e]) > 1e-6 * max(found[e], 1)]
assert not wrong, (len(wrong), wrong[:3])
assert n_flows > 100 and sum(found.values()) > 0
print(f"{n_flows} flows, {n_hops} hops: {len(network)} loads agree")
