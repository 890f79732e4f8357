// schedule: a schedule of a real program that failed: a lane for each thread, the
// steps in order, what waits for what, the cycle of conflicts, the output.

function exploreAt(p) {
	if (!p) return "";
	const at = p.file ? text(p.file) + (p.line ? ":" + number(p.line) : "") : p.module ? text(p.module) : "";
	return (p.function ? text(p.function) + " " : "") + at;
}

/* In tables, where there is little room: the name of the file, the whole path as a tip. */
function explorePlace(p) {
	const full = exploreAt(p), at = p && p.file ? text(p.file).replace(/^.*\//, "") + (p.line ? ":" + number(p.line) : "") : "";
	return at ? named(at + (p.function ? " " + text(p.function) : ""), 70, { title: short(safe(full), 2000) }) : named(full, 70);
}

function exploreThread(r, n) {
	const t = list(r.threads)[n] || {};
	return n ? "T" + n + (t.name ? " " + text(t.name) : "") : "main";
}

function scheduleTable(r) {
	const steps = list(r.steps), plain = list(r.plain_accesses), lanes = [...new Set([...steps, ...plain].map((s) => number(s.thread)))].sort((a, b) => a - b);
	const shown = steps.length > 2000 ? steps.slice(-2000) : steps, first = steps.length - shown.length;
	const begins = new Map(), ends = new Map(); // a thread's first and last step
	const seen = (s, i) => { const t = number(s.thread); if (!begins.has(t)) begins.set(t, i); if (!(ends.get(t) >= i)) ends.set(t, i); };
	steps.forEach(seen);
	const after = new Map(); // the plain accesses that come after a step
	plain.forEach((a) => { const i = number(a.step) - 1; seen(a, i); after.set(i, [...(after.get(i) || []), a]); });
	const head = h("tr", {}, h("th", { class: "no", scope: "col", text: "step" }), lanes.map((t) => h("th", { class: hue(t), scope: "col" }, named(exploreThread(r, t), 40))),
		h("th", { scope: "col", text: "place" }));
	const row = (s, i, no) => h("tr", { class: s.preempts ? "intruder" : null },
		h("td", { class: "no", text: no }),
		lanes.map((t) => h("td", { class: hue(t) + (begins.get(t) <= i && i <= ends.get(t) ? " in" : "") }, t === number(s.thread) ? h("span", { class: no ? "step" : "step quiet" }, named(s.text, 60),
			s.preempts ? h("span", { class: "flag", text: "interrupts" }) : null) : null)),
		h("td", { class: "quiet" }, explorePlace(s.at)));
	const rows = shown.flatMap((s, i) => [row(s, first + i, first + i + 1), ...(after.get(first + i) || []).map((a) => row(a, first + i, ""))]);
	return h("div", {}, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the schedule" }, h("table", { class: "lanes compact", "aria-label": "steps by thread",
		style: { "--lanes": lanes.length + 1 } }, h("thead", {}, head), h("tbody", {}, rows))),
		h("p", { class: "facts", text: "A preemption interrupts a thread that could have continued." }),
		first ? h("p", { class: "facts", text: plural(first, "earlier step") + " not shown" }) : null);
}

// The calls of an object test: a column a thread, results beside them.
function objectCall(c) {
	const r = c.result !== undefined && c.result !== "done" ? " \u2192 " + text(c.result) : c.waits ? " waits" : number(c.called) === 0 ? " (not called)" : number(c.returned) === 0 ? " (did not return)" : "";
	return named(text(c.call) + r, 60);
}

function objectTable(o) {
	if (!o || !list(o.calls).length) return null;
	const columns = Array.from({ length: Math.min(number(o.threads), 63) }, (_, i) => list(o.calls).filter((c) => number(c.thread) === i + 1));
	const rows = Array.from({ length: Math.max(...columns.map((c) => c.length)) }, (_, i) => h("tr", {}, columns.map((c, t) => h("td", { class: hue(t + 1) }, c[i] ? objectCall(c[i]) : null))));
	const main = (name, calls) => list(calls).length ? h("p", { class: "facts" }, name + " ", list(calls).map((c, i) => [i ? ", " : "", objectCall(c)])) : null;
	return section("The scenario", h("div", {}, main("before:", o.before),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "the scenario" }, h("table", { class: "lanes compact", "aria-label": "calls by thread", style: { "--lanes": columns.length } },
			h("thead", {}, h("tr", {}, columns.map((_, t) => h("th", { class: hue(t + 1), scope: "col", text: "T" + (t + 1) })))), h("tbody", {}, rows))),
		main("after:", o.after)));
}

/* A cycle is told as pairs: what came first, and what conflicts with it. */
function conflictList(r) {
	const end = (c) => [c.step ? "step " + number(c.step) + ": " : "", named(c.text, 80), " at ", explorePlace(c.at)];
	const pairs = Array.from({ length: list(r.cycle).length >> 1 }, (_, i) => list(r.cycle).slice(2 * i, 2 * i + 2));
	return h("ol", { class: "conflicts" }, pairs.map(([a, b]) => h("li", {}, end(a), h("br", {}), "before ", end(b))));
}

function scheduleView(r, o) {
	if (r.kind === "race") return h("div", {}, objectTable(o), section("The accesses", h("ul", {}, list(r.accesses).map((a) =>
		h("li", {}, (a.atomic ? "atomic " : "") + (a.write ? "write" : "read") + " by " + (number(a.thread) ? "T" + number(a.thread) : "main") + " at ", named(exploreAt(a.at), 90))))), list(r.steps).length ? section("The schedule", scheduleTable(r)) : null);
	if (r.kind === "prediction") return null;
	const waits = list(r.threads).filter((t) => t.waits);
	return h("div", {}, objectTable(o), section("The schedule", scheduleTable(r)),
		waits.length ? section("At the end", h("ul", {}, waits.map((t) => h("li", {}, exploreThread(r, number(t.number)) + " waits at ", named(exploreAt(t.at), 80), " for ", named(t.waits, 80))))) : null,
		list(r.cycle).length ? section("The conflicts, in order", r.cause ? h("p", { text: text(r.cause).replace(" (the conflicts are listed below)", "") }) : null, conflictList(r)) : null,
		list(r.allocated).length ? section("Data without a name", h("ul", {}, list(r.allocated).map((b) => h("li", {}, named(b.name, 40), number(b.offset) ? ": byte " + number(b.offset) + " of " : ": the first of ",
			plural(number(b.size), "byte") + " that " + (number(b.thread) ? "T" + number(b.thread) : "main") + " allocated at ", named(exploreAt(b.at), 90))))) : null,
		list(r.stack).length ? section("Where it ends", h("ol", { class: "frames", start: 0 }, list(r.stack).map(frameItem))) : null,
		text(r.output) ? section("Output of this schedule", h("pre", { text: safe(text(r.output).replace(/\n/g, "\u0001")).replace(/\\u\{1\}/g, "\n") })) : null);
}

function findingItem(r, facts, object) {
	return { name: r.kind === "race" ? "race on " + text(r.data) : text(r.kind), verdict: r.verdict, sub: "schedule " + number(r.schedule),
		title: r.kind === "race" ? "data race on " + text(r.data) : text(r.title).toLowerCase() + " in schedule " + number(r.schedule),
		sentence: text(r.sentence), facts, view: () => scheduleView(r, object) };
}

/* Each case with what was found in it, or what it came to. */
function caseItems(doc, facts) {
	return list(doc.cases).flatMap((c) => {
		const own = [text(c.text), plural(number(c.schedules), "schedule"), ...facts.slice(2)];
		const found = list(doc.results).filter((r) => r.case === c.name).map((r) => findingItem(r, own)).map((i) =>
			({ ...i, name: text(c.name), sub: i.name + ", " + i.sub, title: text(c.name) + ": " + i.title, next: c.replay ? text(c.replay) : null }));
		return found.length ? found : [{ name: text(c.name), verdict: c.verdict, sub: "", sentence: "", facts: own, view: () => null, title: text(c.name) + ": " + text(c.text) }];
	});
}

function exploreItems(doc) {
	const facts = [plural(number(doc.schedules), "schedule"), number(doc.traces) ? plural(number(doc.traces), "distinct trace") : "", text(doc.strategy), "seed " + number(doc.seed)];
	if (doc.memory === "tso") facts.push("memory: TSO, each thread has a store buffer", "not covered: " + text(doc.memory_not_covered));
	if (doc.object) facts.unshift("object " + text(doc.object.name) + " against " + text(doc.object.against), plural(number(doc.object.scenarios), "scenario"));
	if (doc.cases) return caseItems(doc, facts);
	const found = list(doc.results).map((r) => r.finding ? { name: text(r.finding.block), verdict: r.verdict, label: r.finding.status === "confirmed" ? "Confirmed" : "Not reached",
		sub: text(r.finding.text), title: text(r.finding.block) + ": " + text(r.finding.text), sentence: text(r.finding.sentence), next: r.finding.replay ? text(r.finding.replay) : null,
		facts: [r.kind === "prediction" ? "" : text(r.title).toLowerCase() + ": " + text(r.sentence), plural(number(r.finding.schedules), "schedule"), ...facts.slice(2)], view: () => scheduleView(r) } : findingItem(r, facts, doc.object));
	return found.length ? found : [{ name: "explore", verdict: doc.verdict, sub: "", sentence: "", facts, view: () => null,
		title: doc.exhaustive ? "all " + number(doc.traces) + " traces explored: no violation" : "no violation found (not exhaustive)" }];
}
