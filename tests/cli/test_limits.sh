#!/usr/bin/env bash
# How much memory and time a run may take: refused by an estimate, ended by a limit, and every size at the edges.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=rail-spine:gpus=4096,radix=64

refuses() { # refuses CODE TEXT ARGUMENTS...: with that exit code and message, and nothing on stdout
  local code=0
  "$program" "${@:3}" >out 2>err || code=$?
  [[ $code -eq $1 ]] || fail "${*:3}: exit code $code, not $1: $(cat err)"
  grep -qF -- "$2" err || fail "${*:3}: $(cat err)"
  [[ ! -s out ]] || fail "${*:3}: something on stdout"
}
# By the estimate: of the graph, of the tables, of the paths. Nothing of it is there: a tenth of a second is a lot.
refuses 3 "the graph of 1,048,576 GPUs and 4,194,304 cables would take about" build rail-spine:gpus=1048576,radix=64 --max-memory 100MB
refuses 3 "above the limit of 100 MB (max-memory)" run rail-spine:gpus=1048576,radix=64 --max-memory 100MB
torus=torus:gpus=16384,gpus-per-server=4,radix=64,torus=16,16,16
refuses 3 "routing on 16,384 GPUs would take about" route $torus --traffic pattern:permutation --max-memory 60MB
refuses 3 "with the tables of the engines would take about" route rail-spine:gpus=65536,radix=64 --engine updn --max-memory 300MB
refuses 3 "with the paths of 4,094 flows would take about 227" route $design --traffic pattern:permutation --seeds 1000000 --max-memory 100MB
"$program" study plan $design --traffic pattern:ring --scenarios links:1@10 --store estimated --quiet >out
refuses 3 "a study of failures of 4,096 GPUs on 4 threads would take about" study run --store estimated --threads 4 --max-memory 30MB
refuses 3 "with the paths of 4,094 flows would take about" route $design --traffic pattern:permutation --engine ecmp,qp=64 --max-memory 60MB
refuses 3 "the schedule of 8 stages, 1 chunks and 2000000 microbatches would take about 530 MB of memory, above the limit of 400 MB" run rail-spine:gpus=64 --job model=gpt-76.1b,tp=8,pp=8,dp=1,batch=2000000,microbatch=1,interleave=1 --max-memory 400MB --quiet
"$program" build $design --max-memory 20MB --quiet >limited 2>err || fail "a build that fits is refused: $(cat err)"
"$program" build $design --quiet >free
cmp free limited || fail "a limit that is not reached changes the output"
grep -qF "above the limit" <("$program" cost $design rail-spine:gpus=1048576,radix=64 --max-memory 100MB 2>&1) || fail "cost does not refuse"

refuses 3 "too many for the rate of each" route rail-spine:gpus=4096,radix=64 --traffic pattern:all-to-all --engine spray --format flows

# The text of a file is held against the limit before it is read, that of a pipe as it comes.
truncate -s 700M big
for file in "route $design --traffic pattern:permutation --engine file,path=big" "route $design --traffic file:big" "study plan $design --traffic pattern:ring --store big-study --scenarios file:big"; do
  read -ra words <<<"$file"
  [[ $file != study* ]] || truncate -s 250M big
  /usr/bin/time -f "%M" -o peak timeout 200 "$program" "${words[@]}" --max-memory 100MB --quiet >out 2>err && fail "$file: taken"
  grep -qE "big: (engine file: )?its text would take about (1.092 GB|286.4 MB) of memory, above the limit of 100 MB \(max-memory\)" err || fail "$file: $(head -c 300 err)"
  [[ $(tail -1 peak) -lt 90000 ]] || fail "$file: $(tail -1 peak) KB before it is refused"
done
rm -f big
code=0
timeout 60 "$program" route $design --traffic pattern:permutation --engine file,path=/dev/stdin --max-memory 100MB --quiet >out 2>err < <(yes 2>/dev/null) || code=$?
[[ $code -eq 3 ]] && grep -qF "/dev/stdin: engine file: its text would take about" err || fail "a pipe without end: $code, $(head -c 300 err)"

# Candidates of a search that do not fit: the report compares the others, and both it and the exit code say so.
compares() { # compares ARGUMENTS...: under a limit that some candidates break
  local code=0
  "$program" "$@" --json >out 2>err || code=$?
  [[ $code -eq 3 ]] || fail "$*: exit code $code, not 3: $(cat err)"
  grep -qE '[0-9]+ of the candidates would take more memory than the limit \(max-memory\) and were not evaluated' err || fail "$*: $(cat err)"
  grep -qE '"not_evaluated": [1-9]' out || fail "$*: the report does not say so"
}
compares sweep rail-spine:gpus=512 --vary fabric.gpus=256,4096 --engine ecmp --max-memory 22MB
compares mix rail-spine:gpus=64 rail-spine:gpus=4096 --max-memory 30MB
compares route rail-spine:gpus=4096,radix=64 --job model=gpt-18.4b,plan=given --engine ecmp --advise --advise-budget 3 --max-memory 46MB

# The limits of the process ("ulimit") are the machine's.
ulimit_is() { # ulimit_is -v|-d KIB
  (ulimit "$1" "$2" && "$program" run rail-spine:gpus=65536,radix=64 --threads 2 >out 2>err) && fail "ulimit $1 $2 is not seen"
  grep -qF "above the limit of" err || fail "ulimit $1 $2: $(cat err)"
}
if ! nm -D "$program" 2>/dev/null | grep __asan >/dev/null; then # whose own maps count
  ulimit_is -v 200000
  ulimit_is -d 100000
fi

# What is wrong with the options.
refuses 2 "'5' has no unit" build $design --max-memory 5
refuses 2 "option --max-memory is given twice" build $design --max-memory 5GB --max-memory 6GB
refuses 2 "'0B' is outside" build $design --max-memory 0B
refuses 2 "'1e30GB' is outside" build $design --max-memory 1e30GB
refuses 2 "'0s' is outside" build $design --max-time 0s
refuses 2 "option --max-time is given twice" build $design --max-time 5s --max-time 5s
"$program" list presets --max-time 60s --max-memory 1GB >out || fail "not an option of every command"

# Time: a run that would take minutes; nothing is left of its files, and a study keeps what is done and goes on.
endless=(route rail-spine:gpus=1024,radix=64 --traffic pattern:permutation --seeds 1000000)
refuses 6 "the time of --max-time is up; nothing was written" "${endless[@]}" --max-time 300ms --out report
[[ ! -e report ]] || fail "a report of a run that was ended"
"$program" study plan rail-spine:gpus=64,radix=16 --scenarios links:2@200000 --store study --quiet >out
code=0
"$program" study run --store study --max-time 500ms --quiet >out 2>err || code=$?
[[ $code -eq 6 ]] || fail "study run: exit code $code, not 6: $(cat err)"
grep -qE "[0-9,]+ of 200,000 scenarios are stored. The same command goes on" err || fail "study run: $(cat err)"

# A search that time ends prints the best so far, which is not proven, with the least that others may take.
code=0
"$program" plan clos:gpus=2048,taper=4 --job model=llama3-70b --threads 1 --max-time 3s --json --quiet >out 2>err || code=$?
[[ $code -eq 6 ]] || fail "plan: exit code $code, not 6: $(cat err)"
grep -qF "the time of --max-time is up: this is the best so far" err || fail "plan: $(cat err)"
python3 - <<'PYTHON' || fail "what plan has found when time is up"
import json
plan = json.load(open("out"))["plan"]
assert plan["is_proven"] is False and plan["lower_bound_s"] > 0 and plan["plans"][0]["time_s"] > 0, plan
said, left = open("err").read(), plan["lower_bound_s"] < plan["plans"][0]["time_s"]
assert (f"{plan['lower_bound_s']:.4g} s at least" if left else "under orders of the ranks that were not searched") in said, said
PYTHON

# A comparison prints the designs that are finished, and names the others.
many=() code=0
for ((i = 0; i < 100; i++)); do many+=("rail-spine:gpus=1024,radix=64,taper=$((i / 10 + 1)).$((i % 10))"); done
"$program" compare clos:gpus=16 "${many[@]}" --traffic pattern:permutation --engine ecmp --seeds 1000 --max-time 4s --json --quiet >out 2>err ||
  code=$?
[[ $code -eq 6 ]] || fail "compare: exit code $code, not 6: $(cat err)"
python3 - <<'PYTHON' || fail "what compare has finished when time is up: $(cat err)"
import json
designs = json.load(open("out"))["sweep"]["points"]
left = [d for d in designs if "not looked at: the time of --max-time is up" in d.get("error", "")]
assert len(designs) == 101 and "error" not in designs[0] and designs[0]["engines"][0]["time_s"] > 0, designs[0]
assert left == designs[-len(left):], "a later design was started"
assert f"the time of --max-time is up: {len(left)} of 101 designs were not looked at, nor compared" in open("err").read()
PYTHON

python3 "$root/tests/cli/limit_cases.py" "$program" || fail "sizes at the edges"
python3 "$root/tests/cli/estimates.py" "$program" || fail "estimates"
# Into a pipe progress comes as whole lines, the first within two seconds: what there is to do, and how long it takes.
long=(sweep rail-spine:gpus=16384,radix=64 --vary taper.1=1,2,4 --traffic pattern:all-to-all --engine ecmp,qp=4 --threads 1)
says_early() { # says_early UNIT ARGUMENTS...: the first line, before the end
  : >told
  "$program" "${@:2}" >/dev/null 2>told &
  local speaking=$! i
  for ((i = 0; i < 600; i++)); do
    [[ ! -s told ]] && kill -0 $speaking 2>/dev/null || break
    sleep 0.1
  done
  kill $speaking 2>/dev/null || true
  wait $speaking || true
  ! grep -q $'\r' told || fail "${*:2}: progress of a terminal in a pipe"
  head -n 1 told | grep -qE "^fabriscope: about .* per $1, [0-9.]+ s for all|^fabriscope: [0-9]+ of [0-9]+ $1 \([0-9.]+ %\), .*[0-9]+ s (left|so far)" || fail "${*:2}: no line of progress: $(cat told)"
}
says_early points "${long[@]}"
says_early designs compare clos:gpus=16384 clos:gpus=16384,taper=2 --traffic pattern:all-to-all --engine ecmp --threads 1
says_early replays mix clos:gpus=8192 rail-spine:gpus=8192 --threads 1
says_early designs optimize --gpus 1000000 --threads 1
says_early designs optimize --gpus 4096 --family clos --domain 8 --max-taper 2 --job model=llama3-70b --threads 1
says_early plans plan clos:gpus=16384 --job model=llama3-405b --threads 1
says_early placements place clos:gpus=2048,radix=32,spares=20 --job model=llama3-70b,tp=8,pp=4 --threads 1
says_early plans study clos:gpus=1024,spares=2 --scenarios time:30d@200000 --store early
exit $((failures > 0))
