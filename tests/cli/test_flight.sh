#!/usr/bin/env bash
# Dumps of PyTorch's flight recorder: bytes, late and stuck ranks of jobs that are simulated beside.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1
python3 "$root/tests/cli/check_flight.py" "$program" >log 2>&1 || fail "$(tail -n 5 log)"
cat log
exit $((failures > 0))
