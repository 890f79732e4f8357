// model_link: a link that carries what is in the editor, behind the "#": nothing of it is sent to a server. A version letter, then
// base64url: z of the deflated text, p of the plain one where the browser has no streams for it.
const LINK_MAX = 1 << 20; // bytes of text that a link may hold

const toBase64 = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const fromBase64 = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

// Through a (de)compressing stream, at most `max` bytes of it.
async function through(bytes, stream, max) {
	const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
	const parts = [];
	let n = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		n += value.length;
		if (n > max) {
			reader.cancel();
			throw new Error("it holds more than " + max + " bytes");
		}
		parts.push(value);
	}
	return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function linkOf(content) {
	const bytes = new TextEncoder().encode(JSON.stringify(content));
	if (bytes.length > LINK_MAX) throw new Error("the text is too long for a link: save it as a file");
	if (typeof CompressionStream === "undefined") return "p" + toBase64(bytes);
	return "z" + toBase64(await through(bytes, new CompressionStream("deflate"), Infinity));
}

// The content, every member of the type it should be; an error says what is wrong with the link.
async function contentOf(link) {
	let bytes;
	try {
		bytes = fromBase64(link.slice(1));
	} catch (e) {
		throw new Error("it is not complete");
	}
	if (link[0] === "z") {
		if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot read it: a newer one can");
		bytes = await through(bytes, new DecompressionStream("deflate"), LINK_MAX).catch((e) => { throw e.message.startsWith("it holds") ? e : new Error("it is damaged"); });
	} else if (link[0] !== "p") throw new Error("it is of another version");
	if (bytes.length > LINK_MAX) throw new Error("it holds more than " + LINK_MAX + " bytes");
	let c;
	try {
		c = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
	} catch (e) {
		throw new Error("it is damaged");
	}
	const text = (v) => (typeof v === "string" ? v : "");
	if (!c || typeof c.text !== "string") throw new Error("it holds no text");
	return { name: text(c.name), text: c.text, command: text(c.command), options: text(c.options) };
}
