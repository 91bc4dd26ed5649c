#!/usr/bin/env python3
"""Fits what hosts add (nic-efficiency, step-overhead) on nccl-tests of p5.48xlarge, and tables every row.

    scripts/fit_hosts.py PROGRAM               prints the constants and the table
    scripts/fit_hosts.py PROGRAM --write FILE  also replaces the table between the markers in FILE
    scripts/fit_hosts.py PROGRAM --check FILE  fails unless FILE and the shipped constants are what it finds

PROGRAM is build/release/bin/fabriscope. A time is linear in 1 / nic-efficiency and in step-overhead, so that three runs of a row
say it for all values: all of a grid of 0.01 and 0.25 us are compared. Best are the fewest rows beyond 20 %, then beyond 10 %, then
least squares of the relative errors. Four halves of the rows are fitted alone as well, and held against the other half.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

BEGIN, END = "<!-- begin: scripts/fit_hosts.py -->", "<!-- end -->"
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "aws-p5")
HALVES = (("4 and 16 nodes", lambda row: row["nodes"] in (4, 16)), ("2 and 8 nodes", lambda row: row["nodes"] in (2, 8)),
          ("32, 128, 512, 2,048 MB", lambda row: row["mb"] in (32, 128, 512, 2048)), ("64, 256, 1,024 MB", lambda row: row["mb"] in (64, 256, 1024)))
COLLECTIVES = (("all-to-all", "nccl_alltoall.csv"), ("all-gather", "nccl_all_gather.csv"))


def read_rows():
    rows = []
    for name, file in COLLECTIVES:
        with open(os.path.join(DATA, file), encoding="utf-8") as text:
            for line in csv.DictReader(line for line in text if not line.startswith("#")):
                size = int(line["size(MB)"])
                bytes_ = size << 20
                rows.append({"collective": name, "nodes": int(line["Nodes"]), "gpus": int(line["GPUs"]), "mb": size, "bytes": bytes_,
                             "s": bytes_ / (float(line["out algbw(GB/s)"]) * 1e9)})
    return rows


def predict(program, row, keys):
    flow = row["bytes"] // row["gpus"] if row["collective"] == "all-to-all" else row["bytes"]
    command = [program, "route", "preset:p5-ultracluster", "--set", f"fabric.gpus={row['gpus']}",
               "--engine", "spray", "--traffic", f"pattern:{row['collective']},bytes={flow}B", "--json", "--quiet", "--threads", "1"]
    for key, value in keys.items():
        command += ["--set", f"fabric.{key}={value}"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=tempfile.gettempdir()).stdout)
    return report["phases"][0]["engines"][0]["time_s"]


def coefficients(program, row):
    """[constant, of 1 / nic-efficiency, of step-overhead]"""
    def at(part, step):
        return predict(program, row, {"nic-efficiency": part, "step-overhead": f"{step}us"})
    base, slower, steps = at(1, 1), at(0.5, 1), at(1, 2)
    c = [0, slower - base, (steps - base) * 1e6]
    c[0] = base - c[1] - c[2] * 1e-6
    return c


def time_of(c, x):
    part, step = x
    return c[0] + c[1] / part + c[2] * step * 1e-6


def errors(rows, x):
    return [time_of(row["c"], x) / row["s"] - 1 for row in rows]


def badness(found):
    return sum(abs(e) > 0.2 for e in found), sum(abs(e) > 0.1 for e in found), round(sum(e * e for e in found), 6)


def fit(rows):
    grid = ((part / 100, step / 4) for part in range(80, 96) for step in range(20, 36))
    return min(grid, key=lambda x: badness(errors(rows, x)))


def share(rows, most):
    return sum(abs(row["error"]) <= most for row in rows)


def table(rows, constants):
    part, step = constants
    lines = [f"`nic-efficiency={part:g}`, `step-overhead={step:g}us`, fitted on {len(rows)} rows.", "",
             "| rows | number | within 10 % | within 20 % | mean | largest |", "|---|---:|---:|---:|---:|---:|"]
    for name, some in (("all", rows), *((c, [r for r in rows if r["collective"] == c]) for c, _ in COLLECTIVES)):
        sizes = [abs(row["error"]) for row in some]
        lines.append(f"| {name} | {len(some)} | {share(some, 0.1)} ({100 * share(some, 0.1) / len(some):.0f} %) | {share(some, 0.2)} | "
                     f"{100 * sum(sizes) / len(some):.1f} % | {100 * max(sizes):.1f} % |")
    lines += ["", "| fitted on | nic-efficiency, step | held back: rows | within 10 % | within 20 % | largest |", "|---|---|---:|---:|---:|---:|"]
    for name, half in HALVES:
        x = fit([row for row in rows if half(row)])
        found = errors([row for row in rows if not half(row)], x)
        lines.append(f"| {name} | {x[0]:g}, {x[1]:g} us | {len(found)} | {sum(abs(e) <= 0.1 for e in found)} | {sum(abs(e) <= 0.2 for e in found)} | {100 * max(map(abs, found)):.0f} % |")
    lines += ["", "| collective | nodes | MB | measured, us | ours, us | off | hosts that take no time |", "|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        miss = " **miss**" if abs(row["error"]) > 0.1 else ""
        lines.append(f"| {row['collective']} | {row['nodes']} | {row['mb']} | {row['s'] * 1e6:.0f} | {row['ours'] * 1e6:.0f} | "
                     f"{100 * row['error']:+.1f} %{miss} | {100 * (row['ideal'] / row['s'] - 1):+.0f} % |")
    return lines


def main():
    program, *rest = sys.argv[1:]
    program = os.path.abspath(program)
    rows = read_rows()
    with ThreadPoolExecutor(2) as pool:
        for row, c in zip(rows, pool.map(lambda row: coefficients(program, row), rows)):
            row["c"] = c
        constants = fit(rows)
        for row, ours, ideal in zip(rows, pool.map(lambda row: predict(program, row, {}), rows),
                                    pool.map(lambda row: predict(program, row, {"host": "ideal"}), rows)):
            row["ours"], row["ideal"] = ours, ideal
            row["error"] = ours / row["s"] - 1
            fitted = time_of(row["c"], constants)
            if abs(fitted / ours - 1) > 1e-3 and rest[:1] == ["--check"]:
                sys.exit(f"fit_hosts.py: the shipped constants are not {constants}: {row['collective']} of {row['mb']} MB takes {fitted:g} s with them, {ours:g} s as shipped")
    lines = table(rows, constants)
    print("\n".join(lines))
    if rest:
        with open(rest[1], encoding="utf-8") as page:
            before, _, behind = page.read().partition(BEGIN)
        text = f"{before}{BEGIN}\n" + "\n".join(lines) + "\n" + END + behind.partition(END)[2]
        if rest[0] == "--write":
            with open(rest[1], "w", encoding="utf-8") as page:
                page.write(text)
        elif text != open(rest[1], encoding="utf-8").read():
            sys.exit(f"fit_hosts.py: {rest[1]} is not what comes out; scripts/fit_hosts.py PROGRAM --write {rest[1]}")
    for name, some in (("all rows", rows), *((c, [r for r in rows if r["collective"] == c]) for c, _ in COLLECTIVES)):
        if share(some, 0.1) < 0.85 * len(some) or share(some, 0.2) < len(some):
            sys.exit(f"fit_hosts.py: of {name} fewer than 85 % are within 10 %, or one is beyond 20 %")


if __name__ == "__main__":
    main()
