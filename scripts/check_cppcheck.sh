#!/usr/bin/env bash
# A quick cppcheck pass over the sources; what it found in files that have not changed since, headers too, it has kept in
# ~/.cache/fabriscope-cppcheck, for other clones as well. Each works on a copy, and the last that finds nothing leaves its own there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
includes=()
for folder in src/*/include topologies/include routing/include reports/include; do
  [[ -d $folder ]] && includes+=("-I$folder")
done
kept=${XDG_CACHE_HOME:-$HOME/.cache}/fabriscope-cppcheck
mine=$kept.$$
trap 'rm -rf "$mine"' EXIT
mkdir -p "$kept"
cp -r "$kept" "$mine" 2>/dev/null || mkdir -p "$mine" # another may take it away meanwhile: then all are looked at
# fab_allocate hands its block over by memcpy, which cppcheck does not follow; the operand of __typeof__ it takes for a statement,
# and of statements without an effect gcc warns.
cppcheck --quiet --std=c11 --language=c -j "$(nproc)" --cppcheck-build-dir="$mine" --enable=warning,performance,portability --inline-suppr \
  --suppress=missingIncludeSystem --suppress=memleak:src/base/memory.c --suppress=constStatement --error-exitcode=1 -DFAB_VERSION='""' \
  "${includes[@]}" src topologies routing reports
rm -rf "$kept"
mv -T "$mine" "$kept" 2>/dev/null || true # another was faster
