#!/usr/bin/env bash
# Cost of ownership: added up again from the counts of the report and the rows of the book, by other code.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# --- a book of the test's own, whose every figure is another ---
sed '/<gpu /d; /<server /d; /<rack /d; /<energy /d; /<life /d; /<.prices>/d; s/name="today-400g"/name="own"/' \
  "$root/topologies/prices/today-400g.xml" >own.xml
cat >>own.xml <<'XML'
  <gpu name="h100-80gb" usd="23456"/>
  <gpu name="a100-80gb" usd="9876"/>
  <server usd="7000" usd-per-gpu="111" power="300W" power-per-gpu="40W"/>
  <server gpus="4" usd="5000" power="1kW"/>
  <rack servers="3" switches="5" usd="1234" usd-per-year="777"/>
  <energy usd-per-kwh="0.08" pue="1.2"/>
  <life years="4"/>
</prices>
XML
"$program" list prices today-400g --file >ours.xml
for prices in ours.xml today-400g; do
  "$program" cost clos:gpus=64 --prices $prices --format csv --table cost.lines --quiet >$prices.csv || fail "cost by $prices"
done
cmp ours.xml.csv today-400g.csv || fail "a price book that is printed does not read back"
sed -i 's/usd="82500"/usd="165000"/' ours.xml
"$program" cost clos:gpus=64 --prices ours.xml --format csv --table cost.lines --quiet >changed.csv || fail "cost by a changed book"
cmp -s changed.csv today-400g.csv && fail "what is written into a printed book changes nothing"
"$program" schema prices >prices.xsd
xmllint --noout --schema prices.xsd own.xml "$root"/topologies/prices/*.xml 2>log || { cat log; fail "a book does not validate"; }
"$program" compare rail-spine:gpus=128 rail-only:gpus=128,spares=2 clos:gpus=128,taper=2,gpus-per-server=4 clos:gpus=128,floor.rack-power=25kW \
  --set prices=own.xml --job model=gpt-7.5b,tp=4 --engine spray --engine ecmp --json --quiet >own.json || fail "compare fails"
cat >check.py <<'PYTHON'
import json, re, subprocess, sys
program, path, book = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
near = lambda a, b: abs(a - b) <= 1e-9 * max(abs(a), abs(b))
sweep = json.load(open(path))["sweep"]
for point in sweep["points"]:
    o = point["ownership"]
    servers = o["servers"]
    built = json.loads(subprocess.run([program, "build", point["values"][0], "--set", "prices=" + book["file"], "--json", "--quiet"],
                                      capture_output=True, check=True).stdout)
    fabric, cost = built["fabric"], built["cost"]
    per_server = fabric["gpus"] // fabric["servers"]
    assert servers == fabric["servers"] and o["gpus"] == fabric["gpus"], (point["values"], o)
    racks = fabric["floor"]["racks"] if "floor" in fabric else -(-servers // book["rack"][0]) - (-fabric["switches"] // book["rack"][1])
    assert o["racks"] == racks, (o, racks)
    server_usd, server_w = book["server"].get(str(per_server), (book["server"]["usd"] + per_server * book["server"]["per_gpu"],
                                                                book["server"]["w"] + per_server * book["server"]["w_per_gpu"]))
    watts = 700 * o["gpus"] + servers * server_w + cost["power_w"]
    kwh = watts / 1000 * 8760 * book["years"] * book["pue"]
    parts = {"gpu_usd": o["gpus"] * book["gpu"], "server_usd": servers * server_usd,
             "rack_usd": racks * book["rack"][2] + racks * book["rack"][3] * book["years"],
             "network_usd": sum(line["total_usd"] for line in cost["lines"]), "energy_usd": kwh * book["kwh"]}
    for key, value in parts.items():
        assert near(o[key], value), (point["values"], key, o[key], value)
    assert near(o["total_usd"], sum(parts.values())) and near(o["power_w"], watts)
    for engine in point["engines"]:
        tokens = point["tokens"] / engine["iteration_s"] * book["years"] * 365 * 86400
        spares = int((re.search(r"spares=(\d+)", point["values"][0]) or ["", 0])[1])
        share = book["job"] / (o["gpus"] - per_server * spares)  # spare servers are there for all
        assert near(engine["owned_usd_per_1e9_tokens"], o["total_usd"] * share / tokens * 1e9), (point["values"], engine)
for e, verdict in enumerate(sweep["verdicts"]):
    figures = sorted((point["engines"][e]["owned_usd_per_1e9_tokens"], i) for i, point in enumerate(sweep["points"], 1))
    assert verdict["owned_best"] == figures[0][1] and near(verdict["owned_margin_ratio"] + 1, figures[1][0] / figures[0][0])
PYTHON
book='"file": "own.xml", "gpu": 23456, "server": {"usd": 7000, "per_gpu": 111, "w": 300, "w_per_gpu": 40, "4": [5000, 1000]},
  "rack": [3, 5, 1234, 777], "kwh": 0.08, "pue": 1.2, "years": 4'
python3 check.py "$program" own.json "{$book, \"job\": 128}" || fail "the own book does not add up"
"$program" compare clos:gpus=256 rail-spine:gpus=512,spares=4 --set prices=own.xml --job model=gpt-7.5b,tp=4,servers=0-7 --engine spray \
  --json --quiet >part.json || fail "compare of a part fails"
python3 check.py "$program" part.json "{$book, \"job\": 64}" || fail "the part of a job does not add up"
# What idles is in no figure: where the job pays for it, another design is the cheaper, and the first lines say so.
idle=(--job model=llama3-8b,tp=2,pp=2,zero=1,n-servers=16 --engine spray --quiet)
"$program" compare clos:gpus=256 clos:gpus=128 "${idle[@]}" | tr -s ' \n' ' ' >idle
grep -E 'At \[1\] 50 % of the GPUs idle, .* If this job pays for all, the least by GPU hours is \[2\]: .* 1e9 tokens, \[1\] (100 % more|x2[0-9.]*); bought and run \[2\]: .* \[1\] (100|99[.0-9]*) % more\.' idle >/dev/null ||
  fail "idle servers: $(head -c 900 idle)"
"$program" compare clos:gpus=256 clos:gpus=128 "${idle[@]}" --engine ecmp | tr -s ' \n' ' ' >idle
[[ $(grep -oE 'At \[1\] under (spray|ecmp),[^ ]* 50 % of the GPUs idle' idle | sort -u | wc -l) -eq 2 ]] || fail "idle servers of two engines: $(head -c 900 idle)"
"$program" compare clos:gpus=128 rail-spine:gpus=128 "${idle[@]}" >idle && ! grep -w idle, idle || fail "nothing idles"
"$program" compare clos:gpus=128 rail-only:gpus=128 --job model=gpt-7.5b,tp=4 --engine spray --json --quiet >today.json
python3 check.py "$program" today.json '{"file": "today-400g", "gpu": 25000, "server": {"usd": 0, "per_gpu": 11250, "w": 0, "w_per_gpu": 550},
  "rack": [4, 16, 5000, 10000], "kwh": 0.1, "pue": 1.3, "years": 5, "job": 128}' || fail "today-400g does not add up"

# Servers of the floor plan draw what those of the book do, their NICs beside them: one figure, told in two places.
for gpu in h100-80gb a100-80gb gb200-186gb; do
  "$program" compare clos:gpus=128 rail-only:gpus=128 --job model=gpt-7.5b,tp=4,gpu=$gpu --engine spray --json --quiet >today.json
  "$program" build clos:gpus=128 --set job.gpu=$gpu --json --quiet >built.json
  jq -se '.[0].sweep.points[0].ownership.power_w as $all | (.[1].fabric.floor.server_power_w * .[1].fabric.servers) as $floor
    | ([.[1].cost.lines[] | select(.kind == "nic") | .power_w] | add) as $nics
    | ($all - .[1].cost.power_w + $nics) / $floor - 1 | fabs < 1e-9' today.json built.json >/dev/null || fail "two powers of a server of $gpu"
done

# --- what a book lacks is said, and gives no figure ---
lacks() { # lacks TEXT ARGUMENT...
  local text=$1
  shift
  "$program" compare clos:gpus=64 clos:gpus=64,taper=2 --job model=gpt-1.7b,tp=1 "$@" >out 2>err || fail "$*: $(<err)"
  tr -s ' \n' ' ' <out | grep -F "$text" >/dev/null || { cat out; fail "$*: does not say '$text'"; }
  "$program" compare clos:gpus=64 clos:gpus=64,taper=2 --job model=gpt-1.7b,tp=1 "$@" --json --quiet | grep owned >/dev/null &&
    fail "$*: a figure of what is not known"
  return 0
}
lacks 'not known: prices rail-only-2024 without price of a GPU h100-80gb, price of a server, price of a rack' --set prices=rail-only-2024
lacks 'not known: prices today-400g without price of a GPU b300-270gb' --job gpu=b300-270gb
sed '/<rack /d' own.xml >no-rack.xml
lacks 'not known: prices own without price of a rack' --set prices=no-rack.xml

# --- mix divides speed by this cost where it is known, else by the network's ---
for prices in own.xml rail-only-2024; do
  "$program" mix clos:gpus=64 clos:gpus=64,taper=4 --set prices=$prices --job model=gpt-1.7b,tp=1 --engine spray --json --quiet >mix.json
  python3 - "$prices" <<'PYTHON' || fail "mix, $prices"
import json, sys
mix = json.load(open("mix.json"))["mix"]
owned = sys.argv[1] == "own.xml"
assert mix["by_ownership"] == owned
jobs = [design["jobs"] for design in mix["designs"]]
times = [[job["engines"][0]["time_s"] for job in pair] for pair in jobs]
costs = [pair[0]["ownership"]["total_usd"] if owned else pair[0]["total_usd"] for pair in jobs]
values = [1 / (t[0] * t[1]) ** 0.5 / cost for t, cost in zip(times, costs)]
for design, value in zip(mix["designs"], values):
    assert abs(design["engines"][0]["speed_per_usd_ratio"] - value / max(values)) < 1e-9, (design["name"], values)
    assert design["engines"][0]["best"] == (value == max(values))
PYTHON
done

# --- rows that hide each other are refused where they stand ---
refused() { # refused PATTERN SED
  sed "$2" own.xml >bad.xml
  "$program" cost clos:gpus=64 --prices bad.xml >out 2>err && fail "$2: accepted"
  grep -E "bad\.xml:[0-9]+:[0-9]+: .*$1" err >/dev/null || fail "$2: $(<err)"
}
refused 'the name is that of another gpu' 's/a100-80gb/h100-80gb/'
refused 'the number of GPUs is that of another server' 's/<server gpus="4"/<server/'
refused 'usd' 's/<gpu name="a100-80gb" usd="9876"/<gpu name="a100-80gb"/'
exit $((failures > 0))
