// editor: a text area, with a layer behind it that has the same text in colours and the places of messages underlined, and line
// numbers beside it. The text area does the editing; nothing here changes what is typed but the tab key.
const COLOUR_MAX = 60000; // characters; a longer text has no colours
const UNDERLINE_MAX = 200; // messages

function makeEditor(parts, changed) {
	const { area, layer, gutter } = parts;
	let words = [new Set(), new Set()], marks = [];

	const sml = () => parts.name().endsWith(".sml");
	const model = () => /\.(atm|sml|spec)$/.test(parts.name());

	// [from, to, class]... of the text, in order
	function colours(text) {
		if (text.length > COLOUR_MAX || !model()) return [];
		const own = words[sml() ? 1 : 0], out = [];
		const pattern = sml() ? /\(\*[^]*?(?:\*\)|$)|"[^"\n]*"|\d+|[A-Za-z_][A-Za-z_0-9']*/g : /\/\/.*|\/\*[^]*?(?:\*\/|$)|"[^"\n]*"|\d+|[A-Za-z_][A-Za-z_0-9]*/g;
		for (const m of text.matchAll(pattern)) {
			const c = m[0][0], kind = c === "/" || c === "(" ? "comment" : c === '"' ? "string" : c >= "0" && c <= "9" ? "number" : own.has(m[0]) ? "word" : "";
			if (kind) out.push([m.index, m.index + m[0].length, kind]);
		}
		return out;
	}

	// Pieces of the text between all places where a colour or a mark begins or ends.
	function draw() {
		const text = area.value, spans = colours(text), cuts = new Set([0, text.length]);
		const shown = marks.filter((m) => m.from <= text.length).slice(0, UNDERLINE_MAX);
		for (const [a, b] of spans) cuts.add(a).add(b);
		for (const m of shown) cuts.add(m.from).add(Math.min(m.to, text.length));
		const at = [...cuts].sort((a, b) => a - b), pieces = document.createDocumentFragment();
		let k = 0;
		for (let i = 0; i + 1 < at.length; i++) {
			while (k < spans.length && spans[k][1] <= at[i]) k++;
			const kind = k < spans.length && spans[k][0] <= at[i] ? spans[k][2] : "";
			const mark = shown.find((m) => m.from <= at[i] && m.to >= at[i + 1]);
			const piece = text.slice(at[i], at[i + 1]);
			if (!kind && !mark) {
				pieces.append(piece);
				continue;
			}
			const span = document.createElement("span");
			span.className = kind + (mark ? " " + mark.level : "");
			span.textContent = piece;
			pieces.append(span);
		}
		pieces.append("\n");
		layer.replaceChildren(pieces);
		numbers(text.split("\n").length, shown);
		follow();
	}
	// The numbers of the lines; those with a message are marked.
	function numbers(lines, shown) {
		const wrong = new Map(), pieces = document.createDocumentFragment();
		for (const m of shown) if (m.line && m.line <= lines && wrong.get(m.line) !== "error") wrong.set(m.line, m.level);
		let next = 1;
		const plain = (end) => {
			pieces.append(Array.from({ length: end - next }, (_, i) => next + i + "\n").join(""));
			next = end;
		};
		for (const [line, level] of [...wrong].sort((a, b) => a[0] - b[0])) {
			plain(line);
			pieces.append(Object.assign(document.createElement("span"), { className: level, textContent: line + "\n" }));
			next = line + 1;
		}
		plain(lines + 1);
		gutter.replaceChildren(pieces);
	}
	function follow() {
		layer.scrollTop = gutter.scrollTop = area.scrollTop;
		layer.scrollLeft = area.scrollLeft;
	}
	area.addEventListener("input", () => { marks = []; draw(); changed(); });
	area.addEventListener("scroll", follow);
	area.addEventListener("keydown", (e) => {
		if (e.key !== "Tab" || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey || parts.leave()) return;
		e.preventDefault();
		document.execCommand("insertText", false, "  ");
	});
	return {
		text: () => area.value,
		set(text) {
			area.value = text;
			area.scrollTop = area.scrollLeft = 0;
			marks = [];
			draw();
		},
		setWords(all) { words = all.map((w) => new Set(w)); draw(); },
		setMarks(all) { marks = all; draw(); },
		select(from, to) {
			area.focus();
			area.setSelectionRange(from, to);
			const line = area.value.slice(0, from).split("\n").length, height = parseFloat(getComputedStyle(area).lineHeight);
			area.scrollTop = Math.max(0, (line - 4) * height);
		},
	};
}
