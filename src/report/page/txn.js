// txn: isolation levels of a history of transactions: the lattice of levels, and why one is violated: lanes by session, the cycle drawn.

const LEVELS = { // name: column, row of the drawing, what it implies directly
	"serializable": [1.5, 0, ["snapshot-isolation", "update-serializable"]],
	"snapshot-isolation": [0.9, 1, ["prefix", "consistent-view"]],
	"update-serializable": [2.1, 1, ["consistent-view"]],
	"prefix": [0.4, 2, ["causal"]],
	"consistent-view": [1.9, 2, ["causal", "update-atomic", "monotonic-view", "cursor-stability"]],
	"causal": [0, 3, ["read-atomic"]],
	"update-atomic": [1, 3, ["read-atomic"]],
	"monotonic-view": [2, 3.6, ["monotonic-atomic-view"]],
	"cursor-stability": [3, 4, ["read-committed"]],
	"read-atomic": [0.5, 4.2, ["monotonic-atomic-view"]],
	"monotonic-atomic-view": [1.2, 5.2, ["read-committed"]],
	"read-committed": [1.7, 6.2, ["read-uncommitted"]],
	"read-uncommitted": [1.7, 7.2, []],
};
const ORDERS = ["", "strong-session-", "strong-"], ORDER_WORDS = ["alone", "session order", "real time"];

function levelOf(r, name, order) {
	const full = order === 2 && name === "serializable" ? "strict-serializable" : ORDERS[order] + name;
	return list(r.levels).find((l) => l.level === full);
}

// Each level with a mark for each order of transactions.
function latticeSvg(r) {
	const W = 200, ROW = 64, BOX = 176, X = (n) => 20 + LEVELS[n][0] * W, Y = (n) => 34 + LEVELS[n][1] * ROW, g = [];
	const orders = [0, 1, 2].filter((o) => Object.keys(LEVELS).some((n) => levelOf(r, n, o)));
	g.push(h("svg:text", { class: "why", x: 20, y: 16, text: "marks from the left: " + orders.map((o) => ORDER_WORDS[o]).join(", ") }));
	for (const n of Object.keys(LEVELS)) for (const m of LEVELS[n][2])
		g.push(h("svg:line", { class: "arc", x1: X(n) + BOX / 2, y1: Y(n) + 40, x2: X(m) + BOX / 2, y2: Y(m) }));
	for (const n of Object.keys(LEVELS)) {
		const known = orders.map((o) => levelOf(r, n, o)).filter(Boolean), best = known[0];
		g.push(h("svg:rect", { class: "level " + (best && words[best.verdict] ? best.verdict : "unknown"), x: X(n), y: Y(n), width: BOX, height: 40, rx: 7 }),
			h("svg:text", { x: X(n) + 8, y: Y(n) + 17, text: n }));
		orders.forEach((o, i) => {
			const l = levelOf(r, n, o);
			if (!l) return;
			const mark = h("svg:circle", { class: "verdict " + (words[l.verdict] ? l.verdict : "unknown") + (l.strongest || l.weakest ? " edge" : ""), cx: X(n) + 16 + i * 20, cy: Y(n) + 29, r: 6 },
				h("svg:title", { text: text(l.level) + ": " + text(l.verdict) + (l.anomaly ? " (" + text(l.anomaly) + ")" : "") }));
			g.push(mark);
		});
	}
	return svg(4 * W + 20, 34 + 7.2 * ROW + 56, "the isolation levels, the strongest above", g);
}

// Lanes by session, transactions in the order of the cycle, its steps as arrows.
function txnCycleSvg(l) {
	const steps = list(l.cycle).slice(0, 60), named = new Map(list(l.transactions).map((t) => [number(t.transaction), t]));
	const used = [...new Set(steps.flatMap((s) => [number(s.from), number(s.to)]))];
	const lane = (n) => { const t = named.get(n); return t && t.process !== undefined ? "process " + show(t.process) : "T" + n; };
	const lanes = [...new Set(used.map(lane))].slice(0, 40);
	const LANE = 250, ROW = 74, TOP = 56, w = 30 + lanes.length * LANE, hgt = TOP + used.length * ROW + 20;
	const X = (n) => 20 + Math.max(0, lanes.indexOf(lane(n))) * LANE, Y = (n) => TOP + used.indexOf(n) * ROW, g = [];
	lanes.forEach((t, i) => g.push(h("svg:line", { class: "lane", x1: 20 + i * LANE + 90, x2: 20 + i * LANE + 90, y1: TOP - 18, y2: hgt - 8 }),
		h("svg:text", { class: "lanehead " + hue(i), x: 20 + i * LANE, y: 24, text: short(t, 28) })));
	steps.forEach((s, k) => {
		const a = number(s.from), b = number(s.to), right = X(b) > X(a), same = X(a) === X(b);
		const x0 = X(a) + (right || same ? 182 : 0), y0 = Y(a) + 20, x1 = X(b) + (right ? 0 : 182), y1 = Y(b) + 20 + (k % 2 ? 6 : -6);
		const bend = same ? x0 + 46 : (x0 + x1) / 2;
		g.push(h("svg:path", { class: "arrow " + text(s.kind), d: "M" + x0 + "," + y0 + " C" + bend + "," + y0 + " " + bend + "," + y1 + " " + x1 + "," + y1 }, h("svg:title", { text: text(s.text) })),
			arrowHead(x1, y1, right ? 0 : Math.PI, text(s.kind)),
			h("svg:text", { class: "why", x: right || same ? x0 + 6 : x0 - 64, y: y0 - 5, text: text(s.kind) + (s.key === undefined ? "" : " " + short(show(s.key), 10)) }));
	});
	for (const n of used) {
		const t = named.get(n), i = Math.max(0, lanes.indexOf(lane(n)));
		g.push(h("svg:rect", { class: "band solid " + hue(i), x: X(n), y: Y(n), width: 182, height: 40, rx: 7 }, h("svg:title", { text: t ? text(t.operations) : "" })),
			h("svg:text", { x: X(n) + 8, y: Y(n) + 16, text: "T" + n + (t && t.line ? "  line " + number(t.line) : "") }),
			h("svg:text", { class: "small", x: X(n) + 8, y: Y(n) + 32, text: short(t ? text(t.operations) : "", 28) }));
	}
	return svg(w, hgt, "the cycle of transactions", g);
}

function txnSteps(steps, depth, more) {
	const unseen = Math.max(0, list(steps).length - 200) + (number(more) || 0);
	return h("ul", { class: "steps" }, list(steps).slice(0, 200).map((s) => h("li", {}, list(s.because).length && depth < 6
		? h("details", {}, h("summary", {}, named(s.text, 300)), txnSteps(s.because, depth + 1)) : named(s.text, 300))),
	unseen ? h("li", { class: "quiet", text: plural(unseen, "more step") }) : null);
}

function txnReason(l) {
	const title = text(l.level) + " is violated: " + text(l.anomaly);
	if (!list(l.cycle).length) return section(title, h("p", {}, named(text(l.sentence).trim(), 600)));
	return section(title, drawing(txnCycleSvg(l), "the cycle"), txnSteps(l.cycle, 0, l.more_steps),
		h("p", { class: "quiet", text: "wr: read from · ww: overwrote · rw: read what the other one overwrote · session, realtime: came before. A step with a reason opens." }));
}

function txnView(r) {
	const bad = list(r.levels).filter((l) => l.verdict === "violated" && text(l.sentence)).slice(0, 12);
	return h("div", {}, list(r.levels).length > 1 ? section("Isolation levels", drawing(latticeSvg(r), "isolation levels")) : null, bad.map(txnReason));
}
