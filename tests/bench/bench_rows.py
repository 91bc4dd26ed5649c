"""What scripts/bench measures: a line per row. Names are unique: scripts/bench --compare finds rows by them."""

from collections import namedtuple

SMALL = "rail-spine:gpus=1024,radix=64"
MEDIUM = "rail-spine:gpus=16384,radix=64"
LARGE = "rail-spine:gpus=65536,radix=64"
HUGE = "rail-spine:gpus=1048576,radix=64"
LLAMA = "preset:llama3-24k-roce"  # a job on 16,384 of its GPUs

# Whole runs: targets of processor seconds (None: no target) and of MiB, units of work and their name, arguments.
# A build reads the design, makes and checks the graph, counts it, prices it and cuts it in two; its cables are those of
# the network and those inside the servers. An export is a build and the graph on stdout, which here goes nowhere.
Run = namedtuple("Run", "name cpu_target_s peak_target_mib units unit arguments")
RUNS = [
    Run("run llama3-24k, 1 thread", 2, 1024, 24576, "GPU", f"run {LLAMA} --threads 1"),
    Run("run llama3-24k", 2, 1024, 24576, "GPU", f"run {LLAMA}"),
    Run("build 65,536 GPUs", 0.2, 150, 327680, "cable", f"build {LARGE}"),
    Run("build 1,048,576 GPUs", 3, 2500, 6291456, "cable", f"build {HUGE}"),
    Run("export 65,536 GPUs, graphml", 2, 64, 327680, "cable", f"build {LARGE} --format graphml"),
    Run("export 65,536 GPUs, yed", 2, 64, 327680, "cable", f"build {LARGE} --format yed"),
    Run("export 65,536 GPUs, gexf", 2, 64, 327680, "cable", f"build {LARGE} --format gexf"),
    Run("export 65,536 GPUs, dot", 2, 64, 327680, "cable", f"build {LARGE} --format dot"),
    Run("export 65,536 GPUs, svg whole", 2, 64, 327680, "cable", f"build {LARGE} --format svg --view whole"),
    Run("export 65,536 GPUs, svg", 2, 64, 327680, "cable", f"build {LARGE} --format svg"),
    Run("route, 20 seeds, 16 qp", 30, 1024, 7864320, "path", f"route {LLAMA} --traffic job:dp-rs --seeds 20"),
    Run("iteration, 16,384 GPUs, 3 engines", 5, 1536, 16384, "GPU", f"run {MEDIUM},taper=2 --job model=gpt-1t,tp=8,pp=16,sharded=yes --engine ecmp --engine adaptive --engine spray"),
    Run("all-to-all 16,384, dmodk", 3, 1024, 268419072, "flow", f"route {MEDIUM} --traffic pattern:all-to-all --engine dmodk"),
    Run("all-to-all 16,384, ecmp", None, 1024, 268419072, "flow", f"route {MEDIUM} --traffic pattern:all-to-all --engine ecmp"),
    Run("run llama3-24k, lossless queues", 30, 1024, 24576, "GPU", f"run {LLAMA} --transport pfc"),
    Run("lossless queues, 16,384 flows, 1 thread", 2, 512, 16384, "flow", "route clos:gpus=16384,radix=64,tiers=3 --traffic pattern:permutation,bytes=10MiB --transport pfc --threads 1"),
    Run("lossless queues, 131,072 flows, 1 thread", 20, 2048, 131072, "flow", "route clos:gpus=131072,radix=128,tiers=3 --traffic pattern:permutation,bytes=10MiB --transport pfc --threads 1"),
    Run("senders by DCQCN, 16,384 flows, 1 thread", None, 512, 16384, "flow", "route clos:gpus=16384,radix=64,tiers=3 --traffic pattern:permutation,bytes=10MiB --transport dcqcn --threads 1"),
    Run("sprayed packets, 16,384 flows, 1 thread", 2, 512, 16384, "flow", "route clos:gpus=16384,radix=64,tiers=3 --traffic pattern:permutation,bytes=10MiB --transport spray-ack --threads 1"),
    Run("sprayed packets, 131,072 flows, 1 thread", 20, 4096, 131072, "flow", "route clos:gpus=131072,radix=128,tiers=3 --traffic pattern:permutation,bytes=10MiB --transport spray-ack --threads 1"),
    Run("all-to-all 65,536, spray", None, 1024, 4294901760, "flow", f"route {LARGE} --traffic pattern:all-to-all --engine spray"),
    Run("ranking 65,536, rail-only, ecmp", 8, 1024, 65536, "GPU", "run rail-only:gpus=65536 --job kind=ranking,table-sharding=tables,table-group=512,memory-check=off --engine ecmp"),
]

# Parts of a run, alone; processor time of one thread: target (None: none) and what it limits (s, ns per unit, or the MiB
# that the result keeps), measuring program beside ours, design, and row of it.
Part = namedtuple("Part", "name target what tool design row")
PARTS = [
    Part("next-hop tables, 65,536", 0.15, "s", "bench_routing", LARGE, "tables"),
    Part("next-hop tables, 65,536, 1 % dead", 0.15, "s", "bench_routing", LARGE, "tables-dead-1pct"),
    Part("next-hop tables, 65,536, 1 % dead, memory", 16, "MiB", "bench_routing", LARGE, "tables-dead-1pct"),
    Part("walk, ecmp, 16,384 GPUs", 5, "ns", "bench_routing", MEDIUM, "steps-ecmp"),
    Part("walk, dmodk, 16,384 GPUs", 5, "ns", "bench_routing", MEDIUM, "steps-dmodk"),
    Part("walk, ecmp, 65,536 GPUs", 5, "ns", "bench_routing", LARGE, "steps-ecmp"),
    Part("walk, dmodk, 65,536 GPUs", 5, "ns", "bench_routing", LARGE, "steps-dmodk"),
    Part("all-to-all 16,384 counted, ecmp", 8, "s", "bench_routing", MEDIUM, "count-all-ecmp"),
    Part("spray of all leaf pairs, 65,536", 0.15, "s", "bench_split", LARGE, "load-equal"),
    Part("spray of all leaf pairs, 65,536, 1 % dead", 0.15, "s", "bench_split", LARGE, "load-equal-dead-1pct"),
    Part("failures, 4 links, modulo, 16,384", 100000, "ns", "bench_failures", MEDIUM, "modulo"),
    Part("failures, resilient", 12500, "ns", "bench_failures", MEDIUM, "resilient"),
    Part("failures, D-mod-K", None, "ns", "bench_failures", MEDIUM, "tables-dmodk"),
    Part("failures, before switches react", None, "ns", "bench_failures", MEDIUM, "failed"),
    Part("failures, modulo, everything anew", None, "ns", "bench_failures", MEDIUM, "modulo-anew"),
    Part("store of studies, written", None, "ns", "bench_store", MEDIUM, "write"),
    Part("store of studies, 1 thread", None, "ns", "bench_store", MEDIUM, "run-1-thread"),
    Part("store of studies, 2 threads", None, "ns", "bench_store", MEDIUM, "run-2-threads"),
    Part("store of studies, gathered", None, "ns", "bench_store", MEDIUM, "gather"),
    Part("store of studies, the worst", None, "ns", "bench_store", MEDIUM, "query-worst"),
    Part("store of studies, by component", None, "ns", "bench_store", MEDIUM, "query-components"),
    Part("summary of a million scenarios", 2, "s", "bench_summary", MEDIUM, "summary"),
    Part("summary, all of them as CSV", None, "ns", "bench_summary", MEDIUM, "csv"),
    Part("scenario of a job, loads", None, "ns", "bench_assess", LLAMA, "loads"),
    Part("scenario of a job, times, ecmp", None, "ns", "bench_assess", LLAMA, "times"),
    Part("scenario of a job, times, dmodk", None, "ns", "bench_assess", LLAMA, "times-dmodk"),
    Part("scenario of a job, times, spray", None, "ns", "bench_assess", LLAMA, "times-spray"),
    Part("history of a job, 54 days", None, "ns", "bench_assess", LLAMA, "history"),
    Part("spare for a dead server, ecmp", None, "ns", "bench_relocate", MEDIUM, "spare-ecmp"),
    Part("spare for a dead server, pinned", None, "ns", "bench_relocate", MEDIUM, "spare-pinned"),
    Part("spares for four servers, ecmp", None, "ns", "bench_relocate", MEDIUM, "four-servers-ecmp"),
    Part("max-min, 1M flows", 20, "ns", "bench_rates", LARGE, "max-min"),
    Part("max-min, 1M flows, memory not yet touched", None, "ns", "bench_rates", LARGE, "max-min-first"),
    Part("phase of 65,536 equal flows", 0.1, "s", "bench_rates", LARGE, "equal-ecmp"),
    Part("bound, permutation, 16,384", 0.4, "s", "bench_bound", MEDIUM, "permutation"),
    Part("bound, permutation, 16,384, 1 % dead", 0.4, "s", "bench_bound", MEDIUM, "permutation-dead-1pct"),
    Part("bound, permutation, 65,536", 8, "s", "bench_bound", LARGE, "permutation"),
    Part("bound, permutation, 65,536, 1 % dead", 8, "s", "bench_bound", LARGE, "permutation-dead-1pct"),
]

# Pages in a browser, and the program in them: target, its unit, and the row of page.mjs, which says what it is. Wall time
# but for "open", "answer" and knobs: compare on an idle machine.
Page = namedtuple("Page", "name target unit row")
PAGES = [
    Page("page, the packed program", 3, "MB", "core"),
    Page("page, first view, 24,576 GPUs", 1, "s", "view-24576"),
    Page("page, a frame while panning, 24,576 GPUs", 16.7, "ms", "pan-24576"),
    Page("page, longest frame while panning, 24,576 GPUs", 16.7, "ms", "longest-24576"),
    Page("page, a part breaks, 1,024 GPUs", 0.1, "s", "ask-1024"),
    Page("page, a part breaks, 24,576 GPUs", 1, "s", "ask-24576"),
    Page("page, answer in WebAssembly, 1,024 GPUs", 0.1, "s", "answer-1024"),
    Page("page, answer in WebAssembly, 24,576 GPUs", 1, "s", "answer-24576"),
    Page("page, job opened in WebAssembly, 1,024 GPUs", None, "s", "open-1024"),
    Page("page, job opened in WebAssembly, 24,576 GPUs", None, "s", "open-24576"),
    Page("page, taper turned in WebAssembly, 1,024 GPUs", 0.1, "s", "taper-1024"),
    Page("page, 4 queue pairs in WebAssembly, 1,024 GPUs", 0.1, "s", "qp-1024"),
    Page("page, placement in WebAssembly, 1,024 GPUs", 0.1, "s", "placement-1024"),
    Page("page, adaptive routing in WebAssembly, 1,024 GPUs", 0.1, "s", "adaptive-1024"),
    Page("page, taper turned in WebAssembly, 24,576 GPUs", 1, "s", "taper-24576"),
    Page("page, radix turned in WebAssembly, 24,576 GPUs", 1, "s", "radix-24576"),
    Page("page, 4 queue pairs in WebAssembly, 24,576 GPUs", 1, "s", "qp-24576"),
    Page("page, D-mod-K in WebAssembly, 24,576 GPUs", 1, "s", "dmodk-24576"),
    Page("page, spraying in WebAssembly, 24,576 GPUs", 1, "s", "spray-24576"),
    Page("page, placement in WebAssembly, 24,576 GPUs", 1, "s", "placement-24576"),
    Page("page, adaptive routing in WebAssembly, 24,576 GPUs", 1, "s", "adaptive-24576"),
]

# How a job grows: largest number of GPUs that it is tried on, and arguments, with a design in place of {}; or a measuring
# program and its row.
Growth = namedtuple("Growth", "name largest arguments")
GROWTH_GPUS = [1024, 4096, 16384, 65536, 262144, 1048576]
GROWTH_DESIGN = "rail-spine:gpus=%d,radix=64"
GROWTH = [
    Growth("build", 1048576, "build {}"),
    Growth("route ecmp", 1048576, "route {} --traffic pattern:permutation --engine ecmp"),
    Growth("max-min, 16 flows per GPU", 262144, "bench_rates {} max-min"),
    Growth("spray", 1048576, "route {} --traffic pattern:permutation --engine spray"),
    Growth("export graphml", 1048576, "build {} --format graphml"),
]

# Beside peers: times that we are to be faster (None: no target), our arguments, @ = a folder for output, or a measuring
# program beside ours, its design and row; what ours did; script of the peer and its arguments. One GPU and NIC per
# server, so that every flow is in the network. Rows with the same peer share its measurements.
Peer = namedtuple("Peer", "name target arguments did call")


def peers(quick):
    tree = "fat-tree:k=24,gpus-per-server=1"
    big = f"fat-tree:k={16 if quick else 32},gpus-per-server=1"
    xgft = "3;32,32,16;1,32,32;1,1,1"
    random = "3;8,8,8;1,8,8;1,1,1" if quick else "3;16,16,16;1,16,16;1,1,1"  # 10,000 flows
    shift = "--traffic pattern:shift,by=1 --engine dmodk"
    permutation = "--traffic pattern:permutation"
    whole = "the whole program: builds and checks the fabric"
    writes = f"{whole}, writes the forwarding tables of every switch for every host as text (7 MB), routes a shift by them, reports"
    memory = "from a fabric that stands: the next hops of every switch for every leaf, then by D-mod-K the out port of every switch for every host, in memory"
    hashes = f"{whole}, hashes every flow to a shortest path, loads, collisions, reports"
    ends = "from the text of the design: builds and checks the fabric, routes every flow, runs them to the end, every solution of rates checked; no report"
    digits = f"{whole}, routes every flow, loads, collisions, rates, reports"
    return [
        Peer("opensm ftree, tables written", None, f"route {tree} {shift} --dump @/tables --force", writes, ["peer_opensm.sh", tree, "ftree"]),
        Peer("opensm ftree, in memory", 100, f"bench_routing {tree} entries-dmodk", memory, ["peer_opensm.sh", tree, "ftree"]),
        Peer("opensm minhop, tables written", None, f"route {tree} {shift} --dump @/tables --force", writes, ["peer_opensm.sh", tree, "minhop"]),
        Peer("opensm minhop, in memory", 100, f"bench_routing {tree} entries-dmodk", memory, ["peer_opensm.sh", tree, "minhop"]),
        Peer("networkx, ECMP", None if quick else 1000, f"route {big} {permutation} --engine ecmp", hashes, ["peer_networkx.py", big, "host"]),
        Peer("networkx, ECMP, per leaf", None, f"route {big} {permutation} --engine ecmp", hashes, ["peer_networkx.py", big, "leaf"]),
        Peer("simgrid, D-mod-K", None, f"route fat-tree:xgft={xgft},gpus-per-server=1 {permutation} --engine dmodk", digits, ["peer_simgrid.sh", xgft]),
        Peer("simgrid, permutation to the end", 10, f"bench_rates fat-tree:xgft={xgft},gpus-per-server=1 whole-permutation", ends, ["peer_simgrid_finish.sh", xgft, "whole-permutation"]),
        Peer("simgrid, random flows to the end", 15, f"bench_rates fat-tree:xgft={random},gpus-per-server=1 whole-random", ends, ["peer_simgrid_finish.sh", random, "whole-random"]),
    ]


def tools():
    """Measuring programs that any row needs."""
    named = {part.tool for part in PARTS}
    named |= {row.arguments.split()[0] for row in GROWTH + peers(False)}
    return sorted(name for name in named if name.startswith("bench_"))
