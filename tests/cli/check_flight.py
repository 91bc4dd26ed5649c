"""Dumps of flight recorders as traffic and in `observe`. Usage: check_flight.py PROGRAM"""
import collections
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys

from flight_dumps import make

PROGRAM = sys.argv[1]


def run(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments, "--quiet"], capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr[:400])
    return done.stdout if code == 0 else done.stderr


def fresh(folder="fr"):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def check_bytes():
    """What every GPU sends, where nothing and where everything is known of places and rings."""
    for seed, (servers, per) in enumerate(((4, 4), (3, 2), (8, 1), (2, 8))):
        design = f"clos:gpus={servers * per},gpus-per-server={per},radix=16"
        for log, rings in ((False, False), (True, False), (True, True))[:3 if per > 1 else 2]:
            wanted, _ = make(fresh(), servers, per, seed, steps=4, log=log, rings=rings)
            found = collections.Counter()
            rows = list(csv.DictReader(io.StringIO(run("route", design, "--traffic", "file:fr", "--engine", "spray", "--format", "flows"))))
            for row in rows:
                found[(int(row["src_gpu"]), int(row["dst_gpu"])) if rings else int(row["src_gpu"])] += int(row["bytes"])
            wanted = {key: size for key, size in wanted.items() if size > 0}
            assert set(found) == set(wanted), (servers, per, log, rings, set(found) ^ set(wanted))
            for key, size in wanted.items():
                assert abs(found[key] - size) <= len(rows) + 1e-9 * size, (key, found[key], size)
            summary = json.loads(run("traffic", design, "--traffic", "file:fr", "--json"))
            assert ("assumed" in json.dumps(summary)) == (not log), summary


def suspects(design, *more):
    return json.loads(run("observe", design, "--traffic", "file:fr", "--engine", "spray", "--counters", "clean.csv", "--json", *more))["observe"]["suspects"]


def clean_counters(design):
    """Bytes of every adapter, from the loads of a replay: one end of each cable."""
    report = json.loads(run("route", design, "--traffic", "file:fr", "--engine", "spray", "--json"))
    up, down = collections.Counter(), collections.Counter()
    per = int(report["fabric"]["gpus"] / report["fabric"]["servers"])
    for row in csv.DictReader(io.StringIO(run("route", design, "--traffic", "file:fr", "--engine", "spray", "--format", "flows"))):
        a, b = int(row["src_gpu"]), int(row["dst_gpu"])
        if a // per != b // per:
            up[a] += int(row["bytes"])
            down[b] += int(row["bytes"])
    with open("clean.csv", "w", encoding="ascii") as out:
        out.write("node,port,sent_bytes,received_bytes,time_s\n")
        for gpu in range(report["fabric"]["gpus"]):
            out.write(f"server-{gpu // per} HCA-{gpu % per + 1},1,{100 * up[gpu]},{100 * down[gpu]},10\n")


def check_late():
    """A rank 3 % late and a host 3 % late are found, by events and by what the watchdog sees; nothing in clean dumps."""
    clean = found = others = 0
    n = 0
    for seed in range(12):
        rng = random.Random(seed)
        servers, per = rng.choice(((8, 4), (16, 2), (6, 8), (12, 1)))
        design = f"clos:gpus={servers * per},gpus-per-server={per},radix=64"
        how = {"timing": seed % 3 != 0, "log": seed % 2 == 0, "steps": 40}
        make(fresh(), servers, per, seed, **how)
        clean_counters(design)
        listed = suspects(design)
        clean += listed == []
        late = rng.randrange(servers * per)
        _, gpu_of = make(fresh(), servers, per, seed, late={late: 1.03}, **how)
        listed = suspects(design)
        gpu = gpu_of[late]
        found += any(s["suspect"] == "late-rank" and s["ranks"] == str(late) and f"GPU {gpu % per} of server-{gpu // per}" in s["name"] for s in listed)
        others += len(listed) - 1
        n += 1
        if per == 1:
            continue
        host = rng.randrange(servers)
        members = range(host * per, (host + 1) * per)
        _, gpu_of = make(fresh(), servers, per, seed, late={r: 1.03 for r in members}, **how)
        listed = suspects(design)
        found += any(s["suspect"] == "late-host" and s["name"] == f"server-{gpu_of[host * per] // per}" and
                     s["ranks"] == f"{host * per}-{host * per + per - 1}" for s in listed)
        others += len(listed) - 1
        n += 1
    print(f"12 clean jobs: {clean} without a suspect; {n} late ranks and hosts: {found} found, {others} suspects beside them")
    assert clean == 12 and found == n and others == 0


def check_stuck():
    design = "clos:gpus=16,gpus-per-server=4,radix=16"
    make(fresh(), 4, 4, 5, stuck=9, log=True)
    clean_counters(design)
    listed = suspects(design)
    assert [(s["suspect"], s["ranks"]) for s in listed] == [("stuck-rank", "9")], listed
    assert "has not entered" in listed[0]["evidence"] and "3 of 4 ranks wait" in listed[0]["evidence"], listed
    text = run("observe", design, "--traffic", "file:fr", "--engine", "spray", "--counters", "clean.csv")
    assert "stuck-rank rank 9" in text, text[:600]
    make(fresh(), 4, 4, 5, stuck=9, log=True, left=(9,))  # no dump of it: nothing is said of it
    assert suspects(design) == []


def check_refused():
    design = "clos:gpus=8,gpus-per-server=2,radix=8"

    def refused(pattern, change):
        make(fresh(), 4, 2, 1, steps=3)
        change()
        text = run("traffic", design, "--traffic", "file:fr", code=3)
        assert pattern in text, (pattern, text)

    def edit(old, new, rank=2):
        path = f"fr/nccl_trace_rank_{rank}"
        text = open(path, encoding="ascii").read()
        assert old in text, old
        open(path, "w", encoding="ascii").write(text.replace(old, new))

    refused("ends with its rank", lambda: os.rename("fr/nccl_trace_rank_2", "fr/trace"))
    refused("has two dumps", lambda: shutil.copy("fr/nccl_trace_rank_2", "fr/rank_02.json"))
    refused("it has no pg_config", lambda: edit('"pg_config"', '"pgs"'))
    refused("which pg_config does not have", lambda: edit('"process_group": ["2"', '"process_group": ["77"'))
    refused("has no list of ranks", lambda: edit('"ranks": "[', '"ranks": "['.replace("[", "x") + '", "was": "['))
    refused("of which the size is not known", lambda: edit('["BFloat16"]', '["Nibble"]'))
    refused("without collective_seq_id", lambda: edit('"collective_seq_id"', '"sequence"'))
    refused("fr/nccl_trace_rank_2:1:", lambda: edit('"version": "2.10"}', '"version": '))
    refused("a pickle", lambda: open("fr/nccl_trace_rank_2", "wb").write(b"\x80\x02}q\x00X\x07\x00\x00\x00entries."))
    refused("the fabric has 8 GPUs", lambda: make(fresh(), 8, 2, 1, steps=3))
    make(fresh(), 4, 2, 1, steps=3, log=True)
    with open("fr/job.log", "a", encoding="ascii") as out:
        out.write("no line of NCCL\n")
    run("traffic", design, "--traffic", "file:fr")
    open("fr/job.log", "w", encoding="ascii").write("no line of NCCL\n")
    assert "names no rank" in run("traffic", design, "--traffic", "file:fr", code=3)


check_bytes()
check_late()
check_stuck()
check_refused()
