"""A fabric that `build --format ibnet` and `--format cables` print, as other tools of a site would: one file each, made by
this script alone. Usage: site_files.py NET CABLES FOLDER"""
import collections
import csv
import json
import os
import re
import sys
import xml.sax.saxutils as xml

net, cables, folder = sys.argv[1:]
SIGNAL = {"SDR": "2.5", "DDR": "5.0", "QDR": "10.0", "FDR": "14.0625", "EDR": "25.78125", "HDR": "53.125", "NDR": "106.25", "XDR": "212.5"}
LANE = {"SDR": "2.5", "DDR": "5", "QDR": "10", "FDR": "14", "EDR": "25", "HDR": "50", "NDR": "100", "XDR": "200"}
boxes, links, box = {}, [], None  # name: (is switch, guid, description, lid); (box, port, other, its port, width, speed)
for line in open(net):
    head = re.match(r'(Switch|Ca)\t\d+ "([SH]-([0-9a-f]+))"\s+# "(.*?)"(?: base port 0 lid (\d+))?', line)
    port = re.match(r'\[(\d+)\](?:\([0-9a-f]+\) )?\t"([SH]-[0-9a-f]+)"\[(\d+)\](?:\([0-9a-f]+\) )?\s+# (?:lid (\d+) lmc 0 )?".*" lid (\d+) (\d+)x([A-Z0-9]+)', line)
    if head:
        box = head[2]
        boxes[box] = [head[1] == "Switch", int(head[3], 16), head[4], int(head[5] or 0)]
    elif port:
        boxes[box][3] = boxes[box][3] or int(port[4] or 0)
        links.append((box, int(port[1]), port[2], int(port[3]), port[6], port[7]))
of = collections.defaultdict(list)
for link in links:
    of[link[0]].append(link)
path = lambda name: open(os.path.join(folder, name), "w")
with path("iblinkinfo") as out, path("iblinkinfo-line") as flat, path("iblinkinfo-switches") as some:
    for name in sorted(boxes, key=lambda n: boxes[n][0]):
        is_switch, guid, text, lid = boxes[name]
        out.write(f"Switch: 0x{guid:016x} {text}:\n" if is_switch else f"CA: {text}:\n")
        some.write(f"Switch: 0x{guid:016x} {text}:\n" if is_switch else "")
        for _, p, other, q, width, speed in sorted(of[name]):
            end = f"{boxes[other][3]:6d} {q:4d}[  ] \"{boxes[other][2]}\" ( )\n"
            way = f"{lid:6d} {p:4d}[  ] ==( {width}X {SIGNAL[speed]:>18s} Gbps Active/  LinkUp)==>  "
            line = "      " + ("" if is_switch else f"0x{guid:016x} ") + way + end
            out.write(line)
            some.write(line if is_switch else "")
            flat.write(f"0x{guid:016x} \"{text:>30s}\" " + way + f"0x{boxes[other][1]:016x} " + end)
        out.write(f"{lid:12d}  200[  ] ==(                Down/ Polling)==>             [  ] \"\" ( )\n" if is_switch else "")
label = lambda name, p: f"{(p + 1) // 2}/{2 - p % 2}" if boxes[name][0] else str(p)
with path("ibdiagnet2.net_dump") as out:
    for name in boxes:
        is_switch, guid, text, lid = boxes[name]
        if not is_switch:
            continue
        out.write(f'"{text}", Mellanox, 0x{guid:x}, LID {lid}\n  #     : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description\n')
        for _, p, other, q, width, speed in sorted(of[name]):
            out.write(f'  {label(name, p)} : {p} : ACT : LINK UP : 5 : {width}x : {LANE[speed]} : NO-FEC : NO-RTR : 0x{boxes[other][1]:x} : {label(other, q)} : {boxes[other][3]} : "{boxes[other][2]}"\n')
with path("ufm.json") as out:
    seen, rows = set(), []
    for name, p, other, q, width, _ in links:
        if (other, q) not in seen:
            seen.add((name, p))
            row = {"width": width + "x", "severity": "Info"}
            for side, box, port in (("source", name, p), ("destination", other, q)):
                row |= {f"{side}_guid": f"{boxes[box][1]:016x}", f"{side}_port": str(port),
                        f"{side}_port_node_description": boxes[box][2] + (f":{port}" if boxes[box][0] else "")}
            rows.append(row)
    json.dump(rows, out)
os.mkdir(os.path.join(folder, "ufm"))  # ports of both ends, and systems, which name the boxes that have no host in their description
with path("ufm/ports.json") as out:
    json.dump([{"name": f"{boxes[name][1]:016x}_{p}", "number": p, "systemID": f"{boxes[name][1]:016x}",
                "node_description": boxes[name][2] + (f":{p}" if boxes[name][0] else ""), "peer": f"{boxes[other][1]:016x}_{q}",
                "peer_node_description": boxes[other][2] + (f":{q}" if boxes[other][0] else ""), "active_width": f"{width}x", "active_speed": speed,
                "physical_state": "Link Up"} for name, p, other, q, width, speed in links] + [{"name": "00000000000000ff_1", "node_description": "spare", "peer": ""}], out)
systems = collections.defaultdict(list)
for is_switch, guid, text, _ in boxes.values():
    systems[is_switch, text.split(" ")[0]].append(guid)
with path("ufm/systems.json") as out:
    json.dump([{"system_name": name, "guid": f"{min(guids):016x}", "type": "switch" if is_switch else "host",
                "ports": [f"{guid:016x}_1" for guid in guids]} for (is_switch, name), guids in systems.items()], out)
rows = list(csv.DictReader(open(cables)))
with path("minigraph.xml") as out:
    out.write('<?xml version="1.0"?>\n<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution"><PngDec><DeviceInterfaceLinks>\n')
    for row in rows:
        fields = {"ElementType": "DeviceInterfaceLink", "EndDevice": row["Z-node"], "EndPort": row["Z-port"],
                  "StartDevice": row["A-node"], "StartPort": row["A-port"], "Bandwidth": str(int(float(row["rate"][:-4]) * 1000))}
        out.write("<DeviceLinkBase>" + "".join(f"<{k}>{xml.escape(v)}</{k}>" for k, v in fields.items()) + "</DeviceLinkBase>\n")
    out.write("</DeviceInterfaceLinks></PngDec></DeviceMiniGraph>\n")
ends = collections.defaultdict(list)
for row in rows:
    a, z = (row["A-node"], row["A-port"]), (row["Z-node"], row["Z-port"])
    ends[z[0]].append((z[1], a))
    ends[a[0]].append((a[1], z))
os.mkdir(os.path.join(folder, "snmp"))
for box, ports in ends.items():
    if " " in box or "/" in box:
        continue  # an adapter
    with path(f"snmp/{box}.txt") as out:
        numeric = len(ports) % 2  # some switches by names, some by numbers
        column = lambda name, number: f"iso.0.8802.1.1.2.1.{number}" if numeric else f"LLDP-MIB::{name}"
        for i, (port, _) in enumerate(ports):
            out.write(f"{column('lldpLocPortId', '3.7.1.3')}.{i + 1} = STRING: \"{port}\"\n")
        for name, number, value in (("lldpRemPortId", "4.1.1.7", lambda o: f'"{o[1]}"'), ("lldpRemSysName", "4.1.1.9", lambda o: o[0])):
            for i, (_, other) in enumerate(ports):
                out.write(f"{column(name, number)}.{i * 7}.{i + 1}.1 = STRING: {value(other)}\n")
