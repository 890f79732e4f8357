#include "dynamic/mark.h"

#include "base/invariant.h"
#include "dynamic/findings.h"

void red_mark_begin(struct dynamic *d, struct thread *t, const char *name, uintptr_t pc)
{
	assert(t->nmarks <= RED_MARKS && t->top >= t->frames);
	if (t->nmarks == RED_MARKS)
		return; /* deeper nesting is judged by the blocks around */
	reach_trim(t);
	t->marks[t->nmarks++] = (struct mark){
		.name = name,
		.pc = pc,
		.stack = red_stack(d, t, pc),
		.nframes = (uint32_t)(t->top - t->frames),
		.log = t->nlog,
	};
	t->wrote = false;
	red_tick(t); /* what it touches is its own doing: noted again */
	reach_open(t);
}

void red_mark_end(struct thread *t)
{
	if (t->nmarks)
		t->nmarks--;
	reach_trim(t);
}

void red_mark_drop(struct thread *t)
{
	assert(t->top >= t->frames && t->top <= t->limit);
	while (t->nmarks && t->marks[t->nmarks - 1].nframes > (uint32_t)(t->top - t->frames))
		t->nmarks--;
	reach_trim(t);
}

/* The innermost block past its commit; or NULL. */
static struct mark *committed(struct thread *t)
{
	for (uint32_t i = t->nmarks; i; i--)
		if (t->marks[i - 1].state == MARK_LEFT)
			return &t->marks[i - 1];
	return NULL;
}

/* That one is at fault; those around it contain the same fault and say no more
 * about it. */
static struct mark *blame(struct thread *t)
{
	struct mark *at = committed(t);
	for (uint32_t i = 0; at && i < t->nmarks; i++)
		if (t->marks[i].state == MARK_LEFT)
			t->marks[i].state = MARK_DONE;
	return at;
}

/* What a finding says of this very block, with what `violated` has of it. */
static struct finding occurrence(struct dynamic *d, struct thread *t, const struct mark *m)
{
	assert(m >= t->marks && m < t->marks + t->nmarks);
	return (struct finding){
		.kind = FIND_MARKED,
		.key = mix64(m->pc ^ mix64((uint64_t)m->commit << 32 | m->violated.stack)),
		.name = m->name,
		.uid = t->uid,
		.tid = t->tid,
		.from = m->epoch,
		.to = m->violated.to,
		.entered = m->stack,
		.commit = m->commit,
		.commit_op = m->commit_kind,
		.commit_held = m->held,
		.violation = m->violated.stack,
		.violation_op = m->violated.op,
		.held = m->violated.held,
		.across = lockset_meet(&d->sets, &t->cache, m->held, m->violated.held),
		.address = m->violated.address,
		.address2 = m->address,
		.lock = m->violated.lock,
		.lock2 = m->violated.lock2,
		.life = m->violated.life,
		.life2 = m->violated.life2,
		.made = m->violated.made,
		.made2 = m->violated.made2,
		.wrote = m->wrote,
	};
}

/* The block is violated by what happens now, as `f` says: address, stack, lock. */
static struct finding violated(struct dynamic *d, struct thread *t, struct mark *m, const struct finding *f)
{
	const struct lock *l = d->locks.locks;
	m->violated.address = (uintptr_t)f->address;
	m->violated.stack = f->violation;
	m->violated.op = f->violation_op;
	m->violated.held = t->acc.all;
	m->violated.to = t->acc.epoch;
	m->violated.lock = f->lock;
	m->violated.lock2 = f->lock2;
	m->violated.life = f->lock ? l[f->lock].life : 0;
	m->violated.life2 = f->lock2 ? l[f->lock2].life : 0;
	m->violated.made = f->lock ? l[f->lock].created : 0;
	m->violated.made2 = f->lock2 ? l[f->lock2].created : 0;
	return occurrence(d, t, m);
}

void mark_acquire(struct dynamic *d, struct thread *t, uint32_t lock, uint32_t stack, bool wait)
{
	assert(lock && lock < d->locks.max);
	struct mark *m = blame(t);
	if (!m)
		return;
	struct finding f = violated(d, t, m,
	                            &(struct finding){
					    .address = d->locks.locks[lock].addr,
					    .violation = stack,
					    .violation_op = wait ? OP_WAIT : OP_ACQUIRE,
					    .lock = lock,
					    .lock2 = m->lock,
				    });
	m->finding = finding_merge(d, &f);
	if (m->finding)
		finding_judge(d, t, m->finding);
}

void mark_release(struct thread *t, uint32_t lock, uint32_t stack, bool wait)
{
	for (uint32_t i = 0; i < t->nmarks; i++) {
		struct mark *m = &t->marks[i];
		m->looked = false;
		if (m->state != MARK_RIGHT || (wait && !m->wrote))
			continue;
		m->state = MARK_LEFT;
		m->commit = stack;
		m->epoch = t->acc.epoch;
		m->commit_kind = wait ? OP_WAIT : OP_RELEASE;
		m->lock = lock;
		m->held = t->acc.all;
	}
}

/* The latest of two accesses that another thread made, one that can meet what t
 * does since its epoch `from`. */
static const struct race_access *other_of(const struct dynamic *d, const struct thread *t, const struct race *r,
                                          const struct race_access a[2], uint32_t from)
{
	for (int i = 0; i < 2; i++)
		if (a[i].uid && !red_same(t, r, &a[i]) && !finding_cannot_meet(d, t, from, &a[i]))
			return &a[i];
	return NULL;
}

void mark_access(struct dynamic *d, struct thread *t, uintptr_t addr, const struct race *r, bool write, uint32_t stack)
{
	uint8_t op = t->acc.atomic ? OP_ATOMIC : write ? OP_WRITE : OP_READ;
	struct mark *m = committed(t);
	const struct race_access *o = m ? other_of(d, t, r, r->w, m->epoch) : NULL;
	bool reads = !o && write; /* a write disturbs readers too */
	if (m && reads)
		o = other_of(d, t, r, r->r, m->epoch);
	m = o ? blame(t) : NULL;
	if (m) {
		struct finding f = violated(d, t, m,
		                            &(struct finding){
						    .address = addr,
						    .violation = stack,
						    .violation_op = op,
						    .lock2 = m->lock, /* to name it: such a finding waits for no evidence */
					    });
		f.other = red_who(d, o);
		f.other_write = o->stack;
		f.other_op = reads ? OP_READ : OP_WRITE;
		m->finding = finding_merge(d, &f);
		if (m->finding && !d->findings[m->finding].ready)
			finding_ready(d, &d->findings[m->finding], NULL);
	}
	for (uint32_t i = 0; i < t->nmarks; i++) {
		m = &t->marks[i];
		m->looked = false;
		if (m->state != MARK_RIGHT)
			continue;
		m->state = MARK_LEFT;
		m->commit = stack;
		m->epoch = t->acc.epoch;
		m->commit_kind = op;
		m->lock = 0;
		m->address = addr;
		m->held = t->acc.all;
	}
}

void mark_looked(struct thread *t, uintptr_t addr, uint32_t before)
{
	assert(t->nmarks <= RED_MARKS);
	for (uint32_t i = 0; i < t->nmarks; i++) {
		struct mark *m = &t->marks[i];
		if (!(before >> i & 1) || m->state == MARK_DONE)
			continue;
		m->looked = true;
		m->tried = t->cas_failed;
		m->address = addr;
	}
}

uint32_t mark_right(const struct thread *t)
{
	uint32_t set = 0;
	for (uint32_t i = 0; i < t->nmarks; i++)
		set |= (uint32_t)(t->marks[i].state == MARK_RIGHT) << i;
	return set;
}

void mark_looks_again(struct thread *t, uintptr_t addr, bool tried)
{
	uint32_t anew = 0;
	for (uint32_t i = 0; i < t->nmarks; i++) {
		struct mark *m = &t->marks[i];
		if (m->state == MARK_DONE || !m->looked || m->address != addr || m->tried < tried)
			continue;
		m->state = MARK_RIGHT;
		anew |= 1u << i;
	}
	if (anew)
		reach_restart(t, anew);
}

/* Who closed the cycle, into the finding; `now` is what this thread does there. */
static void who_closed(const struct dynamic *d, const struct reach_cycle *c, const struct finding *now, struct finding *f)
{
	const struct lock_section *s = lock_last(&d->locks.locks[now->lock]);
	if (!c->uid)
		return;
	f->other = c->uid;
	f->other_write = c->stack;
	f->other_op = c->op;
	/* By way of a lock: what it did under it says more than the release. */
	if (now->lock && c->op < OP_READ && s->uid == c->uid) {
		f->other_acquire = s->acquire;
		f->other_write = s->write;
		f->other_held = s->held;
		f->other_op = OP_WRITE;
	}
}

void mark_cycle(struct dynamic *d, struct thread *t, const struct reach_cycle *c, struct finding *now)
{
	assert(c->level >= 1 && c->level <= t->nmarks);
	struct mark *m = &t->marks[c->level - 1];
	bool told = m->cycle;
	for (uint32_t i = 0; i < c->level; i++) {
		struct mark *around = &t->marks[i];
		if (around->finding && !around->cycle) {
			struct finding f = occurrence(d, t, around);
			who_closed(d, c, now, &f);
			finding_confirm(d, around->finding, &f);
			told = true;
		}
		around->cycle = true;
		around->state = MARK_DONE;
	}
	if (told)
		return;
	/* Left where? Where it began, if nothing else is known. */
	m->commit = c->out ? c->out : m->stack;
	m->commit_kind = c->out ? c->out_op : OP_ENTER;
	m->held = LOCKSET_EMPTY;
	m->address = 0;
	if (c->out_at & REACH_LOCK)
		now->lock2 = (uint32_t)c->out_at;
	else
		m->address = (uintptr_t)c->out_at;
	if (!now->violation) /* a join whose place was not told */
		now->violation = m->stack;
	struct finding f = violated(d, t, m, now);
	f.kind = FIND_CYCLE;
	f.cycle = f.confirmed = true;
	who_closed(d, c, now, &f);
	m->finding = finding_merge(d, &f);
	if (m->finding)
		finding_confirm(d, m->finding, &f);
}
