#!/usr/bin/env python3
"""Every example loads without a warning, its header names the blocks and
objects that are there, it is in canonical layout and comes back to it, and it
runs 10,000 random steps without a fault that its header does not announce.

    test_examples.py PATH-OF-INTACT [SEEDS]

TAP on stdout. `make soak` passes more seeds than the three of `make test`."""
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = 10000


def load():
    spec = importlib.util.spec_from_file_location("examples_table", ROOT / "tools" / "examples-table.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def intact(exe, *args, stdin=None):
    return subprocess.run([exe, *map(str, args)], input=stdin, capture_output=True,
                          text=True, encoding="utf-8", timeout=120)


def loads(exe, h):
    """Problems with loading, or with the names in the header."""
    r = intact(exe, "check", "--dump=ir", h.path)
    if r.returncode or r.stderr:
        return [f"exit {r.returncode}"] + r.stderr.splitlines()
    blocks, objects, thread = set(), set(), None
    for line in r.stdout.splitlines():
        if m := re.match(r"thread (\w+)", line):
            thread = m[1]
        elif m := re.match(r"object (\w+)", line):
            objects.add(m[1])
        elif m := re.match(r"  n\d+ enter .*: enter (\S+)$", line):
            blocks.add(f"{thread}.{m[1]}")
    why = [f"the header does not mention {x}" for x in (blocks - set(h.blocks)) | (objects - set(h.objects))]
    why += [f"the header mentions {x}, which is not there"
            for x in (set(h.blocks) - blocks) | (set(h.objects) - objects)]
    if not blocks and not objects and not h.conditions:
        why.append("neither a block, nor an object, nor a condition to check")
    return why


def formats(exe, h):
    """Canonical, and back to it from a text without indentation."""
    r = intact(exe, "fmt", "--check", h.path)
    if r.returncode:
        return [f"fmt --check: exit {r.returncode}", r.stdout + r.stderr]
    text = h.path.read_text(encoding="utf-8")
    flat = "\n".join(line.strip() for line in text.split("\n"))
    args = ["fmt"] + (["--sml"] if h.path.suffix == ".sml" else []) + ["-"]
    r = intact(exe, *args, stdin=flat)
    return [] if r.stdout == text else ["not restored from a text without indentation", r.stderr]


def runs(exe, h, seeds):
    """A fault ends a run with exit code 1 and a line that names its kind."""
    for seed in range(1, seeds + 1):
        r = intact(exe, "sim", h.path, "--seed", seed, "--steps", STEPS)
        if r.returncode not in (0, 1):
            return [f"seed {seed}: exit {r.returncode}", r.stderr]
        if r.returncode == 1 and h.fault in (None, "none"):
            return [f"seed {seed}: a fault that the header does not announce", r.stdout[-600:]]
    return []


def main(argv):
    exe, seeds = argv[0], int(argv[1]) if len(argv) > 1 else 3
    results = []
    for h in load().examples():
        name = h.path.relative_to(ROOT).as_posix()
        results += [(f"{name} loads", loads(exe, h)), (f"{name} is canonical", formats(exe, h)),
                    (f"{name} runs", runs(exe, h, seeds))]
    print(f"1..{len(results)}")
    for n, (name, why) in enumerate(results, 1):
        print(f"{'not ok' if why else 'ok'} {n} - {name}")
        for line in "\n".join(why).splitlines():
            print(f"# {line}")
    return any(why for _, why in results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
