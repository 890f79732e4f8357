#!/usr/bin/env python3
"""The ladder: what reduction costs as a model grows, and what `intact check` costs beside the
engine that decides. CPU time (user + system), the least of some runs.

    ladder.py PATH-OF-INTACT [EXAMPLES]

Exit code 1 when a bound is missed: two seconds for 100,000 statements in 200 threads; 1.2 times
the deciding engine plus 20 ms for each example.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
intact = sys.argv[1]
examples = Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parent / "examples"


def cpu(*args, runs=3):
    """Seconds, and what it printed."""
    best, text = None, ""
    for _ in range(runs):
        with tempfile.TemporaryFile("w+") as out:
            pid = os.posix_spawn(intact, [intact, *map(str, args)], dict(os.environ, NO_COLOR="1"),
                                 file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
            _, _, usage = os.wait4(pid, 0)
            out.seek(0)
            text = out.read()
        t = usage.ru_utime + usage.ru_stime
        best = t if best is None else min(best, t)
    return best, text


def linear():
    print("reduction, 200 threads\n\nstatements    CPU s  us a statement")
    ok = True
    for n in [12500, 25000, 50000, 100000, 200000]:
        with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
            f.write(subprocess.run([sys.executable, HERE / "ladder_model.py", "200", str(n)], check=True,
                                   capture_output=True, text=True).stdout)
            f.flush()
            t, text = cpu("check", "--engine=reduction", "-q", f.name)
        proved = re.search(r"^program +serializable +reduction", text, re.M) is not None
        ok &= proved and (n != 100000 or t < 2)
        print(f"{n:10}  {t:7.3f}  {t / n * 1e6:6.2f}{'' if proved else '  NOT PROVED'}")
    return ok


def overhead():
    print("\nexample                        by           ladder s  engine s  bound s")
    ok = True
    for path in sorted([*examples.rglob("*.atm"), *examples.rglob("*.sml")]):
        t, text = cpu("check", "-q", path)
        m = re.search(r"^program +(?:serializable|NOT SERIALIZABLE) +(\w+)", text, re.M)
        if not m:
            continue
        alone, _ = cpu("check", "-q", f"--engine={m[1]}", path)
        bound = 1.2 * alone + 0.020
        late = t > bound
        ok &= not late
        print(f"{path.relative_to(examples).as_posix():30} {m[1]:12} {t:8.3f}  {alone:8.3f} {bound:8.3f}{'  LATE' if late else ''}")
    return ok


if __name__ == "__main__":
    good = linear()
    good &= overhead()
    sys.exit(0 if good else 1)
