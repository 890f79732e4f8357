#!/usr/bin/env python3
"""The modes of editors: their words are those of the language; highlighting and indentation in Vim, Neovim and Emacs; Neovim's and
Emacs' own clients against `intact lsp`; the VS Code extension with a stand-in for the editor. What is not installed is skipped by name.

Usage: test_editors.py INTACT SOURCE-ROOT      (TAP on stdout)"""
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "cli"))
from client import Client
from tap import check, done, run

intact, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
editors = root / "share/editors"
vim = editors / "vim"
tmp = tempfile.TemporaryDirectory(prefix="intact-editors-")
work = Path(tmp.name)
home = {"HOME": str(work), "XDG_CONFIG_HOME": str(work), "XDG_DATA_HOME": str(work), "XDG_STATE_HOME": str(work), "XDG_CACHE_HOME": str(work)}


def skip(name):
    check(f"{name} # SKIP", True)


# ---- the words -----------------------------------------------------------------------------

c = Client(intact)
c.initialize()
words = {}
for ending in ("atm", "sml"):
    uri = f"file:///w/empty.{ending}"
    c.open(uri, "")
    words[ending] = sorted(i["label"] for i in c.at("completion", uri, 0, 0)["items"])
c.end()
check("the language tells its words", "fetch_add" in words["atm"] and "call_once" in words["atm"] and "begin" in words["sml"] and "begin" not in words["atm"], words)


def of_vim(name):
    text = (vim / f"syntax/{name}.vim").read_text()
    return sorted(w for line in re.findall(r"^syn keyword (?!intactTodo)\w+ (.*)$", text, re.M) for w in line.split())


def of_emacs(prefix):
    text = (editors / "emacs/intact-mode.el").read_text()
    lists = [re.search(rf"\(defconst {prefix}-{kind}\s+'\(([^)]*)\)", text)[1] for kind in ("types", "keywords", "functions", "constants")]
    return sorted(re.findall(r'"([^"]+)"', " ".join(lists)))


def of_textmate(name):
    grammar = json.loads((editors / f"vscode/syntaxes/{name}.tmLanguage.json").read_text())
    found = set()
    for p in grammar["patterns"]:
        for key in ("match", "begin", "end"):
            re.compile(p.get(key, ""))
        m = re.fullmatch(r"\\b\(([\w|]+)\)\\b", p.get("match", ""))
        found |= set(m[1].split("|")) if m else set()
    return sorted(found)


for name, atm, sml in (("vim", of_vim("intact"), of_vim("intactsml")), ("emacs", of_emacs("intact"), of_emacs("intact-sml")),
                       ("TextMate", of_textmate("intact"), of_textmate("intact-sml"))):
    for ending, got in (("atm", atm), ("sml", sml)):
        check(f"{name}: the words of .{ending} are those of the language, each once", got == words[ending], set(got) ^ set(words[ending]) or got)
package = json.loads((editors / "vscode/package.json").read_text())
version = run([intact, "--version"])[1].split()[1]
named = [g["path"] for g in package["contributes"]["grammars"]] + [x["configuration"] for x in package["contributes"]["languages"]] + [package["main"]]
check("vscode: package.json has this version, no dependencies, and names files that are there", package["version"] == version and
      "dependencies" not in package and "devDependencies" not in package and all((editors / "vscode" / f).exists() for f in named), package)

# ---- Vim and Neovim: file types, highlighting, indentation ---------------------------------

SCRIPT = """set nocompatible
set rtp^={vim}
filetype plugin indent on
syntax on
let s:out = []
function! s:Look(file) abort
  execute 'edit! ' . a:file
  call add(s:out, 'type ' . fnamemodify(a:file, ':t') . ' ' . &filetype)
endfunction
function! s:Group(text) abort
  call cursor(1, 1)
  let l = search(a:text, 'cW')
  call add(s:out, 'group ' . a:text . ' ' . synIDattr(synID(l, col('.'), 1), 'name'))
endfunction
{body}
call writefile(s:out, '{out}')
qall!
"""
FILES = {"model.atm": (root / "examples/lost-update.atm").read_text(), "fig.sml": (root / "examples/fig1.sml").read_text(),
         "proof.sml": "fun f x = x + 1\nval y = f 2\n", "account.spec": (root / "examples/spec/account.spec").read_text(), "intact.spec": "Name: intact\nVersion: 1\n"}
for name, text in FILES.items():
    (work / name).write_text(text)
flat = [root / "examples" / n for n in ("lost-update.atm", "sync-objects.atm", "state-machine.atm", "peterson.atm", "spec/account.spec", "fig1.sml", "fig5a.sml")]
for path in flat:
    formatted = run([intact, "fmt", path])[1]
    (work / f"want-{path.name}").write_text(formatted)
    # comments between marks keep their inner layout: only lines of code lose their indentation
    (work / f"flat-{path.name}").write_text("\n".join(line.lstrip() for line in formatted.split("\n")))
body = [f"call s:Look('{work / n}')" for n in FILES] + [f"call s:Look('{work / 'model.atm'}')", "call s:Group('atomic increment')", "call s:Group('race-free')",
        "call s:Group('acquire(m)')", "call s:Group('@expect')"]
for path in flat:
    body += [f"edit! {work / ('flat-' + path.name)}", "silent! normal! gg=G", f"silent write! {work / 'IND'}-{path.name}"]
for editor, words_ in (("vim", ["-N", "-u", "NONE", "-i", "NONE", "-es", "-S"]), ("nvim", ["--headless", "-u", "NONE", "-i", "NONE", "-S"])):
    if not shutil.which(editor):
        skip(f"{editor} is not installed: file types, highlighting and indentation")
        continue
    script, out = work / f"{editor}.vim", work / f"{editor}.out"
    script.write_text(SCRIPT.replace("{vim}", str(vim)).replace("{out}", str(out)).replace("{body}", "\n".join(body)).replace("IND-", f"{editor}-"))
    rc, o, e = run([editor, *words_, script], env=home, timeout=120)
    if not out.exists() and "E319" in o + e:
        skip(f"{editor} is installed without scripts")
        continue
    got = out.read_text().splitlines() if out.exists() else [o, e]
    check(f"{editor}: file types, also where other languages have the same ending", got[:5] == ["type model.atm intact", "type fig.sml intactsml", got[2],
          "type account.spec intact", got[4]] and not got[2].endswith("intactsml") and not got[4].endswith(" intact"), got)
    check(f"{editor}: highlighting", got[6:] == ["group atomic increment intactClaim", "group race-free intactComment", "group acquire(m) intactSync",
          "group @expect intactExpect"], got)
    wrong = [p.name for p in flat if not (work / f"{editor}-{p.name}").exists() or (work / f"{editor}-{p.name}").read_text() != (work / f"want-{p.name}").read_text()]
    check(f"{editor}: the indentation is that of intact fmt", not wrong, [(n, (work / f"{editor}-{n}").read_text() if (work / f"{editor}-{n}").exists() else o + e) for n in wrong[:1]])

if not shutil.which("nvim"):
    skip("nvim is not installed: its client")
else:
    out = work / "nvim-lsp.json"
    rc, o, e = run(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {here / 'neovim.lua'}"], timeout=180,
                   env=dict(home, INTACT=str(intact), MODEL=str(work / "model.atm"), OUT=str(out), VIMDIR=str(vim)))
    got = json.loads(out.read_text()) if out.exists() else {"failed": o + e}
    check("nvim: its client gets hover and definition", got.get("filetype") == "intact" and "Protected by" in (got.get("hover") or "") and got.get("definition") == 13, got)
    check("nvim: diagnostics follow the typing", len(got.get("diagnostics", [])) >= 1 and "cuont" in got["diagnostics"][0][2] and got.get("cleared") == 0, got)
    check("nvim: formatting, and the verdict of a block as a diagnostic", got.get("formatted") == "  count = v;" and got.get("verdict") == "violated" and
          "is not atomic" in got.get("checked", [""])[0], got)

# ---- what docs/editors.md says ----

page = (root / "docs/editors.md").read_text().replace("/usr/share/intact/editors", str(editors))
snippet = {lang: re.search(rf"```{lang}\n(.*?)```", page, re.S)[1] for lang in ("lua", "vim", "elisp")}
bad = work / "bad.atm"
bad.write_text(FILES["model.atm"].replace("count = v", "cuont = v"))
bins = dict(home, PATH=f"{work / 'bin'}:{os.environ['PATH']}")
(work / "bin").mkdir()
(work / "bin/intact").symlink_to(intact)
if shutil.which("nvim"):
    (work / "init.lua").write_text(snippet["lua"])
    (work / "wait.lua").write_text(f"""vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
vim.fn.writefile(vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0)), "{work / 'init.out'}")
vim.cmd("qall!")""")
    rc, o, e = run(["nvim", "--headless", "-u", work / "init.lua", "-i", "NONE", bad, "-c", f"luafile {work / 'wait.lua'}"], env=bins, timeout=120)
    got = (work / "init.out").read_text() if (work / "init.out").exists() else o + e
    check("docs: init.lua as the page has it shows diagnostics in nvim", "cuont" in got, got)
if shutil.which("vim"):
    (work / "vimrc").write_text(snippet["vim"] + f"filetype plugin indent on\nedit {bad}\ncall writefile([&filetype], '{work / 'vimrc.out'}')\nqall!\n")
    rc, o, e = run(["vim", "-N", "-u", "NONE", "-i", "NONE", "-es", "-S", work / "vimrc"], env=bins, timeout=120)
    if (work / "vim.out").exists():  # vim has scripts
        check("docs: vimrc as the page has it knows the file type", (work / "vimrc.out").exists() and (work / "vimrc.out").read_text() == "intact\n", o + e)
if shutil.which("emacs"):
    rc, o, e = run(["emacs", "--batch", "-Q", "--eval", f"(progn {snippet['elisp']} (princ (assoc-default \"x.atm\" auto-mode-alist 'string-match)))"], env=bins)
    check("docs: the lines for Emacs load", rc == 0 and o == "intact-mode", o + e)

# ---- Emacs ---------------------------------------------------------------------------------

EMACS = """(progn
  (require 'intact-mode)
  (setq intact-program "{intact}")
  (with-temp-file "{out}"
    (let ((out (current-buffer)))
      (dolist (name '({names}))
        (with-current-buffer (find-file-noselect name)
          (let ((mode major-mode))
            (with-current-buffer out (insert (format "mode %s %s\\n" (file-name-nondirectory name) mode))))))
      (with-current-buffer (find-file-noselect "{model}")
        (font-lock-ensure)
        (dolist (word '("race-free" "lock" "acquire" "thread" "worker"))
          (goto-char (point-min))
          (re-search-forward (format "\\\\_<%s\\\\_>" word))
          (let ((face (get-text-property (match-beginning 0) 'face)))
            (with-current-buffer out (insert (format "face %s %s\\n" word face))))))
      (dolist (pair '({flat}))
        (with-current-buffer (find-file-noselect (car pair))
          (let ((inhibit-message t)) (indent-region (point-min) (point-max)))
          (write-region (point-min) (point-max) (cdr pair) nil 'silent)))
      (with-current-buffer (find-file-noselect "{ugly}")
        (intact-format-buffer)
        (let ((text (buffer-string))) (with-current-buffer out (insert "formatted " (if (string-match-p "count = v;" text) "yes" "no") "\\n")))))))
"""
if not shutil.which("emacs"):
    skip("emacs is not installed: modes, highlighting, indentation, formatting")
else:
    out, ugly = work / "emacs.out", work / "ugly.atm"
    ugly.write_text(FILES["model.atm"].replace("count = v;", "count   =v ;"))
    code = EMACS.replace("{intact}", str(intact)).replace("{out}", str(out)).replace("{model}", str(work / "model.atm")).replace("{ugly}", str(ugly))
    code = code.replace("{names}", " ".join(f'"{work / n}"' for n in ("model.atm", "fig.sml", "account.spec")))
    code = code.replace("{flat}", " ".join(f'("{work / ("flat-" + p.name)}" . "{work / ("emacs-" + p.name)}")' for p in flat))
    rc, o, e = run(["emacs", "--batch", "-Q", "-L", editors / "emacs", "--eval", code], env=home, timeout=120)
    got = out.read_text().splitlines() if out.exists() else []
    check("emacs: modes", got[:3] == ["mode model.atm intact-mode", "mode fig.sml intact-sml-mode", "mode account.spec intact-mode"], got or o + e)
    check("emacs: highlighting", got[3:8] == ["face race-free font-lock-comment-face", "face lock font-lock-comment-face", "face acquire font-lock-builtin-face",
          "face thread font-lock-keyword-face", "face worker font-lock-function-name-face"] or ("face acquire font-lock-builtin-face" in got and
          "face race-free font-lock-comment-face" in got), got)
    wrong = [p.name for p in flat if not (work / f"emacs-{p.name}").exists() or (work / f"emacs-{p.name}").read_text() != (work / f"want-{p.name}").read_text()]
    check("emacs: the indentation is that of intact fmt", not wrong, [(n, (work / f"emacs-{n}").read_text() if (work / f"emacs-{n}").exists() else o + e) for n in wrong[:1]])
    check("emacs: formatting", "formatted yes" in got, got)
    rc, o, e = run(["emacs", "--batch", "-Q", "-L", editors / "emacs", "--eval", f"""(progn (setq byte-compile-dest-file-function (lambda (_) "{work / 'x.elc'}"))
        (setq byte-compile-error-on-warn t) (kill-emacs (if (byte-compile-file "{editors / 'emacs/intact-mode.el'}") 0 1)))"""], env=home)
    check("emacs: the mode compiles without warnings", rc == 0, o + e)
    EGLOT = """(progn (require 'intact-mode) (require 'eglot) (setq intact-program "{intact}" eglot-sync-connect 30)
      (setf (alist-get '(intact-mode intact-sml-mode) eglot-server-programs nil nil #'equal) '("{intact}" "lsp"))
      (with-current-buffer (find-file-noselect "{bad}")
        (call-interactively #'eglot)
        (let ((until (+ (float-time) 60)))
          (while (and (not (flymake-diagnostics)) (< (float-time) until))
            (flymake-start) (accept-process-output nil 0.05)))
        (princ (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\\n")) (eglot-shutdown (eglot-current-server))))"""
    if run(["emacs", "--batch", "-Q", "--eval", "(require 'eglot)"], env=home)[0] != 0:
        skip("emacs has no eglot (Emacs 29 has): its client")
    else:
        rc, o, e = run(["emacs", "--batch", "-Q", "-L", editors / "emacs", "--eval", EGLOT.replace("{intact}", str(intact)).replace("{bad}", str(bad))], env=home, timeout=180)
        check("emacs: eglot shows the diagnostics", rc == 0 and "cuont" in o, o + e)

# ---- VS Code -------------------------------------------------------------------------------

SARIF = {"version": "2.1.0", "runs": [{"results": [{"ruleId": "not-atomic", "level": "error", "message": {"text": "deposit is not atomic"},
    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/bank.c"}, "region": {"startLine": 12, "startColumn": 3}}}],
    "relatedLocations": [{"message": {"text": "the other write"}, "physicalLocation": {"artifactLocation": {"uri": "src/bank.c"}, "region": {"startLine": 20}}}]},
    {"ruleId": "x", "message": {"text": "hidden"}, "suppressions": [{"kind": "external"}], "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.c"}}}]},
    {"ruleId": "nowhere", "message": {"text": "no place"}}]}]}
if not shutil.which("node"):
    skip("node is not installed: the VS Code extension")
else:
    (work / "r.sarif").write_text(json.dumps(SARIF))
    run([intact, "check", f"--json={work / 'r.json'}", work / "model.atm"])
    rc, o, e = run(["node", here / "vscode.js", editors / "vscode", intact, work / "model.atm", work / "r.json", work / "r.sarif"], timeout=180)
    got = json.loads(o) if rc == 0 else {}
    check("vscode: the extension runs", rc == 0, o[-2000:] + e)
    check("vscode: diagnostics while typing", got.get("first") == [] and "cuont" in got["edited"][0]["message"] and got["edited"][0]["severity"] == 0, got.get("edited"))
    check("vscode: hover, definition, references, highlights, completion, symbols", "Protected by" in got.get("hover", "") and got["definition"] == 12 and
          got["references"] == 3 and got["highlights"] == 3 and "count" in got["completion"] and "worker" in got["symbols"], got)
    check("vscode: rename and its refusal, formatting", got.get("placeholder") == "count" and got["rename"] == 3 and "word of the language" in got["refused"] and got["format"] == 0, got)
    check("vscode: lenses; a check is a diagnostic with related places and a message", got.get("lens") == ["check this model", "check this block", "show the run"] and
          got["unregistered"] == 0 and got["check"]["verdict"] == "violated" and len(got["checked"][0]["relatedInformation"]) > 5 and
          any("is not atomic" in m[1] for m in got["messages"]) and got["progress"] == 2, got)
    check("vscode: the page in a panel", got.get("panel") == ["Intact: worker.increment", True], got.get("panel"))
    check("vscode: findings of a result as JSON", got.get("json", 0) >= 1 and any("worker" in r["message"] for r in got["found"][0][1][0]["relatedInformation"]) and "is not atomic" in got["found"][0][1][0]["message"], got.get("found"))
    check("vscode: findings of SARIF, without those that are suppressed", got.get("sarif") == 1 and got["foundAgain"][0][0].endswith("/src/bank.c") and
          got["foundAgain"][0][1][0]["range"]["start"] == {"line": 11, "character": 2} and got["foundAgain"][0][1][0]["relatedInformation"][0]["message"] == "the other write",
          got.get("foundAgain"))
    check("vscode: a file that is neither is named", got.get("broken") == 0 and any(m[0] == "error" and "model.atm" in m[1] for m in got["messages"]), got.get("messages"))
done()
