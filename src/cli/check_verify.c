/*
 * check_verify: see check_verify.h.
 *
 * Counterexamples are replayed, the replay is compared with what the result says step by step, and the claim (no
 * serial order explains it, it faults, it is a deadlock) is decided anew. Of what is claimed to be atomic every
 * run is gone through, if there are not too many.
 */
#include "cli/check_verify.h"

#include <stdlib.h>
#include <string.h>

#include "cli/model.h"
#include "cli/sim.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "report/step_text.h"
#include "verdict/object_history.h"
#include "verdict/replay.h"
#include "verdict/verify.h"
#include "verdict/verify_anew.h"
#include "verdict/verify_causal.h"
#include "verdict/verify_reach.h"

#define REACH_STATES 10u /* plain states are so much smaller than those with serial executions */

struct verify {
	struct ledger *ledger;
	const char *model;
	uint64_t max_states;
	struct lang lang;
	struct verify_anew program; /* .states: 0 before the search */
	json_t *result;            /* the one being looked at, or NULL */
};

struct question { /* what a result is about, and what it says is wrong */
	enum problem problem;
	uint32_t block;
	bool of_object;
	uint32_t object;
	enum object_condition condition;
};

static const char *get_string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* The verdict, if it is one. */
static const char *claimed(json_t *result)
{
	static const char *const all[] = { "holds", "violated", "unknown" };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(get_string(result, "verdict"), all[i]))
			return all[i];
	return NULL;
}

static uint32_t line_of(json_t *result)
{
	json_int_t line = json_integer_value(json_object_get(result, "line"));
	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

static void answer(struct verify *v, const char *name, enum ledger_answer a, const char *why)
{
	ledger_add(v->ledger, &(struct claim){ .name = name, .claimed = claimed(v->result), .answer = a, .why = why,
	                                       .line = line_of(v->result) });
}

static void reject(struct verify *v, const char *name, const char *why)
{
	answer(v, name, LEDGER_REJECTED, why);
}

/* The block of this name, VERDICT_PROGRAM for none; false: no such block. */
static bool find_block(const struct ir *p, json_t *result, uint32_t *block)
{
	json_t *name = json_object_get(result, "block");
	*block = VERDICT_PROGRAM;
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
static bool find_object(const struct ir *p, json_t *result, struct question *c)
{
	const char *name = get_string(result, "object"), *condition = get_string(result, "condition");
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

/* Does the replay say of itself what the result says of it? */
static bool same_run(const struct run *r, json_t *claimed)
{
	struct buf text;
	buf_init(&text);
	buf_char(&text, '{');
	check_json_run(r, &text);
	buf_char(&text, '}');
	json_t *own = json_loads(buf_cstr(&text), 0, NULL);
	bool same = own && json_equal(own, claimed);
	json_decref(own);
	buf_free(&text);
	return same;
}

/* Is the history, and the sentence about it, what the run has? */
static bool same_history(const struct run *r, const struct question *c, json_t *result)
{
	struct object_history h;
	struct buf text, why;
	buf_init(&text);
	buf_init(&why);
	check_json_history(r, c->object, &text);
	json_t *own = json_loads(buf_cstr(&text), 0, NULL);
	bool same = own && json_equal(own, json_object_get(result, "history"));
	if (object_history_init(&h, r, c->object) && object_history_why(&h, c->condition, &why))
		same &= !strcmp(buf_cstr(&why), get_string(result, "sentence"));
	object_history_free(&h);
	json_decref(own);
	buf_free(&text);
	buf_free(&why);
	return same;
}

/* The history of the run, made and judged anew. */
static const char *check_history(const struct run *r, const struct question *c, bool *unknown)
{
	struct object_history h;
	struct buf why;
	buf_init(&why);
	int refuted = object_history_init(&h, r, c->object) ? object_history_refuted(&h, c->condition, &why) : -1;
	object_history_free(&h);
	buf_free(&why);
	*unknown = refuted < 0;
	return refuted > 0 ? NULL
	       : refuted   ? "too many orders of the operations to try"
	                   : "the history meets the condition";
}

static const char *check_claim(struct run *r, const struct question *c, bool *unknown)
{
	bool all_done = true;
	if (c->of_object != (c->problem == PROBLEM_HISTORY))
		return "the problem is not one of what the result is about";
	switch (c->problem) {
	case PROBLEM_HISTORY:
		return check_history(r, c, unknown);
	case PROBLEM_ATOMICITY:
		switch (verify_run(r, c->block)) {
		case VERIFY_UNEXPLAINED:
			return NULL;
		case VERIFY_EXPLAINED:
			return "a serial order explains the run";
		case VERIFY_OPEN:
			return "the run ends inside a block";
		case VERIFY_LIMIT:
			*unknown = true;
			return "unchecked: too many serial orders to try";
		}
		return "?";
	case PROBLEM_STUCK:
	case PROBLEM_ENDLESS:
		switch (verify_halt(r, c->block, c->problem)) {
		case VERIFY_UNEXPLAINED:
			return NULL;
		case VERIFY_EXPLAINED:
			return "a serial order comes to an end, or none does for another reason";
		case VERIFY_OPEN:
			return "the run ends inside a block";
		case VERIFY_LIMIT:
			*unknown = true;
			return "unchecked: too many serial orders to try";
		}
		return "?";
	case PROBLEM_QUIESCENCE:
		switch (verify_quiescence(r)) {
		case VERIFY_UNEXPLAINED:
			return NULL;
		case VERIFY_LIMIT:
			*unknown = true;
			return "unchecked: too many states behind the run";
		default:
			return "the threads can still leave their blocks";
		}
	case PROBLEM_FAULT:
		return run_faulted(r) ? NULL : "the run does not go wrong";
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

static void check_counterexample(struct verify *v, json_t *result, const char *name)
{
	const struct ir *p = v->lang.ir;
	json_t *ce = json_object_get(result, "counterexample");
	const char *schedule = get_string(ce, "schedule"), *why;
	struct question c = { .problem = problem_from(get_string(result, "problem")),
		           .of_object = json_object_get(result, "object") != NULL };
	struct sched s;
	struct run r;
	if (c.of_object && !json_is_null(json_object_get(result, "block"))) {
		reject(v, name, "it is about an object and a block at once");
		return;
	}
	if (c.of_object ? !find_object(p, result, &c) : !find_block(p, result, &c.block)) {
		reject(v, name, c.of_object ? "the model has no such object at that line, or no such condition exists"
		                            : "the model has no such block at that line");
		return;
	}
	sched_init(&s);
	bool unknown = false;
	if (!json_is_object(ce) || !*schedule)
		why = "it has no schedule";
	else if (!sched_parse(&s, p, "schedule", schedule))
		why = "the schedule cannot be read";
	else if (!run_init(&r, p))
		why = "no memory";
	else {
		if (!sched_run(&s, &r))
			why = "the schedule is not possible";
		else if (!same_run(&r, ce))
			why = "the replay differs from the steps or the state that are claimed";
		else if (c.of_object && !same_history(&r, &c, result))
			why = "the history of the run is not the one that is claimed";
		else if (!strcmp(get_string(result, "problem"), "causality"))
			why = verify_causal(&r, c.block, &unknown);
		else
			why = check_claim(&r, &c, &unknown);
		run_free(&r);
	}
	sched_free(&s);
	answer(v, name, !why ? LEDGER_ACCEPTED : unknown ? LEDGER_UNKNOWN : LEDGER_REJECTED,
	       why ? why : get_string(result, "problem"));
}

/* ---- what holds --------------------------------------------------------- */

/* A run that no order explains, as intact sim takes it. */
static void refute(struct verify *v, const char *name, const struct verify_anew *a, const struct question *object, struct claim *c)
{
	struct buf schedule;
	struct run r;
	bool open = false;
	buf_init(&schedule);
	bool ok = run_init(&r, v->lang.ir) && replay(&r, a->path, a->npath);
	if (ok && object) /* judged once more, by other code */
		ok = !check_history(&r, object, &open);
	if (ok)
		text_schedule(&r, &schedule);
	run_free(&r);
	c->name = name;
	c->answer = ok ? LEDGER_REJECTED : LEDGER_UNKNOWN;
	c->schedule = ok ? buf_cstr(&schedule) : NULL;
	if (!ok)
		c->why = object ? "unchecked: a run seems to refute it, but its history cannot be judged again"
		                : "unchecked: no memory for the run that refutes it";
	ledger_add(v->ledger, c);
	buf_free(&schedule);
}

/* What a search found about the claim. */
static void judge_anew(struct verify *v, const char *name, const struct verify_anew *a, const struct question *object, bool any)
{
	struct claim c = { .name = name, .claimed = claimed(v->result), .line = line_of(v->result), .states = a->states };
	struct buf why;
	buf_init(&why);
	switch (a->answer) {
	case VERIFY_EXPLAINED:
		c.answer = LEDGER_ACCEPTED;
		if (object)
			buf_printf(&why, "every history is %s", object_conditions[object->condition]);
		else
			buf_str(&why, "every run ends like a serial one");
		buf_printf(&why, " (%llu states gone through anew%s)", (unsigned long long)a->states,
		           any ? "; that more threads change nothing is not checked" : "");
		break;
	case VERIFY_UNEXPLAINED:
		c.why = !object                                ? "no serial order explains the run"
		        : object->condition == OBJECT_ATOMIC ? "no order of its operations explains the run"
		                                             : "a read returns what it may not in the run";
		refute(v, name, a, object, &c);
		buf_free(&why);
		return;
	case VERIFY_OPEN:
		c.answer = LEDGER_UNKNOWN;
		buf_str(&why, "unchecked: some runs are explained only when more than 16 steps or blocks change places at once");
		break;
	case VERIFY_LIMIT:
		c.answer = LEDGER_UNKNOWN;
		buf_printf(&why, "unchecked: limit on %s spent after %llu states", a->limit, (unsigned long long)a->states);
		break;
	}
	c.why = buf_cstr(&why);
	ledger_add(v->ledger, &c);
	buf_free(&why);
}

static void check_holds(struct verify *v, json_t *result, const char *name)
{
	struct verify_anew own = { .max_states = v->max_states }, *a = &own;
	json_t *any = json_object_get(result, "any_number_of");
	struct question c = { .of_object = json_object_get(result, "object") != NULL };
	uint32_t block = VERDICT_PROGRAM;
	if (c.of_object ? !find_object(v->lang.ir, result, &c) : !find_block(v->lang.ir, result, &block)) {
		reject(v, name, c.of_object ? "the model has no such object at that line, or no such condition exists"
		                            : "the model has no such block at that line");
		return;
	}
	if (c.of_object) {
		verify_anew_object(a, v->lang.ir, c.object, c.condition);
	} else if (block == VERDICT_PROGRAM || json_is_true(json_object_get(result, "as_part"))) {
		a = &v->program;
		a->max_states = v->max_states;
		block = VERDICT_PROGRAM;
	}
	if (!c.of_object && !a->states)
		verify_anew(a, v->lang.ir, block);
	judge_anew(v, name, a, c.of_object ? &c : NULL, json_array_size(any) > 0);
	if (a == &own)
		free(own.path);
}

/* ---- what is said of the whole ------------------------------------------ */

/* Do the results come from engines that look at causes alone? They meet no fault. */
static bool causes_alone(json_t *root)
{
	json_t *result;
	size_t i;
	json_array_foreach(json_object_get(root, "results"), i, result)
		if (!strcmp(get_string(result, "engine"), "cover") || !strcmp(get_string(result, "engine"), "unfold"))
			return true;
	return false;
}

static void judge_reach(struct verify *v, const char *name, const struct verify_reach *r, enum verify_answer a, const char *fine,
                        const char *wrong, const struct move *path, uint32_t npath)
{
	struct claim c = { .name = name, .claimed = "holds", .states = r->states };
	struct buf why;
	buf_init(&why);
	if (a == VERIFY_UNEXPLAINED) {
		struct verify_anew found = { .path = (struct move *)(uintptr_t)path, .npath = npath };
		c.why = wrong;
		refute(v, name, &found, NULL, &c);
	} else {
		c.answer = a == VERIFY_EXPLAINED ? LEDGER_ACCEPTED : LEDGER_UNKNOWN;
		if (a == VERIFY_EXPLAINED)
			buf_printf(&why, "%s (%llu states gone through anew)", fine, (unsigned long long)r->states);
		else
			buf_printf(&why, "unchecked: limit on %s spent after %llu states", r->limit, (unsigned long long)r->states);
		c.why = buf_cstr(&why);
		ledger_add(v->ledger, &c);
	}
	buf_free(&why);
}

/* A result that holds says that no run goes wrong, and `quiescence` that threads always get out of their blocks. */
static void check_whole(struct verify *v, json_t *root)
{
	bool holds = !strcmp(get_string(root, "verdict"), "holds") && !causes_alone(root);
	struct verify_reach r = { .max_states = v->max_states * REACH_STATES,
		                  .ways_out = !strcmp(get_string(root, "quiescence"), "always") };
	if (!holds && !r.ways_out)
		return;
	verify_reach(&r, v->lang.ir);
	if (holds)
		judge_reach(v, "faults", &r, r.fault, "no run goes wrong", "the run goes wrong", r.fault_path, r.nfault);
	if (r.ways_out)
		judge_reach(v, "way out", &r, r.out, "the threads can always leave their blocks",
		            "the threads can never all leave their blocks again after the run", r.out_path, r.nout);
	verify_reach_free(&r);
}

/* ---- the document ------------------------------------------------------- */

/* The model the result is about: its own text, held against its hash and,
 * when a file is named, against that. */
static int load_model(struct verify *v, json_t *root)
{
	json_t *m = json_object_get(root, "model");
	json_t *text = json_object_get(m, "text"), *threads = json_object_get(m, "threads"), *n;
	const char *name, *language = get_string(m, "language");
	char hash[17];
	if (!json_is_string(text) || !json_is_object(threads)) {
		buf_str(&v->ledger->cli->err, "intact verify: ");
		buf_safe(&v->ledger->cli->err, v->ledger->file, strlen(v->ledger->file));
		buf_str(&v->ledger->cli->err, ": the result carries no model\n");
		return EXIT_USAGE;
	}
	text_hash(json_string_value(text), json_string_length(text), hash);
	if (strcmp(hash, get_string(m, "hash"))) {
		reject(v, "model", "its text does not have the hash that is claimed");
		return EXIT_VIOLATED;
	}
	struct lang_threads *counts =
		arena_array(&v->lang.arena, struct lang_threads, json_object_size(threads) + 1);
	struct lang_options o = { .threads = counts, .sml = !strcmp(language, "sml"),
		                  .keep_dead = !strcmp(get_string(m, "dead"), "kept") };
	json_object_foreach(threads, name, n) {
		json_int_t count = json_integer_value(n);
		if (count < 1 || count > 10000) {
			reject(v, "model", "a number of threads is out of range");
			return EXIT_VIOLATED;
		}
		counts[o.nthreads++] = (struct lang_threads){ .name = name, .count = (uint32_t)count };
	}
	if (!lang_load_text(&v->lang, get_string(m, "name"), json_string_value(text),
	                    json_string_length(text), &o)) {
		reject(v, "model", "it does not load");
		return EXIT_VIOLATED;
	}
	return EXIT_HOLDS;
}

static bool same_file(struct verify *v, json_t *root)
{
	struct arena a;
	struct source src;
	const char *why;
	json_t *text = json_object_get(json_object_get(root, "model"), "text");
	arena_init(&a, 0);
	bool ok = source_read(&src, &a, v->model, &why);
	if (!ok)
		buf_printf(&v->ledger->cli->err, "intact verify: %s: %s\n", v->model, why);
	else if (src.len != json_string_length(text) ||
	         memcmp(src.text, json_string_value(text), src.len)) {
		reject(v, "model", "the result is about another text than the file's");
		ok = false;
	}
	arena_free(&a);
	return ok;
}

static void check_one(struct verify *v, json_t *result)
{
	const char *name = get_string(result, "block"), *verdict = get_string(result, "verdict");
	if (!*name)
		name = *get_string(result, "object") ? get_string(result, "object") : "program";
	if (!strcmp(verdict, "violated") && !strcmp(get_string(result, "problem"), "causality") &&
	    !json_object_get(result, "counterexample"))
		answer(v, name, LEDGER_UNCHECKED, "by an abstract run: nothing to replay");
	else if (!strcmp(verdict, "violated"))
		check_counterexample(v, result, name);
	else if (!strcmp(verdict, "holds"))
		check_holds(v, result, name);
	else if (!strcmp(verdict, "unknown"))
		answer(v, name, LEDGER_UNCHECKED, "nothing to check");
	else
		reject(v, name, "no such verdict");
}

static int check_result(struct verify *v, json_t *root)
{
	int rc = load_model(v, root);
	size_t i;
	json_t *result;
	if (rc != EXIT_HOLDS)
		return rc;
	if (v->model && !same_file(v, root))
		return v->ledger->n[LEDGER_REJECTED] ? EXIT_VIOLATED : EXIT_USAGE;
	bool violated = false;
	json_array_foreach(json_object_get(root, "results"), i, result) {
		v->result = result;
		violated |= !strcmp(get_string(result, "verdict"), "violated");
		check_one(v, result);
	}
	v->result = NULL;
	check_whole(v, root);
	if (violated != !strcmp(get_string(root, "verdict"), "violated"))
		reject(v, "result", "its verdict is not that of its parts");
	return ledger_code(v->ledger);
}

int check_verify_report(struct ledger *l, json_t *root, const char *model, uint64_t max_states)
{
	struct verify v = { .ledger = l, .model = model, .max_states = max_states };
	const char *name = get_string(json_object_get(root, "model"), "name");
	l->subject = model ? model : *name ? name : NULL;
	lang_init(&v.lang);
	int rc = check_result(&v, root);
	struct buf *text = ledger_text(l);
	if (text && rc != EXIT_USAGE)
		buf_printf(text, "%u accepted, %u rejected, %u unknown, %u without a witness\n", l->n[LEDGER_ACCEPTED],
		           l->n[LEDGER_REJECTED], l->n[LEDGER_UNKNOWN], l->n[LEDGER_UNCHECKED]);
	lang_free(&v.lang);
	free(v.program.path);
	return rc;
}
