"""Breaks a perfect dump of ibnetdiscover in one place and tells what an audit must find there, and nothing else.
Usage: audit_cases.py DUMP FOLDER: writes NAME.net and NAME.json (the finding) for every case."""
import json
import re
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text()
out = Path(sys.argv[2])
records = text.split("\n\n")


def record_of(label):
    head = re.compile(rf'^(Switch|Ca)\s.*# "{label}"', re.M)
    return next(i for i, r in enumerate(records) if head.search(r))


def name_of(label):
    return re.search(r'^(?:Switch|Ca)\s+\d+ "([^"]+)"', records[record_of(label)], re.M).group(1)


def save(case, changed, **finding):
    (out / f"{case}.net").write_text("\n\n".join(changed))
    (out / f"{case}.json").write_text(json.dumps(finding))


def drop_lines(changed, label, other, which):
    """Removes the which-th port line of a box towards another; returns its port and the port at the other end."""
    i, far = record_of(label), name_of(other)
    lines = changed[i].split("\n")
    hits = [k for k, line in enumerate(lines) if f'"{far}"[' in line]
    line = lines.pop(hits[which])
    changed[i] = "\n".join(lines)
    return re.match(r"\[(\d+)\]", line).group(1), re.search(r'"[^"]+"\[(\d+)\]', line).group(1)


# a trunk cable gone, at both ends
changed = list(records)
port, other = drop_lines(changed, "leaf-1", "spine-0", 0)
i = record_of("spine-0")
changed[i] = "\n".join(l for l in changed[i].split("\n") if not l.startswith(f"[{other}]"))
save("missing", changed, finding="missing-cable", node="leaf-1", port=port, other_node="spine-0", other_port=other, cables=1)

# one end alone reports it
changed = list(records)
port, other = drop_lines(changed, "spine-0", "leaf-1", 0)
save("one-sided", changed, finding="one-sided", node="spine-0", port=port, other_node="leaf-1", other_port=other)

# slower
changed = list(records)
for label, far in (("leaf-2", "spine-1"), ("spine-1", "leaf-2")):
    i, name = record_of(label), name_of(far)
    lines = changed[i].split("\n")
    k = next(k for k, line in enumerate(lines) if f'"{name}"[' in line)
    lines[k] = lines[k].replace("4xNDR", "4xHDR")
    changed[i] = "\n".join(lines)
save("speed", changed, finding="wrong-speed", damage_bps=200e9)

# two adapters of a server exchanged at their leaves
changed = list(records)
a, b = name_of("server-1 HCA-2"), name_of("server-1 HCA-3")
joined = "\n\n".join(changed)
lines = joined.split("\n")
for k, line in enumerate(lines):
    if line.startswith("[") and (f'"{a}"' in line or f'"{b}"' in line):
        lines[k] = line.replace(a, "\0").replace(b, a).replace("\0", b)
changed = "\n".join(lines).split("\n\n")
ia = next(k for k, r in enumerate(changed) if re.search(rf'^Ca\s+\d+ "{a}"', r, re.M))
ib = next(k for k, r in enumerate(changed) if re.search(rf'^Ca\s+\d+ "{b}"', r, re.M))
pa = [l for l in changed[ia].split("\n") if l.startswith("[")]
pb = [l for l in changed[ib].split("\n") if l.startswith("[")]
remote = lambda line: re.search(r'"S-[^"]+"\[\d+\]', line).group(0)
ra, rb = remote(pa[0]), remote(pb[0])
changed[ia] = changed[ia].replace(ra, rb)
changed[ib] = changed[ib].replace(rb, ra)
save("swapped", changed, finding="swapped-rails", cables=2)

# a leaf gone, and all that led to it
leaf = name_of("leaf-3")
changed = [r for k, r in enumerate(records) if k != record_of("leaf-3")]
changed = ["\n".join(l for l in r.split("\n") if f'"{leaf}"' not in l) for r in changed]
save("absent", changed, finding="absent-switch", node="leaf-3")

# an adapter that is not in the network
adapter = name_of("server-2 HCA-3")
changed = [r for k, r in enumerate(records) if k != record_of("server-2 HCA-3")]
changed = ["\n".join(l for l in r.split("\n") if f'"{adapter}"' not in l) for r in changed]
save("no-adapter", changed, finding="missing-port", node="server-2", cables=1)

# an adapter in a free port of another rail's leaf; its own place stays empty
changed = list(records)
adapter, own, other = name_of("server-1 HCA-2"), record_of("server-1 HCA-2"), record_of("leaf-4")
port_line = next(l for l in changed[own].split("\n") if l.startswith("["))
old_leaf, old_port = re.search(r'"(S-\w+)"\[(\d+)\]', port_line).groups()
home = next(k for k, r in enumerate(records) if re.search(rf'^Switch\s+\d+ "{old_leaf}"', r, re.M))
lines = changed[home].split("\n")
moved = next(l for l in lines if f'"{adapter}"' in l)
changed[home] = "\n".join(l for l in lines if l != moved)
changed[own] = changed[own].replace(f'"{old_leaf}"[{old_port}]', f'"{name_of("leaf-4")}"[33]')
changed[other] = changed[other].replace("Switch\t32", "Switch\t33") + "\n" + re.sub(r"^\[\d+\]", "[33]", moved)
save("astray", changed, finding="wrong-rail", node="server-1 HCA-2", other_node="leaf-4", other_port="33")
