#!/usr/bin/env python3
"""Man pages and completions: they say what --help says, render without warnings, and complete in the shells that are there.

Usage: test_manual.py INTACT BUILD     (TAP on stdout)"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import check, done, run

intact, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
commands = re.findall(r"^  (\S+) +\S", run([intact, "help"])[1].split("commands:")[1].split("\n\n")[0], re.M)
check("the commands are read", len(commands) > 15 and "trace" in commands, commands)
OPTION = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(\S*)", re.M)


def plain(text):
    """Text without layout: overstrikes, dashes and white space."""
    text = re.sub(r".\x08", "", text)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return re.sub(r"\s+", " ", text.replace("\u2010", "-").replace("\u2212", "-").replace("\u2019", "'").replace("\u2018", "`"))


# ---- man pages ------------------------------------------------------------------

with tempfile.TemporaryDirectory() as tmp:
    for c in [None] + commands:
        name = f"intact-{c}" if c else "intact"
        rc, roff, err = run([intact, "help", "--man"] + ([c] if c else []))
        page = Path(tmp) / f"{name}.1"
        page.write_text(roff)
        built = build / "share" / f"{name}.1"
        check(f"{name}(1) is written, and installed as the build made it", rc == 0 and not err and built.is_file() and built.read_text() == roff,
              err or built)
        warnings = ""
        if shutil.which("groff"):
            warnings += run(["groff", "-ww", "-man", "-Tutf8", "-z", page])[2]
        if shutil.which("mandoc"):
            warnings += "".join(line + "\n" for line in run(["mandoc", "-T", "lint", "-W", "warning", page])[1].splitlines()
                                if "referenced manual not found" not in line)
        check(f"{name}(1) renders without warnings", not warnings, warnings)
        if not c or not shutil.which("groff"):
            continue
        text = plain(run(["groff", "-man", "-Tascii", "-P-c", page])[1])
        missing, help = [], run([intact, c, "--help"])[1]
        helps = [help]
        for sub in re.findall(rf"^ +intact {re.escape(c)} ([a-z]+) ", help, re.M):
            helps.append(run([intact, c, sub, "--help"])[1])
        for h in helps:
            missing += [h.splitlines()[0]] if plain(h.split("\n")[0].replace("usage: ", "")) not in text else []
            for short, option, arg in OPTION.findall(h):
                want = (f"-{short}, " if short else "") + f"--{option}{arg}"
                missing += [want] if want not in text else []
        body = plain(re.split(r"\n(?:options|\n)", help, maxsplit=1)[1].split("\noptions:")[0])
        missing += [s for s in re.split(r"(?<=[.:]) ", body.strip())[:3] if s.strip() not in text]
        check(f"{name}(1) has the options and the text of --help", not missing, "\n".join(missing) + "\n" + text)

# ---- completions ----------------------------------------------------------------

scripts = {}
for shell, file in (("bash", "intact"), ("zsh", "_intact"), ("fish", "intact.fish")):
    rc, out, err = run([intact, "help", f"--completion={shell}"])
    check(f"the completion for {shell} is the built one", rc == 0 and out == (build / "share" / file).read_text(), err)
    scripts[shell] = build / "share" / file
    absent = [c for c in commands if c not in out] + [o for c in commands for _, o, _ in OPTION.findall(run([intact, c, "--help"])[1])
                                                      if o not in out]
    check(f"the completion for {shell} knows every command and option", not absent, absent)

place = tempfile.TemporaryDirectory()
here = Path(place.name)
for f in ("one.atm", "two.sml", "other.c", "h.edn", "r.json", "with space.atm", "t.trace"):
    (here / f).write_text("")
(here / "models").mkdir()
(here / "prog").write_text("#!/bin/sh\n")
(here / "prog").chmod(0o755)


def bash(*words, breaks="\" \t\n'><=;|&(:"):
    """What bash completes for the line of these words, the last of which is unfinished; words as readline splits them."""
    split = [p for w in words for p in (re.split(r"(=)", w) if "=" in breaks and w.startswith("-") else [w])]
    if split and split[-1] == "" and len(split) > 1 and split[-2] == "=":
        split.pop()  # "--engine=": readline's last word is the sign
    quoted = " ".join("'" + w.replace("'", "'\\''") + "'" for w in ["intact", *split])
    script = f"source '{scripts['bash']}'; COMP_WORDS=({quoted}); COMP_CWORD={len(split)}; _intact; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    rc, out, err = run(["bash", "--norc", "-c", script], cwd=here)
    return sorted(line for line in out.split("\n") if line) if not err else ["ERROR " + err]


CASES = [  # words, what must be there, what must not
    (["ch"], {"check"}, {"run"}),
    ([""], set(commands), set()),
    (["check", ""], {"one.atm", "two.sml", "models", "with space.atm"}, {"other.c", "h.edn"}),
    (["check", "--en"], {"--engine="}, {"--json"}),
    (["check", "--engine=ca"], {"causal"}, {"exact"}),
    (["check", "--engine", ""], {"auto", "all", "exact", "reduction"}, {"one.atm"}),
    (["check", "--json="], {"r.json"}, {"one.atm"}),
    (["explain", "lin"], {"linearizable"}, {"one.atm"}),
    (["history", ""], {"h.edn", "r.json", "convert"}, {"one.atm"}),
    (["trace", "con"], {"convert"}, {"stats"}),
    (["trace", "convert", "--co"], {"--compress="}, {"--predict"}),
    (["trace", "convert", "--compress", ""], {"zstd", "gzip"}, {"t.trace"}),
    (["trace", "--pre"], {"--predict"}, {"--compress="}),
    (["trace", "convert", "con"], set(), {"convert"}),
    (["run", "--", "pr"], {"prog"}, set()),
    (["run", "pr"], {"prog"}, set()),
    (["run", "--exitcode", "3", "prog", "--js"], set(), {"--json"}),
    (["explore", "--strategy=p"], {"pct", "pos", "preempt"}, {"mix"}),
    (["help", "tr"], {"trace"}, {"check"}),
]
for words, there, absent in CASES:
    got = set(bash(*words))
    check(f"bash: intact {' '.join(words)}<TAB>", there <= got and not absent & got, sorted(got))
got = set(bash("check", "--engine=ca", breaks=" \t\n"))
check("bash: without = as a word break the whole word is completed", got == {"--engine=causal"}, sorted(got))
if shutil.which("shellcheck"):
    rc, out, err = run(["shellcheck", "-s", "bash", "-e", "SC2207", scripts["bash"]])
    check("bash: shellcheck", rc == 0, out)

if shutil.which("fish"):
    for words, there, absent in CASES:
        line = "intact " + " ".join(words)
        rc, out, err = run(["fish", "--no-config", "-c", f"source '{scripts['fish']}'; complete -C '{line}'"], cwd=here, env={"HOME": str(here)})
        got = {w.split("\t")[0].rstrip("/") for w in out.splitlines()}
        got |= {w.replace("\\ ", " ") for w in got} | {w.split("=", 1)[1] for w in got if w.startswith("--") and "=" in w} | {w + "=" for w in got}
        check(f"fish: {line}<TAB>", there <= got and not absent & got, out + err)
else:
    check("fish is not installed # SKIP", True)

ZSH = r"""
zmodload zsh/zpty || exit 3
zpty z zsh -f -i
zpty -w z "PS1=; cd $HERE; fpath=(${SCRIPT:h} \$fpath); autoload -Uz compinit; compinit -u -d $HERE/.zcompdump; zstyle ':completion:*' list-packed no"
zpty -w z "LISTMAX=10000; COLUMNS=300; stty cols 300 rows 1000; bindkey '^I' complete-word; setopt NO_AUTO_MENU LIST_AMBIGUOUS; compdef _intact intact"
zpty -w z "null-line() { print -rn -- \"<<\$LBUFFER>>\"; zle kill-whole-line }; zle -N null-line; bindkey '^X' null-line; bindkey '^D' list-choices; print READY"
zpty -r -m z out '*READY*READY*'
zpty -w -n z "$LINE"$'\t\x04'
zpty -w -n z $'\x18'
zpty -r -m z out '*<<*>>*'
print -r -- "$out"
zpty -d z
"""
if shutil.which("zsh"):
    for words, there, absent in CASES:
        line = "intact " + " ".join(words)
        rc, out, err = run(["zsh", "-f", "-c", ZSH], cwd=here, env={"HOME": str(here), "ZDOTDIR": str(here), "HERE": str(here), "LINE": line,
                                                                  "SCRIPT": str(scripts["zsh"]), "TERM": "dumb"}, timeout=100)
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", " ", out).replace("\\ ", " ")
        got = set(re.findall(r"[^\s<>]+", text)) | {w.split("=", 1)[1] for w in re.findall(r"--[\w-]+=[^\s>]+", text)}
        got |= {w.rstrip("/") for w in got} | {w + "=" for w in got} | ({"with space.atm"} if "with space.atm" in text else set())
        check(f"zsh: {line}<TAB>", there <= got and not (absent - set(words)) & got, text + err)
else:
    check("zsh is not installed # SKIP", True)
done()
