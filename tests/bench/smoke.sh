#!/usr/bin/env bash
# A measuring program ends well and prints every row that it lists. Usage: smoke.sh PROGRAM DESIGN...
set -euo pipefail
program=$1
shift
mapfile -t names < <("$program" --list)
[[ ${#names[@]} -gt 0 ]]
for design in "$@"; do
  printed=$("$program" "$design" 1)
  for name in "${names[@]}"; do
    if ! grep -qE "^\{\"name\": \"$name\", (\"unsupported\": true|.*\"cpu_min_s\": [0-9.]+, .*\"ns_per_unit\": [0-9.]+.*)\}$" <<<"$printed"; then
      echo "$design: no row $name in" >&2
      echo "$printed" >&2
      exit 1
    fi
  done
  [[ $(wc -l <<<"$printed") -eq ${#names[@]} ]]
done
if "$program" "clos:gpus=none" 1 2>/dev/null; then
  echo "a wrong design is not refused" >&2
  exit 1
fi
