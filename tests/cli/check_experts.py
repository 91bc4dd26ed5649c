"""The exchange of experts with one copy for every domain, beside what DeepEP measured, and bytes against tokens that are
drawn one by one.

Usage: check_experts.py PROGRAM. H800: 4,096 tokens of a rank, hidden 7,168, 256 experts, 8 of a token in at most 4
domains; FP8 there, BF16 back (deepseek-ai/DeepEP@dd758ca docs/legacy.md). Bandwidths count what a rank sends to domains
(of one domain: to GPUs), its own among them, as that source does.
"""
import json
import random
import subprocess
import sys

program = sys.argv[1]
# ranks -> GB/s of dispatch and combine
MEASURED = {8: (153, 158), 16: (43, 43), 32: (58, 57), 64: (51, 50)}
TOKENS, HIDDEN, EXPERTS, TOP, GROUPS = 4096, 7168, 256, 8, 4
# Two constants: what one node reaches, less what stays on its GPU (158 x 7/8), and the part of a NIC's rate that the
# program takes everywhere else.
SCALE_UP, NIC = 138, 0.82


def run(ranks, width):
    text = subprocess.run(
        [program, "route", f"rail-spine:gpus={ranks},domain-rate={SCALE_UP}GB/s,nic-efficiency={NIC}", "--engine", "spray",
         "--traffic", "job:ep-" + ("dispatch" if width == 1 else "combine"), "--json", "--quiet", "--job",
         f"layers=1,hidden={HIDDEN},heads=64,seq={TOKENS},vocab=1024,ffn=2048,experts={EXPERTS},top-k={TOP},expert-ffn=2048,"
         f"tp=1,pp=1,ep={ranks},batch={ranks},expert-exchange=hierarchical,expert-groups={GROUPS},dispatch-bytes={width},"
         "memory-check=off,gpu=h100-80gb"], capture_output=True, check=True, text=True).stdout
    return json.loads(text)["phases"][0]


def draw(ranks, rng, n):
    """Mean domains and GPUs that a token visits."""
    domains = max(ranks // 8, 1)
    per_domain, per_gpu = EXPERTS // domains, EXPERTS // ranks
    sums = [0, 0]
    for _ in range(n):
        open_ = rng.sample(range(domains), min(GROUPS, domains))
        experts = rng.sample([d * per_domain + i for d in open_ for i in range(per_domain)], TOP)
        sums[0] += len({e // per_domain for e in experts})
        sums[1] += len({e // per_gpu for e in experts})
    return sums[0] / n, sums[1] / n


rng = random.Random(1)
print("| ranks | | measured, GB/s | ours, GB/s | off |\n|---:|---|---:|---:|---:|")
worst = 0
for ranks, measured in MEASURED.items():
    visited, gpus = draw(ranks, rng, 20000)
    domains = ranks // 8
    for width, what, rate in ((1, "dispatch", measured[0]), (2, "combine", measured[1])):
        phase = run(ranks, width)
        one = phase["engines"][0]["time_s"] / phase["executions"]
        token = HIDDEN * width
        # across: to the other domains; inside: from the place of every domain to the seven others
        sent = ranks * TOKENS * token * (visited * (domains - 1) / domains + gpus * 7 / 8)
        assert abs(phase["bytes"] / phase["executions"] / sent - 1) < 0.01, (ranks, phase["bytes"] / phase["executions"], sent)
        counted = TOKENS * token * (visited if domains > 1 else gpus)
        ours = counted / one / 1e9
        off = ours / rate - 1
        worst = max(worst, abs(off))
        print(f"| {ranks} | {what} | {rate} | {ours:.1f} | {100 * off:+.1f} % |")
assert worst < 0.15, worst
direct = subprocess.run([program, "route", "rail-spine:gpus=64", "--traffic", "job:ep-dispatch", "--json", "--quiet", "--job",
                         f"layers=1,hidden={HIDDEN},heads=64,seq=64,vocab=1024,ffn=2048,experts=256,top-k=8,expert-ffn=2048,tp=1,pp=1,ep=64,"
                         "batch=64,memory-check=off"], capture_output=True, check=True, text=True).stdout
whole = json.loads(direct)["phases"][0]
assert abs(whole["bytes"] - 2 * 64 * 64 * 8 * HIDDEN * 2 * 63 / 64) < 1e-6 * whole["bytes"]
