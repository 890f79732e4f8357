/*
 * search_topology: the growing graph of a search, kept in a topological order (Pearce and Kelly 2006). An edge that closes a cycle is refused, and
 * explained by a path with the fewest choices.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/search_int.h"

static void sort_nodes(const struct txn_search *s, uint32_t *list, uint32_t n)
{
	for (uint32_t gap = n / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < n; i++) {
			uint32_t x = list[i], k = i;
			for (; k >= gap && search_by_place(s, x, list[k - gap]); k -= gap)
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

void search_versions_of(const struct txn_search *s, uint32_t lit, uint32_t *a, uint32_t *b)
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
	search_versions_of(s, lit, &a, &b);
	if (graph_txn(s->g, from) == s->d->versions[a].t)
		prover_ww(s->prover, a, b);
	else
		prover_rw(s->prover, graph_txn(s->g, from), a, b);
}

void search_prove_edge(struct txn_search *s, uint32_t e)
{
	if (s->edges.data[e].lit == NO_LIT)
		prover_edge(s->prover, e);
	else
		prove_chosen(s, s->edges.data[e].from, s->edges.data[e].lit);
}

/* The path by which `node` was found closes a cycle with the step that was begun with. */
static void prove_path(struct txn_search *s, uint32_t node)
{
	AVEC(uint32_t) path = { 0 };
	for (uint32_t e = s->parent[node]; e; e = s->parent[s->edges.data[e - 1].from])
		avec_push(s->a, &path, e - 1);
	while (path.len)
		search_prove_edge(s, path.data[--path.len]);
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
		bool first = k == s->stack.len || (i < s->back.len && search_by_place(s, s->back.data[i], s->stack.data[k]));
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

/* A path from v to u by the fewest choices, by edges below `before`, within places up to u's: parents lead back from u. (Breadth first by choices:
 * `stack` has edges that cost none, `back` those that lead to the next round.) */
static void fewest_choices(struct txn_search *s, uint32_t v, uint32_t u, uint32_t before, uint32_t lit)
{
	uint32_t node = v, edge = 0;
	bool known = search_reach_known(s);
	s->stamp++;
	s->stack.len = s->back.len = 0;
	for (;;) {
		if (s->mark[node] != s->stamp) {
			s->mark[node] = s->stamp;
			s->parent[node] = edge;
			if (node == u)
				return;
			for (int idle = 0; idle <= (s->idle ? 1 : 0); idle++)
				for (uint32_t e = idle ? s->idle[node] : s->out[node]; e; e = s->edges.data[e - 1].next_out) {
					uint32_t to = s->edges.data[e - 1].to;
					if (e > before || s->mark[to] == s->stamp || s->ord[to] > s->ord[u] ||
					    (known && !search_reaches(s, to, u)))
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

void search_explain_path(struct txn_search *s, uint32_t from, uint32_t to, uint32_t before, uint32_t lit, uint32_t reader)
{
	uint32_t a, b;
	fewest_choices(s, from, to, before, lit);
	explain_path(s, to, lit ^ 1);
	if (!s->prover)
		return;
	search_versions_of(s, lit, &a, &b);
	prover_begin(s->prover);
	if (reader == DEPS_NONE)
		prover_ww(s->prover, b, a);
	else
		prover_rw(s->prover, reader, b, a);
	prove_path(s, to);
}

/* False: a cycle; the clause says which. */
bool search_insert(struct txn_search *s, uint32_t u, uint32_t v, uint32_t lit)
{
	assert(u != v && u < s->g->nnodes && v < s->g->nnodes);
	if (s->propagator && search_reaches(s, u, v)) {
		struct sedge e = { u, v, s->idle[u], SEDGE_IDLE, lit };
		avec_push(s->a, &s->edges, e);
		s->idle[u] = s->edges.len;
		return true;
	}
	if (s->ord[u] > s->ord[v]) {
		if (!forward(s, v, s->ord[u], u)) {
			fewest_choices(s, v, u, s->edges.len, lit);
			explain_path(s, u, lit);
			if (s->prover) {
				prover_begin(s->prover);
				prove_chosen(s, u, lit);
				prove_path(s, u);
			}
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
