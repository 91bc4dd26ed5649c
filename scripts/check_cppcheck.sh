#!/usr/bin/env bash
# A quick cppcheck pass over the sources; what it found in files that have not changed since, headers too, it has kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
includes=()
for folder in src/*/include topologies/include routing/include reports/include; do
  [[ -d $folder ]] && includes+=("-I$folder")
done
mkdir -p build/cppcheck
# fab_allocate hands its block over by memcpy, which cppcheck does not follow.
cppcheck --quiet --std=c11 --language=c -j 2 --cppcheck-build-dir=build/cppcheck --enable=warning,performance,portability --inline-suppr \
  --suppress=missingIncludeSystem --suppress=memleak:src/base/memory.c --error-exitcode=1 -DFAB_VERSION='""' \
  "${includes[@]}" src topologies routing reports
