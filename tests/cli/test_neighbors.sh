#!/usr/bin/env bash
# Readers of neighbors, inventories and YAML against parsers of regular expressions: the same cables, either way round.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
audit() { # audit FILE PLAN: no finding but what the file contradicts itself in
  "$program" audit "$1" --against "$2" --json --quiet >report.json 2>err || { fail "$1: $(<err)" && return; }
  python3 - "$1" "$2" <<'PY' >log 2>&1 || fail "$1 against $2: $(tail -n 1 log)"
import json, sys
a = json.load(open("report.json"))["audit"]
assert a["cables"] > 0
odd = [f for f in a["findings"] if f["finding"] not in ("contradiction", "no-rate")]
assert not odd, (len(odd), odd[0]["finding"], odd[0]["what"])
PY
}
# Slurm's topology.yaml says what its topology.conf says, and back and forth nothing changes.
for design in clos:gpus=64,radix=16 rail-spine:gpus=128,radix=16 fat-tree:k=4; do
  "$program" build $design --format slurm-yaml --quiet >tree.yaml
  "$program" build $design --format slurm-tree --quiet >tree.conf
  audit tree.yaml tree.conf
  audit tree.conf tree.yaml
  "$program" build "installed:tree.yaml" --format slurm-tree --quiet >back.conf 2>err || fail "$design: $(<err)"
  "$program" build "installed:tree.conf" --format slurm-tree --quiet >forth.conf
  cmp -s back.conf forth.conf || fail "$design: the tree of topology.yaml is another"
done
# A file that no reader takes is answered with what it is.
is() { # is WORDS FILE
  "$program" audit "$2" >out 2>err && fail "$2 is read"
  grep -q "is $1" err || fail "$2: $(<err)"
}
printf '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n</topology>\n' >server.xml
is 'the inside of one server from hwloc' server.xml
is 'a design: fabriscope run' "$root/tests/data/two_jobs.xml"
is 'counters of ports: fabriscope observe' "$root/tests/data/counters/perfquery"
"$program" build clos:gpus=16 --json --quiet >report.json && is 'a report of this program: fabriscope diff' report.json
"$program" route clos:gpus=16 --engine dmodk --dump tables --quiet >out && is 'forwarding tables: fabriscope route' tables
head -c 300 "$root/tests/data/sites/layer1" >cut.json
"$program" audit cut.json >out 2>err && fail "a file that is cut off is read"
grep -q 'cut.json:.*the file is truncated' err || fail "truncated: $(<err)"
# Where both boxes were asked, a neighbor that one alone has heard is a finding; of boxes that were not asked nothing is.
mkdir asked
for leaf in 1 2; do
  { echo 'Port       Neighbor Device ID    Neighbor Port ID   TTL'
    for spine in 1 2; do echo "Et$spine        spine$spine                Ethernet$leaf          120"; done
    echo "Et9        srv$leaf                 mlx5_0             120"; } >asked/leaf$leaf.txt
  { echo 'Port       Neighbor Device ID    Neighbor Port ID   TTL'
    for up in 1 2; do echo "Et$up        leaf$up                 Ethernet$leaf          120"; done; } >asked/spine$leaf.txt
done
findings() { "$program" audit "$1" --json --quiet | python3 -c 'import json, sys
for f in json.load(sys.stdin)["audit"]["findings"]:
    if f["finding"] == "one-sided": print(f["node"], f["port"], f["other_node"], f["other_port"])'; }
[[ -z $(findings asked) ]] || fail "all heard: $(findings asked)"
sed -i '/^Et2/d' asked/leaf2.txt
[[ $(findings asked) == 'leaf2 Ethernet2 spine2 Ethernet2' ]] || fail "a folder where one is not heard: $(findings asked)"
for box in leaf1 leaf2 spine1 spine2; do echo "$box# show lldp neighbors" && cat asked/$box.txt; done >prompts.txt
[[ $(findings prompts.txt) == 'leaf2 Ethernet2 spine2 Ethernet2' ]] || fail "a capture where one is not heard: $(findings prompts.txt)"
# A prompt before a list is named, with the format of what stands below it.
"$program" build clos:gpus=16 --format cables --quiet >list.csv
{ echo 'admin@leaf-0:~$ cat list.csv' && cat list.csv; } >prompt.csv
"$program" audit prompt.csv >out 2>err && fail "a prompt before a list is read"
grep -q "prompt.csv:1: begins with 'admin@leaf-0:~. cat list.csv'; from line 2 on it is of the format cables: remove" err || fail "prompt: $(<err)"
if [[ -z ${FABRISCOPE_SAMPLES:-} || ! -d ${FABRISCOPE_SAMPLES:-}/lldp ]]; then
  echo "skipped: FABRISCOPE_SAMPLES has no lldp"
  exit 77
fi
n=0
for sample in "$FABRISCOPE_SAMPLES"/lldp/*.txt "$FABRISCOPE_SAMPLES"/layer1/*.json "$FABRISCOPE_SAMPLES"/sonic/*.csv "$FABRISCOPE_SAMPLES"/containerlab/*; do
  name=$(basename "$sample") && cp "$sample" "$name"
  python3 "$root/tests/cli/check_neighbors.py" "$name" "${name%.*}" >plan.csv 2>log || fail "$name: $(tail -n 1 log)"
  audit "$name" plan.csv
  audit plan.csv "$name"
  n=$((n + 1))
done
[[ $n -ge 8 ]] || fail "$n samples"
# Captures of sites that have nothing to do with each other are parts; nothing is missing between them.
"$program" audit "$FABRISCOPE_SAMPLES/lldp" --json --quiet >report.json 2>err || fail "captures of several sites: $(<err)"
python3 -c 'import json
kinds = [f["finding"] for f in json.load(open("report.json"))["audit"]["findings"]]
assert kinds.count("unreachable") == 4 and "missing-cable" not in kinds, kinds' || fail "captures of several sites"
# A model of topograph: hosts and cables counted by words.
for model in "$FABRISCOPE_SAMPLES"/topograph/*.yaml; do
  "$program" audit "$model" --json --quiet >report.json 2>err || fail "$model: $(<err)"
  python3 - "$model" <<'PY' || fail "$model: figures"
import json, re, sys
a, text = json.load(open("report.json"))["audit"], open(sys.argv[1]).read()
hosts = sum(int(b) - int(c) + 1 for c, b in re.findall(r'- "srv\d+\[(\d+)-(\d+)\]"', text))
uplinks = len(re.findall(r"(?m)^    - ", text))
assert (a["hosts"], a["cables"]) == (hosts, hosts + uplinks), (a["hosts"], a["cables"], hosts, uplinks)
PY
done
# What is built for containerlab is what is read.
"$program" build clos:gpus=64,radix=16 --format containerlab --quiet >lab.yml
"$program" build clos:gpus=64,radix=16 --format ptm --quiet >lab.dot
sed 's/"swp\([0-9]*\)"/"eth\1"/g' lab.dot >lab2.dot
audit lab.yml lab2.dot
audit lab2.dot lab.yml
# A folder is one network: a cable that both ends tell is one; other separators and names of columns make no difference.
mkdir folder
printf 'Port       Neighbor Device ID   Neighbor Port ID   TTL\nEt1   spine-0   Ethernet3   120\nEt2   node-7   eth0   120\n' >folder/leaf-0.txt
printf 'Port       Neighbor Device ID   Neighbor Port ID   TTL\nEt3   leaf-0.example.net   Ethernet1   120\n' >folder/spine-0.txt
printf 'Start Device;Start Port;End Device;End Port\nleaf-0;Ethernet1;spine-0;Ethernet3\nnode-7;eth0;leaf-0;Ethernet2\n' >plan.csv
audit folder plan.csv
tr ';' '\t' <plan.csv >tabs.csv
audit tabs.csv plan.csv
printf 'Et9   one   Ethernet1   120\nMa1   two   3   120\n' >>folder/leaf-0.txt
"$program" audit folder --json 2>err >report.json
grep -q 'folder: 1 left out: neighbors on management ports' err || fail "management ports: $(<err)"
exit $((failures > 0))
