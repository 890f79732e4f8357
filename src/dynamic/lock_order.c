#include "dynamic/lock_order.h"

#include "base/invariant.h"
#include "dynamic/hazards.h"
#include "dynamic/reduction.h"

#define KEYS (ORDER_EDGES * 2u)
_Static_assert((int)ORDER_CYCLE * 2 <= (int)HAZARD_PARTS, "a circle is a finding");

bool lock_order_init(struct dynamic *d)
{
	struct lock_order *o = &d->order;
	*o = (struct lock_order){ .n = 1 };
	o->edges = pages_map(ORDER_EDGES * sizeof *o->edges);
	o->heads = pages_map(d->locks.max * sizeof *o->heads);
	o->keys = pages_map(KEYS * sizeof *o->keys);
	if (o->edges && o->heads && o->keys)
		return true;
	lock_order_free(d);
	return false;
}

void lock_order_free(struct dynamic *d)
{
	struct lock_order *o = &d->order;
	if (o->edges)
		pages_unmap(o->edges, ORDER_EDGES * sizeof *o->edges);
	if (o->heads)
		pages_unmap(o->heads, d->locks.max * sizeof *o->heads);
	if (o->keys)
		pages_unmap(o->keys, KEYS * sizeof *o->keys);
	*o = (struct lock_order){ 0 };
}

/* ---- circles ---- */

struct circle {
	struct dynamic *d;
	struct thread *t; /* whose cache is used */
	const struct order_edge *path[ORDER_CYCLE];
	uint32_t n, steps;
};

/* Did x come before y in every schedule? */
static bool before(const struct order_edge *x, const struct order_edge *y)
{
	return x->tid < y->nfixed && y->fixed[x->tid] >= x->epoch;
}

static bool live(const struct dynamic *d, const struct order_edge *e)
{
	assert(e->from < d->locks.max && e->to < d->locks.max);
	return d->locks.locks[e->from].life == e->from_life && d->locks.locks[e->to].life == e->to_life;
}

/* Can two threads be there at once? */
static bool together(struct circle *c, const struct order_edge *x, const struct order_edge *y)
{
	return x->uid != y->uid && !before(x, y) && !before(y, x) && !lockset_meet(&c->d->sets, &c->t->cache, x->all, y->wr) &&
	       !lockset_meet(&c->d->sets, &c->t->cache, x->wr, y->all);
}

/* Does the thread of x wait for that of y, which holds what x takes? */
static bool waits(const struct order_edge *x, const struct order_edge *y)
{
	return !(x->to_read && y->from_read);
}

static void tell(struct circle *c)
{
	struct hazard_part parts[ORDER_CYCLE * 2];
	uint64_t site[ORDER_CYCLE], key = 0;
	assert(c->n >= 2 && c->n <= ORDER_CYCLE);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct order_edge *e = c->path[i];
		bool again = false;
		site[i] = mix64(hazard_place(c->d, e->hold)) + hazard_place(c->d, e->take);
		for (uint32_t k = 0; k < i; k++)
			again |= site[k] == site[i];
		key += again ? 0 : mix64(site[i]);
		parts[2 * i] = (struct hazard_part){ .op = PART_HOLD,
			                             .uid = e->uid,
			                             .stack = e->hold,
			                             .lock = e->from,
			                             .address = c->d->locks.locks[e->from].addr };
		parts[2 * i + 1] = (struct hazard_part){ .op = PART_ACQUIRE,
			                                 .uid = e->uid,
			                                 .stack = e->take,
			                                 .lock = e->to,
			                                 .locks = e->all,
			                                 .address = c->d->locks.locks[e->to].addr };
	}
	hazard_add(c->d, FIND_LOCK_ORDER, key, parts, 2 * c->n);
}

/* All circles that go on from the last edge of the path. */
static void search(struct circle *c)
{
	assert(c->n && c->n <= ORDER_CYCLE);
	const struct order_edge *last = c->path[c->n - 1], *first = c->path[0];
	for (uint32_t i = c->d->order.heads[last->to]; i; i = c->d->order.edges[i].next) {
		const struct order_edge *e = &c->d->order.edges[i];
		bool can = live(c->d, e) && waits(last, e), seen = false;
		if (++c->steps > ORDER_STEPS) {
			c->d->order.lost = true;
			return;
		}
		for (uint32_t k = 0; k < c->n && can; k++) {
			can = together(c, c->path[k], e);
			seen |= k && c->path[k]->from == e->to;
		}
		if (!can || seen)
			continue;
		if (c->n == ORDER_CYCLE) {
			c->d->order.lost = true;
			return;
		}
		c->path[c->n++] = e;
		if (e->to != first->from)
			search(c);
		else if (waits(e, first))
			tell(c);
		c->n--;
	}
}

/* ---- edges ---- */

/* Is it known? If not, it is from here on. */
static bool known(struct lock_order *o, uint64_t key)
{
	uint32_t at = (uint32_t)key % KEYS;
	for (; o->keys[at]; at = (at + 1) % KEYS)
		if (o->keys[at] == key)
			return true;
	return false;
}

static void enter(struct lock_order *o, uint64_t key)
{
	uint32_t at = (uint32_t)key % KEYS;
	while (o->keys[at])
		at = (at + 1) % KEYS;
	o->keys[at] = key;
}

static void add(struct dynamic *d, struct thread *t, const struct held *from, const struct held *taken, uint64_t key)
{
	struct lock_order *o = &d->order;
	assert(from->lock && taken->lock && from->lock != taken->lock && o->n && o->n <= ORDER_EDGES);
	uint32_t n = t->fixed.n;
	uint32_t *fixed = n && o->n < ORDER_EDGES ? bump_alloc(&d->bump, n * sizeof *fixed) : NULL;
	if (o->n == ORDER_EDGES || (n && !fixed)) {
		o->lost = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		fixed[i] = t->fixed.e[i];
	struct order_edge *e = &o->edges[o->n];
	*e = (struct order_edge){ .from = from->lock,
		                  .to = taken->lock,
		                  .from_life = d->locks.locks[from->lock].life,
		                  .to_life = d->locks.locks[taken->lock].life,
		                  .uid = t->uid,
		                  .tid = t->tid,
		                  .epoch = t->acc.epoch,
		                  .hold = from->acquire,
		                  .take = taken->acquire,
		                  .all = t->acc.all,
		                  .wr = t->acc.wr,
		                  .next = o->heads[from->lock],
		                  .fixed = fixed,
		                  .nfixed = n,
		                  .from_read = from->read,
		                  .to_read = taken->read };
	enter(o, key);
	o->heads[from->lock] = o->n++;
	struct circle c = { .d = d, .t = t, .path = { e }, .n = 1 };
	search(&c);
}

void lock_order_take(struct dynamic *d, struct thread *t, const struct held *taken)
{
	struct lock_order *o = &d->order;
	assert(o->edges && taken == t->held + t->nheld);
	for (uint32_t i = 0; i < t->nheld; i++) {
		const struct held *from = &t->held[i];
		uint64_t key = mix64((uint64_t)from->lock << 32 | taken->lock) ^ mix64((uint64_t)t->uid << 32 | t->acc.all) ^
		               mix64((uint64_t)t->acc.wr << 2 | (uint64_t)from->read << 1 | taken->read) ^
		               mix64((uint64_t)d->locks.locks[from->lock].life << 32 | d->locks.locks[taken->lock].life);
		key += !key;
		if (from->lock == taken->lock || known(o, key))
			continue;
		spin_lock(&o->lock);
		if (!known(o, key))
			add(d, t, from, taken, key);
		spin_unlock(&o->lock);
	}
}

/* ---- locks that are released or destroyed by who must not ---- */

static struct hazard_part owner(const struct dynamic *d, const struct lock *l, uint32_t id)
{
	(void)d;
	return (struct hazard_part){ .op = PART_HOLD, .uid = l->owner, .stack = l->owned, .lock = id, .address = l->addr };
}

static void misused(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc, uint8_t op)
{
	uint32_t id = lock_known(&d->locks, addr), stack = red_stack(d, t, pc);
	if (!id || t->lost)
		return;
	const struct lock *l = &d->locks.locks[id];
	struct hazard_part parts[2] = {
		{ .op = op, .uid = t->uid, .stack = stack, .lock = id, .address = addr, .locks = t->acc.all }, owner(d, l, id)
	};
	bool held = parts[1].uid != 0;
	enum finding_kind kind = op == PART_DESTROY ? FIND_LOCK_DESTROYED : held ? FIND_UNLOCK_FOREIGN : FIND_UNLOCK_UNLOCKED;
	hazard_add(d, kind, hazard_place(d, stack), parts, held ? 2 : 1);
}

void lock_order_unheld(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc)
{
	misused(d, t, addr, pc, PART_RELEASE);
}

void lock_order_busy(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc)
{
	misused(d, t, addr, pc, PART_DESTROY);
}
