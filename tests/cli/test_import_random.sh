#!/usr/bin/env bash
# What is exported and imported again has the same servers, tiers, cables and bisection: random designs of all families,
# a share of them (drawn.py), in every format of cables that is written and read. htsim counts no servers; topologies of schedulers have no cables.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PYTHONPATH=$root/tests/cli PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - "$program" <<'END' || fail "imports differ"
import json, os, random, shutil, subprocess, sys, tarfile
from drawn import drawn

program = sys.argv[1]
rng = random.Random(22)
FORMATS = ("ibnet", "cables", "graphml", "yed", "gexf", "ptm", "netbox-csv", "containerlab", "simai", "sonic")
BY_PORTS = ("ptm", "netbox-csv", "containerlab", "sonic")  # they know ports of servers, and not which are of one NIC


def run(*arguments):
    done = subprocess.run([program, *arguments, "--quiet"], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def draw():
    family = rng.choice(("clos", "fat-tree", "rail-spine", "rail-only"))
    each = rng.choice((1, 2, 4, 6, 8))
    keys = [f"gpus={each * rng.randint(2, 60)}", f"gpus-per-server={each}", f"radix={rng.choice((8, 16, 24, 32, 64))}"]
    if family != "fat-tree":
        keys.append(f"taper={rng.choice((1, 0.5, 1.5, 2, 3))}")
        keys += rng.choice(([], [], ["planes=2"], ["tiers=3"]))
    return f"{family}:{','.join(keys)}"


def unpack(text):  # an archive of a folder for each switch's file
    shutil.rmtree("tar", ignore_errors=True)
    with open("again.tar", "wb") as out:
        out.write(text.encode())
    tarfile.open("again.tar").extractall("tar")
    return next(os.path.join("tar", name) for name in sorted(os.listdir("tar")) if os.path.isdir(os.path.join("tar", name)) and "config" in name)


def figures(text):
    f = json.loads(text)["fabric"]  # cables of a dragonfly or torus are those of a graph when they are read again
    tiers = [(t["switches"], t["cables"], t.get("built_taper")) for t in f["tiers"]] if "switches" in f["tiers"][0] and "switches" in f["tiers"][-1] else []
    return {**{k: f.get(k) for k in ("servers", "nics", "domains", "planes", "switches", "cables", "bisection_bps")}, "tiers": tiers}


designs = ["dragonfly:dragonfly=2,4,2", "dragonfly:gpus=144,dragonfly=4,4,2,9", "torus:gpus=64,gpus-per-server=4,torus=4,4", "fat-tree:gpus-per-server=6,gpus=18,radix=16", "clos:gpus=92,gpus-per-server=4,radix=64,taper=0.5", "clos:gpus=16,gpus-per-server=1,radix=8"]
tried = differ = 0
for design in drawn(designs + [draw() for _ in range(40)]):
    built = run("build", design, "--json")
    if built is None or json.loads(built)["fabric"]["switches"] < 2:
        continue
    tried += 1
    wanted = figures(built)
    for form in FORMATS:
        if form in BY_PORTS and "planes" in design:
            continue
        text = run("build", design, "--format", form)
        if text is None:
            continue
        name = f"again.{form}"
        if form == "sonic":
            name = unpack(text)
        else:
            with open(name, "w") as out:
                out.write(text)
        more = f",gpus-per-server={json.loads(built)['fabric']['gpus'] // json.loads(built)['fabric']['servers']}" if design.startswith("dragonfly") or design.startswith("torus") else ""
        again = run("build", f"installed:{name}{more}", "--json")
        got = figures(again) if again else {}
        if got != wanted:
            differ += 1
            print(design, form, {k: (wanted[k], got.get(k)) for k in wanted if got.get(k) != wanted[k]})
print(f"{tried} designs, {differ} differences")
sys.exit(differ > 0 or tried == 0)
END
exit $((failures > 0))
