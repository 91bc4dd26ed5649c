#!/usr/bin/env python3
"""What hosts add: counted again from the flows, and slower NICs against --degrade of every NIC.
Usage: check_hosts.py PROGRAM"""
import csv
import io
import json
import subprocess
import sys

CALL, STEP, MESSAGE, SLOT, PART = 20e-6, 5e-6, 1e-6, 65536, 0.5
KEYS = f"call-overhead=20us,step-overhead=5us,message-overhead=1us,slot={SLOT}B,nic-efficiency={PART}"
DESIGNS = (("clos:gpus=32,gpus-per-server=4,radix=16,taper=2", 4, 32, 400e9), ("rail-spine:gpus=32,gpus-per-server=4,radix=8,taper=2", 4, 32, 400e9),
           ("rail-only:gpus=32,gpus-per-server=4,radix=32", 4, 32, 400e9), ("fat-tree:k=4,gpus-per-server=2,nics-per-server=2", 2, 16, 400e9),
           ("clos:gpus=16,gpus-per-server=4,nics-per-server=8,nic=200Gb/s,radix=32,host=ideal", 4, 16, 400e9))
TRAFFIC = (("all-gather,bytes=64MB", True), ("all-to-all,bytes=1MB", False), ("all-to-all,bytes=10kB", False), ("permutation,bytes=3MB", False),
           ("all-reduce,bytes=8MB,algorithm=halving-doubling", False), ("incast,bytes=1MB", False))


def run(program, *arguments):
    return subprocess.run([program, "route", *arguments, "--quiet"], check=True, capture_output=True, text=True).stdout


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-15


def software_s(flows, steps, per_server, rate_bps):
    """Of one phase, from its list of flows."""
    sent = {}
    largest = 0
    for flow in flows:
        leaves = int(flow["src_gpu"]) // per_server != int(flow["dst_gpu"]) // per_server
        sent.setdefault(flow["src_gpu"], []).append(leaves)
        largest = max(largest, int(flow["bytes"]) / steps) if leaves else largest
    if largest == 0:
        return 0
    further = max(len(kinds) - len(set(kinds)) for kinds in sent.values())
    slot = SLOT * 8 / rate_bps
    return steps * (STEP + (slot if largest >= 4 * SLOT else 0) + further * max(MESSAGE, min(largest / SLOT, 1) * slot))


def check_ends(flows, engine, per_server, is_even):
    """finish_s of flows counts what the time of their phase counts, each with its own path."""
    last_s = max(float(flow["finish_s"]) for flow in flows)
    assert last_s <= engine["time_s"] * (1 + 1e-9) and close(round(last_s, 12), round(engine["last_flow"]["finish_s"], 12))
    paths = engine.get("paths", {"min_latency_s": 1, "max_latency_s": 0})
    outside = [flow for flow in flows if int(flow["src_gpu"]) // per_server != int(flow["dst_gpu"]) // per_server]
    if outside and paths["min_latency_s"] == paths["max_latency_s"]:
        slowest = max(float(flow["finish_s"]) for flow in outside)
        assert slowest < last_s or abs(slowest / engine["time_s"] - 1) < 1e-9, (slowest, engine["time_s"])
    for flow in flows if is_even else ():
        beside_s = float(flow["finish_s"]) - int(flow["bytes"]) * 8 / float(flow["rate_bps"])
        own = (paths["min_latency_s"], paths["max_latency_s"]) if flow in outside else (1e-6, 1e-6)
        host_s = engine.get("host_s", 0) if flow in outside else 0
        assert own[0] - 1e-11 <= beside_s - host_s <= own[1] + 1e-11, (flow, beside_s, own, host_s)


def main():
    program = sys.argv[1]
    rows = slower = 0
    for design, per_server, n_gpus, rate_bps in DESIGNS:
        for pattern, _ in TRAFFIC:
            for engine in ("ecmp,qp=1", "ecmp,qp=2", "spray"):
                same = ("--traffic", f"pattern:{pattern}", "--engine", engine, "--threads", "1")
                ideal = json.loads(run(program, design, *same, "--json"))["phases"]
                ours = json.loads(run(program, f"{design},{KEYS}", *same, "--json"))["phases"]
                flows = list(csv.DictReader(io.StringIO(run(program, f"{design},{KEYS}", *same, "--format", "flows"))))
                nics = n_gpus * (2 if "nics-per-server=8" in design else 1)
                weak = [argument for nic in range(nics) for argument in ("--degrade", f"nic-{nic}={PART}")]
                degraded = json.loads(run(program, design, *same, "--json", *weak))["degradation"]["phases"]
                failed = json.loads(run(program, f"{design},{KEYS}", *same, "--json", "--fail", "nic-0"))["failures"]["engines"][0]
                together = sum(phase["engines"][0]["time_s"] for phase in ours)
                assert "note" not in failed, (design, pattern, engine, failed["note"])
                assert close(failed["healthy"]["time_s"], together), (design, pattern, engine, failed["healthy"], together)
                called = False
                for before, after, by_hand in zip(ideal, ours, degraded):
                    a, b = before["engines"][0], after["engines"][0]
                    mine = [flow for flow in flows if flow["phase"] == after["name"]]
                    where = (design, pattern, engine, after["name"])
                    host_s = software_s(mine, after["steps"], per_server, rate_bps)
                    host_s += CALL if host_s > 0 and not called else 0  # of a collective once
                    called = called or host_s > 0
                    copy_s = b.get("copy_s", 0)  # of relays, with hosts or without: test_collective counts it
                    assert copy_s == a.get("copy_s", 0) and close(b.get("host_s", 0), host_s + copy_s), (where, b, host_s)
                    assert close(b["latency_s"], a["latency_s"] + host_s), where
                    assert close(b["time_s"], b["transfer_s"] + b["latency_s"]), where
                    assert close(by_hand["after_s"], b["transfer_s"] + a["latency_s"]), (where, by_hand["after_s"], b["transfer_s"] + a["latency_s"])
                    assert b["transfer_s"] >= a["transfer_s"] * (1 - 1e-9) and b["lower_bound_ratio"] >= 1, where
                    slower += b["transfer_s"] > 1.1 * a["transfer_s"]
                    check_ends(mine, b, per_server, pattern.startswith("permutation") and engine == "ecmp,qp=1")
                    rows += 1
    assert rows > 60 and slower > 30, (rows, slower)
    print(f"hosts: {rows} phases as counted by hand")


main()
