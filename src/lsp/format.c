/* format: `intact fmt` as an edit of the file. */
#include "base/invariant.h"
#include "lang/fmt.h"
#include "lsp/server.h"

static enum fmt_status canonical(const struct document *d, struct arena *a, struct buf *text)
{
	jmp_buf oom;
	struct source src;
	struct diags diags;
	if (setjmp(oom))
		return FMT_INTERNAL;
	a->oom = &oom;
	diags_init(&diags, a);
	source_from_text(&src, a, d->name, buf_cstr(&d->text.bytes), d->text.bytes.len);
	return fmt_source(&src, d->language == DOCUMENT_SML, a, &diags, text);
}

void on_formatting(struct lsp *s, const struct lsp_call *c)
{
	struct arena a;
	struct buf text;
	arena_init(&a, 0);
	buf_init(&text);
	enum fmt_status st = canonical(c->doc, &a, &text);
	if (st == FMT_BAD_INPUT) {
		reply_error(s, c->id, ERROR_FAILED, "a file with syntax errors is not formatted");
	} else if (st == FMT_INTERNAL || text.failed) {
		reply_error(s, c->id, ERROR_INTERNAL, "the file cannot be formatted: internal error or out of memory");
	} else {
		assert(st == FMT_SAME || st == FMT_CHANGED);
		struct json_out *j = reply_begin(s, c->id);
		json_begin_array(j, "result");
		if (st == FMT_CHANGED) {
			json_begin_object(j, NULL);
			put_range(j, "range", &c->doc->text, (struct span){ 0, (uint32_t)c->doc->text.bytes.len });
			json_text_buf(j, "newText", &text);
			json_end(j);
		}
		json_end(j);
		reply_end(s);
	}
	buf_free(&text);
	arena_free(&a);
}
