"""Runs the program on a pseudo-terminal. Run by test_terminal.sh."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

RUN = ["run", "rail-spine:gpus=64", "--quiet"]
END = b"\0end"
failures = 0


def on_terminal(arguments, columns=80, on_stderr=False, code=0, **environment):
    """Bytes that reach the terminal, which is stdout or stderr of the program, or both where it refuses."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    other = subprocess.DEVNULL if code == 0 else terminal
    with subprocess.Popen([os.environ["PROGRAM"], *arguments], stdin=subprocess.DEVNULL,
                          stdout=other if on_stderr else terminal, stderr=terminal if on_stderr else other,
                          env={"TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}) as process:
        # A terminal whose last writer has gone may lose what was not yet read: the end is written by us instead.
        ending = threading.Thread(target=lambda: (process.wait(), os.write(terminal, END)))
        ending.start()
        seen = b""
        while not seen.endswith(END):
            seen += os.read(controller, 65536)
        ending.join()
    os.close(terminal)
    os.close(controller)
    expect(f"{arguments}: exit code", process.returncode, code)
    return seen.removesuffix(END).replace(b"\r\n", b"\n")


def expect(what, actual, wanted):
    global failures
    if actual != wanted:
        print(f"FAIL: {what}: {actual}, not {wanted}")
        failures += 1


def is_ascii(text):
    return all(byte < 0x80 for byte in text)


def widest(text):
    return max(len(line) for line in text.decode().splitlines())


piped = subprocess.run([os.environ["PROGRAM"], *RUN], stdout=subprocess.PIPE, check=True,
                       env={"TERM": "dumb", "LC_ALL": "C", "COLUMNS": "200"}).stdout
expect("a pipe has colours", b"\x1b" in piped, False)
expect("a pipe has UTF-8 bars in any locale", is_ascii(piped), False)
expect("a pipe is at most 80 columns wide", widest(piped) <= 80, True)

expect("a terminal has colours", b"\x1b[" in on_terminal(RUN), True)
expect("NO_COLOR", b"\x1b" in on_terminal(RUN, NO_COLOR="1"), False)
expect("TERM=dumb", b"\x1b" in on_terminal(RUN, TERM="dumb"), False)
expect("--color never", b"\x1b" in on_terminal(RUN + ["--color", "never"]), False)
expect("--color always", b"\x1b" in on_terminal(RUN + ["--color", "always"], NO_COLOR="1"), True)
expect("the same text without colours", on_terminal(RUN, NO_COLOR="1"), piped)
expect("a narrow terminal gets 80 columns", on_terminal(RUN, columns=40, NO_COLOR="1"), piped)
expect("a wide terminal is used", widest(on_terminal(RUN, columns=120, NO_COLOR="1")) > 80, True)
expect("bars without UTF-8", is_ascii(on_terminal(RUN, NO_COLOR="1", LC_ALL="C")), True)

for command in (["explore"], ["explore", "clos:gpus=16"], ["run", "clos:gpus=16", "--format", "html"],
                ["build", "clos:gpus=16", "--format", "png"], ["build", "clos:gpus=16", "--format", "frr"]):
    refusal = on_terminal(command, code=2)
    says = b"; write it to a file: > fabric." in refusal and len(refusal) < 300 and refusal.count(b"\n") == 2
    expect(f"{command} says how to write a file, and nothing else ({refusal})", says, True)
expect("help of explore", b"every knob" in on_terminal(["explore", "--help"]), True)
page = subprocess.run([os.environ["PROGRAM"], "explore"], stdout=subprocess.PIPE, check=True).stdout
expect("a pipe has the page", page.startswith(b"<!doctype html>"), True)

LONG = ["route", "fat-tree:k=12", "--traffic", "pattern:permutation", "--seeds", "4000", "--threads", "1"]
progress = on_terminal(LONG, on_stderr=True)
expect("progress with rate and time left", b"per second" in progress and b" left" in progress, True)
expect("progress is wiped", b"\r\x1b[K" in progress, True)
ALONE = ["route", "rail-spine:gpus=4096,radix=64", "--traffic", "pattern:all-to-all", "--engine", "ecmp"]
progress = on_terminal(ALONE, on_stderr=True)
shares = [int(share) for share in re.findall(rb"\r0 of 1 \((\d+) %\)", progress)]
expect("progress within the only phase", len(shares) >= 2 and shares == sorted(shares) and shares[0] < shares[-1], True)
expect("--quiet shows nothing", on_terminal(LONG[:4] + ["--quiet"], on_stderr=True), b"")
sys.exit(1 if failures else 0)
