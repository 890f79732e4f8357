/*
 * search_clauses: levels whose clauses are known beforehand: cursor-stability and update-atomic.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/search_int.h"

static bool session_before(const struct txn_search *s, uint32_t a, uint32_t b);

/* t, which read a, comes before b's transaction, and that one before t: by c before e, or because t sees it. */
static void prove_clause(struct txn_search *s, uint32_t t, uint32_t a, uint32_t b, uint32_t c, uint32_t e)
{
	const struct deps *d = s->d;
	bool sees = d->versions[c].t == DEPS_NONE;
	uint32_t tb = d->versions[b].t, key = DEPS_NONE;
	if (search_literal(s, a, b) == NO_LIT)
		prover_certain(s->prover, a, b);
	if (!sees && search_literal(s, c, e) == NO_LIT)
		prover_certain(s->prover, c, e);
	for (uint32_t r = d->read_first[t]; r < d->read_first[t + 1]; r++)
		if (d->versions[d->reads[r].version].t == tb)
			key = d->versions[d->reads[r].version].key;
	prover_begin(s->prover);
	prover_rw(s->prover, t, a, b);
	if (!sees)
		prover_ww(s->prover, c, e);
	else if (key != DEPS_NONE)
		prover_given(s->prover, PROOF_WR, tb, t, key);
	else
		prover_given(s->prover, s->g->order == ORDER_SESSION ? PROOF_SESSION : PROOF_REALTIME, tb, t, 0);
	prover_end(s->prover);
}

/* Nothing is to be chosen: t missed b, though b's transaction comes before it: by c before a version of t, or because t sees it. */
static void certainly_missed(struct txn_search *s, uint32_t t, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t tb = s->d->versions[b].t;
	s->r->found_missed = true;
	s->r->missed_by = s->r->missed_from = t;
	s->r->missed_a = a;
	s->r->missed_b = b;
	if (s->d->versions[c].t == DEPS_NONE) {
		s->r->missed = graph_path(s->g, graph_end(s->g, tb), graph_begin(s->g, t), s->g->edges.len, &s->r->nmissed);
	} else {
		s->r->missed_from = tb;
		s->r->missed_key = s->d->versions[c].key;
	}
}

/* t read a; not (a before b and c before e). */
static void add_clause(struct txn_search *s, uint32_t t, uint32_t a, uint32_t b, uint32_t c, uint32_t e)
{
	uint32_t lits[2], n = 0;
	const uint32_t p[2][2] = { { a, b }, { c, e } };
	for (int i = 0; i < 2; i++) {
		uint32_t x = p[i][0], y = p[i][1];
		bool init_x = s->d->versions[x].t == DEPS_NONE, init_y = s->d->versions[y].t == DEPS_NONE;
		if (init_y || x == y)
			return;
		if (init_x)
			continue;
		uint32_t l = search_literal(s, x, y);
		if (l != NO_LIT)
			lits[n++] = l ^ 1;
		else if (!search_certain(s->g, x, y))
			return;
	}
	if (s->prover)
		prove_clause(s, t, a, b, c, e);
	if (!n && !s->r->found_missed)
		certainly_missed(s, t, a, b, c);
	cdcl_add(s->sat, lits, n);
}

/* cursor-stability: t read a's version and overwrote it: nothing stands between. */
void search_cursor_clauses(struct txn_search *s)
{
	const struct deps *d = s->d;
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t a = d->reads[i].version, key = d->versions[a].key, own = DEPS_NONE;
			if (!d->reads[i].then_written)
				continue;
			for (uint32_t k = d->write_first[t]; k < d->write_first[t + 1]; k++)
				own = d->versions[d->writes[k]].key == key ? d->writes[k] : own;
			for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1]; b++)
				if (b != a && b != own)
					add_clause(s, t, a, b, b, own);
		}
}

static bool session_before(const struct txn_search *s, uint32_t a, uint32_t b)
{
	const struct deps *d = s->d;
	const struct txn *x = &d->th->txns[d->txn[a]], *y = &d->th->txns[d->txn[b]];
	if (s->g->order == ORDER_NONE)
		return false;
	if (s->g->order == ORDER_REALTIME)
		return x->ret < y->call;
	return x->session == y->session && x->status == TXN_COMMITTED && a < b;
}

/* update-atomic: who is seen by t, by whatever dependency, is not missed by it. */
void search_update_clauses(struct txn_search *s)
{
	const struct deps *d = s->d;
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t a = d->reads[i].version, key = d->versions[a].key, init = d->key_first[key];
			for (uint32_t b = init + 1; b < d->key_first[key + 1]; b++) {
				uint32_t tb = d->versions[b].t;
				if (b == a || tb == t)
					continue;
				bool sees = session_before(s, tb, t);
				for (uint32_t r = d->read_first[t]; r < d->read_first[t + 1] && !sees; r++)
					sees = d->versions[d->reads[r].version].t == tb;
				if (sees)
					add_clause(s, t, a, b, init, b);
				for (uint32_t k = d->write_first[t]; k < d->write_first[t + 1]; k++) {
					uint32_t y = d->versions[d->writes[k]].key;
					for (uint32_t m = d->write_first[tb]; m < d->write_first[tb + 1]; m++)
						if (d->versions[d->writes[m]].key == y)
							add_clause(s, t, a, b, d->writes[m], d->writes[k]);
				}
			}
		}
}
