#!/usr/bin/env bash
# Routes as FRR and SONiC print them: loads as a tracer of its own finds them, and what is wrong with them is said.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
check=$root/tests/cli/check_routes.py
$python -c 'import networkx' 2>/dev/null || { echo "skipped: python3-networkx is missing" && exit 77; }
for design in $(some clos:gpus=64,gpus-per-server=2,radix=8,taper=2 rail-spine:gpus=64,gpus-per-server=4,radix=8 clos:gpus=64,gpus-per-server=2,radix=8,tiers=3 \
  clos:gpus=32,radix=16,planes=2 fat-tree:k=4 installed:config_db installed:cables.csv); do
  if [[ $design == installed:config_db ]]; then
    "$program" build clos:gpus=64,gpus-per-server=2,radix=8,taper=2 --format sonic --quiet | tar -x
  elif [[ $design == installed:* ]]; then
    "$program" build rail-spine:gpus=64,gpus-per-server=4,radix=8,taper=2 --format cables --quiet >cables.csv
  fi
  for seed in 1 2 3; do
    rm -rf routes && "$program" build "$design" --format graphml --quiet >g.graphml
    $python "$check" make g.graphml routes $seed 2>err || { fail "$design: $(tail -n 1 err)" && continue; }
    for traffic in pattern:permutation pattern:shift,by=4; do
      "$program" route "$design" --traffic $traffic --engine file,path=routes --export loaded.graphml --force --format flows --quiet >flows.csv 2>err ||
        { fail "$design, $seed: $(<err)" && continue; }
      $python "$check" trace routes loaded.graphml flows.csv >log 2>&1 || fail "$design, $seed: $(tail -n 1 log)"
    done
    for engine in file,path= ecmp,tables=; do # one file with all of them says the same
      for path in routes routes.all.json; do
        "$program" route "$design" --traffic pattern:permutation --engine $engine$path --quiet --json 2>err | sed "s/$path/P/g" >$path.report || fail "$design, $engine$path: $(<err)"
      done
      cmp -s <(grep -v digest routes.report) <(grep -v digest routes.all.json.report) || fail "$design, $engine: another file, other figures"
    done
  done
done
# Minimal routes are what the engine takes by itself.
design=clos:gpus=64,gpus-per-server=2,radix=8,taper=2
"$program" build $design --format graphml --quiet >g.graphml
rm -rf routes* && $python "$check" make g.graphml routes 4
$python - <<'PY'
import json
a = json.load(open("routes.all.json"))
json.dump(a, open("good.json", "w"))
PY
refused() { # refused PATTERN PYTHON: routes that are changed so are refused
  local code=0
  $python -c "import json
a = json.load(open('good.json'))
first = next(iter(a))
spine = next(n for n in a if n.startswith('spine'))
$2
json.dump(a, open('bad.json', 'w'))"
  "$program" route $design --traffic pattern:ring --engine ecmp,tables=bad.json --quiet >out 2>err || code=$?
  [[ $code -eq 3 ]] && grep -qE "bad.json: .*$1" err || fail "$2: $code: $(<err)"
}
refused "no switch of this fabric" "a['nobody'] = a.pop(first)"
refused "has no routes of leaf-0" "a.pop('leaf-0')"
refused "is no prefix" "a[first]['10.0.0.0/33'] = a[first].pop(next(iter(a[first])))"
refused "is no prefix" "a[first]['10.0.0/8'] = a[first].pop(next(iter(a[first])))"
refused "no port of this switch" "a[spine]['10.0.0.0/24'][1]['nexthops'][0]['interfaceName'] = 'swp77'"
refused "stands there twice" "h = a[spine]['10.0.0.0/24'][1]['nexthops']; h.append(dict(h[0], fib=True))"
refused "has no prefix that is connected" "[a['leaf-0'].pop(k) for k in list(a['leaf-0']) if k.endswith('/31')]"
refused "leads to a NIC" "a['leaf-0']['10.9.0.0/24'] = [{'selected': True, 'protocol': 'bgp', 'nexthops': [{'fib': True, 'interfaceName': 'swp1'}]}]"
refused "may run in a circle" "up = a['leaf-1'].get('0.0.0.0/0') or a['leaf-1']['10.0.0.0/24']; a[spine]['10.0.0.0/24'] = [dict(up[1], nexthops=[{'fib': True, 'interfaceName': 'swp2'}])]; a['leaf-1']['10.0.0.0/24'] = up"
refused "different next hops" "a[spine]['10.0.0.0/31'] = [dict(a[spine]['10.0.0.0/24'][1], nexthops=[{'fib': True, 'interfaceName': 'swp2'}])]"
refused "has no list of routes" "a[first]['10.0.0.0/24'] = 7"
refused "a weight of 0" "a[spine]['10.0.0.0/24'][1]['nexthops'][0]['weight'] = 0; a[spine]['10.0.0.0/24'][1]['nexthops'] = [h for h in a[spine]['10.0.0.0/24'][1]['nexthops'] if h.get('fib')]"
head -c 4000 good.json >bad.json
code=0
"$program" route $design --traffic pattern:ring --engine ecmp,tables=bad.json --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -qE 'bad.json:1:[0-9]+' err || fail "cut off: $code $(<err)"
exit $((failures > 0))
