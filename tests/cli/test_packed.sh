#!/usr/bin/env bash
# What gzip and xz have packed, and standard input, are read as the text within; damage and bombs are refused with their line.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mkdir plain gz xz
# same FILE COMMAND...: the report of a packed file, and of standard input, is that of the text; FILE stands for it
same() {
  local name=$1 code=0 other packed
  shift
  (cd plain && "$program" "$@" >../wanted 2>../wanted.err) || code=$?
  gzip -nc "plain/$name" >"gz/$name"
  xz -c "plain/$name" >"xz/$name"
  for packed in gz xz; do
    other=0
    (cd $packed && "$program" "$@" >../out 2>../err) || other=$?
    [[ $other -eq $code ]] || fail "$name, $packed: another exit code: $(<err)"
    cmp -s out wanted && cmp -s err wanted.err || fail "$name, $packed: another report"
  done
  other=0
  (cd plain && "$program" "${@/#$name/-}" >../out 2>../err <"$name") || other=$?
  [[ $other -eq $code ]] || fail "$name, standard input: another exit code: $(<err)"
  [[ $(wc -l <out) -eq $(wc -l <wanted) ]] || fail "$name, standard input: another report"
  for packed in plain gz xz; do
    cat "$packed/$name" | (cd plain && "$program" "${@/#$name/-}" >../piped 2>../err) || true
    cmp -s out piped || fail "$name, $packed: a pipe is not what a file is: $(<err)"
  done
}
# refused CODE PATTERN COMMAND...: ends with CODE, and stderr has a line of the pattern
refused() {
  local code=0 wanted=$1 pattern=$2
  shift 2
  "$program" "$@" >out 2>err || code=$?
  [[ $code -eq $wanted ]] && grep -qE "$pattern" err || fail "$*: $code: $(<err)"
}
n=0
for site in $(some "$root"/tests/data/sites/*); do
  [[ -f $site ]] || continue
  cp "$site" plain/
  same "$(basename "$site")" audit "$(basename "$site")" --json --quiet
  n=$((n + 1))
done
[[ $n -ge 4 ]] || fail "$n sites"
cp "$root/tests/data/two_jobs.xml" plain/design.xml
same design.xml build design.xml --json --quiet
"$program" route fat-tree:k=4 --engine dmodk --dump plain/tables --quiet >log
(cd plain && "$program" route fat-tree:k=4 --engine file,path=tables --quiet --json) >wanted
gzip <plain/tables >gz/tables
(cd gz && "$program" route fat-tree:k=4 --engine file,path=tables --quiet --json) >out 2>err
cmp -s out wanted || fail "packed forwarding tables: $(<err)"
# A report from a pipe against the design that it is of.
"$program" run clos:gpus=16,radix=16 --job memory-check=off --json --quiet --threads 1 >report.json
gzip -c report.json | "$program" diff - report.json --quiet >out 2>err || fail "diff of a piped report: $(<err)"
# What is wrong within has its place in the text.
sed '3s/,.*//' "$root/tests/data/sites/cables" >broken
refused 3 'broken:3' audit broken
sed 's/broken/packed/' err >wanted
gzip -c broken >packed
refused 3 'packed:3' audit packed
cmp -s err wanted || fail "the place of an error: $(<err)"
# Cut off anywhere, or damaged: refused with a line, never read as less.
for i in $(seq 4000); do echo "leaf-$((i / 60)),$i,spine-$i,$((i / 60 + 1)),400Gb/s"; done >rows
{ echo A-node,A-port,Z-node,Z-port,rate && cat rows; } >list
gzip -nc list >list.gz
xz -c --check=crc32 list >list.xz
for packed in list.gz list.xz; do
  size=$(stat -c %s $packed)
  for part in 25 100 $((size / 2)) $((size * 9 / 10)) $((size - 4)); do
    head -c "$part" $packed >cut
    refused 3 'cut:[0-9]+(:[0-9]+)?: the file (is|may be) truncated' audit cut --input-format cables
  done
  python3 - $packed <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[len(data) * 2 // 3] ^= 0x55
open("hurt", "wb").write(data)
PY
  refused 3 'hurt:[0-9]+(:[0-9]+)?: ' audit hurt --input-format cables
done
# Several members in a file are one text; bytes behind them are damage.
{ head -n 2000 list | gzip -n && tail -n +2001 list | gzip -n; } >two.gz
{ head -n 2000 list | xz && tail -n +2001 list | xz; } >two.xz
"$program" audit list --json --quiet >wanted
for packed in two.gz two.xz; do
  "$program" audit $packed --json --quiet >out 2>err || fail "$packed: $(<err)"
  [[ $(sed 's/two\.[gx]z/list/' out) == "$(<wanted)" ]] || fail "$packed is another list"
  { cat $packed && echo more; } >tail
  refused 3 'damaged|truncated' audit tail
done
# A bomb: 80 MiB of comments in a few kB.
python3 - <<'PY'
import gzip, lzma
block = (b"#" * 1023 + b"\n") * 1024
for name, pack in (("bomb.xz", lzma.open), ("bomb.gz", gzip.open)):
    with pack(name, "wb") as out:
        out.write(b"A-node,A-port,Z-node,Z-port\n")
        for _ in range(80):
            out.write(block)
PY
refused 3 'bomb.xz:[0-9]+:.*more than 64 MiB and more than 1000 times' audit bomb.xz --input-format cables
refused 3 'bomb.gz' build bomb.gz
# What other programs have packed is named; a design cannot stand on standard input.
printf '\x28\xb5\x2f\xfdrest' >a.zst
refused 3 'compressed by zstd' audit a.zst
refused 2 'standard input' import - --output design.xml <list
[[ ! -e design.xml ]] || fail "a design on standard input"
exit $((failures > 0))
