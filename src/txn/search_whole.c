/*
 * search_whole: levels that are more than the absence of cycles: a look at the whole graph once everything is chosen.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/search_int.h"

/* Marks what reaches `node` (itself included); parent: the edge by which one goes on towards it. */
static void reach_back(struct txn_search *s, uint32_t node)
{
	if (s->mark[node] == s->stamp)
		return;
	s->mark[node] = s->stamp;
	s->parent[node] = 0;
	s->stack.len = 0;
	avec_push(s->a, &s->stack, node);
	for (uint32_t i = 0; i < s->stack.len; i++)
		for (uint32_t e = s->in [s->stack.data[i]]; e; e = s->edges.data[e - 1].next_in) {
			uint32_t from = s->edges.data[e - 1].from;
			if (s->mark[from] == s->stamp || s->ord[from] < s->floor)
				continue;
			s->mark[from] = s->stamp;
			s->parent[from] = e;
			avec_push(s->a, &s->stack, from);
		}
}

static void forbid(struct txn_search *s, uint32_t lit)
{
	if (lit == NO_LIT)
		return;
	for (uint32_t i = 0; i < s->clause.len; i++)
		if (s->clause.data[i] == (lit ^ 1))
			return;
	avec_push(s->a, &s->clause, lit ^ 1);
}

/* Version u of a transaction that is certainly before one that t wrote before its last read of a: the two of them. */
static bool certain_write(const struct txn_search *s, uint32_t from, uint32_t t, uint32_t a, uint32_t *u, uint32_t *v)
{
	const struct deps *d = s->d;
	uint32_t po = 0;
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++)
		po = d->reads[i].version == a ? d->reads[i].po : po;
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++)
		for (uint32_t k = d->write_first[from]; k < d->write_first[from + 1]; k++) {
			*u = d->writes[k];
			*v = d->writes[i];
			if (d->versions[*u].key == d->versions[*v].key && d->versions[*v].po < po &&
			    search_literal(s, *u, *v) == NO_LIT && search_before(s, *u, *v))
				return true;
		}
	return false;
}

/* The way from b to t, and t's read that missed b. */
static void prove_missed(struct txn_search *s, uint32_t a, uint32_t b, uint32_t t)
{
	uint32_t u = 0, v = 0, node = s->d->versions[b].t;
	if (!s->prover)
		return;
	for (uint32_t e; node != t && (e = s->parent[node]) != 0;)
		node = s->edges.data[e - 1].to;
	bool gap = node != t && certain_write(s, node, t, a, &u, &v);
	if (gap)
		prover_certain(s->prover, u, v);
	if (search_literal(s, a, b) == NO_LIT)
		prover_certain(s->prover, a, b);
	prover_begin(s->prover);
	prover_rw(s->prover, t, a, b);
	node = s->d->versions[b].t;
	for (uint32_t e; node != t && (e = s->parent[node]) != 0; node = s->edges.data[e - 1].to)
		search_prove_edge(s, e - 1);
	if (gap)
		prover_ww(s->prover, u, v);
	prover_end(s->prover);
}

/* A read of version a by t misses b, and b reaches an operation of t that counts. */
static void explain_missed(struct txn_search *s, uint32_t a, uint32_t b, uint32_t t)
{
	s->clause.len = 0;
	prove_missed(s, a, b, t);
	uint32_t node = s->d->versions[b].t;
	for (uint32_t e; node != t && (e = s->parent[node]) != 0; node = s->edges.data[e - 1].to)
		forbid(s, s->edges.data[e - 1].lit);
	if (s->d->versions[a].t != DEPS_NONE)
		forbid(s, search_literal(s, a, b));
	if (s->clause.len || s->r->found_missed)
		return;
	s->r->missed = arena_array(s->a, uint32_t, s->g->nnodes + 1);
	s->r->missed_by = t;
	s->r->missed_a = a;
	s->r->missed_b = b;
	node = s->d->versions[b].t;
	for (uint32_t e; node != t && (e = s->parent[node]) != 0; node = s->edges.data[e - 1].to)
		s->r->missed[s->r->nmissed++] = e - 1;
	s->r->missed_from = node;
	for (uint32_t i = 0; node != t && i < s->d->write_first[t + 1] - s->d->write_first[t]; i++)
		for (uint32_t k = s->d->write_first[node]; k < s->d->write_first[node + 1]; k++)
			if (s->d->versions[s->d->writes[k]].key == s->d->versions[s->d->writes[s->d->write_first[t] + i]].key)
				s->r->missed_key = s->d->versions[s->d->writes[k]].key;
	s->r->found_missed = true;
}

/* Does a transaction reached before by what counts hold a later version than a? */
static bool misses(struct txn_search *s, uint32_t t, uint32_t a)
{
	const struct deps *d = s->d;
	uint32_t key = d->versions[a].key;
	for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1]; b++) {
		uint32_t tb = d->versions[b].t;
		if (b == a || tb == t || s->mark[tb] != s->stamp || !search_before(s, a, b))
			continue;
		explain_missed(s, a, b, t);
		return true;
	}
	return false;
}

/* What reaches a transaction by this edge into it. */
static void reach_by(struct txn_search *s, uint32_t e)
{
	uint32_t from = s->edges.data[e - 1].from;
	if (s->mark[from] == s->stamp)
		return;
	reach_back(s, from);
	s->parent[from] = e;
}

/* Version u is before v, chosen or certain: what reaches u's transaction reaches v's write. Where it is certain by a longer way, which may end
 * in a later operation, there is no edge of it, and the way towards it ends at u's transaction. */
static void write_before(struct txn_search *s, uint32_t u, uint32_t v)
{
	uint32_t tu = s->d->versions[u].t, t = s->d->versions[v].t, lit = search_literal(s, u, v);
	for (uint32_t e = s->out[tu]; e; e = s->edges.data[e - 1].next_out) {
		const struct sedge *x = &s->edges.data[e - 1];
		bool known = e <= s->g->edges.len && s->g->edges.data[e - 1].kind == EDGE_WW &&
		             s->g->edges.data[e - 1].key == s->d->versions[v].key;
		if (x->to == t && (lit != NO_LIT ? x->lit == lit : known)) {
			reach_by(s, e);
			return;
		}
	}
	assert(lit == NO_LIT);
	reach_back(s, tu);
}

/* monotonic-view: operations in their order; what an earlier one depends on must not be missed by a later read. Edges into t that
 * stand for a write count from its last write of the key on. The parents of marks lead to t's predecessors; the last edge's literal is added here. */
static bool monotonic(struct txn_search *s, uint32_t t)
{
	const struct deps *d = s->d;
	s->stamp++;
	/* session or real time: before everything */
	for (uint32_t e = s->in[t]; e; e = s->edges.data[e - 1].next_in) {
		const struct sedge *x = &s->edges.data[e - 1];
		if (x->lit == NO_LIT && e <= s->g->edges.len && s->g->edges.data[e - 1].kind <= EDGE_REALTIME) {
			reach_by(s, e);
		}
	}
	for (uint32_t i = d->read_first[t], seen = i; i < d->read_first[t + 1]; i++) {
		for (uint32_t k = d->write_first[t]; k < d->write_first[t + 1]; k++) {
			uint32_t v = d->writes[k];
			if (d->versions[v].po > d->reads[i].po)
				continue;
			for (uint32_t u = d->key_first[d->versions[v].key] + 1; u < d->key_first[d->versions[v].key + 1]; u++) {
				if (u == v || !search_before(s, u, v))
					continue;
				write_before(s, u, v);
			}
		}
		if (misses(s, t, d->reads[i].version))
			return false;
		for (; seen <= i && deps_moment_ends(d, t, i); seen++) {
			uint32_t from = d->versions[d->reads[seen].version].t;
			for (uint32_t e = from != DEPS_NONE ? s->out[from] : 0; e; e = s->edges.data[e - 1].next_out)
				if (s->edges.data[e - 1].to == t && e <= s->g->edges.len &&
				    s->g->edges.data[e - 1].kind == EDGE_WR && s->g->edges.data[e - 1].reason == seen)
					reach_by(s, e);
		}
	}
	return true;
}

/* consistent-view, update-serializable: what reaches the transaction at all. */
static bool consistent(struct txn_search *s, uint32_t t)
{
	const struct deps *d = s->d;
	s->stamp++;
	reach_back(s, t);
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++)
		if (misses(s, t, d->reads[i].version))
			return false;
	return true;
}

/* Is there a version that a read of t misses, and that comes before t in the order at hand? What reaches t does; so when there is none nothing is
 * missed, and else nothing below the first of them need be looked at. */
static bool could_miss(struct txn_search *s, uint32_t t)
{
	const struct deps *d = s->d;
	s->floor = UINT32_MAX;
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
		uint32_t a = d->reads[i].version, key = d->versions[a].key;
		for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1]; b++) {
			uint32_t tb = d->versions[b].t;
			if (b != a && tb != t && s->ord[tb] < s->ord[t] && s->ord[tb] < s->floor && search_before(s, a, b))
				s->floor = s->ord[tb];
		}
	}
	return s->floor != UINT32_MAX;
}

enum cdcl_final search_look(void *arg, const uint32_t **clause, uint32_t *n)
{
	struct txn_search *s = arg;
	const struct deps *d = s->d;
	bool ok = true;
	for (uint32_t t = 0; ok && t < d->n; t++) {
		if (d->read_first[t] == d->read_first[t + 1] || !could_miss(s, t))
			continue;
		if (s->level == LEVEL_MV)
			ok = monotonic(s, t);
		else if (s->level == LEVEL_CV || (s->level == LEVEL_US && d->write_first[t] == d->write_first[t + 1]))
			ok = consistent(s, t);
		if ((t & 0xFF) == 0 && lim_spent(s->g->lim))
			break; /* the solver is asked to stop soon; what it says then is not heard */
	}
	*clause = s->clause.data;
	*n = s->clause.len;
	return ok ? CDCL_ACCEPT : CDCL_CONFLICT;
}
