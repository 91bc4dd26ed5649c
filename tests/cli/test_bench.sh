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

"$bench" --program "$program" --runs 1 --only "build 65" --peers --quick --only "networkx, ECMP" --json rows.json --no-growth \
  >out 2>err || fail "failed: $(cat err)"
python3 - <<'EOF' || fail "rows.json is not as expected: $(cat rows.json)"
import json

rows = {row["name"]: row for row in json.load(open("rows.json"))}
assert set(rows) == {"build 65,536 GPUs", "networkx, ECMP", "networkx, ECMP, per leaf"}, set(rows)
own = rows.pop("build 65,536 GPUs")
assert own["unit"] == "cable" and abs(own["ns_per_unit"] * 327680 / own["cpu_min_s"] / 1e9 - 1) < 1e-9, own
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

"$bench" --program "$program" --runs 1 --only "growth, build, 1,024" --only "growth, build, 4,096" --json grown.json >grown 2>err ||
  fail "failed: $(cat err)"
python3 - <<'EOF' || fail "grown.json is not as expected: $(cat grown.json)"
import json, math

small, large = json.load(open("grown.json"))
assert small["gpus"] == 1024 and large["gpus"] == 4096 and small["growth_per_doubling"] is None
assert math.isclose(large["growth_per_doubling"], math.sqrt(large["cpu_min_s"] / small["cpu_min_s"]))
assert math.isclose(large["bytes_per_gpu"], large["peak_mib"] * 256) and large["ns_per_gpu"] > 0
EOF

# Two made-up files: faster, slower, within the noise of the floor and of the runs, memory, new, missing, skipped.
row() { # row NAME FASTEST MEDIAN [RUNS]
  echo "{\"name\": \"$1\", \"runs\": ${4:-5}, \"cpu_s\": $3, \"cpu_min_s\": $2}"
}
list() { # list FILE ROW...
  printf '%s\n' "${@:2}" | sed '1s/^/[/; $!s/$/,/; $s/$/]/' >"$1"
}
same=("$(row floor 1 1.01)" "$(row spread 1 1.30)" "$(row once 1 1 1)" "$(row better 2 2.02)" "$(row gone 1 1)")
list old.json "${same[@]}" "$(row worse 1 1.02)" '{"name": "kept", "runs": 5, "value": 10, "unit": "MiB", "cpu_s": 1, "cpu_min_s": 1}' '{"name": "left", "skipped": "no"}'
list new.json "$(row floor 1.04 1.05)" "$(row spread 1.28 1.3)" "$(row once 1.2 1.3)" "$(row better 1 1.03)" "$(row worse 1.1 1.11)" \
  '{"name": "kept", "runs": 5, "value": 12, "unit": "MiB", "cpu_s": 1, "cpu_min_s": 1}' '{"name": "left", "skipped": "no"}' "$(row fresh 1 1)"
code=0
"$bench" --compare old.json --with new.json >compared 2>err || code=$?
[[ $code -eq 1 ]] || fail "--compare: exit code $code, not 1: $(cat compared err)"
expect() { # expect NAME OLD NEW RATIO NOISE VERDICT
  grep -qE "^$1 +$2 +$3 +$4 +$5  $6\$" compared || fail "--compare says of $1: $(grep "^$1 " compared)"
}
expect floor "1 s" "1.04 s" 1.04 5% "within noise"
expect spread "1 s" "1.28 s" 1.28 30% "within noise"
expect once "1 s" "1.2 s" 1.20 25% "within noise"
expect better "2 s" "1 s" 0.50 5% faster
expect worse "1 s" "1.1 s" 1.10 5% slower
expect kept "10 MiB" "12 MiB" 1.20 10% "more memory"
expect gone "1 s" - - - missing
expect fresh - "1 s" - - new
expect left - - - - "not measured"
"$bench" --compare old.json --with old.json >compared || fail "--compare finds a difference in the same file: $(cat compared)"
list slower.json "${same[@]/\"cpu_min_s\": 2/\"cpu_min_s\": 1.9}" "$(row worse 1.04 1.05)"
"$bench" --compare old.json --with slower.json >compared || fail "--compare: within noise is no failure: $(cat compared)"
echo '{"name": 1' >broken.json
refuses 2 "broken.json is no file of scripts/bench --json" --compare old.json --with broken.json
refuses 2 "--with needs --compare" --with old.json

# Every measuring program has a row.
for source in "$root"/tests/bench/bench_*.c; do
  grep -q "\"$(basename "$source" .c)\"" "$root/tests/bench/bench_rows.py" || fail "no row measures by $(basename "$source" .c)"
done

# Every row of peers is there or named as skipped; a peer that is missing says by itself which package has it.
for script in peer_opensm.sh peer_networkx.py peer_simgrid.sh peer_simgrid_finish.sh; do
  missing=$("$root/tests/bench/$script" check) || [[ -n $missing ]] || fail "$script check says nothing"
done
exit $((failures > 0))
