"""Cuts the power at every moment of commands that write, and looks at what is left.

    power_cuts.py PROGRAM RECORDER FOLDER

RECORDER (power_cut.c) notes what a command does to files. Every prefix of that is replayed under a model of a disk that
loses whatever was not brought to it: of every file that was not synced any part of what was written since, torn in the
middle; of every folder that was not synced the latest names. Then every file that has its name is the old or the new one,
what a command said that it wrote is there, and of a study no block is lost that was committed before the one under way.
"""
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections import defaultdict

PROGRAM, RECORDER, FOLDER = (os.path.realpath(path) for path in sys.argv[1:4])
HEADER = struct.Struct("=6Q")
MOMENTS = 60  # of a command, evenly over it, the last one included
MODES = ["nothing", "all", "names", "random", "random"]  # of what was not synced stays
failures = 0
cuts = 0


def fail(what):
    global failures
    failures += 1
    if failures <= 20:
        print(f"FAIL: {what}")


class Disk:
    """What is in memory, what is on the disk for certain, and what is under way between them."""

    def __init__(self, root):
        self.now, self.safe, self.pending = {}, {}, defaultdict(list)     # files by key
        self.names, self.changes = defaultdict(dict), defaultdict(list)   # folders by path: safe names, later changes
        self.key, self.root, self.n = {}, root, 0                         # inode -> key
        for folder, folders, files in os.walk(root):
            for name in folders:
                self.names[folder][name] = "folder"
            for name in files:
                path = os.path.join(folder, name)
                key = self.new_key(os.lstat(path).st_ino)
                self.now[key] = self.safe[key] = open(path, "rb").read()
                self.names[folder][name] = key

    def new_key(self, inode):
        self.n += 1
        self.key[inode] = self.n
        self.now[self.n] = self.safe[self.n] = b""
        return self.n

    def change(self, *pairs):
        """Names of one folder that change at once."""
        pairs = [(os.path.normpath(path), key) for path, key in pairs]
        self.changes[os.path.dirname(pairs[0][0])].append([(os.path.basename(p), key) for p, key in pairs])

    def take(self, kind, inode, offset, a, b, data):
        key = self.key.get(inode)
        if kind == "C":
            self.change((a, self.new_key(inode)))
        elif kind == "M":
            self.change((a, "folder"))
        elif kind == "U":
            self.change((a, None))
        elif kind == "L":
            self.change((a, key))
        elif kind == "R":
            self.change((a, None), (b, key))
        elif kind == "D":
            folder = os.path.normpath(a)
            for pairs in self.changes.pop(folder, []):
                self.names[folder].update(pairs)
        elif key is not None:
            self.write(kind, key, offset, data)

    def write(self, kind, key, offset, data):
        old = self.now[key]
        if kind == "W":
            new = old.ljust(offset, b"\0")[:offset] + data + old[offset + len(data):]
        else:
            new = old[:offset].ljust(offset, b"\0") if kind == "T" else data
        self.now[key] = new
        if kind == "F":
            self.safe[key] = new
            self.pending.pop(key, None)
        elif new != old:
            self.pending[key].append((kind, offset, data))

    def content(self, key, mode, rng):
        if mode in ("nothing", "names"):
            return self.safe[key]
        if mode == "all":
            return self.now[key]
        text = self.safe[key]
        for kind, offset, data in self.pending.get(key, []):
            if rng.random() < 0.5:
                continue
            data = data[:rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data
            if kind == "W":
                text = text.ljust(offset, b"\0")[:offset] + data + text[offset + len(data):]
            else:
                text = text[:offset] if kind == "T" else data
        return text

    def lay_out(self, mode, rng, to, folder=None):
        folder = folder or self.root
        names = dict(self.names.get(folder, {}))
        changes = self.changes.get(folder, [])
        n = {"nothing": 0, "random": rng.randrange(len(changes) + 1)}.get(mode, len(changes))
        for pairs in changes[:n]:
            names.update(pairs)
        os.makedirs(to)
        for name, key in names.items():
            if key == "folder":
                self.lay_out(mode, rng, os.path.join(to, name), os.path.join(folder, name))
            elif key is not None:
                with open(os.path.join(to, name), "wb") as file:
                    file.write(self.content(key, mode, rng))


def records(path):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        kind, inode, offset, n_a, n_b, n = HEADER.unpack_from(data, at)
        at += HEADER.size
        a, b = data[at:at + n_a].decode(), data[at + n_a:at + n_a + n_b].decode()
        at += n_a + n_b
        yield chr(kind), inode, offset, a, b, data[at:at + n]
        at += n


def run(*words, expect=0, cwd=None, env=None):
    done = subprocess.run([PROGRAM, *words], cwd=cwd, env=env, capture_output=True, text=True)
    if expect is not None and done.returncode != expect:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr}")
    return done


def cut(name, words, check, before=()):
    """Runs `words` in a folder of its own, and calls check(folder, step, is_end, mode) for what every cut leaves."""
    global cuts
    root, log = os.path.join(FOLDER, name), os.path.join(FOLDER, name + ".log")
    os.makedirs(root)
    for command in before:
        run(*command, cwd=root)
    disk = Disk(root)
    run(*words, cwd=root, env=dict(os.environ, LD_PRELOAD=RECORDER, POWER_CUT_LOG=log))
    steps = [step for step in records(log) if step[3].startswith(root) or not step[3]]
    chosen = {round(i * len(steps) / MOMENTS) for i in range(MOMENTS)} | {len(steps)}
    rng, left = random.Random(name), os.path.join(FOLDER, "left")
    for i in range(len(steps) + 1):
        for mode in MODES if i in chosen else []:
            disk.lay_out(mode, rng, left)
            check(left, root, i, i == len(steps), mode)
            shutil.rmtree(left)
            cuts += 1
        if i < len(steps):
            disk.take(*steps[i])
    print(f"{name}: {len(steps)} steps")
    return disk


def read(path):
    try:
        return open(path, "rb").read()
    except FileNotFoundError:
        return None


def whole_files(name, words, files, before=()):
    """Each file is as it was before or as it is in the end, and as in the end once the command has said so."""
    old = {}

    def check(left, root, i, is_end, mode):
        for file in files:
            found, new = read(os.path.join(left, file)), read(os.path.join(root, file))
            if new is None or found != new and (is_end or found != old.get(file)):
                fail(f"{name}: cut after step {i} ({mode} of what was not synced stays): {file} has "
                     f"{len(found or b'')} of {len(new or b'')} bytes")

    if before:
        other = os.path.join(FOLDER, name + "-before")
        os.makedirs(other)
        for command in before:
            run(*command, cwd=other)
        old = {file: read(os.path.join(other, file)) for file in files}
    cut(name, words, check, before)


def blocks_of(store):
    """Blocks that a store has after recovery; a shard that is not there has none. Fails where one is damaged."""
    found = 0
    for file in sorted(os.listdir(store)) if os.path.isdir(store) else []:
        if file.startswith("shard-") and file.endswith(".db"):
            db = sqlite3.connect(os.path.join(store, file))
            try:
                if db.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                    return None
                if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'block'").fetchone()[0]:
                    found += db.execute("SELECT count(*) FROM block").fetchone()[0]
            except sqlite3.DatabaseError:
                return None
            finally:
                db.close()
    return found


def study(name, words, plan):
    """No block is lost that was committed before the last one, and the study runs on to the same results."""
    committed, resumed, wanted = [0, 0], set(), None  # blocks before the last commit, and with it

    def check(left, root, i, is_end, mode):
        nonlocal wanted
        store = os.path.join(left, "store")
        found = blocks_of(store)
        if found is None:
            fail(f"{name}: cut after step {i} ({mode}): a shard is damaged")
            return
        if mode == "all" and found > committed[1]:
            committed[:] = [committed[1], found]
        least = committed[1] if is_end else committed[0]
        if found < least:
            fail(f"{name}: cut after step {i} ({mode}): {found} blocks of {least} that were committed")
        if i // 60 not in resumed and mode == "random" or is_end and mode == "nothing":
            resumed.add(i // 60)
            for command in ("run", "gather"):
                done = run("study", command, "--store", store, "--quiet", expect=None)
                if done.returncode != 0:
                    fail(f"{name}: cut after step {i} ({mode}): study {command}: {done.stderr}")
            results = read(os.path.join(store, "results.db"))
            wanted = wanted or results
            if results != wanted or results is None:
                fail(f"{name}: cut after step {i} ({mode}): the study runs on to other results")

    cut(name, words, check, [plan])


SMALL = "fat-tree:k=4"
ROUTE = ["route", SMALL, "--traffic", "pattern:permutation", "--quiet"]
PLAN = ["study", "plan", "clos:gpus=64,gpus-per-server=4,radix=16", "--scenarios", "links:2@6000", "--engine", "ecmp",
        "--figures", "loads", "--store", "store", "--quiet"]
RUN = ["study", "run", "--store", "store", "--threads", "2", "--quiet"]
MATRIX = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "nothing.csv")
OUT = ["report.html", "report.json", "report.xml", "fabric.graphml", "flows.csv"]

whole_files("export", ROUTE + ["--export", "a.graphml"], ["a.graphml"])
whole_files("replaced", ROUTE + ["--engine", "spray", "--export", "a.json", "--force"], ["a.json"],
            [ROUTE + ["--export", "a.json"]])
whole_files("dump", ROUTE + ["--dump", "tables", "--certificate", "proof"], ["tables", "proof"])
whole_files("folder", ROUTE + ["--out", "out"], [f"out/{name}" for name in OUT])
whole_files("folder-replaced", ROUTE + ["--engine", "spray", "--out", "out", "--force"], [f"out/{name}" for name in OUT],
            [ROUTE + ["--out", "out"]])
whole_files("matrix", ["traffic", SMALL, "--traffic", "pattern:ring", "--export", "m.csv", "--quiet"], ["m.csv"])
whole_files("plan", PLAN, ["store/plan.db"])
whole_files("plan-file", PLAN + ["--traffic", "file:" + MATRIX], ["store/plan.db", "store/files/file-1"])
study("run", RUN, PLAN)
study("shards", RUN + ["--shard", "1/3"], PLAN)
whole_files("gather", ["study", "gather", "--store", "store", "--quiet"], ["store/results.db"], [PLAN, RUN])
print(f"{cuts} cuts, {failures} failures")
sys.exit(1 if failures else 0)
