"""Dumps of PyTorch's flight recorder as JSON, of a job that is simulated here, and what they must come to.

make(FOLDER, servers, per, seed, ...) writes a dump of each rank, and a log of NCCL where places are to be known; returns
the bytes that every GPU sends ({(src, dst): bytes} where rings are logged) and where ranks run."""
import collections
import json
import os
import random

SIZES = {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8, "Float8_e4m3fn": 1}


def simulate(ranks, groups, order, rng, late, noise, steps):
    """Times that every rank enters and leaves each collective: it leaves when the last has entered and the bytes are over."""
    now = [0.0] * ranks
    spans = {}
    for step in range(steps):
        for kind, compute, wire in order:
            for rank in range(ranks):
                now[rank] += compute * late.get(rank, 1.0) * (1 + noise * rng.gauss(0, 1))
            for number, (about, members) in enumerate(groups):
                if about == kind:
                    enter = {r: now[r] for r in members}
                    leave = max(enter.values()) + wire
                    for r in members:
                        spans.setdefault((number, r), []).append((enter[r], leave))
                        now[r] = leave
    return spans


def log_line(server, gpu, per, rank, n, pointer, comm_id):
    pid = 1000 + gpu
    return (f"server-{server}:{pid}:{pid * 10} [{gpu % per}] NCCL INFO ncclCommInitRank comm {pointer:#x} rank {rank} nranks {n} "
            f"cudaDev {gpu % per} nvmlDev {gpu % per} busId {0x1b000 + gpu % per:x} commId {comm_id:#x} - Init COMPLETE\n")


def make(folder, servers, per, seed, late=None, noise=0.002, steps=30, timing=True, log=False, rings=False, stuck=None, left=()):
    rng = random.Random(seed)
    ranks = servers * per
    os.makedirs(folder, exist_ok=True)
    shuffled = list(range(servers))
    if log:
        rng.shuffle(shuffled)
    gpu_of = [shuffled[r // per] * per + r % per for r in range(ranks)]
    groups = [("default_pg", list(range(ranks)))]
    groups += [("mesh_tp", list(range(s * per, (s + 1) * per))) for s in range(servers) if per > 1]
    groups += [("mesh_dp", list(range(i, ranks, per))) for i in range(per)]
    order = [("mesh_tp", 0.010, 0.001)] * (per > 1) + [("mesh_dp", 0.040, 0.004)]
    spans = simulate(ranks, groups, order, rng, late or {}, noise, steps)
    kinds = {"mesh_tp": ("all_reduce", "BFloat16"), "mesh_dp": (rng.choice(("_all_gather_base", "_reduce_scatter_base", "all_reduce")), "Float")}
    elements = {number: rng.randint(1000, 10 ** 6) * len(members) for number, (_, members) in enumerate(groups)}
    clock = [rng.uniform(-5, 5) for _ in range(ranks)]  # clocks of hosts differ: nothing may come of it
    config = {str(n): {"name": str(n), "desc": about, "ranks": json.dumps(members)} for n, (about, members) in enumerate(groups)}
    sent = collections.Counter()
    for rank in range(ranks):
        entries = []
        for number, (about, members) in enumerate(groups):
            if rank not in members or about not in kinds:
                continue
            name, dtype = kinds[about]
            whole, part = [[elements[number]]], [[elements[number] // len(members)]]
            for at, (enter, leave) in enumerate(spans[number, rank]):
                is_last = stuck is not None and about == "mesh_dp" and stuck in members and at == steps - 1
                if is_last and rank == stuck:
                    continue
                base = 1.7e9 + clock[rank]
                jitter = rng.uniform(0, 0.001) if not timing else 0
                entry = {
                    "collective_seq_id": at + 1, "input_dtypes": [dtype], "input_sizes": part if "gather" in name else whole,
                    "is_p2p": False, "op_id": at + 1, "output_dtypes": [dtype], "output_sizes": part if "scatter" in name else whole,
                    "p2p_seq_id": 0, "pg_id": number, "process_group": [str(number), about], "profiling_name": "nccl:" + name,
                    "record_id": len(entries), "retired": not is_last, "state": "started" if is_last else "completed",
                    "thread_id": "1", "thread_name": "python", "time_created_ns": int((base + enter - 0.001) * 1e9),
                    "time_discovered_completed_ns": 0 if is_last else int((base + leave + jitter) * 1e9),
                    "time_discovered_started_ns": int((base + enter + jitter) * 1e9) if not timing or is_last else 0, "timeout_ms": 600000}
                if timing and not is_last:
                    entry["duration_ms"] = 1e3 * (leave - enter)
                entries.append(entry)
        if rank in left:
            continue
        own = {key: value for key, value in config.items() if rank in groups[int(key)][1]}
        with open(f"{folder}/nccl_trace_rank_{rank}" + (".json" if rank % 2 else ""), "w", encoding="ascii") as out:
            json.dump({"comm_lib_version": "2.26.2", "entries": entries, "pg_config": own, "pg_status": {}, "version": "2.10"}, out,
                      sort_keys=True)
    shares = {"all_reduce": 2, "_all_gather_base": 1, "_reduce_scatter_base": 1}
    edges = collections.Counter()
    text = []
    for number, (about, members) in enumerate(groups):
        n = len(members)
        comm_id = rng.getrandbits(60)
        ring = list(range(n))
        rng.shuffle(ring)
        ring = ring[ring.index(0):] + ring[:ring.index(0)]
        total = 0.0
        if about in kinds:
            name, dtype = kinds[about]
            runs = max(len(spans[number, r]) for r in members) - (1 if stuck in members and about == "mesh_dp" and min(members) == stuck else 0)
            total = shares[name] * (n - 1) / n * elements[number] * SIZES[dtype] * runs
            for r in members:
                sent[gpu_of[r]] += total
        for i, r in enumerate(ring):
            gpu = gpu_of[members[r]]
            pid = 1000 + gpu
            before, behind = ring[i - 1], ring[(i + 1) % n]
            if rings and n > 1:
                text.append(f"server-{gpu // per}:{pid}:{pid * 10} [{gpu % per}] NCCL INFO Ring 00 : {before} -> {r} -> {behind}\n")
                edges[gpu, gpu_of[members[behind]]] += total
            text.append(log_line(gpu // per, gpu, per, r, n, 0x7f0000000000 + 4096 * (gpu * 100 + number), comm_id))
    if log:
        open(f"{folder}/job.log", "w", encoding="ascii").write("".join(text))
    return (edges if rings else sent), gpu_of
