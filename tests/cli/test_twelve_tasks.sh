#!/usr/bin/env bash
# Twelve questions of architects, operators and engineers who train models: each is answered by one or two commands, within
# the first 24 lines of what they print (twelve_tasks.py).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$root/src/doc/manual/cluster.net" .
PROGRAM=$program python3 "$root/tests/cli/twelve_tasks.py" || failures=1
exit $((failures > 0))
