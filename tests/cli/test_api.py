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
for name in ("intact.h", "history.h", "txn.h"):
    declared |= set(re.findall(r"\b(intact_\w+)\(", re.sub(r"/\*.*?\*/", "", (include / "intact" / name).read_text(), flags=re.S)))
rc, out, err = run(["nm", "-D", "--defined-only", shared])
shown = {n.split("@")[0] for n in re.findall(r"^\S+ [TWDBR] (\S+)$", out, re.M)}
check("the shared library shows what the headers declare, and nothing else", shown == declared and len(shown) > 40, str(shown ^ declared))
rc, out, err = run(["readelf", "-d", shared])
version = int(re.search(r"#define INTACT_API_VERSION (\d+)", header.read_text())[1])
check("the soname stays while functions are only added", "[libintact.so.1]" in out, out)
rc, out, err = run(["nm", "-D", "--defined-only", "--with-symbol-versions", shared])
nodes = dict(re.findall(r"^\S+ T (intact_\w+)@@INTACT_(\d+)$", out, re.M))
FIRST = """api_version version model_new model_free model_threads model_load model_load_text model_messages check_new check_free check_set
    check_run check_messages document_new document_free document_load document_load_text document_messages document_kind document_verdict
    document_answers document_render document_verify answer_name answer_verdict answer_engine answer_title answer_message answer_file
    answer_line answer_schedule answer_steps step_thread step_text step_line history_new history_free history_recorder history_check
    history_report history_save invoke invoke_key invoke_cas return return_empty cancel""".split()
check("functions of the first version are still those, and each later one has the version that added it",
      {n for n, v in nodes.items() if v == "1"} == {"intact_" + n for n in FIRST} and max(map(int, nodes.values())) == version, str(nodes))
text = pc.read_text()
check("pkg-config knows what to link", re.search(r"^Libs:.*-lintact", text, re.M) and re.search(r"private:.*jansson", text), text)

# the examples
COMPILERS = [(["clang", "-std=c11"], "c"), (["clang++"], "c++")] if clang and sanitized else [(["gcc"], "c"), (["g++"], "c++")] if sanitized else \
    [(["gcc", "-std=c99"], "c"), (["g++"], "c++"), (["clang"], "c"), (["clang++", "-std=c++11"], "c++")]
COMPILERS = [c for c in COMPILERS if shutil.which(c[0][0])]
LINKS = {"shared": ["-L", str(lib), "-lintact", f"-Wl,-rpath,{lib}"], "static": [str(archive), "-ljansson", "-lz", "-lzstd", "-ldw", "-lelf", "-pthread"]}
model = root / "examples/stringbuffer.atm"
want = {r["block"] or "program": r for r in json.loads(run([intact, "check", "-q", "--max-states=1000000", "--json=-", model])[1])["results"]}


def compiled(source, compiler, language, link, exe, libs=None):
    libs = libs or LINKS[link]
    end = ["-x", "none"] if any(str(x).endswith((".a", ".o", ".so")) for x in libs) else []  # clang 19 refuses it without a file behind
    p = subprocess.run([*compiler, "-O1", "-Wall", "-Wextra", "-Werror", *sanitized, "-I", include, "-x", language, source,
                        *end, *libs, "-o", exe], capture_output=True, text=True)
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
        exe = tmp / "check_transactions"
        ok, why = compiled(root / "examples/api/check_transactions.c", compiler, language, link, exe)
        got = [run([exe, *more])[:2] for more in (["serializable"], ["snapshot-isolation"], [], ["serialisable"])] if ok else why
        check(f"check_transactions ({how}) tells write skew", ok and [g[0] for g in got] == [1, 0, 1, 2] and "write-skew" in got[0][1] and
              "did you mean serializable" in got[3][1], str(got))
        for name, files, command in (("check_trace", sorted((root / "examples/traces").iterdir()), ["trace", "-p"]),
                                     ("check_history_file", [p for p in sorted((root / "examples/history").iterdir()) if p.suffix != ".c"], ["history"])):
            exe = tmp / name
            ok, why = compiled(root / "examples/api" / (name + ".c"), compiler, language, link, exe)
            got = [(run([exe, f])[0], run([intact, *command, f])[0]) for f in files] if ok else why
            check(f"{name} ({how}) ends as intact {command[0]} does", ok and len(got) > 2 and all(a == b for a, b in got) and len(set(got)) > 1, str(got))
files = {f: run([tmp / "check_trace", f])[1] for f in (root / "examples/traces").iterdir()}
check("check_trace shows a cycle, what another schedule can do, and the events", any(
      re.search(r"deposit is not atomic\n.*intervened with w\(balance\).*\n +thread T1 +r\(balance\) at 11\n", o) and "can be violated by another schedule" in o
      for o in files.values()) and not files[root / "examples/traces/two-phase.std"], str(files))
for f in ("stale-read.edn", "queue.csv", "two-keys.json"):
    f = root / "examples/history" / f
    check(f"check_history_file makes the document of intact history ({f.name})",
          run([tmp / "check_history_file", f, "json", "witness", "condition=sequential"])[1] == run([intact, "history", "-w", "-c", "sequential", "--json=-", f])[1], "")
rc, out, err = run([tmp / "check_history_file", root / "examples/history/stale-read.edn", "conditio=atomic"])
check("an option that does not exist is told of", rc == 2 and "did you mean '--condition'" in err, err)
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
USE.write_text(r"""#define _GNU_SOURCE
#include <intact/intact.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
static int n;
static void ok(const char *name, int good) { printf("%s %d - %s\n", good ? "ok" : "not ok", ++n, name); }
/* Does the judge say of what was recorded what intact_history_check says? */
static int same(struct intact_history *h, enum intact_verdict want)
{
	struct intact_history_judge *j = intact_history_judge_new();
	struct intact_document *d = intact_document_new();
	int good = intact_history_check(h) == want && intact_history_judge_recorded(j, h, d) == INTACT_OK && intact_document_verdict(d) == want &&
	           !strcmp(intact_document_kind(d), "history");
	if (!good)
		fprintf(stderr, "%s%s", intact_history_report(h), intact_history_judge_messages(j));
	intact_history_free(h);
	intact_history_judge_free(j);
	intact_document_free(d);
	return good;
}

/* One operation after the other; of each three numbers: operation, argument, answer (-1: nothing was there). */
static struct intact_history *did(enum intact_object o, int64_t initial, const int *ops, int count)
{
	struct intact_history *h = intact_history_new(o, initial);
	struct intact_recorder *r = intact_history_recorder(h);
	for (int i = 0; i < count; i += 3) {
		if (ops[i] == INTACT_CAS)
			intact_invoke_cas(r, ops[i + 1], ops[i + 1] + 1);
		else
			intact_invoke(r, (enum intact_op)ops[i], ops[i + 1]);
		if (ops[i + 2] < 0)
			intact_return_empty(r);
		else
			intact_return(r, ops[i + 2]);
	}
	return h;
}
#define DID(o, initial, ...) did(o, initial, (const int[]){ __VA_ARGS__ }, (int)(sizeof (int[]){ __VA_ARGS__ } / sizeof (int)))

static void recorded(void)
{
	ok("a register", same(DID(INTACT_REGISTER, 7, INTACT_READ, 0, 7, INTACT_CAS, 7, 1, INTACT_READ, 0, 8, INTACT_CAS, 7, 0), INTACT_HOLDS) &&
	   same(DID(INTACT_REGISTER, 7, INTACT_READ, 0, 0), INTACT_VIOLATED) && same(DID(INTACT_REGISTER, 7, INTACT_CAS, 6, 1), INTACT_VIOLATED));
	ok("a counter", same(DID(INTACT_COUNTER, 40, INTACT_ADD, 2, 0, INTACT_READ, 0, 42), INTACT_HOLDS) &&
	   same(DID(INTACT_COUNTER, 40, INTACT_ADD, 2, 0, INTACT_READ, 0, 41), INTACT_VIOLATED));
	ok("a mutex", same(DID(INTACT_MUTEX, 0, INTACT_ACQUIRE, 0, 0, INTACT_RELEASE, 0, 0, INTACT_ACQUIRE, 0, 0), INTACT_HOLDS) &&
	   same(DID(INTACT_MUTEX, 0, INTACT_ACQUIRE, 0, 0, INTACT_ACQUIRE, 0, 0), INTACT_VIOLATED));
	ok("a set", same(DID(INTACT_SET, 0, INTACT_ADD, 3, 1, INTACT_CONTAINS, 3, 1, INTACT_REMOVE, 3, 1, INTACT_REMOVE, 3, 0), INTACT_HOLDS) &&
	   same(DID(INTACT_SET, 0, INTACT_ADD, 3, 1, INTACT_CONTAINS, 3, 0), INTACT_VIOLATED));
	ok("a queue", same(DID(INTACT_QUEUE, 0, INTACT_ENQUEUE, 1, 0, INTACT_ENQUEUE, 2, 0, INTACT_DEQUEUE, 0, 1, INTACT_DEQUEUE, 0, 2, INTACT_DEQUEUE, 0, -1), INTACT_HOLDS) &&
	   same(DID(INTACT_QUEUE, 0, INTACT_ENQUEUE, 1, 0, INTACT_ENQUEUE, 2, 0, INTACT_DEQUEUE, 0, 2), INTACT_VIOLATED));
	ok("a stack", same(DID(INTACT_STACK, 0, INTACT_PUSH, 1, 0, INTACT_PUSH, 2, 0, INTACT_POP, 0, 2, INTACT_POP, 0, 1, INTACT_POP, 0, -1), INTACT_HOLDS) &&
	   same(DID(INTACT_STACK, 0, INTACT_PUSH, 1, 0, INTACT_PUSH, 2, 0, INTACT_POP, 0, 1), INTACT_VIOLATED));
	ok("a priority queue", same(DID(INTACT_PRIORITY_QUEUE, 0, INTACT_INSERT, 2, 0, INTACT_INSERT, 1, 0, INTACT_POLL, 0, 1, INTACT_POLL, 0, 2), INTACT_HOLDS) &&
	   same(DID(INTACT_PRIORITY_QUEUE, 0, INTACT_INSERT, 2, 0, INTACT_INSERT, 1, 0, INTACT_POLL, 0, 2), INTACT_VIOLATED));
}

/* Histories, traces and nets: what is right is in the examples; here what is wrong. */
static void judges(char **argv)
{
	struct intact_history_judge *h = intact_history_judge_new();
	struct intact_trace_judge *t = intact_trace_judge_new();
	struct intact_net_judge *p = intact_net_judge_new();
	struct intact_document *d = intact_document_new(), *e = intact_document_new();
	static const char edn[] = "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n"
	                          "{:process 1, :type :invoke, :f :read, :value nil}\n{:process 1, :type :ok, :f :read, :value 0}\n";
	ok("a history as text", intact_history_judge_set(h, "init", "0") == INTACT_OK && intact_history_judge_text(h, "a.edn", edn, sizeof edn - 1, d) == INTACT_OK &&
	   intact_document_verdict(d) == INTACT_VIOLATED && intact_document_answers(d) == 1 && *intact_answer_message(d, 0));
	ok("sequential", intact_history_judge_set(h, "condition", "sequential") == INTACT_OK && intact_history_judge_text(h, NULL, edn, sizeof edn - 1, d) == INTACT_OK &&
	   intact_document_verdict(d) == INTACT_HOLDS);
	ok("options that cannot be combined", intact_history_judge_set(h, "k", "2") == INTACT_OK && intact_history_judge_text(h, NULL, edn, sizeof edn - 1, d) == INTACT_INVALID &&
	   strstr(intact_history_judge_messages(h), "--condition=atomic"));
	ok("a wrong choice", intact_history_judge_set(h, "object", "sofa") == INTACT_INVALID && strstr(intact_history_judge_messages(h), "queue"));
	intact_history_judge_free(h);
	h = intact_history_judge_new();
	ok("no history", intact_history_judge_text(h, "x", "", 0, d) == INTACT_INVALID && strstr(intact_history_judge_messages(h), "empty-history") &&
	   intact_history_judge_file(h, "/nonexistent", d) == INTACT_INVALID && strstr(intact_history_judge_messages(h), "cannot-read"));
	ok("a text's own lines are shown", intact_history_judge_text(h, argv[4], "{:process 0, :type :invoke, :f :fly}\n", 37, d) == INTACT_INVALID &&
	   strstr(intact_history_judge_messages(h), ":f :fly"));
	ok("a specification", intact_history_judge_set(h, "spec", "/nonexistent.atm") == INTACT_OK && intact_history_judge_text(h, "x", edn, sizeof edn - 1, d) == INTACT_INVALID &&
	   *intact_history_judge_messages(h));
	struct intact_history *twice = intact_history_new(INTACT_QUEUE, 0);
	struct intact_recorder *r = intact_history_recorder(twice);
	intact_invoke(r, INTACT_ENQUEUE, 1);
	intact_invoke(r, INTACT_ENQUEUE, 1);
	ok("a recorder that was misused", !intact_history_text(twice, NULL) && intact_history_judge_recorded(h, twice, d) == INTACT_INVALID &&
	   strstr(intact_history_judge_messages(h), "two operations open"));
	intact_history_free(twice);
	ok("a trace", intact_trace_judge_file(t, argv[4], d) == INTACT_OK && intact_document_verdict(d) == INTACT_VIOLATED && !strcmp(intact_document_kind(d), "trace") &&
	   intact_document_answers(d) == 1);
	ok("... is verified", intact_document_verify(d, NULL, e) == INTACT_OK && intact_document_verdict(e) == INTACT_HOLDS);
	ok("... with other schedules", intact_trace_judge_set(t, "predict", NULL) == INTACT_OK && intact_trace_judge_file(t, argv[4], d) == INTACT_OK &&
	   intact_document_answers(d) > 1);
	ok("a trace that is none", intact_trace_judge_file(t, argv[2], d) == INTACT_INVALID && strstr(intact_trace_judge_messages(t), ": error: "));
	ok("an option of traces", intact_trace_judge_set(t, "window", "1") == INTACT_INVALID && *intact_trace_judge_messages(t) &&
	   intact_trace_judge_set(t, "json", "x") == INTACT_INVALID);
	setenv("INTACT_OPTIONS", "suppressions=/nonexistent", 1);
	ok("a recording, whatever the environment says", intact_trace_judge_file(t, argv[5], d) == INTACT_OK && !strcmp(intact_document_kind(d), "trace"));
	ok("... with options", intact_trace_judge_set(t, "options", "suppressions=/nonexistent") == INTACT_OK && intact_trace_judge_file(t, argv[5], d) == INTACT_INVALID &&
	   strstr(intact_trace_judge_messages(t), "/nonexistent"));
	ok("a net", intact_net_judge_file(p, argv[6], d) == INTACT_OK && intact_document_verdict(d) == INTACT_HOLDS && !strcmp(intact_document_kind(d), "net") &&
	   strstr(intact_document_render(d, INTACT_DOT, NULL), "digraph"));
	ok("a place that it has not", intact_net_judge_set(p, "cover", "nowhere") == INTACT_OK && intact_net_judge_file(p, argv[6], d) == INTACT_INVALID &&
	   strstr(intact_net_judge_messages(p), "'nowhere'"));
	ok("a net that is none", intact_net_judge_file(p, argv[4], d) == INTACT_INVALID && *intact_net_judge_messages(p) &&
	   intact_net_judge_set(p, "cove", "x") == INTACT_INVALID);
	intact_history_judge_free(h); intact_trace_judge_free(t); intact_net_judge_free(p); intact_document_free(d); intact_document_free(e);
	intact_history_judge_free(NULL); intact_trace_judge_free(NULL); intact_net_judge_free(NULL);
}

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
	ok("nothing to verify", intact_document_verify(d, NULL, e) == INTACT_INVALID && strstr(intact_document_messages(d), "check, trace and history") &&
	   intact_document_verify(e, NULL, e) == INTACT_INVALID);
	intact_document_free(d);
	intact_document_free(e);
	intact_model_free(NULL); intact_check_free(NULL); intact_document_free(NULL);
	recorded();
	judges(argv);
	return 0;
}
""")
saved = tmp / "saved.json"
run([intact, "check", "-q", "--json", saved, root / "examples/lost-update.atm"])
lie = tmp / "lie.json"
lie.write_text(saved.read_text().replace('"verdict": "violated"', '"verdict": "holds"'))
[net] = (root / "examples/nets").iterdir()
for link in LINKS:
    good, why = compiled(USE, *COMPILERS[0], link, tmp / "use")
    rc, out, err = run([tmp / "use", saved, model, lie, root / "examples/traces/lost-update.std", root / "tests/record/version2.itr.gz", net]) if good else (None, "", why)
    check(f"the edges ({link})", rc == 0 and out.count("ok ") == 32 + 7 + 18 and "not ok" not in out, out + err[:2000])
    check(f"a saved result is rendered as intact report renders it ({link})", err == run([intact, "report", saved])[1], err[:1500])
shutil.rmtree(tmp)
done()
