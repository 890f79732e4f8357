// The report page as people use it: see run.py, which makes the pages.
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require(process.env.INTACT_PLAYWRIGHT);

const dir = process.env.INTACT_PAGES;
const shots = process.env.INTACT_SCREENSHOTS;
let count = 0, failed = 0;

function check(name, ok, detail) {
	count++;
	if (!ok) {
		failed++;
		for (const line of String(detail === undefined ? "" : typeof detail === "string" ? detail : JSON.stringify(detail)).split("\n").slice(0, 20)) console.log("# " + line.slice(0, 600));
	}
	console.log((ok ? "ok " : "not ok ") + count + " - " + name);
}

const read = (name) => JSON.parse(fs.readFileSync(path.join(dir, name + ".json"), "utf8"));

// A page that listens: what it logs, throws, asks for, shows as dialog.
async function open(browser, file, options) {
	const context = await browser.newContext(Object.assign({ viewport: { width: 1500, height: 950 }, colorScheme: "light" }, options || {}));
	const page = await context.newPage();
	page.noise = [];
	page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") page.noise.push("console: " + m.text()); });
	page.on("pageerror", (e) => page.noise.push("error: " + e.message));
	page.on("dialog", (d) => { page.noise.push("dialog: " + d.message()); d.dismiss(); });
	page.on("request", (r) => { if (r.url() !== page.wanted) page.noise.push("request: " + r.url().slice(0, 200)); });
	page.wanted = "file://" + encodeURI(file);
	await page.goto(page.wanted);
	await page.waitForSelector("html[data-ready]", { timeout: 20000 });
	await page.waitForTimeout(50);
	return page;
}
async function close(page, name) {
	const stray = await page.evaluate(() => [...document.querySelectorAll("#page, #page *")].flatMap((e) => [...e.childNodes]).filter((n) => n.nodeType === 3 && /^(null|undefined|NaN|\[object.*)$/.test(n.data.trim()) &&
		!n.parentElement.closest("td, code")).map((n) => n.parentElement.className + ": " + n.data));
	check(name + ": nothing is shown that is not there", stray.length === 0, stray);
	check(name + ": no error on the console, no request", page.noise.length === 0, page.noise.join("\n"));
	await page.context().close();
}
async function shot(page, name, clip) {
	if (shots) await page.screenshot({ path: path.join(shots, name + ".png"), clip });
}

// The values the page shows now.
const values = (page) => page.$$eval(".values tbody tr", (rows) => Object.fromEntries(rows.map((r) => [r.children[0].textContent,
	r.children[1].textContent.split("→ ").pop()])));
const position = (page) => page.$eval(".controls .position", (e) => e.textContent);

// The state behind each step, worked out forwards from the first values seen.
function statesOf(run) {
	const flat = (s) => Object.fromEntries(Object.entries(s).flatMap(([k, v]) => (Array.isArray(v) ? v.map((x, i) => [k + "[" + i + "]", x]) : [[k, v]])));
	const name = (c) => (c.index === undefined ? c.variable : c.variable + "[" + c.index + "]");
	const first = flat(run.state.shared), seen = new Set();
	for (const s of run.steps) for (const c of s.changes) if (!seen.has(name(c))) { seen.add(name(c)); first[name(c)] = c.before; }
	const out = [Object.assign({}, first)];
	for (const s of run.steps) {
		for (const c of s.changes) first[name(c)] = c.after;
		out.push(Object.assign({}, first));
	}
	return out;
}
const same = (shown, state) => Object.keys(state).every((k) => shown[k] === (typeof state[k] === "string" ? state[k] : JSON.stringify(state[k])));

async function interleaving(browser) {
	const doc = read("lost"), run = doc.results[0].counterexample, states = statesOf(run);
	const page = await open(browser, path.join(dir, "lost.html"));
	check("lanes: a column a thread, a row a step", await page.$$eval(".lanes", (t) => t[0].tHead.rows[0].cells.length === 3 && t[0].tBodies[0].rows.length) === run.steps.length);
	check("the sentence is there", (await page.textContent(".sentence")).includes("was lost"));
	check("the intervening access is marked", await page.$$eval("tr.intruder", (r) => r.map((x) => x.dataset.step).join()) === "10");
	check("blocks are bands", await page.$$eval(".lanes:not(.compact) td.first", (c) => c.length) === 2 && await page.$$eval(".lanes:not(.compact) td.last", (c) => c.length) === 2);
	check("it opens at the access that comes between", (await position(page)).startsWith("step 10 of 16"));
	await shot(page, "page-interleaving");
	await page.keyboard.press("Home");
	let wrong = [];
	for (let i = 0; i <= run.steps.length; i++) {
		if (!same(await values(page), states[i])) wrong.push(i);
		if (i && !(await page.$(`.lanes tr[data-step="${i}"].now[aria-current="step"]`))) wrong.push("row " + i);
		if (i && await page.$eval(".source tr.here", (r) => Number(r.dataset.line)) !== run.steps[i - 1].line) wrong.push("line " + i);
		await page.keyboard.press("ArrowRight");
	}
	check("forward through all steps: values, row and source line", wrong.length === 0, wrong);
	wrong = [];
	for (let i = run.steps.length - 1; i >= 0; i--) {
		await page.click("button[aria-label=back]");
		if (!same(await values(page), states[i])) wrong.push(i);
	}
	check("and back by the button", wrong.length === 0 && (await position(page)).startsWith("before the first"), wrong);
	await page.keyboard.press("n");
	check("n goes to the next marked step", (await position(page)).startsWith("step 3 "));
	await page.click('.lanes:not(.compact) tr[data-step="14"]');
	check("a click on a step goes there", (await position(page)).startsWith("step 14 "));
	await page.focus("input[type=range]");
	await page.keyboard.press("ArrowLeft");
	check("the slider works with keys and is announced", (await position(page)).startsWith("step 13 ") && (await page.getAttribute("input[type=range]", "aria-valuetext")).includes("step 13"));
	check("serial orders stand beside", await page.$$eval(".lanes.compact tbody tr", (r) => r.length) === run.steps.length &&
		await page.$$eval(".tabs button", (b) => b.map((x) => x.textContent).join()) === "Threads 1, 2,Threads 2, 1");
	await page.click(".tabs button:nth-child(2)");
	check("and can be changed", await page.$eval(".lanes.compact tbody tr:first-child td:nth-child(3)", (c) => c.textContent).then((t) => t.includes("increment")));
	check("how it ends, against one at a time", await page.$$eval(".ends tr.differs", (r) => r.map((x) => [...x.cells].map((c) => c.textContent).join(" ")).join()) === "count 1 2 2");
	await page.click("nav.results li:nth-child(2) button");
	check("another result opens", (await page.textContent("article h2")).includes("not serializable") && await page.$eval("article", (a) => document.activeElement === a));
	await page.keyboard.press("End");
	check("and steps", (await position(page)).startsWith("step 16"));
	// the keyboard alone reaches everything
	await page.focus("header.top button");
	const reached = new Set();
	for (let i = 0; i < 40; i++) {
		await page.keyboard.press("Tab");
		reached.add(await page.evaluate(() => document.activeElement.tagName + ":" + (document.activeElement.getAttribute("aria-label") || document.activeElement.textContent.slice(0, 20))));
	}
	check("Tab reaches results, stepping, slider and lanes", ["BUTTON:back", "BUTTON:forward", "INPUT:step"].every((x) => reached.has(x)) &&
		[...reached].some((x) => x.startsWith("DIV:what happened")) && [...reached].some((x) => x.startsWith("BUTTON:worker")), [...reached]);
	await close(page, "interleaving");
}

async function otherRuns(browser) {
	let page = await open(browser, path.join(dir, "fault.html"));
	const at = read("fault").results.findIndex((r) => r.problem === "fault");
	if (await page.$("nav.results")) await page.$$eval("nav.results button", (b, k) => b[k].click(), at);
	check("a fault is told", (await page.$$(".lanes tr.fault .faulttext")).length > 0 && (await page.textContent(".sentence")).length > 5, await page.textContent("article"));
	await close(page, "fault");
	page = await open(browser, path.join(dir, "object.html"));
	const object = read("object").results.find((r) => r.history);
	check("an object's operations are bars, and bands of the lanes", object && await page.$$eval("svg.graph rect.band", (b) => b.length) === object.history.length &&
		await page.$$eval(".lanes td.first", (c) => c.length) === object.history.length, object);
	await shot(page, "page-object");
	await close(page, "object");
	page = await open(browser, path.join(dir, "deadlock.html"));
	check("a deadlock says who waits", /Thread \d+ waits/.test(await page.textContent("article")), (await page.textContent("article")).slice(0, 300));
	await close(page, "deadlock");
	page = await open(browser, path.join(dir, "fixed.html"));
	check("what holds shows the source", (await page.textContent("article")).includes("serializable") || (await page.textContent("article")).includes("atomic"));
	await close(page, "holds");
	page = await open(browser, path.join(dir, "sim.html"));
	check("a simulation steps", (await position(page)).includes(" of "));
	await close(page, "sim");
	page = await open(browser, path.join(dir, "long.html"));
	const n = read("long").steps.length, rows = () => page.$$eval(".lanes tbody tr[data-step]", (r) => r.length);
	check("a long run is shown in part, with counts", n === 5000 && await rows() === 400 && (await page.textContent(".lanes .gap")).includes("4,600 earlier steps"), [n, await rows()]);
	await page.keyboard.press("Home");
	await page.keyboard.press("PageDown");
	check("and all of it can be reached", (await page.$('.lanes tr[data-step="10"].now')) && (await page.textContent(".lanes .gap")).includes("later steps"));
	const states = statesOf(read("long"));
	await page.$eval("input[type=range]", (e) => { e.value = 3210; e.dispatchEvent(new Event("input")); });
	check("with the right values in the middle", same(await values(page), states[3210]), await values(page));
	await close(page, "long");
}

const state = (page) => page.$eval("div.history", (v) => v.history.state());

async function histories(browser) {
	let page = await open(browser, path.join(dir, "stale.html"));
	const painted = () => page.$eval("canvas.main", (c) => {
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
		for (let i = 0; i < d.length; i += 4) if (d[i + 3]) seen.add(d[i] + "," + d[i + 1] + "," + d[i + 2]);
		return seen.size;
	});
	check("the history is drawn", await painted() > 10);
	check("the culprit is chosen and explained", (await page.textContent(".detail")).includes("with its response it was certain"));
	check("the longest good prefix is in the legend", (await page.textContent(".legend")).includes("longest good prefix"));
	check("the operations in conflict are a table", await page.$$eval("table.plain tr[data-op]", (r) => r.length) === 2);
	await shot(page, "page-history", { x: 0, y: 0, width: 1500, height: 700 });
	let before = await state(page);
	await page.hover("canvas.main", { position: { x: 700, y: 60 } });
	await page.mouse.wheel(0, -400);
	await page.waitForTimeout(60);
	let after = await state(page);
	check("the wheel zooms in", after.to - after.from < before.to - before.from, [before, after]);
	const box = await (await page.$("canvas.main")).boundingBox();
	await page.mouse.move(box.x + 700, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 500, box.y + 60, { steps: 4 });
	await page.mouse.up();
	const moved = await state(page);
	check("dragging pans", moved.from > after.from && Math.abs((moved.to - moved.from) - (after.to - after.from)) < 1e-6, [after, moved]);
	await page.click("button:has-text('All')");
	const all = await state(page);
	check("All shows all", all.from === 0 && all.to === 12, all);
	await page.focus("canvas.main");
	await page.keyboard.press("+");
	check("plus zooms", (await state(page)).to - (await state(page)).from === 6);
	await page.keyboard.press("0");
	await page.keyboard.press("ArrowLeft");
	check("arrows choose operations", (await page.textContent(".detail .op")).includes("read → 2"), await page.textContent(".detail"));
	await page.keyboard.press("ArrowUp");
	check("and change lanes", (await page.textContent(".detail")).includes("process 0"), await page.textContent(".detail"));
	await page.mouse.click(box.x + 110 + (box.width - 116) * 1.5 / 12, box.y + 26 + 34 * 1.5);
	check("a click chooses a bar", (await page.textContent(".detail .op")).includes("read → 1"), await page.textContent(".detail"));
	await page.selectOption("select[aria-label=processes]", "0");
	await page.waitForTimeout(60);
	check("one process alone", (await page.$eval("canvas.main", (c) => c.clientHeight)) < 90);
	await page.focus("table.plain tr[data-op]");
	await page.keyboard.press("Enter");
	check("a row of the table chooses it", (await page.textContent(".detail .op")).includes("read → 2"));
	await close(page, "history");

	page = await open(browser, path.join(dir, "queue.html"));
	check("what holds has its moments", (await state(page)).points === true && (await page.textContent(".legend")).includes("taken effect"));
	await close(page, "queue");
	page = await open(browser, path.join(dir, "keys.html"));
	await page.selectOption("select[aria-label=keys]", "0");
	check("filter by key", (await page.$$("select[aria-label=keys] option")).length === 3);
	await close(page, "keys");

	page = await open(browser, path.join(dir, "big.html"));
	await page.click("button:has-text('All')");
	await page.waitForTimeout(100);
	check("from afar operations are densities", (await state(page)).mode === "density" && (await state(page)).n === 60001, await state(page));
	await page.click("button:has-text('Conflict')");
	await page.waitForTimeout(100);
	check("near they are bars, at the conflict", (await state(page)).mode === "bars" && (await state(page)).picked >= 59000, await state(page));
	await close(page, "big history");
}

async function others(browser) {
	let page = await open(browser, path.join(dir, "cycle.html"));
	const doc = read("cycle").results[0].findings[0];
	check("the cycle: a node an event, an arrow a link", await page.$$eval("svg .event", (e) => e.length) === 4 && await page.$$eval("svg .arrow", (e) => e.length) === doc.cycle.length);
	check("blocks are bands there too", await page.$$eval("svg .band", (e) => e.length) === 2);
	await shot(page, "page-cycle", { x: 0, y: 0, width: 1500, height: 700 });
	await close(page, "cycle");
	page = await open(browser, path.join(dir, "alone.html"));
	check("a block at fault by itself is told", (await page.textContent(".sentence")).includes("intervened with"));
	await close(page, "alone");
	page = await open(browser, path.join(dir, "predicted.html"));
	check("another schedule is drawn", await page.$$eval(".lanes tr.intruder", (r) => r.length) === 1);
	check("and called predicted", await page.$$eval("header.top .badge, article .badge", (b) => b.map((e) => e.textContent).join()) === "Predicted,Predicted");
	await close(page, "predicted");
	page = await open(browser, path.join(dir, "run.html"));
	check("two threads, their places and stacks", await page.$$eval(".window .head", (e) => e.length) === 2 && await page.$$eval(".window .place:not(.gap)", (e) => e.length) >= 4 &&
		await page.$$eval(".window .frames li", (e) => e.length) >= 6);
	check("with locks and source lines", (await page.textContent(".window")).includes("lock release of") && await page.$$eval(".snippet tr.here", (e) => e.length) >= 3);
	check("the gap is on the first screen", await page.$eval(".window .place.gap span", (e) => e.getBoundingClientRect().bottom < window.innerHeight));
	check("what was only predicted is called so", await page.$$eval(".badge", (b) => b.map((e) => e.textContent).join()) === "Predicted,Predicted");
	await page.setViewportSize({ width: 1300, height: 1000 });
	await shot(page, "page-finding");
	await close(page, "finding");
	page = await open(browser, path.join(dir, "explored.html"));
	const explored = read("explored").results[0];
	const lanes = await page.$$eval(".lanes tbody tr", (rows) => rows.map((r) => r.innerText));
	check("a schedule of a program: a lane for each thread, a row for each step and each plain access, the interruption marked", await page.$$eval(".lanes thead th", (c) => c.length) === 5 &&
		lanes.length === explored.steps.length + explored.plain_accesses.length && await page.$$eval(".lanes .flag", (f) => f.length) === explored.preemptions, [lanes.length, explored.steps.length]);
	const at = (text) => lanes.findIndex((r) => r.includes(text)), access = explored.plain_accesses[0];
	check("a plain access stands behind the step before it", access.text === "read count -> 0" && at(access.text) === access.step && lanes[access.step - 1].includes(explored.steps[access.step - 1].text), lanes);
	const conflicts = await page.$$eval(".conflicts li", (c) => c.map((e) => e.innerText)), ends = explored.cycle;
	check("conflicts are pairs, with their steps; a place has the file's name, the path as a tip", conflicts.length === ends.length / 2 &&
		conflicts.every((c, i) => [0, 1].every((k) => c.includes("step " + ends[2 * i + k].step + ": " + ends[2 * i + k].text))) &&
		await page.$$eval(".lanes td.quiet span[title$='lost-update-test.c:11']", (p) => p.length && p.every((e) => e.innerText === "lost-update-test.c:11 get")), conflicts);
	await close(page, "explored");
	page = await open(browser, path.join(dir, "hidden.html"));
	check("what is suppressed is marked so", (await page.textContent("article")).includes("Suppressed"));
	await close(page, "suppressed");
	page = await open(browser, path.join(dir, "net.html"));
	const net = read("net").results[0], drawn = await page.$$eval("svg.graph", (g) => g.map((s) => [s.querySelectorAll(".placenode").length, s.querySelectorAll(".transnode").length]));
	check("the prefix and the net are drawn, every node", JSON.stringify(drawn) === JSON.stringify([[net.prefix.conditions.length, net.prefix.events.length], [net.places, net.transitions]]), drawn);
	const size = () => page.$eval("svg.graph", (s) => s.getBoundingClientRect().width);
	const before = await size();
	await page.click("button[aria-label=larger]");
	await page.click("button[aria-label=larger]");
	const larger = await size();
	await page.click("button:has-text('Fit')");
	check("a drawing can be made larger, and fits again", larger > before * 1.5 && Math.abs(await size() - before) < 1 &&
		await page.$eval(".graphbox", (b) => b.scrollHeight <= b.clientHeight + 1), [before, larger, await size()]);
	await shot(page, "page-net");
	await close(page, "net");

	page = await open(browser, path.join(dir, "skew.html"));
	const levels = read("skew").results[0].levels, told = levels.filter((l) => l.cycle);
	const shown = await page.$$eval("svg.graph", (g) => g.map((s) => [s.querySelectorAll(".verdict").length, s.querySelectorAll(".band").length, s.querySelectorAll("path.arrow").length]));
	check("transactions: the lattice has a mark for each level", shown[0][0] === levels.length, shown);
	check("... and each cycle its transactions and steps", shown.length === 1 + told.length && told.every((l, i) => shown[i + 1][1] === l.transactions.length && shown[i + 1][2] === l.cycle.length), shown);
	await close(page, "skew");
	page = await open(browser, path.join(dir, "verified.html"));
	const claims = read("verified").results;
	check("every claim has a card, and its answer", await page.$$eval("nav.results li", (l) => l.length) === claims.length && await page.$$eval("article table tbody tr", (r) => r.length) === claims.length &&
		(await page.textContent("article .badge.violated")) === "Rejected" && (await page.textContent("article")).includes("no serial order explains the run"), claims);
	check("and the run that refutes it is a command to copy", (await page.textContent(".command code")).includes("--schedule " + claims.find((c) => c.schedule).schedule));
	await close(page, "verified");
}

// Contrast of what is read, as WCAG has it.
const contrast = (page) => page.evaluate(() => {
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = 1;
	const g = canvas.getContext("2d", { willReadFrequently: true });
	const rgba = (c) => { g.clearRect(0, 0, 1, 1); g.fillStyle = c; g.fillRect(0, 0, 1, 1); const d = g.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
	const lum = (c) => c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3])).concat(1);
	const back = (e) => { const chain = []; for (; e; e = e.parentElement) chain.unshift(rgba(getComputedStyle(e).backgroundColor)); return chain.reduce((b, c) => over(c, b), [255, 255, 255, 1]); };
	let worst = [21, ""];
	for (const e of document.querySelectorAll("h1, h2, h3, .sentence, .facts, .badge, .step, .values td, .source code, td.no, button, .quiet, .position, th")) {
		if (!e.textContent.trim() || !e.getClientRects().length) continue;
		const b = back(e), f = over(rgba(getComputedStyle(e).color), b), x = lum(f), y = lum(b), r = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
		if (r < worst[0]) worst = [r, e.className + ":" + e.textContent.slice(0, 30)];
	}
	return worst;
});

// What axe-core finds wrong, of any impact; of one rule or of all.
async function axe(page, rule) {
	await page.evaluate(fs.readFileSync(process.env.INTACT_AXE, "utf8"));
	return page.evaluate((only) => axe.run(only ? { runOnly: [only] } : {}).then((r) => r.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => v.impact + " " + v.id + ": " + n.target.join(" ") + " " + (n.any[0] ? n.any[0].message : "")))), rule);
}

async function accessible(browser) {
	const names = fs.readdirSync(dir).filter((f) => f.endsWith(".html")).map((f) => f.slice(0, -5)).sort();
	check("there are pages of every kind for axe", names.length >= 15, names);
	for (const name of names) {
		const page = await open(browser, path.join(dir, name + ".html"));
		const bad = [];
		for (const scheme of ["light", "dark"]) {
			await page.emulateMedia({ colorScheme: scheme });
			bad.push(...(await axe(page, scheme === "dark" ? "color-contrast" : null)).map((v) => scheme + ": " + v));
		}
		if (await page.$(".controls button[aria-label=first]")) { // every step is still to come
			await page.click(".controls button[aria-label=first]");
			bad.push(...(await axe(page, "color-contrast")).map((v) => "first step: " + v));
		}
		await page.setViewportSize({ width: 400, height: 800 });
		bad.push(...(await axe(page)).map((v) => "telephone: " + v));
		check(name + ": axe finds nothing", bad.length === 0, bad.join("\n"));
		await close(page, name + ", for axe");
	}
}

async function narrow(browser) {
	const phone = { viewport: { width: 400, height: 800 } };
	let page = await open(browser, path.join(dir, "cycle.html"), phone);
	check("a telephone shows both lanes of a cycle", await page.$$eval("svg.graph .lanehead", (t) => t.length === 2 && t.every((e) => e.getBoundingClientRect().right <= window.innerWidth)));
	check("event numbers and places are told apart", await page.$eval("svg.graph", (s) => [...s.querySelectorAll("text")].some((t) => t.textContent === "event")));
	await close(page, "cycle on a telephone");
	page = await open(browser, path.join(dir, "six.html"), phone);
	const widths = await page.$$eval(".lanes:not(.compact) thead th:not(.no)", (t) => t.map((e) => e.getBoundingClientRect().width));
	check("six lanes keep their width", widths.length === 6 && widths.every((w) => w >= 100), widths);
	const seen = await page.$eval(".lanes:not(.compact)", (t) => {
		const box = t.parentElement;
		box.scrollLeft = box.scrollWidth;
		const edge = box.getBoundingClientRect(), last = t.tHead.rows[0].lastElementChild.getBoundingClientRect(), no = t.tHead.rows[0].firstElementChild.getBoundingClientRect();
		return [last.right <= edge.right + 1, no.left >= edge.left - 1];
	});
	check("the last lane can be reached, and the numbers of the steps stay", seen.every(Boolean), seen);
	await close(page, "six lanes");
	page = await open(browser, path.join(dir, "run.html"), phone);
	check("the other thread is named where it comes in", await page.$eval(".window .right", (e) => getComputedStyle(e, "::before").content.includes("thread ")));
	await close(page, "finding on a telephone");
}

async function looks(browser) {
	for (const name of ["lost", "stale", "skew", "cycle", "run", "net", "verified"]) {
		const one = await open(browser, path.join(dir, name + ".html"));
		for (const scheme of ["light", "dark"]) {
			await one.emulateMedia({ colorScheme: scheme });
			await one.waitForTimeout(200); // the fading of text
			const worst = await contrast(one);
			check(`${name}, ${scheme}: text has a contrast of at least 4.5`, worst[0] >= 4.5, worst);
			if (name === "lost" && scheme === "dark") await shot(one, "page-dark");
		}
		await one.setViewportSize({ width: 390, height: 800 });
		check(`${name}: fits a telephone`, await one.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth + 1), await one.evaluate(() => document.documentElement.scrollWidth));
		await close(one, name + ", light and dark");
	}
	let page = await open(browser, path.join(dir, "lost.html"), { colorScheme: "dark" });
	const bg = () => page.$eval("body", (b) => getComputedStyle(b).backgroundColor);
	const dark = await bg();
	await page.click("header.top button");
	const light = await bg();
	check("the button changes dark to light", dark !== light && light === "rgb(246, 247, 249)", [dark, light]);
	check("every button and field has a name", await page.$$eval("button, select, input, canvas, svg", (all) => all.every((e) => e.getAttribute("aria-label") || e.textContent.trim() || e.getAttribute("aria-hidden"))));
	check("there is one main part, headings in order, a language", await page.evaluate(() => document.querySelectorAll("main").length === 1 && document.querySelectorAll("h1").length === 1 &&
		document.querySelectorAll("h2").length === 1 && document.documentElement.lang === "en"));
	const tree = await page.locator("main").ariaSnapshot();
	check("a screen reader finds the table, its columns and the step", /table "steps by thread"/.test(tree) && /columnheader "1: worker 1"/.test(tree) && /slider "step"/.test(tree) && /navigation "results"/.test(tree), tree.slice(0, 600));
	await page.emulateMedia({ media: "print" });
	check("printed: no controls, all rows", await page.$eval(".controls", (e) => getComputedStyle(e).display) === "none" && await page.$eval(".scroll", (e) => getComputedStyle(e).maxHeight) === "none");
	const pdf = await page.pdf({ format: "A4" });
	check("and makes a PDF", pdf.length > 10000);
	await close(page, "print");
}

async function hostile(browser) {
	const where = path.join(dir, "hostile"), pages = fs.readdirSync(where).filter((f) => f.endsWith(".html"));
	check("there are hostile pages", pages.length >= 18, pages.length);
	const bad = [], page = await open(browser, path.join(where, pages[0]));
	for (const f of pages) {
		page.noise.length = 0;
		page.wanted = "file://" + encodeURI(path.join(where, f));
		await page.goto(page.wanted);
		await page.waitForSelector("html[data-ready]", { timeout: 30000 }).catch((e) => page.noise.push(e.message));
		const state = await page.evaluate(() => {
			const look = () => ({ pwned: window.pwned, scripts: document.scripts.length,
				odd: document.querySelectorAll("img, iframe, object, embed, link, base, video, template, math, form, a[href]").length,
				raw: /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(document.getElementById("page").textContent),
				wide: document.documentElement.scrollWidth > window.innerWidth + 1 });
			const seen = [look()];
			for (const b of [...document.querySelectorAll("nav.results button")].slice(0, 60)) { b.click(); seen.push(look()); }
			return { pwned: seen.some((s) => s.pwned !== undefined), scripts: seen.some((s) => s.scripts !== 2), odd: seen.some((s) => s.odd), raw: seen.some((s) => s.raw), wide: seen.some((s) => s.wide) };
		});
		if (Object.values(state).some(Boolean) || page.noise.length) bad.push(f + ": " + JSON.stringify(state) + page.noise.join("; ").slice(0, 300));
	}
	await page.context().close();
	check(pages.length + " pages with hostile names are inert", bad.length === 0, bad.join("\n"));
}

(async () => {
	const browser = await chromium.launch({ executablePath: process.env.INTACT_CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"] });
	for (const part of [interleaving, otherRuns, histories, others, looks, narrow, accessible, hostile]) {
		const began = Date.now();
		try { await part(browser); } catch (e) { check(part.name + " runs to its end", false, e.stack); }
		console.log("# " + part.name + ": " + ((Date.now() - began) / 1000).toFixed(1) + " s");
	}
	await browser.close();
	console.log("1.." + count);
	process.exit(failed ? 1 : 0);
})();
