#include "judge/object_judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "history/history.h"
#include "history/judged.h"
#include "history/object.h"
#include "judge/object_history.h"
#include "judge/object_scenario.h"

/* ---- what is asked ---- */

static int name_index(const char *const *names, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static bool wrong(struct buf *err, const struct objtest_about *a, const char *what, const char *name, const char *hint)
{
	buf_str(err, "intact: object test '");
	buf_safe(err, a->name, strlen(a->name));
	buf_printf(err, "': %s '", what);
	buf_safe(err, name, strlen(name));
	buf_printf(err, "'\nhint: %s\n", hint);
	return false;
}

static bool set_condition(struct object_judge *j, struct buf *err)
{
	static const char *const own[] = { "linearizable", "sequential", "quiescent", NULL };
	const char *name = j->about->condition;
	int i = name_index(own, name);
	if (!strcmp(name, "none"))
		return (!j->named && !j->about->has_model) ||
		       wrong(err, j->about, "a specification or a model is given, and the condition is", name,
		             "leave one of them out: with \"none\" results are compared with nothing");
	if (j->named) {
		int k = i == SEQ_LINEARIZABLE ? 0 : name_index(condition_names, name);
		if (k < 0)
			return wrong(err, j->about, "unknown condition", name,
			             "with a specification: linearizable, sequential, regular or safe");
		j->args.condition = k;
		return true;
	}
	if (i < 0)
		return wrong(err, j->about, "unknown condition", name,
		             "linearizable, sequential, quiescent or none; regular and safe need a specification (`spec`)");
	j->condition = (enum seq_condition)i;
	return true;
}

/* Operations that the built-in object does not have would be found out by the first history only. */
static bool operations_fit(const struct object_judge *j, struct buf *err)
{
	const struct objtest_about *a = j->about;
	for (uint32_t i = 0; i < a->nops && !j->args.spec; i++)
		if (!object_operation((enum object)j->args.object, fn_by_name(a->op[i].as, strlen(a->op[i].as))))
			return wrong(err, a, "the specification has no operation", a->op[i].as,
			             "`intact explain objects` shows its operations; `as` gives an operation another name there");
	return true;
}

static bool set_spec(struct object_judge *j, struct buf *err)
{
	const char *spec = j->about->spec;
	j->named = *spec != 0;
	if (!j->named)
		return true;
	j->args.nil = HISTORY_NIL_VALUE;
	j->args.pairs = HISTORY_PAIRS_NO;
	j->args.failed_cas = 1;
	j->args.format = FORMAT_OF_RECORDED;
	j->args.jobs = 1;
	if (strchr(spec, '.')) {
		j->args.spec = spec;
	} else {
		j->args.object = (int)object_by_name(spec, strlen(spec));
		j->args.init = *j->about->initial ? j->about->initial : NULL;
		if (!j->args.object)
			return wrong(err, j->about, "unknown specification", spec,
			             "`intact explain objects` lists the objects; a file's name has a dot (queue.spec)");
		if (object_type((enum object)j->args.object)->init == INIT_BOUND && !j->args.init)
			return wrong(err, j->about, "`initial` is missing for the specification", spec,
			             ".initial = \"4\": the room of a bounded queue; k of a relaxed object");
		if (!operations_fit(j, err))
			return false;
	}
	return true;
}

bool object_judge_init(struct object_judge *j, const struct objtest_about *about, char **argv, bool keeps_pipe, double stall,
                       uint64_t max_steps, bool happens, struct buf *err)
{
	memset(j, 0, sizeof *j);
	j->about = about;
	buf_init(&j->results);
	buf_init(&j->spoilt);
	buf_init(&j->error);
	buf_init(&j->reason);
	sequential_init(&j->sequential, argv, keeps_pipe, stall, max_steps, &j->error);
	if (!set_spec(j, err) || !set_condition(j, err))
		return false;
	if (happens && (j->named ? j->args.condition != COND_SEQUENTIAL : j->condition == SEQ_QUIESCENT))
		return wrong(err, about,
		             j->named ? "--memory=c11 cannot check in real time against"
		                      : "--memory=c11 cannot check the condition",
		             j->named ? about->spec : about->condition,
		             "under C11 memory calls are ordered by happens-before: compare with the object itself or with a "
		             "model, or use the "
		             "condition \"sequential\"");
	j->happens = happens;
	if (!j->named)
		return true;
	struct why why;
	const char *bad = history_args_wrong(&j->args, &why);
	if (bad)
		return wrong(err, about, bad, about->spec, "see `intact history --help`");
	j->sink = (struct history_sink){
		.results = &j->results, .err = &j->spoilt, .bad_only = true, .judged = object_keep_order, .judged_arg = j
	};
	j->run = history_run_new(&j->args, &j->sink);
	if (!j->run)
		buf_add(err, j->spoilt.data, j->spoilt.len);
	return j->run != NULL;
}

void object_judge_free(struct object_judge *j)
{
	sequential_free(&j->sequential);
	free(j->kept);
	history_run_free(j->run);
	buf_free(&j->results);
	buf_free(&j->spoilt);
	buf_free(&j->error);
	buf_free(&j->reason);
}

const char *object_judge_against(const struct object_judge *j, struct arena *a)
{
	if (j->args.spec)
		return arena_printf(a, "the specification in %s", j->args.spec);
	if (j->named)
		return arena_printf(a, "the built-in specification '%s'", object_names[j->args.object]);
	return j->about->has_model ? "the model, called by one thread at a time"
	                           : "the object itself, called by one thread at a time";
}

/* ---- is it a history? ---- */

static bool fits(const struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	uint8_t seen[OBJTEST_CALLS] = { 0 };
	uint32_t last[OBJTEST_THREADS + 1] = { 0 };
	uint64_t returned = 0;
	if (sc->ncalls > OBJTEST_CALLS || sc->nthreads > OBJTEST_THREADS || h->nevents > 2 * sc->ncalls)
		return false;
	if ((h->partial == OBJTEST_HAPPENS) != j->happens || h->partial > OBJTEST_HAPPENS)
		return false;
	for (uint32_t i = 0; i < sc->ncalls; i++)
		if (sc->call[i].op >= j->about->nops || sc->call[i].thread > sc->nthreads || h->state[i] > OBJTEST_RETURNED)
			return false;
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t c = h->event[i] / 2, thread;
		if (c >= sc->ncalls || seen[c] != (h->event[i] & 1))
			return false;
		thread = sc->call[c].thread;
		if (!(h->event[i] & 1) && last[thread] && seen[last[thread] - 1] != 2)
			return false; /* a second call while one is open */
		if (h->partial == OBJTEST_HAPPENS && !(h->event[i] & 1) && h->last_first[c] & ~returned)
			return false;
		returned |= h->event[i] & 1 ? 1ull << c : 0;
		last[thread] = c + 1;
		seen[c]++;
	}
	for (uint32_t i = 0; i < sc->ncalls; i++)
		if (seen[i] != (h->state[i] == OBJTEST_RETURNED ? 2 : h->state[i] == OBJTEST_CALLED))
			return false;
	return true;
}

/* ---- reasons ---- */

static void call_write(const struct object_judge *j, const struct objtest_call *c, struct buf *out)
{
	scenario_call_write(j->about, c, out);
	if (c->thread)
		buf_printf(out, " of T%u", c->thread);
	else
		buf_str(out, " of main");
}

static void reason_of_waiting(struct object_judge *j, const struct objtest_scenario *sc, uint32_t call)
{
	struct buf *b = &j->reason;
	call_write(j, &sc->call[call], b);
	buf_str(b, " waits forever, although it would return: in every order of the calls that returned, one at a time, it goes on "
	           "when it is made after them");
}

static void reason_of_orders(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h,
                             const struct seq_reason *w)
{
	struct buf *b = &j->reason;
	buf_str(b, "no order of the calls, made one at a time, gives these results");
	if (w->n) {
		buf_str(b, "; the longest that agrees is ");
		for (uint32_t i = 0; i < w->n; i++) {
			const struct objtest_call *c = &sc->call[w->order[i]];
			buf_str(b, i ? ", " : "");
			call_write(j, c, b);
			buf_str(b, " -> ");
			if (h->state[w->order[i]] == OBJTEST_RETURNED)
				scenario_result_write(j->about, c, h->result[w->order[i]], b);
			else
				buf_str(b, "?");
		}
	}
	for (uint32_t c = 0, any = 0; c < sc->ncalls; c++) {
		if (!(w->next >> c & 1))
			continue;
		buf_str(b, any++ ? ", and " : w->n ? "; then " : ": ");
		call_write(j, &sc->call[c], b);
		if (w->waits[c]) {
			buf_str(b, w->waits[c] == 2 ? " would crash" : " would wait");
		} else {
			buf_str(b, " would return ");
			scenario_result_write(j->about, &sc->call[c], w->result[c], b);
		}
		buf_str(b, ", not ");
		scenario_result_write(j->about, &sc->call[c], h->result[c], b);
	}
}

/* ---- orders that are kept ---- */

static uint32_t slot_of_results(const struct objtest_scenario *sc, const struct objtest_history *h)
{
	uint64_t x = 0x9e3779b97f4a7c15u;
	for (uint32_t c = 0; c < sc->ncalls; c++)
		x = (x ^ (uint64_t)h->result[c] ^ (uint64_t)h->state[c] << 60) * 0xd1b54a32d192ed03u + (x >> 32);
	return (uint32_t)(x >> 40) & (JUDGE_ORDERS - 1);
}

static bool same_results(const struct judge_order *k, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	bool same = true;
	for (uint32_t c = 0; c < sc->ncalls && same; c++)
		same = k->state[c] == h->state[c] && k->result[c] == h->result[c];
	return same;
}

/* Orders of another scenario are no use. */
static void about(struct object_judge *j, const struct objtest_scenario *sc)
{
	if (j->kept && !memcmp(&j->scenario, sc, sizeof *sc))
		return;
	j->scenario = *sc;
	j->nkept = 0;
	j->nscenarios++;
	if (!j->kept)
		j->kept = calloc(JUDGE_ORDERS, sizeof *j->kept);
}

/* Is the order of a history that ended the calls `ended[c]` before c began? */
static bool agrees(const struct judge_order *k, uint32_t ncalls, const uint64_t *ended)
{
	bool ok = true;
	assert(ncalls <= OBJTEST_CALLS && k->ordered);
	for (uint32_t c = 0; c < ncalls && ok; c++)
		ok = !(k->ordered >> c & 1) || !(ended[c] & k->ordered & ~k->before[c]);
	return ok;
}

static const struct judge_order *find_order(const struct object_judge *j, const struct objtest_scenario *sc,
                                            const struct objtest_history *h)
{
	uint64_t ended[OBJTEST_CALLS] = { 0 }, so_far = 0;
	for (uint32_t i = 0; i < h->nevents; i++) {
		if (h->event[i] & 1)
			so_far |= 1ull << h->event[i] / 2;
		else
			ended[h->event[i] / 2] = so_far;
	}
	for (uint32_t i = slot_of_results(sc, h); j->kept && j->kept[i].scenario == j->nscenarios; i = (i + 1) & (JUDGE_ORDERS - 1))
		if (same_results(&j->kept[i], sc, h) && agrees(&j->kept[i], sc->ncalls, ended))
			return &j->kept[i];
	return NULL;
}

static void keep_explanation(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	if (!j->kept || j->nkept >= JUDGE_ORDERS / 2)
		return;
	assert(j->ordered && !h->stuck);
	uint32_t i = slot_of_results(sc, h);
	while (j->kept[i].scenario == j->nscenarios)
		i = (i + 1) & (JUDGE_ORDERS - 1);
	struct judge_order *k = &j->kept[i];
	k->scenario = j->nscenarios;
	memcpy(k->state, h->state, sizeof k->state);
	memcpy(k->result, h->result, sizeof k->result);
	k->ordered = j->ordered;
	memcpy(k->before, j->before, sizeof k->before);
	j->nkept++;
}

/* ---- one history, and all histories of a trace ---- */

static enum seq_verdict judge_one(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	struct seq_reason why = { .waiting = OBJTEST_CALLS };
	enum seq_verdict v;
	about(j, sc);
	const struct judge_order *kept = h->partial == OBJTEST_HAPPENS || h->stuck ? NULL : find_order(j, sc, h);
	if (kept) {
		j->ordered = kept->ordered;
		memcpy(j->before, kept->before, sizeof j->before);
		return SEQ_EXPLAINED;
	}
	j->at_hand = h;
	j->ordered = 0;
	j->asked++;
	buf_clear(&j->reason);
	if (j->named) {
		v = object_ask_history(j, sc, h);
		if (v == SEQ_EXPLAINED)
			v = sequential_waits(&j->sequential, sc, h,
			                     j->args.condition == COND_SEQUENTIAL ? SEQ_SEQUENTIAL : SEQ_LINEARIZABLE, &why);
	} else {
		v = sequential_explain(&j->sequential, sc, h, j->condition, &why);
		j->ordered = v == SEQ_EXPLAINED && j->condition == SEQ_LINEARIZABLE ? why.ordered : 0;
		memcpy(j->before, why.before, sizeof j->before);
	}
	if (h->stuck)
		j->ordered = 0; /* what waits depends on more */
	if (j->ordered && h->partial != OBJTEST_HAPPENS)
		keep_explanation(j, sc, h);
	if (v == SEQ_NOT_EXPLAINED && why.waiting < OBJTEST_CALLS) {
		buf_clear(&j->reason);
		reason_of_waiting(j, sc, why.waiting);
	} else if (v == SEQ_NOT_EXPLAINED && !j->reason.len) {
		reason_of_orders(j, sc, h, &why);
	}
	j->unknown += v == SEQ_UNKNOWN;
	return v;
}

/* Orders of the first and last steps of calls that agree with happens-before. */
struct orders {
	struct object_judge *j;
	const struct objtest_scenario *sc;
	const struct objtest_history *h;
	struct objtest_history made;
	uint64_t parallel, one_step, late; /* late: calls that wait before their first step */
	uint32_t first[OBJTEST_CALLS], last[OBJTEST_CALLS];
	uint64_t tried;
	enum seq_verdict verdict;
};
enum { MAX_ORDERS = 100000 };

static void put(struct orders *o, uint32_t call, unsigned returned)
{
	assert(call < o->sc->ncalls && returned <= 1 && o->made.nevents < 2 * OBJTEST_CALLS);
	o->made.step[o->made.nevents] = returned ? o->last[call] : o->first[call];
	o->made.event[o->made.nevents++] = (uint8_t)(2 * call + returned);
}

/* The order is whole: false when it has no explanation. */
static bool judge_order(struct orders *o)
{
	uint32_t n = o->made.nevents;
	bool ok = true;
	for (uint32_t c = 0; c < o->sc->ncalls; c++)
		if (o->late >> c & 1)
			put(o, c, 0);
	for (uint32_t i = 0; i < o->h->nevents; i++) {
		uint32_t c = o->h->event[i] / 2;
		if (o->sc->call[c].part == OBJTEST_AFTER)
			put(o, c, o->h->event[i] & 1);
	}
	enum seq_verdict v = judge_one(o->j, o->sc, &o->made);
	if (v == SEQ_UNKNOWN)
		o->verdict = v;
	ok = v != SEQ_NOT_EXPLAINED;
	if (ok)
		o->made.nevents = n;
	return ok;
}

/*
 * A call that can end does so at once, unless its last step is its first: that only adds to the calls that it ended
 * before. So what is left to choose is which call begins.
 */
static bool extend(struct orders *o, uint64_t begun, uint64_t ended)
{
	const struct objtest_history *h = o->h;
	uint32_t n = o->made.nevents;
	bool ok = true, more = true;
	while (more) {
		more = false;
		for (uint32_t c = 0; c < o->sc->ncalls; c++)
			if ((o->parallel & begun & ~ended) >> c & 1 && h->state[c] == OBJTEST_RETURNED &&
			    !(h->first_last[c] & ~begun) && !(h->last_last[c] & ~ended)) {
				put(o, c, 1);
				ended |= 1ull << c;
				more = true;
			}
	}
	bool any = false;
	for (uint32_t c = 0; c < o->sc->ncalls && ok; c++) {
		uint64_t bit = 1ull << c;
		bool at_once = o->one_step & bit;
		if (!(o->parallel & bit) || begun & bit || h->first_first[c] & ~begun || h->last_first[c] & ~ended)
			continue;
		if (at_once && (h->first_last[c] & ~(begun | bit) || h->last_last[c] & ~ended))
			continue;
		any = true;
		uint32_t k = o->made.nevents;
		put(o, c, 0);
		if (at_once)
			put(o, c, 1);
		ok = extend(o, begun | bit, at_once ? ended | bit : ended);
		if (ok)
			o->made.nevents = k;
	}
	if (!any && ++o->tried > MAX_ORDERS)
		o->verdict = SEQ_UNKNOWN;
	else if (!any)
		ok = judge_order(o);
	if (ok)
		o->made.nevents = n;
	return ok;
}

static enum seq_verdict judge_all(struct object_judge *j, const struct objtest_scenario *sc, struct objtest_history *h)
{
	struct orders *o = calloc(1, sizeof *o);
	if (!o)
		return SEQ_UNKNOWN;
	o->j = j;
	o->sc = sc;
	o->h = h;
	o->made = *h;
	o->made.nevents = 0;
	for (uint32_t c = 0; c < sc->ncalls; c++)
		o->first[c] = o->last[c] = OBJTEST_NO_STEP;
	for (uint32_t i = 0; i < h->nevents; i++)
		(h->event[i] & 1 ? o->last : o->first)[h->event[i] / 2] = h->step[i];
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t c = h->event[i] / 2;
		if (sc->call[c].part == OBJTEST_BEFORE)
			put(o, c, h->event[i] & 1);
	}
	for (uint32_t c = 0; c < sc->ncalls; c++) {
		uint64_t bit = 1ull << c;
		if (sc->call[c].part != OBJTEST_PARALLEL || h->state[c] == OBJTEST_NOT_CALLED)
			continue;
		if (o->first[c] == OBJTEST_NO_STEP)
			o->late |= bit;
		else
			o->parallel |= bit;
		o->one_step |= o->first[c] == o->last[c] ? bit : 0;
	}
	/* steps of main's calls are not events: what happens before is about the others */
	bool ok = extend(o, 0, 0);
	enum seq_verdict v = !ok ? SEQ_NOT_EXPLAINED : o->verdict;
	if (!ok)
		*h = o->made;
	if (v != SEQ_EXPLAINED)
		j->ordered = 0; /* else it is that of the last one */
	free(o);
	return v;
}

enum seq_verdict object_judge(struct object_judge *j, const struct objtest_scenario *given, struct objtest_history *block)
{
	struct objtest_scenario sc = *given;
	struct objtest_history h = *block;
	if (!fits(j, &sc, &h)) {
		if (!j->error.len)
			buf_str(&j->error, "intact: the program damaged the record of its calls\n");
		return SEQ_UNKNOWN;
	}
	if (h.partial == OBJTEST_HAPPENS)
		return judge_one(j, &sc, &h);
	/* sets of calls of the parallel part: others are before or after by themselves */
	uint64_t parallel = 0;
	for (uint32_t c = 0; c < sc.ncalls; c++)
		if (sc.call[c].part == OBJTEST_PARALLEL)
			parallel |= 1ull << c;
	for (uint32_t c = 0; c < sc.ncalls; c++) {
		h.first_first[c] &= parallel;
		h.last_first[c] &= parallel;
		h.first_last[c] &= parallel;
		h.last_last[c] &= parallel;
	}
	if (!h.partial)
		return judge_one(j, &sc, &h);
	enum seq_verdict v = judge_all(j, &sc, &h);
	if (v == SEQ_NOT_EXPLAINED)
		*block = h;
	return v;
}
