#!/usr/bin/env python3
"""Litmus tests of `intact explore --memory=sc|tso`: the outcomes of all traces are those of the memory model, no more and no fewer.

    litmus.py INTACT [--random N] [--seed S] [--cc NAME] [-v]

The model is a program of its own: x86-TSO as an abstract machine (Owens, Sarkar, Sewell, TPHOLs 2009), with all its states
enumerated. Sequential consistency is the same machine without buffers. Programs are in the language of litmus.c."""
import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = 96  # of an outcome, in litmus.c

# name, program, and outcomes of TSO that SC does not have (None: there are none), to keep the model honest
CLASSIC = [
    ("SB", "Wx1{s} Ry{l} | Wy1{s} Rx{l}", True),
    ("SB+fences", "Wx1{s} Fs Ry{l} | Wy1{s} Fs Rx{l}", False),
    ("SB+fence", "Wx1{s} Fs Ry{l} | Wy1{s} Rx{l}", True),
    ("SB+acq_rel fences", "Wx1{s} Fa Ry{l} | Wy1{s} Fa Rx{l}", True),
    ("SB+xchg", "Xx1{x} Ry{l} | Xy1{x} Rx{l}", False),
    ("SB+mutex", "Wx1{s} M Ry{l} | Wy1{s} M Rx{l}", False),
    ("MP", "Wx1{s} Wy1{s} | Ry{l} Rx{l}", False),
    ("LB", "Rx{l} Wy1{s} | Ry{l} Wx1{s}", False),
    ("IRIW", "Wx1{s} | Wy1{s} | Rx{l} Ry{l} | Ry{l} Rx{l}", False),
    ("R", "Wx1{s} Wy1{s} | Wy2{s} Rx{l}", True),
    ("R+fence", "Wx1{s} Wy1{s} | Wy2{s} Fs Rx{l}", False),
    ("S", "Wx2{s} Wy1{s} | Ry{l} Wx1{s}", False),
    ("2+2W", "Wx1{s} Wy2{s} | Wy1{s} Wx2{s}", False),
    ("CoRR", "Wx1{s} | Rx{l} Rx{l}", False),
    ("CoWW", "Wx1{s} Wx2{s} | Rx{l} Rx{l}", False),
    ("CoRW", "Rx{l} Wx1{s} | Wx2{s} Rx{l}", False),
    ("WRC", "Wx1{s} | Rx{l} Wy1{s} | Ry{l} Rx{l}", False),
    ("RWC", "Wx1{s} | Rx{l} Ry{l} | Wy1{s} Rx{l}", True),
    ("n1", "Wx2{s} Wy1{s} | Wy2{s} | Ry{l} Ry{l} Rx{l}", False),
    ("n2", "Wx1{s} Wy1{s} | Wy2{s} Wz1{s} | Rz{l} Rz{l} Rx{l}", False),
    ("n4", "Rx{l} Wx1{s} | Rx{l} Wx2{s}", False),
    ("n4b", "Rx{l} Wx1{s} Rx{l} | Rx{l} Wx2{s} Rx{l}", False),
    ("n5", "Wx1{s} Rx{l} | Wx2{s} Rx{l}", False),
    ("n6", "Wx1{s} Rx{l} Ry{l} | Wy2{s} Wx2{s}", True),
    ("iwp2.3b", "Wx1{s} Rx{l} | Wy1{s} Ry{l}", False),
    ("iwp2.4/amd9", "Wx1{s} Rx{l} Ry{l} | Wy1{s} Ry{l} Rx{l}", True),
    ("MP+await", "Wx1{s} Wy1{s} | Aya Rx{l}", False),
    ("SB+await", "Wx1{s} Ry{l} Wz1{s} | Wy1{s} Aza Rx{l}", False),
    ("n6+await", "Wx1{s} Axa Ry{l} | Wy2{s} Wx2{s}", True),
    ("amd6 fences", "Wx1{s} Wy1{s} Fs | Ry{l} Fs Rx{l}", False),
]
ORDERS = [("r", "r", "r"), ("a", "a", "a"), ("s", "s", "s"), ("p", "p", "s"), ("r", "s", "a"), ("s", "r", "r")]
# sizes that overlap, and compare-and-swap
MIXED = [
    "Wx1r Rxl{0} Ry{0} | Wy1r Ryh{0} Rx{0}",
    "Wxl1r Rx{0} Ry{0} | Wxh2r Wy1r Rx{0}",
    "Wx1r Wxh2r Rx{0} | Wxl3r Rx{0}",
    "Cx1r Ry{0} | Cy1r Rx{0}",
    "Wx1r Cx2r | Wy1r Rx{0} Cx3r",
    "Wx1p Wx2r Rx{0} Ry{0} | Wy1r Wx3p Rx{0}",
]


def parse(text):
    threads = []
    for part in text.split("|"):
        ops = []
        for word in part.split():
            g = re.fullmatch(r"([WRXCA])([xyz])([lh]?)(\d?)([rasp])|(F)([as])|(M)", word)
            if not g:
                raise ValueError("bad instruction " + word)
            if g.group(6):
                ops.append(("fence", g.group(7) == "s"))
            elif g.group(8):
                ops.append(("fence", True))
            else:
                at = 2 * "xyz".index(g.group(2))
                cells = (at,) if g.group(3) == "l" else (at + 1,) if g.group(3) == "h" else (at, at + 1)
                ops.append((g.group(1), cells, int(g.group(4) or 0), g.group(5)))
        threads.append(tuple(ops))
    return threads


def outcomes(text, tso):
    """All outcomes: a search over the states (place in each thread, its buffer, memory, what was read)."""
    program = parse(text)
    n = len(program)
    start = ((0,) * n, ((),) * n, (0,) * 6, ((),) * n)
    seen, todo, found = {start}, [start], set()
    while todo:
        at, buffers, memory, read = todo.pop()
        following = []
        for t in range(n):
            if buffers[t]:  # the oldest store reaches memory
                cells, value = buffers[t][0]
                m = list(memory)
                for c in cells:
                    m[c] = value
                following.append((at, buffers[:t] + (buffers[t][1:],) + buffers[t + 1:], tuple(m), read))
            if at[t] == len(program[t]):
                continue
            op = program[t][at[t]]
            after = at[:t] + (at[t] + 1,) + at[t + 1:]
            if op[0] == "fence":
                if not op[1] or not buffers[t]:
                    following.append((after, buffers, memory, read))
                continue
            what, cells, value, order = op
            view = list(memory)
            for stored, v in buffers[t]:
                for c in stored:
                    view[c] = v
            got = tuple(view[c] for c in cells)
            reads = read[:t] + (read[t] + (got,),) + read[t + 1:]
            if what == "A":
                if any(got):
                    following.append((after, buffers, memory, read))
                continue
            if what == "R":
                following.append((after, buffers, memory, reads))
                continue
            if what == "W" and tso and order != "s":
                following.append((after, buffers[:t] + (buffers[t] + ((cells, value),),) + buffers[t + 1:], memory, read))
                continue
            if buffers[t]:
                continue  # waits until its buffer is empty
            m = list(memory)
            if what != "C" or not any(got):
                for c in cells:
                    m[c] = value
            following.append((after, buffers, tuple(m), read if what == "W" else reads))
        if not following:
            assert all(at[t] == len(program[t]) for t in range(n)), "a thread waits forever in " + text
            found.add(written(memory, read))
        for state in following:
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return found


def written(memory, read):
    words = ""
    for thread in read:
        for got in thread:
            words += "".join("%02x" % b for b in reversed(got)) + ","
    return words + "".join("%02x%02x" % (memory[2 * i + 1], memory[2 * i]) for i in range(3))


class Explorer:
    def __init__(self, intact, program, where):
        self.intact, self.program, self.file = intact, program, os.path.join(where, "outcomes")

    def outcomes(self, text, memory, *more, sampled=False):
        if os.path.exists(self.file):
            os.unlink(self.file)
        env = dict(os.environ, LITMUS_OUT=self.file)
        how = ["-n", "300"] if sampled else ["--exhaustive"]
        r = subprocess.run([self.intact, "explore", *how, "--races=no", "--functions=no", "--memory=" + memory, *more,
                            "--", self.program, text], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        said = r.stdout.decode() + r.stderr.decode()
        if r.returncode != 0 or not sampled and "traces explored" not in said:
            raise SystemExit("%s under %s: exit %d\n%s" % (text, memory, r.returncode, said))
        if memory == "tso" and "not covered: " not in said:
            raise SystemExit("%s: the report does not say what TSO leaves out\n%s" % (text, said))
        with open(self.file, "rb") as f:
            data = f.read()
        n, full = struct.unpack_from("II", data)
        assert not full
        return {data[8 + TEXT * i:8 + TEXT * (i + 1)].split(b"\0")[0].decode() for i in range(n)}


def compare(explorer, name, text, verbose):
    bad = 0
    relaxed = not re.search(r"[WRX][xyz][lh]?[0-9]?[as]", text)  # orders do not matter under sc: once is enough
    for memory in ("sc", "tso")[0 if relaxed else 1:]:
        want = outcomes(text, memory == "tso")
        got = explorer.outcomes(text, memory)
        if verbose:
            print("# %-20s %-60s %-3s %d outcomes" % (name, text, memory, len(got)))
        if got != want:
            print("# %s: %s under %s\n#   missing: %s\n#   not allowed: %s" %
                  (name, text, memory, " ".join(sorted(want - got)) or "-", " ".join(sorted(got - want)) or "-"))
            bad += 1
    if "random" in name:  # sampling sees nothing else, and shares of a search nothing less
        want = outcomes(text, True)
        sampled, shared = explorer.outcomes(text, "tso", sampled=True), explorer.outcomes(text, "tso", "-j", "2")
        if not sampled or sampled - want or shared != want:
            print("# %s: %s: sampled, not allowed: %s; by two processes: %s" % (name, text, sampled - want, sorted(shared ^ want)))
            bad += 1
    return bad


def random_program(rng):
    threads = []
    plain = rng.random() < 0.3
    for _ in range(rng.choice((2, 2, 2, 3))):
        ops = []
        for _ in range(rng.randint(1, 4)):
            at = rng.choice("xyz"[:rng.choice((1, 2, 2, 3))]) + rng.choice(("", "", "", "l", "h"))
            order = rng.choice("rrras" + "pp" * plain)
            what = rng.choice("WWWWRRRRXF")
            if what == "W":
                ops.append("W%s%d%s" % (at, rng.randint(1, 3), order))
            elif what == "R":
                ops.append("R%s%s" % (at, order))
            elif what == "X":
                ops.append("X%s%d%s" % (at, rng.randint(1, 3), "r" if order == "p" else order))
            else:
                ops.append("F" + rng.choice("as"))
        threads.append(" ".join(ops))
    return " | ".join(threads)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("intact")
    p.add_argument("--random", type=int, default=8)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--cc", action="append")
    p.add_argument("--only", default="")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    bad = count = 0
    for name, text, weak in CLASSIC:  # the model itself: where TSO is weaker than SC, as the literature has it
        text = text.format(s="r", l="r", x="r")
        assert (outcomes(text, True) != outcomes(text, False)) == weak, name
        assert outcomes(text, True) >= outcomes(text, False), name
    with tempfile.TemporaryDirectory() as where:
        for cc in a.cc or ("gcc", "clang"):
            program = os.path.join(where, "litmus-" + cc)
            subprocess.run([a.intact, "cc", "-O1", "-g", os.path.join(HERE, "litmus.c"), "-o", program, "-pthread"],
                           check=True, env=dict(os.environ, INTACT_CC=cc))
            explorer = Explorer(a.intact, program, where)
            texts = []
            for i, (name, text, _) in enumerate(CLASSIC):
                for k, (s, l, x) in enumerate(ORDERS):
                    if k == 0 or (i + k) % 2 == (cc == "clang"):  # each order with one compiler, relaxed with both
                        texts.append((name, text.format(s=s, l=l, x=x)))
            texts += [("mixed", t.format("r")) for t in MIXED]
            rng = random.Random("%d %s" % (a.seed, cc))
            texts += [("random, seed %d" % a.seed, random_program(rng)) for _ in range(a.random)]
            for name, text in texts:
                if a.only in text or a.only in name:
                    wrong = compare(explorer, name, text, a.v)
                    count += 1
                    bad += wrong != 0
                    print("%sok %d - %s: %s (%s)" % ("not " if wrong else "", count, name, text.replace("#", ""), cc), flush=True)
    print("1..%d" % count)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
