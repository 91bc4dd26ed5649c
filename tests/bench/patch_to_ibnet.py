#!/usr/bin/python3
"""A patch plan (fabriscope build --patch) on stdin to a fabric as ibnetdiscover prints it, which ibsim reads, on stdout.

Every NIC becomes a channel adapter, every other device a switch, every cable a 4x link: ibsim knows widths, not rates.
"""

import csv
import sys


def main():
    links = {}  # device: [(port, remote device, remote port)], devices in the order of the plan
    adapters = set()
    for cable in csv.DictReader(sys.stdin):
        a, z = cable["a_device"], cable["z_device"]
        a_port, z_port = int(cable["a_port"]), int(cable["z_port"])
        links.setdefault(a, []).append((a_port, z, z_port))
        links.setdefault(z, []).append((z_port, a, a_port))
        if "/nic-" in a:
            adapters.add(a)
    if not links:
        sys.exit("patch_to_ibnet.py: no cables on stdin")

    guids = {device: 0x10000 + 0x1000 * i for i, device in enumerate(links)}  # the gaps leave room for port GUIDs
    names = {device: f"{'H' if device in adapters else 'S'}-{guid:016x}" for device, guid in guids.items()}
    for device, ports in links.items():
        guid, name, n_ports = guids[device], names[device], max(port for port, _, _ in ports)
        if device in adapters:
            print(f'caguid=0x{guid:x}\nCa\t{n_ports} "{name}"\t\t# "{device}"')
        else:
            print(f'switchguid=0x{guid:x}({guid:x})\nSwitch\t{n_ports} "{name}"\t\t# "{device}" base port 0 lid 0 lmc 0')
        for port, remote, remote_port in sorted(ports):
            if device in adapters:
                print(f'[{port}]({guid + port:x}) \t"{names[remote]}"[{remote_port}]\t\t# lid 0 lmc 0 "{remote}" lid 0 4xSDR')
            else:
                print(f'[{port}]\t"{names[remote]}"[{remote_port}]\t\t# "{remote}" lid 0 4xSDR')
        print()


if __name__ == "__main__":
    main()
