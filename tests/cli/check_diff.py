#!/usr/bin/env python3
"""Compares what `diff` says with what two runs of `route` say: times from their reports, collisions from the loads of
their GraphML exports, causes from what was changed. check_diff.py PROGRAM SEED PAIRS"""
import json
import random
import re
import statistics
import subprocess
import sys
import jsonschema
import xml.etree.ElementTree as tree

PROGRAM, SEED, PAIRS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SCHEMA = json.loads(subprocess.run([PROGRAM, "schema", "result"], capture_output=True, check=True).stdout)
CHECK = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout


def diff(*arguments, code=0):
    report = json.loads(run("diff", *arguments, "--json", "--quiet", code=code))
    CHECK.validate(report)
    return report["diff"]


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-300)


def mean_of(figure):
    """Of several seeds the mean."""
    return figure["mean"] if isinstance(figure, dict) else figure


def collided(design, options):
    """Names of the links between switches that are offered more than they carry, by their ends."""
    run("route", design, *options, "--export", "loads.graphml", "--force", "--quiet")
    graph = tree.parse("loads.graphml").getroot().find(NAMESPACE + "graph")
    label = {}
    found = {}
    for node in graph.iter(NAMESPACE + "node"):
        label[node.get("id")] = next(d.text for d in node if d.get("key") == "n_label")
    for edge in graph.iter(NAMESPACE + "edge"):
        data = {d.get("key"): d.text for d in edge}
        if data["e_kind"] != "fabric":
            continue
        ends = [f"{label[edge.get('source')]}:{data['src_port']}", f"{label[edge.get('target')]}:{data['dst_port']}"]
        for way, key in ((ends, "utilisation_fwd"), (ends[::-1], "utilisation_rev")):
            if float(data[key]) > 1 + 1e-9:
                found[" > ".join(way)] = float(data[key])
    return found


def check_pair(draw):
    """Two random states of one design, phase by phase and link by link."""
    design, n_servers, jobs = draw.choice([
        ("preset:llama3-talk-racks", 6, ["model=llama2-7b,tp=8,pp=2,dp=2", "model=llama2-7b,tp=8,pp=1,dp=4"]),
        ("clos:gpus=128,radix=16,gpus-per-server=4", 32, ["model=llama2-7b,tp=4,pp=2,dp=2", "model=llama2-7b,tp=4,pp=1,dp=4"]),
        ("rail-spine:gpus=128,radix=16,gpus-per-server=4,taper=2", 32, ["model=llama2-7b,tp=4,pp=2,dp=2"]),
    ])
    job = draw.choice(jobs)
    engine = draw.choice(["pinned", "dmodk", "ecmp,qp=2", "spray", "ecmp"])
    states = []
    for _ in range(2):
        servers = draw.sample(range(n_servers), 4)
        states.append(",".join(map(str, servers)))
    if draw.random() < 0.3:
        states[1] = states[0]
    elif draw.random() < 0.4:  # the same servers in another order
        states[1] = ",".join(draw.sample(states[0].split(","), 4))
    common = ["--engine", engine, "--seeds", draw.choice("18")]
    report = diff(design, "--job", job, *common, "--before", f"servers={states[0]}", "--after", f"servers={states[1]}")
    runs = [json.loads(run("route", design, "--job", f"{job},servers={s}", *common, "--json", "--quiet"))
            for s in states]
    found = report["engines"][0]
    for key, side in (("before_s", runs[0]), ("after_s", runs[1])):
        assert near(found[key], side["iteration"][0]["time_s"]), (states, key)
        for phase, own in zip(found["phases"], side["phases"]):
            assert phase["name"] == own["name"] and near(phase[key], mean_of(own["engines"][0]["time_s"])), (states, phase)
    new, gone = set(), set()
    for phase in found["phases"]:
        loads = [collided(design, ["--job", f"{job},servers={s}", *common, "--traffic", f"job:{phase['name']}"])
                 for s in states]
        assert phase["new_links"] == len(set(loads[1]) - set(loads[0])), (states, phase)
        assert phase["gone_links"] == len(set(loads[0]) - set(loads[1])), (states, phase)
        new |= set(loads[1]) - set(loads[0])
        gone |= set(loads[0]) - set(loads[1])
        for link in found["links"]:
            if link["phase"] == phase["name"]:
                of = loads[1] if link["is_new"] else loads[0]
                factor = link["after" if link["is_new"] else "before"]["factor"]
                assert near(of[link["link"]], factor), (states, link["link"])
    assert found["new_links"] == len(new) and found["gone_links"] == len(gone)
    if "that did not" in report["verdict"]:  # both, or neither
        assert (f"that did not, {len(gone)} no more" in report["verdict"]) == bool(gone), (report["verdict"], gone)
    assert {link["link"] for link in found["links"]} <= new | gone
    check_servers(report, *[list(map(int, s.split(","))) for s in states])
    check_undone(report, design, job, common, *[list(map(int, s.split(","))) for s in states])
    return report


def places_of(before, after):
    """Places that are one change: those whose servers have changed among themselves, else each that has another."""
    left, groups = [i for i, (a, b) in enumerate(zip(before, after)) if a != b], []
    while left:
        group, last = [left[0]], after.index(before[left[0]]) if before[left[0]] in after else None
        while last is not None and last != left[0]:
            group.append(last)
            last = after.index(before[last]) if before[last] in after else None
        group = sorted(group) if last is not None else left[:1]
        groups.append(group)
        left = [i for i in left if i not in group]
    return groups


def names_of(servers, places):
    return ", ".join(f"server-{servers[i]}" for i in places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def check_servers(report, before, after):
    """Every rank group that runs elsewhere is a change, those that changed places among themselves one; no others are."""
    expected = [(names_of(before, g), names_of(after, g)) for g in places_of(before, after)]
    assert [(c["before"], c["after"]) for c in report["changes"] if c["kind"] == "server"] == expected, (before, after)


def check_undone(report, design, job, common, before, after):
    """What is said of a change alone undone is what `route` finds there."""
    n = 0
    causes = [c for c in report["changes"] if c["is_cause"]]
    for change, places in zip([c for c in report["changes"] if c["kind"] == "server"], places_of(before, after)):
        if "undone_s" not in change:
            continue
        servers = list(after)
        for at in places:
            servers = [servers[at] if s == before[at] else s for s in servers]
            servers[at] = before[at]
        own = json.loads(run("route", design, "--job", f"{job},servers={','.join(map(str, servers))}", *common, "--json",
                             "--quiet"))
        assert near(own["iteration"][0]["time_s"], change["undone_s"]), change
        n += 1
    e = report["engines"][0]
    if report["is_verified"]:
        assert causes
        if len(causes) == 1:
            far = 0.1 * abs(e["after_s"] - e["before_s"]) * (1 + 1e-9)
            assert abs(causes[0]["undone_s"] - e["before_s"]) <= far and abs(causes[0]["alone_s"] - e["after_s"]) <= far
    else:
        assert e["is_draw"] or not causes
    return n


def causes_of(report):
    return [(c["kind"], c["what"]) for c in report["changes"] if c["is_cause"]]


def check_mutations():
    """One change that matters, named among others that do not."""
    talk = ["preset:llama3-talk-racks", "--engine", "pinned"]
    report = diff(*talk, "--before", "servers=0-3", "--after", "servers=0-2,4", "--after",
                  "degrade=gpu-47=0.5")
    assert report["is_verified"] and causes_of(report) == [("server", "ranks 24-31")], report["changes"]
    assert "server-2 and server-4 are both in destination slice 0 (their numbers are even)" in report["cause"]
    assert "shares 8 uplinks of leaf-0, 16 before" in report["cause"], report["cause"]
    assert not report["tests"], "the only free server has a slow GPU and is not tried"
    report = diff(*talk, "--before", "servers=3,0,4,2", "--after", "servers=0,3,4,2")
    assert report["is_verified"] and causes_of(report) == [("server", "exchange of ranks 0-7, 8-15")]
    assert "server-0, server-3 run where server-3, server-0 ran; undone, it takes 29.11 s again" in report["cause"]
    change, = report["changes"]
    assert near(change["undone_s"], report["engines"][0]["before_s"]) and near(change["alone_s"], report["engines"][0]["after_s"])
    report = diff(*talk, "--before", "servers=3,0,4,2", "--after", "servers=0,4,3,2", "--after", "fail=leaf-0:20")
    assert [c["what"] for c in report["changes"]] == ["rotation of ranks 0-7, 8-15, 16-23", "leaf-0:20"]
    report = diff(*talk, "--before", "servers=0-3", "--after", "servers=0-2,4")
    assert [(t["what"], t["returns"], t["holds"]) for t in report["tests"]] == [("server-5 in its place", True, True)]
    assert "destination slice 0" in report["cause"] and report["engines"][0]["new_links"] == 8
    report = diff(*talk, "--before", "servers=0-3", "--after", "servers=0-2,4", "--before", "fail=leaf-2:32", "--after", "fail=leaf-2:32")
    assert causes_of(report) == [("server", "ranks 24-31")] and not report["tests"][0]["holds"]
    assert "slice" not in report["cause"], "what a trial refutes is not said"
    report = diff(*talk, "--job", "servers=0-3", "--after", "fail=leaf-0:20", "--after", "fail=spine-0:3")
    assert report["is_verified"] and causes_of(report) == [("failure", "leaf-0:20")], report["changes"]
    report = diff(*talk, "--job", "servers=0-3", "--after", "degrade=gpu-9=0.5")
    assert causes_of(report) == [("failure", "gpu-9")] and report["engines"][0]["time_ratio"] > 1.4
    report = diff(*talk, "--job", "servers=0-3", "--after", "degrade=gpu-40=0.5")
    assert report["engines"][0]["time_ratio"] == 1 and causes_of(report) == []
    report = diff(*talk, "--job", "servers=0-3", "--after", "fail=server-3", "--tolerance", "1.5", code=1)
    assert report["stopped"] and causes_of(report) == [("failure", "server-3")] and report["is_beyond"]
    report = diff("clos:gpus=256,radix=32", "--job", "model=llama3-8b", "--engine", "spray", "--after", "fabric.taper=4",
                  "--after", "fabric.nic-latency=1us")
    assert ("setting", "fabric.taper") in causes_of(report), report["changes"]
    check_sets(talk)
    check_means()
    check_hidden()
    check_equals()
    run("route", *talk, "--job", "servers=0-3", "--dump", "tuesday.tables", "--quiet", "--force")
    text = open("tuesday.tables").read()
    check_tables(talk, text)


def check_sets(talk):
    """What makes the difference from the first state, and is missed when it is undone: one change, some together, or each."""
    moved = ["clos:gpus=256", "--job", "model=llama3-8b,n-servers=16", "--engine", "spray", "--before", "servers=0-15",
             "--after", "servers=0-14,20", "--after"]
    server, swap = ("failure", "server-20"), ("server", "ranks 120-127")
    report = diff(*moved, "degrade=server-20=0.8")  # the new server is slow: neither harms without the other
    assert report["is_verified"] and causes_of(report) == [swap, server] and "no change alone; together" in report["cause"]
    assert "one of them undone, it takes 3.372 s again" in report["cause"], report["cause"]
    for change in report["changes"]:
        assert near(change["undone_s"], report["engines"][0]["before_s"]) and near(change["alone_s"], change["undone_s"])
    report = diff(*moved, "degrade=gpu-160=0.7")
    assert causes_of(report) == [swap, ("failure", "gpu-160")] and "no change alone; together" in report["cause"]
    report = diff(*moved, "degrade=gpu-100=0.7")  # the move is harmless; a GPU that was there is slow
    assert report["is_verified"] and causes_of(report) == [("failure", "gpu-100")] and "this alone does it" in report["cause"]
    report = diff(*moved, "degrade=gpu-100=0.7", "--after", "degrade=gpu-80=0.7")  # two, and each is as slow
    assert report["is_verified"] and len(causes_of(report)) == 2 and "each of these alone: gpu-100" in report["cause"]
    report = diff(*talk, "--before", "servers=0-3", "--after", "servers=0-2,4", "--after", "fail=leaf-2:32")
    assert [c[0] for c in causes_of(report)] == ["server", "failure"], report["cause"]  # half is of the move alone
    assert "again; the first alone undone, it takes" in report["cause"] and " % of it" in report["cause"], report["cause"]
    report = diff(*talk, "--job", "servers=0-3", "--after", "fail=server-3", "--after", "fail=server-2")
    assert report["is_verified"] and len(causes_of(report)) == 2 and "each of these alone" in report["cause"]


def check_equals():
    """Servers that were exchanged send over a slow cable and past a missing one: with either they take as long, and neither alone explains it."""
    run("build", "rail-spine:gpus=256,radix=32,taper=4", "--export", "base.cables.csv", "--quiet", "--force")
    rows = open("base.cables.csv").read().split("\n")
    other = {"server-3": "server-20", "server-20": "server-3"}
    swapped = [" ".join([other.get(r.split(" ")[0], r.split(" ")[0])] + r.split(" ")[1:]) for r in rows]
    slow = [r.replace("400Gb/s", "200Gb/s") if r.startswith("leaf-1,18,") else r for r in swapped]
    job = ["--job", "model=llama3-70b,tp=8,pp=2,zero=1", "--engine"]
    reports = {}
    for name, lines in (("slow", slow), ("gone", swapped), ("both", slow)):
        open(f"{name}.cables.csv", "w").write("\n".join(r for r in lines if name == "slow" or not r.startswith("leaf-5,17,")))
        reports[name] = diff("base.cables.csv", f"{name}.cables.csv", *job, "spray")
    after = [reports[n]["engines"][0]["after_s"] for n in reports]
    assert max(after) - min(after) < 1e-3 * after[0] and [len(causes_of(reports[n])) for n in reports] == [2, 2, 3], reports
    assert "in place of one of these does as much: cable leaf-5:17 > spine-0:11 is gone; undone together" in reports["both"]["cause"], reports["both"]["cause"]
    report = diff("base.cables.csv", "both.cables.csv", *job, "ecmp,qp=4")
    e, (move, cable, missing) = report["engines"][0], report["changes"]
    parts = [round(100 * (c["alone_s"] - e["before_s"]) / (e["after_s"] - e["before_s"])) for c in (move, cable)]
    assert f"alone they make {parts[0]}, {parts[1]} % of it" in report["cause"] and parts[0] > 50, report["cause"]
    assert sum(c["is_cause"] or c.get("is_uncertain", False) for c in report["changes"]) == 2 and causes_of(report), report["changes"]


def check_hidden():
    """A slower GPU makes all of it, and hides a slower scale-up domain, which is a part once the GPU is as before."""
    for gpu, name in (("h100-80gb", "base.xml"), ("a100-80gb", "slow.xml")):
        open(name, "w").write(f'''<design><fabric family="clos" gpus="64"><tier level="1" radix="16"/></fabric>
            <job model="gpt-1.7b" tp="8" dp="8" batch="64" gpu="{gpu}"/></design>''')
    report = diff("base.xml", "slow.xml", "--engine", "spray")
    assert report["is_verified"] and len(causes_of(report)) == 2, report
    assert "job.job.gpu is a100-80gb" in report["cause"] and "; undone, it takes" in report["cause"] and "this alone" not in report["cause"]
    assert report["cause"].endswith("again with what it hides undone as well: fabric.domain-rate is 2400Gb/s, was default")


def check_means():
    """Several draws of what has failed are the mean of each alone; without a number of seeds there are eight."""
    for engine, after in (("ecmp", "fail=leaf-0:40"), ("ecmp,qp=2", "degrade=spine-1=0.5"), ("ecmp", "degrade=gpu-250=0.5")):
        same = ["clos:gpus=256", "--job", "model=llama3-8b,n-servers=16", "--engine", engine, "--after", after]
        found = diff(*same)["engines"][0]
        alone = [diff(*same, "--seed", str(seed), "--seeds", "1")["engines"][0] for seed in range(1, 9)]
        assert found["draws"] == 8 and not found["is_draw"]
        for key in ("before_s", "after_s"):
            times = [e[key] for e in alone]
            assert near(found[key], statistics.mean(times)), (after, key, found[key], times)
        if after == "degrade=gpu-250=0.5":
            assert found["time_ratio"] == 1 or abs(found["time_ratio"] - 1) < 1e-12, found
            continue
        mean = {key: statistics.mean(e[key] for e in alone) for key in ("before_s", "after_s")}
        apart = [e["after_s"] / mean["after_s"] - e["before_s"] / mean["before_s"] for e in alone]  # the same seed of both
        width = 2.3646 * statistics.stdev(apart) / 8 ** 0.5 * mean["before_s"]
        assert abs(found["interval_s"] - width) < 1e-3 * width, (found["interval_s"], width)


def check_tables(talk, text):
    """A table that sends what two uplinks of leaf-0 carried over one of them."""
    options = talk[:1] + ["--job", "servers=0-3"]
    same = diff(*options, "--before", "engine=file,path=tuesday.tables", "--after", "engine=file,path=tuesday.tables")
    assert same["verdict"] == "Nothing differs", same["verdict"]
    assert "leaf-0 leaf-1 17 18 19" in text
    open("today.tables", "w").write(text.replace("leaf-0 leaf-1 17 18 19", "leaf-0 leaf-1 17 17 19"))
    report = diff(*options, "--before", "engine=file,path=tuesday.tables", "--after", "engine=file,path=today.tables")
    assert [c[0] for c in causes_of(report)] == ["engine"], report["changes"]
    links = report["engines"][0]["links"]
    assert [link["link"] for link in links] == ["leaf-0:17 > spine-0:1", "spine-0:2 > leaf-1:17"], links
    assert [f["dst_rank"] for f in links[0]["before"]["listed"]] == [16]
    assert [f["dst_rank"] for f in links[0]["after"]["listed"]] == [16, 17]
    assert "shares 15 uplinks of leaf-0, 16 before" in report["cause"], report["cause"]


def cable_ends(lines):
    """Ports of an ibnetdiscover dump: (node, port) to (line, far node, far port)."""
    node, ends = None, {}
    for number, line in enumerate(lines):
        head = re.match(r'(?:Switch|Ca)\s+\d+\s+"([^"]+)"', line)
        node = head.group(1) if head else node
        end = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s*"([^"]+)"\[(\d+)\]', line)
        if end:
            ends[node, int(end.group(1))] = (number, end.group(2), int(end.group(3)))
    return ends


def swap(lines, first, second):
    """Exchanges what is plugged in at two ports."""
    ends = cable_ends(lines)
    places = [ends[first][0], ends[second][0]] + [ends[ends[p][1:]][0] for p in (first, second)]
    heads = [re.match(r'\[\d+\](\([0-9a-f]+\))?', lines[p]).group(0) for p in places]
    tails = [lines[p][len(h):] for p, h in zip(places, heads)]
    for place, head, tail in zip(places, heads, (tails[1], tails[0], tails[3], tails[2])):
        lines[place] = head + tail


def check_dumps(draw):
    """Dumps of one network: cables that were swapped, pulled, or came up slower."""
    text = run("build", "preset:llama3-talk-racks", "--format", "ibnet", "--quiet")
    open("tuesday.net", "w").write(text)
    options = ["--set", "gpus-per-server=8", "--job", "model=llama2-7b,tp=8,pp=2,dp=2,servers=0-3"]
    leaf = "S-02fab10000000%d00"
    renamed = re.sub(r'"leaf-', '"rack', re.sub(r'"server-(\d+) ', r'"host\1 ', text))
    open("today.net", "w").write(renamed)
    report = diff("tuesday.net", "today.net", *options, "--engine", "pinned")
    assert report["verdict"] == "Nothing differs" and not report["changes"], "boxes are told by their GUIDs"
    for kind in ["swapped", "pulled", "slower"] * 2:
        lines = text.split("\n")
        ports = [(leaf % draw.randrange(2), draw.randrange(17, 33)) for _ in range(2)]
        ports[1] = (leaf % 0 if ports[0][0] == leaf % 1 else leaf % 1, ports[1][1])
        ends = cable_ends(lines)
        here, there = ends[ports[0]][0], ends[ends[ports[0]][1:]][0]
        if kind == "swapped":
            swap(lines, *ports)
        elif kind == "pulled":
            lines = [line for i, line in enumerate(lines) if i not in (here, there)]
        else:
            for i in (here, there):
                lines[i] = lines[i].replace("4xNDR", "4xHDR")
        open("today.net", "w").write("\n".join(lines))
        for engine in ["ecmp,qp=2", "pinned"] if kind != "swapped" else ["ecmp,qp=2"]:
            report = diff("tuesday.net", "today.net", *options, "--engine", engine)
            assert report["kind"] == "imports"
            cables = [c for c in report["changes"] if c["kind"] == "cable"]
            assert len(cables) == 1 and len(report["changes"]) == 1, report["changes"]
            name = f"leaf-{int(ports[0][0] == leaf % 1)}:{ports[0][1]}"
            assert name in cables[0]["what"] or name in cables[0]["before"], (name, cables)
            if kind == "slower":
                assert (cables[0]["before"], cables[0]["after"]) == ("400 Gb/s", "200 Gb/s")
            if kind == "pulled":
                assert "after" not in cables[0]
            e = report["engines"][0]
            if abs(e["after_s"] - e["before_s"]) > max(e.get("interval_s", 0), 1e-9 * e["before_s"]):
                assert report["is_verified"] and near(cables[0]["undone_s"], e["before_s"]), (kind, report["changes"])
            for state, key in (("tuesday.net", "before_s"), ("today.net", "after_s")):
                own = json.loads(run("route", "installed:" + state, *options, "--engine", engine, "--seeds", "8", "--json", "--quiet"))
                assert near(own["iteration"][0]["time_s"], e[key])
    hosts = ["--set", "gpus-per-server=8", "--job", "model=llama2-7b,tp=8,pp=2,dp=2", "--engine", "pinned"]
    open("now.txt", "w").write("server-0 server-1  # rack 0\nserver-2\n\nserver-4\n")
    report = diff("tuesday.net", *hosts, "--before", "servers=server-[0-3]", "--after", "servers=now.txt")
    assert causes_of(report) == [("server", "ranks 24-31")] and "slice 0" in report["cause"]


def check_moves(draw):
    """Servers that were moved with all their cables: one change, undone as one; not where one cable stayed."""
    n_slower = 0
    for design in ("clos:gpus=128,radix=32,taper=2", "rail-spine:gpus=128,radix=32,taper=2"):
        text = run("build", design, "--format", "ibnet", "--quiet")
        open("tuesday.net", "w").write(text)
        for n, n_left in ((2, 0), (3, 0), (2, 1)):
            servers = sorted(draw.sample(range(16), n))
            lines = text.split("\n")
            for nic in range(8 - n_left):
                for a, b in zip(servers, servers[1:]):
                    swap(lines, *(("H-02fab2000000%02x00" % (8 * s + nic), 1) for s in (a, b)))
            open("today.net", "w").write("\n".join(lines))
            report = diff("tuesday.net", "today.net", "--set", "gpus-per-server=8", "--job",
                          "model=llama2-7b,tp=8,dp=16", "--engine", "ecmp")
            names = [f"server-{s}" for s in servers]
            changes = report["changes"]
            moves = [c for c in changes if c["kind"] == "move"]
            how = "exchanged places" if n == 2 else "changed places among themselves"
            if n_left:
                assert not moves and len(changes) == 7 and all(c["kind"] == "cable" for c in changes), changes
                continue
            assert len(changes) == 1 and len(moves) == 1, changes
            assert moves[0]["what"] == f"{', '.join(names[:-1])} and {names[-1]} have {how}: {8 * n} cables", moves
            was, now = (dict(part.split(" at ") for part in moves[0][key].split(", ")) for key in ("before", "after"))
            assert was.keys() == now.keys() == set(names) and sorted(was.values()) == sorted(now.values()), moves
            assert not any(was[name] == now[name] for name in names), moves
            e = report["engines"][0]
            if abs(e["after_s"] - e["before_s"]) <= max(e.get("interval_s", 0), 1e-9 * e["before_s"]):
                continue
            n_slower += 1
            assert report["is_verified"] and moves[0]["is_cause"], report["cause"]
            assert near(moves[0]["undone_s"], e["before_s"]) and near(moves[0]["alone_s"], e["after_s"]), (moves, e)
    assert n_slower > 0


def check_failures(draw):
    """A dead part: as `route --fail` has it with nobody moved."""
    for _ in range(6):
        part = f"leaf-{draw.randrange(2)}:{draw.randrange(17, 33)}"
        engine = draw.choice(["pinned", "ecmp,qp=4", "spray"])
        options = ["preset:llama3-talk-racks", "--job", "servers=0-3", "--engine", engine, "--seeds", "1"]
        report = diff(*options, "--after", f"fail={part}")
        own = json.loads(run("route", *options, "--fail", part, "--policy", "none", "--json", "--quiet"))
        state = own["failures"]["engines"][0]["policies"][0]
        assert near(report["engines"][0]["after_s"], state["time_s"]), (part, engine)
        assert near(report["engines"][0]["before_s"], own["iteration"][0]["time_s"])


def main():
    draw = random.Random(SEED)
    reports = [check_pair(draw) for _ in range(PAIRS)]
    check_failures(draw)
    check_dumps(draw)
    check_moves(draw)
    check_mutations()
    verified = sum(r["is_verified"] for r in reports)
    slower = sum(abs(r["engines"][0]["time_ratio"] - 1) > 1e-9 for r in reports)
    print(f"{PAIRS} pairs, {slower} differ in time, {verified} causes verified")
    assert slower == verified or verified > 0


main()
