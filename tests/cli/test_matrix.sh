#!/usr/bin/env bash
# Random traffic matrices, in CSV and MatrixMarket and out again in both: the same to readers of another make.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=$root/tests/cli/check_matrix.py
mkdir matrices
python3 "$check" make matrices 1
for file in matrices/*.csv matrices/*.mtx; do
  for suffix in csv mtx; do
    "$program" traffic clos:gpus=32 --traffic "file:$file" --export "${file%.*}.from-${file##*.}.$suffix" --quiet 2>err ||
      fail "$file to $suffix: $(<err)"
  done
done
python3 "$check" same matrices 2>err || fail "other entries: $(tail -n 1 err)"
sed -i '2s/[0-9]*$/3/' matrices/0.from-csv.csv
! python3 "$check" same matrices 2>err || fail "another entry passes for the same"
exit $((failures > 0))
