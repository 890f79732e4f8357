#!/usr/bin/env python3
"""make bench-objects: Tromp's algorithm as operations grow, like Fig. 7 of the SOAR paper: every execution model-checked with
the recorded history judged by CLMT and by SOAR, without reductions (as the paper does) and with them, and with the monitor.

    bench/objects.py INTACT EXAMPLES [SECONDS]

CPU seconds (user + system) of the whole command, and states; a run that takes more than SECONDS of them (default 20) is given up."""
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

intact, examples = sys.argv[1], Path(sys.argv[2])
limit = int(sys.argv[3]) if len(sys.argv) > 3 else 20
tromp = (examples / "tromp.atm").read_text()
WAYS = [("clmt, no reductions", ["--assertion=clmt", "--no-reduce=all"]), ("soar, no reductions", ["--assertion=soar", "--no-reduce=all"]),
        ("clmt", ["--assertion=clmt"]), ("soar", ["--assertion=soar"]),
        ("monitor, no reductions", ["--no-reduce=all"]), ("monitor", [])]


def cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def measure(model, args, want):
    with tempfile.NamedTemporaryFile("w", suffix=".atm") as f:
        f.write(model)
        f.flush()
        start = cpu()
        p = subprocess.run([intact, "check", "--stats", *args, f.name], capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
        took = cpu() - start
    if p.returncode < 0:
        return None
    states = re.search(r"(\d+) states", p.stdout)
    if p.returncode != want:
        return f"exit {p.returncode}"
    return f"{took:.3f} s, {int(states[1]):,}"


def table(source, want, sizes):
    print("| writes + reads | " + " | ".join(n for n, _ in WAYS) + " |")
    print("|---|" + "---|" * len(WAYS))
    given_up = set()
    for w, r in sizes:
        counts = iter([w, r])
        model = re.sub(r"repeat \(\d\)", lambda _: f"repeat ({n})" if (n := next(counts)) else "while (true)", source)
        row = []
        for name, args in WAYS:
            cell = None
            if (name not in given_up or not w) and (w or name.startswith("monitor")):
                cell = measure(model, args, want)
                if cell is None:
                    given_up.add(name)
            row.append(cell or "never ends" if not w and not cell else cell or f"over {limit} s")
        print(f"| {w or 'any'} + {r or 'any'} | " + " | ".join(row) + " |", flush=True)
    print()


print("Tromp's algorithm, proved:\n")
table(tromp, 0, [(1, 1), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (4, 5), (5, 5), (6, 6), (8, 8), (16, 16), (0, 0)])
print("Without the condition in line 3, refuted:\n")
table((examples / "tromp-no-line3.atm").read_text(), 1, [(2, 3), (3, 3), (4, 4), (5, 5), (6, 6)])
