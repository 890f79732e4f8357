#include "lin/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "history/spec.h"
#include "lin/least.h"
#include "verdict/verify_history.h"

/* ---- which algorithm ------------------------------------------------------------ */

static bool only_reads_and_writes(const struct problem *p)
{
	if (!object_has(p->obj, OBJECT_VALUE))
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn != FN_READ && p->ops[i].fn != FN_WRITE)
			return false;
	return true;
}

/* By the row's `direct`: the algorithm, and when it answers. */
static const struct {
	enum lin_verdict (*ask)(const struct problem *p, struct result *r);
	const char *when;
} directs[] = {
	[DIRECT_QUEUE] = { lin_queue, "every value is put in once" },
	[DIRECT_STACK] = { lin_stack, "every value is put in once" },
	[DIRECT_PQUEUE] = { lin_pqueue, "every value is put in once" },
	[DIRECT_SET] = { lin_set, "one element, every answer known" },
};

static enum lin_verdict direct(const struct problem *p, struct result *r)
{
	enum object_direct d = object_type(p->obj)->direct;
	if (d != DIRECT_NONE)
		return directs[d].ask(p, r);
	result_init(r, ALG_DIRECT, p->lim);
	return result_refuse(r, "it supports queues, stacks, priority queues and sets", RANK_INF, RANK_INF);
}

/* A direct answer is used only if the verifier accepts its order. */
static enum lin_verdict direct_or_search(const struct problem *p, struct result *r)
{
	assert(p->k <= 1);
	struct why why;
	enum lin_verdict v = direct(p, r);
	const char *reason = r->why;
	if (v == LIN_HOLDS && verify_order(p, r->order, r->norder, &why) != VERIFY_ACCEPTED)
		v = LIN_REFUSED;
	if (v != LIN_REFUSED) {
		r->why = directs[object_type(p->obj)->direct].when;
		return v;
	}
	result_free(r);
	if (lin_queue_pairs(p, r) != LIN_REFUSED) {
		r->why = "a queue whose values repeat";
		return r->verdict;
	}
	result_free(r);
	v = lin_search(p, r);
	r->why = reason;
	return v;
}

static enum lin_verdict automatic(const struct problem *p, struct result *r)
{
	if (p->k > 1) {
		lin_search(p, r);
		r->why = "k-atomicity";
		return r->verdict;
	}
	if (!only_reads_and_writes(p)) {
		if (object_type(p->obj)->direct != DIRECT_NONE)
			return direct_or_search(p, r);
		lin_search(p, r);
		r->why = "the general case";
		return r->verdict;
	}
	if (lin_greedy(p, r) != LIN_REFUSED) {
		r->why = "one writer at a time";
		return r->verdict;
	}
	if (lin_zones(p, r) != LIN_REFUSED) {
		r->why = "no value is written twice";
		return r->verdict;
	}
	lin_search(p, r);
	r->why = "writers overlap and values repeat";
	return r->verdict;
}

static enum lin_verdict ask(const struct problem *p, enum algorithm a, struct result *r)
{
	static enum lin_verdict (*const run[])(const struct problem *, struct result *) = {
		automatic, lin_soar, lin_clmt, lin_greedy, lin_backward, lin_zones, direct, lin_queue_pairs, lin_search,
	};
	if (a == ALG_DFS)
		return lin_dfs(p, r, 0);
	if (a == ALG_BFS)
		return lin_bfs(p, r);
	if (a == ALG_BRUTE)
		return lin_brute(p, r);
	bool for_registers = a == ALG_SOAR || a == ALG_CLMT || a == ALG_GREEDY || a == ALG_BACKWARD || a == ALG_ZONES;
	if (for_registers && (p->k > 1 || !only_reads_and_writes(p))) {
		result_init(r, a, p->lim);
		return result_refuse(
			r, p->k > 1 ? "it does not support k-atomicity" : "it supports only registers with reads and writes",
			RANK_INF, RANK_INF);
	}
	return run[a](p, r);
}

/* For PARANOID: an order that an algorithm hands over is one that the checker accepts, unless a limit is reached. */
static bool order_valid(const struct problem *p, const struct result *r)
{
	struct why why;
	return r->verdict != LIN_HOLDS || !r->order || verify_order(p, r->order, r->norder, &why) != VERIFY_REJECTED;
}

enum lin_verdict lin_atomic(const struct problem *p, enum algorithm a, struct result *r)
{
	assert(p->obj != OBJ_GUESS && p->obj < OBJ_COUNT && p->n <= HISTORY_MAX_OPS);
	PARANOID(problem_valid(p));
	enum lin_verdict v = ask(p, a, r);
	assert(v == r->verdict && r->norder <= p->n);
	assert(v != LIN_VIOLATED || r->culprit == RANK_INF || r->culprit < p->n);
	PARANOID(order_valid(p, r));
	return v;
}

/* Assertions that only say yes or no are explained by an algorithm that knows
 * why: a violation always, an order when it is wanted. */
static void explain(const struct problem *p, bool order, struct result *r)
{
	bool unproved = r->verdict == LIN_VIOLATED && r->proof == PROOF_NONE;
	if (!unproved && (r->verdict != LIN_HOLDS || r->order || !order || !p->n))
		return;
	struct result why;
	enum lin_verdict v = automatic(p, &why);
	if (v == r->verdict) {
		why.algorithm = r->algorithm;
		why.why = r->why;
		result_free(r);
		*r = why;
		return;
	}
	result_free(&why);
	if (v <= LIN_VIOLATED) /* two engines disagree: say nothing rather than wrong */
		r->verdict = LIN_UNKNOWN;
}

/* ---- parts ------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Dense ranks for operations whose calls ascend already. */
static bool rerank(struct hop *ops, uint32_t n, uint32_t *nevents, struct limits *lim)
{
	assert(!n || ops);
	size_t bytes = n * sizeof(uint64_t) + 8;
	uint64_t *rets = lim_realloc(lim, NULL, 0, bytes);
	uint32_t m = 0, rank = 0;
	bool sorted = true;
	if (!rets)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (ops[i].ret != RANK_INF) {
			sorted &= !m || rets[m - 1] >> 32 < ops[i].ret;
			rets[m++] = (uint64_t)ops[i].ret << 32 | i;
		}
	if (!sorted)
		qsort(rets, m, sizeof *rets, by_key);
	for (uint32_t c = 0, r = 0; c < n || r < m;) {
		if (c < n && (r == m || ops[c].call < rets[r] >> 32))
			ops[c++].call = rank++;
		else
			ops[(uint32_t)rets[r++]].ret = rank++;
	}
	*nevents = rank;
	lim_free(lim, rets, bytes);
	return true;
}

bool part_problem(const struct history *h, const struct interpretation *in, const struct check *c, const struct part *part,
                  struct problem *p, struct hop **ops)
{
	assert(part->n <= h->n);
	*ops = NULL;
	*p = (struct problem){ .ops = h->ops,
		               .n = h->n,
		               .nevents = h->nevents,
		               .obj = in->object,
		               .init = in->init,
		               .k = 1,
		               .vals = &h->vals,
		               .lim = h->lim,
		               .user = h->user };
	if (c->ops) {
		struct hop *copy = lim_realloc(h->lim, NULL, 0, part->n * sizeof *copy);
		if (!copy)
			return false;
		for (uint32_t i = 0; i < part->n; i++)
			copy[i] = h->ops[c->ops[part->first + i]];
		*ops = copy;
		p->ops = copy;
		p->n = part->n;
		if (!rerank(copy, part->n, &p->nevents, h->lim))
			return false;
	}
	if (p->obj == OBJ_KV) { /* without appends it is a register */
		p->obj = OBJ_CAS_REGISTER;
		for (uint32_t i = 0; i < p->n; i++)
			if (p->ops[i].fn == FN_APPEND)
				p->obj = OBJ_KV;
	}
	return true;
}

/* Keys, and for sets that are never read as a whole, elements. */
static bool split(struct history *h, const struct interpretation *in, struct check *c, bool whole)
{
	bool elements = object_has(in->object, OBJECT_ELEMENTS) && !whole;
	uint32_t len;
	val_elems(&h->vals, in->init, &len);
	for (uint32_t i = 0; i < h->n && elements; i++)
		elements = h->ops[i].fn != FN_READ && !len;
	struct map parts;
	map_init(&parts);
	size_t bytes = h->n * 4ull + 4;
	uint32_t *of = NULL, n = 0;
	bool ok = true;
	if (!whole && h->n && (h->keys.len > 1 || elements)) {
		of = lim_realloc(h->lim, NULL, 0, bytes);
		c->ops = lim_realloc(h->lim, NULL, 0, bytes);
		c->bytes_ops = bytes;
		ok = of && c->ops;
		for (uint32_t i = 0; ok && i < h->n; i++) {
			uint64_t key = (uint64_t)h->ops[i].key << 32 | (elements ? h->ops[i].a : 0);
			of[i] = n;
			ok = map_intern(&parts, key, &of[i]);
			n += of[i] == n;
		}
	}
	c->nparts = c->ops ? n : 1;
	c->bytes_parts = c->nparts * sizeof *c->parts;
	c->parts = ok ? lim_realloc(h->lim, NULL, 0, c->bytes_parts) : NULL;
	ok = c->parts != NULL;
	if (ok) {
		memset(c->parts, 0, c->bytes_parts);
		for (uint32_t i = 0; i < c->nparts; i++)
			result_init(&c->parts[i].r, ALG_AUTO, h->lim);
		c->parts[0].n = h->n;
		c->parts[0].key = h->keys.len == 1 && !whole ? h->keys.data[0] : VAL_NONE;
	}
	if (ok && c->ops) {
		c->parts[0].n = 0;
		for (uint32_t i = 0; i < h->n; i++)
			c->parts[of[i]].n++;
		for (uint32_t k = 1; k < n; k++)
			c->parts[k].first = c->parts[k - 1].first + c->parts[k - 1].n;
		for (uint32_t k = 0; k < n; k++)
			c->parts[k].n = 0;
		for (uint32_t i = 0; i < h->n; i++) {
			struct part *q = &c->parts[of[i]];
			val key = h->keys.len ? h->keys.data[h->ops[i].key] : VAL_NONE;
			q->key = elements ? h->ops[i].a : key;
			q->element = elements;
			q->outer = key;
			c->ops[q->first + q->n++] = i;
		}
	}
	lim_free(h->lim, of, of ? bytes : 0);
	map_free(&parts);
	return ok;
}

/* From numbers within the part to numbers of the history. */
static void translate(const struct history *h, const struct check *c, struct part *part, const struct problem *p)
{
	assert(part->r.verdict != LIN_VIOLATED || part->r.culprit == RANK_INF || part->r.culprit < p->n);
	struct result *r = &part->r;
	part->window_op = RANK_INF;
	if (r->verdict == LIN_VIOLATED && r->culprit != RANK_INF) {
		for (uint32_t i = 0; i < p->n; i++) {
			part->ended += p->ops[i].ret < p->ops[r->culprit].ret;
			if (part->window_op == RANK_INF && p->ops[i].call >= r->window)
				part->window_op = i;
		}
	}
	(void)h;
	if (!c->ops)
		return;
	const uint32_t *map = c->ops + part->first;
	if (r->verdict != LIN_HOLDS)
		r->norder = 0; /* what there is of it was never finished */
#define TO_HISTORY(x) ((x) == RANK_INF ? RANK_INF : map[x])
	for (uint32_t i = 0; i < r->norder; i++)
		r->order[i] = TO_HISTORY(r->order[i]);
	for (uint32_t i = 0; i < r->nops; i++)
		r->ops[i] = TO_HISTORY(r->ops[i]);
	r->culprit = TO_HISTORY(r->culprit);
	part->window_op = TO_HISTORY(part->window_op);
	r->refused[0] = TO_HISTORY(r->refused[0]);
	r->refused[1] = TO_HISTORY(r->refused[1]);
#undef TO_HISTORY
}

/* ---- running -------------------------------------------------------------------------- */

struct job {
	struct history *h;
	const struct interpretation *in;
	const struct lin_check_options *o;
	struct check *c;
	atomic_uint next;
	uint64_t max_steps; /* a bound for each part; 0 = none */
	bool again;         /* those that were skipped */
};

/* Of several parts each gets a short try, then a longer one; only when none of
 * them has settled the verdict do the hard ones go on for as long as it takes. */
static const uint64_t round_steps[] = { 2000, 200000, 0 };

/* Atomicity implies sequential consistency, and k-atomicity: an order of each
 * key that keeps real time, merged by the earliest moments that the orders
 * allow, keeps the order of every process. */
struct check_moment {
	uint32_t at, key, op; /* after this invocation; place in the order of its key */
};

static int by_moment(const void *x, const void *y)
{
	const struct check_moment *a = x, *b = y;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

#define IMPLIED_STEPS 200000

static bool atomic_so_sequential(struct job *j, const struct problem *p, struct result *r)
{
	struct lin_check_options o = {
		.condition = COND_ATOMIC, .algorithm = ALG_AUTO, .k = 1, .order = true, .jobs = 1, .max_steps = IMPLIED_STEPS
	};
	struct check c;
	bool holds = lin_check(j->h, j->in, &o, &c) && c.verdict == LIN_HOLDS;
	size_t bytes = (p->n + 1ull) * sizeof(struct check_moment);
	struct check_moment *m = holds ? lim_realloc(p->lim, NULL, 0, bytes) : NULL;
	uint32_t n = 0;
	for (uint32_t k = 0; m && k < c.nparts; k++) {
		const struct result *s = &c.parts[k].r;
		uint32_t at = 0;
		holds &= s->order != NULL || !c.parts[k].n;
		for (uint32_t i = 0; s->order && i < s->norder; i++) {
			at = p->ops[s->order[i]].call > at ? p->ops[s->order[i]].call : at;
			m[n] = (struct check_moment){ at, n, s->order[i] };
			n++;
		}
	}
	holds &= m != NULL;
	result_init(r, ALG_SEARCH, p->lim);
	holds = holds && result_order(r, n ? n : 1);
	if (holds) {
		qsort(m, n, sizeof *m, by_moment);
		for (uint32_t i = 0; i < n; i++)
			r->order[i] = m[i].op;
		r->norder = n;
		r->verdict = LIN_HOLDS;
		r->why = "it is atomic, which implies it";
	}
	lim_free(p->lim, m, m ? bytes : 0);
	if (holds && c.nparts)
		r->algorithm = c.parts[0].r.algorithm;
	check_free(&c, j->h);
	struct why why;
	holds = holds && verify_order_sequential(p, r->order, r->norder, &why) == VERIFY_ACCEPTED;
	if (!holds)
		result_free(r);
	return holds;
}

static bool atomic_so_k(const struct problem *p, struct result *r)
{
	struct problem q = *p;
	q.max_steps = !p->max_steps || p->max_steps > IMPLIED_STEPS ? IMPLIED_STEPS : p->max_steps;
	if (lin_atomic(&q, ALG_AUTO, r) == LIN_HOLDS && r->order) {
		r->why = "it is atomic, which implies it";
		return true;
	}
	result_free(r);
	return false;
}

static void judge(struct job *j, struct part *part)
{
	struct problem p;
	struct hop *ops;
	if (!part_problem(j->h, j->in, j->c, part, &p, &ops)) {
		part->r.verdict = LIN_UNKNOWN;
	} else if (j->o->condition == COND_REGULAR || j->o->condition == COND_SAFE) {
		lin_weak(&p, &part->r, j->o->condition == COND_SAFE);
	} else if (j->o->condition == COND_SEQUENTIAL) {
		if (!atomic_so_sequential(j, &p, &part->r))
			lin_sequential(&p, j->h->keys.len, j->h->procs.len, &part->r);
	} else if ((j->o->k_min || j->o->k > 1) && !only_reads_and_writes(&p)) {
		result_init(&part->r, ALG_SEARCH, j->h->lim);
		result_refuse(&part->r, "k-atomicity is defined only for registers with reads and writes", RANK_INF, RANK_INF);
	} else if (j->o->delta && !object_has(p.obj, OBJECT_VALUE)) {
		result_init(&part->r, ALG_SEARCH, j->h->lim);
		result_refuse(&part->r, "staleness is defined only for reads of registers", RANK_INF, RANK_INF);
	} else if (j->o->k_min) {
		enum lin_verdict v = lin_least_k(&p, part);
		part->r.verdict = v;
	} else {
		p.max_steps = j->max_steps;
		if (j->o->k <= 1 || j->o->algorithm != ALG_AUTO || !atomic_so_k(&p, &part->r)) {
			p.k = j->o->k;
			if (p.k > 1)
				p.obj = OBJ_REGISTER;
			lin_atomic(&p, j->o->algorithm, &part->r);
		}
		explain(&p, j->o->order, &part->r);
		if (j->o->delta && part->r.verdict <= LIN_VIOLATED) {
			if (part->r.verdict == LIN_HOLDS)
				part->delta = 0;
			else if (lin_least_delta(j->h, j->c, &p, part) > LIN_VIOLATED)
				part->r.verdict = LIN_UNKNOWN;
		}
	}
	part->skipped = part->r.verdict == LIN_UNKNOWN && j->max_steps && !lim_spent(j->h->lim);
	if (part->r.verdict == LIN_UNKNOWN && !part->skipped)
		atomic_compare_exchange_strong(&j->h->lim->spent, &(int){ 0 }, LIMIT_MEMORY);
	translate(j->h, j->c, part, &p);
	lim_free(j->h->lim, ops, ops ? part->n * sizeof *ops : 0);
}

static void *work(void *arg)
{
	struct job *j = arg;
	for (;;) {
		uint32_t i = atomic_fetch_add(&j->next, 1);
		if (i >= j->c->nparts)
			return NULL;
		struct part *part = &j->c->parts[i];
		if (j->again && !part->skipped)
			continue; /* settled in an earlier round */
		result_free(&part->r);
		judge(j, part);
	}
}

/* All parts, shared out among the threads. */
static void run_round(struct job *j)
{
	assert(j->o->jobs >= 1 || !j->c->nparts);
	uint32_t n = j->o->jobs < j->c->nparts ? j->o->jobs : j->c->nparts, started = 0;
	pthread_t threads[64];
	atomic_store(&j->next, 0);
	for (; started + 1 < n && started < 64; started++)
		if (pthread_create(&threads[started], NULL, work, j))
			break;
	work(j);
	while (started)
		pthread_join(threads[--started], NULL);
}

static bool any(const struct check *c, bool skipped)
{
	for (uint32_t i = 0; i < c->nparts; i++)
		if (skipped ? c->parts[i].skipped : c->parts[i].r.verdict == LIN_VIOLATED)
			return true;
	return false;
}

/* The parts of one shard alone. */
static void keep_shard(struct check *c, const struct lin_check_options *o)
{
	uint32_t n = 0;
	c->all_parts = c->nparts;
	if (!o->shards)
		return;
	assert(o->shard < o->shards);
	for (uint32_t i = o->shard; i < c->nparts; i += o->shards)
		c->parts[n++] = c->parts[i];
	c->nparts = n;
	assert(c->nparts <= c->all_parts);
}

bool lin_check(struct history *h, const struct interpretation *in, const struct lin_check_options *o, struct check *c)
{
	memset(c, 0, sizeof *c);
	c->verdict = LIN_UNKNOWN;
	if (!split(h, in, c, o->condition == COND_SEQUENTIAL))
		return false;
	keep_shard(c, o);
	struct job j = { .h = h, .in = in, .o = o, .c = c };
	for (uint32_t k = c->nparts > 1 ? 0 : 2; k < 3; k++) {
		j.max_steps = round_steps[k];
		if (o->max_steps && (!j.max_steps || j.max_steps > o->max_steps))
			j.max_steps = o->max_steps;
		run_round(&j);
		if (!any(c, true) || any(c, false))
			break;
		j.again = true;
	}
	enum lin_verdict v = LIN_HOLDS;
	c->delta = 0;
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct part *p = &c->parts[i];
		enum lin_verdict w = p->r.verdict;
		c->nviolated += w == LIN_VIOLATED;
		c->nunknown += w == LIN_UNKNOWN;
		c->nskipped += p->skipped;
		if (w == LIN_REFUSED || v == LIN_REFUSED)
			v = LIN_REFUSED;
		else if (w == LIN_VIOLATED || (w == LIN_UNKNOWN && v == LIN_HOLDS))
			v = w;
		c->k = p->k > c->k ? p->k : c->k;
		c->delta = c->delta < 0 || p->delta < 0 ? -1 : p->delta > c->delta ? p->delta : c->delta;
	}
	c->verdict = v;
	return true;
}

void check_free(struct check *c, struct history *h)
{
	for (uint32_t i = 0; c->parts && i < c->nparts; i++)
		result_free(&c->parts[i].r);
	lim_free(h->lim, c->parts, c->parts ? c->bytes_parts : 0);
	lim_free(h->lim, c->ops, c->ops ? c->bytes_ops : 0);
	c->parts = NULL;
	c->ops = NULL;
}
