#!/usr/bin/env bash
# Links between documents, files that they name, a README in every folder of the product, and how long pages are.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=$root/tests/cli/check_documents.py
/usr/bin/python3 "$check" "$root" || fail "documents"

# What it is to find, it finds.
mkdir -p copy/src/base
(cd "$root" && git ls-files -zco --exclude-standard 2>/dev/null | tar c --null -T - 2>/dev/null || tar c --exclude='build*' --exclude=node_modules .) | tar x -C copy
sed -i 's/src\/doc\/manual\/one-run\.md/src\/doc\/manual\/no-run.md/' copy/README.md
echo "in \`src/base/not_there.c\`, [there](README.md#no-such-heading)" >>copy/src/base/README.md
for _ in {1..40}; do echo >>copy/routing/README.md; done
rm copy/src/rates/README.md
/usr/bin/python3 "$check" copy >out && fail "finds nothing"
for finding in "link to src/doc/manual/no-run.md" "names src/base/not_there.c" "no such heading" "routing/README.md: " "src/rates has no README.md"; do
  grep -qF "$finding" out || fail "does not find: $finding"
done
exit $((failures > 0))
