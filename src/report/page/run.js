// run: an interleaving. Lanes a thread, blocks as bands, the steps the
// explanation speaks of marked; forward and back with the variables' values;
// the source beside; the same blocks one at a time next to it.

const ROWS = 400; // rows on the page at once

// Every state of the shared variables, from the last one back to the first.
function runStates(run) {
	const flat = (shared) => {
		const m = new Map();
		for (const [k, v] of Object.entries(shared || {})) {
			if (Array.isArray(v)) v.forEach((x, i) => m.set(k + "[" + i + "]", x));
			else m.set(k, v);
		}
		return m;
	};
	const name = (c) => Number.isInteger(c.index) ? text(c.variable) + "[" + c.index + "]" : text(c.variable);
	const steps = list(run.steps);
	const now = flat(run.state && run.state.shared);
	for (let i = steps.length - 1; i >= 0; i--)
		for (const c of list(steps[i].changes).slice().reverse()) now.set(name(c), c.before);
	// states are kept every so often and walked from there
	const every = Math.max(1, Math.ceil(steps.length / 500));
	const kept = [new Map(now)];
	for (let i = 0; i < steps.length; i++) {
		for (const c of list(steps[i].changes)) now.set(name(c), c.after);
		if ((i + 1) % every === 0) kept.push(new Map(now));
	}
	return {
		// the state behind step n (0: initial)
		at(n) {
			const k = Math.min(Math.floor(n / every), kept.length - 1);
			const m = new Map(kept[k]);
			for (let i = k * every; i < n; i++) for (const c of list(steps[i].changes)) m.set(name(c), c.after);
			return m;
		},
		changed(n) { return n ? new Set(list(steps[n - 1].changes).map(name)) : new Set(); },
	};
}

function threadName(run, n) {
	const t = list(run.threads)[n - 1];
	return t ? n + ": " + text(t.name) + " " + number(t.index) : "thread " + n;
}

// Which threads move, in order; the others only take room.
function runLanes(run) {
	const moves = new Set(list(run.steps).map((s) => number(s.thread)));
	return [...moves].sort((a, b) => a - b);
}

function callName(o) {
	return text(o.object) + "." + text(o.method) + "(" + (o.argument === undefined ? "" : show(o.argument)) + ")";
}

// The operations of an object over the steps of the run, as bars.
function operationsStrip(history, total) {
	const ops = list(history).slice(0, 400), threads = [...new Set(ops.map((o) => number(o.thread)))].sort((a, b) => a - b);
	const ROW = 40, TOP = 26, LEFT = 84, W = Math.max(1000, Math.min(2400, ops.length * 90)), x = (n) => LEFT + n / Math.max(1, total) * (W - LEFT - 10);
	const g = threads.map((t, k) => h("svg:text", { class: "lanehead " + hue(t - 1), x: 4, y: TOP + k * ROW + 18, text: "thread " + t }));
	for (const o of ops) {
		const k = threads.indexOf(number(o.thread)), a = x(number(o.call) - 1), b = x(number(o.return, total)), y = TOP + k * ROW;
		g.push(h("svg:rect", { class: "band " + hue(number(o.thread) - 1), x: a, y: y, width: Math.max(6, b - a), height: 26, rx: 5 }),
			h("svg:text", { class: "small", x: a + 6, y: y + 17, text: short(text(o.name) + ": " + text(o.method) + (o.value !== undefined ? " " + show(o.value) : ""), Math.max(4, Math.floor((b - a) / 6.2))) }));
	}
	g.push(h("svg:text", { class: "why", x: LEFT, y: 14, text: "step 1" }), h("svg:text", { class: "why", x: W - 70, y: 14, text: "step " + total }));
	return section("The operations", drawing(svg(W, TOP + threads.length * ROW + 6, "operations over the steps", g), "operations over the steps"));
}

// For each step, the block its thread is inside of and where it begins and ends.
function runBands(run) {
	const open = new Map(), out = [];
	list(run.steps).forEach((s, i) => {
		const t = number(s.thread);
		if (s.invoked && !open.get(t)) // an operation of an object is a band as well
			open.set(t, { name: callName(s.invoked), from: i, to: list(run.steps).length - 1, thread: t, call: true });
		if (s.entered !== undefined) open.set(t, { name: text(s.entered), from: i, to: list(run.steps).length - 1, thread: t });
		out.push(open.get(t) || null);
		if (open.get(t) && (open.get(t).call ? s.answered : s.left !== undefined)) {
			open.get(t).to = i;
			open.delete(t);
		}
	});
	return out;
}

// The table of lanes. o: {marks:Set, intruders:Set, onPick, label, compact}
function lanesTable(run, o) {
	const steps = list(run.steps), lanes = runLanes(run), bands = runBands(run);
	const column = new Map(lanes.map((t, i) => [t, i]));
	const byLane = new Map(lanes.map((t) => [t, []]));
	for (const b of new Set(bands.filter(Boolean))) byLane.get(b.thread).push(b);
	const inside = (t, i) => byLane.get(t).find((b) => b.from <= i && i <= b.to);
	const table = h("table", { class: "lanes" + (o.compact ? " compact" : ""), "aria-label": o.label, style: { "--lanes": lanes.length } });
	const head = h("tr", {}, h("th", { class: "no", scope: "col", text: "step" }));
	for (const t of lanes) head.append(h("th", { scope: "col", class: hue(t - 1) }, named(threadName(run, t), 40)));
	table.append(h("thead", {}, head));
	const body = h("tbody");
	table.append(body);
	const rows = new Map();
	let from = -1;

	function row(i) {
		const s = steps[i], t = number(s.thread);
		const marked = o.marks && o.marks.has(i + 1), intruder = o.intruders && o.intruders.has(i + 1);
		const tr = h("tr", { class: (marked ? "marked " : "") + (intruder ? "intruder " : "") + (s.fault ? "fault" : ""),
			"data-step": i + 1 }, h("td", { class: "no", text: i + 1 }));
		for (const l of lanes) {
			const b = inside(l, i), td = h("td", { class: hue(l - 1) + (b ? " in" : "") +
				(b && b.from === i ? " first" : "") + (b && b.to === i ? " last" : "") });
			if (l === t) {
				const label = s.entered !== undefined && b ? text(s.entered) : text(s.text);
				const what = s.entered !== undefined ? "enters " : "";
				td.append(h("span", { class: "step" + (s.entered !== undefined || s.left !== undefined ? " edge" : "") },
					what ? h("span", { class: "what", text: what }) : null, named(label, 90),
					intruder ? h("span", { class: "flag", text: "comes between" }) : null,
					s.committed !== undefined ? h("span", { class: "flag quiet", text: "commits" }) : null));
				if (s.fault) td.append(h("div", { class: "faulttext" }, named(text(s.fault.text), 200)));
			}
			tr.append(td);
		}
		if (o.onPick) tr.addEventListener("click", () => o.onPick(i + 1));
		return tr;
	}

	function render(at) {
		const want = steps.length <= ROWS ? 0 : Math.max(0, Math.min(at - ROWS / 2, steps.length - ROWS));
		if (from >= 0 && (steps.length <= ROWS || (at > from && at <= from + ROWS))) return;
		from = Math.floor(want);
		rows.clear();
		body.replaceChildren();
		const end = Math.min(steps.length, from + ROWS);
		if (from > 0) body.append(h("tr", { class: "gap" }, h("td", { colspan: lanes.length + 1,
			text: plural(from, "earlier step") + " omitted: step back to see them" })));
		for (let i = from; i < end; i++) {
			const tr = row(i);
			rows.set(i + 1, tr);
			body.append(tr);
		}
		if (end < steps.length) body.append(h("tr", { class: "gap" }, h("td", { colspan: lanes.length + 1,
			text: plural(steps.length - end, "later step") + " omitted: step forward to see them" })));
	}

	let current = null;
	return {
		table,
		go(n) {
			render(n);
			if (o.compact) return;
			if (current) { current.classList.remove("now"); current.removeAttribute("aria-current"); }
			current = rows.get(n) || null;
			for (const [k, tr] of rows) tr.classList.toggle("ahead", k > n);
			if (current) {
				current.classList.add("now");
				current.setAttribute("aria-current", "step");
				const box = table.parentElement;
				if (box && box.scrollHeight > box.clientHeight) {
					const top = current.offsetTop - box.clientHeight / 2;
					box.scrollTop = Math.max(0, top);
				}
			}
		},
	};
}

// The values now; what the step changed stands out, with the value before.
function valuesTable(label) {
	const body = h("tbody");
	const table = h("table", { class: "values", "aria-label": label },
		h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "variable" }), h("th", { scope: "col", text: "value" }))), body);
	return {
		table,
		set(now, before, changed) {
			body.replaceChildren();
			let n = 0;
			const names = [...now.keys()].sort((a, b) => (changed.has(b) ? 1 : 0) - (changed.has(a) ? 1 : 0));
			const shown = now.size > 60 ? names.slice(0, 60) : [...now.keys()];
			for (const k of shown) {
				const c = changed.has(k);
				body.append(h("tr", { class: c ? "changed" : null }, h("th", { scope: "row" }, named(k, 40)),
					h("td", {}, c && before.has(k) ? h("span", { class: "was" }, named(show(before.get(k)), 24), " → ") : null,
						named(show(now.get(k)), 40))));
				n++;
			}
			if (now.size > n) body.append(h("tr", {}, h("td", { colspan: 2, class: "quiet", text: "and " + plural(now.size - n, "more variable") })));
		},
	};
}

// Whose step breaks the story: a marked step of a thread other than the first
// marked one's, between two marked steps of that one.
function intruders(run, marks) {
	const m = [...marks].sort((a, b) => a - b), steps = list(run.steps), out = new Set();
	const who = (n) => steps[n - 1] ? number(steps[n - 1].thread) : 0;
	for (let i = 1; i + 1 < m.length; i++)
		if (m.slice(0, i).some((a) => who(a) !== who(m[i]) && m.slice(i + 1).some((b) => who(b) === who(a)))) out.add(m[i]);
	return out;
}

function endsTable(result, run) {
	const serial = result.serial || {}, ends = list(serial.ends), orders = list(serial.orders);
	const flat = (s) => {
		const m = new Map();
		for (const [k, v] of Object.entries(s || {}))
			if (Array.isArray(v)) v.forEach((x, i) => m.set(k + "[" + i + "]", x)); else m.set(k, v);
		return m;
	};
	const shared = flat(run.state && run.state.shared), other = (m) => [...shared.keys()].some((k) => show(m.get(k)) !== show(shared.get(k)));
	const byOrder = orders.map((o) => ["one at a time: " + text(o.order), flat(o.state && o.state.shared)]);
	const told = byOrder.length && byOrder.every(([, m]) => other(m)); // else a local differs: the ends have those too
	const mine = told ? shared : flat(serial.end || (run.state && run.state.shared));
	const columns = told || !ends.length ? byOrder
		: ends.map((e, i) => ["a serial order" + (ends.length > 1 ? " (" + (i + 1) + ")" : ""), flat(e)]);
	if (!columns.length) return null;
	const differs = (k) => columns.some(([, m]) => show(m.get(k)) !== show(mine.get(k)));
	const names = [...mine.keys()].filter(differs).concat([...mine.keys()].filter((k) => !differs(k))).slice(0, 40);
	return h("table", { class: "ends", "aria-label": "values at the end" },
		h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "at the end" }), h("th", { scope: "col", text: "this run" }),
			columns.map(([t]) => h("th", { scope: "col" }, named(t, 44))))),
		h("tbody", {}, names.map((k) => h("tr", { class: differs(k) ? "differs" : null }, h("th", { scope: "row" }, named(k, 40)),
			h("td", {}, named(show(mine.get(k)), 40)), columns.map(([, m]) => h("td", {}, named(show(m.get(k)), 40)))))));
}

// The whole view. result: of a check, or a document of sim.
function runView(result, run, model) {
	const steps = list(run.steps), marks = new Set(list(result.marks)), states = runStates(run);
	const breaks = intruders(run, marks);
	const view = h("div", { class: "run" });
	const position = h("output", { class: "position", "aria-live": "polite" });
	const slider = h("input", { type: "range", min: 0, max: steps.length, value: 0, "aria-label": "step",
		on: { input: () => go(Number(slider.value)) } });
	const lanes = lanesTable(run, { marks, intruders: breaks, label: "steps by thread", onPick: (n) => go(n) });
	const values = valuesTable("shared variables at this step");
	const localsBox = h("div", { class: "locals" });
	const lines = text(model && model.text).split("\n").slice(0, 5000);
	const source = model && model.text ? sourceLines(lines, 1, { label: "source of " + short(model.name, 60) }) : null;
	const sourceBox = source ? h("div", { class: "scroll sourcebox", tabindex: 0, role: "region", "aria-label": "source" }, source) : null;
	const byLine = source ? [...source.querySelectorAll("tr")] : [];
	let at = 0, locals = new Map();

	function localsAt(n) { // thread -> name -> value, since its block began
		const m = new Map();
		for (let i = Math.max(0, n - 20000); i < n; i++) {
			const t = number(steps[i].thread);
			for (const l of list(steps[i].locals)) {
				if (!m.has(t)) m.set(t, new Map());
				m.get(t).set(Number.isInteger(l.index) ? text(l.name) + "[" + l.index + "]" : text(l.name), l.value);
			}
		}
		return m;
	}

	function go(n) {
		at = Math.max(0, Math.min(steps.length, n));
		slider.value = at;
		const s = at ? steps[at - 1] : null;
		position.textContent = at ? "step " + at + " of " + steps.length + ": thread " + number(s.thread) + ", " + short(s.text, 80)
			: "before the first of " + plural(steps.length, "step");
		slider.setAttribute("aria-valuetext", position.textContent);
		lanes.go(at);
		values.set(states.at(at), at ? states.at(at - 1) : new Map(), states.changed(at));
		locals = localsAt(at);
		localsBox.replaceChildren();
		for (const [t, m] of locals)
			localsBox.append(h("p", { class: hue(t - 1) }, h("b", { class: "who" }, named(threadName(run, t), 30)), " ",
				[...m].slice(0, 12).map(([k, v]) => h("span", { class: "local" }, named(k, 30), " = ", named(show(v), 30)))));
		if (source) mark(s);
	}

	function mark(s) {
		for (const tr of byLine) {
			if (tr.className) tr.className = "";
			if (tr.children[1].firstChild) tr.children[1].replaceChildren();
		}
		const last = new Map();
		for (let i = 0; i < at; i++) last.set(number(steps[i].thread), number(steps[i].line));
		for (const [t, line] of last) {
			const tr = byLine[line - 1];
			if (tr) tr.children[1].append(h("span", { class: "pin " + hue(t - 1), title: "thread " + t, text: t }));
		}
		const tr = s && byLine[number(s.line) - 1];
		if (tr) {
			tr.className = "here";
			sourceBox.scrollTop = Math.max(0, tr.offsetTop - sourceBox.clientHeight / 2);
		}
	}

	keyHandlers.unshift((e) => {
		if (!view.isConnected) return false;
		const d = { ArrowRight: 1, ArrowDown: 1, j: 1, ArrowLeft: -1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 }[e.key];
		if (d) go(at + d);
		else if (e.key === "Home") go(0);
		else if (e.key === "End") go(steps.length);
		else if (e.key === "n" && marks.size) go([...marks].sort((a, b) => a - b).find((m) => m > at) || [...marks].sort((a, b) => a - b)[0]);
		else return false;
		return true;
	});

	const nextMark = () => go([...marks].sort((a, b) => a - b).find((m) => m > at) || [...marks].sort((a, b) => a - b)[0]);
	const controls = h("div", { class: "controls", role: "group", "aria-label": "stepping" },
		button("|◀", "First (Home)", () => go(0), { "aria-label": "first" }),
		button("◀", "Back (←)", () => go(at - 1), { "aria-label": "back" }),
		button("▶", "Forward (→)", () => go(at + 1), { "aria-label": "forward" }),
		button("▶|", "Last (End)", () => go(steps.length), { "aria-label": "last" }),
		marks.size ? button("Next marked", "The next step that the explanation mentions (n)", nextMark) : null,
		slider, position);

	const serial = list(result.serial && result.serial.orders);
	let beside = null;
	if (serial.length) {
		const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "serial order" });
		const pick = (i) => {
			const t = lanesTable(serial[i], { label: "the same blocks one at a time", compact: true });
			box.replaceChildren(t.table);
			t.go(list(serial[i].steps).length);
			tabs.forEach((b, k) => b.setAttribute("aria-pressed", k === i));
		};
		const tabs = serial.map((o, i) => button("Threads " + short(o.order, 24), "Blocks in this order", () => pick(i), { "aria-pressed": "false" }));
		beside = section("The same blocks, one at a time", h("div", { class: "tabs" }, tabs), box);
		pick(0);
	}
	const ends = endsTable(result, run);
	if (list(result.history).length) view.append(operationsStrip(result.history, steps.length));
	add(view, controls, h("div", { class: "columns" + (beside ? " three" : "") },
		section(result.serial ? "What happened" : null, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "what happened" }, lanes.table)),
		beside,
		h("div", { class: "side" }, section("Variables", h("div", { class: "scroll small" }, values.table), localsBox),
			source ? section(null, h("h3", {}, named(model.name, 50)), sourceBox) : null)),
		ends ? section("How it ends", ends,
			number(result.serial && result.serial.more) ? h("p", { class: "quiet", text: "and " + plural(result.serial.more, "other end") + " of serial orders" }) : null) : null);
	const first = marks.size ? Math.min(...marks) : steps.length;
	queueMicrotask(() => go(breaks.size ? Math.min(...breaks) : first));
	view.stepTo = go;
	return view;
}
