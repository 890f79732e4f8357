#!/usr/bin/env python3
"""Random models of two or three threads, written twice: with the words below, and without them.

Each statement is generated as a pair of texts: the word, and what docs/language.md says that it means, spelt out with
while, if, step, assume, arrays and locks. The verdict of each block and of the program, the kind of problem, and the
answers of the engines that search (commit, exact) must be the same. Reduction and causal may prove more of the one than
of the other, since the other has locals that they do not follow; what they prove must be so.

Usage: test_words.py INTACT [COUNT [SEED [KIND,...]]]      (TAP on stdout; COUNT 40 of each kind; Pool, Ghost, ..., Properties)
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
count = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("WORDS_COUNT", "40"))
seed0 = int(sys.argv[3]) if len(sys.argv) > 3 else 1
only = sys.argv[4].split(",") if len(sys.argv) > 4 else None


def same(text):
    return text, text


def join(pairs):
    pairs = list(pairs)
    return " ".join(p[0] for p in pairs), " ".join(p[1] for p in pairs)


class Gen:
    """Models over x0, x1 (three values), a lock l and locals; subclasses add a word each."""
    small = False  # its words are many steps

    def __init__(self, rng):
        self.rng, self.names, self.threads = rng, 0, 0

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    def value(self):
        return self.rng.choice(["x0", "x1", "x0", "x1", "t", "0", "1", "2"])

    def cond(self):
        return f"{self.rng.choice(['x0', 'x1', 't'])} {self.rng.choice(['==', '!=', '<'])} {self.rng.randint(0, 2)}"

    def plain(self):
        r = self.rng
        k = r.random()
        if k < 0.35:  # not t: whether a sum that nobody uses is kept across a step depends on the registers around it
            return same(f"{r.choice(['x0', 'x1'])} = ({self.value()} + {self.value()}) % 3;")
        if k < 0.5:
            return same(f"t = {r.choice(['x0', 'x1'])};")
        if k < 0.6:
            return same(f"cas(x{r.randint(0, 1)}, {r.randint(0, 2)}, {r.randint(0, 2)});")
        if k < 0.7:
            return same(f"acquire(l); x0 = {self.value()}; x1 = {self.value()}; release(l);")
        return same(f"x{r.randint(0, 1)} = {r.randint(0, 2)};")

    def some(self, n):
        return join(self.plain() for _ in range(self.rng.randint(1, n)))

    def word(self):
        raise NotImplementedError

    def declarations(self):
        return "", ""

    def locals(self):
        return "", ""

    def stmt(self):
        return self.word() if self.rng.random() < 0.6 else self.plain()

    def thread(self, name):
        r = self.rng
        many = 1 + (r.random() < 0.25 and self.threads < 2 and not self.small)
        self.threads += many
        parts = [same(f"thread {name} * {many} {{ int[0..2] t = 0;"), self.locals()]
        if r.random() < 0.3:
            parts.append(self.stmt())
        for _ in range(r.choice([1, 1, 2])):
            parts += [same(f"\n  atomic {self.fresh('b')} {{"), join(self.stmt() for _ in range(1 if self.small else r.randint(1, 2))), same("}")]
            if r.random() < 0.3:
                parts.append(self.stmt())
        parts.append(same("\n}\n"))
        return join(parts)

    def model(self):
        threads = [self.thread(f"p{i}") for i in range(2)]
        if self.threads == 2 and not self.small and self.rng.random() < 0.25:
            threads.append(self.thread("p2"))
        both = join([same("int[0..2] x0, x1;\nlock l;\n"), self.declarations(), *threads])
        return both[0], both[1].replace("@T@", str(self.threads))


class Control(Gen):
    """for, do, switch"""
    def word(self):
        r = self.rng
        k = r.random()
        if k < 0.4:
            return self.loop()
        a, b, c = self.some(2), self.some(1), self.some(1)
        if k < 0.6:
            e = self.cond()
            n = self.fresh("n")  # a bound, so that the model stays small
            head = f"int[0..2] {n} = 0;"
            return (f"{{ {head} do {{ {a[0]} {n}++; }} while ({n} < 2 && {e}); }}",
                    f"{{ {head} while (true) {{ {a[1]} {n}++; if (!({n} < 2 && {e})) break; }} }}")
        v, n, e = self.value(), self.fresh("n"), self.cond()
        early = r.random() < 0.3
        first = (f"if ({e}) break; {a[0]}", f"if (!({e})) {{ {a[1]} }}") if early else a
        last = r.random() < 0.5
        return (f"switch ({v}) {{ case 0: {first[0]} break; case 2: case 1 + 3: {b[0]} break; "
                + (f"default: {c[0]}" if last else "default: break;") + " }",
                f"{{ int {n} = {v}; if ({n} == 0) {{ {first[1]} }} else if ({n} == 2 || {n} == 4) {{ {b[1]} }} "
                + (f"else {{ {c[1]} }}" if last else "") + " }")

    def loop(self):
        r = self.rng
        i, bound, a = self.fresh("at"), r.randint(1, 2), self.some(2)
        head, test = f"int[0..2] {i} = 0;", f"{i} < {bound}"
        jump = ("", "")
        if r.random() < 0.5:
            e = self.cond()
            jump = (f"if ({e}) continue;", f"if ({e}) {{ {i}++; x0 = {i}; continue; }}")
        return (f"for ({head} {test}; {i}++, x0 = {i}) {{ {jump[0]} {a[0]} }}",
                f"{{ {head} while ({test}) {{ {jump[1]} {a[1]} {i}++; x0 = {i}; }} }}")


class Semaphore(Gen):
    """semaphore"""
    def declarations(self):
        n = self.rng.choice([1, 1, 1, 0, 2])
        return f"semaphore s = {n};\n", f"int[0..2147483647] s = {n};\n"

    def wait(self):
        return "wait(s);", "step { assume(s > 0); s = s - 1; }"

    def post(self):
        return "post(s);", "fetch_add(s, 1);"

    def word(self):
        k = self.rng.random()
        a = self.some(2)
        if k < 0.6:
            return join([self.wait(), a, self.post()])
        if k < 0.85:
            w = self.fresh("w")
            post = self.post()
            return (f"if (trywait(s)) {{ {a[0]} {post[0]} }}",
                    f"{{ bool {w} = false; step {{ {w} = s > 0; if ({w}) s = s - 1; }} if ({w}) {{ {a[1]} {post[1]} }} }}")
        return self.rng.choice([self.wait(), self.post()])


class Rwlock(Gen):
    """rwlock"""
    def declarations(self):
        return "rwlock r;\n", "int[-1..65535] r;\n"

    def locals(self):
        return "", "int[-1..4] h = 0;"

    def word(self):
        read = "acquire_read(r);", "step { assume(r >= 0); r = r + 1; h = h + 1; }"
        write = "acquire_write(r);", "step { assume(r == 0); r = -1; h = -1; }"
        release = "release(r);", "step { assert(h != 0); if (h < 0) { r = 0; h = 0; } else { r = r - 1; h = h - 1; } }"
        k = self.rng.random()
        if k < 0.5:
            return join([write, self.some(2), release])
        if k < 0.85:
            return join([read, same(self.rng.choice(["t = x0; t = x1;", "t = x0;", "x1 = 1;"])), release])
        if k < 0.93:
            return join([read, read, same("t = x0;"), release, release])
        return self.rng.choice([release, join([read, write]), read])


class Cond(Gen):
    """cond"""
    def __init__(self, rng):
        super().__init__(rng)
        self.spurious = rng.random() < 0.3

    def declarations(self):
        return ("spurious " if self.spurious else "") + "cond c;\n", "enum place { free, waiting, woken };\nplace c[@T@];\n"

    def wait(self):
        k = self.fresh("k")
        woken = "" if self.spurious else f"assume(c[{k}] == woken);"
        return ("wait(c, l);",
                f"{{ int[0..@T@] {k} = 0; step {{ release(l); while (c[{k}] != free) {k}++; c[{k}] = waiting; }}"
                f" step {{ {woken} c[{k}] = free; }} acquire(l); }}")

    def signal(self):
        k = self.fresh("k")
        if self.rng.random() < 0.3:
            return ("broadcast(c);",
                    f"step {{ int[0..@T@] {k} = 0; while ({k} < @T@) {{ if (c[{k}] == waiting) c[{k}] = woken; {k}++; }} }}")
        return ("signal(c);",
                f"step {{ int[0..@T@] {k} = 0; while ({k} < @T@ && c[{k}] != waiting) {k}++;"
                f" if ({k} < @T@) {{ {k} = any(0..@T@ - 1); assume(c[{k}] == waiting); c[{k}] = woken; }} }}")

    def word(self):
        r = self.rng
        k = r.random()
        v = r.choice(["x0", "x1"])
        a = same(f"{v} = {r.randint(0, 2)};")
        if k < 0.45:
            wait = self.wait()
            loop = r.choice(["while", "if"])
            n = r.randint(0, 1)
            return join([same(f"acquire(l); {loop} ({v} == {n})"), wait, a, same("release(l);")])
        if k < 0.9:
            parts = [same("acquire(l);"), a, self.signal(), same("release(l);")]
            if r.random() < 0.3:
                parts[2], parts[3] = parts[3], parts[2]
            return join(parts)
        return self.wait() if k < 0.93 else self.signal()


class Barrier(Cond):
    """barrier"""
    def declarations(self):
        n = self.rng.choice([2, 2, 1, 3])
        return f"barrier b = {n};\n", f"enum place {{ free, waiting, woken }};\nplace b[@T@];\nconst N = {n};\n"

    def word(self):
        if self.rng.random() < 0.3:
            return self.some(2)
        k, n, full = self.fresh("k"), self.fresh("n"), self.fresh("full")
        return ("wait(b);",
                f"{{ int[0..@T@] {k} = 0; int[0..@T@] {n} = 1; bool {full} = false; step {{"
                f" while ({k} < @T@) {{ if (b[{k}] == waiting) {n}++; {k}++; }} {full} = {n} == N; {k} = 0;"
                f" if ({full}) {{ while ({k} < @T@) {{ if (b[{k}] == waiting) b[{k}] = woken; {k}++; }} }}"
                f" else {{ while (b[{k}] != free) {k}++; b[{k}] = waiting; }} }}"
                f" if (!{full}) step {{ assume(b[{k}] == woken); b[{k}] = free; }} }}")


class Once(Gen):
    """once"""
    def declarations(self):
        body = self.some(2)[0].replace("t", "x0").replace("acquire(l);", "").replace("release(l);", "")
        init = f"proc init() {{ {body} }}\n"
        return "once o;\n" + init, "enum once_state { idle, running, done };\nonce_state o;\n" + init

    def word(self):
        k = self.fresh("k")
        return ("call_once(o, init);",
                f"{{ once_state {k} = idle; step {{ {k} = o; assume({k} != running); if ({k} == idle) o = running; }}"
                f" if ({k} == idle) {{ init(); o = done; }} }}")


class Shapes(Gen):
    """struct, arrays of several dimensions"""
    small = True

    def declarations(self):
        return ("struct pair { int[0..2] a, b[2]; };\nstruct cell { pair in; lock m; };\n"
                "cell s[2] = { { .in = { 1, { 0, 2 } } } };\npair q = { .b = { 1 } };\nint[0..2] g[2][2] = { { 0, 1 }, { 2 } };\n"
                "proc take(pair p) { x0 = p.a; x1 = p.b[1]; }\n",
                "int[0..2] sa[2] = { 1 }, sb[4] = { 0, 2 }, qa, qb[2] = { 1 }, g[4] = { 0, 1, 2 };\nlock sm[2];\n"
                "proc take(int[0..2] a, int[0..2] b, int[0..2] c) { x0 = a; x1 = c; }\n")

    def scalar(self):
        """a place, one spelling each"""
        r = self.rng
        i, j = r.choice("01"), r.choice("01")
        if r.random() < 0.3:
            return f"g[t % 2][{j}]", f"g[t % 2 * 2 + {j}]"
        return r.choice([(f"s[{i}].in.a", f"sa[{i}]"), (f"s[{i}].in.b[{j}]", f"sb[{i} * 2 + {j}]"), ("q.a", "qa"),
                         (f"q.b[{i}]", f"qb[{i}]"), (f"g[{i}][{j}]", f"g[{i} * 2 + {j}]")])

    def word(self):
        r = self.rng
        k, i = r.random(), r.randint(0, 1)
        a, b = self.scalar(), self.scalar()
        if k < 0.2:
            return (f"q = s[{i}].in;", f"qa = sa[{i}]; qb[0] = sb[{2 * i}]; qb[1] = sb[{2 * i + 1}];")
        if k < 0.4:
            n = self.fresh("n")
            copy = (f"s[{i}].in = q;", f"sa[{i}] = qa; sb[{2 * i}] = qb[0]; sb[{2 * i + 1}] = qb[1];")
            if r.random() < 0.5:
                copy = (f"{{ pair {n} = q; {n}.a = 2; q = {n}; }}",
                        f"{{ int[0..2] {n}a = qa; int[0..2] {n}b[2] = {{ qb[0], qb[1] }}; {n}a = 2;"
                        f" qa = {n}a; qb[0] = {n}b[0]; qb[1] = {n}b[1]; }}")
            return join([(f"acquire(s[{i}].m);", f"acquire(sm[{i}]);"), copy, (f"release(s[{i}].m);", f"release(sm[{i}]);")])
        if k < 0.5:
            return f"take(s[{i}].in);", f"take(sa[{i}], sb[{2 * i}], sb[{2 * i + 1}]);"
        if k < 0.6:
            return join([same("cas("), a, same(f", {r.randint(0, 2)}, {r.randint(0, 2)});")])
        if k < 0.8:
            return join([a, same(" = "), b, same(";")])
        return join([a, same(f" = ({self.value()} + "), b, same(") % 3;")])


class References(Shapes):
    """parameters passed by reference"""
    def declarations(self):
        a, b = super().declarations()
        procs = ("proc put(lock &k, pair &p, int[0..2] v) { acquire(k); p.a = v; p.b[v % 2] = p.a; release(k); }\n"
                 "proc both(int[0..2] &r[2], int[0..2] &v) { v = r[1]; r[0] = 1; cas(v, 1, 2); }\n"
                 "int[0..2] bump(int[0..2] &v) { v = (v + 1) % 3; return v; }\n")
        return a + procs, b

    def word(self):
        r = self.rng
        k, i, v = r.random(), r.randint(0, 1), self.value()
        n = self.fresh("n")
        if k < 0.35:
            return (f"put(s[{i}].m, s[{i}].in, {v});",
                    f"{{ int[0..2] {n} = {v}; acquire(sm[{i}]); sa[{i}] = {n}; sb[{i} * 2 + {n} % 2] = sa[{i}]; release(sm[{i}]); }}")
        if k < 0.6:
            row = r.choice([(f"g[{i}]", "g", 2 * i), ("q.b", "qb", 0), (f"s[{i}].in.b", "sb", 2 * i)])
            x = r.choice(["x0", "x1"])
            return f"both({row[0]}, {x});", f"{x} = {row[1]}[{row[2] + 1}]; {row[1]}[{row[2]}] = 1; cas({x}, 1, 2);"
        if k < 0.8:
            place = self.scalar()
            x = r.choice(["x0", "x1"])
            # the index is evaluated once, in the call
            index = place[1].replace("t % 2", n)
            return (f"{x} = (t + bump({place[0]}) + bump(t)) % 3;",
                    f"{{ int[0..1] {n} = t % 2; int[0..2] {n}t = t; {index} = ({index} + 1) % 3; int[0..2] {n}v = {index};"
                    f" t = (t + 1) % 3; {x} = ({n}t + {n}v + t) % 3; }}")
        return super().word()


class Sized(Gen):
    """types that wrap"""
    def declarations(self):
        return "wrap int[0..2] w = 2;\nwrap int[-1..1] v;\n", "int[0..2] w = 2;\nint[-1..1] v;\n"

    def word(self):
        r = self.rng
        k = r.random()
        e = f"{r.choice(['w', 'v', 'x0', 't'])} {r.choice('+-')} {r.randint(1, 4)}"
        x = r.choice(["x0", "x1"])
        if k < 0.35:
            return f"w = {e};", f"w = (({e}) % 3 + 3) % 3;"
        if k < 0.6:
            return f"v = {e};", f"v = (({e} + 1) % 3 + 3) % 3 - 1;"
        if k < 0.8:
            n, by = self.fresh("n"), r.randint(-2, 2)
            return (f"if (fetch_add(w, {by}) == 1) {x} = 1;",
                    f"{{ int[0..2] {n} = 0; step {{ {n} = w; w = ({n} + {by} + 3) % 3; }} if ({n} == 1) {x} = 1; }}")
        return r.choice([("w++;", "w = (w + 1) % 3;"), ("v--;", "v = (v + 3) % 3 - 1;"), (f"cas(w, 3, {x} + 2);", f"cas(w, 0, ({x} + 2) % 3);")])


class Channel(Gen):
    """chan"""
    small = True

    def __init__(self, rng):
        super().__init__(rng)
        self.holds = rng.choice([1, 2, 2])

    def declarations(self):
        n = self.holds
        return (f"chan int[0..2] c[{n}];\nchan bool d[2][1];\n"
                "proc pass(chan int[0..2] &k[" + str(n) + "], int[0..2] v) { send(k, v); }\n",
                f"int[0..2] c[{n}];\nint[0..{n}] cn;\nbool d[2];\nint[0..1] dn[2];\n")

    def take(self, to):
        """receiving from c, without the waiting"""
        move = " ".join(f"c[{i}] = c[{i + 1}];" for i in range(self.holds - 1))
        return f"{to} = c[0]; {move} c[{self.holds - 1}] = 0; cn = cn - 1;"

    def word(self):
        r = self.rng
        k, v, i = r.random(), self.value(), r.randint(0, 1)
        n, x = self.fresh("n"), r.choice(["x0", "x1", "t"])
        if k < 0.25:
            word = r.choice([f"send(c, {v});", f"pass(c, {v});"])
            return word, f"{{ int[0..2] {n} = {v}; step {{ assume(cn < {self.holds}); c[cn] = {n}; cn = cn + 1; }} }}"
        if k < 0.5:
            return f"{x} = recv(c);", f"{{ int[0..2] {n} = 0; step {{ assume(cn > 0); {self.take(n)} }} {x} = {n}; }}"
        if k < 0.65:
            return (f"if (try_send(c, {v})) x0 = 1;",
                    f"{{ int[0..2] {n} = {v}; bool {n}b = false; step {{ {n}b = cn < {self.holds};"
                    f" if ({n}b) {{ c[cn] = {n}; cn = cn + 1; }} }} if ({n}b) x0 = 1; }}")
        if k < 0.8:
            return (f"if (try_recv(c, {x})) x1 = 2;",
                    f"{{ int[0..2] {n} = 0; bool {n}b = false; step {{ {n}b = cn > 0; if ({n}b) {{ {self.take(n)} }} }}"
                    f" if ({n}b) {{ {x} = {n}; x1 = 2; }} }}")
        if k < 0.9:
            return f"send(d[{i}], true);", f"step {{ assume(dn[{i}] == 0); d[{i}] = true; dn[{i}] = 1; }}"
        return (f"if (recv(d[{i}])) x0 = 2;",
                f"{{ bool {n} = false; step {{ assume(dn[{i}] == 1); {n} = d[{i}]; d[{i}] = false; dn[{i}] = 0; }} if ({n}) x0 = 2; }}")


class Pool(Gen):
    """pool"""
    small = True
    LIVE = "assert(cs[{0} - 1] == 1);"

    def declarations(self):
        return ("pool cell[2] { int[0..2] v; cell next; };\ncell s;\nalways leaked(cell) <= 2;\n",
                "int[0..2] cs[2], cv[2], cn[2];\nint[0..2] s;\n")

    def locals(self):
        return "cell n = null;", "int[0..2] n = 0;"

    def alloc(self, tries):
        k = self.fresh("k")
        pick = f"{k} = any(0..1); assume(cs[{k}] == 2 || (cs[{k}] == 0 && ({k} == 0 || cs[0] != 0))); cs[{k}] = 1;"
        if tries:
            return ("n = try_alloc(cell);",
                    f"{{ int[0..1] {k} = 0; bool {k}b = false; step {{ {k}b = cs[0] != 1 || cs[1] != 1; if ({k}b) {{ {pick} }} }}"
                    f" n = {k}b ? {k} + 1 : 0; }}")
        return ("n = alloc(cell);",
                f"{{ int[0..1] {k} = 0; step {{ assert(cs[0] != 1 || cs[1] != 1); {pick} }} n = {k} + 1; }}")

    def access(self, ref, load, write):
        """of a field of the cell that `ref` refers to, `load` the step that reads it when it is shared"""
        r = self.rng
        field, array = r.choice([("v", "cv"), ("next", "cn")])
        q = self.fresh("q")
        head = f"int[0..2] {q} = {ref}; assert({q} != 0);"
        if write and field == "v":
            e = r.choice(["0", "1", "2", "t"])
            return f"{ref}.v = {e};", f"{{ {head} step {{ {self.LIVE.format(q)} cv[{q} - 1] = {e}; }} }}"
        if write:
            return f"{ref}.next = n;", f"{{ {head} step {{ {self.LIVE.format(q)} cn[{q} - 1] = n; }} }}"
        to = "t" if field == "v" else "n"
        return (f"{to} = {ref}.{field};",
                f"{{ {head} int[0..2] {q}v = 0; step {{ {self.LIVE.format(q)} {q}v = {array}[{q} - 1]; }} {to} = {q}v; }}")

    def word(self):
        r = self.rng
        k = r.random()
        if k < 0.25:
            return self.alloc(r.random() < 0.5)
        if k < 0.4:
            return "free(n);", f"step {{ if (n != 0) {{ {self.LIVE.format('n')} cs[n - 1] = 2; cv[n - 1] = 0; cn[n - 1] = 0; }} }}"
        if k < 0.5:
            return same(r.choice(["n = s;", "s = n;"]))
        if k < 0.6:
            return "cas(s, null, n);", "cas(s, 0, n);"
        if k < 0.65:
            return "n = exchange(s, null);", "n = exchange(s, 0);"
        a = self.access("n", "", r.random() < 0.5) if k < 0.9 else self.access("s", "", r.random() < 0.5)
        if k < 0.9 and r.random() < 0.85:
            return f"if (n != null) {{ {a[0]} }}", f"if (n != 0) {{ {a[1]} }}"
        return a


class Ghost(Gen):
    """ghost"""
    def declarations(self):
        return "ghost int[0..2] g, h[2];\n", "int[0..2] g, h[2];\n"

    def word(self):
        r = self.rng
        e = r.choice(["0", "1", "t", "(g + 1) % 3", "h[0]", "h[t % 2]"])
        to = r.choice(["g", "h[0]", "h[t % 2]"])
        a = f"{to} = {e};"
        x, k = r.choice(["x0", "x1"]), r.random()
        if k < 0.4:
            return (lambda s: (f"{s} {a}", f"step {{ {s} {a} }}"))(f"{x} = {r.randint(0, 2)};")
        if k < 0.6:
            return f"t = {x}; {a}", f"step {{ t = {x}; {a} }}"
        if k < 0.75:
            w = self.fresh("w")
            return (f"{{ bool {w} = cas({x}, 0, 1); if ({w}) {{ {a} }} }}",
                    f"{{ bool {w} = false; step {{ {w} = {x} == 0; if ({w}) {{ {x} = 1; {a} }} }} }}")
        if k < 0.9:
            return f"acquire(l); {a} release(l); g = 0;", f"step {{ acquire(l); {a} }} step {{ release(l); g = 0; }}"
        return f"{x} = 1; {a} h[1] = g;", f"step {{ {x} = 1; {a} h[1] = g; }}"


class ThreadLocal(Gen):
    """thread_local"""
    def declarations(self):
        return "thread_local int[0..2] m = 1, k[2] = { 0, 2 };\nproc bump() { m = (m + 1) % 3; k[m % 2] = m; }\n", ""

    def locals(self):
        return "", "int[0..2] m = 1; int[0..2] k[2] = { 0, 2 };"

    def word(self):
        x = self.rng.choice(["x0", "x1"])
        if self.rng.random() < 0.4:
            return "bump();", "m = (m + 1) % 3; k[m % 2] = m;"
        return same(self.rng.choice([f"{x} = m;", f"m = {x};", f"if ({x} == m) {x} = k[1];", f"k[0] = {x}; {x} = k[m % 2];"]))


KINDS = [Control, Semaphore, Rwlock, Cond, Barrier, Once, Shapes, References, Sized, Channel, Pool, Ghost, ThreadLocal]


# ---- comparing ----------------------------------------------------------------

def verdicts(text, path):
    Path(path).write_text(text)
    rc, out, err = run([intact, "check", "--json", "-q", "--engine=all", "--max-states=40000", path])
    if rc not in (0, 1, 3):
        return f"exit {rc}: {err}"
    d = json.loads(out)
    rows = [(r.get("block", "program"), r["verdict"], r["problem"], {a["engine"]: a["verdict"] for a in r.get("attempts", [])})
            for r in d["results"] if "property" not in r]
    for block, verdict, _, attempts in rows:
        if verdict == "violated" and "holds" in attempts.values():
            return f"an engine proves {block}, which is violated: {attempts}"
    search = [(b, v, p, [(e, a[e]) for e in ("commit", "exact") if e in a]) for b, v, p, a in rows]
    return d["verdict"], search


def agree(a, b):
    """Equal, except for what a limit left undecided."""
    if "unknown" in (a, b):
        return True
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) == 4 and "unknown" in (a[1], b[1]):
        return a[0] == b[0]  # the row of a block: no verdict, so no problem
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return len(a) == len(b) and all(agree(x, y) for x, y in zip(a, b))
    return a == b


def matches(got, want):
    if isinstance(got, str) or isinstance(want, str):
        return False  # an error
    return agree(got, want)


def one(kind, seed, tmp):
    g = kind(random.Random(f"{kind.__name__} {seed}"))
    sugar, plain = g.model()
    path = os.path.join(tmp, f"{kind.__name__}{seed}")
    got, want = verdicts(sugar, path + ".atm"), verdicts(plain, path + "-plain.atm")
    return want, None if matches(got, want) else f"{got}\nexpected {want}\n{sugar}\n{plain}"


# ---- conditions on states -------------------------------------------------------

class Plain(Gen):
    """Threads that count when they end; with `fin` it is seen that all have."""
    def word(self):
        return self.plain()

    def thread(self, name):
        text = super().thread(name)[0]
        return same(text[:text.rindex("}")] + "fetch_add(fin, 1);\n}\n")


def condition(rng):
    def one():
        return f"{rng.choice(['x0', 'x1', 'x0 + x1', 'x0 * x1'])} {rng.choice(['==', '!=', '<=', '>', '<='])} {rng.randint(0, 3)}"
    return one() if rng.random() < 0.4 else f"({one()}) {rng.choice(['&&', '||'])} ({one()})"


def property_case(seed, tmp):
    """always and finally against a thread that looks at a moment of its own; all three against verify, which searches by itself."""
    rng = random.Random(f"properties {seed}")
    g = Plain(rng)
    text = "int[0..9] fin;\n" + g.model()[0]
    conds = {kind: condition(rng) for kind in ("always", "finally", "can always reach")}
    path = os.path.join(tmp, f"properties{seed}.atm")
    Path(path).write_text(text + "".join(f"{k} {e};\n" for k, e in conds.items()))
    rc, out, err = run([intact, "check", "--json", "-q", "--max-states=40000", path])
    if rc not in (0, 1, 3):
        return None, f"exit {rc}: {err}\n{text}"
    Path(path + ".json").write_text(out)
    said = {k: r["verdict"] for r in json.loads(out)["results"] for k in conds if r.get("property", "").startswith(k + " ")}
    vrc, vout, verr = run([intact, "verify", path + ".json"])
    if vrc not in (0, 3) or "rejected:" in vout:
        return said, f"verify: exit {vrc}\n{vout}{verr}{Path(path).read_text()}"
    for kind, when in (("always", ""), ("finally", f"assume(fin == {g.threads}); ")):
        Path(path).write_text(text + f"thread watcher {{ step {{ {when}assert({conds[kind]}); }} }}\n")
        rc, out, err = run([intact, "check", "--faults", "--json", "-q", path])
        want = {0: "holds", 1: "violated"}.get(rc, f"exit {rc}: {err}")
        if said[kind] != want and not (said[kind] == "unknown" and (kind == "finally" or rc == 3)):
            return said, f"{kind}: {said[kind]}, and by a thread that looks: {want}\n{text}\n{conds}"
        if kind == "finally" and said[kind] == "unknown" and want == "violated":
            return said, f"finally: unknown, but a thread sees that it does not hold\n{text}\n{conds}"
    return said, None


def properties(tmp, pool):
    seeds = range(seed0, seed0 + count)
    results = list(zip(seeds, pool.map(lambda s: property_case(s, tmp), seeds)))
    bad = [(s, why) for s, (_, why) in results if why]
    for s, why in bad[:3]:
        print("# seed", s, "\n# " + why[:3000].replace("\n", "\n# "))
    check(f"conditions on states: {count} models are judged as a thread that looks and as verify judge them", not bad,
          f"{len(bad)} differ: {[s for s, _ in bad][:20]}")
    for kind in ("always", "finally", "can always reach"):
        verdicts = {said[kind] for _, (said, _) in results if said}
        check(f"{kind}: some hold and some do not", {"holds", "violated"} <= verdicts or count < 30, str(verdicts))


with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
    if not only or "Properties" in only:
        properties(tmp, pool)
    print(f"# seeds {seed0} to {seed0 + count - 1}")
    for kind in [k for k in KINDS if not only or k.__name__ in only]:
        seeds = range(seed0, seed0 + count)
        results = list(zip(seeds, pool.map(lambda s: one(kind, s, tmp), seeds)))
        bad = [(s, why) for s, (_, why) in results if why]
        for s, why in bad[:3]:
            print("# seed", s, "\n# " + why[:3000].replace("\n", "\n# "))
        check(f"{kind.__doc__}: {count} models mean what their spelling in other words means", not bad,
              f"{len(bad)} differ: {[s for s, _ in bad][:20]}")
        decided = sum(all(v != "unknown" for _, v, _, _ in w[1]) for _, (w, why) in results if not why)
        check(f"{kind.__doc__}: most are decided within the limit", decided * 4 >= count * 3 or count < 30, f"{decided} of {count}")
        said = {w[0] for _, (w, _) in results}
        check(f"{kind.__doc__}: some hold and some do not", {"holds", "violated"} <= said or count < 30, str(said))
done()
