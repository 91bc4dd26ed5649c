# Sourced by tests: a cluster of Slurm on this machine, with keys, ports and folders of its own, under $work/slurm.
# Several slurmd stand for several nodes.
cluster=
cluster_missing() { # names what is not installed
  local tool
  for tool in munged slurmctld slurmd sbatch squeue scontrol; do
    PATH=$PATH:/usr/sbin command -v $tool >/dev/null || { echo "$tool"; return; }
  done
}

cluster_begin() { # folders, keys, munged; exports SLURM_CONF
  PATH=$PATH:/usr/sbin
  cluster=$work/slurm
  mkdir -p "$cluster"/{state,spool,log,run}
  head -c 1024 /dev/urandom >"$cluster/munge.key"
  chmod 400 "$cluster/munge.key"
  munged --force --key-file="$cluster/munge.key" --socket="$cluster/run/munge.socket" --pid-file="$cluster/run/munged.pid" \
    --log-file="$cluster/log/munged.log" --seed-file="$cluster/run/munge.seed"
  export SLURM_CONF=$cluster/slurm.conf
}

cluster_controller() { # cluster_controller TOPOLOGY NODES...: slurmctld alone, of nodes that never answer
  local topology=$1 try i host
  shift
  host=$(hostname -s)
  cluster_begin
  cp "$topology" "$cluster/topology.conf"
  for ((try = 0; try < 5; try++)); do
    cluster_write 0 $((20000 + RANDOM % 12000))
    sed -i '/^PartitionName/d' "$SLURM_CONF"
    printf 'TopologyPlugin=topology/tree\nPartitionName=all Nodes=ALL Default=YES\n' >>"$SLURM_CONF"
    printf 'NodeName=%s NodeHostname='"$host"' NodeAddr=127.0.0.1 Port=9\n' "$@" >>"$SLURM_CONF"
    slurmctld -c -f "$SLURM_CONF" >>"$cluster/log/start" 2>&1 || continue
    for ((i = 0; i < 100; i++)); do
      ! scontrol ping 2>/dev/null | grep 'is UP' >/dev/null || return 0
      sleep 0.1
    done
    cluster_stop_daemons slurmctld
  done
  tail -n 20 "$cluster"/log/* >&2
  return 1
}

cluster_up() { # cluster_up NODES: exports SLURM_CONF
  local nodes=$1 try i base
  cluster_begin
  for ((try = 0; try < 5; try++)); do # ports may be taken
    base=$((20000 + RANDOM % 12000))
    cluster_write "$nodes" "$base"
    slurmctld -c -f "$SLURM_CONF" >>"$cluster/log/start" 2>&1 || continue
    for ((i = 1; i <= nodes; i++)); do
      mkdir -p "$cluster/spool/n$i"
      slurmd -f "$SLURM_CONF" -N "n$i" >>"$cluster/log/start" 2>&1 || continue 2
    done
    for ((i = 0; i < 100; i++)); do
      [[ $(sinfo -h -t idle -o %D 2>/dev/null) != "$nodes" ]] || return 0
      sleep 0.1
    done
    cluster_stop_daemons slurmctld 'slurmd.*'
  done
  cat "$cluster"/log/* >&2
  return 1
}

cluster_write() { # cluster_write NODES BASE-PORT
  local i host
  host=$(hostname -s)
  cat <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$2
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$cluster/run/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/run/slurmctld.pid
SlurmdPidFile=$cluster/run/slurmd.%n.pid
SlurmctldLogFile=$cluster/log/slurmctld.log
SlurmdLogFile=$cluster/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=5
KillWait=2
MinJobAge=3600
CONF
  for ((i = 1; i <= $1; i++)); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$(($2 + i)) CPUs=1 RealMemory=100 State=UNKNOWN"
  done
  echo "PartitionName=all Nodes=n[1-$1] Default=YES MaxTime=INFINITE State=UP"
} >"$SLURM_CONF"

cluster_stop_daemons() { # cluster_stop_daemons PATTERN...
  local pattern file
  for pattern in "$@"; do
    for file in "$cluster"/run/$pattern.pid; do
      [[ ! -f $file ]] || kill -9 "$(<"$file")" 2>/dev/null || true
      rm -f "$file"
    done
  done
}

cluster_processes() { # cluster_processes NODE: what runs there in the name of a job, and who watches over it
  local file process parent
  { grep -lzxF "SLURMD_NODENAME=$1" /proc/[0-9]*/environ 2>/dev/null || true; } | while read -r file; do
    grep -qzxF "SLURM_CONF=$SLURM_CONF" "$file" 2>/dev/null || continue
    process=${file//[!0-9]/}
    parent=$(awk '/^PPid/ { print $2 }' "/proc/$process/status" 2>/dev/null) || true
    [[ $(cat "/proc/$parent/comm" 2>/dev/null) != slurmstepd* ]] || echo "$parent"
    echo "$process"
  done | sort -un
}

cluster_kill_node() { # cluster_kill_node NODE: as if its power went: nobody there says anything any more
  local victims
  mapfile -t victims < <(cat "$cluster/run/slurmd.$1.pid"; cluster_processes "$1")
  kill -9 "${victims[@]}" 2>/dev/null || true
  rm -f "$cluster/run/slurmd.$1.pid"
}

cluster_down() {
  [[ -n $cluster ]] || return 0
  scancel --me >/dev/null 2>&1 || true
  local node
  for node in "$cluster"/run/slurmd.*.pid; do
    [[ ! -f $node ]] || { node=${node##*/slurmd.}; cluster_kill_node "${node%.pid}"; }
  done
  cluster_stop_daemons slurmctld munged
  cluster=
}
