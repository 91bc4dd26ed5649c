#!/usr/bin/env python3
"""The model of NCCL once more, from its sources and in another form, against `busbw` over designs that are drawn.

    tests/oracle/checkers/nccl_model.py PROGRAM

Fabrics here do not block and hosts take no time, so that the network's part is known: bytes over the NICs of a domain.
"""
import json
import math
import random
import subprocess
import sys

US = 1e-6
GPUS = {  # launch us, ring, nvls, fill, ll GB/s, ll as chosen by, ll128, fewest ranks of nvls, from
    "a100-80gb": (29, 0.785, 0, 0.28, 30.5, 60, 0.92, 2, 0, 300),
    "h100-80gb": (24, 0.817, 1.075, 0.41, 141, 141, 0.92, 5, 0, 450),
    "b200-180gb": (36, 0.827, 0.945, 0.73, 282, 107, 0.92, 6, 8 << 30, 900),
}
LATENCY = {  # base, inside, across; us
    ("ring", "LL"): (6.6, 0.6, 2.7), ("ring", "LL128"): (14, 1.9, 4), ("ring", "Simple"): (8.4, 3.4, 14),
    ("tree", "LL"): (6.8, 0.6, 5), ("tree", "LL128"): (14, 1.25, 8.5), ("tree", "Simple"): (8.4, 4, 14),
    ("collnet", "Simple"): (0, 3.7, 31), ("nvls", "Simple"): (0, 25, 0), ("nvls-tree", "Simple"): (0, 25, 20.9),
    ("pat", "Simple"): (8, 4, 14), ("p2p", "Simple"): (8.4, 3.4, 14),
}
FACTOR = {"all-reduce": lambda n: 2 * (n - 1) / n, "all-gather": lambda n: (n - 1) / n, "reduce-scatter": lambda n: (n - 1) / n,
          "all-to-all": lambda n: (n - 1) / n, "broadcast": lambda n: 1}


def latency(case, algorithm, protocol):
    n, m, k, gpu, collective = case["n"], case["m"], case["k"], case["gpu"], case["collective"]
    base, inside, across = LATENCY[algorithm, protocol]
    if algorithm == "ring":
        passes = 2 if collective == "all-reduce" else 1
        if m > 1:
            inside = max(inside, {"LL": 1, "LL128": 1, "Simple": 3}[protocol])
        return base + passes * (n - 1) * inside + passes * (m - 1) * (across - inside)
    if algorithm == "tree":
        return base + 2 * (k - 1) * inside + 2 * int(math.log2(m)) * across
    if algorithm == "collnet":
        return 25 + 18 if gpu[2] > 0 else 31 + (2 * 3.7 + 0.8 * (k - 1) if k > 1 else 0)
    if algorithm == "nvls-tree":
        return inside + 2 * int(math.log2(m)) * across
    if algorithm == "pat":
        return base + int(math.log2(m)) * across / 3.5 + 2.8 * n
    return base + (across if m > 1 else inside)


def seconds(case, algorithm, protocol, size):
    """Of the pipeline: nothing is added up but launch, steps, the fill and the slower of domain and network."""
    launch, ring, nvls, fill, ll, _, ll128, _, _, link = case["gpu"]
    n, m, k, collective = case["n"], case["m"], case["k"], case["collective"]
    bus = FACTOR[collective](n)
    in_domain, stages, parts, most = {
        "ring": (link * ring / bus, 1 if collective == "all-reduce" and protocol != "LL" and (m > 1 or nvls == 0) else 0,
                 {"LL": 0.5, "LL128": ll128, "Simple": 1}, ll / bus if protocol == "LL" else math.inf),
        "tree": (0.46 * link * ring, 0, {"LL": 1 / 3.8, "LL128": 0.9375, "Simple": 1}, math.inf),
        "collnet": (link * (0.85 if nvls > 0 else ring) / bus, 2, {"Simple": 1}, math.inf),
        "nvls": (link * nvls / bus, 1, {"Simple": 1}, math.inf),
        "nvls-tree": (link * nvls / bus, 1 + math.log2(m), {"Simple": 1}, math.inf),
        "pat": (link * ring / bus, 0, {"Simple": 1}, math.inf),
        "p2p": (link * ring * n / (k - 1) if k > 1 else math.inf, 0, {"Simple": 1}, math.inf),
    }[algorithm]
    if k == 1:
        in_domain = math.inf
    network = case["network"][algorithm] * {"tree": 0.92 * (0.85 if k > 1 else 1), "pat": 0.75}.get(algorithm, 1) if m > 1 else math.inf
    rate = min(min(in_domain, network) * parts[protocol], most) * 1e9
    channels = (24 if m == 1 else min(2 * k, 64)) if algorithm == "ring" else k
    slots = 1 if protocol == "LL128" else 4  # of a chunk
    filled = stages * fill * min(size, channels * slots * 2**20) / rate if stages else 0
    return (launch + latency(case, algorithm, protocol)) * US + filled + size / rate


def expected(case, algorithm, protocol, size):
    """What NCCL's table says."""
    _, _, nvls, _, _, ll_seen, ll128, _, _, link = case["gpu"]
    n, m, k, collective, nic = case["n"], case["m"], case["k"], case["collective"], case["nic"]
    inside, across = 0.8 * link if k > 1 else math.inf, k * nic if m > 1 else math.inf
    steps = (n - 1) * (2 if collective == "all-reduce" else 1)
    ll = ll_seen if m == 1 else 39 if m == 2 else 20.4
    pipelined = 2 * 0.74 * 15 / 16 * inside
    lat = latency(case, algorithm, protocol)
    if algorithm == "ring":
        bus = min(inside, across)
        bus = {"LL": min(ll, bus / 2), "LL128": bus * ll128, "Simple": bus}[protocol]
        rate = bus * n / steps
        channels = 24 if m == 1 else min(2 * k, 64)
        if protocol == "Simple" and m > 1 and collective == "all-reduce" and size >= 64 * channels * n:
            lat *= 1.4
    elif algorithm == "tree":
        bus = 0.782 * min(inside, across)
        bus = {"LL": min(bus / 3.8, ll), "LL128": bus * 0.9375, "Simple": bus}[protocol]
        tenths = {"LL": "aaaa9877776544567 89aaaaaa".replace(" ", ""), "LL128": "aaaaa98887666666899 99aaa".replace(" ", ""), "Simple": "999999987665555678778999"}[protocol]
        at = int(math.log2(max(size, 64) / 64))
        rate = bus / 2 * (int(tenths[at], 16) / 10 if at < len(tenths) else 1)
    else:
        rate = {"nvls": pipelined, "collnet": min(pipelined, across), "nvls-tree": min(pipelined, across * (2 if m == 2 else 1)),
                "pat": 0.75 * across * steps / n, "p2p": min(inside, across)}[algorithm] * n / steps
    return lat * US + size / rate / 1e9


def choices(case):
    _, _, nvls, _, _, _, ll128, least, _, _ = case["gpu"]
    m, k, collective = case["m"], case["k"], case["collective"]
    protocols = ["LL"] + (["LL128"] if ll128 > 0 and (m > 1 or case["gpu"][8] == 0) else []) + ["Simple"]
    found = [("p2p", "Simple")] if collective == "all-to-all" else [("ring", p) for p in protocols]
    reduces = collective == "all-reduce"
    if reduces and m > 1:
        found += [("tree", p) for p in protocols] + ([("collnet", "Simple")] if case["reduces"] else [])
    if reduces and nvls > 0 and k >= least:
        found.append(("nvls" if m == 1 else "nvls-tree", "Simple"))
    if m > 1 and k == 1 and collective in ("all-gather", "reduce-scatter") and case["n"] & (case["n"] - 1) == 0:
        found.append(("pat", "Simple"))
    return found


def chosen(case, size, best):
    options = choices(case)
    start = case["gpu"][8]
    if not best and case["m"] == 1 and case["n"] <= 8 and start > 0 and ("nvls", "Simple") in options:
        options = [("nvls", "Simple")] if size >= start else [o for o in options if o[0] != "nvls"]
    return min(options, key=lambda o: (seconds if best else expected)(case, *o, size))


def network_rates(case):
    """GB/s of S between domains of a fabric that does not block; each NIC has its part."""
    n, m, k, nic, collective = case["n"], case["m"], case["k"], case["nic"], case["collective"]
    both = 2 if collective == "all-reduce" else 1
    ring = both * (n - 1) / n / k if collective != "broadcast" else 1 / k
    outside = (n - k) / n
    return {"ring": nic / ring, "tree": None, "nvls-tree": None, "collnet": nic * k, "pat": nic * n / (n - 1) * 1.0,
            "p2p": nic / outside if outside > 0 else math.inf, "nvls": math.inf}


def draw(rng):
    gpu = rng.choice(sorted(GPUS))
    k = rng.choice([1, 2, 4, 8, 8])
    m = rng.choice([1, 2, 4, 8]) if k > 1 else rng.choice([4, 8, 16])
    collective = rng.choice(sorted(FACTOR))
    if m > 1 and m % 2 and collective == "all-reduce":
        m += 1
    return {"name": gpu, "gpu": GPUS[gpu], "k": k, "m": m, "n": k * m, "nic": rng.choice([25, 50]), "collective": collective,
            "reduces": rng.random() < 0.5, "best": rng.random() < 0.4}


def main(program):
    rng = random.Random(89)
    n_rows = 0
    for _ in range(60):
        case = draw(rng)
        servers = max(case["m"], 2)
        command = [program, "busbw", f"rail-spine:gpus={servers * case['k']},gpus-per-server={case['k']},nic={case['nic']}GB/s,radix=64"
                   + (",reduction=switch" if case["reduces"] else ""), "--engine", "spray,window=1TB", "--job", f"gpu={case['name']}", "--ranks", str(case["n"]),
                   "--collective", case["collective"], "--algorithm", "best" if case["best"] else "nccl", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        case["network"] = network_rates(case)
        for row in json.loads(done.stdout)["busbw"]["rows"]:
            size, algorithm, protocol = row["bytes"], row["algorithm"], row["protocol"]
            if case["m"] > 1 and case["collective"] == "all-reduce" and case["network"]["tree"] is None:  # what the replay says of one row
                tree = subprocess.run(command[:-4] + ["--algorithm", "tree", "--json", "--quiet"], capture_output=True, text=True)
                last = json.loads(tree.stdout)["busbw"]["rows"][-1]
                part = 0.92 * (0.85 if case["k"] > 1 else 1) if last["protocol"] == "Simple" else math.nan
                carried = last["bytes"] / last["transfer_s"] / 1e9
                assert carried <= 0.46 * case["gpu"][9] * case["gpu"][1] * (1 + 1e-9) or case["k"] == 1, last
                # A domain inside one tree and a leaf of the other sends twice what its members hold; flows that end earlier leave some of it idle.
                least, most = case["nic"] * case["k"] / 2.5, case["nic"] * case["k"]
                assert last["bound_by"] != "network" or least * part * (1 - 1e-6) <= carried <= most * part * (1 + 1e-6), (case, carried, part)
                case["network"]["tree"] = case["network"]["nvls-tree"] = carried / part if last["bound_by"] == "network" else math.inf
            wanted = chosen(case, size, case["best"])
            mine = seconds(case, algorithm, protocol, size)
            theirs = (seconds if case["best"] else expected)
            assert wanted == (algorithm, protocol) or abs(theirs(case, *wanted, size) / theirs(case, algorithm, protocol, size) - 1) < 1e-6, (command, size, wanted, row)
            assert abs(row["time_s"] / mine - 1) < 1e-4, (command, size, algorithm, protocol, row["time_s"], mine)
            assert abs(row["busbw_bps"] / 8 / (size / row["time_s"] * FACTOR[case["collective"]](case["n"])) - 1) < 1e-9
            assert abs(row["latency_s"] + row["fill_s"] + row["transfer_s"] - row["time_s"]) <= 1e-9 * row["time_s"]
            n_rows += 1
    print(f"nccl model: {n_rows} rows as computed by hand")


if __name__ == "__main__":
    main(*sys.argv[1:])
