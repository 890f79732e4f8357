// stacks: a finding of a watched program: what one thread did, what another
// can do in between, with stacks, locks and source.

function snippet(doc, frame) {
	const line = number(frame.line);
	const piece = list(doc.sources).find((s) => s.file === frame.file && line >= s.first && line < s.first + list(s.lines).length);
	if (!piece) return null;
	const a = Math.max(piece.first, line - 1), b = Math.min(piece.first + piece.lines.length - 1, line + 1);
	return h("div", { class: "snippet" }, sourceLines(piece.lines.slice(a - piece.first, b - piece.first + 1), a, { mark: line, label: short(frame.file, 60) }));
}

function frameItem(f) {
	const at = f.file ? text(f.file) + (f.line ? ":" + f.line : "") : text(f.module);
	return h("li", { class: f.system ? "system" : null, value: undefined }, named(f.function || "?", 90), " ", h("span", { class: "at" }, named(at, 80)));
}

// The stack in one line, innermost first; opened, a frame a line.
function frames(doc, stack, code) {
	if (!stack.length) return null;
	const chain = stack.slice(0, 4).map((f) => short(f.function || "?", 30)).join(" ← ") + (stack.length > 4 ? " ← …" : "");
	const own = stack.find((f) => f.file && !f.system) || stack[0];
	const at = own.file ? " at " + short(own.file, 50) + (own.line ? ":" + own.line : "") : "";
	return h("details", { class: "stack" }, h("summary", {}, h("code", { text: chain }), h("span", { class: "at", text: at })),
		code, h("ol", { class: "frames", start: 0 }, stack.slice(0, 200).map(frameItem)));
}

// A place in the window; `folded`: its source is shown with the stack only.
function place(doc, side, title, p, bad, colour, folded) {
	if (!p) return null;
	const stack = list(p.stack), own = stack.find((f) => f.file && !f.system) || stack[0];
	const held = list(p.held), code = own ? snippet(doc, own) : null;
	return h("div", { class: "place " + side + " " + colour + (bad ? " bad" : "") }, h("h4", {}, named(title, 160),
		Array.isArray(p.held) ? h("span", { class: "locks" }, h("span", { class: "sr", text: "locks held:" }),
			held.length ? held.map((l) => h("span", { class: "lock" }, "holds ", named(l, 50))) : h("span", { class: "lock none", text: "holds no other lock" })) : null),
		folded ? null : code, frames(doc, stack, folded ? code : null));
}

// A data race, or what is wrong with a lock: what each thread did.
function accessesView(doc, r) {
	const threads = [...new Set(list(r.accesses).map((a) => text(a.thread)))];
	return section(text(r.title || r.kind), h("div", {}, list(r.accesses).slice(0, 64).map((a) =>
		place(doc, "", text(a.thread) + ": " + text(a.what), a, true, "c" + Math.min(threads.indexOf(text(a.thread)), 1))),
		h("p", { class: "facts", text: short(r.sentence, 1000) })));
}

function stacksView(doc, r) {
	const other = r.other_access || r.other_acquire;
	return h("div", {}, Array.isArray(r.accesses) ? accessesView(doc, r) : section("The window",
		h("div", { class: "window" },
			h("div", { class: "head c0" }, named(r.thread, 40)), h("div", { class: "head c1" }, named(r.other, 40)),
			place(doc, "left", "enters " + text(r.block), r.entered, false, "c0", true),
			place(doc, "left", "commits: " + text(r.commit && r.commit.what), r.commit, false, "c0"),
			h("div", { class: "place gap c0" }, h("span", { text: r.confirmed ? "another thread intervened here" : "another thread can intervene here" })),
			h("div", { class: "right", "data-thread": short(r.other, 40) }, r.other_acquire && r.other_access ? place(doc, "", "takes the lock", r.other_acquire, false, "c1") : null,
				other ? place(doc, "", text(other.what), other, true, "c1") : null),
			place(doc, "left", "goes on: " + text(r.violation && r.violation.what), r.violation, true, "c0"))),
	list(r.threads).length ? section("Where the threads came from", list(r.threads).slice(0, 50).map((t) =>
		h("details", {}, h("summary", {}, named(t.name, 40), " created by ", named(t.parent, 40)), h("ol", { class: "frames", start: 0 }, list(t.stack).slice(0, 200).map(frameItem))))) : null,
	r.suppression ? section("To suppress it", h("p", { class: "facts", text: "Put this line into a file and name it with --suppressions:" }), command(text(r.suppression))) : null);
}
