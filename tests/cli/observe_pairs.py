"""Pairs of snapshots of counters, simulated without the program's routing: flows walk over forwarding tables, take a
random minimal path at every hop, or are split evenly over all of them; then a link slows the flows that cross it, a
host sends later, boxes are read at different moments, and tools print what ports have counted."""
import random
import subprocess


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


class Fabric:
    """Cables by the names that the program gives ends: adapters are "server-2 HCA-1"."""

    def __init__(self, program, design):
        self.program, self.design = program, design
        self.out = {}  # node: [(port, neighbour, port there)]
        for line in run(program, "build", design, "--format", "cables", "--quiet").splitlines()[1:]:
            a, a_port, b, b_port = line.split(",")[:4]
            self.out.setdefault(a, []).append((a_port, b, b_port))
            self.out.setdefault(b, []).append((b_port, a, a_port))
        self.adapters = sorted((n for n in self.out if " HCA-" in n), key=self.number)
        self.switches = [n for n in self.out if " HCA-" not in n]
        self.of_server = sum(n.startswith("server-0 ") for n in self.adapters)
        self.leaf = {n: self.out[n][0][1] for n in self.adapters}
        self.below = {}
        for n in self.adapters:
            self.below.setdefault(self.leaf[n], []).append(n)
        self.far = {}  # leaf: {switch: hops}

    @staticmethod
    def number(adapter):
        server, hca = adapter.split(" HCA-")
        return int(server.split("-")[1]), int(hca)

    def distances(self, leaf):
        if leaf not in self.far:
            hops, front = {leaf: 0}, [leaf]
            while front:
                behind = []
                for node in front:
                    for _, other, _ in self.out[node]:
                        if " HCA-" not in other and other not in hops:
                            hops[other] = hops[node] + 1
                            behind.append(other)
                front = behind
            self.far[leaf] = hops
        return self.far[leaf]

    def nearer(self, node, leaf):
        """Cables that lead nearer to a leaf."""
        hops = self.distances(leaf)
        return [c for c in self.out[node] if hops.get(c[1], 1 << 30) == hops[node] - 1]


def tables_of(program, design, engine, fabric):
    """Port by switch and destination adapter, from the program's dump of an engine's tables."""
    ports = {}
    for line in run(program, "route", design, "--engine", engine, "--dump", "-").splitlines():
        words = line.split()
        if len(words) > 2 and words[0] in fabric.out and words[1] in fabric.out:
            for i, adapter in enumerate(fabric.below[words[1]]):  # one port alone is that of all
                ports[words[0], adapter] = words[2 + i] if len(words) > 3 else words[2]
    return ports


def flows_of(program, design, fabric, engine, traffic):
    """(source adapter, destination adapter, bytes) of every flow that leaves its server."""
    flows = []
    text = run(program, "route", design, "--engine", engine, "--traffic", traffic, "--format", "flows", "--quiet")
    per = fabric.of_server
    for line in text.splitlines()[1:]:
        cells = line.split(",")
        src, dst, size = int(cells[3]), int(cells[4]), int(cells[6])
        if src // per != dst // per:
            flows.append((fabric.adapters[src], fabric.adapters[dst], size))
    return flows


def path_of(fabric, src, dst, choose):
    """Links as (tail, port) of one flow."""
    node, links = fabric.leaf[src], [(src, fabric.out[src][0][0])]
    while node != fabric.leaf[dst]:
        port, other, _ = choose(node, dst, fabric.nearer(node, fabric.leaf[dst]))
        links.append((node, port))
        node = other
    links.append((node, next(c[0] for c in fabric.out[node] if c[1] == dst)))
    return links


def shares_of(fabric, src, dst):
    """Links and shares of a flow that every switch splits evenly."""
    links, holds = [((src, fabric.out[src][0][0]), 1.0)], {fabric.leaf[src]: 1.0}
    leaf = fabric.leaf[dst]
    while leaf not in holds:
        behind = {}
        for node, share in holds.items():
            cables = fabric.nearer(node, leaf)
            for port, other, _ in cables:
                links.append(((node, port), share / len(cables)))
                behind[other] = behind.get(other, 0) + share / len(cables)
        holds = behind
    links.append(((leaf, next(c[0] for c in fabric.out[leaf] if c[1] == dst)), 1.0))
    return links


class Job:
    """Flows with their links: [(server of the source, bytes, [(link, share)])]."""

    def __init__(self, fabric, engine, traffic, seed):
        program, design = fabric.program, fabric.design
        draw = random.Random(seed)
        self.fabric, self.flows = fabric, []
        ports = tables_of(program, design, engine, fabric) if engine == "dmodk" else None
        known = {}
        for src, dst, size in flows_of(program, design, fabric, engine, traffic):
            if engine == "spray":
                links = known.setdefault((src, dst), None) or shares_of(fabric, src, dst)
                known[src, dst] = links
            elif engine == "dmodk":
                choose = lambda node, to, cables: next(c for c in cables if c[0] == ports[node, to])
                links = [(l, 1.0) for l in path_of(fabric, src, dst, choose)]
            else:
                links = [(l, 1.0) for l in path_of(fabric, src, dst, lambda node, to, cables: draw.choice(cables))]
            self.flows.append((src.split(" ")[0], size, links))

    def used(self):
        return sorted({link for _, _, links in self.flows for link, _ in links})

    def loads(self, slow=None, late=None, propagates=True):
        """Bytes of an iteration; slow: {link: factor}, late: {server: factor}."""
        out, slow, late = {}, slow or {}, late or {}
        for server, size, links in self.flows:
            factor = late.get(server, 1.0)
            if propagates:
                # what a slow link loses is what the flow sends less, weighted by the share that crosses it
                factor *= 1 - sum(share * (1 - slow[link]) for link, share in links if link in slow)
            for link, share in links:
                own = slow.get(link, 1.0) if not propagates else 1.0
                out[link] = out.get(link, 0) + size * share * factor * own
        return out


def snapshots(job, seed, iterations=40.0, skew=0.002, noise=0.0005, background=2e-6, seconds=10.0, tails=False, **what):
    """Two snapshots {(node, port): [sent, received, wait]} of all ports. skew: spread of the moments of reading over
    the interval; noise: of every count by itself; tails: of a Laplace distribution."""
    draw = random.Random(f"pair {seed}")
    fabric, loads = job.fabric, job.loads(**what)
    usual = max(loads.values()) if loads else 1

    def spread(width):
        if tails:
            return width / 2 ** 0.5 * draw.expovariate(1) * draw.choice((-1, 1))
        return draw.gauss(0, width)

    boxes = {}
    for node in fabric.out:
        boxes.setdefault(node.split(" ")[0], 1 + spread(skew))
    before, after = {}, {}
    for node, cables in fabric.out.items():
        for port, other, other_port in cables:
            moment = boxes[node.split(" ")[0]]
            sent = iterations * loads.get((node, port), 0)
            got = iterations * loads.get((other, other_port), 0)
            counts = []
            for amount, end in ((sent, (node, port)), (got, (other, other_port))):
                # what management sends is the same at both ends
                more = background * usual * iterations * random.Random(f"{seed} {end}").random()
                counts.append(max(0, int((amount + more) * moment * (1 + spread(noise)))))
            first = [draw.randrange(1 << 44), draw.randrange(1 << 44), draw.randrange(1 << 30)]
            wait = int(1e4 * draw.expovariate(1))
            before[node, port] = first
            after[node, port] = [first[0] + counts[0] // 4 * 4, first[1] + counts[1] // 4 * 4, first[2] + wait]
    return before, after


def write_csv(path, ports, time_s=None):
    with open(path, "w", encoding="ascii") as out:
        out.write("node,port,sent_bytes,received_bytes,xmit_wait" + (",time_s\n" if time_s is not None else "\n"))
        for (node, port), counts in ports.items():
            cells = [node, port, *counts] + ([time_s] if time_s is not None else [])
            out.write(",".join(map(str, cells)) + "\n")


def write_prometheus(path, ports):
    names = ("transmit_data_bytes", "receive_data_bytes", "transmit_wait")
    with open(path, "w", encoding="ascii") as out:
        for i, name in enumerate(names):
            for kind in ("switch", "hca"):
                out.write(f"# TYPE infiniband_{kind}_port_{name}_total counter\n")
                for (node, port), counts in ports.items():
                    if (" HCA-" in node) == (kind == "hca"):
                        out.write(f'infiniband_{kind}_port_{name}_total{{{kind}="{node}",port="{port}"}} '
                                  f"{float(counts[i])!r}\n")
