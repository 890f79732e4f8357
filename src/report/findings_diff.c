#include "report/findings_diff.h"

#include <string.h>

#include "base/arena.h"
#include "base/invariant.h"
#include "base/json_out.h"
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

/* "f (lost update), file.c:3" */
static const char *title(struct arena *a, const json_t *r)
{
	const json_t *f = top(r);
	const char *mark = doc_text(r, "mark"), *pattern = doc_text(r, "pattern"), *file = doc_text(f, "file");
	const char *text = doc_text(r, "block");
	if (*mark)
		text = arena_printf(a, "%s, block '%s'", text, mark);
	if (*pattern)
		text = arena_printf(a, "%s (%s)", text, pattern);
	if (*file)
		text = arena_printf(a, "%s, %s:%lld", text, file, (long long)doc_number(f, "line"));
	return text;
}

struct difference {
	const char *what, *is, *was;
};

/* What is different about one that both have; how many. */
static unsigned differences(struct arena *a, const json_t *old, const json_t *r, struct difference d[3])
{
	const struct difference all[3] = {
		{ "pattern", doc_text(r, "pattern"), doc_text(old, "pattern") },
		{ "gap after", calls(a, r, "commit"), calls(a, old, "commit") },
		{ "gap before", calls(a, r, "violation"), calls(a, old, "violation") },
	};
	unsigned n = 0;
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(all[i].is, all[i].was) != 0)
			d[n++] = all[i];
	return n;
}

struct writing {
	struct arena *arena;
	struct json_out j;
	struct buf results;
	bool only_new;
	uint32_t added, gone, changed;
};

/* One result. `rest`: the same function among what the other document does not show, or NULL. */
static void put(struct writing *w, const char *change, const json_t *r, const json_t *rest, const struct difference *d, unsigned n)
{
	struct json_out *j = &w->j;
	const json_t *f = top(r);
	bool added = !strcmp(change, "new");
	const char *text = title(w->arena, r);
	if (w->only_new && !added)
		return;
	json_line(j, 2);
	json_begin_object(j, NULL);
	json_text(j, "change", change);
	json_text(j, "verdict", added ? "violated" : "holds");
	json_text(j, "block", doc_text(r, "block"));
	json_text_if(j, "mark", json_string_value(json_object_get(r, "mark")));
	json_text_if(j, "pattern", json_string_value(json_object_get(r, "pattern")));
	json_text_if(j, "file", json_string_value(json_object_get(f, "file")));
	if (doc_number(f, "line") > 0)
		json_int(j, "line", doc_number(f, "line"));
	if (n)
		json_begin_array(j, "differences");
	for (unsigned i = 0; i < n; i++) {
		const char *is = *d[i].is ? d[i].is : "none", *was = *d[i].was ? d[i].was : "none";
		json_begin_object(j, NULL);
		json_text(j, "what", d[i].what);
		json_text(j, "is", is);
		json_text(j, "was", was);
		json_end(j);
		text = arena_printf(w->arena, "%s%s %s %s, was %s", text, i ? "," : ";", d[i].what, is, was);
	}
	if (n)
		json_end(j);
	if (rest) {
		json_text(j, "not_shown", doc_text(rest, "pattern"));
		text = arena_printf(w->arena, "%s; %s: %s", text, added ? "was not shown" : "not shown now",
		                    doc_text(rest, "pattern"));
	}
	json_text(j, "text", text);
	json_end(j);
}

static void compare(struct writing *w, const json_t *before, const json_t *after)
{
	const json_t *r;
	size_t i;
	json_array_foreach(json_object_get(after, "results"), i, r)
	{
		const json_t *old = find(before, "results", r);
		struct difference d[3];
		unsigned n = shown(r) && old ? differences(w->arena, old, r, d) : 0;
		if (n)
			put(w, "changed", r, NULL, d, n);
		else if (shown(r) && !old)
			put(w, "new", r, find(before, "not_shown", r), NULL, 0);
		w->changed += n > 0;
		w->added += shown(r) && !old;
	}
	json_array_foreach(json_object_get(before, "results"), i, r)
	{
		if (!shown(r) || find(after, "results", r))
			continue;
		put(w, "gone", r, find(after, "not_shown", r), NULL, 0);
		w->gone++;
	}
}

void findings_diff(const struct findings_diff *d, struct buf *out)
{
	assert(d->before && d->after && d->before_file && d->after_file);
	struct arena a;
	struct json_out j;
	struct writing w = { .arena = &a, .only_new = d->only_new };
	const char *reason = json_string_value(json_object_get(d->after, "reason"));
	arena_init(&a, 0);
	buf_init(&w.results);
	json_out_init(&w.j, &w.results, false);
	compare(&w, d->before, d->after);
	json_out_init(&j, out, false);
	doc_begin(&j, "diff", 0);
	json_text(&j, "verdict", w.added ? "violated" : reason ? "unknown" : "holds");
	json_text_if(&j, "reason", w.added ? NULL : reason);
	json_text(&j, "before", d->before_file);
	json_text(&j, "after", d->after_file);
	json_text(&j, "program", doc_text(d->after, "program"));
	json_uint(&j, "new", w.added);
	json_uint(&j, "gone", w.gone);
	json_uint(&j, "changed", w.changed);
	doc_results(&j, &w.results);
	doc_end(&j);
	out->failed |= w.results.failed;
	buf_free(&w.results);
	arena_free(&a);
}

void findings_diff_text(const json_t *doc, struct buf *out)
{
	const json_t *r;
	size_t i;
	assert(doc_is(doc, "kind", "diff"));
	json_array_foreach(json_object_get(doc, "results"), i, r)
	{
		buf_printf(out, "%s: ", doc_text(r, "change"));
		buf_safe(out, doc_text(r, "text"), strlen(doc_text(r, "text")));
		buf_str(out, "\n");
	}
	buf_printf(out, "%lld new, %lld gone, %lld changed\n", (long long)doc_number(doc, "new"),
	           (long long)doc_number(doc, "gone"), (long long)doc_number(doc, "changed"));
	if (*doc_text(doc, "reason")) {
		buf_str(out, "unknown: ");
		buf_safe(out, doc_text(doc, "after"), strlen(doc_text(doc, "after")));
		buf_str(out, ": ");
		buf_safe(out, doc_text(doc, "reason"), strlen(doc_text(doc, "reason")));
		buf_str(out, "\n");
	}
}
