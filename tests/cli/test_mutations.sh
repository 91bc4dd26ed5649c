#!/usr/bin/env bash
# Files of simulators, broken at random: read or refused with a message, never anything else. The same seed every time.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir whole broken
"$program" build fat-tree:k=4,floor.lengths=tier --format htsim --quiet >whole/k4.topo
"$program" build clos:gpus=16,radix=16 --format simai --quiet >whole/clos.simai
printf 'Nodes 16\nConnections 3\n7->5 id 1 start 0 size 2000\n15->1 start 0 id 2 size 4000 prio 3\n7->5 start 0 size 1\n' >whole/flows.cm
printf '%s\n' 'HYBRID_TRANSFORMER model_parallel_NPU_group: 4 ep: 2 pp: 1 all_gpus: 16 checkpoints: 0' 3 \
  'a -1 5 ALLREDUCE 4096 1 NONE 0 1 ALLGATHER_DP_EP 64 1' 'b -1 5 ALLTOALL_EP 4096 1 ALLREDUCE 77 1 NONE 0 1' \
  'c -1 5 NONE 0 1 NONE 0 1 REDUCESCATTER 123456 1' >whole/layers.txt
cat >whole/server.xml <<'XML'
<system version="1">
  <cpu numaid="0">
    <pci busid="1" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="2" class="0x030200" link_speed="16 GT/s" link_width="8"><gpu dev="0" sm="80"><nvlink count="12"/></gpu></pci>
      <pci busid="3" class="0x020700" link_speed="16 GT/s" link_width="16"><nic><net name="a" speed="100000"/></nic></pci>
    </pci>
    <nic><net name="eth0" speed="10000"/></nic>
  </cpu>
</system>
XML
python3 "$root/tests/cli/mutate.py" 1 30 broken whole/*
read_it() {
  case $1 in
  *.topo) "$program" audit "$1" --input-format htsim --quiet ;;
  *.simai) "$program" audit "$1" --input-format simai --quiet ;;
  *.xml) "$program" explain "server:$1" ;;
  *) "$program" traffic clos:gpus=16 --traffic "file:$1" --quiet ;;
  esac
}
n_read=0
for file in whole/* broken/*; do
  code=0
  read_it "$file" >out 2>err || code=$?
  case $code in
  0) n_read=$((n_read + 1)) ;;
  3) [[ -s err && ! -s out ]] || fail "$file: refused without a message: $(head -c 200 err)" ;;
  *) fail "$file: exit code $code: $(head -c 400 err)" && cat "$file" ;;
  esac
done
[[ $n_read -ge 5 && $n_read -lt 120 ]] || fail "$n_read of 155 files were read: nothing was broken, or everything"
exit $((failures > 0))
