/*
 * search_propagate: what follows from the order of versions chosen so far, by the same rules as in graph.h:
 *
 *   missed:  b, a writer of x, comes before r, which read a's x: so b comes before a.
 *   after:   a comes before b, both writers of x (snapshot isolation: a begins before b ends): so a comes before b, and its readers do.
 *
 * Both say that the opposite order would close a cycle, and are complete: no other order of a pair follows from a path.
 *
 * For each node a set of bits: the nodes that reach it, and itself. Sets grow as edges come in and are put back word by word, from a
 * trail, as edges are taken back. An edge between nodes that were connected before is kept for the sake of short explanations, and
 * changes no set. Pairs without a variable get one when something follows for them. A reason is a path of edges with smaller numbers
 * than those that were there at the time, and is looked for when the solver asks.
 *
 * Memory: nodes squared / 4 bytes (the sets, and masks of the nodes that matter to each), and the trail. Time: the words that change,
 * and for each node that matters and is new in a set a look at the keys of both transactions.
 */
#include <assert.h>
#include <string.h>

#include "base/invariant.h"
#include "txn/search_int.h"

#define BITS_MAX ((size_t)512 << 20) /* bytes of sets */

typedef uint64_t set_words __attribute__((vector_size(16)));

struct old_word {
	uint32_t node, word;
	uint64_t was;
};

struct followed {
	uint32_t at;       /* edges before it */
	uint32_t from, to; /* nodes: it follows from a path between them */
	uint32_t reader;   /* missed: the transaction; after: DEPS_NONE */
};

struct propagator {
	uint32_t words; /* of a set */
	uint64_t *bits;
	uint64_t *mask;     /* as `bits`: nodes that a rule looks for among those that reach the node */
	uint64_t *waiting;  /* by place: nodes whose set grew, until those behind them know */
	uint32_t first;     /* no place below it waits */
	uint32_t known;     /* edges that the sets know of */
	struct span *grown; /* by node: which words grew since those behind it know; empty between calls */
	bool looked;        /* the rules were applied to all nodes once */
	AVEC(struct old_word) trail;
	AVEC(uint32_t) marks;      /* by literal heard: length of the trail before it */
	AVEC(struct followed) why; /* by literal */
	AVEC(uint32_t) lits;       /* that follow now */
};

static bool has(const uint64_t *set, uint32_t v)
{
	return set[v / 64] >> (v % 64) & 1;
}

static void put(uint64_t *set, uint32_t v)
{
	set[v / 64] |= UINT64_C(1) << (v % 64);
}

static uint64_t *before(const struct propagator *p, uint32_t node)
{
	return p->bits + (size_t)node * p->words;
}

bool search_reaches(const struct txn_search *s, uint32_t u, uint32_t v)
{
	return has(before(s->propagator, v), u);
}

bool search_reach_known(const struct txn_search *s)
{
	return s->propagator && s->propagator->known == s->edges.len;
}

/* Words of a set: some more, so that eight can be looked at together. */
static uint32_t words_of(uint32_t nodes)
{
	return (nodes + 511) / 512 * 8;
}

bool search_propagates(const struct txn_graph *g, enum txn_level level)
{
	size_t bytes = (size_t)g->nnodes * words_of(g->nnodes) * 2 * sizeof(uint64_t);
	return (level == LEVEL_SER || level == LEVEL_SI || level == LEVEL_PC) && bytes <= BITS_MAX &&
	       (!g->lim->max_memory || bytes <= g->lim->max_memory / 4);
}

void search_propagator_new(struct txn_search *s)
{
	assert(search_propagates(s->g, s->level));
	uint32_t n = s->g->nnodes;
	struct propagator *p = arena_new(s->a, struct propagator);
	memset(p, 0, sizeof *p);
	p->words = words_of(n);
	p->bits = arena_calloc(s->a, (size_t)n * p->words + 1, sizeof *p->bits);
	p->waiting = arena_array(s->a, uint64_t, p->words + 1);
	p->grown = arena_array(s->a, struct span, n + 1);
	p->mask = arena_calloc(s->a, (size_t)n * p->words + 1, sizeof *p->mask);
	p->first = n;
	for (uint32_t v = 0; v < n; v++)
		put(before(p, v), v);
	s->idle = arena_array(s->a, uint32_t, n + 1);
	s->propagator = p;
}

/* ---- the sets ------------------------------------------------------------------------------ */

static void touch(struct txn_search *s, uint32_t v, uint32_t low, uint32_t high)
{
	struct propagator *p = s->propagator;
	struct span *grown = &p->grown[v];
	if (grown->end) {
		grown->start = low < grown->start ? low : grown->start;
		grown->end = high > grown->end ? high : grown->end;
		return;
	}
	*grown = (struct span){ low, high };
	put(p->waiting, s->ord[v]);
	p->first = s->ord[v] < p->first ? s->ord[v] : p->first;
}

/* What reaches u reaches v, of these words. Most words are known: eight are compared at a time. */
static void learn(struct txn_search *s, uint32_t u, uint32_t v, struct span of)
{
	struct propagator *p = s->propagator;
	const uint64_t *from = before(p, u);
	uint64_t *to = before(p, v);
	uint32_t low = UINT32_MAX, high = 0;
	assert(of.end <= p->words && p->words % 8 == 0);
	for (uint32_t i = of.start & ~7u; i < of.end; i += 8) {
		const set_words *x = (const set_words *)(const void *)(from + i), *y = (const set_words *)(const void *)(to + i);
		set_words more = (x[0] & ~y[0]) | (x[1] & ~y[1]) | (x[2] & ~y[2]) | (x[3] & ~y[3]);
		if (!(more[0] | more[1]))
			continue;
		for (uint32_t k = i; k < i + 8; k++) {
			if (!(from[k] & ~to[k]))
				continue;
			if (p->looked)
				avec_push(s->a, &p->trail, ((struct old_word){ v, k, to[k] }));
			to[k] |= from[k];
			low = low == UINT32_MAX ? k : low;
			high = k + 1;
		}
	}
	if (high)
		touch(s, v, low, high);
}

/* Brings the sets up to date with the edges. */
static void flush(struct txn_search *s)
{
	struct propagator *p = s->propagator;
	for (; p->known < s->edges.len; p->known++) {
		const struct sedge *e = &s->edges.data[p->known];
		if (!has(before(p, e->to), e->from))
			learn(s, e->from, e->to, (struct span){ 0, p->words });
	}
	for (uint32_t w = p->first / 64; w < p->words; w++)
		while (p->waiting[w]) {
			uint32_t place = w * 64 + (uint32_t)__builtin_ctzll(p->waiting[w]), u = s->at[place];
			struct span grown = p->grown[u];
			p->waiting[w] &= p->waiting[w] - 1;
			p->grown[u] = (struct span){ 0, 0 };
			for (uint32_t e = s->out[u]; e; e = s->edges.data[e - 1].next_out)
				learn(s, u, s->edges.data[e - 1].to, grown);
		}
	p->first = s->g->nnodes;
}

void search_propagator_heard(struct txn_search *s)
{
	avec_push(s->a, &s->propagator->marks, s->propagator->trail.len);
}

void search_propagator_unheard(struct txn_search *s)
{
	struct propagator *p = s->propagator;
	assert(p->marks.len);
	uint32_t n = p->marks.data[--p->marks.len];
	while (p->trail.len > n) {
		struct old_word *o = &p->trail.data[--p->trail.len];
		before(p, o->node)[o->word] = o->was;
	}
	p->known = p->known < s->edges.len ? p->known : s->edges.len;
}

/* ---- the rules --------------------------------------------------------------------------------- */

/* a before b, because a path leads from one node to the other. */
static void follows(struct txn_search *s, uint32_t a, uint32_t b, uint32_t from, uint32_t to, uint32_t reader)
{
	struct propagator *p = s->propagator;
	uint32_t lit = search_literal(s, a, b);
	assert(s->d->versions[a].t != DEPS_NONE && s->d->versions[b].t != DEPS_NONE);
	if (lit == NO_LIT) {
		if (!search_open_pair(s, a, b))
			return; /* there are too many: what follows is found as a cycle, later */
		lit = search_literal(s, a, b);
	}
	if (cdcl_true(s->sat, lit))
		return;
	while (p->why.len < 2 * s->vars.len)
		avec_push(s->a, &p->why, ((struct followed){ 0 }));
	p->why.data[lit] = (struct followed){ s->edges.len, from, to, reader };
	avec_push(s->a, &p->lits, lit);
}

static uint32_t version_of(const struct deps *d, uint32_t t, uint32_t key)
{
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++)
		if (d->versions[d->writes[i]].key == key)
			return d->writes[i];
	return DEPS_NONE;
}

/* tb comes before the reader t. */
static void missed(struct txn_search *s, uint32_t t, uint32_t tb)
{
	const struct txn_graph *g = s->g;
	const struct deps *d = s->d;
	uint32_t end = graph_end(g, tb);
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
		uint32_t a = d->reads[i].version, ta = d->versions[a].t, b;
		if (ta == DEPS_NONE || ta == tb) /* readers of the initial version come before every writer: given */
			continue;
		if (!has(before(s->propagator, g->family == FAMILY_PC ? graph_end(g, ta) : graph_begin(g, ta)), end) &&
		    (b = version_of(d, tb, d->versions[a].key)) != DEPS_NONE)
			follows(s, b, a, end, graph_begin(g, t), t);
	}
}

/* Do all edges of "a before b" follow from those that are there? */
static bool implied(const struct txn_search *s, uint32_t a, uint32_t b)
{
	const struct txn_graph *g = s->g;
	uint32_t ta = s->d->versions[a].t, tb = s->d->versions[b].t;
	if (!has(before(s->propagator, g->family == FAMILY_PC ? graph_end(g, tb) : graph_begin(g, tb)), graph_end(g, ta)))
		return false;
	const uint64_t *set = before(s->propagator, graph_end(g, tb));
	for (uint32_t i = s->d->reader_first[a]; i < s->d->reader_first[a + 1]; i++)
		if (s->d->readers[i] != tb && !has(set, graph_begin(g, s->d->readers[i])))
			return false;
	return true;
}

/* ta comes before tb as the rule asks for it. */
static void after(struct txn_search *s, uint32_t ta, uint32_t tb)
{
	const struct txn_graph *g = s->g;
	const struct deps *d = s->d;
	for (uint32_t i = d->write_first[tb]; i < d->write_first[tb + 1]; i++) {
		uint32_t b = d->writes[i], a = version_of(d, ta, d->versions[b].key);
		if (a != DEPS_NONE && !implied(s, a, b))
			follows(s, a, b, g->family == FAMILY_SI ? graph_begin(g, ta) : graph_end(g, ta), graph_end(g, tb),
			        DEPS_NONE);
	}
}

/* Node u reaches v, and the mask says that it matters. */
static void apply(struct txn_search *s, uint32_t u, uint32_t v)
{
	const struct txn_graph *g = s->g;
	uint32_t tu = graph_txn(g, u), tv = graph_txn(g, v);
	if (v == graph_begin(g, tv) && u == graph_end(g, tu))
		missed(s, tv, tu);
	if (v == graph_end(g, tv) && u == (g->family == FAMILY_SI ? graph_begin(g, tu) : graph_end(g, tu)))
		after(s, tu, tv);
}

static void apply_bits(struct txn_search *s, uint32_t v, uint32_t word, uint64_t bits)
{
	bits &= s->propagator->mask[(size_t)v * s->propagator->words + word];
	for (; bits; bits &= bits - 1)
		apply(s, word * 64 + (uint32_t)__builtin_ctzll(bits), v);
}

/* Which nodes matter to a transaction's. */
static void make_mask(struct txn_search *s, uint32_t t)
{
	const struct txn_graph *g = s->g;
	const struct deps *d = s->d;
	uint64_t *begin = s->propagator->mask + (size_t)graph_begin(g, t) * s->propagator->words;
	uint64_t *end = s->propagator->mask + (size_t)graph_end(g, t) * s->propagator->words;
	for (uint32_t i = d->read_first[t]; i < d->read_first[t + 1]; i++) {
		uint32_t a = d->reads[i].version, key = d->versions[a].key;
		for (uint32_t b = d->key_first[key] + 1; b < d->key_first[key + 1] && d->versions[a].t != DEPS_NONE; b++)
			if (d->versions[b].t != t && b != a)
				put(begin, graph_end(g, d->versions[b].t));
	}
	for (uint32_t i = d->write_first[t]; i < d->write_first[t + 1]; i++) {
		uint32_t key = d->versions[d->writes[i]].key;
		for (uint32_t a = d->key_first[key] + 1; a < d->key_first[key + 1]; a++) {
			uint32_t ta = d->versions[a].t;
			if (ta != t)
				put(end, g->family == FAMILY_SI ? graph_begin(g, ta) : graph_end(g, ta));
		}
	}
}

static void look_at_all(struct txn_search *s)
{
	struct propagator *p = s->propagator;
	for (uint32_t t = 0; t < s->d->n; t++)
		make_mask(s, t);
	for (uint32_t v = 0; v < s->g->nnodes - s->g->ntime; v++)
		for (uint32_t w = 0; w < p->words; w++)
			apply_bits(s, v, w, before(p, v)[w]);
	p->looked = true;
}

uint32_t search_implied(void *arg, const uint32_t **lits)
{
	struct txn_search *s = arg;
	struct propagator *p = s->propagator;
	uint32_t from = p->trail.len;
	p->lits.len = 0;
	flush(s);
	if (!p->looked)
		look_at_all(s);
	for (uint32_t i = from; i < p->trail.len; i++) {
		const struct old_word *o = &p->trail.data[i];
		apply_bits(s, o->node, o->word, before(p, o->node)[o->word] & ~o->was);
	}
	if (s->prover && cdcl_at_root(s->sat)) /* what is true without a choice is taken for granted later */
		for (uint32_t i = 0; i < p->lits.len; i++) {
			const uint32_t *clause;
			uint32_t n;
			if (!cdcl_true(s->sat, p->lits.data[i]))
				search_explain(s, p->lits.data[i], &clause, &n);
		}
	*lits = p->lits.data;
	return p->lits.len;
}

void search_explain(void *arg, uint32_t lit, const uint32_t **clause, uint32_t *n)
{
	struct txn_search *s = arg;
	assert(lit < s->propagator->why.len);
	const struct followed *f = &s->propagator->why.data[lit];
	search_explain_path(s, f->from, f->to, f->at, lit, f->reader);
	*clause = s->clause.data;
	*n = s->clause.len;
}
