/*
 * dfs_memory: the configurations that a search has visited, once each.
 *
 * An entry is w + 3 words: event and state, a link, the time of the last
 * overwriting, the mask. Entries that can cover each other share a hash: it
 * leaves out observations, what may be hidden, and what never answered.
 */
#include <string.h>

#include "base/invariant.h"
#include "lin/dfs.h"

enum { E_KEY, E_LINK, E_SINCE, E_MASK };

static size_t stride(const struct dfs *d)
{
	return d->w + (size_t)E_MASK;
}

static uint64_t config_hash(const struct dfs *d, uint64_t key, const uint64_t *m)
{
	uint64_t h = hash64(key);
	for (uint32_t i = 0; i < d->lw; i++)
		h = hash64(h ^ (m[i] & ~d->observer[i] & ~d->soft[i])) + i;
	return h;
}

/* The hash of an entry is kept in the upper half of its link: which operations
 * were in the slots at its event is not known later. */
static bool grow(struct dfs *d)
{
	size_t bytes = stride(d) * 8;
	if (d->nseen == d->cseen) {
		if (d->cseen > UINT32_MAX / 4)
			return false;
		uint32_t cap = d->cseen ? d->cseen * 2 : 256;
		uint64_t *s = lim_realloc(d->p->lim, d->seen, d->cseen * bytes, cap * bytes);
		if (!s)
			return false;
		d->seen = s;
		d->cseen = cap;
	}
	if (d->nseen < d->nheads)
		return true;
	uint32_t n = d->nheads ? d->nheads * 2 : 256;
	uint32_t *h = lim_realloc(d->p->lim, NULL, 0, n * 4ull);
	if (!h)
		return false;
	memset(h, 0, n * 4ull);
	for (uint32_t i = 0; i < d->nseen; i++) {
		uint64_t *e = d->seen + (size_t)i * stride(d);
		uint32_t b = (uint32_t)(e[E_LINK] >> 32) & (n - 1);
		e[E_LINK] = e[E_LINK] >> 32 << 32 | h[b];
		h[b] = i + 1;
	}
	lim_free(d->p->lim, d->heads, d->nheads * 4ull);
	d->heads = h;
	d->nheads = n;
	return true;
}

/* The same time in a form that equal configurations share: only invocations
 * before it count, of what is open. */
static uint32_t normal_since(const struct dfs *d)
{
	uint32_t at = 0, lo = 0, hi = d->ncalled;
	if (!d->since)
		return 0;
	for (uint32_t s = 0; s < d->nlive; s++) {
		uint32_t op = d->occupant[s];
		if (op != RANK_INF && d->p->ops[op].call < d->since && d->p->ops[op].call >= at)
			at = d->p->ops[op].call + 1;
	}
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (d->p->ops[d->crashed[mid]].call < d->since)
			lo = mid + 1;
		else
			hi = mid;
	}
	uint32_t crash = lo ? d->p->ops[d->crashed[lo - 1]].call + 1 : 0;
	return crash > at ? crash : at;
}

/* May what is used in the present configuration and not in the entry be left
 * out there? */
static bool may_leave(const struct dfs *d, uint32_t word, uint64_t bits, uint32_t since)
{
	while (bits) {
		uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(bits), call = d->p->ops[d->occupant[s]].call;
		if (call >= since && call >= d->from)
			return false;
		bits &= bits - 1;
	}
	return true;
}

static bool covers(const struct dfs *d, const uint64_t *e, uint64_t key, uint32_t since)
{
	assert(d->lw <= d->w);
	if (e[E_KEY] != key || e[E_SINCE] < since)
		return false;
	const uint64_t *m = e + E_MASK;
	for (uint32_t i = 0; i < d->lw; i++) {
		uint64_t diff = m[i] ^ d->cur[i], obs = d->observer[i], soft = d->soft[i];
		if (diff & ~obs & ~soft || diff & obs & d->cur[i] || diff & soft & m[i] ||
		    !may_leave(d, i, diff & soft, (uint32_t)e[E_SINCE]))
			return false;
	}
	for (uint32_t i = d->lw; i < d->w; i++)
		if (m[i] & ~d->cur[i])
			return false;
	return true;
}

bool dfs_remember(struct dfs *d, uint32_t state)
{
	assert(d->pos <= d->to);
	if (!grow(d)) {
		d->failed = true;
		return false;
	}
	uint64_t key = (uint64_t)d->pos << 32 | state, hash = config_hash(d, key, d->cur);
	uint32_t b = (uint32_t)hash & (d->nheads - 1), since = normal_since(d);
	for (uint32_t i = d->heads[b]; i;) {
		const uint64_t *e = d->seen + (size_t)(i - 1) * stride(d);
		if (covers(d, e, key, since))
			return false;
		i = (uint32_t)e[E_LINK];
	}
	uint64_t *e = d->seen + (size_t)d->nseen * stride(d);
	e[E_KEY] = key;
	e[E_LINK] = hash << 32 | d->heads[b];
	e[E_SINCE] = since;
	if (d->w)
		memcpy(e + E_MASK, d->cur, d->w * 8ull);
	d->heads[b] = ++d->nseen;
	return true;
}
