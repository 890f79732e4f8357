"""Real results with hostile names in them: makes inputs of every kind, judges
them and writes the documents. Used by test_report_hostile.py and the browser
tests. Usage: hostile_inputs.py INTACT ROOT OUT-DIRECTORY"""
import json
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from hostile_names import hostile_names


def c_string(s):
    return '"' + "".join(f"\\{b:03o}" for b in s.encode()) + '"'


def judge(intact, args, out, cwd=None):
    """The document of a command, or None when the input is refused (exit 2)."""
    p = subprocess.run([str(intact), args[0], "--json", str(out), *map(str, args[1:])], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=300, cwd=cwd)
    if p.returncode not in (0, 1, 2, 3, 66):
        raise AssertionError(f"exit {p.returncode}: {args} {p.stderr[:300]!r}")
    return out if p.returncode != 2 and out.exists() else None


def models(intact, root, out, names):
    text = (root / "examples" / "lost-update.atm").read_text()
    for i, n in enumerate(names[::10]):
        name = n.replace("/", "_").encode()[:120].decode("utf-8", "ignore") + ".atm"
        if name.startswith("-"):
            name = "_" + name
        (out / name).write_text(f"// {n if n.isprintable() else ''}\n" + text)
        yield judge(intact, ["check", name], out / f"model{i}.json", cwd=out)


def histories(intact, root, out, names):
    rows = []
    for i, n in enumerate(names):
        for kind, f, value in (("invoke", "write", n), ("ok", "write", n), ("invoke", "read", None), ("ok", "read", n),
                               ("invoke", "read", None), ("ok", "read", names[(i + 1) % len(names)])):
            rows.append({"process": n, "type": kind, "f": f, "value": [n, value]})
    (out / "names.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    yield judge(intact, ["history", "--pairs=yes", "--init=nil", "names.jsonl"], out / "history.json", cwd=out)


def traces(intact, root, out, names):
    usable = [n for n in names if not set(n) & set("()|\n\r\0") and n.strip() and len(n) < 5000]
    rows = []
    for n in usable:
        rows += [f"{n}|begin({n})|{n}", f"{n}|r({n})|{n}", f"other|w({n})|{n}:7", f"{n}|w({n})|{n}", f"{n}|end({n})|{n}"]
    (out / "names.std").write_text("\n".join(rows) + "\n")
    yield judge(intact, ["trace", "--limit=0", "--each", "names.std"], out / "trace.json", cwd=out)


def nets(intact, root, out, names):
    ok = [n for n in names if all(c >= " " or c in "\t\n" for c in n) and "\x7f" not in n and not set(n) & set("\ufffe\uffff")][:60]
    parts = []
    for i, n in enumerate(ok):
        label = f"<name><text>{escape(n)}</text></name>"
        parts.append(f"<place id={quoteattr(f'p{i}')}>{label}<initialMarking><text>1</text></initialMarking></place>"
                     f"<place id={quoteattr(f'q{i}')}>{label}</place><transition id={quoteattr(f't{i}')}>{label}</transition>"
                     f"<arc id='a{i}' source='p{i}' target='t{i}'/><arc id='b{i}' source='t{i}' target='q{i}'/>")
    (out / "names.pnml").write_text('<?xml version="1.0" encoding="UTF-8"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="n" '
                                    'type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">' + "".join(parts) + "</page></net></pnml>")
    yield judge(intact, ["net", "--max-states=1000", "names.pnml"], out / "net.json", cwd=out)


def programs(intact, root, out, names):
    marks = [n for n in names if len(n.encode()) < 150 and n][:60]
    source = ["#include <intact/annotate.h>", "#include <pthread.h>", f'#include "{(root / "tests/programs/sched.h").resolve()}"', "static int hits[100];",
              '#line 7 "<img src=x onerror=window.pwned=1>.c"']
    for i, m in enumerate(marks):  # a function each: findings of one place are one finding
        source += [f"static void bump{i}(void)", "{", f"\tINTACT_BEGIN({c_string(m)});", f"\tint r = hits[{i}];", f"\thits[{i}] = r + 1;",
                   "\tINTACT_END();", "}"]
    source += ["static void all(void)", "{", *[f"\tbump{i}();" for i in range(len(marks))], "}",
              "static void *one(void *a)", "{", "\tall();", "\tat(1);", "\tat(3);", "\tall();", "\treturn a;", "}",
              "static void *two(void *a)", "{", "\twhile (sched_step < 1)", "\t\tsched_yield();", "\tall();", "\tat(2);", "\treturn a;", "}",
              "int main(void)", "{", "\tpthread_t a, b;", "\tpthread_create(&a, 0, one, 0);", "\tpthread_create(&b, 0, two, 0);",
              "\tpthread_join(a, 0);", "\tpthread_join(b, 0);", "\treturn 0;", "}"]
    (out / "marks.c").write_text("\n".join(source) + "\n")
    subprocess.run([str(intact), "cc", "-g", "-pthread", "-o", "marks", "marks.c"], cwd=out, check=True)
    yield judge(intact, ["run", "--", "./marks"], out / "run.json", cwd=out)


def everywhere(document, names):
    """Every text that is a name becomes a hostile one, each another."""
    keep = {"quiescence", "scope", "dead", "concrete", "condition", "intact", "schema", "kind", "verdict", "problem", "mode", "answer", "language", "hash", "process", "key", "function", "call", "span", "a", "b",
            "result", "line", "order", "of", "claim", "change"}
    state = [0]

    def walk(node, key=None):
        if isinstance(node, dict):
            return {(k if key not in ("shared", "locals") else walk(k)): (v if k in keep and isinstance(v, str) else walk(v, k)) for k, v in node.items()}
        if isinstance(node, list):
            return [walk(v) for v in node]
        if isinstance(node, str):
            state[0] += 1
            return names[state[0] % len(names)]
        return node
    return walk(document)


def claims(intact, root, out, names):
    """Results whose claims have such names, held against what they are about."""
    for args, of in ((["check", "examples/lost-update.atm"], "check"), (["history", "-w", "examples/history/stale-read.edn"], "history"),
                     (["trace", "examples/traces/lost-update.std"], "trace")):
        saved = judge(intact, args, out / f"claims-{of}.json", cwd=root)
        data = json.loads(saved.read_text())
        some = data["results"][0]
        data["results"] = [everywhere(some, names[i:] + names[:i]) for i in range(0, 200, 7)] + [some] if of == "check" else [some]
        if of == "trace":
            some["findings"] = [everywhere(some["findings"][0], names[i:] + names[:i]) for i in range(0, 200, 7)]
        saved.write_text(json.dumps(data))
        yield judge(intact, ["verify", saved], out / f"claims-{of}-verified.json", cwd=root)


def documents(intact, root, out):
    names = hostile_names()
    made = []
    for kind in (models, histories, traces, nets, programs, claims):
        made += [d for d in kind(intact, root, out, names) if d]
    base = {}
    for args in (["check", "examples/lost-update.atm"], ["sim", "examples/lost-update.atm"], ["history", "examples/history/stale-read.edn"],
                 ["trace", "--predict", "examples/traces/lost-update.std"], ["net", "examples/nets/acquire1-4.ll_net"]):
        base[args[0]] = judge(intact, args, out / f"base-{args[0]}.json", cwd=root)
    base["run"] = out / "run.json"
    told = json.loads(base["check"].read_text())
    for r in told["results"]:  # called atomic, which is rejected with a run
        r.update(verdict="holds", problem="none")
    told["verdict"] = "holds"
    (out / "told.json").write_text(json.dumps(told))
    base["verify"] = judge(intact, ["verify", out / "told.json"], out / "base-verify.json", cwd=root)
    run = json.loads(base["run"].read_text())
    (out / "no-findings.json").write_text(json.dumps(dict(run, results=[], not_shown=[])))
    (out / "some-findings.json").write_text(json.dumps(dict(run, results=run["results"][:5])))
    base["diff"] = judge(intact, ["diff", out / "no-findings.json", out / "some-findings.json"], out / "base-diff.json", cwd=root)
    made.append(judge(intact, ["diff", out / "no-findings.json", out / "run.json"], out / "diff.json", cwd=root))
    for kind, path in base.items():
        for shift in range(0, 200, 50):
            target = out / f"every-{kind}-{shift}.json"
            target.write_text(json.dumps(everywhere(json.loads(path.read_text()), names[shift:] + names[:shift])))
            made.append(target)
    return made


if __name__ == "__main__":
    for d in documents(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()):
        print(d)
