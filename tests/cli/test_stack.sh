#!/usr/bin/env bash
# Golden cases, a share of them, on a stack of 256 KiB, which containers and threads of hosts may have: a crash is another exit code.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
ulimit -s 256
GOLDEN_SHARE=$FABRISCOPE_TEST_SHARE bash "$root/tests/cli/test_golden.sh" "$program" || fail "golden cases on a stack of 256 KiB"
for design in preset:llama3-24k-roce fat-tree:k=32; do
  "$program" route "$design" --traffic pattern:shift,by=8 --engine ecmp --engine adaptive --threads 2 --quiet >out.txt 2>err.txt ||
    fail "route $design: $(head -3 err.txt)"
done
exit $((failures > 0))
