#!/usr/bin/env bash
# clang-tidy over the sources, two at a time; with FILE... also the path that leads to a finding; with --quick without the
# analyzer, which follows paths through functions and takes nineteen twentieths of the time, and without files in which it
# found nothing before, with the same text of all that they include (tidy_digests.py; kept in ~/.cache/fabriscope-tidy).
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
  if [[ ${#checks[@]} -gt 0 ]]; then
    passed=${XDG_CACHE_HOME:-$HOME/.cache}/fabriscope-tidy
    mkdir -p "$passed"
    digests=$(python3 scripts/tidy_digests.py "$build" "${files[@]}")
    mapfile -t files < <(while read -r digest file; do [[ -e $passed/$digest ]] || echo "$file"; done <<<"$digests")
    echo "clang-tidy: ${#files[@]} files of $(wc -l <<<"$digests"); the others are as they were"
  fi
fi
[[ ${#files[@]} -gt 0 ]] || exit 0
printf '%s\0' "${files[@]}" | xargs -0 -n $at_once -P 2 clang-tidy -p "$build" "${checks[@]}" --quiet 2>&1 |
  { grep -E "$shown" || true; } | { grep -vE '^[0-9]+ warnings? (generated|treated)' || true; }
[[ -z ${digests-} ]] || (cd "$passed" && grep -v '^-' <<<"$digests" | cut -d' ' -f1 | xargs touch)
