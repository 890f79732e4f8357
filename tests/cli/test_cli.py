#!/usr/bin/env python3
"""The command line as a user meets it: help, versions, slips of the pen."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import threading
import termios
from pathlib import Path

from tap import check, done, run

intact = sys.argv[1]
root = Path(__file__).resolve().parents[2]

rc, out, err = run([intact, "--version"])
check("--version prints name and number", rc == 0 and re.fullmatch(r"intact \d+\.\d+\.\d+\n", out), out + err)
check("version is the same command", run([intact, "version"])[1] == out)

rc, out, err = run([intact, "--help"])
check("--help goes to stdout with exit 0", rc == 0 and out and not err)
commands = re.findall(r"^  (\w[\w-]*) +\S", out.split("commands:")[1].split("\n\n")[0], re.M)
check("--help lists the commands", {"check", "sim", "fmt", "help"} <= set(commands), out)
check("help is the same", run([intact, "help"])[1] == out)

rc, out, err = run([intact])
check("no command: usage on stderr, exit 2", rc == 2 and not out and "usage" in err)

for c in commands:
    a, b = run([intact, "help", c]), run([intact, c, "--help"])
    check(f"help {c} equals {c} --help", a == b and a[0] == 0 and a[1].startswith("usage: intact") and not a[2],
          a[1] + a[2] + b[1] + b[2])

rc, out, err = run([intact, "chekc"])
check("a slip suggests the command", rc == 2 and "did you mean 'check'" in err, err)
rc, out, err = run([intact, "zzzzzz"])
check("nonsense suggests nothing", rc == 2 and "did you mean" not in err and "unknown command" in err, err)
rc, out, err = run([intact, "model.atm"])
check("a file in place of a command gets the right command", rc == 2 and "intact check" in err, err)
rc, out, err = run([intact, "check", "--treads=3", "x.atm"])
check("a slip suggests the option", rc == 2 and "did you mean '--threads'" in err, err)
rc, out, err = run([intact, "check"])
check("a missing argument is named", rc == 2 and "missing MODEL argument" in err, err)
rc, out, err = run([intact, "check", "no-such-file.atm"])
check("an unreadable file says why", rc == 2 and "no-such-file.atm" in err and "No such file" in err, err)
rc, out, err = run([intact, "check", "\x1b[31mred"])
check("control characters are not echoed", "\x1b" not in err, repr(err))

with tempfile.TemporaryDirectory() as tmp:
    model = Path(tmp) / "m.atm"
    model.write_text("int x;\nthread worker * 2 { x = 1; }\n")
    rc, out, err = run([intact, "check", "--dump=ir", "--threads", "worker=4", model])
    check("--threads overrides a count", rc == 0 and "thread worker * 4" in out, out + err)
    rc, out, err = run([intact, "check", "--threads", "wroker=4", model])
    check("an unknown thread is named, with the nearest", rc == 2 and "did you mean 'worker'" in err, err)
    rc, out, err = run([intact, "check", "--threads", "worker", model])
    check("--threads without a number is explained", rc == 2 and "name=N" in err, err)
    rc, out, err = run([intact, "check", "--dump=ir", "-"], stdin="int x; thread t { x = 1; }")
    check("- reads standard input", rc == 0 and "shared x" in out, err)
    with open("/dev/full", "w") as full:
        p = subprocess.run([intact, "help"], stdout=full, stderr=subprocess.PIPE)
        check("a full disk is an internal error, not silence", p.returncode == 4 and p.stderr, p)

# ---- on a terminal sentences are folded to its width ----------------------------


def on_terminal(columns, *args):
    """What a command prints on a terminal of so many columns. The terminal stays open until a last word of ours has come
    through, so that nothing depends on what a hang-up does to what was written before it."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    p = subprocess.Popen([str(a) for a in args], stdout=theirs, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                         env=dict(os.environ, NO_COLOR="1", LC_ALL="C"))
    out = []

    def read():
        text = b""
        while not text.endswith(b"\0\0\0"):
            text += os.read(ours, 65536)
        out.append(text[:-3])

    reader = threading.Thread(target=read)
    reader.start()
    err = p.communicate()[1].decode()
    os.write(theirs, b"\0\0\0")
    reader.join()
    os.close(theirs)
    os.close(ours)
    return out[0].decode().replace("\r\n", "\n"), f"exit {p.returncode}, stderr: {err}"


with tempfile.TemporaryDirectory() as tmp:
    saved = Path(tmp) / "r.json"
    run([intact, "check", "--json", saved, root / "examples/lost-update.atm"])
    for args in (["check", root / "examples/lost-update.atm"], ["check", root / "examples/bluetooth-bug.atm"],
                 ["check", "--engine=causal", root / "examples/lost-update.atm"], ["check", "--deadlock", root / "examples/bank-transfer-deadlock.atm"],
                 ["trace", root / "examples/traces/crossed.std"], ["trace", "--predict", root / "examples/traces/stringbuffer.std"],
                 ["history", root / "examples/history/stale-read.edn"], ["verify", saved], ["net", root / "examples/nets/acquire1-4.ll_net"]):
        text, how = on_terminal(76, intact, *args)
        wide = [line for line in text.split("\n") if len(line) > 76 and not re.match(" *(replay:|next:|as a page:|intact |/)", line)]
        check(f"{' '.join(str(a).replace(str(root) + '/', '') for a in args)}: no line is wider than the terminal", text and not wide, "\n".join(wide) or text)
        code, plain, errors = run([intact, *args])
        if args[0] != "net":
            check("and piped, a sentence is one line", text.split()[:3] == plain.split()[:3] and len(text.split("\n")) >= len(plain.split("\n")),
                  f"on the terminal ({how}):\n{text}\npiped (exit {code}, stderr: {errors}):\n{plain}")
    wide = json.loads(on_terminal(50, intact, "check", "--json=-", root / "examples/lost-update.atm")[0])
    check("a document is never folded", wide["kind"] == "check")

# messages of watched programs: a version in front, names in place of numbers
MESSAGE = "INTACT %s\npid 3\nimage 0\nfinal 1\nfinding ab 1\nset kind %s\nset commit_op %s\nend\ndone\n"
rc, out, err = run([intact, "symbolize"], stdin=MESSAGE % ("2", "lock", "release"))
check("a message is read", rc == 0 and not err, err)
for what, args in {"kind": ("2", "9", "release"), "operation": ("2", "lock", "relieve")}.items():
    rc, out, err = run([intact, "symbolize"], stdin=MESSAGE % args)
    check(f"a message with an unknown {what} is rejected", rc == 2 and "not a message" in err, err)
for version in ("1", "3"):
    rc, out, err = run([intact, "symbolize"], stdin=MESSAGE % (version, "lock", "release"))
    check(f"version {version} of the message is refused as such", rc == 2 and "another version of Intact" in err, err)
FAKE = """import os, re, socket
path = re.search(r"socket=([^:]+)", os.environ["INTACT_OPTIONS"])[1]
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"INTACT 1\\npid %d\\nfinal 1\\ndone\\n" % os.getpid(), path)
"""
rc, out, err = run([intact, "run", sys.executable, "-c", FAKE])
check("run says that a program was built with another version", rc == 70 and "another version of Intact" in err and "build it again" in err, err)
done()
