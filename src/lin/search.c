/*
 * search: who drives the general search (dfs.h), and what is said about a
 * history that it finds wrong.
 *
 * A right history is mostly found right at once. A wrong one means that every
 * order has to fail, from the beginning of the history: then, in turn with the
 * search, the furthest response that it has reached is looked at alone, with a
 * few events before it, then more, from any state that the object may have
 * been in ("loose"). When no order gets past the response even so, the history
 * is wrong, whatever came before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lin/dfs.h"

#define FIRST_STEPS  4096 /* of the first turn; each next has four times as many */
#define FIRST_WINDOW 16   /* events */

/* Does no order get past the response at event `at`, from any state before? */
static bool loose_refutes(const struct problem *p, uint32_t at, uint64_t steps)
{
	assert(at <= p->nevents);
	for (uint32_t len = FIRST_WINDOW; steps; len *= 2) {
		struct dfs d;
		uint32_t from = at > len ? at - len : 0;
		enum dfs_answer a = DFS_FAILED;
		if (!from)
			return false; /* that is the search itself */
		if (dfs_open_loose(&d, p, from, at + 1))
			a = dfs_run(&d, steps);
		steps = d.steps < steps ? steps - d.steps : 0;
		dfs_close(&d);
		if (a != DFS_FOUND)
			return a == DFS_NONE;
	}
	return false;
}

/* ---- what is said about it ----------------------------------------------------------- */

/* The window: from the last moment at which nothing was open. And what
 * overlaps the culprit. Neither is known while the moment is open. */
static void surroundings(const struct problem *p, struct result *r)
{
	if (r->moment_open)
		return;
	uint32_t open = 0, n = 0, at = p->ops[r->culprit].ret, *ev = events_of(p);
	r->window = 0;
	for (uint32_t t = 0; t <= at && ev; t++) {
		if (ev[t] == RANK_INF || p->ops[ev[t] / 2].ret == RANK_INF)
			continue;
		if (!open)
			r->window = t;
		open += ev[t] & 1 ? UINT32_MAX : 1;
	}
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	for (int pass = 0; pass < 2; pass++) {
		if (pass && !result_facts(r, n))
			return;
		n = 0;
		for (uint32_t i = 0; i < p->n && p->ops[i].call < at; i++)
			if (p->ops[i].ret > p->ops[r->culprit].call && p->ops[i].ret != RANK_INF) {
				if (pass)
					r->ops[n] = i;
				n++;
			}
	}
}

static void print_states(struct dfs *d, struct result *r)
{
	assert(d->nstates <= MAX_STATES_SHOWN);
	struct buf b;
	for (uint32_t i = 0; i < d->nstates; i++) {
		buf_init(&b);
		d->ctx.spec->print(&d->ctx, d->states[i], &b);
		char *text = strdup(buf_cstr(&b));
		buf_free(&b);
		if (!text)
			return;
		r->states[r->nstates++] = text;
	}
	r->more_states = d->more_states;
}

/* The states that the object may be in when the operation returns, in every
 * order of the rest that explains what had completed by then: into r, within a
 * number of steps; else there are none in r. */
static void lin_states_before(const struct problem *p, uint32_t culprit, uint64_t max_steps, struct result *r)
{
	assert(culprit < p->n);
	size_t bo = p->n * sizeof(struct hop), bm = p->n * 4ull;
	struct hop *ops = lim_realloc(p->lim, NULL, 0, bo);
	uint32_t *map = lim_realloc(p->lim, NULL, 0, bm), n = 0;
	if (ops && map) {
		struct problem q;
		struct dfs d;
		lin_prefix(p, p->ops[culprit].ret, ops, map, &q);
		for (uint32_t i = 0; i < q.n; i++)
			if (map[i] != culprit)
				ops[n++] = ops[i];
		q.n = n;
		if (dfs_open_collect(&d, &q) && dfs_run(&d, max_steps) == DFS_NONE)
			print_states(&d, r);
		dfs_close(&d);
	}
	lim_free(p->lim, ops, ops ? bo : 0);
	lim_free(p->lim, map, map ? bm : 0);
}

static enum lin_verdict conclude(struct dfs *d, enum dfs_answer a, struct result *r)
{
	r->steps = d->steps;
	r->verdict = LIN_UNKNOWN;
	if (a == DFS_FOUND) {
		if (dfs_order(d, r))
			r->verdict = LIN_HOLDS;
	} else if (a == DFS_NONE) {
		r->verdict = LIN_VIOLATED;
		r->proof = PROOF_EXHAUSTED;
		r->culprit = d->ev[d->best] / 2; /* the orders of what came before get so far */
	}
	assert(r->verdict <= LIN_UNKNOWN);
	return r->verdict;
}

/* ---- the moment ------------------------------------------------------------------
 *
 * The search knows every answer from the start, also those given after the
 * response it gets stuck at. For operations that change the object and answer
 * (cas, dequeue, ...) that is more than was known at the time: what is open and
 * has not answered might have answered otherwise. But nothing invoked after the
 * response matters to it. So the moment of certainty lies between the response
 * and the last answer of what was invoked before it, and is looked for among
 * the prefixes in between. A prefix says less than the whole and can be harder:
 * there is a bound, and what is left then is the last moment, not the first.
 */
static bool changes_and_answers(const struct hop *o)
{
	return o->res != RES_NONE ? o->fn != FN_CONTAINS
	                          : o->fn == FN_DEQ || o->fn == FN_POP || o->fn == FN_POLL || o->fn >= FN_COUNT;
}

uint32_t lin_certain_by(const struct problem *p, uint32_t at)
{
	uint32_t last = RANK_INF;
	for (uint32_t i = 0; i < p->n && p->ops[i].call < at; i++) {
		const struct hop *o = &p->ops[i];
		if (o->ret != RANK_INF && (o->ret <= at || changes_and_answers(o)) &&
		    (last == RANK_INF || o->ret > p->ops[last].ret))
			last = i;
	}
	return last;
}

/* The same for the operation at which the search got stuck. */
static uint32_t certain_by(const struct problem *p, uint32_t stuck)
{
	assert(stuck < p->n);
	bool ahead = object_has(p->obj, OBJECT_APPENDS); /* the guide knows later reads, too */
	return lin_certain_by(p, ahead ? RANK_INF : p->ops[stuck].ret);
}

enum lin_verdict lin_dfs(const struct problem *p, struct result *r, uint64_t max_steps)
{
	struct dfs d;
	result_init(r, ALG_DFS, p->lim);
	enum dfs_answer a = DFS_FAILED;
	if (dfs_open(&d, p))
		a = dfs_run(&d, max_steps);
	conclude(&d, a, r);
	dfs_close(&d);
	if (r->verdict == LIN_VIOLATED) {
		uint32_t stuck = r->culprit;
		r->culprit = certain_by(p, stuck);
		r->moment_open = r->culprit != stuck;
		surroundings(p, r);
	}
	return r->verdict;
}

/* The search and the loose ones in turn; 0 steps: as long as it takes. */
static enum lin_verdict decide(const struct problem *p, struct result *r, uint64_t max_steps)
{
	struct dfs d;
	result_init(r, ALG_SEARCH, p->lim);
	enum dfs_answer a = DFS_FAILED;
	bool loose = dfs_can_start_anywhere(p);
	if (dfs_open(&d, p)) {
		uint64_t turn = FIRST_STEPS, left = max_steps;
		do {
			uint64_t steps = left && left < turn ? left : turn;
			a = dfs_run(&d, steps);
			if (a == DFS_MORE && loose && loose_refutes(p, d.best, steps))
				a = DFS_NONE;
			left -= left ? steps : 0;
			turn *= 4;
		} while (a == DFS_MORE && (!max_steps || left) && !lim_spent(p->lim));
	}
	conclude(&d, a, r);
	dfs_close(&d);
	return r->verdict;
}

/* ---- the prefixes ------------------------------------------------------------------ */

#define MOMENT_MISSES 4 /* prefixes that are not decided within the steps, at most */

static uint64_t moment_steps(const struct problem *p)
{
	return 50000 + 4ull * p->nevents;
}

void lin_first_moment(const struct problem *p, struct result *r, uint32_t last,
                      enum lin_verdict (*judge)(const struct problem *, struct result *, uint64_t))
{
	size_t bo = p->n * sizeof(struct hop), bm = p->n * 4ull;
	struct hop *ops = lim_realloc(p->lim, NULL, 0, bo);
	uint32_t *map = lim_realloc(p->lim, NULL, 0, bm);
	/* `good` events have an order, if `sure`; with `bad` ones there is none */
	uint32_t good = p->ops[r->culprit].ret, bad = p->ops[last].ret + 1, stride = 1, misses = 0;
	uint64_t spare = r->steps; /* what was hard to decide may take as long again */
	bool sure = true;
	while (ops && map && good + 1 < bad && misses < MOMENT_MISSES && !lim_spent(p->lim)) {
		uint32_t cut = stride < bad - good ? good + stride : good + (bad - good) / 2;
		uint64_t enough = moment_steps(p);
		struct problem q;
		struct result s;
		lin_prefix(p, cut, ops, map, &q);
		enum lin_verdict v = judge(&q, &s, enough + spare / 2);
		uint64_t more = s.steps > enough ? s.steps - enough : 0;
		spare -= more < spare ? more : spare;
		result_free(&s);
		if (v == LIN_VIOLATED) {
			bad = cut;
			stride = UINT32_MAX;
		} else {
			good = cut;
			sure = v == LIN_HOLDS;
			misses += !sure;
			stride = stride < bad - good ? stride * 2 : UINT32_MAX;
		}
	}
	r->moment_open = good + 1 < bad || !sure;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].ret < bad && p->ops[i].ret >= p->ops[r->culprit].ret)
			r->culprit = i;
	lim_free(p->lim, ops, ops ? bo : 0);
	lim_free(p->lim, map, map ? bm : 0);
}

void lin_explain(const struct problem *p, struct result *r)
{
	assert(!r->ops); /* the facts are reported here */
	surroundings(p, r);
	if (!r->moment_open)
		lin_states_before(p, r->culprit, moment_steps(p), r);
}

/* ---- a lack of supply -----------------------------------------------------------------
 *
 * It is a proof that says more than that everything was tried. But something
 * may have been wrong before: then that is reported instead.
 */
static enum lin_verdict search_within(const struct problem *p, struct result *r, int depth);

static void translate(struct result *r, const uint32_t *map)
{
	assert(!r->nops || r->ops);
	for (uint32_t i = 0; i < r->nops; i++)
		r->ops[i] = r->ops[i] == RANK_INF ? RANK_INF : map[r->ops[i]];
	r->culprit = r->culprit == RANK_INF ? RANK_INF : map[r->culprit];
}

static enum lin_verdict judge(const struct problem *p, struct result *r, uint64_t max_steps)
{
	return lin_lacks_supply(p, r) ? LIN_VIOLATED : decide(p, r, max_steps);
}

static bool by_supply(const struct problem *p, struct result *r, int depth)
{
	if (!lin_lacks_supply(p, r))
		return false;
	size_t bo = p->n * sizeof(struct hop), bm = p->n * 4ull;
	struct hop *ops = lim_realloc(p->lim, NULL, 0, bo);
	uint32_t *map = lim_realloc(p->lim, NULL, 0, bm);
	uint32_t shows = r->culprit, last = lin_certain_by(p, p->ops[shows].ret); /* a cas may have failed later */
	r->culprit = last;
	r->moment_open = true;
	if (ops && map) {
		struct problem q;
		struct result s;
		lin_prefix(p, p->ops[shows].ret, ops, map, &q);
		q.max_steps = moment_steps(p);
		if (depth)
			search_within(&q, &s, depth - 1);
		else
			decide(&q, &s, q.max_steps);
		if (s.verdict == LIN_HOLDS) {
			r->culprit = shows;
			lin_first_moment(p, r, last, judge);
		} else if (s.verdict == LIN_VIOLATED && depth) {
			translate(&s, map);
			result_free(r);
			*r = s;
			s.verdict = LIN_REFUSED; /* it is r now */
		}
		if (s.verdict != LIN_REFUSED)
			result_free(&s);
	}
	lim_free(p->lim, ops, ops ? bo : 0);
	lim_free(p->lim, map, map ? bm : 0);
	return true;
}

static enum lin_verdict search_within(const struct problem *p, struct result *r, int depth)
{
	assert(depth >= 0);
	if (by_supply(p, r, depth))
		return r->verdict;
	decide(p, r, p->max_steps);
	if (r->verdict == LIN_VIOLATED) {
		lin_first_moment(p, r, certain_by(p, r->culprit), judge);
		lin_explain(p, r);
	}
	return r->verdict;
}

enum lin_verdict lin_search(const struct problem *p, struct result *r)
{
	search_within(p, r, 8);
	r->algorithm = ALG_SEARCH;
	assert(r->verdict <= LIN_REFUSED);
	return r->verdict;
}
