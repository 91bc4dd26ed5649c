# Sourced by the tests: $program, $root (of the checkout), an empty working folder that is removed at the end, and fail.
set -euo pipefail
# At the end of a pipe "grep ... >/dev/null": grep -q stops reading, which ends the program before it by a signal.
program=$(realpath "$1")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# What apt has modules for: in front of it may stand a script of a version manager, ten times as slow to start.
[[ ! -x /usr/bin/python3 ]] || hash -p /usr/bin/python3 python3
failures=0
# Of what is enumerated a test tries one in so many, another share for every commit; "scripts/test --long" all (drawn.py, harness.mjs).
export FABRISCOPE_TEST_SHARE=${FABRISCOPE_TEST_SHARE:-4}
export FABRISCOPE_TEST_SEED=${FABRISCOPE_TEST_SEED:-$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo 0)}
fail() {
  echo "FAIL: $1 (FABRISCOPE_TEST_SEED=$FABRISCOPE_TEST_SEED)"
  failures=$((failures + 1))
}
some() { # some WORD...: one in FABRISCOPE_TEST_SHARE of the words, at least one of them, others for every commit
  local every=$((FABRISCOPE_TEST_SHARE < $# ? FABRISCOPE_TEST_SHARE : $#)) at
  at=$((16#$(sha256sum <<<"$FABRISCOPE_TEST_SEED" | cut -c1-7)))
  for ((; $# > 0; at++)); do
    ((at % every != 0)) || printf '%s\n' "$1"
    shift
  done
}
both() { # both NAME ARGUMENTS...: one run, its text in NAME.txt and its data in NAME.json
  local name=$1 code=0
  shift
  "$program" "$@" --out "$name.out" >"$name.txt" || code=$?
  mv "$name.out/report.json" "$name.json" || true
  rm -rf "$name.out"
  return $code
}
