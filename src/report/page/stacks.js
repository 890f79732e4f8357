// stacks: a finding of a watched program: what one thread did, what another
// can do in between, with stacks, locks and source.

function snippet(doc, frame) {
	const line = number(frame.line);
	const piece = list(doc.sources).find((s) => s.file === frame.file && line >= s.first && line < s.first + list(s.lines).length);
	if (!piece) return null;
	const a = Math.max(piece.first, line - 2), b = Math.min(piece.first + piece.lines.length - 1, line + 2);
	return h("div", { class: "snippet" }, sourceLines(piece.lines.slice(a - piece.first, b - piece.first + 1), a, { mark: line, label: short(frame.file, 60) }));
}

function frameItem(f) {
	const at = f.file ? text(f.file) + (f.line ? ":" + f.line : "") : text(f.module);
	return h("li", { class: f.system ? "system" : null, value: undefined }, named(f.function || "?", 90), " ", h("span", { class: "at" }, named(at, 80)));
}

function place(doc, side, title, p, bad, colour) {
	if (!p) return null;
	const stack = list(p.stack), own = stack.find((f) => f.file && !f.system) || stack[0];
	const held = list(p.held);
	return h("div", { class: "place " + side + " " + colour + (bad ? " bad" : "") }, h("h4", {}, named(title, 160)),
		Array.isArray(p.held) ? h("div", { class: "locks" }, h("span", { class: "sr", text: "locks held:" }),
			held.length ? held.map((l) => h("span", { class: "lock" }, "holds ", named(l, 50))) : h("span", { class: "lock none", text: "holds no other lock" })) : null,
		own ? snippet(doc, own) : null,
		stack.length ? h("ol", { class: "frames", start: 0 }, stack.slice(0, 4).map(frameItem)) : null,
		stack.length > 4 ? h("details", {}, h("summary", { text: plural(stack.length - 4, "more frame") }), h("ol", { class: "frames", start: 4 }, stack.slice(4, 200).map(frameItem))) : null);
}

function stacksView(doc, r) {
	const other = r.other_access || r.other_acquire;
	return h("div", {}, section("The window",
		h("div", { class: "window" },
			h("div", { class: "head c0" }, named(r.thread, 40)), h("div", { class: "head c1" }, named(r.other, 40)),
			place(doc, "left", "enters " + text(r.block), r.entered, false, "c0"),
			place(doc, "left", "commits: " + text(r.commit && r.commit.what), r.commit, false, "c0"),
			h("div", { class: "place gap c0" }, h("span", { text: r.confirmed ? "another thread came in here" : "another thread can come in here" })),
			h("div", { class: "right" }, r.other_acquire && r.other_access ? place(doc, "", "takes the lock", r.other_acquire, false, "c1") : null,
				other ? place(doc, "", text(other.what), other, true, "c1") : null),
			place(doc, "left", "goes on: " + text(r.violation && r.violation.what), r.violation, true, "c0"))),
	list(r.threads).length ? section("Where the threads came from", list(r.threads).slice(0, 50).map((t) =>
		h("details", {}, h("summary", {}, named(t.name, 40), " created by ", named(t.parent, 40)), h("ol", { class: "frames", start: 0 }, list(t.stack).slice(0, 200).map(frameItem))))) : null,
	r.suppression ? section("To hide it", h("p", { class: "facts", text: "Put this line into a file and name it with --suppressions:" }), command(text(r.suppression))) : null);
}
