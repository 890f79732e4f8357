#!/usr/bin/env python3
"""The report page in Debian's Chromium: makes pages of real results of every
kind (and of hostile ones) and lets page.cjs look at them.

Usage: run.py INTACT SOURCE-ROOT

Needs chromium, node, playwright-core and axe-core (tools/setup.sh test installs them;
INTACT_PLAYWRIGHT names another place). Without them everything is skipped,
and says so. INTACT_SCREENSHOTS=DIR writes the pictures of the documentation.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(root / "tests" / "cli"))
from hostile_inputs import documents  # noqa: E402

playwright = Path(os.environ.get("INTACT_PLAYWRIGHT", root / "build-browser/node_modules/playwright-core"))
chromium = shutil.which("chromium") or shutil.which("google-chrome")
node = shutil.which("node")
axe = playwright.parent / "axe-core/axe.min.js"
missing = [name for name, there in (("node", node), ("chromium", chromium), (str(playwright), playwright.exists()), (str(axe), axe.exists())) if not there]
if missing:
    print(f"1..0 # SKIP the browser tests did NOT run: no {', no '.join(missing)} (tools/setup.sh test installs them)")
    sys.exit(0)


def make(out, name, *args, stdin=None):
    p = subprocess.run([str(intact), args[0], "--html", str(out / (name + ".html")), "--json", str(out / (name + ".json")), *map(str, args[1:])],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root, input=stdin,
                       env=dict(os.environ, PATH=f"{out}:{os.environ['PATH']}"))
    if p.returncode not in (0, 1, 3, 66):
        print(f"# {args}: exit {p.returncode}: {p.stderr.decode()}")
        sys.exit(1)


def big_history(n):
    """Eight processes, one register, atomic but for the very end; as CSV."""
    rows, t = ["process,op,value,call,return"], 0
    value = 0
    for i in range(n):
        t += 2
        if i % 8 == 0:
            value += 1
            rows.append(f"0,write,{value},{t},{t + 1}")
        else:
            rows.append(f"{i % 8},read,{value},{t},{t + 1 + (i % 3) * 0}")
    rows.append(f"1,read,{value - 1},{t + 2},{t + 3}")
    return ("\n".join(rows) + "\n").encode()


with tempfile.TemporaryDirectory() as tmp:
    out = Path(tmp)
    make(out, "lost", "check", "examples/lost-update.atm")
    make(out, "fixed", "check", "examples/lost-update-fixed.atm")
    wrong = out / "wrong.atm"
    wrong.write_text("int x;\nthread a {\n  atomic one {\n    x = 1;\n    x = 0;\n  }\n}\nthread b {\n  atomic two {\n    assert(x == 0);\n  }\n}\n")
    make(out, "fault", "check", wrong)
    make(out, "object", "check", "examples/tromp-no-line3.atm")
    make(out, "deadlock", "check", "--deadlock", "examples/bank-transfer-deadlock.atm")
    six = out / "six.atm"
    six.write_text("int x;\nthread a * 6 {\n  atomic up {\n    int t = x;\n    x = t + 1;\n  }\n}\n")
    make(out, "six", "sim", "--seed=3", six)
    make(out, "sim", "sim", "--seed=2", "examples/peterson.atm")
    endless = out / "long.atm"
    endless.write_text("int n;\nthread t * 2 {\n  while (true) {\n    n = (n + 1) % 7;\n  }\n}\n")
    make(out, "long", "sim", "--steps=5000", "--seed=1", endless)
    make(out, "stale", "history", "examples/history/stale-read.edn")
    make(out, "queue", "history", "examples/history/queue.csv")
    make(out, "keys", "history", "examples/history/two-keys.json")
    make(out, "skew", "history", "examples/history/write-skew.edn")
    big = out / "big.csv"
    big.write_bytes(big_history(60000))
    make(out, "big", "history", "--init=0", big)
    make(out, "cycle", "trace", "examples/traces/crossed.std")
    make(out, "alone", "trace", "examples/traces/lost-update.std")
    make(out, "predicted", "trace", "--predict", "examples/traces/stringbuffer.std")
    make(out, "net", "net", "examples/nets/acquire1-4.ll_net")
    told = json.loads((out / "lost.json").read_text())
    told["results"][0].update(verdict="holds", problem="none")  # it is not: one claim is rejected, with a run
    (out / "told.json").write_text(json.dumps(told))
    make(out, "verified", "verify", out / "told.json")
    program = out / "lost-update"
    subprocess.run([str(intact), "cc", "-g", "-pthread", "-o", str(program), "tests/programs/lost_update.c"], cwd=root, check=True)
    make(out, "run", "run", "--", "lost-update")
    tested = out / "lost-update-test"
    subprocess.run([str(intact), "cc", "-g", "-pthread", "-o", str(tested), "examples/c/lost-update-test.c"], cwd=root, check=True)
    make(out, "explored", "explore", "--", tested)
    (out / "hide").write_text("block:*\n")
    make(out, "hidden", "run", "--suppressions", out / "hide", "--", program)
    hostile = out / "hostile"
    hostile.mkdir()
    # the texts are all tested in tests/cli; here a sample of each kind
    few = [d for d in documents(intact, root, hostile) if not d.name.startswith("model") or d.name[5] in "012"]
    for d in [d for d in few if not d.name.endswith(("-50.json", "-150.json"))]:
        subprocess.run([str(intact), "report", str(d), "--html", str(d.with_suffix(".html"))], stdout=subprocess.DEVNULL, check=False)
    sys.stdout.flush()
    env = dict(os.environ, INTACT_PAGES=tmp, INTACT_PLAYWRIGHT=str(playwright), INTACT_AXE=str(axe), INTACT_CHROMIUM=chromium)
    env.update(HOME=tmp, XDG_CONFIG_HOME=tmp + "/config", XDG_CACHE_HOME=tmp + "/cache")  # Chromium writes there
    sys.exit(subprocess.run([node, str(root / "tests/browser/page.cjs")], env=env).returncode)
