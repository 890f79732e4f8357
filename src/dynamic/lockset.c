#include "dynamic/lockset.h"

#include "base/invariant.h"

#define MAX_SETS             (1u << 19)
#define MAX_ELEMS            (1u << 22)
/* Slots of a level: 2^12, 2^14, ... 2^20. */
#define LOCKSET_SLOTS(level) (1u << (12 + 2 * (level)))

bool lockset_init(struct lockset_table *t)
{
	*t = (struct lockset_table){ 0 };
	t->sets = pages_map(MAX_SETS * sizeof *t->sets);
	t->elems = pages_map(MAX_ELEMS * sizeof *t->elems);
	bool ok = t->sets && t->elems;
	for (unsigned i = 0; i < LOCKSET_LEVELS; i++)
		ok = (t->slots[i] = pages_map(LOCKSET_SLOTS(i) * sizeof *t->slots[i])) && ok;
	if (!ok) {
		lockset_free(t);
		return false;
	}
	t->nsets = 1; /* the empty one */
	return true;
}

void lockset_free(struct lockset_table *t)
{
	if (t->sets)
		pages_unmap(t->sets, MAX_SETS * sizeof *t->sets);
	if (t->elems)
		pages_unmap(t->elems, MAX_ELEMS * sizeof *t->elems);
	for (unsigned i = 0; i < LOCKSET_LEVELS; i++)
		if (t->slots[i])
			pages_unmap(t->slots[i], LOCKSET_SLOTS(i) * sizeof *t->slots[i]);
	*t = (struct lockset_table){ 0 };
}

static uint32_t hash_run(const uint32_t *e, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = mix64(h ^ e[i]);
	return (uint32_t)h;
}

static bool same(const struct lockset_table *t, uint32_t id, uint32_t hash, const uint32_t *e, uint32_t n)
{
	const struct lockset_run *r = &t->sets[id];
	if (r->hash != hash || r->len != n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (t->elems[r->start + i] != e[i])
			return false;
	return true;
}

/* The slot that holds this set's id, or the empty one where it belongs. */
static uint32_t *find(struct lockset_table *t, unsigned level, uint32_t hash, const uint32_t *e, uint32_t n)
{
	assert(level < LOCKSET_LEVELS && n);
	for (uint32_t i = hash;; i++) {
		uint32_t *slot = &t->slots[level][i & (LOCKSET_SLOTS(level) - 1)];
		uint32_t id = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!id || same(t, id, hash, e, n))
			return slot;
	}
}

/* The next level gets every set; who still looks in the old one and does not
 * find it there asks again under the lock. */
static void grow(struct lockset_table *t)
{
	assert(t->level + 1 < LOCKSET_LEVELS);
	unsigned level = t->level + 1;
	for (uint32_t id = 1; id < t->nsets; id++) {
		uint32_t i = t->sets[id].hash;
		while (t->slots[level][i & (LOCKSET_SLOTS(level) - 1)])
			i++;
		t->slots[level][i & (LOCKSET_SLOTS(level) - 1)] = id;
	}
	__atomic_store_n(&t->level, level, __ATOMIC_RELEASE);
}

static uint32_t intern(struct lockset_table *t, const uint32_t *e, uint32_t n, uint32_t otherwise)
{
	assert(n <= LOCKSET_MAX);
	for (uint32_t i = 1; i < n; i++)
		assert(e[i - 1] < e[i]);
	if (!n)
		return LOCKSET_EMPTY;
	uint32_t hash = hash_run(e, n);
	unsigned level = __atomic_load_n(&t->level, __ATOMIC_ACQUIRE);
	uint32_t id = __atomic_load_n(find(t, level, hash, e, n), __ATOMIC_ACQUIRE);
	if (id)
		return id;
	spin_lock(&t->lock);
	if (t->nsets > LOCKSET_SLOTS(t->level) / 2 && t->level + 1 < LOCKSET_LEVELS)
		grow(t);
	uint32_t *slot = find(t, t->level, hash, e, n);
	id = *slot;
	if (!id && (t->nsets == MAX_SETS || n > MAX_ELEMS - t->nelems)) {
		t->full = true;
		id = otherwise;
	} else if (!id) {
		id = t->nsets;
		for (uint32_t i = 0; i < n; i++)
			t->elems[t->nelems + i] = e[i];
		t->sets[id] = (struct lockset_run){ t->nelems, n, hash };
		t->nelems += n;
		t->nsets++;
		__atomic_store_n(slot, id, __ATOMIC_RELEASE);
	}
	spin_unlock(&t->lock);
	return id;
}

const uint32_t *lockset_members(const struct lockset_table *t, uint32_t set, uint32_t *len)
{
	assert(set < MAX_SETS);
	*len = t->sets[set].len;
	return t->elems + t->sets[set].start;
}

bool lockset_has(const struct lockset_table *t, uint32_t set, uint32_t lock)
{
	uint32_t n;
	const uint32_t *e = lockset_members(t, set, &n);
	for (uint32_t i = 0; i < n && e[i] <= lock; i++)
		if (e[i] == lock)
			return true;
	return false;
}

/* Answers of the cache: the key is never 0 because `op` is not. */
static unsigned line_of(uint64_t key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15ull >> (64 - LOCKSET_CACHE_BITS));
}

static bool cached(struct lockset_cache *c, uint64_t key, uint32_t *value)
{
	if (!c || c->line[line_of(key)].key != key)
		return false;
	*value = c->line[line_of(key)].value;
	return true;
}

static uint32_t keep(struct lockset_cache *c, uint64_t key, uint32_t value)
{
	if (c) {
		c->line[line_of(key)].key = key;
		c->line[line_of(key)].value = value;
	}
	return value;
}

/* Sets have at most 2^19 ids and locks 2^30, so a key fits 64 bits. */
static uint64_t key_of(unsigned op, uint32_t a, uint32_t b)
{
	assert(a >> 31 == 0 && b >> 31 == 0); /* the fields do not overlap */
	return (uint64_t)op << 62 | (uint64_t)a << 31 | b;
}

uint32_t lockset_add(struct lockset_table *t, struct lockset_cache *c, uint32_t set, uint32_t lock)
{
	uint32_t out[LOCKSET_MAX], n, m = 0, i = 0, got;
	uint64_t key = key_of(1, set, lock);
	if (cached(c, key, &got))
		return got;
	const uint32_t *e = lockset_members(t, set, &n);
	if (n == LOCKSET_MAX || lockset_has(t, set, lock))
		return set;
	while (i < n && e[i] < lock)
		out[m++] = e[i++];
	out[m++] = lock;
	while (i < n)
		out[m++] = e[i++];
	return keep(c, key, intern(t, out, m, set));
}

uint32_t lockset_remove(struct lockset_table *t, struct lockset_cache *c, uint32_t set, uint32_t lock)
{
	uint32_t out[LOCKSET_MAX], n, m = 0, got;
	uint64_t key = key_of(2, set, lock);
	if (cached(c, key, &got))
		return got;
	const uint32_t *e = lockset_members(t, set, &n);
	for (uint32_t i = 0; i < n; i++)
		if (e[i] != lock)
			out[m++] = e[i];
	return keep(c, key, intern(t, out, m, set));
}

uint32_t lockset_meet(struct lockset_table *t, struct lockset_cache *c, uint32_t a, uint32_t b)
{
	uint32_t out[LOCKSET_MAX], na, nb, m = 0, got;
	if (a == b || !a || !b)
		return a == b ? a : LOCKSET_EMPTY;
	if (a > b) {
		uint32_t swap = a;
		a = b;
		b = swap;
	}
	uint64_t key = key_of(3, a, b);
	if (cached(c, key, &got))
		return got;
	const uint32_t *ea = lockset_members(t, a, &na);
	const uint32_t *eb = lockset_members(t, b, &nb);
	for (uint32_t i = 0, j = 0; i < na && j < nb;) {
		if (ea[i] == eb[j]) {
			out[m++] = ea[i];
			i++, j++;
		} else if (ea[i] < eb[j]) {
			i++;
		} else {
			j++;
		}
	}
	if (m == na || m == nb)
		return keep(c, key, m == na ? a : b);
	return keep(c, key, intern(t, out, m, a));
}
