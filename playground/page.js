// page: what is seen, and the two workers behind it: one checks, one reads what is typed. Texts that were edited are kept by name while
// the page is open, so that a specification and a history of it go together.
const $ = (id) => document.getElementById(id);
const data = (id) => JSON.parse($(id).textContent);
const examples = data("examples");
const baseName = (name) => name.replace(/^.*\//, "");
const files = new Map(examples.map((e) => [baseName(e.name), e.text]));
const HEAP_MAX = 512 << 20; // bytes: a worker that has grown beyond is not used again
const TYPING_PAUSE = 250; // ms

// ---- workers ----------------------------------------------------------------------------------

const script = URL.createObjectURL(new Blob([data("worker")], { type: "text/javascript" }));
let wasm = null;

async function wasmBytes() {
	if (!wasm) {
		if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") throw new Error("this browser is too old for the playground: it needs WebAssembly and DecompressionStream (Chrome 80, Firefox 113, Safari 16.4)");
		const packed = Uint8Array.from(atob($("wasm").textContent.trim()), (c) => c.charCodeAt(0));
		wasm = through(packed, new DecompressionStream("gzip"), Infinity);
	}
	return wasm;
}

// One engine: asks are answered in their order; ended and made anew when one is cancelled or ends it.
function makeEngine(onReady) {
	let worker = null, started = null, asks = new Map(), count = 0;
	async function start() {
		const own = (worker = new Worker(script));
		worker.onmessage = (e) => {
			const m = e.data, ask = asks.get(m.id);
			if (m.ready) return onReady && onReady(m);
			if (m.progress !== undefined) return ask && ask.progress && ask.progress(m.progress);
			asks.delete(m.id);
			if (ask) ask.done(m);
			if (m.stopped) end({ stopped: m.stopped });
			else if (m.heap > HEAP_MAX && !asks.size) restart();
		};
		worker.onerror = (e) => end({ stopped: e.message || "the worker could not be started" });
		try {
			own.postMessage({ wasm: await wasmBytes() });
		} catch (e) {
			end({ stopped: e.message });
		}
	}
	// What still waits is answered with this.
	function end(answer) {
		const waiting = [...asks.values()];
		asks.clear();
		restart();
		for (const a of waiting) a.done(answer);
	}
	function restart() {
		if (worker) worker.terminate();
		worker = started = null;
	}
	return {
		warm() { started = started || start(); },
		ask(message, progress) {
			return new Promise((done) => {
				const id = ++count;
				asks.set(id, { done, progress });
				started = started || start();
				started.then(() => worker && asks.has(id) && worker.postMessage(Object.assign({ id }, message)));
			});
		},
		cancel() { end({ cancelled: true }); },
	};
}

// ---- what is in the editor ---------------------------------------------------------------------

const KINDS = { atm: "model", sml: "model", spec: "specification" };
const kindOf = (name) => KINDS[name.slice(name.lastIndexOf(".") + 1)] || "history";
const COMMANDS = { model: [["check", "check: every schedule"], ["sim", "sim: one run"], ["fmt", "fmt: format"]], history: [["history", "history: judge"]], specification: [["history", "history: judge"]] };

let escaped = false; // the tab key leaves the editor after Escape
const editor = makeEditor({ area: $("text"), layer: $("layer"), gutter: $("gutter"), name: () => $("name").value, leave: () => escaped }, () => typed());
$("text").addEventListener("keydown", (e) => {
	if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
		e.preventDefault();
		go();
	}
	if (e.key !== "Tab") escaped = e.key === "Escape";
});

function commandsFor(name) {
	const was = $("command").value, list = COMMANDS[kindOf(name)];
	$("command").replaceChildren(...list.map(([value, text]) => Object.assign(document.createElement("option"), { value, textContent: text })));
	$("command").value = list.some(([v]) => v === was) ? was : list[0][0];
}

// Another text in the editor.
function show(content) {
	$("name").value = content.name || "model.atm";
	commandsFor($("name").value);
	if (content.command) $("command").value = content.command;
	if (!$("command").value) $("command").selectedIndex = 0;
	$("options").value = content.options || "";
	editor.set(content.text);
	nothingShown();
	typed(0);
}

const nameNow = () => baseName($("name").value.trim()).replace(/[^\w.+-]/g, "_").replace(/^[.-]+/, "") || "model.atm";

// ---- messages while typing ----------------------------------------------------------------------

let timer = 0, edits = 0; // of what the messages were last asked
const reader = makeEngine((m) => editor.setWords(m.words));

function typed(pause) {
	files.set(nameNow(), editor.text());
	document.documentElement.dataset.edits = ++edits;
	clearTimeout(timer);
	timer = setTimeout(readText, pause === undefined ? TYPING_PAUSE : pause);
}

// Bytes of UTF-8 to units of the text, for ascending places.
function placesOf(text) {
	if (/^[\0-\x7f]*$/.test(text)) return (n) => n;
	const bytes = new TextEncoder().encode(text), decoder = new TextDecoder();
	return (n) => decoder.decode(bytes.subarray(0, n)).length;
}

async function readText() {
	const mine = edits, text = editor.text(), name = nameNow();
	let told = [];
	if (kindOf(name) === "history") {
		if (text.length <= 65536) told = await readHistory(name, text);
	} else {
		const m = await reader.ask({ messages: name, text });
		told = m.messages || [{ level: "error", text: "this text could not be read: " + m.stopped }];
	}
	if (mine !== edits) return;
	const at = placesOf(text);
	for (const m of told) if (m.from !== undefined && m.line !== undefined && !m.units) {
		m.from = at(m.from);
		m.to = Math.max(at(m.to), m.from + 1);
	}
	editor.setMarks(told.filter((m) => m.from !== undefined));
	$("messages").replaceChildren(...told.slice(0, 50).map(messageItem));
	document.documentElement.dataset.read = mine;
}

// A history has no front end of its own: it is judged for at most a second, and only what makes it unreadable is told here.
async function readHistory(name, text) {
	const argv = ["history", "--quiet", "--timeout=1", ...words($("options").value), "--json=/results/result.json", "--", name];
	const m = await reader.ask({ argv, files: filesWith(name, text) });
	if (m.rc !== 2) return [];
	const lines = text.split("\n"), told = [];
	for (const line of m.err.split("\n")) {
		const found = /^(.*?):(\d+):(\d+): (error|warning): (.*)$/.exec(line);
		if (found && found[1] === name) {
			const n = Number(found[2]), start = lines.slice(0, n - 1).join("\n").length + (n > 1 ? 1 : 0), row = lines[n - 1] || "";
			const from = start + [...row].slice(0, Number(found[3]) - 1).join("").length;
			told.push({ level: found[4], text: found[5], line: n, from, to: Math.max(start + row.length, from + 1), units: true, more: [] });
		} else if (/^ *(note|hint): /.test(line) && told.length) {
			told[told.length - 1].more.push({ level: line.trim().split(":")[0], text: line.trim().replace(/^\w+: /, "") });
		}
	}
	return told.length ? told : [{ level: "error", text: m.err.trim() }];
}

function messageItem(m) {
	const item = document.createElement("li"), button = document.createElement("button");
	const text = (x) => (x.line ? x.line + ": " : "") + x.level + ": " + x.text;
	item.className = m.level;
	button.type = "button";
	button.textContent = [text(m), ...(m.more || []).map((x) => "   " + text(x))].join("\n");
	if (m.from !== undefined) button.addEventListener("click", () => editor.select(m.from, m.to));
	else button.disabled = true;
	item.append(button);
	return item;
}

// ---- running ------------------------------------------------------------------------------------

const engine = makeEngine(null);
let running = null; // what is asked now

// Words as a shell has them: blanks separate, quotes and backslashes join.
function words(line) {
	const out = [];
	for (const m of line.matchAll(/(?:[^\s"'\\]|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.)+/g))
		out.push(m[0].replace(/"((?:[^"\\]|\\.)*)"?|'([^']*)'?|\\(.)/g, (_, d, s, c) => (d !== undefined ? d.replace(/\\(.)/g, "$1") : s !== undefined ? s : c)));
	return out;
}

function filesWith(name, text) {
	const all = Object.fromEntries(files);
	all[name] = text;
	return all;
}

const SAID = { 0: ["holds", "Holds"], 1: ["violated", "Violated"], 2: ["wrong", "Not checked: the input or the options are wrong"], 3: ["unknown", "Unknown: a limit was reached"], 4: ["wrong", "Internal error"] };

// The verdict in one line, above the page: with how many answers each way.
function sentence(m, command) {
	const [kind, text] = SAID[m.rc] || SAID[4];
	if (command === "fmt") return [m.rc === 0 ? "" : kind, m.rc === 0 ? "Formatted." : text];
	if (m.rc === 0 && !m.json) return ["", "Done."];
	if (command === "sim") return [m.rc === 1 ? kind : "", m.rc === 1 ? "The run ended with a fault" : m.rc === 0 ? "One run; another seed may give another" : text];
	return [kind, text];
}

async function go() {
	if (running) return;
	const name = nameNow(), text = editor.text(), command = $("command").value, began = performance.now();
	if (kindOf(name) === "specification") return told("wrong", "A specification judges a history: choose account-bad.edn, which is judged with the account.spec of this page.");
	files.set(name, text);
	const own = words($("options").value), argv = [command, ...own, ...(command === "fmt" ? [] : ["--html=/results/page.html", "--json=/results/result.json"]), name];
	running = { cancelled: false };
	busy(true);
	const seconds = () => ((performance.now() - began) / 1000).toFixed(1) + " s";
	let progress = "";
	const ticking = setInterval(() => told("busy", "Running: " + (progress || seconds())), 200);
	told("busy", "Running");
	const m = await engine.ask({ argv, files: filesWith(name, text) }, (t) => { progress = t; });
	clearInterval(ticking);
	running = null;
	busy(false);
	if (m.cancelled) return told("unknown", "Cancelled after " + seconds() + ": nothing is decided");
	if (m.stopped) return told("unknown", "Unknown: " + m.stopped + ", after " + seconds());
	if (command === "fmt" && m.rc === 0 && m.out) {
		editor.set(m.out);
		typed(0);
	}
	const [kind, said] = sentence(m, command);
	told(kind, said + (command === "fmt" ? "" : " (" + seconds() + ")"), m.rc);
	$("state").scrollIntoView({ block: "nearest" });
	result(m, command);
}

function busy(on) {
	$("go").disabled = on;
	$("cancel").hidden = !on;
}

function told(kind, text, rc) {
	$("state").className = kind;
	$("state").textContent = text;
	$("state").dataset.rc = rc === undefined ? "" : rc;
}

function nothingShown() {
	if (running) engine.cancel();
	told("", "");
	document.querySelector(".views").hidden = true;
	$("view-page").hidden = $("view-text").hidden = true;
	$("view-page").replaceChildren();
}

// The page of the result, in a frame that may run the page's own script and nothing else, and the text of the command.
function result(m, command) {
	$("err").textContent = m.err;
	$("out").textContent = command === "fmt" ? "" : m.out;
	$("view-page").replaceChildren();
	const page = m.html !== "", text = m.err !== "" || (m.out !== "" && command !== "fmt");
	if (page) {
		const frame = document.createElement("iframe");
		frame.setAttribute("sandbox", "allow-scripts");
		frame.title = "Result";
		frame.srcdoc = m.html;
		$("view-page").append(frame);
	}
	document.querySelector(".views").hidden = !page;
	view(page && (m.rc === 0 || m.rc === 1 || m.rc === 3) ? "page" : text ? "text" : "");
}

function view(which) {
	for (const v of ["page", "text"]) {
		$("view-" + v).hidden = v !== which;
		$("tab-" + v).setAttribute("aria-selected", v === which);
		$("tab-" + v).tabIndex = v === which ? 0 : -1;
	}
}

// ---- the rest --------------------------------------------------------------------------------------

function listExamples() {
	const groups = new Map([["Models", []], ["Models that separate notions", []], ["Histories", []]]);
	for (const e of examples) groups.get(e.name.startsWith("separating/") ? "Models that separate notions" : e.name.includes("/") ? "Histories" : "Models").push(e);
	$("example").replaceChildren(Object.assign(document.createElement("option"), { value: "", textContent: "choose one" }), ...[...groups].map(([label, list]) => {
		const group = document.createElement("optgroup");
		group.label = label;
		group.append(...list.map((e) => Object.assign(document.createElement("option"), { value: e.name, textContent: baseName(e.name) })));
		return group;
	}));
}

function example(name) {
	const e = examples.find((x) => x.name === name);
	if (!e) return;
	$("example").value = name;
	history.replaceState(null, "", location.pathname + location.search);
	show({ name: baseName(e.name), text: e.text, options: e.options });
}

async function link() {
	try {
		const content = { name: nameNow(), text: editor.text(), command: $("command").value, options: $("options").value };
		history.replaceState(null, "", "#" + await linkOf(content));
		let copied = false;
		try {
			await navigator.clipboard.writeText(location.href);
			copied = true;
		} catch (e) { /* without permission, or from a file: the address has it */ }
		told("", (copied ? "The link is copied" : "The address of this page is the link now") + ": " + location.href.length + " characters, with the text in it.");
	} catch (e) {
		told("wrong", "No link: " + e.message);
	}
}

async function openLink() {
	const text = location.hash.slice(1);
	if (!text) return false;
	try {
		show(await contentOf(text));
		$("example").value = "";
		return true;
	} catch (e) {
		told("wrong", "The link cannot be read: " + e.message);
		return false;
	}
}

async function openFile(file) {
	if (!file) return;
	if (file.size > 8 << 20) return told("wrong", file.name + " is larger than 8 MiB: check it with the command");
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
		$("example").value = "";
		show({ name: file.name, text });
	} catch (e) {
		told("wrong", file.name + " is not a text in UTF-8");
	}
}

function save() {
	const a = document.createElement("a");
	a.href = URL.createObjectURL(new Blob([editor.text()], { type: "text/plain" }));
	a.download = nameNow();
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

$("example").addEventListener("change", (e) => example(e.target.value));
$("name").addEventListener("change", () => { commandsFor($("name").value); typed(0); });
$("options").addEventListener("change", () => { if (kindOf(nameNow()) === "history") typed(0); });
$("options").addEventListener("keydown", (e) => { if (e.key === "Enter") go(); });
$("go").addEventListener("click", go);
$("cancel").addEventListener("click", () => engine.cancel());
$("link").addEventListener("click", link);
$("save").addEventListener("click", save);
$("open").addEventListener("change", (e) => { openFile(e.target.files[0]); e.target.value = ""; });
for (const v of ["page", "text"]) $("tab-" + v).addEventListener("click", () => view(v));
document.querySelector(".views").addEventListener("keydown", (e) => {
	if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
	const other = $("view-page").hidden ? "page" : "text";
	view(other);
	$("tab-" + other).focus();
});
window.addEventListener("hashchange", openLink);
listExamples();
openLink().then((opened) => {
	if (!opened) {
		const said = [$("state").className, $("state").textContent];
		example("lost-update.atm");
		if (said[1]) told(...said);
	}
	engine.warm();
	document.documentElement.dataset.ready = "";
});
