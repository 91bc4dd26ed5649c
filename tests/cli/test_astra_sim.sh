#!/usr/bin/env bash
# Networks for ASTRA-sim: YAML that its analytical backend takes, with the figures of the design; what its dimensions
# cannot say is refused.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
$python -c 'import yaml' 2>/dev/null || { echo "skipped: missing python3-yaml"; exit 77; }

network() { # network DESIGN WANTED: blocks, NPUs, Gb/s and ns of a link
  "$program" build "$1,floor.lengths=tier" --format astra-sim --quiet >network.yml 2>err || { fail "$1: $(<err)"; return; }
  $python - "$2" <<'PY' 2>err || fail "$1: $(tail -n 1 err)"
import ast, sys, yaml
wanted = ast.literal_eval(sys.argv[1])
net = yaml.safe_load(open("network.yml"))
assert set(net) == {"topology", "npus_count", "bandwidth", "latency"}
assert len({len(v) for v in net.values()}) == 1
assert set(net["topology"]) <= {"Ring", "FullyConnected", "Switch"}
assert all(type(n) is int for n in net["npus_count"]) and all(type(x) is float for x in net["bandwidth"] + net["latency"])
found = [(b, n, round(gb * 2**30 * 8 / 1e9, 3), round(ns, 3))
         for b, n, gb, ns in zip(net["topology"], net["npus_count"], net["bandwidth"], net["latency"])]
assert found == wanted, found
PY
}
refuse() { # refuse TEXT DESIGN
  local code=0
  "$program" build "$2,floor.lengths=tier" --format astra-sim --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE -e "$1" err || fail "$2: exit code $code: $(<err)"
}
network clos:gpus=32,radix=64 "[('Switch', 8, 3600.0, 500.0), ('Switch', 4, 400.0, 314.7)]"
network rail-spine:gpus=64,radix=64,domain-latency=2us,latency=500ns,length=10m "[('Switch', 8, 3600.0, 1000.0), ('Switch', 8, 400.0, 299.0)]"
network rail-only:gpus=128,radix=16,nic=800Gb/s "[('Switch', 8, 3600.0, 500.0), ('Switch', 16, 800.0, 314.7)]"
network clos:gpus=8,radix=64,gpus-per-server=1,domain=1 "[('Switch', 8, 400.0, 314.7)]"
network clos:gpus=8,radix=64 "[('Switch', 8, 3600.0, 500.0)]"
for design in clos:gpus=32,radix=64:1 clos:gpus=8,radix=64:0; do # what takes several dimensions is said where there are several
  [[ $("$program" build "${design%:*},floor.lengths=tier" --format astra-sim --quiet | grep -c 'congestion-aware one takes one dimension') -eq ${design##*:} ]] || fail "$design: which network takes it"
done
"$program" build clos:gpus=32,radix=64,floor.lengths=tier --export net.astra-sim.yml --quiet >/dev/null
"$program" build clos:gpus=32,radix=64,floor.lengths=tier --format astra-sim --quiet | cmp - net.astra-sim.yml || fail "--export writes other bytes"
refuse 'gpu-0 is on leaf-0 and gpu-8 on leaf-' fat-tree:k=4,gpus-per-server=8
refuse 'several tiers are no block' rail-spine:gpus=256,radix=32
refuse 'links of their own; in a torus' torus:torus=4,4,gpus=64,gpus-per-server=4
refuse 'links of their own; in a dragonfly' dragonfly:dragonfly=2,4,2,gpus-per-server=2
refuse '8 GPUs and 4 NICs' clos:gpus=32,radix=64,nics-per-server=4
refuse 'of 2 ports' clos:gpus=32,radix=64,planes=2
refuse 'no PCIe' clos:gpus=32,radix=64,pcie=100Gb/s
exit $((failures > 0))
