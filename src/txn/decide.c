/* decide: see decide.h. */
#include "txn/decide.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/decide_int.h"
#include "txn/search.h"

/* ---- answers ------------------------------------------------------------------------------- */

static void undecided(struct question *q, const char *limit)
{
	assert(limit);
	q->out->verdict = TXN_UNDECIDED;
	q->out->limit = limit;
}

static void limited(struct question *q)
{
	undecided(q, atomic_load(&q->lim->spent) == LIMIT_TIME ? "time" : "memory");
}

static void holds(struct question *q, const struct txn_graph *g, const uint32_t *order)
{
	struct decision *o = q->out;
	uint32_t n = g->nnodes - g->ntime;
	o->verdict = TXN_HOLDS;
	o->family = g->family;
	o->order = arena_alloc(q->keep, ((size_t)n + 1) * sizeof *o->order);
	o->norder = 0;
	for (uint32_t i = 0; i < g->nnodes; i++)
		if (order[i] < n)
			o->order[o->norder++] = order[i];
	assert(o->norder == n);
}

/* ---- levels that need no search ------------------------------------------------------------------ */

static void only_graph(struct question *q, struct txn_graph *g)
{
	if (graph_rank(g) == GRAPH_OK)
		holds(q, g, g->topo);
	else
		decide_violated(q, g);
}

static void read_committed(struct question *q)
{
	struct txn_graph g;
	unsigned with = WITH_NO_CHAINS | (q->level.level == LEVEL_RU ? WITH_KNOWN : WITH_KNOWN | WITH_WR);
	graph_init(&g, q->d, FAMILY_DEP, (enum txn_order)q->level.order, with, &q->scratch, q->lim);
	only_graph(q, &g);
}

/* The read i of t misses the version b of its key though it must not: b comes before what it read. */
static void must_precede(struct question *q, struct txn_graph *g, uint32_t t, uint32_t i, uint32_t b)
{
	assert(g->family == FAMILY_DEP && t < q->d->n && q->d->versions[b].t != DEPS_NONE);
	const struct dversion *a = &q->d->versions[q->d->reads[i].version];
	if (a->t == DEPS_NONE) /* before the initial version is nothing: t itself would come before b */
		graph_edge(g, t, q->d->versions[b].t, EDGE_RW, WHY_GIVEN, a->key, q->d->reads[i].version);
	else
		graph_edge(g, q->d->versions[b].t, a->t, EDGE_WW, WHY_MISSED, a->key, i);
}

/* Writers that a transaction has seen, by key: lists that live for one transaction. */
struct seen {
	uint32_t version, next;
};

struct atomic_view {
	struct question *q;
	struct txn_graph *g;
	uint32_t *stamp, *head;
	AVEC(struct seen) seen;
	uint32_t *met; /* by transaction: seen by t + 1 already */
};

static void see(struct atomic_view *v, uint32_t t, uint32_t u)
{
	assert(u == DEPS_NONE || u < v->q->d->n);
	const struct deps *d = v->q->d;
	if (u == DEPS_NONE || v->met[u] == t + 1)
		return;
	v->met[u] = t + 1;
	for (uint32_t i = d->write_first[u]; i < d->write_first[u + 1]; i++) {
		uint32_t key = d->versions[d->writes[i]].key;
		if (v->stamp[key] != t + 1) {
			v->stamp[key] = t + 1;
			v->head[key] = 0;
		}
		avec_push(&v->q->scratch, &v->seen, ((struct seen){ d->writes[i], v->head[key] }));
		v->head[key] = v->seen.len;
	}
}

static void check_read(struct atomic_view *v, uint32_t t, uint32_t i)
{
	assert(i >= v->q->d->read_first[t] && i < v->q->d->read_first[t + 1]);
	const struct deps *d = v->q->d;
	uint32_t a = d->reads[i].version, key = d->versions[a].key;
	if (v->stamp[key] != t + 1)
		return;
	for (uint32_t s = v->head[key]; s; s = v->seen.data[s - 1].next)
		if (v->seen.data[s - 1].version != a)
			must_precede(v->q, v->g, t, i, v->seen.data[s - 1].version);
}

/* Who comes before t by real time: the last writer of the key in each chain is enough. */
static void check_order(struct atomic_view *v, uint32_t t, uint32_t i)
{
	assert(i >= v->q->d->read_first[t] && i < v->q->d->read_first[t + 1]);
	const struct deps *d = v->q->d;
	const struct txn_graph *g = v->g;
	uint32_t a = d->reads[i].version, key = d->versions[a].key, call = txn_of(d, t)->call;
	for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1] && !g->nchains; b++)
		if (b != a && txn_of(d, d->versions[b].t)->ret < call)
			must_precede(v->q, v->g, t, i, b);
	for (uint32_t s = g->nchains ? g->seg_first[key] : 0; s < (g->nchains ? g->seg_first[key + 1] : 0); s++) {
		const struct txn_segment *seg = &g->segs[s];
		uint32_t lo = seg->first, hi = seg->end;
		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;
			if (txn_of(d, d->versions[g->sorted[mid].version].t)->ret < call)
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo > seg->first && g->sorted[lo - 1].version != a)
			must_precede(v->q, v->g, t, i, g->sorted[lo - 1].version);
	}
}

/* The same by session alone: its last write of the key before t, kept in a map as the transactions are walked through. */
static uint64_t session_key(const struct deps *d, uint32_t t, uint32_t key)
{
	return (uint64_t)txn_of(d, t)->session << 32 | key;
}

static void check_session(struct atomic_view *v, uint32_t t, uint32_t i)
{
	const struct deps *d = v->q->d;
	uint32_t a = d->reads[i].version, b = map_get(&v->q->pairs, session_key(d, t, d->versions[a].key));
	if (b != MAP_NONE && b != a)
		must_precede(v->q, v->g, t, i, b);
}

static void note_session(struct atomic_view *v, uint32_t t)
{
	const struct deps *d = v->q->d;
	for (uint32_t k = d->write_first[t]; txn_of(d, t)->status == TXN_COMMITTED && k < d->write_first[t + 1]; k++)
		if (!map_put(&v->q->pairs, session_key(d, t, d->versions[d->writes[k]].key), d->writes[k]))
			longjmp(*v->q->scratch.oom, 1);
}

/* read-atomic and monotonic-atomic-view: what must precede is known from the reads alone. */
static void atomic_view(struct question *q)
{
	struct txn_graph g;
	const struct deps *d = q->d;
	bool whole = q->level.level == LEVEL_RA;
	bool sessions = whole && q->level.order == ORDER_SESSION, times = whole && q->level.order == ORDER_REALTIME;
	unsigned with = WITH_KNOWN | WITH_WR | WITH_DIRECT | (times ? 0 : WITH_NO_CHAINS);
	graph_init(&g, d, FAMILY_DEP, (enum txn_order)q->level.order, with, &q->scratch, q->lim);
	struct atomic_view v = { .q = q, .g = &g };
	if (graph_rank(&g) != GRAPH_OK) {
		decide_violated(q, &g);
		return;
	}
	v.stamp = arena_array(&q->scratch, uint32_t, d->nkeys + 1);
	v.head = arena_array(&q->scratch, uint32_t, d->nkeys + 1);
	v.met = arena_array(&q->scratch, uint32_t, d->n + 1);
	for (uint32_t t = 0; t < d->n; t++) {
		v.seen.len = 0;
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1] && whole; i++)
			see(&v, t, d->versions[d->reads[i].version].t);
		for (uint32_t i = d->read_first[t], at = i; i < d->read_first[t + 1]; i++) {
			check_read(&v, t, i);
			if (times)
				check_order(&v, t, i);
			else if (sessions)
				check_session(&v, t, i);
			for (; at <= i && deps_moment_ends(d, t, i); at++)
				see(&v, t, d->versions[d->reads[at].version].t);
		}
		if (sessions)
			note_session(&v, t);
	}
	only_graph(q, &g);
}

/* Without chains: everything that reaches t, found by walking back. */
static bool causal_walk(struct question *q, struct txn_graph *g)
{
	assert(!g->nchains);
	const struct deps *d = q->d;
	uint32_t n = g->nnodes, nedges = g->edges.len;
	uint32_t *first = arena_array(&q->scratch, uint32_t, n + 2), *from = arena_array(&q->scratch, uint32_t, nedges + 1);
	uint32_t *mark = arena_array(&q->scratch, uint32_t, n + 1), *todo = arena_array(&q->scratch, uint32_t, n + 1);
	for (uint32_t i = 0; i < nedges; i++)
		first[g->edges.data[i].to + 1]++;
	for (uint32_t v = 0; v < n; v++)
		first[v + 1] += first[v];
	uint32_t *at = arena_array(&q->scratch, uint32_t, n + 1);
	memcpy(at, first, n * sizeof *at);
	for (uint32_t i = 0; i < nedges; i++)
		from[at[g->edges.data[i].to]++] = g->edges.data[i].from;
	for (uint32_t t = 0; t < d->n; t++) {
		uint32_t len = 0;
		if (d->read_first[t] == d->read_first[t + 1])
			continue;
		mark[t] = t + 1;
		todo[len++] = t;
		for (uint32_t i = 0; i < len; i++)
			for (uint32_t e = first[todo[i]]; e < first[todo[i] + 1]; e++)
				if (mark[from[e]] != t + 1) {
					mark[from[e]] = t + 1;
					todo[len++] = from[e];
				}
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t a = d->reads[i].version, key = d->versions[a].key;
			for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1]; b++)
				if (b != a && d->versions[b].t != t && mark[d->versions[b].t] == t + 1)
					must_precede(q, g, t, i, b);
		}
		if ((t & 0xFF) == 0 && lim_spent(q->lim))
			return false;
	}
	return true;
}

static void causal(struct question *q)
{
	struct txn_graph g;
	const struct deps *d = q->d;
	graph_init(&g, d, FAMILY_DEP, (enum txn_order)q->level.order, WITH_WR | WITH_SEEN, &q->scratch, q->lim);
	if (graph_rank(&g) != GRAPH_OK) {
		decide_violated(q, &g);
		return;
	}
	if (graph_saturate(&g) == GRAPH_LIMIT || (!g.nchains && !causal_walk(q, &g))) {
		limited(q);
		return;
	}
	for (uint32_t t = 0; t < d->n && g.nchains; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t a = d->reads[i].version, key = d->versions[a].key;
			for (uint32_t s = g.seg_first[key]; s < g.seg_first[key + 1]; s++) {
				uint32_t b = graph_last_before(&g, &g.segs[s], t);
				uint32_t w = d->versions[a].t;
				if (b != DEPS_NONE && b != a && (w == DEPS_NONE || !graph_reaches(&g, d->versions[b].t, w)))
					must_precede(q, &g, t, i, b);
			}
		}
	for (uint32_t i = 0; i < d->known.len; i++) {
		const struct dversion *x = &d->versions[d->known.data[i].a], *y = &d->versions[d->known.data[i].b];
		graph_edge(&g, x->t, y->t, EDGE_WW, WHY_GIVEN, x->key, 0);
	}
	only_graph(q, &g);
}

/* ---- levels that order versions -------------------------------------------------------------------- */

/* The search chose nothing, and yet a read misses what its transaction depends on: that way, and the read. */
static void missed(struct question *q, struct txn_graph *g, const struct txn_search_result *r)
{
	assert(r->found_missed);
	uint32_t *cycle = arena_array(&q->scratch, uint32_t, r->nmissed + 2), n = r->nmissed;
	struct teller w = { .q = q, .g = g };
	if (n)
		memcpy(cycle, r->missed, n * sizeof *cycle);
	if (r->missed_from != r->missed_by)
		cycle[n++] = graph_edge(g, r->missed_from, r->missed_by, EDGE_WW, WHY_CERTAIN, r->missed_key, 0);
	cycle[n++] = graph_edge(g, r->missed_by, q->d->versions[r->missed_b].t, EDGE_RW, WHY_AFTER, q->d->versions[r->missed_a].key,
	                        r->missed_a);
	q->out->verdict = TXN_VIOLATED;
	q->out->cycle = decide_tell(&w, cycle, n, true, REASON_DEPTH, &q->out->ncycle);
	q->out->name = q->level.level == LEVEL_MV
	                       ? ANOMALY_G_MONOTONIC
	                       : decide_name(q->d, (enum txn_level)q->level.level, q->out->cycle, q->out->ncycle);
}

/* Two transactions that read one version of a key and then wrote the key: whichever wrote first, the other missed it. */
static bool lost_update(struct question *q)
{
	const struct deps *d = q->d;
	uint32_t *by = arena_array(&q->scratch, uint32_t, d->nversions + 1);
	for (uint32_t t = 0; t < d->n; t++)
		for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
			uint32_t v = d->reads[i].version, key = d->versions[v].key;
			if (!d->reads[i].then_written)
				continue;
			if (!by[v] || by[v] == t + 1) {
				by[v] = t + 1;
				continue;
			}
			struct cycle_edge *c = arena_array(q->keep, struct cycle_edge, 2);
			c[0] = (struct cycle_edge){ .from = by[v] - 1,
				                    .to = t,
				                    .kind = EDGE_RW,
				                    .why = WHY_GIVEN,
				                    .key = key,
				                    .reader = DEPS_NONE,
				                    .version = v };
			c[1] = (struct cycle_edge){ .from = t,
				                    .to = by[v] - 1,
				                    .kind = EDGE_RW,
				                    .why = WHY_GIVEN,
				                    .key = key,
				                    .reader = DEPS_NONE,
				                    .version = v };
			q->out->cycle = c;
			q->out->ncycle = 2;
			q->out->name = ANOMALY_LOST_UPDATE;
			return true;
		}
	return false;
}

/* How a level is searched for. */
static const struct {
	uint8_t family;
	uint16_t with;
} how[LEVEL_COUNT] = {
	[LEVEL_CS] = { FAMILY_DEP, WITH_WR | WITH_KNOWN },
	[LEVEL_MV] = { FAMILY_DEP, WITH_WR | WITH_KNOWN | WITH_MISSED | WITH_EARLIER },
	[LEVEL_UA] = { FAMILY_DEP, WITH_WR | WITH_KNOWN },
	[LEVEL_PC] = { FAMILY_PC, WITH_WR | WITH_KNOWN | WITH_MISSED | WITH_AFTER },
	[LEVEL_CV] = { FAMILY_DEP, WITH_WR | WITH_KNOWN | WITH_MISSED },
	[LEVEL_SI] = { FAMILY_SI, WITH_WR | WITH_KNOWN | WITH_MISSED | WITH_AFTER },
	[LEVEL_US] = { FAMILY_SER, WITH_WR | WITH_KNOWN | WITH_MISSED | WITH_AFTER | WITH_UPDATES },
	[LEVEL_SER] = { FAMILY_SER, WITH_WR | WITH_KNOWN | WITH_MISSED | WITH_AFTER },
};

#define ORDER_CONFLICTS 20000

/* A level that has no variant with an order of transactions: when one exists that keeps the order that the history has, too, it is found more easily. */
static bool holds_in_order(struct question *q, enum txn_order o)
{
	enum txn_level l = (enum txn_level)q->level.level;
	struct txn_graph g;
	struct txn_search_result r;
	graph_init(&g, q->d, (enum family)how[l].family, o, how[l].with, &q->scratch, q->lim);
	if (graph_rank(&g) != GRAPH_OK || graph_saturate(&g) != GRAPH_OK ||
	    search_order(&g, l, SEARCH_QUICK, ORDER_CONFLICTS, &q->pairs, NULL, &r) != TXN_SEARCH_FOUND) {
		map_free(&q->pairs);
		map_init(&q->pairs);
		return false;
	}
	q->out->conflicts = r.conflicts;
	q->out->pairs = r.pairs;
	holds(q, &g, r.order);
	return true;
}

#define QUICK_CONFLICTS 100
#define THOROUGH_COST   100 /* a conflict of a thorough search takes as long as this many of the other */

/* Lists show nearly all of the order of versions: an order near the recorded one often explains every read as it is. */
static bool holds_at_once(struct question *q, struct txn_graph *g)
{
	enum txn_level l = (enum txn_level)q->level.level;
	struct txn_search_result r;
	if (q->d->th->writes || !q->d->th->appends || (l != LEVEL_SER && l != LEVEL_SI && l != LEVEL_PC))
		return false;
	bool found = search_order(g, l, SEARCH_QUICK, QUICK_CONFLICTS, &q->pairs, NULL, &r) == TXN_SEARCH_FOUND;
	map_free(&q->pairs);
	map_init(&q->pairs);
	if (found)
		holds(q, g, r.order);
	return found;
}

/* Most questions have an answer after a few conflicts. For the others what follows from each choice is worked out. */
static enum txn_search_answer search_twice(struct question *q, struct txn_graph *g, struct txn_search_result *r)
{
	enum txn_level l = (enum txn_level)q->level.level;
	unsigned contrary = q->opts.contrary ? SEARCH_CONTRARY : 0;
	uint64_t most = q->opts.max_conflicts, first = most && most < QUICK_CONFLICTS ? most : QUICK_CONFLICTS;
	struct prover *prover = decide_prover(q, g);
	if (!search_propagates(g, l))
		return search_order(g, l, contrary, most, &q->pairs, prover, r);
	enum txn_search_answer found = TXN_SEARCH_LIMIT;
	if (!q->opts.thorough)
		found = search_order(g, l, contrary, first, &q->pairs, prover, r);
	if (found != TXN_SEARCH_LIMIT || lim_spent(q->lim) || first == most)
		return found;
	map_free(&q->pairs);
	map_init(&q->pairs);
	return search_order(g, l, SEARCH_THOROUGH | contrary, most ? most / THOROUGH_COST + 1 : 0, &q->pairs, prover, r);
}

static void search_levels(struct question *q)
{
	struct txn_graph g;
	struct txn_search_result r;
	enum txn_level l = (enum txn_level)q->level.level;
	if (l == LEVEL_US &&
	    ((q->d->th->realtime && holds_in_order(q, ORDER_REALTIME)) || (q->d->th->sessions && holds_in_order(q, ORDER_SESSION))))
		return;
	graph_init(&g, q->d, (enum family)how[l].family, (enum txn_order)q->level.order, how[l].with, &q->scratch, q->lim);
	enum graph_status s = graph_rank(&g);
	if (s == GRAPH_OK && holds_at_once(q, &g))
		return;
	if (s == GRAPH_OK)
		s = graph_saturate(&g);
	if (s == GRAPH_CYCLE) {
		decide_violated(q, &g);
		return;
	}
	if (s == GRAPH_LIMIT) {
		limited(q);
		return;
	}
	enum txn_search_answer found = search_twice(q, &g, &r);
	q->out->conflicts = r.conflicts;
	q->out->pairs = r.pairs;
	if (found == TXN_SEARCH_LIMIT && r.too_many) {
		undecided(q, "pairs");
	} else if (found == TXN_SEARCH_LIMIT && lim_spent(q->lim)) {
		limited(q);
	} else if (found == TXN_SEARCH_LIMIT) {
		assert(q->opts.max_conflicts);
		undecided(q, "conflicts");
	} else if (found == TXN_SEARCH_FOUND) {
		holds(q, &g, r.order);
	} else if (r.found_missed) {
		missed(q, &g, &r);
	} else {
		q->out->verdict = TXN_VIOLATED;
		if (l == LEVEL_MV || l == LEVEL_PC || !lost_update(q))
			q->out->name = ANOMALY_NO_ORDER;
	}
}

static void ask(struct question *q)
{
	switch ((enum txn_level)q->level.level) {
	case LEVEL_RU:
	case LEVEL_RC:
		read_committed(q);
		break;
	case LEVEL_MAV:
	case LEVEL_RA:
		atomic_view(q);
		break;
	case LEVEL_CC:
		causal(q);
		break;
	default:
		search_levels(q);
	}
}

void txn_decide(const struct deps *d, struct isolation level, struct txn_decide_options opts, struct arena *keep,
                struct limits *lim, struct decision *out)
{
	const struct anomaly *direct;
	memset(out, 0, sizeof *out);
	out->level = level;
	assert(isolation_exists(level));
	if (deps_violate(d, (enum txn_level)level.level, &direct)) {
		out->verdict = TXN_VIOLATED;
		out->direct = direct;
		out->name = (enum anomaly_kind)direct->kind;
		return;
	}
	if (level.level == LEVEL_RU ? d->nambiguous_lists : d->nambiguous) {
		out->verdict = TXN_UNDECIDED;
		out->limit = "ambiguous";
		return;
	}
	struct question q = { .d = d, .level = level, .keep = keep, .lim = lim, .out = out, .opts = opts };
	jmp_buf oom;
	map_init(&q.pairs);
	arena_init(&q.scratch, lim->max_memory);
	q.scratch.oom = &oom;
	if (!setjmp(oom)) {
		ask(&q);
	} else {
		atomic_store(&lim->spent, LIMIT_MEMORY);
		limited(&q);
	}
	map_free(&q.pairs);
	arena_free(&q.scratch);
	assert(out->verdict != TXN_UNDECIDED || out->limit);
	assert(out->verdict != TXN_VIOLATED || out->name != ANOMALY_NONE);
}
