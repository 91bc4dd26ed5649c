#!/usr/bin/env bash
# Configuration of switches, and what schedulers are told: against the list of cables, and back. FRR runs what is written
# for it where it is installed and namespaces are allowed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
tool=$(dirname "$program")/network_tool
$python -c 'import yaml, networkx' 2>/dev/null || { echo "skipped: python3-yaml or python3-networkx is missing" && exit 77; }
figures() { # figures PATH: as import finds them
  "$program" import "$1" --json --quiet >report.json 2>err || { fail "$design, $1: $(<err)" && return; }
  $python -c 'import json
i = json.load(open("report.json"))["import"]
print(i["servers"], i["nics_per_server"], i["wiring"], i["rails"], [[b.get(key) for key in ("tier", "switches", "cables")] for b in i["boundaries"]])'
}
number=0
for design in fat-tree:k=4 rail-spine:gpus=64,gpus-per-server=4,radix=8 rail-spine:gpus=64,radix=16,domain=16 \
  clos:gpus=64,gpus-per-server=2,radix=8,tiers=3 clos:gpus=32,radix=16,planes=2 rail-only:gpus=64,radix=16 \
  clos:gpus=64,gpus-per-server=8,nic=200Gb/s,port=400Gb/s,breakout=2/1,radix=16 dragonfly:dragonfly=2,4,2,gpus-per-server=1,radix=7; do
  number=$((number + 1))
  mkdir -p $number/sonic $number/frr
  "$program" build "$design" --quiet --export $number/f.cables.csv --export $number/f.clab.yml --export $number/f.topology.yaml \
    --export $number/f.model.yaml --export $number/f.kueue.yaml --export $number/f.sonic.tar --export $number/f.frr.tar >out 2>err || fail "$design: $(<err)"
  mv $number/f.topology.yaml $number/f.tree.yaml
  tar -xf $number/f.sonic.tar -C $number/sonic 2>err && tar -xf $number/f.frr.tar -C $number/frr 2>>err && [[ ! -s err ]] || fail "$design: tar says $(<err)"
  $python "$root/tests/cli/check_switches.py" $number 2>err || fail "$design: $(tail -n 3 err)"
  # back: the same graph, the same figures, the same tree
  [[ $(figures $number/sonic/config_db) == "$(figures $number/f.clab.yml)" ]] || fail "$design: $(figures $number/sonic/config_db) instead of $(figures $number/f.clab.yml)"
  [[ $("$tool" list $number/sonic/config_db | grep -c ^cable) -eq $("$tool" list $number/f.cables.csv | grep -c ^cable) ]] || fail "$design: cables of config_db"
  cmp -s <("$tool" write slurm-yaml $number/f.model.yaml) <("$tool" write slurm-yaml $number/f.tree.yaml) || fail "$design: the model read back"
  cmp -s <("$tool" write topograph $number/f.model.yaml) $number/f.model.yaml || fail "$design: the model written again"
done
# A cable that is elsewhere is found against the plan by what SONiC says.
design=rail-spine:gpus=64,gpus-per-server=4,radix=8
cp -r 2/sonic/config_db now
sed -i 's/"name": "server-0", "port": "eth1"/"name": "server-1", "port": "eth9"/' now/leaf-0.json
"$program" audit now --against 2/sonic/config_db --json --quiet >report.json 2>err || fail "audit: $(<err)"
$python -c 'import json; assert len(json.load(open("report.json"))["audit"]["findings"]) in (1, 2)' || fail "a cable that is elsewhere"
# What the engine says of hashing.
"$program" route clos:gpus=64,radix=16 --traffic pattern:ring --engine ecmp,member-loss=resilient,offset=3/5,hash-seed=7/9,hash=crc16/crc32c \
  --format sonic --quiet | tar -x
"$program" route clos:gpus=64,radix=16 --traffic pattern:ring --engine ecmp,hash-seed=7/9 --format frr --quiet | tar -x
$python - <<'PY' 2>err || fail "hashing: $(tail -n 1 err)"
import json
leaf, spine = (json.load(open(f"config_db/{name}.json")) for name in ("leaf-0", "spine-0"))
assert leaf["SWITCH_HASH"]["GLOBAL"]["ecmp_hash_algorithm"] == "CRC_CCITT"
assert "ecmp_hash_algorithm" not in spine["SWITCH_HASH"]["GLOBAL"]  # SONiC has no name for this polynomial
assert leaf["FG_NHG"]["fabric"] == {"bucket_size": "64", "match_mode": "prefix-based", "max_next_hops": "8"}
blocks = {k.split("|")[2] for i in range(8) for k in json.load(open(f"config_db/leaf-{i}.json"))["BGP_GLOBALS_AF_AGGREGATE_ADDR"]}
own = {k.split("|")[2] for k in leaf["BGP_GLOBALS_AF_AGGREGATE_ADDR"]}
assert set(leaf["FG_NHG_PREFIX"]) == blocks - own and spine["FG_NHG"]["fabric"]["max_next_hops"] == "2"  # a trunk of two
for name, seed, offset in (("leaf-0", "7", "3"), ("spine-0", "9", "5")):
    (row,) = json.load(open(f"hash/{name}.json"))
    assert row == {"SWITCH_TABLE:switch": {"ecmp_hash_seed": seed, "ecmp_hash_offset": offset}, "OP": "SET"}
    assert f"net.ipv4.fib_multipath_hash_seed = {seed}\n" in open(f"sysctl/{name}.conf").read()
PY
"$program" route clos:gpus=64,radix=16 --traffic pattern:ring --engine spray --format sonic --quiet | tar -xO hash/leaf-0.json | grep -qx '\[\]' || fail "spray has no seed"
# What cannot be said.
printf 'A-node,A-port,Z-node,Z-port\nserver-0,1,leaf-0,1\nserver-1,1,leaf-0,2\n' >norate.csv
code=0
"$tool" write sonic norate.csv >out 2>err || code=$?
[[ $code -eq 3 && ! -s out ]] && grep -q "rate of port 'swp1' of 'leaf-0' is not known" err || fail "no rate: $code $(<err)"
exit $((failures > 0))
