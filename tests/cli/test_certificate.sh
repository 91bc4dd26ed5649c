#!/usr/bin/env bash
# A certificate of the optimum is checked by a program that knows nothing of ours. Usage: test_certificate.sh PROGRAM
set -euo pipefail
program=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=/usr/bin/python3
[[ -x $python ]] || python=python3
n=0

certify() { # certify DESIGN TRAFFIC
  rm -f "$work/proof.csv"
  "$program" build "$1" --format graphml --quiet >"$work/fabric.graphml"
  "$program" route "$1" --traffic "$2" --engine spray --certificate "$work/proof.csv" --json --quiet >"$work/report.json"
  "$python" "$here/check_certificate.py" "$work/proof.csv" "$work/fabric.graphml" >/dev/null
  n=$((n + 1))
}
certify fat-tree:k=4 pattern:permutation
certify clos:gpus=128,radix=16,taper=3,gpus-per-server=1 pattern:bisection
certify rail-spine:gpus=256,radix=16,planes=2 pattern:hotspot
certify dragonfly:dragonfly=2,4,2,radix=7 pattern:bisection
certify torus:torus=4,4,radix=8,gpus=16,gpus-per-server=1 pattern:all-to-all

# With a report, tables and a certificate the bound is looked for once; each is the same as alone.
optimal=(route torus:torus=4,4,radix=8,gpus=16,gpus-per-server=1 --traffic pattern:bisection --engine optimal --quiet)
"$program" "${optimal[@]}" --bound >"$work/report"
"$program" "${optimal[@]}" --certificate "$work/alone.csv" >/dev/null
"$program" "${optimal[@]}" --dump "$work/alone" >/dev/null
"$program" "${optimal[@]}" --bound --certificate "$work/together.csv" --dump "$work/together" >"$work/report.together"
cmp "$work/report" "$work/report.together"
cmp "$work/alone.csv" "$work/together.csv"
cmp "$work/alone" "$work/together"
"$program" "${optimal[@]}" --bound --dump "$work/again" >"$work/report.together"
cmp "$work/report" "$work/report.together"
cmp "$work/alone" "$work/again"
"$program" "${optimal[@]}" --certificate "$work/other.csv" --dump - | cmp - "$work/alone"
cmp "$work/alone.csv" "$work/other.csv"
rm "$work/other.csv"

# A certificate that claims more than it proves is refused.
sed -E 's/^# lower=.*/# lower=99/; s/^# upper=.*/# upper=99/' "$work/proof.csv" >"$work/wrong.csv"
if "$python" "$here/check_certificate.py" "$work/wrong.csv" "$work/fabric.graphml" >/dev/null 2>&1; then
  echo "a wrong certificate passes" >&2
  exit 1
fi

# Nothing is overwritten, and a traffic of several phases has no single certificate.
code=0
"$program" route fat-tree:k=4 --traffic pattern:permutation --certificate "$work/proof.csv" --quiet >/dev/null 2>&1 || code=$?
[[ $code -eq 5 ]]
code=0
"$program" route preset:llama3-talk-racks --certificate "$work/other.csv" --quiet >/dev/null 2>&1 || code=$?
[[ $code -eq 2 && ! -e $work/other.csv ]]
echo "$n certificates checked"
