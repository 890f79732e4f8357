#include "api/document_text.h"

#include "api/check_read.h"
#include "report/check_text.h"
#include "report/doc.h"

static bool check(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	struct check_read r;
	struct check_text_options to = { .width = o->width, .utf8 = o->utf8, .color = o->color, .max_rows = o->max_rows };
	bool ok = check_read(&r, doc);
	if (ok)
		check_text(&r.c, &to, out);
	check_read_free(&r);
	return ok;
}

void document_text(const json_t *doc, const struct render_text_options *o, struct buf *out)
{
	if (!doc_is(doc, "kind", "check") || !check(doc, o, out))
		render_text(doc, o, out);
}
