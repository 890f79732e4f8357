#!/usr/bin/env python3
"""Random one-thread SML programs, run by `intact sim` and by the interpreter
below: one statement is one step, with all its reads and its write; tests of
while and if, skip, begin and end are steps too.

Usage: test_lower_sml.py INTACT [COUNT [SEED]]      (TAP on stdout; COUNT 100)
"""
import json
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from tap import check, done, run  # noqa: E402

intact = str(Path(sys.argv[1]).resolve())
count = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("LOWER_COUNT", "100"))
seed0 = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LO, HI = -(1 << 31), (1 << 31) - 1
GLOBALS, LOCALS = ["X", "Y", "Zed"], ["a", "b", "count"]


class Fault(Exception):
    pass


class TooLong(Exception):
    pass


# ---- generating: trees of tuples, and their text ------------------------------

def number(r, depth):
    k = r.random()
    if depth == 0 or k < 0.3:
        return ("int", r.choice([0, 1, 2, 3, 7, -1, 100])) if r.random() < 0.4 else ("name", r.choice(GLOBALS + LOCALS))
    return ("bin", r.choice("++--*/"), number(r, depth - 1), number(r, depth - 1), r.random() < 0.5)


def condition(r, depth):
    k = r.random()
    if depth == 0 or k < 0.5:
        return ("cmp", r.choice(["<", "≤", ">", "≥", "=", "!=", "<=", ">=", "! ="]), number(r, 1), number(r, 1))
    if k < 0.6:
        return ("bool", r.randint(0, 1))
    if k < 0.8:
        return ("not", condition(r, depth - 1))
    return ("or", condition(r, depth - 1), condition(r, depth - 1))


def statements(r, n, depth, inside):
    return [statement(r, depth, inside) for _ in range(n)]


def statement(r, depth, inside):
    k = r.random()
    if depth == 0 or k < 0.55:
        return ("assign", r.choice(GLOBALS + LOCALS), number(r, 2)) if k < 0.5 else ("skip",)
    if k < 0.7:
        return ("if", condition(r, 2), statements(r, r.randint(1, 3), depth - 1, inside),
                statements(r, r.randint(1, 2), depth - 1, inside))
    if k < 0.85:  # counts down in a variable of its own
        return ("while", r.randint(0, 3), f"k{r.randrange(10 ** 6)}", statements(r, r.randint(1, 2), depth - 1, inside))
    if k < 0.92 and not inside:
        return ("block", statements(r, r.randint(1, 4), depth - 1, True))
    return ("locked", statements(r, 1, 0, inside))


def text(e, outer=False):
    kind = e[0]
    if kind in ("int", "name"):
        return str(e[1])
    if kind == "bin":
        s = f"{text(e[2])} {e[1]} {text(e[3])}"
        return s if outer else f"({s})"
    if kind == "cmp":
        return f"({text(e[2], True)} {e[1]} {text(e[3], True)})" if not outer else f"{text(e[2])} {e[1]} {text(e[3])}"
    if kind == "bool":
        return "true" if e[1] else "false"
    if kind == "not":
        return ("¬" if len(text(e[1])) % 2 else "!") + text(e[1])
    return f"({text(e[1])} {'∨' if len(text(e[1])) % 2 else '|'} {text(e[2])})"


def lines(body, ind):
    out, pad = [], "  " * ind
    for s in body:
        if s[0] == "assign":
            out.append(f"{pad}{s[1]} := {text(s[2], True)}")
        elif s[0] == "skip":
            out.append(pad + "skip")
        elif s[0] == "if":
            out.append(f"{pad}if ({text(s[1], True)}) {{\n{lines(s[2], ind + 1)}\n{pad}}} else {{\n{lines(s[3], ind + 1)}\n{pad}}}")
        elif s[0] == "while":
            out.append(f"{pad}{s[2]} := {s[1]}")
            out.append(f"{pad}while ({s[2]} > 0) {{\n{pad}  {s[2]} := {s[2]} - 1;\n{lines(s[3], ind + 1)}\n{pad}}}")
        elif s[0] == "block":
            out.append(f"{pad}begin\n{lines(s[1], ind + 1)}\n{pad}end")
        else:
            out.append(f"{pad}acquire(l);\n{lines(s[1], ind)};\n{pad}release(l)")
    return ";\n".join(out)


# ---- the interpreter ------------------------------------------------------------

class Machine:
    def __init__(self):
        self.vars, self.steps = {}, []

    def step(self):
        self.steps.append([])
        if len(self.steps) > 300:
            raise TooLong()

    def eval(self, e):
        kind = e[0]
        if kind in ("int", "bool"):
            return e[1]
        if kind == "name":
            x = self.vars.get(e[1], 0)
            if e[1] in GLOBALS:
                self.steps[-1].append(("read", e[1], x, x))
            return x
        if kind == "not":
            return int(not self.eval(e[1]))
        if kind == "or":
            return int(bool(self.eval(e[1])) or bool(self.eval(e[2])))
        a, b = self.eval(e[2]), self.eval(e[3])
        if kind == "cmp":
            return int({"<": a < b, "≤": a <= b, "<=": a <= b, ">": a > b, "≥": a >= b, ">=": a >= b, "=": a == b,
                        "!=": a != b, "! =": a != b}[e[1]])
        if e[1] == "/":
            if b == 0:
                raise Fault("division")
            x = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        else:
            x = {"+": a + b, "-": a - b, "*": a * b}[e[1]]
        if not LO <= x <= HI:
            raise Fault("overflow")
        return x

    def assign(self, name, e):
        self.step()
        x = self.eval(e)
        if name in GLOBALS:
            self.steps[-1].append(("write", name, self.vars.get(name, 0), x))
        self.vars[name] = x

    def run(self, body):
        for s in body:
            if s[0] == "assign":
                self.assign(s[1], s[2])
            elif s[0] == "skip":
                self.step()
            elif s[0] == "if":
                self.step()
                self.run(s[2] if self.eval(s[1]) else s[3])
            elif s[0] == "while":
                self.assign(s[2], ("int", s[1]))
                while True:
                    self.step()
                    if self.vars[s[2]] <= 0:
                        break
                    self.assign(s[2], ("int", self.vars[s[2]] - 1))
                    self.run(s[3])
            elif s[0] == "block":
                self.step()
                self.run(s[1])
                self.step()
            else:
                self.step()
                self.steps[-1].append(("acquire", "l", 0, 1))
                self.run(s[1])
                self.step()
                self.steps[-1].append(("release", "l", 1, 0))


def plain(x):
    return {"free": 0, "held": 1}.get(x, x)


def one(seed, tmp):
    for attempt in range(50):
        r = random.Random(f"sml {seed} {attempt}")
        body = statements(r, r.randint(2, 7), 3, False)
        m, fault = Machine(), None
        try:
            m.run(body)
        except Fault as f:
            fault = str(f)
        except TooLong:
            continue
        break
    model = "".join(f"int {g}; " for g in GLOBALS) + "lock l;\n" + lines(body, 0) + "\n"
    path = os.path.join(tmp, f"m{seed}.sml")
    Path(path).write_text(model)
    rc, out, err = run([intact, "sim", "--json", "-q", "-n", "100000", path])
    if rc not in (0, 1):
        return f"exit {rc}: {err}", model
    d = json.loads(out)
    got_fault = d["steps"][-1].get("fault", {}).get("kind") if d["steps"] else None
    got = [[(a["mode"], a["variable"], plain(a["before"]), plain(a["after"])) for a in s["accesses"]] for s in d["steps"]]
    if got_fault != fault:
        return f"fault {got_fault}, expected {fault}", model
    want = m.steps
    if fault:  # the last step went wrong: what it did is not compared
        got, want = got[:-1], want[:-1]
    if got != want:
        i = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        return f"step {i + 1} of {len(want)}: {got[i:i + 1]}, expected {want[i:i + 1]}", model
    state = {g: m.vars.get(g, 0) for g in GLOBALS}
    shared = {k: v for k, v in d["state"]["shared"].items() if k != "l"}
    if not fault and shared != state:
        return f"state {shared}, expected {state}", model
    return None


with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
    print(f"# seeds {seed0} to {seed0 + count - 1}")
    seeds = range(seed0, seed0 + count)
    bad = [(s, r) for s, r in zip(seeds, pool.map(lambda s: one(s, tmp), seeds)) if r]
    for s, (why, model) in bad[:5]:
        check(f"seed {s}", False, why[:600] + "\n" + model)
    check(f"{count} programs run as they should", not bad, f"{len(bad)} differ: {[s for s, _ in bad][:20]}")
done()
