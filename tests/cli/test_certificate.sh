#!/usr/bin/env bash
# Certificates are checked by a program that knows nothing of ours. Usage: test_certificate.sh PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python=/usr/bin/python3
[[ -x $python ]] || python=python3
verify() { "$python" "$root/scripts/verify" "$@"; }
[[ $(wc -l <"$root/scripts/verify") -le 400 ]] || fail "scripts/verify has more than 400 lines"

# Golden cases, and certificates in which a line is false.
mkdir golden
"$python" "$root/tests/cli/certificates.py" "$program" "$root/scripts/verify" "$root/tests/cli/cases" "$work/golden" || failures=1

# What golden cases do not have: bounds of all families, parts over several NICs, turns, windows, sizes that differ.
certify() { # certify DESIGN OPTION...
  "$program" build "$1" --format graphml --quiet >fabric.graphml
  "$program" route "$@" --certificate proof --force --quiet >report
  verify fabric.graphml proof >said || fail "$*: $(cat said)"
}
printf 'src,dst,bytes\n0,8,1000\n1,8,5000\n2,9,300000\n3,8,70000\n0,15,900000\n' >sizes.csv
certify fat-tree:k=4 --traffic pattern:permutation --engine ecmp,qp=4,spread=round-robin --bound
certify fat-tree:k=4 --traffic file:sizes.csv --engine ecmp --engine spray --engine adaptive,window=1kB --bound
certify clos:gpus=128,radix=16,taper=3,gpus-per-server=1 --traffic pattern:bisection --engine ecmp,qp=4 --engine adaptive --bound
certify rail-spine:gpus=256,radix=16,planes=2 --traffic pattern:hotspot --engine ecmp,qp=3 --engine spray --engine optimal --bound
certify dragonfly:dragonfly=2,4,2,radix=7 --traffic pattern:bisection --engine updn --engine optimal --bound
certify torus:torus=4,4,radix=8,gpus=16,gpus-per-server=1 --traffic pattern:all-to-all --engine ecmp --engine spray --bound

# With a report, tables and a certificate the bound is looked for once; each is the same as alone.
optimal=(route torus:torus=4,4,radix=8,gpus=16,gpus-per-server=1 --traffic pattern:bisection --engine optimal --bound --quiet)
"$program" "${optimal[@]}" >report
"$program" "${optimal[@]}" --certificate alone >/dev/null
"$program" "${optimal[@]}" --dump alone.tables >/dev/null
"$program" "${optimal[@]}" --certificate together --dump together.tables >report.together
cmp report report.together
cmp alone together
cmp alone.tables together.tables
"$program" "${optimal[@]}" --certificate other --dump - | cmp - alone.tables
cmp alone other
"$program" "${optimal[@]}" --threads 3 --certificate threads >/dev/null
cmp alone threads

# What the report says and the certificate does not is said.
leaves_out() { # leaves_out TEXT COMMAND...
  "$program" "${@:2}" --certificate left --force --quiet >/dev/null || fail "${*:2}"
  grep -q "^not certified: .*$1" left || fail "'$1' is not in: $(grep '^not certified' left)"
}
clos=clos:gpus=32,gpus-per-server=4,radix=8
leaves_out "power and counts of the fabric" route $clos --traffic pattern:ring
leaves_out "seeds but the first: distributions over the 3" route $clos --traffic pattern:ring --seeds 3
leaves_out "what --advise recommends" route $clos --traffic pattern:permutation --advise

# Every placement that was tried is there with its time; one that is faster than the winner is a lie.
"$program" route $clos --job tp=4,pp=2,dp=4,batch=64 --advise --advise-budget 12 --certificate tried --export tried.graphml --quiet >/dev/null
verify tried.graphml tried >said || fail "placements: $(cat said)"
[[ $(grep -c '^choice' tried) -eq $(sed -n 's/^claim tried //p' tried) ]] || fail "not all placements are listed"
grep -q '^claim least_s 0\.' tried || fail "no least time of placements"
sed -i '0,/^choice costs [0-9.]*/s//choice costs 1e-9/' tried
! verify tried.graphml tried 2>said || fail "a placement that is faster is not noticed"
grep -q "not one choice has won" said || fail "placements: $(cat said)"
leaves_out "memory, MFU, throughput and power" run $clos --job model=gpt-1.7b,memory-check=off
leaves_out "rates and times of phase permutation: its packets wait" route $clos --traffic pattern:permutation --transport pfc --export left.graphml
verify left.graphml left >said || fail "under pfc: $(cat said)"
leaves_out "jobs but the first" run "$root/tests/data/two_jobs.xml"

# What it says of itself: wrong usage, another fabric, an older format, a file that is not there; nothing is overwritten.
expect() { # expect CODE PATTERN COMMAND...
  local code=0
  "${@:3}" >said 2>&1 || code=$?
  [[ $code -eq $1 ]] && grep -q -- "$2" said || fail "${*:3}: exit code $code, $(cat said)"
}
expect 2 "verify FABRIC" verify
expect 2 "no-such-file" verify fabric.graphml no-such-file
expect 2 "syntax error" verify proof proof
"$program" build fat-tree:k=4 --format graphml --quiet >other.graphml
expect 1 "proof:[0-9]*: false: the graph is another fabric's" verify other.graphml proof
expect 1 ":1: false: this is no such certificate" verify fabric.graphml fabric.graphml
expect 5 "exists already" "$program" "${optimal[@]}" --certificate alone
expect 3 "first network only" "$program" route "$root/tests/data/front_end.xml" --traffic front-end --certificate none
[[ ! -e none ]] || fail "a certificate of the front-end"
exit $((failures > 0))
