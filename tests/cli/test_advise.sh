#!/usr/bin/env bash
# Advice as a user calls for it: what it prints validates, can be pasted, and does what it says.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
"$program" schema result >result.schema.json
"$program" schema report >report.xsd

# check ARGUMENTS...: JSON and XML by their schemas; the best command gives the time that was promised
count=0
check() {
  count=$((count + 1))
  "$program" route "$@" --advise --json --quiet --out "report$count" >"$count.json" 2>err || { cat err; fail "$*: does not run"; return; }
  xmllint --noout --schema report.xsd "report$count/report.xml" 2>log || { cat log; fail "$*: the XML report does not validate"; }
  python3 - "$program" "$count.json" <<'PYTHON' || fail "$*: the JSON result is wrong"
import json, shlex, subprocess, sys
import jsonschema
result = json.load(open(sys.argv[2]))
jsonschema.validate(result, json.load(open("result.schema.json")))
advice = result["advice"]
base = advice["base"]


def mean(figure):
    return figure["mean"] if isinstance(figure, dict) else figure


def time_of(phases):
    counted = "busiest_link_s" if advice.get("by_links") else "time_s"
    return sum(mean(p["engines"][0][counted]) for p in phases if p["engines"])


assert advice.get("by_links", False) == (sum(p["flows"] for p in result["phases"]) > 8192), "who counts links"
assert abs(time_of(result["phases"]) - base["time_s"]) <= 1e-9 * base["time_s"]
assert all(len(p["engines"]) == 1 for p in result["phases"])
assert all("reason" in c if c["verdict"] == "impossible" else "time_s" in c for c in advice["candidates"])
to_do = result["verdict"]["to_do"]
best = advice.get("best")
drawn = best is not None and (best["gain_ci95_s"] > 0 or best["check_gain_ci95_s"] > 0)
confirmed = best is not None and (not drawn or best["check_verdict"] == "faster")
if not any(mean(p["engines"][0]["busiest_link_s"]) for p in result["phases"] if p["engines"]):
    assert to_do.startswith("nothing: no traffic leaves"), to_do
elif best is None:
    unclear = [c for c in advice["candidates"] if c["verdict"] == "unclear" and not c["needs_switch_support"] and c["gain_ratio"] > 0.01]
    assert to_do.startswith("nothing that is clear" if unclear else "keep what is there"), to_do
elif len(best["change"]) > 240:
    assert "the best change below" in to_do, to_do
else:
    assert to_do.startswith(f"{best['change']} " if confirmed else "nothing that is confirmed"), (to_do, best)
    wide = f" +- {100 * best['gain_ci95_s'] * best['gain_ratio'] / best['gain_s']:.1f} %" if best["gain_ci95_s"] > best["gain_s"] / 2 else ""
    assert not confirmed or f" saves {100 * best['gain_ratio']:.1f} %{wide} of" in to_do, (to_do, best)
    assert best["change"] in to_do, to_do
can = [c for c in advice["candidates"] if c["needs_switch_support"] and c["verdict"] == "faster"
       and c["time_s"] < (best or base)["time_s"] * (1 - 1e-3)]
assert ("where switches can" in to_do) == bool(can), to_do
assert not can or len(can[0]["change"]) > 240 or f"where switches can, {can[0]['change']} saves" in to_do, to_do
if "best" in advice:
    words = shlex.split(advice["best"]["command"])
    assert words[0] == "fabriscope"
    out = subprocess.run([sys.argv[1], *words[1:], "--json", "--quiet"], capture_output=True, check=True).stdout
    again = json.loads(out)
    assert abs(time_of(again["phases"]) / advice["best"]["time_s"] - 1) < 1e-9, "the command gives another time"
    assert ("iteration_s" in best) == ("base_iteration_s" in best) == ("iteration" in result), best
    for report, figure in ((result, "base_iteration_s"), (again, "iteration_s")):
        if "iteration" in report:
            assert abs(report["iteration"][0]["time_s"] / best[figure] - 1) < 1e-9, (figure, best)
PYTHON
}

check preset:llama3-talk-racks --engine pinned --job servers=0,1,2,4 --advise-budget 40
check preset:llama3-talk-racks --engine ecmp --set job.dp=1 --job pp=4 --advise-budget 0 --seed 7
check torus:gpus=64,gpus-per-server=4,torus=4,4,radix=8 --engine ecmp --advise-budget 10 --seeds 9
check 'fat-tree:xgft=2;4,4;1,4' --traffic pattern:permutation --engine ecmp
check clos:gpus=8 --engine ecmp

# flows that share NICs unequally: the fullest links are as full under every engine, and yet the bytes take longer under a
# hash. What a change buys is what the times of two runs say, beside --advise too. Of too many flows links are counted.
unequal() { # unequal GPUS FAR
  echo src,dst,bytes
  for ((i = 0; i < $1; i++)); do echo "$i,$(((i + 8) % $1)),1000000000"; echo "$i,$(((i + $2) % $1)),200000000"; done
}
unequal 64 37 >unequal.csv
unequal 4104 1037 >many.csv
check rail-spine:gpus=4104,radix=64,taper=2 --traffic file:many.csv --engine ecmp
grep -q 'fullest network link (unequal flows are too many)' "report$count/report.md" || fail "links are counted, and nobody says so"
check rail-spine:gpus=64,taper=2 --traffic file:unequal.csv --engine ecmp
for change in ecmp,qp=4 ecmp,qp=16 spray; do
  "$program" route rail-spine:gpus=64,taper=2 --traffic file:unequal.csv --engine "$change" --seeds 8 --json --quiet >after.json
  "$program" route rail-spine:gpus=64,taper=2 --traffic file:unequal.csv --engine ecmp --json --quiet >alone.json
  python3 - "$count.json" after.json alone.json "$change" <<'PYTHON' || fail "$change: the gain is not that of two runs"
import json, sys
advised, after, alone = (json.load(open(path)) for path in sys.argv[1:4])
time_s = [r["phases"][0]["engines"][0]["time_s"] for r in (advised, after)]
before_s, after_s = (t["mean"] if isinstance(t, dict) else t for t in time_s)
row, = (c for c in advised["advice"]["candidates"] if c["change"] == f"--engine {sys.argv[4]}")
assert row["verdict"] == "faster" and row["gain_ratio"] > 0.03, row
assert abs(row["gain_ratio"] - (1 - after_s / before_s)) < 1e-9, (row, before_s, after_s)
tried, = (t for t in alone["verdict"]["alternatives"] if t["engine"] == sys.argv[4])
assert tried["confirmed"] and abs(tried["seeds_ratio"] - row["gain_ratio"]) < 1e-9, (tried, row)
assert "luck" not in alone["verdict"]["to_do"], alone["verdict"]["to_do"]
PYTHON
done

# What a change saves over seeds is of the iteration, as two runs of these seeds have it.
job=(rail-spine:gpus=400,radix=20 --job "model=llama3-8b,tp=2,cp=2,pp=1,dp=100,ep=1,interleave=1,microbatch=1,recompute=none,zero=1,sequence-parallel=yes,batch=500" --quiet)
"$program" run "${job[@]}" --json >one.json && "$program" run "${job[@]}" --seeds 8 --json >before.json &&
  "$program" run "${job[@]}" --seeds 8 --engine ecmp,qp=4 --json >after.json || fail "a job under seeds"
python3 - <<'PYTHON' || fail "seeds of an iteration"
import json
one, before, after = (json.load(open(n + ".json")) for n in ("one", "before", "after"))
a, = (a for a in one["verdict"]["alternatives"] if a["engine"] == "ecmp,qp=4")
true = 1 - after["iteration"][0]["time_s"] / before["iteration"][0]["time_s"]
assert 0.05 < true < 0.09 and abs(a["seeds_ratio"] - true) < 1e-6, (a, true)
assert "10.9 % (7.1 % +- 4.9 % over 8 seeds)" in one["verdict"]["to_do"], one["verdict"]["to_do"]
PYTHON

# Beside the engine that is taken those that are slower are not said to save little.
cat >rows.csv <<'ROWS'
0,38000000,5000000,24000000,59000000,20000000,57000000,5000000
124000000,0,7000000,59000000,14000000,46000000,24000000,26000000
40000000,12000000,0,63000000,38000000,21000000,35000000,78000000
16000000,61000000,6000000,0,5000000,35000000,94000000,56000000
1000000,2000000,11000000,55000000,0,10000000,24000000,36000000
41000000,41000000,28000000,142000000,54000000,0,1000000,96000000
106000000,41000000,6000000,62000000,84000000,96000000,0,51000000
177000000,41000000,18000000,38000000,1000000,102000000,101000000,0
ROWS
sprayed=(route clos:gpus=64,radix=16 --traffic file:rows.csv,rows=servers --quiet --json)
"$program" "${sprayed[@]}" --engine spray >sprayed.json && "$program" "${sprayed[@]}" --engine ecmp,qp=16 >pairs.json || fail "a matrix under spray"
python3 - <<'PYTHON' || fail "engines that are slower"
import json
sprayed, pairs = (json.load(open(n + ".json"))["verdict"] for n in ("sprayed", "pairs"))
assert pairs["compared_s"] > 1.05 * sprayed["compared_s"], (pairs["compared_s"], sprayed["compared_s"])
said = sprayed["to_do"]
assert "it takes longer under ecmp,qp=4, ecmp,qp=16" in said and "is saved" not in said, said
PYTHON

# An incast that its receiver's NIC holds in half of the draws: the interval of gains that cannot be negative contains 0, and yet nothing loses by
# queue pairs, with or without --advise.
python3 - <<'PYTHON' >incast.csv
print("src,dst,bytes")
flows = [(i, (i + 8) % 64, 1) for i in range(64)] + [(i, 56 + i, 4) for i in range(8)] + [(i, 40, 2) for i in range(16, 24)]
print("\n".join(f"{a},{b},{n * 1000000000}" for a, b, n in flows))
PYTHON
incast=(route clos:gpus=64,radix=16,taper=2 --traffic file:incast.csv --engine ecmp --quiet)
"$program" "${incast[@]}" --engine spray --advise --json >advised.json && "$program" "${incast[@]}" --seeds 8 --json >told.json || fail "an incast"
python3 - <<'PYTHON' || fail "what an incast's NIC holds"
import json
advised, told = (json.load(open(f"{name}.json")) for name in ("advised", "told"))
best = advised["advice"]["best"]
row, = (c for c in advised["advice"]["candidates"] if c["change"] == best["change"])
assert best["change"] == "--engine ecmp,qp=4" and row["verdict"] == "faster" and 0 < row["gain_s"] < row["gain_ci95_s"], row
assert best["change"] in advised["verdict"]["to_do"] and f"{best['change']} saves {100 * row['gain_ratio']:.1f} %" in told["verdict"]["to_do"].replace("saves 22.5 ms,", "saves"), told["verdict"]
PYTHON

# The first screen names the NIC; what binds is no link that is overfull; most is said of what needs no switches; fewer pairs are no remedy; and no
# exchange of hosts is named for a matrix whose hosts have a leaf each, or for a pattern.
screen() { # screen ARGUMENTS...: its first lines as one
  "$program" route "$@" --quiet >out 2>err || { cat err; fail "$*"; }
  sed '/^$/,$d' out | cut -c13- | tr '\n' ' ' >lines
}
says() { grep -qE -- "$1" lines || { cat lines; fail "no '$1'"; }; }
lacks() { ! grep -qE -- "$1" lines || { cat lines; fail "says '$1'"; }; }
screen "${incast[@]:1:5}" --seeds 8
says 'NICs \(hash collisions x1\.07\), in matrix: 362\.5 ms; the bytes of nic-40 alone take 340 ms, of any other at most 100 ms'
# A NIC that needs most and binds alone is named though it is no incast, and so are two that need as much; a fifth of all are not.
lone() { # lone BYTES OTHER: nic-9 and nic-41 receive so much, all others less
  printf 'src,dst,bytes\n' >lone.csv
  for source in 1 17 25 33; do printf '%s,9,%s\n%s,41,%s\n' $source "$1" $source "$2"; done >>lone.csv
}
lone 110000000 100000000
screen rail-spine:gpus=64,radix=16 --traffic file:lone.csv --engine spray
says 'NICs, in matrix: [0-9.]+ ms; the bytes of nic-9 alone take [0-9.]+ ms, of any other at most [0-9.]+ ms'
/usr/bin/python3 - lines <<'PYTHON' || fail "what a NIC alone takes"
import re, sys
all_, one, other = map(float, re.search(r"matrix: ([\d.]+) ms; the bytes of nic-9 alone take ([\d.]+) ms, of any other at most ([\d.]+) ms", open(sys.argv[1]).read()).groups())
assert all_ / one < 1.01 and abs(one / other - 1.1) < 1e-3, (all_, one, other)
PYTHON
lone 100000000 100000000
screen rail-spine:gpus=64,radix=16 --traffic file:lone.csv --engine spray
says 'NICs, in matrix: [0-9.]+ ms; the bytes of nic-9,41 \(2 NICs\) alone take [0-9.]+ ms each, of any other at most [0-9.]+ ms'
lone 100000000 99950000 # within a thousandth
screen rail-spine:gpus=64,radix=16 --traffic file:lone.csv --engine spray
says 'nic-9,41 \(2 NICs\)'
hot() { # hot NIC...: everybody else sends to each of them
  python3 -c 'import sys; print("src,dst,bytes"); [print(f"{i},{h},26000000") for i in range(128) for h in map(int, sys.argv[1:]) if i // 8 != h // 8]' "$@" >hot.csv
  screen clos:gpus=128 --traffic file:hot.csv
}
hot 5 37 70
says 'NICs, in matrix: 62\.4 ms; the bytes of nic-5,37,70 \(3 NICs\) alone take 62\.4 ms each, of any other at most 1\.56 ms'
says 'every phase takes the least that any routing needs.*; NICs bind: only other traffic, or more or faster NICs, take less time'
hot {10..15} 37 70 90
says 'the bytes of nic-10-15,37,70 and 1 more \(9 NICs\) alone take'
hot {0..127..5}
says '^NICs, in matrix'
lacks 'alone take|NICs bind'
screen "${incast[@]:1:5}" # its first seed takes what the NIC does
says '78 of 80 flows cross an overfull link; none of these binds, NICs take as long'
screen clos:gpus=128,radix=32,taper=4 --traffic pattern:shift,by=40 --engine ecmp,qp=4 --advise
lacks 'another placement|other hosts'
grep -qF 'ecmp,qp=2' out && fail "fewer queue pairs than there are"
python3 -c 'print("src,dst,bytes"); [print(f"{i},{(i + 40) % 128},1000000") for i in range(128)]' >pairs.csv
screen clos:gpus=128,radix=32,taper=4 --traffic file:pairs.csv --engine ecmp
says 'as may other hosts for its rows and columns'
screen clos:gpus=128,radix=16,taper=2 --traffic file:pairs.csv --engine ecmp
lacks 'other hosts'
screen clos:gpus=1024,taper=2 --job tp=8,pp=4 --engine ecmp,qp=32
lacks 'qp=16'
screen rail-only:gpus=1024,forwarding=sequential --traffic pattern:all-to-all,bytes=8MB --engine spray
says 'inside scale-up domains before anything is sent \(forwarding=sequential\)'
lacks 'no routing saves more than'

# --- weights where trunks differ: tried by run, route and advice, which name what they save; where trunks are equal, by none ---
uneven=(clos:gpus=256,radix=32,taper=2,spares=1 --job model=llama3-8b,tp=1,cp=2,pp=1,dp=128,zero=1)
for engine in spray ecmp; do
  "$program" run "${uneven[@]}" --engine $engine --json --quiet >tried.json && "$program" run "${uneven[@]}" --engine spray,weights=capacity --json --quiet >weighted.json || fail "unequal trunks"
  "$program" route "${uneven[@]}" --engine $engine --advise --json --quiet >advised.json || fail "advice of unequal trunks"
  python3 - $engine <<'PYTHON' || fail "weights beside $engine"
import json, sys
tried, weighted, advised = (json.load(open(f"{name}.json")) for name in ("tried", "weighted", "advised"))
verdict = tried["verdict"]
row, = (a for a in verdict["alternatives"] if a["engine"] == "spray,weights=capacity")
gain = verdict["compared_s"] - row["time_s"]
assert row["needs_switch_support"] and abs(row["time_s"] / weighted["iteration"][0]["time_s"] - 1) < 1e-3 and gain > 0.05 * verdict["compared_s"], row
said = f"where switches can, --engine spray,weights=capacity saves {1000 * gain:.1f} ms, {100 * gain / verdict['compared_s']:.1f} %"
assert said in verdict["to_do"] and "keep the routing" not in verdict["to_do"] and "in proportion" not in verdict["to_do"], verdict["to_do"]
assert not any("ecmp" in a["engine"] and "weights" in a["engine"] for a in verdict["alternatives"])  # all cables are alike
row, = (c for c in advised["advice"]["candidates"] if "weights" in c["change"])
assert row["change"] == "--engine spray,weights=capacity" and row["verdict"] == "faster" and row["needs_switch_support"], row
to_do = advised["verdict"]["to_do"]
assert f"where switches can, {row['change']} saves {100 * row['gain_ratio']:.1f} %" in to_do and "in proportion" not in to_do, to_do
PYTHON
done
screen clos:gpus=256,radix=32,taper=2 --job tp=1,pp=1 --engine ecmp --advise
! grep -q 'weights=capacity' out || fail "weights of equal trunks"
{ # cables of two rates: a hash has weights too
  echo a-node,a-port,z-node,z-port,rate
  for leaf in 1 2; do
    for k in 1 2 3 4; do echo "host-$leaf$k,1,leaf-$leaf,$k,400Gb/s"; done
    for spine in 1 2 3; do echo "leaf-$leaf,$((4 + spine)),spine-$spine,$leaf,$((spine == 1 ? 800 : 400))Gb/s"; done
  done
} >rates.csv
printf 'src,dst,bytes\n4,0,1e9\n5,1,1e9\n6,2,1e9\n7,3,1e9\n' >across.csv
rates=(route installed:rates.csv --set fabric.gpus-per-server=1 --traffic file:across.csv --quiet --json --engine)
weighted=$("$program" "${rates[@]}" ecmp,qp=16,weights=capacity | jq '.phases[0].engines[0].time_s')
"$program" "${rates[@]}" ecmp,qp=16 | jq -e --argjson time "$weighted" \
  '.verdict | (.alternatives[] | select(.engine == "ecmp,qp=16,weights=capacity") | .time_s / $time - 1 | fabs < 1e-6 and $time < 0.03) and .compared_s > 0.039' >/dev/null || fail "weights of a hash"

# many small designs: the verdict names what the search found, whatever that is
for of in $(some {clos:gpus=64\,radix=16,clos:gpus=64\,radix=16\,taper=2,rail-spine:gpus=64\,radix=8,rail-spine:gpus=64\,radix=8\,taper=2,rail-only:gpus=64\,radix=16}/{ecmp,ecmp\,qp=4,dmodk,pinned}); do
  check "${of%/*}" --engine "${of#*/}" --traffic pattern:shift,by=9 --advise-budget 6
done

# what is printed can be pasted, however long it is, and no line is wider than 80 columns
list=$(for i in {0..15}; do printf '%d,%d,' "$((i + 16))" "$i"; done)
"$program" route clos:gpus=256,radix=32,taper=2 --engine ecmp --job "pp=2,servers=${list%,}" --advise --quiet | sed -n '/^ADVICE/,/^ITERATION/p' >out
[[ $(awk '{ if (length($0) > w) w = length($0) } END { print w }' out) -le 80 ]] || fail "wider than 80 columns"
pasted=$(sed -n '/^    fabriscope route/,/[^\\]$/p' out)
[[ -n $pasted ]] || fail "no command is printed"
[[ $pasted == *,\\* ]] || fail "no list of servers is broken"
eval "set -- $pasted"
shift
"$program" "$@" --quiet >/dev/null || fail "the printed command cannot be pasted: $pasted"

# --- wrong use ---
refuse() { # refuse TEXT ARGUMENTS...
  local text=$1 code=0
  shift
  "$program" route "$@" >out 2>err || code=$?
  [[ $code -eq 2 ]] || fail "$*: exit code $code"
  grep -qE -e "$text" err || { cat err; fail "$*: stderr lacks '$text'"; }
}
refuse 'needs --advise' clos:gpus=64 --advise-budget 5
refuse 'option --advise-budget: ' clos:gpus=64 --advise --advise-budget many
refuse '--advise and --bound need it' clos:gpus=64 --advise --engine dmodk --dump -

echo "$failures failures"
[[ $failures -eq 0 ]]
