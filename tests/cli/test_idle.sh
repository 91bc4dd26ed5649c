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

# --- with what is advised: each design's dollars over its gain; one without a tip may have one of less than a hundredth ---
three=(compare rail-only:gpus=1024 clos:gpus=1024,taper=2 rail-spine:gpus=1024 --job model=llama3-70b --engine spray --quiet)
"$program" "${three[@]}" --json >three.json || fail "three designs"
python3 - <<'PYTHON' || fail "designs as they are advised"
import json
s = json.load(open("three.json"))["sweep"]
gains = [p.get("fewer_gain_ratio", 1) for p in s["points"]]
hours, owned = ([p["engines"][0][key] / gain for p, gain in zip(s["points"], gains)] for key in ("usd_per_1e9_tokens", "owned_usd_per_1e9_tokens"))
assert gains[0] == gains[2] > 1.01 and gains[1] == 1, gains
assert abs(s["tipped_usd_per_1e9_tokens"] / min(hours) - 1) < 1e-12 and s["tipped"] == 1, s
assert 1.02 < hours[1] / min(hours) < 1.04 and owned[1] / min(owned) < 1.01, (hours, owned) # told by hours alone
PYTHON
says 'by GPU hours [1] and [3] are even: $3,648 per 1e9 tokens; bought for 5 years, [1], [3] and 1 more are even' "${three[@]}"

# --- what the network of the next would have to cost where designs are bought: with all its parts so much cheaper they are level ---
pair=(compare clos:gpus=256 clos:gpus=256,taper=2 --job model=llama3-8b --engine spray --quiet)
"$program" "${pair[@]}" --json >dear.json || fail "two designs"
printed "${pair[@]}"
turn=$(grep -oE '\[[12]\] [0-9.]+ % more, level if its network costs [0-9.]+ % less' out) || fail "nothing turns it: $(<out)"
"$program" list prices today-400g --file >prices.xml
python3 - "$turn" <<'PYTHON' || fail "prices"
import re, sys
less = 1 - float(re.search(r"costs ([0-9.]+) %", sys.argv[1])[1]) / 100
parts = re.compile(r"<(switch|transceiver|cable|nic) [^>]*>")
cheaper = lambda part: re.sub(r'(usd[-a-z]*)="([0-9.]+)"', lambda m: f'{m[1]}="{float(m[2]) * less:.12g}"', part[0])
open("cheap.xml", "w").write(parts.sub(cheaper, open("prices.xml").read()))
PYTHON
next=${turn:1:1}
"$program" "${pair[@]}" --prices cheap.xml --json >cheap.json || fail "two designs, one cheap"
python3 - "$next" <<'PYTHON' || fail "the network that turns it"
import json, sys
next = int(sys.argv[1]) - 1
usd = [[p["engines"][0]["owned_usd_per_1e9_tokens"] for p in json.load(open(n))["sweep"]["points"]] for n in ("dear.json", "cheap.json")]
assert abs(usd[1][next] / usd[0][1 - next] - 1) < 2e-4, usd
PYTHON
