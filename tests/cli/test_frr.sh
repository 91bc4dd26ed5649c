#!/usr/bin/env bash
# FRR runs the configuration that is written for it, hosts reach each other through it, and its routes are read back.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
[[ $EUID -eq 0 && -x /usr/lib/frr/bgpd && -x /usr/lib/frr/zebra ]] || { echo "skipped: no root, or FRR is not installed" && exit 77; }
$python -c 'import yaml' 2>/dev/null || { echo "skipped: python3-yaml is missing" && exit 77; }
unshare -m -n sh -c 'mount -t tmpfs none /run && ip netns add x' 2>/dev/null || { echo "skipped: namespaces are not allowed" && exit 77; }
chmod 755 . # daemons of FRR run as a user of their own
for design in clos:gpus=16,gpus-per-server=2,radix=8,taper=2 clos:gpus=16,gpus-per-server=2,nics-per-server=1,radix=4,tiers=3; do
  rm -rf lab routes && mkdir lab
  "$program" build "$design" --format frr --quiet | tar -x -C lab
  timeout 200 unshare -m -n $python "$root/tests/cli/frr_lab.py" lab routes 2>err || { fail "$design: $(tail -n 1 err)" && continue; }
  for tables in "" ,tables=routes; do # BGP finds the minimal routes
    "$program" route "$design" --traffic pattern:permutation --engine ecmp$tables --seeds 3 --json --quiet >report.json 2>err || fail "$design: $(<err)"
    $python -c 'import json; print([[p["name"], {k: v for k, v in e.items() if k != "options"}] for p in json.load(open("report.json"))["phases"] for e in p["engines"]])' >figures$tables
  done
  cmp figures figures,tables=routes || fail "$design: routes of FRR are others"
done
exit $((failures > 0))
