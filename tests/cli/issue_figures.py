"""Derived figures, checked on the program's JSON; published ones: test_validate.sh. Run by test_issue_figures.sh."""
import json
import os
import subprocess
import sys

failures = 0


def run(*arguments):
    done = subprocess.run([os.environ["PROGRAM"], *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr.decode()}")
    return json.loads(done.stdout)


def expect(what, actual, wanted, tolerance=0.0):
    global failures
    good = actual == wanted if tolerance == 0 else abs(actual - wanted) <= tolerance * abs(wanted)
    if not good:
        print(f"FAIL: {what}: {actual}, not {wanted}")
        failures += 1


def destination_routing():
    """D-mod-K on a full fat-tree: every shift is free of contention (Zahavi); hashing is not."""
    collided = 0
    shifts = range(1, 128, 7)
    for by in shifts:
        phase = run("route", "fat-tree:k=8", "--json", "--quiet", "--traffic", f"pattern:shift,by={by}", "--engine", "dmodk",
                    "--engine", "ecmp")["phases"][0]
        dmodk, ecmp = phase["engines"]
        expect(f"shift {by} dmodk collided links", dmodk["collided_links"], 0)
        expect(f"shift {by} dmodk within capacity", dmodk["max_collision_factor"] <= 1 + 1e-9, True)
        collided += ecmp["collided_links"] > 0
    if collided < 0.8 * len(shifts):
        expect("shifts that collide under ecmp", collided, f"nearly all of {len(shifts)}")


def llama3_talk():
    """Three racks of two servers, Meta, Hot Interconnects 2024: a replaced server puts two of the job on one half."""
    def engines(servers):
        phases = run("route", "preset:llama3-talk-racks", "--json", "--quiet", "--traffic", "job:dp-rs",
                     "--job", f"servers={servers}")["phases"]
        expect("engines of the talk's report", [engine["engine"] for engine in phases[0]["engines"]],
               ["pinned", "dmodk", "ecmp", "ecmp", "spray"])
        return phases[0]["engines"]

    whole, replaced = engines("0,1,2,3"), engines("0,1,2,4")
    expect("pinned, servers 1 2 3 4, collided links", whole[0]["collided_links"], 0)
    expect("pinned, servers 1 2 3 4", whole[0]["max_collision_factor"], 1, 1e-9)
    expect("pinned, servers 1 2 3 5", replaced[0]["max_collision_factor"], 2, 1e-9)
    expect("pinned, servers 1 2 3 5, uplinks of the first rack", replaced[0]["collided_links"], 8)
    expect("servers 1 2 3 5, what the design causes", replaced[0]["max_taper_factor"], 1, 1e-9)
    expect("16 queue pairs collide less than one", replaced[3]["max_collision_factor"] < replaced[2]["max_collision_factor"], True)
    expect("spray, servers 1 2 3 5", replaced[4]["max_collision_factor"], 1, 1e-9)


def from_hash_to_optimum():
    """Adaptive routing lies between a hash and the optimum, which is certified within 1 %."""
    engines = run("route", "fat-tree:k=8", "--traffic", "pattern:permutation", "--bound", "--seeds", "10", "--json", "--quiet",
                  "--engine", "ecmp", "--engine", "adaptive,granularity=flow", "--engine", "adaptive",
                  "--engine", "optimal")["phases"][0]["engines"]
    worst = [engine["max_utilisation_ratio"]["mean"] for engine in engines]
    expect("ecmp, flows, packets, optimum in this order", worst == sorted(worst, reverse=True), True)
    expect("optimum within 1 %", engines[3]["optimum_gap_ratio"]["max"] <= 0.01, True)
    expect("no engine beats its bound", min(engine["optimum_gap_ratio"]["min"] for engine in engines) >= 0, True)


def reorder_window():
    """A receiver's window limits who reorders: 2 km between halls, not 20 m."""
    for distance, limits in (("20m", False), ("2km", True)):
        engines = run("route", "preset:llama3-24k-roce", "--set", "floor.hall-power=20MW", "--set", f"floor.hall-distance={distance}",
                      "--traffic", "job:dp-rs", "--engine", "spray", "--engine", "adaptive", "--json", "--quiet")["phases"][0]["engines"]
        for engine in engines:
            expect(f"{engine['engine']} over {distance} is limited", engine["reordering"]["limited_flows"] > 0, limits)


def all_gathers():
    """Once hash collisions count, a full mesh is slower than a ring over the same links; ideally they are equal."""
    phases = run("route", "clos:gpus=256,radix=32,gpus-per-server=1", "--traffic", "pattern:all-gather,algorithm=all,bytes=1GB",
                 "--engine", "ecmp", "--engine", "spray", "--json", "--quiet")["phases"]
    time = [{"ring": 0.0, "doubling": 0.0, "mesh": 0.0} for _ in range(2)]
    for phase in phases:
        for i, engine in enumerate(phase["engines"]):
            time[i][phase["name"].split("-")[0]] += engine["busiest_link_s"]
    expect("mesh slower than ring under ecmp", time[0]["mesh"] > 1.1 * time[0]["ring"], True)
    expect("mesh as fast as ring under spray", time[1]["mesh"] / time[1]["ring"], 1, 1e-3)


def sweep(design, vary, *arguments):
    return run("sweep", design, *[word for text in vary for word in ("--vary", text)], "--json", "--quiet", *arguments)["sweep"]["points"]


def hierarchical_taper():
    """Hierarchical all-reduce of 1 GB over 64 servers of 8 H100 behind an X:1 taper: 8.81 ms, 38.3 ms at 7:1.

    Pods of 7 servers, so that 56 NICs stand over 8 uplinks at 7:1, and one ring in eight NICs of each."""
    def gigabyte_s(point):  # S of the job from what a reduce-scatter inside servers moves: 7/8 S of every GPU
        phases = {phase["name"]: phase for phase in point["phases"]}
        size = phases["dp-1"]["bytes"] / (512 * 7 / 8)
        return point["engines"][0]["phases_s"] * 1e9 / size

    def crossing(point):
        return {b["tier"]: b["crossing_flows"] for phase in point["phases"] if phase["name"] == "dp-2" for b in phase["boundaries"]}[3]

    fabric = "clos:gpus=560,radix=16/16/128,pod=56,tiers=3"
    job = ["--job", "model=gpt-39.1b,memory-check=off,tp=1,n-servers=64,dp-collective=hierarchical", "--engine", "spray"]
    points = sweep(fabric, ["taper.2=1,2,2.8,4,7", "job.placement=scattered,order"], *job)
    expect("points", len(points), 10)
    scattered = [point for point in points if point["values"][1] == "scattered"]
    contiguous = [point for point in points if point["values"][1] == "order"]
    expect("built taper at 7:1", scattered[4]["built_taper"], [1, 7])
    expect("all ring edges cross", crossing(scattered[0]), 512)
    expect("1 GB without taper, ms", 1e3 * gigabyte_s(scattered[0]), 8.81, 0.005)
    expect("1 GB at 7:1, ms", 1e3 * gigabyte_s(scattered[4]), 38.3, 0.005)
    for point in scattered:  # the closed form with the taper as built
        closed = 2 * 7 / 8 / 450 + 2 * 63 / 64 / 8 / 50 * max(1, point["built_taper"][1])
        expect(f"1 GB at {point['values'][0]}:1", gigabyte_s(point), closed, 0.005)
    costs = [point["total_usd"] for point in scattered]
    expect("less cable, less money", costs, sorted(costs, reverse=True))
    tokens = [point["engines"][0]["usd_per_1e9_tokens"] for point in scattered]
    expect("dollars per token grow with the taper here", tokens[4] > 1.1 * tokens[0], True)
    expect("contiguous servers: one edge of a ring out of every pod", crossing(contiguous[4]), 80)
    expect("and next to no effect", gigabyte_s(contiguous[4]) / gigabyte_s(contiguous[0]), 1, 0.002)
    expect("which puts the cheapest alone on the front",
           [point["engines"][0]["pareto"] for point in contiguous], [False, False, False, False, True])
    one_pod = sweep(fabric, ["taper.2=1,7"], "--job", "model=gpt-1.7b,tp=1,servers=0-6,batch=56", "--engine", "spray")
    expect("a job inside a pod crosses nothing", [b["crossing_flows"] for phase in one_pod[1]["phases"]
                                                 for b in phase["boundaries"] if b["tier"] == 3], [0])
    expect("a job inside a pod feels of a taper the lengths of its cables alone", one_pod[1]["engines"][0]["time_s"],
           one_pod[0]["engines"][0]["time_s"], 1e-4)


def rail_only_against_rail_and_spine():
    """The same iteration where tensor parallelism fits the domain; an all-to-all is longer by forwarding."""
    families = ["fabric.family=rail-spine,rail-only"]
    for engine in ("spray", "ecmp,qp=16"):
        spine, rail = sweep("rail-only:gpus=256", families, "--job", "model=gpt-7.5b,tp=8,pp=2", "--engine", engine)
        expect(f"iteration, {engine}", rail["engines"][0]["iteration_s"], spine["engines"][0]["iteration_s"], 1e-3)
        expect("dollars per token", rail["engines"][0]["usd_per_1e9_tokens"] < spine["engines"][0]["usd_per_1e9_tokens"], True)
    for gpus, domain in ((256, 8), (256, 16), (512, 256)):
        whole = f"rail-only:gpus={gpus},gpus-per-server={domain},domain={domain},copy-rate=1000000GB/s,forwarding=sequential"
        form = f"gpus={gpus},gpus-per-server={domain},domain={domain}"  # as published: relays copy nothing
        times = [run("route", design, "--traffic", "pattern:all-to-all,bytes=1MB", "--engine", "spray", "--json", "--quiet")
                 ["phases"][0]["engines"][0]["time_s"] for design in (f"rail-spine:{form}", f"rail-only:{form},copy-rate=1000000GB/s", whole)]
        extra = times[2] / times[0] - 1
        expect(f"pipelined forwarding hides behind the NICs, domain of {domain}", times[1], times[0], 0.002)
        expect(f"sequential forwarding, domain of {domain}: {100 * extra:.1f} %", 0.082 <= extra <= 0.112, True)
        expect("which is (H-1)/H of B_nic/B_nvlink", extra, (domain - 1) / domain * 50 / 450, 0.01)


def placements():
    """One report for what placement does: edges that cross, and times."""
    points = run("place", "clos:gpus=512,radix=16,pod=64,tiers=3,taper=1/4", "--job", "model=gpt-7.5b,tp=8,batch=512",
                 "--engine", "spray", "--json", "--quiet")["sweep"]["points"]
    crossing = {point["values"][0]: point["phases"][-1]["boundaries"][-1]["crossing_flows"] for point in points}
    expect("rings in order leave every pod once", crossing["order"], 8 * 8)
    expect("packed as well", crossing["packed"], 8 * 8)
    expect("scattered rings leave it at every step", crossing["scattered"], 512)
    expect("random in between", 64 < crossing["random"] <= 512, True)
    slow = {point["values"][0]: point["engines"][0]["slowdown_ratio"] for point in points}
    expect("scattered is the slowest", slow["scattered"] == max(slow.values()) and slow["scattered"] > 1.1, True)


def mix():
    """The Llama 3 talk: a network tapered for training is slower for a ranking model, and is worth its price or not."""
    full, tapered = "clos:gpus=256,radix=16,pod=64,tiers=3", "clos:gpus=256,radix=16,pod=64,tiers=3,taper=1/7"
    designs = run("mix", full, tapered, "--job", "model=gpt-7.5b,tp=8,batch=512", "--ranking", "model=dlrm-dcnv2,tables=1024", "--engine", "spray",
                  "--json", "--quiet")["mix"]["designs"]
    engines = [design["engines"][0] for design in designs]
    expect("training hardly notices", engines[1]["training_slowdown_ratio"], 1, 0.01)
    # Its exchanges alone take half as long again; a batch also has lookups and dense layers.
    expect("ranking does", engines[1]["ranking_slowdown_ratio"] > 1.1, True)
    expect("and is not served", [engine["serves_all"] for engine in engines], [True, False])
    expect("speed", engines[1]["speed_ratio"],
           (engines[1]["training_slowdown_ratio"] * engines[1]["ranking_slowdown_ratio"]) ** -0.5, 1e-9)
    expect("one of them is best", [engine["best"] for engine in engines].count(True), 1)


for check in (destination_routing, llama3_talk, from_hash_to_optimum,
              reorder_window, all_gathers, hierarchical_taper, rail_only_against_rail_and_spine, placements, mix):
    check()
sys.exit(1 if failures else 0)
