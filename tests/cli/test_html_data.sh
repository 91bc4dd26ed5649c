#!/usr/bin/env bash
# The block of data in report.html against report.json, fabric.graphml and flows.csv of the same run.
#
#     test_html_data.sh PROGRAM
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' 2>/dev/null; then
  echo "nodejs 18 or newer is not installed: skipped"
  exit 77
fi

n=0
folders=()
make() {
  n=$((n + 1))
  "$program" "$@" --out "$work/$n" --quiet >/dev/null || fail "$*"
  folders+=("$work/$n")
}
make run clos:gpus=128,radix=16,taper=3 --engine ecmp --engine spray --seeds 3
make run rail-spine:gpus=512,radix=16,pod=64,tiers=3
make run rail-spine:gpus=64,radix=16 --job model=gpt-1.7b,tp=2,pp=4,batch=16384,microbatch=1 --engine ecmp --engine spray
make run rail-only:gpus=64,radix=16,domain=16
make route fat-tree:k=8 --traffic pattern:permutation --engine ecmp,qp=4 --engine adaptive
make route torus:gpus=64,gpus-per-server=4,torus=4,4,2,radix=8 --traffic pattern:all-to-all --engine spray
make run dragonfly:gpus=72,gpus-per-server=1,dragonfly=2,4,2,radix=16
make run rail-spine:gpus=64,planes=2
{
  echo A-node,A-port,Z-node,Z-port,rate
  for i in 1 2 3 4; do
    for rail in 0 1; do echo "node-$i/nic-$rail,p0,MF0;leaf-$rail:X/U1,swp$i,400Gb/s"; done
  done
  echo 'MF0;leaf-0:X/U1,swp31,top,Ethernet1/1,400Gb/s'
  echo 'MF0;leaf-1:X/U1,swp31,top,Ethernet1/2,400Gb/s'
} >site.csv
make route installed:site.csv --traffic pattern:permutation --engine ecmp --engine spray
make build clos:gpus=64,radix=16
make cost clos:gpus=64 clos:gpus=64,taper=2
make sweep clos:gpus=64,radix=16 --vary taper.1=1,2 --engine spray
make compare clos:gpus=64,radix=16 clos:gpus=64,radix=16,taper=2 --engine spray
# more links of boundaries than a page takes: 240 points, 6 engines, 3 boundaries
make sweep clos:gpus=16,gpus-per-server=1,radix=4,tiers=3 --traffic pattern:shift,by=3 --vary "traffic.bytes=$(seq -s kB, 240)kB" \
  --engine ecmp --engine spray --engine dmodk --engine adaptive --engine ecmp,qp=2 --engine ecmp,qp=4
node "$root/tests/web/test_data.mjs" "${folders[@]}" || fail "the data of a page differ from another report"

[[ $failures -eq 0 ]]
