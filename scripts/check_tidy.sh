#!/usr/bin/env bash
# clang-tidy over the sources, two at a time; with FILE... also the path that leads to a finding; with --quick without the
# analyzer, which follows paths through functions and takes nineteen twentieths of the time.
# Usage: scripts/check_tidy.sh [--quick] [BUILD_FOLDER [FILE...]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checks=()
at_once=1 # in a longer run the analyzer of clang-tidy 14 carries state over and finds va_lists uninitialised that are not
if [[ ${1-} == --quick ]]; then
  checks=(--checks=-clang-analyzer-*)
  at_once=12
  shift
fi
build=${1:-build/release}
shift || true
if [[ ! -f $build/compile_commands.json ]]; then
  echo "$build/compile_commands.json is missing: configure first" >&2
  exit 1
fi
files=("$@")
shown='error:|warning:'
[[ $# -eq 0 ]] || shown='.'
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(find src topologies routing reports -name '*.c' | sort)
fi
printf '%s\0' "${files[@]}" | xargs -0 -n $at_once -P 2 clang-tidy -p "$build" "${checks[@]}" --quiet 2>&1 |
  { grep -E "$shown" || true; } | { grep -vE '^[0-9]+ warnings? (generated|treated)' || true; }
