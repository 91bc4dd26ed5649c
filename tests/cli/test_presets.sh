#!/usr/bin/env bash
# Every preset that is listed runs, and reports the number of GPUs that the list states.
set -euo pipefail
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" list presets --json >"$work/presets"
/usr/bin/python3 - "$program" "$work/presets" <<'PY'
import json, subprocess, sys
program, presets = sys.argv[1], json.load(open(sys.argv[2]))
bad = 0 if len(presets) >= 5 else 1
for preset in presets:
    done = subprocess.run([program, "run", f"preset:{preset['name']}", "--json", "--quiet"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print(f"FAIL: {preset['name']}: exit code {done.returncode}: {done.stderr.decode()[-2000:]}")
        bad += 1
    elif json.loads(done.stdout)["fabric"]["gpus"] != preset["gpus"]:
        print(f"FAIL: {preset['name']}: other GPUs than listed")
        bad += 1
sys.exit(1 if bad else 0)
PY
