#include "report/check_json.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "report/check_text.h"
#include "report/doc.h"
#include "report/run_json.h"
#include "verdict/object_history.h"

_Static_assert(PROBLEM_NONE == 0, "problem_from() returns it for other names");

static const char *const problems[] = {
	[PROBLEM_NONE] = "none",       [PROBLEM_ATOMICITY] = "atomicity",   [PROBLEM_STUCK] = "stuck",
	[PROBLEM_ENDLESS] = "endless", [PROBLEM_FAULT] = "fault",           [PROBLEM_DEADLOCK] = "deadlock",
	[PROBLEM_ALWAYS] = "always",   [PROBLEM_FINALLY] = "finally",       [PROBLEM_REACH] = "reach",
	[PROBLEM_COMMIT] = "commit",   [PROBLEM_QUIESCENCE] = "quiescence", [PROBLEM_HISTORY] = "history",
};

static const char *problem_name(enum verdict_problem p)
{
	assert(p < sizeof problems / sizeof *problems && problems[p]);
	return problems[p];
}

enum verdict_problem problem_from(const char *name)
{
	for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
		if (!strcmp(problems[i], name))
			return (enum verdict_problem)i;
	return PROBLEM_NONE;
}

void text_hash(const char *text, size_t len, char out[17])
{
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001B3u;
	snprintf(out, 17, "%016llx", (unsigned long long)h);
}

static const char *answer_name(enum answer a)
{
	return a == ANSWER_HOLDS ? "holds" : a == ANSWER_VIOLATED ? "violated" : "unknown";
}

static enum answer worst(const struct verdict *v, uint32_t n)
{
	enum answer a = ANSWER_HOLDS;
	for (uint32_t i = 0; i < n; i++) {
		if (v[i].answer == ANSWER_VIOLATED)
			return ANSWER_VIOLATED;
		if (v[i].answer == ANSWER_UNKNOWN)
			a = ANSWER_UNKNOWN;
	}
	return a;
}

void check_json_model(const struct ir *p, const char *name, bool keep_dead, struct json_out *j)
{
	assert(p->src && name);
	char hash[17];
	text_hash(p->src->text, p->src->len, hash);
	json_begin_object(j, "model");
	json_text(j, "name", name);
	json_text(j, "language", p->sml ? "sml" : "atm");
	json_text(j, "hash", hash);
	json_line(j, 4);
	json_text_n(j, "text", p->src->text, p->src->len);
	json_line(j, 4);
	json_begin_object(j, "threads");
	for (uint32_t i = 0; i < p->ntemplates; i++)
		json_uint(j, p->templates[i].name, p->templates[i].count);
	json_end(j);
	json_text_if(j, "dead", keep_dead ? "kept" : NULL);
	json_end(j);
}

/* The operations of the object, in the order of their calls; steps from 1. */
void check_json_history(const struct run *r, uint32_t object, const char *key, struct json_out *j)
{
	assert(object < r->ir->nobjects);
	struct object_history h;
	struct buf name;
	buf_init(&name);
	json_begin_array(j, key);
	bool ok = object_history_init(&h, r, object);
	for (uint32_t i = 0; ok && i < h.n; i++) {
		const struct object_op *o = &h.ops[i];
		buf_clear(&name);
		object_op_name(o, &name);
		json_line(j, 6);
		json_begin_object(j, NULL);
		json_text_buf(j, "name", &name);
		json_uint(j, "thread", o->thread + 1);
		json_text(j, "method", o->is_write ? "write" : "read");
		if (o->is_write || o->ret != OBJECT_OPEN)
			json_int(j, "value", o->value);
		json_uint(j, "call", o->call_step + 1);
		if (o->ret != OBJECT_OPEN)
			json_uint(j, "return", o->ret_step + 1);
		json_end(j);
	}
	json_end(j);
	object_history_free(&h);
	buf_free(&name);
}

static void counterexample(const struct verdict *v, const struct story *s, struct json_out *j)
{
	assert(s->replayed);
	json_line(j, 5);
	json_begin_object(j, "counterexample");
	run_json(&s->run, j);
	json_end(j);
	if (v->causal)
		return;
	story_json(s, v, j);
	if (v->object1) {
		json_line(j, 5);
		check_json_history(&s->run, v->object1 - 1, "history", j);
	}
}

/* For how many threads, and what it rests on. */
static void proof(const struct ir *p, const struct verdict *v, struct json_out *j)
{
	assert(v->scope <= SCOPE_ANY && v->answer == ANSWER_HOLDS);
	static const char *const scopes[] = { "declared", "any of", "any" };
	json_text(j, "scope", scopes[v->scope]);
	json_begin_array(j, "any_number_of");
	for (uint32_t t = 0; t < p->ntemplates && v->scope != SCOPE_DECLARED; t++) {
		const struct ir_template *tm = &p->templates[t];
		if (v->scope == SCOPE_ANY || tm->count != 1 || tm->any_count)
			json_text(j, NULL, tm->name);
	}
	json_end(j);
	json_flag(j, "as_part", v->as_part);
	json_text_if(j, "notes", v->notes);
}

/* What each engine said, in the order they were asked. */
static void attempts(const struct verdict *v, struct json_out *j)
{
	json_line(j, 5);
	json_begin_array(j, "attempts");
	for (uint32_t i = 0; i < v->nattempts; i++) {
		const struct attempt *a = &v->attempts[i];
		json_begin_object(j, NULL);
		json_text(j, "engine", a->engine->name);
		json_text(j, "verdict", answer_name(a->answer));
		json_uint(j, "states", a->states);
		json_text_if(j, "limit", a->limit);
		json_text_if(j, "why", a->why);
		json_end(j);
	}
	json_end(j);
}

/* What it is about. */
static void question(const struct ir *p, const struct verdict *v, struct json_out *j)
{
	assert(v->object1 <= p->nobjects && (v->object1 || v->block == VERDICT_PROGRAM || v->block < p->nblocks));
	struct buf name;
	if (v->object1) {
		const struct ir_object *o = &p->objects[v->object1 - 1];
		json_nothing(j, "block");
		json_text(j, "object", o->name);
		json_uint(j, "line", source_pos(p->src, o->span.start).line);
		json_text(j, "condition", v->condition);
	} else if (v->property1) {
		const struct ir_property *q = &p->properties[v->property1 - 1];
		json_nothing(j, "block");
		json_text(j, "property", q->text);
		json_uint(j, "line", source_pos(p->src, q->span.start).line);
	} else if (v->block == VERDICT_PROGRAM) {
		json_nothing(j, "block");
	} else {
		buf_init(&name);
		check_text_name(p, v->block, &name);
		json_text_buf(j, "block", &name);
		json_uint(j, "line", source_pos(p->src, p->blocks[v->block].span.start).line);
		buf_free(&name);
	}
}

static void result(const struct ir *p, const struct verdict *v, const struct story *s, struct json_out *j)
{
	assert(v->engine || v->answer == ANSWER_UNKNOWN || !v->nattempts);
	bool unknown = v->answer == ANSWER_UNKNOWN;
	json_line(j, 4);
	json_begin_object(j, NULL);
	question(p, v, j);
	json_text(j, "verdict", answer_name(v->answer));
	json_text(j, "problem", v->causal ? "causality" : problem_name(v->problem));
	json_text(j, "engine", v->engine->name);
	json_text_if(j, "commits", v->commits);
	json_text_if(j, "limit", unknown ? v->limit : NULL);
	json_text_if(j, "reason", unknown ? v->reason : NULL);
	json_uint(j, "states", v->states);
	json_uint(j, "transitions", v->transitions);
	if (v->answer == ANSWER_HOLDS)
		proof(p, v, j);
	if (v->nattempts)
		attempts(v, j);
	causal_story_json(p, v, s->causal, j);
	if (s->replayed)
		counterexample(v, s, j);
	json_end(j);
}

/* What was asked: everything, unless a member says else. */
static void asked(const struct checked *c, struct json_out *j)
{
	const struct ir *p = c->p;
	bool any = false;
	json_begin_object(j, "asked");
	json_text(j, "engine", c->engine);
	json_text_if(j, "block", c->block);
	json_flag(j, "faults", c->faults);
	json_flag(j, "deadlock", c->deadlock);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		if (!p->templates[t].any_count)
			continue;
		if (!any)
			json_begin_array(j, "any");
		json_text(j, NULL, p->templates[t].name);
		any = true;
	}
	if (any)
		json_end(j);
	json_end(j);
}

/* What the certificate covers. */
static void certificate(const struct checked *c, struct json_out *j)
{
	const struct certified *f = c->certificate;
	assert(f->file && f->n);
	json_line(j, 2);
	json_begin_object(j, "certificate");
	json_text(j, "file", f->file);
	json_uint(j, "states", f->states);
	json_uint(j, "bytes", f->bytes);
	json_begin_array(j, "questions");
	for (uint32_t i = 0; i < f->n; i++) {
		struct buf name;
		buf_init(&name);
		check_text_certified(c->p, &f->v[i], &name);
		json_line(j, 4);
		json_begin_object(j, NULL);
		json_text_buf(j, "name", &name);
		json_flag(j, "certified", f->v[i].certified);
		json_text_if(j, "why", f->v[i].why);
		if (f->v[i].states)
			json_uint(j, "states", f->v[i].states);
		json_end(j);
		buf_free(&name);
	}
	json_line(j, 2);
	json_end(j);
	json_end(j);
}

void check_json(const struct checked *c, struct buf *out)
{
	assert(c->p && c->model && (!c->n || c->stories));
	struct json_out w, *j = &w;
	json_out_init(j, out, false);
	doc_begin(j, "check", 2);
	json_line(j, 2);
	check_json_model(c->p, c->model, c->keep_dead, j);
	json_line(j, 2);
	asked(c, j);
	json_line(j, 2);
	json_text(j, "verdict", answer_name(worst(c->v, c->n)));
	json_line(j, 2);
	json_text_if(j, "quiescence", c->quiescence);
	json_line(j, 2);
	json_begin_array(j, "results");
	for (uint32_t i = 0; i < c->n; i++)
		result(c->p, &c->v[i], &c->stories[i], j);
	json_line(j, 2);
	json_end(j);
	if (c->certificate)
		certificate(c, j);
	json_line(j, 0);
	doc_end(j);
}
