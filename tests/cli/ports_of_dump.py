"""Rewrites a dump of ibnetdiscover as `ibnetdiscover -p` prints the same subnet: a line per port."""
import re
import sys

boxes = {}  # name in the dump -> (kind, lid, GUID, description)
ports = []  # (box, port, peer, port of the peer, GUID of the peer's port, width and speed)
guids = {}  # (adapter, port) -> GUID of the port
box = None
for line in open(sys.argv[1], encoding="utf-8"):
    if m := re.match(r'Switch\t\d+ "(S-(\w+))"\s+# "(.*)" .*lid (\d+)', line):
        box = m[1]
        boxes[box] = ("SW", int(m[4]), "0x" + m[2], m[3])
    elif m := re.match(r'Ca\t\d+ "(H-\w+)"\s+# "(.*)"', line):
        box = m[1]
        boxes[box] = ("CA", 1, "0x" + box[2:], m[2])
    elif m := re.match(r'\[(\d+)\](?:\((\w+)\))?\s+"([SH]-\w+)"\[(\d+)\](?:\((\w+)\))?\s+#.* (\d+x)(\w+)$', line):
        if m[2]:
            lid = int(re.search(r"# lid (\d+)", line)[1])
            boxes[box] = ("CA", lid, "0x" + m[2], boxes[box][3])
        ports.append((box, int(m[1]), m[3], int(m[4]), m[6] + " " + m[7]))
for here, port, there, peer, rate in ports:
    a, b = boxes[here], boxes[there]
    print(f"{a[0]} {a[1]:5} {port:2} {a[2]} {rate} - {b[0]} {b[1]:5} {peer:2} {b[2]} ( '{a[3]}' - '{b[3]}' )")
used = {(here, port) for here, port, *_ in ports}
for name, (kind, lid, guid, text) in boxes.items():
    port = 33 if kind == "SW" else 1
    if (name, port) not in used:  # a port that is down
        print(f"{kind} {lid:5} {port:2} {guid} 4x SDR{'':36}'{text}'")
