#include "dynamic/findings.h"

#include "dynamic/token.h"

#define SLOTS (RED_MAX_FINDINGS * 4u)

bool dynamic_init(struct dynamic *d)
{
	*d = (struct dynamic){ .nfindings = 1, .history = RED_LOG };
	d->findings = pages_map(RED_MAX_FINDINGS * sizeof *d->findings);
	d->slots = pages_map(SLOTS * sizeof *d->slots);
	d->parents = pages_map(RED_UIDS * sizeof *d->parents);
	d->slot = pages_map(RED_SLOTS * sizeof *d->slot);
	bool ok = d->findings && d->slots && d->parents && d->slot && lockset_init(&d->sets) &&
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
	if (d->parents)
		pages_unmap(d->parents, RED_UIDS * sizeof *d->parents);
	if (d->slot)
		pages_unmap(d->slot, RED_SLOTS * sizeof *d->slot);
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
	if (f->unsettled) {
		f->settled = true;
		return;
	}
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

static bool knows(const struct thread *t, uint32_t tid, uint32_t epoch)
{
	return tid < t->fixed.n && t->fixed.e[tid] >= epoch;
}

/*
 * Is it impossible that the two meet, because one of the threads was made after
 * the other's part, or waited for its end? What thread t has just done is the
 * later one: the gap, or the section.
 */
static bool apart(const struct thread *t, const struct finding *f, const struct evidence *e)
{
	if (t->uid == f->uid)
		return f->from >= t->joined && knows(t, e->tid, e->epoch);
	return t->uid == e->uid && e->epoch >= t->joined && knows(t, f->tid, f->to);
}

static bool descends(const struct dynamic *d, uint32_t uid, uint32_t from)
{
	for (unsigned i = 0; i < 64 && uid && uid < RED_UIDS; i++, uid = d->parents[uid])
		if (uid == from)
			return true;
	return false;
}

bool finding_cannot_meet(const struct dynamic *d, const struct thread *t, uint32_t from,
                         const struct race_access *a)
{
	if (from < t->joined || !knows(t, a->tid, a->epoch))
		return false;
	uint32_t uid = red_who(d, a);
	return descends(d, uid, t->uid) || descends(d, t->uid, uid);
}

/*
 * Can this other thread come in between? It must be able to get the lock (it
 * holds none of the locks held across the gap), and one side must write: the
 * other thread, or this block before and after the gap.
 */
static bool interferes(struct dynamic *d, const struct thread *t, const struct finding *f,
                       const struct evidence *e)
{
	if (!e->uid || e->uid == f->uid)
		return false;
	if (apart(t, f, e) && (descends(d, e->uid, f->uid) || descends(d, f->uid, e->uid)))
		return false;
	if (lockset_meet(&d->sets, NULL, e->held, f->across) != LOCKSET_EMPTY)
		return false;
	if (f->token && (!e->write || e->token == f->token || e->token == TOKEN_MANY))
		return false;
	return e->write || f->wrote;
}

/* Of this lock; `news` is what has just been learned of one of them, or NULL:
 * what was known before has been looked at when the gap was seen. */
static const struct evidence *look(struct dynamic *d, const struct thread *t,
                                   const struct finding *f, uint32_t lock,
                                   const struct evidence *news)
{
	struct lock *l = &d->locks.locks[lock];
	if (l->life != (lock == f->lock ? f->life : f->life2))
		return NULL; /* another object lives there now */
	if (news >= l->ev && news < l->ev + LOCK_EVIDENCE)
		return interferes(d, t, f, news) ? news : NULL;
	const struct evidence *e = NULL;
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++)
		if (interferes(d, t, f, &l->ev[i]) &&
		    (!e || l->ev[i].uid == f->other || (apart(t, f, e) && !apart(t, f, &l->ev[i]))))
			e = &l->ev[i];
	return e;
}

/* Both locks of a gap must be ones that another thread uses. */
static void judge(struct dynamic *d, const struct thread *t, struct finding *f,
                  const struct evidence *news)
{
	const struct evidence *e = look(d, t, f, f->lock, news);
	if (f->ready)
		return;
	if (f->confirmed && !e) { /* it happened: nothing more to ask */
		finding_ready(d, f, NULL);
		return;
	}
	if (!e)
		return;
	if (f->lock2 && f->lock2 != f->lock && !look(d, t, f, f->lock2, news))
		return;
	f->apart = apart(t, f, e);
	finding_ready(d, f, e);
}

void finding_judge(struct dynamic *d, struct thread *t, uint32_t index)
{
	struct finding *f = &d->findings[index];
	if (f->ready)
		return;
	spin_lock(&d->lock);
	d->locks.locks[f->lock].pending = 1;
	if (f->lock2)
		d->locks.locks[f->lock2].pending = 1;
	judge(d, t, f, NULL);
	spin_unlock(&d->lock);
}

void finding_settle(struct dynamic *d, struct thread *t, uint32_t index, uint32_t token)
{
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	bool mine = f->unsettled == t->uid;
	if (mine) {
		f->unsettled = 0;
		f->settled = false;
		if (token) {
			f->token = token;
			f->cycle = f->confirmed = false;
		}
	}
	spin_unlock(&d->lock);
	if (mine)
		finding_judge(d, t, index);
}

bool finding_counts(const struct finding *f, bool final)
{
	return f->count && (f->ready || (final && f->settled));
}

/*
 * The evidence that says the same; nev: there is none. Who writes may read, but
 * only as long as the thread has created and joined nobody since: what it wrote
 * before it made another thread that one cannot meet, what it reads now it can.
 */
static uint32_t evidence_at(const struct thread *t, const struct lock *l, uint32_t held,
                            uint32_t write)
{
	uint32_t at = 0;
	for (; at < l->nev; at++) {
		const struct evidence *e = &l->ev[at];
		if (e->uid == t->uid && e->held == held &&
		    (write ? e->write != 0 : !e->write || e->since == t->since))
			break;
	}
	return at;
}

bool evidence_known(const struct thread *t, const struct lock *l, const struct held *h,
                    uint32_t held)
{
	uint32_t at = evidence_at(t, l, held, h->read ? 0 : h->write);
	return at < l->nev && l->ev[at].since == t->since &&
	       (!l->ev[at].token || l->ev[at].token == token_of(t, l, h));
}

void evidence_add(struct dynamic *d, struct thread *t, struct lock *l,
                  const struct held *h, uint32_t held)
{
	/* What a reader of the lock writes is not under its protection. */
	uint32_t write = h->read ? 0 : h->write, token = token_of(t, l, h);
	uint32_t id = (uint32_t)(l - d->locks.locks), at = evidence_at(t, l, held, write);
	struct evidence *old = &l->ev[at];
	if (at < l->nev && old->since == t->since && (old->token == token || !old->token)) {
		/* Known: between creating and joining threads it says nothing more. */
		old->epoch = t->acc.epoch;
		return;
	}
	/* What is more than taking or giving back a token says all that is. */
	if (at < l->nev && old->token != token && old->token != TOKEN_MANY)
		token = 0;
	else if (at == LOCK_EVIDENCE) /* `seq` of readers is as chance has it */
		/* The first two stay: with them two threads are always told apart. */
		at = 2 + (h->read ? t->uid : h->seq) % 2;
	else if (at == l->nev)
		l->nev++;
	l->ev[at] = (struct evidence){ t->uid, held, h->acquire, write, t->tid, t->acc.epoch,
		                       t->since, token };
	if (!l->pending)
		return;
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		if (!f->ready && (f->lock == id || f->lock2 == id))
			judge(d, t, f, &l->ev[at]);
	}
	spin_unlock(&d->lock);
}
