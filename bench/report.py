#!/usr/bin/env python3
"""make bench-report: the page of a large history: how large it is, what it
costs to write, how long a browser takes to open it and to draw all of it.

Usage: bench/report.py BUILD      (N=1000000 operations)

Opening is from the request to the page's own "ready", the first picture
drawn, in Debian's Chromium, the least of three; drawing is one frame of the
whole history as the page measures it. The last line is the page of six operations,
opened in the same run: what the browser itself costs.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

build, root = Path(sys.argv[1]).resolve(), Path(__file__).resolve().parent.parent
n = os.environ.get("N", "1000000")
intact, gen = build / "src/cli/intact", build / "bench/history_gen"
playwright = Path(os.environ.get("INTACT_PLAYWRIGHT", root / "build-browser/node_modules/playwright-core"))
chromium = shutil.which("chromium")

SCRIPT = r"""
const { chromium } = require(process.argv[1]);
(async () => {
  const b = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--enable-precise-memory-info"] });
  const out = { open: 1e9, draw: 1e9, heap: 0, errors: [] };
  for (let i = 0; i < 3; i++) {
    const p = await (await b.newContext({ viewport: { width: 1500, height: 950 } })).newPage();
    p.on("pageerror", (e) => out.errors.push(e.message));
    const t = Date.now();
    await p.goto("file://" + process.argv[3]);
    await p.waitForSelector("html[data-ready]");
    await p.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
    out.open = Math.min(out.open, Date.now() - t);
    const d = await p.evaluate(async () => {
      const v = document.querySelector("div.history").history;
      v.look(0, 1e18);
      const t0 = performance.now();
      await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
      return [performance.now() - t0, performance.memory ? performance.memory.usedJSHeapSize : 0, v.state()];
    });
    out.draw = Math.min(out.draw, d[0]);
    out.heap = d[1];
    out.state = d[2];
    await p.context().close();
  }
  await b.close();
  console.log(JSON.stringify(out));
})();
"""


def cpu(argv):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(list(map(str, argv)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert p.returncode in (0, 1), p.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def browse(page):
    if not (chromium and playwright.exists()):
        return None
    p = subprocess.run(["node", "-e", SCRIPT, "--", str(playwright), chromium, str(page)], stdout=subprocess.PIPE, check=False)
    return json.loads(p.stdout) if p.returncode == 0 else None


with tempfile.TemporaryDirectory() as tmp:
    t = Path(tmp)
    subprocess.run([str(intact), "history", "--html", str(t / "small.html"), str(root / "examples/history/stale-read.edn")], stdout=subprocess.DEVNULL)
    small = browse(t / "small.html")
    print("| history | judged | judged, with the page | page | bytes an operation | opens | draws all | heap |")
    print("|---|---|---|---|---|---|---|---|")
    for what, options in ((["register", "distinct", "none"], []), (["register", "distinct", "middle"], []), (["register", "bit", "none"], []),
                          (["writers", "distinct", "none"], []), (["queue", "distinct", "none"], ["--object=queue"])):
        h, page = t / "h.edn", t / "h.html"
        with open(h, "wb") as f:
            subprocess.run([str(gen), n, *what], stdout=f, check=True)
        plain = cpu([intact, "history", *options, h])
        paged = cpu([intact, "history", *options, "--html", page, h])
        size, seen = page.stat().st_size, browse(page)
        look = (f"{seen['open'] / 1000:.2f} s | {seen['draw']:.0f} ms | {seen['heap'] / 1e6:.0f} MB" if seen else "no browser | | ")
        if seen and seen["errors"]:
            look += " ERRORS " + "; ".join(seen["errors"])
        print(f"| {n} {' '.join(what)} | {plain:.2f} s | {paged:.2f} s | {size / 1e6:.1f} MB | {size / int(n):.1f} | {look} |", flush=True)
        page.unlink()
    if small:
        print(f"\na page of six operations opens in {small['open'] / 1000:.2f} s here and now")
