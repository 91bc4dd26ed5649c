#!/usr/bin/env bash
# Chunks that are chosen: they are routed, so that the same chunks typed give the same iteration; a typed number is kept
# where stages are chosen; too many are refused, and models of thousands of layers are no trouble.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=rail-spine:gpus=64,gpus-per-server=8,radix=16
job=model=gpt-39.1b,tp=8,pp=4,batch=128,microbatch=1
iteration() { # DESIGN JOB: chunks and time under a split and under draws
  "$program" run "$1" --job "$2" --engine spray --engine ecmp --seeds 2 --json --quiet |
    python3 -c 'import json, sys; print(*((i["interleave"], i["time_s"]) for i in json.load(sys.stdin)["iteration"]))'
}
chosen=$(iteration $design $job,interleave=auto)
chunks=${chosen#(}
chunks=${chunks%%,*}
[[ $chunks -gt 1 ]] || fail "auto chose $chosen"
[[ $chosen == "$(iteration $design "$job,interleave=$chunks")" ]] || fail "auto: $chosen, typed: $(iteration $design "$job,interleave=$chunks")"
"$program" route $design --job "$job,interleave=$chunks" --traffic job:pp --json --quiet >typed.json
"$program" run $design --job "$job,interleave=auto" --engine spray --json --quiet >auto.json
python3 - <<'CHECK' || fail "auto does not route the chunks that it chose"
import json
flows = [next(p["bytes"] for p in json.load(open(name, encoding="utf-8"))["phases"] if p["name"] == "pp") for name in ("typed.json", "auto.json")]
assert flows[0] == flows[1], flows
CHECK

# Routes that were found while chunks were chosen are those of the same flows with the chunks typed: reduction and gather, which
# chunks do not change, have them, and the transfers, which begin with the same flows, go on from them.
for engine in adaptive ecmp,qp=2; do
  for chunks_of in auto typed; do
    value=auto
    [[ $chunks_of == typed ]] && value=$("$program" run $design --job "$job,sharded=yes,interleave=auto" --engine $engine --json --quiet |
      /usr/bin/env python3 -c 'import json, sys; print(json.load(sys.stdin)["iteration"][0]["interleave"])')
    "$program" run $design --job "$job,sharded=yes,interleave=$value" --engine $engine --json --quiet >"$chunks_of.json" || fail "$engine: $value chunks"
  done
  /usr/bin/env python3 - <<'CHECK' || fail "$engine: chosen and typed chunks are routed differently"
import json
auto, typed = (json.load(open(f"{name}.json", encoding="utf-8")) for name in ("auto", "typed"))
assert auto["iteration"][0]["interleave"] == typed["iteration"][0]["interleave"] > 1
assert {"pp", "dp-rs", "dp-ag"} <= {p["name"] for p in auto["phases"]}
for a, b in zip(auto["phases"], typed["phases"], strict=True):
    assert a == b, (a["name"], [key for key in a if a[key] != b.get(key)])
CHECK
done

# Stages that are chosen come with chunks, unless one is typed; and it is another design then.
larger=clos:gpus=512,gpus-per-server=8,nic=200Gb/s
open_job=model=gpt-39.1b,gpu=a100-40gb,batch=512,plan=given
for more in "" ,interleave=1; do
  "$program" run $larger --job "$open_job$more" --engine spray --json --quiet >"open$more.json" || fail "open stages$more"
done
python3 - <<'CHECK' || fail "a typed number of chunks is not kept"
import json
free, typed = (json.load(open(f"open{more}.json", encoding="utf-8")) for more in ("", ",interleave=1"))
assert free["job"]["pp"] == typed["job"]["pp"] > 1, (free["job"]["pp"], typed["job"]["pp"])
assert free["iteration"][0]["interleave"] > 1 == typed["iteration"][0]["interleave"]
assert free["meta"]["design_digest"] != typed["meta"]["design_digest"]
CHECK

status=0
"$program" run $design --job "$job,interleave=70000" --quiet >/dev/null 2>error || status=$?
[[ $status -eq 3 ]] && grep -q 70000 error && grep -q 65,*535 error || fail "70000 chunks: $status, $(cat error)"
timeout 60 "$program" run $design --job model=gpt-39.1b,layers=6000,hidden=128,heads=8,tp=8,pp=4,batch=16,microbatch=1,interleave=auto,memory-check=off \
  --engine spray --quiet >/dev/null || fail "6000 layers: $?"
echo ok
exit $((failures > 0))
