"""Bytes that are no UTF-8 and hidden characters in the names of every reader's file: refused with a place, or escaped in
whatever is written; of a share of them (drawn.py). Usage: hidden_names.py PROGRAM SITES"""

import os
import re
import subprocess
import sys

from drawn import drawn

PROGRAM, SITES = sys.argv[1:3]
UNFIT = [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xe2\x80\xae", b"\xc2\x85", b"\x1b"]
NAMES = [b"leaf-0", b"Radix_Up", b"400Gbps", b"node-0"]  # of a box, or what stands in for one
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")
RUNS = [["audit", "bad", "--format", form] for form in ("text", "csv", "json", "xml")]
RUNS += [["build", "installed:bad", "--format", form] for form in ("text", "json", "dot", "graphml", "cables", "ptm", "slurm-tree", "ibnet")]
failures = 0


def fail(*what):
    global failures
    failures += 1
    print("FAIL:", *what)


def check(name, bad):
    for run in RUNS:
        done = subprocess.run([PROGRAM, *run, "--quiet"], capture_output=True, timeout=60)
        text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        if HIDDEN.search(text) or re.search("[\ud800-\udfff]", text):
            fail(name, bad, run, "gets through")
        if done.returncode not in (0, 1, 3):
            fail(name, bad, run, "exit code", done.returncode)
        if done.returncode == 3 and run[0] == "audit" and not re.match(r"fabriscope: bad:\d+:\d+: ", text):
            fail(name, bad, run, "no place:", text)


for site, unfit in drawn([(site, unfit) for site in sorted(os.listdir(SITES)) for unfit in UNFIT]):
    with open(os.path.join(SITES, site), "rb") as file:
        valid = file.read()
    word = next(w for w in NAMES if w in valid)
    with open("bad", "wb") as file:
        file.write(valid.replace(word, word[:2] + unfit + word[2:]))
    check(site, unfit)
# What is wrong is told by name: a trunk that lacks a cable, and a slow one.
for unfit in UNFIT:
    with open("bad", "wb") as file:
        file.write(b"A-node,A-port,Z-node,Z-port,rate\n")
        for leaf in range(2):
            for spine in range(4):
                for k in range(2 - (leaf == 1 and spine == 2)):
                    rate = 100 if (leaf, spine, k) == (0, 0, 0) else 400
                    file.write(b"le%saf-%d,%d%d,sp%sine-%d,%d%d,%dGb/s\n" % (unfit, leaf, spine, k, unfit, spine, leaf, k, rate))
            for host in range(4):
                file.write(b"no%sde-%d,1,le%saf-%d,h%s%d,400Gb/s\n" % (unfit, 4 * leaf + host, unfit, leaf, unfit, host))
    check("findings", unfit)
sys.exit(failures > 0)
