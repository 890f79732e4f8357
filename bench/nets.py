#!/usr/bin/env python3
"""make bench-nets: the unfolder on plain nets, other unfolders beside it.

    nets.py BUILD [--seconds S] [--memory GB] [--quick]

Generated nets (the paper's Acquire1 as a plain net; threads that take turns at
a lock; a counter), then the files *.ll_net under $INTACT_NETS if that is set, such as the
plain nets that come with cunf. Peers: mole and cunf, on the PATH or named by
$MOLE and $CUNF; cunf runs with `-c mole`, the order that all three then share.
CPU seconds and peak memory are those of the whole command. `!` marks numbers of
events or cut-offs that differ, `slower` a net on which the faster peer takes over
0.3 s and less than we do; either makes the exit code 1.

verifypn ($VERIFYPN) is no unfolder: where it is installed it is asked for a deadlock, by search with
its reductions, and so is `intact net`, on its prefix; answers that differ are wrong as well."""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--seconds", type=int, default=120, help="CPU seconds a side may use")
parser.add_argument("--memory", type=int, default=4, help="GB a side may use")
parser.add_argument("--quick", action="store_true", help="only the smaller generated nets")
args = parser.parse_args()
BUILD = Path(args.build).resolve()
INTACT, MEASURE = f"{BUILD}/src/cli/intact", f"{BUILD}/bench/measure"
PEERS = {name: os.environ.get(name.upper()) or shutil.which(name) for name in ("mole", "cunf")}
VERIFYPN = os.environ.get("VERIFYPN") or shutil.which("verifypn") or shutil.which("verifypn-linux64")


class Net:
    """Writes ll_net."""

    def __init__(self):
        self.places, self.trans, self.put, self.take = [], [], [], []

    def place(self, name, marked=False):
        self.places.append(f'"{name}"' + ("M1" if marked else ""))
        return len(self.places)

    def step(self, name, take, put):
        self.trans.append(f'"{name}"')
        self.take += [f"{p}>{len(self.trans)}" for p in take]
        self.put += [f"{len(self.trans)}<{p}" for p in put]

    def write(self, path):
        parts = ["PEP", "PTNet", "FORMAT_N", "PL", *self.places, "TR", *self.trans, "TP", *self.put, "PT", *self.take]
        Path(path).write_text("\n".join(parts) + "\n")


def acquire(n):
    """Table 1's Acquire1 without colours: n threads that wait busily for a lock,
    one of them with a second copy of its block: n^2 + 4n + 2 events."""
    x = Net()
    free, held, data = x.place("m.free", True), x.place("m.held"), x.place("data", True)
    for i in range(n):
        s = [x.place(f"w{i}.{k}", k == 0) for k in range(5)]
        x.step(f"w{i}.acq", [s[0], free], [s[1], held])
        x.step(f"w{i}.begin", [s[1]], [s[2]])
        x.step(f"w{i}.upd", [s[2], data], [s[3], data])
        x.step(f"w{i}.end", [s[3]], [s[4]])
        x.step(f"w{i}.rel", [s[4], held], [s[0], free])
        x.step(f"w{i}.fail", [s[0], held], [s[0], held])
        if i == 0:
            b, c = x.place("w0.2*"), x.place("w0.3*")
            x.step("w0.begin*", [s[1]], [b])
            x.step("w0.upd*", [b, data], [c, data])
    return x


def turns(n, steps=100):
    """n threads, one lock, `steps` steps while it is held: few cut-offs."""
    x = Net()
    lock = x.place("lock", True)
    for i in range(n):
        s = [x.place(f"t{i}.{k}", k == 0) for k in range(steps)]
        x.step(f"t{i}.acq", [s[0], lock], [s[1]])
        for k in range(1, steps - 1):
            x.step(f"t{i}.{k}", [s[k]], [s[k + 1]])
        x.step(f"t{i}.rel", [s[-1]], [s[0], lock])
    return x


def counter(n):
    """n bits that count up once: a chain of 2^n - 1 events, all of them kept."""
    x = Net()
    zero = [x.place(f"z{i}", True) for i in range(n)]
    one = [x.place(f"o{i}") for i in range(n)]
    for i in range(n):
        x.step(f"up{i}", [zero[i], *one[:i]], [one[i], *zero[:i]])
    return x


def measure(argv):
    limit = f"ulimit -v {args.memory << 20} -t {args.seconds}; exec \"$@\""
    done = subprocess.run([MEASURE, "bash", "-c", limit, "bash", *map(str, argv)], capture_output=True, text=True,
                          errors="replace")
    cpu, kb, rc = done.stderr.strip().split("\n")[-1].split()
    return float(cpu), int(kb) / 1024, int(rc), done.stdout


def ours(path):
    cpu, mb, rc, out = measure([INTACT, "net", "--prefix", "--json", "-", path])
    if rc != 0:
        return None
    r = json.loads(out)["results"][0]
    return (r["events"], r["cutoffs"], r["conditions"]), cpu, mb


def mole(path, tmp):
    out = Path(tmp) / "out.mci"
    out.unlink(missing_ok=True)
    cpu, mb, rc, _ = measure([PEERS["mole"], path, "-m", out])
    if rc != 0 or not out.exists():
        return None
    conditions, events = struct.unpack("ii", out.read_bytes()[:8])
    return (events, None, conditions), cpu, mb


def cunf(path, _):
    cpu, mb, rc, out = measure([PEERS["cunf"], "-i", "-c", "mole", path])
    n = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in out.split("\n"))}
    if rc != 0 or "events" not in n:
        return None
    return (int(n["events"]), int(n["cutoffs"]), int(n["conditions"])), cpu, mb


def deadlock(name, path, tmp):
    """Two cells, ours and verifypn's CPU seconds for the same question, and what is wrong."""
    pnml, query = Path(tmp) / "net.pnml", Path(tmp) / "q.xml"
    with open(pnml, "w") as f:
        subprocess.run([INTACT, "net", "--to", "pnml", path], stdout=f)
    query.write_text('<?xml version="1.0"?><property-set xmlns="http://mcc.lip6.fr/"><property><id>dead</id><description/>'
                     '<formula><exists-path><finally><deadlock/></finally></exists-path></formula></property></property-set>')
    cpu, _, rc, out = measure([INTACT, "net", "--deadlock", "--json", "-", path])
    mine = json.loads(out)["results"][0]["deadlock"]["answer"] if rc in (0, 1) else None
    their_cpu, _, their_rc, _ = measure([VERIFYPN, "-n", "-x", "1", pnml, query])
    theirs = {0: "yes", 1: "no"}.get(their_rc)
    pnml.unlink()
    cells = f" {mine or '-':>3} {f'{cpu:.2f}' if mine else '-':>8} {f'{their_cpu:.2f}' if theirs else '-':>8} |"
    return cells, [f"{name}: a deadlock: {mine}, verifypn says {theirs}"] if mine and theirs and mine != theirs else []


def row(name, path, tmp):
    """Prints a line; the events and seconds of ours, and what is wrong."""
    a = ours(path)
    wrong, best, cells = [], None, ""
    for peer, ask in (("mole", mole), ("cunf", cunf)):
        if not PEERS[peer]:
            continue
        b = ask(path, tmp)
        differs = a and b and any(x != y for x, y in zip(a[0], b[0]) if y is not None)
        if differs:
            wrong.append(f"{name}: {peer} has {b[0]}")
        if b:
            best = min(best or b[1], b[1])
        cells += f" {f'{b[1]:.2f}' if b else '-':>8} {f'{b[2]:.0f}' if b else '':>6}{'!' if differs else ' '}|"
    if VERIFYPN:
        more, bad = deadlock(name, path, tmp)
        cells += more
        wrong += bad
    ratio = f"{best / max(a[1], 0.001):7.1f}x" if a and best else ""
    if a and best and best > 0.3 and a[1] > best:
        wrong.append(f"{name}: slower than the faster peer")
        ratio += " slower"
    size = f"{a[0][0]:>10,} {a[0][1]:>10,} {a[0][2]:>10,} {a[1]:>8.2f} {a[2]:>6.0f}" if a else f"{'-':>48}"
    print(f"{name:34.34}| {size} |{cells}{ratio}", flush=True)
    return a, wrong


def main():
    wrong = []
    for p in PEERS:
        if not PEERS[p]:
            print(f"{p} is not installed: its column is left out")
    if not VERIFYPN:
        print("verifypn is not installed: its column is left out")
    nets = os.environ.get("INTACT_NETS")
    print(f"{'':34}| {'intact net --prefix':^48} |" + "".join(f"{p:^17}|" for p in PEERS if PEERS[p]) +
          (f"{'deadlock':^23}|" if VERIFYPN else "") +
          (" faster peer / intact" if any(PEERS.values()) else ""))
    print(f"{'net':34}| {'events':>10} {'cut-offs':>10} {'conditions':>10} {'CPU s':>8} {'MB':>6} |" +
          "".join(f"{'CPU s':>9} {'MB':>6} |" for p in PEERS if PEERS[p]) +
          (f"     {'intact':>8} {'verifypn':>8} |" if VERIFYPN else ""))
    growth = []
    with tempfile.TemporaryDirectory() as tmp:
        families = [("acquire", acquire, (100, 300, 1000, 3000, 5000)), ("turns", turns, (100, 1000, 10000)),
                    ("counter", counter, (10, 13, 17, 20))]
        for name, make, sizes in families:
            for n in sizes[:2] if args.quick else sizes:
                path = Path(tmp) / f"{name}{n}.ll_net"
                make(n).write(path)
                a, bad = row(f"{name} {n}", path, tmp)
                wrong += bad
                if a:
                    growth.append((f"{name} {n}", a))
                path.unlink()
        for path in sorted(Path(nets).rglob("*.ll_net")) if nets else ():
            wrong += row(str(path.relative_to(nets))[:-7], path, tmp)[1]
    if not nets:
        print("INTACT_NETS is not set: no nets of other tools")
    print("\nnanoseconds of CPU and bytes of memory an event (the whole command: reading the net is in it)")
    for name, (count, cpu, mb) in growth:
        kept = count[0] - count[1]
        print(f"  {name:16} {count[0]:>11,} events, {kept:>9,} kept: {1e9 * cpu / count[0]:7.0f} ns an event, "
              f"{mb * 1048576 / count[0]:7.1f} bytes an event, {mb * 1048576 / kept:8.1f} a kept one")
    for line in wrong:
        print("WRONG", line)
    return 1 if wrong else 0


sys.exit(main())
