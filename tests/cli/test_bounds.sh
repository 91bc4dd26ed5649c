#!/usr/bin/env bash
# Bounds of random matrices: no engine is below what is printed as one, and the factors of what bounds it are
# those of its time.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 - "$program" <<'PYTHON' || fail "bounds of random matrices"
import json, math, random, re, subprocess, sys
ENGINES = ["optimal", "adaptive", "adaptive,granularity=flow", "ecmp", "ecmp,qp=16", "spray", "dmodk", "pinned", "updn"]
DESIGNS = [("rail-spine:gpus=64,radix=16,taper=2", 64), ("clos:gpus=64,radix=16,tiers=3,taper=2/2", 64), ("clos:gpus=24,radix=16,taper=3", 24),
           ("fat-tree:k=4", 16), ("rail-only:gpus=32,radix=16", 32)]
UNIT = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
seen = {"least": 0, "sooner": 0, "factors": 0, "held": 0}

def size(kind):
    return {"equal": 10**7, "unequal": draw.randint(1, 1000) * 10000, "zeros": draw.choice([0, 10**6, 10**8])}[kind]

def routed(design, engines, *more):
    found = subprocess.run([sys.argv[1], "route", design, "--traffic", "file:random.csv", "--json", "--quiet", *more] + [w for e in engines for w in ("--engine", e)], capture_output=True, text=True)
    assert found.returncode == 0, (design, engines, found.stderr)
    return json.loads(found.stdout)

def check(r, design):
    if not r["phases"]:
        return
    phase, verdict = r["phases"][0], r["verdict"]
    times = [e["time_s"] if not isinstance(e["time_s"], dict) else e["time_s"]["mean"] for e in phase["engines"] if "time_s" in e]
    for e in phase["engines"]:
        transfer = e.get("transfer_s", 0)
        assert not isinstance(transfer, float) or transfer >= phase.get("least_time_s", 0) * (1 - 1e-9), (design, e["engine"])
        if "utilisation_bound" in phase and phase.get("fabric_flows") and not e["engine"].startswith("updn"):
            factor = e["max_collision_factor"]
            assert (factor if isinstance(factor, float | int) else factor["mean"]) >= phase["utilisation_bound"] * (1 - 1e-9) or phase["utilisation_bound"] <= 1, (design, e["engine"])
    assert not times or verdict.get("least_s", 0) <= min(times) * (1 + 1e-9), (design, verdict, times)
    said = re.search(r"no routing takes less than ([\d.]+) (\w+)", verdict["bound_by"])
    if said:
        least = float(said[1]) * UNIT[said[2]]
        assert least <= min(times) * (1 + 1e-3), (design, said[0], times)
        seen["least"] += 1
    if phase["engines"][0]["engine"].startswith("optimal") and len(times) > 1 and times[0] > 0:
        seen["sooner"] += min(times) < times[0] * (1 - 1e-4)
        assert "least load of the fullest link, which no switch routes by" in verdict["bound_by"], verdict["bound_by"]
    # what collides and takes the least all the same, or no longer than an engine under which nothing collides, is held by NICs
    best = phase["engines"][verdict.get("best_engine", 0)]
    worst = best.get("max_collision_factor", 0)
    worst = worst["mean"] if isinstance(worst, dict) else worst
    if times and worst > 1 + 1e-9:
        if "least_s" in verdict and min(times) <= verdict["least_s"] * (1 + 1e-4):
            assert not verdict["bound_by"].startswith("collisions"), (design, verdict)
            seen["held"] += verdict["bound_by"].startswith("NICs")
    # what bounds it are shares of its time: the factors times what hosts need are the time, and of 10 % they are NICs
    transfer = best.get("transfer_s", 0)
    transfer = transfer["mean"] if isinstance(transfer, dict) else transfer
    hosts = phase.get("hosts_time_s", 0)
    first = re.findall(r"(taper|hash collisions|unequal flows|unequal trunks) x([\d.]+)", verdict["bound_by"].split(", in matrix")[0])
    if transfer and hosts and first:
        assert abs(math.prod(float(x) for _, x in first) * hosts / transfer - 1) < 0.015, (design, verdict, hosts, transfer)
        assert verdict["bound_by"].startswith("NICs (") == (transfer <= 1.1 * hosts), (design, verdict, hosts, transfer)
        seen["factors"] += 1

def matrix(n, flows, kind):
    with open("random.csv", "w") as out:
        print("src,dst,bytes", file=out)
        for _ in range(flows):
            print(*draw.sample(range(n), 2), size(kind), sep=",", file=out)

for seed in range(3):
    draw = random.Random(seed)
    for design, n in DESIGNS:
        for kind in ("equal", "unequal", "zeros"):
            matrix(n, draw.choice([1, n, 2 * n]), kind)
            engines = [e for e in ENGINES if not (design.startswith("fat-tree") and e == "pinned")]
            check(routed(design, ENGINES[:1] + draw.sample(engines[1:], 3), "--bound"), design)
            check(routed(design, [draw.choice(engines[3:5])]), design)
draw = random.Random(2)
matrix(128, 600, "unequal")
check(routed("clos:gpus=128,radix=16,tiers=3,taper=2/2", ["optimal", "adaptive", "ecmp,qp=16"]), "three tiers")
for seed in range(4):
    draw = random.Random(seed)
    matrix(64, 150, "unequal")
    check(routed("clos:gpus=64,radix=16", ["ecmp"]), "flows that share NICs")
with open("random.csv", "w") as out: # one flow takes longer than all that collides
    print("src,dst,bytes\n0,63,8e9", *(f"{a},{(a + 5 * k) % 64},1e7" for a in range(64) for k in range(1, 7)), sep="\n", file=out)
found = routed("clos:gpus=64,radix=16,taper=3", ["ecmp"])
assert found["verdict"]["bound_by"].startswith("NICs ("), found["verdict"]["bound_by"]
check(found, "one long flow")
assert seen["held"] > 0, seen
# An adaptive switch may be done before the split whose fullest link is the least full: a bound of loads is none of times.
assert seen["least"] > 20 and seen["sooner"] > 0 and seen["factors"] > 2, seen
PYTHON
exit $((failures > 0))
