"""Sizes at the edges of integers, for every numeric field of a design, key of a pattern, option of an engine, option of the
command line, and number in files of every kind: nothing may crash, hang, or take more memory than --max-memory allows. A share
of them (drawn.py); sizes that are allowed alone and not together, always. Usage: limit_cases.py PROGRAM"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from drawn import SEED, SHARE, drawn

PROGRAM = sys.argv[1]
EDGES = ["2147483648", "4294967295", "4294967296", "9223372036854775808", "18446744073709551615"]
SMALL = "rail-spine:gpus=32,gpus-per-server=4,radix=16"
LIMIT_MIB = 256
SLACK_MIB = 96  # the program itself, its libraries and the stacks of threads
LIMIT_S = 20  # of processor time, whatever else runs
WALL_S = 200
GOOD = {0, 2, 3, 4, 5}
UNITS = [("b/s", "Gb/s"), ("MB or", "GB"), ("30m", "m"), ("1.5us", "s"), ("700W", "W"), ("2.5 or 7:1", "")]


class WithFile(list):
    """Arguments that name a file of this text."""

    def __init__(self, arguments, name, text):
        super().__init__(arguments)
        self.name, self.text = name, text


def run(arguments):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "err"), "w+", encoding="utf-8", errors="replace") as err:
        if isinstance(arguments, WithFile):
            with open(os.path.join(folder, arguments.name), "w", encoding="utf-8") as file:
                file.write(arguments.text)
        process = subprocess.Popen([PROGRAM, *arguments, f"--max-memory={LIMIT_MIB}MiB"], stdout=subprocess.DEVNULL, stderr=err, cwd=folder)
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
        end = time.monotonic() + WALL_S
        done, status, usage = os.wait4(process.pid, os.WNOHANG)
        while done == 0 and time.monotonic() < end:
            time.sleep(0.005)
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
        if done == 0:
            process.kill()
            os.wait4(process.pid, 0)
            return f"takes longer than {WALL_S} s"
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"takes more than {LIMIT_S} s of processor time"
        err.seek(0)
        said = err.read().strip()[-300:]
        if code not in GOOD:
            return f"exit code {code}: {said}"
        if code != 0 and not said:
            return f"exit code {code} without a message"
        if usage.ru_maxrss > (LIMIT_MIB + SLACK_MIB) * 1024:
            return f"took {usage.ru_maxrss // 1024} MiB: {said}"
        return None


def listed(what):
    return json.loads(subprocess.run([PROGRAM, "list", what, "--json"], stdout=subprocess.PIPE, check=True).stdout)


def field_cases():
    """Of the table of fields: every one that reads a number."""
    for row in listed("fields"):
        example = row["example"]
        unit = next((suffix for mark, suffix in UNITS if mark in example), None)
        if unit is None and not re.search(r"\d to \d|^\d", example):
            continue
        path = row["path"].replace("[N]", "[1]")
        command = ["build"] if path.startswith("fabric.gpus") else ["run"]
        edges = EDGES
        allowed = re.match(r"([\d,]+) to ([\d,]+)", example)
        if allowed:  # the most that it takes, and one more
            most = int(allowed[2].replace(",", ""))
            edges = [str(most), str(most + 1), EDGES[2], EDGES[-1]]
        for edge in edges:
            yield [*command, SMALL, "--set", f"{path}={edge}{unit or ''}"]


def engine_cases():
    for row in listed("engines"):
        if row["option"]:
            for edge in EDGES:
                yield ["route", SMALL, "--traffic", "pattern:shift,by=1", "--engine", f"{row['name']},{row['option']}={edge}"]


def pattern_cases():
    names = [row["name"] for row in listed("patterns")]
    for name in names:
        for key in ("by", "bytes", "groups", "channels", "fanin", "to", "from", "gpus", "seed"):
            unit = "GB" if key == "bytes" else ""
            for edge in EDGES[1::3]:
                yield ["route", SMALL, "--traffic", f"pattern:{name},{key}={edge}{unit}"]


def option_cases():
    for edge in EDGES:
        yield ["route", SMALL, "--traffic", "pattern:permutation", "--seeds", edge]
        yield ["route", SMALL, "--traffic", "pattern:permutation", "--seed", edge]
        yield ["build", SMALL, "--threads", edge]
        yield ["build", SMALL, "--max-time", edge + "s"]
        yield ["cost", SMALL, "--steps", f"32,{edge}"]
        yield ["optimize", "--gpus", edge, "--nic", "400Gb/s"]
        yield ["route", SMALL, "--traffic", "pattern:permutation", "--explain", edge]
        yield ["sweep", SMALL, "--vary", f"gpus=32,{edge}"]
        for scenarios in (f"links:{edge}", f"links:1@{edge}", f"links:2@{edge}", f"time:{edge}d@10", f"time:1d@{edge}", f"servers:{edge}@{edge}"):
            yield ["study", "plan", SMALL, "--scenarios", scenarios, "--store", "s"]


TREE = "fat-tree:k=4"
MATRIX = "%%MatrixMarket matrix coordinate integer general\n16 16 2\n1 2 1000\n3 4 500\n"
SCENARIOS = "scenario,component,left\na,leaf-1,0\nb,nic-3,0.5\nb,leaf-0:3 > spine-0:1,0.25\n"
CONNECTIONS = "Nodes 16\nConnections 2\n0->1 id 1 start 0 size 1000\n2->3 id 2 start 0 size 500\n"
SLURM = "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=t Switches=s[0-1]\n"
LEVEL = ["--traffic", "pattern:permutation"]
NUMBERS = 12  # of a file, the first


def printed(*arguments):
    return subprocess.run([PROGRAM, *arguments, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True).stdout


def files():
    """Command, name of its file, text."""
    traffic = ["route", TREE, "--engine", "spray", "--traffic"]
    yield [*traffic, "file:m.mtx"], "m.mtx", MATRIX
    yield [*traffic, "file:m.csv"], "m.csv", "src,dst,bytes\n1,2,1000\n3,4,500\n"
    yield [*traffic, "file:m.cm"], "m.cm", CONNECTIONS
    yield ["study", "plan", TREE, "--scenarios", "file:s.csv", "--store", "s"], "s.csv", SCENARIOS
    yield ["route", TREE, *LEVEL, "--engine", "file,path=t"], "t", printed("route", TREE, *LEVEL, "--engine", "dmodk", "--dump", "-")
    yield ["import", "slurm.conf"], "slurm.conf", SLURM
    for name in ("ibnet", "cables", "ptm", "htsim", "simai"):
        yield ["audit" if name == "htsim" else "import", "fabric"], "fabric", printed("build", TREE, "--format", name)


def file_cases():
    for command, name, text in files():
        numbers = list(re.finditer(r"(?<![\w.])\d+(?![\w.]*x)", text))[:NUMBERS]
        assert len(numbers) >= 4, (command, text[:200])
        for number in numbers:
            for edge in [*EDGES[1::3], "0", "-1"]:
                yield WithFile(command, name, text[: number.start()] + edge + text[number.end() :])


def slurm_cases():
    """Hosts below one switch and below two."""
    for below in ("0-3", "0-7", "0-4", "2-7", "0-0"):
        for nics in ([], ["--set", "nics-per-server=2"]):
            text = f"SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[{below}]\nSwitchName=t Switches=s[0-1]\n"
            yield WithFile(["import", "slurm.conf", *nics], "slurm.conf", text)


def study_cases():
    for edge in EDGES:
        for option in (["run", "--shard", f"0/{edge}"], ["run", "--threads", edge], ["show", "--top", edge], ["show", "--variant", edge]):
            yield ["study", option[0], "--store", "nothing", *option[1:]]
        yield ["route", SMALL, *LEVEL, "--advise", "--advise-budget", edge]
        yield ["route", SMALL, *LEVEL, "--fail", f"nic-{edge}"]
        yield ["build", SMALL, "--fail", f"leaf-0:{edge} > spine-0:1"]
        yield ["run", SMALL, "--job", f"servers=0-{edge}"]


def product_cases():
    """Factors that are allowed alone."""
    yield ["build", "rail-spine:gpus=16777216,radix=64"]
    yield ["build", "rail-spine:gpus=16777216,radix=65535,gpus-per-server=1"]
    yield ["build", "clos:gpus=16777216,gpus-per-server=65535,nics-per-server=65535,radix=65535"]
    yield ["build", "rail-only:gpus=16777216,gpus-per-server=65535,radix=65535"]
    yield ["build", "rail-spine:gpus=16777216,radix=64,planes=64"]
    yield ["build", "rail-spine:gpus=16777216,radix=64,spares=16777216"]
    yield ["build", "fat-tree:k=65534"]
    yield ["build", "fat-tree:k=2000"]
    yield ["build", "fat-tree:xgft=3;65535,65535,65535;65535,65535,65535;65535,65535,65535"]
    yield ["build", "fat-tree:xgft=8;64,64,64,64,64,64,64,64;64,64,64,64,64,64,64,64"]
    yield ["build", "torus:gpus=16777216,torus=65535,65535,65535,65535,65535,65535,radix=64"]
    yield ["build", "torus:gpus=16777216,gpus-per-server=1,torus=256,256,256,radix=64"]
    yield ["build", "dragonfly:dragonfly=65535,65535,65535,65535"]
    yield ["build", "dragonfly:dragonfly=64,128,64,8193"]
    yield ["route", "rail-spine:gpus=1048576,radix=64", "--traffic", "pattern:all-to-all", "--engine", "spray"]
    yield ["route", "rail-spine:gpus=65536,radix=64", "--traffic", "pattern:permutation", "--engine", "ecmp,qp=256"]
    yield ["study", "plan", "rail-spine:gpus=16384,radix=64", "--scenarios", "links:8", "--traffic", "pattern:ring", "--store", "s"]
    yield ["study", "plan", "rail-spine:gpus=16384,radix=64", "--scenarios", "links:3", "--traffic", "pattern:ring", "--store", "s"]
    yield ["run", "rail-spine:gpus=4096,radix=64", "--job", "layers=65535,hidden=1000000,heads=1000,seq=16777216,vocab=16777216,batch=16777216"]


def main():
    every = [case for kind in (field_cases, engine_cases, pattern_cases, option_cases, study_cases, slurm_cases, file_cases) for case in kind()]
    assert len(list(field_cases())) > 250 and len(every) > 1500, len(every)
    cases = drawn(every, lambda case: " ".join([*case, getattr(case, "text", "")])) + list(product_cases())
    assert len(cases) > len(every) / SHARE / 2, len(cases)
    failures = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, wrong in zip(cases, pool.map(run, cases)):
            if wrong:
                failures += 1
                print(f"FAIL: {' '.join(case)}: {wrong}{repr(case.text[:500]) if isinstance(case, WithFile) else str()}")
    print(f"{len(cases)} of {len(every)} cases, seed {SEED}, {failures} failures")
    sys.exit(failures > 0)


main()
