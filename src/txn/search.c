/*
 * search: see search.h. Here: which pairs of versions are variables, what the solver asks, and when an order is accepted.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/search_int.h"

/* ---- open pairs ---------------------------------------------------------------------------- */

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The literal "version a before version b", or NO_LIT when the pair is no variable. */
uint32_t search_literal(const struct txn_search *s, uint32_t a, uint32_t b)
{
	assert(a != b);
	uint32_t v = map_get(s->pair_var, pair_key(a, b));
	if (v == MAP_NONE)
		return NO_LIT;
	return s->vars.data[v].a == a ? 2 * v : 2 * v + 1;
}

/* With clocks: is a before b for certain? */
bool search_certain(const struct txn_graph *g, uint32_t a, uint32_t b)
{
	assert(g->nchains && g->d->versions[a].t != DEPS_NONE && g->d->versions[b].t != DEPS_NONE);
	uint32_t x = graph_end(g, g->d->versions[a].t), t = g->d->versions[b].t;
	return graph_reaches(g, x, g->family == FAMILY_PC ? graph_end(g, t) : graph_begin(g, t));
}

bool search_open_pair(struct txn_search *s, uint32_t a, uint32_t b)
{
	assert(s->d->versions[a].key == s->d->versions[b].key && a != b);
	uint32_t v = s->vars.len;
	if (v >= SEARCH_MAX_PAIRS) {
		s->r->too_many = true;
		return false;
	}
	if (!map_put(s->pair_var, pair_key(a, b), v))
		longjmp(*s->a->oom, 1);
	avec_push(s->a, &s->vars, ((struct dpair){ a, b }));
	if (s->lazy)
		cdcl_var(s->sat);
	return true;
}

/* Of each chain only the stretch between what comes before b for certain and what comes behind it is looked at. */
static bool open_pairs_of(struct txn_search *s, uint32_t key)
{
	assert(key < s->d->nkeys && s->g->nchains);
	const struct txn_graph *g = s->g;
	for (uint32_t i = g->seg_first[key]; i < g->seg_first[key + 1]; i++)
		for (uint32_t j = i + 1; j < g->seg_first[key + 1]; j++) {
			uint32_t from = g->segs[j].first;
			for (uint32_t x = g->segs[i].first; x < g->segs[i].end; x++) {
				uint32_t a = g->sorted[x].version;
				while (from < g->segs[j].end && search_certain(g, g->sorted[from].version, a))
					from++;
				for (uint32_t y = from; y < g->segs[j].end && !search_certain(g, a, g->sorted[y].version); y++)
					if (!search_open_pair(s, a, g->sorted[y].version))
						return false;
			}
		}
	return true;
}

static bool open_pairs(struct txn_search *s)
{
	const struct deps *d = s->d;
	for (uint32_t k = 0; k < d->nkeys; k++) {
		if (s->g->nchains) {
			if (!open_pairs_of(s, k))
				return false;
			continue;
		}
		for (uint32_t a = d->key_first[k] + 1; a < d->key_first[k + 1]; a++)
			for (uint32_t b = a + 1; b < d->key_first[k + 1]; b++)
				if (!search_open_pair(s, a, b))
					return false;
		if ((k & 0xFF) == 0 && lim_spent(s->g->lim))
			return false;
	}
	return true;
}

/* Is a before b now, chosen or certain? The initial version is before all. */
bool search_before(const struct txn_search *s, uint32_t a, uint32_t b)
{
	if (s->d->versions[a].t == DEPS_NONE || s->d->versions[b].t == DEPS_NONE)
		return s->d->versions[a].t == DEPS_NONE && a != b;
	uint32_t l = search_literal(s, a, b);
	return l != NO_LIT ? cdcl_true(s->sat, l) : a != b && search_certain(s->g, a, b);
}

/* ---- what the solver asks ---------------------------------------------------------------------- */

static bool rw_counts(const struct txn_search *s, uint32_t reader)
{
	const struct deps *d = s->d;
	return s->level != LEVEL_US || d->write_first[reader] != d->write_first[reader + 1];
}

static bool hear(void *arg, uint32_t lit, const uint32_t **clause, uint32_t *n)
{
	struct txn_search *s = arg;
	const struct txn_graph *g = s->g;
	uint32_t a, b;
	search_versions_of(s, lit, &a, &b);
	avec_push(s->a, &s->added, s->edges.len);
	if (s->propagator)
		search_propagator_heard(s);
	uint32_t ta = s->d->versions[a].t, tb = s->d->versions[b].t;
	bool ok = search_insert(s, graph_end(g, ta), g->family == FAMILY_PC ? graph_end(g, tb) : graph_begin(g, tb), lit);
	if (ok && g->family != FAMILY_DEP) {
		uint32_t end = g->nchains ? g->last_end[a] : s->d->reader_first[a + 1];
		for (uint32_t i = g->nchains ? g->last_first[a] : s->d->reader_first[a]; ok && i < end; i++) {
			uint32_t r = g->nchains ? g->last_readers[i].t : s->d->readers[i];
			if (r != tb && rw_counts(s, r))
				ok = search_insert(s, graph_begin(g, r), graph_end(g, tb), lit);
		}
	}
	*clause = s->clause.data;
	*n = s->clause.len;
	return ok;
}

static void unhear(void *arg, uint32_t lit)
{
	struct txn_search *s = arg;
	assert(s->added.len);
	(void)lit;
	uint32_t n = s->added.data[--s->added.len];
	assert(n <= s->edges.len);
	while (s->edges.len > n) {
		struct sedge *e = &s->edges.data[--s->edges.len];
		if (e->next_in == SEDGE_IDLE) {
			s->idle[e->from] = e->next_out;
			continue;
		}
		s->out[e->from] = e->next_out;
		s->in[e->to] = e->next_in;
	}
	if (s->propagator)
		search_propagator_unheard(s);
}

static uint32_t prefer(void *arg, uint32_t v)
{
	assert(v < ((struct txn_search *)arg)->vars.len);
	struct txn_search *s = arg;
	uint32_t a = graph_end(s->g, s->d->versions[s->vars.data[v].a].t), b = graph_end(s->g, s->d->versions[s->vars.data[v].b].t);
	return (2 * v + !search_by_place(s, a, b)) ^ s->contrary;
}

/* Does the order at hand explain the reads of both versions, one before the other as it has them? */
static bool settled(void *arg, uint32_t v)
{
	const struct txn_search *s = arg;
	const struct deps *d = s->d;
	uint32_t a = s->vars.data[v].a, b = s->vars.data[v].b;
	if (!search_by_place(s, graph_end(s->g, d->versions[a].t), graph_end(s->g, d->versions[b].t))) {
		a = s->vars.data[v].b;
		b = s->vars.data[v].a;
	}
	uint32_t tb = d->versions[b].t;
	if (s->g->family == FAMILY_SI && !search_by_place(s, graph_end(s->g, d->versions[a].t), graph_begin(s->g, tb)))
		return false;
	for (uint32_t i = d->reader_first[a]; i < d->reader_first[a + 1]; i++)
		if (d->readers[i] != tb && !search_by_place(s, graph_begin(s->g, d->readers[i]), graph_end(s->g, tb)))
			return false;
	return true;
}

static bool stop(void *arg)
{
	struct txn_search *s = arg;
	return lim_spent(s->g->lim) || s->r->too_many || (s->max_conflicts && cdcl_conflicts(s->sat) >= s->max_conflicts);
}

static void learned(void *arg, const uint32_t *lits, uint32_t n)
{
	struct txn_search *s = arg;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a, b;
		search_versions_of(s, lits[i], &a, &b);
		prover_learn(s->prover, a, b);
	}
	prover_learned(s->prover);
}

/* ---- levels that are the absence of cycles: does the order at hand explain every read? ---------------- */

static uint32_t end_place(const struct txn_search *s, uint32_t version)
{
	return s->ord[graph_end(s->g, s->d->versions[version].t)];
}

static void sort_versions_by_order(struct txn_search *s, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		s->by_order[i] = first + i;
	for (uint32_t gap = n / 2; gap; gap = gap == 2 ? 1 : (uint32_t)((uint64_t)gap * 5 / 11))
		for (uint32_t i = gap; i < n; i++) {
			uint32_t x = s->by_order[i], p = end_place(s, x), k = i;
			for (; k >= gap && end_place(s, s->by_order[k - gap]) > p; k -= gap)
				s->by_order[k] = s->by_order[k - gap];
			s->by_order[k] = x;
		}
}

/* A pair that is ordered wrongly: it becomes a variable, unless it is one, and must be decided. True: it had not been. */
static bool doubt(struct txn_search *s, uint32_t a, uint32_t b)
{
	uint32_t lit = search_literal(s, a, b);
	return lit == NO_LIT ? search_open_pair(s, a, b) : cdcl_again(s->sat, lit / 2);
}

/* Readers of the version at place i of the sorted ones must begin before the next version ends. */
static bool doubt_readers(struct txn_search *s, uint32_t v, uint32_t i, uint32_t n)
{
	const struct deps *d = s->d;
	bool more = false;
	for (uint32_t k = d->reader_first[v]; k < d->reader_first[v + 1]; k++) {
		uint32_t r = d->readers[k], at = s->ord[graph_begin(s->g, r)];
		for (uint32_t b = i + 1; b < n && end_place(s, s->by_order[b]) < at; b++)
			if (d->versions[s->by_order[b]].t != r)
				more |= doubt(s, v, s->by_order[b]);
	}
	return more;
}

static enum cdcl_final explains(void *arg, const uint32_t **clause, uint32_t *n)
{
	struct txn_search *s = arg;
	const struct deps *d = s->d;
	bool more = false;
	(void)clause;
	(void)n;
	for (uint32_t k = 0; k < d->nkeys; k++) {
		uint32_t first = d->key_first[k] + 1, m = d->key_first[k + 1] - first;
		if (m < 2)
			continue;
		sort_versions_by_order(s, first, m);
		for (uint32_t i = 0; i < m; i++) {
			uint32_t v = s->by_order[i];
			more |= doubt_readers(s, v, i, m);
			uint32_t begins = s->ord[graph_begin(s->g, d->versions[v].t)];
			for (uint32_t a = i; a-- > 0 && s->g->family == FAMILY_SI && end_place(s, s->by_order[a]) > begins;)
				more |= doubt(s, s->by_order[a], v); /* writers of a key do not overlap */
		}
		if ((k & 0xFF) == 0 && lim_spent(s->g->lim))
			return CDCL_ACCEPT; /* what it says then is not heard */
	}
	return more ? CDCL_MORE : CDCL_ACCEPT;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static void start(struct txn_search *s)
{
	struct txn_graph *g = s->g;
	uint32_t n = g->nnodes;
	s->out = arena_array(s->a, uint32_t, n + 1);
	s->in = arena_array(s->a, uint32_t, n + 1);
	s->ord = arena_array(s->a, uint32_t, n + 1);
	s->at = arena_array(s->a, uint32_t, n + 1);
	s->mark = arena_array(s->a, uint32_t, n + 1);
	s->parent = arena_array(s->a, uint32_t, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		s->at[i] = g->topo[i];
		s->ord[g->topo[i]] = i;
	}
	for (uint32_t i = 0; i < g->edges.len; i++) {
		const struct gedge *e = &g->edges.data[i];
		struct sedge x = { e->from, e->to, s->out[e->from], s->in[e->to], NO_LIT };
		avec_push(s->a, &s->edges, x);
		s->out[e->from] = s->in[e->to] = s->edges.len;
	}
}

enum txn_search_answer search_order(struct txn_graph *g, enum txn_level level, unsigned how, uint64_t max_conflicts,
                                    struct map *pairs, struct prover *prover, struct txn_search_result *r)
{
	struct txn_search *s = arena_new(g->arena, struct txn_search);
	*s = (struct txn_search){ .g = g,
		                  .d = g->d,
		                  .a = g->arena,
		                  .level = level,
		                  .pair_var = pairs,
		                  .r = r,
		                  .max_conflicts = max_conflicts,
		                  .prover = prover };
	memset(r, 0, sizeof *r);
	bool lazy = level == LEVEL_SER || level == LEVEL_SI || level == LEVEL_PC;
	if (!lazy && !open_pairs(s))
		return TXN_SEARCH_LIMIT;
	graph_rank_by_hint(g);
	start(s);
	bool final = level == LEVEL_MV || level == LEVEL_CV || level == LEVEL_US;
	bool propagate = (how & SEARCH_THOROUGH) && search_propagates(g, level);
	struct cdcl_theory th = { .arg = s,
		                  .assign = hear,
		                  .undo = unhear,
		                  .final = final  ? search_look
		                           : lazy ? explains
		                                  : NULL,
		                  .prefer = prefer,
		                  .settled = lazy ? settled : NULL,
		                  .stop = stop,
		                  .implied = propagate ? search_implied : NULL,
		                  .explain = propagate ? search_explain : NULL,
		                  .learned = prover ? learned : NULL };
	s->sat = cdcl_new(g->arena, s->vars.len, &th);
	s->lazy = lazy;
	s->contrary = (how & SEARCH_CONTRARY) != 0;
	if (propagate)
		search_propagator_new(s);
	s->by_order = arena_array(g->arena, uint32_t, g->d->nversions + 1);
	if (level == LEVEL_CS)
		search_cursor_clauses(s);
	if (level == LEVEL_UA)
		search_update_clauses(s);
	int answer = cdcl_solve(s->sat);
	r->conflicts = cdcl_conflicts(s->sat);
	r->pairs = s->vars.len;
	r->order = s->at;
	if (answer < 0 || lim_spent(g->lim) || (answer && r->too_many)) /* a pair that was left out may be ordered wrongly */
		return TXN_SEARCH_LIMIT;
	return answer ? TXN_SEARCH_FOUND : TXN_SEARCH_NONE;
}
