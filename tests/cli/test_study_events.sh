#!/usr/bin/env bash
# Events by name: reports say them, and ways to roll an update through add up.
# usage: test_study_events.sh path/to/fabriscope
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fabriscope=$program
fabric=(clos:gpus=128,gpus-per-server=8,radix=32 --set floor.servers-per-rack=2 --traffic pattern:shift,by=16 --engine ecmp,qp=8 --engine spray)

"$fabriscope" study "${fabric[@]}" --scenarios update:spine --store update --json --quiet >update.json || fail "update: exit $?"
"$fabriscope" study show --store update --format csv --quiet >update.csv || fail "rows: exit $?"
python3 - <<'PY' || fail "ways of an update"
import csv, json, re
from collections import defaultdict
study = json.load(open("update.json"))["study"]
rows = list(csv.DictReader(open("update.csv")))
engines = list(dict.fromkeys(row["engine"] for row in rows))
assert len(engines) == len(study["policy"]) == 2
for engine, variant in zip(engines, study["policy"]):
    ways = defaultdict(list)
    for row in rows:
        if row["engine"] == engine:
            k, spread = re.match(r"update, (\d+) at a time( far apart)?", row["name"]).groups()
            ways[int(k), spread is not None].append(1 if row["state"] == "stopped" else 1 - 1 / float(row["slowdown"]))
    seen = variant["rollouts"]
    assert len(seen) == len(ways), (seen, ways)
    order = []
    for way in seen:
        impacts = ways[way["at_a_time"], way["far_apart"]]
        assert way["steps"] == len(impacts), way
        assert abs(way["lost_steps"] - sum(impacts)) < 1e-9, (way, impacts)
        assert abs(way["max_impact_ratio"] - max(impacts)) < 1e-12, (way, impacts)
        assert way["stopped"] == sum(i == 1 for i in impacts), way
        order.append((way["stopped"], round(way["lost_steps"], 9), way["steps"]))
    assert order == sorted(order), order
    assert seen[0]["stopped"] == 0 and seen[-1]["at_a_time"] == 4 and seen[-1]["stopped"] == 1, seen
PY
"$fabriscope" study show --store update --quiet >update.txt
grep -A2 '^ROLLING UPDATE' update.txt | grep 'costs least' >/dev/null || fail "no way costs least"

says() { # says SCENARIOS TEXT
  "$fabriscope" study "${fabric[@]}" --scenarios "$1" --seeds 1 --store "${1/:/-}" --variant 1 --quiet >out.txt || fail "$1: exit $?"
  tr '\n' ' ' <out.txt | tr -s ' ' | grep -F "$2" >/dev/null || fail "$1: $(head -40 out.txt)"
  "$fabriscope" study show --store "${1/:/-}" --variant 1 --format html --quiet | grep -F "${2%%:*}" >/dev/null || fail "$1: not on the page"
}
says power:rack 'rack-0 loses power: 2 servers, 1 leaf'
says cooling:row 'hall-0/row-0 loses cooling: 9 racks, 16 servers, 8 leaves, 4 spines'
says line-card:8 'leaf-0 loses line card 1 (ports 1 to 8): 8 cables'
says bundle:switches 'bundle leaf-5 to spine-0 is cut: 4 cables'
says bundle:racks 'bundle rack-0 to rack-8 is cut: 16 cables'

# Halls that are hot at noon: a job waits for them where it has a rank.
hot() { # hot HALLS: goodput of a job in hall 0 of two
  "$fabriscope" study clos:gpus=128,gpus-per-server=8,radix=32 --set floor.servers-per-rack=2 --set floor.hall-power=90kW \
    --job model=gpt-1.7b,tp=2,dp=16,servers=0-3 --scenarios time:30d@8 --store "hot-$1" --set failures.throttle="${2:-0.1}" --set failures.throttle-halls="$1" \
    --json --quiet | python3 -c 'import json, sys; print(json.load(sys.stdin)["study"]["policy"][0]["goodput_ratio"]["mean"])'
}
[[ $(hot 0) == "$(hot 0-1)" && $(hot 0,1) == "$(hot '')" ]] || fail "halls with ranks: $(hot 0)"
[[ $(hot 1) == "$(hot 1,0-0 0)" && $(hot 1) != "$(hot 0)" ]] || fail "a hall without ranks: $(hot 1)"
"$fabriscope" study show --store hot-0,1 --quiet | tr -s ' \n' '  ' | grep -F 'to heat in halls 0,1.' >/dev/null || fail "halls are not named"
for halls in 2 1-0 1- ,1; do
  "$fabriscope" study clos:gpus=128,radix=32 --set floor.hall-power=90kW --scenarios time:30d@8 --set failures.throttle-halls=$halls --quiet >out 2>err && fail "halls $halls"
  grep -F failures.throttle-halls err >/dev/null || fail "$(cat err)"
done
"$fabriscope" study clos:gpus=128,radix=32 --scenarios time:30d@8 --set failures.throttle-halls=0 --quiet 2>err && fail "halls without a floor plan"
tr -s ' \n' '  ' <err | grep -F 'without a floor plan' >/dev/null || fail "$(cat err)"
# a floor that is assumed has no racks that fail; what the refusal says makes it the design's
same=(--job model=gpt-3.6b,tp=8 --engine spray --policy same-rack --quiet)
for with in "study DESIGN --scenarios servers:1" "study DESIGN --scenarios power:rack" "run DESIGN --fail server-3"; do
  read -ra words <<<"${with/DESIGN/clos:gpus=128,radix=32,spares=2}"
  "$fabriscope" "${words[@]}" "${same[@]}" 2>err && fail "$with on a floor that nobody named"
  advice=$(tr -s ' \n' '  ' <err | grep -oE -e '--set floor[^,]*') || fail "$with: $(cat err)"
  "$fabriscope" "${words[@]}" "${same[@]}" ${advice%% or*} >out || fail "$with does as it says: $advice"
done

[[ $failures -eq 0 ]]
