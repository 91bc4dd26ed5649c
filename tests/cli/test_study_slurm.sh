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
study=(rail-spine:gpus=1024,radix=32 --traffic pattern:permutation --scenarios "links:8@20000" --engine ecmp,qp=16
  --figures loads --seed 5)
"$program" study plan "${study[@]}" --store alone --quiet >/dev/null
"$program" study run --store alone --quiet --threads 2 >/dev/null
"$program" study gather --store alone --quiet >/dev/null

cluster_up 3 || { fail "no cluster"; exit 1; }
"$program" study plan "${study[@]}" --store many%A --quiet >/dev/null
jobs=$("$root/scripts/study-slurm" many%A 6 --cpus-per-task=1)
array=${jobs% *}
for ((i = 0; i < 600; i++)); do # until the second node has begun to write
  task=$(squeue -h -w n2 -t R -o %K | head -n 1)
  [[ -z $task || ! -s many%A/shard-$task-of-6.db-wal ]] || break
  sleep 0.05
done
cluster_kill_node n2
for ((i = 0; i < 120; i++)); do
  sleep 1
  [[ -n $(squeue -h) ]] || break
done
[[ -z $(squeue -h) ]] || fail "jobs do not end: $(squeue)"
scontrol show job "$array" | grep 'Restarts=1' >/dev/null || fail "no task was requeued: $(scontrol show job "$array" | grep -E 'JobState|Restarts')"
[[ -z $(scontrol show job | grep JobState= | grep -v COMPLETED) ]] || fail "jobs failed: $(scontrol show job | grep JobState=) $(tail -n 3 many%A/slurm-*.log)"
cmp alone/results.db many%A/results.db || fail "another store than of one process"
compgen -G "many%A/slurm-*.log" >log || fail "the logs are not in the store: $(ls -d many*)"
exit $((failures > 0))
