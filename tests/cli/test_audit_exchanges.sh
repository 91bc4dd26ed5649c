#!/usr/bin/env bash
# Hosts that were exchanged by hand, in a real fabric and in built ones with names as racks give them: each exchange is one
# finding of the hosts that it was made of, what else is wrong is told as before, and no wrong place is told for sure.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# plant FILE BASE HOST...: each of the hosts stands where the next one belongs, the last where the first does
cat >plant.py <<'END'
import json, re, subprocess, sys
program, base, out = sys.argv[1:4]
text = open(base).read()


def audit(text):
    open(out, "w").write(text)
    report = subprocess.run([program, "audit", out, "--json", "--quiet"], capture_output=True, text=True, check=True)
    return json.loads(report.stdout)["audit"]["findings"]


def key(finding):
    what = re.sub(r" (HCA-|mlx5_)\d+", "", finding["what"])  # names of adapters went along with those of hosts
    what = re.sub(r"as \d+ of \d+ others", "", what)
    return tuple(finding.get(k) for k in ("finding", "node", "port", "other_node", "other_port")) + (what,)


def moved(text, hosts):
    """A host stands where another belongs, if it has the cables of that: names change places, cables stay."""
    to = dict(zip(hosts[1:] + hosts[:1], hosts))
    return re.sub("|".join(r"(?<![\w-])%s(?= )" % h for h in hosts), lambda m: to[m[0]], text)


known = {key(f) for f in audit(text)}
n = 0
for line in sys.stdin:
    hosts, _, lost = line.partition(" without ")
    hosts, lost = hosts.split(), lost.strip()
    changed = moved(text, hosts)
    changed = "".join(l for l in changed.splitlines(True) if not lost or not l.startswith(lost + ","))
    found = [f for f in audit(changed) if key(f) not in known]
    told = [f for f in found if f["finding"] == "swapped-hosts"]
    others = [(f["finding"], f["node"]) for f in found if f["finding"] != "swapped-hosts"]
    first = min(range(len(hosts)), key=lambda i: hosts[i])
    good = len(told) == 1 and told[0]["confidence"] > 0.9 and others == ([("missing-port", lost.split()[0])] if lost else [])
    if good and len(hosts) == 2:
        good = {told[0]["node"], told[0]["other_node"]} == set(hosts)
    elif good:  # who stands where
        good = all(f"{a} where {b} belongs" in told[0]["what"] for a, b in zip(hosts, hosts[1:] + hosts[:1]))
    if not good:
        print(line.strip(), found)
    n += 1
if n == 0:
    print("no cases")
END
check() { # check BASE: cases on stdin
  python3 plant.py "$program" "$1" changed."${1##*.}" >out 2>&1 || fail "$1: $(<out)"
  [[ ! -s out ]] || fail "$1: $(head -c 2000 out)"
}

# --- a real fabric, with 26 cables, a leaf and six adapters where they do not belong: first and last of their leaf, far and near, of
# three adapters and of four, with adapters that were on each other's rail or port before; rings of three to six, two or more of
# one leaf, and one whose adapter was at the leaf that is absent
if [[ -z ${FABRISCOPE_SAMPLES-} ]]; then
  echo "FABRISCOPE_SAMPLES is unset: the real fabric is skipped" >&2
else
  sed 's/  */ /g' "$FABRISCOPE_SAMPLES/ibnetdiscover/topograph-dgx-ndr.out" >real.out
  check real.out <<'END'
a07-p1-dgx-03-c01 b08-p1-dgx-08-c10
a07-p1-dgx-03-c17 b06-p1-dgx-06-c07
a06-p1-dgx-02-c01 b05-p1-dgx-05-c18
a06-p1-dgx-02-c16 b05-p1-dgx-05-c17
a07-p1-dgx-03-c18 a08-p1-dgx-04-c01
a06-p1-dgx-02-c18 a07-p1-dgx-03-c01
b07-p1-dgx-07-c18 b08-p1-dgx-08-c04
b05-p1-dgx-05-c01 b06-p1-dgx-06-c02
a08-p1-dgx-04-c17 b07-p1-dgx-07-c01
b06-p1-dgx-06-c08 a08-p1-dgx-04-c09
a05-p1-dgx-01-c04 a05-p1-dgx-01-c17
b05-p1-dgx-05-c04 b05-p1-dgx-05-c05
b08-p1-dgx-08-c04 b08-p1-dgx-08-c11
a06-p1-dgx-02-c02 a08-p1-dgx-04-c08 b07-p1-dgx-07-c12
b05-p1-dgx-05-c18 b06-p1-dgx-06-c15 a07-p1-dgx-03-c01
a07-p1-dgx-03-c02 a08-p1-dgx-04-c01 b05-p1-dgx-05-c17 b08-p1-dgx-08-c18
b06-p1-dgx-06-c03 b07-p1-dgx-07-c08 b06-p1-dgx-06-c13
a07-p1-dgx-03-c02 a07-p1-dgx-03-c13 b05-p1-dgx-05-c07
a05-p1-dgx-01-c13 b06-p1-dgx-06-c12 b07-p1-dgx-07-c18
a05-p1-dgx-01-c01 b08-p1-dgx-08-c14
b06-p1-dgx-06-c07 b06-p1-dgx-06-c11 b05-p1-dgx-05-c15 a06-p1-dgx-02-c18
a05-p1-dgx-01-c15 b07-p1-dgx-07-c11 a08-p1-dgx-04-c03 a07-p1-dgx-03-c04 a05-p1-dgx-01-c17
a06-p1-dgx-02-c01 b06-p1-dgx-06-c12 b07-p1-dgx-07-c12 b06-p1-dgx-06-c10 b05-p1-dgx-05-c18 b07-p1-dgx-07-c17
END
  # one cable of two hosts: that finding and none of their other adapters
  while IFS=, read -r a b; do
    sed "s/\"$a\"/\"@\"/; s/\"$b\"/\"$a\"/; s/\"@\"/\"$b\"/" real.out >one.out
    for file in real one; do
      "$program" audit $file.out --json --quiet | grep -o '"what": "[^"]*"' | grep -E 'other.s (port|rail)' | sort >$file.what
    done
    [[ $(comm -13 real.what one.what) == "\"what\": \"'$a' and '$b' are at each other's port\"" && -z $(comm -23 real.what one.what) ]] ||
      fail "$a and $b: $(diff real.what one.what)"
  done <<'END'
a07-p1-dgx-03-c05 HCA-2,b06-p1-dgx-06-c10 HCA-2
a07-p1-dgx-03-c09 HCA-5,b07-p1-dgx-07-c10 HCA-1
a05-p1-dgx-01-c14 HCA-1,b07-p1-dgx-07-c06 HCA-6
END
  # against a plan, where GUIDs and cables stay: names that hosts have of each other are a finding, a new name is none
  renamed() { # renamed WHAT-IS-FOUND SED-SCRIPT
    sed -E "$2" real.out >renamed.out
    found=$("$program" audit renamed.out --against real.out --json --quiet | jq -c '[.audit.findings[] | [.finding, .node, .other_node, .cables]]')
    [[ $found == "$1" ]] || fail "names exchanged by '$2': $found in place of $1"
  }
  renamed '[["swapped-hosts","a08-p1-dgx-04-c01","a08-p1-dgx-04-c02",8]]' \
    's/"a08-p1-dgx-04-c01 /"@ /; s/"a08-p1-dgx-04-c02 /"a08-p1-dgx-04-c01 /; s/"@ /"a08-p1-dgx-04-c02 /'
  renamed '[["swapped-hosts","a08-p1-dgx-04-c01","a08-p1-dgx-04-c09",12]]' \
    's/"a08-p1-dgx-04-c01 /"@ /; s/"a08-p1-dgx-04-c02 /"a08-p1-dgx-04-c01 /; s/"a08-p1-dgx-04-c09 /"a08-p1-dgx-04-c02 /; s/"@ /"a08-p1-dgx-04-c09 /'
  renamed '[]' 's/"a08-p1-dgx-04-c01 /"renamed-01 /'
fi

# --- racks of one leaf group, with letters that differ from hall to hall; a cable lost beside the exchange
racks() { # racks DESIGN SERVERS-OF-A-RACK: its cables, servers named by rack
  "$program" build "$1" --format cables --quiet | awk -v n="$2" '
    match($0, /^server-[0-9]+/) { k = substr($0, 8, RLENGTH - 7)
      $0 = sprintf("%s%02d-gpu%d%s", int(k / n) % 2 ? "b" : "a", k / n + 1, k % n + 1, substr($0, RLENGTH + 1)) }
    { print }'
}
racks rail-spine:gpus=512,radix=32 16 >racks.csv
check racks.csv <<'END'
a01-gpu1 b02-gpu16
a01-gpu16 a03-gpu1
b02-gpu1 b04-gpu9
b02-gpu7 a03-gpu8 without b02-gpu7 HCA-3
a01-gpu1 b02-gpu1 a03-gpu16
a01-gpu1 a01-gpu2 b02-gpu9
a01-gpu4 b02-gpu3 b02-gpu10 a01-gpu9 a03-gpu3 b02-gpu16
END
cp racks.csv rails.csv
# adapters of one server that were elsewhere before are told of it, not of who stands in its place now
sed -E 's/^(b02-gpu7 HCA-3,1),leaf-10,7,/\1,leaf-18,60,/; s/^(b02-gpu7 HCA-4,1),leaf-11,7,/\1,leaf-11,60,/' racks.csv >astray.csv
"$program" audit astray.csv --json --quiet >audit.json
grep -q '"node": "b02-gpu7 HCA-3"' audit.json && grep -q '"other_node": "b02-gpu7 HCA-4"' audit.json || fail "adapters elsewhere: $(<audit.json)"
check astray.csv <<'END'
b02-gpu7 b04-gpu3
a01-gpu16 b02-gpu7
END
racks clos:gpus=256,radix=32,gpus-per-server=1 16 >racks.csv
check racks.csv <<'END'
a01-gpu1 b02-gpu16
a05-gpu8 b12-gpu1
a15-gpu16 b16-gpu1 b02-gpu5
END

# --- what an exchange costs against a plan: nothing on the same leaves, all its cables on others
"$program" build rail-spine:gpus=128,radix=16 --format cables --quiet >plan.csv
for pair in "2 0" "14 6400000000000"; do
  sed -E "s/^server-1 /@ /; s/^server-${pair% *} /server-1 /; s/^@ /server-${pair% *} /" plan.csv >exchanged.csv
  "$program" audit exchanged.csv --against plan.csv --json --quiet >audit.json
  grep -q "\"swapped-hosts\".*\"damage_bps\": ${pair#* }, \"cables\": 16, .*\"other_node\": \"server-${pair% *}\"" audit.json || fail "impact of server-1 and server-${pair% *}: $(grep swapped audit.json)"
done

# --- where names say no more than that a host belongs on one of two leaves, both are named, and neither for sure
"$program" build rail-spine:gpus=1024,radix=32 --format cables --quiet | grep -vE '^server-(3|6|8|10|11|21|33|34|56|70|78|82|88|106|115|124|125) ' >holes.csv
check holes.csv <<<'server-122 server-54 server-16'
"$program" build rail-spine:gpus=1024,radix=32 --format cables --quiet | grep -vE '^server-(6|10|11|16|21|33|34|70|78|82|106|124|125) ' | sed 's/^server-56 /server-16 /' >moved.csv
"$program" audit moved.csv --json --quiet >audit.json
python3 - 2>err <<'END' || fail "a host at a place that was left: $(<err)"
import json, re
found = [f for f in json.load(open("audit.json"))["audit"]["findings"] if f["finding"] == "wrong-leaf"]
assert len(found) == 8 and all(f["confidence"] < 0.6 and f["node"].startswith("server-16 ") for f in found), found
home = {f"server-16 HCA-{i + 1}": f"leaf-{i}" for i in range(8)}
assert all(len(re.findall(r"leaf-\d+", f["work"])) == 2 and home[f["node"]] in re.findall(r"leaf-\d+", f["work"]) for f in found), found
END

# --- one host at a free port of another row, all its cables or one: each is told with the port where it belongs; along its leaf it
# is exchanged with nobody
moved_to() { # moved_to HOST FIRST-LEAF PORT FROM-LEAF: sed for its eight cables
  for i in {0..7}; do echo "s/^($1 HCA-$((i + 1)),[0-9]*),leaf-$(($4 + i)),[0-9]+,/\\1,leaf-$(($2 + i)),$3,/"; done
}
works() { # works FILE: what is to be done, and who stands elsewhere
  "$program" audit "$1" --json --quiet | python3 -c 'import json, sys
a = json.load(sys.stdin)["audit"]
for f in a["findings"]: print(f["finding"], f["node"], f["work"])
print(a.get("hosts_left", "-"))'
}
sed -E "$(moved_to b02-gpu5 16 33 8)" rails.csv >free.csv
works free.csv >out
for i in {0..7}; do
  grep -qx "wrong-leaf b02-gpu5 HCA-$((i + 1)) Move the cable to leaf-$((8 + i)), port 5." out || fail "a host at a free port: $(<out)"
done
[[ $(wc -l <out) -eq 9 ]] || fail "a host at a free port, more: $(<out)"
sed -E 's/^(b02-gpu5 HCA-2,[0-9]*),leaf-9,5,/\1,leaf-17,40,/' rails.csv >free.csv
[[ $(works free.csv) == $'wrong-leaf b02-gpu5 HCA-2 Move the cable to leaf-9, port 5.\n-' ]] || fail "a cable at a free port: $(works free.csv)"
"$program" build rail-spine:gpus=1024,radix=32 --format cables --quiet >plan.csv
for host in 24 30; do
  sed -E "$(moved_to server-$host 8 64 8)" plan.csv >free.csv
  works free.csv >out
  [[ $(<out) == "server-$host" || $(<out) == "server-31" ]] || fail "server-$host at the end of its leaf: $(<out)"
done
"$program" build fat-tree:k=8,spares=2 --format cables --quiet >spares.csv
[[ $(works spares.csv) == - ]] || fail "spares stand elsewhere: $(works spares.csv)"

# --- rings of three to five hosts at random, and of one cable of each, where names are in one row: each of 48 is told whole; so are
# those of racks, and of the real fabric
cat >rings.py <<'END'
import json, os, random, re, subprocess, sys
program = sys.argv[1]
told = 0


def run(*arguments):
    return subprocess.run([program, *arguments, "--quiet"], capture_output=True, text=True, check=True).stdout


def audit(name, text):
    with open(name, "w") as file:
        file.write(text)
    return [f for f in json.loads(run("audit", name, "--json"))["audit"]["findings"] if not f["is_choice"]]


def key(finding):
    return tuple(finding[k] for k in ("finding", "node", "work"))


fabrics = [
    ("rail-spine:gpus=512", "ibnet", "ring.net"),
    ("rail-spine:gpus=1000", "cables", "ring.csv"),
    ("clos:gpus=512", "cables", "ring.csv"),
    ("rail-only:gpus=512", "ibnet", "ring.net"),
    ("rails.csv", "", "ring.csv"),
] + ([("real.out", "", "ring.net")] if os.path.exists("real.out") else [])
for design, form, name in fabrics:
    text = run("build", design, "--format", form) if form else open(design).read()
    hosts = sorted(set(re.findall(r"(?<![\w-])(?:server-\d+|[ab]\d\d-gpu\d+|[ab]0[5-8]-p1-dgx-0[235-8]-c\d\d)(?= HCA-6)", text)))
    known = {key(f) for f in audit(name, text)}
    for i in range(12):
        draw = random.Random(f"{design} {i}")
        ring = draw.sample(hosts, 3 + i % 3)
        adapter = f" HCA-{draw.choice((1, 2, 5, 6) if design == 'real.out' else range(1, 9))}" if i % 2 else ""
        to = dict(zip(ring, ring[1:] + ring[:1]))  # who stands in the place of one
        names = "|".join(rf"(?<![\w-]){h}(?={adapter or ' HCA-[0-9]+'}\b)" for h in ring)
        found = [f for f in audit(name, re.sub(names, lambda m: to[m[0]], text)) if key(f) not in known]
        words = [f"{b}{adapter} where {a}{adapter} belongs" for a, b in to.items()]
        told_so = len(found) == 1 and found[0]["confidence"] > 0.8
        if told_so and all(w in found[0]["what"] for w in words):
            told += 1
        else:
            print(design, ring, adapter, [(f["finding"], f["confidence"], f["what"]) for f in found])
print(f"{told} of {12 * len(fabrics)}")
END
python3 rings.py "$program" >out 2>&1 || fail "rings: $(<out)"
[[ $(tail -n 1 out) =~ ^(60 of 60|72 of 72)$ ]] || fail "rings: $(head -c 3000 out)"

# --- one cable of each of two hosts at random, of any adapters, at one leaf or two, two of one host, and two of each: what the audit
# names is what was exchanged, cable by cable, with servers whose adapters stand side by side, half a leaf apart, and one at each leaf
cat >cables.py <<'END'
import json, random, subprocess, sys
program = sys.argv[1]


def run(*arguments):
    return subprocess.run([program, *arguments, "--quiet"], capture_output=True, text=True, check=True).stdout


def audit(rows):
    with open("cables.csv", "w") as file:
        file.writelines(",".join(row) + "\n" for row in rows)
    return [f for f in json.loads(run("audit", "cables.csv", "--json"))["audit"]["findings"] if not f["is_choice"]]


def place(row):
    return tuple(row[2:4])


def draw_pairs(draw, hosts, kind):
    """Cables that change places: of two hosts of one leaf or of any, of one, two of each of two."""
    for _ in range(1000):
        a, b = draw.sample(sorted(hosts), 2)
        x, y = draw.sample(hosts[a], 2), draw.sample(hosts[b], 2)
        if kind == "own":
            return [x]
        if kind == "two" and all(p[0].split()[1] != q[0].split()[1] for p, q in zip(x, y)):
            return list(zip(x, y))
        if kind == "leaf" and x[0][2] == y[0][2] or kind == "any":
            return [(x[0], y[0])]


n = 0
for design in ("clos:gpus=256", "clos:gpus=256,radix=64", "rail-only:gpus=256", "rail-spine:gpus=128", "fat-tree:gpus=128"):
    rows = [line.split(",") for line in run("build", design, "--format", "cables").splitlines()]
    hosts = {}
    for row in rows:
        if row[0].startswith("server-"):
            hosts.setdefault(row[0].split()[0], []).append(row)
    for i in range(24):
        pairs = draw_pairs(random.Random(f"{design} {i}"), hosts, ("leaf", "any", "own", "two")[i % 4])
        to = {place(p): q for x, y in pairs for p, q in ((x, y), (y, x))}
        found = audit([row[:2] + to[place(row)][2:4] + row[4:] if place(row) in to else row for row in rows])
        told = {frozenset(((f["node"], f.get("port")), (f.get("other_node"), f.get("other_port")))): f["cables"] for f in found}
        if told != {frozenset(map(place, pair)): 2 for pair in pairs}:
            print(design, pairs, [(f["finding"], f["cables"], f["what"], f["work"]) for f in found])
        n += 1
print(n)
END
python3 cables.py "$program" >out 2>&1 || fail "cables: $(<out)"
[[ $(<out) == 120 ]] || fail "cables: $(head -c 3000 out)"
# two adapters of two hosts of one leaf: two cables, not those of both adapters of both
"$program" build clos:gpus=256 --format cables --quiet |
  sed -E 's/^(server-4 HCA-3,1,leaf-1,)3,/\1@,/; s/^(server-5 HCA-6,1,leaf-1,)14,/\13,/; s/@/14/' >two.csv
[[ $("$program" audit two.csv --json --quiet | jq -c '[.audit.findings[] | [.cables, .what]]') == "[[2,\"'server-4 HCA-3' and 'server-5 HCA-6' are at each other's port\"]]" ]] ||
  fail "two adapters of two hosts: $("$program" audit two.csv --quiet)"
# where every host uses its ports in another order none tells which: it is said that names are out of order, and not how many cables are
python3 - <<'END'
import random
rows, ports = [line.rstrip("\n").split(",") for line in open("two.csv")], {}
for row in rows:
    if row[0].startswith("server-") and row[2] != "leaf-1":
        ports.setdefault(row[0].split()[0], []).append(row)
draw = random.Random(1)
for of in ports.values():
    order = [row[3] for row in of]
    draw.shuffle(order)
    for row, port in zip(of, order):
        row[3] = port
open("odd.csv", "w").writelines(",".join(row) + "\n" for row in rows)
END
[[ $("$program" audit odd.csv --json --quiet | jq -c '[.audit.findings[] | [.cables, .confidence < 0.6, (.what | test("or others of this leaf"))]]') == "[[2,true,true]]" ]] ||
  fail "ports in no order: $("$program" audit odd.csv --quiet)"

# --- too many for exchanges: it is said who stands out, or that names are in no order, and not that nothing departs
"$program" build rail-spine:gpus=512 --format cables --quiet >plan.csv
for n in 5 24; do
  python3 - "$n" <<'END'
import random, re, sys
text = open("plan.csv").read()
some = random.Random(3).sample([f"server-{i}" for i in range(24)], int(sys.argv[1]))
to = dict(zip(some, some[1:] + some[:1]))
keep = r"(?m)^server-(?!2[4-9]|[3-6]\d)\d+(?= )"
open("many.csv", "w").write(re.sub(keep, lambda m: to.get(m[0], m[0]), text))
END
  "$program" audit many.csv --quiet >out
  tr -s ' \n' ' ' <out | grep -qE 'Nothing departs from the structure\. ' && fail "$n hosts in each other's place: $(<out)"
done
tr -s ' \n' ' ' <out | grep -qE 'names tell no order of hosts|stand elsewhere than' || fail "24 hosts in each other's place: $(<out)"
exit $((failures > 0))
