"""Runs the commands of the manual and compares what they print with what it shows. Run by test_manual.sh.

usage: manual.py PAGE...        `fabriscope` is in the PATH; ./files is what every page finds in its own folder; UPDATE=1
                                rewrites the pages

A block ```console has commands behind "$ " (continued where a line ends in "\\") and their standard output. All blocks of a
page run one after the other in one folder. A comment before a block says what of the output it shows:

    <!-- show: 1-4, /^ITERATION/+5, /^WORK/- -->     lines 1 to 4; the first line that fits and 5 more; from there on

Lines that are left out are marked by [...]. `exit: N` in the comment is the exit code of the last command; else it is 0.
Of pages with commands that take seconds a share is tried (drawn.py), the README and the others always."""
import os
import re
import shutil
import subprocess
import sys

from drawn import drawn

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
COMMENT = re.compile(r"<!-- (?:show: (?P<show>.*?))?(?:; )?(?:exit: (?P<exit>\d+))? -->\n\n?$")
LARGE = re.compile(r"^\$ fabriscope .*(preset:(llama3-24k|hpn)|gpus[= ](1024|16384))", re.M)
WRITES = re.compile(r"[^2]>|--(out|export|timeline|output|patch|dump|store|certificate) ")
failures = 0


def selected(lines, spec):
    """Indexes of the lines that a `show` names."""
    chosen = set()
    for piece in re.findall(r"/(?:[^/]*)/(?:\+\d+|-)?|\d+-\d+", spec):
        if piece[0] == "/":
            pattern, rest = piece[1:].rsplit("/", 1)
            first = next((i for i, line in enumerate(lines) if re.search(pattern, line)), None)
            if first is None:
                raise ValueError(f"no line fits /{pattern}/")
            last = len(lines) - 1 if rest == "-" else first + int(rest[1:] or 0)
        else:
            first, last = (int(x) - 1 for x in piece.split("-"))
        chosen.update(range(first, min(last, len(lines) - 1) + 1))
    return chosen


def shown(output, spec):
    lines = output.splitlines()
    if spec is None:
        return output
    chosen = selected(lines, spec)
    out = []
    for i, line in enumerate(lines):
        if i in chosen:
            out.append(line)
        elif not out or out[-1] != "[...]":
            out.append("[...]")
    return "\n".join(out) + "\n"


def commands_of(text):
    """Command lines as they stand, without the output below them."""
    found = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            while line.endswith("\\"):
                line += "\n" + next(lines)
            found.append(line)
    return found


def run_block(page, text, comment, before):
    """What the block has to be. `before`: results by command, as long as nothing is written."""
    global failures
    spec = comment["show"] if comment else None
    out = ""
    commands = commands_of(text)
    for i, command in enumerate(commands):
        wanted = int(comment["exit"]) if comment and comment["exit"] and i == len(commands) - 1 else 0
        done = before.get(command) or subprocess.run(["bash", "-c", command[2:]], stdin=subprocess.DEVNULL,
                                                     capture_output=True, text=True, encoding="utf-8")
        if WRITES.search(command):
            before.clear()
        else:
            before[command] = done
        if done.returncode != wanted:
            print(f"FAIL {page}: exit code {done.returncode}, not {wanted}: {command}\n{done.stderr}")
            failures += 1
        out += command + "\n" + shown(done.stdout, spec if i == len(commands) - 1 else None)
    return out


def check_page(path):
    global failures
    page = os.path.basename(path)
    text = open(path, encoding="utf-8").read()
    folder = os.path.join(os.getcwd(), page.replace(".", "-"))
    shutil.copytree("files", folder)
    os.chdir(folder)
    new, at, before = "", 0, {}
    for block in BLOCK.finditer(text):
        comment = COMMENT.search(text[: block.start()])
        wanted = run_block(page, block[1], comment, before)
        new += text[at : block.start()] + "```console\n" + wanted + "```"
        at = block.end()
        if wanted != block[1] and not os.environ.get("UPDATE"):
            print(f"FAIL {page}: {commands_of(block[1])[-1]}")
            for a, b in zip(block[1].splitlines() + ["(end)"], wanted.splitlines() + ["(end)"]):
                if a != b:
                    print(f"  the manual: {a}\n  printed:    {b}")
                    break
            failures += 1
    new += text[at:]
    os.chdir("..")
    if new != text and os.environ.get("UPDATE"):
        open(path, "w", encoding="utf-8").write(new)
    return len(BLOCK.findall(text))


def has_to_be_tried(path):
    is_small = LARGE.search(open(path, encoding="utf-8").read()) is None
    return is_small or os.environ.get("UPDATE") or path.endswith("/README.md") or drawn([os.path.basename(path)])


count = sum(check_page(path) for path in sys.argv[1:] if has_to_be_tried(path))
print(f"{count} blocks, {failures} failures")
sys.exit(1 if failures or count == 0 else 0)
