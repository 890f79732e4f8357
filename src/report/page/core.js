// core: what every view shares: elements, text from outside, names, the list of
// results. Text reaches the page as text nodes only.

const SVG = "http://www.w3.org/2000/svg";

function h(tag, attrs, ...children) {
	const svg = tag.startsWith("svg:");
	const el = svg ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
	for (const [k, v] of Object.entries(attrs || {})) {
		if (v === null || v === undefined || v === false) continue;
		if (k === "on") for (const [e, f] of Object.entries(v)) el.addEventListener(e, f);
		else if (k === "style") for (const [p, x] of Object.entries(v)) el.style.setProperty(p, x);
		else if (k === "text") el.textContent = v;
		else el.setAttribute(k, v === true ? "" : String(v));
	}
	return add(el, ...children);
}

// Appends what there is; null is nothing (the DOM's own append would write it).
function add(el, ...children) {
	for (const c of children.flat(4)) if (c !== null && c !== undefined && c !== false) el.append(c);
	return el;
}

// Characters that could deceive (controls, bidirectional marks, lone
// surrogates) are shown as what they are.
function safe(value) {
	return String(value).replace(
		/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
		(c) => "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}");
}

// Cut in the middle; the end of a name tells as much as its beginning.
function short(value, max) {
	const s = safe(value), n = max || 60;
	if (s.length <= n) return s;
	const tail = Math.floor(n / 3);
	return s.slice(0, n - tail - 1) + "…" + s.slice(-tail);
}

// A span that is cut, with the whole (or much of it) on hover.
function named(value, max, attrs) {
	const s = safe(value);
	const a = Object.assign({ text: short(value, max) }, attrs || {});
	if (s.length > (max || 60)) a.title = short(s, 2000);
	return h("span", a);
}

function list(x) { return Array.isArray(x) ? x : []; }
function text(x) { return typeof x === "string" ? x : ""; }
function number(x, fallback) { return Number.isFinite(x) ? x : fallback || 0; }
function show(v) {
	if (typeof v === "string") return v;
	try { return JSON.stringify(v); } catch (e) { return "?"; }
}
function plural(n, word) { return n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s"); }

// Eight colours; a thread keeps its own through the page.
function hue(i) { return "c" + (((i % 8) + 8) % 8); }

const words = { holds: "Holds", violated: "Violated", unknown: "Not decided", error: "Not judged", refused: "Not judged" };

function badge(verdict, label) {
	const kind = label === "Predicted" ? "predicted" : words[verdict] ? verdict : "unknown";
	return h("span", { class: "badge " + kind, text: label || words[verdict] || "?" });
}

function section(title, ...children) {
	return h("section", { class: "card" }, title ? h("h3", { text: title }) : null, ...children);
}

function button(label, title, action, attrs) {
	return h("button", Object.assign({ type: "button", title, on: { click: action } }, attrs || {}), label);
}

// A command to copy.
function command(line) {
	const out = h("code", { text: safe(line) });
	const done = h("span", { class: "sr", role: "status" });
	return h("div", { class: "command" }, out, button("Copy", "Copy the command", () => {
		const finish = () => { done.textContent = "copied"; };
		if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(line).then(finish, () => {});
		else {
			const range = document.createRange();
			range.selectNodeContents(out);
			const sel = window.getSelection();
			sel.removeAllRanges();
			sel.addRange(range);
			try { document.execCommand("copy"); finish(); } catch (e) { /* selected at least */ }
		}
	}), done);
}

// The word as a shell takes it.
function shell(word) {
	return /^[A-Za-z0-9_.\/:=,@%+-]+$/.test(word) ? word : "'" + word.replace(/'/g, "'\\''") + "'";
}

// Source lines with numbers. marks: line -> [classes]; labels: line -> elements.
function sourceLines(lines, first, opts) {
	const o = opts || {};
	const table = h("table", { class: "source", "aria-label": o.label || "source" });
	const body = h("tbody");
	lines.forEach((line, i) => {
		const n = first + i;
		const tr = h("tr", { "data-line": n, class: o.mark === n ? "here" : null },
			h("td", { class: "no", text: n }), h("td", { class: "gutter" }),
			h("td", { class: "line" }, h("code", { text: safe(line.length > 400 ? line.slice(0, 400) + "…" : line) || " " })));
		body.append(tr);
	});
	table.append(body);
	return table;
}

// Keys work on the whole page, unless a field has them.
const keyHandlers = [];
document.addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const t = e.target;
	if (t instanceof HTMLElement && (t.matches("select, textarea, input:not([type=range])"))) return;
	for (const f of keyHandlers) if (f(e)) { e.preventDefault(); return; }
});
