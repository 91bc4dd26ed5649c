#!/usr/bin/env bash
# Tapers that are compared or varied: what they rest on.
#
#     test_tapers.sh PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# --- tapers rest on ranks in order: with others each takes what a run of its plan takes, and that is said ---
tapers=(--job model=gpt-18.4b --engine spray --quiet)
"$program" sweep clos:gpus=256 --vary taper=1,3 "${tapers[@]}" --json >tapers.json
"$program" sweep clos:gpus=256 --vary taper=1,3 "${tapers[@]}" | tr -s '\n ' ' ' >tapers.txt
"$program" compare clos:gpus=256 clos:gpus=256,taper=3 "${tapers[@]}" --json >designs.json
"$program" sweep clos:gpus=256 --vary taper=3 "${tapers[@]}" --json >alone.json
python3 - "$program" <<'PYTHON' || fail "tapers with ranks at random"
import json, subprocess, sys
points = json.load(open("tapers.json"))["sweep"]["points"]
more = []
for point, taper in zip(points, ("1", "3")):
    e = point["engines"][0]
    plan = ",".join(f"{key.replace('_', '-')}={str(value).lower()}" for key, value in e["plan"].items() if key in ("tp", "cp", "pp", "dp", "ep", "interleave", "microbatch", "recompute", "zero", "order"))
    sequence = "yes" if e["plan"]["tp"] > 1 else "no"
    run = ["run", f"clos:gpus=256,taper={taper}", "--job", f"model=gpt-18.4b,placement=random,sequence-parallel={sequence}," + plan, "--engine", "spray", "--json", "--quiet"]
    out = subprocess.run([sys.argv[1], *run], capture_output=True, check=True).stdout
    time = json.loads(out)["iteration"][0]["time_s"]
    assert abs(time / e["random_s"] - 1) < 1e-9, (time, e)
    more.append(e["random_s"] / e["time_s"] - 1)
assert more[1] > 0.05 and more[1] > more[0], more
assert "with --job placement=random iterations take longer under these plans: " in open("tapers.txt").read()
assert [p["engines"][0]["random_s"] for p in json.load(open("designs.json"))["sweep"]["points"]] == [p["engines"][0]["random_s"] for p in points]
assert "random_s" not in json.load(open("alone.json"))["sweep"]["points"][0]["engines"][0]
PYTHON
exit $((failures > 0))
