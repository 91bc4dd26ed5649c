#!/usr/bin/env bash
# What a reviewer would stop is said in text and JSON, once; what is fine is not.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# warns COUNT TEXT ARGUMENTS...: so many warnings, one of them with the text
warns() {
  "$program" "${@:3}" --quiet >text || { fail "${*:3}: exit code $?"; return; }
  "$program" "${@:3}" --quiet --json >json
  python3 - "$1" "$2" <<'PYTHON' || fail "${*:3}: other warnings"
import json, re, sys
found = json.load(open("json"))["meta"].get("warnings", [])
text = re.sub(r"\s+", " ", open("text").read())
assert len(found) == int(sys.argv[1]), found
assert not found or any(sys.argv[2] in w for w in found), found
assert all("Warning: " + w in text for w in found), found
assert text.count("Warning: ") == len(found)
PYTHON
}
ring=(--traffic pattern:ring --engine ecmp)
warns 1 "links nic-leaf run at 133.3 Gb/s" build clos:gpus=64,planes=3
warns 1 "links leaf-spine run at 266.7 Gb/s" build clos:gpus=256,radix=32,port=400Gb/s/800Gb/s,breakout=1/3
warns 0 "" build clos:gpus=256,radix=32,planes=2,breakout=2
warns 1 "ports of tier 1 run at 1.2 Tb/s before their breakout in 3" build clos:gpus=64,breakout=3
warns 0 "" build clos:gpus=256,radix=32,nic=200Gb/s
warns 1 "taper.3=4 has no effect: the fabric has 2 tiers" build clos:gpus=256,radix=32,tiers=2,taper=2/1/4
warns 0 "" build clos:gpus=256,radix=32,tiers=2,taper=2
warns 1 "taper.1=4 has no effect: the fabric has 1 tier" busbw clos:gpus=64,taper=4
warns 1 "taper.1=0.3333 builds 3 uplinks for each downlink; the taper (oversubscription) 3:1 is what you may mean" build clos:gpus=256,radix=32,taper=1:3
warns 1 "taper.2=0.5 builds 2 uplinks for each downlink" sweep clos:gpus=256,radix=16,tiers=3 "${ring[@]}" --vary taper.2=1:2,2
warns 1 "tp=16 is beyond the scale-up domain of 8 GPUs" route clos:gpus=64,radix=32 --job model=llama2-7b,tp=16
warns 1 "scale-up domains of at most 8" route clos:gpus=64,radix=32,domain=16 --job model=llama2-7b,tp=16
warns 1 "every GPU keeps all 8 experts" route clos:gpus=128,radix=32 --job model=mixtral-8x7b,tp=2,ep=1
warns 1 "experts are exchanged within servers and leaves" route clos:gpus=128,radix=32 --job model=mixtral-8x7b,tp=2
warns 1 "every GPU keeps all 8 experts" compare clos:gpus=128,radix=32 rail-only:gpus=128 --job model=mixtral-8x7b,tp=2,ep=1
warns 1 "[1] experts are exchanged within servers and leaves" compare clos:gpus=128,radix=32 rail-only:gpus=128 --job model=mixtral-8x7b,tp=2
warns 1 "every GPU keeps all 8 experts" mix clos:gpus=128,radix=32 rail-only:gpus=128 --job model=mixtral-8x7b,tp=2,ep=1
warns 1 "(expert-exchange=direct), which takes much of the time" route clos:gpus=128,radix=32 --job model=mixtral-8x7b,ep=8
# advice is of what the search did not do already
own=layers=8,hidden=1024,heads=8,seq=2048,vocab=32000,experts=8,top-k=2,batch=1024
warns 1 "ep=1, which the search for a plan found fastest: every GPU keeps all 8 experts" run clos:gpus=128,radix=32 --engine spray --job $own
warns 1 "ep=1, which the search for a plan found fastest" compare clos:gpus=128 rail-only:gpus=128 --engine spray --job $own
warns 1 "over N GPUs, ep=auto lets the search choose" run clos:gpus=128,radix=32 --engine spray --job $own,ep=1,tp=1
moe=(--job model=mixtral-8x7b,tp=2,pp=4,ep=8,dp=16,memory-check=off --engine spray)
warns 1 "experts are exchanged within rails" run rail-only:gpus=128 "${moe[@]}"
warns 2 "experts are exchanged within rails" compare rail-spine:gpus=128 rail-only:gpus=128 "${moe[@]}"
warns 1 "experts are exchanged within servers and leaves" run rail-spine:gpus=128 "${moe[@]}"
warns 0 "" run rail-only:gpus=128 "${moe[@]}" --set job.order=tp-cp-dp-pp
# copies of tokens over the network, where they take much of the time; and a warning of one point is said of that point
direct=(--job model=mixtral-8x7b,tp=1,pp=2,ep=8,dp=64,order=tp-cp-dp-pp,memory-check=off --engine spray)
warns 1 "(expert-exchange=direct), which takes much of the time" run rail-spine:gpus=128,gpus-per-server=4,domain=4,radix=16,taper=2 "${direct[@]}"
warns 1 "experts are exchanged within servers and leaves" run rail-spine:gpus=128,gpus-per-server=4,domain=4,radix=16,taper=2 "${direct[@]}" --job expert-exchange=hierarchical
# experts that are exchanged inside the scale-up domains, in this order or in the other, cross no rails
inside=(model=mixtral-8x7b,tp=1,pp=8,ep=8,dp=16 model=mixtral-8x7b,tp=1,cp=8,pp=2,ep=8,dp=8)
for job in "${inside[@]}"; do warns 0 "" run rail-only:gpus=128 --job "$job,memory-check=off" --engine spray; done
warns 1 "experts are exchanged within rails" run rail-only:gpus=512 --job model=deepseek-v3,tp=1,pp=8,dp=64,ep=64,memory-check=off --engine spray
# groups of experts that a search chose narrow for what copies of tokens cost, and nothing where that is not open
narrow=(run rail-spine:gpus=1024,taper=2 --engine spray --job model=deepseek-v3)
warns 2 "ep=4 of 256 experts is the plan's choice where experts get a copy of a token each" "${narrow[@]}"
warns 1 "experts are exchanged within servers and leaves" "${narrow[@]}" --job expert-exchange=direct
warns 1 "experts are exchanged within servers and leaves" "${narrow[@]}" --job expert-exchange=hierarchical
time_of() { "$program" "${narrow[@]}" "$@" --json --quiet | jq '.iteration[0].time_s'; }
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); assert b < 0.94 * a' "$(time_of)" "$(time_of --job expert-exchange=hierarchical)" || fail "what the warning is about"
# GPUs that are sold in one kind of server alone
sold="gb200-186gb is sold in servers of 4 with scale-up domains of 72 GPUs, and the design has servers of 8 with domains of 8: gpus-per-server=4,domain=72"
nvl=(--job model=llama3-8b,gpu=gb200-186gb,tp=1,pp=1 --engine spray)
gb=(--job model=llama3-8b,gpu=gb200-186gb)
warns 1 "$sold" plan clos:gpus=32 "${gb[@]}"
warns 1 "$sold" optimize --gpus 32 --replays 1 "${gb[@]}"
warns 1 "$sold" busbw clos:gpus=64 --bytes 1GiB "${gb[@]}"
warns 1 "$sold" mix clos:gpus=32 rail-only:gpus=32 "${gb[@]}"
warns 1 "$sold" diff clos:gpus=32 --after fabric.taper=2 "${gb[@]}"
warns 1 "$sold" study clos:gpus=32 --scenarios switches:1 --seeds 1 --store unlike "${gb[@]}"
warns 0 "" study clos:gpus=72,gpus-per-server=4,domain=72 --scenarios switches:1 --seeds 1 --store alike "${gb[@]}"
warns 0 "" plan clos:gpus=72,gpus-per-server=4,domain=72 "${gb[@]}"
warns 1 "$sold" run clos:gpus=288 "${nvl[@]}"
warns 1 "$sold" compare clos:gpus=288 clos:gpus=288,gpus-per-server=4,domain=72 "${nvl[@]}"
warns 0 "" run clos:gpus=288,gpus-per-server=4,domain=72 "${nvl[@]}"
warns 0 "" run clos:gpus=288,gpus-per-server=4,domain=36 "${nvl[@]}"
warns 1 "with domains of 4:" run clos:gpus=288,gpus-per-server=4 "${nvl[@]}"
warns 0 "" run clos:gpus=288 --job model=llama3-8b,gpu=b200-180gb,tp=1,pp=1 --engine spray
# All servers of a fabric are alike: jobs of other GPUs are told, unless the design says what servers are.
two=(--job id=a,model=gpt-1.7b,gpu=h100-80gb,servers=0-3 --job id=b,model=gpt-1.7b,servers=4-7)
warns 1 "a job has b200-180gb, and all servers are taken for those of h100-80gb, the GPU of the first job" run clos:gpus=64 "${two[@]}",gpu=b200-180gb --engine spray
warns 0 "" run clos:gpus=64 "${two[@]}",gpu=h100-80gb --engine spray
warns 0 "" run clos:gpus=64,domain-rate=900GB/s,floor.server-power=12kW "${two[@]}",gpu=b200-180gb --engine spray
# and those of which the largest domain that is sold is known: what joins more has no price
larger="h100-80gb is sold in scale-up domains of at most 8 GPUs, and the design has domains of 64: no price has what would join so many"
warns 1 "$larger" compare rail-only:gpus=256,radix=32 rail-only:gpus=256,radix=32,domain=64 --job model=llama3-70b --engine spray
tr -s '\n ' ' ' <text | grep -q "least by GPU hours: .* more. Bought for 5" || fail "margins of a domain that has no price: $(<text)"
warns 1 "$larger" plan rail-only:gpus=64,domain=64 --job model=llama3-8b
warns 1 "a40-48gb is sold in scale-up domains of at most 2 GPUs, and the design has domains of 8" run clos:gpus=64 --job model=gpt-1.7b,gpu=a40-48gb
warns 0 "" run clos:gpus=64,domain=2 --job model=gpt-1.7b,gpu=a40-48gb
warns 0 "" run clos:gpus=64 --job model=gpt-1.7b,gpu=t4-16gb,precision=fp16,memory-check=off
warns 1 "at most 8 GPUs, those of a server, by PCIe, and the design has domains of 16" run clos:gpus=64,domain=16 --job model=gpt-1.7b,gpu=t4-16gb,precision=fp16,memory-check=off
warns 1 "trillium-32gb is sold in scale-up domains of at most 256 GPUs" run clos:gpus=512,domain=512 --job model=gpt-1.7b,gpu=trillium-32gb
warns 0 "" compare rail-only:gpus=64 clos:gpus=64,gpus-per-server=4 --job model=llama3-8b --engine spray
warns 1 "72 rails, one for each GPU of a scale-up domain, have leaves of their own, of whose 64 ports 4 hold NICs" build rail-spine:gpus=288,gpus-per-server=4,domain=72
warns 1 "[2] 72 rails" compare clos:gpus=288,gpus-per-server=4,domain=72 rail-spine:gpus=288,gpus-per-server=4,domain=72 "${ring[@]}"
warns 0 "" build rail-spine:gpus=4608,gpus-per-server=4,domain=72
warns 0 "" build rail-spine:gpus=288
warns 0 "" build rail-only:gpus=288,gpus-per-server=4,domain=72
warns 1 "engine ecmp takes shortest paths alone" route dragonfly:gpus=64,radix=16 "${ring[@]}"
warns 0 "" route dragonfly:gpus=64,radix=16 --traffic pattern:ring --engine updn
warns 1 "links nic-leaf run at 133.3 Gb/s" cost clos:gpus=64 clos:gpus=64,planes=3 clos:gpus=32,planes=3
warns 1 "front-end: taper.2=3 has no effect" build "$root/tests/data/front_end.xml" --set front-end.taper.2=3
warns 1 "8 spare servers take another tier: 68 switches" build clos:gpus=512,radix=32,spares=8,full-spares=yes
warns 0 "" build clos:gpus=512,radix=32,spares=8
warns 1 "links nic-leaf run at 133.3 Gb/s" sweep clos:gpus=64,radix=16 "${ring[@]}" --vary planes=1,3 --set port=400Gb/s
warns 1 "[2] taper.1=2 has no effect: the fabric has 1 tier" compare clos:gpus=16,radix=64 clos:gpus=16,radix=64,taper.1=2 "${ring[@]}"
warns 1 "taper.2=2 has no effect: the fabric has 2 tiers" sweep clos:gpus=64,radix=16 "${ring[@]}" --vary taper.2=1,2
warns 1 "engine ecmp takes shortest paths alone" compare dragonfly:gpus=64,radix=16 clos:gpus=64,radix=16 "${ring[@]}"
warns 1 "tp=16 is beyond the scale-up domain of 8 GPUs" compare clos:gpus=64,radix=32 rail-spine:gpus=64 --job model=llama2-7b,tp=16
batch=(--job model=llama3-8b,tp=1,pp=1,zero=1,memory-check=off --engine spray)
warns 1 "batch 2048 on 2048 GPUs is x4 the model's (the sizes do not divide the model's 512)" run clos:gpus=2048 "${batch[@]}"
warns 1 "batch 2048 on 2048 GPUs is x4 the model's (the sizes do not divide the model's 512)" compare clos:gpus=2048 rail-only:gpus=2048 "${batch[@]}"
warns 1 "batch 2048 on 2048 GPUs is x4 the model's (the sizes do not divide the model's 512)" sweep clos:gpus=256 --vary gpus=256,2048 "${batch[@]}"
warns 1 "is x2.01 the model's (the model's 512 is no multiple of the 1031 GPUs)" run clos:gpus=1031,gpus-per-server=1 --job model=llama3-8b,tp=1,pp=1,zero=1,memory-check=off --engine spray
warns 0 "" run clos:gpus=2048 "${batch[@]}" --set job.batch=2048
# a batch by default has the tokens of the model's, 512 sequences of 8192, whatever their length
for lengths in 131072:32 2048:2048 8192:512 131072,batch=512:512; do
  "$program" run clos:gpus=64 --job "model=llama3-8b,tp=8,memory-check=off,seq=${lengths%:*}" --engine spray --json --quiet >json
  grep -q "\"batch\": ${lengths#*:}," json || fail "batch of sequences of ${lengths%:*}: $(grep '"batch"' json)"
done
slurm=installed:$root/tests/data/sites/slurm
warns 1 "assumed: 1 cable from a switch up (cables), 400 Gb/s at" route "$slurm" "${ring[@]}"
warns 0 "" route "installed:$root/tests/data/sites/ibnetdiscover" "${ring[@]}"
"$program" route "$slurm" "${ring[@]}" --quiet | grep -A9 '^how sure' | tr -s ' \n' ' ' |
  grep 'the file of the network does not say, so assumed: 1 cable from a switch up' >/dev/null ||
  fail "the verdict does not say on which cables it rests"
# shellcheck disable=SC2046
for preset in $(some $("$program" list presets --json | python3 -c "import json, sys; print(*[p['name'] for p in json.load(sys.stdin)])")); do
  warns 0 "" build "preset:$preset"
done

# A number of GPUs near by for which the network costs much less is told where the price is; of one that divides nothing is.
"$program" build rail-spine:gpus=1048 --quiet | tr -s ' \n' ' ' >out
grep -E '1,024 GPUs, 24 fewer, take 19 switches fewer: \$[0-9.]+M less in all, 18 % less per GPU\.' out >/dev/null || fail "1,024 GPUs beside 1,048: $(<out)"
"$program" cost clos:gpus=1024 --quiet --json | grep near_size >/dev/null && fail "1,024 GPUs have a better size"

# What has failed without anybody having to move is one row.
"$program" route preset:llama3-talk-racks --engine pinned --traffic job:dp-rs --fail spine-3 --quiet >out
[[ $(grep -cE '^  (failed|none|first-spare|same-|collision-aware) ' out) == 1 ]] || fail "policies that are one are several rows"
grep 'nobody moves, under any policy' out >/dev/null || fail "it is not said that policies are one"

# Fields of a part, and a key in any part.
[[ $("$program" list fields job --json | python3 -c "import json, sys; print({r['path'][:4] for r in json.load(sys.stdin)})") == "{'job.'}" ]] ||
  fail "list fields job shows others"
"$program" list fields servers --json | grep '"job.servers"' >/dev/null || fail "list fields servers lacks job.servers"
"$program" list fields joob >out 2>&1 && fail "a part that is not there is listed"
exit $((failures > 0))
