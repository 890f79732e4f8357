/*
 * check_verify_holds: what is claimed to hold is searched independently: every run of the declared threads for a
 * block or the program, every history of an object, every state for faults and ways out. What is claimed of more
 * threads than declared is checked by the text (verdict/verify_reduction.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "check/engine.h"
#include "verify/check_verify_int.h"
#include "report/step_text.h"
#include "verdict/single_block.h"
#include "verdict/replay.h"
#include "verdict/verify_reduction.h"
#include "verdict/verify_reach.h"

#define REACH_STATES 10u /* plain states are so much smaller than those with serial executions */

/* ---- for the declared threads --------------------------------------------------------------- */

/* A run that no order explains, as intact sim takes it. */
static void refute(struct verify *v, const char *name, const struct move *path, uint32_t npath,
                   const struct verify_question *object, struct claim *c)
{
	assert(c->name == name);
	assert(!object || (object->of_object && object->object < v->lang.ir->nobjects));
	struct buf schedule;
	struct run r;
	bool open = false;
	buf_init(&schedule);
	bool ok = path && run_init(&r, v->lang.ir);
	ok = ok && replay(&r, path, npath);
	if (ok && object) /* judged once more, by other code */
		ok = !verify_history_of(&r, object, &open);
	if (ok)
		schedule_text(&r, &schedule);
	if (path)
		run_free(&r);
	c->name = name;
	c->answer = ok ? CLAIM_REJECTED : CLAIM_UNKNOWN;
	c->schedule = ok ? buf_cstr(&schedule) : NULL;
	if (!ok)
		c->why = object ? "unchecked: a run seems to refute it, but its history cannot be checked again"
		                : "unchecked: out of memory for the run that refutes it";
	claim_list_add(v->claims, c);
	buf_free(&schedule);
}

/* What a search found about the claim. */
static void judge_anew(struct verify *v, const char *name, const struct verify_exhaustive *a, const struct verify_question *object)
{
	assert(!object || object->of_object);
	assert(a->answer <= VERIFY_LIMIT);
	struct claim c = { .name = name, .claimed = verify_claimed(v), .line = verify_line(v), .states = a->states };
	struct buf why;
	buf_init(&why);
	switch (a->answer) {
	case VERIFY_EXPLAINED:
		c.answer = CLAIM_ACCEPTED;
		if (object)
			buf_printf(&why, "every history is %s", object_conditions[object->condition]);
		else
			buf_str(&why, "every run ends like a serial run");
		buf_printf(&why, " (%llu states searched independently)", (unsigned long long)a->states);
		break;
	case VERIFY_UNEXPLAINED:
		c.why = !object                              ? "no serial order explains the run"
		        : object->condition == OBJECT_ATOMIC ? "no order of its operations explains the run"
		                                             : "a read returns what it may not in the run";
		refute(v, name, a->path, a->npath, object, &c);
		buf_free(&why);
		return;
	case VERIFY_OPEN:
		c.answer = CLAIM_UNKNOWN;
		buf_str(&why, "unchecked: some runs can only be explained by reordering more than 16 steps or blocks at once");
		break;
	case VERIFY_LIMIT:
		c.answer = CLAIM_UNKNOWN;
		buf_printf(&why, "unchecked: limit on %s reached after %llu states", a->limit, (unsigned long long)a->states);
		break;
	}
	c.why = buf_cstr(&why);
	claim_list_add(v->claims, &c);
	buf_free(&why);
}

/* A block by itself, in the program with its marks alone; the run that refutes it is one of the model. */
static void search_alone(struct verify *v, uint32_t block, struct verify_exhaustive *a)
{
	assert(block < v->lang.ir->nblocks);
	struct lang l;
	struct move *path;
	uint32_t n;
	if (!verify_alone(v, block, &l)) {
		verify_exhaustive(a, v->lang.ir, block);
	} else {
		verify_exhaustive(a, l.ir, block);
		if (a->path && single_block_to_whole(l.ir, v->lang.ir, block, a->path, a->npath, &path, &n)) {
			free(a->path);
			a->path = path;
			a->npath = n;
		} else {
			free(a->path);
			a->path = NULL;
		}
	}
	lang_free(&l);
	assert(!a->path || a->answer == VERIFY_UNEXPLAINED);
}

/* ---- for any number of them -------------------------------------------------------------------- */

static bool names(json_t *list, const char *name)
{
	json_t *one;
	size_t i;
	json_array_foreach(list, i, one) if (json_is_string(one) && !strcmp(json_string_value(one), name)) return true;
	return false;
}

/* "worker.update, any number of worker" */
static void any_name(const char *name, json_t *any, struct buf *out)
{
	json_t *one;
	size_t i;
	buf_str(out, name);
	json_array_foreach(any, i, one)
		buf_printf(out, "%s%s", i ? ", " : ", any number of ", json_is_string(one) ? json_string_value(one) : "?");
}

/* The threads that are to be any number: which templates, NULL after a rejection. */
static bool *any_templates(struct verify *v, json_t *any, const char *name)
{
	const struct ir *p = v->lang.ir;
	bool *many = calloc(p->ntemplates + 1ull, sizeof *many);
	size_t known = 0;
	assert(p->ntemplates);
	for (uint32_t t = 0; many && t < p->ntemplates; t++) {
		many[t] = names(any, p->templates[t].name);
		known += many[t];
	}
	if (many && known == json_array_size(any))
		return many;
	free(many);
	verify_say(v, name, CLAIM_REJECTED, "the model has no such threads");
	return NULL;
}

/* Has the model with one more of each of these threads a run that nothing explains? */
static bool refuted_by_more(const struct verify *v, uint32_t block, const bool *many)
{
	assert(many && (block == VERDICT_PROGRAM || block < v->lang.ir->nblocks));
	const struct ir *p = v->lang.ir;
	struct verify_exhaustive a = { .max_states = v->max_states };
	uint32_t *counts = calloc(p->ntemplates + 1ull, sizeof *counts);
	struct lang l;
	for (uint32_t t = 0; counts && t < p->ntemplates; t++)
		counts[t] = p->templates[t].count + many[t];
	lang_init(&l);
	bool ok = counts && lang_load_again(&l, p, block == VERDICT_PROGRAM ? IR_NONE : block, counts);
	if (ok)
		verify_exhaustive(&a, l.ir, block);
	ok = ok && a.answer == VERIFY_UNEXPLAINED;
	free(a.path);
	free(counts);
	lang_free(&l);
	return ok;
}

/* `part`: of a serializable program, where the other blocks are whole. */
static void check_any(struct verify *v, uint32_t block, bool part, json_t *result, const char *name)
{
	assert(block == VERDICT_PROGRAM || block < v->lang.ir->nblocks);
	const struct check_engine *engine = engine_find(verify_string(result, "engine"));
	json_t *any = json_object_get(result, "any_number_of"), *one;
	struct buf what;
	size_t i;
	json_array_foreach(v->asked.any, i, one) if (!json_is_string(one) || !names(any, json_string_value(one)))
	{
		verify_say(v, name, CLAIM_REJECTED,
		           "it was asked for any number of threads, but the result claims only the declared numbers");
		return;
	}
	if (!json_array_size(any))
		return;
	buf_init(&what);
	any_name(name, any, &what);
	bool *many = NULL;
	if (engine && !engine->about.any_threads)
		verify_say(v, buf_cstr(&what), CLAIM_REJECTED, "the engine named proves nothing about other numbers of threads");
	else if ((many = any_templates(v, any, buf_cstr(&what))) != NULL) {
		const char *why = verify_reduction(v->lang.ir, block, many);
		bool wrong = why && !part && refuted_by_more(v, block, many);
		verify_say(v, buf_cstr(&what),
		           wrong ? CLAIM_REJECTED
		           : why ? CLAIM_UNCHECKED
		                 : CLAIM_ACCEPTED,
		           wrong ? "with one more thread of each kind, some run ends like no serial run"
		           : why ? why
		                 : "right-movers, at most one non-mover, left-movers on every path, by the locks held");
	}
	free(many);
	buf_free(&what);
}

/* ---- by visiting all states ------------------------------------------------------------------ */

static void judge_reach(struct verify *v, const char *name, const struct verify_reach *r, enum verify_run_answer a,
                        const char *fine, const char *wrong, const struct move *path, uint32_t npath)
{
	assert(a != VERIFY_UNEXPLAINED || wrong);
	struct claim c = { .name = name, .claimed = "holds", .states = r->states };
	struct buf why;
	buf_init(&why);
	if (a == VERIFY_UNEXPLAINED) {
		c.why = wrong;
		refute(v, name, path, npath, NULL, &c);
	} else {
		c.answer = a == VERIFY_EXPLAINED ? CLAIM_ACCEPTED : CLAIM_UNKNOWN;
		if (a == VERIFY_EXPLAINED)
			buf_printf(&why, "%s (%llu states searched independently)", fine, (unsigned long long)r->states);
		else
			buf_printf(&why, "unchecked: limit on %s reached after %llu states", r->limit,
			           (unsigned long long)r->states);
		c.why = buf_cstr(&why);
		claim_list_add(v->claims, &c);
	}
	buf_free(&why);
}

/* A condition on states: for as many threads as are declared. */
static void property_holds(struct verify *v, const char *name, uint32_t property)
{
	struct verify_reach r = { .max_states = v->max_states * REACH_STATES, .property1 = property + 1 };
	enum ir_property_kind k = v->lang.ir->properties[property].kind;
	if (json_array_size(v->asked.any)) {
		verify_say(v, name, CLAIM_REJECTED,
		           "it was asked for any number of threads, but the result claims only the declared numbers");
		return;
	}
	verify_reach(&r, v->lang.ir);
	if (k == IRP_FINALLY && r.out == VERIFY_EXPLAINED && !r.ended)
		verify_say(v, name, CLAIM_REJECTED,
		           "no run ends with all threads finished, so the condition was looked at in no state");
	else
		judge_reach(v, name, &r, r.out,
		            k == IRP_ALWAYS    ? "it holds in every reachable state"
		            : k == IRP_FINALLY ? "it holds whenever all threads have finished"
		                               : "from every reachable state, one in which it holds can be reached",
		            k == IRP_REACH ? "after the run the condition never holds again"
		                           : "the run leads to a state that breaks it",
		            r.out_path, r.nout);
	verify_reach_free(&r);
}

void verify_implied(struct verify *v, uint32_t property)
{
	struct verify_reach r = { .max_states = v->max_states * REACH_STATES, .property1 = property + 1 };
	const char *name = v->lang.ir->properties[property].text;
	verify_reach(&r, v->lang.ir);
	if (r.ended)
		verify_say(v, name, CLAIM_REJECTED, "some run ends, but the result has no answer");
	else if (r.limit)
		verify_say(v, name, CLAIM_UNKNOWN,
		           "the result has no answer, and there are too many states to see whether a run ends");
	verify_reach_free(&r);
}

void verify_holds(struct verify *v, json_t *result, const char *name)
{
	assert(v->result == result && v->max_states);
	struct verify_exhaustive own = { .max_states = v->max_states }, *a = &own;
	struct verify_question c;
	struct why why;
	if (!verify_question(v, result, &c, &why)) {
		verify_say(v, name, CLAIM_REJECTED, why.text);
		return;
	}
	if ((c.of_property || c.of_object) && json_array_size(json_object_get(result, "any_number_of"))) {
		verify_say(v, name, CLAIM_REJECTED, "conditions and objects are decided for the declared numbers of threads only");
		return;
	}
	if (c.of_property) {
		property_holds(v, name, c.object);
		return;
	}
	bool part = json_is_true(json_object_get(result, "as_part"));
	if (c.of_object) {
		verify_exhaustive_object(a, v->lang.ir, c.object, c.condition);
	} else if (c.block == VERDICT_PROGRAM || part) {
		a = &v->program;
		a->max_states = v->max_states;
		if (!a->states)
			verify_exhaustive(a, v->lang.ir, VERDICT_PROGRAM);
	} else {
		search_alone(v, c.block, a);
	}
	judge_anew(v, name, a, c.of_object ? &c : NULL);
	if (!c.of_object && a->answer == VERIFY_EXPLAINED)
		check_any(v, c.block, part, result, name);
	if (a == &own)
		free(own.path);
}

/* ---- what is said of the whole ------------------------------------------------------------------ */

/* The result does not know whether threads can always leave their blocks: it claims nothing, but must not hide what is found. */
static void judge_unknown_way(struct verify *v, const struct verify_reach *r)
{
	assert(r->ways_out);
	verify_say(v, "way out", r->out == VERIFY_EXPLAINED ? CLAIM_ACCEPTED : CLAIM_UNKNOWN,
	           r->out == VERIFY_EXPLAINED ? "the result says unknown; the threads can always leave their blocks"
	           : r->out == VERIFY_UNEXPLAINED
	                   ? "the result says unknown; there are runs after which the threads can never all leave their blocks"
	                   : "the result says unknown, and there are too many states to search");
}

void verify_whole(struct verify *v, json_t *root, bool faults, bool lost)
{
	assert(!v->result); /* these claims belong to no result */
	const char *said = verify_string(root, "quiescence");
	bool always = !strcmp(said, "always"), unknown = !strcmp(said, "unknown");
	struct verify_reach r = { .max_states = v->max_states * REACH_STATES,
		                  .ways_out = always || unknown,
		                  .deadlocks = v->asked.deadlock };
	if (v->asked.quiescence && !*said)
		verify_say(v, "way out", CLAIM_REJECTED,
		           "the result does not answer whether threads can always leave their blocks");
	else if (lost != !strcmp(said, "lost"))
		verify_say(v, "way out", CLAIM_REJECTED,
		           lost ? "the result shows a run after which threads cannot leave their blocks but claims otherwise"
		                : "the result claims that threads cannot always leave their blocks but shows no run");
	if (!faults && !r.ways_out)
		return;
	verify_reach(&r, v->lang.ir);
	if (faults)
		judge_reach(
			v, "faults", &r, r.fault, r.deadlocks ? "no run has a fault or ends in a deadlock" : "no run has a fault",
			r.deadlocks ? "the run has a fault or ends in a deadlock" : "the run has a fault", r.fault_path, r.nfault);
	if (faults && json_array_size(v->asked.any))
		verify_say(v, "faults", CLAIM_UNCHECKED, "not checked for more threads than declared");
	if (always)
		judge_reach(v, "way out", &r, r.out, "the threads can always leave their blocks",
		            "after the run the threads can never all leave their blocks", r.out_path, r.nout);
	else if (unknown)
		judge_unknown_way(v, &r);
	verify_reach_free(&r);
}
