/*
 * proof: see proof.h. A derived edge stands for the statement that it follows from. The first time that a cycle uses it, the cycle that forces
 * that statement is put in front: the path by which the rule fired, found again among the edges with smaller numbers (breadth first, through
 * nodes that still reach its end). The paths of derived edges on that path are put in front of it in turn: the edges that
 * are needed are collected from the greatest number down, and told from the least up.
 */
#include "txn/proof.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "txn/graph.h"

#define PROOF_MAX_VISITS (UINT64_C(1) << 32) /* edges looked at */

struct prover {
	struct txn_proof *out;
	struct txn_graph *g;
	const struct deps *d;
	struct arena *keep;
	AVEC(uint8_t) told; /* by edge: what it follows from is there */
	uint32_t *mark, *by, *queue, stamp;
	uint64_t visits;
	AVEC(struct proof_step) cycle; /* the one that is being told */
	AVEC(uint32_t) needed;         /* its derived edges */
	AVEC(struct proof_fact) clause;
	uint32_t last; /* the transaction at which the path has arrived, when moments are between */
};

struct prover *prover_new(struct txn_proof *p, struct txn_graph *g, struct arena *keep)
{
	struct prover *x = arena_new(g->arena, struct prover);
	*x = (struct prover){ .out = p, .g = g, .d = g->d, .keep = keep };
	x->mark = arena_array(g->arena, uint32_t, g->nnodes + 1);
	x->by = arena_array(g->arena, uint32_t, g->nnodes + 1);
	x->queue = arena_array(g->arena, uint32_t, g->nnodes + 1);
	return x;
}

static uint32_t txn_at(const struct prover *p, uint32_t t)
{
	return p->d->txn[t];
}

static uint32_t writer(const struct prover *p, uint32_t version)
{
	uint32_t t = p->d->versions[version].t;
	return t == DEPS_NONE ? PROOF_INITIAL : txn_at(p, t);
}

/* ---- steps of the cycle at hand -------------------------------------------------------------------------- */

void prover_begin(struct prover *p)
{
	p->cycle.len = p->needed.len = 0;
	p->last = DEPS_NONE;
}

static void step(struct prover *p, enum proof_kind kind, uint32_t from, uint32_t to, uint32_t key, uint32_t version)
{
	struct proof_step s = {
		.from = txn_at(p, from), .to = txn_at(p, to), .key = key, .version = version, .kind = (uint8_t)kind
	};
	assert(from < p->d->n && to < p->d->n && from != to);
	avec_push(p->g->arena, &p->cycle, s);
	p->last = to;
}

void prover_ww(struct prover *p, uint32_t a, uint32_t b)
{
	step(p, PROOF_WW, p->d->versions[a].t, p->d->versions[b].t, p->d->versions[a].key, 0);
}

void prover_rw(struct prover *p, uint32_t reader, uint32_t a, uint32_t b)
{
	step(p, PROOF_RW, reader, p->d->versions[b].t, p->d->versions[a].key, writer(p, a));
}

void prover_given(struct prover *p, enum proof_kind kind, uint32_t from, uint32_t to, uint32_t key)
{
	step(p, kind, from, to, key, 0);
}

/* Moments of real time and the way from begin to end are no steps of their own. */
void prover_edge(struct prover *p, uint32_t edge)
{
	static const uint8_t kinds[] = { [EDGE_SESSION] = PROOF_SESSION,
		                         [EDGE_REALTIME] = PROOF_REALTIME,
		                         [EDGE_WR] = PROOF_WR,
		                         [EDGE_WW] = PROOF_WW,
		                         [EDGE_RW] = PROOF_RW };
	assert(edge < p->g->edges.len);
	const struct gedge *e = &p->g->edges.data[edge];
	uint32_t u = graph_txn(p->g, e->from), v = graph_txn(p->g, e->to);
	if (e->kind == EDGE_INSIDE)
		return;
	p->last = u != DEPS_NONE ? u : p->last;
	if (v == DEPS_NONE || v == p->last)
		return;
	step(p, (enum proof_kind)kinds[e->kind], p->last, v, e->key, e->kind == EDGE_RW ? writer(p, e->reason) : 0);
	if (e->why == WHY_MISSED || e->why == WHY_AFTER)
		avec_push(p->g->arena, &p->needed, edge);
}

/* ---- why a derived edge is there ----------------------------------------------------------------------------- */

/* A shortest path by edges below `before` of these kinds into p->by; false: none. */
static bool search_path(struct prover *p, uint32_t u, uint32_t v, uint32_t before, unsigned kinds)
{
	const struct txn_graph *g = p->g;
	uint32_t n = 0;
	bool clocks = g->nchains && g->clock && graph_txn(g, v) != DEPS_NONE;
	p->stamp++;
	p->queue[n++] = u;
	p->mark[u] = p->stamp;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = g->head[p->queue[i]]; e; e = g->edges.data[e - 1].next) {
			uint32_t to = g->edges.data[e - 1].to;
			p->visits++;
			if (e - 1 >= before || !(kinds >> g->edges.data[e - 1].kind & 1) || p->mark[to] == p->stamp)
				continue;
			p->mark[to] = p->stamp;
			p->by[to] = e - 1;
			if (to == v)
				return true;
			if (!clocks || graph_txn(g, to) == DEPS_NONE || graph_reaches(g, to, v))
				p->queue[n++] = to;
		}
	return false;
}

/* The path into the cycle. */
static bool tell_path(struct prover *p, uint32_t u, uint32_t v, uint32_t before, unsigned kinds)
{
	if (u == v)
		return true;
	if (!search_path(p, u, v, before, kinds))
		return false;
	uint32_t n = 0;
	for (uint32_t at = v; at != u; at = p->g->edges.data[p->by[at]].from)
		p->queue[n++] = p->by[at];
	while (n)
		prover_edge(p, p->queue[--n]);
	return true;
}

static uint32_t version_of(const struct deps *d, uint32_t t, uint32_t key)
{
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++)
		if (d->versions[d->writes[i]].key == key)
			return d->writes[i];
	assert(0);
	return 0;
}

/* By one of the edges that count for the read. */
static bool tell_earlier(struct prover *p, uint32_t from, uint32_t read, uint32_t before)
{
	uint32_t e;
	for (uint32_t k = 0; (e = graph_earlier_edge(p->g, read, k)) != DEPS_NONE; k++)
		if (tell_path(p, from, p->g->edges.data[e].from, before, ~0u)) {
			prover_edge(p, e);
			return true;
		}
	return false;
}

/* The way by which b comes before the reader, as the graph's rule `missed` has it. */
static bool tell_seen(struct prover *p, uint32_t from, uint32_t read, uint32_t before)
{
	const unsigned order = 1u << EDGE_SESSION | 1u << EDGE_REALTIME, wr = 1u << EDGE_WR;
	const struct txn_graph *g = p->g;
	uint32_t to = graph_begin(g, graph_reader(p->d, read)), direct = DEPS_NONE;
	if (g->with & WITH_EARLIER)
		return tell_earlier(p, from, read, before);
	if (!(g->with & (WITH_SEEN | WITH_DIRECT)))
		return tell_path(p, from, to, before, ~0u);
	if (g->with & WITH_SEEN)
		return tell_path(p, from, to, before, order | wr);
	for (uint32_t e = g->head[from]; e;
	     e = g->edges.data[e - 1].next) { /* a read from it directly, an earlier one if there is */
		const struct gedge *x = &g->edges.data[e - 1];
		if (x->to == to && x->kind == EDGE_WR && (direct == DEPS_NONE || x->reason < g->edges.data[direct].reason))
			direct = e - 1;
	}
	if (direct == DEPS_NONE)
		return tell_path(p, from, to, before, order);
	prover_edge(p, direct);
	return true;
}

/* The cycle that forbids the opposite of what the edge states. */
static bool tell_reason(struct prover *p, uint32_t edge)
{
	const struct txn_graph *g = p->g;
	const struct deps *d = p->d;
	struct gedge e = g->edges.data[edge];
	prover_begin(p);
	if (e.why == WHY_MISSED) {
		prover_rw(p, graph_reader(d, e.reason), d->reads[e.reason].version, version_of(d, graph_txn(g, e.from), e.key));
		return tell_seen(p, e.from, e.reason, edge);
	}
	uint32_t b = version_of(d, graph_txn(g, e.to), e.key);
	uint32_t a = e.kind == EDGE_RW ? e.reason : version_of(d, graph_txn(g, e.from), e.key), t = d->versions[a].t;
	if (t == DEPS_NONE)
		return true; /* nothing is before the initial version */
	prover_ww(p, b, a);
	return tell_path(p, g->family == FAMILY_SI ? graph_begin(g, t) : graph_end(g, t), graph_end(g, d->versions[b].t), edge,
	                 ~0u);
}

/* ---- clauses ---------------------------------------------------------------------------------------------------- */

static bool full(struct prover *p)
{
	p->out->too_long |= p->out->steps.len > PROOF_MAX_STEPS || p->out->facts.len > PROOF_MAX_STEPS ||
	                    p->visits > PROOF_MAX_VISITS || lim_spent(p->g->lim);
	return p->out->too_long;
}

static void put_cycle(struct prover *p, const struct proof_step *s, uint32_t n)
{
	struct proof_clause c = { .first = p->out->steps.len, .n = n };
	for (uint32_t i = 0; i < n; i++)
		avec_push(p->keep, &p->out->steps, s[i]);
	avec_push(p->keep, &p->out->clauses, c);
}

/* The reasons of derived edges, told before the cycle at hand. */
struct told_reason {
	uint32_t edge, first, n;
};

static int by_edge(const void *a, const void *b)
{
	const struct told_reason *x = a, *y = b;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static bool told(struct prover *p, uint32_t edge)
{
	while (p->told.len < p->g->edges.len)
		avec_push(p->g->arena, &p->told, 0);
	return p->told.data[edge];
}

static void tell_needed(struct prover *p)
{
	struct arena *a = p->g->arena;
	AVEC(struct proof_step) steps = { 0 };
	AVEC(struct told_reason) reasons = { 0 };
	AVEC(uint32_t) todo = { 0 };
	for (uint32_t i = 0; i < p->needed.len; i++)
		avec_push(a, &todo, p->needed.data[i]);
	while (todo.len && !full(p)) {
		uint32_t e = todo.data[--todo.len];
		if (told(p, e))
			continue;
		p->told.data[e] = 1;
		bool reason = tell_reason(p, e);
		assert(reason); /* every derived edge has one */
		if (!reason) {
			p->out->too_long = true;
			return;
		}
		avec_push(a, &reasons, ((struct told_reason){ e, steps.len, p->cycle.len }));
		for (uint32_t i = 0; i < p->cycle.len; i++)
			avec_push(a, &steps, p->cycle.data[i]);
		for (uint32_t i = 0; i < p->needed.len; i++)
			avec_push(a, &todo, p->needed.data[i]);
		p->out->too_long |= steps.len > PROOF_MAX_STEPS;
	}
	if (reasons.len)
		qsort(reasons.data, reasons.len, sizeof *reasons.data, by_edge);
	for (uint32_t i = 0; i < reasons.len; i++)
		if (reasons.data[i].n)
			put_cycle(p, steps.data + reasons.data[i].first, reasons.data[i].n);
}

void prover_end(struct prover *p)
{
	if (full(p))
		return;
	struct proof_step *s = arena_array(p->g->arena, struct proof_step, p->cycle.len + 1);
	uint32_t n = p->cycle.len;
	if (n)
		memcpy(s, p->cycle.data, n * sizeof *s);
	tell_needed(p);
	put_cycle(p, s, n);
}

void prover_certain(struct prover *p, uint32_t a, uint32_t b)
{
	const struct txn_graph *g = p->g;
	uint32_t to = p->d->versions[b].t;
	if (full(p) || p->d->versions[a].t == DEPS_NONE)
		return;
	prover_begin(p);
	prover_ww(p, b, a);
	if (!tell_path(p, graph_end(g, p->d->versions[a].t), g->family == FAMILY_PC ? graph_end(g, to) : graph_begin(g, to),
	               g->edges.len, ~0u))
		p->out->too_long = true;
	prover_end(p);
}

void prover_learn(struct prover *p, uint32_t a, uint32_t b)
{
	avec_push(p->g->arena, &p->clause, ((struct proof_fact){ p->d->versions[a].key, writer(p, a), writer(p, b) }));
}

void prover_learned(struct prover *p)
{
	struct proof_clause c = { .first = p->out->facts.len, .n = p->clause.len, .learned = true };
	if (!full(p)) {
		for (uint32_t i = 0; i < p->clause.len; i++)
			avec_push(p->keep, &p->out->facts, p->clause.data[i]);
		avec_push(p->keep, &p->out->clauses, c);
	}
	p->clause.len = 0;
}

/* The last read of the version by the transaction. */
static uint32_t read_of(const struct deps *d, uint32_t t, uint32_t version)
{
	uint32_t i = d->read_first[t + 1];
	while (d->reads[--i].version != version)
		assert(i > d->read_first[t]);
	return i;
}

/* Where not every path counts, a reader of the initial version that comes behind a writer is a cycle by itself. */
void prover_cycle(struct prover *p, const uint32_t *edges, uint32_t n)
{
	uint32_t start = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct gedge e = p->g->edges.data[edges[i]];
		if (e.kind != EDGE_RW || !(p->g->with & (WITH_SEEN | WITH_DIRECT | WITH_EARLIER)))
			continue;
		uint32_t t = graph_txn(p->g, e.from);
		prover_begin(p);
		prover_rw(p, t, e.reason, version_of(p->d, graph_txn(p->g, e.to), e.key));
		if (!tell_seen(p, e.to, read_of(p->d, t, e.reason), p->g->edges.len))
			p->out->too_long = true;
		prover_end(p);
		return;
	}
	/* begin at an edge that leaves a transaction, so that moments are never first */
	while (start < n && (graph_txn(p->g, p->g->edges.data[edges[start]].from) == DEPS_NONE ||
	                     p->g->edges.data[edges[start]].kind == EDGE_INSIDE))
		start++;
	prover_begin(p);
	for (uint32_t i = 0; i < n; i++)
		prover_edge(p, edges[(start + i) % n]);
	prover_end(p);
}
