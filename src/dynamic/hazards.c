#include "dynamic/hazards.h"

#include "base/invariant.h"
#include "dynamic/message.h"
#include "dynamic/reduction.h"

#define SLOTS (HAZARD_MAX * 4u)
_Static_assert(HAZARD_MAX <= UINT16_MAX && HAZARD_MAX < HAZARD_MAX * 4u, "a search of `slots` ends at a free one");

bool hazards_init(struct hazards *h)
{
	*h = (struct hazards){ .n = 1 };
	h->list = pages_map(HAZARD_MAX * sizeof *h->list);
	h->slots = pages_map(SLOTS * sizeof *h->slots);
	if (h->list && h->slots)
		return true;
	hazards_free(h);
	return false;
}

void hazards_free(struct hazards *h)
{
	if (h->list)
		pages_unmap(h->list, HAZARD_MAX * sizeof *h->list);
	if (h->slots)
		pages_unmap(h->slots, SLOTS * sizeof *h->slots);
	*h = (struct hazards){ 0 };
}

void hazards_forked(struct hazards *h)
{
	if (h->slots)
		pages_clear(h->slots, SLOTS * sizeof *h->slots);
	h->n = 1;
	h->lost = 0;
	h->lock.held = 0;
}

uint64_t hazard_place(const struct dynamic *d, uint32_t stack)
{
	while (stack && d->stacks.nodes[stack].pc & (STACK_MARK | STACK_NAME))
		stack = d->stacks.nodes[stack].parent;
	return stack ? d->stacks.nodes[stack].pc & STACK_PC : 0;
}

static void enter(struct dynamic *d, enum finding_kind kind, uint64_t key, const struct hazard_part *parts, uint32_t n)
{
	struct hazards *h = &d->hazards;
	assert(key && h->n && h->n <= HAZARD_MAX);
	uint32_t at = (uint32_t)key % SLOTS;
	for (; h->slots[at]; at = (at + 1) % SLOTS)
		if (h->list[h->slots[at]].key == key) {
			h->list[h->slots[at]].count++;
			return;
		}
	struct hazard_part *copy = h->n < HAZARD_MAX ? bump_alloc(&d->bump, n * sizeof *copy) : NULL;
	if (!copy) {
		h->lost++;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		copy[i] = parts[i];
	h->list[h->n] = (struct hazard){ .key = key, .parts = copy, .nparts = n, .count = 1, .kind = (uint8_t)kind };
	h->slots[at] = (uint16_t)h->n;
	__atomic_store_n(&h->n, h->n + 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
}

void hazard_add(struct dynamic *d, enum finding_kind kind, uint64_t key, const struct hazard_part *parts, uint32_t n)
{
	assert(kind >= FIND_HAZARD && kind < FIND_KINDS && n && n <= HAZARD_PARTS);
	if (!d->hazards.list || !n)
		return;
	key = mix64(key ^ (uint64_t)kind << 56);
	spin_lock(&d->hazards.lock);
	enter(d, kind, key + !key, parts, n);
	spin_unlock(&d->hazards.lock);
}

/* The thread of a mark: of its slot, then. */
static uint32_t who(const struct dynamic *d, uint64_t key)
{
	struct race_access a = { .uid = RACE_SOMEONE, .tid = (uint32_t)(key >> 16) & 0xffff, .epoch = (uint32_t)(key >> 32) };
	return red_who(d, &a);
}

static struct hazard_part part(const struct dynamic *d, uintptr_t cell, const struct race_mark *m, unsigned mask)
{
	unsigned how = (unsigned)m->key, low = (unsigned)__builtin_ctz(mask);
	bool write = how & RACE_WRITE;
	return (struct hazard_part){
		.address = cell + low,
		.size = (uint8_t)(32 - (unsigned)__builtin_clz(mask) - low),
		.mask = (uint8_t)mask,
		.uid = who(d, m->key),
		.stack = m->stack,
		.locks = m->locks,
		.op = how & RACE_FREED    ? PART_FREE
		      : how & RACE_ATOMIC ? write ? PART_ATOMIC_WRITE : PART_ATOMIC_READ
		      : write             ? PART_WRITE
		                          : PART_READ,
	};
}

void hazard_race(struct dynamic *d, const struct thread *t, uintptr_t cell, const struct race_mark *before,
                 const struct race_mark *now)
{
	if (__atomic_load_n(&d->races.off, __ATOMIC_RELAXED))
		return;
	unsigned both = (unsigned)(now->key & before->key) >> 8 & 0xff;
	assert(both);
	struct hazard_part parts[2] = { part(d, cell, now, both), part(d, cell, before, both) };
	uint64_t a = hazard_place(d, now->stack), b = hazard_place(d, before->stack);
	parts[0].uid = t->uid;
	hazard_add(d, FIND_DATA_RACE, a < b ? mix64(a) + b : mix64(b) + a, parts, 2);
}

bool hazards_fresh(const struct dynamic *d, bool final)
{
	bool any = d->hazards.lost != 0 && final;
	for (uint32_t i = 1; i < d->hazards.n && !any; i++)
		any = final || !d->hazards.list[i].sent;
	return any;
}

void hazards_move(struct dynamic *d, uintptr_t lo, uintptr_t hi, uintptr_t delta)
{
	for (uint32_t i = 1; i < d->hazards.n; i++) {
		struct hazard *h = &d->hazards.list[i];
		for (uint32_t k = 0; k < h->nparts; k++)
			if (h->parts[k].address - lo < hi - lo)
				h->parts[k].address += delta;
		h->sent = false; /* it may have been told with the old addresses */
	}
	if (d->hazards.n > 1)
		__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
}

/* ---- in a message ---- */

static const char *const kinds[] = FINDING_KIND_NAMES, *const ops[] = PART_OP_NAMES;
_Static_assert(sizeof kinds / sizeof *kinds == FIND_KINDS && sizeof ops / sizeof *ops == PART_OPS, "each has a name");

static void put_hazard(struct message *m, const struct dynamic *d, const struct hazard *h, uint32_t index)
{
	assert(h->parts && h->nparts <= HAZARD_PARTS && h->kind >= FIND_HAZARD && h->kind < FIND_KINDS);
	uint32_t frames = h->nparts > 4 ? 16 : 64;
	message_room(m, 32768 + h->nparts * (frames * 17 + 512)); /* threads, and parts */
	message_put(m, "finding %lx %u\nset kind %s\nset count %u\n", (unsigned long)h->key, index, kinds[h->kind], h->count);
	for (uint32_t i = 0; i < h->nparts; i++) {
		const struct hazard_part *p = &h->parts[i];
		message_put(m, "part %s %u %u %lx %u\n", ops[p->op], p->uid, p->lock, (unsigned long)p->address, p->size);
		message_stack(m, d, "part", p->stack, frames);
		message_locks(m, d, "part", p->locks);
	}
	for (uint32_t i = 0; i < h->nparts; i++) {
		bool again = false;
		for (uint32_t k = 0; k < i; k++)
			again |= h->parts[k].uid == h->parts[i].uid;
		if (!again && i < 8)
			message_thread(m, d, h->parts[i].uid);
	}
	message_put(m, "end\n");
}

bool hazards_message(struct message *m, struct dynamic *d, bool all)
{
	bool any = false;
	for (uint32_t i = 1; i < d->hazards.n; i++) {
		struct hazard *h = &d->hazards.list[i];
		assert(h->count || h->sent);
		if (!h->sent || all) {
			put_hazard(m, d, h, RED_MAX_FINDINGS + i);
		} else if (m->final && h->told != h->count) {
			message_room(m, 128);
			message_put(m, "count %lx %u 0\n", (unsigned long)h->key, h->count);
		} else {
			continue;
		}
		h->sent = true;
		h->told = h->count;
		any = true;
	}
	const struct {
		const char *what;
		uint32_t n;
	} lost[] = {
		{ "hazards", d->hazards.lost }, { "races", d->races.lost }, { "order", d->races.off }, { "circles", d->order.lost }
	};
	for (unsigned i = 0; i < sizeof lost / sizeof *lost; i++)
		if (lost[i].n) {
			message_lost(m, lost[i].what, lost[i].n);
			any = true;
		}
	return any;
}
