/*
 * issue_record: what was recorded as issues: histories (one question per
 * object), traces (one per file and one per violating block), nets.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/doc.h"
#include "report/issue.h"

static const char *keep(struct issues *s, struct buf *b)
{
	const char *t = arena_strndup(&s->arena, buf_cstr(b), b->len);
	buf_free(b);
	return t;
}

/* ---- histories ------------------------------------------------------------ */

static const char *value_text(struct issues *s, const json_t *v)
{
	if (json_is_string(v))
		return json_string_value(v);
	char *t = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	const char *kept = arena_strdup(&s->arena, t ? t : "?");
	free(t);
	return kept;
}

static const char *part_name(struct issues *s, const json_t *part)
{
	const json_t *key = json_object_get(part, "key"), *element = json_object_get(part, "element");
	if (key)
		return arena_printf(&s->arena, "key %s", value_text(s, key));
	return element ? arena_printf(&s->arena, "element %s", value_text(s, element)) : "history";
}

/* Operations in conflict, by invocation. */
static void facts(struct issues *s, struct issue *i, const json_t *part)
{
	const json_t *f;
	size_t k;
	json_int_t culprit = json_object_get(part, "culprit") ? doc_number(part, "culprit") : -1;
	json_array_foreach(json_object_get(part, "facts"), k, f)
	{
		struct flow_step step = {
			.at = { .file = i->at.file, .line = (uint32_t)doc_number(f, "line") },
			.text = doc_text(f, "text"),
			.essential = doc_number(f, "operation") == culprit,
		};
		step.flow = issue_flow(s, i, arena_printf(&s->arena, "process %s", value_text(s, json_object_get(f, "process"))));
		avec_push(&s->arena, &i->steps, step);
	}
	for (uint32_t a = 1; a < i->steps.len; a++) /* few: by line, stable */
		for (uint32_t b = a; b && i->steps.data[b].at.line < i->steps.data[b - 1].at.line; b--) {
			struct flow_step t = i->steps.data[b];
			i->steps.data[b] = i->steps.data[b - 1];
			i->steps.data[b - 1] = t;
		}
}

static void history_part(struct issues *s, const json_t *result, const json_t *part, const char *file)
{
	struct issue *i = issue_new(s, result, doc_text(part, "verdict"));
	const char *condition = doc_text(result, "condition");
	i->name = part_name(s, part);
	i->subject = file;
	i->at = (struct place){ .file = file, .line = (uint32_t)doc_number(part, "line") };
	if (!strcmp(i->verdict, "violated")) {
		i->rule = issue_rule("history");
		i->title = arena_printf(&s->arena, "%s is not %s", i->name, condition);
		i->message = doc_text(part, "sentence");
		facts(s, i, part);
		issue_fingerprint(i, condition, doc_text(part, "proof"), NULL);
		return;
	}
	bool holds = !strcmp(i->verdict, "holds");
	i->title = arena_printf(&s->arena, "%s %s %s", i->name, holds ? "is" : "is not decided:", condition);
	if (!holds)
		i->message = *doc_text(result, "limit")
		                     ? arena_printf(&s->arena, "The limit on %s was reached.", doc_text(result, "limit"))
		                     : "It was not decided.";
	issue_fingerprint(i, condition, NULL, NULL);
}

/* Many parts that hold are reported once. */
enum { MAX_HOLDING = 200 };

void issues_of_history(struct issues *s, const json_t *doc)
{
	const json_t *r, *p;
	size_t k, j;
	json_array_foreach(json_object_get(doc, "results"), k, r)
	{
		const json_t *parts = json_object_get(r, "parts");
		const char *file = doc_text(r, "file");
		size_t rest = 0, seen = 0;
		if (!k)
			s->subject = file;
		if (!json_array_size(parts)) {
			struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
			i->name = "history";
			i->subject = i->at.file = file;
			i->rule = !strcmp(i->verdict, "violated") ? issue_rule("history") : NULL;
			i->title = arena_printf(&s->arena, "the history is %s", i->verdict);
			i->message = *doc_text(r, "sentence") ? doc_text(r, "sentence")
			             : *doc_text(r, "limit")
			                     ? arena_printf(&s->arena, "The limit on %s was reached.", doc_text(r, "limit"))
			                     : "";
			issue_fingerprint(i, NULL, NULL, NULL);
		}
		json_array_foreach(parts, j, p)
		{
			if (doc_is(p, "verdict", "holds") && seen++ >= MAX_HOLDING)
				rest++;
			else
				history_part(s, r, p, file);
		}
		if (rest) {
			struct issue *i = issue_new(s, r, "holds");
			i->name = arena_printf(&s->arena, "%zu more", rest);
			i->subject = i->at.file = file;
			i->title = arena_printf(&s->arena, "%zu more parts hold", rest);
			issue_fingerprint(i, NULL, NULL, NULL);
		}
	}
}

/* ---- traces --------------------------------------------------------------- */

static const char *block_name(struct issues *s, const json_t *block)
{
	const char *label = doc_text(block, "label"), *at = doc_text(block, "place");
	if (*label)
		return label;
	return *at ? arena_printf(&s->arena, "block at %s", at) : "block";
}

/* Where an event is: its place when that names a file and a line, else its line of the trace. */
static struct place event_place(struct issues *s, const json_t *e, const char *file)
{
	struct place p = issue_place(s, doc_text(e, "place"), file);
	if (!p.line && doc_number(e, "line") > 0 && doc_number(e, "line") <= UINT32_MAX)
		p.line = (uint32_t)doc_number(e, "line");
	return p;
}

static void add_event(struct issues *s, struct issue *i, const json_t *end, const char *file, json_int_t closing)
{
	for (uint32_t k = 0; k < i->steps.len; k++)
		if (i->steps.data[k].state == end)
			return;
	const char *at = doc_text(end, "place");
	struct flow_step f = { .at = event_place(s, end, file),
		               .state = end,
		               .text = *at ? arena_printf(&s->arena, "%s at %s", doc_text(end, "op"), at) : doc_text(end, "op"),
		               .depth = json_is_object(json_object_get(end, "block")) ? 1 : 0,
		               .essential = doc_number(end, "event") == closing };
	f.flow = issue_flow(s, i, arena_printf(&s->arena, "thread %s", doc_text(end, "thread")));
	avec_push(&s->arena, &i->steps, f);
}

/* By number; one event occurs once. `state` held the event meanwhile. */
static void sort_events(struct issue *i)
{
	uint32_t n = 0;
	for (uint32_t a = 1; a < i->steps.len; a++)
		for (uint32_t b = a;
		     b && doc_number(i->steps.data[b].state, "event") < doc_number(i->steps.data[b - 1].state, "event"); b--) {
			struct flow_step t = i->steps.data[b];
			i->steps.data[b] = i->steps.data[b - 1];
			i->steps.data[b - 1] = t;
		}
	for (uint32_t a = 0; a < i->steps.len; a++)
		if (!n || doc_number(i->steps.data[n - 1].state, "event") != doc_number(i->steps.data[a].state, "event"))
			i->steps.data[n++] = i->steps.data[a];
	i->steps.len = n;
	for (uint32_t a = 0; a < n; a++)
		i->steps.data[a].state = NULL;
}

static void cycle_message(struct issues *s, struct issue *i, const json_t *f)
{
	const json_t *links = json_object_get(f, "cycle"), *closing = json_object_get(f, "closing");
	const json_t *first = json_array_get(links, 0), *from = json_object_get(first, "from");
	struct buf b;
	buf_init(&b);
	if (!json_array_size(links)) {
		buf_str(&b, "Its conflicts close a cycle that was too long to record.");
	} else if (json_is_true(json_object_get(f, "alone"))) {
		buf_printf(&b,
		           "Between %s and %s of this block, thread %s intervened with %s: no serial order of the "
		           "block gives the same result.",
		           doc_text(from, "op"), doc_text(closing, "op"), doc_text(json_object_get(first, "to"), "thread"),
		           doc_text(json_object_get(first, "to"), "op"));
	} else {
		buf_str(&b, "Each of the blocks of this cycle must come before the next, and the last before the first: "
		            "they cannot all be atomic.");
	}
	if (doc_number(f, "count") > 1)
		buf_printf(&b, " Seen %lld times at these places.", (long long)doc_number(f, "count"));
	i->message = keep(s, &b);
}

static void trace_cycle(struct issues *s, const json_t *r, const json_t *f, const char *file)
{
	struct issue *i = issue_new(s, r, "violated");
	const json_t *closing = json_object_get(f, "closing"), *block = json_object_get(closing, "block"), *l;
	size_t k;
	i->rule = issue_rule("trace-cycle");
	i->subject = file;
	i->name = block_name(s, block);
	i->at = event_place(s, block, file);
	i->title = arena_printf(&s->arena, "thread %s: %s is not atomic", doc_text(closing, "thread"), i->name);
	cycle_message(s, i, f);
	json_array_foreach(json_object_get(f, "cycle"), k, l)
	{
		if (k >= 2000)
			break;
		add_event(s, i, json_object_get(l, "from"), file, doc_number(closing, "event"));
		add_event(s, i, json_object_get(l, "to"), file, doc_number(closing, "event"));
	}
	const json_t *first = json_array_get(json_object_get(f, "cycle"), 0);
	sort_events(i);
	issue_fingerprint(i, doc_text(closing, "op"), doc_text(json_object_get(first, "from"), "op"),
	                  doc_text(json_object_get(first, "to"), "op"));
}

static void trace_predicted(struct issues *s, const json_t *r, const json_t *f, const char *file)
{
	bool proven = doc_is(f, "kind", "proven");
	struct issue *i = issue_new(s, r, proven ? "violated" : "unknown");
	static const char *const order[] = { "begin", "first", "commits", "between", "until", "second", "violated" };
	const json_t *begin = json_object_get(f, "begin");
	i->rule = proven ? issue_rule("trace-predicted") : NULL;
	i->subject = file;
	i->name = arena_printf(&s->arena, "block at %s", *doc_text(begin, "place") ? doc_text(begin, "place") : "?");
	i->at = event_place(s, begin, file);
	i->title = arena_printf(&s->arena, "thread %s: %s %s", doc_text(begin, "thread"), i->name,
	                        proven ? "can be violated by another schedule" : "may not be atomic");
	for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
		const json_t *e = json_object_get(f, order[k]);
		if (json_is_object(e))
			add_event(s, i, e, file, -1);
	}
	for (uint32_t k = 0; k < i->steps.len; k++) {
		i->steps.data[k].essential = i->steps.data[k].state == json_object_get(f, "between");
		i->steps.data[k].state = NULL;
	}
	i->message = proven ? arena_printf(&s->arena, "%s of thread %s can come between %s and %s of this block.",
	                                   doc_text(json_object_get(f, "between"), "op"),
	                                   doc_text(json_object_get(f, "between"), "thread"),
	                                   doc_text(json_object_get(f, "first"), "op"),
	                                   doc_text(json_object_get(f, "second"), "op"))
	                    : arena_printf(&s->arena,
	                                   "It commits at %s and continues to %s; no schedule that shows it "
	                                   "was found.",
	                                   doc_text(json_object_get(f, "commits"), "op"),
	                                   doc_text(json_object_get(f, "violated"), "op"));
	issue_fingerprint(i, i->message, NULL, NULL);
}

void issues_of_trace(struct issues *s, const json_t *doc)
{
	const json_t *r, *f;
	size_t k, j;
	json_array_foreach(json_object_get(doc, "results"), k, r)
	{
		const char *file = doc_text(r, "file");
		const json_t *predicted = json_object_get(json_object_get(r, "predicted"), "findings");
		if (!k)
			s->subject = file;
		json_array_foreach(json_object_get(r, "findings"), j, f) trace_cycle(s, r, f, file);
		json_array_foreach(predicted, j, f) trace_predicted(s, r, f, file);
		const json_t *run = json_object_get(json_object_get(r, "run"), "results");
		json_array_foreach(run, j, f) issue_of_finding(s, f, file);
		if (json_array_size(json_object_get(r, "findings")) || doc_number(json_object_get(r, "run"), "findings"))
			continue;
		bool bad = doc_is(r, "verdict", "error");
		struct issue *i = issue_new(s, r,
		                            bad ? "unknown"
		                            : doc_is(r, "serializable", "") && json_is_true(json_object_get(r, "serializable"))
		                                    ? "holds"
		                                    : doc_text(r, "verdict"));
		i->name = "trace";
		i->subject = i->at.file = file;
		i->title = bad                            ? "the trace cannot be checked"
		           : !strcmp(i->verdict, "holds") ? "the trace is serializable"
		                                          : "the trace is not decided";
		if (!strcmp(i->verdict, "holds") && json_is_object(json_object_get(r, "run")))
			i->title = doc_number(r, "blocks") ? "the marked blocks are serializable, and nothing was found"
			                                   : "nothing was found";
		i->message = *doc_text(r, "limit") ? arena_printf(&s->arena, "Out of %s.", doc_text(r, "limit")) : "";
		issue_fingerprint(i, NULL, NULL, NULL);
	}
}

/* ---- nets ----------------------------------------------------------------- */

static const char *marking_text(struct issues *s, const json_t *marking)
{
	struct buf b;
	size_t n = json_array_size(marking);
	buf_init(&b);
	for (size_t k = 0; k < n && k < 40; k++)
		buf_printf(&b, "%s%s", k ? ", " : "", json_string_value(json_array_get(marking, k)));
	if (n > 40)
		buf_printf(&b, ", ... (%zu in all)", n);
	return keep(s, &b);
}

static void net_question(struct issues *s, const json_t *r, const json_t *q, const char *name, const char *rule, bool asked)
{
	bool yes = doc_is(q, "answer", "yes"), open = doc_is(q, "answer", "unknown");
	struct issue *i = issue_new(s, r, open ? "unknown" : yes && asked ? "violated" : "holds");
	i->name = name;
	i->at.file = i->subject;
	i->rule = yes && asked ? issue_rule(rule) : NULL;
	i->title = open ? arena_printf(&s->arena, "%s: not decided", name)
	                : arena_printf(&s->arena, "%s: %s", name, yes ? "yes" : "no");
	i->message = yes    ? arena_printf(&s->arena, "At the marking { %s }.", marking_text(s, json_object_get(q, "marking")))
	             : open ? arena_printf(&s->arena, "The limit on %s was reached.", doc_text(q, "limit"))
	                    : "";
	issue_fingerprint(i, NULL, NULL, NULL);
}

void issues_of_net(struct issues *s, const json_t *doc)
{
	const json_t *r;
	size_t k;
	json_array_foreach(json_object_get(doc, "results"), k, r)
	{
		const json_t *dead = json_object_get(r, "deadlock"), *cover = json_object_get(r, "cover");
		s->subject = doc_text(r, "file");
		if (cover)
			net_question(s, r, cover,
			             arena_printf(&s->arena, "cover %s", marking_text(s, json_object_get(cover, "places"))),
			             "net-coverable", true);
		if (dead)
			net_question(s, r, dead, "deadlock", "net-deadlock", json_is_true(json_object_get(dead, "asked")));
		if (*doc_text(r, "limit")) {
			struct issue *i = issue_new(s, r, "unknown");
			i->name = "prefix";
			i->at.file = i->subject;
			i->title = "the unfolding was not finished";
			i->message = arena_printf(&s->arena, "The limit on %s was reached.", doc_text(r, "limit"));
			issue_fingerprint(i, NULL, NULL, NULL);
		}
	}
}
