#include "reduce/held_locks.h"

#include <string.h>

#include "base/invariant.h"
#include "base/map.h"

static uint32_t hash(const uint32_t *e, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++)
		h = hash64(h ^ e[i]);
	return (uint32_t)h;
}

static void rehash(struct held_locks *s)
{
	s->nbuckets = s->nbuckets ? s->nbuckets * 2 : 64;
	s->buckets = arena_array(s->arena, uint32_t, s->nbuckets);
	for (uint32_t i = 0; i < s->sets.len; i++) {
		struct held_locks_run *r = &s->sets.data[i];
		uint32_t k = hash(s->elems.data + r->start, r->len) & (s->nbuckets - 1);
		r->next = s->buckets[k];
		s->buckets[k] = i + 1;
	}
}

static uint32_t intern(struct held_locks *s, const uint32_t *e, uint32_t n)
{
	assert(n <= HELD_LOCKS_MAX && !(s->nbuckets & (s->nbuckets - 1)));
	for (uint32_t i = 1; i < n; i++)
		assert(e[i - 1] < e[i]);
	uint32_t k = hash(e, n) & (s->nbuckets - 1);
	for (uint32_t i = s->buckets[k]; i; i = s->sets.data[i - 1].next) {
		const struct held_locks_run *r = &s->sets.data[i - 1];
		if (r->len == n && !memcmp(s->elems.data + r->start, e, n * sizeof *e))
			return i - 1;
	}
	struct held_locks_run r = { s->elems.len, n, s->buckets[k] };
	for (uint32_t i = 0; i < n; i++)
		avec_push(s->arena, &s->elems, e[i]);
	avec_push(s->arena, &s->sets, r);
	s->buckets[k] = s->sets.len;
	uint32_t id = s->sets.len - 1;
	if (s->sets.len > s->nbuckets)
		rehash(s);
	assert(s->sets.len <= s->nbuckets && s->sets.data[id].len == n);
	return id;
}

void held_locks_init(struct held_locks *s, struct arena *a)
{
	memset(s, 0, sizeof *s);
	s->arena = a;
	avec_push(a, &s->elems, 0); /* so that data is never NULL */
	rehash(s);
	intern(s, s->elems.data, 0);
	assert(s->sets.len == 1 && !s->sets.data[HELD_LOCKS_NONE].len);
}

const uint32_t *held_locks_members(const struct held_locks *s, uint32_t set, uint32_t *n)
{
	assert(set < s->sets.len);
	*n = s->sets.data[set].len;
	assert(s->sets.data[set].start + *n <= s->elems.len);
	return s->elems.data + s->sets.data[set].start;
}

bool held_locks_has(const struct held_locks *s, uint32_t set, uint32_t lock)
{
	uint32_t n;
	const uint32_t *e = held_locks_members(s, set, &n);
	for (uint32_t i = 0; i < n; i++)
		if (e[i] == lock)
			return true;
	return false;
}

uint32_t held_locks_add(struct held_locks *s, uint32_t set, uint32_t lock)
{
	uint32_t n, out[HELD_LOCKS_MAX + 1], k = 0;
	const uint32_t *e = held_locks_members(s, set, &n);
	if (n == HELD_LOCKS_MAX || held_locks_has(s, set, lock))
		return set;
	while (k < n && e[k] < lock) {
		out[k] = e[k];
		k++;
	}
	out[k] = lock;
	memcpy(out + k + 1, e + k, (n - k) * sizeof *e);
	assert(k <= n && n < HELD_LOCKS_MAX);
	return intern(s, out, n + 1);
}

uint32_t held_locks_remove(struct held_locks *s, uint32_t set, uint32_t first, uint32_t count)
{
	assert(count >= 1);
	uint32_t n, out[HELD_LOCKS_MAX], k = 0;
	const uint32_t *e = held_locks_members(s, set, &n);
	for (uint32_t i = 0; i < n; i++)
		if (e[i] < first || e[i] - first >= count)
			out[k++] = e[i];
	return k == n ? set : intern(s, out, k);
}

uint32_t held_locks_meet(struct held_locks *s, uint32_t a, uint32_t b)
{
	uint32_t na, nb, out[HELD_LOCKS_MAX], k = 0;
	if (a == b)
		return a;
	const uint32_t *ea = held_locks_members(s, a, &na), *eb = held_locks_members(s, b, &nb);
	for (uint32_t i = 0, j = 0; i < na && j < nb;) {
		if (ea[i] == eb[j]) {
			out[k++] = ea[i];
			i++;
			j++;
		} else if (ea[i] < eb[j]) {
			i++;
		} else {
			j++;
		}
	}
	assert(k <= na && k <= nb && (k < na || k < nb)); /* equal sets have one id */
	return k == na ? a : k == nb ? b : intern(s, out, k);
}

bool held_locks_disjoint(const struct held_locks *s, uint32_t a, uint32_t b)
{
	uint32_t na, nb;
	const uint32_t *ea = held_locks_members(s, a, &na), *eb = held_locks_members(s, b, &nb);
	for (uint32_t i = 0, j = 0; i < na && j < nb;) {
		if (ea[i] == eb[j])
			return false;
		if (ea[i] < eb[j])
			i++;
		else
			j++;
	}
	return true;
}
