#include "check/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "check/assertion.h"
#include "check/engine.h"
#include "explore/object.h"
#include "verdict/replay.h"

static const struct check_engine *judge(const struct objects_options *o)
{
	assert(!o->assertion || o->assertion->about.question == ENGINE_OBJECTS);
	return o->assertion ? o->assertion : &engine_monitor;
}

/* ---- the paper's assertions ------------------------------------------------------------ */

bool objects_allowed(const struct ir *p, const struct objects_options *o, struct diags *d)
{
	bool ok = true;
	if (judge(o) == &engine_monitor)
		return true;
	if (o->condition != OBJECT_ATOMIC) {
		diag_error(d, "assertion", NULL, (struct span){ 0, 0 },
		           "--assertion=%s asserts atomicity: it cannot be combined with --condition=%s", judge(o)->about.name,
		           object_conditions[o->condition]);
		return false;
	}
	for (uint32_t object = 0; object < p->nobjects; object++) {
		uint32_t first = IR_NONE, second = IR_NONE;
		for (uint32_t i = 0; i < p->nopers; i++) {
			const struct ir_oper *op = &p->opers[i];
			if (op->object != object || !op->is_write || !ir_oper_counts(p, i))
				continue;
			if (first == IR_NONE)
				first = i;
			if (op->tmpl != p->opers[first].tmpl || p->templates[op->tmpl].count > 1)
				second = i;
		}
		if (second == IR_NONE)
			continue;
		ok = false;
		diag_error(d, "assertion", p->src, p->opers[second].span,
		           "--assertion=%s requires a single writer, and '%s' has several", judge(o)->about.name,
		           p->objects[object].name);
		if (second != first)
			diag_note(d, p->src, p->opers[first].span, "another thread writes here");
		else
			diag_note(d, p->src, p->templates[p->opers[first].tmpl].span, "there are %u of this thread",
			          p->templates[p->opers[first].tmpl].count);
		diag_hint(d, "omit --assertion: the monitor supports any number of writers");
	}
	return ok;
}

/* ---- one object --------------------------------------------------------------------------- */

static void explain(const struct ir *p, uint32_t object, int condition, struct verdict *v)
{
	struct run r;
	struct object_history h = { 0 };
	struct buf why;
	buf_init(&why);
	if (run_init(&r, p) && replay(&r, v->path, v->npath) && object_history_init(&h, &r, object) &&
	    object_why(&h, (enum object_condition)condition, &why))
		v->why = strdup(buf_cstr(&why));
	object_history_free(&h);
	run_free(&r);
	buf_free(&why);
}

static void check_one(const struct ir *p, uint32_t object, const struct objects_options *o, const struct search_options *s,
                      struct verdict *v)
{
	static const enum monitor_kind kinds[] = { MONITOR_ATOMIC, MONITOR_REGULAR, MONITOR_SAFE };
	struct assertion j;
	struct object_options oo = { .kind = kinds[o->condition],
		                     .local = s->merge_local,
		                     .symmetry = s->symmetry,
		                     .max_states = s->max_states,
		                     .max_bytes = s->max_bytes,
		                     .deadline = s->deadline,
		                     .checkpoint = s->checkpoint };
	struct object_result r;
	double start = clock_seconds();
	assertion_open(&j, judge(o) == &engine_clmt, p->objects[object].init);
	if (judge(o) != &engine_monitor) {
		oo.kind = MONITOR_RECORD;
		oo.judge = assertion_judge;
		oo.judge_arg = &j;
	}
	object_check(p, object, &oo, &r);
	*v = (struct verdict){ .block = VERDICT_PROGRAM,
		               .object1 = object + 1,
		               .answer = r.answer,
		               .condition = object_conditions[o->condition],
		               .engine = &judge(o)->about,
		               .limit = r.limit,
		               .states = r.states,
		               .transitions = r.transitions,
		               .bytes = r.bytes,
		               .path = r.path,
		               .npath = r.npath };
	r.path = NULL;
	if (v->limit && !strcmp(v->limit, "clients")) {
		v->limit = NULL;
		v->reason = "more than 64 threads use the object";
	}
	if (v->answer == ANSWER_VIOLATED) {
		v->problem = PROBLEM_HISTORY;
		explain(p, object, o->condition, v);
	} else if (v->answer == ANSWER_HOLDS && j.refused) {
		v->answer = ANSWER_UNKNOWN;
		v->reason = "some histories are too long for the assertion";
	}
	v->seconds = clock_seconds() - start;
	object_result_free(&r);
	assertion_close(&j);
}

void objects_check(const struct ir *p, const struct objects_options *o, const struct search_options *s, struct verdict *v)
{
	for (uint32_t object = 0; object < p->nobjects; object++) {
		struct search_options share = *s; /* each gets its part of the time that is left */
		double now = clock_seconds();
		if (share.deadline > now)
			share.deadline = now + (share.deadline - now) / (p->nobjects - object);
		check_one(p, object, o, &share, &v[object]);
	}
}

const struct check_engine engine_monitor = {
	.about = { .name = "monitor",
	           .summary = "every history of an object, checked while the program is explored",
	           .question = ENGINE_OBJECTS,
	           .topic = "monitor" },
	.explores = true,
};
const struct check_engine engine_soar = {
	.about = { .name = "soar",
	           .summary = "the assertion of the SOAR paper, Fig. 3, on every history that was recorded",
	           .question = ENGINE_OBJECTS,
	           .topic = "monitor" },
	.explores = true,
};
const struct check_engine engine_clmt = {
	.about = { .name = "clmt",
	           .summary = "the assertion of the SOAR paper, Definition 1, on every history that was recorded",
	           .question = ENGINE_OBJECTS,
	           .topic = "monitor" },
	.explores = true,
};
