#!/usr/bin/env bash
# What hosts add: the shipped constants and src/doc/hosts.md are what the fit finds on nccl-tests of p5; every part counted by hand; what is refused.
# UPDATE=1 bash tests/cli/test_hosts.sh PROGRAM rewrites the page.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
page=$root/src/doc/hosts.md
[[ -z ${UPDATE-} ]] || /usr/bin/python3 "$root/scripts/fit_hosts.py" "$program" --write "$page" >/dev/null || fail "too many rows are off"
/usr/bin/python3 "$root/scripts/fit_hosts.py" "$program" --check "$page" || fail "the page is not what the fit finds"
/usr/bin/python3 "$root/tests/cli/check_hosts.py" "$program" || fail "what hosts add is not what is counted by hand"

# Without the keys nothing is added, and nothing is said; a step of the NICs' own counts under every transport.
small=clos:gpus=16,gpus-per-server=4,radix=16
"$program" route $small --traffic pattern:ring --json --quiet >ideal || fail "ideal"
"$program" route $small --traffic pattern:ring --transport fluid,nic-latency=3us --json --quiet >slower || fail "nic-latency"
"$program" route $small --traffic pattern:ring --transport pfc --json --quiet >lossless || fail "pfc"
"$program" route $small --traffic pattern:ring --transport pfc,host=nccl-efa-h100 --json --quiet >both || fail "both"
/usr/bin/python3 - <<'CHECK' || fail "latencies"
import json
ideal, slower, lossless, both = (json.load(open(name, encoding="utf-8"))["phases"][0]["engines"][0] for name in ("ideal", "slower", "lossless", "both"))
assert "host_s" not in ideal and "host_s" not in slower
assert abs(slower["latency_s"] - ideal["latency_s"] - 3e-6) < 1e-12
assert abs(lossless["latency_s"] - ideal["latency_s"] - 585e-9) < 1e-12
assert abs(both["latency_s"] - ideal["latency_s"] - both["host_s"]) < 1e-12 and both["host_s"] > 6e-6
assert both["transfer_s"] > 1.1 * lossless["transfer_s"]
CHECK
for bad in nic-efficiency=1.1 nic-efficiency=0 step-overhead=0s host=mpi; do
  "$program" route $small,$bad --traffic pattern:ring --quiet >out 2>err && fail "$bad is taken"
  grep -q "${bad%=*}" err || fail "$bad: $(cat err)"
done
# host=nccl is that of the GPU, or refused; a kind is refused beside a GPU of another generation, and keys of one's own never are.
for pair in h100-80gb:nccl-efa-h100 h200-141gb:nccl-roce-h200 b200-180gb:nccl-efa-b200; do
  for host in nccl "${pair#*:}"; do
    "$program" run $small,host=$host --job "gpu=${pair%:*},model=gpt-1.7b" --json --quiet >"$host" || fail "$host of ${pair%:*}"
  done
  cmp -s <(grep -E '"(time_s|host_s)"' nccl) <(grep -E '"(time_s|host_s)"' "${pair#*:}") || fail "${pair%:*} has other hosts than ${pair#*:}"
  grep -q '"host_s": ' nccl || fail "${pair%:*}: hosts take no time"
done
for pair in a100-80gb:nccl mi300x-192gb:nccl gb200-186gb:nccl b200-180gb:nccl-efa-h100 a100-80gb:nccl-roce-h200 h100-80gb:nccl-efa-b200; do
  "$program" run $small,host="${pair#*:}" --job "gpu=${pair%:*},model=gpt-1.7b" --quiet >out 2>err && fail "${pair%:*} takes ${pair#*:}"
  grep -q "${pair%:*}.*measured are nccl-efa-h100, nccl-roce-h200 and nccl-efa-b200" err || fail "$pair: $(cat err)"
done
"$program" route $small,host=nccl --traffic pattern:ring --quiet >out 2>err && fail "host=nccl without a GPU"
grep -q "without a job" err || fail "without a job: $(cat err)"
"$program" run $small,step-overhead=3us --job gpu=mi300x-192gb,model=gpt-1.7b --quiet >out || fail "keys of one's own"

# All-gathers of H200 over RoCE from 32 MiB on, as measured: 6 % on the run that was fitted, 5 % on the one that was not.
while IFS=$'\t' read -r bytes fitted kept; do
  [[ $bytes =~ ^[0-9]+$ && $bytes -ge 33554432 ]] || continue
  "$program" route clos:gpus=16,domain=8,host=nccl-roce-h200 --engine spray --traffic "pattern:all-gather,bytes=${bytes}B" --json --quiet |
    /usr/bin/python3 -c '
import json, sys
ours = 1e6 * json.load(sys.stdin)["phases"][0]["engines"][0]["time_s"]
assert abs(ours / float(sys.argv[1]) - 1) < 0.06 and abs(ours / float(sys.argv[2]) - 1) < 0.05, (ours, sys.argv)' "$fitted" "$kept" || fail "all-gather of $bytes"
done <"$root/tests/data/roce-h200/all_gather.tsv"

"$program" route $small,host=nccl-efa-h100 --traffic pattern:ring --certificate proof --quiet >out || fail "certificate"
grep -q "hosts take time of their own" proof || fail "a certificate of times that it does not prove"

# What lossless queues add to an iteration: against a run under fluid, at the microbatch and chunks of the other; who is told that times are lower bounds.
job=(clos:gpus=128,gpus-per-server=8,radix=16,taper=2 --job model=gpt-1.7b,tp=2,pp=2,microbatch=1,interleave=1 --engine ecmp --quiet)
for seeds in 1 3; do
  "$program" run "${job[@]}" --seeds $seeds --json >fluid || fail "fluid"
  "$program" run "${job[@]}" --seeds $seeds --json --transport pfc,xoff=20kB >lossless || fail "pfc"
  /usr/bin/python3 - $seeds <<'CHECK' || fail "what the transport adds"
import json, sys
fluid, lossless = (json.load(open(name, encoding="utf-8")) for name in ("fluid", "lossless"))
a, b = fluid["iteration"][0], lossless["iteration"][0]
assert "fluid_time_s" not in a and "transport_s" not in a
if sys.argv[1] == "1":
    assert abs(b["fluid_time_s"] / a["time_s"] - 1) < 1e-12 and abs(b["time_s"] - b["fluid_time_s"] - b["transport_s"]) < 1e-12
assert abs(b["fluid_time_s"] / a["time_s"] - 1) < 0.01 and b["transport_s"] > 0 and abs(b["transport_ratio"] * b["fluid_time_s"] / b["transport_s"] - 1) < 1e-9
told = [engine.get("time_is_lower_bound", False) for phase in fluid["phases"] for engine in phase["engines"]]
assert told == [phase["engines"][0]["collided_flows"]["max"] > 0 if sys.argv[1] != "1" else phase["engines"][0]["collided_flows"] > 0 for phase in fluid["phases"]] and any(told)
assert not any("time_is_lower_bound" in engine for phase in lossless["phases"] for engine in phase["engines"])
CHECK
done
"$program" run "${job[@]}" --transport pfc,xoff=20kB >text && [[ $(grep -c "Lossless queues add" text) -eq 1 ]] || fail "not said once"
"$program" run "${job[@]}" --transport pfc,xoff=20kB --format xml >text && grep -q 'transport_ratio="0' text || fail "not in XML"
"$program" run "${job[@]}" >text && [[ $(grep -c "lower bounds" text) -eq 1 ]] || fail "lower bounds are not said once"
"$program" run "${job[@]/ecmp/spray}" >text && ! grep -q "lower bounds" text || fail "spray has no lower bounds"

# Simulators get the rate that bytes get, 0.87 of 400 Gb/s, and whoever exports is told what they do not get.
for format in simgrid simai; do
  "$program" build $small --format $format >ideal 2>told && ! grep -q "software adds" told || fail "$format: something is left out of ideal hosts"
  "$program" build $small,host=nccl-efa-h100 --format $format >hosts 2>told || fail "$format with hosts"
  grep -q "$format has the rates that hosts give to bytes, but not what their software adds" told || fail "$format: not told: $(cat told)"
  "$program" build $small,nic-efficiency=0.87 --format $format --quiet >part 2>told || fail "$format with a part"
  cmp -s hosts part && ! cmp -s ideal part || fail "$format: not the usable rate"
  rates=$(grep -cE 'bandwidth="50000000000Bps"| 400Gbps' ideal) used=$(grep -cE 'bandwidth="43500000000Bps"| 348Gbps' part)
  [[ $used -gt 0 && $rates -ge $used ]] || fail "$format: $used links of $rates have 0.87 of the rate"
done
echo "hosts: as the page has it"
exit $((failures > 0))
