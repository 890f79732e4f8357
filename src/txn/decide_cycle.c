/*
 * decide_cycle: a violation told: a short cycle of the graph as steps between transactions, with the reasons of derived ones, and its name.
 */
#include <string.h>

#include "base/invariant.h"
#include "txn/decide_int.h"

/* Why a derived edge is there: a path of edges with smaller numbers. */
static void tell_reason(struct teller *w, uint32_t edge, struct cycle_edge *c, int depth)
{
	assert(edge < w->g->edges.len);
	assert(w->g->edges.data[edge].why != WHY_GIVEN);
	const struct txn_graph *g = w->g;
	const struct gedge *e = &g->edges.data[edge];
	const struct deps *d = w->q->d;
	uint32_t from = graph_end(g, c->from), to = e->to, n = 0;
	if (e->why == WHY_MISSED) {
		c->reader = graph_reader(d, e->reason);
		to = graph_begin(g, c->reader);
	} else if (e->kind == EDGE_RW) {
		uint32_t t = d->versions[c->version].t;
		if (t == DEPS_NONE)
			return;
		from = graph_end(g, t);
	} else {
		from = graph_begin(g, c->from);
		to = graph_end(g, c->to);
	}
	if (!depth || w->told > REASON_EDGES || from == to)
		return;
	uint32_t *path = e->why == WHY_MISSED ? graph_reason(g, from, e->reason, edge, &n) : graph_path(g, from, to, edge, &n);
	if (path && n < 50)
		c->because = decide_tell(w, path, n, false, depth - 1, &c->nbecause);
}

/* Does the step go on with what the one before it says? (a before b before c in a session, in real time, in the order that lists show: a before c.) */
static bool goes_on(const struct cycle_edge *before, const struct cycle_edge *c)
{
	bool given = before->why == WHY_GIVEN && c->why == WHY_GIVEN;
	return before->to == c->from && before->kind == c->kind &&
	       (c->kind == EDGE_SESSION || c->kind == EDGE_REALTIME || (c->kind == EDGE_WW && given && before->key == c->key));
}

static bool in_order(const struct deps *d, enum txn_order o, uint32_t a, uint32_t b)
{
	const struct txn *x = txn_of(d, a), *y = txn_of(d, b);
	if (o == ORDER_REALTIME)
		return x->ret < y->call;
	return o == ORDER_SESSION && x->session == y->session && x->status == TXN_COMMITTED && a < b;
}

#define SHORTEN_MAX 1000 /* steps: every pair of them is looked at */

/* A cycle in which the order of transactions counts: the longest way that it says more shortly becomes one step of it. The number of steps then. */
static uint32_t shorten(const struct txn_graph *g, struct cycle_edge *list, uint32_t n)
{
	uint32_t from = 0, most = 1;
	enum edge_kind kind = g->order == ORDER_REALTIME ? EDGE_REALTIME : EDGE_SESSION;
	bool counts = false;
	for (uint32_t i = 0; i < n; i++)
		counts |= list[i].kind == kind;
	for (uint32_t i = 0; counts && n <= SHORTEN_MAX && i < n; i++)
		for (uint32_t k = most + 1; k < n; k++)
			if (in_order(g->d, g->order, list[i].from, list[(i + k - 1) % n].to)) {
				from = i;
				most = k;
			}
	if (most == 1)
		return n;
	struct cycle_edge *rest = arena_array(g->arena, struct cycle_edge, n);
	rest[0] = (struct cycle_edge){ .from = list[from].from,
		                       .to = list[(from + most - 1) % n].to,
		                       .kind = (uint8_t)kind,
		                       .reader = DEPS_NONE,
		                       .version = DEPS_NONE };
	for (uint32_t i = most; i < n; i++)
		rest[i - most + 1] = list[(from + i) % n];
	memcpy(list, rest, (n - most + 1) * sizeof *rest);
	return n - most + 1;
}

/* Edges between transactions: moments and begin-to-end steps are skipped, the order of transactions and that of the writes of a list are one step from the first to the last. A cycle is begun
 * at an edge that leaves a transaction. */
struct cycle_edge *decide_tell(struct teller *w, const uint32_t *edges, uint32_t n, bool cycle, int depth, uint32_t *count)
{
	assert(n);
	const struct txn_graph *g = w->g;
	struct cycle_edge *list = arena_array(w->q->keep, struct cycle_edge, n);
	uint32_t start = 0, from = DEPS_NONE;
	while (cycle && start < n &&
	       (graph_txn(g, g->edges.data[edges[start]].from) == DEPS_NONE || g->edges.data[edges[start]].kind == EDGE_INSIDE))
		start++;
	*count = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = edges[(start + i) % n];
		const struct gedge *e = &g->edges.data[at];
		if (e->kind == EDGE_INSIDE)
			continue;
		uint32_t u = graph_txn(g, e->from), v = graph_txn(g, e->to);
		from = u != DEPS_NONE ? u : from;
		if (v == DEPS_NONE || v == from)
			continue;
		struct cycle_edge *c = &list[(*count)++];
		*c = (struct cycle_edge){ .from = from,
			                  .to = v,
			                  .kind = e->kind,
			                  .why = e->why,
			                  .key = e->key,
			                  .reader = DEPS_NONE,
			                  .version = e->kind == EDGE_RW ? e->reason : DEPS_NONE };
		if (*count > 1 && c[-1].from != c->to && goes_on(c - 1, c)) {
			c[-1].to = c->to;
			(*count)--;
			continue;
		}
		w->told++;
		if (e->why != WHY_GIVEN)
			tell_reason(w, at, c, depth);
	}
	if (cycle && *count > 2 && list[*count - 1].from != list[0].to && goes_on(&list[*count - 1], &list[0])) {
		list[0].from = list[*count - 1].from;
		(*count)--;
	}
	if (cycle)
		*count = shorten(g, list, *count);
	assert(*count <= n);
	return list;
}

static bool writes_key(const struct deps *d, uint32_t t, uint32_t key)
{
	assert(t < d->n && key < d->nkeys);
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++)
		if (d->versions[d->writes[i]].key == key)
			return true;
	return false;
}

/* Does the step follow from what was read and from the order of transactions alone, whatever the level? (Else it is so only because the level
 * that was asked for would be violated otherwise.) */
static bool certain_step(const struct deps *d, const struct cycle_edge *e)
{
	assert(e->kind != EDGE_INSIDE && e->kind <= EDGE_RW);
	if (e->why == WHY_GIVEN || e->why == WHY_CERTAIN || (e->kind == EDGE_RW && d->versions[e->version].t == DEPS_NONE))
		return true;
	bool dep = e->kind == EDGE_RW && e->nbecause;
	for (uint32_t i = 0; i < e->nbecause && dep; i++)
		dep = e->because[i].why == WHY_GIVEN && e->because[i].kind != EDGE_RW;
	return dep;
}

/* What Adya, Elle and others call a cycle of these edges. With steps that hold for this level only, the name is the level's own. */
enum anomaly_kind decide_name(const struct deps *d, enum txn_level level, const struct cycle_edge *c, uint32_t n)
{
	assert(n >= 2);
	for (uint32_t i = 0; i < n; i++)
		if (!certain_step(d, &c[i]))
			return level == LEVEL_SER || level == LEVEL_US  ? ANOMALY_G2_ITEM
			       : level == LEVEL_SI || level == LEVEL_PC ? ANOMALY_G_NONADJACENT
			                                                : ANOMALY_G_SINGLE;

	uint32_t rw = 0, wr = 0, key = c[0].key;
	bool adjacent = false, one_key = true;
	for (uint32_t i = 0; i < n; i++) {
		bool is = c[i].kind == EDGE_RW, next = c[(i + 1) % n].kind == EDGE_RW;
		rw += is;
		wr += c[i].kind == EDGE_WR;
		adjacent |= is && next;
		one_key &= c[i].kind >= EDGE_WR && c[i].key == key;
	}
	if (!rw)
		return wr ? ANOMALY_G1C : ANOMALY_G0;
	if (n == 2 && one_key && rw && !wr && writes_key(d, c[0].from, key) && writes_key(d, c[1].from, key))
		return ANOMALY_LOST_UPDATE;
	if (n == 2 && rw == 1 && wr == 1)
		return ANOMALY_FRACTURED_READ;
	if (rw == 1)
		return ANOMALY_G_SINGLE;
	if (n == 4 && rw == 2 && wr == 2 && !adjacent)
		return ANOMALY_LONG_FORK;
	if (!adjacent)
		return ANOMALY_G_NONADJACENT;
	return n == 2 && rw == 2 ? ANOMALY_WRITE_SKEW : ANOMALY_G2_ITEM;
}

/* A cycle with a step "b before a, because r, which b precedes, read a's version" shows that a comes before b, too: then r missed b, and
 * the way from b to r with that is a cycle that needs no such step. Steps by dependencies alone (DEP) show it of the first cycle only. */
static uint32_t *without_missed(struct txn_graph *g, uint32_t *cycle, uint32_t *n)
{
	for (int round = 0; round < (g->family == FAMILY_DEP ? 1 : 40); round++) {
		uint32_t at = 0;
		while (at < *n && g->edges.data[cycle[at]].why != WHY_MISSED)
			at++;
		if (at == *n)
			break;
		struct gedge e = g->edges.data[cycle[at]];
		uint32_t a = g->d->reads[e.reason].version, b = graph_txn(g, e.from), k;
		uint32_t r = graph_begin(g, graph_reader(g->d, e.reason));
		uint32_t *path = graph_reason(g, e.from, e.reason, cycle[at], &k);
		if (!path)
			break;
		uint32_t *next = arena_array(g->arena, uint32_t, k + 1);
		memcpy(next, path, k * sizeof *next);
		next[k] = graph_edge(g, r, graph_end(g, b), EDGE_RW, WHY_AFTER, e.key, a);
		cycle = next;
		*n = k + 1;
	}
	return cycle;
}

/* A prover on the graph, or NULL when none is asked for. */
struct prover *decide_prover(struct question *q, struct txn_graph *g)
{
	if (!q->opts.prove)
		return NULL;
	q->out->proof = arena_new(q->keep, struct txn_proof);
	return prover_new(q->out->proof, g, q->keep);
}

/* A cycle with an rw step, told by the way that counts for that read. */
static uint32_t *by_earlier(struct txn_graph *g, uint32_t *cycle, uint32_t *n)
{
	for (uint32_t i = 0; i < *n; i++) {
		struct gedge e = g->edges.data[cycle[i]];
		uint32_t k, *path = NULL;
		if (e.kind != EDGE_RW)
			continue;
		uint32_t r = graph_txn(g, e.from);
		for (uint32_t read = g->d->read_first[r + 1]; !path && read-- > g->d->read_first[r];)
			if (g->d->reads[read].version == e.reason)
				path = graph_reason(g, e.to, read, g->edges.len, &k);
		if (!path)
			break;
		uint32_t *next = arena_array(g->arena, uint32_t, k + 1);
		memcpy(next, path, k * sizeof *next);
		next[k] = cycle[i];
		*n = k + 1;
		return next;
	}
	return cycle;
}

void decide_violated(struct question *q, struct txn_graph *g)
{
	uint32_t n, *cycle = graph_cycle(g, &n);
	struct prover *p = decide_prover(q, g);
	if (p)
		prover_cycle(p, cycle, n);
	cycle = without_missed(g, cycle, &n);
	if (g->with & WITH_EARLIER)
		cycle = by_earlier(g, cycle, &n);
	q->out->verdict = TXN_VIOLATED;
	struct teller w = { .q = q, .g = g };
	q->out->cycle = decide_tell(&w, cycle, n, true, REASON_DEPTH, &q->out->ncycle);
	bool rw = false;
	for (uint32_t i = 0; i < q->out->ncycle; i++)
		rw |= q->out->cycle[i].kind == EDGE_RW;
	q->out->name = rw && q->level.level == LEVEL_MV
	                       ? ANOMALY_G_MONOTONIC
	                       : decide_name(q->d, (enum txn_level)q->level.level, q->out->cycle, q->out->ncycle);
	assert(q->out->ncycle && q->out->cycle[0].from == q->out->cycle[q->out->ncycle - 1].to);
}
