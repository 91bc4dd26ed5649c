"""Dumps of ibnetdiscover of fabrics with directors: boxes of leaf and spine boards, each with chips that are switches of the subnet.

directors.py LAYOUT [CHANGE...]: LAYOUT is spines (1U leaves below two directors), whole (servers on a director),
partly (boards 5 and 6 are empty slots), chips (two chips on every leaf board). A CHANGE takes something away:
link:L02:S1 (of the first director), board:S2, board:L03, cable:LEAF:BOARD, slow:L01:S3. A chip is called MF0;NAME:MODEL/L02/U1
and all chips of a box have its system GUID, as the switches' firmware has it."""

import sys


class Dump:
    def __init__(self):
        self.nodes = {}  # id: [kind, guid, system, text]
        self.links = []  # (id, port, id, port, rate)
        self.used = {}

    def node(self, name, kind, text, system):
        self.nodes[name] = (kind, 0xB8599F0300000000 + 256 * len(self.nodes), system, text)

    def port(self, name):
        self.used[name] = self.used.get(name, 0) + 1
        return self.used[name]

    def link(self, a, b, rate="4xHDR"):
        self.links.append((a, self.port(a), b, self.port(b), rate))

    def write(self, out):
        at = {}
        for a, p, b, q, rate in self.links:
            if a in self.nodes and b in self.nodes:
                at.setdefault(a, []).append((p, b, q, rate))
                at.setdefault(b, []).append((q, a, p, rate))
        for name, (kind, guid, system, text) in self.nodes.items():
            if name not in at:
                continue  # nobody hears of it
            word, letter = ("Switch", "S") if kind == "switch" else ("Ca", "H")
            out.write(f"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid={system or guid:#x}\n")
            out.write(f"{'switch' if kind == 'switch' else 'ca'}guid={guid:#x}({guid:x})\n")
            out.write(f'{word}\t{41 if kind == "switch" else 1} "{letter}-{guid:016x}"\t\t# "{text}"\n')
            for p, other, q, rate in sorted(at.get(name, [])):
                k, g = self.nodes[other][:2]
                out.write(f'[{p}]\t"{"S" if k == "switch" else "H"}-{g:016x}"[{q}]\t\t# "{self.nodes[other][3]}" lid 1 {rate}\n')
            out.write("\n")


def director(d, name, leaves, spines, chips, trunk):
    """Boards and the links inside; the leaf chips."""
    system = 0xEC0D9A0300000000 + 65536 * (1 + sum(c.isdigit() and int(c) for c in name))
    leaf = [f"{name}/L{b:02d}/U{c}" for b in leaves for c in range(1, chips + 1)]
    spine = [f"{name}/S{b}/U1" for b in spines]
    for chip in leaf + spine:
        d.node(chip, "switch", "MF0;" + chip.replace("/", ":CS8500/", 1), system)
    for low in leaf:
        for up in spine:
            for _ in range(trunk):
                d.link(low, up)
    return leaf


def make(layout):
    d = Dump()
    boards = [b for b in range(1, 9) if layout != "partly" or b not in (5, 6)]
    chips = 2 if layout == "chips" else 1
    if layout == "spines":
        tops = [director(d, f"ib-core-{k}", boards, range(1, 5), 1, 3) for k in (1, 2)]
        for leaf in range(1, 13):
            d.node(f"leaf-{leaf:02d}", "switch", f"MF0;ib-leaf-{leaf:02d}:MQM8700/U1", 0)
            for host in range(16):
                server = f"gpu{16 * leaf + host:03d}"
                d.node(server, "host", f"{server} mlx5_0", 0)
                d.link(server, f"leaf-{leaf:02d}")
            for top in tops:
                for chip in top:
                    d.link(f"leaf-{leaf:02d}", chip)
    else:
        number = 0
        for chip in director(d, "ib-core-1", boards, range(1, 5), chips, 3):
            for _ in range(12):
                number += 1
                d.node(f"gpu{number:03d}", "host", f"gpu{number:03d} mlx5_0", 0)
                d.link(f"gpu{number:03d}", chip)
    return d


def change(d, text):
    what, *of = text.split(":")
    chip = [n for n in d.nodes if "/" in n]
    if what == "board":
        for n in [c for c in chip if c.startswith("ib-core-1/") and f"/{of[0]}/" in c]:
            del d.nodes[n]
        return
    first = lambda part: next(n for n in d.nodes if (f"ib-core-1/{part}/" in n if part[0] in "LS" else n == part))
    a, b = first(of[0]), first(of[1])
    k = next(i for i, x in enumerate(d.links) if {x[0], x[2]} == {a, b})
    if what == "slow":
        d.links[k] = d.links[k][:4] + ("2xHDR",)
    else:
        del d.links[k]


dump = make(sys.argv[1])
for text in sys.argv[2:]:
    change(dump, text)
dump.write(sys.stdout)
