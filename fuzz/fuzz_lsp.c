/*
 * fuzz_lsp: any bytes as what a client sends to the language server. The bytes arrive behind an initialize and the opening of a
 * model, a specification and an SML file: bytes that begin with '{' as lines, each of which is put into a frame; others as they are,
 * in pieces of several sizes. All that the server sends must be frames of JSON. Nothing is forked.
 */
#include <jansson.h>
#include <string.h>

#include "fuzz.h"
#include "lsp/frame.h"
#include "lsp/lsp.h"

static const char *const before[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{\"textDocument\":{\"hover\":"
	"{\"contentFormat\":[\"markdown\"]},\"documentSymbol\":{\"hierarchicalDocumentSymbolSupport\":true}}}}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/"
	"didOpen\",\"params\":{\"textDocument\":{\"uri\":\"a.atm\",\"version\":1,\"text\":"
	"\"lock l; int x; proc f(int v) { acquire(l); x = v; release(l); }\\nthread t * 2 { atomic b { f(x + 1); } }\\n\"}}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/"
	"didOpen\",\"params\":{\"textDocument\":{\"uri\":\"a.sml\",\"version\":1,\"text\":"
	"\"int Y;\\nbegin x := Y; Y := x + 1 end || skip\"}}}",
	"{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/"
	"didOpen\",\"params\":{\"textDocument\":{\"uri\":\"a.spec\",\"version\":1,\"text\":"
	"\"object o { int x; void set(int v) { x = v; } int get() { return x; } }\"}}}",
};

static void send_bytes(struct lsp *s, const void *text, size_t len)
{
	struct buf message, framed;
	buf_init(&message);
	buf_init(&framed);
	buf_add(&message, text, len);
	frame_write(&framed, &message);
	lsp_receive(s, buf_cstr(&framed), framed.len);
	buf_free(&message);
	buf_free(&framed);
}

static void send_lines(struct lsp *s, const char *text, size_t len)
{
	int code;
	while (len && !lsp_ended(s, &code)) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		if (n)
			send_bytes(s, text, n);
		n += end != NULL;
		text += n;
		len -= n;
	}
}

/* What was sent is whole frames of JSON. */
static void look_at_output(const struct buf *out)
{
	struct frame_reader f;
	size_t used, at = 0;
	frame_init(&f);
	for (enum frame_kind k; (k = frame_next(&f, buf_cstr(out) + at, out->len - at, &used)) != FRAME_NONE; at += used) {
		json_t *j = k == FRAME_MESSAGE ? json_loadb(buf_cstr(&f.body), f.body.len, JSON_ALLOW_NUL, NULL) : NULL;
		if (!j)
			bad("the server sent no message", buf_cstr(&f.body));
		json_decref(j);
	}
	if (at + used != out->len || f.in_body)
		bad("the server sent a part of a message", buf_cstr(out));
	frame_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lsp_options o = { .timeout = 1, .max_memory = 1 << 20, .no_checks = true };
	struct lsp *s = lsp_new(&o);
	size_t at = 0, step = size ? 1 + data[0] % 64 : 1;
	int code;
	if (!s)
		return 0;
	for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
		send_bytes(s, before[i], strlen(before[i]));
	if (size && data[0] == '{') {
		send_lines(s, (const char *)data, size);
		at = size;
	}
	for (; at < size && !lsp_ended(s, &code); at += step) {
		lsp_receive(s, (const char *)data + at, size - at < step ? size - at : step);
		if (at % 3 == 0)
			lsp_idle(s);
	}
	lsp_idle(s);
	look_at_output(lsp_output(s));
	lsp_free(s);
	return 0;
}
