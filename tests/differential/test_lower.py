#!/usr/bin/env python3
"""Random one-thread models, run by `intact sim` and by the interpreter below.

The two share nothing: the interpreter walks the generated tree with Python's
integers. They must agree on every shared access in its order with its values,
on entering and leaving blocks (by break, continue and return too) and on the
steps that commit, on which accesses are one step, on the final state, and on
the fault.

Usage: test_lower.py INTACT [COUNT [SEED]]      (TAP on stdout; COUNT 150)
"""
import json
import os
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from shapes import Whole, braces, fill_pattern, random_struct  # noqa: E402
from tap import check, done, run  # noqa: E402

intact = str(Path(sys.argv[1]).resolve())
count = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("LOWER_COUNT", "150"))
seed0 = int(sys.argv[3]) if len(sys.argv) > 3 else 1
LO, HI = -(1 << 31), (1 << 31) - 1
MAX_ACCESSES = 240  # no more are recorded for one step


SIZED = {(0, 255): "u8", (-128, 127): "i8", (0, 65535): "u16", (-32768, 32767): "i16"}


class Fault(Exception):
    pass


class TooLong(Exception):
    pass


class Jump(Exception):
    """break, continue, return on their way out"""
    def __init__(self, kind, value=0):
        super().__init__(kind)
        self.kind, self.value = kind, value


class Var:
    def __init__(self, name, lo, hi, boolean=False, length=0, shared=False):
        self.name, self.lo, self.hi, self.boolean, self.length, self.shared = name, lo, hi, boolean, length, shared
        self.dims, self.inside, self.ref, self.wrap = [length] if length else [], None, False, False

    @property
    def pattern(self):
        """how an element is written, with its indices left out"""
        return self.inside or self.name + "[]" * len(self.dims)

    @pattern.setter
    def pattern(self, text):
        self.inside = text

    def type(self):
        plain = "bool" if self.boolean else "int" if (self.lo, self.hi) == (LO, HI) else SIZED.get((self.lo, self.hi)) or \
            f"int[{self.lo}..{self.hi}]"
        return "wrap " + plain if self.wrap else plain

    def wrapped(self, x):
        return self.lo + (x - self.lo) % (self.hi - self.lo + 1) if self.wrap else x

    def default(self):
        return 0 if self.lo <= 0 <= self.hi else self.lo

    def declare(self, init=None):
        if self.length:
            values = "" if init is None else " = { " + ", ".join(init) + " }"
            return f"{self.type()} {self.name}{''.join(f'[{d}]' for d in self.dims)}{values};"
        return f"{self.type()} {self.name}" + (f" = {init};" if init is not None else ";")


class Ref:
    """What a parameter passed by reference means in a call: elements of a variable, from base * part on"""
    def __init__(self, target, base, part, env):
        self.target, self.base, self.part, self.env = target, base, part, env


# ---- generating: trees of tuples, and their text -----------------------------

class Gen:
    def __init__(self, rng):
        self.rng = rng
        self.tame = rng.random() < 0.75  # avoids faults, so that runs get long
        self.names, self.sized = 0, rng.random() < 0.3
        self.globals = [self.var(f"g{i}", True) for i in range(rng.randint(2, 5))]
        self.structs, self.wholes = [], []
        if rng.random() < 0.4:
            self.shaped_globals()
        self.procs = []  # (name, params, result or None, body)
        for _ in range(rng.randint(0, 3)):
            self.procs.append(self.proc())
        self.in_atomic = self.in_step = self.loops = 0
        self.result, self.local_wholes = None, []
        self.body = self.block([], rng.randint(3, 8), 0)

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def scalar(self, name):
        v = self.var(name, False)
        v.length, v.dims = 0, []
        return v

    def shaped_globals(self):
        """Two structs, the second with one of the first inside, three variables of them, and an array of two dimensions"""
        r = self.rng
        inner = random_struct(r, "u0", self.scalar)
        self.structs = [inner, random_struct(r, "u1", self.scalar, inner)]
        for i in range(3):
            self.wholes.append(Whole(f"s{i}", self.structs[i > 0], r.choice([[], [2], [2, 2]]), True, Var))
            self.globals += self.wholes[-1].leaves
        v = self.scalar("m")
        v.shared, v.dims, v.length = True, [2, 2 if self.tame else 3], 4 if self.tame else 6
        self.globals.append(v)

    def var(self, name, shared):
        r = self.rng
        k = r.random()
        length = r.choice([1, 2, 4] if self.tame else [1, 2, 3, 4]) if r.random() < 0.3 else 0
        if k < 0.25:
            return Var(name, 0, 1, True, length, shared)
        if k < 0.6:
            lo = r.choice([0, 0, -3, 2, -100])
            v = Var(name, lo, lo + r.choice([3, 7, 3 if self.tame else 200]), False, length, shared)
            if self.sized and r.random() < 0.4:
                v.wrap = r.random() < 0.7
                if not self.tame or v.wrap:
                    v.lo, v.hi = r.choice([*SIZED, (v.lo, v.hi), (-3, 3)])
            return v
        return Var(name, LO, HI, False, length, shared)

    def proc(self):
        self.in_atomic = self.in_step = self.loops = 0
        params = []
        for _ in range(self.rng.randint(0, 3)):
            if self.structs and self.rng.random() < 0.3:
                params.append(Whole(self.fresh("p"), self.rng.choice(self.structs), [], False, Var))
                params[-1].ref = self.rng.random() < 0.5
                continue
            if self.rng.random() < 0.3:  # of the type of a variable that is never hidden
                g = self.rng.choice(self.globals[1:])
                params.append(Var(self.fresh("p"), g.lo, g.hi, g.boolean))
                params[-1].ref, params[-1].wrap = True, g.wrap
                continue
            v = self.var(self.fresh("p"), False)
            v.length, v.dims = 0, []
            params.append(v)
        result = self.var("result", False) if self.rng.random() < 0.6 else None
        if result:
            result.length = 0
        self.result = result or "none"
        known = len(self.procs)  # calls only earlier ones
        scope = [v for p in params for v in (p.leaves if isinstance(p, Whole) else [p])]
        params_before, self.local_wholes = params, [p for p in params if isinstance(p, Whole)]
        body = self.block(scope, self.rng.randint(1, 4), 1)
        params = params_before
        if result:
            body.append(("return", self.fitted(result, self.expr(scope, 2))))
        return (f"f{known}", params, result, body)

    def fitted(self, v, e):
        """e, made to fit v when the model is tame"""
        if not self.tame or v.boolean or v.wrap or (v.lo, v.hi) == (LO, HI):
            return e
        return ("bin", "+", ("bin", "&", e, ("int", v.hi - v.lo)), ("int", v.lo))

    def operands(self, op, a, b):
        if self.tame and op in ("/", "%"):
            b = ("bin", "|", ("bin", "&", b, ("int", 7)), ("int", 1))
        if self.tame and op in ("*", "<<", ">>"):
            a, b = ("bin", "&", a, ("int", 255)), ("bin", "&", b, ("int", 7))
        return a, b

    # expressions --------------------------------------------------------------

    def place(self, scope, need_shared=False):
        hidden = {v.name for v in scope}
        all_vars = [v for v in self.globals if v.name not in hidden] + ([] if need_shared else scope)
        v = self.rng.choice(all_vars)
        if len(v.dims) > 1:
            return ("at", v, [self.index(scope, d) for d in v.dims])
        if v.length:
            index = ("int", self.rng.randrange(v.length)) if self.rng.random() < 0.6 else \
                ("bin", "&", self.expr(scope, 1), ("int", v.length - 1)) if self.tame else \
                ("bin", "%", self.expr(scope, 1), ("int", v.length)) if self.rng.random() < 0.8 else \
                self.expr(scope, 1)
            return ("idx", v, index)
        return ("var", v)

    def index(self, scope, n):
        r = self.rng
        hidden = {v.name for v in scope}
        plain = [v for v in self.globals if v.name not in hidden and not v.dims] + [v for v in scope if not v.dims]
        if r.random() < 0.5 or not plain or self.tame and n & (n - 1):
            return ("int", r.randrange(n))
        e = ("var", r.choice(plain))
        return ("bin", "&", e, ("int", n - 1)) if self.tame else ("bin", "%", e, ("int", n)) if r.random() < 0.7 else e

    def whole(self, scope, struct):
        """(variable, indices) of this struct type, or None"""
        known = [w for w in self.wholes + [w for w in self.local_wholes if w.leaves[0] in scope] if w.struct is struct]
        if not known:
            return None
        w = self.rng.choice(known)
        return w, [self.index(scope, d) for d in w.dims]

    def argument(self, scope, p, depth):
        if isinstance(p, Whole) and p.ref:
            return ("refs", *self.whole(scope, p.struct))
        if p.ref:
            hidden = {v.name for v in scope}
            same = [v for v in [v for v in self.globals if v.name not in hidden] + scope
                    if (v.lo, v.hi, v.boolean, v.wrap) == (p.lo, p.hi, p.boolean, p.wrap)]
            v = self.rng.choice(same)
            return ("ref", v, [self.index(scope, d) for d in v.dims])
        return ("whole", *self.whole(scope, p.struct)) if isinstance(p, Whole) else self.fitted(p, self.expr(scope, depth))

    def copy(self, scope):
        to = self.rng.choice(self.wholes + [w for w in self.local_wholes if w.leaves[0] in scope])
        return ("copy", to, [self.index(scope, d) for d in to.dims], *self.whole(scope, to.struct))

    def local_struct(self, scope):
        r = self.rng
        w = Whole(self.fresh("w"), r.choice(self.structs), r.choice([[], [2]]), False, Var)
        k, init = r.random(), None
        if k < 0.4 and not w.dims:
            init = ("from", *self.whole(scope, w.struct))
        elif k < 0.8 and not w.dims:
            init = ("list", [self.fitted(v, self.expr(scope, 1)) for v, _ in w.pieces()])
        self.local_wholes.append(w)
        scope += w.leaves
        return ("sdecl", w, init)

    def expr(self, scope, depth):
        r = self.rng
        k = r.random()
        if depth <= 0 or k < 0.2:
            if k < 0.08:
                return ("bool", r.randint(0, 1))
            if k < 0.12 or r.random() < 0.4:
                return ("int", r.choice([0, 1, 2, 3, 5, 7, -1, -2, 31, 100, HI, LO + 1] if r.random() < 0.3 and not self.tame
                                        else [0, 1, 2, 3]))
            return self.place(scope)
        if k < 0.55:
            op = r.choice(["+", "-", "*", "+", "-", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=",
                           ">", ">=", "&&", "||", "&&", "||"])
            return ("bin", op, *self.operands(op, self.expr(scope, depth - 1), self.expr(scope, depth - 1)))
        if k < 0.65:
            return ("un", r.choice(["-", "!", "~", "+", "!"]), self.expr(scope, depth - 1))
        if k < 0.75:
            return ("cond", *(self.expr(scope, depth - 1) for _ in range(3)))
        if k < 0.85:
            place = self.place(scope, True)
            word = r.choice(["cas", "exchange", "fetch_add"])
            if self.tame and (place[1].lo, place[1].hi) != (LO, HI) and word == "fetch_add" and not place[1].wrap:
                word = "exchange"
            args = [self.fitted(place[1], self.expr(scope, depth - 2)) for _ in range(2 if word == "cas" else 1)]
            return (word, place, *args)
        callable_ = [p for p in self.procs if p[2]]
        if k < 0.93 and callable_:
            p = r.choice(callable_)
            return ("call", p, [self.argument(scope, v, depth - 2) for v in p[1]])
        return self.place(scope)

    # statements ---------------------------------------------------------------

    def block(self, scope, n, depth):
        scope, out = list(scope), []
        for _ in range(n):
            out.append(self.stmt(scope, depth))
        return out

    def stmt(self, scope, depth):
        r = self.rng
        k = r.random()
        deep = depth >= 3
        if self.structs and r.random() < 0.12:
            return self.copy(scope) if r.random() < 0.6 else self.local_struct(scope)
        if k < 0.15:
            v = self.var(r.choice([self.fresh("v"), self.fresh("v"), "g0"]) if depth > 1 else self.fresh("v"), False)
            if any(s.name == v.name and s in scope for s in scope):
                v.name = self.fresh("v")
            init = None
            if r.random() < 0.7:
                init = [self.fitted(v, self.expr(scope, 2)) for _ in range(r.randint(1, v.length))] if v.length else \
                    self.fitted(v, self.expr(scope, 2))
            s = ("decl", v, init)
            # what it hides must not be picked any more
            scope[:] = [x for x in scope if x.name != v.name] + [v]
            return s
        if k < 0.45 or deep and k < 0.8:
            place = self.place(scope)
            form = r.random()
            if form < 0.6 or self.tame and not place[1].boolean and (place[1].lo, place[1].hi) != (LO, HI):
                return ("assign", place, self.fitted(place[1], self.expr(scope, 3)))
            if form < 0.85:
                op = r.choice("+-&|^" if self.tame else ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
                return ("update", op, place, self.expr(scope, 2))
            return ("inc", r.choice(["++", "--"]), r.random() < 0.5, place)
        if deep:
            return ("skip",)
        if k < 0.55:
            return ("if", self.expr(scope, 3), self.block(scope, r.randint(1, 3), depth + 1),
                    self.block(scope, r.randint(1, 2), depth + 1) if r.random() < 0.5 else None)
        if k < 0.63:
            self.loops += 1
            body = self.block(scope, r.randint(1, 3), depth + 1)
            self.loops -= 1
            return ("repeat", ("int", r.randint(-1, 3)) if r.random() < 0.6 else
                    ("bin", "&", self.expr(scope, 1), ("int", 3)), body)
        if k < 0.68:
            v = Var(self.fresh("k"), 0, 3, False, 0, False)
            self.loops += 1
            body = self.block(scope, r.randint(1, 2), depth + 1)
            self.loops -= 1
            return ("while", v, r.randint(0, 3), self.expr(scope, 1), body)
        if k < 0.70:  # continue goes to the advance
            v = Var(self.fresh("at"), LO, HI)
            bound = r.randint(-1, 3)
            self.loops += 1
            body = self.block(scope, r.randint(1, 2), depth + 1)
            self.loops -= 1
            side = ("assign", self.place(scope), ("int", 0)) if r.random() < 0.3 else None
            if side and self.tame:
                side = ("assign", side[1], self.fitted(side[1][1], side[2]))
            return ("for", v, r.randint(0, 2), bound, self.expr(scope, 1) if r.random() < 0.5 else None, side, body)
        if k < 0.72:
            v = Var(self.fresh("k"), 0, 3, False, 0, False)
            self.loops += 1
            body = self.block(scope, r.randint(1, 2), depth + 1)
            self.loops -= 1
            return ("do", v, r.randint(0, 3), self.expr(scope, 1), body)
        if k < 0.75:
            return self.switch(scope, depth)
        if k < 0.77 and self.loops:
            return ("if", self.expr(scope, 1), [(r.choice(["break", "continue"]),)], None)
        if k < 0.78 and (self.result == "none" or self.result is None) and depth:
            return ("if", self.expr(scope, 1), [("return", None)], None)
        if k < 0.79 and self.result not in (None, "none"):
            return ("if", self.expr(scope, 1), [("return", self.fitted(self.result, self.expr(scope, 1)))], None)
        if k < 0.85 and not self.in_atomic and not self.in_step and self.result is None:
            self.in_atomic += 1
            body = self.block(scope, r.randint(1, 4), depth + 1)
            if r.random() < 0.5:
                body.insert(r.randint(0, len(body)), ("commit",))
            if r.random() < 0.1 and not self.tame:
                body.append(("commit",))
            self.in_atomic -= 1
            return ("atomic", body)
        if k < 0.89:
            self.in_step += 1
            body = self.block(scope, r.randint(1, 3), depth + 1)
            self.in_step -= 1
            return ("step", body)
        if k < 0.94 and self.procs:
            p = r.choice(self.procs)
            return ("callstmt", p, [self.argument(scope, v, 2) for v in p[1]])
        if k < 0.96:
            return ("assert", ("bin", "||", self.expr(scope, 2), ("bool", 1 if self.tame or r.random() < 0.9 else 0)))
        return ("block", self.block(scope, r.randint(1, 3), depth + 1))


    def switch(self, scope, depth):
        """("switch", value, [(labels, has default, body)]); the last body may end without a jump"""
        r = self.rng
        labels = r.sample([-1, 0, 1, 2, 3, 7], r.randint(1, 5))
        cases, dflt = [], r.random() < 0.6
        while labels or dflt:
            n = r.randint(1, 2)
            mine, labels = labels[:n], labels[n:]
            here = dflt and (not labels or r.random() < 0.3)
            dflt = dflt and not here
            inner = self.block(scope, r.randint(0, 2), depth + 1)
            if r.random() < 0.3:
                inner.insert(0, ("if", self.expr(scope, 1), [("break",)], None))  # before anything hides a name
            inner.append(("continue",) if self.loops and r.random() < 0.2 else ("break",))
            cases.append((mine, here, inner))
        if r.random() < 0.5:
            cases[-1][2].pop()
            cases[-1][2].append(("skip",))
        value = ("bin", "&", self.expr(scope, 2), ("int", 3)) if r.random() < 0.6 else self.expr(scope, 2)
        return ("switch", value, cases)


def text_of(e):
    kind = e[0]
    if kind == "int":
        return str(e[1]) if e[1] >= 0 else f"({e[1]})"
    if kind == "bool":
        return "true" if e[1] else "false"
    if kind == "var":
        return e[1].name
    if kind == "idx":
        return fill_pattern(e[1].pattern, [text_of(e[2])])
    if kind == "at":
        return fill_pattern(e[1].pattern, [text_of(i) for i in e[2]])
    if kind == "ref":
        return fill_pattern(e[1].pattern, [text_of(i) for i in e[2]])
    if kind in ("whole", "refs"):
        return e[1].name + "".join(f"[{text_of(i)}]" for i in e[2])
    if kind == "un":
        return f"{e[1]}({text_of(e[2])})"
    if kind == "bin":
        return f"({text_of(e[2])} {e[1]} {text_of(e[3])})"
    if kind == "cond":
        return f"({text_of(e[1])} ? {text_of(e[2])} : {text_of(e[3])})"
    if kind == "call":
        return f"{e[1][0]}({', '.join(map(text_of, e[2]))})"
    return f"{kind}({', '.join(map(text_of, e[1:]))})"


def lines_of(body, out, ind):
    pad = "  " * ind
    for s in body:
        kind = s[0]
        if kind == "decl":
            init = s[2]
            out.append(pad + s[1].declare(None if init is None else list(map(text_of, init)) if s[1].length
                                          else text_of(init)))
        elif kind == "sdecl":
            init = "" if s[2] is None else " = " + (text_of(("whole", *s[2][1:])) if s[2][0] == "from" else
                                                    braces(s[1].struct, [text_of(e) for e in s[2][1]]))
            out.append(f"{pad}{s[1].declare()}{init};")
        elif kind == "copy":
            out.append(f"{pad}{text_of(('whole', *s[1:3]))} = {text_of(('whole', *s[3:5]))};")
        elif kind == "assign":
            out.append(f"{pad}{text_of(s[1])} = {text_of(s[2])};")
        elif kind == "update":
            out.append(f"{pad}{text_of(s[2])} {s[1]}= {text_of(s[3])};")
        elif kind == "inc":
            out.append(pad + (f"{s[1]}{text_of(s[3])};" if s[2] else f"{text_of(s[3])}{s[1]};"))
        elif kind == "if":
            out.append(f"{pad}if ({text_of(s[1])}) {{")
            lines_of(s[2], out, ind + 1)
            if s[3] is not None:
                out.append(pad + "} else {")
                lines_of(s[3], out, ind + 1)
            out.append(pad + "}")
        elif kind == "repeat":
            out.append(f"{pad}repeat ({text_of(s[1])}) {{")
            lines_of(s[2], out, ind + 1)
            out.append(pad + "}")
        elif kind == "while":
            out.append(f"{pad}int[0..3] {s[1].name} = {s[2]};")
            out.append(f"{pad}while ({s[1].name} > 0 && ({text_of(s[3])} || true)) {{")
            out.append(f"{pad}  {s[1].name}--;")
            lines_of(s[4], out, ind + 1)
            out.append(pad + "}")
        elif kind == "for":
            v = s[1].name
            more = "" if s[4] is None else f" && ({text_of(s[4])} || true)"
            side = "" if s[5] is None else f", {text_of(s[5][1])} = {text_of(s[5][2])}"
            out.append(f"{pad}for (int {v} = {s[2]}; {v} < {s[3]}{more}; {v}++{side}) {{")
            lines_of(s[6], out, ind + 1)
            out.append(pad + "}")
        elif kind == "do":
            out.append(f"{pad}int[0..4] {s[1].name} = {s[2] + 1};")
            out.append(f"{pad}do {{")
            out.append(f"{pad}  {s[1].name}--;")
            lines_of(s[4], out, ind + 1)
            out.append(f"{pad}}} while ({s[1].name} > 0 && ({text_of(s[3])} || true));")
        elif kind == "switch":
            out.append(f"{pad}switch ({text_of(s[1])}) {{")
            for labels, dflt, body in s[2]:
                out.extend(f"{pad}case {n}:" for n in labels)
                if dflt:
                    out.append(pad + "default:")
                lines_of(body, out, ind + 1)
            out.append(pad + "}")
        elif kind in ("atomic", "step", "block"):
            out.append(pad + ("" if kind == "block" else kind + " ") + "{")
            lines_of(s[1], out, ind + 1)
            out.append(pad + "}")
        elif kind == "callstmt":
            out.append(f"{pad}{s[1][0]}({', '.join(map(text_of, s[2]))});")
        elif kind == "return":
            out.append(pad + ("return;" if s[1] is None else f"return {text_of(s[1])};"))
        elif kind == "assert":
            out.append(f"{pad}assert({text_of(s[1])});")
        else:
            out.append(f"{pad}{kind};")


def model_text(g):
    parts = {v for w in g.wholes for v in w.leaves}
    out = [x.text() for x in g.structs] + [w.declare() + ";" for w in g.wholes]
    out += [v.declare() for v in g.globals if v not in parts]
    for name, params, result, body in g.procs:
        head = ", ".join((p.struct.name if isinstance(p, Whole) else p.type()) + f" {'&' if p.ref else ''}{p.name}" for p in params)
        out.append(f"{result.type() if result else 'proc'} {name}({head}) {{")
        lines_of(body, out, 1)
        out.append("}")
    out.append("thread t {")
    lines_of(g.body, out, 1)
    out.append("}")
    return "\n".join(out) + "\n"


# ---- the interpreter ----------------------------------------------------------

class Machine:
    def __init__(self, g):
        self.shared = {v: [v.default()] * max(v.length, 1) for v in g.globals}
        self.steps, self.in_step, self.phase, self.accesses = [], 0, None, 0

    def access(self, mode, v, i, before, after):
        self.accesses += 1
        if self.accesses > MAX_ACCESSES:
            raise TooLong()
        entry = (mode, v.name, i if v.length else None, before, after)
        if self.in_step:
            self.steps[-1].append(entry)
        else:
            self.steps.append([entry])

    def fit(self, v, x):
        if not v.lo <= x <= v.hi:
            raise Fault("range")

    def element(self, v, i):
        if not 0 <= i < max(v.length, 1):
            raise Fault("index")

    def load(self, env, v, i):
        if v in env and isinstance(env[v], Ref):
            return self.load(env[v].env, env[v].target, env[v].base * env[v].part + i)
        self.element(v, i)
        if v.shared:
            x = self.shared[v][i]
            self.access("read", v, i, x, x)
            return x
        return env[v][i]

    def store(self, env, v, i, x):
        if v in env and isinstance(env[v], Ref):
            self.store(env[v].env, env[v].target, env[v].base * env[v].part + i, x)
            return
        if v.boolean:
            x = int(x != 0)
        x = v.wrapped(x)
        if v.shared:
            self.element(v, i)
            self.fit(v, x)
            old = self.shared[v][i]
            self.shared[v][i] = x
            self.access("write", v, i, old, x)
        else:
            self.fit(v, x)
            self.element(v, i)
            env[v][i] = x

    def index(self, env, place):
        if place[0] == "at":
            return self.row(env, place[1].dims, place[2])
        if place[0] == "idx" and isinstance(env.get(place[1]), Ref) and len(self.final(env, place[1]).dims) > 1:
            return self.row(env, place[1].dims, [place[2]])  # one of several indices, the argument's among them
        return self.eval(env, place[2]) if place[0] == "idx" else 0

    def final(self, env, v):
        while isinstance(env.get(v), Ref):
            env, v = env[v].env, env[v].target
        return v

    def argument(self, env, a):
        if a[0] == "ref":
            return Ref(a[1], self.row(env, a[1].dims, a[2]), 1, env)
        if a[0] == "refs":
            at = self.row(env, a[1].dims, a[2])
            return [Ref(v, at, a[1].part(v), env) for v in a[1].leaves]
        return self.elements(env, *a[1:]) if a[0] == "whole" else self.eval(env, a)

    def row(self, env, dims, indices):
        """the number of an element; each index is checked when it has been evaluated"""
        at = 0
        for n, e in zip(dims, indices):
            i = self.eval(env, e)
            if not 0 <= i < n:
                raise Fault("index")
            at = at * n + i
        return at

    def elements(self, env, w, indices):
        """the values of a whole struct, read in order"""
        at = self.row(env, w.dims, indices)
        return [self.load(env, v, at * w.part(v) + j) for v, j in w.pieces()]

    def declare_struct(self, env, w, values=None):
        for v in w.leaves:
            env[v] = [v.default()] * max(v.length, 1)
        for v, j in w.pieces() if values is not None else []:
            self.store(env, v, j, values.pop(0))

    def copy(self, env, to, to_at, source, from_at):
        at, other = self.row(env, to.dims, to_at), self.row(env, source.dims, from_at)
        for (v, j), (u, k) in zip(to.pieces(), source.pieces()):
            self.store(env, v, at * to.part(v) + j, self.load(env, u, other * source.part(u) + k))

    def arith(self, op, a, b):
        if op in ("/", "%"):
            if b == 0:
                raise Fault("division")
            q = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            x = q if op == "/" else a - q * b
        elif op in ("<<", ">>"):
            if not 0 <= b <= 31:
                raise Fault("shift")
            x = a << b if op == "<<" else a >> b
        else:
            x = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "&": lambda: a & b,
                 "|": lambda: a | b, "^": lambda: a ^ b, "==": lambda: int(a == b), "!=": lambda: int(a != b),
                 "<": lambda: int(a < b), "<=": lambda: int(a <= b), ">": lambda: int(a > b),
                 ">=": lambda: int(a >= b)}[op]()
        if not LO <= x <= HI:
            raise Fault("overflow")
        return x

    def eval(self, env, e):
        kind = e[0]
        if kind in ("int", "bool"):
            return e[1]
        if kind in ("var", "idx", "at"):
            return self.load(env, e[1], self.index(env, e))
        if kind == "un":
            a = self.eval(env, e[2])
            if e[1] == "-" and a == LO:
                raise Fault("overflow")
            return {"-": -a, "+": a, "~": ~a, "!": int(not a)}[e[1]]
        if kind == "bin":
            a = self.eval(env, e[2])
            if e[1] == "&&":
                return int(bool(a) and bool(self.eval(env, e[3])))
            if e[1] == "||":
                return int(bool(a) or bool(self.eval(env, e[3])))
            return self.arith(e[1], a, self.eval(env, e[3]))
        if kind == "cond":
            return self.eval(env, e[2] if self.eval(env, e[1]) else e[3])
        if kind == "call":
            return self.call(env, e[1], e[2])
        v, i = e[1][1], self.index(env, e[1])
        args = [self.eval(env, a) for a in e[2:]]
        if v.boolean and kind != "fetch_add":
            args = [int(a != 0) for a in args]
        if kind != "fetch_add":
            args = [v.wrapped(a) for a in args]
        self.element(v, i)
        old = self.shared[v][i]
        if kind == "fetch_add" and v.wrap:  # a step that reads and writes
            self.steps.append([]) if not self.in_step else None
            self.in_step += 1
            old = self.load(env, v, i)
            self.store(env, v, i, self.arith("+", old, args[0]))
            self.in_step -= 1
            return old
        if kind == "cas":
            won = old == args[0]
            if won:
                self.fit(v, args[1])
                self.shared[v][i] = args[1]
            self.access("update" if won else "read", v, i, old, self.shared[v][i])
            return int(won)
        x = args[0] if kind == "exchange" else old + args[0]
        self.fit(v, x)
        self.shared[v][i] = x
        self.access("update", v, i, old, x)
        return old

    def call(self, env, proc, args):
        _, params, result, body = proc
        values = [self.argument(env, a) for a in args]
        inner = {}
        for p, x in zip(params, values):
            if p.ref:
                inner.update(zip(p.leaves, x) if isinstance(p, Whole) else [(p, x)])
                continue
            if isinstance(p, Whole):
                self.declare_struct(inner, p, x)
                continue
            inner[p] = [0]
            self.store(inner, p, 0, x)
        depth = self.in_step
        try:
            self.run(inner, body, result)
        except Jump as j:
            self.in_step = depth
            return j.value
        return 0

    def run(self, env, body, result=None):
        for s in body:
            self.stmt(env, s, result)

    def loop(self, env, body, result):
        """False when the loop is left."""
        depth = self.in_step
        try:
            self.run(env, body, result)
        except Jump as j:
            self.in_step = depth
            if j.kind == "return":
                raise
            return j.kind == "continue"
        return True

    def leave(self):
        self.steps.append([("leave",)] + ([("commit",)] if self.marked and not self.phase else []))
        self.phase, self.in_step = None, 0

    def stmt(self, env, s, result):
        kind = s[0]
        if kind == "decl":
            v, init = s[1], s[2]
            cells = [v.default()] * max(v.length, 1)
            if init is not None and v.length:
                values = [self.eval(env, e) for e in init]
                env[v] = cells
                for i, x in enumerate(values):
                    self.store(env, v, i, x)
            elif init is not None:
                x = self.eval(env, init)
                env[v] = cells
                self.store(env, v, 0, x)
            else:
                env[v] = cells
        elif kind == "sdecl":
            w, init = s[1], s[2]
            values = None if init is None else self.elements(env, *init[1:]) if init[0] == "from" else \
                [self.eval(env, e) for e in init[1]]
            self.declare_struct(env, w, values)
        elif kind == "copy":
            self.copy(env, *s[1:])
        elif kind == "assign":
            i = self.index(env, s[1])
            self.store(env, s[1][1], i, self.eval(env, s[2]))
        elif kind in ("update", "inc"):
            place = s[2] if kind == "update" else s[3]
            i = self.index(env, place)
            old = self.load(env, place[1], i)
            by = self.eval(env, s[3]) if kind == "update" else 1
            self.store(env, place[1], i, self.arith(s[1] if kind == "update" else s[1][0], old, by))
        elif kind == "if":
            if self.eval(env, s[1]):
                self.run(env, s[2], result)
            elif s[3] is not None:
                self.run(env, s[3], result)
        elif kind == "repeat":
            for _ in range(max(self.eval(env, s[1]), 0)):
                if not self.loop(env, s[2], result):
                    break
        elif kind == "while":
            n = s[2]
            while n > 0:
                self.eval(env, s[3])
                n -= 1
                if not self.loop(env, s[4], result):
                    break
        elif kind == "for":
            v = s[1]
            env[v] = [s[2]]
            while env[v][0] < s[3]:
                if s[4] is not None:
                    self.eval(env, s[4])
                if not self.loop(env, s[6], result):
                    break
                self.store(env, v, 0, self.arith("+", env[v][0], 1))
                if s[5] is not None:
                    i = self.index(env, s[5][1])
                    self.store(env, s[5][1][1], i, self.eval(env, s[5][2]))
        elif kind == "do":
            n = s[2] + 1
            while n > 0:
                n -= 1
                if not self.loop(env, s[4], result):
                    break
                if n > 0:
                    self.eval(env, s[3])
        elif kind == "switch":
            x = self.eval(env, s[1])
            body = next((b for labels, _, b in s[2] if x in labels), None)
            if body is None:
                body = next((b for _, dflt, b in s[2] if dflt), [])
            depth = self.in_step
            try:
                self.run(env, body, result)
            except Jump as j:
                if j.kind != "break":
                    raise
                self.in_step = depth
        elif kind == "block":
            self.run(env, s[1], result)
        elif kind == "step":
            if not self.in_step:
                self.steps.append([])
            self.in_step += 1
            self.run(env, s[1], result)
            self.in_step -= 1
        elif kind == "atomic":
            self.phase = False
            self.marked = any(i[0] == "commit" for i in s[1])
            self.steps.append([("enter",)])
            try:
                self.run(env, s[1], result)
            except Jump:
                self.leave()
                raise
            self.leave()
        elif kind == "commit":
            if self.phase:
                raise Fault("commit")
            self.phase = True
            self.steps[-1].append(("commit",))
        elif kind == "callstmt":
            self.call(env, s[1], s[2])
        elif kind == "return":
            x = 0
            if s[1] is not None:
                x = self.eval(env, s[1])
                x = int(x != 0) if result.boolean else result.wrapped(x)
                self.fit(result, x)
            raise Jump("return", x)
        elif kind in ("break", "continue"):
            raise Jump(kind)
        elif kind == "assert":
            if not self.eval(env, s[1]):
                raise Fault("assert")


def interpret(g):
    m, fault = Machine(g), None
    try:
        m.run({}, g.body)
    except Fault as f:
        fault = str(f)
    except Jump:
        pass
    state = {v.name: m.shared[v] if v.length else m.shared[v][0] for v in g.globals}
    return [s for s in m.steps if s], fault, state


# ---- comparing ----------------------------------------------------------------

def plain(x):
    return [plain(y) for y in x] if isinstance(x, list) else int(x)


def observe(text, path):
    Path(path).write_text(text)
    rc, out, err = run([intact, "sim", "--json", "-q", "-n", "100000", path])
    if rc not in (0, 1):
        return None, f"exit {rc}: {err}", None
    d = json.loads(out)
    steps, fault = [], None
    for s in d["steps"]:
        fault = s.get("fault", {}).get("kind")
        entries = [(a["mode"], a["variable"], a.get("index"), plain(a["before"]), plain(a["after"]))
                   for a in s["accesses"]]
        if "entered" in s:
            entries.insert(0, ("enter",))
        if "left" in s:
            entries.insert(0, ("leave",))
        if "committed" in s:
            entries.append(("commit",))
        if entries:
            steps.append(entries)
    return steps, fault, {k: plain(v) for k, v in d["state"]["shared"].items()}


def one(seed, tmp):
    """None, or what is different."""
    for attempt in range(50):
        g = Gen(random.Random(f"{seed} {attempt}"))
        try:
            steps, fault, state = interpret(g)
        except TooLong:
            continue
        break
    else:
        return "no model", ""
    text = model_text(g)
    got_steps, got_fault, got_state = observe(text, os.path.join(tmp, f"m{seed}.atm"))
    if got_steps is None:
        return got_fault, text
    if got_fault != fault:
        return f"fault {got_fault}, expected {fault}", text
    if fault:  # what a step did before it went wrong is not printed
        if steps[:len(got_steps)] != got_steps or len(steps) - len(got_steps) > 1:
            for i, s in enumerate(steps):
                if i >= len(got_steps) or got_steps[i] != s:
                    return f"before the fault, step {i + 1}: {got_steps[i:i + 1]}, expected {s}", text
            return "accesses that were not expected before the fault", text
        return None
    for i in range(max(len(steps), len(got_steps))):
        if steps[i:i + 1] != got_steps[i:i + 1]:
            return f"step {i + 1}: {got_steps[i:i + 1]}, expected {steps[i:i + 1]}", text
    if got_state != state:
        return f"state {got_state}, expected {state}", text
    return None


with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
    print(f"# seeds {seed0} to {seed0 + count - 1}")
    seeds = range(seed0, seed0 + count)
    results = list(zip(seeds, pool.map(lambda s: one(s, tmp), seeds)))
    bad = [(s, r) for s, r in results if r]
    for s, (why, text) in bad[:5]:
        check(f"seed {s}", False, why[:600] + "\n" + text)
    check(f"{count} models run as they should", not bad, f"{len(bad)} differ: {[s for s, _ in bad][:20]}")
done()
