/* issue_run: documents of `intact run` as issues: the two threads' stacks; those of `intact diff`: what is new. */
#include <string.h>

#include "report/doc.h"
#include "report/issue.h"

/* The innermost frame that has a file and is the program's own. */
static struct place top(const json_t *stack)
{
	const json_t *f;
	size_t k;
	for (int own = 1; own >= 0; own--)
		json_array_foreach(stack, k, f) if (*doc_text(f, "file") &&
		                                    !(own && json_is_true(json_object_get(f, "system")))) return (struct place){
			.file = doc_text(f, "file"),
			.line = (uint32_t)doc_number(f, "line"),
			.column = (uint32_t)doc_number(f, "column"),
			.function = *doc_text(f, "function") ? doc_text(f, "function") : NULL
		};
	return (struct place){ 0 };
}

static void step(struct issues *s, struct issue *i, const char *thread, const json_t *access, const char *what, bool essential)
{
	const json_t *stack = json_object_get(access, "stack");
	if (!json_array_size(stack))
		return;
	struct flow_step f = { .at = top(stack), .text = what, .essential = essential };
	f.flow = issue_flow(s, i, thread);
	avec_push(&s->arena, &i->steps, f);
	struct frame_list l = { what, stack };
	avec_push(&s->arena, &i->stacks, l);
}

/* The sentence, and the pattern with its variables. */
static const char *message(struct issues *s, const json_t *r)
{
	const char *sentence = doc_text(r, "sentence"), *pattern = doc_text(r, "pattern"), *of = "";
	const json_t *v;
	size_t k;
	if (!*pattern)
		return sentence;
	json_array_foreach(json_object_get(r, "variables"), k, v)
		of = arena_printf(&s->arena, "%s%s%s", of, k ? " and " : " of ", doc_text(v, "name"));
	return arena_printf(&s->arena, "%s Pattern: %s%s.", sentence, pattern, of);
}

/* Suppressed, or known. */
static void hidden(struct issues *s, struct issue *i, const json_t *r)
{
	const json_t *sup = json_object_get(r, "suppressed"), *known = json_object_get(r, "baseline");
	if (json_is_object(sup))
		i->suppressed = arena_printf(&s->arena, "%s (%s:%lld)", doc_text(sup, "by"), doc_text(sup, "file"),
		                             (long long)doc_number(sup, "line"));
	else if (json_is_object(known))
		i->suppressed = doc_number(known, "line")
		                        ? arena_printf(&s->arena, "in the baseline (%s:%lld)", doc_text(known, "file"),
		                                       (long long)doc_number(known, "line"))
		                        : arena_printf(&s->arena, "learned into the baseline (%s)", doc_text(known, "file"));
}

/* A finding that is not about a block. */
static void issue_of_hazard(struct issues *s, const json_t *r, const char *subject)
{
	struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
	const json_t *accesses = json_object_get(r, "accesses"), *x;
	const char *kind = doc_text(r, "kind");
	size_t k;
	i->name = doc_text(r, "block");
	if (subject)
		i->subject = subject;
	i->rule = issue_rule(!strcmp(kind, "data race") ? "data-race" : !strcmp(kind, "lock order") ? "lock-order" : "lock-misuse");
	i->title = arena_printf(&s->arena, "%s in %s", kind, i->name);
	i->message = doc_text(r, "sentence");
	i->at = top(json_object_get(json_array_get(accesses, 0), "stack"));
	hidden(s, i, r);
	json_array_foreach(accesses, k, x) step(s, i, doc_text(x, "thread"), x, doc_text(x, "what"), true);
	issue_fingerprint(i, kind, NULL, NULL);
}

void issue_of_finding(struct issues *s, const json_t *r, const char *subject)
{
	if (json_object_get(r, "accesses")) {
		issue_of_hazard(s, r, subject);
		return;
	}
	struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
	const json_t *explored = json_object_get(r, "exploration");
	bool confirmed = json_is_true(json_object_get(r, "confirmed")) || doc_is(explored, "status", "confirmed");
	const char *mark = doc_text(r, "mark"), *thread = doc_text(r, "thread"), *other = doc_text(r, "other");
	const json_t *commit = json_object_get(r, "commit"), *violation = json_object_get(r, "violation");
	const json_t *access = json_object_get(r, "other_access"), *acquire = json_object_get(r, "other_acquire");
	i->name = doc_text(r, "block");
	if (subject)
		i->subject = subject;
	i->rule = issue_rule(confirmed ? "atomicity-violation-confirmed" : "atomicity-violation");
	i->title = *mark ? arena_printf(&s->arena, "block '%s' in %s is not atomic", mark, i->name)
	                 : arena_printf(&s->arena, "%s is not atomic", i->name);
	i->message = message(s, r);
	i->at = top(json_object_get(json_object_get(r, "entered"), "stack"));
	i->at.function = i->name;
	i->next = "intact run --gen-suppressions ... prints a suppression for it";
	if (*doc_text(r, "suppression"))
		i->next = NULL;
	if (explored)
		i->message = arena_printf(&s->arena, "%s Explored: %s.", i->message, doc_text(explored, "text"));
	if (*doc_text(explored, "replay"))
		i->next = doc_text(explored, "replay");
	hidden(s, i, r);
	step(s, i, thread, json_object_get(r, "entered"), "enters the block", false);
	step(s, i, thread, commit, arena_printf(&s->arena, "commits at %s", doc_text(commit, "what")), true);
	step(s, i, *other ? other : "another thread", acquire, arena_printf(&s->arena, "%s", doc_text(acquire, "what")), false);
	step(s, i, *other ? other : "another thread", access, arena_printf(&s->arena, "%s", doc_text(access, "what")), true);
	step(s, i, thread, violation, arena_printf(&s->arena, "violates at %s", doc_text(violation, "what")), true);
	issue_fingerprint(i, mark, NULL, NULL);
}

void issues_of_run(struct issues *s, const json_t *doc)
{
	const json_t *r;
	size_t k;
	s->subject = doc_text(doc, "program");
	json_array_foreach(json_object_get(doc, "results"), k, r) issue_of_finding(s, r, NULL);
	if (json_array_size(json_object_get(doc, "results")))
		return;
	const char *verdict = doc_text(doc, "verdict"), *reason = doc_text(doc, "reason");
	s->failed = !strcmp(verdict, "unknown");
	struct issue *i = issue_new(s, doc, verdict);
	i->name = "run";
	if (!strcmp(verdict, "violated"))
		i->rule = issue_rule("atomicity-violation");
	i->title = i->rule ? "a function is not atomic" : s->failed ? "the run is inconclusive" : "nothing was found in this run";
	i->message = reason;
	issue_fingerprint(i, NULL, NULL, NULL);
}

void issues_of_diff(struct issues *s, const json_t *doc)
{
	const char *verdict = doc_text(doc, "verdict");
	const json_t *r;
	size_t k;
	s->subject = *doc_text(doc, "program") ? doc_text(doc, "program") : doc_text(doc, "after");
	json_array_foreach(json_object_get(doc, "results"), k, r)
	{
		bool added = doc_is(r, "change", "new");
		struct issue *i = issue_new(s, r, doc_text(r, "verdict"));
		i->name = doc_text(r, "block");
		i->word = doc_text(r, "change");
		i->rule = added ? issue_rule("atomicity-violation") : NULL;
		i->title = arena_printf(&s->arena, added ? "%s is not atomic (new)" : "%s: %s", i->name, i->word);
		i->message = arena_printf(&s->arena, "%s: %s", i->word, doc_text(r, "text"));
		i->at.file = *doc_text(r, "file") ? doc_text(r, "file") : NULL;
		i->at.line = (uint32_t)doc_number(r, "line");
		i->at.function = i->name;
		issue_fingerprint(i, doc_text(r, "mark"), i->word, NULL);
	}
	bool open = !strcmp(verdict, "unknown");
	if (json_array_size(json_object_get(doc, "results")) && !open)
		return;
	s->failed = open;
	struct issue *i = issue_new(s, doc, verdict);
	i->name = "diff";
	i->title = open ? "the second run is inconclusive" : "no new finding";
	i->message = doc_text(doc, "reason");
	issue_fingerprint(i, NULL, NULL, NULL);
}
