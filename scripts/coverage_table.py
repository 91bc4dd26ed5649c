"""Coverage per file, from the notes and counts of gcov in a build folder. Used by scripts/coverage.

usage: coverage_table.py BUILD ROOT LEAST-PERCENT-OF-LINES LEAST-PERCENT-OF-BRANCHES
Lines of functions that the compiler made several times are one line here. src/cli is shown and not counted.
"""
import collections
import json
import pathlib
import subprocess
import sys

build, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
least_lines, least_branches = float(sys.argv[3]), float(sys.argv[4])
FOLDERS = ("src/", "topologies/", "routing/", "reports/")


def counts_of(note):
    """What gcov says of one object, as it stands in its JSON."""
    run = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", str(note)],
                         capture_output=True, cwd=build, check=True)
    return [json.loads(line) for line in run.stdout.splitlines() if line.strip()]


lines = collections.defaultdict(lambda: collections.defaultdict(int))  # file -> line -> times
branches = collections.defaultdict(lambda: collections.defaultdict(int))  # file -> (line, branch) -> times
for note in sorted(build.glob("CMakeFiles/*.dir/**/*.gcno")):
    if "fabriscope-mpi.dir" in str(note):
        continue
    for data in counts_of(note):
        for file in data["files"]:
            path = (pathlib.Path(data["current_working_directory"]) / file["file"]).resolve()
            if not path.is_relative_to(root) or not str(path.relative_to(root)).startswith(FOLDERS):
                continue
            name = str(path.relative_to(root))
            for line in file["lines"]:
                lines[name][line["line_number"]] += line["count"]
                for i, branch in enumerate(line["branches"]):
                    branches[name][line["line_number"], i] += branch["count"]
if not lines:
    sys.exit(f"coverage: no counts in {build}")


def percent(hit, all_of_it):
    return f"{100 * hit / all_of_it:6.1f}" if all_of_it else "     -"


def summed(names):
    line_counts = [n for name in names for n in lines[name].values()]
    branch_counts = [n for name in names for n in branches[name].values()]
    return (len(line_counts), sum(n > 0 for n in line_counts), len(branch_counts), sum(n > 0 for n in branch_counts))


def row(title, names):
    n_lines, hit_lines, n_branches, hit_branches = summed(names)
    return (f"{title:<44}{n_lines:>7}{n_lines - hit_lines:>9}{percent(hit_lines, n_lines):>8}"
            f"{n_branches:>10}{percent(hit_branches, n_branches):>8}")


names = sorted(name for name in lines if lines[name])
libraries = [name for name in names if not name.startswith("src/cli/")]
print(f"{'file':<44}{'lines':>7}{'untested':>9}{'%':>8}{'branches':>10}{'%':>8}")
for name in names:
    print(row(name, [name]))
folders = collections.defaultdict(list)
for name in names:
    folders["/".join(name.split("/")[:2]) if name.startswith("src/") else name.split("/")[0]].append(name)
print()
for folder, members in sorted(folders.items()):
    print(row(folder, members))
print(row("libraries", libraries))

with open(build / "untested.txt", "w", encoding="utf-8") as untested, \
        open(build / "untaken.txt", "w", encoding="utf-8") as untaken:
    for name in names:
        source = (root / name).read_text(encoding="utf-8").splitlines()
        for number in sorted(n for n, times in lines[name].items() if times == 0):
            untested.write(f"{name}:{number}: {source[number - 1].strip()}\n")
        taken = collections.defaultdict(str)  # line -> a point for every branch that was taken, x for the others
        for (number, _), times in sorted(branches[name].items()):
            taken[number] += "." if times else "x"
        for number in sorted(n for n, marks in taken.items() if "x" in marks and lines[name][n]):
            untaken.write(f"{name}:{number}: {taken[number]} {source[number - 1].strip()}\n")
n_lines, hit_lines, n_branches, hit_branches = summed(libraries)
for what, hit, n, least in (("lines", hit_lines, n_lines, least_lines), ("branches", hit_branches, n_branches, least_branches)):
    if 100 * hit < least * n:
        sys.exit(f"coverage: fewer than {least:g} % of the {what} of the libraries are tested")
