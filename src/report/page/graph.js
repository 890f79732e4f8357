// graph: what is drawn as a graph: the cycle of a trace, a net, a prefix.

function svg(w, hgt, label, ...children) {
	return h("svg:svg", { class: "graph", viewBox: "0 0 " + w + " " + hgt, width: w, height: hgt, role: "img", "aria-label": label }, ...children);
}

// A drawing in a box of its own: as large as it is, or made to fit when it is wider; larger, smaller,
// moved by dragging or scrolling.
function drawing(graph, label) {
	const box = h("div", { class: "graphbox", tabindex: 0, role: "region", "aria-label": label }, graph);
	const w = Number(graph.getAttribute("width")), hgt = Number(graph.getAttribute("height"));
	const level = h("output", { class: "quiet", "aria-live": "polite" });
	let scale = 1;
	function zoom(s) {
		const before = scale, x = box.scrollLeft + box.clientWidth / 2, y = box.scrollTop + box.clientHeight / 2;
		scale = Math.max(0.1, Math.min(4, s));
		graph.setAttribute("width", w * scale);
		graph.setAttribute("height", hgt * scale);
		level.textContent = Math.round(scale * 100) + " %";
		box.scrollLeft = x * scale / before - box.clientWidth / 2;
		box.scrollTop = y * scale / before - box.clientHeight / 2;
	}
	// all of it, unless that would make it too small to read: then its width
	const fit = () => zoom(Math.min(1, box.clientWidth / w, Math.max(0.6, box.clientHeight / hgt)));
	box.addEventListener("keydown", (e) => {
		if (e.key === "+" || e.key === "=") zoom(scale * 1.25);
		else if (e.key === "-") zoom(scale / 1.25);
		else if (e.key === "0") fit();
		else return;
		e.preventDefault();
		e.stopPropagation();
	});
	let held = null;
	box.addEventListener("pointerdown", (e) => { if (e.button === 0 && e.pointerType === "mouse") { held = [e.clientX + box.scrollLeft, e.clientY + box.scrollTop]; box.setPointerCapture(e.pointerId); } });
	box.addEventListener("pointermove", (e) => { if (held) { box.scrollLeft = held[0] - e.clientX; box.scrollTop = held[1] - e.clientY; } });
	box.addEventListener("pointerup", () => { held = null; });
	box.addEventListener("pointercancel", () => { held = null; });
	queueMicrotask(fit);
	return h("div", { class: "drawing" }, h("div", { class: "zoom", role: "group", "aria-label": "size of the drawing" },
		button("−", "Smaller (-)", () => zoom(scale / 1.25), { "aria-label": "smaller" }),
		button("+", "Larger (+)", () => zoom(scale * 1.25), { "aria-label": "larger" }),
		button("Fit", "Fit the box (0)", fit), level), box);
}

function arrowHead(x, y, angle, cls) {
	const p = (d, a) => (x + d * Math.cos(angle + a)).toFixed(1) + "," + (y + d * Math.sin(angle + a)).toFixed(1);
	return h("svg:polygon", { class: "head " + (cls || ""), points: x.toFixed(1) + "," + y.toFixed(1) + " " + p(-9, 0.4) + " " + p(-9, -0.4) });
}

function why(from, to) {
	const kind = (op) => text(op).split("(")[0];
	const a = kind(from), b = kind(to);
	if (a === "w") return b === "w" ? "is overwritten by" : "is read by";
	if (a === "r" && b === "w") return "is overwritten by";
	if (a === "rel" && b === "acq") return "passes the lock to";
	if (a === "fork") return "starts";
	return "comes before";
}

// Traces number their places as they like: a number alone is called what it is.
function placeName(place, max) {
	return (/^[0-9]+$/.test(text(place)) ? "place " : "at ") + short(place, max);
}

// Lanes by thread, time downwards, blocks as bands, the links as arrows.
function cycleSvg(f) {
	const events = new Map(), links = list(f.cycle).slice(0, 60);
	for (const l of links) for (const e of [l.from, l.to]) events.set(number(e.event), e);
	const order = [...events.keys()].sort((a, b) => a - b), threads = [...new Set(order.map((n) => text(events.get(n).thread)))].slice(0, 12);
	const narrow = window.innerWidth < 600; // two lanes fit a telephone
	const LANE = narrow ? 150 : 250, ROW = 62, TOP = 62, LEFT = narrow ? 14 : 60, w = LEFT + threads.length * LANE + (narrow ? 0 : 40), hgt = TOP + order.length * ROW + 30;
	const X = (e) => LEFT + Math.max(0, threads.indexOf(text(e.thread))) * LANE + 46, Y = (n) => TOP + order.indexOf(n) * ROW + 24;
	// a label stands where no arrow passes: arrows go down, so above where one leaves to the right
	const above = (n) => links.some((l) => number(l.from.event) === n && X(l.to) > X(l.from)) && !links.some((l) => number(l.to.event) === n && X(l.from) > X(l.to));
	const g = [h("svg:text", { class: "why", x: 8, y: 24, text: "event" })];
	threads.forEach((t, i) => {
		const px = LEFT + i * LANE + 46;
		g.push(h("svg:line", { class: "lane", x1: px, x2: px, y1: TOP - 14, y2: hgt - 12 }),
			h("svg:text", { class: "lanehead " + hue(i), x: px - 14, y: 24, text: "thread " + short(t, 22) }));
	});
	const blocks = new Map();
	for (const n of order) {
		const e = events.get(n);
		if (!e.block) continue;
		const key = text(e.thread) + "|" + number(e.block.event);
		if (!blocks.has(key)) blocks.set(key, { e, first: n, last: n });
		blocks.get(key).last = n;
	}
	for (const b of blocks.values()) {
		const i = Math.max(0, threads.indexOf(text(b.e.thread))), px = X(b.e) - 22;
		g.push(h("svg:rect", { class: "band " + hue(i), x: px, y: Y(b.first) - 27, width: narrow ? 122 : 186, height: Y(b.last) - Y(b.first) + 54, rx: 9 }),
			h("svg:text", { class: "bandname " + hue(i), x: px + 8, y: Y(b.first) - 32, text: short(b.e.block.label ? text(b.e.block.label) : "block", 26) }));
	}
	links.forEach((l, k) => {
		const a = l.from, b = l.to, back = k === links.length - 1;
		const x0 = X(a), y0 = Y(number(a.event)), x1 = X(b), y1 = Y(number(b.event)), dir = x1 > x0 ? 1 : -1;
		const sx = x0 + 9 * dir, ex = x1 - 11 * dir, mx = (sx + ex) / 2;
		g.push(h("svg:path", { class: "arrow" + (back ? " back" : ""), d: "M" + sx + "," + y0 + " C" + mx + "," + y0 + " " + mx + "," + y1 + " " + ex + "," + y1 }),
			arrowHead(ex + 2 * dir, y1, dir > 0 ? 0 : Math.PI, back ? "back" : ""));
	});
	for (const n of order) {
		const e = events.get(n), i = Math.max(0, threads.indexOf(text(e.thread))), closing = f.closing && number(f.closing.event) === n;
		g.push(h("svg:circle", { class: "event " + hue(i) + (closing ? " closing" : ""), cx: X(e), cy: Y(n), r: 7 }),
			h("svg:text", { x: X(e) + 14, y: Y(n) + (above(n) ? -10 : 19), text: short(e.op, 20) }),
			h("svg:text", { class: "number", x: 8, y: Y(n) + 4, text: "#" + n }));
		if (e.place && !narrow) g.push(h("svg:text", { class: "why", x: X(e) + 14 + Math.min(20, safe(e.op).length) * 7.8 + 8, y: Y(n) + (above(n) ? -10 : 19), text: placeName(e.place, 14) }));
	}
	return svg(w, hgt, "the cycle of conflicts", g);
}

function cycleView(f) {
	const links = list(f.cycle);
	return h("div", {}, links.length ? section("The cycle", drawing(cycleSvg(f), "the cycle")) : null,
		links.length ? section("Link by link", h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "links of the cycle" }, h("table", { class: "plain wide" },
			h("thead", {}, h("tr", {}, ["event", "thread", "does", "link", "event", "thread", "does"].map((t) => h("th", { scope: "col", text: t })))),
			h("tbody", {}, links.slice(0, 200).map((l) => h("tr", {}, h("td", { text: "#" + number(l.from.event) }), h("td", {}, named(l.from.thread, 30)),
				h("td", { class: "mono" }, named(l.from.op, 50)), h("td", { class: "quiet", text: why(l.from.op, l.to.op) }), h("td", { text: "#" + number(l.to.event) }),
				h("td", {}, named(l.to.thread, 30)), h("td", { class: "mono" }, named(l.to.op, 50)))))))) : null);
}

function predictedView(f) {
	const rows = ["begin", "first", "commits", "between", "until", "second", "violated"].filter((k) => f[k]);
	const labels = { begin: "the block begins", first: "first access", commits: "commits", between: "comes between", until: "until", second: "then, in the block", violated: "and goes on" };
	const steps = rows.map((k, i) => ({ step: i + 1, thread: 0, line: 0, text: text(f[k].op) + (f[k].place ? " " + placeName(f[k].place, 200) : ""), key: k, who: text(f[k].thread), changes: [] }));
	const threads = [...new Set(steps.map((s) => s.who))];
	steps.forEach((s) => { s.thread = threads.indexOf(s.who) + 1; });
	const table = h("table", { class: "lanes compact", "aria-label": "the other schedule" },
		h("thead", {}, h("tr", {}, h("th", { class: "no", scope: "col", text: "step" }), threads.map((t, i) => h("th", { class: hue(i), scope: "col" }, named("thread " + t, 40))))),
		h("tbody", {}, steps.map((s) => h("tr", { class: s.key === "between" ? "marked intruder" : null }, h("td", { class: "no", text: s.step }),
			threads.map((t, i) => h("td", { class: hue(i) + (i === 0 ? " in" : "") }, s.thread === i + 1 ? h("span", { class: "step" }, named(s.text, 80),
				h("span", { class: "flag" + (s.key === "between" ? "" : " quiet"), text: labels[s.key] })) : null))))));
	return section(f.kind === "proven" ? "A schedule that shows it" : "What to look at", table);
}

// Layers from the top; within a layer by the mean of what is above.
function layered(nodes, edges, label, marked) {
	const out = nodes.map(() => []), into = nodes.map(() => []);
	for (const [a, b] of edges) if (nodes[a] && nodes[b]) { out[a].push(b); into[b].push(a); }
	const layer = new Array(nodes.length).fill(-1);
	let wave = nodes.map((n, i) => i).filter((i) => nodes[i].start || !into[i].length);
	if (!wave.length && nodes.length) wave = [0];
	for (let d = 0; wave.length && d < 2000; d++) {
		const next = [];
		for (const i of wave) if (layer[i] < 0) { layer[i] = d; next.push(...out[i].filter((k) => layer[k] < 0)); }
		wave = [...new Set(next)];
		if (!wave.length) { const lost = layer.indexOf(-1); if (lost >= 0) wave = [lost]; }
	}
	if (label.acyclic) { // longest path: causes stand above
		let moved = true;
		for (let k = 0; moved && k < nodes.length + 1; k++) {
			moved = false;
			for (const [a, b] of edges) if (nodes[a] && nodes[b] && layer[b] <= layer[a]) { layer[b] = layer[a] + 1; moved = true; }
		}
	}
	const rows = [];
	layer.forEach((d, i) => { (rows[d] = rows[d] || []).push(i); });
	const pos = new Array(nodes.length).fill(0);
	rows.forEach((r) => r && r.forEach((i, k) => { pos[i] = k - (r.length - 1) / 2; }));
	for (let pass = 0; pass < 8; pass++)
		rows.forEach((r) => {
			if (!r) return;
			const around = (i) => { const n = pass % 2 ? out[i] : into[i]; return n.length ? n.reduce((s, k) => s + pos[k], 0) / n.length : pos[i]; };
			r.map((i) => [around(i), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([, i], k) => { pos[i] = k - (r.length - 1) / 2; });
		});
	const widest = Math.max(1, ...rows.map((r) => (r ? r.length : 0))), GX = 118, GY = 66, w = Math.max(320, widest * GX + 60), hgt = rows.length * GY + 50;
	const X = (i) => w / 2 + pos[i] * GX, Y = (i) => 34 + layer[i] * GY, g = [];
	for (const [a, b] of edges) {
		if (!nodes[a] || !nodes[b]) continue;
		const x0 = X(a), y0 = Y(a), x1 = X(b), y1 = Y(b), up = y1 <= y0;
		const d = up ? "M" + x0 + "," + y0 + " C" + (x0 + 60) + "," + (y0 + 30) + " " + (x1 + 60) + "," + (y1 - 30) + " " + (x1 + 13) + "," + y1
			: "M" + x0 + "," + (y0 + 13) + " C" + x0 + "," + (y0 + 34) + " " + x1 + "," + (y1 - 34) + " " + x1 + "," + (y1 - 15);
		g.push(h("svg:path", { class: "arc", d }), up ? arrowHead(x1 + 13, y1, Math.PI * 0.9, "") : arrowHead(x1, y1 - 13, Math.PI / 2, ""));
	}
	nodes.forEach((n, i) => {
		const lit = marked.has(n.name) && n.place;
		g.push(n.place ? h("svg:circle", { class: "placenode" + (lit ? " lit" : ""), cx: X(i), cy: Y(i), r: 12 })
			: h("svg:rect", { class: "transnode", x: X(i) - 14, y: Y(i) - 10, width: 28, height: 20, rx: 3 }));
		if (n.start && n.place) g.push(h("svg:circle", { class: "token", cx: X(i), cy: Y(i), r: 4.5 }));
		g.push(h("svg:text", { class: "small", x: X(i) + 16, y: Y(i) + 4, text: short(n.name, 14) }, h("svg:title", { text: short(n.name, 300) })));
	});
	return svg(w, hgt, label.text, g);
}

function netView(r) {
	const marked = new Set([...list(r.cover && r.cover.marking), ...list(r.deadlock && r.deadlock.marking)]);
	const net = r.net, view = h("div", {});
	const facts = [["places", r.places], ["transitions", r.transitions], ["initially marked", r.initially_marked], ["events of the prefix", r.events], ["cut-offs", r.cutoffs], ["conditions", r.conditions]];
	const size = () => section("Size", h("table", { class: "plain narrow" }, h("tbody", {}, facts.filter(([, v]) => v !== undefined).map(([k, v]) =>
		h("tr", {}, h("th", { scope: "row", text: k }), h("td", { text: number(v).toLocaleString("en") }))))));
	if (!net) {
		view.append(section(null, h("p", { class: "quiet", text: "The net is too large to draw; 'intact net --to=dot' writes it for graphviz." })), size());
		return view;
	}
	if (r.prefix && list(r.prefix.events).length) {
		const cs = list(r.prefix.conditions), es = list(r.prefix.events), made = new Set(es.flatMap((e) => list(e.post)));
		const nodes = cs.map((c, i) => ({ name: text(list(net.places)[c.place]), place: true, start: !made.has(i) }))
			.concat(es.map((e) => ({ name: text(list(net.transitions)[e.transition] && net.transitions[e.transition].name), place: false })));
		const edges = es.flatMap((e, k) => list(e.pre).map((c) => [c, cs.length + k]).concat(list(e.post).map((c) => [cs.length + k, c])))
			.filter(([a, b]) => a < nodes.length && b < nodes.length);
		view.append(section("The prefix of its unfolding", drawing(layered(nodes, edges, { text: "prefix with " + plural(es.length, "event"), acyclic: true }, marked), "prefix")));
	}
	const np = list(net.places).length, initial = new Set(list(net.initial));
	const nodes = list(net.places).map((p, i) => ({ name: text(p), place: true, start: initial.has(i) }))
		.concat(list(net.transitions).map((t) => ({ name: text(t.name), place: false })));
	const edges = list(net.transitions).flatMap((t, k) => list(t.pre).map((p) => [p, np + k]).concat(list(t.post).map((p) => [np + k, p])))
		.filter(([a, b]) => a < nodes.length && b < nodes.length);
	if (nodes.length <= 220) view.append(section("The net", drawing(layered(nodes, edges, { text: "net", acyclic: false }, marked), "net")));
	view.append(size());
	return view;
}
