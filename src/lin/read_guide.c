#include "lin/read_guide.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define BASE 0x9E3779B97F4A7C15u

static uint32_t answer_len(const struct read_guide *g, uint32_t op)
{
	val v = g->p->ops[op].b;
	if (!g->text) {
		uint32_t n;
		val_elems(g->p->vals, v, &n);
		return n;
	}
	return val_is_small(v) || val_kind(g->p->vals, v) != VK_STR ? 0 : g->p->vals->tab.data[v].len;
}

void read_guide_open(struct read_guide *g, const struct problem *p)
{
	memset(g, 0, sizeof *g);
	g->p = p;
	g->text = p->obj == OBJ_KV;
	if (!object_has(p->obj, OBJECT_APPENDS) || p->k > 1)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_CAS || (p->ops[i].fn == FN_WRITE && p->ops[i].ret == RANK_INF))
			return; /* may start afresh at any time */
	g->longest = lim_realloc(p->lim, NULL, 0, (p->n + 1ull) * 4);
	g->until = lim_realloc(p->lim, NULL, 0, (p->n + 1ull) * 4);
	g->hashes = lim_realloc(p->lim, NULL, 0, (p->n + 1ull) * sizeof *g->hashes);
	if (!g->longest || !g->until || !g->hashes)
		return; /* the search goes without */
	memset(g->hashes, 0, (p->n + 1ull) * sizeof *g->hashes);
	g->longest[p->n] = g->until[p->n] = RANK_INF;
	for (uint32_t i = p->n; i-- > 0;) {
		bool write = p->ops[i].fn == FN_WRITE;
		uint32_t best = write ? RANK_INF : g->longest[i + 1];
		g->until[i] = write ? p->ops[i].call : g->until[i + 1];
		bool read = p->ops[i].fn == FN_READ && p->ops[i].ret < g->until[i];
		g->longest[i] = read && (best == RANK_INF || answer_len(g, i) > answer_len(g, best)) ? i : best;
	}
	g->on = true;
}

void read_guide_close(struct read_guide *g)
{
	struct limits *l = g->p->lim;
	for (uint32_t i = 0; g->hashes && i < g->p->n; i++)
		if (g->hashes[i])
			lim_free(l, g->hashes[i], (answer_len(g, i) + 1ull) * 8);
	lim_free(l, g->longest, g->longest ? (g->p->n + 1ull) * 4 : 0);
	lim_free(l, g->until, g->until ? (g->p->n + 1ull) * 4 : 0);
	lim_free(l, g->hashes, g->hashes ? (g->p->n + 1ull) * sizeof *g->hashes : 0);
	lim_free(l, g->state_hash, g->nstates * 8ull);
	lim_free(l, g->state_len, g->nstates * 4ull);
}

/* The hashes of all beginnings of what read `op` returned; as spec.c hashes
 * texts: h * BASE + byte + 1. */
static const uint64_t *beginnings(struct read_guide *g, uint32_t op)
{
	assert(g->hashes && op < g->p->n);
	if (g->hashes[op])
		return g->hashes[op];
	uint32_t len = answer_len(g, op), n;
	uint64_t *h = lim_realloc(g->p->lim, NULL, 0, (len + 1ull) * 8);
	if (!h)
		return NULL;
	val v = g->p->ops[op].b;
	const val *e = val_elems(g->p->vals, v, &n);
	h[0] = 0;
	for (uint32_t i = 0; i < len; i++) {
		uint64_t x = g->text ? (unsigned char)g->p->vals->tab.data[v].text[i] : e[i];
		h[i + 1] = h[i] * BASE + x + 1;
	}
	return g->hashes[op] = h;
}

/* Lists: the content hash of a state, from that of the shorter list. */
static bool list_state(struct read_guide *g, const struct spec_ctx *c, uint32_t state)
{
	if (state >= g->nstates) {
		uint32_t n = state * 2 + 64;
		uint64_t *h = lim_realloc(g->p->lim, g->state_hash, g->nstates * 8ull, n * 8ull);
		if (h)
			g->state_hash = h;
		uint32_t *l = h ? lim_realloc(g->p->lim, g->state_len, g->nstates * 4ull, n * 4ull) : NULL;
		if (!l)
			return false;
		g->state_len = l;
		memset(h + g->nstates, 0, (n - g->nstates) * 8ull);
		memset(l + g->nstates, 0xFF, (n - g->nstates) * 4ull);
		g->nstates = n;
	}
	if (g->state_len[state] != RANK_INF)
		return true;
	if (c->st.start[state + 1] == c->st.start[state]) {
		g->state_len[state] = 0;
		return true;
	}
	const uint32_t *w = states_at(c, state); /* [rest, newest]; rest has a smaller id */
	if (g->state_len[w[0]] == RANK_INF)
		return false; /* seen only in order: the search goes without */
	g->state_len[state] = g->state_len[w[0]] + 1;
	g->state_hash[state] = g->state_hash[w[0]] * BASE + w[1] + 1;
	return true;
}

static bool begins(struct read_guide *g, const struct spec_ctx *c, uint32_t state, uint32_t read)
{
	uint64_t len, hash;
	if (g->text) {
		if (!spec_text(c, state, &len, &hash))
			return true;
	} else {
		if (!list_state(g, c, state))
			return true;
		len = g->state_len[state];
		hash = g->state_hash[state];
	}
	const uint64_t *h = beginnings(g, read);
	return !h || (len <= answer_len(g, read) && h[len] == hash);
}

bool read_guide_allows_read(struct read_guide *g, const struct spec_ctx *c, uint32_t state, uint32_t read, uint32_t from)
{
	return g->p->ops[read].ret >= g->until[from] || begins(g, c, state, read);
}

bool read_guide_allows(struct read_guide *g, const struct spec_ctx *c, uint32_t state, uint32_t from)
{
	return !g->on || g->longest[from] == RANK_INF || begins(g, c, state, g->longest[from]);
}
