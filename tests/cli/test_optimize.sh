#!/usr/bin/env bash
# The optimiser as a user calls it: results that validate and can be pasted, errors that name their place, exit codes.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect CODE TEXT ARGUMENTS...: exit code of optimize, TEXT (a pattern) in its stderr, or in stdout when CODE is 0
expect() {
  local wanted=$1 text=$2 code=0
  shift 2
  "$program" optimize "$@" >out 2>err </dev/null || code=$?
  [[ $code -eq $wanted ]] || { cat err; fail "$*: exit code $code, not $wanted"; }
  if [[ $wanted -eq 0 ]]; then
    grep -qE -e "$text" out || fail "$*: stdout lacks '$text'"
    ! grep -vE '^fabriscope: [0-9]+ of [0-9]+ ' err >more || fail "$*: stderr has more than progress: $(<more)"
  else
    grep -qE -e "$text" err || { cat err; fail "$*: stderr lacks '$text'"; }
    [[ ! -s out ]] || fail "$*: stdout is not empty"
  fi
}

# --- a catalog of one's own ---
cat >parts.xml <<'XML'
<catalog name="parts" prices="today-400g">
  <source>test</source>
  <search families="clos/rail-spine" tiers="1/2/3" planes="1/2" tapers="1/2/3:1"/>
  <server gpus="8" nics="8" domains="8"/>
  <nic rates="400Gb/s"/>
  <switch name="small" radix="16" port="400Gb/s"/>
  <switch name="large" radix="32" port="800Gb/s" breakouts="1/2"/>
</catalog>
XML
"$program" schema catalog >catalog.xsd
xmllint --noout --schema catalog.xsd parts.xml "$root"/topologies/catalogs/*.xml 2>log || { cat log; fail "catalogs do not validate"; }

expect 0 'OPTIMUM' --gpus 256 --catalog parts.xml
[[ $(awk '{ if (length($0) > w) w = length($0) } END { print w }' out) -le 80 ]] || fail "wider than 80 columns"
pasted=$(sed -n '/^  clos:/,/[^\\]$/p' out)
eval "set -- build $pasted"
"$program" "$@" --quiet >/dev/null || fail "the printed design cannot be pasted: $pasted"
# the largest taper of a catalog is said to be that: with more of them it is another
expect 0 '^  3 is the largest taper .oversubscription. of catalog parts: a larger one,' --gpus 256 --catalog parts.xml --family clos
sed 's,tapers="1/2/3:1",tapers="1/2/3:1/15",' parts.xml >more.xml
expect 0 '^  15 is the largest taper' --gpus 256 --catalog more.xml --family clos
# and of breakouts and planes, where more of them might save a tier
sed 's,breakouts="1/2",breakouts="1/2/4",' parts.xml >more.xml
for split in parts:2 more:4; do
  expect 0 "\"edge_breakout\": ${split#*:}," --gpus 256 --catalog "${split%:*}.xml" --family clos --json
  "$program" optimize --gpus 256 --catalog "${split%:*}.xml" --family clos --quiet | tr -s ' \n' ' ' >edges
  grep -q "Catalog parts splits ports in ${split#*:} and has 2 planes at most: more of both" edges || fail "breakouts of $split: $(<edges)"
done
"$program" optimize --gpus 16 --catalog parts.xml --family clos --quiet | grep 'splits ports' >/dev/null && fail "one tier has nothing to save"
for limit in '--min-bisection 0.5' '--max-taper 3'; do
  "$program" optimize --gpus 256 --catalog parts.xml --family clos $limit --quiet | grep 'largest taper' >/dev/null &&
    fail "an edge of the catalog, with $limit"
done
expect 0 '^  rail-spine:gpus=256' --gpus 256 --catalog parts.xml --family rail-spine
if grep -qE '^  clos ' out; then fail "--family rail-spine looked at clos"; fi
expect 0 '^  clos:gpus=256' --gpus 256 --catalog parts.xml --family rail-spine,clos
expect 2 "option --family: 'rail-optimized' is no family of the catalog; did you mean 'rail-spine'. it has: clos, rail-spine" \
  --gpus 256 --catalog parts.xml --family rail-optimized
expect 2 'such as 0.5 for half' --gpus 256 --min-bisection 50%
expect 2 "unknown option '--taper'; did you mean '--max-taper'" --gpus 256 --taper 2
expect 0 '"optimize"' --gpus 256 --catalog parts.xml --min-bisection 0.5 --json
cp out first.json
expect 0 '"optimize"' --gpus 256 --catalog parts.xml --min-bisection 0.5 --json
cmp -s first.json out || fail "two runs differ"

# --- one server has no halves: no bisection, neither in the search nor in its fabric, nor where it is built ---
"$program" optimize --gpus 8 --min-bisection 1 --json --quiet >one.json
"$program" build clos:gpus=8 --json --quiet >one-built.json
"$program" sweep clos:gpus=8 --vary gpus=8,16 --traffic pattern:ring --json --quiet >one-swept.json
"$program" optimize --gpus 8 --min-bisection 1 --quiet | grep 'Bisection is not defined: no two servers' >/dev/null || fail "one server"
python3 - <<'PYTHON' || fail "the bisection of one server"
import json
found, built, swept = (json.load(open(f"one{n}.json")) for n in ("", "-built", "-swept"))
o = found["optimize"]
for part in [o["winner"], *o["runners_up"], *o["pareto_bisection"], found["fabric"], built["fabric"], swept["sweep"]["points"][0]]:
    assert "bisection_ratio" not in part and "bisection_bps" not in part, part
assert swept["sweep"]["points"][1]["bisection_ratio"] == 1
PYTHON

# --- rails that share a network: cheaper than a network for each, or than other families; what is printed costs that ---
cheapest() { # cheapest USD FAMILY SHARING ARGUMENTS...: with bisection 1; SHARING as in the printed design, - for none
  "$program" optimize --min-bisection 1 --json --quiet "${@:4}" >shared.json || fail "shared rails: ${*:4}"
  python3 - "$program" "$1" "$2" "$3" <<'PYTHON' || fail "rails that share a network: ${*:4}"
import json, subprocess, sys
program, usd, family, sharing = sys.argv[1:]
o = json.load(open("shared.json"))["optimize"]
w = o["winner"]
assert o["proven"] and abs(w["total_usd"] - float(usd)) < 1 and w["family"] == family, w
assert str(w.get("rails_per_switch", "-")) == sharing and ("rails-per-switch=" + sharing in w["design"]) == (sharing != "-"), w
pasted = json.loads(subprocess.run([program, "build", w["design"], "--json", "--quiet"], capture_output=True, check=True).stdout)
assert abs(pasted["cost"]["total_usd"] - w["total_usd"]) < 1 and pasted["fabric"]["bisection_ratio"] >= 1 - 1e-9, w
assert all(r["total_usd"] >= w["total_usd"] - 1e-6 for r in o["rejected"] if "total_usd" in r)
assert {r.get("rails_per_switch", 0) for r in o["rejected"] if r["family"] == "rail-only" and r["tiers"] == 2} >= {2, 4, 8} - {w.get("rails_per_switch")}
PYTHON
}
cheapest 7031095 rail-only 4 --gpus 1048 --family rail-only
cheapest 12026450 rail-only 8 --gpus 1800 --family rail-only
cheapest 14035720 rail-only 2 --gpus 2080
cheapest 115646080 rail-only - --gpus 16384 --family rail-only
expect 0 'has no link between groups of 4 rails: traffic' --gpus 1048 --family rail-only --min-bisection 1 --quiet
grep -qE '^  a: 64x400G[^,]*, 4 rails a network$' out || fail "rows do not say how many rails share a network"

# --- what is printed is what it is ---
"$program" schema result >result.schema.json
"$program" schema report >report.xsd
python3 - "$program" <<'PYTHON' || fail "the JSON result is wrong"
import json, subprocess, sys
import jsonschema
result = json.load(open("first.json"))
jsonschema.validate(result, json.load(open("result.schema.json")))
o = result["optimize"]
w = o["winner"]
assert w["bisection_ratio"] >= 0.5 and w["difference_ratio"] == 0
assert o["fronts_complete"] and o["proven"] and o["lower_bound_usd"] == w["total_usd"]
assert len(o["rejected"]) == o["choices"] - 1
assert all(r["reason"] for r in o["rejected"])
assert result["fabric"]["bisection_ratio"] >= w["bisection_ratio"] - 1e-9  # tapers may let less through than the cut
assert abs(result["cost"]["total_usd"] / w["total_usd"] - 1) < 1e-9
points = [w] + o["runners_up"] + o["pareto_bisection"] + o["pareto_power"]
for p in points:
    out = subprocess.run([sys.argv[1], "build", p["design"], "--prices", "today-400g", "--json"],
                         capture_output=True, check=True).stdout
    built = json.loads(out)
    assert built["fabric"]["switches"] == p["switches"] and built["fabric"]["cables"] == p["cables"], p["design"]
    least = 1
    for tier in built["fabric"]["tiers"]:
        least /= tier.get("built_taper", 1)
    assert abs(min(1, least, built["fabric"]["bisection_ratio"]) - p["bisection_ratio"]) < 1e-9, p["design"]
    assert abs(built["cost"]["total_usd"] / p["total_usd"] - 1) < 1e-9, p["design"]
    assert abs(built["cost"]["power_w"] / p["power_w"] - 1) < 1e-9, p["design"]
for front, key, sign in ((o["pareto_bisection"], "bisection_ratio", 1), (o["pareto_power"], "power_w", -1)):
    for a, b in zip(front, front[1:]):
        assert a["total_usd"] < b["total_usd"] and sign * a[key] < sign * b[key]
PYTHON
"$program" optimize --gpus 256 --catalog parts.xml --out report >/dev/null
xmllint --noout --schema report.xsd report/report.xml 2>log || { cat log; fail "the XML report does not validate"; }
design=$(python3 -c 'import json; print(json.load(open("first.json"))["optimize"]["winner"]["design"])')
"$program" run "$design" --quiet >/dev/null || fail "the winner does not run: $design"

# --- pasted, it costs what it was chosen for; 128 GPUs on switches of 8 ports once cost $859,160 instead of $727,380
# (cables of 3 and 30 m); on the floor plan, of 5 to 10 m, they cost $706,740 ---
cat >eight.xml <<'XML'
<catalog name="eight" prices="today-400g">
  <source>test</source>
  <search families="clos/fat-tree/rail-spine/rail-only" tiers="1/2/3" tapers="1.5/2/4"/>
  <server gpus="8" nics="8" domains="8"/>
  <nic rates="400Gb/s"/>
  <switch name="8x400G" radix="8" port="400Gb/s" breakouts="1/2"/>
</catalog>
XML
for prices in today-400g today-800g; do
  "$program" optimize --gpus 128 --catalog eight.xml --prices $prices --min-bisection 0.5 --json --quiet >eight.json
  python3 - "$program" <<'PYTHON' || fail "128 GPUs on switches of 8 ports, $prices"
import json, subprocess, sys
w = json.load(open("eight.json"))["optimize"]["winner"]
assert w["total_usd"] <= 706740, w
pasted = json.loads(subprocess.run([sys.argv[1], "cost", w["design"], "--json", "--quiet"], capture_output=True, check=True).stdout)
assert abs(pasted["cost"]["total_usd"] / w["total_usd"] - 1) < 1e-9, (w, pasted["cost"])
PYTHON
done

# --- dollars per token: the servers of the job are those that are asked for ---
expect 0 'gpt-7.5b on 64 GPUs' --gpus 128 --family clos --objective tokens --job model=gpt-7.5b,servers=0-7 --quiet

# --- dollars per token: more families are never dearer than one of them, and no bound of all is above one's best ---
some "64 llama3-8b" "256 gpt-18.4b" "512 llama3-8b" >jobs
while read -r gpus model; do
  for family in clos,fat-tree,rail-spine,rail-only clos fat-tree rail-spine rail-only; do
    "$program" optimize --gpus "$gpus" --family $family --objective tokens --job "model=$model" --json --quiet >"by-$family.json"
  done
  python3 - <<'PYTHON' || fail "dollars per token of families on $gpus GPUs"
import json
def read(family): return json.load(open(f"by-{family}.json"))["optimize"]
names = ["clos", "fat-tree", "rail-spine", "rail-only"]
o = read(",".join(names))
usd = o["winner"]["usd_per_1e9_tokens"]
for name in names:
    one = read(name)["winner"]["usd_per_1e9_tokens"]
    assert usd <= one * (1 + 1e-9), (name, usd, one)
    assert o["tokens"]["lower_bound_usd_per_1e9_tokens"] <= one * (1 + 1e-9), name
listed = {p["family"] for p in [o["winner"]] + o["runners_up"]}
assert listed == set(names), listed
PYTHON
done <jobs

# --- dollars per token: what is printed costs that in a comparison, and the bound is kept ---
tokens=(--gpus 256 --family clos,rail-spine --domain 8 --objective tokens --job model=gpt-18.4b --quiet)
"$program" optimize "${tokens[@]}" --replays 40 --json >tokens.json
"$program" optimize "${tokens[@]}" --replays 3 --threads 2 --json >few.json
python3 - "$program" <<'PYTHON' || fail "dollars per token"
import json, shlex, subprocess, sys
o, few = (json.load(open(name))["optimize"] for name in ("tokens.json", "few.json"))
w, t = o["winner"], o["tokens"]
assert o["objective"] == "tokens" and w["usd_per_1e9_tokens"] > 0 and w["token_difference_ratio"] == 0
assert o["proven"] == (t["open"] == 0) and t["replayed"] <= 40 and few["tokens"]["replayed"] <= 3
assert t["replayed"] + t["bounded"] + t["open"] + t["refused"] <= o["designs"]
for x in (o, few):
    assert x["tokens"]["lower_bound_usd_per_1e9_tokens"] <= w["usd_per_1e9_tokens"] * (1 + 1e-9)
assert few["winner"]["usd_per_1e9_tokens"] >= w["usd_per_1e9_tokens"] * (1 - 1e-9)
for x in (o, few):  # the first of a family says how cheap its others may be, and a longer search finds none below
    seen = {x["winner"]["family"]}
    for p in x["runners_up"]:
        least, own = p["token_least_ratio"], p["token_difference_ratio"]
        assert least <= own if p["family"] not in seen else least == own, p
        seen.add(p["family"])
        cheapest = min((q["usd_per_1e9_tokens"] for q in [w] + o["runners_up"] if q["family"] == p["family"]), default=1e9)
        assert x["winner"]["usd_per_1e9_tokens"] * (1 + least) <= cheapest * (1 + 1e-9) or least == own, (p, cheapest)
assert any(p["token_least_ratio"] < p["token_difference_ratio"] for p in few["runners_up"]), few["runners_up"]
assert o["cheapest_network"]["total_usd"] <= w["total_usd"]
assert o["cheapest_network"]["usd_per_1e9_tokens"] >= w["usd_per_1e9_tokens"]
for p in [w] + o["runners_up"][:1]:
    out = subprocess.run([sys.argv[1], "compare", p["design"], "clos:gpus=256", *shlex.split(t["options"]), "--json", "--quiet"],
                         capture_output=True, check=True).stdout
    point = json.loads(out)["sweep"]["points"][0]
    assert abs(point["engines"][0]["owned_usd_per_1e9_tokens"] / p["usd_per_1e9_tokens"] - 1) < 1e-6, p["design"]
    assert abs(point["ownership"]["total_usd"] / p["owned_usd"] - 1) < 1e-9, p["design"]
PYTHON
# --- a time limit: one design at least, and a bound that the cheapest of a longer search keeps ---
for limit in 1ms 200ms 1s; do
  "$program" optimize "${tokens[@]}" --replays 40 --time-limit "$limit" --json >late.json 2>err && code=0 || code=$?
  if [[ $code -eq 4 ]]; then grep -F 'the time limit struck' err >/dev/null || fail "$limit: $(<err)"; continue; fi
  python3 - <<'PYTHON' || fail "a time limit of $limit"
import json
late, full = (json.load(open(name))["optimize"] for name in ("late.json", "tokens.json"))
t, usd = late["tokens"], full["winner"]["usd_per_1e9_tokens"]
assert t["replayed"] >= 1 and late["winner"]["plan"] and late["winner"]["usd_per_1e9_tokens"] >= usd * (1 - 1e-9)
assert t["lower_bound_usd_per_1e9_tokens"] <= usd * (1 + 1e-9), (t, usd)
assert not (late["proven"] and not full["proven"])
PYTHON
done
# --- paths that are drawn: the price is that of a comparison over as many seeds ---
drawn=(--gpus 256 --family clos --domain 8 --max-taper 2 --replays 2 --objective tokens --job model=gpt-18.4b --engine ecmp)
"$program" optimize "${drawn[@]}" --json --quiet >drawn.json
python3 - "$program" <<'PYTHON' || fail "dollars per token of drawn paths"
import json, shlex, subprocess, sys
o = json.load(open("drawn.json"))["optimize"]
w = o["winner"]
assert o["tokens"]["is_drawn"] and w["draws"] == 8 and w["ci95_ratio"] > 0, w
out = subprocess.run([sys.argv[1], "compare", w["design"], w["design"], *shlex.split(o["tokens"]["options"]), "--json", "--quiet"],
                     capture_output=True, check=True).stdout
e = json.loads(out)["sweep"]["points"][0]["engines"][0]
assert e["draws"] == 8 and abs(e["owned_usd_per_1e9_tokens"] / w["usd_per_1e9_tokens"] - 1) < 1e-6, (e, w)
PYTHON
# --- sprayed without an engine: what the winner costs under that of the other commands stands beside it ---
"$program" optimize --gpus 256 --family clos --job model=gpt-18.4b --replays 3 --json --quiet >sprayed.json
"$program" optimize --gpus 256 --family clos --job model=gpt-18.4b --replays 3 --quiet | tr -s ' \n' ' ' >sprayed.txt
python3 - "$program" <<'PYTHON' || fail "the winner under ecmp"
import json, re, shlex, subprocess, sys
o = json.load(open("sprayed.json"))["optimize"]
usd, hashed = o["winner"]["usd_per_1e9_tokens"], o["tokens"]["hashed_usd_per_1e9_tokens"]
see = re.search(r"fabriscope run (.*?) --engine spray", open("sprayed.txt").read().replace("\\ ", ""))
out = subprocess.run([sys.argv[1], "run", *shlex.split(see[1]), "--seeds", "8", "--json", "--quiet"], capture_output=True, check=True).stdout
it = json.loads(out)["iteration"][0]
design = o["winner"]["design"]
out = subprocess.run([sys.argv[1], "compare", design, design, "--job", "model=gpt-18.4b", "--engine", "ecmp", "--json", "--quiet"], capture_output=True, check=True).stdout
e = json.loads(out)["sweep"]["points"][0]["engines"][0]
assert abs(e["owned_usd_per_1e9_tokens"] / hashed - 1) < 1e-9 and usd * 1.01 < hashed <= it["owned_usd_per_1e9_tokens"], (e, it, usd, hashed)
assert f"{100 * (hashed / usd - 1):.3g} % more under the best plan then: where the switches hash, --engine ecmp chooses" in open("sprayed.txt").read()
PYTHON
# --- a taper rests on ranks in order: what the winner takes with others is that of a run, and is said where it is much ---
placed=(--gpus 256 --family clos --job model=gpt-7.5b --replays 1)
"$program" optimize "${placed[@]}" --json --quiet >placed.json
"$program" optimize "${placed[@]}" --quiet | tr -s ' \n' ' ' >placed.txt
"$program" optimize "${placed[@]}" --max-taper 1:1 --json --quiet >plain.json
"$program" optimize --gpus 256 --family clos --job model=gpt-7.5b,placement=random --replays 1 --json --quiet >random.json
python3 - "$program" <<'PYTHON' || fail "the winner with ranks placed at random"
import json, shlex, subprocess, sys
o, plain, random = (json.load(open(name + ".json"))["optimize"] for name in ("placed", "plain", "random"))
w = o["winner"]
job = ["--job", "model=gpt-7.5b", "--job", w["plan"], "--job", "placement=random", "--engine", "spray"]
out = subprocess.run([sys.argv[1], "run", w["design"], *job, "--json", "--quiet"], capture_output=True, check=True).stdout
it = json.loads(out)["iteration"][0]
assert abs(it["time_s"] / o["tokens"]["random_s"] - 1) < 1e-9 and it["time_s"] > 1.5 * w["iteration_s"], (it, o)
assert w["built_taper"] == [7] and all(w in " ".join(open("placed.txt").read().split()) for w in ("It rests on ranks in order: with --job placement=random", "under this plan", "by its taper of 7:1"))
assert plain["winner"]["built_taper"] == [1] and "random_s" not in plain["tokens"] and "random_s" not in random["tokens"]
PYTHON
# Where hashing needs more memory than there is for it, nothing is said of what it costs.
unknown=(--gpus 256 --family clos --job model=gpt-18.4b --scenarios time:30d@20 --replays 1 --threads 2 --quiet)
"$program" optimize "${unknown[@]}" --max-memory 120MB | tr -s ' \n' ' ' | grep -F 'without --engine spray, what they cost was not found out: where the switches hash' >/dev/null || fail "a price under ecmp that nobody knows"
"$program" optimize "${unknown[@]}" --max-memory 120MB --json >unknown.json && "$program" optimize "${unknown[@]}" --json >known.json
python3 - <<'PYTHON' || fail "hashing that is refused"
import json
known, unknown = (json.load(open(f"{name}.json"))["optimize"] for name in ("known", "unknown"))
assert "hashed_usd_per_1e9_tokens" not in unknown["tokens"] and known["tokens"]["hashed_usd_per_1e9_tokens"] > 0
assert unknown["winner"]["usd_per_1e9_tokens"] == known["winner"]["usd_per_1e9_tokens"]
PYTHON
# --- GPUs with scale-up links of their own: the printed line and job give the printed time, and one that is given counts ---
own=(--gpus 64 --family clos --replays 2 --json --quiet)
for gpu in b200-180gb gb200-186gb,tp=4 a100-40gb; do
  "$program" optimize "${own[@]}" --gpus-per-server 4 --domain 16 --job "model=gpt-18.4b,gpu=$gpu" >own.json || fail "optimize with $gpu"
  python3 - "$program" <<'PYTHON' || fail "the scale-up rate of $gpu"
import json, shlex, subprocess, sys
found = json.load(open("own.json"))
w, options = found["optimize"]["winner"], found["optimize"]["tokens"]["options"]
def run(*more):
    out = subprocess.run([sys.argv[1], "run", w["design"] + "".join(more), *shlex.split(options), "--json", "--quiet"], capture_output=True, check=True).stdout
    return json.loads(out)
own, fixed = run(), run(",domain-rate=3.6Tb/s")
assert found["fabric"]["domain_bps"] == own["fabric"]["domain_bps"] != fixed["fabric"]["domain_bps"], own["fabric"]
assert abs(own["iteration"][0]["time_s"] / w["iteration_s"] - 1) < 1e-9, (w, own["iteration"])
assert abs(own["iteration"][0]["owned_usd_per_1e9_tokens"] / w["usd_per_1e9_tokens"] - 1) < 1e-6, w
assert abs(fixed["iteration"][0]["time_s"] / w["iteration_s"] - 1) > 1e-3, (w, fixed["iteration"])
PYTHON
done

# --- a search that is cut short: sorted, and the plain design of every family is no better, or is said not to be seen ---
short=(--gpus 256 --family clos,rail-spine --job model=gpt-18.4b --engine ecmp --json --quiet)
"$program" optimize "${short[@]}" --replays 12 >short.json
"$program" optimize "${short[@]}" --replays 1 >one.json
python3 - "$program" <<'PYTHON' || fail "a search that is cut short"
import json, shlex, subprocess, sys
o, one = (json.load(open(f"{n}.json"))["optimize"] for n in ("short", "one"))
listed = [p["usd_per_1e9_tokens"] for p in [o["winner"]] + o["runners_up"]]
assert listed == sorted(listed) and len(listed) == 6 and not o["proven"], listed
assert "unseen" not in o["tokens"] and "rail-spine" in one["tokens"]["unseen"], one["tokens"]
plain = [f"{family}:gpus=256,nic=400Gb/s,tiers=2,radix=64,port=400Gb/s,prices=today-800g" for family in ("clos", "rail-spine")]
out = subprocess.run([sys.argv[1], "compare", *plain, *shlex.split(o["tokens"]["options"]), "--json", "--quiet"], capture_output=True, check=True).stdout
for p in json.loads(out)["sweep"]["points"]:
    assert p["engines"][0]["owned_usd_per_1e9_tokens"] >= listed[0] * (1 - 1e-6), (p["engines"][0]["owned_usd_per_1e9_tokens"], listed)
PYTHON

# --- the winner beats itself with each other taper of the catalog, which is looked at before other designs ---
beside=(--gpus 512 --family clos,rail-spine --job model=llama3-8b --engine ecmp,qp=16 --replays 12 --quiet)
"$program" optimize "${beside[@]}" --json >beside.json && "$program" optimize "${beside[@]}" | tr -s ' \n' ' ' >beside.txt
python3 - "$program" <<'PYTHON' || fail "the winner and its other tapers"
import json, re, shlex, subprocess, sys
o = json.load(open("beside.json"))["optimize"]
w, t = o["winner"], o["tokens"]
assert "open_beside" not in t and t["open"] > 0 and w["tiers"] == 2, t
base = re.sub(r"taper=[^,]*,", "", w["design"])
others = [base.replace("prices=", f"taper={taper},prices=") for taper in (1, 1.5, 2, 3, 4, 7)]
out = subprocess.run([sys.argv[1], "compare", *others, *shlex.split(t["options"]), "--json", "--quiet"], capture_output=True, check=True).stdout
usd = [p["engines"][0]["owned_usd_per_1e9_tokens"] for p in json.loads(out)["sweep"]["points"]]
assert abs(min(usd) / w["usd_per_1e9_tokens"] - 1) < 1e-6, (w, usd)
# what was bounded alone is not said to have done worse, and the closest of it is what the bound of all is
kinds = [r["kind"] for r in o["rejected"] if r["tiers"] == 2]
assert {"bounded", "unseen"} & set(kinds), kinds
for r in o["rejected"]:
    least = r.get("least_usd_per_1e9_tokens", 0)
    assert (r["kind"] in ("bounded", "unseen")) == r["reason"].startswith("not tried; at least"), r
    assert r["kind"] != "unseen" or t["lower_bound_usd_per_1e9_tokens"] <= least < w["usd_per_1e9_tokens"], r
    assert r["kind"] != "bounded" or least >= w["usd_per_1e9_tokens"], r
for family in ("clos", "rail-spine"):
    rejected = [r for r in o["rejected"] if r["family"] == family and r["tiers"] == 2]
    untried = [r for r in rejected if r["kind"] in ("bounded", "unseen")]
    closest = min(rejected, key=lambda r: r.get("least_usd_per_1e9_tokens", 1e9))
    line = re.search(f" {family}, 2 tiers .*?(?= (?:clos|rail-spine), | optimum )", open("beside.txt").read())[0]
    assert closest["reason"] in line, (closest, line)
    n = len(untried) - (closest in untried)
    assert f"; {n} others were not tried: at least $" in line and line.count("did worse") == (len(rejected) - 1 > n), line
PYTHON

# --- sizes that are given and do not divide the batch raise it, as in a run ---
raised=(--job model=gpt-1.7b,tp=1,cp=1,pp=1,dp=1024,recompute=full,zero=1,microbatch=1,interleave=1 --engine spray --json --quiet)
"$program" plan clos:gpus=1024 "${raised[@]}" >plan.json && "$program" run clos:gpus=1024 "${raised[@]}" >run.json || fail "a plan of a batch that is raised"
"$program" optimize --gpus 1024 --family clos --replays 1 "${raised[@]}" >raised.json || fail "a batch that is raised"
python3 - <<'PYTHON' || fail "a batch that is raised: $(head -c 300 plan.json)"
import json
plan, run, o = (json.load(open(f"{name}.json")) for name in ("plan", "run", "raised"))
assert plan["plan"]["batch"] == 1024, plan["plan"]["batch"]
assert abs(plan["plan"]["plans"][0]["time_s"] / run["iteration"][0]["time_s"] - 1) < 1e-9, run["iteration"]
assert "batch 1024 (the sizes do not divide the model's 512)" in o["optimize"]["tokens"]["job"], o["optimize"]["tokens"]["job"]
PYTHON
expect 3 'no microbatches and stages go with batch 512' --gpus 1024 --family clos --job model=gpt-1.7b,tp=1,cp=1,pp=1,batch=512
# --- with failures: the same tokens over what failures leave, as a comparison has it; no bound is broken ---
failing=(--gpus 64 --family clos,rail-only --objective tokens --job model=gpt-7.5b --quiet --json)
"$program" optimize "${failing[@]}" >whole.json
"$program" optimize "${failing[@]}" --scenarios time:30d@10 --policy none >failing.json
"$program" optimize "${failing[@]}" --scenarios time:30d@10 --policy none --threads 1 | grep -v '"threads"' | cmp - <(grep -v '"threads"' failing.json) || fail "failures: other bytes for another number of threads"
python3 - "$program" <<'PYTHON' || fail "dollars per token with failures"
import json, shlex, subprocess, sys
whole, o = (json.load(open(name))["optimize"] for name in ("whole.json", "failing.json"))
assert "goodput_ratio" not in whole["winner"] and o["tokens"]["scenarios"] == "time:30d@10" and o["tokens"]["policy"] == "none"
assert whole["winner"]["usd_per_1e9_tokens"] < o["winner"]["usd_per_1e9_tokens"]
for p in [o["winner"]] + o["runners_up"][:1]:
    out = subprocess.run([sys.argv[1], "compare", p["design"], "clos:gpus=64", *shlex.split(o["tokens"]["options"]), "--scenarios",
                          "time:30d@10", "--policy", "none", "--json", "--quiet"], capture_output=True, check=True).stdout
    e = json.loads(out)["sweep"]["points"][0]["engines"][0]
    goodput = e["goodput_ratio"]
    assert 0 < p["goodput_ratio"] < 1 and abs(goodput / p["goodput_ratio"] - 1) < 1e-9, (goodput, p)
    assert abs(e["owned_usd_per_1e9_tokens"] / goodput / p["usd_per_1e9_tokens"] - 1) < 1e-6, (e, p)
PYTHON
expect 0 'Failures leave [0-9.]+ \+- [0-9.]+ % of the time \(time:30d@10' --gpus 64 --family clos --objective tokens --job model=gpt-7.5b --scenarios time:30d@10 --quiet
expect 2 'judge designs by tokens of a job: --job' --gpus 64 --scenarios time:30d@10
expect 2 'has no time' --gpus 64 --objective tokens --job model=gpt-7.5b --scenarios links:1
expect 2 '--objective tokens needs a job' --gpus 64 --objective tokens
expect 2 'are of tokens, and --objective network looks at none' --gpus 64 --objective network --job model=gpt-1.7b
# A job without a word about the objective is judged by its tokens, and the first line says so.
job=(--gpus 64 --family clos --domain 8 --job model=gpt-1.7b --replays 2 --quiet)
"$program" optimize "${job[@]}" >implied && "$program" optimize "${job[@]}" --objective tokens >asked && cmp implied asked || fail "a job implies tokens"
grep -qE '^  By dollars of ownership' implied || fail "the first line says what is judged by"
expect 0 '^  By the price of the network; 64 GPUs' --gpus 64 --family clos --quiet
expect 2 'no certificate of --objective tokens' --gpus 64 --objective tokens --job model=gpt-1.7b --certificate c
expect 3 'plans are of training, not of ranking' --gpus 64 --objective tokens --job kind=ranking
expect 3 'price of a server, price of a rack; add it to what list prices rail-only-2023 --file prints' --gpus 64 --objective tokens --job model=gpt-1.7b --prices rail-only-2023
expect 0 'The engine hashes: times are means over 8 seeds' "${drawn[@]}"
# Where nothing is drawn the histories are dealt to no draws: the interval is that of compare.
"$program" optimize --gpus 64 --family clos --objective tokens --job model=gpt-7.5b --engine ecmp,qp=2 --scenarios time:30d@10 --json --quiet >failing.json &&
  design=$(python3 -c 'import json; w = json.load(open("failing.json"))["optimize"]["winner"]; print(w["design"])') || fail "a winner under failures"
"$program" compare "$design" "$design" --job model=gpt-7.5b --engine ecmp,qp=2 --scenarios time:30d@10 --json --quiet >compared.json
python3 -c 'import json
w, (p, _) = json.load(open("failing.json"))["optimize"]["winner"], json.load(open("compared.json"))["sweep"]["points"]
e = p["engines"][0]
assert w["goodput_ratio"] == e["goodput_ratio"] and w["goodput_ci95_ratio"] == e["goodput_ci95_ratio"] > 0, (w, e)' || fail "an interval of optimize and compare"
# Servers that the catalog has not are scale-up domains, as where run has them.
expect 0 'gpus=60,gpus-per-server=6,nic=' --gpus 60 --gpus-per-server 6 --family rail-only --quiet
# Three families are one network of one tier: what costs the same to the cent is even, not dearer.
expect 0 ' 2 of the next are even with$' --gpus 128 --job model=llama3-8b --engine ecmp,qp=16

# --- nothing keeps the limits ---
expect 4 'budget \$1\.0M: the cheapest is \$[0-9.]+[kM] \(\+[0-9.]+ %\)' --gpus 1024 --catalog parts.xml --budget 1e6
# A budget that nothing keeps: what the other limits cost is said too, as a search without the budget has it.
cost=$("$program" optimize --gpus 2048 --min-bisection 1 --quiet --json | python3 -c 'import json, sys; print("%.1f" % (json.load(sys.stdin)["optimize"]["winner"]["total_usd"] / 1e6))')
expect 4 "budget \\\$5\.0M: the cheapest is \\\$7\.6M .*; budget \\\$5\.0M: the cheapest with the other limits is \\\$${cost/./\\.}M" --gpus 2048 --min-bisection 1 --budget 5e6
expect 4 'power 1 kW: the least is [0-9.]+ [kM]W \(\+' --gpus 256 --catalog parts.xml --max-power 1kW
expect 4 'taper 0\.5:1: the least is [0-9.]+:1' --gpus 256 --catalog parts.xml --max-taper 1:2
expect 4 'with the other limits' --gpus 256 --catalog parts.xml --min-bisection 0.9 --budget 1.3e6
expect 4 'holds [0-9,]+ GPUs' --gpus 1000000 --catalog parts.xml

expect 4 'the time limit struck' --gpus 256 --catalog parts.xml --time-limit 1ns

# --- a catalog with more choices than memory or time: refused, or ended, before they are all listed ---
{
  sed '/<switch/,$d; s,tiers="1/2/3",tiers="3/4",; s,tapers="[^"]*",tapers="1/2/3/4/5/6/7/8:1",' parts.xml
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "  <switch name=\"s$i\" radix=\"$((16 * i))\" port=\"400Gb/s\" breakouts=\"1/2/4\"/>"
  done
  echo '</catalog>'
} >many.xml
expect 3 'the search of a catalog' --gpus 256 --catalog many.xml --max-memory 1GB
sed 's,tiers="3/4",tiers="3",; s,tapers="[^"]*",tapers="1",; s,planes="1/2",planes="1",' many.xml >some.xml
begun=$(date +%s%N)
expect 4 'the time limit struck' --gpus 1000000 --catalog some.xml --time-limit 20ms --threads 1
[[ $(($(date +%s%N) - begun)) -lt 20000000000 ]] || fail "the time limit is overrun by $(($(date +%s%N) - begun)) ns"

# --- wrong input ---
expect 2 'needs --gpus'
expect 2 'not a plain number from 0 to 1' --gpus 64 --min-bisection 1.5
expect 2 'not a plain number' --gpus 64 --budget '$5M'
expect 2 'has no unit' --gpus 64 --max-power 1000
expect 2 'not a ratio' --gpus 64 --max-taper 0
expect 2 'not above 0' --gpus 64 --time-limit 0s
expect 2 'one operand too many' --gpus 64 extra
expect 3 'do not fill servers' --gpus 65
expect 3 'one must divide the other' --gpus 64 --domain 12
sed 's/nics="8"/nics="4"/' "$root/topologies/catalogs/today.xml" >four-nics.xml
expect 3 'no whole number of NICs' --gpus 99 --gpus-per-server 3 --domain 3 --catalog ./four-nics.xml
expect 3 "unknown catalog 'tody'; did you mean 'today'" --gpus 64 --catalog tody
expect 5 'nowhere.xml' --gpus 64 --catalog nowhere.xml
bad() { # bad PLACE TEXT SED-SCRIPT
  sed "$3" parts.xml >bad.xml
  expect 3 "^fabriscope: bad.xml:$1: .*$2" --gpus 64 --catalog bad.xml
}
bad 3:21 "families: 'klos' is no family" 's/clos/klos/'
bad 3:21 'not a tree of tiers' 's/clos/torus/'
bad 3:45 "tiers: '0' is outside" 's/tiers="1/tiers="0/'
bad 3:73 "tapers: '1' does not ascend" 's,tapers="1/2,tapers="2/1,'
bad 5:15 'has no unit' 's/rates="400Gb.s"/rates="400"/'
bad 6:31 'radix: ' 's/radix="16"/radix="many"/'
bad 6:3 'switch needs the attribute port' 's/radix="16" port="400Gb.s"/radix="16"/'
bad 6:40 "unknown attribute of switch 'prt'; did you mean 'port'" 's/radix="16" port/radix="16" prt/'
bad 7:3 'two switches have the name small' 's/"large"/"small"/'
bad 4:3 'unknown element of a catalog: sever' 's/<server/<sever/'
bad 1:1 'has no element nic' '/<nic/d'
bad 1:1 'begins with <catalog>' 's/catalog/katalog/'

# --- where fewer servers do more on the winner, it is said which design is the best for them ---
seen=(--job model=llama3-70b --quiet --json)
"$program" optimize --gpus 1048 "${seen[@]}" >beside.json || fail "optimize for 1,048 GPUs"
read -r winner other keys < <(python3 -c 'import json
o = json.load(open("beside.json"))["optimize"]
t = o["tokens"]
print(o["winner"]["design"], t["fewer_design"], t["fewer_job"])')
so=n-servers=126,batch=504
"$program" run "$winner" "${seen[@]}" --job "$keys,batch=504" --engine spray >winner.json &&
  "$program" run "$other" "${seen[@]}" --job "$so" --engine spray >other.json || fail "designs for fewer servers"
python3 - <<'PY' || fail "the best design for fewer servers"
import json
t = json.load(open("beside.json"))["optimize"]["tokens"]
usd = [json.load(open(n))["iteration"][0]["owned_usd_per_1e9_tokens"] * 1048 / 1008 for n in ("winner.json", "other.json")]
assert abs(t["fewer_usd_per_1e9_tokens"] / usd[0] - 1) < 1e-3, (t["fewer_usd_per_1e9_tokens"], usd)
assert abs(t["fewer_design_usd_per_1e9_tokens"] / usd[1] - 1) < 1e-6, (t["fewer_design_usd_per_1e9_tokens"], usd)
assert usd[1] < 0.92 * usd[0] and t["fewer_job"].startswith("n-servers=126,"), (usd, t["fewer_job"])
PY

echo "$failures failures"
[[ $failures -eq 0 ]]
