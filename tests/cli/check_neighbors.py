"""Neighbors in captures of switches by regular expressions, as a list of cables: what the readers must make of a file.
Usage: check_neighbors.py FILE BOX > cables.csv"""
import csv
import json
import re
import sys

text, box = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]
long = lambda port: re.sub(r"^(Et|Eth)(?=\d)", "Ethernet", re.sub(r"^Ma(?=\d)", "Management", port))
short = lambda name: name if re.fullmatch(r"[0-9a-fA-F.:-]*", name) and re.search("[.:]", name) else name.split(".")[0]
rows = []
if text.lstrip().startswith("{"):
    data = json.loads(text)
    seen = set()
    for edge in data["edges"]:
        ends = [(edge[n]["hostname"], edge[n]["interfaceName"]) for n in ("node1", "node2")]
        if frozenset(ends) not in seen:
            seen.add(frozenset(ends))
            rows.append((*ends[0], *ends[1]))
elif "\ntopology:" in text:
    for a, a_port, b, b_port in re.findall(r'endpoints: \["([^:"]+):([^"]+)", "([^:"]+):([^"]+)"\]', text):
        rows.append((a, a_port, b, b_port))
elif text.startswith("StartDevice"):
    for row in csv.DictReader(text.splitlines()):
        rows.append((row["StartDevice"], row["StartPort"], row["EndDevice"], row["EndPort"], row["BandWidth"] + "Mb/s"))
elif "Neighbor Device ID" in text:
    for local, name, port in re.findall(r"^(\S+\d\S*) +(\S+) +(\S+) +\d+ *$", text, re.M):
        rows.append((box, long(local), short(name), long(port)))
elif "detected" in text:
    for block in re.split(r"(?m)^Interface ", text)[1:]:
        local = block.split(" ")[0]
        for one in re.split(r"(?m)^\s+Neighbor ", block)[1:]:
            name = re.search(r'System Name: "([^"]*)"', one)
            name = name[1] if name else re.search(r"Chassis ID +: (\S+)", one)[1]
            rows.append((box, long(local), short(name), long(re.search(r'Port ID +: "?([^"\n]*?)"?\s*$', one, re.M)[1])))
elif "Local Port id" in text:
    for one in re.split(r"(?m)^Chassis id: ", text)[1:]:
        local, port, name = (re.search(rf"(?m)^{key}: (.*?)\s*$", one)[1] for key in ("Local Port id", "Port id", "System Name"))
        rows.append((box, long(local), short(name), long(port)))
elif "Hold-time" in text:
    for name, local, port in re.findall(r"^(\S+)\s+(Eth\S+|mgmt\S+)\s+\d+\s+(?:[A-Z]+\s+)?(\S+) *$", text.split("Port ID")[1], re.M):
        rows.append((box, long(local), short(name), long(port)))
else:
    for line in text.splitlines()[1:]:
        words = line.split()
        rows.append((box, words[0], short(words[-1]), long(words[-2])))
rows = [r for r in rows if not any(re.match("Management|mgmt", r[k]) for k in (1, 3))]
out = csv.writer(sys.stdout)
out.writerow(("A-node", "A-port", "Z-node", "Z-port", "rate")[: len(rows[0])])
taken = set()
for row in rows:  # the first report of a port stays
    if not {row[:2], row[2:4]} & taken:
        out.writerow(row)
    taken |= {row[:2], row[2:4]}
