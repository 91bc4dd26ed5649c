"""Weighted groups that are not minimal: what `file` puts on every link against a count of its own. Usage: check_groups.py PROGRAM

Some spines have no cables of their own to a leaf as their way, but the leaves that do not use them: two hops more, the same
for all members of a group."""
import collections
import csv
import io
import random
import subprocess
import sys
import xml.etree.ElementTree as xml

PROGRAM = sys.argv[1]


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def one(design, seed):
    rng = random.Random(seed)
    run("route", design, "--traffic", "pattern:shift,by=3", "--engine", "spray", "--dump", "t", "--force")
    lines = open("t", encoding="ascii").read().splitlines()
    ports, far = collections.defaultdict(dict), {}  # ports[a][b]: of a towards b
    for row in csv.DictReader(io.StringIO(run("build", design, "--format", "cables"))):
        a, b = row["A-node"].split(" HCA")[0], row["Z-node"].split(" HCA")[0]
        if "server" in a or "server" in b:
            continue
        for x, p, y in ((a, int(row["A-port"]), b), (b, int(row["Z-port"]), a)):
            ports[x].setdefault(y, []).append(p)
            far[x, p] = y
    leaves = sorted(n for n in ports if n.startswith("leaf"))
    spines = sorted(n for n in ports if n.startswith("spine"))
    group = {}
    for to in leaves:
        away = set(rng.sample(spines, rng.randint(1, len(spines) - 1)))
        others = [leaf for leaf in leaves if leaf != to]
        through = set(rng.sample(others, rng.randint(1, len(others))))
        for leaf in others:
            takes_away = leaf not in through and rng.random() < 0.7
            ups = [s for s in spines if (s in away) == takes_away]
            group[leaf, to] = [(p, rng.randint(1, 9)) for s in ups for p in ports[leaf][s]]
        for spine in spines:
            downs = through if spine in away else [to]
            group[spine, to] = [(p, rng.randint(1, 9)) for leaf in downs for p in ports[spine][leaf]]
    with open("w", "w", encoding="ascii") as out:
        for line in lines:
            words = line.split()
            key = tuple(words[:2])
            if key in group:
                line = f"{key[0]} {key[1]} " + ",".join(f"{p}*{w}" for p, w in sorted(group[key]))
            out.write(line + "\n")
    per = {}
    load = collections.Counter()
    flows = list(csv.DictReader(io.StringIO(run("route", design, "--traffic", "pattern:permutation", "--engine", "spray", "--format", "flows"))))
    run("route", design, "--traffic", "pattern:permutation", "--engine", "file,path=w", "--export", "w.graphml", "--force")
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = xml.parse("w.graphml").getroot().find(space + "graph")
    value = lambda item: {data.get("key"): data.text for data in item.findall(space + "data")}
    label = {node.get("id"): value(node)["n_label"] for node in graph.findall(space + "node")}
    found = {}
    for edge in graph.findall(space + "edge"):
        v = value(edge)
        a, b = label[edge.get("source")], label[edge.get("target")]
        if v["e_kind"] == "access":
            nic, leaf = (a, b) if not a.startswith("leaf") else (b, a)
            per[int(nic.rsplit("-", 1)[1])] = leaf
        if v["e_kind"] == "fabric":
            found[a, int(v["src_port"])] = float(v["load_fwd"])
            found[b, int(v["dst_port"])] = float(v["load_rev"])
    servers = int(design.split("gpus-per-server=")[1].split(",")[0])
    for row in flows:
        if int(row["src_gpu"]) // servers == int(row["dst_gpu"]) // servers:
            continue  # inside a server
        at, to, size = per[int(row["src_gpu"])], per[int(row["dst_gpu"])], float(row["bytes"])
        todo = [(at, size)]
        while todo:
            box, amount = todo.pop()
            if box == to:
                continue
            total = sum(w for _, w in group[box, to])
            for port, weight in group[box, to]:
                load[box, port] += amount * weight / total
                todo.append((far[box, port], amount * weight / total))
    for key, bytes_ in found.items():
        assert abs(bytes_ - load[key]) <= 1e-6 * max(load[key], 1), (design, seed, key, bytes_, load[key])
    assert any(load[key] > 0 for key in found)


for number in range(12):
    one(("clos:gpus=16,gpus-per-server=2,radix=8", "clos:gpus=48,gpus-per-server=4,radix=16,taper=2", "rail-spine:gpus=64,gpus-per-server=4,radix=16")[number % 3], number)
