/*
 * verify_history_naive: trying everything again, in the plainest way: Wing and
 * Gong with the set of what took effect as n bits, breadth first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/idtab.h"
#include "base/invariant.h"
#include "history/spec.h"
#include "verdict/verify_history.h"

struct naive {
	const struct problem *p;
	struct spec_ctx c;
	uint32_t end; /* only responses before this rank count */
	uint32_t words, budget, n, cap;
	uint64_t *sets; /* words of each configuration, then its state */
	struct idtab ids;
	bool spent;
	bool collect; /* the states at the end are wanted, without one operation */
	uint32_t without;
	uint32_t *states, nstates, cstates;
};

/* A state in which all that had to happen has. */
static void naive_state(struct naive *v, uint32_t state)
{
	assert(v->collect);
	for (uint32_t i = 0; i < v->nstates; i++)
		if (v->states[i] == state)
			return;
	if (GROW(v->states, v->cstates, v->nstates + 1ull))
		v->states[v->nstates++] = state;
	else
		v->spent = true;
}

static uint32_t naive_hash(const struct naive *v, const uint64_t *set, uint32_t state)
{
	uint64_t h = state;
	for (uint32_t i = 0; i < v->words; i++)
		h = hash64(h ^ set[i]) + i;
	return (uint32_t)h;
}

struct naive_wanted {
	const struct naive *v;
	const uint64_t *set;
	uint32_t state;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct naive_wanted *w = ctx;
	const uint64_t *o = w->v->sets + (size_t)id * (w->v->words + 1);
	return o[w->v->words] == w->state && !memcmp(o, w->set, w->v->words * 8ull);
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	const struct naive *v = ctx;
	const uint64_t *o = v->sets + (size_t)id * (v->words + 1);
	return naive_hash(v, o, (uint32_t)o[v->words]);
}

static bool naive_new(struct naive *v, const uint64_t *set, uint32_t state)
{
	if (v->n >= v->budget || !GROW_AS(GROW_UNSET, NULL, v->sets, v->cap, v->n + 1ull, v->words + 1ull) ||
	    !idtab_room(&v->ids, v->n, hash_of, v)) {
		v->spent = true;
		return false;
	}
	uint32_t *slot = idtab_at(&v->ids, naive_hash(v, set, state), is_wanted, &(struct naive_wanted){ v, set, state });
	if (*slot)
		return false;
	uint64_t *o = v->sets + (size_t)v->n * (v->words + 1);
	memcpy(o, set, v->words * 8ull);
	o[v->words] = state;
	*slot = ++v->n;
	assert(v->n <= v->budget);
	return true;
}

/* Breadth first through the configurations; true when one completes. */
static bool naive_run(struct naive *v, uint32_t init)
{
	assert(!v->n);
	uint64_t *set = calloc(v->words, 8);
	if (!set) {
		v->spent = true;
		return false;
	}
	bool done = false;
	naive_new(v, set, init);
	for (uint32_t at = 0; at < v->n && !done && !v->spent; at++) {
		memcpy(set, v->sets + (size_t)at * (v->words + 1), v->words * 8ull);
		uint32_t state = (uint32_t)v->sets[(size_t)at * (v->words + 1) + v->words];
		uint32_t first = RANK_INF;
		for (uint32_t i = 0; i < v->p->n; i++)
			if (!(set[i / 64] >> i % 64 & 1) && v->p->ops[i].ret < first && !(v->collect && i == v->without))
				first = v->p->ops[i].ret;
		done = first >= v->end && !v->collect;
		if (v->collect && first >= v->end)
			naive_state(v, state);
		for (uint32_t i = 0; i < v->p->n && v->p->ops[i].call < first && !done; i++) {
			struct hop op = v->p->ops[i];
			uint32_t next;
			if (set[i / 64] >> i % 64 & 1 || (v->collect && (i == v->without || op.call > v->end)))
				continue;
			if (op.ret >= v->end) { /* its answer is not known yet */
				op.ret = RANK_INF;
				if (op.fn == FN_READ || op.fn == FN_PEEK || op.fn == FN_CONTAINS)
					continue;
				op.res = RES_NONE;
				if (op.fn == FN_DEQ || op.fn == FN_POP || op.fn == FN_POLL || op.fn >= FN_COUNT)
					op.b = VAL_NONE;
			}
			if (!v->c.spec->apply(&v->c, state, &op, &next))
				continue;
			set[i / 64] |= 1ull << i % 64;
			naive_new(v, set, next);
			set[i / 64] &= ~(1ull << i % 64);
		}
	}
	free(set);
	return done;
}

enum verify_answer verify_by_trying(const struct problem *p, uint32_t culprit, uint32_t budget, struct why *why)
{
	assert(culprit == RANK_INF || culprit < p->n);
	struct naive v = { .p = p, .words = (p->n + 63) / 64, .budget = budget };
	v.end = culprit == RANK_INF || p->ops[culprit].ret == RANK_INF ? p->nevents : p->ops[culprit].ret + 1;
	spec_open(&v.c, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	v.c.user = p->user;
	bool done = naive_run(&v, v.c.spec->init(&v.c, p->init));
	bool failed = v.spent || v.c.failed;
	spec_close(&v.c);
	free(v.sets);
	free(v.ids.slots);
	if (done)
		return verify_reject(why, "there is an order", RANK_INF);
	if (failed) {
		why_set(why, "trying every order again would take more than %u configurations", budget);
		return VERIFY_UNDECIDED;
	}
	return VERIFY_ACCEPTED;
}

static bool is_state(struct naive *v, uint32_t state, const char *text)
{
	struct buf b;
	buf_init(&b);
	v->c.spec->print(&v->c, state, &b);
	bool same = !strcmp(buf_cstr(&b), text);
	buf_free(&b);
	return same;
}

enum verify_answer verify_states(const struct problem *p, uint32_t culprit, char *const *states, uint32_t n, bool more,
                                 uint32_t budget, struct why *why)
{
	if (culprit >= p->n || p->ops[culprit].ret == RANK_INF)
		return verify_reject(why, "the explanation is not about a completed operation", culprit);
	struct naive v = {
		.p = p, .words = (p->n + 63) / 64, .budget = budget, .end = p->ops[culprit].ret, .collect = true, .without = culprit
	};
	spec_open(&v.c, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	v.c.user = p->user;
	naive_run(&v, v.c.spec->init(&v.c, p->init));
	enum verify_answer out = v.spent || v.c.failed ? VERIFY_UNDECIDED : VERIFY_ACCEPTED;
	if (out == VERIFY_UNDECIDED)
		why_set(why, "finding the states that the explanation names would take more than %u configurations", budget);
	uint32_t named = 0;
	for (uint32_t i = 0; i < n && out == VERIFY_ACCEPTED; i++) {
		bool found = false;
		for (uint32_t k = 0; k < v.nstates && !found; k++)
			found = is_state(&v, v.states[k], states[i]);
		if (!found)
			out = verify_reject(why, "the explanation names a state that the object cannot be in", culprit);
	}
	for (uint32_t k = 0; k < v.nstates && out == VERIFY_ACCEPTED; k++) {
		bool found = false;
		for (uint32_t i = 0; i < n && !found; i++)
			found = is_state(&v, v.states[k], states[i]);
		named += found;
	}
	/* long states may read alike: then there are more of them than names */
	if (out == VERIFY_ACCEPTED && (more ? v.nstates <= n : named < v.nstates))
		out = verify_reject(why,
		                    more ? "the explanation speaks of more states than there are"
		                         : "the explanation leaves out a state that the object may be in",
		                    culprit);
	spec_close(&v.c);
	free(v.sets);
	free(v.ids.slots);
	free(v.states);
	assert(out <= VERIFY_UNDECIDED);
	return out;
}
