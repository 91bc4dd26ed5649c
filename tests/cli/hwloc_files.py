"""A server of 8 GPUs as hwloc 2 exports it, after its documentation and the files of its own tests; or, with "nccl", as NCCL does.

Two CPUs, each with two PCIe switches of two GPUs and two NICs; six switches of NVLinks; two NICs of storage and one of the console, and its
display."""

import sys

SWITCHES = ((0, 0x00), (0, 0x20), (1, 0x40), (1, 0x80))


def devices(switch):
    for k in range(2):
        yield "gpu", SWITCHES[switch][1] + 7 + 4 * k, 2 * switch + k
        yield "nic", SWITCHES[switch][1] + 8 + 4 * k, 2 * switch + k


def nccl(out):
    out('<system version="1">')
    for cpu in range(2):
        out(f'<cpu numaid="{cpu}" arch="x86_64">')
        for s, (own, bus) in enumerate(SWITCHES):
            if own == cpu:
                out(f'<pci busid="0000:{bus:02x}:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">')
                for kind, at, number in devices(s):
                    inner = f'<gpu dev="{number}" sm="80"><nvlink count="12"/></gpu>' if kind == "gpu" else f'<nic><net name="mlx5_{number}"/></nic>'
                    code = "0x030200" if kind == "gpu" else "0x020700"
                    out(f'<pci busid="0000:{at:02x}:00.0" class="{code}" link_speed="16 GT/s" link_width="16">{inner}</pci>')
                out("</pci>")
        out("</cpu>")
    out("</system>")


def hwloc(out):
    index = iter(range(100, 1000))
    gpus = []

    def bridge(kind, bus, speed):
        where = f'pci_busid="0000:{bus:02x}:00.0" pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="{speed}"' if kind == "1-1" else ""
        out(f'<object type="Bridge" gp_index="{next(index)}" bridge_type="{kind}" depth="1" bridge_pci="0000:[{bus:02x}-{bus + 15:02x}]" {where}>')

    def device(bus, code, speed, systems, function=0):
        out(f'<object type="PCIDev" gp_index="{next(index)}" pci_busid="0000:{bus:02x}:00.{function}" pci_type="{code} [10de:20b2] [10de:1463] a1" '
            f'pci_link_speed="{speed}">')
        own = 0
        for name, kind in systems:
            own = next(index)
            out(f'<object type="OSDev" gp_index="{own}" name="{name}" osdev_type="{kind}"><info name="Backend" value="any"/></object>')
        out("</object>")
        return own

    out('<?xml version="1.0" encoding="UTF-8"?>')
    out('<!DOCTYPE topology SYSTEM "hwloc2.dtd">')
    out('<topology version="2.0"><object type="Machine" os_index="0" gp_index="1">')
    for cpu in range(2):
        out(f'<object type="Package" os_index="{cpu}" gp_index="{2 + cpu}">')
        out(f'<object type="NUMANode" os_index="{cpu}" gp_index="{4 + cpu}" local_memory="810234351616"/>')
        out(f'<object type="Core" os_index="{cpu}" gp_index="{6 + cpu}"><object type="PU" os_index="{cpu}" gp_index="{8 + cpu}"/></object>')
        for s, (own, bus) in enumerate(SWITCHES):
            if own != cpu:
                continue
            bridge("0-1", bus, 0)
            bridge("1-1", bus, "31.507692")
            for kind, at, number in devices(s):
                if kind == "gpu":
                    gpus.append(device(at, "0302", "31.507692", [(f"cuda{number}", 5), (f"nvml{number}", 1)]))
                else:
                    device(at, "0207", "31.507692", [(f"ib{number}", 2), (f"mlx5_{number}", 3)])
            out("</object></object>")
        bridge("0-1", 0xE0 + 8 * cpu, 0)
        if cpu == 0:
            for function in range(2):
                device(0xE1, "0200", "31.507692", [(f"enp225s0f{function}", 2), (f"mlx5_{8 + function}", 3)], function)
            device(0xE2, "0200", "1.0", [("eno1", 2)])
            device(0xE3, "0300", "0.5", [("card0", 1)])
        out("</object></object>")
    out("</object>")
    n = len(gpus) + 6
    switches = [f"PCIDev:{2000 + k}" for k in range(6)]
    out(f'<distances2hetero nbobjs="{n}" kind="25" name="NVLinkBandwidth">')
    names = [f"OSDev:{g}" for g in gpus] + switches
    for k in range(0, n, 10):
        out(f"<indexes length=\"1\">{' '.join(names[k : k + 10])} </indexes>")
    cells = [1000000 if i == j else 50000 if (i < 8) != (j < 8) else 0 for i in range(n) for j in range(n)]
    for k in range(0, n * n, 10):
        out(f"<u64values length=\"1\">{' '.join(map(str, cells[k : k + 10]))} </u64values>")
    out("</distances2hetero></topology>")


(nccl if sys.argv[1:] == ["nccl"] else hwloc)(print)
