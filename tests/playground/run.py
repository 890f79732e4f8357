#!/usr/bin/env python3
"""The playground in Debian's Chromium, from disk: every example gives the page that the command gives, byte by byte, and the same exit
code; play.cjs uses the rest as people do.

Usage: run.py INTACT SOURCE-ROOT

Builds the playground first (playground/build.py). Needs emscripten (tools/setup.sh playground), chromium, node, playwright-core and axe-core
(tools/setup.sh test); without them everything is skipped, and says so. INTACT_SCREENSHOTS=DIR writes the pictures of the documentation.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
playwright = Path(os.environ.get("INTACT_PLAYWRIGHT", root / "build-browser/node_modules/playwright-core"))
chromium = shutil.which("chromium") or shutil.which("google-chrome")
node = shutil.which("node")
axe = playwright.parent / "axe-core/axe.min.js"
missing = [name for name, there in (("emcc", shutil.which("emcc")), ("node", node), ("chromium", chromium), (str(playwright), playwright.exists()),
                                    (str(axe), axe.exists())) if not there]
if missing:
    print(f"1..0 # SKIP the playground was NOT tested: no {', no '.join(missing)} (tools/setup.sh playground, tools/setup.sh test)")
    sys.exit(0)
p = subprocess.run([sys.executable, str(root / "playground/build.py"), str(root / "build-playground")], capture_output=True, text=True)
if p.returncode:
    print("\n".join("# " + line for line in (p.stdout + p.stderr).splitlines()[-40:]))
    print("not ok 1 - the playground is built, and is not larger than 3 MB\n1..1")
    sys.exit(1)
page = root / "build-playground/intact-playground.html"


def command(name):
    """What the page asks when an example is chosen and started: the files of all examples in one directory."""
    if name.endswith(".spec"):
        return None
    return ["check", name] if name.endswith((".atm", ".sml")) else ["history", *(["--spec=account.spec"] if name.startswith("account-") else []), name]


with tempfile.TemporaryDirectory(prefix="intact-playground-") as tmp:
    work = Path(tmp) / "work"
    work.mkdir()
    names = []
    for d in (".", "separating", "history", "spec"):
        for f in sorted((root / "examples" / d).iterdir()):
            if f.suffix in (".atm", ".sml", ".spec", ".edn", ".json", ".csv"):
                shutil.copy(f, work)
                names.append(str(f.relative_to(root / "examples")))
    env = dict(os.environ, INTACT_PROJECT="none", NO_COLOR="1")
    native = {}
    for name in names:
        argv = command(Path(name).name)
        if argv is None:
            continue
        out = Path(tmp) / "page.html"
        out.unlink(missing_ok=True)
        rc = subprocess.run([str(intact), argv[0], "--html", str(out), *argv[1:]], cwd=work, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        native[name] = {"rc": rc, "html": out.read_text() if out.exists() else ""}
    (Path(tmp) / "native.json").write_text(json.dumps(native))
    sys.stdout.flush()
    env = dict(os.environ, INTACT_PLAYGROUND=str(page), INTACT_NATIVE=f"{tmp}/native.json", INTACT_PLAYWRIGHT=str(playwright), INTACT_AXE=str(axe),
               INTACT_CHROMIUM=chromium, HOME=tmp, XDG_CONFIG_HOME=tmp + "/config", XDG_CACHE_HOME=tmp + "/cache")
    sys.exit(subprocess.run([node, str(root / "tests/playground/play.cjs")], env=env).returncode)
