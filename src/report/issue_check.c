/*
 * issue_check: documents of `intact check` and `intact sim` as issues: every
 * step of a counterexample becomes a step of its thread's flow, with the
 * values of the shared variables after it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/invariant.h"
#include "report/doc.h"
#include "report/issue.h"

/* More variables than this: only what the step changed. */
enum { MAX_VARIABLES = 24 };

static const char *keep(struct issues *s, struct buf *b)
{
	const char *t = arena_strndup(&s->arena, buf_cstr(b), b->len);
	buf_free(b);
	return t;
}

/* ---- values after each step --------------------------------------------- */

/* "want[1]" */
static const char *variable(struct issues *s, const json_t *change)
{
	const json_t *index = json_object_get(change, "index");
	const char *name = doc_text(change, "variable");
	return index ? arena_printf(&s->arena, "%s[%lld]", name, (long long)json_integer_value(index)) : name;
}

/* The shared variables, flat: "count": 0, "want[1]": true. */
static json_t *flat(struct issues *s, const json_t *shared)
{
	json_t *out = json_object(), *v, *e;
	const char *name;
	size_t i;
	json_object_foreach((json_t *)(uintptr_t)shared, name, v)
	{
		if (json_is_array(v)) {
			json_array_foreach(v, i, e) json_object_set(out, arena_printf(&s->arena, "%s[%zu]", name, i), e);
		} else {
			json_object_set(out, name, v);
		}
	}
	return out;
}

/* Walks back from the final state to the first, then forward again. */
static void states(struct issues *s, struct issue *i, const json_t *run)
{
	const json_t *steps = json_object_get(run, "steps"), *c;
	json_t *now = flat(s, json_object_get(json_object_get(run, "state"), "shared"));
	size_t n = json_array_size(steps), k;
	if (json_object_size(now) > MAX_VARIABLES || n > 5000) {
		json_decref(now);
		now = json_object();
	}
	bool all = json_object_size(now) > 0;
	for (size_t j = n; all && j-- > 0;) {
		const json_t *changes = json_object_get(json_array_get(steps, j), "changes");
		for (k = json_array_size(changes); k-- > 0;) {
			c = json_array_get(changes, k);
			if (json_object_get(c, "before"))
				json_object_set(now, variable(s, c), json_object_get(c, "before"));
		}
	}
	for (size_t j = 0; j < n && j < i->steps.len; j++) {
		const json_t *changes = json_object_get(json_array_get(steps, j), "changes");
		json_t *state = all ? now : json_object();
		json_array_foreach(changes, k, c) if (json_object_get(c, "after"))
			json_object_set(state, variable(s, c), json_object_get(c, "after"));
		json_t *copy = all ? json_copy(state) : state;
		i->steps.data[j].state = copy;
		json_array_append_new(s->made, copy);
	}
	json_decref(now);
}

/* ---- the steps ------------------------------------------------------------ */

static const char *thread_label(struct issues *s, const json_t *run, json_int_t number)
{
	const json_t *t = json_array_get(json_object_get(run, "threads"), (size_t)(number - 1));
	if (number < 1 || !t)
		return arena_printf(&s->arena, "thread %lld", (long long)number);
	return arena_printf(&s->arena, "thread %lld: %s %lld", (long long)number, doc_text(t, "name"),
	                    (long long)doc_number(t, "index"));
}

static bool marked(const json_t *marks, size_t step)
{
	for (size_t i = 0; i < json_array_size(marks); i++)
		if (json_integer_value(json_array_get(marks, i)) == (json_int_t)step + 1)
			return true;
	return false;
}

static void flow(struct issues *s, struct issue *i, const json_t *run, const json_t *marks, const char *file)
{
	const json_t *steps = json_object_get(run, "steps"), *step;
	size_t k, n = json_array_size(json_object_get(run, "threads"));
	bool *moves = arena_array(&s->arena, bool, n + 1);
	json_array_foreach(steps, k, step) if (doc_number(step, "thread") >= 1 && (size_t)doc_number(step, "thread") <= n)
		moves[doc_number(step, "thread") - 1] = true;
	for (k = 0; k < n; k++) /* the threads in their order, those that move */
		if (moves[k])
			issue_flow(s, i, thread_label(s, run, (json_int_t)k + 1));
	json_array_foreach(steps, k, step)
	{
		struct flow_step f = {
			.at = { .file = file,
			        .line = (uint32_t)doc_number(step, "line"),
			        .column = (uint32_t)doc_number(step, "column") },
			.text = doc_text(step, "text"),
			.depth = json_is_string(json_object_get(step, "block")) ? 1 : 0,
			.essential = marked(marks, k) || json_object_get(step, "fault"),
		};
		f.flow = issue_flow(s, i, thread_label(s, run, doc_number(step, "thread")));
		avec_push(&s->arena, &i->steps, f);
	}
	states(s, i, run);
}

/* ---- one result ------------------------------------------------------------ */

static const struct rule *rule_of(const json_t *result, bool program)
{
	const char *p = doc_text(result, "problem");
	if (!strcmp(p, "atomicity"))
		return issue_rule(program ? "not-serializable" : "not-atomic");
	if (!strcmp(p, "history"))
		return issue_rule("history");
	if (!strcmp(p, "commit"))
		return issue_rule("not-commit-atomic");
	if (!strcmp(p, "causality"))
		return issue_rule("not-causally-atomic");
	const struct rule *r = issue_rule(p);
	assert(issue_rule("not-atomic"));
	return r ? r : issue_rule("not-atomic");
}

static void put_values(struct buf *b, const json_t *shared)
{
	json_t *v;
	const char *name;
	bool first = true;
	json_object_foreach((json_t *)(uintptr_t)shared, name, v)
	{
		char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
		buf_printf(b, "%s%s = %s", first ? "" : ", ", name, json_is_string(v) ? json_string_value(v) : text ? text : "?");
		free(text);
		first = false;
	}
}

static const char *message(struct issues *s, const json_t *result)
{
	const json_t *ce = json_object_get(result, "counterexample"), *w;
	const json_t *serial = json_object_get(result, "serial"), *ends = json_object_get(serial, "ends");
	const json_t *shared = json_object_get(json_object_get(ce, "state"), "shared"), *end = json_object_get(serial, "end");
	const json_t *steps = json_object_get(ce, "steps");
	size_t n = json_array_size(steps), k;
	struct buf b;
	buf_init(&b);
	if (*doc_text(result, "sentence"))
		buf_printf(&b, "%s", doc_text(result, "sentence"));
	const json_t *fault = n ? json_object_get(json_array_get(steps, n - 1), "fault") : NULL;
	if (fault)
		buf_printf(&b, "%s (line %lld).", doc_text(fault, "text"), (long long)doc_number(fault, "line"));
	json_array_foreach(json_object_get(result, "waits"), k, w)
		buf_printf(&b, "%sThread %lld %s.", b.len ? " " : "", (long long)doc_number(w, "thread"), doc_text(w, "text"));
	shared = end && json_object_size(end) ? end : shared; /* with the threads' locals */
	if (serial && json_object_size(shared) && json_object_size(shared) <= MAX_VARIABLES) {
		buf_printf(&b, "%sThe run ends with ", b.len ? " " : "");
		put_values(&b, shared);
		if (json_array_size(ends) == 1 && !doc_number(serial, "more")) {
			buf_str(&b, "; every serial order of the same blocks ends with ");
			put_values(&b, json_array_get(ends, 0));
		} else if (!json_array_size(ends) && !json_is_true(json_object_get(serial, "cut"))) {
			buf_str(&b, "; no serial order of the same blocks is possible");
		}
		buf_char(&b, '.');
	}
	if (!b.len && n)
		buf_printf(&b, "A run of %zu steps shows it.", n);
	if (!b.len && *doc_text(result, "limit"))
		buf_printf(&b, "The limit on %s was reached.", doc_text(result, "limit"));
	if (!b.len && *doc_text(result, "reason"))
		buf_printf(&b, "%s.", doc_text(result, "reason"));
	return keep(s, &b);
}

static void one(struct issues *s, const json_t *result)
{
	assert(json_is_object(result));
	struct issue *i = issue_new(s, result, doc_text(result, "verdict"));
	bool object = json_is_string(json_object_get(result, "object")),
	     property = json_is_string(json_object_get(result, "property"));
	bool program = !json_is_string(json_object_get(result, "block")) && !object && !property;
	const json_t *ce = json_object_get(result, "counterexample");
	bool violated = !strcmp(i->verdict, "violated");
	i->name = program ? "program" : doc_text(result, object ? "object" : property ? "property" : "block");
	i->at = (struct place){ .file = s->subject,
		                .line = (uint32_t)doc_number(result, "line"),
		                .function = program ? NULL : i->name };
	i->message = message(s, result);
	if (!violated) {
		i->title = !strcmp(i->verdict, "holds") && property ? arena_printf(&s->arena, "%s holds", i->name)
		           : !strcmp(i->verdict, "holds")           ? arena_printf(&s->arena, "%s is %s", i->name,
                                                                         program  ? "serializable"
		                                                                   : object ? doc_text(result, "condition")
		                                                                            : "atomic")
		                                                    : arena_printf(&s->arena, "%s is not decided", i->name);
		issue_fingerprint(i, NULL, NULL, NULL);
		return;
	}
	i->rule = rule_of(result, program);
	i->title = !strcmp(i->rule->id, "not-atomic")         ? arena_printf(&s->arena, "%s is not atomic", i->name)
	           : !strcmp(i->rule->id, "not-serializable") ? "the program is not serializable"
	           : object   ? arena_printf(&s->arena, "%s is not %s", i->name, doc_text(result, "condition"))
	           : property ? arena_printf(&s->arena, "%s is violated", i->name)
	           : !strcmp(i->rule->id, "not-causally-atomic")
	                   ? arena_printf(&s->arena, "%s is not causally %s", i->name, program ? "serializable" : "atomic")
	           : !strcmp(i->rule->id, "not-commit-atomic")
	                   ? arena_printf(&s->arena, "%s is not atomic at its commit points", i->name)
	                   : arena_printf(&s->arena, "%s: %s", i->name, i->rule->name);
	flow(s, i, ce, json_object_get(result, "marks"), s->subject);
	for (uint32_t k = 0; !i->at.line && k < i->steps.len; k++) /* the program: where its story is */
		if (i->steps.data[k].essential)
			i->at.line = i->steps.data[k].at.line;
	if (!i->at.line && i->steps.len)
		i->at.line = i->steps.data[i->steps.len - 1].at.line;
	if (*doc_text(ce, "schedule") && strlen(doc_text(ce, "schedule")) < 400)
		i->next = arena_printf(&s->arena, "intact sim %s --schedule %s", s->subject, doc_text(ce, "schedule"));
	issue_fingerprint(i, NULL, NULL, NULL);
}

void issues_of_check(struct issues *s, const json_t *doc)
{
	const json_t *r;
	size_t k;
	json_array_foreach(json_object_get(doc, "results"), k, r) one(s, r);
}

void issues_of_sim(struct issues *s, const json_t *doc)
{
	bool fault = doc_is(doc, "end", "fault");
	struct issue *i = issue_new(s, doc, fault ? "violated" : "holds");
	i->name = "run";
	i->at.file = s->subject;
	flow(s, i, doc, NULL, s->subject);
	const struct flow_step *last = i->steps.len ? &i->steps.data[i->steps.len - 1] : NULL;
	if (fault && last) {
		const json_t *steps = json_object_get(doc, "steps");
		const json_t *f = json_object_get(json_array_get(steps, json_array_size(steps) - 1), "fault");
		i->rule = issue_rule("fault");
		i->title = "the run ends with a fault";
		i->message = doc_text(f, "text");
		i->at.line = (uint32_t)doc_number(f, "line");
		i->at.column = (uint32_t)doc_number(f, "column");
	} else {
		i->title = arena_printf(&s->arena, "a run of %u steps", i->steps.len);
		i->message = arena_printf(&s->arena, "It ended: %s.", doc_text(doc, "end"));
	}
	issue_fingerprint(i, NULL, NULL, NULL);
}
