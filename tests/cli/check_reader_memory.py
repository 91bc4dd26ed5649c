"""Peak memory of reading does not grow with what a file says again or leaves out: 24 MB of comments, of blanks, of the same
cables once more; of JSON and YAML, whose libraries take a text whole, by no more than the text. Usage: check_reader_memory.py SITE_TOOL FOLDER-OF-VALID-FILES"""
import os
import subprocess
import sys

tool, folder = sys.argv[1:]
MB = 1 << 20


def peak(path):
    """Of a child of "time": one of this process would count its texts, which it has until it starts the program."""
    subprocess.run(["/usr/bin/time", "-q", "-f", "%M", "-o", "peak", tool, "read", path], stdout=subprocess.DEVNULL, check=True)
    with open("peak") as kb:
        return int(kb.read()) * 1024


for name in sorted(os.listdir(folder)):
    text = open(f"{folder}/{name}").read()
    more = {"comments": text + "# a comment of this file\n" * MB}
    if name == "graphml":
        blanks, note = " " * 23 + "\n", "<desc>a text of this file</desc>\n"
        more = {"blanks": text.replace("<edge", blanks * MB + "<edge", 1), "descriptions": text.replace("<edge", note * MB + "<edge", 1)}
    if name in ("minigraph", "gexf"):
        before, note = "<Devices>" if name == "minigraph" else "<edges>", "<!-- a comment of it -->\n"
        more = {"comments": text.replace(before, note * MB + before, 1)}
    if name in ("ibnetdiscover-ports", "opensm-subnet"):
        more["the same again"] = text * (24 * MB // len(text))
    is_json, is_whole = text.lstrip()[0] in "[{", name in ("containerlab", "slurm-yaml", "topograph")
    if is_json:
        more = {"blanks": text + (" " * 23 + "\n") * MB}
    before = peak(f"{folder}/{name}")
    for what, long in more.items():
        with open("long", "w") as out:
            out.write(long)
        after = peak("long")
        own = len(long) if is_json or is_whole else 0
        assert after < before + own + 3 * MB, f"{name}, {what}: {before / MB:.1f} MB, then {after / MB:.1f} MB"
