#!/usr/bin/env bash
# The asset that is committed is what its sources build.
#
#     test_html_asset.sh PROGRAM
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! command -v node >/dev/null || [[ ! -d $root/reports/web/node_modules/esbuild ]]; then
  echo "nodejs and what reports/web/package-lock.json names are not installed: skipped (scripts/setup --tests)"
  exit 77
fi
(cd "$root/reports/web" && node build.mjs --check) || fail "reports/web/dist/report.html is not what reports/web/src builds"
grep -q "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; base-uri 'none'; form-action 'none'\"" \
  "$root/reports/web/dist/report.html" || fail "the page has no strict policy"
grep -q "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-[^']*' 'wasm-unsafe-eval'; style-src 'sha256-[^']*'; base-uri 'none'; form-action 'none'; worker-src blob:\"" \
  "$root/reports/web/dist/explore.html" || fail "the page that can be asked has another policy"
# every part of a report has a section with a title of its own
"$program" schema result >schema.json
for part in $(python3 -c 'import json; print(*json.load(open("schema.json"))["properties"])'); do
  grep -qE "( |\[)($part: '|'$part'(,|\]))" "$root/reports/web/src/other.js" || fail "the page calls '$part' by its key"
done
[[ $failures -eq 0 ]]
