#!/usr/bin/env bash
# Networks of InfiniBand are routed by destination where nobody gives an engine, and no advice is of a hash; a trunk that
# lacks a cable counts where switches share by capacity, and is named.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
hashes='qp=|hash=|offset=|pinned|queue pairs'

"$program" build rail-spine:gpus=128,radix=32,taper=2 --format ibnet --quiet >net
"$program" build rail-spine:gpus=128,radix=32,taper=2 --format cables --quiet >net.csv
"$program" build torus:gpus=16,torus=4,4,gpus-per-server=1,radix=16 --format ibnet --quiet >torus.net

says() { # says FILE TEXT: of lines that are joined
  tr -s ' \n' ' ' <"$1" | grep -F -- "$2" >/dev/null || fail "$1 does not say: $2"
}

# --- the default is one by destination, wherever a command takes one
one=(--traffic pattern:permutation)
job=(--job model=gpt-3.6b,tp=8,pp=1)
"$program" route installed:net "${one[@]}" --json --quiet >default.json
"$program" route installed:net "${one[@]}" --engine dmodk --json --quiet >dmodk.json
cmp <(grep -v how_sure default.json) <(grep -v how_sure dmodk.json) || fail "the default of InfiniBand is not dmodk"
"$program" route installed:net "${one[@]}" --quiet >route.txt
says route.txt "InfiniBand routes by destination: engine dmodk, near OpenSM's default in a tree"
"$program" run installed:net "${job[@]}" --quiet >run.txt
says run.txt "InfiniBand routes by destination: engine dmodk"
"$program" plan installed:net --job model=gpt-3.6b --quiet >plan.txt
says plan.txt "Fastest under dmodk:"
"$program" place installed:net "${job[@]}" --budget 8 --quiet >place.txt
says place.txt "Under dmodk"
"$program" study installed:net "${job[@]}" --scenarios fabric-links:1@4 --quiet >study.txt
says study.txt "Engine dmodk"
"$program" sweep installed:net --vary job.tp=4,8 --job model=gpt-3.6b,pp=1 --quiet >sweep.txt
says sweep.txt "Under dmodk"
"$program" compare installed:net installed:net.csv "${job[@]}" --quiet >compare.txt
says compare.txt "The engines differ, [1] dmodk, [2] ecmp"
"$program" import net --output imported.xml --quiet >import.txt
"$program" route imported.xml "${one[@]}" --quiet >imported.txt
says imported.txt "engine dmodk"
"$program" route installed:torus.net "${one[@]}" --quiet >torus.txt
says torus.txt "engine updn, as OpenSM's where there is no tree"
"$program" route rail-spine:gpus=128,radix=32 "${one[@]}" --set fabric.wire=infiniband --quiet >wire.txt
says wire.txt "engine dmodk"

# --- what is no InfiniBand hashes, and who asks for an engine has it
"$program" route installed:net.csv "${one[@]}" --quiet >csv.txt
says csv.txt " ecmp,hash=crc32,qp=1"
! grep 'InfiniBand routes' csv.txt || fail "a list of cables is taken for InfiniBand"
"$program" route installed:net "${one[@]}" --engine ecmp --quiet >asked.txt
says asked.txt " ecmp,hash=crc32,qp=1"
says asked.txt "InfiniBand does not hash flows as ecmp does: without --engine it is dmodk"

# --- advice is what the network can have
for text in run route asked torus; do
  ! sed -n '/^to do/,/^how sure/p' "$text.txt" | grep -E "$hashes" || fail "$text.txt advises a hash"
done
sed -n '/^to do/,/^how sure/p' csv.txt | grep -E "$hashes" >/dev/null || fail "a list of cables has no advice of a hash"
says route.txt "--engine spray saves"
"$program" route installed:net "${one[@]}" --advise --quiet | sed -n '/^ADVICE/,/^TRAFFIC/p' >advice.txt
grep -- '--engine spray' advice.txt >/dev/null || fail "spraying is not tried"
! grep -E "$hashes|granularity=flow" advice.txt || fail "advice of a hash"

# --- two servers that exchange their cables keep their pace by destination, and not under a hash; a plan beside a dump is
# routed as the dump is
"$program" build rail-spine:gpus=512,radix=32,taper=2 --format ibnet --quiet >large
"$program" build rail-spine:gpus=512,radix=32,taper=2 --format cables --quiet >large.csv
python3 - large >swapped <<'END'
import re, sys
lines = open(sys.argv[1]).read().splitlines()
entry = re.compile(r'(\[\d+\]\t)("H-\w+"\[1\]\(\w+\)\s+# )"server-(3|20) HCA-(\d+)" (lid \d+)(.*)')
found = {(m[3], m[4]): m for m in map(entry.match, lines) if m}
for line in lines:
    m = entry.match(line)
    if m:
        other = found["20" if m[3] == "3" else "3", m[4]]
        line = f'{m[1]}{other[2]}"server-{other[3]} HCA-{m[4]}" {other[5]}{m[6]}'
    print(line)
END
for before in large large.csv rail-spine:gpus=512,radix=32,taper=2; do
  "$program" diff "$before" swapped --job model=llama3-8b --quiet >diff.txt
  grep -E '^(As fast as before: an iteration takes 957.9 ms|Even: an iteration takes 957.9 ms, 957.8 ms before)' \
    diff.txt >/dev/null || fail "$before: $(head -n 1 diff.txt)"
  says diff.txt "PHASE BY PHASE dmodk"
  says diff.txt "server-3 and server-20 have exchanged places"
done
"$program" diff large swapped --job model=llama3-8b --engine ecmp --quiet >hashed.txt
grep '^Slower' hashed.txt >/dev/null || fail "a hash that is asked for: $(head -n 1 hashed.txt)"

# --- a trunk that lacks a cable: 4 GB over its three cables take 4e9 * 8 / (3 * 400e9) s, and 1.5 times that shared evenly
{
  echo a-node,a-port,z-node,z-port,rate
  for leaf in 1 2; do
    for k in 1 2 3 4; do
      echo "host-$leaf$k,1,leaf-$leaf,$k,400Gb/s"
      spine=$(((k + 1) / 2))
      [[ $leaf$k == 11 ]] || echo "leaf-$leaf,$((4 + k)),spine-$spine,$((2 * (leaf - 1) + 2 - k % 2)),400Gb/s"
    done
  done
} >cut.csv
printf 'src,dst,bytes\n4,0,1e9\n5,1,1e9\n6,2,1e9\n7,3,1e9\n' >flows.csv
cut=(route installed:cut.csv --set fabric.gpus-per-server=1 --traffic file:flows.csv --quiet)
"$program" "${cut[@]}" --engine spray >even.txt
says even.txt "in matrix: 40 ms"
says even.txt "= taper 1.33 x unequal trunks 1.50 x hash 1.00"
says even.txt "bound by unequal trunks x1.50 (taper x1.33)"
says even.txt "where switches can, --engine spray,weights=capacity saves 13.33 ms, 33.3 %"
says even.txt "trunks are unequal (missing cables: fabriscope audit)"
"$program" "${cut[@]}" --engine spray,weights=capacity >capacity.txt
says capacity.txt "bound by taper, in matrix: 26.67 ms"
! grep -E 'weights=capacity (shares|saves)|trunks are unequal' capacity.txt || fail "advice that is followed"
"$program" "${cut[@]}" --engine spray,weights=capacity --dump table >/dev/null
"$program" "${cut[@]}" --engine file,path=table >tables.txt
says tables.txt "in matrix: 26.67 ms"

# --- nobody gave what is installed a taper
"$program" build installed:net --quiet >built.txt
grep -E '^  leaf .* 2:1 +- ' built.txt >/dev/null || fail "a taper that nobody gave"
"$program" build rail-spine:gpus=128,radix=32,taper=2 --quiet >given.txt
grep -E '^  leaf .* 2:1 +2:1 ' given.txt >/dev/null || fail "a taper that was given is not shown"

exit $((failures > 0))
