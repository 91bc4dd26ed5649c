"""Starts what `build --format frr` wrote, without containerlab: a network namespace for each box, FRR in those of
switches; waits until hosts reach each other, and writes what every switch says of its routes.
Usage: frr_lab.py FOLDER OUT, as root, within a mount namespace of its own (unshare -m)"""
import json
import os
import signal
import subprocess
import sys
import time

import yaml

folder, out = sys.argv[1:]
DAEMONS = "/usr/lib/frr"
lab = yaml.safe_load(open(f"{folder}/fabric.clab.yml"))["topology"]
SERVE = "import socket\ns = socket.create_server(('', 7000))\nwhile True: s.accept()[0].close()"
CALL = "import socket, sys\nsocket.create_connection((sys.argv[1], 7000), 0.5)"
started = []


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


def inside(name, *words, check=True):
    return run("ip", "netns", "exec", name, *words, check=check)


def start(name):
    """FRR of a switch, its files in a folder of its own."""
    place = f"{os.getcwd()}/run-{name}"
    os.makedirs(place, exist_ok=True)
    os.chmod(place, 0o777)
    conf = f"{folder}/frr/{name}.conf"
    for daemon in ("zebra", "bgpd"):
        words = ["ip", "netns", "exec", name, f"{DAEMONS}/{daemon}", "-u", "frr", "-g", "frr", "--vty_socket", place, "-z",
                 f"{place}/zserv", "-i", f"{place}/{daemon}.pid", "-f", conf, "--log", f"file:{place}/log", "-P", "0"]
        started.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(0.1)


def vtysh(name, command):
    return inside(name, "vtysh", "--vty_socket", f"{os.getcwd()}/run-{name}", "-c", command, check=False).stdout


try:
    run("mount", "-t", "tmpfs", "none", "/run")
    names = list(lab["nodes"])
    switches = [n for n in names if os.path.exists(f"{folder}/frr/{n}.conf")]
    for name in names:
        run("ip", "netns", "add", name)
        inside(name, "ip", "link", "set", "lo", "up")
    for i, link in enumerate(lab["links"]):
        (a, x), (b, y) = (end.split(":") for end in link["endpoints"])
        run("ip", "link", "add", f"t{i}a", "type", "veth", "peer", "name", f"t{i}b")
        for part, name, port in (("a", a, x), ("b", b, y)):
            run("ip", "link", "set", f"t{i}{part}", "netns", name)
            inside(name, "ip", "link", "set", f"t{i}{part}", "name", port)
            inside(name, "ip", "link", "set", port, "up")
    addresses = {}
    for name in names:
        for command in lab["nodes"][name].get("exec", []):
            if name in switches:  # a file that is bound; not every kernel has every key
                inside(name, "sysctl", "-e", "-p", f"{folder}/sysctl/{name}.conf", check=False)
                continue
            inside(name, *command.split())
            if "address" in command:
                addresses[command.split()[3].split("/")[0]] = name
    for name in switches:
        start(name)
    hosts = [n for n in names if n not in switches]
    for name in hosts:
        started.append(subprocess.Popen(["ip", "netns", "exec", name, sys.executable, "-c", SERVE]))
    deadline = time.time() + 90
    todo = [(h, a) for h in (hosts[0], hosts[-1]) for a in addresses if addresses[a] != h]
    while todo and time.time() < deadline:
        time.sleep(1)
        todo = [(h, a) for h, a in todo if inside(h, sys.executable, "-c", CALL, a, check=False).returncode != 0]
    assert not todo, f"{len(todo)} pairs do not reach each other: {todo[:3]}"
    time.sleep(2)
    os.makedirs(out, exist_ok=True)
    for name in switches:
        text = vtysh(name, "show ip route json")
        json.loads(text)
        open(f"{out}/{name}.json", "w").write(text)
finally:
    for process in started:
        process.send_signal(signal.SIGKILL)
        process.wait()
