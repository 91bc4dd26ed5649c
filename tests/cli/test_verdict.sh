#!/usr/bin/env bash
# The five lines with which a report begins: what they promise is what a run with it gives; every case has them; the same words in every format.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
/usr/bin/python3 "$root/tests/cli/check_verdict.py" "$program" || fail "the verdict"
"$program" run clos:gpus=64 --quiet >short && "$program" run clos:gpus=64 --conventions --quiet >long || fail "run"
grep -q "HOW THIS WAS COUNTED" short && fail "conventions without --conventions"
grep -q "HOW THIS WAS COUNTED" long && grep -q "lower bounds\|left out:" long || fail "no conventions with --conventions"
grep -q "conventions" short || fail "nothing says where the conventions are"
exit 0
