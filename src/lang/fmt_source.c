/* fmt_source: see fmt.h. Nothing is given out that does not parse back to the tree it came from. */
#include <string.h>

#include "lang/fmt.h"
#include "lang/parse.h"

static struct unit *parse(const struct source *src, bool sml, struct intern *names, struct arena *a, struct diags *d,
                          struct tokens *toks)
{
	return sml ? parse_sml(src, names, a, d, toks) : parse_atm(src, names, a, d, toks);
}

enum fmt_status fmt_source(const struct source *src, bool sml, struct arena *a, struct diags *d, struct buf *text)
{
	struct diags d2;
	struct intern names;
	struct tokens toks, toks2;
	diags_init(&d2, a);
	intern_init(&names, a);
	struct unit *u = parse(src, sml, &names, a, d, &toks);
	if (d->errors)
		return FMT_BAD_INPUT;
	fmt_unit(u, &toks, a, text);
	struct source again;
	source_from_text(&again, a, src->name, buf_cstr(text), text->len);
	struct unit *v = parse(&again, sml, &names, a, &d2, &toks2);
	if (text->failed || d2.errors || !ast_equal(u, v))
		return FMT_INTERNAL;
	bool same = text->len == src->len && !memcmp(buf_cstr(text), src->text, text->len);
	return same ? FMT_SAME : FMT_CHANGED;
}
