#!/usr/bin/env bash
# --timeline: a trace whose slices lie inside the iteration and, on a track, one after the other; the same bytes for any
# number of threads; what it takes in sum and in power is what the report says.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
design=rail-spine:gpus=128,gpus-per-server=4,radix=16,taper=2
check() { # NAME JOB: two engines, on one thread and on two
  "$program" run $design --job "$2" --engine ecmp --engine spray --threads 1 --timeline "$1.trace" --json --quiet >"$1.json" ||
    fail "$1 does not run"
  "$program" run $design --job "$2" --engine ecmp --engine spray --threads 2 --timeline "$1.2" --quiet >/dev/null
  cmp -s "$1.trace" "$1.2" || fail "$1 depends on the number of threads"
  python3 - "$1.trace" "$1.json" <<'PYTHON' || fail "$1"
import collections, json, math, sys

trace, report = (json.load(open(name)) for name in sys.argv[1:])
events = trace["traceEvents"]
iterations = report["iteration"]
assert [e["args"]["name"] for e in events if e["name"] == "process_name"] == [i["engine"] for i in iterations]
for pid, it in enumerate(iterations, 1):
    mine = [e for e in events if e["pid"] == pid]
    span_us = it["time_s"] * 1e6
    names = {e["tid"]: e["args"]["name"] for e in mine if e["name"] == "thread_name"}
    assert len(set(names.values())) == len(names)
    end = collections.defaultdict(float)
    slices = [e for e in mine if e["ph"] == "X"]
    for e in sorted(slices, key=lambda e: e["ts"]):
        assert e["ts"] >= 0 and e["dur"] >= 0 and e["ts"] + e["dur"] <= span_us + 1e-2, e
        assert e["ts"] >= end[e["tid"]] - 1e-4, ("overlaps", names[e["tid"]], e)
        end[e["tid"]] = e["ts"] + e["dur"]
        assert e["tid"] in names
    assert math.isclose(max(end.values()), span_us, abs_tol=1e-2)
    schedule = it["schedule"]
    assert math.isclose(schedule["time_s"], it["time_s"], rel_tol=1e-12)
    for stage in schedule["stages"]:
        parts = sum(stage[k] for k in ("compute_s", "exchange_s", "bubble_s", "send_s", "replica_s", "optimizer_s"))
        assert math.isclose(parts, it["time_s"], rel_tol=1e-9), (stage["stage"], parts)
        here = [e for e in slices if names[e["tid"]].startswith(f"stage {stage['stage']}:")]
        assert sum(kind["count"] for kind in stage["kinds"]) == len(stage["operations"])
        starts = [op["start_s"] for op in stage["operations"]]
        assert starts == sorted(starts)
        for op in stage["kinds"]:
            same = [e for e in here if e["name"] == op["kind"]]
            listed = [o for o in stage["operations"] if o["kind"] == op["kind"]]
            assert sorted((e["args"].get("chunk", 0), round(e["ts"], 3)) for e in same) == sorted(
                (o["chunk"], round(round(o["start_s"] * 1e9) / 1e3, 3)) for o in listed), op["kind"]
            assert len(same) == op["count"], (stage["stage"], op)
            assert math.isclose(sum(e["dur"] for e in same), op["busy_s"] * 1e6, abs_tol=1e-3 * len(same))
            assert math.isclose(min(e["ts"] for e in same), op["first_s"] * 1e6, abs_tol=1e-3)
        exchanges = sum(e["dur"] for e in here if e["name"] == "exchange")
        assert math.isclose(exchanges, stage["exchange_s"] * 1e6, abs_tol=1e-3 * len(here)), stage["stage"]
    power = schedule["power"]
    points = [(e["ts"], e["args"]["W"]) for e in mine if e["ph"] == "C" and e["name"] == "power"]
    links = collections.defaultdict(list)
    for e in mine:
        if e["ph"] == "C" and e["name"] != "power":
            links[e["name"]].append((e["ts"], e["args"]["%"]))
    assert {"nic-leaf up", "nic-leaf down"} <= set(links), set(links)
    for name, values in links.items():  # between 0 and all of it, in order, and nothing at the end
        assert all(0 <= value <= 100 for _, value in values) and values[-1][1] == 0, name
        assert all(a[0] < b[0] and a[1] != b[1] for a, b in zip(values, values[1:])), name
        assert any(value > 0 for _, value in values) and values[-1][0] <= span_us + 1e-2, name
    for up in [name for name in links if name.endswith(" up")]:
        busy = [sum(v * (b - a) for (a, v), (b, _) in zip(links[n], links[n][1:])) for n in (up, up[:-2] + "down")]
        assert 0.5 < busy[0] / busy[1] < 2, (up, busy)
    ends = [ts for ts, _ in points[1:]] + [span_us]
    energy = sum(w * (end - ts) for (ts, w), end in zip(points, ends))
    assert math.isclose(energy, power["mean_w"] * span_us, rel_tol=1e-6)
    watts = [w for _, w in points]
    assert points[0][0] == 0 and max(watts) == power["peak_w"] and min(watts) == power["min_w"] >= power["idle_w"]
    assert max(abs(a - b) for a, b in zip(watts, watts[1:] + watts[:1])) == power["step_w"]
    assert power["peak_w"] <= 128 * 700 + power["network_w"]
PYTHON
}
check interleaved model=gpt-1.7b,tp=2,pp=4,batch=256,interleave=2
check bubble model=gpt-1.7b,tp=2,pp=4,batch=256,schedule=zero-bubble,dp-overlap=0.5
check sharded model=gpt-1.7b,tp=2,pp=2,batch=64,zero=3,dp-overlap=0.5

refuse() { # CODE TEXT ARGUMENT...
  local code=$1 text=$2
  shift 2
  "$program" "$@" --quiet >out 2>err && got=0 || got=$?
  { [ "$got" = "$code" ] && grep -qF -- "$text" err; } || { fail "$*: exit $got"; cat err; }
}
refuse 5 "exists already" run $design --job model=gpt-1.7b,tp=2 --timeline bubble.trace
refuse 3 "none was timed" run $design --job model=llama3-8b,kind=serving,memory-check=off --timeline none.trace
refuse 3 "passes" run $design --job model=gpt-1.7b,tp=2,pp=2,batch=4194304,microbatch=1 --timeline long.trace
[ ! -e none.trace ] && [ ! -e long.trace ] || fail "something was written without a timeline"
[ "$failures" = 0 ]
