/* issue_explore: documents of `intact explore` as issues: the schedule as thread flows. */
#include <string.h>

#include "report/doc.h"
#include "report/issue.h"

static struct place at(const json_t *p)
{
	return (struct place){ .file = *doc_text(p, "file") ? doc_text(p, "file") : NULL,
		               .line = (uint32_t)doc_number(p, "line"),
		               .function = *doc_text(p, "function") ? doc_text(p, "function") : NULL };
}

static const char *thread_name(struct issues *s, const json_t *threads, json_int_t n)
{
	const char *name = doc_text(json_array_get(threads, (size_t)n), "name");
	if (!n)
		return "main";
	return arena_printf(&s->arena, "T%lld%s%s", (long long)n, *name ? " " : "", name);
}

static const char *rule_of(const char *kind)
{
	if (!strcmp(kind, "deadlock") || !strcmp(kind, "lost-wakeup") || !strcmp(kind, "endless"))
		return "explore-deadlock";
	if (!strcmp(kind, "atomicity"))
		return "atomicity-violation-confirmed";
	if (!strcmp(kind, "linearizability"))
		return "explore-not-linearizable";
	if (!strcmp(kind, "race"))
		return "explore-race";
	if (!strcmp(kind, "misuse"))
		return "explore-misuse";
	return "explore-failure";
}

static void schedule(struct issues *s, struct issue *i, const json_t *r)
{
	const json_t *threads = json_object_get(r, "threads"), *e;
	size_t k;
	json_array_foreach(json_object_get(r, "steps"), k, e)
	{
		struct flow_step f = { .at = at(json_object_get(e, "at")),
			               .text = doc_text(e, "text"),
			               .essential = json_is_true(json_object_get(e, "preempts")) };
		f.flow = issue_flow(s, i, thread_name(s, threads, doc_number(e, "thread")));
		avec_push(&s->arena, &i->steps, f);
	}
}

/* Of a test case: the first finding bears its name, so that each case is one test. */
static const char *name_in_case(struct issues *s, const json_t *r, const char *name)
{
	const char *of = doc_text(r, "case");
	if (!*of)
		return name;
	bool first = !s->list.len || !doc_is(s->list.data[s->list.len - 1]->result, "case", of);
	return first ? of : arena_printf(&s->arena, "%s: %s", of, name);
}

static void failure(struct issues *s, const json_t *r)
{
	const char *name = name_in_case(s, r, doc_text(r, "kind"));
	struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
	i->name = name;
	i->rule = issue_rule(rule_of(doc_text(r, "kind")));
	i->title = arena_printf(&s->arena, "%s in schedule %lld", doc_text(r, "title"), (long long)doc_number(r, "schedule"));
	i->message = doc_text(r, "sentence");
	i->at = at(json_object_get(r, "at"));
	const json_t *finding = json_object_get(r, "finding");
	if (finding) { /* of `intact run`: it is about the block */
		i->name = doc_text(finding, "block");
		i->message = arena_printf(&s->arena, "%s Confirmed: %s", doc_text(finding, "sentence"), i->message);
		if (*doc_text(finding, "replay"))
			i->next = doc_text(finding, "replay");
	}
	schedule(s, i, r);
	if (json_array_size(json_object_get(r, "stack"))) {
		struct frame_list l = { "where it ends", json_object_get(r, "stack") };
		avec_push(&s->arena, &i->stacks, l);
	}
	issue_fingerprint(i, NULL, NULL, NULL);
}

/* A finding of `intact run` that no schedule has reached. */
static void prediction(struct issues *s, const json_t *r)
{
	struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
	const json_t *finding = json_object_get(r, "finding");
	i->name = doc_text(finding, "block");
	i->title = arena_printf(&s->arena, "%s: %s", i->name, doc_text(r, "title"));
	i->message = doc_text(r, "sentence");
	i->at = at(json_object_get(r, "at"));
	if (doc_is(finding, "status", "not-reached"))
		i->skipped = doc_text(r, "title");
	issue_fingerprint(i, NULL, NULL, NULL);
}

static void race(struct issues *s, const json_t *r)
{
	const char *name = name_in_case(s, r, arena_printf(&s->arena, "race on %s", doc_text(r, "data")));
	struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
	const json_t *a = json_object_get(r, "accesses"), *e;
	size_t k;
	i->name = name;
	i->rule = issue_rule("explore-race");
	i->title = arena_printf(&s->arena, "data race on %s", doc_text(r, "data"));
	i->message = arena_printf(&s->arena, "two accesses to %s, neither of which happens before the other, seen in schedule %lld",
	                          doc_text(r, "data"), (long long)doc_number(r, "schedule"));
	i->at = at(json_object_get(json_array_get(a, 1), "at"));
	schedule(s, i, r);
	json_array_foreach(i->steps.len ? NULL : a, k, e)
	{
		struct flow_step f = { .at = at(json_object_get(e, "at")),
			               .essential = true,
			               .text = json_is_true(json_object_get(e, "write")) ? "writes" : "reads" };
		json_int_t t = doc_number(e, "thread");
		f.flow = issue_flow(s, i, t ? arena_printf(&s->arena, "T%lld", (long long)t) : "main");
		avec_push(&s->arena, &i->steps, f);
	}
	issue_fingerprint(i, doc_text(json_object_get(json_array_get(a, 0), "at"), "file"), NULL, NULL);
}

static void results(struct issues *s, const json_t *all, const char *of)
{
	const json_t *r;
	size_t k;
	json_array_foreach(all, k, r)
	{
		if (of && !doc_is(r, "case", of))
			continue;
		if (doc_is(r, "kind", "race"))
			race(s, r);
		else if (doc_is(r, "kind", "prediction"))
			prediction(s, r);
		else
			failure(s, r);
	}
}

/* In their order; one without findings is an answer, too. */
static void test_cases(struct issues *s, const json_t *doc, const json_t *cases)
{
	const json_t *c;
	size_t k;
	json_array_foreach(cases, k, c)
	{
		uint32_t before = s->list.len;
		results(s, json_object_get(doc, "results"), doc_text(c, "name"));
		if (s->list.len > before) {
			if (*doc_text(c, "replay"))
				s->list.data[before]->next = doc_text(c, "replay");
			continue;
		}
		struct issue *i = issue_new(s, c, doc_text(c, "verdict"));
		i->name = doc_text(c, "name");
		i->title = doc_text(c, "text");
		i->message = i->title;
		issue_fingerprint(i, NULL, NULL, NULL);
	}
}

void issues_of_explore(struct issues *s, const json_t *doc)
{
	const json_t *all = json_object_get(doc, "results"), *cases = json_object_get(doc, "cases");
	s->subject = doc_text(doc, "program");
	if (cases) {
		test_cases(s, doc, cases);
		return;
	}
	results(s, all, NULL);
	if (json_array_size(all))
		return;
	struct issue *i = issue_new(s, doc, doc_text(doc, "verdict"));
	const char *tso = doc_is(doc, "memory", "tso") ? " under TSO" : doc_is(doc, "memory", "c11") ? " under C11 memory" : "";
	i->name = "explore";
	i->title = json_is_true(json_object_get(doc, "exhaustive"))
	                   ? arena_printf(&s->arena, "all %lld traces explored%s: no violation",
	                                  (long long)doc_number(doc, "traces"), tso)
	                   : arena_printf(&s->arena, "no violation in %lld schedules%s (not exhaustive)",
	                                  (long long)doc_number(doc, "schedules"), tso);
	issue_fingerprint(i, NULL, NULL, NULL);
}
