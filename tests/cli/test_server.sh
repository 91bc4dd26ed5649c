#!/usr/bin/env bash
# Servers from NCCL's topology: which GPU shares what, and designs that take them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >pairs.xml <<'XML'
<system version="1">
  <cpu numaid="0" arch="x86_64">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" link_speed="16 GT/s" link_width="8">
        <gpu dev="0" sm="80" rank="0"><nvlink target="0000:f0:00.0" count="12" tclass="0x068000"/></gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x030200" link_speed="16 GT/s" link_width="16">
        <gpu dev="1" sm="80" rank="1"><nvlink target="0000:f0:00.0" count="8"/><nvlink target="0000:f1:00.0" count="4"/></gpu>
      </pci>
      <pci busid="0000:04:00.0" class="0x020700" link_speed="16 GT/s" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="100000" port="1"/><net name="mlx5_1" dev="1" speed="100000" port="2"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64">
    <pci busid="0000:81:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:82:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"><gpu dev="2" sm="80"><nvlink count="12"/></gpu></pci>
      <pci busid="0000:83:00.0" class="0x120000" link_speed="16 GT/s" link_width="16"><gpu dev="3" sm="80"><nvlink count="12"/></gpu></pci>
      <pci busid="0000:84:00.0" class="0x020000" link_speed="16 GT/s" link_width="16"><nic><net name="mlx5_2" speed="200000"/></nic></pci>
      <pci busid="0000:85:00.0" class="0x010802" link_speed="8 GT/s" link_width="4"/>
    </pci>
    <nic><net name="eth0" speed="10000"/></nic>
  </cpu>
</system>
XML
"$program" explain server:pairs.xml >out || fail "pairs: not read"
for line in '4 GPUs and 2 NICs of 200 Gb/s' '0000:02:00.0 +0 +0000:01:00.0 +mlx5_1 +2 +126 Gb/s +2.4 Tb/s' \
  '0000:03:00.0 +0 +0000:01:00.0 +mlx5_1 +2 +252.1 Gb/s +2.4 Tb/s' '0000:83:00.0 +1 +0000:81:00.0 +mlx5_2 +2 +252.1 Gb/s' \
  'gpus-per-server=4,nics-per-server=2,pcie=126.03Gb/s,nic=200Gb/s,domain-rate=2400Gb/s$'; do
  grep -qE "$line" out || fail "pairs: no line '$line': $(<out)"
done
same() { # same DESIGN DESIGN: the digest of what is built
  local a b
  a=$("$program" build "$1" "${@:3}" --json --quiet 2>err | grep -o '"design_digest": "[^"]*"' | head -n 1) || fail "$1: $(<err)"
  b=$("$program" build "$2" --json --quiet | grep -o '"design_digest": "[^"]*"' | head -n 1)
  [[ -n $a && $a == "$b" ]] || fail "$1 ${*:3} is not $2: $a, $b"
}
as=gpus-per-server=4,nics-per-server=2,pcie=126.03Gb/s,nic=200Gb/s,domain-rate=2400Gb/s
same clos:gpus=64,radix=32,server=pairs.xml clos:gpus=64,radix=32,$as
same clos:gpus=64,radix=32,server=pairs.xml,nic=100Gb/s clos:gpus=64,radix=32,${as/nic=200/nic=100}
same clos:gpus=64,radix=32,gpus-per-server=8 clos:gpus=64,radix=32,$as --set server=pairs.xml
# A GPU alone on its NIC gets its rate; two that share it half of that, or what their PCIe link leaves.
"$program" route clos:gpus=64,radix=32,server=pairs.xml --traffic pattern:shift,by=4 --engine dmodk --format flows --quiet >flows.csv
[[ $(awk -F, 'NR > 1 {print $8}' flows.csv | sort -u) == 100000000000 ]] || fail "GPUs do not share their NIC: $(head -n 3 flows.csv)"

wrong() { # wrong PLACE TEXT: the file on stdin
  local code=0
  cat >bad.xml
  "$program" explain server:bad.xml >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE -e "bad.xml$1.*$2" err || fail "$2: exit code $code: $(<err)"
}
change() { sed "$1" pairs.xml; }
change 's/<system/<machine/; s/system>/machine>/' | wrong ':1:1: ' 'expected NCCL'
change '4s/16 GT/fast GT/' | wrong ':4:[0-9]+: ' "'fast GT/s' is no speed"
change '4s/link_width="8"/link_width="wide"/' | wrong ':4:[0-9]+: ' "'wide' is no number of lanes"
change '4s/link_width="8"/link_width="65"/' | wrong ':4:[0-9]+: ' 'lanes up to 64'
change 's/count="8"/count="many"/' | wrong ':8:[0-9]+: ' 'no number of links'
change 's/ count="8"//' | wrong ':8:[0-9]+: ' 'without a count'
change 's/sm="80" rank="1"/sm="Ampere"/' | wrong ':8:[0-9]+: ' 'compute capability'
change 's/speed="200000"/speed="200G"/' | wrong ':[0-9]+:[0-9]+: ' 'speed in Mb/s'
change 's/0000:03:00.0/0000:02:00.0/' | wrong ':7:[0-9]+: ' 'taken: line 4'
change '4s/busid="[^"]*"//' | wrong ':4:7: ' 'without a busid'
change '/<gpu/d; s/0x030200/0x010200/; s/0x120000/0x010200/' | wrong ':' ''
grep -v -e 'gpu' -e 'class="0x03' pairs.xml | sed '/^      <\/pci>$/d; /<nic><net name="mlx5_0"/s/$/<\/pci>/' | wrong ':1:1: ' 'no GPU'
printf '<system><cpu><pci busid="1" class="0x030200"/></cpu></system>' | wrong ':1:1: ' 'no NIC'
head -c 700 pairs.xml | wrong ':[0-9]+:[0-9]+: ' ''
printf '<!DOCTYPE system [<!ENTITY a "b">]><system/>' | wrong ':1:' ''
: | wrong ':' ''
head -c 500 /dev/urandom | wrong ':' ''
iconv -f UTF-8 -t UTF-16 pairs.xml >utf16.xml
wrong ':1:1: ' 'UTF-16' <utf16.xml
sed 's/$/\r/' pairs.xml >crlf.xml
"$program" explain server:pairs.xml >out
"$program" explain server:crlf.xml | cmp - out || fail "CRLF"
code=0
change '/0000:84/d' >uneven.xml
"$program" explain server:uneven.xml >out || fail "uneven: not shown"
sed 's/0000:83:00.0" class="0x120000"/0000:83:00.0" class="0x010000"/; s/<gpu dev="3" sm="80"><nvlink count="12"\/><\/gpu>//' pairs.xml >three.xml
"$program" build clos:gpus=64,server=three.xml --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q 'server three.xml: 3 GPUs and 2 NICs' err || fail "three GPUs: $code $(<err)"

# The same server as hwloc exports it: the same table, without what NICs run at; and NICs of storage and consoles left out.
python3 "$root/tests/cli/hwloc_files.py" >hwloc.xml
python3 "$root/tests/cli/hwloc_files.py" nccl >nccl.xml
"$program" explain server:hwloc.xml >out || fail "hwloc: not read"
"$program" explain server:nccl.xml | diff - <(grep -v 'left out' out) >log || fail "hwloc tells something else than NCCL: $(<log)"
grep -q '^3 more NICs are left out: no RDMA, or behind no PCIe switch of a GPU' out || fail "hwloc, NICs: $(<out)"
grep -qE '^0000:4b:00.0 +1 +0000:40:00.0 +mlx5_4 mlx5_5 +2 +252.1 Gb/s +2.4 Tb/s' out || fail "hwloc: $(<out)"
same clos:gpus=64,radix=32,server=hwloc.xml clos:gpus=64,radix=32,gpus-per-server=8,nics-per-server=8,pcie=252.061Gb/s,domain-rate=2400Gb/s
gzip -c hwloc.xml >hwloc.xml.gz
"$program" explain server:hwloc.xml.gz | cmp - out || fail "hwloc, packed"
hwloc() { sed "$1" hwloc.xml; }
hwloc '/u64values/{s/50000/many/}' | wrong ':[0-9]+:[0-9]+: ' 'fewer numbers'
hwloc '0,/<u64values/{/<u64values/d}' | wrong ':[0-9]+:[0-9]+: ' 'fewer numbers'
hwloc '0,/<u64values/{s/<u64values[^>]*>1000000 /&many /}' | wrong ':[0-9]+:[0-9]+: ' 'or one that is none'
hwloc "0,/<indexes/{s/<indexes/<indexes>$(seq -s ' ' 5000 6024)<\/indexes>&/}" | wrong ':[0-9]+:[0-9]+: ' 'more than 1024 indexes'
hwloc 's/pci_link_speed="31[^"]*"/pci_link_speed="fast"/' | wrong ':[0-9]+:[0-9]+: ' "'fast' is no speed in GB/s"
hwloc 's/0302 /0100 /' | wrong ':[0-9]+:1: ' 'no GPU in it: lstopo keeps'
hwloc 's/020[07] /0100 /' | wrong ':[0-9]+:1: ' 'no NIC in it: lstopo keeps'
hwloc 's/SYSTEM "hwloc2.dtd"/[<!ENTITY a "b">]/' | wrong ':2:' 'DOCTYPE'
head -c 3000 hwloc.xml | wrong ':' ''
"$program" audit hwloc.xml >out 2>err && fail "an audit of a server"
grep -q 'explain server:FILE, and in designs server=FILE' err || fail "an audit of a server: $(<err)"

if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: servers of clouds are skipped" >&2
else
  samples=$FABRISCOPE_SAMPLES/nccl-topo
  # p4d: 8 GPUs, two on each of 4 NICs, PCIe 3 x16. NDv4: 8 GPUs and NICs, two of each behind a switch, PCIe 4 x16.
  "$program" explain "server:$samples/p4d-24xl-topo.xml" >out
  [[ $(grep -cE '^0000:.* 2 +126 Gb/s' out) -eq 8 && $(awk '/^0000:/ {print $4}' out | sort | uniq -c | awk '{print $1}' | sort -u) == 2 ]] || fail "p4d: $(<out)"
  grep -q 'gpus-per-server=8,nics-per-server=4,pcie=126.03Gb/s' out || fail "p4d: $(<out)"
  "$program" explain "server:$samples/ndv4-topo.xml" >out
  [[ $(grep -cE '^00.*ffff:ff:0[1-4].0  01.* 01.* 2 +252.1 Gb/s' out) -eq 8 ]] || fail "NDv4: $(<out)"
  grep -q 'gpus-per-server=8,nics-per-server=8,pcie=252.061Gb/s' out || fail "NDv4: $(<out)"
  "$program" explain "server:$samples/ndv2-topo.xml" | grep 'gpus-per-server=8,nics-per-server=1' >/dev/null || fail "NDv2"
  "$program" explain "server:$samples/topo_4p4h.xml" | grep '^16 GPUs and 16 NICs of 200 Gb/s' >/dev/null || fail "RCCL, 16 GPUs"
  "$program" explain "server:$samples/topo_8p6l_6nic.xml" | grep 'neither number divides' >/dev/null || fail "RCCL, 6 NICs"
  "$program" build preset:p4d-ultracluster --set "server=$samples/p4d-24xl-topo.xml" --json --quiet >p4d.json 2>err || fail "preset: $(<err)"
  python3 -c 'import json
f = json.load(open("p4d.json"))["fabric"]
assert (f["gpus"], f["nics"], f["servers"]) == (4000, 2000, 500), f' || fail "preset with the server of the cloud"
fi
exit $((failures > 0))
