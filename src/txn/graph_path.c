/*
 * graph_path: shortest paths and cycles in the graph of graph.h, for reasons and reports.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/graph.h"

/* Breadth first from u by edges of these kinds (bits); parent edges + 1 in `by`. Stops at v. */
static bool walk(const struct txn_graph *g, uint32_t u, uint32_t v, uint32_t before, unsigned kinds, uint32_t *by, uint32_t *queue)
{
	assert(u < g->nnodes && v < g->nnodes);
	uint32_t n = 0;
	queue[n++] = u;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = g->head[queue[i]]; e; e = g->edges.data[e - 1].next) {
			uint32_t to = g->edges.data[e - 1].to;
			if (e - 1 >= before || !(kinds >> g->edges.data[e - 1].kind & 1) || by[to] || (to == u && to != v))
				continue;
			by[to] = e;
			if (to == v)
				return true;
			queue[n++] = to;
		}
	assert(n <= g->nnodes + 1);
	return false;
}

static uint32_t *path_of(const struct txn_graph *g, uint32_t u, uint32_t v, uint32_t before, unsigned kinds, uint32_t *n)
{
	uint32_t *by = arena_array(g->arena, uint32_t, g->nnodes + 1), *queue = arena_array(g->arena, uint32_t, g->nnodes + 1);
	*n = 0;
	if (!walk(g, u, v, before, kinds, by, queue))
		return NULL;
	uint32_t at = v;
	do {
		(*n)++;
		at = g->edges.data[by[at] - 1].from;
	} while (at != u);
	uint32_t *path = arena_array(g->arena, uint32_t, *n), i = *n;
	at = v;
	do {
		path[--i] = by[at] - 1;
		at = g->edges.data[by[at] - 1].from;
	} while (at != u);
	assert(*n && g->edges.data[path[0]].from == u && g->edges.data[path[*n - 1]].to == v);
	return path;
}

uint32_t *graph_path(const struct txn_graph *g, uint32_t u, uint32_t v, uint32_t before, uint32_t *n)
{
	return path_of(g, u, v, before, ~0u, n);
}

static uint32_t edge_between(const struct txn_graph *g, uint32_t u, uint32_t v, enum edge_kind kind, uint32_t reason)
{
	for (uint32_t e = g->head[u]; e; e = g->edges.data[e - 1].next)
		if (g->edges.data[e - 1].to == v && g->edges.data[e - 1].kind == kind && g->edges.data[e - 1].reason == reason)
			return e - 1;
	assert(0);
	return DEPS_NONE;
}

uint32_t graph_reader(const struct deps *d, uint32_t read)
{
	assert(d->n && read < d->read_first[d->n]);
	uint32_t lo = 0, hi = d->n;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (d->read_first[mid] <= read)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

uint32_t graph_earlier_edge(const struct txn_graph *g, uint32_t read, uint32_t k)
{
	const struct deps *d = g->d;
	uint32_t t = graph_reader(d, read);
	if (g->order == ORDER_SESSION && d->prev[t] != DEPS_NONE && !k--)
		return edge_between(g, graph_end(g, d->prev[t]), graph_begin(g, t), EDGE_SESSION, 0);
	if (g->order == ORDER_REALTIME && g->moment[t] != DEPS_NONE && !k--)
		return edge_between(g, g->moment[t], graph_begin(g, t), EDGE_REALTIME, 0);
	for (uint32_t i = d->read_first[t]; d->reads[i].po < d->reads[read].po; i++) {
		uint32_t w = d->versions[d->reads[i].version].t;
		if (w != DEPS_NONE && !k--)
			return edge_between(g, graph_end(g, w), graph_begin(g, t), EDGE_WR, i);
	}
	return DEPS_NONE;
}

/* By one of the edges that count for the read. */
static uint32_t *earlier_reason(const struct txn_graph *g, uint32_t u, uint32_t read, uint32_t before, uint32_t *n)
{
	uint32_t e;
	for (uint32_t k = 0; (e = graph_earlier_edge(g, read, k)) != DEPS_NONE; k++) {
		uint32_t from = g->edges.data[e].from, *path = NULL;
		*n = 0;
		if (from != u && !(path = path_of(g, u, from, before, ~0u, n)))
			continue;
		uint32_t *whole = arena_array(g->arena, uint32_t, *n + 1);
		if (*n)
			memcpy(whole, path, *n * sizeof *whole);
		whole[(*n)++] = e;
		return whole;
	}
	*n = 0;
	return NULL;
}

uint32_t *graph_reason(const struct txn_graph *g, uint32_t u, uint32_t read, uint32_t before, uint32_t *n)
{
	unsigned order = 1u << EDGE_SESSION | 1u << EDGE_REALTIME;
	uint32_t v = graph_begin(g, graph_reader(g->d, read));
	if (g->with & WITH_EARLIER)
		return earlier_reason(g, u, read, before, n);
	if (!(g->with & (WITH_SEEN | WITH_DIRECT)))
		return graph_path(g, u, v, before, n);
	if (g->with & WITH_SEEN)
		return path_of(g, u, v, before, order | 1u << EDGE_WR, n);
	uint32_t *path = path_of(g, u, v, before, 1u << EDGE_WR, n);
	return path && *n == 1 ? path : path_of(g, u, v, before, order, n);
}

/* Nodes that graph_rank could not place lie on cycles or behind them: from each of some, the way back to it. */
static uint32_t *any_cycle(struct txn_graph *g, uint32_t *n)
{
	uint32_t *in = arena_array(g->arena, uint32_t, g->nnodes + 1), *todo = arena_array(g->arena, uint32_t, g->nnodes + 1),
		 len = 0;
	for (uint32_t i = 0; i < g->edges.len; i++)
		in[g->edges.data[i].to]++;
	for (uint32_t v = 0; v < g->nnodes; v++)
		if (!in[v])
			todo[len++] = v;
	for (uint32_t i = 0; i < len; i++)
		for (uint32_t e = g->head[todo[i]]; e; e = g->edges.data[e - 1].next)
			if (!--in[g->edges.data[e - 1].to])
				todo[len++] = g->edges.data[e - 1].to;
	uint32_t *best = NULL, tries = 0;
	*n = 0;
	for (uint32_t v = 0; v < g->nnodes && (tries < 200 || !best); v++) {
		uint32_t k;
		if (!in[v])
			continue;
		uint32_t *path = graph_path(g, v, v, DEPS_NONE, &k);
		tries++;
		if (path && (!best || k < *n)) {
			best = path;
			*n = k;
		}
	}
	assert(best && *n >= 2);
	return best;
}

/* What is given needs no reason: it stands for derived edges beside it. */
static uint32_t *prefer_given(const struct txn_graph *g, uint32_t *cycle, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct gedge *x = &g->edges.data[cycle[i]];
		for (uint32_t e = g->head[x->from]; e && g->edges.data[cycle[i]].why != WHY_GIVEN; e = g->edges.data[e - 1].next)
			if (g->edges.data[e - 1].why == WHY_GIVEN && g->edges.data[e - 1].to == x->to)
				cycle[i] = e - 1;
	}
	return cycle;
}

uint32_t *graph_cycle(struct txn_graph *g, uint32_t *n)
{
	if (g->cycle_edge == DEPS_NONE) {
		uint32_t *cycle = any_cycle(g, n);
		return prefer_given(g, cycle, *n);
	}
	const struct gedge *e = &g->edges.data[g->cycle_edge];
	uint32_t k = 0, *path = graph_path(g, e->to, e->from, g->edges.len, &k);
	assert(path);
	uint32_t *cycle = arena_array(g->arena, uint32_t, k + 1);
	memcpy(cycle, path, k * sizeof *cycle);
	cycle[k] = g->cycle_edge;
	*n = k + 1;
	assert(g->edges.data[cycle[0]].from == g->edges.data[cycle[*n - 1]].to);
	return prefer_given(g, cycle, *n);
}
