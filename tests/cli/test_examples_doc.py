#!/usr/bin/env python3
"""docs/examples.md is what tools/examples-table.py makes of the examples'
headers, and every header is well-formed. TAP on stdout."""
import importlib.util
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "examples-table.py"


def load():
    spec = importlib.util.spec_from_file_location("examples_table", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def broken_headers():
    """Headers with one mistake each, and a word their complaint must have."""
    good = "// Title.\n// From: everyday.\n// Right.\n//\n"
    return [
        (good.replace("From: everyday.", "Somewhere."), "From"),
        (good + "// @expect t.b: atomic=maybe\n", "atomic=maybe"),
        (good + "// @expect t.b: atomc=yes\n", "atomc=yes"),
        (good + "// @expect t.b: atomic=yes atomic=no\n", "atomic=no"),
        (good + "// @expect program: atomic=yes\n", "atomic=yes"),
        (good + "// @expect object R: atomic=yes\n", "atomic=yes"),
        (good + "// @expect fault: crash\n", "crash"),
        (good + "// @expect deadlock: none\n", "none"),
        (good + "// @expects stuck: no\n", "expects"),
    ]


def main():
    table = load()
    results = []
    for h in table.examples():
        name = h.path.relative_to(ROOT).as_posix()
        results.append((f"{name}: header", h.errors))
    with tempfile.TemporaryDirectory() as d:
        for i, (text, word) in enumerate(broken_headers()):
            path = Path(d) / f"{i}.atm"
            path.write_text(text)
            errors = table.Header(path).errors
            ok = any(word in e for e in errors)
            results.append((f"a mistake is noticed: {word}", [] if ok else [f"got {errors}"]))
    text = table.PAGE.read_text(encoding="utf-8") if table.PAGE.is_file() else ""
    stale = [] if text == table.page() else ["run tools/examples-table.py --write"]
    results.append(("docs/examples.md is up to date", stale))

    print(f"1..{len(results)}")
    for n, (name, why) in enumerate(results, 1):
        print(f"{'not ok' if why else 'ok'} {n} - {name}")
        for line in why:
            print(f"# {line}")
    return any(why for _, why in results)


if __name__ == "__main__":
    sys.exit(main())
