"""SimAI's workloads counted without fabriscope: who takes part and how many bytes each collective sends.

    check_workload.py count WORKLOAD GPUS LIST.json FLOWS.csv    phases (traffic --json) and flows (route --format flows)
    check_workload.py random FOLDER SEED                         random workloads
"""
import collections
import csv
import json
import random
import sys

OPERATIONS = {"ALLREDUCE": "all-reduce", "ALLGATHER": "all-gather", "REDUCESCATTER": "reduce-scatter", "ALLTOALL": "all-to-all"}


def groups(n, tp, dp, pp, ep):
    """As MockNcclGroup: lists of ranks."""
    found = {}
    found["tp"] = [[i * tp + j for j in range(tp)] for i in range(n // tp)]
    found["dp"] = [[i + j * (n // dp) for j in range(dp)] for i in range(n // dp)]
    tps = found["tp"]
    if pp == 1:
        found["ep"] = [[tps[j][k] for j in range(i * ep, i * ep + ep)] for i in range(len(tps) // ep) for k in range(tp)]
        found["dp-ep"] = [[tps[j][k] for j in range(i, i + dp, ep)] for i in range(ep) for k in range(tp)]
    return found


def read(path, n):
    lines = open(path).read().split("\n")
    words = lines[0].split()
    header = dict(zip(words[1::2], (int(w) for w in words[2::2])))
    n = header.get("all_gpus:", n)
    is_transformer = words[0].startswith("HYBRID_TRANSFORMER")
    tp = (header.get("model_parallel_NPU_group:", 0) or n) if is_transformer else n
    pp = header.get("pp:", 1) if is_transformer else 1
    ep = header.get("ep:", 1) if is_transformer else 1
    sets = groups(n, tp, n // tp // pp, pp, ep)
    sets[""] = [list(range(n))]
    calls = collections.Counter()
    layers = [line.split() for line in lines[2:] if line.strip()]
    assert len(layers) == int(lines[1])
    for layer in layers:
        assert len(layer) == 12
        for at, name, own in ((2, "fwd", "tp"), (5, "igrad", "tp"), (8, "wgrad", "dp")):
            kind, size = layer[at + 1], int(layer[at + 2])
            if kind == "NONE" or size == 0:
                continue
            base, _, suffix = kind.partition("_")
            who = {"": own, "EP": "ep", "DP_EP": "dp-ep"}[suffix] if is_transformer else ""
            calls[name, who, OPERATIONS[base], size] += 1
    return calls, sets


def total_bytes(operation, r, size):
    part = size // r
    return {"all-reduce": 2 * (r - 1) * part * r, "all-gather": (r - 1) * part * r, "reduce-scatter": (r - 1) * part * r,
            "all-to-all": r * (r - 1) * part}[operation]


def count(path, n, list_path, flows_path):
    calls, sets = read(path, int(n))
    wanted = collections.Counter()
    of_phase = {}
    for (name, who, operation, size), times in calls.items():
        r = len(sets[who][0])
        if r > 1 and size >= r:
            start = f"{name}-{who}{'-' if who else ''}{operation}"
            wanted[start, times, len(sets[who]), times * len(sets[who]) * total_bytes(operation, r, size)] += 1
            of_phase[start] = who
    phases = json.load(open(list_path))["phases"]
    plain = lambda phase: phase["name"].rstrip("0123456789").rstrip("-") if phase["name"][-1].isdigit() else phase["name"]
    found = collections.Counter((plain(p), p["executions"], p["communicators"], p["bytes"]) for p in phases)
    assert found == wanted, (found - wanted, wanted - found)
    members = collections.defaultdict(lambda: collections.defaultdict(set))
    sums = collections.Counter()
    for flow in csv.DictReader(open(flows_path)):
        members[flow["phase"]][flow["comm"]] |= {int(flow["src_gpu"]), int(flow["dst_gpu"])}
        sums[flow["phase"]] += int(flow["bytes"])
    assert len(members) == len(phases)
    for phase in phases:
        theirs = {frozenset(ranks) for ranks in sets[of_phase[plain(phase)]]}
        assert set(map(frozenset, members[phase["name"]].values())) == theirs, phase["name"]
        assert sums[phase["name"]] == phase["bytes"], phase["name"]


def make(folder, seed):
    rng = random.Random(seed)
    for i in range(8):
        n = rng.choice([16, 32])
        tp, pp = rng.choice([1, 2, 4, 8]), rng.choice([1, 1, 2])
        dp = n // tp // pp
        ep = rng.choice([e for e in (1, 2, 4) if dp % e == 0]) if pp == 1 else 1
        head = [f"model_parallel_NPU_group: {tp}", f"ep: {ep}", f"pp: {pp}", f"vpp: {rng.randint(1, 9)}", "ga: 2", f"all_gpus: {n}",
                "checkpoints: 0", "checkpoint_initiates: 0", "pp_comm: 0"]
        kind = lambda: rng.choice(["NONE", "ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"])
        layers = []
        for _ in range(rng.randint(1, 30)):
            cells = []
            for _ in range(3):
                base = kind()
                suffix = rng.choice(["", "", "_EP", "_DP_EP"]) if base != "NONE" and pp == 1 else ""
                cells += [rng.randint(0, 10**6), base + suffix, rng.choice([0, 1, 1000, 4096, 10**9 + 7, rng.randint(1, 10**6)])]
            layers.append(["layer", -1, *cells, 100])
        layers.append(["last", -1, 1, "ALLREDUCE", 4096, 1, "NONE", 0, 1, "ALLREDUCE", 4096, 1])
        with open(f"{folder}/{i}.txt", "w") as f:
            print("HYBRID_TRANSFORMER_FWD_IN_BCKWD", *head, file=f)
            print(len(layers), *("\t".join(map(str, layer)) for layer in layers), sep="\n", file=f)


if sys.argv[1] == "count":
    count(*sys.argv[2:])
else:
    make(sys.argv[2], int(sys.argv[3]))
