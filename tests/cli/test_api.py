#!/usr/bin/env python3
"""The library as an installed copy has it: the programs of examples/api compile against it, as C and as C++, shared and
static, and say what `intact` says; only intact_* is visible; errors are status and text.

    test_api.py PATH-OF-INTACT ROOT

TAP on stdout."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, root = sys.argv[1], Path(sys.argv[2])
build = Path(intact).resolve().parents[2]
tmp = Path(tempfile.mkdtemp(prefix="intact-api-"))

rc, out, err = run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", tmp / "dest"], timeout=300)
check("the library is installed", rc == 0, out + err)
[header] = (tmp / "dest").rglob("include/intact/intact.h")
[shared] = (tmp / "dest").rglob("libintact.so")
[archive] = (tmp / "dest").rglob("libintact.a")
[pc] = (tmp / "dest").rglob("intact.pc")
include, lib = header.parents[1], shared.parent
clang = b"clang version" in archive.read_bytes()
sanitized = ["-fsanitize=address,undefined"] if b"__asan_init" in archive.read_bytes() else []

# names
declared = set()
for name in ("intact.h", "history.h"):
    declared |= set(re.findall(r"\b(intact_\w+)\(", re.sub(r"/\*.*?\*/", "", (include / "intact" / name).read_text(), flags=re.S)))
rc, out, err = run(["nm", "-D", "--defined-only", shared])
shown = {n.split("@")[0] for n in re.findall(r"^\S+ [TWDBR] (\S+)$", out, re.M)}
check("the shared library shows what the headers declare, and nothing else", shown == declared and len(shown) > 40, str(shown ^ declared))
rc, out, err = run(["readelf", "-d", shared])
version = int(re.search(r"#define INTACT_API_VERSION (\d+)", header.read_text())[1])
check("it has a soname with the version of the interface", f"[libintact.so.{version}]" in out, out)
text = pc.read_text()
check("pkg-config knows what to link", re.search(r"^Libs:.*-lintact", text, re.M) and re.search(r"private:.*jansson", text), text)

# the examples
COMPILERS = [(["clang", "-std=c11"], "c"), (["clang++"], "c++")] if clang and sanitized else [(["gcc"], "c"), (["g++"], "c++")] if sanitized else \
    [(["gcc", "-std=c99"], "c"), (["g++"], "c++"), (["clang"], "c"), (["clang++", "-std=c++11"], "c++")]
COMPILERS = [c for c in COMPILERS if shutil.which(c[0][0])]
LINKS = {"shared": ["-L", str(lib), "-lintact", f"-Wl,-rpath,{lib}"], "static": [str(archive), "-ljansson", "-lz", "-lzstd", "-pthread"]}
model = root / "examples/stringbuffer.atm"
want = {r["block"] or "program": r for r in json.loads(run([intact, "check", "-q", "--max-states=1000000", "--json=-", model])[1])["results"]}


def compiled(source, compiler, language, link, exe, libs=None):
    p = subprocess.run([*compiler, "-O1", "-Wall", "-Wextra", "-Werror", *sanitized, "-I", include, "-x", language, source,
                        "-x", "none", *(libs or LINKS[link]), "-o", exe], capture_output=True, text=True)
    return p.returncode == 0, p.stderr[-2000:]


def verdicts(out):
    return {m[1]: (m[2], m[3]) for m in re.finditer(r"^(\S+): (\w+) \((\w+)\)$", out, re.M)}


WORDS = {"holds": "holds", "violated": "VIOLATED", "unknown": "unknown"}
for compiler, language in COMPILERS:
    for link in LINKS:
        how = f"{' '.join(compiler)}, {link}"
        exe = tmp / "check_model"
        ok, why = compiled(root / "examples/api/check_model.c", compiler, language, link, exe)
        rc, out, err = run([exe, model]) if ok else (None, "", why)
        check(f"check_model ({how}) says what intact check says", rc == 1 and not err and
              verdicts(out) == {b: (WORDS[r["verdict"]], r["engine"]) for b, r in want.items()}, out + err)
        schedules = re.findall(r"schedule: (\S+)", out)
        check(f"... and has its schedules ({how})", schedules == [r["counterexample"]["schedule"] for r in want.values() if r["verdict"] == "violated"], out)
        exe = tmp / "check_history"
        # histories alone need nothing but threads
        ok, why = compiled(root / "examples/api/check_history.c", compiler, language, link, exe,
                           [str(archive), "-pthread"] if link == "static" else None)
        rcs = [run([exe, *more])[0] for more in ([], ["stale"])] if ok else why
        check(f"check_history ({how}) tells a stale read", rcs == [0, 1], str(rcs))
exe = tmp / "check_model"
compiled(root / "examples/api/check_model.c", *COMPILERS[0], "shared", exe)
rc, out, err = run([exe, root / "examples/bank-transfer.atm"])
check("a model that holds ends with 0", rc == 0 and "VIOLATED" not in out, out + err)
bad = tmp / "bad.atm"
bad.write_text("int x;\nthread w { atomic a { x = y; } }\n")
rc, out, err = run([exe, bad])
check("a model that is wrong has its place and a code", rc == 2 and f"{bad}:2:" in err and "[undeclared-name]" in err, err)

# the edges: what is asked of nothing, wrong options, documents
USE = tmp / "use.c"
USE.write_text(r"""
#include <intact/intact.h>
#include <stdio.h>
#include <string.h>
static int n;
static void ok(const char *name, int good) { printf("%s %d - %s\n", good ? "ok" : "not ok", ++n, name); }
int main(int argc, char **argv)
{
	static const char text[] = "int c; thread w * 2 { atomic up { c = c + 1; } }";
	struct intact_model *m = intact_model_new();
	struct intact_check *c = intact_check_new();
	struct intact_document *d = intact_document_new(), *e = intact_document_new();
	size_t len = 0, again = 1;
	(void)argc;
	ok("versions", intact_api_version() == INTACT_API_VERSION && strchr(intact_version(), '.'));
	ok("nothing is loaded", !intact_document_answers(d) && intact_document_verdict(d) == INTACT_UNKNOWN && !*intact_document_kind(d) &&
	   !*intact_answer_name(d, 0) && !intact_document_render(d, INTACT_JSON, NULL));
	ok("no model", intact_check_run(c, m, d) == INTACT_INVALID && strstr(intact_check_messages(c), "no model"));
	ok("no file", intact_model_load(m, "/nonexistent.atm") == INTACT_INVALID && strstr(intact_model_messages(m), "cannot-read"));
	ok("no such option", intact_check_set(c, "enginee", "exact") == INTACT_INVALID && strstr(intact_check_messages(c), "engine"));
	ok("no option", intact_check_set(c, "", NULL) == INTACT_INVALID && intact_check_set(c, "a=b", "c") == INTACT_INVALID && intact_check_set(c, NULL, NULL) == INTACT_INVALID);
	ok("no such engine", intact_check_set(c, "engine", "best") == INTACT_INVALID && strstr(intact_check_messages(c), "reduction"));
	ok("help is no option", intact_check_set(c, "help", NULL) == INTACT_INVALID);
	ok("a number", intact_check_set(c, "max-states", "many") == INTACT_INVALID && intact_check_set(c, "max-states", "100000") == INTACT_OK &&
	   !*intact_check_messages(c));
	ok("too many threads", intact_model_threads(m, "w", 100000) == INTACT_INVALID && *intact_model_messages(m));
	ok("three threads", intact_model_threads(m, "w", 3) == INTACT_OK);
	ok("text", intact_model_load_text(m, "c.atm", text, sizeof text - 1) == INTACT_OK);
	ok("no block", intact_check_set(c, "block", "down") == INTACT_OK && intact_check_run(c, m, d) == INTACT_INVALID && strstr(intact_check_messages(c), "'down'"));
	ok("faults and a block", intact_check_set(c, "block", "up") == INTACT_OK && intact_check_set(c, "faults", NULL) == INTACT_OK &&
	   intact_check_run(c, m, d) == INTACT_INVALID);
	intact_check_free(c);
	c = intact_check_new();
	ok("exact", intact_check_set(c, "engine", "exact") == INTACT_OK && intact_check_run(c, m, d) == INTACT_OK);
	intact_check_free(c);
	intact_model_free(m); /* the document stands alone */
	ok("violated", intact_document_verdict(d) == INTACT_VIOLATED && !strcmp(intact_document_kind(d), "check") && intact_document_answers(d) == 2);
	ok("by exact", !strcmp(intact_answer_engine(d, 0), "exact") && !strcmp(intact_answer_name(d, 0), "w.up") && intact_answer_line(d, 0) == 1);
	ok("in words", strstr(intact_answer_title(d, 0), "not atomic") && strstr(intact_answer_message(d, 0), "lost") && !strcmp(intact_answer_file(d, 0), "c.atm"));
	ok("steps", intact_answer_steps(d, 0) > 4 && *intact_step_thread(d, 0, 0) && *intact_step_text(d, 0, 0) && intact_step_line(d, 0, 1) == 1);
	ok("beyond the last", !*intact_answer_name(d, 2) && !intact_answer_steps(d, 2) && !*intact_step_text(d, 0, 1000) && !*intact_answer_schedule(d, 9) &&
	   intact_answer_verdict(d, 2) == INTACT_UNKNOWN);
	const char *json = intact_document_render(d, INTACT_JSON, &len);
	ok("JSON", json && strlen(json) == len && intact_document_load_text(e, json, len) == INTACT_OK && intact_document_answers(e) == 2);
	ok("JSON again", !strcmp(intact_document_render(e, INTACT_JSON, &again), intact_document_render(d, INTACT_JSON, NULL)) && again == len);
	ok("text again", !strcmp(intact_document_render(e, INTACT_TEXT, NULL), intact_document_render(d, INTACT_TEXT, NULL)));
	ok("renderings", strstr(intact_document_render(d, INTACT_HTML, NULL), "<html") && strstr(intact_document_render(d, INTACT_SARIF, NULL), "2.1.0") &&
	   strstr(intact_document_render(d, INTACT_JUNIT, NULL), "<testsuite") && strstr(intact_document_render(d, INTACT_GITHUB, NULL), "::error"));
	ok("no such format", !intact_document_render(d, (enum intact_format)0, NULL) && !intact_document_render(d, (enum intact_format)99, NULL));
	ok("no document", intact_document_load_text(e, "{\"a\":", 5) == INTACT_INVALID && *intact_document_messages(e) && !intact_document_answers(e));
	ok("another file", intact_document_load(e, "/nonexistent.json") == INTACT_INVALID && strstr(intact_document_messages(e), "cannot read"));
	ok("saved by the command", intact_document_load(e, argv[1]) == INTACT_OK && intact_document_verdict(e) == INTACT_VIOLATED);
	fputs(intact_document_render(e, INTACT_TEXT, NULL), stderr);
	ok("verified", intact_document_verify(e, NULL, d) == INTACT_OK && intact_document_verdict(d) == INTACT_HOLDS &&
	   !strcmp(intact_document_kind(d), "verify") && intact_document_answers(d) >= 2 && !*intact_document_messages(e));
	ok("about another model", intact_document_verify(e, argv[2], d) == INTACT_OK && intact_document_verdict(d) == INTACT_VIOLATED);
	ok("a claim that is not true", intact_document_load(e, argv[3]) == INTACT_OK && intact_document_verify(e, NULL, d) == INTACT_OK &&
	   intact_document_verdict(d) == INTACT_VIOLATED);
	ok("nothing to verify", intact_document_verify(d, NULL, e) == INTACT_INVALID && strstr(intact_document_messages(d), "check and history") &&
	   intact_document_verify(e, NULL, e) == INTACT_INVALID);
	intact_document_free(d);
	intact_document_free(e);
	intact_model_free(NULL); intact_check_free(NULL); intact_document_free(NULL);
	return 0;
}
""")
saved = tmp / "saved.json"
run([intact, "check", "-q", "--json", saved, root / "examples/lost-update.atm"])
lie = tmp / "lie.json"
lie.write_text(saved.read_text().replace('"verdict": "violated"', '"verdict": "holds"'))
for link in LINKS:
    good, why = compiled(USE, *COMPILERS[0], link, tmp / "use")
    rc, out, err = run([tmp / "use", saved, model, lie]) if good else (None, "", why)
    check(f"the edges ({link})", rc == 0 and out.count("ok ") == 32 and "not ok" not in out, out + err[:2000])
    check(f"a saved result is rendered as intact report renders it ({link})", err == run([intact, "report", saved])[1], err[:1500])
shutil.rmtree(tmp)
done()
