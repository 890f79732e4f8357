#include "report/merge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"

bool merge_wrong(struct merging *m, const struct merge_input *in, const char *fmt, ...)
{
	char text[1000];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	buf_safe(m->err, in->name, strlen(in->name));
	buf_str(m->err, ": error: ");
	buf_safe(m->err, text, strlen(text));
	buf_char(m->err, '\n');
	return false;
}

bool merge_same(struct merging *m, const struct merge_input *a, const json_t *x, const struct merge_input *b, const json_t *y,
                const char *key)
{
	assert(a->name && b->name && key);
	const json_t *p = json_object_get(x, key), *q = json_object_get(y, key);
	if (p == q || (p && q && json_equal(p, q)))
		return true;
	m->hint = "all parts must be of the same input, with the same options and the same version of Intact";
	return merge_wrong(m, b, "'%s' is not what it is in %s: these are not parts of one whole", key, a->name);
}

/* "shards 2, 5 and 7 of 8 are missing" */
static void tell_missing(struct merging *m, const struct merge_input **at, uint32_t shards, uint32_t missing)
{
	enum { LISTED = 20 };
	uint32_t said = 0;
	assert(missing && missing < shards);
	buf_printf(m->notes, "shard%s ", missing == 1 ? "" : "s");
	for (uint32_t k = 0; k < shards && said < LISTED; k++)
		if (!at[k]) {
			buf_printf(m->notes, "%s%u", !said ? "" : said + 1 == missing ? " and " : ", ", k + 1);
			said++;
		}
	if (missing > LISTED)
		buf_printf(m->notes, " and %u others", missing - LISTED);
	buf_printf(m->notes, " of %u %s missing: the result is about the others only\n", shards, missing == 1 ? "is" : "are");
}

bool merge_order(struct merging *m, const struct merge_shard *of, const struct merge_input **at, uint32_t *missing)
{
	assert(m->n);
	uint32_t shards = of[0].shards;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct merge_input *in = &m->in[i];
		if (!of[i].shards || !of[i].shard) {
			m->hint = "parts are made by --shard K/N";
			return merge_wrong(m, in, "this is the result of a whole check, not of a part of one");
		}
		if (of[i].shards != shards)
			return merge_wrong(m, in, "a part of %u, but %s is a part of %u", of[i].shards, m->in[0].name, shards);
		if (of[i].shard > shards)
			return merge_wrong(m, in, "there is no part %u of %u", of[i].shard, shards);
		if (at[of[i].shard - 1])
			return merge_wrong(m, in, "part %u of %u is also in %s", of[i].shard, shards, at[of[i].shard - 1]->name);
		at[of[i].shard - 1] = in;
	}
	*missing = shards - m->n;
	if (*missing)
		tell_missing(m, at, shards, *missing);
	return true;
}

bool merge_documents(struct merging *m, struct buf *out)
{
	static const struct {
		const char *kind;
		bool (*merge)(struct merging *m, struct buf *out);
	} kinds[] = { { "history", merge_history }, { "explore", merge_explore }, { "run", merge_run } };
	const char *kind = doc_text(m->in[0].doc, "kind");
	assert(m->n && m->n <= MERGE_MAX);
	for (uint32_t i = 0; i < m->n; i++) {
		if (!doc_is(m->in[i].doc, "kind", kind)) {
			m->hint = NULL;
			return merge_wrong(m, &m->in[i], "a result of 'intact %s', but %s is one of 'intact %s'",
			                   doc_text(m->in[i].doc, "kind"), m->in[0].name, kind);
		}
		if (!merge_same(m, &m->in[0], m->in[0].doc, &m->in[i], m->in[i].doc, "intact"))
			return false;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i].kind))
			return kinds[i].merge(m, out);
	m->hint = "results of 'intact history --shard', 'intact explore --shard' and 'intact run' can be merged";
	return merge_wrong(m, &m->in[0], "results of 'intact %s' cannot be merged", kind);
}
