"""Certificates of golden cases that can have one hold, and none does in which a line was made false. Of the changes a share (drawn.py).

    certificates.py PROGRAM VERIFY CASES FOLDER

Every change is one that makes a claim false: a number beyond what rounding does, a flow, path or share that is gone or
goes elsewhere, rates that change places.
"""
import contextlib
import functools
import glob
import importlib.machinery
import importlib.util
import io
import os
import random
import re
import shlex
import subprocess
import sys

from drawn import SEED, SHARE, drawn

COMMANDS = ("route", "run", "optimize")
# Instead of a report of phases: what one link carries, or the tables; and graphs of a size that this checker is not made for.
NONE = re.compile(r"gpus=65536|--explain|--objective tokens|--dump -( |$)|--traffic front-end")
# Studies: sets and histories, spares and policies, engines that look at load, several planes, slower parts.
STUDIES = {
    "links": "clos:gpus=32,gpus-per-server=4,radix=8 --scenarios links:1",
    "switches": "clos:gpus=32,gpus-per-server=4,radix=8 --scenarios switches:1 --figures loads",
    "servers": "clos:gpus=32,gpus-per-server=4,radix=8,spares=3 --scenarios servers:2@40 --policy first-spare "
               "--policy none --policy collision-aware --engine ecmp,qp=2 --engine spray",
    "adaptive": "clos:gpus=32,gpus-per-server=4,radix=8,spares=2 --scenarios servers:1@3 --engine adaptive "
                "--policy same-pod --figures loads",
    "list": "clos:gpus=32,gpus-per-server=2,radix=8 --scenarios file:{data}/scenarios_mixed.csv",
    "planes": "rail-spine:gpus=32,planes=2,radix=32 --scenarios access-links:1",
    "updn": "dragonfly:dragonfly=2,4,2,radix=7,spares=2 --scenarios links:2@40 --engine updn --policy first-spare",
    "pattern": "clos:gpus=32,gpus-per-server=4,radix=8 --scenarios links:2@60 --traffic pattern:permutation",
    "packets": "clos:gpus=32,gpus-per-server=4,radix=8,transport=pfc --scenarios links:1@20 --traffic pattern:permutation",
    "histories": "clos:gpus=64,spares=2,radix=16 --scenarios time:60d@50 --policy none --policy first-spare",
}
LONG = {"iteration-deepseek"}  # 10 MB, which take a minute (scripts/test --long); iteration-mixtral has the same kinds of lines
MUTANTS = 300
SMALL = 80_000  # bytes of a certificate that is changed and checked often


def load(path):
    loader = importlib.machinery.SourceFileLoader("verify", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("verify", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def case_arguments(path):
    lines = [line for line in open(path, encoding="utf-8").read().split("\n") if not line.startswith("#")]
    return shlex.split(lines[0]), lines[0], lines[1]


def certify(program, cases, folder):
    """A certificate and an export of every case: name, certificate, graph."""
    made = []
    for path in sorted(glob.glob(os.path.join(cases, "*.case"))):
        arguments, text, ending = case_arguments(path)
        if ending != "exit 0" or not arguments or arguments[0] not in COMMANDS or NONE.search(text):
            continue
        case = os.path.basename(path)[:-5]
        if case in LONG and SHARE > 1:
            continue
        name = os.path.join(folder, case)
        command = [program] + arguments + ["--certificate", name + ".cert"]
        graph = name + ".graphml"
        if arguments[0] == "optimize":
            command += ["--out", name]
            graph = os.path.join(name, "fabric.graphml")
        else:
            command += ["--export", graph]
        done = subprocess.run(command, cwd=cases, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if "the fastest plans of these engines differ" in done.stderr:
            continue  # a certificate is of one plan
        if done.returncode != 0:
            sys.exit(f"{name}: exit code {done.returncode}: {done.stderr}")
        made.append((name, name + ".cert", graph))
    return made


def certify_studies(program, folder):
    made = []
    for key, text in STUDIES.items():
        name, store = os.path.join(folder, "study-" + key), os.path.join(folder, "store-" + key)
        arguments = shlex.split(text.format(data=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data")))
        for command in (["plan", *arguments], ["run"], ["gather"],
                        ["show", "--certificate", name + ".cert", "--export", name + ".graphml"]):
            done = subprocess.run([program, "study", *command, "--store", store, "--quiet"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                sys.exit(f"{name}: {command[0]}: exit code {done.returncode}: {done.stderr}")
        made.append((name, name + ".cert", name + ".graphml"))
    return made


@functools.lru_cache(None)
def graph_of(verify, path):
    return verify.Graph(path)


def check(verify, graph, path):
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        code = verify.check(graph, path)
    return code, said.getvalue() + wrong.getvalue()


def lines_of(lines, *kinds):
    return [n for n, line in enumerate(lines) if line.split(" ", 1)[0] in kinds]


def scaled(rng, text):
    """Another number: far beyond rounding."""
    value = float(text)
    return repr(value * rng.choice([0.5, 0.999, 1.001, 2]) if value else rng.choice([1.0, 1e-3]))


def change_claim(rng, lines):
    n = rng.choice(lines_of(lines, "claim"))
    kind, name, value = lines[n].split(" ")
    lines[n] = f"{kind} {name} {scaled(rng, value)}"


def drop_line(rng, lines):
    """Flows, paths, demands, choices: whatever is gone, a claim no longer follows."""
    del lines[rng.choice(lines_of(lines, "path", "claim", "fabric", "demand", "round", "end", "choice", "phase",
                             "row", "critical", "move", "carries"))]


def change_rate(rng, lines):
    n = rng.choice([n for n in lines_of(lines, "path") if float(lines[n].split(" ")[2]) > 0])
    words = lines[n].split(" ")
    lines[n] = " ".join(words[:2] + [scaled(rng, words[2])] + words[3:])


def swap_rates(rng, lines):
    """Of two flows of one block whose rates differ."""
    n = rng.choice(lines_of(lines, "path"))
    last = n
    while lines[last + 1].startswith("path"):
        last += 1
    others = [m for m in range(n, last + 1)
              if abs(float(lines[m].split(" ")[2]) / max(float(lines[n].split(" ")[2]), 1) - 1) > 1e-3]
    m = rng.choice(others)
    a, b = lines[n].split(" "), lines[m].split(" ")
    a[2], b[2] = b[2], a[2]
    lines[n], lines[m] = " ".join(a), " ".join(b)


def reroute(rng, lines):
    """A link of a path becomes another one, or is left out."""
    n = rng.choice(lines_of(lines, "path"))
    words = lines[n].split(" ")
    at = rng.choice([at for at in range(5, len(words)) if words[at].isdigit()])
    words[at:at + 1] = rng.choice([[], [str(int(words[at]) ^ 1)], [str(int(words[at]) + 2)], [str(10**9)]])
    lines[n] = " ".join(words)


def change_share(rng, lines):
    n = rng.choice(lines_of(lines, "pair"))
    words = lines[n].split(" ")
    at = rng.randrange(3, len(words))
    link, share = words[at].split("=")
    words[at:at + 1] = rng.choice([[], [f"{link}={float(share) * 0.99!r}"], [f"{int(link) ^ 1}={share}"]])
    lines[n] = " ".join(words)


def change_bytes(rng, lines):
    """A flow becomes by far the longest."""
    n = rng.choice([n for n in lines_of(lines, "flow") if int(lines[n].split(" ")[3]) > 0])
    words = lines[n].split(" ")
    lines[n] = " ".join(words[:3] + [str(int(words[3]) * 10**6)])


def change_flow(rng, lines):
    n = rng.choice(lines_of(lines, "flow"))
    words = lines[n].split(" ")
    lines[n] = rng.choice([f"flow {words[2]} {words[1]} {words[3]}", f"flow {words[1]} {words[1]} {words[3]}"])


def drop_flow(rng, lines):
    del lines[rng.choice(lines_of(lines, "flow"))]


def change_bottleneck(rng, lines):
    """Another link of the fabric, which is not even on the path, or a window where there is none."""
    n = rng.choice(lines_of(lines, "path"))
    words = lines[n].split(" ")
    words[3] = rng.choice([str(int(words[3]) ^ 1), str(10**8)] if words[3] != "window" else ["0"])
    lines[n] = " ".join(words)


def change_bound(rng, lines):
    n = rng.choice([n for n in lines_of(lines, "link", "demand") if float(lines[n].split(" ")[2 + ("demand" in lines[n])])])
    words = lines[n].split(" ")
    at = 2 if words[0] == "link" else 3
    lines[n] = " ".join(words[:at] + [scaled(rng, words[at])] + words[at + 1:])


def change_schedule(rng, lines):
    """A pass is gone, or a backward pass starts before its forward pass has ended, or another choice costs less."""
    n = rng.choice([n for n in lines_of(lines, "op", "choice") if re.match("op (for|back)ward|choice (won|costs)", lines[n])])
    words = lines[n].split(" ")
    if words[0] == "choice":
        words[2] = repr(float(words[2]) * (1.01 if words[1] == "won" else 1e-3))
    elif words[1] == "backward" and rng.random() < 0.5:
        words[5] = "0"
    else:
        words[4] = str(int(words[4]) + 10**6)
    lines[n] = " ".join(words)


def drop_operation(rng, lines):
    """Of any kind; or it is there twice, or takes no time, or what decides which there are is gone."""
    n = rng.choice(lines_of(lines, "op"))
    words = lines[n].split(" ")
    lines[n:n + 1] = rng.choice([[], [], [], [lines[n]] * 2, [" ".join(words[:6] + [words[5]])]])
    if rng.random() < 0.1:
        del lines[rng.choice(lines_of(lines, "takes"))]


def change_row(rng, lines):
    """A figure of a scenario that runs, or whether it does."""
    n = rng.choice([n for n in lines_of(lines, "row") if lines[n].split(" ")[2] == "runs"])
    words = lines[n].split(" ")
    at = rng.choice([at for at in range(4, 10) if words[at] != "-"] + [2])
    words[at] = "stopped" if at == 2 else scaled(rng, words[at])
    lines[n] = " ".join(words)


def drop_state(rng, lines):
    """One whole, with its claims: `states` says how many there are."""
    first = rng.choice(lines_of(lines, "state"))
    last = first + 1
    while lines[last].split(" ", 1)[0] in ("residual", "move", "ways", "claim"):
        last += 1
    del lines[first:last]


def change_state(rng, lines):
    """A path goes elsewhere or over a dead link, a lost one is not there, a rank has moved to another GPU."""
    n = rng.choice(lines_of(lines, "ways", "ways", "move"))
    words = lines[n].split(" ")
    links = [at for at in range(3, len(words)) if words[at].isdigit()]
    if words[0] == "move":
        words[2] = str(int(words[2]) + rng.choice([-1, 1]))
    elif not links:
        del lines[n]
        return
    elif rng.random() < 0.3:
        lines.insert(n, f"residual {words[rng.choice(links)]} 0")
        return
    else:
        at = rng.choice(links)
        words[at:at + 1] = rng.choice([[], [str(int(words[at]) ^ 1)], [str(int(words[at]) + 2)], [str(10**9)]])
    lines[n] = " ".join(words)


def change_cut(rng, lines):
    """More or less is sent, by another way, or a switch is on the other side of the cut."""
    n = rng.choice(lines_of(lines, "carries", "carries", "near"))
    words = lines[n].split(" ")
    if words[0] == "near":
        words[1] = rng.choice(["to", str(int(words[1]) + 10**6)])
    else:
        at = rng.randrange(1, 4)
        words[at] = scaled(rng, words[at]) if at == 3 else rng.choice(["from", "to"]) if words[at].isdigit() else "0"
    lines[n] = " ".join(words)


def cut_short(rng, lines):
    del lines[rng.randrange(1, len(lines) - 1):]


CHANGES = [change_claim, change_claim, drop_line, change_rate, swap_rates, reroute, change_share, change_bytes,
           change_flow, drop_flow, change_bottleneck, change_bound, change_schedule,
           drop_operation, change_row, change_state, drop_state, change_cut, cut_short]


def mutate(verify, made, folder):
    rng = random.Random(66)
    # where rates are listed and not certified, another rate is no false line
    small = [(name, cert, graph) for name, cert, graph in made if os.path.getsize(cert) < SMALL and
             "not certified: rates and times" not in open(cert, encoding="utf-8").read()]
    counts = dict.fromkeys((change.__name__ for change in CHANGES), 0)
    path, done, failures, tried = os.path.join(folder, "mutant"), 0, 0, set(drawn(range(MUTANTS)))
    while done < MUTANTS:
        name, cert, graph = rng.choice(small)
        change = CHANGES[done % len(CHANGES)]
        lines = open(cert, encoding="utf-8").read().split("\n")
        before = list(lines)
        try:
            change(rng, lines)
        except IndexError:  # it has no such line
            continue
        if lines == before:
            continue
        done += 1
        if done - 1 not in tried:
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        code, said = check(verify, graph_of(verify, graph), path)
        if code != 1 or "false:" not in said:
            failures += 1
            print(f"FAIL {name}: {change.__name__} passes: {said}")
            print("\n".join(f"  {a}\n  -> {b}" for a, b in zip(before, lines) if a != b)[:400])
        counts[change.__name__] += 1
    assert len(tried) >= MUTANTS // 10, tried
    print(f"{len(tried)} certificates with a false line refused, seed {SEED}:", ", ".join(f"{k} {n}" for k, n in counts.items()))
    return failures


def main(program, script, cases, folder):
    verify, failures, claims, omitted = load(script), 0, 0, set()
    made = certify(program, cases, folder) + certify_studies(program, folder)
    for name, cert, graph in made:
        code, said = check(verify, graph_of(verify, graph), cert)
        if code != 0:
            failures += 1
            print(f"FAIL {name}: {said}")
        else:
            claims += int(re.search(r": (\d+) claims hold", said)[1])
            omitted |= {line.split("not certified: ")[1] for line in said.split("\n") if "not certified" in line}
    print(f"{len(made)} certificates of golden cases and studies hold, {claims} claims; {len(omitted)} things are not certified")
    failures += mutate(verify, made, folder)
    return 1 if failures or not made else 0


sys.exit(main(*sys.argv[1:]))
