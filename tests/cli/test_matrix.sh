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
# Rows that are servers: GPU k to GPU k of the other, bytes evenly; names of either kind, ';' and units are read.
printf 'src;dst;bytes\nserver-0;server-2;1GB\n3;1;17\n' >servers.csv
"$program" traffic clos:gpus=32 --traffic file:servers.csv,rows=servers --export - --quiet >out || fail "rows=servers"
python3 - out <<'PYTHON' || fail "bytes of servers: $(<out)"
import sys
rows = [tuple(map(int, line.split(","))) for line in open(sys.argv[1]).read().splitlines()[1:]]
assert sorted(rows) == sorted([(k, 16 + k, 125_000_000) for k in range(8)] + [(24 + k, 8 + k, 2 + (k == 0)) for k in range(8)]), rows
PYTHON
printf 'src,dst,bytes\ngpu-0,GPU-9,1.5KiB\n' >named.csv
"$program" traffic clos:gpus=32 --traffic file:named.csv --export - --quiet | grep -x '0,9,1536' >/dev/null || fail "names of GPUs, units"
# No placement moves what a file names, or a pattern places: never four placements that all take the same.
unmoved() { # unmoved ARGUMENTS...
  local code=0
  "$program" "$@" --quiet >out 2>err || code=$?
  [[ $code == 2 && ! -s out ]] && grep -F 'job.placement moves no traffic of a ' err >/dev/null || fail "$*: exit code $code, $(<err)"
}
unmoved place clos:gpus=32 --traffic file:servers.csv,rows=servers
unmoved place clos:gpus=32 --traffic pattern:shift,placement=random
unmoved route clos:gpus=32 --traffic file:servers.csv,rows=servers --job tp=1,placement=scattered
unmoved sweep clos:gpus=32 --traffic pattern:shift --vary job.placement=order,random
unmoved route clos:gpus=32 --traffic file:servers.csv,rows=servers --job tp=1 --job id=job,placement=order
"$program" route clos:gpus=32 --traffic file:servers.csv,rows=servers --job tp=1 --quiet >out || fail "a job beside a file of traffic"
echo '<design><fabric family="clos" gpus="32"/><job tp="1" placement="scattered"/></design>' >placed.xml
"$program" route placed.xml --traffic file:servers.csv,rows=servers --job id=job --quiet >out || fail "a job whose design places it, beside a file of traffic"
# A flow of four times the bytes, whose link others have left, ends on another rate than the first.
printf 'src,dst,bytes\n0,16,4GB\n1,16,1GB\n' >unlike.csv
"$program" route clos:gpus=32,gpus-per-server=1 --traffic file:unlike.csv --engine spray --quiet | grep -E 'Every flow runs at [0-9]+ Gb/s at first; ' >/dev/null || fail "rates at first"
printf 'src,dst,bytes\n0,16,1GB\n1,16,1GB\n' >alike.csv
"$program" route clos:gpus=32,gpus-per-server=1 --traffic file:alike.csv --engine spray --quiet | grep -E 'Every flow runs at [0-9]+ Gb/s; ' >/dev/null || fail "one rate"
refuses() { # refuses TEXT FILE
  local code=0
  "$program" traffic clos:gpus=32 --traffic "file:$2" --quiet >out 2>err || code=$?
  [[ $code == 3 ]] && grep -F "$1" err >/dev/null || fail "$2: exit code $code, $(<err)"
}
refuses 'servers.csv:2:1: a server where GPUs are read; write ,rows=servers behind the file' servers.csv
refuses "rows: 'racks' is none of gpus, servers" servers.csv,rows=racks
printf 'src,dst,bytes\n0,4,1\n' >beyond.csv
refuses 'beyond.csv:2:3: destination server 4 is outside 0 to 3' beyond.csv,rows=servers
printf 'src,dst,bytes\n2,2,1\n' >itself.csv
refuses 'itself.csv:2:1: a server sends to itself' itself.csv,rows=servers
printf '0;1,5;2\n1,5;0;3\n2;3;0\n' >decimals.csv
refuses "decimals.csv:1:4: ',' and ';' in one file: numbers have a decimal point" decimals.csv
printf 'src;dst;bytes\n0;1;8\n0,2;8\n' >mixed.csv
refuses "mixed.csv:3:2: ',' and ';' in one file" mixed.csv
# Names above the columns and before the rows: in any order, in quotes, with a word or nothing in the corner, or without
# rows' names. They are those of the fabric, and both sides have the same.
named() { # named EXPECTED SUFFIX LINE...
  printf '%b\n' "${@:3}" >names.csv
  "$program" traffic clos:gpus=32 --traffic "file:names.csv$2" --export - --quiet 2>err | sed 1d | sort | tr '\n' ' ' >out
  [[ $(<out) == "$1 " ]] || fail "${*:3}: $(<out) $(<err)"
}
between='1,3,16 3,1,8'
named "$between" '' ',gpu-3,gpu-1' 'gpu-3,0,8' 'gpu-1,16,0'
named "$between" '' ',gpu-1,gpu-3\r' 'gpu-3,8,0\r' 'gpu-1,0,16\r'
named "$between" '' '"";"rank3";"rank1"' '"rank1";16;0' '"rank3";0;8'
named "$between" '' '# bytes' ',3,1' '3,0,8' '' '1,16,0'
named "$between" '' 'from/to\tGPU3\tGPU-1' 'GPU3 0 8' 'GPU-1 16 0'
named "$between" '' 'gpu-3,gpu-1' '0,8' '16,0'
servers=$(for k in {8..15}; do echo "$k,$((k + 16)),2"; done; for k in {24..31}; do echo "$k,$((k - 16)),1"; done)
named "$(sort <<<"$servers" | tr '\n' ' ' | sed 's/ $//')" ,rows=servers ',server-3,server-1' 'server-3,0,8' 'server-1,16,0'
while IFS='|' read -r suffix text lines; do
  printf '%b' "$lines" >names.csv
  refuses "names.csv:$text" "names.csv$suffix"
done <<'CASES'
|1:2: a server where GPUs are read; write ,rows=servers behind the file|,server-0,server-1\nserver-0,0,8\nserver-1,1,0\n
|1:12: GPU 40 is outside 0 to 31|,gpu-0,gpu-40\ngpu-0,0,8\n
|1:8: no GPU of the fabric is called 'foo': they are gpu-0 to gpu-31|,gpu-0,foo\ngpu-0,0,8\n
,rows=servers|2:1: no server of the fabric is called 'foo': they are server-0 to server-3|,server-0\nfoo,8\n
|1:8: a second column of the same name|,gpu-0,gpu-0\ngpu-0,0,8\n
|3:1: a second row of the same name|,gpu-0,gpu-1\ngpu-0,0,8\ngpu-0,0,8\n
|3:1: a row of a name that no column has|,gpu-0,gpu-1\ngpu-0,0,8\ngpu-2,0,8\n
|3:1: expected as many rows as columns, found the end of the file|,gpu-0,gpu-1\ngpu-0,0,8\n
|2:11: number 3 of a row, where the first has 2|,gpu-0,gpu-1\ngpu-0,0,8,1\n
|2:6: expected ',', ';' or a blank behind the name, found '"'|,gpu-0,gpu-1\ngpu-0",0,8,1\n
|2:7: a GPU sends to itself|,gpu-0,gpu-1\ngpu-0,3,8\n
CASES
# Hosts of an installed network go by their names, in lines as well.
"$program" build clos:gpus=32 --format cables --quiet | sed -E 's/^server-([0-9]+) /node\1x /' >hosts.csv
printf ',node3x,node1x\nnode3x,0,8\nnode1x,16,0\n' >names.csv
printf 'src,dst,bytes\nnode3x,node1x,8\nnode1x,node3x,16\n' >lines.csv
for file in names lines; do
  "$program" traffic installed:hosts.csv,gpus-per-server=8 --traffic file:$file.csv,rows=servers --export - --quiet 2>err | sed 1d | sort >out
  [[ $(<out) == "$(sort <<<"$servers")" ]] || fail "hosts by name, $file: $(head -n 3 out) $(<err)"
done
refuses_here="names.csv:1:2: a server where GPUs are read"
! "$program" traffic installed:hosts.csv,gpus-per-server=8 --traffic file:names.csv --quiet 2>err || fail "hosts are GPUs"
grep -F "$refuses_here" err >/dev/null || fail "hosts as GPUs: $(<err)"
# As many rows as servers are likely these; the verdict says it, and what to write.
printf '0 5 5 5\n5 0 5 5\n5 5 0 5\n5 5 5 0\n' >square.csv
likely='the matrix names GPUs 0 to 3 of 32, as many as there are servers: if its rows are servers, write ,rows=servers behind the file'
unit='the matrix is read in bytes: no entry is above 5 B, so they are likely of a unit; write it behind each, 1.5GB'
"$program" route clos:gpus=32 --traffic file:square.csv --quiet | tr -s ' \n' ' ' >out
[[ $(grep -oF "$likely; $unit" out | wc -l) -eq 2 && $(<out) == *"how sure every seed gives the same; $likely; $unit clos:gpus=32"* ]] || fail "a matrix of servers: $(<out)"
"$program" route clos:gpus=32 --traffic file:square.csv,rows=servers --quiet >out
grep -F 'as many as' out >/dev/null && fail "rows=servers is doubted"
# Parts of bytes are rounded, which is said: of small numbers that they are likely of a unit that the file leaves out.
rounded() { # rounded TEXT FILE: in the verdict, in what there is to know, and of traffic on stderr; TEXT '': nowhere
  "$program" route clos:gpus=32 --traffic "file:$2" --quiet | tr -s ' \n' ' ' >out
  "$program" traffic clos:gpus=32 --traffic "file:$2" --quiet >/dev/null 2>err || fail "traffic of $2"
  if [[ -z $1 ]]; then
    ! grep -E 'rounded|likely of a unit' out err || fail "$2: rounding or a unit is said where there is none"
  else
    [[ $(grep -oF "$1" out | wc -l) -eq 2 && $(<err) == "fabriscope: $1" ]] || fail "$2: rounding is not said: $(<out) $(<err)"
  fi
}
unit='the matrix is read in bytes, and 3 entries of parts of one were rounded, by 100 % at most: no entry is above 7 B, so they are likely of a unit; write it behind each, 1.5GB'
printf 'src,dst,bytes\n0,8,1.5\n1,9,2.25\n8,0,0.3\n2,3,7\n' >fractions.csv
rounded "$unit" fractions.csv
printf '%%%%MatrixMarket matrix coordinate real general\n32 32 2\n2 3 9999.6\n1 2 55.5\n' >fractions.mtx
rounded 'the matrix is read in bytes, and 2 entries of parts of one were rounded, by 0.901 % at most: write bytes, or each with its unit, 1.5GB' fractions.mtx
printf 'src,dst,bytes\n0,8,1.5GB\n1,9,2.25e9\n8,0,123456.7\n' >whole.csv
rounded '' whole.csv
# So are whole numbers too few for a message, but where the file shows a unit or bytes of messages.
printf '0,64\n1,0\n' >message.csv
printf '0,3B\n1B,0\n' >units.csv
printf '0,4\n1,0\n' >relative.csv
rounded '' message.csv
rounded '' units.csv
rounded 'the matrix is read in bytes: no entry is above 4 B, so they are likely of a unit; write it behind each, 1.5GB' relative.csv
# The traffic's line always says what the rows were taken for, zeros in the last of them or not.
rows() { # rows TEXT FILE
  "$program" route clos:gpus=64,radix=16 --traffic "file:$2" --quiet | tr -s ' \n' ' ' | grep -F -- "TRAFFIC matrix ${2%%,*}: $1 phase" >/dev/null ||
    fail "what the rows of $2 are: $1"
}
rows '12 flows, 60 B between GPUs 0 to 3 (rows=servers reads servers)' square.csv
rows '60 flows, 60 B between servers 0 to 3' square.csv,rows=servers
printf '0 5 0 0\n5 0 0 0\n0 0 0 0\n0 0 0 0\n' >zeros.csv
rows '2 flows, 10 B between GPUs 0 to 3 (rows=servers reads servers)' zeros.csv
printf ',gpu-3,gpu-1\ngpu-3,0,8\ngpu-1,16,0\n' >gpus.csv
rows '2 flows, 24 B between GPUs 0 to 3' gpus.csv
rows '1 flow, 1 B between GPUs 0 to 4 (rows=servers reads servers)' beyond.csv
printf 'src,dst,bytes\n0,9,1\n' >nine.csv
rows '1 flow, 1 B between GPUs 0 to 9' nine.csv
# A run does not replace it, a study takes a copy along, and a server of one GPU is a server.
cp square.csv kept.csv
"$program" route clos:gpus=32 --traffic file:kept.csv,rows=servers --export kept.csv --force --quiet >out 2>err && fail "the matrix that is read is replaced"
cmp -s square.csv kept.csv || fail "the matrix that is read has changed: $(<err)"
"$program" study plan clos:gpus=32 --traffic file:kept.csv,rows=servers --scenarios access-links:1 --store matrix --quiet >/dev/null || fail "a study of a matrix of servers"
rm kept.csv
"$program" study run --store matrix --quiet >out 2>&1 || fail "the copy of a matrix of servers: $(<out)"
printf 'src,dst,bytes\nserver-0,server-1,1GB\n' >single.csv
"$program" traffic clos:gpus=8,gpus-per-server=1,domain=1 --traffic file:single.csv,rows=servers --quiet >out 2>&1 || fail "servers of one GPU: $(<out)"
sed -i '2s/[0-9]*$/3/' matrices/0.from-csv.csv
! python3 "$check" same matrices 2>err || fail "another entry passes for the same"
exit $((failures > 0))
