#!/usr/bin/env bash
# Times of serving against a roofline of its own, and three kinds of job in their own units.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python3 "$root/tests/cli/check_serving.py" "$program" || fail "serving is not on its roofline"

"$program" mix clos:gpus=64 clos:gpus=64,radix=16,tiers=3,taper=3 --job model=gpt-1.7b,tp=2,microbatch=1,recompute=full \
  --ranking batch=65536 --serving model=llama3-8b,tp=8,batch=64,tokens=32 --share 0.5 --engine spray --json --quiet >mix.json
python3 - <<'PYTHON' || fail "own units"
import json
mix = json.load(open("mix.json"))["mix"]
assert (mix["training_share"], mix["ranking_share"], mix["serving_share"]) == (0.5, 0.25, 0.25)
assert mix["by_ownership"]
best = {}
for d in mix["designs"]:
    training, ranking, serving = d["jobs"]
    e = d["engines"][0]
    seconds = training["ownership"]["years"] * 365 * 24 * 3600
    owned = training["ownership"]["total_usd"]
    close = lambda a, b: abs(a / b - 1) < 1e-9
    assert close(e["training_tokens_per_s"], training["engines"][0]["tokens_per_s"])
    assert close(e["training_usd_per_1e9_tokens"], training["engines"][0]["owned_usd_per_1e9_tokens"])
    assert close(e["ranking_samples_per_s"], 65536 / ranking["engines"][0]["time_s"])
    assert close(e["ranking_samples_per_usd"], e["ranking_samples_per_s"] * seconds / owned)
    assert close(e["serving_tokens_per_s"], 64 * 32 / serving["engines"][0]["time_s"])
    assert close(e["serving_usd_per_1e6_tokens"], owned / (e["serving_tokens_per_s"] * seconds) * 1e6)
    speed = e["training_slowdown_ratio"] ** -0.5 * e["ranking_slowdown_ratio"] ** -0.25 * e["serving_slowdown_ratio"] ** -0.25
    assert close(e["speed_ratio"], speed)
    best[d["name"]] = speed / owned
named = [d["name"] for d in mix["designs"] if d["engines"][0]["best"]]
assert named == [max(best, key=best.get)], (named, best)
PYTHON
"$program" mix clos:gpus=16 --serving model=gpt-1.7b,tp=8,batch=16,tokens=4 --engine spray --json --quiet >two.json
python3 -c 'import json; m = json.load(open("two.json"))["mix"]; assert len(m["designs"][0]["jobs"]) == 2 and "ranking_share" not in m' ||
  fail "a serving job in place of the ranking job"

# One cluster has one kind of GPU: all jobs of a mix run on that of the training job, as `run` has them, or are refused.
for gpu in mi300x-192gb t4-16gb; do
  "$program" mix clos:gpus=104,radix=16 --job gpu=$gpu --ranking batch=65520 --engine spray --json --quiet >mix.json
  "$program" run clos:gpus=104,radix=16 --job kind=ranking,gpu=$gpu,batch=65520 --engine spray --json --quiet >run.json
  python3 - <<'PYTHON' || fail "ranking on $gpu"
import json
mixed = json.load(open("mix.json"))["mix"]["designs"][0]["engines"][0]["ranking_samples_per_s"]
alone = json.load(open("run.json"))["ranking"][0]["samples_per_s"]
assert abs(mixed / alone - 1) < 1e-9, (mixed, alone)
PYTHON
done
"$program" mix preset:dgx-a100-4node --quiet >mix.txt
grep -q "nccl takes ring (LL128)" mix.txt || fail "an A100 ranks as an A100: NVSwitches that add up are an H100's"
code=0
"$program" mix clos:gpus=64 --ranking gpu=mi300x-192gb --engine spray --quiet >/dev/null 2>err || code=$?
[[ $code -eq 3 ]] && grep -q "the servers hold h100-80gb" err || fail "two kinds of GPU in one cluster: $code, $(cat err)"

# A service that is overloaded gets the least batch that carries its requests: a run with it does, with one less it does not.
batch_of() { "$program" run clos:gpus=512 --job "kind=serving,model=llama3-70b,tp=8,request-rate=100,batch=$1" --json --quiet >"$2"; }
batch_of 64 few.json
batch_of "$(python3 -c 'import json; print(json.load(open("few.json"))["verdict"]["larger_batch"])')" enough.json
batch_of "$(python3 -c 'import json; print(json.load(open("few.json"))["verdict"]["larger_batch"] - 64)')" less.json
python3 - <<'PYTHON' || fail "the batch that carries the requests"
import json
few, enough, less = (json.load(open(f + ".json")) for f in ("few", "enough", "less"))
v, s = few["verdict"], enough["serving"][0]
assert v["larger_batch"] % 64 == 0 and f'--job batch={v["larger_batch"]} carries' in v["to_do"] and "replicas" not in v["to_do"], v
assert s["most_requests_per_s"] == v["larger_batch_requests_per_s"] > 100 / 0.95 > less["serving"][0]["most_requests_per_s"], (s, v)
assert s["first_token_p99_s"] == v["larger_batch_first_token_p99_s"] and "larger_batch" not in enough["verdict"]
PYTHON
"$program" run clos:gpus=64 --job kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=500 --quiet >most.txt
grep -q "with --job batch=10240, which serves most of those that fit, send" most.txt || fail "no batch carries them: $(<most.txt)"

# Points that serve are ranked by tokens per second, whatever their batch; one that is overloaded not at all.
words=(clos:gpus=512 --job kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=100 --vary job.batch=64,512,4096 --quiet)
"$program" sweep "${words[@]}" >sweep.txt
grep -q "Overload: job.batch=64 cannot serve" sweep.txt && grep -q "job.batch=4096 is fastest: 124,623 tokens/s,$" sweep.txt &&
  grep -qE '^  64 .* 4,319 +\$416.6 +overload' sweep.txt || fail "a sweep of batches: $(<sweep.txt)"
"$program" sweep "${words[@]}" --json >sweep.json
python3 - <<'PYTHON' || fail "served points"
import json
e = [p["engines"][0] for p in json.load(open("sweep.json"))["sweep"]["points"]]
rate = [x["serving"]["tokens_per_s"] for x in e]
assert "time_s" not in e[0] and not e[0].get("pareto") and "arrivals_per_s" not in e[0]["serving"], e[0]
assert e[2]["slowdown_ratio"] == 1 and abs(e[1]["slowdown_ratio"] / (rate[2] / rate[1]) - 1) < 1e-9 and [x["pareto"] for x in e[1:]] == [False, True]
PYTHON
"$program" compare clos:gpus=512 clos:gpus=512,taper=4 --job kind=serving,model=llama3-70b,tp=8,batch=64,request-rate=100 --quiet >both.txt
grep -q "Overload: \[1\], \[2\] cannot serve" both.txt && ! grep -q "the same" both.txt || fail "both are overloaded: $(<both.txt)"

# Nobody says how many sequences a replica serves at once: as many as memory and vLLM's default allow, by powers of two.
for job in llama3-70b,tp=8 llama3-70b,tp=8,prompt=16384 gpt-1.7b,tp=1; do
  "$program" run clos:gpus=64 --job kind=serving,model=$job --json --quiet >open.json
  python3 - <<'PYTHON' || fail "the batch that fits of $job"
import json
job = json.load(open("open.json"))["job"]
m, each = job["memory"], job["batch"] // job["dp"]
free = 0.9 * m["capacity_bytes"] # memory-headroom
assert each & (each - 1) == 0 and 1 <= each <= 256 and m["total_bytes"] <= free, (each, m)
assert each == 256 or m["total_bytes"] + m["cache_bytes"] > free, (each, m)
PYTHON
done

echo "$failures failures"
[[ $failures -eq 0 ]]
