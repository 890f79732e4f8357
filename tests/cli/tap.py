"""tap: the little that the Python tests share."""
import os
import subprocess
import sys

_results = []


def check(name, ok, detail=""):
    """One test: prints its TAP line; `detail` explains a failure."""
    _results.append(bool(ok))
    if not ok and detail:
        for line in str(detail).splitlines()[:60]:
            print("#", line)
    print("ok" if ok else "not ok", len(_results), "-", name, flush=True)
    return ok


def done():
    print(f"1..{len(_results)}")
    sys.exit(0 if all(_results) else 1)


def run(argv, stdin=None, env=None, timeout=120, cwd=None):
    """(exit code, stdout, stderr) of a command; a killed one has a negative code."""
    full = dict(os.environ, NO_COLOR="1")
    full.update(env or {})
    if isinstance(stdin, str):
        stdin = stdin.encode()
    p = subprocess.run([str(a) for a in argv], input=stdin if stdin is not None else b"", env=full,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, cwd=cwd)
    return p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace")
