// history: operations as bars on a time axis. Zoom and pan; from afar the bars
// become densities, so a million operations draw as fast as a thousand.

// A column of the log: base64, base 128, zigzag differences (docs/json.md).
// Small numbers, nearly all of them, go through integers.
function column(b64, n, kind) {
	const out = new (kind || Float64Array)(n);
	let raw;
	try { raw = atob(text(b64)); } catch (e) { return out; }
	const size = raw.length;
	let last = 0, k = 0, i = 0;
	while (i < size && k < n) {
		let byte = raw.charCodeAt(i++), value = byte & 127, scale = 128;
		while (byte > 127 && i < size) {
			byte = raw.charCodeAt(i++);
			value += (byte & 127) * scale;
			scale *= 128;
		}
		last += value % 2 ? -(value + 1) / 2 : value / 2;
		out[k++] = last;
	}
	return out;
}

// What is needed only near by (values, lines, moments) is decoded when asked for.
function readLog(result) {
	const log = result.log, n = Math.min(number(log.operations), 50000000), c = log.columns || {};
	const names = { processes: list(log.processes), keys: list(log.keys), functions: list(log.functions), values: list(log.values) };
	const L = { n, events: number(log.events), names, proc: column(c.process, n, Uint32Array), key: column(c.key, n, Uint32Array), fn: column(c.function, n, Uint8Array),
		call: column(c.call, n), end: column(c.span, n) };
	const later = (name, make) => {
		let value;
		Object.defineProperty(L, name, { get: () => (value === undefined ? (value = make()) : value) });
	};
	later("a", () => column(c.a, n));
	later("b", () => column(c.b, n));
	later("res", () => column(c.result, n, Uint8Array));
	later("line", () => column(c.line, n));
	later("point", () => linearPoints(result, L));
	let max = L.events;
	for (let i = 0; i < n; i++) {
		if (L.end[i] > 0) { L.end[i] += L.call[i]; if (L.end[i] > max) max = L.end[i]; }
		else { L.end[i] = Infinity; if (L.call[i] >= max) max = L.call[i] + 1; }
	}
	L.events = max || 1;
	const lengths = list(log.order_lengths).reduce((s, x) => s + number(x), 0);
	L.ordered = lengths > 0 && lengths <= n && result.condition !== "sequential";
	return L;
}

// Where each operation can take effect, along the orders found: as early as
// the order allows. null when there is none.
function linearPoints(result, L) {
	const lengths = list(result.log.order_lengths);
	const total = lengths.reduce((s, x) => s + number(x), 0);
	if (!L.ordered) return null;
	const order = column(result.log.order, total), point = new Float64Array(L.n).fill(-1);
	let at = 0;
	for (const len of lengths) {
		let now = -1;
		for (let i = 0; i < number(len); i++) {
			const op = order[at++];
			if (!(op >= 0 && op < L.n)) return null;
			now = Math.max(now + 1 / 256, L.call[op] + 0.25);
			point[op] = Math.min(now, L.end[op]);
		}
	}
	return point;
}

function logValue(L, code) {
	if (!(code > 0)) return "";
	if (code % 2 === 1) { const z = (code - 1) / 2; return String(z % 2 ? -(z + 1) / 2 : z / 2); }
	const v = L.names.values[code / 2 - 1];
	return v === undefined ? "?" : v;
}

const SEES = new Set(["read", "get", "dequeue", "pop", "poll", "peek"]);

function opLabel(L, i) {
	const f = text(L.names.functions[L.fn[i]]) || "?";
	let s = f;
	if (f === "cas") s += " " + logValue(L, L.a[i]) + " to " + logValue(L, L.b[i]);
	else if (!SEES.has(f) && L.a[i] > 0) s += " " + logValue(L, L.a[i]);
	if (SEES.has(f) && L.end[i] < Infinity && L.b[i] > 0) s += " → " + logValue(L, L.b[i]);
	if (L.res[i]) s += L.res[i] === 1 ? " → true" : " → false";
	return s;
}

function opSentence(L, i) {
	return opLabel(L, i) + ", process " + text(L.names.processes[L.proc[i]]) + (L.names.keys.length ? ", key " + text(L.names.keys[L.key[i]]) : "") +
		(L.end[i] === Infinity ? ", never answered" : "") + (L.line[i] ? ", line " + L.line[i] : "");
}

// Lanes: a row a process; with very many, rows are shared out by turns.
function makeLanes(L, filter) {
	const np = Math.max(1, L.names.processes.length), lanes = [];
	const wanted = filter.proc >= 0 ? [filter.proc] : [...Array(np).keys()];
	const used = new Uint32Array(np);
	for (let i = 0; i < L.n; i++)
		if ((filter.key < 0 || L.key[i] === filter.key) && L.proc[i] < np) used[L.proc[i]]++;
	const alive = wanted.filter((p) => used[p]);
	const rows = Math.min(alive.length || 1, 64);
	const lane = new Int32Array(np).fill(-1);
	alive.forEach((p, k) => { lane[p] = k % rows; });
	for (let r = 0; r < rows; r++) {
		const ps = alive.filter((p) => lane[p] === r);
		lanes.push({ label: ps.length === 1 ? text(L.names.processes[ps[0]]) : ps.length + " processes", ops: new Uint32Array(ps.reduce((s, p) => s + used[p], 0)), n: 0 });
	}
	for (let i = 0; i < L.n; i++) {
		if (filter.key >= 0 && L.key[i] !== filter.key) continue;
		const r = L.proc[i] < np ? lane[L.proc[i]] : -1;
		if (r >= 0) lanes[r].ops[lanes[r].n++] = i;
	}
	for (const l of lanes) { // running maximum of the ends, to find what reaches into a window
		l.reach = new Float64Array(l.n);
		let m = -1;
		for (let k = 0; k < l.n; k++) { m = Math.max(m, L.end[l.ops[k]]); l.reach[k] = m; }
	}
	return lanes;
}

// First place in lane whose operation is invoked at or after t.
function firstCall(L, lane, t) {
	let lo = 0, hi = lane.n;
	while (lo < hi) { const mid = (lo + hi) >> 1; if (L.call[lane.ops[mid]] < t) lo = mid + 1; else hi = mid; }
	return lo;
}
// First place from which something still lasts at t.
function firstReach(lane, t) {
	let lo = 0, hi = lane.n;
	while (lo < hi) { const mid = (lo + hi) >> 1; if (lane.reach[mid] < t) lo = mid + 1; else hi = mid; }
	return lo;
}

function historyView(result) {
	const missing = list(result.log.left_out).map(text);
	if (missing.includes("call")) return h("div", {}, section(null, h("p", { text: plural(number(result.log.operations), "operation") +
		" are too many for a page; the text above states the result. The JSON contains everything." })));
	const L = readLog(result), parts = list(result.parts);
	const conflict = new Set(), culprits = new Map();
	for (const p of parts) {
		for (const x of list(p.conflict)) if (Number.isInteger(x)) conflict.add(x);
		if (p.verdict === "violated" && Number.isInteger(p.culprit) && p.culprit < L.n) culprits.set(p.culprit, p);
	}
	const filter = { key: -1, proc: -1 };
	let lanes = makeLanes(L, filter), from = 0, to = L.events, picked = -1, frame = 0;
	const view = h("div", { class: "history" });
	const canvas = h("canvas", { class: "main", tabindex: 0, role: "application",
		"aria-label": "operations over time; arrow keys choose an operation, plus and minus zoom, shift and arrows pan" });
	const overview = h("canvas", { class: "overview", "aria-hidden": "true" });
	const detail = h("div", { class: "detail", "aria-live": "polite" });
	const range = h("output", { class: "position" });
	const LEFT = 110, TOP = 26;
	let laneHeight = 30, css = null;

	const colours = () => {
		const s = getComputedStyle(document.documentElement), v = (n) => s.getPropertyValue(n).trim();
		return { bg: v("--card"), text: v("--text"), quiet: v("--quiet"), line: v("--line"), soft: v("--soft"), bad: v("--bad"), badSoft: v("--bad-soft"),
			good: v("--good"), goodSoft: v("--good-soft"), read: v("--c0"), write: v("--c1"), accent: v("--accent") };
	};
	const x = (t, w) => LEFT + ((t - from) / (to - from)) * (w - LEFT - 6);
	const time = (px, w) => from + ((px - LEFT) / (w - LEFT - 6)) * (to - from);

	function size(c, height) {
		const w = c.clientWidth || 900, r = Math.min(window.devicePixelRatio || 1, 2);
		if (c.width !== Math.round(w * r) || c.height !== Math.round(height * r)) {
			c.width = Math.round(w * r);
			c.height = Math.round(height * r);
		}
		c.style.setProperty("height", height + "px");
		const g = c.getContext("2d");
		g.setTransform(r, 0, 0, r, 0, 0);
		g.clearRect(0, 0, w, height);
		return [g, w];
	}

	function goodPrefix() { // until when everything was fine
		let t = Infinity;
		for (const [op, p] of culprits)
			if (filter.key < 0 || L.key[op] === filter.key) { if (L.end[op] < t) t = L.end[op]; void p; }
		return t;
	}

	function ticks(g, w, height) {
		const span = to - from, raw = span / Math.max(2, (w - LEFT) / 110);
		const p = Math.pow(10, Math.floor(Math.log10(Math.max(raw, 1)))), step = Math.max(1, [1, 2, 5, 10].map((k) => k * p).find((k) => k >= raw) || 1);
		g.fillStyle = css.quiet;
		g.strokeStyle = css.line;
		g.font = "11px system-ui, sans-serif";
		g.textBaseline = "middle";
		for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
			const px = Math.round(x(t, w)) + 0.5;
			g.beginPath();
			g.moveTo(px, TOP - 5);
			g.lineTo(px, height);
			g.stroke();
			if (px < w - 30) g.fillText(t.toLocaleString("en"), px + 3, TOP / 2);
		}
		g.fillText("event", 6, TOP / 2);
	}

	function colour(i) {
		if (conflict.has(i)) return css.bad;
		return SEES.has(L.names.functions[L.fn[i]]) ? css.read : css.write;
	}

	function bars(g, lane, y, hgt, w, a, b) {
		let lastX = -1e9;
		for (let k = a; k < b; k++) {
			const i = lane.ops[k];
			if (L.end[i] < from) continue;
			const x0 = Math.max(LEFT, x(L.call[i], w)), x1 = Math.min(w - 6, L.end[i] === Infinity ? w - 6 : x(L.end[i], w));
			const width = Math.max(1.5, x1 - x0);
			if (x0 + width < lastX + 0.75 && !conflict.has(i) && i !== picked) continue; // under what is drawn
			lastX = x0;
			const c = colour(i), bad = conflict.has(i);
			g.globalAlpha = bad ? 1 : L.end[i] === Infinity ? 0.35 : 0.82;
			g.fillStyle = c;
			if (width > 6) { g.beginPath(); g.roundRect(x0, y, width, hgt, 4); g.fill(); } else g.fillRect(x0, y, width, hgt);
			g.globalAlpha = 1;
			if (culprits.has(i) || i === picked) {
				g.strokeStyle = css.text;
				g.lineWidth = 2;
				g.strokeRect(x0 - 1.5, y - 1.5, width + 3, hgt + 3);
				g.lineWidth = 1;
			}
			if (width > 34) {
				const label = short(opLabel(L, i), Math.floor(width / 6.4));
				g.font = "600 11.5px ui-monospace, Menlo, Consolas, monospace";
				g.fillStyle = css.bg;
				g.save();
				g.beginPath();
				g.rect(x0, y, width, hgt);
				g.clip();
				g.fillText(label, x0 + 6, y + hgt / 2 + 0.5);
				g.restore();
			}
			if (L.point && L.point[i] >= 0 && width > 3) {
				const px = x(L.point[i], w);
				if (px >= LEFT && px <= w) {
					g.fillStyle = css.text;
					g.beginPath();
					g.moveTo(px, y - 4);
					g.lineTo(px + 4, y);
					g.lineTo(px, y + 4);
					g.lineTo(px - 4, y);
					g.fill();
				}
			}
		}
	}

	function densities(g, lane, y, hgt, w, lo, hi) {
		const columns = Math.ceil((w - LEFT - 6) / 2), per = (to - from) / columns;
		let k = firstCall(L, lane, from), most = 1;
		const count = new Float64Array(columns);
		for (let cIdx = 0; cIdx < columns; cIdx++) {
			const end = firstCall(L, lane, from + (cIdx + 1) * per);
			count[cIdx] = end - k;
			if (count[cIdx] > most) most = count[cIdx];
			k = end;
		}
		g.fillStyle = css.read;
		for (let cIdx = 0; cIdx < columns; cIdx++) {
			if (!count[cIdx]) continue;
			const part = 0.15 + 0.85 * (count[cIdx] / most);
			g.globalAlpha = 0.3 + 0.5 * part;
			g.fillRect(LEFT + cIdx * 2, y + hgt * (1 - part), 2, hgt * part);
		}
		g.globalAlpha = 1;
		for (const i of conflict) {
			const t = L.call[i];
			if (t < from || t > to || !inLane(lane, i)) continue;
			g.fillStyle = css.bad;
			g.fillRect(x(t, w) - 1.5, y - 2, 4, hgt + 4);
		}
		void lo; void hi;
	}

	function inLane(lane, i) {
		const k = firstCall(L, lane, L.call[i]);
		for (let j = k; j < lane.n && L.call[lane.ops[j]] === L.call[i]; j++) if (lane.ops[j] === i) return true;
		return false;
	}

	let mode = "";
	function draw() {
		frame = 0;
		css = colours();
		laneHeight = Math.max(10, Math.min(34, 620 / lanes.length));
		const height = TOP + lanes.length * laneHeight + 8, [g, w] = size(canvas, height);
		const good = goodPrefix();
		g.textBaseline = "middle";
		if (good < Infinity) {
			const px = Math.min(w, Math.max(LEFT, x(good, w)));
			g.fillStyle = css.goodSoft;
			g.fillRect(LEFT, TOP - 2, px - LEFT, height);
			g.fillStyle = css.badSoft;
			g.fillRect(px, TOP - 2, w - px, height);
		}
		ticks(g, w, height);
		let drawn = 0, dense = false;
		lanes.forEach((lane, r) => {
			const y = TOP + r * laneHeight + laneHeight * 0.16, hgt = laneHeight * 0.68;
			g.fillStyle = css.quiet;
			g.font = "12px system-ui, sans-serif";
			if (laneHeight >= 12) g.fillText(short(lane.label, 15), 6, y + hgt / 2);
			const a = firstReach(lane, from), b = firstCall(L, lane, to);
			if (b - a > 6000 || (b - firstCall(L, lane, from)) > (w - LEFT) * 2) { densities(g, lane, y, hgt, w, a, b); dense = true; }
			else { bars(g, lane, y, hgt, w, a, b); drawn += b - a; }
		});
		if (good < Infinity && good >= from && good <= to) {
			const px = Math.round(x(good, w)) + 0.5;
			g.strokeStyle = css.bad;
			g.lineWidth = 1.5;
			g.setLineDash([5, 4]);
			g.beginPath();
			g.moveTo(px, TOP - 4);
			g.lineTo(px, height);
			g.stroke();
			g.setLineDash([]);
			g.lineWidth = 1;
		}
		mode = dense ? "density" : "bars";
		canvas.dataset.mode = mode;
		canvas.dataset.from = from;
		canvas.dataset.to = to;
		range.textContent = "events " + Math.round(from).toLocaleString("en") + " to " + Math.round(to).toLocaleString("en") + " of " +
			Math.round(L.events).toLocaleString("en") + (dense ? " (densities: zoom in for single operations)" : "");
		drawOverview();
	}

	function drawOverview() {
		const [g, w] = size(overview, 34);
		g.fillStyle = css.soft;
		g.fillRect(LEFT, 0, w - LEFT - 6, 34);
		const columns = Math.floor((w - LEFT - 6) / 2), count = new Float64Array(columns);
		if (!drawOverview.cache || drawOverview.cache.columns !== columns || drawOverview.cache.lanes !== lanes) {
			for (const lane of lanes) {
				let k = 0;
				for (let c = 0; c < columns; c++) { const e = firstCall(L, lane, (c + 1) * L.events / columns); count[c] += e - k; k = e; }
			}
			drawOverview.cache = { columns, lanes, count };
		}
		const cached = drawOverview.cache.count, most = cached.reduce((m, v) => Math.max(m, v), 1);
		g.fillStyle = css.quiet;
		g.globalAlpha = 0.6;
		for (let c = 0; c < columns; c++) g.fillRect(LEFT + c * 2, 34 - 30 * cached[c] / most, 2, 30 * cached[c] / most);
		g.globalAlpha = 1;
		const ox = (t) => LEFT + t / L.events * (w - LEFT - 6);
		g.fillStyle = css.bad;
		for (const i of conflict) g.fillRect(ox(L.call[i]) - 1, 0, 3, 34);
		g.strokeStyle = css.accent;
		g.lineWidth = 2;
		g.strokeRect(ox(from) + 1, 1, Math.max(4, ox(to) - ox(from)) - 2, 32);
		g.lineWidth = 1;
	}

	const redraw = () => { if (!frame) frame = requestAnimationFrame(draw); };

	function look(a, b) {
		const least = Math.min(4, L.events);
		let span = Math.max(least, Math.min(L.events, b - a)), mid = (a + b) / 2;
		from = Math.max(0, Math.min(L.events - span, mid - span / 2));
		to = from + span;
		redraw();
	}
	function zoom(factor, centre) {
		const c = centre === undefined ? (from + to) / 2 : centre, span = Math.max(4, Math.min(L.events, (to - from) * factor));
		const part = (c - from) / (to - from);
		look(c - part * span, c - part * span + span);
	}
	function pan(by) { look(from + by, to + by); }

	function pick(i, scroll) {
		picked = i;
		detail.replaceChildren();
		if (i >= 0) {
			const p = culprits.get(i);
			detail.append(h("p", { class: "op mono", text: short(opLabel(L, i), 300) }),
				h("p", { class: "facts", text: safe("process " + text(L.names.processes[L.proc[i]]) + (L.names.keys.length ? ", key " + text(L.names.keys[L.key[i]]) : "")) +
					", events " + L.call[i] + (L.end[i] === Infinity ? ", never answered" : " to " + L.end[i]) + (L.line[i] ? ", line " + L.line[i] : "") +
					(conflict.has(i) ? "; in conflict" : "") + (p ? "; with its response it was certain" : "") }));
			if (scroll && (L.call[i] < from || L.call[i] > to)) look(L.call[i] - (to - from) / 2, L.call[i] + (to - from) / 2);
		} else detail.append(h("p", { class: "quiet", text: "Click a bar, or focus the chart and use the arrow keys." }));
		redraw();
	}

	function hit(e) {
		const box = canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top, w = canvas.clientWidth;
		const r = Math.floor((py - TOP) / laneHeight), lane = lanes[r];
		if (!lane || px < LEFT) return -1;
		const t = time(px, w), slack = (to - from) / (w - LEFT) * 3;
		let best = -1;
		for (let k = Math.min(firstCall(L, lane, t + slack), lane.n) - 1, n = 0; k >= 0 && n < 3000; k--, n++) {
			const i = lane.ops[k];
			if (L.end[i] >= t - slack) { best = i; break; }
			if (lane.reach[k] < t - slack) break;
		}
		return best;
	}

	// The operation beside the chosen one: in its lane, or in the next lane.
	function beside(dx, dy) {
		if (picked < 0) {
			const first = [...conflict][0];
			if (first !== undefined) return pick(first, true);
			const lane = lanes[0];
			return pick(lane && lane.n ? lane.ops[Math.min(lane.n - 1, firstCall(L, lane, from))] : -1, true);
		}
		let r = lanes.findIndex((l) => inLane(l, picked));
		if (r < 0) return pick(-1);
		if (dy) {
			r = Math.max(0, Math.min(lanes.length - 1, r + dy));
			const lane = lanes[r];
			return pick(lane.ops[Math.min(lane.n - 1, firstCall(L, lane, L.call[picked]))], true);
		}
		const lane = lanes[r];
		let k = firstCall(L, lane, L.call[picked]);
		while (k < lane.n && lane.ops[k] !== picked) k++;
		return pick(lane.ops[Math.max(0, Math.min(lane.n - 1, k + dx))], true);
	}

	let drag = null;
	canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from, to, moved: false }; canvas.setPointerCapture(e.pointerId); });
	canvas.addEventListener("pointermove", (e) => {
		if (!drag) return;
		const d = (e.clientX - drag.x) / (canvas.clientWidth - LEFT - 6) * (drag.to - drag.from);
		if (Math.abs(e.clientX - drag.x) > 3) { drag.moved = true; canvas.classList.add("drag"); look(drag.from - d, drag.to - d); }
	});
	canvas.addEventListener("pointerup", (e) => {
		if (drag && !drag.moved) pick(hit(e));
		drag = null;
		canvas.classList.remove("drag");
	});
	canvas.addEventListener("wheel", (e) => {
		e.preventDefault();
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX || e.deltaY) / 600 * (to - from));
		else zoom(Math.pow(1.0022, e.deltaY), time(e.offsetX, canvas.clientWidth));
	}, { passive: false });
	canvas.addEventListener("dblclick", (e) => zoom(0.25, time(e.offsetX, canvas.clientWidth)));
	canvas.addEventListener("keydown", (e) => {
		const span = to - from;
		const act = { ArrowLeft: () => (e.shiftKey ? pan(-span / 4) : beside(-1, 0)), ArrowRight: () => (e.shiftKey ? pan(span / 4) : beside(1, 0)),
			ArrowUp: () => beside(0, -1), ArrowDown: () => beside(0, 1), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
			0: () => look(0, L.events), Home: () => look(0, span), End: () => look(L.events - span, L.events), c: toConflict }[e.key];
		if (act && !e.ctrlKey && !e.metaKey) { act(); e.preventDefault(); e.stopPropagation(); }
	});
	const jump = (e) => {
		const box = overview.getBoundingClientRect(), t = (e.clientX - box.left - LEFT) / (box.width - LEFT - 6) * L.events, span = to - from;
		look(t - span / 2, t + span / 2);
	};
	overview.addEventListener("pointerdown", (e) => { overview.setPointerCapture(e.pointerId); jump(e); });
	overview.addEventListener("pointermove", (e) => { if (e.buttons) jump(e); });

	function toConflict() {
		const ops = [...conflict].filter((i) => i < L.n);
		if (!ops.length) return;
		let a = Infinity, b = 0;
		for (const i of ops) { a = Math.min(a, L.call[i]); b = Math.max(b, L.end[i] === Infinity ? L.call[i] : L.end[i]); }
		const m = Math.max(3, (b - a) * 0.25);
		look(a - m, b + m);
		const c = [...culprits.keys()][0];
		pick(c !== undefined ? c : ops[0]);
	}

	function choose(label, names, set) {
		const shown = names.slice(0, 2000);
		const s = h("select", { "aria-label": label, on: { change: () => { set(Number(s.value)); lanes = makeLanes(L, filter); redraw(); } } },
			h("option", { value: -1, text: "all " + label }), shown.map((n, i) => h("option", { value: i, text: short(n, 40) })));
		return names.length > 1 ? s : null;
	}

	add(view, h("div", { class: "controls", role: "group", "aria-label": "view of the history" },
		button("+", "Zoom in (+)", () => zoom(0.5), { "aria-label": "zoom in" }), button("−", "Zoom out (-)", () => zoom(2), { "aria-label": "zoom out" }),
		button("All", "Everything (0)", () => look(0, L.events)),
		conflict.size ? button("Conflict", "The operations in conflict (c)", toConflict) : null,
		choose("keys", L.names.keys, (v) => { filter.key = v; }), choose("processes", L.names.processes, (v) => { filter.proc = v; }), range),
	missing.length ? h("p", { class: "facts", text: "Omitted to keep the page small: " + missing.join(", ") + "." }) : null,
	section(null, h("div", { class: "chart" }, canvas, overview),
		h("div", { class: "legend" }, h("span", {}, h("i", { class: "read" }), "sees a value"), h("span", {}, h("i", { class: "write" }), "changes it"),
			conflict.size ? h("span", {}, h("i", { class: "conflict" }), "in conflict") : null,
			L.ordered ? h("span", {}, h("i", { class: "point" }), result.verdict === "violated" ? "a moment at which it can have taken effect, up to the violation" : "a moment at which it can have taken effect") : null,
			culprits.size ? h("span", {}, h("i", { class: "prefix" }), "the longest good prefix") : null)),
	section("The chosen operation", detail));
	const bad = parts.filter((p) => p.verdict === "violated").slice(0, 50);
	for (const p of bad) {
		const facts = list(p.facts);
		if (!facts.length) continue;
		view.append(section("In conflict" + (p.key !== undefined ? ", key " + short(show(p.key), 40) : p.element !== undefined ? ", element " + short(show(p.element), 40) : ""),
			bad.length > 1 ? h("p", { class: "facts", text: safe(text(p.sentence)).slice(0, 2000) }) : null,
			h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ["operation", "process", "line", "events"].map((t) => h("th", { scope: "col", text: t })))),
				h("tbody", {}, facts.map((f) => h("tr", { "data-op": f.operation, tabindex: 0, on: {
					click: () => pick(f.operation < L.n ? f.operation : -1, true),
					keydown: (e) => { if (e.key === "Enter") pick(f.operation < L.n ? f.operation : -1, true); } } },
				h("td", { class: "mono" }, named(f.text, 80), f.operation === p.culprit ? h("span", { class: "flag", text: "cannot be" }) : null),
				h("td", {}, named(show(f.process), 30)), h("td", { text: f.line || "" }),
				h("td", { text: f.call + (f.return !== undefined ? " to " + f.return : " on") })))))));
	}
	new ResizeObserver(redraw).observe(canvas);
	const mq = window.matchMedia("(prefers-color-scheme: dark)");
	mq.addEventListener("change", redraw);
	document.addEventListener("themechange", redraw);
	window.addEventListener("beforeprint", draw);
	queueMicrotask(() => {
		if (conflict.size && L.n > 200) toConflict();
		else pick(conflict.size ? ([...culprits.keys()][0] ?? -1) : -1);
		draw();
	});
	view.history = { look, zoom, pick, state: () => ({ from, to, picked, mode, n: L.n, points: L.ordered && !!L.point }) };
	return view;
}
