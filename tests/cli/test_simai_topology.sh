#!/usr/bin/env bash
# Topologies of SimAI's ns-3: the Spectrum-X fabric of its generator is our design line by line; what is read has the
# boxes, cables and groups of the file; malformed files say where. A switch lends each of its cables half of its latency:
# the 500 ns of every cable are half of a leaf.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
spectrum=rail-spine:gpus=32,radix=8,domain-rate=360GB/s,domain-latency=50ns,latency.1=1us,latency.2=0s,length=0.000001m

"$program" build "$spectrum" --format simai --quiet >spectrum.simai || fail "not written"
[[ $(head -n 1 spectrum.simai) == "48 8 4 12 96 NONE" ]] || fail "counts: $(head -n 1 spectrum.simai)"
"$program" build "$spectrum" --export again.simai --quiet >/dev/null
cmp again.simai spectrum.simai || fail "--export writes other bytes"

# A design of what was read, written again: the delays of cables are those of the file, with nothing on top. (NVLink's
# rate and latency are those of the import.)
"$program" build installed:spectrum.simai --set domain-rate=360GB/s --set domain-latency=50ns --format simai --quiet 2>err >again
diff spectrum.simai again >diff || fail "written again: $(head -n 3 err) $(head -n 4 diff)"

# Every cable of the fabric once, by GraphML, in the numbers of SimAI.
compare() { # compare DESIGN
  "$program" build "$1" --format simai --quiet >out.simai || { fail "$1: not written"; return; }
  "$program" build "$1" --format graphml --quiet >out.graphml
  python3 - <<'PY' 2>err || fail "$1: $(tail -n 1 err)"
import collections
import re
import xml.etree.ElementTree as tree
space = "{http://graphml.graphdrawing.org/xmlns}"
root = tree.parse("out.graphml").getroot()
keys = {k.get("id"): k.get("attr.name") for k in root.iter(space + "key")}
data = lambda e: {keys[d.get("key")]: d.text for d in e.findall(space + "data")}
nodes = {n.get("id"): data(n) for n in root.iter(space + "node")}
gpus = sum(n["kind"] == "gpu" for n in nodes.values())
domains = sum(n["kind"] not in ("gpu", "nic") and n["label"].startswith("domain-") for n in nodes.values())
number, switches = {}, 0
for key, n in nodes.items():
    index = int(n["label"].rsplit("-", 1)[1])
    if n["label"].startswith(("gpu-", "nic-")):
        number[key] = index
    elif n["label"].startswith("domain-"):
        number[key] = gpus + index
    else:
        number[key] = gpus + domains + switches
        switches += 1
wanted = collections.Counter()
for e in root.iter(space + "edge"):
    d = data(e)
    if d["kind"] != "pcie":
        wanted[number[e.get("source")], number[e.get("target")], float(d["capacity_bps"]) / 1e9] += 1
lines = open("out.simai").read().splitlines()
head = lines[0].split()
assert list(map(int, head[:5:1]))[0] == gpus + domains + switches and [int(head[2]), int(head[3])] == [domains, switches], head
assert [int(x) for x in lines[1].split()] == list(range(gpus, gpus + domains + switches))
found = collections.Counter()
for line in lines[2:]:
    a, b, rate, delay, errors = line.split()
    assert re.fullmatch(r"[0-9.]+Gbps", rate) and re.fullmatch(r"[0-9.]+ms", delay) and errors == "0", line
    found[int(a), int(b), float(rate[:-4])] += 1
assert found == wanted, (list((found - wanted).items())[:3], list((wanted - found).items())[:3])
assert int(head[4]) == len(lines) - 2
PY
  "$program" audit out.simai --json --quiet >audit.json 2>err || fail "$1: $(<err)"
  "$program" build "$1" --json --quiet >build.json
  python3 - <<'PY' 2>err || fail "$1 read back: $(tail -n 1 err)"
import json
a, f = json.load(open("audit.json"))["audit"], json.load(open("build.json"))["fabric"]
assert (a["switches"], a["hosts"], a["adapters"]) == (f["switches"], f["gpus"] // 8, f["gpus"]), a
assert [b["present_cables"] for b in a["boundaries"]] == [t["cables"] for t in f["tiers"]], (a["boundaries"], f["tiers"])
PY
}
compare rail-spine:gpus=64,radix=16,taper=2
compare clos:gpus=128,radix=16
compare clos:gpus=64,radix=32,planes=2
compare fat-tree:k=8

refuse() { # refuse TEXT COMMAND...
  local code=0
  "$program" "${@:2}" --quiet >out 2>err || code=$?
  [[ $code -eq 3 && ! -s out ]] && grep -qE -e "$1" err || fail "${*:2}: exit code $code: $(<err)"
}
refuse '4 NICs in a server' build clos:gpus=64,radix=16,nics-per-server=4 --format simai
refuse 'no PCIe' build clos:gpus=64,radix=16,pcie=200Gb/s --format simai
refuse 'servers of 1 GPU' build fat-tree:k=4,gpus-per-server=1 --format simai
refuse 'servers of 1 GPU' build clos:gpus=64,radix=16,domain=1 --format simai
refuse 'builds none' cost fat-tree:k=4 --format simai

wrong() { # wrong PLACE TEXT: the file on stdin
  cat >bad.simai
  refuse "bad.simai$1.*$2" audit bad.simai --input-format simai
}
change() { # change SED-SCRIPT
  sed "$1" spectrum.simai
}
change '1s/96 NONE/96/' | wrong ':1:1: ' '5 columns'
change '1s/^48/48x/' | wrong ':1:1: ' 'number of nodes'
change '1s/^48/4800000/' | wrong ':1:1: ' 'number of nodes'
change '1s/ 12 / 60 /' | wrong ':1:8: ' 'number of switches'
change '2s/33/32/' | wrong ':2:3: ' 'node 32 is in the list of switches twice'
change '2s/$/ 5/' | wrong ':2:[0-9]+: ' 'end of the line'
change '2s/47//' | wrong ':2:[0-9]+: ' 'ends before the number of a switch'
change '2s/47/48/' | wrong ':2:46: ' 'from 0 to 47'
change '3s/^0 32/0 48/' | wrong ':3:3: ' 'from 0 to 47'
change '3s/^0 32/0 0/' | wrong ':3:1: ' 'joined to itself'
change '3s/^0 32/0 1/' | wrong ':3:1: ' 'without a switch'
change '3s/^0 32/32 33/' | wrong ':3:1: ' 'no GPU'
change '3s/2880Gbps/2880/' | wrong ':3:6: ' 'no rate such as'
change '3s/2880Gbps/0Gbps/' | wrong ':3:6: ' 'no rate such as'
change '3s/ms/m/' | wrong ':3:15: ' 'no time such as'
change '3s/ 0$/ 2/' | wrong ':3:26: ' 'no error rate'
change '3s/ 0$//' | wrong ':3:[0-9]+: ' 'ends before the error rate'
change '3s/$/ 0/' | wrong ':3:28: ' 'end of the line'
change '$d' | wrong ':97:1: ' '95 of 96'
change '$p' | wrong ':99:1: ' 'a link more'
printf '3 2 1\n' | wrong ':1:1: ' 'before the list of switches'
: | wrong ':1:1: ' 'is empty'
head -c 2000 spectrum.simai | wrong ':[0-9]+:[0-9]+: ' '' # cut anywhere
printf '1 0 0\n\0' | wrong ':2:1: ' 'zero byte'
sed 's/$/\r/' spectrum.simai >crlf.simai
"$program" audit crlf.simai --quiet >crlf.txt && "$program" audit spectrum.simai --quiet | sed 's/^spectrum/crlf/' | cmp - crlf.txt || fail "CRLF"
# HPCC's form: hosts, no servers.
printf '6 2 5\n4 5\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 5 100Gbps 1us 0\n3 5 100Gbps 1000ns 0\n4 5 400Gbps 0.001ms 0.000000\n' >hpcc.topo
"$program" audit hpcc.topo --json --quiet >audit.json 2>err || fail "HPCC: $(<err)"
python3 -c 'import json
a = json.load(open("audit.json"))["audit"]
assert (a["hosts"], a["switches"]) == (4, 2), a' || fail "HPCC's form"

if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: SimAI's own topology is skipped" >&2
else
  # The shortest cable, of 1 um, adds 5 femtoseconds.
  diff <(sed '1s/H100/NONE/' "$FABRISCOPE_SAMPLES"/simai-topo/Spectrum-X_32g_8gps_400Gbps_H100) <(sed 's/ 0.000500000005ms / 0.0005ms /' spectrum.simai) >diff ||
    fail "SimAI's Spectrum-X is another fabric: $(head -n 5 diff)"
fi
exit $((failures > 0))
