#!/usr/bin/env python3
"""Random models of two or three threads, written twice: with the words below, and without them.

Each statement is generated as a pair of texts: the word, and what docs/language.md says that it means, spelt out with
while, if, step, assume, arrays and locks. The verdict of each block and of the program, the kind of problem, and the
answers of the engines that search (commit, exact) must be the same. Reduction and causal may prove more of the one than
of the other, since the other has locals that they do not follow; what they prove must be so.

Usage: test_words.py INTACT [COUNT [SEED]]      (TAP on stdout; COUNT 40 of each kind)
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


def same(text):
    return text, text


def join(pairs):
    pairs = list(pairs)
    return " ".join(p[0] for p in pairs), " ".join(p[1] for p in pairs)


class Gen:
    """Models over x0, x1 (three values), a lock l and locals; subclasses add a word each."""
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
        many = 1 + (r.random() < 0.25 and self.threads < 2)
        self.threads += many
        parts = [same(f"thread {name} * {many} {{ int[0..2] t = 0;"), self.locals()]
        if r.random() < 0.3:
            parts.append(self.stmt())
        for _ in range(r.choice([1, 1, 2])):
            parts += [same(f"\n  atomic {self.fresh('b')} {{"), join(self.stmt() for _ in range(r.randint(1, 2))), same("}")]
            if r.random() < 0.3:
                parts.append(self.stmt())
        parts.append(same("\n}\n"))
        return join(parts)

    def model(self):
        threads = [self.thread(f"p{i}") for i in range(2)]
        if self.threads == 2 and self.rng.random() < 0.25:
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
        i, bound, a = self.fresh("i"), r.randint(1, 2), self.some(2)
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


KINDS = [Control, Semaphore, Rwlock, Cond, Barrier, Once]


# ---- comparing ----------------------------------------------------------------

def verdicts(text, path):
    Path(path).write_text(text)
    rc, out, err = run([intact, "check", "--json", "-q", "--engine=all", "--max-states=40000", path])
    if rc not in (0, 1, 3):
        return f"exit {rc}: {err}"
    d = json.loads(out)
    rows = [(r.get("block", "program"), r["verdict"], r["problem"], {a["engine"]: a["verdict"] for a in r.get("attempts", [])})
            for r in d["results"]]
    for block, verdict, _, attempts in rows:
        if verdict == "violated" and "holds" in attempts.values():
            return f"an engine proves {block}, which is violated: {attempts}"
    search = [(b, v, p, [(e, a[e]) for e in ("commit", "exact") if e in a]) for b, v, p, a in rows]
    return d["verdict"], search


def agree(a, b):
    """Equal, except for what a limit left undecided."""
    if "unknown" in (a, b):
        return True
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


with tempfile.TemporaryDirectory() as tmp, ThreadPoolExecutor(2) as pool:
    print(f"# seeds {seed0} to {seed0 + count - 1}")
    for kind in KINDS:
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
