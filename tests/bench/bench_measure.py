"""Measures the rows of bench_rows.py: prints a table per kind and keeps every figure."""

import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import bench_rows

ONCE_ABOVE_S = 60  # a run or peer that takes longer runs once
LIMIT_S = 1200  # one run of a peer
SAID = re.compile(r"^fabriscope: ([0-9.]+) s wall, [0-9.]+ s processor, ([0-9.]+) MiB", re.MULTILINE)


class Failure(Exception):
    pass


def bound(target, sign="<="):
    return "-" if target is None else f"{sign} {target:g}"


class Bench:
    def __init__(self, program, runs, only, work, peers_dir):
        self.program, self.runs, self.only, self.work, self.peers_dir = program, runs, only, work, peers_dir
        self.rows = []
        self.failed = False
        self.headed = None

    # --- helpers ---

    def chosen(self, name):
        return not self.only or any(text in name for text in self.only)

    def print_row(self, kind, heading, line, *cells):
        """A line of the table of its kind, which begins with its heading."""
        if self.headed != kind:
            print(("\n" if self.headed else "") + line.format(*heading))
            self.headed = kind
        print(line.format(*cells), flush=True)

    def skip(self, name, reason):
        print(f"scripts/bench: skipped '{name}': {reason}", file=sys.stderr)
        self.rows.append({"name": name, "skipped": reason})

    def has_tool(self, name, tool):
        if os.access(self.program.parent / tool, os.X_OK):
            return True
        self.skip(name, f"{tool} is not built beside the program (it is where FAB_TESTS is on)")
        return False

    def run_once(self, arguments):
        """Processor seconds, wall seconds and MiB of a run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.program, *arguments.split()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        said = SAID.search(done.stderr)
        if done.returncode != 0 or said is None:
            raise Failure(f"'fabriscope {arguments}' did not end as expected")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, float(said[1]), float(said[2])

    def figures(self, arguments):
        """Processor seconds, wall seconds and MiB of every run."""
        found = [self.run_once(arguments)]
        while len(found) < self.runs and found[0][0] <= ONCE_ABOVE_S:
            found.append(self.run_once(arguments))
        return list(zip(*found))

    def ask_tool(self, tool, design, runs, row):
        """What a measuring program says of a row; None: it is not for this design."""
        done = subprocess.run([self.program.parent / tool, design, str(runs), row], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"'{tool} {design} {runs} {row}' failed")
        said = dict(re.findall(r'"(\w+)": "?([^",}]+)"?', done.stdout))
        if "unsupported" in said:
            return None
        try:
            return {key: float(said[key]) for key in ("cpu_min_s", "cpu_median_s", "units", "ns_per_unit", "peak_mib")} | {
                "unit": said["unit"], "mib": float(said.get("mib", "nan"))}
        except (KeyError, ValueError) as error:
            raise Failure(f"'{tool} {design} {runs} {row}' printed no figure: {done.stdout}") from error

    # --- kinds of rows ---

    def measure_runs(self):
        line = "{:<34} {:>7} {:>8} {:>8} {:>8} {:>15} {:>9} {:>8}"
        heading = (f"median of {self.runs} runs", "wall s", "cpu s", "cpu min", "target", "per unit", "peak MiB", "target")
        for row in filter(lambda row: self.chosen(row.name), bench_rows.RUNS):
            cpu, wall, mib = self.figures(row.arguments)
            found = {"name": row.name, "runs": len(cpu), "wall_s": statistics.median(wall), "cpu_s": statistics.median(cpu),
                     "cpu_min_s": min(cpu), "cpu_target_s": row.cpu_target_s, "units": row.units, "unit": row.unit,
                     "ns_per_unit": min(cpu) / row.units * 1e9, "peak_mib": statistics.median(mib), "peak_target_mib": row.peak_target_mib}
            self.rows.append(found)
            self.print_row("runs", heading, line, row.name, f"{found['wall_s']:.2f}", f"{found['cpu_s']:.3f}", f"{min(cpu):.3f}", bound(row.cpu_target_s),
                           f"{found['ns_per_unit']:.4g} ns/{row.unit}", f"{found['peak_mib']:.1f}", bound(row.peak_target_mib))

    def measure_parts(self):
        line = "{:<42} {:>10} {:>10}  {:<3} {:>22} {:>9} {:>9}"
        heading = (f"parts of a run, fastest of {self.runs}", "measured", "target", "", "per unit", "keeps MiB", "peak MiB")
        for row in filter(lambda row: self.chosen(row.name), bench_rows.PARTS):
            if not self.has_tool(row.name, row.tool):
                continue
            said = self.ask_tool(row.tool, row.design, self.runs, row.row)
            if said is None:
                self.skip(row.name, f"{row.tool} {row.row} is not for {row.design}")
                continue
            value = said[{"s": "cpu_min_s", "ns": "ns_per_unit", "MiB": "mib"}[row.what]]
            self.rows.append({"name": row.name, "runs": self.runs, "value": value, "unit": row.what, "target": row.target, "cpu_s": said["cpu_median_s"],
                              "cpu_min_s": said["cpu_min_s"], "units": said["units"], "of": said["unit"], "ns_per_unit": said["ns_per_unit"],
                              "keeps_mib": None if math.isnan(said["mib"]) else said["mib"], "peak_mib": said["peak_mib"], "design": row.design, "row": row.row})
            self.print_row("parts", heading, line, row.name, f"{value:.4g}", bound(row.target), row.what, f"{said['ns_per_unit']:.4g} ns/{said['unit']}",
                           "-" if math.isnan(said["mib"]) else f"{said['mib']:.2f}", f"{said['peak_mib']:.1f}")

    def measure_pages(self):
        """What page.mjs says of each row; it needs node, Chromium and what reports/web names."""
        line = "{:<46} {:>10} {:>10}  {:<3}"
        heading = (f"pages, least of {self.runs}", "measured", "target", "")
        rows = [row for row in bench_rows.PAGES if self.chosen(row.name)]
        done = None
        if rows and shutil.which("node"): # once: rows share what they measure
            command = ["node", self.peers_dir / "page.mjs", self.program, self.work, str(self.runs), *(row.row for row in rows)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        for row in rows:
            if done is None or done.returncode == 77:
                self.skip(row.name, "node, Chromium or playwright-core is missing (scripts/setup --tests installs them)")
                continue
            said = re.search(rf"^{row.row} ([0-9.e-]+)$", done.stdout, re.MULTILINE)
            if done.returncode != 0 or said is None:
                raise Failure(f"'page.mjs {row.row}' failed: {done.stdout}")
            value = float(said[1])
            self.rows.append({"name": row.name, "runs": self.runs, "value": value, "unit": row.unit, "target": row.target})
            self.print_row("pages", heading, line, row.name, f"{value:.4g}", bound(row.target), row.unit)

    def grown(self, row, gpus):
        """Processor seconds of every run, and MiB; of a measuring program fastest and median."""
        design = bench_rows.GROWTH_DESIGN % gpus
        if not row.arguments.startswith("bench_"):
            cpu, _, mib = self.figures(row.arguments.format(design))
            return min(cpu), statistics.median(cpu), len(cpu), statistics.median(mib)
        tool, _, key = row.arguments.split()
        said = self.ask_tool(tool, design, self.runs, key)
        if said is None:
            raise Failure(f"{tool} {key} is not for {design}")
        return said["cpu_min_s"], said["cpu_median_s"], self.runs, said["peak_mib"]

    def measure_growth(self):
        """Near 2 per doubling: linear. Designs of other numbers of tiers lie between the sizes."""
        line = "{:<40} {:>9} {:>10} {:>9} {:>10} {:>12}"
        heading = (f"growth, fastest of {self.runs}", "cpu min", "ns/GPU", "peak MiB", "bytes/GPU", "per doubling")
        for row in bench_rows.GROWTH:
            before = None
            for gpus in bench_rows.GROWTH_GPUS:
                name = f"growth, {row.name}, {gpus:,} GPUs"
                if gpus > row.largest or not self.chosen(name) or (row.arguments.startswith("bench_") and not self.has_tool(name, row.arguments.split()[0])):
                    continue
                least, median, runs, mib = self.grown(row, gpus)
                factor = None if before is None or before[1] <= 0 else (least / before[1]) ** (1 / math.log2(gpus / before[0]))
                before = gpus, least
                self.rows.append({"name": name, "runs": runs, "gpus": gpus, "cpu_s": median, "cpu_min_s": least, "ns_per_gpu": least / gpus * 1e9,
                                  "peak_mib": mib, "bytes_per_gpu": mib * 1048576 / gpus, "growth_per_doubling": factor})
                self.print_row("growth", heading, line, name.removeprefix("growth, "), f"{least:.3f}", f"{least / gpus * 1e9:.0f}", f"{mib:.1f}",
                               f"{mib * 1048576 / gpus:.0f}", "-" if factor is None else f"{factor:.2f}")

    # --- peers ---

    def time_ours(self, arguments):
        """Processor seconds of every run; of short ones the mean of ten."""
        found = []
        repeat = 1
        while len(found) < self.runs:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            for _ in range(repeat):
                done = subprocess.run([self.program, *arguments.split(), "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
                if done.returncode != 0:
                    raise Failure(f"'fabriscope {arguments}' failed: {done.stderr}")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if repeat == 1 and not found and used <= 0.1:
                repeat = 10
                continue
            found.append(used / repeat)
        return found

    def run_peer(self, folder, call):
        """Measures a peer: (its processor seconds, all lines that it printed), or None when it fails."""
        folder.mkdir()
        seconds, lines = [], []
        while len(seconds) < self.runs and (not seconds or seconds[-1] <= ONCE_ABOVE_S):
            process = subprocess.Popen([self.peers_dir / call[0], "run", *call[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                       start_new_session=True, env=os.environ | {"FABRISCOPE": str(self.program), "WORK": str(folder)})
            try:
                printed, _ = process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                return None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, 15)
                    process.wait()
            lines += [line.split(" ", 1) for line in printed.splitlines() if " " in line]
            cpu = [float(text) for key, text in lines if key == "cpu_s" and re.fullmatch("[0-9.]+", text)]
            if process.returncode != 0 or len(cpu) != len(seconds) + 1:
                return None
            seconds = cpu
        return seconds, lines

    def print_peer(self, row, ours, command, seconds, lines):
        said = dict(lines)  # the last of each
        parts = {}
        for key, text in lines:
            if key == "part":
                name, value = text.rsplit(" ", 1)
                parts[name] = min(float(value), parts.get(name, math.inf))
        ratio = min(seconds) / min(ours) if min(ours) > 0 else 0
        self.rows.append({"name": row.name, "runs": len(ours), "cpu_s": statistics.median(ours), "cpu_min_s": min(ours), "command": command, "did": row.did,
                          "peer": said["peer"], "peer_runs": len(seconds), "peer_cpu_s": statistics.median(seconds), "peer_cpu_min_s": min(seconds),
                          "peer_did": said["did"], "peer_parts_s": parts, "ratio": ratio, "ratio_target": row.target})
        self.print_row("peers", ("processor time beside peers", "ours s", "peer", "peer s", "ratio", "target"), "{:<34} {:>8}  {:<33} {:>8} {:>7} {:>8}",
                       row.name, f"{min(ours):.4f}", said["peer"], f"{min(seconds):.4g}", f"{ratio:.{1 if ratio < 100 else 0}f}", bound(row.target, ">="))
        print(f"  ours (minimum of {len(ours)}): {command}\n    {row.did}")
        several = f"minimum of {len(seconds)}" if len(seconds) > 1 else "one run"
        print(f"  peer ({several}): " + "; ".join([said["did"]] + [f"{name}: {s:g}" for name, s in parts.items()]), flush=True)

    def measure_peers(self, quick):
        measured = {}
        for row in filter(lambda row: self.chosen(row.name), bench_rows.peers(quick)):
            check = subprocess.run([self.peers_dir / row.call[0], "check"], stdout=subprocess.PIPE, text=True, check=False)
            if check.returncode != 0:
                self.skip(row.name, f"missing {check.stdout.strip()} (scripts/setup --peers installs it)")
                continue
            if row.arguments.startswith("bench_"):
                tool, design, key = row.arguments.split()
                if not self.has_tool(row.name, tool):
                    continue
                ours = [self.ask_tool(tool, design, 20, key)["cpu_min_s"] for _ in range(self.runs)]
                command = row.arguments
            else:
                ours = self.time_ours(row.arguments.replace("@", str(self.work)))
                command = "fabriscope " + row.arguments.replace("@", "DIR")
            call = tuple(row.call)
            if call not in measured:
                measured[call] = self.run_peer(Path(self.work) / f"peer-{len(measured)}", row.call)
            if measured[call] is None:
                print(f"scripts/bench: '{row.name}': {' '.join(call)} failed", file=sys.stderr)
                self.rows.append({"name": row.name, "failed": " ".join(call)})
                self.failed = True
                continue
            self.print_peer(row, ours, command, *measured[call])
