"""Routes of FRR, made of a graph and traced by a walk of its own.
check_routes.py make GRAPH.graphml OUT SEED: `show ip route json` of every switch, a folder OUT; leaves of even numbers
know the others by a default route; some cables are out of service, or, of seeds that 3 divides, spines have weights.
check_routes.py trace ROUTES GRAPH.graphml FLOWS.csv: loads of every link where switches split by the routes' weights"""
import collections
import csv
import glob
import ipaddress
import json
import os
import random
import sys
import xml.etree.ElementTree as tree

import networkx


def read_graph(path):
    name, kind, server, ahead, loads, nic_of = {}, {}, {}, {}, {}, {}
    for _, item in tree.iterparse(path):
        tag, data = item.tag.split("}")[-1], {d.get("key"): d.text for d in item}
        if tag == "node":
            name[item.get("id")], kind[item.get("id")] = data["n_label"], data["n_kind"]
            server[item.get("id")] = data.get("n_server")
        elif tag == "edge":
            ends = item.get("source"), item.get("target")
            ports = [data.get("src_port_name") or "swp" + data.get("src_port", "0"), data.get("dst_port_name") or "swp" + data.get("dst_port", "0")]
            for i in (0, 1):
                ahead[ends[i], ports[i]] = (ends[1 - i], ports[1 - i])
                loads[ends[i], ports[i]] = float(data.get("load_fwd" if i == 0 else "load_rev", 0))
                if kind[ends[i]] == "gpu" and kind[ends[1 - i]] == "nic":
                    nic_of[ends[i]] = ends[1 - i]
    return name, kind, server, ahead, loads, nic_of


def blocks_of(name, kind, ahead):
    """Of every leaf its block, and the /31 of each of its ports to NICs."""
    result = {}
    for i, v in enumerate(sorted({v for (v, _), (w, _) in ahead.items() if kind[v] == "switch" and kind[w] == "nic"}, key=name.get)):
        block = list(ipaddress.ip_network(f"10.{i // 256}.{i % 256}.0/24").subnets(new_prefix=31))
        ports = sorted(p for (x, p), (w, _) in ahead.items() if x == v and kind[w] == "nic")
        result[v] = (f"10.{i // 256}.{i % 256}.0/24", dict(zip(ports, map(str, block))))
    return result


def make(graph_path, out, seed):
    rng = random.Random(seed)
    name, kind, _, ahead, _, _ = read_graph(graph_path)
    blocks = blocks_of(name, kind, ahead)
    cables = [(e, f) for e, f in ahead.items() if e < f and kind[e[0]] == kind[f[0]] == "switch"]
    dead = set()
    for e, f in rng.sample(cables, len(cables) // 12 if seed % 3 else 0):
        rest = networkx.Graph((a[0], b[0]) for a, b in cables if a not in dead and a != e)
        if networkx.has_path(networkx.Graph((a[0], b[0]) for a, b in cables), e[0], f[0]) and rest.has_node(e[0]) and rest.has_node(f[0]) \
                and networkx.has_path(rest, e[0], f[0]):
            dead |= {e, f}
    alive = networkx.Graph((a[0], b[0]) for a, b in cables if a not in dead)
    alive.add_nodes_from(v for v in kind if kind[v] == "switch")
    routes = {v: {} for v in kind if kind[v] == "switch"}
    for v, (_, ports) in blocks.items():
        for port, prefix in ports.items():
            routes[v][prefix] = [{"protocol": "connected", "selected": True, "nexthops": [{"fib": True, "directlyConnected": True, "interfaceName": port, "active": True}]}]
    def entry(ports, weights):
        hops = [{"fib": True, "active": True, "interfaceName": p, "weight": w, "afi": "ipv6", "ip": "fe80::1"} for p, w in zip(ports, weights)]
        rng.shuffle(hops)
        return [{"protocol": "kernel", "nexthops": [{"interfaceName": "eth0", "fib": True}]},
                {"protocol": "bgp", "selected": True, "installed": True, "nexthops": hops + [{"interfaceName": "swp999", "active": False}]}]
    for v in routes:
        groups = {}
        for leaf, (block, _) in blocks.items():
            if leaf == v:
                routes[v][block] = [{"protocol": "bgp", "selected": True, "nexthops": [{"blackhole": True, "fib": True, "unreachable": True}]}]
                continue
            far = networkx.single_source_shortest_path_length(alive, leaf)
            if v in far:
                groups[block] = tuple(sorted(p for (x, p), (w, _) in ahead.items()
                                             if x == v and (x, p) not in dead and kind[w] == "switch" and far.get(w, 1 << 30) == far[v] - 1))
        if v in blocks and len(set(groups.values())) == 1 and sorted(blocks).index(v) % 2 == 0:
            groups = {"0.0.0.0/0": next(iter(groups.values()))}
        for prefix, ports in groups.items():
            weights = [rng.randint(1, 3) if seed % 3 == 0 and v not in blocks else 1 for _ in ports]
            routes[v][prefix] = entry(ports, weights)
    os.makedirs(out)
    for v in routes:
        json.dump(routes[v], open(f"{out}/{name[v]}.json", "w"))
    json.dump({name[v]: routes[v] for v in routes}, open(f"{out}.all.json", "w"))


def trace(folder, graph_path, flows_path):
    name, kind, server, ahead, loads, nic_of = read_graph(graph_path)
    table = {}
    for path in glob.glob(f"{folder}/*.json"):
        rows = []
        for prefix, entries in json.load(open(path)).items():
            chosen = next((e for e in entries if e.get("selected")), None)
            if chosen:
                hops = [(h["interfaceName"], h.get("weight", 1)) for h in chosen["nexthops"] if h.get("fib") and "interfaceName" in h]
                rows.append((ipaddress.ip_network(prefix), hops, chosen["protocol"]))
        table[os.path.basename(path)[:-5]] = sorted(rows, key=lambda row: -row[0].prefixlen)
    number = {name[n]: n for n in name if kind[n] == "gpu"}
    access = collections.defaultdict(list)  # of a NIC its ports, one for each plane
    for e in sorted(ahead, key=lambda e: (e[0], int("0" + "".join(c for c in e[1] if c.isdigit())))):
        if kind[e[0]] == "nic" and kind[ahead[e][0]] == "switch":
            access[e[0]].append((e, ahead[e]))
    owned = {}
    for v in (n for n in kind if kind[n] == "switch"):
        for net, hops, protocol in table[name[v]]:
            if protocol == "connected" and (v, hops[0][0]) in ahead and kind[ahead[v, hops[0][0]][0]] == "nic":
                owned[v, hops[0][0]] = net.network_address + 1
    found = collections.Counter()
    flows = 0
    for row in csv.DictReader(open(flows_path, encoding="utf-8")):
        a, b = number[f"gpu-{row['src_gpu']}"], number[f"gpu-{row['dst_gpu']}"]
        if server[a] == server[b]:
            continue
        flows += 1
        for (start, (switch, _)), (_, last) in zip(access[nic_of[a]], access[nic_of[b]]):
            part = float(row["bytes"]) / len(access[nic_of[a]])
            found[start] += part
            here = {switch: part}
            for _ in range(20):
                there = collections.Counter()
                for v, amount in here.items():
                    if v == last[0]:
                        found[last] += amount
                        continue
                    _, hops, _ = next(r for r in table[name[v]] if owned[last] in r[0])
                    total = sum(w for _, w in hops)
                    assert total > 0, (name[v], name[last[0]])
                    for port, w in hops:
                        found[v, port] += amount * w / total
                        there[ahead[v, port][0]] += amount * w / total
                here = there
            assert not here
    network = {e for e, f in ahead.items() if {kind[e[0]], kind[f[0]]} <= {"nic", "switch"}}
    wrong = [(name[e[0]], e[1], found[e], loads[e]) for e in network if abs(found[e] - loads[e]) > 1e-6 * max(found[e], 1)]
    assert not wrong, (len(wrong), wrong[:3])
    assert flows > 4 and sum(found.values()) > 0
    print(f"{flows} flows: {len(network)} loads agree")


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]))
else:
    trace(*sys.argv[2:])
