"""Times of serving against a roofline that is written down here: sizes of the model, data sheet, phases of the report.

Usage: check_serving.py PROGRAM. Nothing is known here of tiles and small kernels, so that a GPU takes at least as long.
"""
import json
import re
import subprocess
import sys

NVLINK = {"h100-80gb": 450, "a100-80gb": 300}
GPU = {"h100-80gb": (989e12, 3.35e12), "a100-80gb": (312e12, 2.039e12)}
# layers, hidden, heads, kv heads, ffn, vocabulary, matrices of a feed-forward part
MODEL = {"llama3-70b": (80, 8192, 64, 8, 28672, 128256, 3), "gpt-18.4b": (40, 6144, 48, 48, 24576, 51200, 2)}


def run(program, *arguments):
    return json.loads(subprocess.run([program, *arguments, "--json", "--quiet"], capture_output=True, check=True).stdout)


def check(program, gpu, model, tp, pp, dp, batch, prompt, tokens, fabric):
    report = run(program, "run", fabric, "--engine", "spray", "--job",
                 f"kind=serving,model={model},gpu={gpu},tp={tp},pp={pp},batch={batch},prompt={prompt},tokens={tokens},microbatch=1")
    s = report["serving"][0]
    flops, memory = GPU[gpu]
    layers, h, heads, kv_heads, ffn, vocab, matrices = MODEL[model]
    kv = h // heads * kv_heads
    weights = h * (2 * h + 2 * kv) + matrices * h * ffn  # of a layer
    rows = batch // dp

    def layer(sequences, length):
        n = sequences * length
        products = max(2 * n * weights / flops, 2 * weights / memory)
        return (products + sequences * length * length * 2 * h / flops) / tp

    # --- what must be read for a token, whatever else happens ---
    cache = rows * (prompt + tokens / 2) * 2 * kv * 2 * layers / min(tp, kv_heads) / memory  # a head is not split
    read = layers * 2 * weights / tp / memory
    assert s["cache_s"] >= cache * (1 - 1e-6) and s["cache_s"] < 1.5 * cache, (s["cache_s"], cache)
    assert s["weights_s"] >= read and s["weights_s"] < 1.6 * read, (s["weights_s"], read)
    assert s["token_s"] >= s["token_network_s"] + s["cache_s"] + read
    kernels = s["token_s"] - s["token_network_s"]
    bound = layers * layer(rows, 1) + cache
    assert bound < kernels < (2 if tp <= 8 else 2.5) * bound, (kernels, bound)  # thin matrices leave multiprocessors idle
    kernels = s["first_token_s"] - s["first_token_network_s"]
    bound = layers * layer(1, prompt)
    assert bound < kernels < (2.2 if tp <= 8 else 2.6) * bound, (kernels, bound)  # norms are not split

    # --- the network's part: all-reduces inside a domain as nccl-tests would have them, else the times of the phases ---
    phases = {p["name"]: p["engines"][0]["time_s"] for p in report["phases"]}
    if tp <= 8:
        size = rows * h * 2
        alone = run(program, "busbw", f"clos:gpus={tp},gpus-per-server={tp}", "--set", f"fabric.domain-rate={NVLINK[gpu]}GB/s", "--job", f"gpu={gpu}",
                    "--bytes", f"{size}B")["busbw"]["rows"][0]["time_s"]
        assert abs(s["all_reduce_s"] / alone - 1) < 1e-9, (s["all_reduce_s"], alone)
        per_token = 2 * layers * alone
        hops = phases.get("decode-pp", 0) * (pp - 1) / tokens
        assert per_token + hops <= s["token_network_s"] * (1 + 1e-9) and s["token_network_s"] <= per_token + 1.5 * hops + 1e-12, (per_token, hops, s)
    else:  # two domains: bytes over the NICs, and at least the launch and the steps of a tree
        assert s["all_reduce_s"] > 24e-6 + rows * h * 2 / 8 / 50e9 and s["all_reduce_s"] < 200e-6, s["all_reduce_s"]
        assert abs(s["token_network_s"] / (2 * layers * s["all_reduce_s"]) - 1) < 1e-9

    # --- requests at random: what can be served, and waits that are no less than what takes so long alone ---
    most = dp / (s["first_token_s"] + (tokens - 1) * s["token_s"] / rows)
    assert abs(s["most_requests_per_s"] / most - 1) < 1e-9, (s["most_requests_per_s"], most)
    assert abs(s["arrivals_per_s"] / (0.7 * most) - 1) < 1e-9
    assert s["first_token_s"] <= s["first_token_p50_s"] * (1 + 1e-9) and s["first_token_p50_s"] <= s["first_token_p99_s"]
    assert s["token_p50_s"] <= s["token_p99_s"]

    # --- and they add up ---
    requests = batch / s["batch_s"]
    assert abs(s["requests_per_s"] / requests - 1) < 1e-9
    assert abs(s["tokens_per_s"] / (requests * tokens) - 1) < 1e-9
    assert s["batch_s"] >= s["first_token_s"] + tokens * s["token_s"] * (1 - 1e-12)
    microbatches = rows
    assert s["batch_s"] <= microbatches * s["first_token_s"] + tokens * s["token_s"] * (1 + 1e-12)
    return s


program = sys.argv[1]
base = check(program, "h100-80gb", "llama3-70b", 8, 1, 4, 64, 2048, 128, "rail-spine:gpus=32")
more = check(program, "h100-80gb", "llama3-70b", 8, 1, 4, 128, 2048, 128, "rail-spine:gpus=32")
wide = check(program, "h100-80gb", "llama3-70b", 16, 1, 2, 32, 1024, 64, "rail-spine:gpus=32")
check(program, "h100-80gb", "llama3-70b", 4, 2, 4, 64, 2048, 128, "rail-spine:gpus=32")
check(program, "a100-80gb", "gpt-18.4b", 4, 1, 8, 64, 512, 32, "clos:gpus=32,radix=16,taper=3")
assert more["tokens_per_s"] > base["tokens_per_s"] and more["token_s"] > base["token_s"], "batching"
assert wide["token_network_s"] > base["token_network_s"], "beyond a domain the network is slower"

# --- two pools: the same tokens, keys and values between them once ---
report = run(program, "run", "rail-spine:gpus=64", "--engine", "spray", "--job",
             "kind=serving,model=llama3-70b,tp=8,batch=120,prompt=1024,tokens=128,prefill-replicas=3,request-rate=5")
s = report["serving"][0]
phases = {p["name"]: p for p in report["phases"]}
assert phases["kv-transfer"]["bytes"] == 120 * 1024 * 2 * 128 * 8 * 2 * 80, phases["kv-transfer"]["bytes"]  # prompts x tokens x keys and values
assert phases["kv-transfer"]["flows"] == 8 * 3 * 5 and phases["prefill"]["flows"] == 24 and phases["decode"]["flows"] == 40
nic = 50e9 * 0.82  # what is delivered of it, about
assert 0.9 < s["kv_transfer_s"] / (1024 * 2 * 128 * 2 * 80 / nic) < 1.3, s["kv_transfer_s"]  # of a GPU, one prompt at a time
assert s["arrivals_per_s"] == 5 and s["first_token_p50_s"] >= s["first_token_s"] * (1 - 1e-9)
assert s["token_p50_s"] >= s["kv_transfer_s"] / 127
full = run(program, "run", "rail-spine:gpus=64", "--engine", "spray", "--job",
           "kind=serving,model=llama3-70b,tp=8,batch=64,prompt=1024,tokens=128,request-rate=100000")["serving"][0]
assert "arrivals_per_s" not in full and "first_token_p99_s" not in full

# --- servers that die: the replicas that are left serve what a job on as many servers does ---
SERVED = "kind=serving,model=llama3-70b,prompt=1024,tokens=128"


def failed(fabric, job, *dead):
    servers = [word for server in dead for word in ("--fail", f"server-{server}")]
    report = run(program, "run", fabric, "--engine", "spray", "--job", f"{SERVED},{job}", *servers)
    return report["serving"][0], [p["serving"] for p in report["failures"]["engines"][0]["policies"]]


# tp, dp, batch of a replica, servers of one: 7, 5 and 1 of 8 on their own servers; two servers to a replica
for tp, dp, dead, gone in ((8, 8, (3,), 1), (8, 8, (0, 3, 7), 3), (8, 8, range(1, 8), 7), (16, 4, (2,), 1), (16, 4, (2, 3, 4), 2)):
    rate = 0.5 * (dp - gone)
    healthy, rows = failed("rail-spine:gpus=64", f"tp={tp},batch={8 * dp},request-rate={rate}", *dead)
    left = run(program, "run", f"rail-spine:gpus={tp * (dp - gone)}", "--engine", "spray", "--job",
               f"{SERVED},tp={tp},batch={8 * (dp - gone)},request-rate={rate}")["serving"][0]
    for row in rows:
        assert (row["replicas"], row["replicas_left"]) == (dp, dp - gone) and row["arrivals_per_s"] == rate, row
        assert abs(row["most_requests_per_s"] * dp / (healthy["most_requests_per_s"] * (dp - gone)) - 1) < 1e-9, (row, healthy)
        for key in ("most_requests_per_s", "first_token_p50_s", "first_token_p99_s"):
            assert abs(row[key] / left[key] - 1) < 1e-9, (key, row, left)

# by hand: of 8 replicas that can serve 8 m, 7 cannot serve 7.5 m; nobody serves where all, or all of a pool, are gone
most = failed("rail-spine:gpus=64", "tp=8,batch=64", 3)[0]["most_requests_per_s"]
row = failed("rail-spine:gpus=64", f"tp=8,batch=64,request-rate={7.5 / 8 * most}", 3)[1][0]
assert abs(row["most_requests_per_s"] / most - 7 / 8) < 1e-9 and "first_token_p50_s" not in row, row
assert failed("rail-spine:gpus=64", "tp=8,batch=64", *range(8))[1][0]["most_requests_per_s"] == 0
row = failed("rail-spine:gpus=64", "tp=8,batch=120,prefill-replicas=3", 0, 1, 2)[1][0]
assert row["most_requests_per_s"] == 0 and row["replicas_left"] == 5 and row.get("reading_replicas_left", 0) == 0, row
# pools: the smaller of what is left of each; a spare takes the place of one, so that only the other is missing
for dead, readers, generators in (((0,), 2, 5), ((3, 4), 3, 3), ((1, 7), 2, 4)):
    healthy, rows = failed("rail-spine:gpus=64", "tp=8,batch=120,prefill-replicas=3", *dead)
    reads, generates = 1 / healthy["first_token_s"], 1 / (127 * healthy["token_s"] / 24)
    assert abs(healthy["most_requests_per_s"] / min(3 * reads, 5 * generates) - 1) < 1e-9
    assert rows[0]["reading_replicas_left"] == readers and rows[0]["replicas_left"] == readers + generators
    assert abs(rows[0]["most_requests_per_s"] / min(readers * reads, generators * generates) - 1) < 1e-9, (dead, rows[0])
rows = failed("rail-spine:gpus=64,spares=1", "tp=8,batch=64", 3, 5)[1]
assert rows[0]["replicas_left"] == 6 and {r["replicas_left"] for r in rows[1:]} == {7}, rows  # none, and the others
# experts that several replicas share: all of a group of 4 are out
row = run(program, "run", "rail-spine:gpus=32", "--engine", "spray", "--job", "kind=serving,model=mixtral-8x7b,tp=4,ep=4,batch=64,tokens=16",
          "--fail", "server-1")["failures"]["engines"][0]["policies"][0]["serving"]
assert (row["replicas"], row["replicas_left"]) == (8, 4), row

# --- narrow weights and experts: parts of a token do not overlap; what another engine saves is told in tokens ---
report = run(program, "run", "clos:gpus=64,radix=16", "--engine", "ecmp", "--job",
             "kind=serving,model=deepseek-v3,tp=8,ep=8,batch=512,precision=fp8")
s = report["serving"][0]
parts = s["weights_s"] + s["cache_s"] + s["token_network_s"]
assert parts <= s["token_s"] * (1 + 1e-9), (parts, s["token_s"])
shares = [int(n) for n in re.findall(r"(\d+) %", report["verdict"]["bound_by"].split("; first token")[0])]
assert 98 <= sum(shares) <= 102, report["verdict"]["bound_by"]
assert abs(report["verdict"]["compared_s"] / s["batch_s"] - 1) < 1e-9
other = next(a for a in report["verdict"]["alternatives"] if a["engine"] == "ecmp,qp=16")
alone = run(program, "run", "clos:gpus=64,radix=16", "--engine", "ecmp,qp=16", "--job",
            "kind=serving,model=deepseek-v3,tp=8,ep=8,batch=512,precision=fp8")["serving"][0]
for key, of in (("time_s", "batch_s"), ("first_token_s", "first_token_s"), ("token_s", "token_s")):
    assert abs(other[key] / alone[of] - 1) < 1e-6, (key, other[key], alone[of])
assert other["time_s"] < s["batch_s"] and "of a batch (first token " in report["verdict"]["to_do"], report["verdict"]["to_do"]
