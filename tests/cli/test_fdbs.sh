#!/usr/bin/env bash
# ibdiagnet2.fdbs says what the tables of OpenSM say, in LIDs and ports alone: loads and collisions are the same.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# same DESIGN LFT: the same figures by either file
same() {
  python3 "$root/tests/cli/lft_to_fdbs.py" "$2" >f.fdbs 2>log || { fail "$1: $(tail -n 1 log)" && return; }
  cp "$2" f.lft
  for file in f.lft f.fdbs; do
    "$program" route "$1" --traffic pattern:permutation --engine "file,path=$file" --seeds 3 --threads 1 --json --quiet >$file.json 2>err ||
      { fail "$1, $file: $(<err)" && return; }
  done
  python3 - "$1" <<'PY' || fail "$1: other figures"
import json, sys
a, b = (json.loads(open(name).read().replace(name[:-5], "tables")) for name in ("f.lft.json", "f.fdbs.json"))
for report in (a, b):
    report.pop("meta", None)
if a != b:
    sys.exit("differs")
assert "load" in json.dumps(a)
PY
}
for design in fat-tree:k=4 clos:gpus=64,radix=16 rail-spine:gpus=64,gpus-per-server=4,radix=8 \
  clos:gpus=64,gpus-per-server=4,radix=16,planes=2 rail-only:gpus=64,gpus-per-server=4,radix=8; do # subnets count LIDs by themselves
  for engine in dmodk updn; do
    "$program" route "$design" --traffic pattern:ring --engine $engine --dump tables.lft --dump-format lft --force --quiet >log 2>err ||
      { fail "$design: $(<err)" && continue; }
    same "$design" tables.lft
  done
done
"$program" route fat-tree:k=4 --traffic pattern:ring --engine dmodk --dump tables.lft --dump-format lft --force --quiet >log
python3 "$root/tests/cli/lft_to_fdbs.py" tables.lft >good.fdbs
# refused PATTERN SED: what sed makes of the file is refused, in words and at a place of the pattern
refused() {
  local code=0
  sed "$2" good.fdbs >bad.fdbs
  ! cmp -s good.fdbs bad.fdbs || fail "$2 changes nothing"
  "$program" route fat-tree:k=4 --traffic pattern:ring --engine file,path=bad.fdbs --quiet >out 2>err || code=$?
  [[ $code -eq 3 ]] && grep -qE "bad.fdbs:$1" err || fail "$2: $code: $(<err)"
}
refused '3:[0-9]+: .*no switch of this fabric' '3s/Switch 0x.*/Switch 0xdeadbeef/'
refused '3:[0-9]+: .*where a switch was expected' '3s/Switch 0x.*/Switch/'
refused '5:1: .*is not followed by' '5s/ : yes//'
refused '5:1: .*is not followed by' '5s/ : .*//'
refused '5:1: .*no unicast LID' '5s/^0x0001/0x0000/'
refused '6:[0-9]+: .*(two NIC ports|second LID)' '6{s/: [0-9]*  :/: 001  :/}'
refused '3:1: .*was expected' '3d'
refused '[0-9]+:[0-9]+: .*has a table in line 3 already' "\$a $(sed -n 3p good.fdbs)"
refused '[0-9]+:[0-9]+: .*no port in use' 's/^\(0x0001 : \)003/\1099/'
code=0
"$program" route fat-tree:k=4 --traffic pattern:ring --engine ecmp,tables=good.fdbs --quiet >out 2>err || code=$?
[[ $code -eq 3 ]] && grep -q 'one port per destination' err || fail "ecmp reads them: $(<err)"
[[ -n ${FABRISCOPE_SAMPLES:-} && -d ${FABRISCOPE_SAMPLES:-}/opensm-dumps ]] || { echo "skipped: FABRISCOPE_SAMPLES has no opensm-dumps" && exit $((failures > 0 ? 1 : 77)); }
xz -dc "$FABRISCOPE_SAMPLES/opensm-dumps/topograph-minhop-lfts.dump.xz" >site.lft
cp "$FABRISCOPE_SAMPLES/opensm-dumps/topograph-subnet.lst.xz" site.lst # read as it is
same installed:site.lst site.lft
exit $((failures > 0))
