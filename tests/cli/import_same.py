"""Compares two JSON reports but for what a design and its import are called. Usage: import_same.py A.json B.json"""
import json
import re
import sys

# asked for; a link by the name of its NIC; and racks, with what is bought and run in them
IGNORED = {"meta", "family", "taper", "bottleneck", "source", "floor", "ownership", "owned_usd_per_1e9_tokens"}


# what sentences say of these: dollars bought and run, and a taper that can be set in a design alone
SAID = re.compile(r"\$[0-9.,]+ bought and run for|" + re.escape(" (--set taper=1 tells, by its own plan)"))


def differences(a, b, where=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            if key in IGNORED:
                continue
            if key not in a or key not in b:
                yield f"{where}.{key}: {a.get(key)} {b.get(key)}"
            else:
                yield from differences(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{where}[{i}]")
    elif a != b and not (isinstance(a, str) and isinstance(b, str) and SAID.sub("", a) == SAID.sub("", b)):
        yield f"{where}: {a} {b}"


found = list(differences(*(json.load(open(path)) for path in sys.argv[1:3])))
print("\n".join(found[:5]))
sys.exit(bool(found))
