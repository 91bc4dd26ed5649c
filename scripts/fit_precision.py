#!/usr/bin/env python3
"""Fits the part of its peak that a GPU delivers in a precision, one number for each, on the figures that are
marked as fitted in SOURCES, and tables how all of them come out. Every figure is one of `fabriscope run`.

    scripts/fit_precision.py PROGRAM               prints the numbers and the table
    scripts/fit_precision.py PROGRAM --write FILE  also sets `ratio` in topologies/gpus and replaces the table in FILE
    scripts/fit_precision.py PROGRAM --check FILE  fails unless the numbers that ship fit, FILE has their table, and it
                                                   keeps what is promised: 3 % in the mean, 5 % at worst

A number is fitted so that the deviations of its rows have a mean of 0. What is 16 bits wide comes first: attention
needs it beside narrower products.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

BEGIN, END = "<!-- begin: scripts/fit_precision.py -->", "<!-- end -->"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUS = os.path.join(ROOT, "topologies", "gpus")
# The same silicon: they have the number of the GPU that was measured.
SAME = {"h100-80gb": ["h200-141gb", "h800-80gb", "gh200-96gb"], "gb200-186gb": ["b200-180gb"]}
SOURCES = ["llama3", "mlperf-llama3"]  # of topologies/published


def rows():
    """What the table shows of every figure; `words` are its command."""
    found = []
    for source in SOURCES:
        for run in ElementTree.parse(os.path.join(ROOT, "topologies/published", source + ".xml")).getroot().iter("run"):
            words = run.get("command").split()
            job = dict(piece.split("=") for piece in words[-1].split(",") if "=" in piece)
            for figure in run:
                if figure.get("fitted") == "yes":
                    key = figure.get("field").split(".")[-1]
                    found.append({"case": figure.get("what"), "words": words, "job": job, "gpu": job["gpu"], "precision": job["precision"],
                                  "figure": key, "measured": figure.get("value").rstrip("s")})
    return found


def with_ratio(text, precision, ratio):
    line = re.compile(rf'(<precision name="{precision}" tflops="[0-9.]+")( ratio="[0-9.]+")?/>')
    return line.sub(rf'\1 ratio="{ratio:.4f}"/>', text)


def predicted(program, row, gpu):
    words = [word.replace(f"gpu={row['gpu']},", f"gpu={gpu},") for word in row["words"]]
    out = subprocess.run([program, *words, "--quiet", "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["iteration"][0]


def slower(row, figures):
    """How much longer than measured a step takes, less 1."""
    figure = figures[row["figure"]]
    ratio = figure / float(row["measured"])
    return (ratio if row["figure"] == "time_s" else 1 / ratio) - 1


def mean_of(program, group, text, scratch):
    path = os.path.join(scratch, "gpu.xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return sum(slower(row, predicted(program, row, path)) for row in group) / len(group)


def fit_all(program, check):
    """The numbers, the files of the GPUs with them, and the table. To check: those that ship, if they fit."""
    from fit_compute import root  # which imports this file
    found, texts, groups = {}, {}, {}
    for row in rows():
        groups.setdefault((row["gpu"], row["precision"]), []).append(row)
    for gpu in sorted({gpu for gpu, _ in groups}):
        with open(os.path.join(GPUS, gpu + ".xml"), encoding="utf-8") as file:
            texts[gpu] = file.read()
    with tempfile.TemporaryDirectory() as scratch:
        for key in sorted(groups, key=lambda key: (key[1] != "bf16", key)):
            gpu, precision = key

            def off(ratio, text=texts[gpu], group=groups[key]):
                return -mean_of(program, group, with_ratio(text, precision, ratio), scratch)

            if check:
                found[key] = float(re.search(rf'"{precision}" tflops="[0-9.]+" ratio="([0-9.]+)"', texts[gpu])[1])
                if abs(off(found[key])) > 3e-4:
                    sys.exit(f"fit_precision.py: the ratio of {gpu}'s {precision} does not fit: run with --write")
            else:
                found[key] = round(root(off, 0.3, 0.95), 4)
            texts[gpu] = with_ratio(texts[gpu], precision, found[key])
        table = tabled(program, texts, scratch)
    return found, texts, table


def tabled(program, texts, scratch):
    lines = ["| run | GPU | precision | GPUs | microbatches | measured | predicted | deviation | compute | bubble | dp |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    sizes, spread = {}, {}
    for row in rows():
        path = os.path.join(scratch, "gpu.xml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(texts[row["gpu"]])
        it = predicted(program, row, path)
        off = it[row["figure"]] / float(row["measured"]) - 1
        sizes.setdefault(row["precision"], []).append(abs(off))
        spread.setdefault(row["gpu"] + " " + row["precision"], []).append(off)
        unit = "s" if row["figure"] == "time_s" else "TFLOP/s"
        job = {key: int(row["job"][key]) for key in ("tp", "pp", "cp", "dp", "batch")}
        microbatches = job["batch"] // job["dp"]
        gpus = job["tp"] * job["pp"] * job["cp"] * job["dp"]
        shares = " | ".join(f"{100 * it[key] / it['time_s']:.1f} %" for key in ("compute_s", "bubble_s", "exposed_dp_s"))
        lines.append(f"| {row['case']} | {row['gpu']} | {row['precision']} | {gpus} | {microbatches} | "
                     f"{float(row['measured']):.4g} {unit} | {it[row['figure']]:.4g} {unit} | {100 * off:+.2f} % | {shares} |")
    for precision, off in sizes.items():
        lines += ["", f"{len(off)} rows in {precision}: mean deviation {100 * sum(off) / len(off):.2f} %, "
                  f"worst {100 * max(off):.2f} %."]
        if sum(off) / len(off) > 0.03 or max(off) > 0.05:
            sys.exit("\n".join(lines) + f"\nfit_precision.py: rows in {precision} are off by more than is promised")
    if max(spread["h100-80gb fp8"]) - min(spread["h100-80gb fp8"]) > 0.015:
        sys.exit("\n".join(lines) + "\nfit_precision.py: the rows of the H100 differ by more than 1.5 %")
    return lines


def replace(path, new, write):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    if old != new and not write:
        sys.exit(f"fit_precision.py: {path} is not what it finds: run with --write")
    if old != new:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)


def main(arguments):
    if len(arguments) not in (1, 3) or (len(arguments) == 3 and arguments[1] not in ("--write", "--check")):
        sys.exit(__doc__)
    write = arguments[1:2] == ["--write"]
    found, _, table = fit_all(arguments[0], arguments[1:2] == ["--check"])
    lines = [f"{gpu} {precision}: {ratio:.4f}" for (gpu, precision), ratio in found.items()]
    lines = ["Fitted parts of the peak: " + "; ".join(lines) + "."] + [""] + table
    print("\n".join(lines))
    if len(arguments) == 1:
        return
    for (gpu, precision), ratio in found.items():
        for name in [gpu, *SAME.get(gpu, [])]:
            path = os.path.join(GPUS, name + ".xml")
            with open(path, encoding="utf-8") as file:
                text = file.read()
            replace(path, with_ratio(text, precision, ratio), write)
    with open(arguments[2], encoding="utf-8") as file:
        head, rest = file.read().split(BEGIN, 1)
    new = head + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END, 1)[1]
    replace(arguments[2], new, write)


if __name__ == "__main__":
    main(sys.argv[1:])
