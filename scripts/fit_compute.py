#!/usr/bin/env python3
"""Fits the two free parameters of the compute model on two published runs, and tables how it predicts the others.

    scripts/fit_compute.py PROGRAM               prints the parameters and the residuals
    scripts/fit_compute.py PROGRAM --write FILE  also replaces the tables between the markers in FILE
    scripts/fit_compute.py PROGRAM --check FILE  fails unless FILE and the shipped defaults are what it finds

PROGRAM is build/release/bin/iteration_rows. Runs scripts/fit_precision.py with the fabriscope beside it as well. The runs fitted (gpt-1.7b and gpt-145.6b) are marked there. For every
memory_ratio one search finds the matrix_ratio that meets the second; another finds the memory_ratio that meets the
first as well. More of either is never slower, so both have one solution.
"""
import os
import subprocess
import sys

import fit_precision

BEGIN, END = "<!-- begin: scripts/fit_compute.py -->", "<!-- end -->"


def run(program, *parameters):
    text = subprocess.run([*program, *(f"{p:.12g}" for p in parameters)], check=True, capture_output=True, text=True)
    rows = []
    for line in text.stdout.splitlines():
        name, *numbers = line.split()
        rows.append((name, *map(float, numbers)))
    return rows


def residual(row):
    return row[3] / row[1] - 1


def root(function, low, high):
    """Root of a function that grows with its argument, by false position (Illinois)."""
    f_low, f_high = function(low), function(high)
    if f_low > 0 or f_high < 0:
        sys.exit(f"fit_compute.py: no solution between {low} and {high}")
    side = 0
    while True:
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        f_middle = function(middle)
        if abs(f_middle) < 1e-7 or high - low < 1e-9:
            return middle
        if f_middle > 0:
            high, f_high, f_low = middle, f_middle, f_low / 2 if side > 0 else f_low
            side = 1
        else:
            low, f_low, f_high = middle, f_middle, f_high / 2 if side < 0 else f_high
            side = -1


def fit(program, *rest):
    first, second = (row[0] for row in run([program], 0.7, 0.8) if row[2] == 1)

    def off(model, *parameters):
        return residual(run([program, "only", model], *parameters)[0])

    def matrix(memory):
        return root(lambda ratio: off(second, ratio, memory, *rest), 0.4, 1.2)

    memory = root(lambda ratio: off(first, matrix(ratio), ratio, *rest), 0.5, 1.1)
    return round(matrix(memory), 4), round(memory, 4)


def errors(rows):
    sizes = [abs(residual(row)) for row in rows if row[2] == 0]
    return 100 * sum(sizes) / len(sizes), 100 * max(sizes)


def residual_table(rows):
    lines = ["| run | published TFLOP/s | predicted | error | microbatch | chunks | compute | bubble | tp | pp | dp | optimizer |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        name, published, fitted, predicted, microbatch, chunks, *shares = row
        error = "fitted" if fitted else f"{100 * residual(row):+.1f} %"
        lines.append(f"| {name} | {published:.0f} | {predicted:.1f} | {error} | {microbatch:.0f} | {chunks:.0f} | " +
                     " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    return lines


VARIANTS = [("as shipped", (0.8, 0.8, 4)),
            ("gradients of 2 bytes", (0.8, 0.8, 2)),
            ("NICs deliver 90 %", (0.9, 0.8, 4)),
            ("NICs deliver 70 %", (0.7, 0.8, 4)),
            ("NVLink delivers 90 %", (0.8, 0.9, 4)),
            ("NVLink delivers 70 %", (0.8, 0.7, 4))]


def variant_table(program, shipped):
    """Mean and worst error under another assumption: fitted again, and with the shipped parameters."""
    lines = ["| assumption | matrix_ratio | memory_ratio | mean | worst | mean, not fitted again | worst |",
             "|---|---|---|---|---|---|---|"]
    for name, rest in VARIANTS:
        found = fit(program, *rest)
        again = errors(run([program], *found, *rest))
        same = errors(run([program], *shipped, *rest))
        lines.append(f"| {name} | {found[0]:.4f} | {found[1]:.4f} | " +
                     " | ".join(f"{error:.2f} %" for error in again + same) + " |")
    return lines


def report(program):
    matrix, memory = fit(program)
    rows = run([program], matrix, memory)
    mean, worst = errors(rows)
    found = [f"Fitted on gpt-1.7b and gpt-145.6b: matrix_ratio {matrix:.4f}, memory_ratio {memory:.4f}."]
    table = residual_table(rows) + ["", f"The {sum(1 for row in rows if row[2] == 0)} runs that were not fitted: "
                                    f"mean error {mean:.2f} %, worst {worst:.2f} %."]
    return (matrix, memory), found + [""] + table + [""] + variant_table(program, (matrix, memory))


def main():
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] not in ("--write", "--check")):
        sys.exit(__doc__)
    program = sys.argv[1]
    found, lines = report(program)
    print("\n".join(lines))
    if len(sys.argv) == 2:
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        text = file.read()
    head, rest = text.split(BEGIN, 1)
    old, tail = rest.split(END, 1)
    new = "\n\n" + "\n".join(lines) + "\n\n"
    if sys.argv[2] == "--write":
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write(head + BEGIN + new + END + tail)
        return
    shipped = subprocess.run([program, "shipped"], check=True, capture_output=True, text=True).stdout.split()
    if [f"{ratio:.4f}" for ratio in found] != shipped[:2]:
        sys.exit(f"fit_compute.py: the program ships {shipped[:2]}")
    if old != new:
        sys.exit(f"fit_compute.py: the tables in {sys.argv[3]} are out of date: run with --write")


if __name__ == "__main__":
    main()
    fit_precision.main([os.path.join(os.path.dirname(sys.argv[1]), "fabriscope"), *sys.argv[2:]])
