/*
 * translate_locks: locks as events. Where memory is freed other locks live from
 * then on.
 */
#include "event/translate_int.h"

static void lock_access(struct translate *t, struct translate_thread *th, struct translate_lock *l, unsigned kind, uint32_t loc)
{
	if (!l->var)
		l->var = tr_name(t, NS_VAR, "lock:", l->addr, l->life) + 1;
	tr_first(t, &l->var_renewed);
	tr_put(t, th, kind, l->var - 1, loc);
}

void tr_acquire(struct translate *t, struct translate_thread *th, struct rec r)
{
	struct translate_lock *l = tr_lock(t, rec_addr(r));
	uint32_t loc = tr_here(t, th, rec_pc(r));
	if (!l || t->nomem)
		return;
	if (rec_arg(r) & REC_SHARED) {
		lock_access(t, th, l, EVENT_READ, loc);
		return;
	}
	if (l->id == NAME_FULL)
		l->id = tr_name(t, NS_LOCK, "", l->addr, l->life);
	if (l->holder && l->holder != th->id + 1) {
		/* Its holder released it unseen. */
		struct translate_thread gone = { .id = l->holder - 1 };
		for (; l->depth; l->depth--)
			tr_put(t, &gone, EVENT_REL, l->id, LOC_NONE);
	}
	th->holds += !l->depth;
	l->holder = th->id + 1;
	l->depth++;
	tr_first(t, &l->renewed);
	tr_put(t, th, EVENT_ACQ, l->id, loc);
	if (l->shared)
		lock_access(t, th, l, EVENT_WRITE, loc);
}

void tr_release(struct translate *t, struct translate_thread *th, struct rec r)
{
	struct translate_lock *l = tr_lock(t, rec_addr(r));
	uint32_t loc = tr_here(t, th, rec_pc(r));
	if (!l || t->nomem)
		return;
	if (l->holder != th->id + 1) {
		if (l->shared)
			lock_access(t, th, l, EVENT_READ, loc);
		return;
	}
	uint32_t times = rec_arg(r) & REC_WAIT ? l->depth : 1;
	if (l->shared)
		lock_access(t, th, l, EVENT_WRITE, loc);
	for (; times; times--, l->depth--)
		tr_put(t, th, EVENT_REL, l->id, loc);
	if (!l->depth) {
		l->holder = 0;
		th->holds -= th->holds > 0;
	}
}

/* What a thread still has when it ends (a robust mutex) others can take. */
void tr_let_go(struct translate *t, struct translate_thread *th)
{
	for (uint32_t i = 1; th->holds && i < t->nlocks; i++) {
		struct translate_lock *l = &t->locks[i];
		if (l->holder != th->id + 1)
			continue;
		for (; l->depth; l->depth--)
			tr_put(t, th, EVENT_REL, l->id, LOC_NONE);
		l->holder = 0;
		th->holds--;
	}
	th->holds = 0;
}

/* Another object lives there from now on, unless the old one is in use. */
void tr_renew(const struct translate *t, struct translate_lock *l)
{
	if (l->holder || (l->id == NAME_FULL && !l->var))
		return;
	if (t->lives == LIVES_REUSED) {
		l->renewed = l->id != NAME_FULL;
		l->var_renewed = l->var != 0;
		return;
	}
	l->id = NAME_FULL;
	l->var = 0;
	l->life++;
}

void tr_forget(struct translate *t, uint64_t addr, uint64_t size)
{
	uint64_t from = (addr + 7) >> 3, to = (addr + size) >> 3;
	if (to <= from)
		return;
	uint64_t first = from / PAGE, last = (to - 1) / PAGE;
	tr_forget_cells(t, addr, size);
	if (last - first >= t->nlocks) {
		for (uint32_t i = 1; i < t->nlocks; i++)
			if (t->locks[i].addr - addr < size)
				tr_renew(t, &t->locks[i]);
		return;
	}
	for (uint64_t n = first; n <= last; n++) {
		uint32_t i = map_get(&t->lock_page, n);
		for (; i != MAP_NONE && i; i = t->locks[i].next)
			if (t->locks[i].addr - addr < size)
				tr_renew(t, &t->locks[i]);
	}
}
