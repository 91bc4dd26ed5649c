#!/usr/bin/env bash
# What a study says of all sets, and what it says where one of each class of equal ones was looked at.
# usage: test_study_classes.sh path/to/fabriscope
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fabriscope=$program

study() { # study NAME SCENARIOS ARGUMENTS...
  "$fabriscope" study "${@:3}" --scenarios "$2" --store "$1" --json --quiet >"$1.json" || fail "$1: exit $?"
}
compare() { # compare NAME
  python3 - "$1" <<'PYTHON' || fail "$1: not the same"
import json, math, sys
name = sys.argv[1]
each, some = (json.load(open(f"{name}-{kind}.json"))["study"] for kind in ("each", "some"))
# Classes want one policy alone. Scenarios have other numbers, of equal ones one is named; intervals and means are added up in another order.
LOOSE = {"source", "looked_at", "worst", "stopping", "worst_scenario", "equal", "max_scenario", "min_scenario", "worst_interaction",
         "critical_tied", "links_tied", "untried"}
def same(a, b, where):
    if isinstance(a, dict):
        for key in (a.keys() | b.keys()) - LOOSE:
            same(a.get(key), b.get(key), f"{where}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), (where, len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, float) or isinstance(b, float):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12), (where, a, b)
    else:
        assert a == b, (where, a, b)
same(each, some, "study")
assert some["done"] == each["done"] == each["scenarios"] and 0 < some["looked_at"] < each["done"], some["looked_at"]
PYTHON
}
fabric=rail-spine:gpus=64,radix=16,gpus-per-server=4
for of in job/links:2 $(some {pattern:all-to-all,pattern:shift\,by=24}/{links:1,links:2,switches:2} job/{links:1,switches:2}); do
  traffic=${of%/*} sets=${of#*/}
  name=${traffic//[:,=]/-}-${sets/:/-}
  study "$name-each" "$sets" $fabric --traffic "$traffic" --engine spray
  study "$name-some" "$sets@classes" $fabric --traffic "$traffic" --engine spray
  compare "$name"
done
study unused-each links:2 $fabric --traffic pattern:shift,by=4,gpus=0-15 --engine ecmp
study unused-some links:2@classes $fabric --traffic pattern:shift,by=4,gpus=0-15 --engine ecmp
compare unused

# Rows say how many they stand for; the pictures agree.
"$fabriscope" study show --store job-links-2-some --format csv --quiet >rows.csv || fail "rows: exit $?"
"$fabriscope" study show --store job-links-2-some --export some.svg --quiet >/dev/null || fail "picture: exit $?"
"$fabriscope" study show --store job-links-2-each --export each.svg --quiet >/dev/null || fail "picture: exit $?"
# shellcheck disable=SC2016
[[ $(awk -F, 'NR == 1 {print $NF} NR > 1 {n += $NF} END {print n}' rows.csv | paste -sd' ') == "n_equal 8128" ]] || fail "rows.csv: $(head -2 rows.csv)"
diff <(sed "/^    <text class=\"[bs]\"/d" each.svg) <(sed "/^    <text class=\"[bs]\"/d" some.svg) >differ || fail "the pictures differ: $(cut -c1-300 differ | head -6)"

refuse() { # refuse TEXT ARGUMENTS...
  "$fabriscope" study plan $fabric --store refused "${@:2}" --quiet 2>err.txt >/dev/null && fail "not refused: ${*:2}"
  grep -q -- "$1" err.txt || fail "${*:2}: $(cat err.txt)"
}
refuse 'paths depend on other flows' --scenarios links:2@classes --engine adaptive
refuse 'by their number' --scenarios links:2@classes --engine spray --policy first-spare
refuse 'packets' --scenarios links:2@classes --engine spray --transport pfc
refuse 'sets of 1 and of 2' --scenarios links:3@classes --engine spray
refuse 'planes are equal is not proven' --scenarios planes:1@classes --engine spray
refuse 'does not say how many histories' --scenarios time:3d@classes

[[ $failures -eq 0 ]]
