#!/usr/bin/env python3
"""Mutants of the objects of examples/objects (mutants.txt): is a line that is wrong found?

    mutants.py INTACT [--all] [NAME...]    --all: every mutant; else every eighth; NAME: those of these objects

A mutant that is not marked as equivalent must be refuted by `intact explore` with its usual options or, where it needs a longer scenario than
those draw, by --exhaustive --shape. One that is marked must not be refuted: every trace of every scenario of 2x2 and 3x1 is explored.
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OBJECTS = os.path.join(HERE, "..", "..", "examples", "objects")


def read():
    """Blocks between empty lines: dictionaries."""
    made = []
    text = open(os.path.join(HERE, "mutants.txt")).read()
    for block in text.split("\n\n"):
        m = {"nth": 1, "why": None}
        for line in block.splitlines():
            if line.startswith("#"):
                continue
            key, rest = line[0], line[2:]
            if key in "-+=":
                m[{"-": "old", "+": "new", "=": "why"}[key]] = rest
            elif key == "@":
                m["nth"] = int(line[1:])
            else:
                m["name"], m["what"] = line.split(": ", 1)
        if "name" in m:
            assert m.keys() >= {"old", "new"}, m
            made.append(m)
    return made


def mutate(m):
    """The text of the mutant; the line must be there, so that a change of the example is noticed here."""
    lines = open(os.path.join(OBJECTS, m["name"] + ".c")).read().split("\n")
    at = [i for i, line in enumerate(lines) if line.strip() == m["old"]]
    if len(at) < m["nth"]:
        raise ValueError("%s.c has no such line %d: %s" % (m["name"], m["nth"], m["old"]))
    i = at[m["nth"] - 1]
    lines[i] = lines[i].replace(m["old"], m["new"])
    return "\n".join(lines)


def explore(intact, options, exe):
    r = subprocess.run([intact, "explore", *options, "--json=-", exe], capture_output=True, text=True, timeout=900)
    if r.returncode not in (0, 1, 3):
        raise ValueError("explore %s: exit status %d: %s" % (options, r.returncode, r.stderr[-300:]))
    return r.returncode, json.loads(r.stdout)


def check(intact, m, compiler):
    """None, or what is wrong; and how it was found."""
    with tempfile.TemporaryDirectory(prefix="intact-mutants-") as tmp:
        source, exe = os.path.join(tmp, m["name"] + ".c"), os.path.join(tmp, m["name"])
        with open(source, "w") as f:
            f.write(mutate(m))
        subprocess.run([intact, "cc", "-g", "-O1", source, "-o", exe, "-pthread"], check=True, env=dict(os.environ, INTACT_CC=compiler))
        if m["why"]:
            rc, doc = explore(intact, ["--exhaustive"], exe)
            return (None, "equivalent") if rc == 0 and doc["exhaustive"] else ("said to be equivalent, exit status %d: %s" % (rc, doc["results"]), "")
        for options in ([], ["--exhaustive"]):
            rc, doc = explore(intact, options, exe)
            if rc == 1:
                return None, "%s, %s" % (doc["results"][0]["kind"], doc["object"]["scenario"])
        return "it is not found", ""


def main():
    args = [a for a in sys.argv[1:] if a != "--all"]
    intact, names = os.path.abspath(args[0]), args[1:]
    mutants = read()
    failed = False
    chosen = [(i, m) for i, m in enumerate(mutants) if m["name"] in names or not names and ("--all" in sys.argv or i % 8 == 4)]
    print("1..%d" % (len(chosen) + 1))
    equivalent = sum(m["why"] is not None for m in mutants)
    enough = len(mutants) >= 30 and 30 * (len(mutants) - equivalent) >= 28 * len(mutants)
    print("%s 1 - %d mutants, %d of them equivalent" % ("ok" if enough else "not ok", len(mutants), equivalent))
    for m in mutants:
        mutate(m)
    for k, (i, m) in enumerate(chosen):
        try:
            wrong, how = check(intact, m, ("gcc", "clang")[i % 2])
        except (ValueError, subprocess.SubprocessError) as e:
            wrong, how = str(e), ""
        failed |= wrong is not None
        print("%s %d - %s: %s%s" % ("not ok" if wrong else "ok", k + 2, m["name"], m["what"], " (%s)" % how if how else ""), flush=True)
        if wrong:
            print("# " + wrong.replace("\n", "\n# "), flush=True)
    return 1 if failed or not enough else 0


sys.exit(main())
