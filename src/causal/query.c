/*
 * query: see query.h.
 *
 * Configurations of the prefix without cut-offs reach every marking, so a
 * question about markings is one about configurations, and those are the models
 * of a set of clauses: one variable per event; an event needs the events before
 * it; a condition is taken by at most one of those that can (pairs when few,
 * else a ladder of helpers). A second variable m of a condition is tied to "its
 * event is there and no event consumes it" in the direction that the question
 * needs.
 *
 * Cover: for each place, some condition of it has m; m implies the event and
 * that no event consumes the condition.
 *
 * Deadlock (McMillan 1992, in the form of Heljanko 1999): nothing is enabled, so
 * of every event, kept or cut off, some condition lacks m; here the event and no
 * consumer imply m. The clauses of cut-offs that were not kept are made when
 * they are needed: a model's marking is compared with the net, and what is
 * enabled there after all gives a clause each (a set of conditions that must not
 * all be held), until the marking is dead or no model is left. Exact either way;
 * there are finitely many such sets.
 */
#include "causal/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "causal/prefix.h"
#include "causal/sat.h"

enum { PAIRS = 5 }; /* consumers of a condition that are distinguished pairwise */

struct query_question {
	struct prefix *p;
	struct query_answer *a;
	struct sat *sat;
	uint32_t *event;            /* an event: its variable, or NET_NONE */
	uint32_t *held;             /* a condition: variable m, or NET_NONE */
	uint32_t *taker_at, *taker; /* a condition -> events that take it */
	uint32_t *lits;
	uint32_t *at;   /* a place: condition + 1 in the model's cut */
	uint32_t *seen; /* a transition: tokens found */
	bool implies;   /* m implies, else is implied */
};

static bool limit(struct query_question *q, const char *why)
{
	assert(why);
	q->a->found = -1;
	q->a->limit = why;
	return false;
}

static bool add(struct query_question *q, uint32_t n)
{
	return sat_add(q->sat, q->lits, n) || limit(q, sat_limit(q->sat));
}

static uint32_t new_var(struct query_question *q, bool phase)
{
	uint32_t v = sat_var(q->sat, phase);
	if (v == UINT32_MAX)
		limit(q, "memory");
	return v;
}

static bool is_kept(const struct prefix *p, uint32_t e)
{
	return e && !p->cfg.events[e].dead;
}

/* Events, and who takes what. */
static bool start(struct query_question *q)
{
	struct prefix *p = q->p;
	uint32_t takes = 0, widest = p->net->ninit;
	for (uint32_t e = 1; e < p->nevents; e++)
		if (is_kept(p, e))
			takes += uf_npre(&p->cfg, e);
	q->event = calloc(p->nevents, sizeof *q->event);
	q->held = calloc((size_t)p->nconds + 1, sizeof *q->held);
	q->taker_at = calloc((size_t)p->nconds + 2, sizeof *q->taker_at);
	q->taker = calloc((size_t)takes + 1, sizeof *q->taker);
	q->at = calloc((size_t)p->net->nplaces + 1, sizeof *q->at);
	q->seen = calloc((size_t)p->net->ntrans + 1, sizeof *q->seen);
	uint64_t left = !p->memory.max ? 0 : p->memory.max > p->memory.used ? p->memory.max - p->memory.used : 1;
	q->sat = sat_new(left, p->opt.deadline);
	if (!q->event || !q->held || !q->taker_at || !q->taker || !q->at || !q->seen || !q->sat)
		return limit(q, "memory");
	memset(q->held, 0xFF, ((size_t)p->nconds + 1) * sizeof *q->held);
	for (uint32_t e = 1; e < p->nevents; e++)
		for (uint32_t i = 0; is_kept(p, e) && i < uf_npre(&p->cfg, e); i++)
			q->taker_at[uf_pre(&p->cfg, e)[i] + 2]++;
	for (uint32_t b = 0; b < p->nconds; b++) {
		widest = q->taker_at[b + 2] > widest ? q->taker_at[b + 2] : widest;
		q->taker_at[b + 2] += q->taker_at[b + 1];
	}
	for (uint32_t e = 1; e < p->nevents; e++)
		for (uint32_t i = 0; is_kept(p, e) && i < uf_npre(&p->cfg, e); i++)
			q->taker[q->taker_at[uf_pre(&p->cfg, e)[i] + 1]++] = e;
	uint64_t most = (uint64_t)widest + p->nconds + NET_MAX_WIDTH + 4;
	q->lits = calloc(most, sizeof *q->lits);
	return q->lits || limit(q, "memory");
}

/* At most one of the takers of b. */
static bool one_taker(struct query_question *q, uint32_t b)
{
	assert(b < q->p->nconds);
	const uint32_t *t = q->taker + q->taker_at[b];
	uint32_t n = q->taker_at[b + 1] - q->taker_at[b];
	if (n <= PAIRS) {
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < i; k++) {
				q->lits[0] = sat_neg(q->event[t[i]]);
				q->lits[1] = sat_neg(q->event[t[k]]);
				if (!add(q, 2))
					return false;
			}
		return true;
	}
	for (uint32_t i = 0, before = NET_NONE; i < n; i++) { /* before: one of t[0..i) */
		uint32_t e = q->event[t[i]], up = i + 1 < n ? new_var(q, false) : NET_NONE;
		if (i + 1 < n && up == NET_NONE)
			return false;
		if (before != NET_NONE) {
			q->lits[0] = sat_neg(before);
			q->lits[1] = sat_neg(e);
			if (!add(q, 2))
				return false;
		}
		for (int k = 0; up != NET_NONE && k < 2; k++) {
			uint32_t from = k ? before : e;
			q->lits[0] = from == NET_NONE ? sat_pos(up) : sat_neg(from);
			q->lits[1] = sat_pos(up);
			if (from != NET_NONE && !add(q, 2))
				return false;
		}
		before = up;
	}
	return true;
}

static bool configurations(struct query_question *q)
{
	struct prefix *p = q->p;
	for (uint32_t e = 0; e < p->nevents; e++) {
		q->event[e] = NET_NONE;
		if (is_kept(p, e) && (q->event[e] = new_var(q, true)) == NET_NONE)
			return false;
	}
	for (uint32_t e = 1; e < p->nevents; e++)
		for (uint32_t i = 0; is_kept(p, e) && i < uf_npre(&p->cfg, e); i++) {
			uint32_t cause = p->cfg.conds[uf_pre(&p->cfg, e)[i]].event;
			q->lits[0] = sat_neg(q->event[e]);
			q->lits[1] = cause ? sat_pos(q->event[cause]) : 0;
			if (cause && !add(q, 2))
				return false;
		}
	for (uint32_t b = 0; b < p->nconds; b++)
		if (!one_taker(q, b))
			return false;
	return true;
}

/* The variable m of condition b. */
static uint32_t held_var(struct query_question *q, uint32_t b)
{
	assert(b < q->p->nconds);
	if (q->held[b] != NET_NONE)
		return q->held[b];
	uint32_t m = new_var(q, !q->implies), n = 0, cause = q->p->cfg.conds[b].event;
	if (m == NET_NONE)
		return m;
	if (q->implies) { /* m -> event, m -> no taker */
		for (uint32_t i = q->taker_at[b]; i <= q->taker_at[b + 1]; i++) {
			bool own = i == q->taker_at[b + 1];
			q->lits[0] = sat_neg(m);
			q->lits[1] = own ? (cause ? sat_pos(q->event[cause]) : 0) : sat_neg(q->event[q->taker[i]]);
			if ((!own || cause) && !add(q, 2))
				return NET_NONE;
		}
	} else { /* event and no taker -> m */
		if (cause)
			q->lits[n++] = sat_neg(q->event[cause]);
		for (uint32_t i = q->taker_at[b]; i < q->taker_at[b + 1]; i++)
			q->lits[n++] = sat_pos(q->event[q->taker[i]]);
		q->lits[n++] = sat_pos(m);
		if (!add(q, n))
			return NET_NONE;
	}
	return q->held[b] = m;
}

/* Not all of these conditions are held. */
static bool not_all(struct query_question *q, const uint32_t *conds, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (held_var(q, conds[i]) == NET_NONE)
			return false;
	for (uint32_t i = 0; i < n; i++)
		q->lits[i] = sat_neg(q->held[conds[i]]);
	return add(q, n);
}

static bool in_model(const struct query_question *q, uint32_t e)
{
	assert(e < q->p->nevents);
	return !e || (q->event[e] != NET_NONE && sat_value(q->sat, q->event[e]));
}

/* The cut of the model's configuration, into at[]. */
static void model_cut(struct query_question *q)
{
	struct prefix *p = q->p;
	memset(q->at, 0, ((size_t)p->net->nplaces + 1) * sizeof *q->at);
	for (uint32_t b = 0; b < p->nconds; b++) {
		bool there = in_model(q, p->cfg.conds[b].event);
		for (uint32_t i = q->taker_at[b]; i < q->taker_at[b + 1] && there; i++)
			there = !in_model(q, q->taker[i]);
		if (there)
			q->at[p->cfg.conds[b].place] = b + 1;
	}
}

struct query_step {
	uint32_t depth, trans;
};
static int by_depth(const void *pa, const void *pb)
{
	const struct query_step *a = pa, *b = pb;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->trans < b->trans ? -1 : a->trans > b->trans;
}

/* The model's marking and a run that leads to it. */
static bool keep_model(struct query_question *q)
{
	assert(!q->a->marking && !q->a->run);
	struct prefix *p = q->p;
	struct query_answer *a = q->a;
	uint32_t n = 0;
	struct query_step *steps = calloc(p->nevents, sizeof *steps);
	a->marking = calloc((size_t)p->net->nplaces + 1, sizeof *a->marking);
	a->run = calloc(p->nevents, sizeof *a->run);
	if (!steps || !a->marking || !a->run) {
		free(steps);
		return limit(q, "memory");
	}
	for (uint32_t e = 1; e < p->nevents; e++)
		if (in_model(q, e))
			steps[n++] = (struct query_step){ p->cfg.events[e].depth, p->cfg.events[e].trans };
	qsort(steps, n, sizeof *steps, by_depth);
	for (uint32_t i = 0; i < n; i++)
		a->run[a->nrun++] = steps[i].trans;
	free(steps);
	for (uint32_t pl = 0; pl < p->net->nplaces; pl++)
		if (q->at[pl])
			a->marking[a->nmarking++] = pl;
	a->found = 1;
	return true;
}

/* A clause for every transition that the model's marking enables; how many,
 * or -1 at a limit. */
static int forbid_enabled(struct query_question *q)
{
	const struct net *n = q->p->net;
	uint32_t conds[NET_MAX_WIDTH];
	int many = 0;
	memset(q->seen, 0, ((size_t)n->ntrans + 1) * sizeof *q->seen);
	for (uint32_t pl = 0; pl < n->nplaces; pl++) {
		for (uint32_t u = n->use_at[pl]; q->at[pl] && u < n->use_at[pl + 1]; u++) {
			uint32_t t = n->use[u];
			if (++q->seen[t] < net_npre(n, t))
				continue;
			for (uint32_t i = 0; i < net_npre(n, t); i++)
				conds[i] = q->at[n->pre[n->pre_at[t] + i]] - 1;
			if (!not_all(q, conds, net_npre(n, t)))
				return -1;
			many++;
		}
	}
	return many;
}

static bool forbid_events(struct query_question *q)
{
	struct prefix *p = q->p;
	for (uint32_t e = 1; e < p->nevents; e++)
		if (is_kept(p, e) && !not_all(q, uf_pre(&p->cfg, e), uf_npre(&p->cfg, e)))
			return false;
	for (uint64_t i = 0; i < p->ncut; i += 1 + p->cut[i])
		if (!not_all(q, p->cut + i + 1, p->cut[i]))
			return false;
	return true;
}

static void finish(struct query_question *q)
{
	if (q->sat)
		q->a->conflicts = sat_conflicts(q->sat);
	sat_free(q->sat);
	free(q->event);
	free(q->held);
	free(q->taker_at);
	free(q->taker);
	free(q->lits);
	free(q->at);
	free(q->seen);
}

/* Asks once: a model's cut is then in at[]. */
static bool ask(struct query_question *q)
{
	q->a->rounds++;
	int rc = sat_solve(q->sat);
	if (rc < 0)
		return limit(q, sat_limit(q->sat));
	if (rc == 0) {
		q->a->found = 0;
		return false;
	}
	model_cut(q);
	return true;
}

void prefix_deadlock(struct prefix *p, struct query_answer *a)
{
	struct query_question q = { .p = p, .a = a };
	memset(a, 0, sizeof *a);
	if (start(&q) && configurations(&q) && forbid_events(&q))
		while (ask(&q)) {
			int many = forbid_enabled(&q);
			if (many == 0)
				keep_model(&q);
			if (many <= 0)
				break;
		}
	finish(&q);
}

void prefix_cover(struct prefix *p, const uint32_t *places, uint32_t n, struct query_answer *a)
{
	assert(n && n <= NET_MAX_WIDTH);
	struct query_question q = { .p = p, .a = a, .implies = true };
	memset(a, 0, sizeof *a);
	bool ok = start(&q) && configurations(&q);
	for (uint32_t i = 0; i < n && ok; i++) {
		uint32_t many = 0;
		for (uint32_t b = 0; b < p->nconds && ok; b++)
			if (p->cfg.conds[b].place == places[i])
				ok = held_var(&q, b) != NET_NONE;
		for (uint32_t b = 0; b < p->nconds && ok; b++)
			if (p->cfg.conds[b].place == places[i])
				q.lits[many++] = sat_pos(q.held[b]);
		ok = ok && add(&q, many);
	}
	if (ok && ask(&q))
		keep_model(&q);
	finish(&q);
}

void answer_free(struct query_answer *a)
{
	free(a->marking);
	free(a->run);
	memset(a, 0, sizeof *a);
}
