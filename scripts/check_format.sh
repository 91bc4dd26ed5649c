#!/usr/bin/env bash
# Every C file is as clang-format leaves it. Names the files that are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find src topologies routing reports tests \( -name '*.c' -o -name '*.h' \) -print0 | sort -z |
  xargs -0 -n 100 -P "$(nproc)" clang-format --dry-run --Werror 2>&1 | sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error:.*/\1: run clang-format -i on it/p' | sort -u
