#include "report/findings_diff.h"

#include <string.h>

#include "base/arena.h"
#include "report/doc.h"

static const json_t *top(const json_t *r)
{
	return json_array_get(json_object_get(json_object_get(r, "entered"), "stack"), 0);
}

/* The function, and the marked block in it. */
static bool same_block(const json_t *a, const json_t *b)
{
	return doc_is(a, "block", doc_text(b, "block")) && !strcmp(doc_text(a, "mark"), doc_text(b, "mark"));
}

/* The calls from the innermost one up to the function of the block, by name. */
static const char *calls(struct arena *a, const json_t *r, const char *side)
{
	const json_t *stack = json_object_get(json_object_get(r, side), "stack"), *f;
	const char *text = "", *block = doc_text(top(r), "function");
	size_t i;
	json_array_foreach(stack, i, f)
	{
		const char *name = doc_text(f, "function");
		if (!strcmp(name, block))
			break;
		text = arena_printf(a, "%s%s%s", name, *text ? " of " : "", text);
	}
	return text;
}

static bool shown(const json_t *r)
{
	return !json_object_get(r, "suppressed");
}

static const json_t *find(const json_t *doc, const char *list, const json_t *r)
{
	const json_t *x;
	size_t i;
	json_array_foreach(json_object_get(doc, list), i, x)
	{
		if (shown(x) && same_block(x, r))
			return x;
	}
	return NULL;
}

static void put(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

/* "new: f (lost update), file.c:3" */
static void put_line(struct buf *out, const char *what, const json_t *r)
{
	const json_t *f = top(r);
	buf_printf(out, "%s: ", what);
	put(out, doc_text(r, "block"));
	if (*doc_text(r, "mark")) {
		buf_str(out, ", block '");
		put(out, doc_text(r, "mark"));
		buf_str(out, "'");
	}
	if (*doc_text(r, "pattern")) {
		buf_str(out, " (");
		put(out, doc_text(r, "pattern"));
		buf_str(out, ")");
	}
	if (*doc_text(f, "file")) {
		buf_str(out, ", ");
		put(out, doc_text(f, "file"));
		buf_printf(out, ":%lld", (long long)doc_number(f, "line"));
	}
}

static void put_was(struct buf *out, const char *name, const char *is, const char *was, bool *any)
{
	if (!strcmp(is, was))
		return;
	buf_printf(out, "%s%s ", *any ? ", " : "; ", name);
	put(out, *is ? is : "none");
	buf_str(out, ", was ");
	put(out, *was ? was : "none");
	*any = true;
}

/* What is different about one that both have. */
static bool differs(const json_t *a, const json_t *b, struct arena *mem, struct buf *out)
{
	bool any = false;
	struct buf how;
	buf_init(&how);
	put_was(&how, "pattern", doc_text(b, "pattern"), doc_text(a, "pattern"), &any);
	put_was(&how, "gap after", calls(mem, b, "commit"), calls(mem, a, "commit"), &any);
	put_was(&how, "gap before", calls(mem, b, "violation"), calls(mem, a, "violation"), &any);
	if (any) {
		put_line(out, "changed", b);
		buf_add(out, how.data, how.len);
		buf_str(out, "\n");
	}
	buf_free(&how);
	return any;
}

struct findings_diff findings_diff(const json_t *before, const json_t *after, bool only_new, struct buf *out)
{
	struct findings_diff d = { 0 };
	struct buf unasked;
	struct arena mem;
	const json_t *r;
	size_t i;
	arena_init(&mem, 0);
	buf_init(&unasked);
	struct buf *rest_out = only_new ? &unasked : out;
	json_array_foreach(json_object_get(after, "results"), i, r)
	{
		const json_t *old = find(before, "results", r), *rest = find(before, "not_shown", r);
		if (!shown(r))
			continue;
		if (old) {
			d.changed += differs(old, r, &mem, rest_out);
			continue;
		}
		put_line(out, "new", r);
		if (rest) {
			buf_str(out, "; was not shown: ");
			put(out, doc_text(rest, "pattern"));
		}
		buf_str(out, "\n");
		d.added++;
	}
	json_array_foreach(json_object_get(before, "results"), i, r)
	{
		const json_t *rest = find(after, "not_shown", r);
		if (!shown(r) || find(after, "results", r))
			continue;
		put_line(rest_out, "gone", r);
		if (rest) {
			buf_str(rest_out, "; not shown now: ");
			put(rest_out, doc_text(rest, "pattern"));
		}
		buf_str(rest_out, "\n");
		d.gone++;
	}
	buf_printf(out, "%u new, %u gone, %u changed\n", d.added, d.gone, d.changed);
	buf_free(&unasked);
	arena_free(&mem);
	return d;
}
