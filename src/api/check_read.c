#include "api/check_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/check.h"
#include "check/engine.h"
#include "report/check_json.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "verdict/replay.h"
#include "verify/document_model.h"
#include "verify/schedule.h"

/* ---- words back into data -------------------------------------------------- */

/* Where the word stands among others; -1: nowhere. */
static int find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static const char *text_or_null(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* The member as a terminal may show it, malloc'ed; NULL: there is none. */
static char *copy(const json_t *o, const char *key)
{
	const char *s = text_or_null(o, key);
	struct buf b;
	buf_init(&b);
	if (s)
		buf_safe(&b, s, strlen(s));
	return s && !b.len ? strdup("") : b.data;
}

/* The same, as long as the model lives. */
static const char *keep(struct arena *a, const json_t *o, const char *key)
{
	char *s = copy(o, key);
	const char *kept = s ? arena_strdup(a, s) : NULL;
	free(s);
	return kept;
}

static bool engine_of(const json_t *o, const struct engine **engine)
{
	const struct check_engine *e = engine_find(doc_text(o, "engine"));
	*engine = e ? &e->about : NULL;
	return e != NULL;
}

static enum answer answer_of(const json_t *o)
{
	return doc_is(o, "verdict", "holds") ? ANSWER_HOLDS : doc_is(o, "verdict", "violated") ? ANSWER_VIOLATED : ANSWER_UNKNOWN;
}

/* What the result is about. */
static bool read_question(const struct ir *p, const json_t *result, struct verdict *v)
{
	assert(!v->object1);
	const char *block = text_or_null(result, "block"), *object = text_or_null(result, "object");
	v->block = VERDICT_PROGRAM;
	if (object) {
		while (v->object1 < p->nobjects && strcmp(p->objects[v->object1].name, object))
			v->object1++;
		v->condition = text_or_null(result, "condition");
		return v->object1++ < p->nobjects && v->condition;
	}
	const char *property = text_or_null(result, "property");
	if (property) {
		json_int_t line = json_integer_value(json_object_get(result, "line"));
		for (; v->property1 < p->nproperties; v->property1++) {
			const struct ir_property *q = &p->properties[v->property1];
			if (!strcmp(q->text, property) && source_pos(p->src, q->span.start).line == line)
				break;
		}
		return v->property1++ < p->nproperties;
	}
	for (v->block = 0; block && v->block < p->nblocks; v->block++)
		if (answers_name_block(p, v->block, block))
			return true;
	v->block = VERDICT_PROGRAM;
	return !block;
}

static bool read_attempts(struct arena *arena, const json_t *result, struct verdict *v)
{
	const json_t *list = json_object_get(result, "attempts"), *a;
	size_t i;
	if (json_array_size(list) > VERDICT_ATTEMPTS)
		return false;
	json_array_foreach(list, i, a)
	{
		struct attempt *t = &v->attempts[v->nattempts++];
		*t = (struct attempt){ .answer = answer_of(a),
			               .limit = keep(arena, a, "limit"),
			               .why = copy(a, "why"),
			               .states = (uint64_t)doc_number(a, "states") };
		if (!engine_of(a, &t->engine))
			return false;
	}
	assert(v->nattempts <= VERDICT_ATTEMPTS);
	return true;
}

static bool read_verdict(struct lang *l, const json_t *result, struct verdict *v)
{
	assert(l->ir);
	static const char *const scopes[] = { "declared", "any of", "any", NULL };
	int scope = find(scopes, doc_text(result, "scope"));
	v->answer = answer_of(result);
	v->problem = problem_from(doc_text(result, "problem"));
	v->limit = keep(&l->arena, result, "limit");
	v->reason = keep(&l->arena, result, "reason");
	v->commits = copy(result, "commits");
	v->notes = copy(result, "notes");
	v->states = (uint64_t)doc_number(result, "states");
	v->transitions = (uint64_t)doc_number(result, "transitions");
	v->as_part = json_is_true(json_object_get(result, "as_part"));
	v->scope = scope < 0 ? SCOPE_DECLARED : (enum scope)scope;
	v->seconds = -1; /* documents have no times */
	return read_question(l->ir, result, v) && engine_of(result, &v->engine) && read_attempts(&l->arena, result, v);
}

/* ---- counterexamples --------------------------------------------------------- */

/* Is this the run that the document tells, step by step? */
static bool same_run(const struct run *r, const json_t *told)
{
	const char *key;
	json_t *member, *own = run_json_value(r);
	bool same = own != NULL;
	json_object_foreach(own, key, member) same = same && json_equal(member, json_object_get(told, key));
	json_decref(own);
	return same;
}

bool check_read_run(const struct ir *p, const json_t *told, struct run *r)
{
	struct schedule_list s;
	sched_init(&s);
	bool ok = run_init(r, p) && (!*doc_text(told, "schedule") || sched_parse(&s, p, "schedule", doc_text(told, "schedule"))) &&
	          sched_run(&s, r) && same_run(r, told);
	sched_free(&s);
	return ok;
}

static void read_lines(const json_t *list, struct buf *out)
{
	const json_t *line;
	size_t i;
	json_array_foreach(list, i, line) if (json_is_string(line))
	{
		buf_safe(out, json_string_value(line), json_string_length(line));
		buf_char(out, '\n');
	}
}

static bool read_story(const struct ir *p, const json_t *result, struct verdict *v, struct story *s)
{
	assert(!s->replayed);
	const json_t *told = json_object_get(result, "counterexample"), *mark;
	const char *sentence = text_or_null(result, "sentence");
	size_t i;
	if (!told)
		return v->answer != ANSWER_VIOLATED;
	if (!check_read_run(p, told, &s->run) || !replay_moves(&s->run, &v->path) ||
	    !(s->marks = calloc((size_t)s->run.nsteps + 1, sizeof *s->marks)))
		return false;
	v->npath = s->run.nsteps;
	json_array_foreach(json_object_get(result, "marks"), i,
	                   mark) if (json_integer_value(mark) >= 1 && json_integer_value(mark) <= s->run.nsteps)
		s->marks[json_integer_value(mark) - 1] = true;
	if (sentence)
		buf_safe(&s->sentence, sentence, strlen(sentence));
	read_lines(json_object_get(json_object_get(result, "serial"), "text"), &s->ends);
	story_companions(s, v);
	s->replayed = true;
	return true;
}

/* ---- causal counterexamples ---------------------------------------------------- */

static bool read_event(struct causal_story *s, const json_t *e)
{
	struct causal_story_event *to = &s->events[s->nevents++];
	*to = (struct causal_story_event){ .line = (uint32_t)doc_number(e, "line"),
		                           .text = doc_text(e, "text"),
		                           .block = text_or_null(e, "block"),
		                           .entered = text_or_null(e, "entered"),
		                           .left = text_or_null(e, "left") };
	while (to->lane < s->nlanes && strcmp(s->lanes[to->lane], doc_text(e, "thread")))
		to->lane++;
	assert(s->nevents);
	return to->lane < s->nlanes;
}

static bool read_link(struct causal_story *s, const json_t *k)
{
	json_int_t from = doc_number(k, "from"), to = doc_number(k, "to");
	if (from < 1 || to < 1 || from > s->nevents || to > s->nevents)
		return false;
	s->links[s->nlinks++] = (struct causal_story_link){ (uint32_t)from - 1, (uint32_t)to - 1, text_or_null(k, "by") };
	assert(s->links[s->nlinks - 1].from < s->nevents && s->links[s->nlinks - 1].to < s->nevents);
	return true;
}

/* Touches are for programs: the text does without them. */
static bool read_causal(const struct ir *p, const json_t *told, struct story *story)
{
	const json_t *lanes = json_object_get(told, "lanes"), *events = json_object_get(told, "events");
	const json_t *chain = json_object_get(told, "chain"), *threads = json_object_get(told, "threads"), *x;
	struct causal_story *s = story->causal = calloc(1, sizeof *s);
	int concrete = find(causal_concrete_names, doc_text(told, "concrete"));
	size_t i;
	bool ok = s && concrete >= 0;
	if (!ok)
		return false;
	arena_init(&s->arena, 0);
	s->concrete = (enum causal_concrete)concrete;
	s->smallest = json_is_true(json_object_get(told, "smallest"));
	s->stops = (uint32_t)doc_number(told, "stops") - 1;
	s->schedule = keep(&s->arena, told, "schedule");
	s->lanes = arena_array(&s->arena, const char *, json_array_size(lanes) + 1);
	s->events = arena_array(&s->arena, struct causal_story_event, json_array_size(events) + 1);
	s->links = arena_array(&s->arena, struct causal_story_link, json_array_size(chain) + 1);
	s->count = arena_array(&s->arena, uint32_t, p->ntemplates + 1ull);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		s->count[t] = (uint32_t)doc_number(threads, p->templates[t].name);
	json_array_foreach(lanes, i, x) s->lanes[s->nlanes++] = json_is_string(x) ? json_string_value(x) : "";
	json_array_foreach(events, i, x) ok = ok && read_event(s, x);
	json_array_foreach(chain, i, x) ok = ok && read_link(s, x);
	return ok;
}

/* ---- the document --------------------------------------------------------------- */

static bool read_results(struct check_read *r, const json_t *results)
{
	assert(!r->v && !r->c.stories);
	const json_t *result;
	size_t i, n = json_array_size(results);
	r->v = calloc(n + 1, sizeof *r->v);
	r->c.stories = calloc(n + 1, sizeof *r->c.stories);
	bool ok = r->v && r->c.stories && n < UINT32_MAX;
	json_array_foreach(results, i, result)
	{
		if (!ok)
			break;
		struct story *s = &r->c.stories[r->c.n];
		struct verdict *v = &r->v[r->c.n++];
		const json_t *causal = json_object_get(result, "causal");
		buf_init(&s->sentence);
		buf_init(&s->ends);
		ok = read_verdict(&r->lang, result, v) &&
		     (causal ? read_causal(r->lang.ir, causal, s) : read_story(r->lang.ir, result, v, s));
	}
	return ok;
}

bool check_read(struct check_read *r, const json_t *doc)
{
	const json_t *asked = json_object_get(doc, "asked");
	const struct check_engine *one = NULL;
	memset(r, 0, sizeof *r);
	lang_init(&r->lang);
	if (document_model(&r->lang, doc, true))
		return false;
	r->c = (struct checked){ .p = r->lang.ir,
		                 .model = doc_text(json_object_get(doc, "model"), "name"),
		                 .engine = doc_text(asked, "engine"),
		                 .block = text_or_null(asked, "block"),
		                 .faults = json_is_true(json_object_get(asked, "faults")),
		                 .deadlock = json_is_true(json_object_get(asked, "deadlock")),
		                 .quiescence = text_or_null(doc, "quiescence") };
	bool known = engine_choose(r->c.engine, &one, &r->c.all);
	r->c.causality = one && one->ask_itself;
	bool ok = known && read_results(r, json_object_get(doc, "results"));
	r->c.v = r->v;
	return ok;
}

void check_read_free(struct check_read *r)
{
	stories_free(r->c.stories, r->c.n);
	for (uint32_t i = 0; r->v && i < r->c.n; i++)
		verdict_free(&r->v[i]);
	free(r->v);
	lang_free(&r->lang);
}

bool check_result_told(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                       struct checked *c)
{
	assert(r->p && o && model);
	*c = (struct checked){ .p = r->p,
		               .v = r->v,
		               .n = r->n,
		               .model = model,
		               .engine = engine_chosen(o->engine, o->all),
		               .all = o->all,
		               .block = o->block,
		               .causality = r->causality,
		               .keep_dead = keep_dead,
		               .fault_free = r->fault_free,
		               .states = r->states,
		               .transitions = r->transitions };
	if (!r->causality) {
		c->faults = o->faults;
		c->deadlock = o->deadlock;
		c->quiescence = quiescence_word(r->way_out);
	}
	c->stories = stories_make(r->p, r->v, r->n);
	return c->stories != NULL;
}
