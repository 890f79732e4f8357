#!/usr/bin/env python3
"""The engines as WebAssembly beside the command: CPU time of the same checks, in node and natively, and their ratio.

    playground.py PATH-OF-INTACT [BUILD-PLAYGROUND]

Needs what `make playground` built, and node. The least of three runs of each; what node takes to start and to compile the module is
measured with `version` and taken off. Exit code 1 when a result differs.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
intact = Path(sys.argv[1]).resolve()
build = Path(sys.argv[2] if len(sys.argv) > 2 else HERE.parent / "build-playground").resolve()
NODE = """
const make = require(process.argv[2] + "/intact.js"), fs = require("fs");
const [text, ...argv] = process.argv.slice(3);
const out = [];
make({ wasmBinary: fs.readFileSync(process.argv[2] + "/intact.wasm"), stdout: (c) => { out.push(c < 0 ? c + 256 : c); }, stderr: () => {} }).then((m) => {
	if (text !== "-") m.FS.writeFile("model.atm", fs.readFileSync(text, "utf8"));
	const rc = m.callMain(argv);
	process.stdout.write(Buffer.from(out));
	process.exitCode = rc;
});
"""
COUNTERS = "int a[8];\nthread t * 6 {\n  atomic once {\n    for (int k = 0; k < 8; k++) {\n      a[k] = (a[k] + 1) % 17;\n    }\n  }\n}\n"
MODELS = {  # each until a limit of states, so that both do the same work
    "serial orders, exact engine": (COUNTERS, ["--engine=exact", "--no-reduce=all", "--max-states=200000"]),
    "faults, plain search": (COUNTERS, ["--faults", "--no-reduce=all", "--max-states=400000"]),
}


def cpu(argv, cwd):
    best, result = None, None
    for _ in range(3):
        with tempfile.TemporaryFile() as out:
            p = subprocess.Popen(argv, stdout=out, stderr=subprocess.DEVNULL, cwd=cwd, env=dict(os.environ, INTACT_PROJECT="none"))
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = 0
            out.seek(0)
            result = (os.waitstatus_to_exitcode(status), out.read())
        t = usage.ru_utime + usage.ru_stime
        best = t if best is None else min(best, t)
    return best, result


with tempfile.TemporaryDirectory() as tmp:
    Path(tmp, "play.cjs").write_text(NODE)
    node = ["node", str(Path(tmp, "play.cjs")), str(build)]
    start, _ = cpu([*node, "-", "version"], tmp)
    print(f"node starts and compiles the module in {start:.2f} s of CPU\n\n| check | command, CPU s | WebAssembly, CPU s | ratio |\n|---|---|---|---|")
    same = True
    for name, (text, options) in MODELS.items():
        model = Path(tmp, "model.atm")
        model.write_text(text)
        argv = ["check", "-q", "--json=-", *options, "model.atm"]
        a, native = cpu([str(intact), *argv], tmp)
        b, wasm = cpu([*node, str(model), *argv], tmp)
        same &= native == wasm
        print(f"| {name} | {a:.2f} | {b - start:.2f} | {(b - start) / a:.1f} |" + ("" if native == wasm else " THE RESULTS DIFFER"))
    sys.exit(not same)
