/*
 * merge_run: runs of a test matrix (other programs, other tests, other compilers) as one result of `intact run`: each function once,
 * from the run that says most about it. The runs are wholes by themselves: none can be missing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/merge.h"

struct merged_finding {
	const json_t *best;
	json_int_t count;
	uint32_t met;
};

struct runs {
	struct merging *m;
	AVEC(struct merged_finding) found;
	AVEC(struct merged_finding) rest; /* not_shown */
	const char *programs, *reason;
	uint32_t findings, confirmed, suppressed;
	bool violated;
};

static bool hidden(const json_t *r)
{
	return json_object_get(r, "suppressed") || json_object_get(r, "baseline");
}

static bool same_function(const json_t *a, const json_t *b)
{
	return doc_is(a, "block", doc_text(b, "block")) && doc_is(a, "mark", doc_text(b, "mark")) && hidden(a) == hidden(b);
}

static bool confirmed(const json_t *r)
{
	return json_is_true(json_object_get(r, "confirmed"));
}

/* Does it say more? */
static bool better(const json_t *a, const json_t *b)
{
	if (doc_number(a, "tier") != doc_number(b, "tier"))
		return doc_number(a, "tier") < doc_number(b, "tier");
	if (confirmed(a) != confirmed(b))
		return confirmed(a);
	return doc_number(a, "score") > doc_number(b, "score");
}

static void add_finding(struct runs *w, const json_t *r)
{
	for (uint32_t i = 0; i < w->found.len; i++) {
		struct merged_finding *f = &w->found.data[i];
		if (!same_function(f->best, r))
			continue;
		f->count += doc_number(r, "count");
		if (better(r, f->best))
			f->best = r;
		return;
	}
	struct merged_finding f = { r, doc_number(r, "count"), w->found.len };
	avec_push(w->m->arena, &w->found, f);
}

static void add_rest(struct runs *w, const json_t *r)
{
	for (uint32_t i = 0; i < w->found.len; i++)
		if (doc_is(w->found.data[i].best, "block", doc_text(r, "block")))
			return;
	for (uint32_t i = 0; i < w->rest.len; i++) {
		struct merged_finding *f = &w->rest.data[i];
		if (doc_is(f->best, "block", doc_text(r, "block")) && doc_is(f->best, "pattern", doc_text(r, "pattern"))) {
			f->count += doc_number(r, "count");
			return;
		}
	}
	struct merged_finding f = { r, doc_number(r, "count"), w->rest.len };
	avec_push(w->m->arena, &w->rest, f);
}

static int by_rank(const void *a, const void *b)
{
	const struct merged_finding *x = a, *y = b;
	json_int_t t = doc_number(x->best, "tier"), u = doc_number(y->best, "tier");
	json_int_t s = doc_number(x->best, "score"), v = doc_number(y->best, "score");
	return t != u ? t < u ? -1 : 1 : s != v ? s > v ? -1 : 1 : x->met < y->met ? -1 : x->met > y->met;
}

static void gather(struct runs *w)
{
	struct merging *m = w->m;
	const json_t *r;
	size_t i;
	w->programs = "";
	for (uint32_t k = 0; k < m->n; k++) {
		const json_t *doc = m->in[k].doc;
		const char *program = doc_text(doc, "program"), *reason = doc_text(doc, "reason");
		bool again = false;
		for (uint32_t l = 0; l < k; l++)
			again |= doc_is(m->in[l].doc, "program", program);
		if (!again && strlen(w->programs) < 4000)
			w->programs = arena_printf(m->arena, "%s%s%s", w->programs, *w->programs ? ", " : "", program);
		w->violated |= doc_is(doc, "verdict", "violated");
		if (!w->reason && (*reason || doc_is(doc, "verdict", "unknown")))
			w->reason = arena_printf(m->arena, "%s: %s", m->in[k].name, *reason ? reason : "unknown");
		json_array_foreach(json_object_get(doc, "results"), i, r) add_finding(w, r);
	}
	for (uint32_t k = 0; k < m->n; k++)
		json_array_foreach(json_object_get(m->in[k].doc, "not_shown"), i, r) add_rest(w, r);
	if (w->found.len)
		qsort(w->found.data, w->found.len, sizeof *w->found.data, by_rank);
	for (uint32_t k = 0; k < w->found.len; k++) {
		const json_t *best = w->found.data[k].best;
		w->suppressed += json_object_get(best, "suppressed") != NULL;
		w->findings += !hidden(best);
		w->confirmed += !hidden(best) && confirmed(best);
	}
}

static void put(struct json_out *j, const char *key, const json_t *v, struct buf *out)
{
	assert(j->out == out);
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text)
		buf_str(json_value(j, key), text);
	else
		out->failed = true;
	free(text);
}

/* Objects with their own count. */
static void put_found(struct json_out *j, const char *key, const struct merged_finding *v, uint32_t n, struct buf *out)
{
	assert(!n || v);
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		json_t *copy = json_copy((json_t *)(uintptr_t)v[i].best);
		if (copy && json_object_set_new(copy, "count", json_integer(v[i].count)))
			out->failed = true;
		json_line(j, 0);
		put(j, NULL, copy, out);
		json_decref(copy);
	}
	json_end(j);
}

/* A list of all documents, each element once. */
static void put_union(struct json_out *j, const struct merging *m, const char *key, bool once, struct buf *out)
{
	assert(m->n && key);
	json_t *seen = json_object();
	const json_t *v;
	size_t i;
	json_begin_array(j, key);
	for (uint32_t k = 0; k < m->n; k++)
		json_array_foreach(json_object_get(m->in[k].doc, key), i, v)
		{
			char *text = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS);
			bool again = text && once && json_object_get(seen, text);
			if (text && once)
				json_object_set_new(seen, text, json_true());
			free(text);
			if (again)
				continue;
			json_line(j, 2);
			put(j, NULL, v, out);
		}
	json_end(j);
	json_decref(seen);
}

static void put_summary(struct json_out *j, const struct runs *w)
{
	json_begin_array(j, "summary");
	json_text(j, NULL,
	          arena_printf(w->m->arena, "Intact: %u warning%s (%u confirmed) in %u run%s", w->findings,
	                       w->findings == 1 ? "" : "s", w->confirmed, w->m->n, w->m->n == 1 ? "" : "s"));
	if (w->rest.len)
		json_text(j, NULL,
		          arena_printf(w->m->arena, "Intact: %u %sfunction%s not shown", w->rest.len, w->findings ? "more " : "",
		                       w->rest.len == 1 ? " is" : "s are"));
	json_end(j);
}

bool merge_run(struct merging *m, struct buf *out)
{
	struct runs w = { .m = m };
	struct json_out jw, *j = &jw;
	gather(&w);
	assert(w.findings + w.suppressed <= w.found.len && w.confirmed <= w.findings);
	bool violated = w.findings || w.violated;
	json_out_init(j, out, false);
	doc_begin(j, "run", 0);
	json_text(j, "verdict", violated ? "violated" : w.reason ? "unknown" : "holds");
	json_text(j, "program", w.programs);
	const json_t *id = json_object_get(m->in[0].doc, "build_id");
	bool same = id != NULL;
	for (uint32_t k = 1; k < m->n; k++)
		same &= json_equal((json_t *)(uintptr_t)id, json_object_get(m->in[k].doc, "build_id")) != 0;
	if (same)
		json_text(j, "build_id", json_string_value(id));
	json_text_if(j, "reason", w.reason);
	json_line(j, 0);
	put_union(j, m, "processes", false, out);
	json_line(j, 0);
	json_uint(j, "findings", w.findings);
	json_uint(j, "confirmed", w.confirmed);
	json_uint(j, "suppressed", w.suppressed);
	put_found(j, "results", w.found.data, w.found.len, out);
	json_line(j, 0);
	put_found(j, "not_shown", w.rest.data, w.rest.len, out);
	json_line(j, 0);
	put_summary(j, &w);
	json_line(j, 0);
	put_union(j, m, "sources", true, out);
	doc_end(j);
	return true;
}
