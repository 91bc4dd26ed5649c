#!/usr/bin/env bash
# What a search prints to see its winner alone gives the same figures; dollars say what they are counted by.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 "$root/tests/cli/check_see.py" "$program" || fail "printed commands"

# Hours and ownership are far apart: 12 of 13 dollars of an hour are no GPU.
design=rail-only:gpus=256,nic=400Gb/s,tiers=1,radix=64,port=400Gb/s,prices=today-800g
job=(--job model=gpt-18.4b --engine spray --quiet)
says() { # says TEXT ARGUMENTS...: whatever the lines
  "$program" "${@:2}" >out 2>err || { fail "${*:2}: exit code $?: $(<err)"; return; }
  tr -s ' \n' '  ' <out | grep -F -- "$1" >/dev/null || fail "${*:2}: no '$1'"
}
says '1e9 tokens: $1,134 by GPU hours at $12.50, $100.6 bought and run for 5 years;' run $design "${job[@]}"
says '1e9 tokens cost $100.6 of ownership' optimize --gpus 256 --family rail-only "${job[@]}"
says 'even by GPU hours: $1,134 per 1e9 tokens' compare $design clos:gpus=256,prices=today-800g "${job[@]}"
says 'by GPU hours at $12.50; 789,348' run ${design/today-800g/deepseek-2025} "${job[@]}"
exit $((failures > 0))
