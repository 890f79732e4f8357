#!/usr/bin/env python3
"""What the schedule of `intact explore` has between its steps: plain accesses to
data that several threads use, with their values, and nothing else. Both
compilers; text, document and page's data.

    values.py PATH-OF-INTACT

TAP on stdout."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))
from tap import check, done, run  # noqa: E402

intact = os.path.abspath(sys.argv[1])
SOURCE = r"""
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
struct pair { int first, second; };
static struct { signed char c; short s; int i; long l; struct { struct pair of[3][2]; }; union { int n; char b[4]; } u; } v;
static int private_to_worker, only_read = 5, seen;
static char text[24];
static struct { int a[40]; } big;
static int *null;
static struct node { long key; int left, right; } *node;
static void *worker(void *arg)
{
	int own = 3, *heap = malloc(sizeof *heap);
	pthread_mutex_lock(&m);
	*heap = own + only_read; private_to_worker++;
	v.c = -7; v.s = 300; v.i = -70000; v.l = 1L << 40;
	v.of[2][1].second = 11; v.u.n = 12;
	node->left = 13;
	memcpy(text, "sixteen bytes...", 16);
	memset(&big, 1, sizeof big);
	pthread_mutex_unlock(&m);
	free(heap);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	(void)argv;
	node = malloc(sizeof *node);
	node->left = 0;
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&m);
	seen = only_read;
	for (int i = 0; i < 5; i++)
		seen += v.i;
	v.i = 1;
	int first = v.c + v.s + (v.l != 0) + text[3] + big.a[7] + v.of[2][1].second + v.u.n + node->left;
	pthread_mutex_unlock(&m);
	pthread_join(t, NULL);
	if (argc > 1)
		*null = first;
	assert(v.i == 1);
	return 0;
}
"""

def rows(text):
    """The lines of the table without a number."""
    return [line.strip() for line in text.split("\n") if re.match(r" {8}", line) and re.search(r"values\.c:\d+", line)]


with tempfile.TemporaryDirectory() as tmp:
    src = Path(tmp) / "values.c"
    src.write_text(SOURCE)
    line = {w: n + 1 for n, text in enumerate(SOURCE.split("\n")) for w in ["*null = first", "assert(v.i", "node = malloc"] if w in text}
    for cc in ("gcc", "clang"):
        if not shutil.which(cc):
            continue
        exe = Path(tmp) / f"values-{cc}"
        rc, out, err = run([intact, "cc", "-g", "-O0", "-pthread", src, "-o", exe], env=dict(os.environ, INTACT_CC=cc))
        check(f"{cc}: builds", rc == 0, err)
        doc = Path(tmp) / "r.json"
        rc, out, err = run([intact, "explore", f"--json={doc}", "--functions=no", exe])
        d = json.loads(doc.read_text())
        failed = next(r for r in d["results"] if r["kind"] == "assertion")
        told = failed["plain_accesses"]
        texts = [a["text"] for a in told]
        check(f"{cc}: the assertion fails", rc == 1, out + err)
        for want in ("v.c = -7", "v.s = 300", "v.i = -70000", "v.l = 0x10000000000", "v.of[2][1].second = 11", "v.u.n = 12"):
            check(f"{cc}: a value written is shown, with the part of the variable: {want}", want in texts, "\n".join(texts))
        heap = {b["name"]: b for b in failed["allocated"]}
        name = next((t.split()[0] for t in texts if t.endswith(" = 13")), "?")
        check(f"{cc}: what lies in the heap is told by its block", name in heap and heap[name]["offset"] == 8 and heap[name]["size"] == 16 and
              heap[name]["thread"] == 0 and heap[name]["at"]["line"] == line["node = malloc"], json.dumps(failed["allocated"]))
        check(f"{cc}: also in the text", f"  {name}: byte 8 of 16 bytes that main allocated at main " in out, out)
        last = [a for a in told if a["thread"] == 0 and "-70000" in a["text"]]
        check(f"{cc}: and what main read before it failed, at its place", last and last[-1]["at"]["line"] == line["assert(v.i"] and
              last[-1]["text"] == "read v.i -> -70000", json.dumps(told, indent=0))
        check(f"{cc}: data that only one thread uses, or that is only read, is left out",
              not any(n in t for t in texts for n in ("private_to_worker", "only_read", "seen", "null")), "\n".join(texts))
        check(f"{cc}: a copy of a few words is shown by words, a large one is not", "write text[0]" in texts and
              not any(re.search(r"^(write )?big", t) for t in texts), "\n".join(texts))
        check(f"{cc}: a loop that reads the same says it once", all(a != b for a, b in zip(told, told[1:])), json.dumps(told, indent=0))
        check(f"{cc}: each is after a step of the schedule, in order",
              all(0 <= a["step"] <= len(failed["steps"]) for a in told) and [a["step"] for a in told] == sorted(a["step"] for a in told), json.dumps(told))
        wrong = [a for a in told if a["step"] and not any(s["thread"] == a["thread"] for s in failed["steps"][a["step"] - 1:a["step"]])]
        check(f"{cc}: by the thread of that step", not wrong, json.dumps(wrong))
        shown = rows(out)
        check(f"{cc}: the text has them in the thread's column", len(shown) == len(told) and all(t in s for t, s in zip(texts, shown)), out)
        check(f"{cc}: and so has a report of the document", rows(run([intact, "report", doc])[1]) == shown)
        again = Path(tmp) / "again.json"
        run([intact, "explore", f"--json={again}", "--functions=no", exe])
        check(f"{cc}: the same bytes again", doc.read_bytes() == again.read_bytes())
        rc, out, err = run([intact, "explore", "--json=-", "--functions=no", "--", exe, "crash"])
        crash = [r for r in json.loads(out)["results"] if r["kind"] == "crash"]
        check(f"{cc}: a crash is where the program makes it, not where its value is looked up",
              rc == 1 and crash and crash[0]["at"].get("line") == line["*null = first"], out + err)
done()
