"""Logs as NCCL prints them, of communicators and rings that are drawn, and the flows that they mean, found from the draw and
not from the log. Usage: nccl_logs.py OUT SERVERS GPUS_PER_SERVER SEED KIND
KIND: coll (collectives are logged), one (one communicator, none is), cut (long rings are cut off; every rank says its next),
files (a folder with a file for each process), nics (rings go through other adapters than those of their ranks)"""
import collections
import os
import random
import sys

out, servers, per, seed, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
rng = random.Random(seed)
SIZES = [1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1]
gpus = list(range(servers * per))
shuffled = list(range(servers))
rng.shuffle(shuffled)
world = [s * per + g for s in shuffled for g in range(per)]
groups = [world] if kind == "one" else [world] + [world[i::per] for i in range(per)]
lines = collections.defaultdict(list)  # of a process, in its order
flows = collections.Counter()
PREFIX = ["", "[1,3]<stdout>:", "2024-05-01T10:00:00 "]


def say(gpu, thread, text):
    pid = 1000 + gpu
    prefix = PREFIX[gpu % 3] if kind != "files" else ""
    lines[gpu].append(f"{prefix}server-{gpu // per}{'.site.example' if False else ''}:{pid}:{pid if thread == 0 else pid * 10 + thread} [{gpu % per}] NCCL INFO {text}")


for gpu in gpus:
    say(gpu, 0, "cudaDriverVersion 12040")
    say(gpu, 0, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB ib0:10.0.0.1<0>")
for c, members in enumerate(groups):
    n = len(members)
    comm_id = rng.getrandbits(60)
    n_channels = rng.choice([1, 2, 4])
    pointer = {g: 0x7f0000000000 + 4096 * (g * 100 + c) for g in members}
    edges = []
    for channel in range(n_channels):
        order = list(range(n))
        if kind != "files":
            rng.shuffle(order)
        where = order.index(0)
        order = order[where:] + order[:where]
        shown = order[:n // 2] if kind == "cut" and n > 3 else order
        say(members[0], c + 1, f"Channel {channel:02d}/{n_channels:02d} : " + " ".join(f"{r:4d}" for r in shown))
        for i, r in enumerate(order):
            previous, following = order[i - 1], order[(i + 1) % n]
            if kind in ("cut", "coll") or rng.random() < 0.3:
                say(members[r], c + 1, f"Ring {channel:02d} : {previous} -> {r} -> {following}")
            say(members[r], c + 1, f"Trees [{channel}] 1/-1/-1->{r}->-1")
            a, b = members[r], members[following]
            if a // per == b // per:
                say(a, c + 1, f"Channel {channel:02d}/0 : {r}[{a % per}] -> {following}[{b % per}] via P2P/CUMEM")
                edges.append((a, b))
                continue
            by = [g % per if kind != "nics" else rng.randrange(per) for g in (a, b)]
            say(a, c + 1, f"Channel {channel:02d}/0 : {r}[{a % per}] -> {following}[{b % per}] [send] via NET/IB/{by[0]}/GDRDMA")
            say(b, c + 1, f"Channel {channel:02d}/0 : {r}[{a % per}] -> {following}[{b % per}] [receive] via NET/IB/{by[1]}/GDRDMA")
            edges.append((a // per * per + by[0], b // per * per + by[1]))
            # An edge of a tree, which no ring has.
            say(a, c + 1, f"Channel {channel:02d}/0 : {r}[{a % per}] -> {previous}[0] [send] via NET/IB/0/GDRDMA")
    for r, g in enumerate(members):
        say(g, c + 1, f"ncclCommInitRank comm {pointer[g]:#x} rank {r} nranks {n} cudaDev {0 if kind == 'coll' else g % per} nvmlDev {g % per} busId {0x1b000 + g % per:x} commId {comm_id:#x} - Init COMPLETE")
    total = 0.0
    for _ in range(rng.randint(1, 3) if kind != "one" else 0):
        name, count, kind_of = rng.choice(["AllReduce", "AllGather", "ReduceScatter", "Broadcast"]), rng.randint(1, 10 ** 6), rng.randrange(10)
        size = count * SIZES[kind_of]
        total += {"AllReduce": 2 * (n - 1) / n * size, "AllGather": (n - 1) * size, "ReduceScatter": (n - 1) * size, "Broadcast": size}[name]
        for r, g in enumerate(members):
            say(g, 0, f"{name}: opCount 1f sendbuff 0x7f00 recvbuff 0x7f10 count {count} datatype {kind_of} op 0 root 0 comm {pointer[g]:#x} [nranks={n}] stream 0x55aa")
    if kind == "one":
        total = 1e9
    for a, b in edges:
        flows[a, b] += total / n_channels if a != b else 0
    if kind != "one" and n > 1:
        r, peer, count = 0, n - 1, rng.randint(1, 10 ** 6)
        say(members[r], 0, f"Send: opCount 20 sendbuff 0x7f00 recvbuff (nil) count {count} datatype 7 op 0 root {peer} comm {pointer[members[r]]:#x} [nranks={n}] stream 0x1")
        say(members[peer], 0, f"Recv: opCount 20 sendbuff (nil) recvbuff 0x7f00 count {count} datatype 7 op 0 root {r} comm {pointer[members[peer]]:#x} [nranks={n}] stream 0x1")
        flows[members[r], members[peer]] += 4 * count
if kind == "files":
    os.makedirs(out)
    for gpu in gpus:
        open(f"{out}/server-{gpu // per}.{1000 + gpu}.log", "w").write("\n".join(lines[gpu]) + "\n")
else:
    with open(out, "w") as file:  # processes take turns, each in its own order
        at = {g: 0 for g in gpus}
        left = [g for g in gpus for _ in lines[g]]
        rng.shuffle(left)
        for g in left:
            file.write(lines[g][at[g]] + "\n")
            at[g] += 1
        file.write("step 12 loss 2.31\n")
with open(out + ".flows", "w") as file:
    for (a, b), size in sorted(flows.items()):
        file.write(f"{a} {b} {size!r}\n")
