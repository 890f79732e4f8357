#!/usr/bin/env python3
"""Makes a C file of the files that are compiled in: the schema of results and
the report page's script and style, with the hashes that the page's
Content-Security-Policy allows.

Usage: embed.py OUT.c SCHEMA CSS JS...
"""
import base64
import hashlib
import sys


def array(name, data):
    data = data or b"\n"
    rows = [",".join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    return (f"const unsigned char {name}[] = {{\n" + ",\n".join(rows) + ",0};\n"
            f"const size_t {name}_len = {len(data)};\n")


def main():
    out, schema, css, *scripts = sys.argv[1:]
    read = lambda p: open(p, "rb").read()
    style = read(css)
    script = b'(function () {\n"use strict";\n' + b"".join(read(p) for p in scripts) + b"})();\n"
    for text in (style, script):
        assert b"</" + b"script" not in text.lower() and b"</style" not in text.lower()
    with open(out, "w") as f:
        f.write('/* made by tools/embed.py */\n#include "report/embed.h"\n')
        f.write(array("embed_schema", read(schema)))
        f.write(array("embed_style", style))
        f.write(array("embed_script", script))
        for name, text in (("style", style), ("script", script)):
            digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
            f.write(f'const char embed_{name}_hash[] = "sha256-{digest}";\n')


main()
