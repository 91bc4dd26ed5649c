#!/usr/bin/python3
"""Walks forwarding tables as opensm dumps them over a fabric as ibnetdiscover prints it: an independent count.

    check_lft.py same NET NET              the same nodes and cables, by GUID, port and description
    check_lft.py loads NET DUMP GRAPHML BY every host sends to the BY-th behind it: loads as in the GraphML export
    check_lft.py tables DUMP DUMP          the same tables, in any order of the switches
"""

import re
import sys
import xml.etree.ElementTree as xml


class Net:
    """Nodes: GUID -> (kind, description). Cables: (GUID, port) -> (GUID, port). Ports: port GUID -> (GUID, port)."""

    def __init__(self, path):
        self.nodes, self.cables, self.ports = {}, {}, {}
        guid = None
        for line in open(path):
            header = re.match(r'(Switch|Ca)\t(\d+) "[SH]-([0-9a-f]{16})"\t\t# "(.*)"', line)
            port = re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"[SH]-([0-9a-f]{16})"\[(\d+)\]', line)
            if header:
                guid = int(header[3], 16)
                assert guid not in self.nodes, line
                self.nodes[guid] = (header[1], header[4])
                if header[1] == "Switch":
                    self.ports[guid] = (guid, 0)
            elif port:
                here = (guid, int(port[1]))
                assert here not in self.cables, line
                self.cables[here] = (int(port[3], 16), int(port[4]))
                if port[2]:
                    self.ports[int(port[2], 16)] = here
        assert all(self.cables[there] == here for here, there in self.cables.items()), f"{path}: a cable with one end"


def read_dump(path):
    """Switch GUID -> {port GUID: port}."""
    tables, table = {}, None
    for line in open(path):
        head = re.match(r"Unicast lids \[.*\] of switch .* guid 0x([0-9a-f]+) \(", line)
        entry = re.match(r"0x[0-9a-f]+ (\d+) .*portguid 0x([0-9a-f]+):", line)
        if head:
            table = tables.setdefault(int(head[1], 16), {})
        elif entry:
            assert int(entry[2], 16) not in table, line
            table[int(entry[2], 16)] = int(entry[1])
    return tables


def same(one, two):
    a, b = Net(one), Net(two)
    assert a.nodes == b.nodes, "nodes differ"
    assert a.cables == b.cables, "cables differ"
    assert a.ports == b.ports, "port GUIDs differ"


def count(net, tables, by):
    """Flows over every (GUID, port) that a packet leaves."""
    hosts = sorted(
        (tuple(map(int, re.fullmatch(r"server-(\d+) HCA-(\d+)", text).groups())), guid)
        for guid, (kind, text) in net.nodes.items() if kind == "Ca")
    port_guid = {guid: text for text, (guid, _) in net.ports.items()}
    flows = {}
    for i, (_, source) in enumerate(hosts):
        target = hosts[(i + by) % len(hosts)][1]
        step = (source, 1)
        for _ in range(64):
            flows[step] = flows.get(step, 0) + 1
            at = net.cables[step][0]
            if at == target:
                break
            step = (at, tables[at][port_guid[target]])
        else:
            sys.exit(f"{net.nodes[source]} to {net.nodes[target]} runs in a circle")
    return hosts, flows


def loads(net_path, dump_path, graph_path, by):
    net = Net(net_path)
    hosts, flows = count(net, read_dump(dump_path), int(by))
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = xml.parse(graph_path).getroot().find(space + "graph")
    data = lambda element: {d.get("key"): d.text for d in element.iter(space + "data")}
    label = {node.get("id"): data(node)["n_label"] for node in graph.iter(space + "node")}
    guid = {text: number for number, (_, text) in net.nodes.items()}
    guid.update({f"nic-{i}": number for i, (_, number) in enumerate(hosts)})
    edges = [(label[e.get("source")], label[e.get("target")], data(e)) for e in graph.iter(space + "edge")]
    network = [e for e in edges if e[2]["e_kind"] in ("access", "fabric")]
    one = max(float(e[2]["load_fwd"]) for e in network if e[2]["e_kind"] == "access")  # every host sends one flow
    assert one > 0 and len(network) * 2 == len(net.cables)
    for lower, upper, edge in network:
        lower_port = 1 if edge["e_kind"] == "access" else int(edge["src_port"])
        for end, port, key in ((lower, lower_port, "load_fwd"), (upper, int(edge["dst_port"]), "load_rev")):
            counted = flows.pop((guid[end], port), 0)
            assert abs(float(edge[key]) - counted * one) < 1e-6 * one, (end, port, edge[key], counted, one)
    assert not flows, flows


def tables(one, two):
    a, b = read_dump(one), read_dump(two)
    assert a == b and len(a) > 0, "the tables differ"
    assert sorted(open(one)) == sorted(open(two)), "the lines differ"


if __name__ == "__main__":
    {"same": same, "loads": loads, "tables": tables}[sys.argv[1]](*sys.argv[2:])
