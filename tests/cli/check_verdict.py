#!/usr/bin/env python3
"""The verdict of a report against separate runs: savings, limits, margins, and who is best; and its lines in every case."""
import functools
import json
import random
import re
import subprocess
import sys

from drawn import SHARE

program = sys.argv[1]
LINES = ["bound by", "collisions", "cost", "to do", "how sure"]
SMALL = "clos:gpus=64,radix=16"


@functools.lru_cache(maxsize=None)
def printed(words):
    """Text and data of one run."""
    out = subprocess.run([program, *words, "--quiet", "--out", "printed", "--force"], capture_output=True, text=True)
    assert out.returncode == 0, (words, out.stderr)
    with open("printed/report.json", encoding="utf-8") as file:
        return out.stdout, file.read()


def run(*words, text=False):
    said, data = printed(words)
    return said if text else json.loads(data)


def seconds(report):
    """Of an iteration, else of all phases one after the other: as a reader of the report adds up."""
    if "iteration" in report:
        return [row["time_s"] for row in report["iteration"]]
    mean = lambda figure: figure["mean"] if isinstance(figure, dict) else figure
    return [sum(mean(phase["engines"][e]["time_s"]) for phase in report["phases"]) for e in range(len(report["phases"][0]["engines"]))]


def close(a, b, part=1e-6):
    return abs(a - b) <= part * max(abs(a), abs(b), 1e-12)


def check_alternatives(*words):
    """Every alternative is what a run of that engine finds; no run is below the least; what is advised is the best of them."""
    base = run(*words)
    verdict = base["verdict"]
    assert verdict["alternatives"], words
    assert close(verdict["compared_s"], seconds(base)[verdict["best_engine"]]), words
    for alternative in verdict["alternatives"]:
        assert alternative["possible"], alternative
        alone = run(*words, "--engine", alternative["engine"])
        assert close(alternative["time_s"], seconds(alone)[-1], 1e-4), (words, alternative, seconds(alone))
        assert alternative["time_s"] >= verdict["least_s"] * (1 - 1e-9), (words, alternative)
    best = min(t["time_s"] for t in verdict["alternatives"] if not t["needs_switch_support"])
    saved = verdict["compared_s"] - best
    if saved > 1e-3 * verdict["compared_s"]:
        named = re.search(r"--engine (\S+) saves", verdict["to_do"]).group(1)
        assert any(t["engine"] == named and close(t["time_s"], best) for t in verdict["alternatives"]), verdict["to_do"]
    else:
        assert "--engine ecmp" not in verdict["to_do"], verdict["to_do"]
    return verdict


def check_alternative_figures():
    check_alternatives("run", SMALL, "--job", "tp=8")
    check_alternatives("run", "clos:gpus=128,radix=32,taper=2", "--job", "tp=4,pp=2,microbatch=1,interleave=1")
    check_alternatives("run", "rail-spine:gpus=256,radix=16", "--job", "tp=8,servers=0,9,2,11,4,13,6,15")
    check_alternatives("route", "fat-tree:k=8", "--traffic", "pattern:permutation")
    tapered = check_alternatives("route", "clos:gpus=64,radix=16,taper=4", "--traffic", "pattern:shift,by=32")
    assert "; more uplinks win the taper, load x" in tapered["to_do"] and "placement" not in tapered["to_do"], tapered["to_do"]  # a pattern has none


def check_cuts():
    """Words of a bound are said of a cut alone, which no splitting is below; equal shares are none."""
    for design in ("clos:gpus=64,radix=16,taper=4", "clos:gpus=256,radix=16,pod=64,tiers=3,taper=1/2"):
        report = run("route", design, "--traffic", "pattern:permutation", "--engine", "spray", "--bound")
        for phase in report["phases"]:
            cut = phase["max_cut_factor"]
            assert 0 < cut <= phase["bound"]["min_utilisation_ratio"] * (1 + 1e-6), (design, phase)
            assert cut <= phase["max_taper_factor"] * (1 + 1e-6), (design, phase)
    graph = run("route", "dragonfly:gpus=72,radix=8", "--traffic", "pattern:shift,by=8", "--engine", "spray")
    assert "max_cut_factor" not in graph["phases"][0], graph["phases"][0]
    assert "more uplinks" not in graph["verdict"]["to_do"], graph["verdict"]["to_do"]


def check_engines():
    """The best and the worst of those given, and the margin between them."""
    report = run("run", SMALL, "--job", "tp=8", "--engine", "ecmp", "--engine", "spray", "--engine", "ecmp,qp=4")
    times = seconds(report)
    verdict = report["verdict"]
    assert close(times[verdict["best_engine"]], min(times)) and close(times[verdict["worst_engine"]], max(times))
    margin = re.search(r"([\d.]+) % more", verdict["bound_by"])
    assert margin and abs(float(margin.group(1)) - 100 * (max(times) / min(times) - 1)) < 0.06, verdict["bound_by"]
    assert verdict["to_do"].startswith("take [2] spray"), verdict["to_do"]
    same = run("run", "clos:gpus=8", "--engine", "ecmp", "--engine", "spray")["verdict"]
    assert same["best_engine"] == same["worst_engine"] and "take the same" in same["bound_by"] and "take [" not in same["to_do"]


def check_parts():
    """The first line names the largest part of the iteration."""
    for words in ((SMALL, "--job", "tp=8"), ("clos:gpus=64,taper=4,radix=16", "--job", "tp=1"), ("clos:gpus=8",)):
        report = run("run", *words)
        part = report["iteration"][0]
        exchanges = {name: part.get(f"exposed_{key}_s", 0) for name, key in
                     (("tensor exchange", "tp"), ("context exchange", "cp"), ("expert exchange", "ep"), ("pipeline transfers", "pp"), ("data-parallel exchange", "dp"))}
        names = {"compute": part["compute_s"] + part["optimizer_s"], "pipeline bubble": part["bubble_s"], "communication": sum(exchanges.values())}
        for name, seconds_of in exchanges.items():
            told = f"{name} {100 * seconds_of / part['time_s']:.0f} %" in report["verdict"]["bound_by"]
            assert told == (seconds_of > 0.005 * part["time_s"]), (words, name, report["verdict"]["bound_by"])
        most = max(names, key=names.get)
        assert report["verdict"]["bound_by"].startswith(f"{most}, {100 * names[most] / part['time_s']:.0f} %"), (words, report["verdict"]["bound_by"])


def check_advice(n):
    """A remedy that a plain report names is clearly faster in --advise too, by the same figure; what it calls luck is not."""
    rng, named, luck = random.Random(13), 0, 0
    for _ in range(n):
        family = rng.choice(["clos", "rail-spine", "fat-tree"])
        per_server = rng.choice([4, 7, 8])
        design = f"{family}:gpus={per_server * rng.randint(6, 20)},gpus-per-server={per_server},radix={rng.choice([16, 24, 32])}"
        design += f",taper={rng.choice(['2', '1.7', '3'])}" if rng.random() < 0.4 and family != "fat-tree" else ""
        traffic = rng.choice(["pattern:permutation", f"pattern:shift,by={per_server * rng.randint(1, 5)}", "pattern:ring", "job"])
        seed = rng.randint(1, 99)
        words = ["route", design, "--traffic", traffic, "--seed", str(seed), "--engine", rng.choice(["ecmp", "ecmp,qp=4", "ecmp,qp=8", "dmodk"])]
        words += ["--seeds", str(rng.choice([8, 12]))] if rng.random() < 0.3 else []
        words += ["--job", "layers=4,hidden=1024,heads=8,plan=given"] if traffic == "job" else []
        tried = subprocess.run([program, *words, "--quiet", "--json"], capture_output=True, text=True)
        if tried.returncode != 0:  # too few ports
            continue
        verdict = json.loads(tried.stdout)["verdict"]
        rows = {row["change"]: row for row in run(*words, "--advise")["advice"]["candidates"]}
        for engine in re.findall(r"--engine (\S+) saves", verdict["to_do"]):
            named += 1
            assert rows["--engine " + engine]["verdict"] == "faster", (words, verdict["to_do"], rows["--engine " + engine])
        for alternative in verdict["alternatives"]:
            row = rows.get("--engine " + alternative["engine"])
            if "confirmed" in alternative and row is not None:
                luck += not alternative["confirmed"]
                assert alternative["confirmed"] == (row["verdict"] == "faster"), (words, alternative, row)
                assert close(alternative["seeds_ratio"], row["gain_ratio"]), (words, alternative, row)
    assert named >= n // 3 and luck > 0, (named, luck)


def check_least(n):
    """What is told though the interval of its gain contains 0 takes the least under every seed: under others it loses nothing. So with and without --advise."""
    rng, told = random.Random(5), 0
    for i in range(n):
        gpus, to = 32 * rng.randint(1, 2), rng.randrange(32)
        flows = [(a, (a + rng.randint(8, 16)) % gpus, rng.randint(1, 3)) for a in range(gpus)]
        flows += [(a % gpus, to, rng.randint(1, 3)) for a in range(to + 8, to + 8 + rng.randint(3, 9))]
        with open(f"least{i}.csv", "w", encoding="utf-8") as file:
            print("src,dst,bytes", *(f"{a},{b},{m}000000" for a, b, m in flows), sep="\n", file=file)
        words = ["route", f"clos:gpus={gpus},radix=16,taper={rng.choice(['1', '2'])}", "--traffic", f"file:least{i}.csv"]
        report = run(*words, "--engine", "ecmp", "--advise")
        plain = run(*words, "--engine", "ecmp", "--seeds", "8")["verdict"]["alternatives"]
        for row in report["advice"]["candidates"]:
            engine = row["change"].removeprefix("--engine ")
            assert all(t["confirmed"] == (row["verdict"] == "faster") for t in plain if t["engine"] == engine and "confirmed" in t), (i, row, plain)
            if row["verdict"] == "faster" and row["gain_s"] <= row["gain_ci95_s"]:
                told += 1
                before_s, after_s = seconds(run(*words, "--seed", "501", "--seeds", "16", "--engine", "ecmp", "--engine", engine))
                assert after_s <= before_s * 1.001, (i, row, before_s, after_s)
    assert told >= n // 2, told


def check_cases():
    """What each says that no other does; every report has its lines first, at most 80 columns wide and not cut."""
    cases = {
        ("run", "clos:gpus=8"): ("collisions", "stays inside the scale-up domains"),
        ("run", "rail-only:gpus=64"): ("collisions", "no flow crosses a link between switches"),
        ("run", SMALL, "--job", "tp=8", "--seeds", "4"): ("how sure", "4 seeds"),
        ("run", "clos:gpus=64,radix=16", "--transport", "pfc", "--job", "tp=8"): ("how sure", "packets in lossless queues"),
        ("run", SMALL, "--job", "tp=8"): ("how sure", "lower bounds on lossless RoCE"),
        ("run", "clos:gpus=64,radix=16,spares=1", "--job", "tp=8", "--fail", "server-1"): ("bound by", "With server-1 failed: "),
        ("run", SMALL, "--job", "tp=8", "--degrade", "nic-7=0.5"): ("bound by", "With the slower parts: "),
        ("run", "clos:gpus=64", "--job", "kind=ranking"): ("bound by", "for all phases"),
        ("run", "clos:gpus=64", "--job", "model=llama3-8b,kind=serving"): ("bound by", "per token"),
        ("run", "preset:llama3-talk-racks"): ("bound by", "iteration"),
        ("route", "fat-tree:k=4", "--traffic", "pattern:shift,by=4", "--engine", "dmodk"): ("how sure", "every seed gives the same"),
    }
    for words, (line, said) in cases.items():
        lines = run(*words, text=True).split("\n\n", 1)[0].split("\n")
        found = {}
        for text in lines:
            assert len(text) <= 80 and not re.search("\u2026|\\.\\.\\.$", text), (words, text)
            name = next((name for name in LINES if text.startswith(name)), None)
            last = name or last
            rest = text[12:].strip()
            goes_on = found.get(last, "").endswith(",") and re.match("(tp|cp|pp|dp|ep|interleave|microbatch|recompute|zero|sequence-parallel)=", rest)  # keys of a job
            found[last] = found.get(last, "") + ("" if goes_on else " ") + rest
        want = [name for name in LINES if name != "cost" or words[0] == "run"]
        assert list(found) == want, (words, list(found))
        assert said in found[line], (words, found[line])
        verdict = run(*words)["verdict"]
        for name, key in zip(LINES, ("bound_by", "collisions", "cost", "to_do", "how_sure")):
            assert found.get(name, "").strip() == verdict.get(key, ""), (words, name, found.get(name), verdict.get(key))


check_alternative_figures()
check_cuts()
check_engines()
check_parts()
check_cases()
check_advice(80 // SHARE)
check_least(12 // SHARE)


def check_width():
    """At 80 columns nothing is wider, and nothing is cut: every figure of JSON's overview is in the text."""
    for words in (("route", "rail-spine:gpus=12,gpus-per-server=4,radix=8,reduction=switch", "--traffic", "pattern:all-reduce,algorithm=all,bytes=1GB", "--engine", "ecmp", "--engine", "spray"),
                  ("run", "clos:gpus=64,radix=16,tiers=3", "--job", "tp=4,pp=2", *(w for e in ("ecmp,qp=4", "dmodk", "adaptive", "spray", "pinned,slices=4") for w in ("--engine", e)), "--seeds", "3"),
                  ("sweep", "clos:gpus=64,radix=16,tiers=3", "--vary", "taper=1/1,1/2,2/4", "--engine", "ecmp", "--engine", "adaptive", "--job", "tp=4,pp=2")):
        text = run(*words, text=True)
        assert all(len(line) <= 80 for line in text.split("\n")) and "\u2026" not in text, words
        if words[0] == "route":
            overview = text[text.index("\nTRAFFIC"):text.index("\nALL-REDUCE BY")]
            rows = [line.split()[-2:] for line in overview.split("\n") if re.search(r"\d+ [mun]?s$", line)]
            phases = run(*words)["phases"]
            times = [engine["time_s"] for phase in phases for engine in phase["engines"]]
            scale = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
            assert len(rows) == len(times) and all(close(float(n) * scale[unit], t, 1e-3) for (n, unit), t in zip(rows, times)), rows


check_width()
