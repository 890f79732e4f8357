#include "history/history.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/invariant.h"

/* ---- limits -------------------------------------------------------------- */

void *lim_realloc(struct limits *lim, void *p, size_t old_bytes, size_t new_bytes)
{
	assert(!old_bytes || p);
	if (new_bytes > old_bytes) {
		size_t more = new_bytes - old_bytes;
		size_t was = atomic_fetch_add(&lim->used, more);
		if (lim->max_memory && was + more > lim->max_memory) {
			atomic_fetch_sub(&lim->used, more);
			atomic_store(&lim->spent, LIMIT_MEMORY);
			return NULL;
		}
	} else {
		atomic_fetch_sub(&lim->used, old_bytes - new_bytes);
	}
	void *q = realloc(p, new_bytes ? new_bytes : 1);
	if (!q) {
		atomic_fetch_sub(&lim->used, new_bytes - old_bytes);
		atomic_store(&lim->spent, LIMIT_MEMORY);
	}
	return q;
}

void lim_free(struct limits *lim, void *p, size_t bytes)
{
	assert(p || !bytes);
	assert(!p || atomic_load(&lim->used) >= bytes);
	if (p)
		atomic_fetch_sub(&lim->used, bytes);
	free(p);
}

bool lim_spent(struct limits *lim)
{
	if (lim->tick)
		lim->tick(lim->tick_arg, atomic_load_explicit(&lim->used, memory_order_relaxed));
	if (atomic_load_explicit(&lim->spent, memory_order_relaxed))
		return true;
	if (!lim->deadline_ns)
		return false;
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if ((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec < lim->deadline_ns)
		return false;
	atomic_store(&lim->spent, LIMIT_TIME);
	return true;
}

/* ---- building ------------------------------------------------------------ */

void history_init(struct history *h, struct arena *a, struct limits *lim)
{
	assert(a && lim);
	memset(h, 0, sizeof *h);
	h->arena = a;
	h->lim = lim;
	buf_init(&h->text);
	values_init(&h->vals, a);
}

void history_drop_times(struct history *h)
{
	lim_free(h->lim, h->tcall, h->tcall ? h->cap * sizeof *h->tcall : 0);
	lim_free(h->lim, h->tret, h->tret ? h->cap * sizeof *h->tret : 0);
	h->tcall = h->tret = NULL;
	h->timed = false;
	assert(!h->tcall && !h->tret && !h->timed);
}

void history_free(struct history *h)
{
	buf_free(&h->text);
	lim_free(h->lim, h->ops, h->cap * sizeof *h->ops);
	history_drop_times(h);
	values_free(&h->vals);
	map_free(&h->procmap);
	map_free(&h->keymap);
	memset(h, 0, sizeof *h);
}

static bool grow(struct history *h)
{
	assert(h->n == h->cap);
	if (h->n >= HISTORY_MAX_OPS) {
		atomic_store(&h->lim->spent, LIMIT_MEMORY);
		return false;
	}
	uint32_t cap = h->cap ? h->cap + h->cap / 2 : 1024;
	struct hop *ops = lim_realloc(h->lim, h->ops, h->cap * sizeof *ops, cap * sizeof *ops);
	if (!ops)
		return false;
	h->ops = ops;
	if (h->timed) {
		int64_t *c = lim_realloc(h->lim, h->tcall, h->cap * sizeof *c, cap * sizeof *c);
		if (c)
			h->tcall = c;
		int64_t *r = c ? lim_realloc(h->lim, h->tret, h->cap * sizeof *r, cap * sizeof *r) : NULL;
		if (r)
			h->tret = r;
		if (!c || !r)
			return false;
	}
	h->cap = cap;
	assert(h->n < h->cap);
	return true;
}

struct hop *history_push(struct history *h)
{
	assert(h->n <= h->cap);
	if (h->n == h->cap && !grow(h))
		return NULL;
	struct hop *op = &h->ops[h->n++];
	assert(h->n <= HISTORY_MAX_OPS);
	memset(op, 0, sizeof *op);
	return op;
}

static _Noreturn void no_memory(struct history *h)
{
	if (h->arena->oom)
		longjmp(*h->arena->oom, 1);
	abort();
}

uint32_t proc_intern(struct history *h, val name)
{
	uint32_t id = h->procs.len;
	if (!map_intern(&h->procmap, name, &id))
		no_memory(h);
	if (id == h->procs.len)
		avec_push(h->arena, &h->procs, name);
	assert(id < h->procs.len && h->procs.data[id] == name);
	return id;
}

uint32_t key_intern(struct history *h, val name)
{
	uint32_t id = h->keys.len;
	if (!map_intern(&h->keymap, name, &id))
		no_memory(h);
	if (id == h->keys.len)
		avec_push(h->arena, &h->keys, name);
	assert(id < h->keys.len && h->keys.data[id] == name);
	return id;
}

/* ---- ranks --------------------------------------------------------------- */

/* Sorts idx by key[idx], stable; 11 bits a pass over the bytes that differ. */
static bool radix_sort(struct limits *lim, const int64_t *key, uint32_t *idx, uint32_t n)
{
	uint64_t lo = UINT64_MAX, hi = 0;
	bool sorted = true;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t k = (uint64_t)key[idx[i]] ^ (1ull << 63);
		sorted &= i == 0 || key[idx[i - 1]] <= key[idx[i]];
		lo = k < lo ? k : lo;
		hi = k > hi ? k : hi;
	}
	if (sorted)
		return true;
	uint32_t *tmp = lim_realloc(lim, NULL, 0, n * sizeof *tmp), *src = idx, *dst = tmp;
	if (!tmp)
		return false;
	for (unsigned shift = 0; shift < 64 && (hi - lo) >> shift; shift += 11) {
		uint32_t count[2049] = { 0 };
		for (uint32_t i = 0; i < n; i++)
			count[((((uint64_t)key[src[i]] ^ (1ull << 63)) - lo) >> shift & 2047) + 1]++;
		for (int i = 0; i < 2048; i++)
			count[i + 1] += count[i];
		for (uint32_t i = 0; i < n; i++)
			dst[count[(((uint64_t)key[src[i]] ^ (1ull << 63)) - lo) >> shift & 2047]++] = src[i];
		uint32_t *t = src;
		src = dst;
		dst = t;
	}
	if (src != idx)
		memcpy(idx, src, n * sizeof *idx);
	lim_free(lim, tmp, n * sizeof *tmp);
	assert(n < 2 || key[idx[0]] <= key[idx[n - 1]]);
	return true;
}

/* Follows the cycles of the permutation: record i takes what perm[i] holds. */
static void permute(struct history *h, uint32_t *perm)
{
	assert(!h->n || (h->tcall && h->tret));
	for (uint32_t i = 0; i < h->n; i++) {
		if (perm[i] == i)
			continue;
		struct hop op = h->ops[i];
		int64_t c = h->tcall[i], r = h->tret[i];
		uint32_t at = i;
		for (uint32_t from = perm[at]; from != i; from = perm[at]) {
			h->ops[at] = h->ops[from];
			h->tcall[at] = h->tcall[from];
			h->tret[at] = h->tret[from];
			perm[at] = at;
			at = from;
		}
		h->ops[at] = op;
		h->tcall[at] = c;
		h->tret[at] = r;
		perm[at] = at;
	}
}

bool history_rank(struct history *h)
{
	assert(h->timed || !h->n || (h->tcall && h->tret));
	uint32_t n = h->n, rank = 0;
	uint32_t *idx = lim_realloc(h->lim, NULL, 0, (size_t)n * sizeof *idx);
	if (!idx)
		return false;
	for (uint32_t i = 0; i < n; i++)
		idx[i] = i;
	/* of those invoked at the same time the first to end comes first: a client
	 * may have done one in no time before the other, whatever their lines */
	bool ok = radix_sort(h->lim, h->tret, idx, n) && radix_sort(h->lim, h->tcall, idx, n);
	if (ok) {
		permute(h, idx);
		for (uint32_t i = 0; i < n; i++)
			idx[i] = i;
		ok = radix_sort(h->lim, h->tret, idx, n);
	}
	for (uint32_t c = 0, r = 0; ok && (c < n || r < n);) {
		if (c < n && (r >= n || h->tcall[c] <= h->tret[idx[r]])) {
			h->ops[c++].call = rank++;
		} else {
			struct hop *op = &h->ops[idx[r++]];
			if (op->ret != RANK_INF)
				op->ret = rank++;
		}
	}
	h->nevents = rank;
	assert(!ok || rank <= 2 * (uint64_t)n);
	lim_free(h->lim, idx, (size_t)n * sizeof *idx);
	return ok;
}
