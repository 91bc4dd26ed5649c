#!/usr/bin/env bash
# Files of InfiniBand's tools, UFM, SONiC and SNMP, made of a fabric by a script: each of them is that fabric.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# same FILE PLAN KINDS...: no cable of either is another, but for findings of these kinds, which the format cannot know
same() {
  local file=$1 plan=$2
  shift 2
  "$program" audit "$file" --against "$plan" --json --quiet >report.json 2>err || { fail "$file: $(<err)" && return; }
  python3 - "$@" <<'PY' >log 2>&1 || fail "$design, $file against $plan: $(tail -n 1 log)"
import json, sys
a = json.load(open("report.json"))["audit"]
assert a["cables"] > 0
odd = [f for f in a["findings"] if f["finding"] not in sys.argv[1:]]
assert not odd, (len(odd), odd[0]["finding"], odd[0]["what"])
PY
}
figures() { # figures FILE: servers, NICs, rails and tiers as import finds them
  "$program" import "$1" --json --quiet >report.json 2>err || { fail "$design, $1: $(<err)" && return; }
  python3 -c 'import json
i = json.load(open("report.json"))["import"]
print(i["servers"], i["nics_per_server"], i["nic_bps"], i["wiring"], i["rails"], [[b.get(key) for key in ("tier", "switches", "cables", "cable_bps")] for b in i["boundaries"]])'
}
for design in $(some clos:gpus=64,radix=16 fat-tree:k=4 rail-spine:gpus=64,gpus-per-server=4,radix=8 clos:gpus=128,gpus-per-server=4,radix=16,tiers=3) \
  dragonfly:dragonfly=2,4,2,gpus-per-server=1,radix=7; do
  rm -rf files && mkdir files
  "$program" build $design --format ibnet --quiet >net 2>err || fail "$design: $(<err)"
  "$program" build $design --format cables --quiet >cables.csv
  python3 "$root/tests/cli/site_files.py" net cables.csv files 2>err || fail "$design: $(tail -n 1 err)"
  figures net >wanted
  for file in iblinkinfo iblinkinfo-line iblinkinfo-switches ibdiagnet2.net_dump ufm; do
    same files/$file net
    same net files/$file
    figures files/$file >out
    cmp -s out wanted || fail "$design, $file: $(<out) instead of $(<wanted)"
  done
  same files/ufm.json net no-rate rate
  figures cables.csv >wanted
  same files/minigraph.xml cables.csv
  same cables.csv files/minigraph.xml
  same files/snmp cables.csv no-rate rate
  same cables.csv files/snmp no-rate rate
done
# Adapters that say nothing of their host are those of UFM's systems; these alone have no cables.
mkdir bare
sed -E 's/"(server-[0-9]+) HCA-[0-9]+"/"MT4129 ConnectX7 Mellanox Technologies"/g' files/ufm/ports.json >bare/ports.json
cp files/ufm/systems.json bare
"$program" import bare --json --quiet >report.json 2>err || fail "systems of UFM: $(<err)"
"$program" import net --json --quiet >net.json
python3 -c 'import json
a, b = (json.load(open(name + ".json"))["import"] for name in ("report", "net"))
assert a["servers"] == b["servers"] and a["nics_per_server"] == b["nics_per_server"], (a["servers"], b["servers"])' 2>err || fail "systems of UFM: $(<err)"
code=0
"$program" import files/ufm/systems.json --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q 'holds no cable' err || fail "systems alone: $code: $(<err)"
# Captures with prompts and warnings around and between, of several runs one behind the other.
{ echo 'user@head:~$ iblinkinfo' && echo 'ibwarn: [4711] _do_madrpc: recv failed: Connection timed out' && cat files/iblinkinfo && echo 'user@head:~$ exit'; } >capture
same capture net
# Two cables that are exchanged are found by every file.
for file in ibdiagnet2.net_dump iblinkinfo-line ufm.json; do
  python3 - files/$file >swapped <<'PY'
import re, sys
text = open(sys.argv[1]).read()
guids = sorted(set(re.findall(r"2fab2([0-9a-f]{10})", text)))
a, b = guids[0], guids[5]
text = text.replace("2fab2" + a, "SWAP").replace("2fab2" + b, "2fab2" + a).replace("SWAP", "2fab2" + b)
sys.stdout.write(text)
PY
  "$program" audit swapped --against net --json --quiet >report.json
  python3 -c 'import json; exit(len(json.load(open("report.json"))["audit"]["findings"]) < 1)' || fail "$file: exchanged adapters are not found"
done
# The sample of SONiC, by regular expressions.
sample=${FABRISCOPE_SAMPLES:-}/sonic/minigraph-SONIC01DPU.xml
[[ -f $sample ]] || { echo "skipped: FABRISCOPE_SAMPLES has no sonic" && exit $((failures > 0 ? 1 : 77)); }
python3 - "$sample" >plan.csv <<'PY'
import re, sys
print("A-node,A-port,Z-node,Z-port")
for link in re.findall(r"<DeviceLinkBase>(.*?)</DeviceLinkBase>", open(sys.argv[1]).read(), re.S):
    print(*(re.search(f"<{key}>(.*?)</{key}>", link)[1] for key in ("StartDevice", "StartPort", "EndDevice", "EndPort")), sep=",")
PY
same "$sample" plan.csv
same plan.csv "$sample"
exit $((failures > 0))
