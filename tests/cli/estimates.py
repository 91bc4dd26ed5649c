"""What --max-memory estimates beside what runs take, over commands, topologies and sizes. An estimate is the smallest
--max-memory that is not refused; the run must end well under it. It must not be below the peak that is measured without
a limit, nor above its double where that is more than 50 MB. Without --all a share of the quick ones (drawn.py).
Usage: estimates.py PROGRAM [--all] [--only REGEX]"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from drawn import drawn

UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SMALL = 50e6
TORUS = {1024: "8,8,4", 4096: "16,8,8", 16384: "16,16,16", 65536: "32,32,16"}
FAT_TREE = {1024: 16, 4096: 26, 16384: 40, 65536: 64, 262144: 102}
DRAGONFLY = {1024: "4,8,4", 4096: "5,11,5", 16384: "8,16,8", 65536: "11,22,11"}
FAMILIES = {
    "rail-spine": lambda n: f"rail-spine:gpus={n},radix=64",
    "clos": lambda n: f"clos:gpus={n},radix=64",
    "fat-tree": lambda n: f"fat-tree:k={FAT_TREE[n]}",
    "planes": lambda n: f"rail-spine:gpus={n},radix=64,planes=2",
    "rail-only": lambda n: f"rail-only:gpus={n},radix=64",
    "torus": lambda n: f"torus:gpus={n},gpus-per-server=4,radix=64,torus={TORUS[n]}",
    "dragonfly": lambda n: f"dragonfly:dragonfly={DRAGONFLY[n]}",
}
ENGINES = ["ecmp", "dmodk", "pinned", "updn", "adaptive", "adaptive,granularity=flow", "spray", "optimal", "ecmp,qp=16"]
EXPORTS = ["html", "svg", "graphml", "yed.graphml", "gexf", "dot", "json", "cables.csv", "ptm.dot", "simai", "simgrid.xml"]
FORMATS = ["ibnet", "cables", "slurm-tree"]
COUNTERS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "data", "counters", "csv")
PERMUTATION = ["--traffic", "pattern:permutation"]
SNAPSHOTS = ["before.csv", "after.csv"]  # of a hundred thousand ports, those of leaves and others


class Case:
    def __init__(self, *arguments, before=(), most=2.0):
        self.arguments = list(arguments)
        self.before = before  # commands that make its files
        self.most = most


def study(design, *options, threads=2, of=()):
    plan = ["study", "plan", design, "--scenarios", "links:1@10", "--store", "study", "--quiet", *of]
    return Case("study", "run", "--store", "study", "--threads", str(threads), "--quiet", *options, before=[plan])


def quick():
    rails, torus = FAMILIES["rail-spine"](4096), FAMILIES["torus"](4096)
    yield Case("build", FAMILIES["rail-spine"](65536))
    yield Case("route", FAMILIES["rail-spine"](16384), *PERMUTATION, "--engine", "ecmp")
    yield Case("route", rails, *PERMUTATION, "--engine", "ecmp,qp=16", "--threads", "2", "--seeds", "4")
    yield Case("route", FAMILIES["rail-spine"](2048), *PERMUTATION, "--engine", "adaptive")
    yield Case("route", rails, "--traffic", "pattern:all-to-all", "--engine", "spray")
    yield Case("route", FAMILIES["planes"](4096), *PERMUTATION, "--engine", "updn")
    yield Case("route", torus, *PERMUTATION, "--engine", "ecmp")
    yield Case("route", FAMILIES["dragonfly"](4096), *PERMUTATION, "--engine", "spray")
    yield Case("route", FAMILIES["rail-spine"](64), *PERMUTATION, "--seeds", "5000")
    yield Case("route", "clos:gpus=2048,radix=32,taper=2", "--traffic", "pattern:permutation,bytes=1MB", "--transport", "spray-ack", "--engine", "ecmp")
    yield Case("run", FAMILIES["clos"](2048))
    yield Case("observe", FAMILIES["clos"](16384), *PERMUTATION, "--engine", "ecmp", "--counters", COUNTERS, "--seeds", "16")
    yield Case("observe", FAMILIES["clos"](16384), *PERMUTATION, "--engine", "ecmp", "--counters", *SNAPSHOTS, "--seeds", "2", "--interval", "10s")
    yield Case("route", FAMILIES["rail-spine"](512), "--traffic", "pattern:all-to-all", "--format", "flows", "--engine", "ecmp")
    yield Case("build", FAMILIES["rail-spine"](4096) + ",planes=8", "--export", "fabric.graphml")
    yield Case("mix", "rail-spine:gpus=1024,radix=64", "rail-spine:gpus=1024,radix=64,taper=2")
    yield study(FAMILIES["rail-spine"](2048))


def of_size(n, name, design):
    is_tree = name not in ("torus", "dragonfly")
    yield Case("build", design)
    yield Case("traffic", design)
    yield Case("run", design, most=2.1 if name == "planes" else 2.0)  # two phases, two solvers
    for engine in ENGINES:
        if is_tree or engine not in ("dmodk", "pinned"):
            # the linear program's shares are reserved, and hardly touched
            most = 3.0 if engine == "optimal" and not is_tree else 2.0
            yield Case("route", design, *PERMUTATION, "--engine", engine, most=most)


def commands(n):
    design = FAMILIES["rail-spine"](n)
    for threads in (1, 2, 8):
        yield Case("route", design, *PERMUTATION, "--engine", "ecmp", "--seeds", "16", "--threads", str(threads))
        yield study(design, threads=threads)
    yield study(design, of=["--figures", "loads", *PERMUTATION])
    yield study(FAMILIES["torus"](n), of=PERMUTATION)
    for engine in ("spray", "ecmp", "dmodk"):
        if n <= 4096 or engine == "spray":
            yield Case("route", design, "--traffic", "pattern:all-to-all", "--engine", engine)
    yield Case("route", design, *PERMUTATION, "--bound")
    yield Case("run", design, "--fail", "leaf-3")
    yield Case("sweep", design, "--vary", "taper.1=1,2,4")
    yield Case("place", design)
    yield Case("cost", design, "--steps", f"{n},{2 * n}")
    yield Case("route", design, *PERMUTATION, "--format", "flows")
    yield Case("run", design, "--out", "report")
    for suffix in EXPORTS:
        yield Case("build", design, "--export", f"fabric.{suffix}")
    for name in FORMATS:
        yield Case("build", design, "--format", name)
    export = ["build", design, "--export", "fabric.cables.csv", "--quiet"]
    yield Case("import", "fabric.cables.csv", "--quiet", before=[export])
    yield Case("audit", "fabric.cables.csv", "--quiet", before=[export])


def everything():
    for n in (1024, 4096, 16384, 65536, 262144):
        for name, design in FAMILIES.items():
            cheap = n < 65536 or name in ("rail-spine", "clos", "planes")
            if name in ("torus", "dragonfly") and n > 16384 or not cheap:
                continue
            for case in of_size(n, name, design(n)):
                if n < 262144 or case.arguments[0] in ("build", "traffic") or case.arguments[-1] in ("ecmp", "spray"):
                    yield case
        if n <= 16384:
            yield from commands(n)
    yield Case("mix", "rail-spine:gpus=1024,radix=64", "rail-spine:gpus=1024,radix=64,taper=2")
    for gpus in ("4096", "65536", "262144"):
        yield Case("optimize", "--gpus", gpus, "--nic", "400Gb/s")


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder, self.peak = os.path.abspath(program), os.path.join(folder, "of-a-run"), os.path.join(folder, "peak")
        os.mkdir(self.folder)

    def run(self, arguments, limit=None):
        """Exit code, peak bytes, what it said."""
        with open(os.path.join(self.folder, "err"), "w+", encoding="utf-8", errors="replace") as err:
            # A child of this process would count the interpreter's memory, which it has until it starts the program: not one of "time".
            command = ["/usr/bin/time", "-q", "-f", "%M", "-o", self.peak, self.program, *arguments] + ([f"--max-memory={int(limit)}B"] if limit else [])
            code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=err, cwd=self.folder, check=False).returncode
            err.seek(0)
            with open(self.peak, encoding="utf-8") as peak:
                return code, int(peak.read()) * 1024, err.read()

    def start(self, case):
        for path in os.listdir(self.folder):
            path = os.path.join(self.folder, path)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        for k, path in enumerate(SNAPSHOTS if SNAPSHOTS[0] in case.arguments else []):
            with open(os.path.join(self.folder, path), "w", encoding="utf-8") as out:
                out.write("node,port,tx_bytes,rx_bytes\n" + "".join(f"leaf-{i // 64},{i % 64 + 1},{1000 * i * k},{i * k}\n" for i in range(100000)))
        for command in case.before:
            code, _, said = self.run(command)
            assert code == 0, (command, said)

    def check(self, case):
        """What is wrong with it, or None; and a line of figures."""
        self.start(case)
        code, peak, said = self.run(case.arguments)
        if code != 0:
            return f"exit code {code}: {said.strip()[-200:]}", ""
        limit, wrong = 1.0, None
        for _ in range(12):  # every stage refuses with its own estimate
            self.start(case)
            code, _, said = self.run(case.arguments, limit)
            refused = re.search(r"would take about ([\d.]+) (\w?B) of memory", said)
            if code == 0 or not refused:
                break
            limit = float(refused[1]) * UNITS[refused[2]] * 1.0006 + 1  # as printed, to four digits
        if code != 0:
            wrong = f"does not run under its own estimate: {said.strip()[-200:]}"
        elif limit < peak:
            wrong = "the estimate is below what it takes"
        elif peak > SMALL and limit > case.most * peak:
            wrong = f"the estimate is more than {case.most} times what it takes"
        return wrong, f"{peak / 1e6:9.1f} MB, estimate {limit / 1e6:9.1f} MB, x{limit / peak:.2f}"


def main():
    arguments = sys.argv[1:]
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    cases = [c for c in (everything() if "--all" in arguments else quick()) if re.search(only, " ".join(c.arguments))]
    cases = cases if only or "--all" in arguments else cases[:1] + drawn(cases[1:], lambda case: " ".join(case.arguments))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments[0], folder)
        _, base, _ = runner.run(["version"])
        if base > 40e6:
            print("skip: a sanitizer's own memory counts as the program's")
            return 0
        for case in cases:
            begin = time.monotonic()
            wrong, figures = runner.check(case)
            failures += wrong is not None
            if wrong or "--all" in arguments:
                print(f"{'FAIL' if wrong else 'ok  '} {figures} {time.monotonic() - begin:6.1f} s  {' '.join(case.arguments)}{': ' + wrong if wrong else ''}", flush=True)
    assert cases, only
    print(f"{len(cases)} cases, {failures} failures")
    return int(failures > 0)


sys.exit(main())
