#!/usr/bin/env bash
# Matrices of mice and elephants: what an even split takes too is not the hash's, and a change that is faster under
# every seed is told, however wide the interval of its mean is.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
says() { # says TEXT ARGUMENTS...: the five lines have it
  "$program" "${@:2}" --quiet >out || fail "${*:2}"
  sed '/^$/,$d' out | cut -c13- | tr '\n' ' ' >lines
  grep -qE -- "$1" lines || { cat lines; fail "${*:2}: no '$1'"; }
}

# --- flows of all sizes on a taper: no split is faster, and all engines say so ---
python3 - <<'PYTHON'
import random
def write(name, flows):
    with open(name, "w") as out:
        out.write("src,dst,bytes\n" + "".join(f"{a},{b},{n}\n" for a, b, n in flows))
random.seed(3)
write("sizes.csv", [(a, b, int(random.lognormvariate(17, 1))) for a in range(64) for b in random.sample([g for g in range(64) if g != a], 6)])
for seed, name in ((2, "elephants.csv"), (1, "tied.csv")):
    random.seed(seed)
    flows = []
    for i in range(256 * 3 + 12):
        a, b = (i // 3, random.randrange(256)) if i < 256 * 3 else (random.randrange(256), random.randrange(256))
        if a // 8 != b // 8:
            flows.append((a, b, random.choice([10, 20, 50, 100] if i < 256 * 3 else [1000, 2000, 3000]) * 10**6))
    write(name, flows)
PYTHON
design=(route clos:gpus=64,radix=16,taper=2 --traffic file:sizes.csv)
for engine in spray ecmp,qp=16 adaptive; do
  says '^unequal flows' "${design[@]}" --engine $engine
done
says '^collisions and unequal flows, in matrix' "${design[@]}" --engine ecmp,qp=16 --seeds 40 # too many flows to try more
says '^hash collisions x1\.[0-9]+ \(unequal flows x1\.[0-9]+\), in matrix' "${design[@]}" --engine ecmp
"$program" "${design[@]}" --engine ecmp --engine spray --json --quiet >both.json
python3 - <<'PYTHON' || fail "what is the hash's"
import json, re
phase = json.load(open("both.json"))["phases"][0]
ecmp, spray = (e["time_s"] if not isinstance(e["time_s"], dict) else e["time_s"]["mean"] for e in phase["engines"])
told = [float(x) for x in re.search(r"collisions x([0-9.]+) \(unequal flows x([0-9.]+)\)", open("lines").read()).groups()]
assert abs(told[0] - ecmp / spray) < 0.006, (told, ecmp, spray)
PYTHON

# equal flows: what an even split does not take is all the hash's, latency apart
for pattern in permutation shift,by=9 all-to-all; do
  says '^(taper|hash collisions|collisions)' route clos:gpus=64,radix=16,taper=2 --traffic pattern:$pattern --engine ecmp
  ! grep -F unequal lines || fail "equal flows of $pattern"
done

# --- a quarter of the draws take twice as long: the interval of the means contains 0, and no draw is slower ---
elephants=(route clos:gpus=256,radix=32,taper=2 --traffic file:elephants.csv --engine)
says '^hash collisions x1.[0-9]+ \(unequal flows.*--engine ecmp,qp=8 saves 23\.0 % (\+- 23\.8 % )?of the time of all phases \(a setting of the hosts\)' "${elephants[@]}" ecmp --advise
"$program" "${elephants[@]}" ecmp --advise --json --quiet | jq -e '.advice.candidates | map(select(.change | endswith("ecmp,qp=8")))[0] | .verdict == "faster" and .gain_ci95_s > .gain_s' >/dev/null || fail "signs"
# of queue pairs that these seeds do not tell apart the fewest
says '--engine ecmp,qp=8 saves 10\.3 % \+- 8\.6 % of the time of all phases, and these seeds do not tell --engine ecmp,qp=16, 10\.4 %, from it' \
  "${elephants[@]:0:2}" --traffic file:tied.csv --engine ecmp --advise
for seed in $(seq 1 8); do
  for engine in ecmp ecmp,qp=8; do
    "$program" "${elephants[@]}" $engine --seed "$seed" --json --quiet | jq '.phases[0].engines[0].time_s'
  done | paste -s -
done >times
awk '!($2 < $1) { exit 1 }' times && [[ $(wc -l <times) -eq 8 ]] || fail "8 of 8 are faster: $(<times)"

# --- of servers left idle run advises as plan does, in whatever order of the ranks ---
odd=(rail-spine:gpus=1002,gpus-per-server=6,nics-per-server=3 --job model=llama3-70b --json --quiet)
for command in plan run; do
  "$program" $command "${odd[@]}" | jq -r '.plan.fewer_job' >$command.job
done
cmp plan.job run.job && grep -q '^n-servers=164,.*order=tp-dp-cp-pp' run.job || fail "idle servers: $(<plan.job), $(<run.job)"
exit $((failures > 0))
