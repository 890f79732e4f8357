// worker: the engines, behind emscripten's module in the same script. The page sends the module's bytes once, then one request at a
// time; a request that must end early ends with the worker.
//   {wasm}                                  -> {ready, words}
//   {id, argv, files: {name: text}}         -> {id, progress: text}..., {id, rc, out, err, html, json, heap}
//   {id, messages: name, text}              -> {id, messages: [...]}
// What ends the engine itself (no memory, no stack) is {id, stopped: reason}: this worker is of no use after it.
"use strict";
let module = null;
let line = { out: [], err: [], id: 0 };
const decoder = new TextDecoder();
const bytesOf = (list) => decoder.decode(new Uint8Array(list));

// A progress line begins with a carriage return and ends with "clear to the end of the line": it is shown and not kept.
function stderrByte(c) {
	line.err.push(c);
	if (c !== 75 || line.err[line.err.length - 2] !== 91 || line.err[line.err.length - 3] !== 27) return;
	const start = line.err.lastIndexOf(13);
	const text = bytesOf(line.err.slice(start + 1, -3));
	line.err.length = Math.max(start, 0);
	postMessage({ id: line.id, progress: text });
}

async function begin(wasm) {
	const byte = (take) => (c) => { if (c !== null) take(c < 0 ? c + 256 : c); };
	module = await intactModule({
		wasmBinary: wasm,
		stdin: () => null,
		stdout: byte((c) => line.out.push(c)),
		stderr: byte(stderrByte),
		// what emscripten says itself goes to the results, too
		print: () => {},
		printErr: (text) => { for (const c of new TextEncoder().encode(text + "\n")) line.err.push(c); },
	});
	module.FS.mkdir("/work");
	module.FS.mkdir("/results");
	module.FS.chdir("/work");
	postMessage({ ready: true, words: returned(module._playground_words()).trim().split("\n").map((l) => l.split(" ")) });
}

function returned(p) {
	if (!p) throw new Error("out of memory");
	const text = module.UTF8ToString(p);
	module._free(p);
	return text;
}

function passed(text) {
	const n = module.lengthBytesUTF8(text) + 1, p = module._malloc(n);
	if (!p) throw new Error("out of memory");
	module.stringToUTF8(text, p, n);
	return p;
}

function fileIfAny(path) {
	return module.FS.analyzePath(path).exists ? module.FS.readFile(path, { encoding: "utf8" }) : "";
}

function run(m) {
	const fs = module.FS;
	for (const dir of ["/work", "/results"]) for (const f of fs.readdir(dir)) if (f !== "." && f !== "..") fs.unlink(dir + "/" + f);
	for (const [name, text] of Object.entries(m.files)) fs.writeFile("/work/" + name, text);
	const rc = module.callMain(m.argv);
	return { rc, out: bytesOf(line.out), err: bytesOf(line.err), html: fileIfAny("/results/page.html"), json: fileIfAny("/results/result.json"),
		heap: module.HEAPU8 ? module.HEAPU8.length : 0 };
}

function messages(m) {
	const name = passed(m.messages), text = passed(m.text);
	const told = JSON.parse(returned(module._playground_messages(name, text)));
	module._free(name);
	module._free(text);
	return { messages: told };
}

function why(e) {
	const text = String(e && e.message || e);
	if (/call stack|recursion/i.test(text)) return "the browser's stack is too small for this input";
	return /memory|OOM|allocation/i.test(text) ? "the browser gave no more memory" : text;
}

// One after the other: the module is made asynchronously.
let last = Promise.resolve();
onmessage = (event) => { last = last.then(() => answer(event.data)); };

async function answer(m) {
	try {
		if (m.wasm) return await begin(m.wasm);
		line = { out: [], err: [], id: m.id };
		postMessage(Object.assign({ id: m.id }, m.argv ? run(m) : messages(m)));
	} catch (e) {
		postMessage({ id: m.id, stopped: why(e) });
	}
}
