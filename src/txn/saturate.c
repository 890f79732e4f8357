/*
 * saturate: the clocks of graph.h and the rules on them.
 *
 * Places in a chain: a transaction's nodes have consecutive positions from 1 (begin before end where it has both); clock[v][c] is the
 * greatest position of chain c that reaches v, v itself included, or 0.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/graph.h"

typedef int32_t lanes __attribute__((vector_size(16)));

static bool two_nodes(const struct txn_graph *g)
{
	return g->family == FAMILY_SI || g->family == FAMILY_PC;
}

/* Positions of the nodes of the transaction at a place of its chain. */
static int32_t place_begins(const struct txn_graph *g, uint32_t place)
{
	return (int32_t)(two_nodes(g) ? 2 * place + 1 : place + 1);
}

static int32_t place_ends(const struct txn_graph *g, uint32_t place)
{
	return (int32_t)(two_nodes(g) ? 2 * place + 2 : place + 1);
}

static int32_t begin_position(const struct txn_graph *g, uint32_t t)
{
	return place_begins(g, g->place[t]);
}

static int32_t end_position(const struct txn_graph *g, uint32_t t)
{
	return place_ends(g, g->place[t]);
}

static int32_t *clock_of(const struct txn_graph *g, uint32_t node)
{
	assert(g->nchains && node < g->nnodes);
	return g->clock + (size_t)node * g->width;
}

static int32_t position(const struct txn_graph *g, uint32_t node)
{
	uint32_t t = graph_txn(g, node);
	assert(t != DEPS_NONE);
	return two_nodes(g) && node & 1 ? end_position(g, t) : begin_position(g, t);
}

bool graph_reaches(const struct txn_graph *g, uint32_t u, uint32_t v)
{
	assert(u != v && graph_txn(g, u) != DEPS_NONE);
	return clock_of(g, v)[g->chain[graph_txn(g, u)]] >= position(g, u);
}

/* ---- the queue: ranks that wait -------------------------------------------------------- */

static void queue_init(struct txn_graph *g)
{
	uint32_t words = (g->nnodes + 63) / 64;
	g->levels = 0;
	do {
		g->queue[g->levels++] = arena_array(g->arena, uint64_t, words + 1);
		words = words > 1 ? (words + 63) / 64 : 0;
	} while (words && g->levels < 4);
	assert(g->levels && g->levels <= 4);
}

static void queue_put(struct txn_graph *g, uint32_t rank)
{
	assert(rank < g->nnodes);
	for (uint32_t l = 0; l < g->levels; l++, rank /= 64)
		g->queue[l][rank / 64] |= UINT64_C(1) << (rank % 64);
}

/* The least rank, taken out; DEPS_NONE: it is empty. (Four levels are enough for 2^24 nodes; above, the top one is scanned.) */
static uint32_t queue_take(struct txn_graph *g)
{
	uint32_t top = g->levels - 1, words = (g->nnodes + 63) / 64, at = 0;
	for (uint32_t l = 0; l < top; l++)
		words = (words + 63) / 64;
	while (at < words && !g->queue[top][at])
		at++;
	if (at == words)
		return DEPS_NONE;
	for (uint32_t l = top + 1; l-- > 0;)
		at = at * 64 + (uint32_t)__builtin_ctzll(g->queue[l][at]);
	uint32_t rank = at;
	for (uint32_t l = 0; l < g->levels; l++, at /= 64) {
		g->queue[l][at / 64] &= ~(UINT64_C(1) << (at % 64));
		if (g->queue[l][at / 64])
			break;
	}
	assert(rank < g->nnodes);
	return rank;
}

/* ---- clocks ------------------------------------------------------------------------------ */

/* v learns what reaches u. False: v reaches u, a cycle. */
static bool learn(struct txn_graph *g, uint32_t u, uint32_t v)
{
	assert(u != v && g->width % 4 == 0);
	const lanes *from = (const lanes *)(const void *)clock_of(g, u);
	lanes *to = (lanes *)(void *)clock_of(g, v);
	uint64_t grown = 0;
	uint32_t t = graph_txn(g, v);
	if (t != DEPS_NONE && clock_of(g, u)[g->chain[t]] >= position(g, v))
		return false;
	for (uint32_t i = 0; i < g->width / 4; i++) {
		lanes more = from[i] > to[i];
		union {
			lanes v;
			uint64_t w[2];
		} any = { .v = more };
		if (any.w[0] | any.w[1]) {
			to[i] = (from[i] & more) | (to[i] & ~more);
			uint64_t four = (any.w[0] & 1) | (any.w[0] >> 31 & 2) | (any.w[1] & 1) << 2 | (any.w[1] >> 29 & 8);
			grown |= four << (i * 4 % 64);
		}
	}
	if (grown) {
		g->dirty[v] |= grown;
		queue_put(g, g->rank[v]);
	}
	return true;
}

static bool add(struct txn_graph *g, uint32_t u, uint32_t v, enum edge_kind kind, enum edge_why why, uint32_t key, uint32_t reason)
{
	if (graph_reaches(g, u, v))
		return true;
	uint32_t e = graph_edge(g, u, v, kind, why, key, reason);
	if (learn(g, u, v))
		return true;
	g->cycle_edge = e;
	return false;
}

/* ---- the rules ------------------------------------------------------------------------------ */

/* Behind the last version in the slice whose transaction's position (its end's, or its begin's) is at most p. */
static uint32_t up_to(const struct txn_graph *g, struct span s, int32_t p, bool ends)
{
	assert(s.start <= s.end);
	/* places below this one */
	int32_t places = !two_nodes(g) ? p : ends ? p / 2 : (p + 1) / 2;
	uint32_t lo = s.start, hi = s.end;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if ((int32_t)g->sorted[mid].place < places)
			lo = mid + 1;
		else
			hi = mid;
	}
	assert(lo >= s.start && lo <= s.end);
	return lo;
}

uint32_t graph_last_before(const struct txn_graph *g, const struct txn_segment *s, uint32_t t)
{
	assert(!two_nodes(g));
	uint32_t i = up_to(g, (struct span){ s->first, s->end }, clock_of(g, t)[s->chain] - (s->chain == g->chain[t]), true);
	return i == s->first ? DEPS_NONE : g->sorted[i - 1].version;
}

/* a comes before b, versions of one key, by the rule `why`: the edge of it. */
static bool ordered(struct txn_graph *g, uint32_t a, uint32_t b, enum edge_why why, uint32_t reason)
{
	assert(g->d->versions[a].key == g->d->versions[b].key && a != b);
	assert(g->d->versions[a].t != DEPS_NONE && g->d->versions[b].t != DEPS_NONE);
	const struct dversion *x = &g->d->versions[a], *y = &g->d->versions[b];
	return add(g, graph_end(g, x->t), g->family == FAMILY_PC ? graph_end(g, y->t) : graph_begin(g, y->t), EDGE_WW, why, x->key,
	           reason);
}

/* The segments of a key whose chains are dirty, one by one: by the bits when there is a table, else all of them are looked at. */
struct dirty_segments {
	const struct span *table;
	uint64_t bits;
	uint32_t next, end;
};

static struct dirty_segments dirty_segments(const struct txn_graph *g, uint32_t key, uint64_t dirty)
{
	assert(key < g->d->nkeys);
	return (struct dirty_segments){ g->seg_at ? g->seg_at + (size_t)key * g->nchains : NULL,
		                        g->nchains < 64 ? dirty & ((UINT64_C(1) << g->nchains) - 1) : dirty, g->seg_first[key],
		                        g->seg_first[key + 1] };
}

static bool next_segment(const struct txn_graph *g, struct dirty_segments *d, uint32_t *chain, struct span *slice)
{
	while (d->table && d->bits) {
		*chain = (uint32_t)__builtin_ctzll(d->bits);
		d->bits &= d->bits - 1;
		*slice = d->table[*chain];
		if (slice->end)
			return true;
	}
	while (!d->table && d->next < d->end) {
		const struct txn_segment *s = &g->segs[d->next++];
		*chain = s->chain;
		*slice = (struct span){ s->first, s->end };
		if (d->bits >> (s->chain % 64) & 1)
			return true;
	}
	return false;
}

/* The read of t saw a, and version b of the same key must not be missed by it. `at`: b's place. */
static bool missed(struct txn_graph *g, uint32_t t, uint32_t read, uint32_t b)
{
	uint32_t a = g->d->reads[read].version;
	if (g->d->versions[a].t != DEPS_NONE)
		return ordered(g, b, a, WHY_MISSED, read);
	/* the initial version, overwritten before: no order at all */
	g->cycle_edge = graph_edge(g, graph_begin(g, t), graph_end(g, g->d->versions[b].t), EDGE_RW, WHY_GIVEN,
	                           g->d->versions[a].key, a);
	return false;
}

static void join(struct txn_graph *g, uint32_t node)
{
	const int32_t *from = clock_of(g, node);
	for (uint32_t c = 0; c < g->nchains; c++)
		g->joined[c] = from[c] > g->joined[c] ? from[c] : g->joined[c];
}

/* The same, for what operations before the read depend on: the order of transactions, and who was read from before. */
static bool rule_missed_earlier(struct txn_graph *g, uint32_t t, uint64_t dirty)
{
	const struct deps *d = g->d;
	memset(g->joined, 0, g->width * sizeof *g->joined);
	if (g->order == ORDER_SESSION && d->prev[t] != DEPS_NONE)
		join(g, d->prev[t]);
	if (g->order == ORDER_REALTIME && g->moment[t] != DEPS_NONE)
		join(g, g->moment[t]);
	for (uint32_t i = d->read_first[t], seen = i; i < d->read_first[t + 1]; i++) {
		uint32_t a = d->reads[i].version, key = d->versions[a].key, w = d->versions[a].t, chain;
		const int32_t *known = w == DEPS_NONE ? NULL : clock_of(g, w);
		struct span slice;
		struct dirty_segments segments = dirty_segments(g, key, dirty);
		while (next_segment(g, &segments, &chain, &slice)) {
			uint32_t at = up_to(g, slice, g->joined[chain], true), b;
			if (at == slice.start)
				continue;
			b = g->sorted[at - 1].version;
			if (b != a && d->versions[b].t != t && !(known && known[chain] >= place_ends(g, g->sorted[at - 1].place)) &&
			    !missed(g, t, i, b))
				return false;
		}
		for (; seen <= i && deps_moment_ends(d, t, i); seen++)
			if (d->versions[d->reads[seen].version].t != DEPS_NONE)
				join(g, d->versions[d->reads[seen].version].t);
	}
	return true;
}

/* Who reaches t and wrote a key that t read: it comes before the version that t read. */
static bool rule_missed(struct txn_graph *g, uint32_t t, uint64_t dirty)
{
	assert(t < g->d->n);
	const struct deps *d = g->d;
	const int32_t *clock = clock_of(g, graph_begin(g, t));
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
		uint32_t a = d->reads[i].version, key = d->versions[a].key, w = d->versions[a].t, chain;
		struct span slice;
		if (w == DEPS_NONE && g->family != FAMILY_DEP)
			continue; /* t rw every writer: given */
		/* what the version's writer knows already is nothing new */
		const int32_t *known = w == DEPS_NONE ? NULL
		                                      : clock_of(g, g->family == FAMILY_PC ? graph_end(g, w) : graph_begin(g, w));
		struct dirty_segments segments = dirty_segments(g, key, dirty);
		while (next_segment(g, &segments, &chain, &slice)) {
			int32_t p = clock[chain];
			if (known && known[chain] >= p)
				continue;
			if (chain == g->chain[t] && !two_nodes(g))
				p--;
			uint32_t at = up_to(g, slice, p, true), b = at == slice.start ? DEPS_NONE : g->sorted[at - 1].version;
			if (b == DEPS_NONE || b == a || (known && known[chain] >= place_ends(g, g->sorted[at - 1].place)))
				continue;
			if (!missed(g, t, i, b))
				return false;
		}
	}
	return true;
}

/* Who reaches t and wrote a key that t writes: its readers come before t. */
static bool rule_after(struct txn_graph *g, uint32_t t, uint64_t dirty)
{
	const struct deps *d = g->d;
	uint32_t node = graph_end(g, t), chain;
	struct span slice;
	const int32_t *clock = clock_of(g, node), *begun = clock_of(g, graph_begin(g, t));
	bool begins = g->family == FAMILY_SI;
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++) {
		uint32_t b = d->writes[i], key = d->versions[b].key;
		struct dirty_segments segments = dirty_segments(g, key, dirty);
		while (next_segment(g, &segments, &chain, &slice)) {
			int32_t p = clock[chain];
			if (chain == g->chain[t]) /* itself does not count */
				p = (begins ? begin_position(g, t) : end_position(g, t)) - 1;
			uint32_t at = up_to(g, slice, p, !begins);
			if (at == slice.start)
				continue;
			const struct sorted_version *a = &g->sorted[at - 1];
			if (begins && begun[chain] < place_ends(g, a->place) && !ordered(g, a->version, b, WHY_AFTER, 0))
				return false;
			for (const struct last_reader *r = g->last_readers + a[0].readers, *e = g->last_readers + a[1].readers;
			     r < e; r++)
				if (clock[r->chain] < place_begins(g, r->place) && r->t != t &&
				    !add(g, graph_begin(g, r->t), node, EDGE_RW, WHY_AFTER, key, a->version))
					return false;
		}
	}
	return true;
}

static bool visit(struct txn_graph *g, uint32_t v)
{
	uint64_t dirty = g->dirty[v];
	uint32_t t = graph_txn(g, v);
	g->dirty[v] = 0;
	for (uint32_t e = g->head[v]; e; e = g->edges.data[e - 1].next)
		if (!learn(g, v, g->edges.data[e - 1].to)) {
			g->cycle_edge = e - 1;
			return false;
		}
	if (t == DEPS_NONE)
		return true;
	if ((g->with & WITH_MISSED) && v == graph_begin(g, t) &&
	    !(g->with & WITH_EARLIER ? rule_missed_earlier : rule_missed)(g, t, dirty))
		return false;
	return !(g->with & WITH_AFTER) || v != graph_end(g, t) || rule_after(g, t, dirty);
}

enum graph_status graph_saturate(struct txn_graph *g)
{
	if (!g->nchains)
		return GRAPH_OK;
	g->clock = arena_calloc(g->arena, (size_t)g->nnodes * g->width, sizeof *g->clock);
	g->dirty = arena_array(g->arena, uint64_t, g->nnodes);
	g->joined = arena_array(g->arena, int32_t, g->width + 1);
	queue_init(g);
	for (uint32_t v = 0; v < g->nnodes; v++) {
		uint32_t t = graph_txn(g, v);
		if (t != DEPS_NONE)
			clock_of(g, v)[g->chain[t]] = position(g, v);
		g->dirty[v] = UINT64_MAX;
		queue_put(g, g->rank[v]);
	}
	uint32_t rank, steps = 0;
	while ((rank = queue_take(g)) != DEPS_NONE) {
		if (!visit(g, g->topo[rank]))
			return GRAPH_CYCLE;
		if ((++steps & 0xFFF) == 0 && lim_spent(g->lim))
			return GRAPH_LIMIT;
	}
	return GRAPH_OK;
}
