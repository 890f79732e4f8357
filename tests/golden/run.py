#!/usr/bin/env python3
"""Golden cases: one file is a model and what intact says about it.

The end of a file in errors/ is a block of lines that begin with `//!`: first
the command line with the exit code, then exactly what stands on stderr, as in

    //! exit 2: intact check --dump=ir missing-semicolon.atm
    //! missing-semicolon.atm:3:8: error: expected ';' ...

Usage: run.py INTACT [--update] [FILE...]     (TAP on stdout)
--update rewrites the expectations (read the diff before you commit it); a new
file without a block gets one for `check --dump=ir`.
"""
import difflib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "errors"
HEAD = re.compile(r"^//! exit (\d+): intact (.*)$")


def split(text):
    """(model, exit code, arguments, expected stderr)"""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        m = HEAD.match(line)
        if m:
            rest = [s[4:] if s.startswith("//! ") else s[3:] for s in lines[i + 1:] if s.startswith("//!")]
            return "\n".join(lines[:i]), int(m.group(1)), shlex.split(m.group(2)), rest
    return text.rstrip("\n"), None, None, []


def run(intact, args):
    env = dict(os.environ, NO_COLOR="1")
    p = subprocess.run([intact, *args], cwd=HERE, env=env, capture_output=True, timeout=120,
                       stdin=subprocess.DEVNULL)
    err = p.stderr.decode("utf-8", "replace").rstrip("\n")
    return p.returncode, err.split("\n") if err else []


def main():
    args = [a for a in sys.argv[1:] if a != "--update"]
    update = "--update" in sys.argv
    if not args:
        sys.exit(__doc__)
    intact = str(Path(args[0]).resolve())
    files = [Path(a) for a in args[1:]] or sorted(p for p in HERE.iterdir() if p.suffix in (".atm", ".sml"))
    bad = 0
    for n, path in enumerate(files, 1):
        model, code, words, expected = split(path.read_text())
        words = words or ["check", "--dump=ir", path.name]
        got_code, got = run(intact, words)
        same = code == got_code and expected == got
        if update and not same:
            block = [f"//! exit {got_code}: intact {shlex.join(words)}"]
            block += [("//! " + s).rstrip() for s in got]
            path.write_text(model.rstrip("\n") + "\n" + "\n".join(block) + "\n" if model.strip() else
                            "\n".join(block) + "\n")
            print(f"# updated {path.name}")
        if not same and not update:
            if code != got_code:
                print(f"# exit code {got_code}, expected {code}")
            for line in difflib.unified_diff(expected, got, "expected", "found", lineterm=""):
                print("# " + line)
            bad += 1
        print(f"{'ok' if same or update else 'not ok'} {n} - {path.name}")
    print(f"1..{len(files)}")
    sys.exit(bad > 0)


main()
