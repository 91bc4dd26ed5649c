#!/usr/bin/env bash
# Every command of the manual, and what it shows of their output. UPDATE=1 bash tests/cli/test_manual.sh PROGRAM rewrites it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir bin
ln -s "$program" bin/fabriscope
cp "$root/src/doc/manual/cluster.net" .
pages=("$root"/src/doc/manual/[0-9]*.md)

# The index names every page and nothing else, and the README leads to it.
for page in "${pages[@]}"; do
  grep -qF "($(basename "$page"))" "$root/src/doc/manual/README.md" || fail "the index does not name $(basename "$page")"
done
while read -r link; do
  [[ -e $root/src/doc/manual/$link ]] || fail "the index leads to $link, which is not there"
done < <(grep -oE '\]\([^):#]+\)' "$root/src/doc/manual/README.md" | sed 's/](//; s/)//')
grep -qF '(src/doc/manual/README.md)' "$root/README.md" || fail "README.md does not lead to the manual"

# Every file that a page leads to is there, and every figure that it says to look up is explained.
for page in "${pages[@]}"; do
  while read -r link; do
    [[ -e $(dirname "$page")/$link ]] || fail "$(basename "$page") leads to $link, which is not there"
  done < <(grep -oE '\]\([^):#]+\)' "$page" | sed 's/](//; s/)//')
done
PATH=$PWD/bin:$PATH /usr/bin/python3 "$root/tests/cli/manual.py" "${pages[@]}" || failures=1
exit $((failures > 0))
