"""A digest for every source file of all that clang-tidy's findings in it follow from: its text and that of what it includes, its
command line, and the settings. Prints "DIGEST FILE", or "- FILE" where the build does not know yet what it includes.

usage: tidy_digests.py BUILD_FOLDER FILE..."""
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

build, files, root = sys.argv[1], sys.argv[2:], os.getcwd()
settings = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True).stdout + open(".clang-tidy", "rb").read()
commands = {os.path.relpath(os.path.join(row["directory"], row["file"])): row["command"].replace(root, "")
            for row in json.load(open(f"{build}/compile_commands.json", encoding="utf-8"))}
includes = {}
for block in subprocess.run(["ninja", "-C", build, "-t", "deps"], stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n\n"):
    paths = [os.path.relpath(os.path.join(build, line.strip())) for line in block.splitlines() if line.startswith("    ")]
    if paths and re.search(r"\(VALID\)$", block.splitlines()[0]):
        includes[paths[0]] = paths


@functools.lru_cache(None)
def text_digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


for name in files:
    known = name in includes and name in commands and all(map(os.path.exists, includes[name]))
    parts = [settings, commands[name].encode(), *map(text_digest, includes[name])] if known else []
    print(hashlib.sha256(b"\0".join(parts)).hexdigest() if known else "-", name)
