#!/usr/bin/env python3
"""A model of THREADS threads with STATEMENTS statements in all: blocks that take
one to three of LOCKS locks (in order), change what they protect and free them; some
locks are coded by hand; every 50th block does not reduce when --broken is given.

    ladder_model.py THREADS STATEMENTS [LOCKS] [--broken]
"""
import random
import sys


def main():
    args = [a for a in sys.argv[1:] if a != "--broken"]
    broken = "--broken" in sys.argv
    threads, statements = int(args[0]), int(args[1])
    locks = int(args[2]) if len(args) > 2 else 50
    rng = random.Random(7)
    out = [f"lock l{i}; int[0..3] x{i}; int[0..3] y{i};" if i % 5 else f"bool m{i}; int[0..3] x{i}; int[0..3] y{i};"
           for i in range(locks)]
    made = blocks = 0
    for t in range(threads):
        out.append(f"thread t{t} {{")
        goal = statements * (t + 1) // threads
        while made < goal:
            held = sorted(rng.sample(range(locks), rng.randint(1, 3)))
            blocks += 1
            out.append(f"  atomic b{blocks} {{")
            for i in held:
                out.append(f"    acquire(l{i});" if i % 5 else f"    while (!cas(m{i}, false, true)) {{ }}")
            for i in held:
                out += [f"    x{i} = (x{i} + y{i}) % 4;", f"    if (x{i} == 2) {{ y{i} = 1; }} else {{ y{i} = (y{i} + 1) % 4; }}"]
                made += 4
            for i in reversed(held):
                out.append(f"    release(l{i});" if i % 5 else f"    m{i} = false;")
            made += 2 * len(held)
            if broken and blocks % 50 == 0:
                out.append(f"    x{held[0]} = 1;")
            out.append("  }")
        out.append("}")
    print("\n".join(out))


main()
