# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Sourced: a Slurm cluster of this machine, as root and without systemd: munged, slurmctld and two slurmd, which are its nodes kg1 and kg2.
# Nothing of it touches an installed cluster: files, ports and keys are its own.

# cluster_start FOLDER: exports SLURM_CONF. Returns 1 and prints the daemons' last words where it does not come up.
cluster_start() {
  cluster=$1
  mkdir -p "$cluster"/{state,spool,munge,log}
  chmod 755 "$cluster" # munged wants no folder on the way to its socket that others may write
  head -c 1024 /dev/urandom >"$cluster/munge/key"
  chmod 400 "$cluster/munge/key"
  local here
  here=$(hostname -s)
  cat >"$cluster/slurm.conf" <<CONF
ClusterName=kernelgrade
SlurmctldHost=$here(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
SlurmctldPort=$((20000 + $$ % 10000))
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmctldLogFile=$cluster/log/slurmctld
SlurmdLogFile=$cluster/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=10
InactiveLimit=0
KillWait=5
SchedulerParameters=sched_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=kg1 NodeHostname=$here NodeAddr=127.0.0.1 Port=$((30000 + $$ % 10000)) CPUs=1 State=UNKNOWN
NodeName=kg2 NodeHostname=$here NodeAddr=127.0.0.1 Port=$((40000 + $$ % 10000)) CPUs=1 State=UNKNOWN
PartitionName=all Nodes=kg1,kg2 Default=YES MaxTime=60 State=UP
CONF
  export SLURM_CONF=$cluster/slurm.conf
  munged --force --socket="$cluster/munge/socket" --key-file="$cluster/munge/key" --pid-file="$cluster/munge/pid" \
    --log-file="$cluster/log/munged" --seed-file="$cluster/munge/seed"
  slurmctld -c
  slurmd -N kg1
  slurmd -N kg2
  local second
  for second in {1..60}; do
    [[ $(sinfo -h -t idle -o %D 2>/dev/null) == 2 ]] && return 0
    sleep 1
  done
  printf 'no cluster of two nodes after %s s; sinfo says:\n' "$second" >&2
  sinfo >&2 || :
  tail -n 5 "$cluster"/log/* >&2
  return 1
}

# cluster_kill_node NODE: as if its power failed: slurmd, the processes of its jobs, and the slurmstepd above them, which would else say
# what became of them.
cluster_kill_node() {
  local environment pid jobs=()
  for environment in /proc/[0-9]*/environ; do
    pid=${environment//[^0-9]/}
    if grep -qz "^SLURMD_NODENAME=$1$" "$environment" 2>/dev/null && grep -qz "^SLURM_CONF=$SLURM_CONF$" "$environment"; then jobs+=("$pid"); fi
  done
  kill -KILL "$(<"$cluster/$1.pid")"
  for pid in "${jobs[@]}"; do
    pid=$(ps -o ppid= -p "$pid" || :)
    [[ $(ps -o comm= -p "${pid// /}") != slurmstepd* ]] || kill -KILL "${pid// /}"
  done
  kill -KILL "${jobs[@]}" 2>/dev/null || :
}

cluster_stop() {
  scontrol shutdown 2>/dev/null || :
  sleep 1
  local file
  for file in "$cluster"/kg?.pid "$cluster/slurmctld.pid" "$cluster/munge/pid"; do
    [[ ! -e $file ]] || kill "$(<"$file")" 2>/dev/null || :
  done
}
