"""Simulated pairs of snapshots against what `observe` finds in them. Usage: check_observe.py PROGRAM seeds|large|forms"""
import json
import random
import resource
import subprocess
import sys

from drawn import drawn
from observe_pairs import Fabric, Job, snapshots, write_csv, write_prometheus

PROGRAM = sys.argv[1]


def name_of(fabric, link):
    """As the program prints the tail of a link: adapters by number, their ports into the network from 2."""
    node, port = link
    if " HCA-" in node:
        return f"nic-{fabric.adapters.index(node)}:"
    return f"{node}:{port} >"


def observe(design, engine, traffic, before, after, *more):
    done = subprocess.run([PROGRAM, "observe", design, "--counters", before, after, "--engine", engine, "--traffic", traffic,
                           "--json", "--quiet", "--threads", "1", *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["observe"]


def look(job, engine, traffic, seed, *more, **what):
    before, after = snapshots(job, seed, **what)
    write_csv("before.csv", before)
    write_csv("after.csv", after)
    return observe(job.fabric.design, engine, traffic, "before.csv", "after.csv", *more)


def names(suspect):
    return [suspect["name"]] + [o["link"] for o in suspect.get("others", [])]


def has_link(found, fabric, link):
    """The surest suspects are this link, or others of the same flows beside it."""
    own = name_of(fabric, link)
    return any(s["suspect"] == "slow-link" and any(n.startswith(own) for n in names(s)) for s in found["suspects"])


CASES = (("rail-spine:gpus=256,radix=32", "spray", "job"), ("rail-spine:gpus=256,radix=32", "dmodk", "pattern:shift,by=32"),
         ("clos:gpus=256,radix=16", "dmodk", "pattern:shift,by=96"), ("clos:gpus=128,radix=16,taper=2", "dmodk", "job"),
         ("rail-spine:gpus=256,radix=32", "ecmp", "job"))


def seeds():
    clean = false = pairs = 0
    hit = {"link": 0, "host": 0}
    extra = 0
    for design, engine, traffic in CASES:
        fabric = Fabric(PROGRAM, design)
        job = Job(fabric, engine, traffic, 1)
        # under a hash that nobody knows, links between switches are not judged one by one
        links = [l for l in job.used() if engine != "ecmp" or " HCA-" in l[0]]
        fabric_links = [l for l in links if " HCA-" not in l[0]] or links
        servers = sorted({server for server, _, _ in job.flows})
        for seed in drawn(range(12), lambda seed: f"{design} {engine} {seed}"):
            draw = random.Random(f"{design} {engine} {seed}")
            noise = {"skew": draw.choice((0, 0.001, 0.004)), "noise": draw.choice((0, 0.0005, 0.001)),
                     "tails": seed % 3 == 0}
            found = look(job, engine, traffic, seed, **noise)
            assert found["fits"] == (engine != "ecmp"), (design, engine, found["fitting_ratio"])
            assert found["unknown_ports"] == 0 and found["measured_links"] == found["links"]
            clean += not found["suspects"]
            false += len(found["suspects"])
            link = draw.choice(fabric_links if seed % 4 else links)
            found = look(job, engine, traffic, seed + 100, slow={link: 0.95}, propagates=engine == "dmodk", **noise)
            hit["link"] += has_link(found, fabric, link)
            extra += len(found["suspects"]) - 1
            server = draw.choice(servers)
            found = look(job, engine, traffic, seed + 200, late={server: 0.97}, **noise)
            hit["host"] += any(s["suspect"] == "late-host" and s["name"] == server for s in found["suspects"])
            extra += len(found["suspects"]) - 1
            pairs += 1
    print(f"{pairs} clean pairs: {clean} without a suspect, {false} suspects; {pairs} slow links: {hit['link']} found; "
          f"{pairs} late hosts: {hit['host']} found; {extra} suspects beside them")
    assert false == 0 and clean == pairs > 0
    assert hit["link"] == pairs and hit["host"] == pairs and extra == 0


def large():
    """4,096 GPUs: one link at 95 % and one host 3 % late in one pair, nothing in another, in 5 s of processor time."""
    design, engine, traffic = "rail-spine:gpus=4096", "dmodk", "job"
    fabric = Fabric(PROGRAM, design)
    job = Job(fabric, engine, traffic, 1)
    link = random.Random(4).choice([l for l in job.used() if " HCA-" not in l[0]])
    spent = []
    for what in ({}, {"slow": {link: 0.95}, "late": {"server-300": 0.97}}):
        before, after = snapshots(job, 0, **what)
        write_prometheus("before.prom", before)
        write_prometheus("after.prom", after)
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        found = observe(design, engine, traffic, "before.prom", "after.prom")
        spent.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start)
        if not what:
            assert not found["suspects"], found["suspects"][:3]
            continue
        assert len(found["suspects"]) == 2 and has_link(found, fabric, link), found["suspects"][:4]
        assert any(s["name"] == "server-300" for s in found["suspects"])
    print(f"4,096 GPUs: {max(spent):.2f} s of processor time")
    assert max(spent) < 5


def forms():
    """Resets, wraps, intervals that differ, ports of another fabric, a shorter snapshot."""
    design, engine, traffic = "clos:gpus=64,radix=16", "spray", "pattern:all-to-all"
    fabric = Fabric(PROGRAM, design)
    job = Job(fabric, engine, "pattern:shift,by=24", 1)
    traffic = "pattern:shift,by=24"
    before, after = snapshots(job, 1, skew=0, noise=0, background=0)
    ports = list(before)
    write_csv("b.csv", before, 100.0)
    write_csv("a.csv", after, 110.0)
    whole = observe(design, engine, traffic, "b.csv", "a.csv")
    assert whole["interval_s"] == 10 and abs(whole["iteration_s"] - 0.25) < 1e-6 and not whole["suspects"], whole
    # an independent sum: every load is that of the simulation
    loads = job.loads()
    for row in whole["loads"]:
        assert abs(row["measured_bytes"] - row["predicted_bytes"]) <= 1e-6 * row["measured_bytes"] + 8, row
    total = sum(row["measured_bytes"] for row in whole["loads"])
    assert abs(total - 40 * sum(loads.values())) < 1e-6 * total
    # counters of 64 bits wrap: the difference is counted on; one that was cleared is left out, and said
    wrapped = {p: list(c) for p, c in before.items()}
    behind = {p: list(c) for p, c in after.items()}
    port = next(p for p in ports if after[p][0] > before[p][0])
    wrapped[port][0] = 2**64 - 1000
    behind[port][0] = (wrapped[port][0] + after[port][0] - before[port][0]) % 2**64
    write_csv("b.csv", wrapped)
    write_csv("a.csv", behind)
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert found["wrapped_ports"] == 1 and found["reset_ports"] == 0 and not found["suspects"], found
    behind[port] = [5, 6, 7]
    write_csv("a.csv", behind)
    write_csv("b.csv", before)
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert found["reset_ports"] == 1 and found["first_reset"].startswith(port[0]) and not found["suspects"], found
    # a port that stands still is no slow link: its other end counts; a box that does was not read, and hides nothing
    dead = next(p for p in ports if p[0].startswith("spine") and min(after[p][i] - before[p][i] for i in (0, 1)) > 0)
    spine = [p for p in ports if p[0] == dead[0]]
    slow = next(l for l in job.used() if " HCA-" not in l[0] and dead[0] not in (l[0], *(c[1] for c in fabric.out[l[0]] if c[0] == l[1])))
    slow_before, slow_after = snapshots(job, 1, skew=0, noise=0, background=0, slow={slow: 0.95}, propagates=False)
    write_csv("b.csv", slow_before)
    for still, kinds in (([dead], ["slow-link", "unequal-ends"]), (spine, ["slow-link"])):
        write_csv("a.csv", {**slow_after, **{p: slow_before[p] for p in still}})
        found = observe(design, engine, traffic, "b.csv", "a.csv")
        moved = [p for p in still if sum(slow_after[p][:2]) > sum(slow_before[p][:2])]
        assert found["still_ports"] == len(moved) > 0 and found["first_still"] in [":".join(p) for p in moved], found
        assert sorted(s["suspect"] for s in found["suspects"]) == kinds and has_link(found, fabric, slow), found["suspects"]
        for s in found["suspects"]:
            assert s["suspect"] != "unequal-ends" or ":".join(dead) in s["evidence"] and s["deviation_ratio"] == -1, s
    # a boundary that spreads less than the hash could is as little explained by it as one that spreads more
    write_csv("b.csv", before)
    write_csv("a.csv", after)
    even = observe(design, "ecmp", traffic, "b.csv", "a.csv")["boundaries"]
    assert all(b["is_explained"] == (b["drawn_least_ratio"] <= b["measured_imbalance_ratio"] * 1.01 + 1e-9) for b in even), even
    assert any(not b["is_explained"] for b in even), even
    # half of the boxes read over another interval
    slow = {p: [b + (a - b) * (2 if p[0].startswith("leaf") else 1) for a, b in zip(after[p], before[p])] for p in ports}
    with open("a.csv", "w", encoding="ascii") as out:
        out.write("node,port,sent_bytes,received_bytes,time_s\n")
        for (node, number), counts in slow.items():
            out.write(f"{node},{number},{counts[0]},{counts[1]},{120 if node.startswith('leaf') else 110}\n")
    write_csv("b.csv", before, 100.0)
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert not found["suspects"] and found["fits"], found["suspects"][:2]
    # a port that no fabric has, one that one snapshot alone has, and errors at one
    write_csv("b.csv", before)
    write_csv("a.csv", {**after, ("leaf-99", "1"): [1, 2, 3]})
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert found["unknown_ports"] == 1 and found["first_unknown"] == "leaf-99:1"
    write_csv("b.csv", {p: c for p, c in before.items() if p != port})
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert found["lost_ports"] == 1 and not found["suspects"]
    with open("b.csv", "w", encoding="ascii") as out:
        out.write("node;port;sent;received;symbol_error;port_xmit_discards\n")
        out.writelines(f"{n};{p};{c[0]};{c[1]};3;0\n" for (n, p), c in before.items())
    with open("a.csv", "w", encoding="ascii") as out:
        out.write("node;port;sent;received;symbol_error;port_xmit_discards\n")
        out.writelines(f"{n};{p};{c[0]};{c[1]};{12 if (n, p) == port else 3};0\n" for (n, p), c in after.items())
    found = observe(design, engine, traffic, "b.csv", "a.csv")
    assert len(found["suspects"]) == 1 and found["suspects"][0]["suspect"] == "errors" and found["suspects"][0]["errors"] == 9
    assert "symbol-errors +9" in found["suspects"][0]["evidence"], found["suspects"]
    # another job than the one that ran is said to be that
    found = observe(design, engine, "pattern:ring", "b.csv", "a.csv")
    assert found["unpredicted_links"] > 0 or found["off_links"] > found["judged_links"] / 10, found


{"seeds": seeds, "large": large, "forms": forms}[sys.argv[2]]()
