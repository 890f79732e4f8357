#!/usr/bin/env python3
"""The library from Go and Rust: the programs of examples/api/go and rust compile against an installed copy and say what the C
example says. What is not installed is skipped by name.

Usage: test_bindings.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
build = intact.parents[2]
tmp = tempfile.TemporaryDirectory(prefix="intact-bindings-")
work = Path(tmp.name)
rc, out, err = run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", work / "dest"], timeout=300)
check("the library is installed", rc == 0, out + err)
[shared] = (work / "dest").rglob("libintact.so")
[pc] = (work / "dest").rglob("intact.pc")
lib = shared.parent
env = {"PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_SYSROOT_DIR": str(work / "dest"), "LD_LIBRARY_PATH": str(lib), "HOME": str(work), "GOCACHE": str(work / "go"),
       "GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "1", "GOMAXPROCS": "2"}
flags = run(["pkg-config", "--cflags", "--libs", "intact"], env=env)[1].split()
rc, out, err = run(["gcc", root / "examples/api/check_model.c", *flags, "-o", work / "check_model"], env=env)
check("the C example is compiled", rc == 0, out + err)


def go(exe):
    return run(["go", "build", "-o", exe, "."], env=env, cwd=root / "examples/api/go", timeout=300)


def rust(exe):
    # a rustc of Debian's first: rustup's wrapper wants a home directory of its own
    rustc = next(p for p in ("/usr/bin/rustc", shutil.which("rustc")) if p and os.path.exists(p))
    more = {} if rustc.startswith("/usr/") else {"HOME": os.environ.get("HOME", "/")}
    return run([rustc, "--edition", "2021", "-D", "warnings", "main.rs", "-o", exe, "-L", lib], env=dict(env, **more), cwd=root / "examples/api/rust", timeout=300)


for language, compiler, make in (("go", "go", go), ("rust", "rustc", rust)):
    if not shutil.which(compiler):
        check(f"{language}: {compiler} is not installed # SKIP", True)
        continue
    exe = work / f"example-{language}"
    rc, out, err = make(exe)
    if not check(f"{language}: the example compiles without a warning", rc == 0 and not err.strip(), out + err):
        continue
    for model in ("lost-update.atm", "stringbuffer.atm", "bank-transfer.atm"):
        path = root / "examples" / model
        want, got = run([work / "check_model", path], env=env), run([exe, "check", path], env=env)
        check(f"{language}: {model}: the text and the exit code of the C example", got == want and want[1] and got[0] == (model != "bank-transfer.atm"), f"{got}\n{want}")
    bad = work / "bad.atm"
    bad.write_text("thread t {\n")
    rc, out, err = run([exe, "check", bad], env=env)
    check(f"{language}: a model that cannot be read has its place, and exit code 2", rc == 2 and not out and f"{bad}:" in err, out + err)
    rc, out, err = run([exe, "queue"], env=env)
    check(f"{language}: one dequeue after the other is linearizable", rc == 0, out + err)
    rc, out, err = run([exe, "queue", "twice"], env=env)
    check(f"{language}: an element that is taken twice is not", rc == 1 and "dequeue" in out, out + err)
    rc, out, err = run([exe, "queue", "thrice"], env=env)
    check(f"{language}: a wrong word shows the usage", rc == 2 and "usage" in err, out + err)
left = [p for d in ("go", "rust") for p in (root / "examples/api" / d).iterdir() if p.suffix not in (".go", ".rs", ".mod")]
check("nothing is left beside the sources", not left, left)
done()
