#!/usr/bin/env bash
# The power is cut at every moment of what writes files and stores; see power_cuts.py. Usage: test_power_cuts.sh PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
recorder=$(dirname "$program")/power_cut.so
if ldd "$program" | grep -E 'lib[a-z]*san\.so' >/dev/null; then
  echo "skipped: a sanitizer comes first among the libraries"
  exit 0
fi
/usr/bin/python3 "$root/tests/cli/power_cuts.py" "$program" "$recorder" "$work"
