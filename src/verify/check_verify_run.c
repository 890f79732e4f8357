/*
 * check_verify_run: counterexamples. The schedule is replayed, the replay is compared with what the result says step by
 * step, and the claim (no serial order explains it, it faults, it is a deadlock) is decided independently. Everything
 * else the result says, its text and the ends of serial orders, is derived again and compared.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/objects.h"
#include "verify/check_verify_int.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "report/run_json.h"
#include "report/story.h"
#include "verdict/single_block.h"
#include "verdict/replay.h"
#include "verdict/verify_causal.h"
#include "verify/schedule.h"

#define ENDS_SHOWN 4u /* at most so many ends are listed */

/* ---- is it the run that is claimed? ---------------------------------------------------- */

/* Does the replay say of itself what the result says of it? */
static bool same_run(const struct run *r, json_t *claimed)
{
	json_t *own = run_json_value(r);
	bool same = own && json_equal(own, claimed);
	json_decref(own);
	return same;
}

/* Is the history, and the sentence about it, what the run has? */
static bool same_history(const struct run *r, const struct verify_question *c, json_t *result)
{
	assert(c->of_object && c->object < r->ir->nobjects);
	struct object_history h;
	struct buf text, why;
	struct json_out j;
	buf_init(&text);
	buf_init(&why);
	json_out_init(&j, &text, true);
	check_json_history(r, c->object, NULL, &j);
	json_t *own = json_loads(buf_cstr(&text), 0, NULL);
	bool same = own && json_equal(own, json_object_get(result, "history"));
	if (object_history_init(&h, r, c->object) && object_why(&h, c->condition, &why))
		same &= !strcmp(buf_cstr(&why), verify_string(result, "sentence"));
	object_history_free(&h);
	json_decref(own);
	buf_free(&text);
	buf_free(&why);
	return same;
}

/* ---- is what is said of it true? -------------------------------------------------------- */

/* The members of the result that explain what went wrong, derived again; NULL: no memory. */
static json_t *own_story(struct run *r, const struct verify_question *q)
{
	assert(q->block == VERDICT_PROGRAM || q->block < r->ir->nblocks);
	assert(!q->of_object);
	int32_t none;
	struct verdict v = {
		.block = q->block, .problem = q->problem, .serial = &none, .property1 = q->of_property ? q->object + 1 : 0
	};
	struct story s;
	struct buf text;
	struct json_out j;
	buf_init(&text);
	json_out_init(&j, &text, true);
	json_begin_object(&j, NULL);
	story_of_run(&s, r, &v);
	story_json(&s, &v, &j);
	story_give_back(&s, r);
	json_end(&j);
	json_t *own = json_loads(buf_cstr(&text), 0, NULL);
	buf_free(&text);
	return own;
}

static bool same_member(json_t *own, json_t *claimed, const char *key)
{
	json_t *a = json_object_get(own, key), *b = json_object_get(claimed, key);
	return a && b ? json_equal(a, b) : a == b;
}

/* Is this one of the ends? */
static bool is_end(const struct ir *p, const struct seqtab *ends, json_t *claimed)
{
	assert(ends->n);
	bool found = false;
	struct buf text;
	struct json_out j;
	buf_init(&text);
	for (uint32_t i = 0; i < ends->n && !found; i++) {
		uint32_t len;
		buf_clear(&text);
		json_out_init(&j, &text, true);
		run_json_end(p, seqtab_get(ends, i, &len), NULL, &j);
		json_t *own = json_loads(buf_cstr(&text), 0, NULL);
		found = own && json_equal(own, claimed);
		json_decref(own);
	}
	buf_free(&text);
	return found;
}

/* Are the ends of serial orders that are claimed the ones there are? As many as can be are listed, each once. */
static const char *check_ends(struct run *r, uint32_t block, json_t *serial, bool *unknown)
{
	assert(block == VERDICT_PROGRAM || block < r->ir->nblocks);
	assert(!*unknown);
	struct seqtab ends = { 0 };
	json_t *list = json_object_get(serial, "ends"), *one;
	json_int_t more = json_integer_value(json_object_get(serial, "more"));
	size_t i, k, n = json_array_size(list);
	const char *why = NULL;
	if (json_is_true(json_object_get(serial, "cut"))) {
		*unknown = true;
		why = "unchecked: the result does not list how serial orders end";
	} else if (verify_ends(r, block, &ends) == VERIFY_LIMIT) {
		*unknown = true;
		why = "unchecked: too many serial orders to try";
	} else if (!json_is_array(list) || more < 0 || (json_int_t)n + more != (json_int_t)ends.n) {
		why = "serial orders of the same blocks end in other states than claimed";
	} else if (ends.n && !n) {
		why = "the ends of serial orders are not listed";
	}
	json_array_foreach(list, i, one)
	{
		if (why)
			break;
		bool twice = false;
		for (k = 0; k < i; k++)
			twice |= json_equal(one, json_array_get(list, k));
		if (twice || i >= ENDS_SHOWN || !is_end(r->ir, &ends, one))
			why = "an end that is claimed is not that of a serial order of the same blocks";
	}
	seqtab_free(&ends);
	return why;
}

/* Where a block is, running alone, when no serial order terminates: is the sentence about such a place? */
static const char *check_halt(struct run *r, const struct verify_question *q, const char *sentence, bool *unknown)
{
	assert(q->problem == PROBLEM_STUCK || q->problem == PROBLEM_ENDLESS);
	struct seqtab halts = { 0 };
	bool found = false;
	struct buf text;
	buf_init(&text);
	if (verify_halts(r, q->block, q->problem, &halts) == VERIFY_LIMIT) {
		*unknown = true;
		buf_free(&text);
		seqtab_free(&halts);
		return "unchecked: too many serial orders to try";
	}
	for (uint32_t i = 0; i < halts.n && !found; i++) {
		uint32_t len;
		const int32_t *h = seqtab_get(&halts, i, &len);
		struct verdict v = { .block = q->block,
			             .problem = q->problem,
			             .halt_thread = (uint32_t)h[0],
			             .halt = (int32_t *)(uintptr_t)(h + 1) };
		buf_clear(&text);
		story_halt(r->ir, &v, &text);
		found = !strcmp(buf_cstr(&text), sentence);
	}
	struct verdict nowhere = { .block = q->block, .problem = q->problem };
	buf_clear(&text);
	story_halt(r->ir, &nowhere, &text);
	found |= !strcmp(buf_cstr(&text), sentence);
	buf_free(&text);
	seqtab_free(&halts);
	return found ? NULL : "the sentence does not state where a block blocks when it runs alone";
}

/* NULL: everything the result says of the run besides its steps is so. */
static const char *check_story(struct run *r, const struct verify_question *q, json_t *result, bool *unknown)
{
	assert(q->of_object == (q->problem == PROBLEM_HISTORY)); /* check_claim() has looked */
	json_t *serial = json_object_get(result, "serial");
	if (q->problem == PROBLEM_HISTORY)
		return NULL; /* same_history has looked */
	json_t *own = own_story(r, q);
	json_t *own_serial = json_object_get(own, "serial");
	bool halt = q->problem == PROBLEM_STUCK || q->problem == PROBLEM_ENDLESS;
	const char *why = NULL;
	if (!own)
		why = "no memory";
	else if (!halt && !same_member(own, result, "sentence"))
		why = "the sentence does not match the run";
	else if (!same_member(own, result, "marks"))
		why = "the marked steps do not match the sentence";
	else if (!same_member(own, result, "waits"))
		why = "what the threads wait for is not what the result says";
	else if (!own_serial != !serial ||
	         (serial && (!same_member(own_serial, serial, "orders") || !same_member(own_serial, serial, "end"))))
		why = "the serial orders shown are not those of the run";
	json_decref(own);
	if (!why && serial)
		why = check_ends(r, q->block, serial, unknown);
	if (!why && halt)
		why = check_halt(r, q, verify_string(result, "sentence"), unknown);
	return why;
}

/* ---- does it go wrong? ------------------------------------------------------------------- */

const char *verify_history_of(const struct run *r, const struct verify_question *c, bool *unknown)
{
	assert(c->of_object && c->object < r->ir->nobjects);
	struct object_history h;
	struct why why;
	int refuted = object_history_init(&h, r, c->object) ? object_history_refuted(&h, c->condition, &why) : -1;
	assert(refuted >= -1 && refuted <= 1);
	object_history_free(&h);
	*unknown = refuted < 0;
	return refuted > 0 ? NULL : refuted ? "too many orders of the operations to try" : "the history meets the condition";
}

static const char *say_serial(enum verify_run_answer a, const char *explained, bool *unknown)
{
	assert(explained && unknown);
	switch (a) {
	case VERIFY_UNEXPLAINED:
		return NULL;
	case VERIFY_EXPLAINED:
		return explained;
	case VERIFY_OPEN:
		return "the run ends inside a block";
	case VERIFY_LIMIT:
		*unknown = true;
		return "unchecked: too many serial orders to try";
	}
	return "?";
}

/* What is asked of one block is judged in the program with its marks alone. */
static const char *check_serial(const struct verify *v, struct run *r, const struct verify_question *c, bool *unknown)
{
	assert(!c->of_object);
	const char *explained = c->problem == PROBLEM_ATOMICITY ? "a serial order explains the run"
	                                                        : "a serial order terminates, or none does for another reason";
	struct run alone, *judged = r;
	struct lang l;
	struct move *path = NULL, *there = NULL;
	uint32_t n;
	assert(c->block == VERDICT_PROGRAM || c->block < r->ir->nblocks);
	const char *why = "unchecked: out of memory";
	bool own = verify_alone(v, c->block, &l), ok = true;
	if (own) {
		ok = run_init(&alone, l.ir) && replay_moves(r, &path) &&
		     single_block_from_whole(l.ir, r->ir, c->block, path, r->nsteps, &there, &n) && replay(&alone, there, n);
		judged = &alone;
	}
	*unknown = !ok;
	if (ok)
		why = say_serial(c->problem == PROBLEM_ATOMICITY ? verify_run(judged, c->block)
		                                                 : verify_halt(judged, c->block, c->problem),
		                 explained, unknown);
	if (own)
		run_free(&alone);
	free(path);
	free(there);
	lang_free(&l);
	return why;
}

/* Is the condition violated at the end of the run? */
static const char *check_property(struct run *r, const struct verify_question *c, bool *unknown)
{
	const struct ir *p = r->ir;
	static const enum verdict_problem problems[] = {
		[IRP_ALWAYS] = PROBLEM_ALWAYS, [IRP_FINALLY] = PROBLEM_FINALLY, [IRP_REACH] = PROBLEM_REACH
	};
	assert(c->object < p->nproperties);
	if (problems[p->properties[c->object].kind] != c->problem)
		return "the problem is not one of such a condition";
	if (run_faulted(r))
		return "the run ends with a fault, not in a state";
	if (c->problem != PROBLEM_REACH)
		return ir_property_broken(p, c->object, run_now(r))                       ? NULL
		       : c->problem == PROBLEM_FINALLY && !ir_all_finished(p, run_now(r)) ? "some thread has not finished"
		                                                                          : "the condition holds in the last state";
	switch (verify_out_of_reach(r, c->object)) {
	case VERIFY_UNEXPLAINED:
		return NULL;
	case VERIFY_LIMIT:
		*unknown = true;
		return "unchecked: too many states after the run";
	default:
		return "a state in which the condition holds can still be reached";
	}
}

static const char *check_claim(const struct verify *v, struct run *r, const struct verify_question *c, bool *unknown)
{
	bool all_done = true;
	bool property = c->problem == PROBLEM_ALWAYS || c->problem == PROBLEM_FINALLY || c->problem == PROBLEM_REACH;
	if (c->of_object != (c->problem == PROBLEM_HISTORY) || c->of_property != property)
		return "the problem does not apply to what the result is about";
	if (c->of_property)
		return check_property(r, c, unknown);
	switch (c->problem) {
	case PROBLEM_HISTORY:
		return verify_history_of(r, c, unknown);
	case PROBLEM_ATOMICITY:
	case PROBLEM_STUCK:
	case PROBLEM_ENDLESS:
		return check_serial(v, r, c, unknown);
	case PROBLEM_QUIESCENCE:
		switch (verify_quiescence(r)) {
		case VERIFY_UNEXPLAINED:
			return NULL;
		case VERIFY_LIMIT:
			*unknown = true;
			return "unchecked: too many states after the run";
		default:
			return "the threads can still leave their blocks";
		}
	case PROBLEM_FAULT:
		return run_faulted(r) ? NULL : "the run has no fault";
	case PROBLEM_DEADLOCK:
		for (uint32_t t = 0; t < r->ir->nthreads; t++) {
			if (run_enabled(r, t))
				return "a thread can still move";
			all_done &= r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END;
		}
		return all_done ? "every thread has finished" : NULL;
	default:
		return "the result claims a problem that cannot be checked";
	}
}

/* NULL: the run is what is claimed of it. */
static const char *check_run(const struct verify *v, struct run *r, const struct verify_question *c, json_t *result, bool *unknown)
{
	assert(r->ir == v->lang.ir);
	if (!same_run(r, json_object_get(result, "counterexample")))
		return "the replay differs from the steps or the state that are claimed";
	if (c->of_object && !same_history(r, c, result))
		return "the history of the run is not the one that is claimed";
	if (!strcmp(verify_string(result, "problem"), "causality"))
		return verify_causal(r, c->block, unknown);
	const char *why = check_claim(v, r, c, unknown);
	return why ? why : check_story(r, c, result, unknown);
}

void verify_counterexample(struct verify *v, json_t *result, const char *name)
{
	assert(v->result == result && v->lang.ir);
	const struct ir *p = v->lang.ir;
	json_t *ce = json_object_get(result, "counterexample");
	const char *schedule = verify_string(ce, "schedule"), *wrong;
	struct why why;
	struct verify_question c;
	struct schedule_list s;
	struct run r;
	if (!verify_question(v, result, &c, &why)) {
		verify_say(v, name, CLAIM_REJECTED, why.text);
		return;
	}
	sched_init(&s);
	bool unknown = false;
	/* the initial state alone can violate a condition on states: then no step is taken */
	bool none = c.of_property && !*schedule && json_is_string(json_object_get(ce, "schedule"));
	if (!json_is_object(ce) || (!*schedule && !none))
		wrong = "it has no schedule";
	else if (!none && !sched_parse(&s, p, "schedule", schedule))
		wrong = "the schedule cannot be read";
	else if (!run_init(&r, p))
		wrong = "no memory";
	else {
		wrong = sched_run(&s, &r) ? check_run(v, &r, &c, result, &unknown) : "the schedule is not possible";
		run_free(&r);
	}
	sched_free(&s);
	verify_say(v, name,
	           !wrong    ? CLAIM_ACCEPTED
	           : unknown ? CLAIM_UNKNOWN
	                     : CLAIM_REJECTED,
	           wrong ? wrong : verify_string(result, "problem"));
}
