#!/usr/bin/env bash
# scripts/bench: its rows as JSON, and what it refuses. The peers are measured only where they are cheap and installed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bench=$root/scripts/bench

refuses() { # refuses CODE TEXT ARGUMENTS...
  local code=0
  "$bench" --program "$program" "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 ]] || fail "${*:3}: exit code $code, not $1"
  grep -qF -- "$2" err || fail "${*:3}: $(cat err)"
}
refuses 2 usage --runs 0
refuses 2 usage --runs some
refuses 2 usage --everything
refuses 2 "no row has 'simgrid' in its name (without --peers)" --only simgrid --runs 1
refuses 1 "missing is no program" --program missing --only "build 65" --runs 1

"$bench" --program "$program" --runs 1 --only "build 65" --peers --quick --only "networkx, ECMP" --json rows.json \
  >out 2>err || fail "failed: $(cat err)"
/usr/bin/env python3 - <<'EOF' || fail "rows.json is not as expected: $(cat rows.json)"
import json

rows = {row["name"]: row for row in json.load(open("rows.json"))}
assert set(rows) == {"build 65,536 GPUs", "networkx, ECMP", "networkx, ECMP, per leaf"}, set(rows)
own = rows.pop("build 65,536 GPUs")
assert own["runs"] == 1 and own["cpu_target_s"] == 0.2 and own["peak_target_mib"] == 150, own
assert 0 < own["cpu_min_s"] <= own["cpu_s"] and own["wall_s"] > 0 and own["peak_mib"] > 0, own
for row in rows.values():
    if "skipped" in row:
        assert row["skipped"].startswith("missing python3-networkx"), row
        continue
    assert 0 < row["cpu_min_s"] <= row["cpu_s"] and 0 < row["peer_cpu_min_s"] <= row["peer_cpu_s"], row
    assert row["peer_runs"] == 1, row
    assert abs(row["ratio"] * row["cpu_min_s"] / row["peer_cpu_min_s"] - 1) < 0.1, row
    assert row["did"] and row["peer_did"] and row["peer"] and row["command"] and "ratio_target" in row, row
EOF
grep -q '^build 65,536 GPUs ' out || fail "no row in the table"
grep -q '^  peer (one run): ' out || grep -q "skipped 'networkx, ECMP': missing" err || fail "neither measured nor skipped"

# Every row of peers is there or named as skipped; a peer that is missing says by itself which package has it.
for script in peer_opensm.sh peer_networkx.py peer_simgrid.sh peer_simgrid_finish.sh; do
  missing=$("$root/tests/bench/$script" check) || [[ -n $missing ]] || fail "$script check says nothing"
done
exit $((failures > 0))
