#!/usr/bin/env bash
# The iteration under --seeds N is that of N runs with one seed each: every figure's distribution, and what is printed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 - "$program" <<'PYTHON' || fail "figures over seeds"
import json, math, subprocess, sys

JOB = "model=gpt-1.7b,tp=2,pp=4,placement=random,batch=256,microbatch=1,interleave=2"


def run(job, *more):
    out = subprocess.run([sys.argv[1], "run", "rail-spine:gpus=128,gpus-per-server=4,radix=16,taper=2", "--job", job, "--engine", "ecmp",
                          "--engine", "spray", "--json", "--quiet", *more], check=True, capture_output=True, text=True).stdout
    return json.loads(out)["iteration"]


def check(job, n):
    together = run(job, "--seeds", str(n), "--seed", "3")
    alone = [run(job, "--seed", str(3 + i)) for i in range(n)]
    ecmp, spray = together
    assert "seeds" not in alone[0][0]
    assert ecmp["seeds"]["seeds"] == n
    for key in ("time_s", "tflops_per_gpu", "mfu_ratio", "tokens_per_s", "usd_per_1e9_tokens"):
        values = sorted(a[0][key] for a in alone)
        mean = sum(values) / n
        stat = ecmp["seeds"][key]
        for name, value in (("mean", mean), ("min", values[0]), ("max", values[-1]), ("p50", values[n // 2])):
            assert math.isclose(stat[name], value, rel_tol=1e-9), (job, key, name, stat[name], value)
        sigma = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
        assert n != 5 or math.isclose(stat["ci95"], 2.7764451052 * sigma / math.sqrt(n), rel_tol=1e-3), (key, stat["ci95"])
    assert ecmp["seeds"]["time_s"]["max"] > ecmp["seeds"]["time_s"]["min"] * 1.0001, "nothing is drawn"
    assert math.isclose(ecmp["time_s"], ecmp["seeds"]["time_s"]["mean"], rel_tol=1e-12)
    for it in together:
        parts = sum(it[k] for k in it if k.endswith("_s") and k not in ("time_s", "tokens_per_s"))
        assert math.isclose(parts, it["time_s"], rel_tol=1e-9), (parts, it["time_s"])
        assert math.isclose(it["tokens_per_s"] * it["time_s"], alone[0][0]["tokens_per_s"] * alone[0][0]["time_s"], rel_tol=1e-9)
    return alone


check(JOB + ",dp-overlap=0", 5)
# What phases do to each other is that of the seed, too.
shared = check(JOB + ",dp-overlap=1,sharded=yes", 3)
assert len({a[0]["reduce_slowdown_ratio"] for a in shared}) > 1, "every seed has the same pace"
PYTHON
"$program" run rail-spine:gpus=64 --engine ecmp --seeds 3 --quiet >out
grep -qF "the same under all 3 seeds" out || fail "seeds that change nothing: $(cat out)"
"$program" run rail-spine:gpus=64 --engine spray --seeds 3 --quiet >out
grep -q "seeds, means\|under all 3" out && fail "spray has no seeds"
exit $((failures > 0))
