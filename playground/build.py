#!/usr/bin/env python3
"""Builds the playground: one page with the engines as WebAssembly in it.

Usage: build.py [BUILD-DIR]        default: build-playground; the page is BUILD-DIR/intact-playground.html

Needs Debian's emscripten, ninja and node (tools/setup.sh playground). The sources are compiled by emscripten's clang with its own
flags, without its wrapper, which takes longer to start than most files take to compile; the wrapper links.
"""
import base64
import gzip
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]
here = root / "playground"
build = Path(sys.argv[1] if len(sys.argv) > 1 else root / "build-playground").resolve()

# Rooms that are compiled whole; the linker takes what the commands need.
ROOMS = ["base", "lang", "ir", "reduce", "causal", "explore", "history", "lin", "txn", "verdict", "report", "explain", "check", "verify", "sim"]
PARTS = {
    "dist": ["dist"],
    "judge": ["document", "history", "transactions", "txn_follow"],
    "api": ["check_read"],
    "event": ["crc"],
    "cli": ["claims", "cli", "cmd_check", "cmd_explain", "cmd_fmt", "cmd_help", "cmd_history", "cmd_sim", "completion", "completion_bash",
            "completion_fish", "completion_zsh", "keep", "man_page", "model", "outputs", "progress", "ranks", "sim_shell"],
}
# They read the files of C programs, with libraries that are not there and not needed.
WITHOUT = {"report/dwarf_fields.c", "report/dwarf_functions.c", "report/stripped_functions.c", "report/symbol_files.c", "report/finding_symbols.c"}
LIMIT = 3 * 1000 * 1000  # bytes of the page


def fail(message):
    sys.exit(f"playground: {message}")


def tool(*names):
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    fail(f"{names[0]} is not installed: tools/setup.sh playground")


def environment():
    """Debian's emscripten finds the packages of Debian's node; another node must be told where they are."""
    return dict(os.environ, NODE_PATH=os.environ.get("NODE_PATH", "/usr/share/nodejs"))


def version():
    return re.search(r"^  version: '([^']+)'", (root / "meson.build").read_text(), re.M)[1]


def sources():
    for room in ROOMS:
        yield from (p for p in sorted((root / "src" / room).glob("*.c")) if f"{room}/{p.name}" not in WITHOUT)
    for room, names in PARTS.items():
        yield from (root / "src" / room / f"{n}.c" for n in names)
    yield from (here / "jansson.c", here / "libc_missing.c", here / "main.c", here / "no_ranks.c")


def ninja_text(emcc):
    flags = subprocess.run([emcc, "--cflags"], env=environment(), capture_output=True, text=True, check=True).stdout.split()
    flags += ["-std=gnu11", "-Os", "-DNDEBUG", "-D_GNU_SOURCE", "-fno-strict-aliasing", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-include", "libc_missing.h",
              "-I.", f"-I{here / 'include'}", f"-I{root / 'src'}", f"-I{root / 'include'}", f"-I{root}"]
    link = ["-Os", "-sINVOKE_RUN=0", "-sEXPORTED_RUNTIME_METHODS=callMain,FS,UTF8ToString,stringToUTF8,lengthBytesUTF8",
            "-sEXPORTED_FUNCTIONS=_main,_malloc,_free", "-sMODULARIZE=1", "-sEXPORT_NAME=intactModule", "-sENVIRONMENT=worker,node",
            "-sALLOW_MEMORY_GROWTH=1", "-sABORTING_MALLOC=0", "-sMAXIMUM_MEMORY=2147418112", "-sINITIAL_MEMORY=33554432", "-sTOTAL_STACK=4194304",
            "-sSUPPORT_LONGJMP=emscripten", "-sFORCE_FILESYSTEM=1", "-sDISABLE_EXCEPTION_CATCHING=1"]
    clang = tool("clang-14", "clang-15", "clang-16", "clang-17", "clang-18", "clang-19", "clang")
    cc = ([shutil.which("ccache")] if shutil.which("ccache") else []) + [clang]
    ar = tool("llvm-ar-14", "llvm-ar-15", "llvm-ar-16", "llvm-ar-17", "llvm-ar-18", "llvm-ar-19", "llvm-ar")
    page = root / "src/report/page"
    scripts = re.search(r"^page_scripts = files\((.*)\)", (root / "src/report/meson.build").read_text(), re.M)[1]
    embedded = [root / "share/report.schema.json", page / "page.css"] + [root / "src/report" / n for n in re.findall(r"'([^']+)'", scripts)]
    lines = ["ninja_required_version = 1.5",
             f"cflags = {shlex.join(flags)}",
             f"rule cc\n  command = {shlex.join(cc)} $cflags -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n  description = $in",
             f"rule ar\n  command = rm -f $out && {ar} rcs $out $in\n  description = $out",
             f"rule link\n  command = {emcc} {shlex.join(link)} $in -o intact.js\n  description = intact.wasm",
             f"rule embed\n  command = {sys.executable} {root / 'tools/embed.py'} $out $in\n  description = $out",
             f"build embed.c: embed {' '.join(map(str, embedded))} | {root / 'tools/embed.py'}",
             "build embed.o: cc embed.c"]
    objects = []
    for p in sources():
        o = f"{p.parent.name}_{p.stem}.o"
        objects.append(o)
        lines.append(f"build {o}: cc {p} | version.h")
    first = "playground_main.o"
    objects.remove(first)
    lines += [f"build all.a: ar embed.o {' '.join(objects)}", f"build intact.js intact.wasm: link {first} all.a", "build version.h: phony"]
    return "\n".join(lines) + "\n"


def compiled():
    build.mkdir(exist_ok=True)
    texts = {"build.ninja": ninja_text(tool("emcc")),
             "version.h": f'#define INTACT_VERSION "{version()}"\n#define INTACT_DATE ""\n#define INTACT_HOMEPAGE ""\n'}
    for name, text in texts.items():
        if not (build / name).exists() or (build / name).read_text() != text:
            (build / name).write_text(text)
    r = subprocess.run([tool("ninja"), "--quiet", "-k0", "-j2", "-C", str(build)], env=environment())
    if r.returncode:
        sys.exit(r.returncode)


def examples():
    """Every example: the file, its text, the first sentence of its comment, what it is asked with."""
    found = sorted([*root.glob("examples/*.atm"), *root.glob("examples/*.sml"), *root.glob("examples/separating/*.atm")])
    found += sorted(p for d in ("history", "spec") for p in (root / "examples" / d).iterdir() if p.suffix in (".edn", ".json", ".csv", ".spec"))
    for p in found:
        text = p.read_text(encoding="utf-8")
        yield {"name": str(p.relative_to(root / "examples")), "text": text, "options": "--spec=account.spec" if p.name.startswith("account-") else ""}


def escaped(text):
    """As the content of a script element: nothing ends it."""
    return text.replace("<", "\\u003c")


def page():
    """One file: the policy allows its own script and style by their hashes, the report page's by theirs, and nothing from elsewhere."""
    embed = (build / "embed.c").read_text()
    report = {n: re.search(rf'embed_{n}_hash\[\] = "([^"]+)"', embed)[1] for n in ("style", "script")}
    style = (here / "page.css").read_text()
    script = '(function () {\n"use strict";\n' + (here / "model_link.js").read_text() + (here / "editor.js").read_text() + (here / "page.js").read_text() + "})();\n"
    worker = (build / "intact.js").read_text() + "\n" + (here / "worker.js").read_text()
    wasm = base64.b64encode(gzip.compress((build / "intact.wasm").read_bytes(), 9, mtime=0)).decode()
    assert "</script" not in script.lower() and "</style" not in style.lower()

    def digest(text):
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    policy = (f"default-src 'none'; script-src {digest(script)} '{report['script']}' 'wasm-unsafe-eval' blob:; "
              f"style-src {digest(style)} '{report['style']}'; worker-src blob:; frame-src blob:; base-uri 'none'; form-action 'none'")
    html = (here / "page.html").read_text()
    for key, value in {"POLICY": policy, "STYLE": style, "VERSION": version(), "EXAMPLES": escaped(json.dumps(list(examples()), ensure_ascii=False)),
                       "WORKER": escaped(json.dumps(worker)), "WASM": wasm, "SCRIPT": script}.items():
        assert html.count(f"@{key}@") == 1, key
        html = html.replace(f"@{key}@", value)
    return html


compiled()
out = build / "intact-playground.html"
html = page()
out.write_text(html, encoding="utf-8")
size = out.stat().st_size
print(f"playground: {os.path.relpath(out)}: {size / 1e6:.2f} MB ({(build / 'intact.wasm').stat().st_size / 1e6:.2f} MB of WebAssembly, compressed)")
if size > LIMIT:
    fail(f"the page has {size} bytes, more than {LIMIT}")
