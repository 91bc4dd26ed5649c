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
entries=$(sed 1d matrices/0.from-csv.csv)
for header in source,destination,bytes from,to,size Sender,Receiver,num_bytes; do
  printf '%s\n%s\n' $header "$entries" >synonyms.csv
  "$program" traffic clos:gpus=32 --traffic file:synonyms.csv --export - --quiet | cmp - matrices/0.from-csv.csv || fail "header $header"
done
for header in source,destination source,dst,packets s,dst,bytes; do
  printf '%s\n%s\n' $header "$entries" >synonyms.csv
  "$program" traffic clos:gpus=32 --traffic file:synonyms.csv --quiet >out 2>err && fail "header $header is taken"
  grep -E 'synonyms.csv:1:[0-9]+: expected the header src,dst,bytes \(or source,destination,size; from,to,bytes\)' err >/dev/null || fail "header $header: $(<err)"
done
sed -i '2s/[0-9]*$/3/' matrices/0.from-csv.csv
! python3 "$check" same matrices 2>err || fail "another entry passes for the same"
exit $((failures > 0))
