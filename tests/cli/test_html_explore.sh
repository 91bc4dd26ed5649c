#!/usr/bin/env bash
# Pages of explore in a headless Chromium beside the command line. Pictures go to the folder artefacts/html beside that of the
# program.
#
#     test_html_explore.sh PROGRAM
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v node >/dev/null; then
  echo "nodejs is not installed: skipped (scripts/setup --tests)"
  exit 77
fi
node --test-concurrency=1 "$root/tests/web/test_explore.mjs" "$program" "$work" "$(dirname "$program")/../artefacts/html" || failures=$?
exit "$failures"
