#!/usr/bin/env python3
"""Tables every all-reduce that was measured beside what `busbw` gives for it.

    scripts/busbw_table.py PROGRAM               prints the tables
    scripts/busbw_table.py PROGRAM --write FILE  also replaces them between the markers in FILE
    scripts/busbw_table.py PROGRAM --check FILE  fails unless FILE has what the program gives

PROGRAM is build/release/bin/fabriscope. Bounds: 5 % from 1 GiB, 15 % from 1 MiB, 30 % below. Each case is read by the program itself
as the output of nccl-tests, so that `--measured` is what decides.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

BEGIN, END = "<!-- begin: scripts/busbw_table.py -->", "<!-- end -->"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MEASURED = os.path.join(ROOT, "tests", "data", "busbw", "all-reduce.tsv")
COLLECTIVES = {"all-reduce": "nccl_all_reduce.csv", "all-gather": "nccl_all_gather.csv", "all-to-all": "nccl_alltoall.csv"}
WARM_UP = 0.1  # GB/s: no bandwidth of a network, but of a first call
DESIGNS = {
    "a100-1node": ["clos:gpus=8", "--job", "gpu=a100-80gb"],
    "h200-1node": ["clos:gpus=8", "--job", "gpu=h200-141gb"],
    "b200-1node": ["clos:gpus=8", "--job", "gpu=b200-180gb"],
    "b200-4node": ["clos:gpus=32,host=nccl-efa-b200", "--engine", "spray", "--job", "gpu=b200-180gb"],
    "gb200-72": ["clos:gpus=72,gpus-per-server=4,domain=72", "--job", "gpu=gb200-186gb"],
    "gb200-144": ["rail-spine:gpus=144,gpus-per-server=4,domain=72,radix=144", "--job", "gpu=gb200-186gb"],
    "h100-64-sharp": ["rail-spine:gpus=64,reduction=switch", "--job", "gpu=h100-80gb"],
}
LINKS = {"b200-1node": 900, "b200-4node": 400}  # GB/s of bus bandwidth that links or NICs have in print
GPUS = os.path.join(ROOT, "topologies", "gpus")
MOST_FITTED = 4
OF_NCCL = {"ll128": "what NCCL counts LL128 as, of a ring (src/graph/tuning.cc)"}
MISSES = {("b200-1node", 67108864), ("b200-4node", 131072)}


def bound(size):
    return 0.05 if size >= 1 << 30 else 0.15 if size >= 1 << 20 else 0.30


def run(program, design, ranks, rows, collective="all-reduce"):
    """Rows of `busbw` with (bytes, busbw in GB/s) as the output of nccl-tests, which the program reads."""
    factor = (2 if collective == "all-reduce" else 1) * (ranks - 1) / ranks
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "all_reduce_perf.log")
        with open(path, "w", encoding="utf-8") as log:
            for rank in range(ranks):
                log.write(f"#  Rank {rank:2d} Group  0 Pid 17 on host device {rank % 8} [0x00] GPU\n")
            log.write("#       size         count      type   redop    root     time   algbw   busbw #wrong\n")
            for size, busbw in rows:
                log.write(f"{size:12d} {size // 4:12d} float sum -1 {size * factor / busbw / 1e3:.2f} {busbw / factor:.4f} {busbw:.4f} 0\n")
        done = subprocess.run([program, "busbw", *design, "--collective", collective, "--measured", path, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{design}: {done.stderr}")
    found = json.loads(done.stdout)["busbw"]
    assert found["ranks"] == ranks and (found["short_sizes"] > 0) == (done.returncode == 1), design
    return found["rows"]


def reason(case, factor, row, following):
    """Why no sum of a latency and of bytes over a rate has both rows; of a miss that has none, nothing."""
    more_s = factor * (following[0] / following[1] - row[0] / row[1]) / 1e9
    rate = factor * (following[0] - row[0]) / more_s / 1e9
    if more_s <= 0:
        return f"twice the bytes took {-more_s * 1e6:.0f} us less"
    is_beyond = rate > LINKS[case]
    return f"the next {(following[0] - row[0]) >> 20} MiB took {more_s * 1e6:.0f} us: {rate:.0f} GB/s, where links have {LINKS[case]}" if is_beyond else ""


def read_cases():
    cases = {}
    with open(MEASURED, encoding="utf-8") as text:
        for row in csv.DictReader((line for line in text if not line.startswith("# ")), delimiter="\t"):
            cases.setdefault(row["case"], (int(row["gpus"]), []))[1].append((int(row["bytes"]), float(row["busbw_GBps"])))
    return cases


def table(program, problems):
    lines = ["| case | bytes | algorithm | measured, GB/s | ours, GB/s | off | bound | |", "|---|---:|---|---:|---:|---:|---:|---|"]
    n_within = n_all = 0
    for case, (ranks, rows) in read_cases().items():
        kept = [row for row in rows if row[1] >= WARM_UP]
        found = {row["bytes"]: row for row in run(program, DESIGNS[case], ranks, kept)}
        for size, busbw in rows:
            if size not in found:
                lines.append(f"| {case} | {size} | | {busbw} | | | | missing: a first call |")
                continue
            ours = found[size]["busbw_bps"] / 8e9
            off = ours / busbw - 1
            is_miss = abs(off) > bound(size)
            n_all += 1
            n_within += not is_miss
            if is_miss and (case, size) not in MISSES:
                problems.append(f"{case} {size}: measured {busbw}, ours {ours:.2f}")
            if found[size]["falls_short"] != (1 / (1 + off) < 1 - bound(size)):
                problems.append(f"{case} {size}: falls_short is {found[size]['falls_short']}")
            why = reason(case, 2 * (ranks - 1) / ranks, (size, busbw), rows[rows.index((size, busbw)) + 1]) if is_miss and (case, size) in MISSES else ""
            if is_miss and not why:
                problems.append(f"{case} {size}: missed, and the measured rows do not say why")
            lines.append(f"| {case} | {size} | {found[size]['algorithm']} {found[size]['protocol']} | {busbw} | {ours:.2f} | {100 * off:+.1f} % | "
                         f"{100 * bound(size):.0f} % | {'**miss**: ' + why if is_miss else ''} |")
    return [f"{n_within} of {n_all} within the bounds; 2 more are of a first call.", ""] + lines


def fitted(problems):
    """Constants of each generation: those that a GPU's file calls fitted, four at most, and where the others are from."""
    groups = {}
    for name in sorted(os.listdir(GPUS)):
        nccl = ElementTree.parse(os.path.join(GPUS, name)).getroot().find("nccl")
        if nccl is not None:
            key = tuple(sorted(nccl.attrib.items()))
            groups.setdefault(key, []).append(name.removesuffix(".xml"))
    lines = ["| GPUs | fitted | constants | from elsewhere |", "|---|---:|---|---|"]
    for key, names in groups.items():
        values = dict(key)
        source = values.pop("source")
        names_of_fit = [word.strip() for word in source.split(": fitted")[0].split(",")]
        if ": fitted" not in source or len(names_of_fit) > MOST_FITTED or not set(names_of_fit) <= set(values):
            problems.append(f"{', '.join(names)}: '{source}' does not name {MOST_FITTED} fitted constants at most")
        others = sorted(set(values) - set(names_of_fit))
        if any(other not in source.split(": fitted")[1] and other not in OF_NCCL for other in others):
            problems.append(f"{', '.join(names)}: nothing says where {', '.join(others)} are from")
        lines.append(f"| {', '.join(names)} | {len(names_of_fit)} | {', '.join(f'{name} {values[name]}' for name in names_of_fit)} | {', '.join(others)} |")
    return lines


def summary(name, errors):
    within = [sum(abs(e) <= most for e in errors) for most in (0.1, 0.2)]
    return (f"{name}: of {len(errors)} rows {within[0]} are within 10 %, {within[1]} within 20 %; mean {100 * sum(map(abs, errors)) / len(errors):.1f} %, "
            f"largest {100 * max(map(abs, errors)):.0f} %.")


def beside_p5(program):
    """All rows of 2 to 16 p5.48xlarge; those of all-reduce one by one."""
    lines = ["| nodes | MB | algorithm | measured, GB/s | ours, GB/s | off |", "|---:|---:|---|---:|---:|---:|"]
    head = []
    for collective, name in COLLECTIVES.items():
        rows = {}
        errors = []
        with open(os.path.join(ROOT, "tests", "data", "aws-p5", name), encoding="utf-8") as text:
            for row in csv.DictReader(line for line in text if not line.startswith("#")):
                rows.setdefault(int(row["GPUs"]), []).append((int(row["size(MB)"]) << 20, float(row["out busbw(GB/s)"])))
        for ranks, measured in rows.items():
            design = ["preset:p5-ultracluster", "--set", f"fabric.gpus={ranks}"]
            for (size, busbw), found in zip(measured, run(program, design, ranks, measured, collective)):
                ours = found["busbw_bps"] / 8e9
                errors.append(ours / busbw - 1)
                if collective == "all-reduce":
                    lines.append(f"| {ranks // 8} | {size >> 20} | {found['algorithm']} {found['protocol']} | {busbw} | {ours:.2f} | {100 * errors[-1]:+.1f} % |")
        head += [summary(collective, errors), ""]
    return head + lines


def main(program, mode=None, page=None):
    problems = []
    text = "\n".join(["### Measured", ""] + table(program, problems) + ["", "### Constants", ""] + fitted(problems) + ["", "### nccl-tests on 2 to 16 p5.48xlarge", ""] + beside_p5(program)) + "\n"
    print(text, end="")
    if mode is not None:
        with open(page, encoding="utf-8") as file:
            old = file.read()
        head, rest = old.split(BEGIN + "\n")
        new = head + BEGIN + "\n" + text + END + rest.split(END, 1)[1]
        if mode == "--write":
            with open(page, "w", encoding="utf-8") as file:
                file.write(new)
        elif new != old:
            problems.append(f"{page} is not what the program gives")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
