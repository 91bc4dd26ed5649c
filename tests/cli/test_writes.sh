#!/usr/bin/env bash
# Closed pipes, full disks, existing files, unwritable folders, interrupts: nothing half-written under a final name. The
# stores of studies have a test of their own (test_study_kill.sh).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
{
  "$program" study plan clos:gpus=32,radix=16,spares=1 --job model=gpt-1.7b,tp=2,memory-check=off --scenarios servers:1 --store store
  "$program" study run --store store
  "$program" study gather --store store
} >log 2>&1 || { cat log; exit 1; }
mkdir empty
cd empty
PROGRAM=$program STORE=../store DUMP=$root/src/doc/manual/cluster.net exec /usr/bin/python3 "$root/tests/cli/check_writes.py"
