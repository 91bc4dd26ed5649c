#!/usr/bin/env bash
# Runs every cases/NAME.case and compares exit code, stdout (NAME.out) and stderr (NAME.err, empty when missing).
# A case is one line of arguments and one line "exit N"; lines that begin with # say what it is for.
# UPDATE=1 bash tests/cli/test_golden.sh PROGRAM rewrites the expected files. GOLDEN_SHARE=N: one case in N, others for every commit.
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/cases"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
count=0
share=${GOLDEN_SHARE:-1}
at=$((16#$(sha256sum <<<"${FABRISCOPE_TEST_SEED-}" | cut -c1-7)))
fail() {
  echo "FAIL $1"
  failures=$((failures + 1))
}

compare() { # compare CASE KIND ACTUAL
  local expected=$1.$2
  if grep -q ' s wall, ' "$3"; then
    fail "$1: $2 has the time of the run: add --quiet"
  elif [[ -n ${UPDATE-} ]]; then
    if [[ -s $3 ]]; then cp "$3" "$expected"; else rm -f "$expected"; fi
  elif [[ -e $expected ]]; then
    diff -u "$expected" "$3" || fail "$1: $2 differs"
  elif [[ -s $3 ]]; then
    cat "$3"
    fail "$1: $2 is not empty"
  fi
}

for file in *.case; do
  [[ -e $file ]] || continue
  name=${file%.case}
  (((at += 1) % share == 0)) || continue
  count=$((count + 1))
  mapfile -t lines < <(grep -v '^#' "$file")
  eval "arguments=(${lines[0]})"
  wanted=${lines[1]#exit }
  code=0
  "$program" "${arguments[@]}" >"$work/out" 2>"$work/err" </dev/null || code=$?
  sed -i -E '/^fabriscope: [0-9,]+ of [0-9,]+ .* s (left|so far)( \(.*\))?$/d' "$work/err" # of a run that takes long on this machine
  [[ $code -eq $wanted ]] || fail "$name: exit code $code, not $wanted"
  compare "$name" out "$work/out"
  compare "$name" err "$work/err"
done
echo "$count cases, $failures failures"
[[ $count -gt 0 && $failures -eq 0 ]]
