#!/usr/bin/env bash
# The shipped parameters of the compute model and the tables of src/doc/iteration-time.md are what the fit finds.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
rows=$(dirname "$program")/iteration_rows
python3 "$root/scripts/fit_compute.py" "$rows" --check "$root/src/doc/iteration-time.md"

# It notices other tables: of one commit in so many, since the fit takes its time again.
if some changed - - - | grep changed >/dev/null; then
  sed 's/^| gpt-1t | 163 |/| gpt-1t | 164 |/' "$root/src/doc/iteration-time.md" >changed
  if python3 "$root/scripts/fit_compute.py" "$rows" --check changed >/dev/null 2>&1; then
    fail "a changed table went unnoticed"
  fi
fi
# The network times that it stands on are those of the fullest network link under ideal spray.
for run in "gpt-7.5b 128 4 1" "gpt-39.1b 512 8 2"; do
  read -r model gpus tp pp <<<"$run"
  "$program" route "rail-spine:gpus=$gpus,nic=200Gb/s,domain-rate=300GB/s,radix=40" --engine spray --json \
    --job "model=$model,tp=$tp,pp=$pp,gpu=a100-80gb" 2>/dev/null |
    python3 -c '
import json, sys
model, times = sys.argv[1], sys.stdin
expected = dict(zip(("pp", "dp"), map(float, sys.argv[2].split()[2:])))
found = {phase["name"]: phase["engines"][0]["busiest_link_s"] for phase in json.load(times)["phases"]}
for phase, seconds in expected.items():
    if abs(found.get(phase, 0) - seconds) > 1e-6 * seconds:
        sys.exit(f"{model}: phase {phase} takes {found.get(phase)} s, closed form {seconds}")
' "$model" "$("$rows" times | grep "^$model ")"
done
exit $((failures > 0))
