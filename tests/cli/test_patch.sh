#!/usr/bin/env bash
# Patch plans: one row per cable, no port twice, no port beyond the radix, files that are whole or not there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >check.py <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
fabric = json.load(open(sys.argv[2]))["fabric"]
floor = sys.argv[3] == "floor"
problems = []
def expect(ok, text):
    if not ok:
        problems.append(text)
expect(len(rows) == fabric["cables"], f"{len(rows)} rows, {fabric['cables']} cables")
expect(len({r["cable"] for r in rows}) == len(rows), "a cable twice")
is_direct = fabric["family"] in ("dragonfly", "torus")
radix = dict(zip(["switch"] if is_direct else ["leaf", "spine", "core", "tier4"], [t["radix"] for t in fabric["tiers"] if "radix" in t]))
seen, racks, ports, by_boundary, length = set(), {}, {}, {}, {}
for r in rows:
    by_boundary.setdefault(r["boundary"], []).append(r)
    length.setdefault(r["boundary"], []).append(float(r["length_m"]))
    for end in "az":
        device, port, rack = (r[f"{end}_{key}"] for key in ("device", "port", "rack"))
        expect((device, port) not in seen, f"{device} port {port} twice")
        seen.add((device, port))
        expect(racks.setdefault(device, rack) == rack, f"{device} in two racks")
        expect((rack != "") == floor, f"{device}: rack '{rack}'")
        number, lane = (port + "/0").split("/")[:2]
        ports.setdefault(device, set()).add(int(number))
        expect(int(number) >= 1 and int(lane) >= 0, f"{device} port {port}")
for device, used in ports.items():
    kind = device.split("-")[0]
    if kind != "server":
        expect(max(used) <= radix[kind], f"{device}: port {max(used)} of {radix[kind]}")
expect(len([d for d in ports if not d.startswith("server-")]) <= fabric["switches"], "more switches than there are")
expect(sorted(len(b) for b in by_boundary.values()) == sorted(t["cables"] for t in fabric["tiers"]), "cables by boundary")
for boundary, mean in ((t["boundary"], t["length_m"]) for t in fabric["tiers"]):
    expect(abs(sum(length[boundary]) / len(length[boundary]) - mean) < 1e-6 * mean + 1e-9, f"{boundary}: length")
if floor:
    in_rack = {}
    for device in racks:
        if device.startswith("server-"):
            in_rack.setdefault(racks[device], set()).add(device.split("/")[0])
    expect(max(len(s) for s in in_rack.values()) <= fabric["floor"]["servers_per_rack"], "too many servers in a rack")
    expect(len(set(racks.values())) <= fabric["floor"]["racks"], "more racks than there are")
for p in problems[:5]:
    print(p)
sys.exit(1 if problems else 0)
PY

# check DESIGN KIND: KIND is "floor" or "none"
check() {
  "$program" build "$1" --patch plan.csv --force --quiet --json >report.json || fail "$1: does not build"
  /usr/bin/python3 check.py plan.csv report.json "$2" || fail "$1"
}

floor=floor.rack-power=21kW
check clos:gpus=256,radix=32 none
check clos:gpus=256,radix=32,$floor floor
check clos:gpus=512,radix=32,taper=3,$floor,floor.leaf-at=row floor
check clos:gpus=1024,radix=64,breakout=2,port=800Gb/s,$floor floor
check clos:gpus=512,radix=32,breakout=2/1,breakout-up=1,port=800Gb/s none
check rail-spine:gpus=512,radix=64,planes=2,$floor floor
check rail-only:gpus=512,radix=64,domain=64,$floor floor
check fat-tree:k=8 none
check clos:gpus=96,radix=40,gpus-per-server=4,nics-per-server=2,$floor floor
check dragonfly:gpus=512,radix=32 none
check dragonfly:gpus=1024,radix=32,$floor floor
check torus:gpus=512,torus=4,4,4,radix=32,$floor floor
check preset:dgx-h100-superpod-1su none

# The plan on stdout is the plan in the file, and takes the place of the report.
"$program" build clos:gpus=64 --patch a.csv --quiet >/dev/null
"$program" build clos:gpus=64 --patch - >b.csv
cmp -s a.csv b.csv || fail "stdout and file differ"
[[ $(head -1 a.csv) == cable,a_rack,a_device,a_port,z_rack,z_device,z_port,boundary,rate,medium,length_m ]] ||
  fail "the first line is $(head -1 a.csv)"

expect() { # expect CODE TEXT ARGUMENTS...
  local wanted=$1 text=$2 code=0
  shift 2
  "$program" build clos:gpus=64 "$@" >out 2>err || code=$?
  [[ $code -eq $wanted ]] || fail "$*: exit code $code, not $wanted"
  grep -qE -e "$text" err || { cat err; fail "$*: stderr lacks '$text'"; }
  [[ ! -s out ]] || [[ $wanted -eq 0 ]] || fail "$*: stdout is not empty"
}
expect 5 'exists already' --patch a.csv
cmp -s a.csv b.csv || fail "a refused plan changed the file"
expect 0 'cables written to a.csv; racks are empty' --patch a.csv --force
expect 0 'cables written to c.csv$' --patch c.csv --set floor.slack=1m
expect 5 'cannot write' --patch missing/plan.csv
expect 2 'empty' --patch ''
expect 2 'standard output' --patch - --json
expect 2 'needs a value' --patch
if [[ -e /dev/full ]]; then
  expect 5 'exists already' --patch /dev/full
fi
compgen -G '*.tmp' >/dev/null && fail "a temporary file is left behind"
echo "$failures failures"
[[ $failures -eq 0 ]]
