#include "dynamic/mark.h"

#include "dynamic/findings.h"

void red_mark_begin(struct dynamic *d, struct thread *t, const char *name,
                    uintptr_t pc)
{
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
	red_tick(t); /* what it touches is its own doing: noted anew */
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

static void report(struct dynamic *d, struct thread *t, struct mark *m,
                   struct finding f, const struct evidence *e)
{
	if (f.kind != FIND_CYCLE)
		f.kind = FIND_MARKED;
	f.address2 = m->address;
	f.key = mix64(m->pc ^ mix64((uint64_t)m->commit << 32 | f.violation));
	f.name = m->name;
	f.uid = t->uid;
	f.tid = t->tid;
	f.from = m->epoch;
	f.to = t->acc.epoch;
	f.entered = m->stack;
	f.commit = m->commit;
	f.commit_op = m->commit_kind;
	f.commit_held = m->held;
	f.held = t->acc.all;
	f.across = lockset_meet(&d->sets, &t->cache, m->held, t->acc.all);
	f.wrote = m->wrote;
	uint32_t id = m->finding = finding_merge(d, &f);
	if (!id)
		return;
	if (!f.lock && !d->findings[id].ready)
		finding_ready(d, &d->findings[id], e);
	else if (f.lock)
		finding_judge(d, t, id);
}

void mark_acquire(struct dynamic *d, struct thread *t, uint32_t lock,
                  uint32_t stack, bool wait)
{
	struct mark *m = blame(t);
	if (!m)
		return;
	struct lock *l = &d->locks.locks[lock];
	struct finding f = {
		.address = l->addr,
		.violation = stack,
		.violation_op = wait ? OP_WAIT : OP_ACQUIRE,
		.lock = lock,
		.lock2 = m->lock,
		.life = l->life,
		.life2 = d->locks.locks[m->lock].life,
	};
	report(d, t, m, f, NULL);
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
static const struct race_access *other_of(const struct dynamic *d, const struct thread *t,
                                          const struct race *r, const struct race_access a[2],
                                          uint32_t from)
{
	for (int i = 0; i < 2; i++)
		if (a[i].uid && !red_same(t, r, &a[i]) && !finding_cannot_meet(d, t, from, &a[i]))
			return &a[i];
	return NULL;
}

void mark_access(struct dynamic *d, struct thread *t, uintptr_t addr,
                 const struct race *r, bool write, uint32_t stack)
{
	uint8_t op = t->acc.atomic ? OP_ATOMIC : write ? OP_WRITE : OP_READ;
	struct mark *m = committed(t);
	const struct race_access *o = m ? other_of(d, t, r, r->w, m->epoch) : NULL;
	bool reads = !o && write; /* a write disturbs readers too */
	if (m && reads)
		o = other_of(d, t, r, r->r, m->epoch);
	m = o ? blame(t) : NULL;
	if (m) {
		struct finding f = {
			.address = addr,
			.violation = stack,
			.violation_op = op,
			.other = o->uid,
			.other_write = o->stack,
			.other_op = reads ? OP_READ : OP_WRITE,
			.lock2 = m->lock, /* to name it: such a finding waits for no evidence */
			.life2 = d->locks.locks[m->lock].life,
		};
		report(d, t, m, f, NULL);
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

void mark_cycle(struct dynamic *d, struct thread *t, const struct reach_cycle *c,
                struct finding *f)
{
	struct mark *m = &t->marks[c->level - 1];
	bool told = m->cycle;
	for (uint32_t i = 0; i < c->level; i++) {
		struct mark *around = &t->marks[i];
		if (around->finding && !around->cycle) {
			finding_confirm(d, around->finding, c->uid, c->stack, c->op);
			told = true;
		}
		around->cycle = true;
		around->state = MARK_DONE;
	}
	if (told)
		return;
	/* Left where? At its fork of a thread, if nothing else is known. */
	m->commit = c->out ? c->out : m->stack;
	m->commit_kind = c->out ? c->out_op : OP_ENTER;
	m->held = LOCKSET_EMPTY;
	m->address = 0;
	if (c->out_at & REACH_LOCK) {
		f->lock2 = (uint32_t)c->out_at;
		f->life2 = d->locks.locks[f->lock2].life;
	} else {
		m->address = (uintptr_t)c->out_at;
	}
	if (!f->violation) /* a join has no place of its own */
		f->violation = m->stack;
	f->kind = FIND_CYCLE;
	f->confirmed = true;
	report(d, t, m, *f, NULL);
	if (m->finding)
		finding_confirm(d, m->finding, c->uid, c->stack, c->op);
}
