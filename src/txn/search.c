/*
 * search: see search.h.
 */
#include "txn/search.h"

#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/cdcl.h"

#define NO_LIT UINT32_MAX

/* An edge in the growing graph. */
struct sedge {
	uint32_t from, to, next_out, next_in; /* the next ones + 1 */
	uint32_t lit;                         /* what chose it, or NO_LIT */
};

struct txn_search {
	struct txn_graph *g;
	const struct deps *d;
	struct arena *a;
	enum txn_level level;
	struct map *pair_var;    /* (version, version) ascending -> variable */
	AVEC(struct dpair) vars; /* variable: a before b when it is true */
	AVEC(struct sedge) edges;
	uint32_t *out, *in;    /* by node: edge + 1 */
	uint32_t *ord, *at;    /* the topological order: place of a node, node at a place */
	uint32_t *mark, stamp; /* visited marks */
	uint32_t *parent;      /* edge + 1 that found a node */
	AVEC(uint32_t) stack, back, slots;
	AVEC(uint32_t) added; /* by literal heard: edges before it */
	AVEC(uint32_t) clause;
	uint32_t *by_order; /* scratch: versions of a key by their place */
	bool lazy;          /* pairs become variables when they are needed */
	struct cdcl *sat;
	struct txn_search_result *r;
	uint64_t max_conflicts;
	struct prover *prover; /* or NULL */
	uint32_t floor;        /* reach_back goes no further down than this place */
};

/* ---- open pairs ---------------------------------------------------------------------------- */

static uint64_t pair_key(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The literal "version a before version b", or NO_LIT when the pair is no variable. */
static uint32_t literal(const struct txn_search *s, uint32_t a, uint32_t b)
{
	assert(a != b);
	uint32_t v = map_get(s->pair_var, pair_key(a, b));
	if (v == MAP_NONE)
		return NO_LIT;
	return s->vars.data[v].a == a ? 2 * v : 2 * v + 1;
}

/* With clocks: is a before b for certain? */
static bool certain(const struct txn_graph *g, uint32_t a, uint32_t b)
{
	assert(g->nchains && g->d->versions[a].t != DEPS_NONE && g->d->versions[b].t != DEPS_NONE);
	uint32_t x = graph_end(g, g->d->versions[a].t), t = g->d->versions[b].t;
	return graph_reaches(g, x, g->family == FAMILY_PC ? graph_end(g, t) : graph_begin(g, t));
}

static bool open_pair(struct txn_search *s, uint32_t a, uint32_t b)
{
	assert(s->d->versions[a].key == s->d->versions[b].key && a != b);
	uint32_t v = s->vars.len;
	if (v >= SEARCH_MAX_PAIRS)
		return false;
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
				while (from < g->segs[j].end && certain(g, g->sorted[from].version, a))
					from++;
				for (uint32_t y = from; y < g->segs[j].end && !certain(g, a, g->sorted[y].version); y++)
					if (!open_pair(s, a, g->sorted[y].version))
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
				if (!open_pair(s, a, b))
					return false;
		if ((k & 0xFF) == 0 && lim_spent(s->g->lim))
			return false;
	}
	return true;
}

/* Is a before b now, chosen or certain? The initial version is before all. */
static bool before(const struct txn_search *s, uint32_t a, uint32_t b)
{
	if (s->d->versions[a].t == DEPS_NONE || s->d->versions[b].t == DEPS_NONE)
		return s->d->versions[a].t == DEPS_NONE && a != b;
	uint32_t l = literal(s, a, b);
	return l != NO_LIT ? cdcl_true(s->sat, l) : a != b && certain(s->g, a, b);
}

/* ---- the topological order ------------------------------------------------------------------- */

static bool by_place(const struct txn_search *s, uint32_t u, uint32_t v)
{
	return s->ord[u] < s->ord[v];
}

static void sort_nodes(const struct txn_search *s, uint32_t *list, uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			uint32_t x = list[i], k = i;
			for (; k >= gap && by_place(s, x, list[k - gap]); k -= gap)
				list[k] = list[k - gap];
			list[k] = x;
		}
	assert(n < 2 || s->ord[list[0]] <= s->ord[list[n - 1]]);
}

/* The clause that forbids the path by which `node` was found, and the edge of `lit`. */
static void explain_path(struct txn_search *s, uint32_t node, uint32_t lit)
{
	assert(node < s->g->nnodes);
	s->clause.len = 0;
	if (lit != NO_LIT)
		avec_push(s->a, &s->clause, lit ^ 1);
	for (uint32_t e = s->parent[node]; e; e = s->parent[s->edges.data[e - 1].from]) {
		uint32_t l = s->edges.data[e - 1].lit;
		bool twin = l == NO_LIT;
		for (uint32_t i = 0; i < s->clause.len && !twin; i++)
			twin = s->clause.data[i] == (l ^ 1);
		if (!twin)
			avec_push(s->a, &s->clause, l ^ 1);
	}
}

static void versions_of(const struct txn_search *s, uint32_t lit, uint32_t *a, uint32_t *b)
{
	assert(lit / 2 < s->vars.len);
	const struct dpair *p = &s->vars.data[lit / 2];
	*a = lit & 1 ? p->b : p->a;
	*b = lit & 1 ? p->a : p->b;
}

/* An edge of what was chosen: of the two versions, or of a reader of the first one. */
static void prove_chosen(struct txn_search *s, uint32_t from, uint32_t lit)
{
	uint32_t a, b;
	versions_of(s, lit, &a, &b);
	if (graph_txn(s->g, from) == s->d->versions[a].t)
		prover_ww(s->prover, a, b);
	else
		prover_rw(s->prover, graph_txn(s->g, from), a, b);
}

static void prove_edge(struct txn_search *s, uint32_t e)
{
	if (s->edges.data[e].lit == NO_LIT)
		prover_edge(s->prover, e);
	else
		prove_chosen(s, s->edges.data[e].from, s->edges.data[e].lit);
}

/* The path by which `node` was found from the end of the edge of `lit`, which goes out from it. */
static void prove_path(struct txn_search *s, uint32_t node, uint32_t lit)
{
	if (!s->prover)
		return;
	AVEC(uint32_t) path = { 0 };
	for (uint32_t e = s->parent[node]; e; e = s->parent[s->edges.data[e - 1].from])
		avec_push(s->a, &path, e - 1);
	prover_begin(s->prover);
	prove_chosen(s, node, lit);
	while (path.len)
		prove_edge(s, path.data[--path.len]);
	prover_end(s->prover);
}

/* Nodes behind v up to place `limit`; false when `target` is among them. */
static bool forward(struct txn_search *s, uint32_t v, uint32_t limit, uint32_t target)
{
	assert(s->ord[v] <= limit);
	s->stamp++;
	s->stack.len = 0;
	s->mark[v] = s->stamp;
	s->parent[v] = 0;
	avec_push(s->a, &s->stack, v);
	for (uint32_t i = 0; i < s->stack.len; i++)
		for (uint32_t e = s->out[s->stack.data[i]]; e; e = s->edges.data[e - 1].next_out) {
			uint32_t to = s->edges.data[e - 1].to;
			if (s->mark[to] == s->stamp || s->ord[to] > limit)
				continue;
			s->mark[to] = s->stamp;
			s->parent[to] = e;
			if (to == target)
				return false;
			avec_push(s->a, &s->stack, to);
		}
	return true;
}

static void backward(struct txn_search *s, uint32_t u, uint32_t limit)
{
	assert(s->ord[u] >= limit);
	s->stamp++;
	s->back.len = 0;
	s->mark[u] = s->stamp;
	avec_push(s->a, &s->back, u);
	for (uint32_t i = 0; i < s->back.len; i++)
		for (uint32_t e = s->in [s->back.data[i]]; e; e = s->edges.data[e - 1].next_in) {
			uint32_t from = s->edges.data[e - 1].from;
			if (s->mark[from] == s->stamp || s->ord[from] < limit)
				continue;
			s->mark[from] = s->stamp;
			avec_push(s->a, &s->back, from);
		}
}

/* Puts what is behind v (stack) behind what is before u (back), into the places that they have. */
static void reorder(struct txn_search *s)
{
	sort_nodes(s, s->stack.data, s->stack.len);
	sort_nodes(s, s->back.data, s->back.len);
	s->slots.len = 0;
	for (uint32_t i = 0, k = 0; i < s->back.len || k < s->stack.len;) {
		bool first = k == s->stack.len || (i < s->back.len && by_place(s, s->back.data[i], s->stack.data[k]));
		avec_push(s->a, &s->slots, s->ord[first ? s->back.data[i++] : s->stack.data[k++]]);
	}
	for (uint32_t i = 0; i < s->slots.len; i++) {
		uint32_t node = i < s->back.len ? s->back.data[i] : s->stack.data[i - s->back.len];
		s->ord[node] = s->slots.data[i];
		s->at[s->slots.data[i]] = node;
	}
	assert(s->slots.len == s->back.len + s->stack.len);
}

/* Does the edge put no literal into a clause: given, certain by now, or chosen by `lit` as well? */
static bool is_free(const struct txn_search *s, uint32_t e, uint32_t lit)
{
	uint32_t l = s->edges.data[e].lit;
	return l == NO_LIT || l == lit || cdcl_certain(s->sat, l);
}

/* A path from v to u by the fewest choices, within places up to u's: parents lead back from u. (Breadth first by choices: `stack` has edges that
 * cost none, `back` those that lead to the next round.) */
static void fewest_choices(struct txn_search *s, uint32_t v, uint32_t u, uint32_t lit)
{
	uint32_t node = v, edge = 0;
	s->stamp++;
	s->stack.len = s->back.len = 0;
	for (;;) {
		if (s->mark[node] != s->stamp) {
			s->mark[node] = s->stamp;
			s->parent[node] = edge;
			if (node == u)
				return;
			for (uint32_t e = s->out[node]; e; e = s->edges.data[e - 1].next_out) {
				uint32_t to = s->edges.data[e - 1].to;
				if (s->mark[to] == s->stamp || s->ord[to] > s->ord[u])
					continue;
				if (is_free(s, e - 1, lit))
					avec_push(s->a, &s->stack, e);
				else
					avec_push(s->a, &s->back, e);
			}
		}
		if (!s->stack.len) {
			uint32_t *data = s->stack.data, cap = s->stack.cap;
			s->stack.data = s->back.data;
			s->stack.len = s->back.len;
			s->stack.cap = s->back.cap;
			s->back.data = data;
			s->back.cap = cap;
			s->back.len = 0;
		}
		assert(s->stack.len);
		edge = s->stack.data[--s->stack.len];
		node = s->edges.data[edge - 1].to;
	}
}

/* False: a cycle; the clause says which. */
static bool insert(struct txn_search *s, uint32_t u, uint32_t v, uint32_t lit)
{
	assert(u != v && u < s->g->nnodes && v < s->g->nnodes);
	if (s->ord[u] > s->ord[v]) {
		if (!forward(s, v, s->ord[u], u)) {
			fewest_choices(s, v, u, lit);
			explain_path(s, u, lit);
			prove_path(s, u, lit);
			return false;
		}
		backward(s, u, s->ord[v]);
		reorder(s);
	}
	struct sedge e = { u, v, s->out[u], s->in[v], lit };
	avec_push(s->a, &s->edges, e);
	s->out[u] = s->in[v] = s->edges.len;
	assert(s->ord[u] < s->ord[v]);
	return true;
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
	versions_of(s, lit, &a, &b);
	avec_push(s->a, &s->added, s->edges.len);
	uint32_t ta = s->d->versions[a].t, tb = s->d->versions[b].t;
	bool ok = insert(s, graph_end(g, ta), g->family == FAMILY_PC ? graph_end(g, tb) : graph_begin(g, tb), lit);
	if (ok && g->family != FAMILY_DEP) {
		uint32_t end = g->nchains ? g->last_end[a] : s->d->reader_first[a + 1];
		for (uint32_t i = g->nchains ? g->last_first[a] : s->d->reader_first[a]; ok && i < end; i++) {
			uint32_t r = g->nchains ? g->last_readers[i].t : s->d->readers[i];
			if (r != tb && rw_counts(s, r))
				ok = insert(s, graph_begin(g, r), graph_end(g, tb), lit);
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
		s->out[e->from] = e->next_out;
		s->in[e->to] = e->next_in;
	}
}

static uint32_t prefer(void *arg, uint32_t v)
{
	assert(v < ((struct txn_search *)arg)->vars.len);
	struct txn_search *s = arg;
	uint32_t a = graph_end(s->g, s->d->versions[s->vars.data[v].a].t), b = graph_end(s->g, s->d->versions[s->vars.data[v].b].t);
	return 2 * v + !by_place(s, a, b);
}

/* Does the order at hand explain the reads of both versions, one before the other as it has them? */
static bool settled(void *arg, uint32_t v)
{
	const struct txn_search *s = arg;
	const struct deps *d = s->d;
	uint32_t a = s->vars.data[v].a, b = s->vars.data[v].b;
	if (!by_place(s, graph_end(s->g, d->versions[a].t), graph_end(s->g, d->versions[b].t))) {
		a = s->vars.data[v].b;
		b = s->vars.data[v].a;
	}
	uint32_t tb = d->versions[b].t;
	if (s->g->family == FAMILY_SI && !by_place(s, graph_end(s->g, d->versions[a].t), graph_begin(s->g, tb)))
		return false;
	for (uint32_t i = d->reader_first[a]; i < d->reader_first[a + 1]; i++)
		if (d->readers[i] != tb && !by_place(s, graph_begin(s->g, d->readers[i]), graph_end(s->g, tb)))
			return false;
	return true;
}

static bool stop(void *arg)
{
	struct txn_search *s = arg;
	return lim_spent(s->g->lim) || (s->max_conflicts && cdcl_conflicts(s->sat) >= s->max_conflicts);
}

static void learned(void *arg, const uint32_t *lits, uint32_t n)
{
	struct txn_search *s = arg;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a, b;
		versions_of(s, lits[i], &a, &b);
		prover_learn(s->prover, a, b);
	}
	prover_learned(s->prover);
}

/* ---- levels that are more than the absence of cycles ---------------------------------------------- */

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
			if (d->versions[*u].key == d->versions[*v].key && d->versions[*v].po < po && literal(s, *u, *v) == NO_LIT &&
			    before(s, *u, *v))
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
	if (literal(s, a, b) == NO_LIT)
		prover_certain(s->prover, a, b);
	prover_begin(s->prover);
	prover_rw(s->prover, t, a, b);
	node = s->d->versions[b].t;
	for (uint32_t e; node != t && (e = s->parent[node]) != 0; node = s->edges.data[e - 1].to)
		prove_edge(s, e - 1);
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
		forbid(s, literal(s, a, b));
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
		if (b == a || tb == t || s->mark[tb] != s->stamp || !before(s, a, b))
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
	uint32_t tu = s->d->versions[u].t, t = s->d->versions[v].t, lit = literal(s, u, v);
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
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
		for (uint32_t k = d->write_first[t]; k < d->write_first[t + 1]; k++) {
			uint32_t v = d->writes[k];
			if (d->versions[v].po > d->reads[i].po)
				continue;
			for (uint32_t u = d->key_first[d->versions[v].key] + 1; u < d->key_first[d->versions[v].key + 1]; u++) {
				if (u == v || !before(s, u, v))
					continue;
				write_before(s, u, v);
			}
		}
		if (misses(s, t, d->reads[i].version))
			return false;
		uint32_t from = d->versions[d->reads[i].version].t;
		for (uint32_t e = from != DEPS_NONE ? s->out[from] : 0; e; e = s->edges.data[e - 1].next_out)
			if (s->edges.data[e - 1].to == t && e <= s->g->edges.len && s->g->edges.data[e - 1].kind == EDGE_WR &&
			    s->g->edges.data[e - 1].reason == i)
				reach_by(s, e);
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
			if (b != a && tb != t && s->ord[tb] < s->ord[t] && s->ord[tb] < s->floor && before(s, a, b))
				s->floor = s->ord[tb];
		}
	}
	return s->floor != UINT32_MAX;
}

static enum cdcl_final look(void *arg, const uint32_t **clause, uint32_t *n)
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
	uint32_t lit = literal(s, a, b);
	return lit == NO_LIT ? open_pair(s, a, b) : cdcl_again(s->sat, lit / 2);
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

/* ---- levels with clauses known beforehand ---------------------------------------------------------- */

static bool session_before(const struct txn_search *s, uint32_t a, uint32_t b);

/* t, which read a, comes before b's transaction, and that one before t: by c before e, or because t sees it. */
static void prove_clause(struct txn_search *s, uint32_t t, uint32_t a, uint32_t b, uint32_t c, uint32_t e)
{
	const struct deps *d = s->d;
	bool sees = d->versions[c].t == DEPS_NONE;
	uint32_t tb = d->versions[b].t, key = DEPS_NONE;
	if (literal(s, a, b) == NO_LIT)
		prover_certain(s->prover, a, b);
	if (!sees && literal(s, c, e) == NO_LIT)
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
		uint32_t l = literal(s, x, y);
		if (l != NO_LIT)
			lits[n++] = l ^ 1;
		else if (!certain(s->g, x, y))
			return;
	}
	if (s->prover)
		prove_clause(s, t, a, b, c, e);
	if (!n && !s->r->found_missed)
		certainly_missed(s, t, a, b, c);
	cdcl_add(s->sat, lits, n);
}

/* cursor-stability: t read a's version and overwrote it: nothing stands between. */
static void cursor_clauses(struct txn_search *s)
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
static void update_clauses(struct txn_search *s)
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

enum txn_search_answer search_order(struct txn_graph *g, enum txn_level level, uint64_t max_conflicts, struct map *pairs,
                                    struct prover *prover, struct txn_search_result *r)
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
	if (!lazy && !open_pairs(s)) {
		r->too_many = s->vars.len >= SEARCH_MAX_PAIRS;
		return TXN_SEARCH_LIMIT;
	}
	graph_rank_by_hint(g);
	start(s);
	bool final = level == LEVEL_MV || level == LEVEL_CV || level == LEVEL_US;
	struct cdcl_theory th = { .arg = s,
		                  .assign = hear,
		                  .undo = unhear,
		                  .final = final  ? look
		                           : lazy ? explains
		                                  : NULL,
		                  .prefer = prefer,
		                  .settled = lazy ? settled : NULL,
		                  .stop = stop,
		                  .learned = prover ? learned : NULL };
	s->sat = cdcl_new(g->arena, s->vars.len, &th);
	s->lazy = lazy;
	s->by_order = arena_array(g->arena, uint32_t, g->d->nversions + 1);
	if (level == LEVEL_CS)
		cursor_clauses(s);
	if (level == LEVEL_UA)
		update_clauses(s);
	int answer = cdcl_solve(s->sat);
	r->conflicts = cdcl_conflicts(s->sat);
	r->pairs = s->vars.len;
	r->order = s->at;
	if (answer < 0 || lim_spent(g->lim))
		return TXN_SEARCH_LIMIT;
	return answer ? TXN_SEARCH_FOUND : TXN_SEARCH_NONE;
}
