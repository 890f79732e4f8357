#include "dynamic/findings.h"

#define SLOTS (RED_MAX_FINDINGS * 4u)

bool dynamic_init(struct dynamic *d)
{
	*d = (struct dynamic){ .nfindings = 1, .history = RED_LOG };
	d->findings = pages_map(RED_MAX_FINDINGS * sizeof *d->findings);
	d->slots = pages_map(SLOTS * sizeof *d->slots);
	bool ok = d->findings && d->slots && lockset_init(&d->sets) &&
	          stack_init(&d->stacks) && lock_init(&d->locks) &&
	          shadow_init(&d->shadow, &d->sets);
	d->shadow.reach = &d->reach;
	return ok;
}

void dynamic_free(struct dynamic *d)
{
	if (d->findings)
		pages_unmap(d->findings, RED_MAX_FINDINGS * sizeof *d->findings);
	if (d->slots)
		pages_unmap(d->slots, SLOTS * sizeof *d->slots);
	lockset_free(&d->sets);
	stack_free(&d->stacks);
	lock_free(&d->locks);
	shadow_free(&d->shadow);
	bump_free(&d->bump);
	reach_free(&d->reach);
	*d = (struct dynamic){ 0 };
}

uint32_t finding_merge(struct dynamic *d, const struct finding *f)
{
	uint32_t i = (uint32_t)f->key % SLOTS, id;
	spin_lock(&d->lock);
	while ((id = d->slots[i]) && d->findings[id].key != f->key)
		i = (i + 1) % SLOTS;
	if (id) {
		struct finding *old = &d->findings[id];
		old->count++;
		if (!old->ready) { /* the latest try is the one to judge */
			uint32_t count = old->count;
			bool cycle = old->cycle;
			*old = *f;
			old->count = count;
			old->cycle |= cycle;
		} else if (f->confirmed && !old->confirmed) {
			old->confirmed = true;
			old->other = f->other;
			if (f->other_acquire)
				old->other_acquire = f->other_acquire;
		} else if (f->cycle) {
			old->confirmed = true;
		}
	} else if (d->nfindings < RED_MAX_FINDINGS) {
		id = d->nfindings;
		d->findings[id] = *f;
		d->findings[id].count = 1;
		d->slots[i] = id;
		__atomic_store_n(&d->nfindings, id + 1, __ATOMIC_RELEASE);
	}
	spin_unlock(&d->lock);
	return id;
}

void finding_ready(struct dynamic *d, struct finding *f, const struct evidence *e)
{
	if (e) {
		f->other = e->uid;
		f->other_acquire = e->acquire;
		f->other_write = e->write;
		f->other_held = e->held;
	}
	f->confirmed |= f->cycle;
	f->ready = true;
	__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
}

void finding_confirm(struct dynamic *d, uint32_t index, uint32_t other, uint32_t stack,
                     uint8_t op)
{
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	f->confirmed = true;
	if (other) {
		const struct evidence *e = NULL;
		struct lock *l = &d->locks.locks[f->lock];
		/* By way of the lock: what it did under it says more than the release. */
		for (uint32_t i = 0; f->lock && op < OP_READ && i < l->nev && i < LOCK_EVIDENCE; i++)
			if (l->ev[i].uid == other && (!e || l->ev[i].write))
				e = &l->ev[i];
		f->other = other;
		f->other_write = e ? e->write : stack;
		f->other_op = e ? 0 : op;
		f->other_acquire = e ? e->acquire : 0;
		f->other_held = e ? e->held : 0;
	}
	if (!f->ready)
		finding_ready(d, f, NULL);
	spin_unlock(&d->lock);
}

/*
 * Can this other thread come in between? It must be able to get the lock (it
 * holds none of the locks held across the gap), and one side must write: the
 * other thread, or this block before and after the gap.
 */
static bool interferes(struct dynamic *d, const struct finding *f,
                       const struct evidence *e)
{
	if (!e->uid || e->uid == f->uid)
		return false;
	if (lockset_meet(&d->sets, NULL, e->held, f->across) != LOCKSET_EMPTY)
		return false;
	return e->write || f->wrote;
}

static const struct evidence *look(struct dynamic *d, const struct finding *f,
                                   uint32_t lock)
{
	struct lock *l = &d->locks.locks[lock];
	if (l->life != (lock == f->lock ? f->life : f->life2))
		return NULL; /* another object lives there now */
	const struct evidence *e = NULL;
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++)
		if (interferes(d, f, &l->ev[i]) && (!e || l->ev[i].uid == f->other))
			e = &l->ev[i];
	return e;
}

/* Both locks of a gap must be ones that another thread uses. */
static void judge(struct dynamic *d, struct finding *f)
{
	const struct evidence *e = look(d, f, f->lock);
	if (f->ready)
		return;
	if (f->confirmed && !e) { /* it happened: nothing more to ask */
		finding_ready(d, f, NULL);
		return;
	}
	if (!e)
		return;
	if (f->lock2 && f->lock2 != f->lock && !look(d, f, f->lock2))
		return;
	finding_ready(d, f, e);
}

void finding_judge(struct dynamic *d, struct thread *t, uint32_t index)
{
	struct finding *f = &d->findings[index];
	(void)t;
	if (f->ready)
		return;
	spin_lock(&d->lock);
	d->locks.locks[f->lock].pending = 1;
	if (f->lock2)
		d->locks.locks[f->lock2].pending = 1;
	judge(d, f);
	spin_unlock(&d->lock);
}

void evidence_add(struct dynamic *d, struct thread *t, struct lock *l,
                  const struct held *h, uint32_t held)
{
	/* What a reader of the lock writes is not under its protection. */
	struct evidence e = { t->uid, held, h->acquire, h->read ? 0 : h->write };
	uint32_t id = (uint32_t)(l - d->locks.locks);
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++)
		if (l->ev[i].uid == e.uid && l->ev[i].held == held &&
		    (l->ev[i].write || !e.write))
			return;
	/* The first two stay: with them two threads are always told apart. */
	uint32_t at = l->nev < LOCK_EVIDENCE ? l->nev : 2 + h->seq % 2;
	l->ev[at] = e;
	if (l->nev < LOCK_EVIDENCE)
		l->nev++;
	if (!l->pending)
		return;
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		if (!f->ready && (f->lock == id || f->lock2 == id))
			judge(d, f);
	}
	spin_unlock(&d->lock);
}
