#include "dynamic/races.h"

#include <sched.h>

#include "base/invariant.h"
#include "dynamic/hazards.h"
#include "dynamic/reduction.h"

#define CELLS       ((size_t)1 << (SHADOW_LEAF_BITS - 3))
#define LEAF        (CELLS * sizeof(struct race_cell))
#define DIR         (sizeof(struct race_cell *) << SHADOW_DIR_BITS)
#define MOST_LEAVES (1u << 20)
#define MAX_LISTS   (1u << 21)
_Static_assert(sizeof(struct race_mark) == 16 && sizeof(struct race_cell) == 32 && sizeof(struct race_list) == 128,
               "half a line, two");

enum { BAD_MAX = 16 };

bool races_init(struct races *r)
{
	*r = (struct races){ .nlists = 1 };
	r->dir = pages_map(DIR);
	r->used = pages_map(MOST_LEAVES * sizeof *r->used);
	r->lists = pages_map(MAX_LISTS * sizeof *r->lists);
	if (r->dir && r->used && r->lists)
		return true;
	races_free(r);
	return false;
}

void races_free(struct races *r)
{
	for (uint32_t i = 0; r->dir && i < r->nused; i++)
		pages_unmap(r->dir[r->used[i]], LEAF);
	if (r->dir)
		pages_unmap(r->dir, DIR);
	if (r->used)
		pages_unmap(r->used, MOST_LEAVES * sizeof *r->used);
	if (r->lists)
		pages_unmap(r->lists, MAX_LISTS * sizeof *r->lists);
	*r = (struct races){ 0 };
}

void races_forked(struct races *r)
{
	for (uint32_t i = 0; r->dir && i < r->nused; i++)
		pages_clear(r->dir[r->used[i]], LEAF);
	r->nlists = 1;
	r->free = 0;
	r->grow.held = r->lock.held = 0;
}

static inline struct race_cell **leaf_of(const struct races *r, uintptr_t addr)
{
	return &r->dir[addr >> SHADOW_LEAF_BITS & (((uintptr_t)1 << SHADOW_DIR_BITS) - 1)];
}

static inline size_t in_leaf(uintptr_t addr)
{
	return (addr & (((uintptr_t)1 << SHADOW_LEAF_BITS) - 1)) >> 3;
}

struct race_cell *races_cell(struct races *r, uintptr_t addr)
{
	struct race_cell **at = leaf_of(r, addr), *leaf = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	if (leaf)
		return leaf + in_leaf(addr);
	spin_lock(&r->grow);
	leaf = *at;
	if (!leaf && r->nused < MOST_LEAVES && (leaf = pages_map_large(LEAF))) {
		r->used[r->nused++] = (uint32_t)(at - r->dir);
		__atomic_store_n(at, leaf, __ATOMIC_RELEASE);
	}
	r->lost |= !leaf;
	spin_unlock(&r->grow);
	return leaf ? leaf + in_leaf(addr) : NULL;
}

/* ---- lists ---- */

static uint32_t list_new(struct races *r)
{
	spin_lock(&r->lock);
	uint32_t i = r->free;
	if (i)
		r->free = r->lists[i].next;
	else if (r->nlists < MAX_LISTS)
		i = r->nlists++;
	spin_unlock(&r->lock);
	if (i)
		r->lists[i].next = r->lists[i].n = 0;
	return i;
}

static void list_drop(struct races *r, uint32_t i)
{
	spin_lock(&r->lock);
	assert(i && i < r->nlists && r->lists[i].n <= RACE_LIST);
	r->lists[i].next = r->free;
	r->free = i;
	spin_unlock(&r->lock);
}

/* ---- one access ---- */

struct racing {
	const struct thread *t;
	struct race_mark now;
	bool known; /* an access that was entered says as much */
	uint32_t nbad;
	struct race_mark bad[BAD_MAX];
};

static inline uint32_t slot_of(uint64_t key)
{
	return (uint32_t)(key >> 16) & 0xffff;
}

/* Did the access happen before all that the thread does now? A slot that the thread has from another was
 * given to it when that one's end was known, or when there was no other (thread.c). */
static inline bool happened(const struct thread *t, uint64_t key)
{
	uint32_t tid = slot_of(key);
	return tid == t->tid || (tid < t->clock.n && t->clock.e[tid] >= (uint32_t)(key >> 32));
}

/* An access that was entered meets the new one. False: it is no longer needed. */
static inline bool meets(struct racing *x, struct race_mark *m)
{
	assert(m->key & RACE_USED && !(m->key & (RACE_MORE | RACE_BUSY)));
	uint64_t k = m->key, now = x->now.key;
	unsigned both = (unsigned)(k & now) >> 8 & 0xff;
	if (!both) { /* of other bytes: one mark, if it is the same access */
		bool same = !x->known && !((k ^ now) & ~(uint64_t)0xff00) && m->stack == x->now.stack && m->locks == x->now.locks;
		x->now.key |= same ? k & 0xff00 : 0;
		return !same;
	}
	if (!happened(x->t, k)) {
		if ((k | now) & RACE_WRITE && !(k & now & RACE_ATOMIC) && x->nbad < BAD_MAX)
			x->bad[x->nbad++] = *m;
		return true;
	}
	x->known |= race_covers(k, now);
	if ((k & ~now & RACE_WRITE) || (now & ~k & RACE_ATOMIC) || x->known)
		return true;
	m->key = k & ~((uint64_t)both << 8);
	return m->key & 0xff00;
}

static uint64_t take(struct race_cell *c)
{
	for (unsigned n = 0;; n++) {
		uint64_t k = __atomic_load_n(&c->m[0].key, __ATOMIC_RELAXED);
		if (!(k & RACE_BUSY) &&
		    __atomic_compare_exchange_n(&c->m[0].key, &k, k | RACE_BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return k;
		if (n < 64)
			__builtin_ia32_pause();
		else
			sched_yield();
	}
}

static inline void set_mark(struct race_mark *to, const struct race_mark *from)
{
	to->stack = from->stack;
	to->locks = from->locks;
	__atomic_store_n(&to->key, from->key, __ATOMIC_RELAXED);
}

/* Room for one more in a list; NULL: there is none. */
static struct race_mark *list_room(struct races *r, uint32_t *first)
{
	assert(*first < r->nlists);
	struct race_list *l = NULL;
	for (uint32_t i = *first; i && (!l || l->n == RACE_LIST); i = r->lists[i].next)
		l = &r->lists[i];
	if (!l || l->n == RACE_LIST) {
		uint32_t i = list_new(r);
		if (!i) {
			r->lost = true;
			return NULL;
		}
		l = &r->lists[i];
		l->next = *first;
		*first = i;
	}
	return &l->m[l->n++];
}

/* The list of a cell meets the new access. Returns the first key of the cell. */
static uint64_t meet_list(struct races *r, struct race_cell *c, struct racing *x, uint32_t first)
{
	uint32_t left = 0, *link = &first;
	while (*link) {
		struct race_list *l = &r->lists[*link];
		uint32_t n = 0;
		assert(l->n && l->n <= RACE_LIST);
		for (uint32_t i = 0; i < l->n; i++)
			if (meets(x, &l->m[i]))
				l->m[n++] = l->m[i];
		l->n = n;
		left += n;
		if (n) {
			link = &l->next;
		} else {
			uint32_t gone = *link;
			*link = l->next;
			list_drop(r, gone);
		}
	}
	if (!x->known && !left) { /* it alone says all */
		c->m[1].key = 0;
		c->m[0].stack = x->now.stack;
		c->m[0].locks = x->now.locks;
		return x->now.key;
	}
	struct race_mark *room = x->known ? NULL : list_room(r, &first);
	if (room) {
		*room = x->now;
		set_mark(&c->m[1], &x->now);
	}
	c->m[0].stack = first;
	return RACE_MORE;
}

/* The two marks of a cell meet it; `k` is the key of the first. */
static uint64_t meet_two(struct races *r, struct race_cell *c, struct racing *x, uint64_t k)
{
	struct race_mark first = { k, c->m[0].stack, c->m[0].locks }, second = c->m[1];
	assert(!(k & RACE_MORE));
	bool one = k && meets(x, &first), two = second.key && meets(x, &second);
	if (x->known)
		return k;
	if (!one) { /* meets() may have left fewer bytes in the other */
		c->m[0].stack = x->now.stack;
		c->m[0].locks = x->now.locks;
		__atomic_store_n(&c->m[1].key, two ? second.key : 0, __ATOMIC_RELAXED);
		return x->now.key;
	}
	if (!two) {
		set_mark(&c->m[1], &x->now);
		return first.key;
	}
	uint32_t list = list_new(r);
	if (!list) {
		r->lost = true;
		return first.key;
	}
	struct race_list *l = &r->lists[list];
	l->n = 3;
	l->m[0] = first;
	l->m[1] = second;
	l->m[2] = x->now;
	c->m[0].stack = list;
	c->m[0].locks = 0;
	set_mark(&c->m[1], &x->now);
	return RACE_MORE;
}

void races_access(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, unsigned how, uintptr_t pc)
{
	assert(mask && mask <= 0xff && d->races.dir);
	struct races *r = &d->races;
	struct race_cell *c = races_cell(r, addr);
	if (!c || t->tid >= CLOCK_MAX || t->foreign)
		return;
	struct racing x = { .t = t, .now = { race_key(t->stamp, t->tid, mask, how), 0, t->acc.all } };
	if (race_known(c, x.now.key))
		return;
	x.now.stack = red_stack(d, t, pc);
	uint64_t k = take(c);
	k = k & RACE_MORE ? meet_list(r, c, &x, c->m[0].stack) : meet_two(r, c, &x, k);
	__atomic_store_n(&c->m[0].key, k, __ATOMIC_RELEASE);
	assert(x.nbad <= BAD_MAX && !(k & RACE_BUSY));
	for (uint32_t i = 0; i < x.nbad; i++)
		hazard_race(d, t, addr & ~(uintptr_t)7, &x.bad[i], &x.now);
}

/* ---- memory that goes ---- */

static void drop_cell(struct races *r, struct race_cell *c)
{
	uint64_t k = take(c);
	for (uint32_t i = k & RACE_MORE ? c->m[0].stack : 0, next; i; i = next) {
		next = r->lists[i].next;
		list_drop(r, i);
	}
	c->m[1] = (struct race_mark){ 0 };
	c->m[0].stack = c->m[0].locks = 0;
	__atomic_store_n(&c->m[0].key, 0, __ATOMIC_RELEASE);
}

static bool forget_cells(struct dynamic *d, struct thread *t, struct race_cell *c, size_t n, uintptr_t at, uintptr_t pc)
{
	bool any = false;
	for (; n; n--, at += 8, c++) {
		if (!c->m[0].key && !c->m[1].key)
			continue;
		any = true;
		if (t)
			races_access(d, t, at, 0xff, RACE_WRITE | RACE_FREED, pc);
		drop_cell(&d->races, c);
	}
	return any;
}

enum { PAGE_CELLS = 4096 / sizeof(struct race_cell), FEW_CELLS = 8 * PAGE_CELLS };

/* Cells of one leaf. Of many, only pages that are there are looked at. */
static bool forget_in(struct dynamic *d, struct thread *t, struct race_cell *c, uintptr_t at, uintptr_t end, uintptr_t pc)
{
	size_t n = (end - at) / 8;
	unsigned char there[64];
	bool any = false;
	while (n > FEW_CELLS) {
		size_t head = -((uintptr_t)c / sizeof *c) % PAGE_CELLS, pages = (n - head) / PAGE_CELLS, some = 0;
		any |= forget_cells(d, t, c, head, at, pc);
		c += head;
		at += 8 * head;
		assert(head < PAGE_CELLS && (uintptr_t)(c) % 4096 == 0);
		n -= head;
		pages = pages > sizeof there ? sizeof there : pages;
		bool asked = pages_there(c, pages, there);
		for (; some < pages; some++, c += PAGE_CELLS, at += 8 * PAGE_CELLS)
			if (!asked || there[some] & 1)
				any |= forget_cells(d, t, c, PAGE_CELLS, at, pc);
		n -= pages * PAGE_CELLS;
	}
	return forget_cells(d, t, c, n, at, pc) || any;
}

bool races_forget(struct dynamic *d, struct thread *t, uintptr_t addr, size_t size, uintptr_t pc)
{
	struct races *r = &d->races;
	uintptr_t at = (addr + 7) & ~(uintptr_t)7, end = (addr + size) & ~(uintptr_t)7;
	const uintptr_t mask = ((uintptr_t)1 << SHADOW_LEAF_BITS) - 1;
	bool any = false;
	if (size >> 47 || at >= end)
		return false;
	if (size >> SHADOW_LEAF_BITS > r->nused) { /* mostly never touched */
		for (uint32_t i = 0; i < r->nused; i++) {
			uintptr_t lo = (uintptr_t)r->used[i] << SHADOW_LEAF_BITS, hi = lo + mask + 1;
			lo = lo < at ? at : lo;
			hi = hi > end ? end : hi;
			if (lo < hi)
				any |= forget_in(d, t, r->dir[r->used[i]] + in_leaf(lo), lo, hi, pc);
		}
		return any;
	}
	while (at < end) {
		uintptr_t stop = (at | mask) + 1;
		struct race_cell *leaf = __atomic_load_n(leaf_of(r, at), __ATOMIC_ACQUIRE);
		stop = stop > end ? end : stop;
		if (leaf)
			any |= forget_in(d, t, leaf + in_leaf(at), at, stop, pc);
		at = stop;
	}
	return any;
}
