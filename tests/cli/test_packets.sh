#!/usr/bin/env bash
# Lossless queues: src/doc/packets.md is what comes out beside a packet simulator; what --transport refuses; the same bytes for any number of threads.
# UPDATE=1 bash tests/cli/test_packets.sh PROGRAM rewrites the page.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
page=$root/src/doc/packets.md
[[ -z ${UPDATE-} ]] || export FABRISCOPE_TEST_SHARE=1
/usr/bin/python3 "$root/tests/cli/check_packets.py" "$program" "$root/tests/data/packets" >new.md || fail "a row is beyond what is promised: $(cat new.md)"
[[ -z ${UPDATE-} ]] || cp new.md "$page"
! grep -vxFf "$page" new.md || fail "the page is not what comes out"

small=clos:gpus=64,gpus-per-server=4,radix=16,floor.lengths=tier
refused() { # refused CODE TEXT ARGUMENT...: exit code and a part of the message
  local code=$1 text=$2
  shift 2
  "$program" "$@" >out 2>err && fail "$* is not refused"
  [[ $? == "$code" ]] || fail "$*: exit code is not $code: $(cat err)"
  grep -qF -- "$text" err || fail "$*: $(cat err)"
}
refused 3 "divides every flow" route $small --traffic pattern:permutation --engine spray --transport pfc
refused 3 "divides every flow" route $small --traffic pattern:permutation --engine optimal --transport spray-ack
refused 3 "overtakes" route $small --traffic pattern:permutation --engine adaptive,granularity=packet --transport pfc
refused 3 "divides every flow" run $small,transport=pfc --job model=gpt-1.7b,tp=4 --engine spray --fail spine-0
refused 2 "'pfcc=1' is not a name" route $small --traffic pattern:permutation --transport pfcc=1
refused 2 "'speed=3' is not a key" route $small --traffic pattern:permutation --transport pfc,speed=3
refused 3 "transport" route $small --traffic pattern:permutation --transport srd
refused 3 "--transport xon=20kB: xon of 20 kB is not below xoff of 10 kB" route $small --traffic pattern:permutation --transport pfc,xoff=10kB,xon=20kB
refused 3 "$small,xon=70kB:1:" build $small,xon=70kB
refused 3 "--transport xoff=0kB" route $small --traffic pattern:permutation --transport pfc,xoff=0kB
refused 2 "spray-ack has no xoff; pfc has" route $small --traffic pattern:permutation --transport spray-ack,xoff=30kB
refused 2 "pfc has no entropies; spray-ack has" route $small --traffic pattern:permutation --transport pfc,entropies=8
refused 2 "fluid has no xoff" route $small --traffic pattern:permutation --transport fluid,xoff=30kB
"$program" route $small --traffic pattern:permutation --transport fluid,nic-latency=1us --quiet >fluid || fail "NICs have a latency without packets too"
refused 3 "leaf-0 has 16 ports in use that may hold xoff of 60 kB each" route $small --traffic pattern:permutation --transport pfc,buffer=1MB
"$program" route $small --traffic pattern:permutation --transport pfc,buffer=16MB --quiet >/dev/null || fail "a buffer of 16 MB holds 16 times 60 kB and headroom"
refused 2 "spray-ack has no buffer; pfc has" route $small --traffic pattern:permutation --transport spray-ack,buffer=1MB
refused 3 "kmin of" route $small --traffic pattern:permutation --transport dcqcn,kmin=1MB

# Every key beside a transport says where its default comes from, as does its choice: a publication, a page with measurements, or that it is assumed.
"$program" list fields fabric --json >fields.json || fail "list fields"
/usr/bin/python3 - "$root/src/cli/session.c" <<'CHECK' || fail "keys without a source"
import json, re, sys
keys = re.findall(r'\{"([a-z-]+)", (?:ANY|PACKETS|LOSSLESS|MARKED|SPRAYED)\}', open(sys.argv[1], encoding="utf-8").read())
fields = {row["path"].split(".")[-1]: row for row in json.load(open("fields.json", encoding="utf-8"))}
assert len(keys) >= 32 and "transport" in fields, keys
without = [key for key in keys + ["transport"] if not re.search(r"\[[^]]*(?:IEEE|htsim|Zhu|NCCL|InfiniBand|Hahne|src/doc/|assumption|data sheet|wire)[^]]*\]", fields[key]["summary"])]
assert not without, without
CHECK

# As an option, as a key, in a design: one answer; the digest knows it.
"$program" route $small --traffic pattern:permutation --transport pfc,xoff=30kB --json --quiet >one || fail "option"
"$program" route $small,transport=pfc,xoff=30kB --traffic pattern:permutation --threads 1 --json --quiet >two || fail "key"
"$program" route $small --traffic pattern:permutation --set fabric.transport=pfc --set xoff=30kB --json --quiet >three || fail "set"
"$program" route $small --traffic pattern:permutation --json --quiet >fluid || fail "fluid"
/usr/bin/python3 - <<'CHECK' || fail "answers differ"
import json
one, two, three, fluid = (json.load(open(name, encoding="utf-8")) for name in ("one", "two", "three", "fluid"))
engine = lambda report: report["phases"][0]["engines"][0]
assert engine(one) == engine(two) == engine(three)
assert one["meta"]["design_digest"] == two["meta"]["design_digest"] != fluid["meta"]["design_digest"]
assert "lossless" not in engine(fluid) and "fluid_s" not in engine(fluid)
assert engine(one)["lossless"]["stopped_links"] > 0 and engine(one)["lossless"]["roots"][0]["stopped_s"] > 0
assert abs(engine(one)["fluid_s"] - engine(fluid)["transfer_s"]) <= 1e-12 < engine(one)["transfer_s"] - engine(one)["fluid_s"]
assert engine(one)["latency_s"] - engine(fluid)["latency_s"] > 5.8e-7
CHECK

# What stays in a scale-up domain is copied, not sent: no headers, no queues. What leaves it pays its headers, 64 of 4160 bytes.
# With rails apart, bytes cross a domain before or after the network: rates there are ample, and the network's time stands.
"$program" run rail-spine:gpus=256,radix=64 --job model=llama3-8b,tp=8,pp=2 --engine ecmp --transport pfc --json --quiet >run || fail "run"
"$program" route rail-only:gpus=64,radix=16,rails-per-switch=1 --traffic pattern:shift,by=9,bytes=10MB --transport pfc --json --quiet >rails || fail "rails"
"$program" route rail-only:gpus=64,radix=16,rails-per-switch=1,domain-rate=20GB/s --traffic pattern:shift,by=9,bytes=10MB --transport pfc --json --quiet >slow || fail "slow domains"
"$program" route $small,pcie=20GB/s --traffic pattern:shift,by=4,bytes=10MB --transport pfc --json --quiet >pcie || fail "pcie"
/usr/bin/python3 - <<'CHECK' || fail "what is copied inside servers"
import json
phases = lambda name: {p["name"]: p["engines"][0] for p in json.load(open(name, encoding="utf-8"))["phases"]}
run = phases("run")
assert run["tp"]["transfer_s"] == run["tp"]["fluid_s"] and run["tp"]["lossless"]["pauses"] == 0 == run["tp"]["lossless"]["cell_bytes"], run["tp"]
headers = 1 + 64 / 4096
for name in ("pp", "dp"):
    assert headers * (1 - 1e-6) <= run[name]["transfer_s"] / run[name]["fluid_s"] < 1.05, run[name]
ratio = lambda name: phases(name)["shift"]["transfer_s"] / phases(name)["shift"]["fluid_s"]
assert headers <= ratio("rails") < 1.05, ratio("rails")
assert 1 <= ratio("slow") < 1.001, ratio("slow")  # the domain's 20 GB/s are less than the NIC's 50: headers cost nothing there
assert headers <= ratio("pcie") < 1.05, ratio("pcie")  # a slow bus paces its NIC
CHECK

# Headers by name: a shift that blocks nowhere takes what they add, and bare packets are no slower than shares.
for wire in bare infiniband rocev2 uec; do
  "$program" route fat-tree:k=8,gpus-per-server=1,floor.lengths=tier --traffic pattern:shift,by=16,bytes=10MB --engine dmodk --transport pfc,wire=$wire --json --quiet >"wire-$wire" || fail "$wire"
done
"$program" route fat-tree:k=8,gpus-per-server=1,floor.lengths=tier --traffic pattern:shift,by=16,bytes=10MB --engine dmodk --transport pfc,header=82B,ack=86B --json --quiet >wire-bytes || fail "bytes of a header"
/usr/bin/python3 - <<'CHECK' || fail "headers"
import json
s = {name: json.load(open(f"wire-{name}", encoding="utf-8"))["phases"][0]["engines"][0]["transfer_s"] for name in ("bare", "infiniband", "rocev2", "uec", "bytes")}
assert s["rocev2"] == s["bytes"], s
for name, header, ack in (("infiniband", 26, 30), ("rocev2", 82, 86), ("uec", 122, 110)):
    assert abs(s[name] / s["bare"] - (1 + (header + ack) / 4096)) < 3e-4, (name, s)
CHECK

# Senders that are told of marks stop others less, and take longer: rates come back slowly. Where nothing waits nothing is told.
for transport in pfc dcqcn dcqcn,rate-timer=5us,rate-ai=1Gb/s; do
  for by in "permutation,bytes=10MB --engine ecmp" "shift,by=16,bytes=10MB --engine dmodk"; do
    "$program" route fat-tree:k=8,gpus-per-server=1,floor.lengths=tier --traffic pattern:$by --transport $transport --json --quiet >"${transport%/*}-${by%%,*}" || fail "$transport"
  done
done
/usr/bin/python3 - <<'CHECK' || fail "rates of DCQCN"
import json
engine = lambda name: json.load(open(name, encoding="utf-8"))["phases"][0]["engines"][0]
pfc, slow, fast = (engine(f"{name}-permutation") for name in ("pfc", "dcqcn", "dcqcn,rate-timer=5us,rate-ai=1Gb"))
assert slow["lossless"]["notices"] > 0 and "notices" not in pfc["lossless"]
assert slow["lossless"]["pauses"] < pfc["lossless"]["pauses"] / 2
assert fast["transfer_s"] < slow["transfer_s"] / 1.5 and pfc["transfer_s"] < slow["transfer_s"], [e["transfer_s"] for e in (pfc, fast, slow)]
assert fast["transfer_s"] >= fast["fluid_s"]
shifts = [engine(f"{name}-shift") for name in ("pfc", "dcqcn")]
assert shifts[0] == shifts[1] and shifts[0]["lossless"]["pauses"] == 0
CHECK

# Cells are rough under DCQCN, and the verdict says so; packets are not.
for bytes in 100MB:1 1MB:0; do
  "$program" route fat-tree:k=16,gpus-per-server=1 --traffic pattern:permutation,bytes=${bytes%:*} --transport dcqcn --quiet >said || fail "dcqcn ${bytes%:*}"
  [[ $(tr '\n' ' ' <said | tr -s ' ' | grep -c 'in cells, for which the rates of DCQCN are rough') -eq ${bytes#*:} ]] || fail "dcqcn ${bytes%:*}: $(sed -n 1,12p said)"
done

# Many paths: more of them are better, marks steer around collisions, several engines give them, changes and threads keep the time.
spray() { # spray FILE TRANSPORT ARGUMENT...
  local file=$1 transport=$2
  shift 2
  "$program" route fat-tree:k=8,gpus-per-server=1,floor.lengths=tier --traffic pattern:permutation,bytes=2MiB --transport "$transport" "$@" --json --quiet >"$file" || fail "$transport $*"
}
for paths in spray-ack,entropies=256 "spray-ack,entropies=4 --engine ecmp,qp=256"; do # a sender's memory is not by its paths
  # shellcheck disable=SC2086
  refused 3 "with the paths of 126 flows would take about 46.69 MB" route fat-tree:k=8,gpus-per-server=1,floor.lengths=tier --traffic pattern:permutation,bytes=1MiB --max-memory 20MB --transport $paths
done
spray few spray-ack,entropies=4 --engine ecmp --threads 1
spray again spray-ack --engine ecmp,qp=4 --threads 2
spray turns spray-ack,entropies=64,balancing=oblivious --engine ecmp
spray many spray-ack,entropies=64 --engine ecmp
spray tight spray-ack,entropies=64,queue=20kB --engine ecmp
spray adaptive spray-ack --engine adaptive,granularity=packet
spray pinned spray-ack --engine dmodk
spray ideal fluid --engine spray
spray cut spray-ack,entropies=16 --engine ecmp --fail core-0
/usr/bin/python3 - <<'CHECK' || fail "sprayed packets"
import json
engine = lambda name: json.load(open(name, encoding="utf-8"))["phases"][0]["engines"][0]
few, again, turns, many, tight, adaptive, pinned, ideal = map(engine, ("few", "again", "turns", "many", "tight", "adaptive", "pinned", "ideal"))
assert few == again
assert ideal["transfer_s"] * (1 + 64 / 4096) < many["transfer_s"] < turns["transfer_s"] < few["transfer_s"], [e["transfer_s"] for e in (ideal, many, turns, few)]
assert many["transfer_s"] < 1.35 * ideal["transfer_s"] and many["transfer_s"] < many["fluid_s"] < turns["transfer_s"]
assert tight["lossless"]["trims"] > many["lossless"]["trims"] and "pauses" in many["lossless"] and many["lossless"]["pauses"] == 0
assert adaptive["transfer_s"] < 1.35 * ideal["transfer_s"] < pinned["transfer_s"]
failed = json.load(open("cut", encoding="utf-8"))["failures"]
assert failed
CHECK

# Phases of the same flows are sent once: a halving is undone by a doubling between the same pairs, under every engine, draw and number of threads, and each phase is what
# it is on the way where it comes alone.
for threads in 1 2; do
  "$program" route $small --traffic pattern:all-reduce,algorithm=halving-doubling,bytes=16MB --engine ecmp --engine dmodk --transport pfc --threads $threads --json --quiet >"halves-$threads" || fail "halving-doubling"
done
"$program" route $small --traffic pattern:all-reduce,algorithm=halving-doubling,bytes=16MB --engine ecmp --transport pfc --seeds 3 --json --quiet >halves-drawn || fail "halving-doubling by seeds"
"$program" route $small --traffic pattern:all-gather,algorithm=doubling,bytes=16MB --engine ecmp --transport pfc --json --quiet >half || fail "doubling"
cmp halves-1 halves-2 || fail "phases that are alike depend on threads"
/usr/bin/python3 - <<'CHECK' || fail "phases that are alike"
import json
phases, drawn, half = (json.load(open(name, encoding="utf-8"))["phases"] for name in ("halves-1", "halves-drawn", "half"))
assert len(phases) == 12 and phases[0]["engines"][0]["lossless"]["pauses"] > 0
for p, q in zip(phases, reversed(phases)):
    assert p["engines"] == q["engines"], (p["name"], q["name"])
assert len({p["engines"][0]["transfer_s"] for p in phases}) >= 4  # and not all are alike
for p, d in zip(phases, drawn):
    assert d["engines"][0]["transfer_s"]["min"] <= p["engines"][0]["transfer_s"] <= d["engines"][0]["transfer_s"]["max"]
alone = {p["bytes"]: p["engines"][0]["transfer_s"] for p in half}
seen = [abs(p["engines"][0]["transfer_s"] / alone[p["bytes"]] - 1) < 1e-9 for p in phases if p["bytes"] in alone]
assert len(seen) >= 6 and all(seen), seen
CHECK

# Several jobs: each alone as a run of one has it, together no faster, the same for any number of threads.
for transport in pfc spray-ack,entropies=8; do
  "$program" run "$root/tests/data/two_jobs.xml" --transport $transport --threads 1 --json --quiet >"jobs-${transport%%,*}" || fail "several jobs under $transport"
  "$program" run "$root/tests/data/two_jobs.xml" --transport $transport --threads 2 --json --quiet >again || fail "several jobs under $transport"
  cmp "jobs-${transport%%,*}" again || fail "several jobs under $transport depend on threads"
done
/usr/bin/python3 - <<'CHECK' || fail "several jobs as packets"
import json
for name in ("jobs-pfc", "jobs-spray-ack"):
    report = json.load(open(name, encoding="utf-8"))
    phases = {p["name"]: p["engines"][0]["time_s"] for p in report["phases"]}
    jobs = report["contention"]["engines"][0]["jobs"]
    assert abs(jobs[0]["alone_s"] / phases[jobs[0]["phase"]] - 1) < 1e-9, (jobs[0], phases)
    assert all(job["together_s"] > job["alone_s"] for job in jobs), jobs
    assert max(job["together_s"] / job["alone_s"] for job in jobs) > 1.3, jobs
CHECK

# Priorities: receivers of their own let go who only stands behind them; jobs of their own hold each other up less; one
# job has no other. Shared buffers: a port alone may hold more than xoff, of a buffer that is nearly full less.
for transport in pfc pfc,priority=receiver pfc,priority=job pfc,priority=communicator pfc,buffer=16MB,buffer-alpha=1 pfc,buffer=1MB,buffer-alpha=0.0625; do
  "$program" route fat-tree:k=8,gpus-per-server=1 --traffic pattern:permutation,bytes=4MiB --transport $transport --json --quiet >"shared-${transport#pfc,}" || fail "$transport"
done
"$program" run "$root/tests/data/two_jobs.xml" --transport pfc,priority=job,priorities=2 --threads 2 --json --quiet >jobs-apart || fail "jobs of their own priorities"
/usr/bin/python3 - <<'CHECK' || fail "priorities and shared buffers"
import json
engine = lambda name: json.load(open("shared-" + name, encoding="utf-8"))["phases"][0]["engines"][0]
one, receiver, job, communicator, roomy, tight = map(engine, ("pfc", "priority=receiver", "priority=job", "priority=communicator", "buffer=16MB,buffer-alpha=1", "buffer=1MB,buffer-alpha=0.0625"))
victims = lambda e: e["lossless"]["victims"]
assert victims(receiver) < victims(one) / 2, (victims(receiver), victims(one))
assert job == one != communicator
assert roomy["lossless"]["stopped_links"] < one["lossless"]["stopped_links"] < tight["lossless"]["stopped_links"], [e["lossless"] for e in (roomy, one, tight)]
assert all(e["transfer_s"] >= e["fluid_s"] * (1 - 1e-9) for e in (one, receiver, communicator, roomy, tight))
shared, own = ([j["together_s"] / j["alone_s"] for j in json.load(open(f"jobs-{name}", encoding="utf-8"))["contention"]["engines"][0]["jobs"]] for name in ("pfc", "apart"))
assert own != shared and all(slowdown > 1 for slowdown in own), (own, shared)
CHECK
refused 3 "buffer-alpha is a part of what is free" route $small --traffic pattern:permutation --transport pfc,buffer-alpha=1
refused 3 "16 ports in use that have to take" route $small --traffic pattern:permutation --transport pfc,buffer=100kB,buffer-alpha=1
refused 3 "128 ports times priorities in use" route $small --traffic pattern:permutation --transport pfc,buffer=4MB,priority=receiver

# Adaptive by packet under InfiniBand's credits: switches send packets to the shortest queue, changes and threads keep the time.
for threads in 1 2; do
  "$program" route fat-tree:k=8,gpus-per-server=1 --traffic pattern:permutation,bytes=2MiB --engine adaptive,granularity=packet --transport pfc,wire=infiniband --fail core-0 --threads $threads --json --quiet >"adaptive-$threads" || fail "adaptive by packet"
done
cmp adaptive-1 adaptive-2 || fail "adaptive by packet depends on threads"
"$program" route fat-tree:k=8,gpus-per-server=1 --traffic pattern:permutation,bytes=2MiB --engine ecmp --transport pfc,wire=infiniband --json --quiet >hashed || fail "ecmp"
/usr/bin/python3 - <<'CHECK' || fail "adaptive by packet"
import json
chosen, hashed = (json.load(open(name, encoding="utf-8"))["phases"][0]["engines"][0] for name in ("adaptive-1", "hashed"))
least = 2 * 2**20 * 8 / 400e9 * (1 + 26 / 4096)
assert least < chosen["transfer_s"] < 1.5 * least < hashed["transfer_s"], (least, chosen["transfer_s"], hashed["transfer_s"])
CHECK

# Advice weighs queue pairs, spraying, pinning, larger buffers and priorities, each by the time that a run with it has.
"$program" route $small --traffic pattern:permutation,bytes=1MB --engine ecmp --transport pfc --advise --json --quiet >advice || fail "advice"
/usr/bin/python3 - "$program" $small <<'CHECK' || fail "advice under a transport of packets"
import json, subprocess, sys
rows = {row["change"]: row for row in json.load(open("advice", encoding="utf-8"))["advice"]["candidates"]}
wanted = ("--engine ecmp,qp=16", "--engine ecmp,qp=64 --set fabric.transport=spray-ack", "--engine pinned,slices=4", "--set fabric.xoff=960000B", "--set fabric.priority=receiver")
assert all(change in rows for change in wanted), rows.keys()
for change in wanted:
    run = [sys.argv[1], "route", sys.argv[2], "--traffic", "pattern:permutation,bytes=1MB", "--transport", "pfc", "--seeds", "8", "--json", "--quiet", *change.split()]
    engine = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)["phases"][0]["engines"][0]
    alone_s = engine["time_s"]["mean"] if isinstance(engine["time_s"], dict) else engine["time_s"]
    assert abs(rows[change]["time_s"] / alone_s - 1) < 1e-9, (change, rows[change], alone_s)
CHECK

# A ring of switches that stop each other.
"$program" route torus:gpus=16,gpus-per-server=1,torus=16,radix=8 --traffic pattern:shift,by=6,bytes=10MB --engine ecmp --transport pfc --quiet >text || fail "torus"
grep -q "Deadlock: .* waits for itself" text || fail "a deadlock is not told: $(cat text)"
echo "packets: as the page has it"
exit $((failures > 0))
