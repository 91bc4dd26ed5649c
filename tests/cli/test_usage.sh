#!/usr/bin/env bash
# The command line itself: help, hints, where options may stand, what a broken stdout gives.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect CODE TEXT ARGUMENTS...: exit code, TEXT (a pattern) in stderr, or in stdout when CODE is 0; the other is empty
expect() {
  local wanted=$1 text=$2 code=0
  shift 2
  "$program" "$@" >out 2>err </dev/null || code=$?
  [[ $code -eq $wanted ]] || fail "$*: exit code $code, not $wanted"
  if [[ $wanted -eq 0 ]]; then
    grep -qE -e "$text" out || fail "$*: stdout lacks '$text'"
    if grep -vE '^fabriscope: .* (peak memory|s left)' err; then fail "$*: stderr has more than the usage line"; fi
  else
    grep -qE -e "$text" err || { cat err; fail "$*: stderr lacks '$text'"; }
    [[ ! -s out ]] || fail "$*: stdout is not empty"
  fi
}

small=fat-tree:k=4
expect 2 'Usage: fabriscope'
expect 0 'Usage: fabriscope' --help
expect 0 'Usage: fabriscope' help
expect 0 '^fabriscope [0-9]+\.[0-9]+' --version
expect 0 '^fabriscope [0-9]+\.[0-9]+' version
for command in run build cost traffic route sweep compare place mix plan busbw optimize study audit observe import explain list schema version help; do
  expect 0 "Usage: fabriscope $command" help $command
  expect 0 "Usage: fabriscope $command" $command --help
  "$program" help $command >page
  if [[ $(awk '{ if (length($0) > w) w = length($0) } END { print w }' page) -gt 80 ]]; then
    fail "help $command is wider than 80 columns"
  fi
done
expect 2 "did you mean 'route'" ruote $small
expect 2 "did you mean '--seeds'" route $small --sedes 3
expect 2 "did you mean 'engines'" list engine
expect 2 "did you mean 'json'" build $small --format jsn
expect 2 'unknown option .--seeds' build $small --seeds 3
expect 2 'needs DESIGN, as in: fabriscope run preset:' run
expect 2 'needs --gpus N, as in: fabriscope optimize --gpus 16384 ' optimize
expect 2 'needs --scenarios SPEC .list scenarios., as in: fabriscope study rail-spine:gpus=128,radix=16 --scenarios switches:1' study $small
expect 2 'needs --vary path=v1,v2,... .list fields., as in: fabriscope sweep ' sweep $small
expect 2 "unknown option '--export'; commands that have it: run, build, traffic, route, compare, study and others$" sweep $small --vary gpus=16 --export x.png
expect 2 "unknown option '--traffic'; commands that have it: traffic, route, sweep, compare" run $small --traffic job
expect 2 'settings stand behind a comma, as in clos:gpus=64,radix=16' run $small radix=32
expect 2 'options --file and --json: --file prints the XML file as it is' list prices today-400g --file --json
expect 2 'one operand too many' run $small $small
expect 2 'needs a value' route $small --seed
expect 2 'takes no value' route $small --json=yes
expect 2 'option --json is short for --format json: give one' route $small --json --format xml
expect 2 'option --json is short for --format json: give one' build --format json --json $small
expect 2 'not a whole number' route $small --seeds=-1
expect 2 'outside' route $small --seeds 0
expect 2 'not path=value' build $small --set radix
expect 2 'not key=value' run $small --job tp
expect 2 'stands where the command' --json run $small
expect 2 'result or report' schema desing
expect 2 'csv nor in .mtx' traffic $small --traffic pattern:ring --export ring.txt
expect 0 '"fabric"' build --json -- $small
expect 0 '"fabric"' build $small --format=json
expect 0 '"seed": *3' route --seed=3 --json $small --quiet --traffic pattern:shift,by=4 --engine dmodk
expect 5 '^fabriscope: --json: ' build -- --json
expect 3 '.' build preset:none
expect 3 '.' route $small --engine nothing
expect 3 '.' route $small --traffic pattern:nothing
expect 3 '.' run $small --job nothing=1
expect 3 '.' cost $small --prices nothing

# Every option that help names is accepted, and every example runs.
examples_of() {
  "$program" help "$@" | sed -n '/^Examples/,$p' | sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' |
    { grep -E '^ +fabriscope ' || true; }
}
{
  examples_of
  for command in run build cost route sweep compare place mix plan traffic schema list; do
    examples_of $command
  done
} | sort -u >examples
[[ $(wc -l <examples) -gt 10 ]] || fail "the help has only $(wc -l <examples) examples"
# The same on smaller fabrics.
sed -i -E 's/gpus=(1024|512|256)/gpus=128/g; s/n-servers=64,dp=64/n-servers=8,dp=8/; s/batch=131072/batch=32768/
  s/(run|sweep) preset:llama3-24k-roce/\1 clos:gpus=128,radix=16,pod=64,tiers=3/' examples
while read -r _ arguments; do
  eval "\"\$program\" $arguments" >out 2>err || { cat err; echo "example: $arguments"; exit 1; }
done <examples || fail "an example of the help does not work"

# stdout: full, closed, or a pipe whose reader is gone
code=0
"$program" build $small >/dev/full 2>err || code=$?
[[ $code -eq 5 ]] && grep -q 'standard output' err || fail "/dev/full: exit code $code"
code=0
"$program" build $small >&- 2>err || code=$?
[[ $code -eq 5 ]] || fail "closed stdout: exit code $code"
# A pipe larger than its buffer, read by nobody
code=0
set +o pipefail
{ "$program" build fat-tree:k=16 --format graphml 2>err || echo $? >code; } | true
set -o pipefail
[[ $(cat code 2>/dev/null) == 5 && ! -s err ]] || fail "broken pipe: exit code $(cat code 2>/dev/null), $(cat err)"

# --out: made, not overwritten, unwritable
"$program" build $small --out made >/dev/null || fail "--out"
[[ -s made/report.json ]] || fail "--out wrote no report.json"
"$program" build $small,taper=2 --out made >/dev/null && grep -q 'taper=2' made/report.json || fail "--out into its own folder"
mkdir foreign && echo '{"program": "another"}' >foreign/report.json
expect 5 'exists' build $small --out foreign
grep -q another foreign/report.json && [[ $(ls foreign) == report.json ]] || fail "a folder of others was written into"
"$program" build $small --out foreign --force >/dev/null || fail "--force"
mkdir pipe && mkfifo pipe/report.json
expect 5 'exists' build $small --out pipe
touch file
expect 5 'not a folder' build $small --out file
expect 5 '.' build $small --out file/below
expect 5 '.' build $small --out /proc/fabriscope
[[ -z $(find made -name '*.partial' -o -name '*.tmp') ]] || fail "temporary files are left"

# matrix export
"$program" traffic $small --traffic pattern:ring --export ring.csv 2>err || fail "export csv"
grep -q ring.csv err || fail "export says nothing"
[[ $(wc -l <ring.csv) -eq 17 ]] || fail "ring.csv has $(wc -l <ring.csv) lines, not 17"
expect 5 'exists' traffic $small --traffic pattern:ring --export ring.csv
"$program" traffic $small --traffic pattern:ring --export ring.csv --force --quiet 2>err || fail "export --force"
[[ ! -s err ]] || fail "--quiet is not quiet"
"$program" traffic $small --traffic pattern:ring --export ring.mtx --quiet
head -n 1 ring.mtx | grep -q '^%%MatrixMarket matrix coordinate' || fail "ring.mtx is no MatrixMarket file"
"$program" traffic $small --traffic pattern:ring --export - >dash
cmp ring.csv dash || fail "--export - differs from the file"
expect 5 '.' traffic $small --traffic pattern:ring --export missing/ring.csv
expect 0 '"flows": 4294901760' traffic clos:gpus=65536 --traffic pattern:all-to-all --json
expect 2 'choose with --traffic another algorithm=' traffic $small --traffic pattern:all-gather,algorithm=all --export all.csv
expect 2 'choose with --traffic job:PHASE' traffic rail-spine:gpus=64 --job tp=8,pp=2 --export all.csv

# figures beyond what counts hold: neither 0 nor wrapped around
expect 0 '1\.21e-05 tokens/s, 1e9 tokens \$3\.666e\+17 by GPU hours' run clos:gpus=16,nic=1b/s --job \
  model=gpt-18.4b,tp=1,memory-check=off,gpu-hour-usd=1000000

# what nccl-tests call the bus bandwidth is at most a NIC's, and only a whole collective has one
expect 0 '"busbw_bps": 3[0-9]{11}\.' route clos:gpus=16,gpus-per-server=1 --traffic pattern:all-reduce,bytes=16MB --json
grep -q busbw out || fail "a ring has no bus bandwidth"
"$program" route clos:gpus=16,gpus-per-server=1 --traffic pattern:all-reduce,algorithm=halving-doubling --json --quiet >out
! grep -q busbw out || fail "a part of a collective has a bus bandwidth"

# what is chosen takes the memory of what is chosen
memory() { "$program" run rail-spine:gpus=64 --job "model=gpt-7.5b,tp=8,pp=2,batch=512,$1" --quiet --json | grep -o '"memory_bytes": .*'; }
chosen=$(memory microbatch=auto,interleave=auto)
[[ $chosen != "$(memory microbatch=1)" && $chosen == "$(memory microbatch=8,interleave=3)" ]] || fail "memory with auto: $chosen"

# out of memory: an error, no crash, or a refusal where what is left is known to be too little (a sanitizer needs the address space itself)
if ! ldd "$program" | grep -E 'lib[at]san' >/dev/null; then
  code=0
  limit=60000 # as much as the program needs to start; one without optimisation needs more
  until (ulimit -v $limit && "$program" version >/dev/null 2>&1) || [[ $limit -gt 200000 ]]; do
    limit=$((limit + 4000))
  done
  (ulimit -v $limit && "$program" run preset:llama3-24k-roce >out 2>err) || code=$?
  [[ ! -s out ]] && { { [[ $code -eq 70 ]] && grep -q allocate err; } || { [[ $code -eq 3 ]] && grep -q 'above the limit' err; }; } || fail "out of memory: exit code $code, $(cat err)"
fi

# two outputs of one file: refused before anything is written, however the names are spelt
mkdir twice
ln -s folder twice/link
mkdir twice/folder
for pair in "--certificate twice/x.svg --export twice/x.svg" "--certificate twice/x.svg --export ./twice//x.svg" \
  "--dump twice/t --certificate $PWD/twice/t" "--export twice/folder/x.svg --export twice/link/x.svg" \
  "--certificate twice/folder/../y.json --export twice/y.json" "--out twice/out --certificate twice/out/report.json" \
  "--out twice/out --certificate twice/out"; do
  # shellcheck disable=SC2086
  expect 3 'write the same file' route fat-tree:k=4 --traffic pattern:permutation --force $pair
done
expect 3 'write the same file' run clos:gpus=16 --job model=gpt-1.7b,memory-check=off --timeline t.json --export ./t.json --force
expect 3 'write the same file' build clos:gpus=16 --patch plan.cables.csv --export plan.cables.csv --force
[[ $(find twice -type f | wc -l) -eq 0 && ! -e t.json && ! -e plan.cables.csv ]] || fail "one of two outputs is written"
expect 0 '' route fat-tree:k=4 --traffic pattern:permutation --certificate twice/a --export twice/a.svg --out twice/out --quiet

# interrupted
"$program" route fat-tree:k=16 --seeds 1000000 --traffic pattern:all-to-all >out 2>err &
pid=$!
sleep 0.5
kill -INT $pid
code=0
wait $pid || code=$?
[[ $code -eq 130 && ! -s out ]] || fail "interrupt: exit code $code"
[[ $failures -eq 0 ]]
