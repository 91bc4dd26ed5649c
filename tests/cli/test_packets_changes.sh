#!/usr/bin/env bash
# Failures, studies and advice with lossless queues: times are those of packets, a change that touches nothing gives the time of before, and threads change no byte.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
small=clos:gpus=64,gpus-per-server=4,radix=16,floor.lengths=tier
job=layers=2,hidden=512,heads=4,seq=512,vocab=1000,batch=64,tp=4,pp=2,memory-check=off # whose packets take milliseconds

"$program" run $small --job $job --transport pfc,xoff=20kB --fail spine-0 --degrade leaf-1=0.5 --json --quiet >failed || fail "--fail"
"$program" run $small --job $job --fail spine-0 --degrade leaf-1=0.5 --json --quiet >fluid || fail "--fail, fluid"
"$program" study plan $small,transport=pfc,xoff=20kB --job $job --scenarios fabric-links:1@6 --store one --quiet >/dev/null || fail "plan"
cp -r one two
"$program" study run --store one --threads 1 --quiet >/dev/null || fail "run"
"$program" study run --store two --threads 2 --quiet >/dev/null || fail "run on two threads"
for store in one two; do
  "$program" study gather --store $store --quiet >/dev/null || fail "gather"
  "$program" study show --store $store --json --quiet >$store.json || fail "show"
done
cmp one.json two.json || fail "two threads give something else than one"
"$program" study plan $small --job $job --transport pfc,xoff=20kB --scenarios fabric-links:1@6 --store three --quiet >/dev/null || fail "plan with the option"
"$program" route $small --traffic pattern:permutation --transport pfc,xoff=20kB --advise --json --quiet >advice || fail "--advise"
sprayed=(route $small --traffic pattern:permutation,bytes=1MiB --transport spray-ack,entropies=16 --seeds 8 --quiet --json)
"$program" "${sprayed[@]}" --advise >sprayed || fail "--advise of sprays"
"$program" "${sprayed[@]}" --set fabric.balancing=oblivious --engine ecmp >turns || fail "balancing"
"$program" "${sprayed[@]}" --set fabric.queue=1000000B --engine ecmp >deep || fail "queue"
/usr/bin/python3 - <<'CHECK' || fail "what changes give"
import json
failed, fluid, study, advice = (json.load(open(name, encoding="utf-8")) for name in ("failed", "fluid", "one.json", "advice"))
engine = lambda report: report["failures"]["engines"][0]
# What nothing has happened to is the run itself, and takes longer than by fair shares; so does what is left.
assert engine(failed)["healthy"]["time_s"] == failed["iteration"][0]["time_s"] > fluid["iteration"][0]["time_s"]
assert engine(failed)["policies"][0]["time_s"] > engine(fluid)["policies"][0]["time_s"]
best = advice["advice"]["best"]
kinds = {row["kind"]: row for row in advice["advice"]["candidates"]}
assert "--transport pfc,xoff=20kB" in best["command"] and best["gain_ratio"] > 0.3, best
assert kinds["buffers"]["needs_switch_support"] and "xoff=" in kinds["buffers"]["change"], kinds["buffers"]
assert abs(advice["advice"]["base"]["time_s"] - advice["phases"][0]["engines"][0]["time_s"]["mean"]) <= 1e-12
# Of sprays the other balancing and other queues are tried; each row is the run that its options give.
sprayed = json.load(open("sprayed", encoding="utf-8"))
rows = {row["change"]: row for row in sprayed["advice"]["candidates"]}
queues = [row for row in rows.values() if "--set fabric.queue=" in row["change"]]
assert len(queues) == 2 and all(row["kind"] == "buffers" and row["needs_switch_support"] for row in queues), queues
base = sprayed["advice"]["base"]["time_s"]
for name, change in (("turns", "--set fabric.balancing=oblivious"), ("deep", "--set fabric.queue=1000000B")):
    time_s = json.load(open(name, encoding="utf-8"))["phases"][0]["engines"][0]["time_s"]["mean"]
    assert abs(base - rows[change]["gain_s"] - time_s) <= 1e-9 * time_s, (name, rows[change], time_s)
CHECK
echo "packets: failures, studies and advice"
