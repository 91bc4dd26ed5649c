#!/usr/bin/env bash
# Every preset that is listed runs, and reports the counts that the list states; the list shows short sources and, of
# one preset, all of it. Of the largest fabrics a share runs (drawn.py).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
"$program" list presets --json >presets
"$program" list presets >text
PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$program" presets text <<'PY'
import json, subprocess, sys
from drawn import SEED, drawn
program, presets = sys.argv[1], json.load(open(sys.argv[2]))
lines = open(sys.argv[3], encoding="utf-8").read().splitlines()
bad = 0


def fail(text):
    global bad
    bad += 1
    print("FAIL:", text)


def call(*arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def taper(ratios):
    return " / ".join(f"{ratio:.3g}:1" for ratio in ratios)


if len(presets) < 15:
    fail(f"only {len(presets)} presets")
if max(map(len, lines)) > 80:
    fail("the list is wider than 80 columns")
if len(lines) != 2 * (len(presets) + 1):
    fail("a preset of the list has more than its row and one line of source")

small = sum(p["gpus"] <= 16384 for p in presets)  # and the first command of README
runs = [p for p in presets if p["gpus"] <= 16384 or p["name"] == "llama3-24k-roce" or drawn([p["name"]])]
print(f"{len(runs)} of {len(presets)} presets run, seed {SEED}")
if len(runs) <= small or small < 12:
    fail(f"only {len(runs)} of them run")
for preset in runs:
    name = preset["name"]
    quick = ["--engine", "spray"] if preset["gpus"] > 2048 else []  # without the paths of every flow
    done = call("run", f"preset:{name}", *quick, "--json", "--quiet")
    if done.returncode != 0:
        fail(f"{name}: exit code {done.returncode}: {done.stderr.decode()[-2000:]}")
        continue
    result = json.loads(done.stdout)
    fabric = result["fabric"]
    memory = result.get("job", {}).get("memory", {"fits": True})
    if not memory["fits"]:
        fail(f"{name}: its job needs {memory['total_bytes']} bytes of {memory['capacity_bytes']}")
    for iteration in result.get("iteration", []):
        if "usd_per_1e9_tokens" not in iteration:
            fail(f"{name}: an iteration without a price")
    for field in ("gpus", "switches", "family"):
        if fabric[field] != preset[field]:
            fail(f"{name}: {field} {fabric[field]}, listed {preset[field]}")
    tiers = [t for t in fabric["tiers"] if "switches" in t]
    if len(tiers) != preset["tiers"]:
        fail(f"{name}: {len(tiers)} tiers, listed {preset['tiers']}")
    built = taper([t["built_taper"] for t in tiers[:-1]])
    if built != preset["built_taper"]:
        fail(f"{name}: taper {built}, listed {preset['built_taper']}")
    domains, size = fabric["domains"], fabric["gpus_per_domain"]
    wanted = domains * (size // 2) * fabric["domain_bps"]
    if domains > 0 and abs(fabric["scaleup_bisection_bps"] - wanted) > 1e-9 * wanted:
        fail(f"{name}: scale-up bisection {fabric['scaleup_bisection_bps']}, not {wanted}")
    if result["meta"]["source"] != preset["source"]:
        fail(f"{name}: other source than listed")
    one = call("list", "presets", name)
    if one.returncode != 0 or "".join(preset["source"].split()) not in "".join(one.stdout.decode().split()):
        fail(f"list presets {name} does not show the whole source")

one = json.loads(call("list", "presets", presets[0]["name"], "--json").stdout)
if one != presets[:1]:
    fail("list presets NAME --json is not the row of NAME")
done = call("list", "presets", presets[0]["name"] + "x")
if done.returncode != 2 or b"did you mean" not in done.stderr:
    fail("an unknown preset is not refused with a hint")
sys.exit(1 if bad else 0)
PY
