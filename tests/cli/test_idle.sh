#!/usr/bin/env bash
# Servers that a job leaves idle: spares in histories of failures, and paid for by nobody.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
printed() { # printed ARGUMENTS...: as one line in out; the same command runs once
  local last
  last=said-$(cksum <<<"$*" | tr ' ' -)
  [[ -e $last ]] || "$program" "$@" >"$last" 2>err || fail "$*: exit code $?: $(<err)"
  tr -s ' \n' '  ' <"$last" >out
}
says() { # says TEXT ARGUMENTS...: whatever the lines
  printed "${@:2}"
  grep -F -- "$1" out >/dev/null || fail "${*:2}: no '$1'"
}

# --- servers left idle are spares: the tip with failures is what its command gives, all GPUs paid for ---
idle=(--scenarios time:90d@12 --engine spray --json --quiet)
"$program" compare rail-spine:gpus=152 rail-spine:gpus=152,spares=1 --job model=llama3-70b "${idle[@]}" >all.json || fail "idle servers with failures"
fewer=$(jq -r '.sweep.points[0].fewer_job' all.json)
"$program" sweep rail-spine:gpus=152 --vary spares=0,1 --job "model=llama3-70b,$fewer" "${idle[@]}" >few.json || fail "the job on fewer servers"
python3 - <<'PYTHON' || fail "the gain of idle servers with failures"
import json
points = [json.load(open(n + ".json"))["sweep"]["points"] for n in ("all", "few")]
tokens = [[p["engines"][0]["tokens_per_s"] * p["engines"][0]["goodput_ratio"] for p in of] for of in points]
for i in range(2):
    gain = points[0][i]["fewer_failing_gain_ratio"]
    assert abs(tokens[1][i] / tokens[0][i] / gain - 1) < 1e-9, (i, gain, tokens)
first = points[0][0]
assert first["fewer_failing_gain_ratio"] > first["fewer_gain_ratio"], first["fewer_failing_gain_ratio"]
PYTHON
idle=(compare rail-spine:gpus=152 rail-spine:gpus=152,spares=1 --job model=llama3-70b --scenarios time:90d@12 --engine spray --quiet)
says '[1] rail-spine, [2] rail-spine: leave GPUs idle: on 144 of 152' "${idle[@]}"
says 'all GPUs paid for, by GPU hours [1] costs least' "${idle[@]}"
says '5.26 % of the GPUs idle, which no price counts.' compare rail-spine:gpus=152 rail-only:gpus=152 --job model=gpt-1.7b,tp=8,n-servers=18 --engine spray --quiet
