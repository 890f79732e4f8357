#!/usr/bin/env python3
"""Random models of two or three threads, written twice: with the words below, and without them.

Each statement is generated as a pair of texts: the word, and what docs/language.md says that it means, spelt out with
while, if, step, assume, arrays and locks. All engines must say the same about both: the verdict of each block and of the
program, the kind of problem, the answer of each engine.

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
        self.rng, self.names = rng, 0

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
        if k < 0.35:
            return same(f"{r.choice(['x0', 'x1', 't'])} = ({self.value()} + {self.value()}) % 3;")
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

    def stmt(self):
        return self.word() if self.rng.random() < 0.6 else self.plain()

    def thread(self, name):
        r = self.rng
        sugar, plain = f"thread {name}", ""
        if r.random() < 0.25:
            sugar += " * 2"
        parts = [same(sugar + " { int[0..2] t = 0;")]
        if r.random() < 0.3:
            parts.append(self.stmt())
        for _ in range(r.choice([1, 1, 2])):
            parts += [same(f"\n  atomic {self.fresh('b')} {{"), join(self.stmt() for _ in range(r.randint(1, 2))), same("}")]
            if r.random() < 0.3:
                parts.append(self.stmt())
        parts.append(same("\n}\n"))
        return join(parts)

    def model(self):
        threads = [self.thread(f"p{i}") for i in range(2 if self.rng.random() < 0.8 else 3)]
        return join([same("int[0..2] x0, x1;\nlock l;\n"), self.declarations(), *threads])


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


KINDS = [Control]


# ---- comparing ----------------------------------------------------------------

def verdicts(text, path):
    Path(path).write_text(text)
    rc, out, err = run([intact, "check", "--json", "-q", "--engine=all", "--max-states=40000", path])
    if rc not in (0, 1, 3):
        return f"exit {rc}: {err}"
    d = json.loads(out)
    rows = [(r.get("block", "program"), r["verdict"], r["problem"], [(a["engine"], a["verdict"]) for a in r.get("attempts", [])])
            for r in d["results"]]
    return d["verdict"], rows


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
    return agree(got, want) if "unknown" in (got[0], want[0]) else got == want


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
        said = {w[0] for _, (w, _) in results}
        check(f"{kind.__doc__}: some hold and some do not", {"holds", "violated"} <= said or count < 30, str(said))
done()
