/*
 * sequential: sequential consistency (Lamport): one order that keeps the
 * order of each process; real time does not count.
 *
 * It does not split by key, so all keys are judged together: the state is the
 * vector of the objects' states. A configuration is how far each process has
 * come, and the state; the search visits the configurations reachable from
 * the start, each once, last found first. An observation that is allowed is
 * made at once. Exponential in the number of processes in the worst case.
 *
 * An operation that never returned may happen at any time after those of its
 * process that came before it, also when the process has continued: then it
 * is a separate process, with a place in the other one that must be reached.
 */
#include <stdlib.h>
#include <string.h>

#include "lin/lin.h"
#include "history/spec.h"

struct seq {
	const struct problem *p;
	struct spec_ctx obj;  /* the objects' states */
	struct spec_ctx conf; /* configurations: positions, then states by key */
	uint32_t nkeys, nprocs, words;
	uint32_t nreal, *after, *need; /* processes from nreal on: one operation each */
	uint32_t *start, *list;        /* operations of each process, in order */
	uint32_t *parent, *via;        /* by configuration */
	uint32_t cap;
	uint32_t *stack, nstack, cstack;
	uint32_t *now, *next; /* scratch: one configuration each */
	bool failed;
};

static void *get(struct seq *s, size_t bytes)
{
	void *p = lim_realloc(s->p->lim, NULL, 0, bytes);
	if (!p)
		s->failed = true;
	else
		memset(p, 0, bytes);
	return p;
}

static bool grow(struct seq *s, uint32_t **a, uint32_t *cap, uint32_t need)
{
	if (need <= *cap)
		return true;
	uint32_t n = need * 2 + 64;
	uint32_t *q = lim_realloc(s->p->lim, *a, *cap * 4ull, n * 4ull);
	if (!q) {
		s->failed = true;
		return false;
	}
	*a = q;
	*cap = n;
	return true;
}

/* The configuration in s->next, reached by op from `from`. */
static void reach(struct seq *s, uint32_t from, uint32_t op)
{
	uint32_t had = states_count(&s->conf), id = states_intern(&s->conf, s->next, s->words);
	if (s->conf.failed || id < had)
		return;
	uint32_t c1 = s->cap, c2 = s->cap;
	if (!grow(s, &s->parent, &c1, id + 1) || !grow(s, &s->via, &c2, id + 1)) {
		return;
	}
	s->cap = c1;
	s->parent[id] = from;
	s->via[id] = op;
	if (grow(s, &s->stack, &s->cstack, s->nstack + 1))
		s->stack[s->nstack++] = id;
}

static bool finished(const struct seq *s)
{
	for (uint32_t q = 0; q < s->nprocs; q++)
		for (uint32_t k = s->start[q] + s->now[q]; k < s->start[q + 1]; k++)
			if (s->p->ops[s->list[k]].ret != RANK_INF)
				return false;
	return true;
}

static bool apply(struct seq *s, uint32_t op, uint32_t *state)
{
	return s->obj.spec->apply(&s->obj, s->now[s->nprocs + s->p->ops[op].key], &s->p->ops[op], state);
}

static void expand(struct seq *s, uint32_t id)
{
	uint32_t state;
	for (int observing = 1; observing >= 0; observing--)
		for (uint32_t q = 0; q < s->nprocs; q++) {
			uint32_t at = s->start[q] + s->now[q];
			if (at == s->start[q + 1] || (q >= s->nreal && s->now[s->after[q - s->nreal]] < s->need[q - s->nreal]))
				continue;
			uint32_t op = s->list[at];
			const struct hop *o = &s->p->ops[op];
			bool ok = apply(s, op, &state), open = o->ret == RANK_INF;
			if (observing && !(ok && !open && hop_observes(o)))
				continue;
			memcpy(s->next, s->now, s->words * 4ull);
			s->next[q]++;
			if (open && !observing) /* it may not have happened */
				reach(s, id, RANK_INF);
			if (ok) {
				s->next[s->nprocs + o->key] = state;
				reach(s, id, op);
			}
			if (observing)
				return;
		}
}

static enum lin_verdict run(struct seq *s, struct result *r)
{
	uint32_t init = s->obj.spec->init(&s->obj, s->p->init);
	for (uint32_t k = 0; k < s->nkeys; k++)
		s->next[s->nprocs + k] = init;
	reach(s, RANK_INF, RANK_INF);
	while (s->nstack && !s->failed && !s->conf.failed && !s->obj.failed) {
		uint32_t id = s->stack[--s->nstack];
		memcpy(s->now, states_at(&s->conf, id), s->words * 4ull);
		if (finished(s)) {
			uint32_t n = 0;
			if (!result_order(r, s->p->n))
				return LIN_UNKNOWN;
			for (uint32_t c = id; c != RANK_INF; c = s->parent[c])
				if (s->via[c] != RANK_INF)
					r->order[n++] = s->via[c];
			for (uint32_t i = 0; i < n / 2; i++) {
				uint32_t t = r->order[i];
				r->order[i] = r->order[n - 1 - i];
				r->order[n - 1 - i] = t;
			}
			r->norder = n;
			return LIN_HOLDS;
		}
		expand(s, id);
		if ((++r->steps & 0xFF) == 0 && lim_spent(s->p->lim))
			return LIN_UNKNOWN;
	}
	r->proof = PROOF_EXHAUSTED;
	return s->failed || s->conf.failed || s->obj.failed ? LIN_UNKNOWN : LIN_VIOLATED;
}

/* Which operations are processes of their own; by[i] is the process of i. */
static void assign(struct seq *s, uint32_t *by)
{
	const struct problem *p = s->p;
	size_t bytes = s->nreal * 4ull + 4;
	uint32_t *last = get(s, bytes), *count = get(s, bytes), nfloat = 0;
	for (uint32_t i = 0; i < p->n && !s->failed; i++)
		last[p->ops[i].proc] = i;
	for (uint32_t i = 0; i < p->n && !s->failed; i++) {
		bool stays = p->ops[i].ret != RANK_INF || last[p->ops[i].proc] == i;
		by[i] = stays ? p->ops[i].proc : s->nreal + nfloat++;
	}
	s->nprocs = s->nreal + nfloat;
	s->after = get(s, nfloat * 4ull + 4);
	s->need = get(s, nfloat * 4ull + 4);
	for (uint32_t i = 0; i < p->n && !s->failed; i++) {
		uint32_t q = p->ops[i].proc;
		if (by[i] < s->nreal) {
			count[q]++;
		} else {
			s->after[by[i] - s->nreal] = q;
			s->need[by[i] - s->nreal] = count[q];
		}
	}
	lim_free(p->lim, last, last ? bytes : 0);
	lim_free(p->lim, count, count ? bytes : 0);
}

enum lin_verdict lin_sequential(const struct problem *p, uint32_t nkeys, uint32_t nprocs, struct result *r)
{
	result_init(r, ALG_SEARCH, p->lim);
	struct seq s = { .p = p, .nkeys = nkeys ? nkeys : 1, .nprocs = nprocs, .nreal = nprocs };
	spec_open(&s.obj, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	s.obj.user = p->user;
	spec_open(&s.conf, NULL, p->vals, p->lim, 0);
	size_t bl = p->n * 4ull + 4;
	uint32_t *by = get(&s, bl);
	if (by)
		assign(&s, by);
	s.words = s.nprocs + s.nkeys;
	size_t bs = (s.nprocs + 2) * 4ull, bw = s.words * 4ull, bf = (s.nprocs - s.nreal) * 4ull + 4;
	s.start = get(&s, bs);
	s.list = get(&s, bl);
	s.now = get(&s, bw);
	s.next = get(&s, bw);
	if (!s.failed) {
		for (uint32_t i = 0; i < p->n; i++)
			s.start[by[i]]++;
		for (uint32_t q = 1; q <= s.nprocs; q++)
			s.start[q] += s.start[q - 1];
		for (uint32_t i = p->n; i-- > 0;)
			s.list[--s.start[by[i]]] = i;
		r->verdict = run(&s, r);
	}
	lim_free(p->lim, by, by ? bl : 0);
	lim_free(p->lim, s.after, s.after ? bf : 0);
	lim_free(p->lim, s.need, s.need ? bf : 0);
	lim_free(p->lim, s.start, s.start ? bs : 0);
	lim_free(p->lim, s.list, s.list ? bl : 0);
	lim_free(p->lim, s.now, s.now ? bw : 0);
	lim_free(p->lim, s.next, s.next ? bw : 0);
	lim_free(p->lim, s.parent, s.cap * 4ull);
	lim_free(p->lim, s.via, s.cap * 4ull);
	lim_free(p->lim, s.stack, s.cstack * 4ull);
	spec_close(&s.obj);
	spec_close(&s.conf);
	return r->verdict;
}
