#!/usr/bin/env bash
# The same command with the same seed prints the same bytes, on stdout and into --out, for 1 and 2 threads. A phase that is
# exported and read back collides as before.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Runs the arguments twice: on one thread and on two. Under the sanitizer that looks at threads, only what has them, once, and
# with one seed: the bytes are compared where the program is fast.
runs="1 2" seeds="1 77"
[[ $(basename "$(dirname "$(dirname "$program")")") == tsan ]] && runs=2 seeds=1
same() { # same HAS_OUT ARGUMENTS...
  local has_out=$1 i
  shift
  [[ $runs == 2 && $has_out == no ]] && return
  for i in $runs; do
    local extra=()
    rm -rf "out$i"
    [[ $has_out == yes ]] && extra=(--threads $((i > 1 ? 2 : 1)) --quiet --out "out$i")
    if ! "$program" "$@" "${extra[@]}" >"stdout$i" 2>"stderr$i"; then
      cat "stderr$i"
      fail "$*: exit code"
      return
    fi
  done
  [[ $runs == 2 ]] && return
  [[ -s stdout1 ]] || fail "$*: nothing on stdout"
  cmp stdout1 stdout2 || fail "$*: stdout differs"
  if [[ $has_out == yes ]]; then
    [[ -n $(ls out1) ]] || fail "$*: nothing in --out"
    diff -r out1 out2 || fail "$*: --out differs"
  fi
}

design=rail-spine:gpus=128,radix=16,taper=2
for seed in $seeds; do
  same yes run $design --seed $seed --engine ecmp --engine dmodk
  same yes run $design --seed $seed --seeds 5 --json
  same yes route fat-tree:k=8 --seed $seed --seeds 8 --traffic pattern:permutation --engine ecmp,hash=ideal,qp=4
  same yes route clos:gpus=128,radix=16 --seed $seed --traffic pattern:bisection --format xml
  same no traffic $design --seed $seed --traffic pattern:permutation --json
  same no traffic $design --seed $seed --traffic pattern:permutation --export -
done
[[ $runs == 2 ]] || same yes build preset:llama3-24k-roce --format xml
same yes compare $design clos:gpus=64 --seeds 3 --engine ecmp --engine spray
same yes sweep rail-spine:gpus=64,radix=16 --vary taper.1=1,4 --vary nic=200Gb/s,400Gb/s --seeds 2 --engine ecmp --engine spray
same yes place clos:gpus=32,gpus-per-server=4,radix=8,pod=16,tiers=3 --seeds 2 --json
same yes mix rail-spine:gpus=64 rail-only:gpus=64 --engine ecmp,qp=4
same yes plan clos:gpus=64,radix=16 --job model=gpt-3.6b,tp=2 --engine ecmp,qp=4 --json
same yes build rail-only:gpus=512,domain=16,radix=32 --format graphml
same yes cost clos:gpus=512 rail-spine:gpus=512 rail-only:gpus=512 --json
same no traffic $design
for topic in presets models gpus families engines patterns prices fields; do
  same no list $topic
done
for topic in design result report; do
  same no schema $topic
done

[[ $runs == 2 ]] && exit $((failures > 0))
"$program" route fat-tree:k=8 --traffic pattern:permutation --seed 1 --quiet --json >a
"$program" route fat-tree:k=8 --traffic pattern:permutation --seed 2 --quiet --json >b
cmp -s a b && fail "another seed gives the same report"

# These rings repeat no pair of GPUs, so their matrix holds the same flows, in another order.
for design in rail-spine:gpus=256,radix=16 clos:gpus=256,gpus-per-server=4,radix=16,tiers=3; do
  rm -f dp.csv
  "$program" traffic $design --job pp=2 --traffic job:dp --export dp.csv --quiet || fail "$design: export"
  for traffic in job:dp file:dp.csv; do
    "$program" route $design --job pp=2 --traffic $traffic --engine ecmp --engine ecmp,hash=ideal,qp=4 --seeds 5 --quiet --json |
      grep '^ *"max_collision_factor"' >"${traffic%:*}.factor" || fail "$design: route $traffic"
  done
  [[ $(wc -l <job.factor) -ge 2 ]] && cmp job.factor file.factor || fail "$design: a matrix read back collides otherwise"
done
[[ $failures -eq 0 ]]
