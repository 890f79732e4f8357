#!/usr/bin/env python3
"""The JSON of the playground (playground/jansson.c) against jansson: random, damaged and hostile texts, read and written with every flag
that Intact uses, give the same bytes.

Usage: test_json.py JSON_ECHO JSON_ECHO_OF_THE_PLAYGROUND [SEED [TEXTS]]      (TAP on stdout)"""
import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from tap import check, done

theirs, ours = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 20261118
texts = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
rng = random.Random(seed)

EDGES = [b"", b" ", b"[]", b"{}", b"[1,]", b"{,}", b'{"a":1,"a":2}', b'{"a":1 "b":2}', b"[1] 2", b"[1]]", b"1", b'"x"', b"true", b"nul", b"[tru]", b"[truex]", b"[-]", b"[01]", b"[-0]",
         b"[1.]", b"[.5]", b"[1.5]", b"[1e5]", b"[1E+2]", b"[1e]", b"[1e999]", b"[0.1]", b"[1e-400]", b"[9223372036854775807]", b"[9223372036854775808]", b"[-9223372036854775808]",
         b"[-9223372036854775809]", b'["\\u0041\\n\\/"]', b'["\\ud83d\\ude00"]', b'["\\ud83d"]', b'["\\ude00"]', b'["\\ud83dx"]', b'["\\u0000"]', b'{"\\u0000":1}', b'["\\x"]',
         b'["\\u12"]', b'["\t"]', b'["\x7f"]', b'["\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"]', b'["\xff"]', b'["\xc0\x80"]', b'["\xed\xa0\x80"]', b'["\xf5\x80\x80\x80"]', b'["', b'["a', b'{"a', b'{"a"', b'{"a":',
         b'{"a":1', b"[1", b"[[", b'{"a":{"b":1},"c":2}', b'{"a":{}}', b'{"a":{"b":{}}', b"\xef\xbb\xbf[]", b"[1 2]", b"[NaN]", b"[Infinity]", b"// x\n[]", b"[\n1,\n\n x]", b"[" * 2047 + b"]" * 2047,
         b"[" * 2048 + b"]" * 2048, b"[" * 2049 + b"]" * 2049, b"[" * 5000, b"[\"\\u00e4\\u2028\"]", b"{" + b",".join(b'"k%d":%d' % (i * 7 % 100, i) for i in range(100)) + b"}", b"[true,false,null]", b"[1,2,[3,{}]]"]


def value(depth):
    k = rng.random()
    if depth == 0 or k < 0.35:
        return rng.choice([rng.randint(-5, 5), rng.randint(-2**63, 2**63 - 1), round(rng.uniform(-1e6, 1e6), rng.randint(0, 9)), rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20), True, False, None,
                           "".join(rng.choice("ab\"\\/\b\f\n\r\té€😀\x01\x7f ") for _ in range(rng.randint(0, 8)))])
    if k < 0.65:
        return [value(depth - 1) for _ in range(rng.randint(0, 5))]
    return {"".join(rng.choice("abcdä") for _ in range(rng.randint(0, 3))): value(depth - 1) for _ in range(rng.choice([0, 1, 2, 5, 30]))}


def text():  # no NUL: jansson loses one behind a number, so that b"1\0" is one to it
    t = json.dumps(value(4), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1]), separators=rng.choice([None, (",", ":")]))
    t = t.encode("utf-8").replace(b"\x1e", b"")
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        i = rng.randrange(len(t) + 1)
        t = rng.choice([t[:i] + t[i + 1:], t[:i] + bytes([rng.choice(b'[]{},:"\\0129eE.-+tfn \n\x80\xc3')]) + t[i:], t[:i], t[:i] + t[i:][::-1][:3] + t[i:]])
    return t.replace(b"\x1e", b"")


def answers(exe, all_texts):
    p = subprocess.run([exe], input=b"\x1e".join(all_texts), capture_output=True, timeout=300)
    return p.returncode, p.stdout.split(b"---\n")[1:], p.stderr


def compare(name, all_texts, least_good):
    a, b = answers(theirs, all_texts), answers(ours, all_texts)
    differ = [(t, x, y) for t, x, y in zip(all_texts, a[1], b[1]) if x != y]
    good = sum(b"text " in x for x in a[1])
    why = "".join(f"{t[:200]!r}\njansson: {x[:600].decode(errors='replace')}\nours: {y[:600].decode(errors='replace')}\n" for t, x, y in differ[:3])
    check(f"{name}: {len(all_texts)} texts, {good} of them JSON: the same (seed {seed})",
          a[0] == b[0] == 0 and len(a[1]) == len(b[1]) == len(all_texts) and not differ and good >= least_good, f"{len(differ)} differ\n{why}{a[2][-300:]}{b[2][-300:]}")


compare("edges", EDGES, 15)
compare("random and damaged", [text() for _ in range(texts)], texts // 5)
done()
