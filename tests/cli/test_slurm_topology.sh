#!/usr/bin/env bash
# A real slurmctld loads the topologies that we write, and prints what we read: for Leonardo's 4,992 nodes the lines that
# its own slurmctld printed, and for a fabric of ours what the file says.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$root/tests/cli/slurm_cluster.sh"
tool=$(dirname "$program")/network_tool
missing=$(cluster_missing)
if [[ -n $missing ]]; then
  echo "$missing is not installed (scripts/setup --tests): skipped" >&2
  exit 77
fi
trap 'cluster_down; rm -rf "$work"' EXIT

show_topology() { # show_topology TOPOLOGY NODES...: what slurmctld prints of it, in `shown`
  local topology=$1
  shift
  cluster_controller "$topology" "$@" || { fail "slurmctld does not start with $topology"; return 1; }
  scontrol show topology >shown
  cluster_down
}

# Lines of scontrol, sorted, lists one name after the other: the same nodes may be folded in several ways.
canonical() {
  /usr/bin/python3 -c '
import re, sys
def expand(text):
    for prefix, ranges in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text):
        for piece in ranges.split(",") if ranges else [""]:
            first, _, last = piece.partition("-")
            yield from [prefix + str(i).zfill(len(first)) for i in range(int(first), int(last or first) + 1)] if first else [prefix]
for line in sorted(sys.stdin):
    print(re.sub(r"(?<=Nodes=|tches=)\S+", lambda m: " ".join(sorted(expand(m[0]))), line), end="")'
}

# --- a fabric of ours ---
"$program" build clos:gpus=256,gpus-per-server=2,radix=16,tiers=3 --format slurm-tree --quiet >ours.conf
if show_topology ours.conf 'server-[0-127]'; then
  "$tool" write slurm-tree shown >back.conf
  cmp <(sort ours.conf) <(sort back.conf) || fail "a Clos network: $(diff <(sort ours.conf) <(sort back.conf) | head -n 3)"
  [[ $(grep -c Level=0 shown) -eq $(grep -c Nodes= ours.conf) && $(grep -c 'Level=2.*server-\[0-127\]' shown) -eq 1 ]] ||
    fail "levels: $(head -n 3 shown)"
fi

# --- Leonardo ---
if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: Leonardo is skipped" >&2
else
  sample=$FABRISCOPE_SAMPLES/slurm-topology/leonardo_topo.txt
  "$tool" write slurm-tree "$sample" >leonardo.conf
  if show_topology leonardo.conf 'lrdn[0001-4992]' 'login[01-16]' 'viz[01-16]'; then
    [[ $(wc -l <shown) -eq 418 ]] || fail "$(wc -l <shown) lines of Leonardo"
    cmp <(canonical <"$sample") <(canonical <shown) || fail "Leonardo: $(diff <(canonical <"$sample") <(canonical <shown) | cut -c 1-200 | head -n 4)"
    same=$(comm -12 <(sort "$sample") <(sort shown) | wc -l) # but for the 24 with lists of switches and 2 of [03,04]
    [[ $same -ge 392 ]] || fail "only $same lines of Leonardo are the same byte for byte"
    "$tool" write slurm-tree shown >back.conf
    cmp <(sort leonardo.conf) <(sort back.conf) || fail "Leonardo written, loaded, printed and read again"
  fi
fi
exit $((failures > 0))
