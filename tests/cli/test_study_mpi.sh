#!/usr/bin/env bash
# A study under mpirun: the gathered store is that of one process, also when the first run was killed or interrupted.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export FABRISCOPE_MPI=$program-mpi
if [[ ! -x $FABRISCOPE_MPI ]] || ! command -v mpirun >/dev/null; then
  echo "no fabriscope-mpi was built, or there is no mpirun: skipped" >&2
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
study=(clos:gpus=64,radix=16,gpus-per-server=4,nics-per-server=4 --traffic pattern:permutation --scenarios links:2@120000
  --engine ecmp,qp=4 --figures loads --seed 5)
"$program" study plan "${study[@]}" --store alone --quiet >/dev/null
"$program" study run --store alone --quiet --threads 2
"$program" study gather --store alone --quiet >/dev/null

"$program" study plan "${study[@]}" --store many --quiet >/dev/null
"$root/scripts/study-mpi" many 4 --oversubscribe >/dev/null
cmp alone/results.db many/results.db || fail "another store than of one process"

"$program" study plan "${study[@]}" --store killed --quiet >/dev/null
mpirun -n 4 --oversubscribe "$FABRISCOPE_MPI" study run --store killed --quiet >/dev/null &
for ((i = 0; i < 12000; i++)); do # killed as soon as a shard has rows: the whole study takes seconds
  [[ -s killed/shard-0-of-4.db-wal ]] && break
  sleep 0.005
done
pkill -9 -f "$FABRISCOPE_MPI study run --store killed" || fail "the run ended before it was killed"
wait $! && fail "mpirun does not say that processes died"
"$root/scripts/study-mpi" killed 3 --oversubscribe >/dev/null
cmp alone/results.db killed/results.db || fail "another store after a kill"

# one process is told to end: it stores what it has computed, mpirun tells the others, and they do so too
"$program" study plan "${study[@]}" --store ended --quiet >/dev/null
mpirun -n 4 --oversubscribe "$FABRISCOPE_MPI" study run --store ended --quiet >/dev/null 2>err &
for ((i = 0; i < 12000; i++)); do
  [[ -s ended/shard-0-of-4.db-wal ]] && break
  sleep 0.005
done
pkill -TERM -o -f "$FABRISCOPE_MPI study run --store ended --quiet$" -P $! || fail "the run ended before it was interrupted"
code=0
wait $! || code=$?
[[ $code -eq 143 ]] || fail "mpirun ends with $code, not that of SIGTERM"
grep -q 'are stored. The same command goes on' err || fail "nobody says what is stored: $(cat err)"
"$program" study gather --store ended --partial --quiet >out || fail "what is stored cannot be read"
"$root/scripts/study-mpi" ended 3 --oversubscribe >/dev/null
cmp alone/results.db ended/results.db || fail "another store after an interrupt"
exit $((failures > 0))
