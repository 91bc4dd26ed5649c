"""Files and pipes that cannot be written, by every command and in every format. Run by test_writes.sh in an empty folder.

Whatever happens, a final name holds what a whole run writes there, or what it held before, or nothing; no temporary file
stays behind a program that ended by itself; the exit code is 5 and the message names the file. What is printed is kept in
a temporary file until it is complete: limits are chosen so that this one fits, and the file in question does not. Faults
at every call and size, of more commands: tests/faults."""
import ctypes
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

PROGRAM = os.environ["PROGRAM"]
SMALL = "clos:gpus=32,radix=16"
LARGER = "clos:gpus=1024,radix=16"
JOB = ["--job", "model=gpt-1.7b,tp=2,memory-check=off"]
failures = 0
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1
# Reports that are shorter than a file: the first of them that is makes the run print little.
LITTLE = (["--format", "csv", "--table", "meta"], ["--format", "slurm-tree"], [])

# What makes one file: its arguments, and the name that they end in. Every format that has a suffix, of a fabric that it can
# describe.
ROUTE = ["route", "fat-tree:k=4", "--traffic", "pattern:permutation", "--quiet"]
DESIGNS = {".astra-sim.yml": "clos:gpus=64,radix=16,domain=64", ".tree.conf": LARGER, ".block.conf": LARGER}
SUFFIXES = [row["suffix"] for row in json.loads(subprocess.run([PROGRAM, "list", "formats", "--json"], stdout=subprocess.PIPE, check=True).stdout)
            if row.get("suffix")]
FILES = [(["build", DESIGNS.get(suffix, SMALL), "--quiet", *(["--table", "fabric"] if suffix == ".csv" else []), "--export"], f"f{suffix}")
         for suffix in SUFFIXES]
FILES += [
    (["build", SMALL, "--quiet", "--patch"], "plan.csv"),
    (["run", SMALL, *JOB, "--quiet", "--export"], "run.html"),
    (ROUTE + ["--export"], "route.graphml"),
    (ROUTE + ["--engine", "dmodk", "--dump"], "tables"),
    (ROUTE + ["--engine", "dmodk", "--dump-format", "lft", "--dump"], "lft"),
    (ROUTE + ["--engine", "optimal", "--bound", "--certificate"], "proof"),
    (["traffic", SMALL, "--traffic", "pattern:permutation", "--quiet", "--export"], "matrix.csv"),
    (["traffic", SMALL, "--traffic", "pattern:permutation", "--quiet", "--export"], "matrix.mtx"),
    (["study", "show", "--store", "STORE", "--quiet", "--export"], "study.svg"),
    (["import", "DUMP", "--quiet", "--output"], "design.xml"),
]
if len(SUFFIXES) < 15:
    sys.exit(f"only {len(SUFFIXES)} formats have a suffix")
# What makes a folder with --out, and prints every format.
REPORTS = {
    "run": ["run", SMALL, *JOB, "--quiet"],
    "build": ["build", SMALL, "--quiet"],
    "cost": ["cost", SMALL, "rail-spine:gpus=32,radix=16", "--quiet"],
    "traffic": ["traffic", SMALL, *JOB, "--quiet"],
    "route": ROUTE,
    "sweep": ["sweep", SMALL, *JOB, "--vary", "taper.1=1,2", "--quiet"],
    "place": ["place", SMALL, *JOB, "--quiet"],
    "mix": ["mix", SMALL, SMALL + ",taper=2", *JOB, "--ranking", "memory-check=off", "--quiet"],
    "plan": ["plan", "clos:gpus=16,radix=16", "--job", "model=gpt-1.7b,recompute=full", "--quiet"],
    "optimize": ["optimize", "--gpus", "64", "--quiet"],
    "study": ["study", "show", "--store", "STORE", "--quiet"],
    "audit": ["audit", "DUMP", "--quiet"],
    "import": ["import", "DUMP", "--quiet"],
}
GRAPHS = ["svg", "graphml", "yed", "gexf", "dot", "ibnet", "html"]
BIG = ["build", "clos:gpus=16384,radix=64", "--quiet", "--export"]


def fail(what):
    global failures
    failures += 1
    print(f"FAIL: {what}")


def words(arguments):
    names = {"STORE": os.environ["STORE"], "DUMP": os.environ["DUMP"]}
    return [PROGRAM] + [names.get(word, word) for word in arguments]


def run(arguments, **how):
    how = {"stdout": subprocess.DEVNULL, **how}
    return subprocess.run(words(arguments), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                          check=False, **how)


def grow_to(most):
    """As a disk that has so many bytes left: a write fails in the middle."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def obey_rights():
    """Root too: gone with the next program."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def expect(done, what, text=None):
    if done.returncode != 5:
        fail(f"{what}: exit code {done.returncode}, not 5: {done.stderr}")
    elif text is not None and text not in done.stderr:
        fail(f"{what}: no '{text}' in: {done.stderr}")


def left(folder, wanted, what):
    found = sorted(os.listdir(folder))
    if found != sorted(wanted):
        fail(f"{what}: the folder holds {found}, not {sorted(wanted)}")


def print_little(arguments, name):
    """(arguments of a run that prints less than it writes into the file, bytes between the two, the file). None: there is none"""
    for little in LITTLE:
        if "--table" in arguments and "--table" in little:
            continue
        done = subprocess.run(words(arguments[:-1] + little + arguments[-1:] + [name, "--force"]), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        whole = content(name) if done.returncode == 0 else b""
        printed = max(len(done.stdout), 64)
        if printed < len(whole):
            os.unlink(name)
            return arguments[:-1] + little + arguments[-1:], printed, whole
    return None


def check_file(arguments, name):
    what = " ".join(arguments) + " " + name
    found = print_little(arguments, name)
    if found is None:
        fail(f"{what}: fails, or no report is shorter")
        return
    arguments, printed, whole = found
    os.mkdir("d")
    path = os.path.join("d", name)
    # there already: untouched, and overwritten when asked to
    with open(path, "wb") as file:
        file.write(b"mine")
    expect(run(arguments + [path]), f"{what}: exists", "exists already")
    if content(path) != b"mine":
        fail(f"{what}: an existing file was touched")
    # a write that fails in the middle, or cannot begin: what was there stays, nothing else does
    expect(run(arguments + [path, "--force"], preexec_fn=grow_to(printed)), f"{what}: too large a file", path)
    os.chmod("d", 0o555)
    expect(run(arguments + [path, "--force"], preexec_fn=obey_rights), f"{what}: read-only", path)
    os.chmod("d", 0o755)
    if content(path) != b"mine":
        fail(f"{what}: a failed write touched the file")
    left("d", [name], f"{what}: failed writes")
    # a link: neither followed nor taken for free
    os.unlink(path)
    os.symlink("elsewhere", path)
    expect(run(arguments + [path]), f"{what}: dangling link", "exists already")
    if run(arguments + [path, "--force"]).returncode != 0 or os.path.islink(path) or os.path.exists("d/elsewhere"):
        fail(f"{what}: --force wrote through a link")
    if content(path) != whole.replace(name.encode(), path.encode()) and content(path) != whole:
        fail(f"{what}: --force does not write the same")
    left("d", [name], what)
    os.unlink(path)
    expect(run(arguments + [path], preexec_fn=grow_to(printed)), f"{what}: too large a new file", path)
    expect(run(arguments + [os.path.join("missing", name)]), f"{what}: no folder", f"missing/{name}")
    left("d", [], what)
    os.rmdir("d")


def check_folder(name, arguments):
    what = f"{name} --out"
    done = run(arguments + ["--out", "d"], stdout=subprocess.PIPE)
    if done.returncode != 0:
        fail(what)
        return
    full = grow_to(len(done.stdout.encode()))
    whole = {file: content(f"d/{file}") for file in os.listdir("d")}
    for file in whole:
        with open(f"d/{file}", "wb") as out:
            out.write(b"mine")
    for file in whole: # each of them is in the way
        for other in whole:
            if other != file:
                os.rename(f"d/{other}", f"away-{other}")
        expect(run(arguments + ["--out", "d"]), f"{what}: {file} exists", f"d/{file}")
        left("d", [file], f"{what}: {file} exists")
        for other in whole:
            if other != file:
                os.rename(f"away-{other}", f"d/{other}")
    expect(run(arguments + ["--out", "d", "--force"], preexec_fn=full), f"{what}: too large files", "d/")
    os.chmod("d", 0o555)
    expect(run(arguments + ["--out", "d", "--force"], preexec_fn=obey_rights), f"{what}: read-only", "d")
    os.chmod("d", 0o755)
    left("d", whole, f"{what}: failed writes")
    if any(content(f"d/{file}") != b"mine" for file in whole):
        fail(f"{what}: failed writes touched existing files")
    if run(arguments + ["--out", "d", "--force"]).returncode != 0:
        fail(f"{what} --force")
    if {file: content(f"d/{file}") for file in os.listdir("d")} != whole:
        fail(f"{what}: --force does not write the same")
    shutil.rmtree("d")
    expect(run(arguments + ["--out", "d"], preexec_fn=full), f"{what}: too large new files", "d/")
    if os.path.exists("d"):
        fail(f"{what}: a failed write leaves {os.listdir('d')}")
        shutil.rmtree("d")
    with open("plain", "wb"):
        pass
    expect(run(arguments + ["--out", "plain"]), f"{what}: no folder", "plain")


def check_stdout(name, arguments, options):
    what = f"{name} {' '.join(options)}"
    with open("/dev/full", "wb") as full:
        expect(run(arguments + options, stdout=full), f"{what} > /dev/full", "standard output")
    expect(run(arguments + options, stdout=None, preexec_fn=lambda: os.close(1)), f"{what} >&-", "standard output")
    reader, writer = os.pipe()
    os.close(reader)
    done = run(arguments + options, stdout=writer)
    os.close(writer)
    expect(done, f"{what} | nobody")
    if done.stderr != "":
        fail(f"{what}: a reader that went away is worth a message: {done.stderr}")


def check_early_end():
    """A reader that goes away in the middle, as `head` does; and files that were complete before."""
    arguments = ["build", "clos:gpus=1024,radix=16", "--quiet", "--format", "graphml", "--export", "kept.dot"]
    with subprocess.Popen(words(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        first = process.stdout.read(100)
        process.stdout.close()
        told = process.stderr.read()
        code = process.wait()
    if (code, told, first[:5]) != (5, b"", b"<?xml"):
        fail(f"head: {code}, {told}, {first}")
    with open("/dev/full", "wb") as full:
        expect(run(arguments + ["--force"], stdout=full), "graphml > /dev/full", "standard output")
    if not content("kept.dot").rstrip().endswith(b"}"):
        fail("a file is not complete where the report could not be printed")


def big(suffix):
    return BIG[:-1] + (["--view", "whole"] if suffix == ".svg" else []) + BIG[-1:]


def interrupt(suffix, number, whole):
    """Sends a signal as soon as a file is being written. True when it was still under way."""
    what = f"{suffix}, {signal.Signals(number).name}"
    os.mkdir("d")
    path = f"d/big{suffix}"
    with subprocess.Popen(words(big(suffix) + [path]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not os.listdir("d"):
            time.sleep(0.0002)
        hit = process.poll() is None and not os.path.exists(path)
        process.send_signal(number)
        code = process.wait()
    if os.path.exists(path) and content(path) != whole:
        fail(f"{what}: half of a file under its final name")
    if number == signal.SIGKILL:
        others = [name for name in os.listdir("d") if not name.endswith(".tmp") and name != f"big{suffix}"]
        if hit and code != -number:
            fail(f"{what}: exit code {code}")
    else:
        others = [name for name in os.listdir("d") if name != f"big{suffix}"]
        if hit and code not in (128 + number, 0):
            fail(f"{what}: exit code {code}")
    if others:
        fail(f"{what}: {others} stay")
    shutil.rmtree("d")
    return hit


def check_kept():
    """What --force does not replace: pipes, devices, folders, and what the run itself reads."""
    shutil.copy(os.environ["DUMP"], "input")
    before = content("input")
    os.mkfifo("pipe.json")
    os.mkdir("folder.json")
    os.symlink("/dev/null", "device.json")
    os.symlink("input", "same.xml")
    for name, what in (("pipe.json", "a pipe"), ("folder.json", "a folder"), ("device.json", "a device")):
        expect(run(["build", SMALL, "--quiet", "--force", "--export", name]), name, f"is {what} and is not replaced")
        if os.path.isfile(name):
            fail(f"{name} was replaced")
    for name in ("input", "same.xml"):
        expect(run(["import", "input", "--quiet", "--force", "--output", name]), name, "is read by this run")
    if content("input") != before or not os.path.islink("same.xml"):
        fail("a run replaced what it reads")
    for name in ("input", "pipe.json", "device.json", "same.xml"):
        os.unlink(name)
    os.rmdir("folder.json")


def start(arguments):
    return subprocess.Popen(words(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_together():
    """Runs at the same time: without --force one of them has the name; with it, a folder is that of one run."""
    for _ in range(10):
        codes = sorted(process.wait() for process in [start(["build", SMALL + ",gpus-per-server=" + n, "--quiet", "--export", "one.dot"]) for n in "1248"])
        if codes != [0, 5, 5, 5]:
            fail(f"four runs into one new file: {codes}")
        os.unlink("one.dot")
    sizes = {}
    for _ in range(10):
        runs = [start(["build", f"clos:gpus={n},radix=16", "--quiet", "--out", "many", "--force"]) for n in (32, 64, 128, 256)]
        if any(process.wait() != 0 for process in runs):
            fail("four runs into one folder")
        gpus = json.loads(content("many/report.json"))["fabric"]["gpus"]
        text, page = content("many/report.md").decode(), len(content("many/report.html"))
        if sizes.setdefault(gpus, page) != page or f"clos:gpus={gpus}," not in text or f"clos:gpus={gpus}," not in content("many/report.xml").decode():
            fail(f"a folder of two runs: {gpus} GPUs in one file, others in another")
    stale = run(["cost", SMALL, "--quiet", "--out", "many", "--force"])
    if stale.returncode != 0 or os.path.exists("many/fabric.graphml"):
        fail(f"a drawing of an earlier run stays: {os.listdir('many')}")
    shutil.rmtree("many")


def check_time(whole):
    """The end of the time is the end: within a write nothing stays of it, behind one it is not said that nothing was written."""
    told = set()
    for milliseconds in [*range(20, 400, 20), 600, 1000]:
        begun = time.monotonic()
        done = run(big(".graphml") + ["t.graphml", "--max-time", f"{milliseconds}ms"])
        took = time.monotonic() - begun
        there = os.path.exists("t.graphml")
        if done.returncode not in (0, 6) or (done.returncode == 6 and ("nothing was written" in done.stderr) == there):
            fail(f"--max-time {milliseconds}ms: {done.returncode}, file {there}: {done.stderr}")
        if done.returncode == 6 and took > milliseconds / 1000 + 0.5:
            fail(f"--max-time {milliseconds}ms took {took:.2f} s")
        if there and content("t.graphml") != whole.replace(b"whole.graphml", b"t.graphml"):
            fail("--max-time: half of a file under its final name")
        told.add(done.returncode)
        left(".", [name for name in os.listdir(".") if not name.endswith(".tmp")], f"--max-time {milliseconds}ms")
        if there:
            os.unlink("t.graphml")
    if 6 not in told:
        fail("no run came to the end of its time")


def check_nohup(suffix):
    """A run that was told to outlive its terminal does."""
    path = f"nohup{suffix}"
    with subprocess.Popen(words(big(suffix) + [path]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
        while process.poll() is None and not any(name.startswith(path) for name in os.listdir(".")):
            time.sleep(0.0002)
        process.send_signal(signal.SIGHUP)
        process.stderr.read()
        if process.wait() != 0 or not os.path.exists(path):
            fail(f"nohup: {process.returncode}")


for arguments, name in FILES:
    check_file(arguments, name)
PRINTED = ([], ["--json"], ["--format", "xml"], ["--format", "markdown"], ["--format", "csv", "--table", "meta"])
for i, (name, arguments) in enumerate(REPORTS.items()):
    check_folder(name, arguments)
    check_stdout(name, arguments, PRINTED[i % len(PRINTED)])
for graph in GRAPHS:
    check_stdout("build", REPORTS["build"], ["--format", graph])
check_early_end()
check_kept()
check_together()
check_nohup(".graphml")
check_stdout("route", ROUTE, ["--format", "flows"])
check_stdout("sweep", REPORTS["sweep"], ["--format", "csv"])
check_stdout("audit", REPORTS["audit"], ["--format", "csv"])
check_stdout("study", REPORTS["study"], ["--format", "csv"])
check_stdout("build", REPORTS["build"], ["--patch", "-"])
check_stdout("route", ROUTE, ["--engine", "dmodk", "--dump", "-"])
check_stdout("traffic", ["traffic", SMALL, "--traffic", "pattern:ring", "--quiet"], ["--export", "-"])
for command in (["list", "presets"], ["explain"], ["help"], ["version"], ["schema", "result"], ["help", "--man"]):
    check_stdout("", command, [])

hits = 0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
for suffix in (".graphml", ".svg", ".html"):
    path = f"whole{suffix}"
    if run(big(suffix) + [path]).returncode != 0:
        fail(f"a large {suffix}")
    whole = content(path)
    os.unlink(path)
    if suffix == ".graphml":
        check_time(whole)
    hits += sum(interrupt(suffix, number, whole) for number in SIGNALS)
if hits < 3:
    fail(f"only {hits} of 12 signals came while a file was being written")
print(f"{len(FILES)} files, {len(REPORTS)} folders, {hits} of 12 signals in the middle, {failures} failures")
sys.exit(1 if failures else 0)
