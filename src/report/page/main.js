// main: the frame: what the document is about, the list of its results, the
// one that is looked at.

const doc = JSON.parse(document.getElementById("document").textContent);

function theme() {
	const root = document.documentElement;
	const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
	const b = button("◐", "Light or dark", () => {
		root.dataset.theme = dark() ? "light" : "dark";
		document.dispatchEvent(new Event("themechange"));
	}, { "aria-label": "switch between light and dark" });
	return b;
}

// One finding of a run, or of its recording.
function runFinding(doc, r) {
	const x = r.exploration, reached = x && x.status === "confirmed", sure = r.confirmed || reached;
	return {
		name: r.mark ? text(r.mark) : text(r.block), verdict: r.verdict, label: sure ? "Confirmed" : "Predicted", hidden: !!(r.suppressed || r.baseline), hiddenWord: r.suppressed ? "Suppressed" : "Known", sub: (r.suppressed ? "suppressed, " : r.baseline ? "known, " : "") + (sure ? "confirmed" : "predicted"),
		title: (r.mark ? "block " + text(r.mark) + " in " : "") + text(r.block) + " is not atomic", sentence: text(r.sentence),
		facts: [r.confirmed ? "confirmed: another thread intervened in this run" : "predicted: another schedule can violate it", x ? "explored: " + text(x.text) : "", r.count > 1 ? "seen " + r.count + " times" : "",
			r.suppressed ? "suppressed by " + text(r.suppressed.by) : r.baseline ? "in the baseline " + text(r.baseline.file) : ""], next: x && x.replay ? text(x.replay) : null,
		view: () => x && x.failure ? h("div", {}, stacksView(doc, r), section("A schedule that shows it", h("p", { text: text(x.failure.title).toLowerCase() + ": " + text(x.failure.sentence) })), scheduleView(x.failure)) : stacksView(doc, r) };
}

// [{name, sub, verdict, title, sentence, facts, next, hidden, view}]
function items() {
	const model = doc.model || {};
	if (doc.kind === "check") return list(doc.results).map((r) => ({
		name: r.object ? text(r.object) : r.property ? text(r.property) : r.block === null ? "program" : text(r.block), verdict: r.verdict,
		sub: r.object ? "object, line " + number(r.line) : r.property ? "condition on states, line " + number(r.line) : r.block === null ? "all blocks together" : r.line ? "line " + r.line : "",
		title: checkTitle(r), sentence: text(r.sentence) || faultText(r),
		facts: [r.engine && r.verdict !== "unknown" ? "decided by " + text(r.engine) : "", r.commits, list(r.any_number_of).length ? "for any number of " + list(r.any_number_of).slice(0, 6).join(", ") : "", r.as_part ? "as part of the program" : "", r.notes, r.limit ? "the limit on " + r.limit + " was reached" : "", r.reason,
			r.states ? plural(number(r.states), "state") : ""],
		next: r.counterexample ? "intact sim " + shell(text(model.name)) + " --schedule " + text(r.counterexample.schedule) : null,
		view: () => {
			const v = r.counterexample && list(r.counterexample.left_out).includes("steps")
				? h("div", {}, section(null, h("p", { text: "The run is too long for a page; the command above replays it." })))
				: r.counterexample ? runView(r, r.counterexample, model) : modelView(model, r.line);
			if (v && list(r.attempts).length > 1) v.append(attempts(r));
			return v;
		} }));
	if (doc.kind === "sim") return [{ name: "run", verdict: doc.verdict, title: "A run of " + plural(list(doc.steps).length, "step"), sentence: "",
		facts: ["it ended: " + text(doc.end), doc.seed !== undefined ? "seed " + doc.seed : ""],
		next: "intact sim " + shell(text(model.name)) + " --schedule " + text(doc.schedule), view: () => runView({}, doc, model) }];
	if (doc.kind === "history") return list(doc.results).map((r) => ({
		name: text(r.file), verdict: r.verdict, sub: list(r.levels).length ? plural(number(r.transactions), "transaction") : plural(number(r.operations), "operation"), title: historyTitle(r),
		sentence: list(r.levels).length ? "" : (list(r.parts).find((p) => p.verdict === "violated") || {}).sentence || text(r.sentence),
		facts: [r.object ? "checked as " + r.object + (list(r.guessed).includes("object") ? " (guessed)" : "") : "",
			r.init !== undefined ? "initially " + show(r.init) : "", plural(number(r.processes), "process").replace("processs", "processes"),
			list(r.parts).length > 1 ? list(r.parts).length + " parts" : "", list(r.parts)[0] ? "algorithm: " + text(r.parts[0].algorithm) : "",
			r.limit ? "the limit on " + r.limit + " was reached" : ""],
		view: () => list(r.levels).length ? txnView(r) : r.log && number(r.log.operations) ? historyView(r) : null }));
	if (doc.kind === "trace") return list(doc.results).flatMap((r) => {
		const found = list(r.findings).map((f) => ({ name: blockName(f.closing && f.closing.block), verdict: "violated",
			sub: "thread " + text(f.closing && f.closing.thread) + (f.count > 1 ? ", " + f.count + " times" : ""),
			title: blockName(f.closing && f.closing.block) + " is not atomic", sentence: cycleSentence(f), facts: [text(r.file), plural(number(r.events), "event")],
			view: () => cycleView(f) }));
		const predicted = list(r.predicted && r.predicted.findings).map((f) => ({ name: "block at " + text(f.begin && f.begin.place),
			verdict: f.kind === "proven" ? "violated" : "unknown", label: f.kind === "proven" ? "Predicted" : "Possible", sub: f.kind === "proven" ? "another schedule" : "possible",
			title: "block at " + text(f.begin && f.begin.place) + (f.kind === "proven" ? " can be violated" : " may not be atomic"),
			sentence: f.kind === "proven" && f.between ? text(f.between.op) + " of thread " + text(f.between.thread) + " can come between two accesses of the block." : "",
			facts: [text(r.file)], view: () => predictedView(f) }));
		const run = list(r.run && r.run.results).map((f) => runFinding(doc, f));
		const whole = found.length || run.length ? [] : [{ name: text(r.file), verdict: r.serializable === true ? "holds" : r.verdict, sub: plural(number(r.events), "event"),
			title: r.serializable === true ? "the trace is serializable" : r.verdict === "error" ? "the trace cannot have happened" : "not decided",
			sentence: "", facts: [plural(number(r.blocks), "block"), r.limit ? "out of " + r.limit : ""], view: () => null }];
		return whole.concat(found, predicted, run);
	});
	if (doc.kind === "run") return list(doc.results).map((r) => runFinding(doc, r));
	if (doc.kind === "diff") return list(doc.results).map((r) => ({ name: text(r.block), verdict: r.verdict, label: changes[r.change], sub: text(r.change) + (r.pattern ? ", " + text(r.pattern) : ""),
		title: text(r.block) + (r.change === "new" ? " is not atomic (new)" : ": " + text(r.change)), sentence: text(r.text),
		facts: [text(doc.before) + " compared with " + text(doc.after), ["new", "gone", "changed"].map((k) => number(doc[k]) + " " + k).join(" · "), text(doc.reason)], view: () => null }));
	if (doc.kind === "explore") return exploreItems(doc);
	if (doc.kind === "net") return list(doc.results).map((r) => ({ name: text(r.file), verdict: doc.verdict, title: netTitle(r), sub: "", sentence: netSentence(r), facts: [], view: () => netView(r) }));
	if (doc.kind === "verify") return list(doc.results).map((r) => ({ name: text(r.name), label: answers[r.answer],
		verdict: r.answer === "accepted" ? "holds" : r.answer === "rejected" ? "violated" : "unknown",
		sub: text(r.answer) + (r.claim ? ", claimed: " + text(r.claim) : ""), title: text(r.name) + (r.claim ? ", claimed: " + text(r.claim) : ""),
		sentence: (r.link ? "Link " + number(r.link) + ": " : "") + text(r.why),
		facts: ["the result of intact " + text(doc.of) + " in " + text(doc.file), r.line ? "line " + number(r.line) : "", r.states ? plural(number(r.states), "state") : ""],
		next: r.schedule && doc.of === "check" ? "intact sim " + shell(text(doc.subject)) + " --schedule " + text(r.schedule) : null, view: () => claimsView() }));
	return [];
}

const changes = { new: "New", gone: "Gone", changed: "Changed" };

// How the checker calls its answers.
const answers = { accepted: "Accepted", rejected: "Rejected", unknown: "Not decided", unchecked: "Not checked" };

// Every claim at a glance.
function claimsView() {
	const rows = list(doc.results).slice(0, 2000), left = list(doc.results).length - rows.length + number(doc.not_listed);
	return h("div", {}, section("Every claim", h("p", { class: "facts", text: ["accepted", "rejected", "unknown", "unchecked"].map((k) => number(doc[k]) + " " + k).join(" · ") }),
		h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "claims" }, h("table", { class: "plain claims" },
			h("thead", {}, h("tr", {}, ["what", "claimed", "answer", "why"].map((t) => h("th", { scope: "col", text: t })))),
			h("tbody", {}, rows.map((r) => h("tr", {}, h("td", {}, named(r.name, 60)), h("td", { text: text(r.claim) }),
				h("td", {}, badge(r.answer === "accepted" ? "holds" : r.answer === "rejected" ? "violated" : "unknown", answers[r.answer])), h("td", {}, named(text(r.why), 200))))))),
		left ? h("p", { class: "facts", text: plural(left, "more claim") + " not shown" }) : null));
}

// Nothing to step through: the source, at the block.
function modelView(model, line) {
	if (!model.text) return null;
	const lines = text(model.text).split("\n").slice(0, 5000);
	return h("div", {}, section(null, h("h3", {}, named(model.name, 80)), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "source" },
		sourceLines(lines, 1, { mark: number(line), label: "source" }))));
}

function attempts(r) {
	return section("Engines asked", h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ["engine", "verdict", "states", "reason"].map((t) => h("th", { scope: "col", text: t })))),
		h("tbody", {}, list(r.attempts).map((a) => h("tr", {}, h("td", {}, named(a.engine, 30)), h("td", {}, badge(a.verdict)),
			h("td", { text: number(a.states).toLocaleString("en") }), h("td", {}, named(text(a.why) || (a.limit ? "the limit on " + text(a.limit) + " was reached" : ""), 160)))))));
}

function checkTitle(r) {
	if (r.object) return text(r.object) + (r.verdict === "holds" ? " is " + text(r.condition) : r.verdict === "violated" ? " is not " + text(r.condition) : " is not decided");
	if (r.property) return text(r.property) + (r.verdict === "holds" ? " holds" : r.verdict === "violated" ? " is violated" : " is not decided");
	const n = r.block === null ? "The program" : text(r.block);
	if (r.verdict === "holds") return n + (r.block === null ? " is serializable" : " is atomic");
	if (r.verdict !== "violated") return n + " is not decided";
	return { atomicity: n + (r.block === null ? " is not serializable" : " is not atomic"), fault: n + " can have a fault", deadlock: n + " can deadlock",
		stuck: n + " cannot finish alone", endless: n + " never ends alone", quiescence: n + " can get stuck inside its blocks", commit: n + " is not atomic at its commit points",
		causality: n + (r.block === null ? " is not causally serializable" : " is not causally atomic") }[r.problem] || n + " is violated";
}
function faultText(r) {
	const s = list(r.counterexample && r.counterexample.steps), last = s[s.length - 1];
	if (last && last.fault) return text(last.fault.text) + " (line " + number(last.fault.line) + ")";
	return list(r.waits).map((w) => "Thread " + number(w.thread) + " " + text(w.text) + ".").join(" ");
}
function historyTitle(r) {
	if (list(r.levels).length) {
		const bad = list(r.levels).filter((l) => l.verdict === "violated"), weakest = bad.filter((l) => l.weakest);
		return r.verdict === "holds" ? "Every isolation level asked for holds" : r.verdict === "violated"
			? "Violated: " + (weakest.length ? weakest : bad).slice(0, 4).map((l) => text(l.level)).join(", ") : "The isolation levels are not decided";
	}
	const c = text(r.condition) || "atomic";
	return r.verdict === "holds" ? "The history is " + c : r.verdict === "violated" ? "The history is not " + c : "The history is not decided";
}
function blockName(b) { return b && b.label ? text(b.label) : b && b.place ? "block at " + text(b.place) : "block"; }
function cycleSentence(f) {
	const first = list(f.cycle)[0];
	if (!first) return "Its conflicts close a cycle that was too long to record.";
	if (f.alone) return "Between " + text(first.from.op) + " and " + text(f.closing.op) + " of this block, thread " + text(first.to.thread) + " intervened with " +
		text(first.to.op) + ": no serial order of the block gives the same result.";
	return "Each of the blocks of this cycle must come before the next, and the last before the first: they cannot all be atomic.";
}
function netTitle(r) {
	if (r.limit) return "The unfolding was not finished";
	return r.cover ? "Together marked: " + text(r.cover.answer) : "Deadlock: " + text(r.deadlock && r.deadlock.answer);
}
function netSentence(r) {
	const q = r.cover && r.cover.answer === "yes" ? r.cover : r.deadlock && r.deadlock.answer === "yes" ? r.deadlock : null;
	return q ? "At the marking { " + list(q.marking).slice(0, 60).join(", ") + " }" + (list(q.run).length ? ", reached by " + list(q.run).slice(0, 60).join(", ") : "") + "." : r.limit ? "The limit on " + r.limit + " was reached." : "";
}

// Nothing was seen to go wrong, but another schedule does.
function onlyPredicted(all) {
	const bad = all.filter((it) => it.verdict === "violated" && !it.hidden);
	return doc.verdict === "violated" && bad.length > 0 && bad.every((it) => it.label === "Predicted");
}

function build() {
	const all = items(), page = document.getElementById("page");
	const subject = doc.model ? doc.model.name
		: doc.kind === "verify" ? text(doc.subject) || text(doc.file) : doc.program || (list(doc.results)[0] || {}).file || "";
	const article = h("article", { tabindex: -1, "aria-live": "off" });
	const buttons = all.map((it, i) => h("li", {}, h("button", { type: "button", class: (it.hidden ? "hidden " : "") + (words[it.verdict] ? it.verdict : "unknown"),
		on: { click: () => open(i, true) } }, h("span", { class: "dot" }), h("span", { class: "name" }, named(it.name, 60),
		h("span", { class: "sr", text: ", " + (it.label || words[it.verdict] || "") }), it.sub ? h("span", { class: "sub" }, named(it.sub, 60)) : null))));
	const nav = all.length > 1 ? h("nav", { class: "results", "aria-label": "results" }, h("ol", {}, buttons)) : null;
	page.replaceChildren(h("header", { class: "top" }, h("span", { class: "mark", text: "intact" }), h("span", { class: "kind", text: text(doc.kind) }),
		h("h1", {}, named(subject, 90)), badge(doc.verdict, onlyPredicted(all) ? "Predicted" : null), h("span", { class: "spacer" }), h("span", { class: "quiet", text: "intact " + short(doc.intact, 20) }), theme()),
	h("div", { class: "body" + (nav ? "" : " single") }, nav, article));

	function open(i, focus) {
		const it = all[i];
		keyHandlers.length = 0;
		buttons.forEach((b, k) => { if (k === i) b.firstChild.setAttribute("aria-current", "true"); else b.firstChild.removeAttribute("aria-current"); });
		const facts = it.facts.filter(Boolean).map((f) => short(f, 160)).join(" · ");
		article.replaceChildren(h("header", {}, h("div", { class: "line" }, h("h2", {}, named(it.title, 120)),
			it.hidden ? h("span", { class: "badge hidden", text: it.hiddenWord || "Suppressed" }) : badge(it.verdict, it.label)),
		it.sentence ? h("p", { class: "sentence", text: safe(it.sentence).slice(0, 4000) }) : null, facts ? h("p", { class: "facts", text: facts }) : null,
		it.next && it.next.length < 600 ? command(it.next) : null));
		const v = it.view();
		if (v) article.append(v);
		if (focus) article.focus({ preventScroll: true });
		article.dataset.result = i;
	}
	if (!all.length) article.append(h("p", { class: "sentence", text: doc.kind === "diff" && !doc.reason ? "No difference." : doc.kind !== "run" && doc.kind !== "diff" ? "There was nothing to check." : doc.reason ? safe(text(doc.reason)).slice(0, 4000) : "Nothing was found in this run." }));
	else open(Math.max(0, all.findIndex((it) => it.verdict === "violated" && !it.hidden)), false);
	document.documentElement.dataset.ready = "1";
}

build();
