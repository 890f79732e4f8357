#include "dynamic/lock.h"

#include "base/invariant.h"

#define OTHERS     ((size_t)448 << 20) /* bytes of addresses that the other tables take */
#define LOCK_MAX   (1u << 21)          /* and atomics that hand something over */
#define MIN_LOCKS  (1u << 17)          /* where address space is short */
#define LOCK_HEADS (1u << 19)
#define FILTER     (1u << 16) /* bits */

/* At the start of each chunk. */
struct bump_chunk {
	struct bump_chunk *next;
	size_t size;
	char pad[64 - 2 * sizeof(size_t)];
};
_Static_assert(sizeof(struct bump_chunk) == 64, "what is behind the head is aligned");
/* LOCK_MAX of them are mapped: a program under `ulimit -v` has that much less. */
_Static_assert(sizeof(struct lock) <= 280, "address space");

void *bump_alloc(struct bump *b, size_t size)
{
	assert(size);
	size = (size + 63) & ~(size_t)63;
	spin_lock(&b->lock);
	if ((size_t)(b->end - b->next) < size) {
		size_t chunk = size + 64 > (256u << 10) ? size + 64 : 256u << 10;
		struct bump_chunk *c = pages_map(chunk);
		if (!c) {
			spin_unlock(&b->lock);
			return NULL;
		}
		*c = (struct bump_chunk){ .next = b->chunks, .size = chunk };
		b->chunks = c;
		b->next = (char *)(c + 1);
		b->end = (char *)c + chunk;
	}
	void *p = b->next;
	b->next += size;
	spin_unlock(&b->lock);
	return p;
}

void bump_free(struct bump *b)
{
	while (b->chunks) {
		struct bump_chunk *c = b->chunks;
		b->chunks = c->next;
		pages_unmap(c, c->size);
	}
	*b = (struct bump){ 0 };
}

bool clock_reserve(struct bump *b, struct clock *c, uint32_t n)
{
	if (n > c->cap) {
		uint32_t cap = c->cap ? c->cap : 16;
		while (cap < n)
			cap *= 4;
		uint32_t *e = bump_alloc(b, cap * sizeof *e);
		if (!e)
			return false;
		for (uint32_t i = 0; i < c->n; i++)
			e[i] = c->e[i];
		c->e = e;
		c->cap = cap;
	}
	if (n > c->n)
		c->n = n; /* the rest is zero: no thread wrote there */
	return true;
}

bool clock_join(struct bump *b, struct clock *dst, const struct clock *src)
{
	assert(src->n <= src->cap && dst->n <= dst->cap);
	if (!clock_reserve(b, dst, src->n))
		return false;
	for (uint32_t i = 0; i < src->n; i++)
		if (dst->e[i] < src->e[i])
			dst->e[i] = src->e[i];
	assert(dst->n >= src->n);
	return true;
}

void clock_clear(struct clock *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->e[i] = 0;
	c->n = 0;
}

bool clock_copy(struct bump *b, struct clock *dst, const struct clock *src)
{
	if (!clock_reserve(b, dst, src->n))
		return false;
	for (uint32_t i = 0; i < src->n; i++)
		dst->e[i] = src->e[i];
	for (uint32_t i = src->n; i < dst->n; i++)
		dst->e[i] = 0;
	assert(src->n <= dst->cap);
	dst->n = src->n;
	return true;
}

bool clock_equal(const struct clock *a, const struct clock *b)
{
	for (uint32_t i = 0; i < a->n || i < b->n; i++)
		if ((i < a->n ? a->e[i] : 0) != (i < b->n ? b->e[i] : 0))
			return false;
	return true;
}

bool lock_init(struct lock_table *t)
{
	*t = (struct lock_table){ .n = 1 };
	for (t->max = LOCK_MAX; !t->locks && t->max >= MIN_LOCKS; t->max /= 2) {
		/* Of a short address space the other tables need a part. */
		size_t size = t->max * sizeof *t->locks;
		void *room = t->max > MIN_LOCKS ? pages_map(size + OTHERS) : NULL;
		if (room)
			pages_unmap(room, size + OTHERS);
		if (room || t->max <= MIN_LOCKS)
			t->locks = pages_map(size);
	}
	t->max *= 2;
	t->heads = pages_map(LOCK_HEADS * sizeof *t->heads);
	t->pages = pages_map(FILTER / 8);
	if (t->locks && t->heads && t->pages)
		return true;
	lock_free(t);
	return false;
}

void lock_free(struct lock_table *t)
{
	if (t->locks)
		pages_unmap(t->locks, t->max * sizeof *t->locks);
	if (t->heads)
		pages_unmap(t->heads, LOCK_HEADS * sizeof *t->heads);
	if (t->pages)
		pages_unmap(t->pages, FILTER / 8);
	*t = (struct lock_table){ .n = 1 };
}

static uint32_t granule(uintptr_t addr)
{
	return (uint32_t)mix64(addr >> 8) % LOCK_HEADS;
}

static uint32_t find(const struct lock_table *t, uint32_t head, uintptr_t addr)
{
	assert(head < t->max || !head);
	while (head && t->locks[head].addr != addr)
		head = t->locks[head].next;
	return head;
}

uint32_t lock_id(struct lock_table *t, uintptr_t addr)
{
	assert(addr);
	uint32_t g = granule(addr), *head = &t->heads[g];
	uint32_t id = find(t, __atomic_load_n(head, __ATOMIC_ACQUIRE), addr);
	if (id)
		return id;
	spin_lock(&t->spin[g % 64]);
	id = find(t, *head, addr);
	if (!id) {
		id = __atomic_fetch_add(&t->n, 1, __ATOMIC_RELAXED);
		if (id >= t->max) {
			__atomic_store_n(&t->n, t->max, __ATOMIC_RELAXED);
			id = 0;
		} else {
			uint64_t bit = mix64(addr >> 12) % FILTER;
			t->locks[id].addr = addr;
			t->locks[id].next = *head;
			__atomic_fetch_or(&t->pages[bit / 64], 1ull << bit % 64, __ATOMIC_RELAXED);
			__atomic_store_n(head, id, __ATOMIC_RELEASE);
		}
	}
	spin_unlock(&t->spin[g % 64]);
	return id;
}

uint32_t lock_known(const struct lock_table *t, uintptr_t addr)
{
	return find(t, __atomic_load_n(&t->heads[granule(addr)], __ATOMIC_ACQUIRE), addr);
}

void lock_renew(struct lock *l)
{
	assert(l->nev <= LOCK_EVIDENCE);
	spin_lock(&l->spin);
	l->life++;
	l->lived += l->seq != 0;
	l->seq = l->taker = l->created = l->nev = l->owner = 0;
	l->last.uid = l->wrote.uid = 0;
	l->rel_tid = 0;
	l->pending = l->monitor = false;
	clock_clear(&l->clock);
	clock_clear(&l->readers);
	spin_unlock(&l->spin);
}

static void forget_page(struct lock_table *t, uintptr_t lo, uintptr_t hi)
{
	uint64_t bit = mix64(lo >> 12) % FILTER;
	if (!(t->pages[bit / 64] >> bit % 64 & 1))
		return;
	for (uintptr_t g = lo & ~(uintptr_t)255; g < hi; g += 256) {
		uint32_t id = __atomic_load_n(&t->heads[granule(g)], __ATOMIC_ACQUIRE);
		for (; id; id = t->locks[id].next)
			if (t->locks[id].addr >= lo && t->locks[id].addr < hi)
				lock_renew(&t->locks[id]);
	}
}

void lock_forget(struct lock_table *t, uintptr_t addr, size_t size)
{
	uint32_t n = __atomic_load_n(&t->n, __ATOMIC_RELAXED);
	if (size >> 47)
		return;
	if (size / 4096 > n) { /* more pages than objects */
		for (uint32_t i = 1; i < n; i++)
			if (t->locks[i].addr - addr < size)
				lock_renew(&t->locks[i]);
		return;
	}
	for (uintptr_t at = addr; at < addr + size;) {
		uintptr_t next = (at | 4095) + 1;
		forget_page(t, at, next < addr + size ? next : addr + size);
		at = next;
	}
}

bool lock_within(const struct lock_table *t, uintptr_t addr, size_t size)
{
	for (uintptr_t page = addr >> 12; page <= (addr + size) >> 12; page++) {
		uint64_t bit = mix64(page) % FILTER;
		if (!(__atomic_load_n(&t->pages[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1))
			continue;
		for (uintptr_t g = addr & ~(uintptr_t)255; g < addr + size; g += 256) {
			uint32_t id = __atomic_load_n(&t->heads[granule(g)], __ATOMIC_ACQUIRE);
			for (; id; id = t->locks[id].next)
				if (t->locks[id].addr - addr < size)
					return true;
		}
		return false;
	}
	return false;
}

uint32_t lock_move(struct lock_table *t, uintptr_t addr, size_t size, uintptr_t delta)
{
	uint32_t n = __atomic_load_n(&t->n, __ATOMIC_ACQUIRE), moved = 0;
	for (uint32_t i = 1; i < n && i < t->max; i++)
		if (t->locks[i].addr - addr < size) {
			t->locks[i].addr += delta;
			moved++;
		}
	return moved;
}
