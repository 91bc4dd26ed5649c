#!/usr/bin/env bash
# A study as a job array of a real Slurm, a node of which dies in the middle: the gathered store is that of one process.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/tests/cli/slurm_cluster.sh"
missing=$(cluster_missing)
if [[ -n $missing ]]; then
  echo "$missing is not installed (scripts/setup --tests): skipped" >&2
  exit 77
fi
trap 'cluster_down; rm -rf "$work"' EXIT
export FABRISCOPE=$program
study=(clos:gpus=64,radix=16,gpus-per-server=4,nics=4 --traffic "pattern:random,seed=1" --scenarios links:2@60000
  --engine ecmp,qp=4 --figures loads --seed 5)
"$program" study plan "${study[@]}" --store alone --quiet
"$program" study run --store alone --quiet --threads 2
"$program" study gather --store alone --quiet
"$program" study show --store alone --format csv >alone.csv

cluster_up 3 || { fail "no cluster"; exit 1; }
"$program" study plan "${study[@]}" --store many --quiet
jobs=$("$root/scripts/study-slurm" many 6 --cpus-per-task=1)
array=${jobs% *}
for ((i = 0; i < 200; i++)); do # until the second node is at work
  sleep 0.1
  [[ -z $(cluster_processes n2) ]] || break
done
cluster_kill_node n2
for ((i = 0; i < 240; i++)); do
  sleep 0.5
  [[ -n $(squeue -h) ]] || break
done
[[ -z $(squeue -h) ]] || fail "jobs do not end: $(squeue)"
scontrol show job "$array" | grep -q 'Restarts=1' || fail "no task was requeued: $(scontrol show job "$array" | grep -E 'JobState|Restarts')"
[[ -z $(scontrol show job | grep JobState= | grep -v COMPLETED) ]] || fail "jobs failed: $(scontrol show job | grep JobState=) $(tail -n 3 many/slurm-*.log)"
"$program" study show --store many --format csv >many.csv
cmp alone.csv many.csv || fail "other rows than in one process"
cmp alone/results.db many/results.db || fail "another store than of one process"
exit $((failures > 0))
