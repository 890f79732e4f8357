#!/usr/bin/env python3
"""Faults: programs under conditions that break watchers. Each must end as it
would alone: same exit status, same output, no crash, no hang.

    run.py INTACT [NAME...]            with INTACT_SOAK: both compilers, 9,000 live threads
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LOST = os.path.join(HERE, "..", "programs", "lost_update.c")
N = 0
BAD = 0


def verdict(name, why):
    global N, BAD
    N += 1
    BAD += bool(why)
    print("%s %d - %s" % ("not ok" if why else "ok", N, name), flush=True)
    if why:
        print("\n".join("# " + l for l in str(why)[-1500:].split("\n")), flush=True)


def sh(cmd, **kw):
    return subprocess.run(cmd, shell=True, capture_output=True, text=True, timeout=180, **kw)


def build(intact, src, exe, cc, extra=""):
    r = sh("INTACT_CC=%s %s cc -std=gnu11 -O1 %s -o %s %s" % (cc, intact, extra, exe, src))
    if r.returncode:
        raise RuntimeError("does not build: " + r.stderr)


def main():
    intact = os.path.abspath(sys.argv[1])
    names = sys.argv[2:]
    soak = os.environ.get("INTACT_SOAK")
    compilers = ("gcc", "clang") if soak else ("gcc",)
    with tempfile.TemporaryDirectory(prefix="intact-fault-") as tmp:
        def case(name, command="{exe}", want=0, cc="gcc", check=None, source=None):
            if names and not any(n in name for n in names):
                return
            try:
                exe = os.path.join(tmp, name.replace(" ", "_") + "." + cc)
                build(intact, os.path.join(HERE, source or name.split()[0] + ".c"), exe, cc)
                r = sh(command.format(exe=exe, tmp=tmp, intact=intact))
                if r.returncode != want:
                    verdict(name + " " + cc, "exit status %d, expected %d\n%s%s" % (
                        r.returncode, want, r.stdout, r.stderr))
                else:
                    verdict(name + " " + cc, check(r) if check else None)
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                verdict(name + " " + cc, e)

        for cc in compilers:
            case("many_locks", cc=cc)
            case("fork_threads", cc=cc)
            threads = 9000 if soak else 2000
            case("many_threads %d" % threads, "{exe} %d" % threads, cc=cc,
                 check=lambda r: None if r.stdout.strip() == str(threads) else r.stdout)
            case("deep_recursion", cc=cc)
            case("signal_jump", cc=cc)
            case("signal_storm", cc=cc)
            case("cancel_storm", cc=cc)
            case("destroy_held", cc=cc)
            case("vfork_exec", cc=cc)
            case("memory_limit 4GB", "ulimit -v 4000000; {exe}", cc=cc)
            case("memory_limit 1GB", "ulimit -v 1000000; {exe}", cc=cc,
                 check=lambda r: None if "Intact: out of memory" in r.stderr or not r.stderr else r.stderr)
            case("memory_limit tiny", "ulimit -v 200000; {exe}", cc=cc,
                 check=lambda r: None if "unwatched" in r.stderr else "no message: " + r.stderr)
            if not names or "dlclose" in names:
                build(intact, os.path.join(HERE, "plugin.c"), tmp + "/plugin.so", cc, "-shared -fPIC")
            if not names or "load_waits" in names:
                build(intact, os.path.join(HERE, "waiter.c"), tmp + "/waiter.so", cc, "-shared -fPIC")
            case("load_waits", "timeout 60 {exe} {tmp}/waiter.so", 0, cc)
            case("dlclose", "{exe} {tmp}/plugin.so", 66, cc,
                 lambda r: None if "plugin_bump is not atomic" in r.stderr else r.stderr)
            lost = os.path.relpath(LOST, HERE)
            case("lost closed stderr", "{exe} 2>&-", 66, cc, source=lost)
            case("lost closed all", "{exe} <&- >&- 2>&-", 66, cc, source=lost)
            case("lost full disk", "INTACT_OPTIONS=log_path=/dev/full/x {exe}", 66, cc,
                 lambda r: None if "cannot write the report" in r.stderr and "SUMMARY" in r.stderr
                 else r.stderr, source=lost)
            case("lost really full disk", "cd {tmp}; sh -c 'ln -s /dev/full full.$$; INTACT_OPTIONS=log_path=full exec {exe}'",
                 66, cc, lambda r: None if "No space left" in r.stderr and "SUMMARY" in r.stderr else r.stderr, source=lost)
            for how in ("", "{intact} run "):
                case("lost file size limit " + how[9:12], "cd {tmp}; ulimit -f 0; INTACT_OPTIONS=log_path=limit " + how + "{exe}",
                     66, cc, lambda r: None if "File too large" in r.stderr and "SUMMARY" in r.stderr else r.stderr, source=lost)
            case("lost log", "INTACT_OPTIONS=log_path={tmp}/log {exe}; s=$?; cat {tmp}/log.*; exit $s", 66, cc,
                 lambda r: None if "SUMMARY" in r.stdout and not r.stderr else r.stderr, source=lost)
            case("lost no tool", "INTACT_OPTIONS=tool=/nonexistent {exe}", 66, cc,
                 lambda r: None if "stack commit" in r.stderr else r.stderr, source=lost)
            case("lost exitcode", "INTACT_OPTIONS=exitcode=7 {exe}", 7, cc, source=lost)
            case("lost keep exitcode", "INTACT_OPTIONS=exitcode=0 {exe}", 0, cc, source=lost)
            case("lost halt", "INTACT_OPTIONS=halt_on_error=1 {exe}", 66, cc,
                 lambda r: None if "stopped at the first" in r.stderr else r.stderr, source=lost)
            case("lost slip", "INTACT_OPTIONS=exitcod=0 {exe}", 66, cc,
                 lambda r: None if "did you mean 'exitcode'" in r.stderr else r.stderr, source=lost)
            case("lost suppressed", "printf 'block:depo*\\nblock:nothing\\n' >{tmp}/s; "
                 "{intact} run --suppressions {tmp}/s {exe}", 0, cc,
                 lambda r: None if re.search(r"1 block:depo", r.stderr) and "block:nothing matched nothing" in r.stderr
                 else r.stderr, source=lost)
            case("lost not-atomic", "{intact} run --not-atomic deposit {exe}", 0, cc, source=lost)
            case("lost atomic other", "{intact} run --atomic get {exe}", 0, cc, source=lost)
            case("lost atomic", "{intact} run --atomic 'depos?t' {exe}", 66, cc, source=lost)
            case("lost atomic file", "{intact} run --atomic lost_update.c {exe}", 66, cc, source=lost)
            case("lost gen", "{intact} run --gen-suppressions {exe}", 66, cc,
                 lambda r: None if "Suppression: block:deposit" in r.stderr else r.stderr, source=lost)
            case("lost infer", "rm -f {tmp}/spec; {intact} run --infer {tmp}/spec --runs 5 {exe} && cat {tmp}/spec "
                 "&& {intact} run --spec {tmp}/spec {exe}", 0, cc,
                 lambda r: None if "not-atomic deposit" in r.stdout else r.stdout, source=lost)
            case("lost bad spec", "echo 'atomc x' >{tmp}/bad; {intact} run --spec {tmp}/bad {exe}", 2, cc,
                 lambda r: None if "bad:1:1: error" in r.stderr else r.stderr, source=lost)
            for how in ("exit", "pthread_exit", "quick_exit", "_exit", "_Fork", "daemon"):
                case("ends " + how, "{exe} " + how, 0 if how == "daemon" else 66, cc,
                     lambda r: None if r.stderr.count("SUMMARY") == 1 else r.stderr)
            case("dispositions", "({exe}; {intact} run {exe}; {intact} run --infer {tmp}/spec2 --runs 3 {exe}) | uniq", 0, cc,
                 lambda r: None if r.stdout.count("\n") == 1 else r.stdout)
            case("dispositions pipe ignored", "trap '' PIPE TERM; ({exe}; {intact} run {exe}) | uniq", 0, cc,
                 lambda r: None if r.stdout.count("\n") == 1 and {"13", "15"} <= set(r.stdout.split()) else r.stdout)
            case("lost no program", "{intact} run /nonexistent/x", 127, cc, source=lost)
    print("1..%d" % N)
    return 1 if BAD else 0


if __name__ == "__main__":
    sys.exit(main())
