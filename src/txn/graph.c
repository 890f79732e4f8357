/*
 * graph: nodes, given edges, chains and ranks. See graph.h; the rules are in saturate.c.
 */
#include "txn/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define CLOCK_MAX ((size_t)3 << 30) /* bytes of clocks */

uint32_t graph_edge(struct txn_graph *g, uint32_t from, uint32_t to, enum edge_kind kind, enum edge_why why, uint32_t key,
                    uint32_t reason)
{
	assert(from < g->nnodes && to < g->nnodes && from != to);
	struct gedge e = { from, to, g->head[from], key, reason, (uint8_t)kind, (uint8_t)why };
	avec_push(g->arena, &g->edges, e);
	g->head[from] = g->edges.len;
	return g->edges.len - 1;
}

static const struct txn *txn_of(const struct txn_graph *g, uint32_t t)
{
	assert(t < g->d->n);
	return &g->d->th->txns[g->d->txn[t]];
}

/* ---- given edges ----------------------------------------------------------------------- */

static void session_edges(struct txn_graph *g)
{
	for (uint32_t t = 0; t < g->d->n; t++)
		if (g->d->prev[t] != DEPS_NONE)
			graph_edge(g, graph_end(g, g->d->prev[t]), graph_begin(g, t), EDGE_SESSION, WHY_GIVEN, 0, 0);
}

static int by_ret(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Transactions are in the order of their calls; answers are sorted, and both are merged. */
static void realtime_edges(struct txn_graph *g)
{
	uint32_t n = g->d->n, nret = 0, r = 0;
	uint64_t *ret = arena_array(g->arena, uint64_t, n + 1);
	for (uint32_t t = 0; t < n; t++)
		if (txn_of(g, t)->ret != RANK_INF)
			ret[nret++] = (uint64_t)txn_of(g, t)->ret << 32 | t;
	qsort(ret, nret, sizeof *ret, by_ret);
	uint32_t base = g->nnodes - g->ntime, moment = DEPS_NONE, used = 0;
	g->moment = arena_array(g->arena, uint32_t, n + 1);
	for (uint32_t t = 0; t < n; t++) {
		uint32_t from = r;
		while (r < nret && ret[r] >> 32 < txn_of(g, t)->call)
			r++;
		if (r > from) {
			uint32_t next = base + used++;
			if (moment != DEPS_NONE)
				graph_edge(g, moment, next, EDGE_REALTIME, WHY_GIVEN, 0, 0);
			moment = next;
			for (; from < r; from++)
				graph_edge(g, graph_end(g, (uint32_t)ret[from]), moment, EDGE_REALTIME, WHY_GIVEN, 0, 0);
		}
		g->moment[t] = moment;
		if (moment != DEPS_NONE)
			graph_edge(g, moment, graph_begin(g, t), EDGE_REALTIME, WHY_GIVEN, 0, 0);
	}
	assert(used <= g->ntime);
}

static void wr_edges(struct txn_graph *g)
{
	const struct deps *d = g->d;
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			const struct dversion *v = &d->versions[d->reads[i].version];
			if (v->t != DEPS_NONE)
				graph_edge(g, graph_end(g, v->t), graph_begin(g, t), EDGE_WR, WHY_GIVEN, v->key, i);
		}
}

static bool rw_counts(const struct txn_graph *g, uint32_t reader)
{
	return !(g->with & WITH_UPDATES) || g->d->write_first[reader] != g->d->write_first[reader + 1];
}

/* a's version before b's, for certain: the edges of it. */
static void ww_edges(struct txn_graph *g, uint32_t a, uint32_t b)
{
	assert(g->d->versions[a].key == g->d->versions[b].key && a != b);
	const struct deps *d = g->d;
	uint32_t key = d->versions[a].key, ta = d->versions[a].t, tb = d->versions[b].t;
	assert(tb != DEPS_NONE && ta != tb);
	if (ta != DEPS_NONE)
		graph_edge(g, graph_end(g, ta), g->family == FAMILY_PC ? graph_end(g, tb) : graph_begin(g, tb), EDGE_WW, WHY_GIVEN,
		           key, 0);
	if (g->family == FAMILY_DEP)
		return;
	for (uint32_t i = d->reader_first[a]; i < d->reader_first[a + 1]; i++)
		if (d->readers[i] != tb && rw_counts(g, d->readers[i]))
			graph_edge(g, graph_begin(g, d->readers[i]), graph_end(g, tb), EDGE_RW, WHY_GIVEN, key, a);
}

/* Readers of the initial version come before every writer; with chains, before the first of each. */
static void init_edges(struct txn_graph *g)
{
	const struct deps *d = g->d;
	for (uint32_t k = 0; k < d->nkeys; k++) {
		uint32_t init = d->key_first[k];
		if (d->reader_first[init] == d->reader_first[init + 1])
			continue;
		if (!g->nchains) {
			for (uint32_t v = init + 1; v < d->key_first[k + 1]; v++)
				ww_edges(g, init, v);
			continue;
		}
		for (uint32_t s = g->seg_first[k]; s < g->seg_first[k + 1]; s++) {
			uint32_t w = g->sorted[g->segs[s].first].version;
			for (uint32_t i = g->last_first[init]; i < g->last_end[init]; i++)
				if (g->last_readers[i].t != d->versions[w].t)
					graph_edge(g, graph_begin(g, g->last_readers[i].t), graph_end(g, d->versions[w].t), EDGE_RW,
					           WHY_GIVEN, k, init);
		}
		/* the first writer itself may be a reader: its chain's next writer needs the edge then, but inside a chain that is
		 * implied; from other chains' readers nothing is lost */
	}
}

/* ---- chains -------------------------------------------------------------------------- */

/* A free chain whose last transaction had returned before t was called: by a heap of (ret, chain). */
struct free_chain {
	uint32_t ret, chain;
};

static void heap_down(struct free_chain *h, uint32_t n, uint32_t i)
{
	assert(i < n || !n);
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= n)
			return;
		if (c + 1 < n && h[c + 1].ret < h[c].ret)
			c++;
		if (h[i].ret <= h[c].ret)
			return;
		struct free_chain x = h[i];
		h[i] = h[c];
		h[c] = x;
		i = c;
	}
}

static void chains_by_time(struct txn_graph *g, uint32_t *length)
{
	struct free_chain *heap = arena_array(g->arena, struct free_chain, g->d->n + 1);
	uint32_t n = 0;
	for (uint32_t t = 0; t < g->d->n; t++) {
		const struct txn *x = txn_of(g, t);
		if (n && heap[0].ret < x->call) {
			g->chain[t] = heap[0].chain;
		} else {
			g->chain[t] = g->nchains++;
			heap[n] = (struct free_chain){ 0, g->chain[t] };
			for (uint32_t i = n++; i; i = (i - 1) / 2) { /* ret 0: to the top */
				struct free_chain y = heap[i];
				heap[i] = heap[(i - 1) / 2];
				heap[(i - 1) / 2] = y;
			}
		}
		g->place[t] = length[g->chain[t]]++;
		heap[0].ret = x->ret;
		heap_down(heap, n, 0);
	}
	assert(g->nchains == n && n <= g->d->n);
}

/* By version: one that lists show before it + 1. NULL where that is no path from an end to a begin. */
static uint32_t *known_before(const struct txn_graph *g)
{
	const struct deps *d = g->d;
	if (!(g->with & WITH_KNOWN) || g->family == FAMILY_PC || g->order != ORDER_NONE)
		return NULL;
	uint32_t *before = arena_array(g->arena, uint32_t, d->nversions + 1);
	for (uint32_t i = 0; i < d->known.len; i++)
		before[d->known.data[i].b] = d->known.data[i].a + 1;
	return before;
}

/* Behind the transaction before it in its session, or (without session order) behind one that it reads from, or whose append its own
 * follows, when that one is the last of its chain. `order`: a topological order of the transactions by those edges. */
static void chains_by_edges(struct txn_graph *g, uint32_t *length)
{
	const struct deps *d = g->d;
	uint32_t *last = arena_array(g->arena, uint32_t, d->n + 1); /* by chain: its last transaction */
	uint32_t *before = known_before(g);
	for (uint32_t i = 0; i < g->nnodes; i++) {
		uint32_t node = g->topo[i], t = graph_txn(g, node), from = DEPS_NONE;
		if (t == DEPS_NONE || node != graph_begin(g, t))
			continue;
		if (g->order == ORDER_SESSION) {
			uint32_t p = d->prev[t];
			from = p != DEPS_NONE && last[g->chain[p]] == p ? p : DEPS_NONE;
		} else {
			for (uint32_t r = d->read_first[t]; r < d->read_first[t + 1] && from == DEPS_NONE; r++) {
				uint32_t w = d->versions[d->reads[r].version].t;
				from = w != DEPS_NONE && last[g->chain[w]] == w ? w : DEPS_NONE;
			}
			for (uint32_t k = d->write_first[t]; before && k < d->write_first[t + 1] && from == DEPS_NONE; k++) {
				uint32_t u = before[d->writes[k]], w = u ? d->versions[u - 1].t : DEPS_NONE;
				from = w != DEPS_NONE && last[g->chain[w]] == w ? w : DEPS_NONE;
			}
		}
		g->chain[t] = from == DEPS_NONE ? g->nchains++ : g->chain[from];
		g->place[t] = length[g->chain[t]]++;
		assert(g->chain[t] < g->nchains);
		last[g->chain[t]] = t;
	}
}

struct sort_key {
	uint64_t at; /* chain, place */
	uint32_t what;
};

static int by_chain(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The last reader of the version in each chain, put behind the `at` that are there. */
static uint32_t last_readers(struct txn_graph *g, uint32_t v, struct sort_key *key, uint32_t at)
{
	const struct deps *d = g->d;
	uint32_t n = 0;
	for (uint32_t i = d->reader_first[v]; i < d->reader_first[v + 1]; i++) {
		uint32_t t = d->readers[i];
		if (rw_counts(g, t))
			key[n++] = (struct sort_key){ (uint64_t)g->chain[t] << 32 | g->place[t], t };
	}
	if (n > 1)
		qsort(key, n, sizeof *key, by_chain);
	g->last_first[v] = at;
	for (uint32_t i = 0; i < n; i++)
		if (i + 1 == n || key[i].at >> 32 != key[i + 1].at >> 32)
			g->last_readers[at++] = (struct last_reader){ key[i].what, (uint32_t)(key[i].at >> 32),
				                                      (uint32_t)key[i].at };
	g->last_end[v] = at;
	assert(g->last_first[v] <= g->last_end[v]);
	return at;
}

static void sort_versions(struct txn_graph *g)
{
	const struct deps *d = g->d;
	AVEC(struct txn_segment) segs = { 0 };
	uint32_t most = 1;
	for (uint32_t k = 0; k < d->nkeys; k++)
		most = d->key_first[k + 1] - d->key_first[k] > most ? d->key_first[k + 1] - d->key_first[k] : most;
	for (uint32_t v = 0; v < d->nversions; v++)
		most = d->reader_first[v + 1] - d->reader_first[v] > most ? d->reader_first[v + 1] - d->reader_first[v] : most;
	struct sort_key *key = arena_array(g->arena, struct sort_key, most);
	g->sorted = arena_array(g->arena, struct sorted_version, d->nversions + 1);
	g->seg_first = arena_array(g->arena, uint32_t, d->nkeys + 1);
	g->last_first = arena_array(g->arena, uint32_t, d->nversions + 1);
	g->last_end = arena_array(g->arena, uint32_t, d->nversions + 1);
	g->last_readers = arena_array(g->arena, struct last_reader, d->reader_first[d->nversions] + 1);
	uint32_t at = 0, nlast = 0;
	for (uint32_t k = 0; k < d->nkeys; k++) {
		uint32_t n = 0;
		for (uint32_t v = d->key_first[k] + 1; v < d->key_first[k + 1]; v++) {
			uint32_t t = d->versions[v].t;
			key[n++] = (struct sort_key){ (uint64_t)g->chain[t] << 32 | g->place[t], v };
		}
		qsort(key, n, sizeof *key, by_chain);
		for (uint32_t i = 0; i < n; i++) {
			if (!i || key[i].at >> 32 != key[i - 1].at >> 32)
				avec_push(g->arena, &segs, ((struct txn_segment){ (uint32_t)(key[i].at >> 32), at, at }));
			g->sorted[at++] = (struct sorted_version){ (uint32_t)key[i].at, key[i].what, 0 };
			segs.data[segs.len - 1].end = at;
		}
		g->seg_first[k + 1] = segs.len;
	}
	g->segs = segs.data;
	if ((size_t)d->nkeys * g->nchains <= (size_t)4 * d->nversions + 4096 && g->nchains <= 64) {
		g->seg_at = arena_array(g->arena, struct span, (size_t)d->nkeys * g->nchains + 1);
		for (uint32_t k = 0; k < d->nkeys; k++)
			for (uint32_t s = g->seg_first[k]; s < g->seg_first[k + 1]; s++)
				g->seg_at[(size_t)k * g->nchains + segs.data[s].chain] = (struct span){ segs.data[s].first,
					                                                                segs.data[s].end };
	}
	for (uint32_t i = 0; i <= at; i++) {
		if (i < at)
			nlast = last_readers(g, g->sorted[i].version, key, nlast);
		g->sorted[i].readers = i < at ? g->last_first[g->sorted[i].version] : nlast;
	}
	for (uint32_t k = 0; k < d->nkeys; k++)
		nlast = last_readers(g, d->key_first[k], key, nlast);
}

static void make_chains(struct txn_graph *g)
{
	uint32_t *length = arena_array(g->arena, uint32_t, g->d->n + 1);
	g->chain = arena_array(g->arena, uint32_t, g->d->n + 1);
	g->place = arena_array(g->arena, uint32_t, g->d->n + 1);
	if (g->order == ORDER_REALTIME)
		chains_by_time(g, length);
	else
		chains_by_edges(g, length);
	g->width = (g->nchains + 3) & ~3u;
	size_t bytes = (size_t)g->nnodes * g->width * sizeof *g->clock;
	if (g->d->no_clocks || bytes > CLOCK_MAX || (g->lim->max_memory && bytes > g->lim->max_memory / 2))
		g->nchains = 0;
	assert(g->width >= g->nchains || !g->nchains);
}

/* ---- ranks ------------------------------------------------------------------------------ */

enum graph_status graph_rank(struct txn_graph *g)
{
	uint32_t *in = arena_array(g->arena, uint32_t, g->nnodes + 1), n = 0;
	for (uint32_t i = 0; i < g->edges.len; i++)
		in[g->edges.data[i].to]++;
	for (uint32_t v = 0; v < g->nnodes; v++)
		if (!in[v])
			g->topo[n++] = v;
	for (uint32_t i = 0; i < n; i++) {
		g->rank[g->topo[i]] = i;
		for (uint32_t e = g->head[g->topo[i]]; e; e = g->edges.data[e - 1].next)
			if (!--in[g->edges.data[e - 1].to])
				g->topo[n++] = g->edges.data[e - 1].to;
	}
	assert(n <= g->nnodes);
	return n == g->nnodes ? GRAPH_OK : GRAPH_CYCLE;
}

/* Where a transaction may have taken effect: between invocation and answer; without times, where it was recorded; when each session was
 * recorded for itself, how far its session had come. */
static uint64_t *hints(struct txn_graph *g)
{
	const struct deps *d = g->d;
	uint64_t *hint = arena_array(g->arena, uint64_t, (size_t)d->n + 1);
	uint32_t *length = arena_array(g->arena, uint32_t, d->th->nsessions + 1),
		 *count = arena_array(g->arena, uint32_t, d->th->nsessions + 1);
	uint32_t changes = 0, sessions = 0;
	for (uint32_t t = 0; t < d->n; t++) {
		uint32_t s = txn_of(g, t)->session;
		changes += t && txn_of(g, t - 1)->session != s;
		sessions += !length[s]++;
	}
	for (uint32_t t = 0; t < d->n; t++) {
		const struct txn *x = txn_of(g, t);
		if (d->th->realtime)
			hint[t] = (uint64_t)x->call + (x->ret == RANK_INF ? x->call : x->ret);
		else if (changes > 2 * sessions)
			hint[t] = 2 * (uint64_t)t;
		else
			hint[t] = ((uint64_t)count[x->session]++ << 31) / length[x->session];
	}
	return hint;
}

static void heap_sift(uint64_t *key, uint32_t *heap, uint32_t n, uint32_t i)
{
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= n)
			return;
		if (c + 1 < n && key[heap[c + 1]] < key[heap[c]])
			c++;
		if (key[heap[i]] <= key[heap[c]])
			return;
		uint32_t x = heap[i];
		heap[i] = heap[c];
		heap[c] = x;
		i = c;
	}
}

void graph_rank_by_hint(struct txn_graph *g)
{
	uint32_t *in = arena_array(g->arena, uint32_t, g->nnodes + 1), *heap = arena_array(g->arena, uint32_t, g->nnodes + 1),
		 n = 0, done = 0;
	uint64_t *key = arena_array(g->arena, uint64_t, (size_t)g->nnodes + 1), *hint = hints(g);
	for (uint32_t v = 0; v < g->nnodes; v++) {
		uint32_t t = graph_txn(g, v);
		key[v] = t == DEPS_NONE ? 0 : hint[t] << 1 | (v != graph_begin(g, t)); /* moments as soon as they can be */
	}
	for (uint32_t i = 0; i < g->edges.len; i++)
		in[g->edges.data[i].to]++;
	for (uint32_t v = 0; v < g->nnodes; v++)
		if (!in[v])
			heap[n++] = v;
	for (uint32_t i = n / 2; i-- > 0;)
		heap_sift(key, heap, n, i);
	while (n) {
		uint32_t v = heap[0];
		heap[0] = heap[--n];
		heap_sift(key, heap, n, 0);
		g->rank[v] = done;
		g->topo[done++] = v;
		for (uint32_t e = g->head[v]; e; e = g->edges.data[e - 1].next) {
			uint32_t to = g->edges.data[e - 1].to;
			if (--in[to])
				continue;
			uint32_t i = n++;
			for (; i && key[heap[(i - 1) / 2]] > key[to]; i = (i - 1) / 2)
				heap[i] = heap[(i - 1) / 2];
			heap[i] = to;
		}
	}
	assert(done == g->nnodes);
}

void graph_init(struct txn_graph *g, const struct deps *d, enum family f, enum txn_order o, unsigned with, struct arena *a,
                struct limits *lim)
{
	assert(f <= FAMILY_DEP && o < ORDER_COUNT);
	memset(g, 0, sizeof *g);
	g->d = d;
	g->arena = a;
	g->family = f;
	g->order = o;
	g->lim = lim;
	g->cycle_edge = DEPS_NONE;
	g->with = with;
	assert(f != FAMILY_DEP || !(with & WITH_AFTER));
	g->ntime = o == ORDER_REALTIME ? d->n : 0;
	g->nnodes = (f == FAMILY_SI || f == FAMILY_PC ? 2 * d->n : d->n) + g->ntime;
	g->head = arena_array(a, uint32_t, g->nnodes + 1);
	g->rank = arena_array(a, uint32_t, g->nnodes + 1);
	g->topo = arena_array(a, uint32_t, g->nnodes + 1);
	if (f == FAMILY_SI || f == FAMILY_PC)
		for (uint32_t t = 0; t < d->n; t++)
			graph_edge(g, 2 * t, 2 * t + 1, EDGE_INSIDE, WHY_GIVEN, 0, 0);
	if (o == ORDER_SESSION)
		session_edges(g);
	if (o == ORDER_REALTIME)
		realtime_edges(g);
	if (with & WITH_WR)
		wr_edges(g);
	for (uint32_t i = 0; i < d->known.len && (with & WITH_KNOWN); i++)
		ww_edges(g, d->known.data[i].a, d->known.data[i].b);
	if (!(with & WITH_NO_CHAINS) && graph_rank(g) == GRAPH_OK) { /* else nothing more is needed to see the cycle */
		make_chains(g);
		if (g->nchains)
			sort_versions(g);
	}
	if (f != FAMILY_DEP)
		init_edges(g);
}
