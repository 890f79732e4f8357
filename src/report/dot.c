/*
 * dot: a net, its prefix, the cycles of a trace, or those of transactions, for graphviz.
 */
#include <string.h>

#include "report/doc.h"
#include "report/render.h"

/* A quoted string of dot: quotes and backslashes escaped, the rest safe. */
static void quoted(struct buf *out, const char *s)
{
	struct buf safe;
	buf_init(&safe);
	buf_safe(&safe, s, strnlen(s, 200));
	buf_char(out, '"');
	for (const char *p = buf_cstr(&safe); *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_char(out, '\\');
		buf_char(out, *p);
	}
	buf_char(out, '"');
	buf_free(&safe);
}

static void node(struct buf *out, char kind, size_t id, const char *label, const char *style)
{
	buf_printf(out, "  %c%zu [%s, label=", kind, id, style);
	quoted(out, label);
	buf_str(out, "];\n");
}

static void arcs(struct buf *out, const json_t *list, char from, size_t id, char to, bool back)
{
	const json_t *x;
	size_t k;
	json_array_foreach(list, k, x)
	{
		long long other = (long long)json_integer_value(x);
		if (back)
			buf_printf(out, "  %c%lld -> %c%zu;\n", to, other, from, id);
		else
			buf_printf(out, "  %c%zu -> %c%lld;\n", from, id, to, other);
	}
}

static const char *name_at(const json_t *list, json_int_t i)
{
	const json_t *x = i < 0 ? NULL : json_array_get(list, (size_t)i);
	const char *s = json_is_object(x) ? doc_text(x, "name") : json_string_value(x);
	return s ? s : "?";
}

static void prefix(const json_t *net, const json_t *p, struct buf *out)
{
	const json_t *x;
	size_t k;
	json_array_foreach(json_object_get(p, "conditions"), k, x)
		node(out, 'c', k, name_at(json_object_get(net, "places"), doc_number(x, "place")), "shape=circle");
	json_array_foreach(json_object_get(p, "events"), k, x)
	{
		node(out, 'e', k, name_at(json_object_get(net, "transitions"), doc_number(x, "transition")),
		     json_is_true(json_object_get(x, "cutoff")) ? "shape=box, style=dashed" : "shape=box");
		arcs(out, json_object_get(x, "pre"), 'e', k, 'c', true);
		arcs(out, json_object_get(x, "post"), 'e', k, 'c', false);
	}
}

static void whole(const json_t *net, struct buf *out)
{
	const json_t *x, *init = json_object_get(net, "initial");
	size_t k, j;
	json_array_foreach(json_object_get(net, "places"), k, x)
	{
		bool marked = false;
		for (j = 0; j < json_array_size(init); j++)
			marked |= json_integer_value(json_array_get(init, j)) == (json_int_t)k;
		node(out, 'p', k, json_string_value(x), marked ? "shape=circle, style=filled" : "shape=circle");
	}
	json_array_foreach(json_object_get(net, "transitions"), k, x)
	{
		node(out, 't', k, doc_text(x, "name"), "shape=box");
		arcs(out, json_object_get(x, "pre"), 't', k, 'p', true);
		arcs(out, json_object_get(x, "post"), 't', k, 'p', false);
	}
}

static void cycle(const json_t *f, struct buf *out)
{
	const json_t *l;
	size_t k;
	json_array_foreach(json_object_get(f, "cycle"), k, l)
	{
		const json_t *ends[2] = { json_object_get(l, "from"), json_object_get(l, "to") };
		for (int i = 0; i < 2; i++) {
			struct buf b;
			buf_init(&b);
			buf_printf(&b, "%s: %s", doc_text(ends[i], "thread"), doc_text(ends[i], "op"));
			node(out, 'n', (size_t)doc_number(ends[i], "event"), buf_cstr(&b), "shape=box");
			buf_free(&b);
		}
		buf_printf(out, "  n%lld -> n%lld;\n", (long long)doc_number(ends[0], "event"),
		           (long long)doc_number(ends[1], "event"));
	}
}

/* The cycle of a violated level: transactions with what they did, steps with their kinds and keys; rw dashed. */
static void level_cycle(const json_t *l, size_t at, struct buf *out)
{
	const json_t *x;
	size_t k;
	struct buf b;
	buf_init(&b);
	buf_printf(out, "  subgraph cluster%zu {\n  label=", at);
	buf_printf(&b, "%s: %s", doc_text(l, "level"), doc_text(l, "anomaly"));
	quoted(out, buf_cstr(&b));
	buf_str(out, ";\n");
	json_array_foreach(json_object_get(l, "transactions"), k, x)
	{
		const json_t *p = json_object_get(x, "process");
		buf_clear(&b);
		buf_printf(&b, "T%lld", (long long)doc_number(x, "transaction"));
		if (json_is_integer(p))
			buf_printf(&b, " (process %lld)", (long long)json_integer_value(p));
		buf_printf(&b, " %s", doc_text(x, "operations"));
		buf_printf(out, "  l%zu_t%lld [shape=box, label=", at, (long long)doc_number(x, "transaction"));
		quoted(out, buf_cstr(&b));
		buf_str(out, "];\n");
	}
	json_array_foreach(json_object_get(l, "cycle"), k, x)
	{
		const json_t *key = json_object_get(x, "key");
		buf_clear(&b);
		buf_str(&b, doc_text(x, "kind"));
		if (json_is_integer(key))
			buf_printf(&b, " %lld", (long long)json_integer_value(key));
		else if (json_is_string(key))
			buf_printf(&b, " %s", json_string_value(key));
		buf_printf(out, "  l%zu_t%lld -> l%zu_t%lld [%slabel=", at, (long long)doc_number(x, "from"), at,
		           (long long)doc_number(x, "to"), doc_is(x, "kind", "rw") ? "style=dashed, " : "");
		quoted(out, buf_cstr(&b));
		buf_str(out, "];\n");
	}
	buf_str(out, "  }\n");
	buf_free(&b);
}

void render_dot(const json_t *doc, struct buf *out)
{
	const json_t *r = json_array_get(json_object_get(doc, "results"), 0), *f;
	const json_t *net = json_object_get(r, "net"), *p = json_object_get(r, "prefix");
	size_t k;
	buf_str(out, "digraph intact {\n  rankdir=TB;\n");
	if (p)
		prefix(net, p, out);
	else if (net)
		whole(net, out);
	else if (doc_is(doc, "kind", "trace"))
		json_array_foreach(json_object_get(r, "findings"), k, f) cycle(f, out);
	else if (json_object_get(r, "levels"))
		json_array_foreach(json_object_get(r, "levels"), k, f)
		{
			if (json_object_get(f, "cycle"))
				level_cycle(f, k, out);
		}
	else
		buf_str(out, "  // this result has no graph to draw\n");
	buf_str(out, "}\n");
}
