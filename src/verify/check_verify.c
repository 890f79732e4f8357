/*
 * check_verify: see verify.h. The document: which questions were asked, that each of them is answered, and that the
 * verdict is that of the answers. What is violated is looked at in check_verify_run.c, what holds in check_verify_holds.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/check.h"
#include "check/engine.h"
#include "verify/check_verify_int.h"
#include "verify/document_model.h"
#include "report/check_json.h"
#include "report/check_text.h"

const char *verify_string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

const char *verify_claimed(const struct verify *v)
{
	static const char *const all[] = { "holds", "violated", "unknown" };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(verify_string(v->result, "verdict"), all[i]))
			return all[i];
	return NULL;
}

uint32_t verify_line(const struct verify *v)
{
	json_int_t line = json_integer_value(json_object_get(v->result, "line"));
	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

void verify_say(struct verify *v, const char *name, enum claim_answer a, const char *why)
{
	assert(name && a <= CLAIM_UNCHECKED);
	claim_list_add(
		v->claims,
		&(struct claim){ .name = name, .claimed = verify_claimed(v), .answer = a, .why = why, .line = verify_line(v) });
}

static void reject(struct verify *v, const char *name, const char *why)
{
	verify_say(v, name, CLAIM_REJECTED, why);
}

/* The block of this name, VERDICT_PROGRAM for none; false: no such block. */
static bool find_block(const struct ir *p, json_t *result, uint32_t *block)
{
	json_t *name = json_object_get(result, "block");
	*block = VERDICT_PROGRAM;
	assert(!p->nblocks || p->blocks);
	if (json_is_null(name))
		return true;
	for (uint32_t b = 0; json_is_string(name) && b < p->nblocks; b++) {
		struct buf full;
		buf_init(&full);
		check_text_name(p, b, &full);
		bool same = !strcmp(buf_cstr(&full), json_string_value(name));
		buf_free(&full);
		if (same) {
			*block = b;
			return json_integer_value(json_object_get(result, "line")) ==
			       source_pos(p->src, p->blocks[b].span.start).line;
		}
	}
	return false;
}

/* The object of this name and its condition; false: there is no such thing. */
static bool find_object(const struct ir *p, json_t *result, struct verify_question *c)
{
	assert(c->of_object);
	const char *name = verify_string(result, "object"), *condition = verify_string(result, "condition");
	bool known = false;
	for (int i = 0; object_conditions[i]; i++)
		if (!strcmp(object_conditions[i], condition)) {
			c->condition = (enum object_condition)i;
			known = true;
		}
	for (c->object = 0; c->object < p->nobjects; c->object++)
		if (!strcmp(p->objects[c->object].name, name))
			return known && json_integer_value(json_object_get(result, "line")) ==
			                        source_pos(p->src, p->objects[c->object].span.start).line;
	return false;
}

/* The condition on states of this text. */
static bool find_property(const struct ir *p, json_t *result, struct verify_question *q)
{
	const char *text = verify_string(result, "property");
	for (q->object = 0; q->object < p->nproperties; q->object++)
		if (!strcmp(p->properties[q->object].text, text) &&
		    json_integer_value(json_object_get(result, "line")) ==
		            source_pos(p->src, p->properties[q->object].span.start).line)
			return true;
	return false;
}

bool verify_question(const struct verify *v, json_t *result, struct verify_question *q, struct why *why)
{
	assert(v->lang.ir);
	const struct ir *p = v->lang.ir;
	*q = (struct verify_question){ .problem = problem_from(verify_string(result, "problem")),
		                       .block = VERDICT_PROGRAM,
		                       .of_object = json_object_get(result, "object") != NULL,
		                       .of_property = json_object_get(result, "property") != NULL };
	why_set(why, "%s",
	        q->of_object ? "the model has no such object at that line, or no such condition exists"
	                     : "the model has no such block at that line");
	if ((q->of_object || q->of_property) &&
	    (!json_is_null(json_object_get(result, "block")) || q->of_object == q->of_property)) {
		return why_set(why, "it names two things that it is about");
	}
	assert(q->block == VERDICT_PROGRAM && !q->object);
	if (q->of_property)
		return find_property(p, result, q) || why_set(why, "the model has no such condition at that line");
	return q->of_object ? find_object(p, result, q) : find_block(p, result, &q->block);
}

bool verify_alone(const struct verify *v, uint32_t block, struct lang *l)
{
	assert(block == VERDICT_PROGRAM || block < v->lang.ir->nblocks);
	const struct ir *p = v->lang.ir;
	lang_init(l);
	return block != VERDICT_PROGRAM && p->nblocks > 1 && lang_load_again(l, p, block, NULL);
}

/* ---- the document ------------------------------------------------------- */

/* The model the result is about: its own text, compared with its hash. */
static int load_model(struct verify *v, json_t *root)
{
	json_t *m = json_object_get(root, "model");
	if (!json_is_string(json_object_get(m, "text")) || !json_is_object(json_object_get(m, "threads"))) {
		buf_str(v->claims->err, "intact verify: ");
		buf_safe(v->claims->err, v->claims->file, strlen(v->claims->file));
		buf_str(v->claims->err, ": the result contains no model\n");
		return CLAIM_INPUT;
	}
	const char *why = document_model(&v->lang, root, false);
	assert(why || v->lang.ir);
	if (why)
		reject(v, "model", why);
	return why ? CLAIM_VIOLATED : CLAIM_HOLDS;
}

static bool same_file(struct verify *v, json_t *root)
{
	assert(v->model);
	struct arena a;
	struct source src;
	struct why why;
	json_t *text = json_object_get(json_object_get(root, "model"), "text");
	assert(json_is_string(text)); /* load_model() has looked */
	arena_init(&a, 0);
	bool ok = source_read(&src, &a, v->model, &why);
	if (!ok)
		buf_printf(v->claims->err, "intact verify: %s: %s\n", v->model, why.text);
	else if (src.len != json_string_length(text) || memcmp(src.text, json_string_value(text), src.len)) {
		reject(v, "model", "the result belongs to a different text than the file");
		ok = false;
	}
	arena_free(&a);
	return ok;
}

static void check_one(struct verify *v, json_t *result)
{
	assert(v->result == result);
	const char *name = verify_string(result, "block"), *verdict = verify_string(result, "verdict");
	if (!*name)
		name = *verify_string(result, "object")     ? verify_string(result, "object")
		       : *verify_string(result, "property") ? verify_string(result, "property")
		                                            : "program";
	if (!strcmp(verdict, "violated") && !strcmp(verify_string(result, "problem"), "causality") &&
	    !json_object_get(result, "counterexample"))
		verify_say(v, name, CLAIM_UNCHECKED, "by an abstract run: nothing to replay");
	else if (!strcmp(verdict, "violated"))
		verify_counterexample(v, result, name);
	else if (!strcmp(verdict, "holds"))
		verify_holds(v, result, name);
	else if (!strcmp(verdict, "unknown"))
		verify_say(v, name, CLAIM_UNCHECKED, "the result says unknown: nothing to check");
	else
		reject(v, name, "unknown verdict");
}

/* ---- the questions -------------------------------------------------------- */

/* What `intact check` was asked; a document that does not say has to answer everything. */
static void read_asked(struct verify *v, json_t *root)
{
	assert(v->lang.ir);
	json_t *asked = json_object_get(root, "asked"), *block = json_object_get(asked, "block");
	const char *engine = verify_string(asked, "engine");
	const struct check_engine *one;
	bool all, known = engine_choose(engine, &one, &all);
	v->asked.block = json_string_value(block);
	v->asked.faults = json_is_true(json_object_get(asked, "faults"));
	v->asked.deadlock = json_is_true(json_object_get(asked, "deadlock"));
	v->asked.any = json_object_get(asked, "any");
	v->asked.causal = known && one && one->ask_itself;
	v->asked.properties = !v->asked.block && !v->asked.faults && !v->asked.causal;
	v->asked.quiescence = !v->asked.block && !v->asked.faults && v->lang.ir->nblocks && !json_array_size(v->asked.any) &&
	                      (!*engine || (known && !one));
	assert(!(v->asked.quiescence && v->asked.faults));
}

/* The questions of a model, in this order: its blocks, the program, faults, ways out, its objects, its conditions on states. */
enum verify_whole { ASK_PROGRAM, ASK_FAULTS, ASK_WAY_OUT, ASK_OBJECTS };

static uint32_t whole_question(const struct verify *v, enum verify_whole w)
{
	assert(w <= ASK_OBJECTS);
	return v->lang.ir->nblocks + (uint32_t)w;
}

static uint32_t questions(const struct verify *v)
{
	return whole_question(v, ASK_OBJECTS) + v->lang.ir->nobjects + v->lang.ir->nproperties;
}

/* Which question a result answers; IR_NONE: none of this model. */
static uint32_t answered(const struct verify *v, json_t *result)
{
	const char *problem = verify_string(result, "problem");
	struct why why;
	struct verify_question q;
	if (!verify_question(v, result, &q, &why))
		return IR_NONE;
	if (q.of_object || q.of_property)
		return whole_question(v, ASK_OBJECTS) + q.object + (q.of_property ? v->lang.ir->nobjects : 0);
	if (q.block != VERDICT_PROGRAM)
		return q.block;
	bool holds = !strcmp(verify_string(result, "verdict"), "holds"); /* then there is no result about these two */
	if (!holds && !strcmp(problem, "quiescence"))
		return whole_question(v, ASK_WAY_OUT);
	const struct check_engine *engine = engine_find(verify_string(result, "engine"));
	bool fault = !strcmp(problem, "fault") || !strcmp(problem, "deadlock") ||
	             (engine && engine->about.question == ENGINE_FAULTS);
	return whole_question(v, fault && !holds ? ASK_FAULTS : ASK_PROGRAM);
}

static void question_name(const struct verify *v, uint32_t q, struct buf *out)
{
	assert(q <= v->lang.ir->nblocks || q >= whole_question(v, ASK_OBJECTS));
	assert(q < questions(v));
	const struct ir *p = v->lang.ir;
	uint32_t object = q - whole_question(v, ASK_OBJECTS);
	if (q <= p->nblocks)
		check_text_name(p, q < p->nblocks ? q : VERDICT_PROGRAM, out);
	else
		buf_str(out, object < p->nobjects ? p->objects[object].name : p->properties[object - p->nobjects].text);
}

/* Must the result answer this? Faults and ways out are no results of their own where nothing is wrong. */
static bool must_answer(const struct verify *v, uint32_t q)
{
	const struct ir *p = v->lang.ir;
	if (v->asked.faults || q == whole_question(v, ASK_FAULTS) || q == whole_question(v, ASK_WAY_OUT))
		return false;
	if (q < p->nblocks)
		return !v->asked.block || answers_name_block(p, q, v->asked.block);
	if (q >= whole_question(v, ASK_OBJECTS) + p->nobjects)
		return v->asked.properties && !p->properties[q - whole_question(v, ASK_OBJECTS) - p->nobjects].implied;
	return !v->asked.block && (q == p->nblocks ? p->nblocks > 0 : !v->asked.causal);
}

/* Every question has one answer. */
static void check_answered(struct verify *v, const uint32_t *times, uint32_t n)
{
	assert(n == questions(v));
	bool any = false;
	for (uint32_t q = 0; q < n; q++) {
		struct buf name;
		if (times[q] > 1 && (q == whole_question(v, ASK_FAULTS) || q == whole_question(v, ASK_WAY_OUT))) {
			reject(v, q == whole_question(v, ASK_FAULTS) ? "faults" : "way out", "it is answered more than once");
			continue;
		}
		any |= must_answer(v, q);
		uint32_t property = q - whole_question(v, ASK_OBJECTS) - v->lang.ir->nobjects;
		if (!times[q] && property < v->lang.ir->nproperties && v->lang.ir->properties[property].implied &&
		    v->asked.properties)
			verify_implied(v, property);
		if (!(times[q] > 1 || (!times[q] && must_answer(v, q))))
			continue;
		buf_init(&name);
		question_name(v, q, &name);
		reject(v, buf_cstr(&name),
		       times[q] ? "it is answered more than once" : "it was asked, but the result has no answer");
		buf_free(&name);
	}
	if (v->asked.block && !any)
		reject(v, "result", "the model has no block of the name that was asked about");
}

/* The verdict that the answers have together. */
static const char *verdict_of(json_t *results)
{
	json_t *one;
	size_t i;
	const char *all = "holds";
	json_array_foreach(results, i, one)
	{
		if (!strcmp(verify_string(one, "verdict"), "violated"))
			return "violated";
		if (!strcmp(verify_string(one, "verdict"), "unknown"))
			all = "unknown";
	}
	return all;
}

static bool deadlocked(json_t *results)
{
	json_t *one;
	size_t i;
	json_array_foreach(results, i, one) if (!strcmp(verify_string(one, "problem"), "deadlock")) return true;
	return false;
}

static int check_result(struct verify *v, json_t *root)
{
	int rc = load_model(v, root);
	json_t *results = json_object_get(root, "results"), *result;
	size_t i;
	if (rc != CLAIM_HOLDS)
		return rc;
	if (v->model && !same_file(v, root))
		return v->claims->n[CLAIM_REJECTED] ? CLAIM_VIOLATED : CLAIM_INPUT;
	read_asked(v, root);
	assert(v->lang.ir && v->lang.ir->nobjects < IR_NONE - v->lang.ir->nblocks - ASK_OBJECTS);
	uint32_t n = questions(v), *times = calloc(n + 1ull, sizeof *times);
	if (!times)
		return CLAIM_INTERNAL;
	json_array_foreach(results, i, result)
	{
		v->result = result;
		uint32_t q = answered(v, result);
		assert(q == IR_NONE || q < n);
		if (q != IR_NONE)
			times[q]++;
		check_one(v, result);
	}
	v->result = NULL;
	assert(!v->claims->listed || v->claims->n[CLAIM_ACCEPTED] + v->claims->n[CLAIM_REJECTED] + v->claims->n[CLAIM_UNKNOWN] +
	                                             v->claims->n[CLAIM_UNCHECKED] >=
	                                     v->claims->listed);
	check_answered(v, times, n);
	v->asked.quiescence &= !deadlocked(results); /* that is one way to have no way out */
	verify_whole(v, root, !v->asked.causal && !times[whole_question(v, ASK_FAULTS)], times[whole_question(v, ASK_WAY_OUT)] > 0);
	if (!json_is_array(results) || strcmp(verify_string(root, "verdict"), verdict_of(results)))
		reject(v, "result", "its verdict does not match its parts");
	free(times);
	return claim_list_code(v->claims);
}

int check_verify_report(struct claim_list *l, json_t *root, const char *model, uint64_t max_states)
{
	assert(l && max_states);
	struct verify v = { .claims = l, .model = model, .max_states = max_states };
	const char *name = verify_string(json_object_get(root, "model"), "name");
	l->subject = model ? model : *name ? name : NULL;
	lang_init(&v.lang);
	int rc = check_result(&v, root);
	lang_free(&v.lang);
	free(v.program.path);
	assert(rc >= CLAIM_HOLDS && rc <= CLAIM_INTERNAL);
	return rc;
}
