// The playground as people use it: see run.py, which builds it and has the command's results.
"use strict";
const fs = require("fs");
const path = require("path");
const { chromium } = require(process.env.INTACT_PLAYWRIGHT);

const file = process.env.INTACT_PLAYGROUND, address = "file://" + encodeURI(file);
const native = JSON.parse(fs.readFileSync(process.env.INTACT_NATIVE, "utf8"));
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

// The playground on a machine without a network, and what it complains about.
async function open(browser, hash, options) {
	const context = await browser.newContext(Object.assign({ viewport: { width: 1400, height: 900 }, colorScheme: "light", offline: true }, options || {}));
	const page = await context.newPage();
	page.setDefaultTimeout(120000);
	page.noise = [];
	page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") page.noise.push("console: " + m.text()); });
	page.on("pageerror", (e) => page.noise.push("error: " + e.message));
	page.on("dialog", (d) => { page.noise.push("dialog: " + d.message()); d.dismiss(); });
	page.on("request", (r) => { if (!/^(file|blob|data|about):/.test(r.url())) page.noise.push("request: " + r.url().slice(0, 200)); });
	await page.goto(address + (hash || ""));
	await page.waitForSelector("html[data-ready]");
	return page;
}
async function close(page, name) {
	check(name + ": no error on the console, no request", page.noise.length === 0, page.noise.join("\n"));
	await page.context().close();
}
const state = (page) => page.$eval("#state", (e) => ({ kind: e.className, text: e.textContent, rc: e.dataset.rc }));
// Waits until nothing runs, and says how it ended.
async function finished(page) {
	await page.waitForFunction(() => !document.getElementById("go").disabled && !document.getElementById("state").className.includes("busy"));
	return state(page);
}
async function run(page) {
	await page.click("#go");
	return finished(page);
}
// Until what was typed last has been read. Long texts are set at once: a browser inserts them slowly.
const read = (page) => page.waitForFunction(() => document.documentElement.dataset.read === document.documentElement.dataset.edits);
async function type(page, text) {
	if (text.length < 10000) await page.fill("#text", text);
	else await page.$eval("#text", (e, t) => { e.value = t; e.dispatchEvent(new Event("input")); }, text);
	await read(page);
}
const messages = (page) => page.$$eval("#messages li", (l) => l.map((e) => e.className + "|" + e.textContent));
const choose = async (page, name) => { await page.selectOption("#example", name); };

async function examples(browser) {
	const page = await open(browser);
	const names = await page.$$eval("#example option", (o) => o.map((e) => e.value).filter(Boolean));
	const wanted = Object.keys(native);
	check("every example can be chosen", wanted.length > 60 && wanted.every((n) => names.includes(n)), names);
	const wrong = [], codes = {};
	for (const name of wanted) {
		await choose(page, name);
		const s = await run(page);
		const html = await page.$$eval("#view-page iframe", (f) => (f[0] ? f[0].srcdoc : ""));
		codes[s.rc] = (codes[s.rc] || 0) + 1;
		if (Number(s.rc) !== native[name].rc) wrong.push(name + ": exit code " + s.rc + ", the command's " + native[name].rc + ": " + s.text);
		else if (html !== native[name].html) {
			let i = 0;
			while (i < html.length && html[i] === native[name].html[i]) i++;
			wrong.push(name + ": the page differs at " + i + ": " + html.slice(Math.max(0, i - 60), i + 80) + " / " + native[name].html.slice(Math.max(0, i - 60), i + 80));
		}
	}
	check(wanted.length + " examples: exit code and page of the command, byte by byte", wrong.length === 0, wrong.join("\n"));
	check("some hold, some are violated", codes[0] > 10 && codes[1] > 10 && !codes[""], codes);
	await choose(page, wanted[0]);
	check("another example takes the result away", (await state(page)).text === "" && await page.$eval("#view-page", (e) => e.hidden));
	await close(page, "examples");
}

// Two billion states: it ends when it is told to.
const ENDLESS = "int a[8];\nthread t * 6 {\n  atomic once {\n    for (int k = 0; k < 8; k++) {\n      a[k] = (a[k] + 1) % 17;\n    }\n  }\n}\n";

async function results(browser) {
	const page = await open(browser);
	check("it opens with the lost update", (await page.inputValue("#text")).includes("increment") && (await page.inputValue("#name")) === "lost-update.atm");
	const s = await run(page);
	check("violated is said in words, too", s.kind === "violated" && /^Violated/.test(s.text), s);
	const frame = await (await page.waitForSelector("#view-page iframe")).contentFrame();
	await frame.waitForSelector("html[data-ready]");
	check("the page of the result works in its frame", (await frame.textContent(".sentence")).includes("was lost"));
	await frame.press("body", "Home");
	check("and can be stepped through", (await frame.textContent(".controls .position")).includes("of 16"), await frame.textContent(".controls .position"));
	await page.click("#tab-text");
	check("the text is that of the command", (await page.textContent("#out")).includes("The update of count by worker 2 (step 10) was lost"), await page.textContent("#out"));
	await page.focus("#tab-text");
	await page.keyboard.press("ArrowLeft");
	check("the views change with the arrow keys", await page.$eval("#tab-page", (e) => e.getAttribute("aria-selected") === "true" && document.activeElement === e));
	if (shots) await shot(page, "playground");
	await page.selectOption("#command", "sim");
	await page.fill("#options", "--seed=3");
	check("a simulation", (await run(page)).text.startsWith("One run"));
	await page.fill("#options", "--sead=3");
	const bad = await run(page);
	check("a wrong option is told as the command tells it", bad.rc === "2" && (await page.textContent("#err")).includes("did you mean '--seed'"), bad);
	await page.fill("#options", "--help");
	check("--help lists the options", (await run(page)).rc === "0" && (await page.textContent("#out")).includes("--schedule"));
	await page.selectOption("#command", "fmt");
	await page.fill("#options", "");
	await type(page, "int   x;\nthread t{\nx=1;\n}\n");
	await run(page);
	check("a text is formatted in its place", (await page.inputValue("#text")) === "int x;\nthread t {\n  x = 1;\n}\n", await page.inputValue("#text"));
	await page.selectOption("#command", "check");
	await type(page, ENDLESS);
	await page.fill("#options", "--engine exact '--max-states=30'");
	check("a spent limit is unknown", (await run(page)).kind === "unknown", await state(page));
	await close(page, "results");
}

async function typing(browser) {
	const page = await open(browser);
	await type(page, "int x;\nthread t {\n  x = y;\n  /* ä */ x = unknown;\n}\n");
	const told = await messages(page);
	check("errors while typing, with line, code of the language and hint", told.length === 2 && told[0].startsWith("error|3: error: ") && told[0].includes("'y'"), told);
	check("their places are underlined", JSON.stringify(await page.$$eval("#layer .error", (e) => e.map((x) => x.textContent))) === '["y","unknown"]', await page.$eval("#layer", (e) => e.innerHTML));
	check("and their lines marked", JSON.stringify(await page.$$eval("#gutter .error", (e) => e.map((x) => x.textContent.trim()))) === '["3","4"]');
	await page.click("#messages li:nth-child(2) button");
	check("a message leads to its place", await page.$eval("#text", (e) => e.value.slice(e.selectionStart, e.selectionEnd)) === "unknown");
	const s = await run(page);
	check("such a text is not checked", s.kind === "wrong" && s.rc === "2" && (await page.textContent("#err")).includes("model") === false, s);
	await type(page, "int x;\nthread t {\n  atomic a {\n    x = 1;\n  }\n}\n");
	check("repaired, nothing is told", (await messages(page)).length === 0, await messages(page));
	check("words have colours", (await page.$$eval("#layer .word", (e) => e.map((x) => x.textContent))).join() === "int,thread,atomic");
	check("the layer has the text", await page.$eval("#layer", (e) => e.textContent) === (await page.inputValue("#text")) + "\n");
	await page.fill("#name", "small.sml");
	await page.press("#name", "Tab");
	await read(page);
	check("the name says the language", (await messages(page))[0].startsWith("error|"), await messages(page));
	await choose(page, "history/stale-read.edn");
	await type(page, "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value ]}\n");
	check("a history that cannot be read has its line", (await messages(page)).some((m) => /^error\|2: error: /.test(m)), await messages(page));
	await choose(page, "spec/account.spec");
	await type(page, (await page.inputValue("#text")).replace(/\}\s*$/, ""));
	check("so has a specification", (await messages(page)).some((m) => m.startsWith("error|")), await messages(page));
	await choose(page, "spec/account-bad.edn");
	check("a history is judged with the specification as it was edited", (await run(page)).rc === "2", await state(page));
	await choose(page, "spec/account.spec");
	await choose(page, "spec/account-bad.edn");
	check("chosen again, it is the example", (await run(page)).rc === "1", await state(page));
	await page.fill("#text", "");
	await page.focus("#text");
	await page.keyboard.press("Tab");
	check("the tab key indents", (await page.inputValue("#text")) === "  ");
	await page.keyboard.press("Escape");
	await page.keyboard.press("Tab");
	check("and after Escape it leaves the editor", await page.evaluate(() => document.activeElement.id !== "text"));
	await close(page, "typing");
}

async function cancelling(browser) {
	const page = await open(browser);
	await type(page, ENDLESS);
	check("the long model is a model", (await messages(page)).length === 0, await messages(page));
	await page.fill("#options", "--engine=exact --no-reduce=all");
	await page.click("#go");
	await page.waitForFunction(() => /states, .*\/s/.test(document.getElementById("state").textContent));
	check("progress is shown", (await state(page)).kind === "busy", await state(page));
	check("it cannot be started twice", await page.$eval("#go", (e) => e.disabled));
	await page.fill("#text", "int x;\nthread t {\n  x = q;\n}\n");
	await page.waitForFunction(() => document.querySelectorAll("#messages .error").length === 1);
	check("what is typed is read meanwhile", true);
	await page.click("#cancel");
	const s = await finished(page);
	check("cancelled, nothing is decided", s.kind === "unknown" && s.text.startsWith("Cancelled"), s);
	await choose(page, "lost-update-fixed.atm");
	check("the next check runs", (await run(page)).rc === "0", await state(page));
	await type(page, ENDLESS);
	await page.fill("#options", "--engine=exact --no-reduce=all --max-memory=20M");
	check("a limit of memory is unknown", (await run(page)).rc === "3", await state(page));
	await page.fill("#options", "--engine=exact --no-reduce=all --timeout=1");
	check("a limit of time is unknown", (await run(page)).rc === "3", await state(page));
	await close(page, "cancelling");
}

async function links(browser) {
	let page = await open(browser);
	const text = "// ünïcode, </script><img src=x onerror=alert(1)>, \"quotes\"\nint x;\nthread t * 2 {\n  atomic a {\n    x = x + 1;\n  }\n}\n";
	await type(page, text);
	await page.fill("#name", "shared <b>.atm");
	await page.fill("#options", "--threads t=3");
	await page.click("#link");
	await page.waitForFunction(() => location.hash.length > 1);
	const hash = await page.evaluate(() => location.hash);
	check("a link is text that any program leaves as it is", /^#z[\w-]+$/.test(hash), hash);
	await choose(page, "lost-update.atm");
	await page.click("#link");
	await page.waitForFunction((h) => location.hash.length > 1 && location.hash !== h, hash);
	check("and shorter than what it carries", (await page.evaluate(() => location.hash.length)) < (await page.inputValue("#text")).length);
	await close(page, "making a link");
	page = await open(browser, hash);
	check("it carries the text, its name and the options", (await page.inputValue("#text")) === text && (await page.inputValue("#options")) === "--threads t=3" &&
		(await page.inputValue("#name")).startsWith("shared"), [await page.inputValue("#text"), await page.inputValue("#name")]);
	check("nothing runs by itself", (await state(page)).text === "" && await page.$eval("#view-page", (e) => e.hidden));
	check("checked with those options", (await run(page)).rc === "0" || (await state(page)).rc === "1", await state(page));
	check("markup in it is text", await page.evaluate(() => document.querySelectorAll("img").length === 0));
	await close(page, "opening a link");
	for (const [bad, said] of [["#z" + hash.slice(2, 30), "damaged"], ["#q123", "another version"], ["#p!!", "not complete"], ["#p" + Buffer.from("[1]").toString("base64url"), "no text"], ["#p" + Buffer.from('{"text":1}').toString("base64url"), "no text"],
		["#z" + require("zlib").deflateSync(Buffer.alloc(3 << 20, 32)).toString("base64url"), "more than"]]) {
		page = await open(browser, bad);
		const s = await state(page);
		check("a wrong link says so (" + said + ")", s.kind === "wrong" && s.text.includes(said) && (await page.inputValue("#name")) === "lost-update.atm", s);
		await close(page, "a wrong link (" + said + ")");
	}
	page = await open(browser, "#p" + Buffer.from(JSON.stringify({ name: "../../results/page.html", text: "int x;\n", command: "nonsense", options: "--html=/work/x" })).toString("base64url"));
	check("a name is only a name, a command one of the list", (await page.inputValue("#command")) === "history" || (await page.inputValue("#command")) === "check", await page.inputValue("#command"));
	await run(page);
	check("and does no harm", (await state(page)).text !== "", await state(page));
	await close(page, "a strange link");
}

async function hostile(browser) {
	const page = await open(browser);
	const deep = (n) => "int x;\nthread t {\n  x = " + "(".repeat(n) + "1" + ")".repeat(n) + ";\n}\n";
	for (const [name, text] of [["deep parentheses", deep(100000)], ["deep enough for the language", deep(390)], ["many lines", "int x;\n" + "// a\n".repeat(20000)], ["a long line", "int x; // " + "a".repeat(200000) + "\n"],
		["NUL and controls", "int x;\u0000\u0001\u202e thread t { x = 1; }\n"], ["only blanks", "   \n"]]) {
		await type(page, text);
		const s = await run(page);
		check(name + ": told, and the playground goes on", s.text !== "" && s.kind !== "busy" && !/Internal/.test(s.text), s);
	}
	await page.selectOption("#example", "lost-update.atm");
	check("after all that a check is right", (await run(page)).rc === "1", await state(page));
	await page.setInputFiles("#open", { name: "mine.csv", mimeType: "text/csv", buffer: Buffer.from("process,op,value,call,return\n0,write,1,1,2\n1,read,0,3,4\n") });
	await page.waitForFunction(() => document.getElementById("name").value === "mine.csv");
	await page.fill("#options", "--init=0");
	check("a file of one's own", (await run(page)).rc === "1", await state(page));
	await page.setInputFiles("#open", { name: "packed.gz", mimeType: "application/gzip", buffer: Buffer.from([0x1f, 0x8b, 8, 0, 1, 2]) });
	await page.waitForFunction(() => document.getElementById("state").className === "wrong");
	check("one that is no text is refused", (await state(page)).text.includes("not a text in UTF-8"), await state(page));
	await close(page, "hostile texts");
}

async function shot(page, name) {
	await page.screenshot({ path: path.join(shots, name + ".png") });
}

async function looks(browser) {
	for (const [name, options] of [["light", {}], ["dark", { colorScheme: "dark" }], ["telephone", { viewport: { width: 400, height: 800 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }], ["narrow", { viewport: { width: 320, height: 640 } }]]) {
		const page = await open(browser, "", options);
		await page.waitForFunction(() => document.querySelector("#layer .word"));
		const bad = [];
		const wide = () => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1);
		if (await wide()) bad.push("wider than the window");
		await run(page);
		const frame = await (await page.waitForSelector("#view-page iframe")).contentFrame();
		await frame.waitForSelector("html[data-ready]");
		if (await wide()) bad.push("wider than the window with a result");
		const box = await page.$eval("#view-page iframe", (e) => e.getBoundingClientRect().toJSON());
		if (box.width < 280 || box.height < 300) bad.push("the result is too small: " + JSON.stringify(box));
		const lines = await page.evaluate(() => {
			const a = getComputedStyle(document.getElementById("text")), b = getComputedStyle(document.getElementById("layer"));
			return ["fontFamily", "fontSize", "lineHeight", "paddingLeft", "paddingTop", "tabSize", "letterSpacing", "whiteSpace"].filter((k) => a[k] !== b[k]);
		});
		if (lines.length) bad.push("text and colours do not coincide: " + lines);
		if (name === "telephone" && await page.$eval("#text", (e) => parseFloat(getComputedStyle(e).fontSize)) < 16) bad.push("a telephone would zoom in");
		check(name + ": it fits", bad.length === 0, bad.join("\n"));
		if (shots) await shot(page, "playground-" + name);
		await close(page, name);
	}
}

async function accessible(browser) {
	for (const scheme of ["light", "dark"]) {
		const page = await open(browser, "", { colorScheme: scheme, bypassCSP: true });
		await type(page, "int x;\nthread t {\n  x = y;\n}\n");
		await page.addScriptTag({ path: process.env.INTACT_AXE });
		const look = () => page.evaluate(() => axe.run({ exclude: [["iframe"]] }, { rules: { "frame-tested": { enabled: false } } }).then((r) => r.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => v.impact + " " + v.id + ": " + n.target.join(" ") + " " + (n.any[0] ? n.any[0].message : "")))));
		const bad = await look();
		await run(page);
		bad.push(...await look());
		for (const name of ["lost-update.atm", "lost-update-fixed.atm"]) {
			await choose(page, name);
			await run(page);
			bad.push(...await look());
		}
		check(scheme + ": axe finds nothing", bad.length === 0, bad.join("\n"));
		await page.context().close();
	}
}

(async () => {
	check("the page is one file below 3 MB", fs.statSync(file).size < 3e6, fs.statSync(file).size);
	const browser = await chromium.launch({ executablePath: process.env.INTACT_CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync"] });
	const only = process.env.INTACT_PARTS ? process.env.INTACT_PARTS.split(",") : null; // by name, while a part is written
	for (const part of [examples, results, typing, cancelling, links, hostile, looks, accessible].filter((p) => !only || only.includes(p.name))) {
		const began = Date.now();
		try { await part(browser); } catch (e) { check(part.name + " runs to its end", false, e.stack); }
		console.log("# " + part.name + ": " + ((Date.now() - began) / 1000).toFixed(1) + " s");
	}
	await browser.close();
	console.log("1.." + count);
	process.exit(failed ? 1 : 0);
})();
