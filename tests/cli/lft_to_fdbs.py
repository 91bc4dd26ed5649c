"""Forwarding tables of OpenSM as ibdiagnet dumps them, on stdout: LIDs and ports alone. Usage: lft_to_fdbs.py DUMP"""
import re
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
last = max(int(m[1], 16) for line in lines if (m := re.match(r"(0x[0-9A-Fa-f]+) ", line)))
print("# File created by ibdiagnet\n")
table = None


def flush():
    for lid in range(1, last + 1):
        route = table.get(lid)
        print(f"0x{lid:04x} : " + ("UNREACHABLE" if route is None else f"{route:03d}  : 00   : yes"))
    print()


for line in lines:
    head = re.match(r"Unicast lids .* guid (0x[0-9a-f]+) ", line)
    entry = re.match(r"(0x[0-9A-Fa-f]+) ([0-9]+) ", line)
    if head:
        if table is not None:
            flush()
        table = {}
        print("osm_ucast_mgr_dump_ucast_routes: Switch " + head[1] + "\nLID    : Port : Hops : Optimal")
    elif entry:
        table[int(entry[1], 16)] = int(entry[2])
flush()
