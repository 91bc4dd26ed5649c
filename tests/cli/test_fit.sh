#!/usr/bin/env bash
# The shipped parameters of the compute model and the tables of src/doc/iteration-time.md are what the fit finds.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(dirname "$1")/iteration_rows
python3 "$here/../../scripts/fit_compute.py" "$program" --check "$here/../../src/doc/iteration-time.md" >/dev/null

# It notices other tables.
changed=$(mktemp)
trap 'rm -f "$changed"' EXIT
sed 's/^| gpt-1t | 163 |/| gpt-1t | 164 |/' "$here/../../src/doc/iteration-time.md" >"$changed"
if python3 "$here/../../scripts/fit_compute.py" "$program" --check "$changed" >/dev/null 2>&1; then
  echo "a changed table went unnoticed" >&2
  exit 1
fi
echo "ok"
