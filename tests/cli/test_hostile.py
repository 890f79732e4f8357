#!/usr/bin/env python3
"""Inputs nobody would write: every command that reads a model must end with a
result (0) or an error that has a place (2), never a crash and never a hang.

Usage: test_hostile.py INTACT      (TAP on stdout)
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

INTACT = str(Path(sys.argv[1]).resolve())
TIMEOUT = 100  # only to end a hang; the cases take a second at most
HEAD = "int x;\nthread t { "

ok = "thread t { skip; }\n"
cases = {
    # name: (suffix, bytes, expected exit code, text the message must have)
    "empty file": (".atm", b"", 2, "no thread"),
    "empty sml": (".sml", b"", 2, "no thread"),
    "only comments": (".atm", b"// nothing\n/* here */\n", 2, "no thread"),
    "only white space": (".atm", b" \t\r\n\f\v\n" * 1000, 2, "no thread"),
    "NUL bytes": (".atm", b"int x;\0\0\0 thread t { x = 1; }", 2, "NUL"),
    "a NUL behind a name": (".atm", b"int x\0;" + ok.encode(), 2, "NUL"),
    "invalid UTF-8": (".atm", b"int x; \xff\xfe\x80 " + ok.encode(), 2, "UTF-8"),
    "overlong UTF-8": (".atm", b"int x; \xc0\xaf " + ok.encode(), 2, "UTF-8"),
    "cut UTF-8 at the end": (".atm", ok.encode() + b"\xe2\x89", 2, "UTF-8"),
    "terminal escapes": (".atm", b"int \x1b[31mx;" + ok.encode(), 2, "U+001B"),
    "bidi override": (".atm", "int \u202ex; ".encode() + ok.encode(), 2, "U+202E"),
    "unclosed comment": (".atm", ok.encode() + b"/* never\nclosed", 2, "never closed"),
    "comment cut at its slash": (".atm", ok.encode() + b"/", 2, None),
    "comment cut at its star": (".atm", ok.encode() + b"/*", 2, "never closed"),
    "CRLF": (".atm", b"int x;\r\nthread t {\r\n  x = 1; // c\r\n  x = x;\r\n}\r\n", 0, None),
    "CR only": (".atm", b"int x;\rthread t {\r  x = x;\r}\r", 0, None),
    "byte order mark": (".atm", b"\xef\xbb\xbf" + ok.encode(), 0, None),
    "two byte order marks": (".atm", b"\xef\xbb\xbf\xef\xbb\xbf" + ok.encode(), 2, "U+FEFF"),
    "UTF-16": (".atm", ok.encode("utf-16"), 2, None),
    "no newline at the end": (".atm", b"thread t { skip; }", 0, None),
    "huge number": (".atm", b"int x = " + b"9" * 100000 + b";" + ok.encode(), 2, "32 bits"),
    "huge hex number": (".atm", b"int x = 0x" + b"f" * 100000 + b";" + ok.encode(), 2, "32 bits"),
    "smallest int": (".atm", b"int x = -2147483648; thread t { x = x; }", 0, None),
    "one more than the largest int": (".atm", b"int x = 2147483648; thread t { x = x; }", 2, "32 bits"),
    "name of 100000 letters": (".atm", b"int " + b"a" * 100000 + b"; thread t { b = 1; }", 2, "not declared"),
    "deep parentheses": (".atm", (HEAD + "x = " + "(" * 100000 + "1" + ")" * 100000 + "; }").encode(), 2, "nested"),
    "deep braces": (".atm", (HEAD + "{" * 100000 + "}" * 100000 + " }").encode(), 2, "nested"),
    "deep ifs": (".atm", (HEAD + "if (x) " * 100000 + "x = 1; }").encode(), 2, "nested"),
    "deep else ifs": (".atm", (HEAD + "if (x) x = 1; else " * 100000 + "x = 1; }").encode(), 2, "nested"),
    "deep unary": (".atm", (HEAD + "x = " + "!" * 100000 + "x; }").encode(), 2, "nested"),
    "deep ternary": (".atm", (HEAD + "x = " + "x ? 1 : " * 100000 + "1; }").encode(), 2, "nested"),
    "deep indices": (".atm", ("int[0..1] a[2]; thread t { a[0] = " + "a[" * 100000 + "0" + "]" * 100000 + "; }").encode(), 2, "nested"),
    "deep calls": (".atm", (HEAD + "x = " + "f(" * 100000 + "1" + ")" * 100000 + "; }").encode(), 2, "nested"),
    "only opening braces": (".atm", b"{" * 60000, 2, None),
    "only closing braces": (".atm", b"}" * 60000, 2, "closes nothing"),
    "long sum": (".atm", (HEAD + "x = 1" + " + x" * 100000 + "; }").encode(), 2, "levels"),
    "million-token line": (".atm", (HEAD + "x = 1; " * 250000 + "}").encode(), 0, None),
    "million tokens of rubbish": (".atm", b"+ ) ; [ } thread ( int " * 100000, 2, None),
    "many undeclared names": (".atm", (HEAD + "".join(f"y{i} = z{i};" for i in range(10000)) + "}").encode(), 2, "not declared"),
    "many names, many of them wrong": (".atm", ("".join(f"int v{i};" for i in range(10000)) + "thread t {" + "".join(f"w{i} = 1;" for i in range(10000)) + "}").encode(), 2, "not declared"),
    "many blocks": (".atm", (HEAD + "atomic { x = 1; x = x; } " * 10000 + "}").encode(), 0, None),
    "many endless loops": (".atm", (HEAD + "either { while (true) { } } or { x = x; } " * 3000 + "}").encode(), 0, None),
    "many methods": (".atm", ("object R : register(bool) { " + "".join(f"void m{i}() {{ }} " for i in range(20000)) + "} thread t { " + "R.n(); " * 20000 + "}").encode(), 2, "register"),
    "calls that double": (".atm", ("int x; proc f0() { x = 1; }\n" + "".join(f"proc f{i}() {{ f{i-1}(); f{i-1}(); }}\n" for i in range(1, 60)) + "thread t { f59(); }").encode(), 2, None),
    "a long chain of calls": (".atm", ("int x; int f0() { return x; }\n" + "".join(f"int f{i}() {{ return f{i-1}() {' + 1' * 1900}; }}\n" for i in range(1, 190)) + "thread t { x = f189(); }").encode(), 2, None),
    "many parameters": (".atm", ("int x; int f(" + ", ".join(f"int p{i}" for i in range(300)) + ") { return " + " + ".join(f"p{i}" for i in range(300)) + "; } thread t { x = f(" + ", ".join(["x"] * 300) + "); }").encode(), None, None),
    "many initial values": (".atm", ("int x; thread t { int a[2000] = { " + ", ".join(str(i) for i in range(2000)) + " }; x = a[1999]; assert(x == 1999); }").encode(), None, None),
    "huge array": (".atm", b"int a[2000000000]; thread t { a[0] = a[1]; }", 2, "65536"),
    "huge arrays": (".atm", b"".join(b"int a%d[65536]; " % i for i in range(100)) + b"thread t { a0[0] = a1[0]; }", 2, None),
    "huge thread count": (".atm", b"int x; thread t * 2000000000 { x = x; }", 2, "10000"),
    "many threads": (".atm", b"".join(b"int x%d; thread t%d * 10000 { x%d = x%d; }\n" % (i, i, i, i) for i in range(30)), 2, None),
    "huge repeat": (".atm", b"int x; thread t { repeat (2000000000) { x = x; } }", 0, None),
    "huge any": (".atm", b"int x; thread t { x = any(-2147483648..2147483647); x = x; }", 2, "any"),
    "empty range": (".atm", b"int[3..1] x; thread t { x = x; }", 2, "empty"),
    "sml deep parentheses": (".sml", ("int Y; Y := " + "(" * 100000 + "1" + ")" * 100000).encode(), 2, "nested"),
    "sml deep begin": (".sml", ("int Y; " + "begin " * 100000 + "Y := 1" + " end" * 100000).encode(), 2, "nested"),
    "sml deep not": (".sml", ("int Y; while (" + "\u00ac" * 100000 + "(Y = 1)) { skip }").encode(), 2, "nested"),
    "sml long sum": (".sml", ("int Y; Y := 1" + " + Y" * 100000).encode(), 2, "levels"),
    "sml only bars": (".sml", b"||" * 60000, 2, None),
    "sml only ends": (".sml", b"end " * 60000, 2, "closes nothing"),
    "sml rubbish": (".sml", b"+ ) ; [ } begin ( int while end || " * 60000, 2, None),
    "sml million tokens": (".sml", ("int Y; " + "Y := Y + 1; " * 160000).encode(), 0, None),
    "sml many threads": (".sml", ("int Y; " + "Y := Y + 1 || " * 5000).encode(), None, None),
    "sml undeclared globals": (".sml", ("".join(f"int Y{i}; " for i in range(20000)) + "".join(f"Z{i} := 1; " for i in range(20000))).encode(), 2, "not declared"),
}

PLACE = re.compile(rb"^[^\n]*?:\d+:\d+: error: ", re.M)
count = bad = 0


def report(good, name, why=""):
    global count, bad
    count += 1
    bad += not good
    if not good:
        print("# " + why.replace("\n", "\n# ")[:2000])
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)


def check(name, path, command, code, text):
    try:
        p = subprocess.run([INTACT, *command, path], capture_output=True, timeout=TIMEOUT,
                           stdin=subprocess.DEVNULL, env=dict(os.environ, NO_COLOR="1"))
    except subprocess.TimeoutExpired:
        return report(False, name, "did not end")
    err = p.stderr
    if p.returncode < 0 or p.returncode not in (0, 2):
        return report(False, name, f"exit {p.returncode}\n{err.decode('utf-8', 'replace')}")
    if code is not None and p.returncode != code:
        return report(False, name, f"exit {p.returncode}, expected {code}\n{err.decode('utf-8', 'replace')}")
    if p.returncode == 2 and not PLACE.search(err):
        return report(False, name, f"no place in the message\n{err.decode('utf-8', 'replace')}")
    if text and p.returncode == 2 and text.encode() not in err:
        return report(False, name, f"'{text}' is not in\n{err.decode('utf-8', 'replace')}")
    if any(b < 32 and b != 10 for b in err):
        return report(False, name, "control characters in the message")
    if len(err) > 30000:
        return report(False, name, f"{len(err)} bytes of messages")
    report(True, name)


def main():
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as d:
        paths = []
        for n, (name, (suffix, data, code, text)) in enumerate(cases.items()):
            if only and not any(o in name for o in only):
                continue
            paths.append(os.path.join(d, f"model{n}{suffix}"))
            Path(paths[-1]).write_bytes(data)
            check(f"check: {name}", paths[-1], ["check", "--dump=ir"], code, text)
        # what only the type checker objects to, the formatter accepts: all at once
        p = subprocess.run([INTACT, "fmt", *paths], capture_output=True, timeout=TIMEOUT)
        report(p.returncode in (0, 2), "fmt: all of them", f"exit {p.returncode}\n{p.stderr[-3000:]!r}")
        path = os.path.join(d, "nothing.atm")
        for what in ("no such file", "a directory"):
            for command in (["check"], ["fmt"]):
                p = subprocess.run([INTACT, *command, path], capture_output=True, timeout=TIMEOUT)
                report(p.returncode == 2 and path.encode() in p.stderr, f"{command[0]}: {what}",
                       f"exit {p.returncode}\n{p.stderr.decode('utf-8', 'replace')}")
            if what == "no such file":
                os.mkdir(path)
    print(f"1..{count}")


main()
sys.exit(bad > 0)
