#include "dynamic/reduction.h"

#include "dynamic/findings.h"
#include "dynamic/mark.h"

/* ---- stacks ---- */

/* Inlined functions have no return address of their own: the symboliser
 * finds them from the program counter, so they add nothing to the stack.
 *
 * Arguments passed on the stack and not yet taken off it lower the stack pointer,
 * as a call does. A function that was called has its entry hook near its start,
 * one that was inlined has it elsewhere. */
#define ARGUMENTS 128u
#define PROLOGUE 128u

bool red_inlined(const struct frame *f)
{
	uintptr_t lower = f[-1].sp - f[0].sp;
	if (f[0].site != f[-1].site || lower >= ARGUMENTS)
		return false;
	return lower < 16 || (f[0].fn != f[-1].fn && f[0].pc - f[0].fn >= PROLOGUE);
}

static uint32_t frame_node(struct dynamic *d, struct thread *t, struct frame *f)
{
	struct frame *from = f;
	while (from > t->frames && !(from->node & FRAME_NODE))
		from--;
	for (; from < f; from++) {
		struct frame *g = from + 1;
		uint32_t node = from->node & FRAME_NODE;
		if (g->pc && !(g > t->frames + 1 && red_inlined(g))) {
			node = stack_push(&d->stacks, node, g->site);
			node = stack_push(&d->stacks, node, g->pc | STACK_MARK);
		}
		g->node = node | (g->node & FRAME_TOLD);
	}
	return f->node & FRAME_NODE;
}

uint32_t red_stack(struct dynamic *d, struct thread *t, uintptr_t pc)
{
	uint32_t parent = frame_node(d, t, t->top);
	unsigned i = (unsigned)((pc ^ parent) * 0x9e3779b97f4a7c15ull >> 58);
	if (t->seen[i].pc != pc || t->seen[i].parent != parent) {
		t->seen[i].pc = pc;
		t->seen[i].parent = parent;
		t->seen[i].id = stack_push(&d->stacks, parent, pc);
	}
	return t->seen[i].id;
}

void red_prune(struct thread *t, uintptr_t sp)
{
	while (t->top > t->frames && t->top->sp + 8 < sp)
		t->top--;
	while (t->nmarks && t->marks[t->nmarks - 1].nframes >
	                            (uint32_t)(t->top - t->frames))
		t->nmarks--;
	/* Their columns go later (reach_trim): signals may come in here. */
}

/* ---- the log ---- */

static void log_push(struct thread *t, struct log_entry e)
{
	uint32_t i = t->nlog++ % RED_LOG;
	t->log[i] = e;
	t->log_key[i] = e.key;
}

/* The oldest entry that a block other than the outermost can contain. */
static uint32_t log_floor(const struct dynamic *d, const struct thread *t)
{
	if (t->top <= t->frames + 1)
		return t->nlog;
	uint32_t floor = t->frames[2].log;
	return t->nlog - floor > d->history ? t->nlog - d->history : floor;
}

static bool log_find(const struct dynamic *d, const struct thread *t, uint64_t key,
                     uint32_t *at)
{
	uint32_t floor = log_floor(d, t);
	for (uint32_t i = t->nlog; i != floor; i--)
		if (t->log_key[(i - 1) % RED_LOG] == key) {
			*at = i - 1;
			return true;
		}
	return false;
}

/* The deepest frame entered before entry `at` was written. */
static struct frame *log_home(const struct thread *t, uint32_t at)
{
	struct frame *f = t->top;
	while (f > t->frames && (int32_t)(f->log - at) > 0)
		f--;
	return f;
}

/* The outermost function of a thread or of a signal handler is no block. */
static bool outermost(const struct thread *t, const struct frame *f)
{
	return f <= t->frames + 1 || !f->pc || !f[-1].pc;
}

/* Is there a marked block, in this function or what it calls, around all that
 * happened since entry `at`? Then it is judged, and told of once. */
static bool marked(const struct thread *t, uint32_t at, const struct frame *home)
{
	for (uint32_t i = t->nmarks; i; i--) {
		const struct mark *m = &t->marks[i - 1];
		if ((int32_t)(m->log - at) <= 0)
			return m->nframes >= (uint32_t)(home - t->frames);
	}
	return false;
}

/* Locks held all the way from entry `at` until now. */
static uint32_t held_across(struct dynamic *d, struct thread *t, uint32_t at)
{
	uint32_t set = lockset_meet(&d->sets, &t->cache, t->log[at % RED_LOG].held,
	                            t->acc.all);
	for (uint32_t i = at + 1; set && i != t->nlog; i++)
		if (t->log[i % RED_LOG].kind == LOG_SECTION)
			set = lockset_remove(&d->sets, &t->cache, set,
			                     (uint32_t)t->log[i % RED_LOG].key);
	return set;
}

/* ---- locks ---- */

/* A new epoch: what the fast path knows of older accesses ends here. */
void red_tick(struct thread *t)
{
	t->acc.epoch++;
	if (t->tid < t->clock.n)
		t->clock.e[t->tid] = t->acc.epoch;
	t->acc.clock = t->clock.e;
	t->acc.nclock = t->clock.n;
}

/* All that `other` has done so far comes before whatever t does from now on. */
static void fixed_order(struct dynamic *d, struct thread *t, const struct thread *other)
{
	clock_join(&d->bump, &t->fixed, &other->fixed);
	if (other->tid < CLOCK_MAX && clock_reserve(&d->bump, &t->fixed, other->tid + 1) &&
	    t->fixed.e[other->tid] < other->acc.epoch)
		t->fixed.e[other->tid] = other->acc.epoch;
}

void red_thread_begin(struct dynamic *d, struct thread *t, struct thread *parent,
                      uint32_t tid, uint32_t uid, uint32_t first, uintptr_t pc)
{
	red_thread_end(t);
	t->reach = &d->reach;
	t->fork_tid = 0;
	t->tid = t->acc.tid = tid;
	t->uid = uid;
	t->top = t->frames;
	t->frames[0] = (struct frame){ .sp = ~(uintptr_t)0 >> 1, .fn = FRAME_NO_FN };
	t->nheld = t->nlog = t->nmarks = t->lost = 0;
	t->wrote = t->backing_off = t->cas_failed = false;
	t->acc.all = t->acc.wr = LOCKSET_EMPTY;
	t->acc.cache = &t->cache;
	t->acc.epoch = t->acc.first = first;
	t->stack_lo = t->stack_hi = 0;
	clock_clear(&t->clock);
	clock_clear(&t->fixed);
	if (tid < CLOCK_MAX)
		clock_reserve(&d->bump, &t->clock, tid + 1);
	t->parent = t->created = 0;
	if (parent) {
		clock_join(&d->bump, &t->clock, &parent->clock);
		fixed_order(d, t, parent);
		t->parent = parent->uid;
		if (uid < RED_UIDS)
			d->parents[uid] = parent->uid;
		t->created = red_stack(d, parent, pc);
	}
	red_tick(t);
	if (d->reach.open)
		reach_begin(parent, t);
	t->joined = t->since = t->acc.epoch;
	if (parent) {
		red_tick(parent);
		parent->since = parent->acc.epoch;
	}
}

void red_thread_end(struct thread *t)
{
	t->nmarks = 0;
	reach_trim(t);
}

void red_join(struct dynamic *d, struct thread *t, const struct thread *other)
{
	clock_join(&d->bump, &t->clock, &other->clock);
	fixed_order(d, t, other);
	if (d->reach.open) {
		struct reach_cycle c = reach_join(t, other);
		if (c.level)
			mark_cycle(d, t, &c, &(struct finding){ .violation_op = OP_JOIN });
	}
	red_tick(t);
	t->joined = t->since = t->acc.epoch;
}

static struct held *held_find(struct thread *t, uintptr_t addr)
{
	for (uint32_t i = t->nheld; i; i--)
		if (t->held[i - 1].addr == addr)
			return &t->held[i - 1];
	return NULL;
}

static uint32_t id_of(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	unsigned i = (unsigned)(addr * 0x9e3779b97f4a7c15ull >> (64 - RED_KNOWN_BITS));
	if (t->known[i].addr != addr || !t->known[i].id) {
		t->known[i].addr = addr;
		t->known[i].id = lock_id(&d->locks, addr);
	}
	return t->known[i].id;
}

/*
 * Since the thread let go of the lock (entry e) another had it, and letting go
 * and taking it conflict on both sides: that is a cycle. The last section that
 * was not a reader's cleared the readers: those that are there came later.
 */
static bool came_between(const struct thread *t, const struct lock *l, bool read,
                         const struct log_entry *e)
{
	return (l->rel_tid && l->rel_tid != t->tid) || (!read && !e->read && l->readers.n);
}

/* The lock was released and is taken again: who contains both? */
static void taken_again(struct dynamic *d, struct thread *t, struct lock *l,
                        struct held *h)
{
	uint32_t at;
	if (!log_find(d, t, h->lock, &at))
		return;
	const struct log_entry *e = &t->log[at % RED_LOG];
	struct frame *home = log_home(t, at);
	if (outermost(t, home) || (t->nmarks && marked(t, at, home)))
		return;
	if (d->alone)
		d->alone(t);
	struct finding f = {
		.kind = FIND_LOCK,
		.key = mix64(home->pc ^ mix64((uint64_t)e->stack << 32 | h->acquire)),
		.address = l->addr,
		.uid = t->uid,
		.tid = t->tid,
		.from = e->epoch,
		.to = t->acc.epoch,
		.entered = stack_push(&d->stacks, frame_node(d, t, home), home->pc),
		.section = e->acquire,
		.commit = e->stack,
		.violation = h->acquire,
		.lock = h->lock,
		.life = l->life,
		.across = held_across(d, t, at),
		.commit_held = e->held,
		.held = t->acc.all,
		.commit_op = OP_RELEASE,
		.violation_op = OP_ACQUIRE,
		.loop = e->acquire == h->acquire,
		.cycle = came_between(t, l, h->read, e),
	};
	f.confirmed = f.cycle && l->wuid && l->wuid != t->uid && l->wseq > e->seq;
	if (f.confirmed)
		f.other = l->wuid;
	h->finding = finding_merge(d, &f);
	h->first_wrote = e->wrote && !e->read;
	if (h->finding)
		finding_judge(d, t, h->finding);
}

/* What happened before this acquire: the sections that wrote, and for one
 * that may write those that read, too. Two readers are not ordered. Other
 * readers may be letting go meanwhile; a writer is alone. */
static void learn(struct dynamic *d, struct thread *t, struct lock *l, bool read)
{
	uint32_t by = l->rel_tid;
	bool known = by && by < t->clock.n && t->clock.e[by] >= l->rel_epoch;
	if (l->clock.n && !known) {
		if (read)
			spin_lock(&l->spin);
		clock_join(&d->bump, &t->clock, &l->clock);
		if (read)
			spin_unlock(&l->spin);
	}
	if (!read && l->readers.n)
		clock_join(&d->bump, &t->clock, &l->readers);
}

/* The other side of learn; the lock's spin is held. */
static void teach(struct dynamic *d, struct thread *t, struct lock *l, bool read)
{
	if (read) {
		clock_join(&d->bump, &l->readers, &t->clock);
		return;
	}
	clock_copy(&d->bump, &l->clock, &t->clock);
	if (l->readers.n)
		clock_clear(&l->readers);
	l->rel_tid = t->tid < t->clock.n ? t->tid : 0;
	l->rel_epoch = t->acc.epoch;
}

/* While marked blocks are open: reach.h. */
static __attribute__((noinline)) void exact_lock(struct dynamic *d, struct thread *t, uint32_t id,
                                                 uint8_t op, bool write, uint32_t stack)
{
	struct lock *l = &d->locks.locks[id];
	struct reach_cycle c = reach_lock(t, id, l->life, op, write, stack);
	if (c.level)
		mark_cycle(d, t, &c, &(struct finding){ .address = l->addr, .lock = id, .life = l->life,
			                                .violation = stack, .violation_op = op });
}

static __attribute__((noinline)) void exact_data(struct dynamic *d, struct thread *t,
                                                 uintptr_t addr, unsigned mask, bool write,
                                                 uintptr_t pc)
{
	uint8_t op = t->acc.atomic ? OP_ATOMIC : write ? OP_WRITE : OP_READ;
	uint32_t stack = red_stack(d, t, pc);
	struct reach_cycle c = reach_data(t, addr, mask, op, write, stack);
	if (c.level)
		mark_cycle(d, t, &c, &(struct finding){ .address = addr, .violation = stack,
			                                .violation_op = op });
}

static uint32_t unwritten(const struct thread *t)
{
	uint32_t marks = 0;
	for (uint32_t i = 0; i < t->nmarks; i++)
		marks |= (uint32_t)!t->marks[i].wrote << i;
	return marks;
}

void red_acquire(struct dynamic *d, struct thread *t, uintptr_t addr, bool read,
                 bool wait, uintptr_t pc)
{
	struct held *h = held_find(t, addr);
	if (h) {
		h->depth++; /* re-entrant: a both-mover */
		return;
	}
	uint32_t id = id_of(d, t, addr);
	if (!id || t->nheld == RED_HELD) {
		t->lost++;
		return;
	}
	struct lock *l = &d->locks.locks[id];
	t->backing_off = false;
	h = &t->held[t->nheld];
	*h = (struct held){ .addr = addr, .lock = id, .depth = 1, .read = read, .log = t->nlog };
	h->seq = __atomic_add_fetch(&l->seq, 1, __ATOMIC_RELAXED);
	h->acquire = red_stack(d, t, pc);
	if (!wait)
		taken_again(d, t, l, h);
	learn(d, t, l, read);
	if (t->nmarks)
		mark_acquire(d, t, id, h->acquire, wait);
	if (d->reach.open) {
		if (wait)
			reach_restart(t, unwritten(t));
		exact_lock(d, t, id, wait ? OP_WAIT : OP_ACQUIRE, !read, h->acquire);
	}
	t->nheld++;
	t->wrote = false;
	/* So that a function entered from here on is known to be later. */
	log_push(t, (struct log_entry){ .key = UINT64_MAX, .kind = LOG_ACQUIRE });
	t->acc.all = lockset_add(&d->sets, &t->cache, t->acc.all, id);
	if (!read)
		t->acc.wr = lockset_add(&d->sets, &t->cache, t->acc.wr, id);
	red_tick(t);
}

void red_release(struct dynamic *d, struct thread *t, uintptr_t addr, bool wait,
                 uintptr_t pc)
{
	struct held *h = held_find(t, addr);
	if (!h) {
		if (t->lost)
			t->lost--;
		return;
	}
	if (--h->depth && !wait)
		return;
	uint32_t id = h->lock;
	struct lock *l = &d->locks.locks[id];
	struct held section = *h;
	uint32_t n = (uint32_t)(h - t->held);
	for (t->nheld--; n < t->nheld; n++)
		t->held[n] = t->held[n + 1];
	t->acc.all = lockset_remove(&d->sets, &t->cache, t->acc.all, id);
	if (!section.read)
		t->acc.wr = lockset_remove(&d->sets, &t->cache, t->acc.wr, id);
	if (d->alone && (l->pending || section.finding))
		d->alone(t);
	spin_lock(&l->spin);
	/* Of several readers, who comes first with something new is as chance has it. */
	if (section.read && d->alone && !evidence_known(t, l, &section, t->acc.all)) {
		spin_unlock(&l->spin);
		d->alone(t);
		spin_lock(&l->spin);
	}
	if (section.write && !section.read) {
		l->wseq = section.seq;
		l->wuid = t->uid;
	}
	teach(d, t, l, section.read);
	evidence_add(d, t, l, &section, t->acc.all);
	spin_unlock(&l->spin);
	uint32_t stack = red_stack(d, t, pc);
	if (section.finding && section.write && !section.read && section.first_wrote) {
		struct finding *f = &d->findings[section.finding];
		f->wrote = true;
		finding_judge(d, t, section.finding);
	}
	if (d->reach.open)
		exact_lock(d, t, id, OP_RELEASE, !section.read, stack);
	bool backs_off = t->backing_off && !section.write;
	if (!wait && !backs_off)
		log_push(t, (struct log_entry){ .key = id, .stack = stack,
		                                .acquire = section.acquire,
		                                .held = t->acc.all, .seq = section.seq,
		                                .epoch = t->acc.epoch,
		                                .kind = LOG_SECTION, .read = section.read,
		                                .wrote = section.write != 0 });
	if (t->nmarks && !backs_off)
		mark_release(t, id, stack, wait);
	red_tick(t);
	if (backs_off && d->reach.open)
		reach_restart(t, unwritten(t));
}

void red_try_failed(struct thread *t)
{
	t->backing_off = true;
}

void red_cas(struct thread *t, uintptr_t addr, bool failed)
{
	mark_looks_again(t, addr, false);
	t->cas_failed = failed;
}

void red_sync_release(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	uint32_t id = id_of(d, t, addr);
	if (id) {
		struct lock *l = &d->locks.locks[id];
		spin_lock(&l->spin);
		clock_join(&d->bump, &l->clock, &t->clock);
		l->rel_tid = 0;
		spin_unlock(&l->spin);
	}
	red_tick(t);
}

void red_sync_acquire(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	uint32_t id = id_of(d, t, addr);
	if (!id)
		return;
	struct lock *l = &d->locks.locks[id];
	if (!l->clock.n)
		return;
	spin_lock(&l->spin);
	clock_join(&d->bump, &t->clock, &l->clock);
	spin_unlock(&l->spin);
	t->acc.clock = t->clock.e;
	t->acc.nclock = t->clock.n;
}

/* ---- data ---- */

/* Racing data read and then written in one block that also uses locks. */
static void racy_write(struct dynamic *d, struct thread *t, uintptr_t addr,
                       const struct race *r, uint32_t stack)
{
	uint32_t at;
	if (!log_find(d, t, (uint64_t)addr | 1ull << 63, &at))
		return;
	const struct log_entry *e = &t->log[at % RED_LOG];
	struct frame *home = log_home(t, at);
	if (e->kind != LOG_READ || outermost(t, home) || (t->nmarks && marked(t, at, home)))
		return;
	/* Unless another thread did come in between, two cases are let pass. A
	 * lock held across the pair is taken as meant to protect it, though not
	 * every writer holds it: memory that a program's own allocator passes on
	 * is under one lock today and another tomorrow. And one's own stack is
	 * used again by every call: what raced there before was another variable. */
	uint32_t across = held_across(d, t, at);
	bool own_stack = addr >= t->stack_lo && addr < t->stack_hi;
	bool confirmed = r->w[0].uid != t->uid && r->wseq != e->seq;
	if ((across || own_stack) && !confirmed)
		return;
	bool locks = t->nheld && (int32_t)(t->held[t->nheld - 1].log - home->log) >= 0;
	for (uint32_t i = home->log; !locks && i != t->nlog; i++)
		locks = t->nlog - i <= RED_LOG && t->log[i % RED_LOG].kind == LOG_SECTION;
	const struct race_access *w = !red_same(t, r, &r->w[0]) ? &r->w[0] : &r->w[1];
	if (!locks || !w->uid || red_same(t, r, w))
		return;
	struct finding f = {
		.kind = FIND_RACE,
		.key = mix64(home->pc ^ mix64((uint64_t)e->stack << 32 | stack)),
		.address = addr,
		.uid = t->uid,
		.entered = stack_push(&d->stacks, frame_node(d, t, home), home->pc),
		.commit = e->stack,
		.violation = stack,
		.across = across,
		.commit_held = e->held,
		.held = t->acc.all,
		.commit_op = OP_READ,
		.violation_op = OP_WRITE,
		.other = w->uid,
		.other_write = w->stack,
		.other_op = OP_WRITE,
		.confirmed = confirmed,
	};
	uint32_t id = finding_merge(d, &f);
	if (id && !d->findings[id].ready)
		finding_ready(d, &d->findings[id], NULL);
}

static void racy(struct dynamic *d, struct thread *t, uintptr_t addr,
                 struct race *r, bool write, bool mover, uintptr_t pc)
{
	uint32_t stack = red_stack(d, t, pc);
	if (!t->acc.atomic && t->top > t->frames + 1) {
		if (write)
			racy_write(d, t, addr, r, stack);
		log_push(t, (struct log_entry){ .key = (uint64_t)addr | 1ull << 63,
		                                .stack = stack, .held = t->acc.all,
		                                .seq = r->wseq + write,
		                                .kind = write ? LOG_WRITE : LOG_READ });
	}
	if (t->nmarks && !mover)
		mark_access(d, t, addr, r, write, stack);
	race_note(r, t->uid, stack, write);
}

void red_wrote(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc)
{
	if (addr >= t->stack_lo && addr < t->stack_hi)
		return;
	uint32_t stack = red_stack(d, t, pc);
	t->wrote = true;
	for (uint32_t i = 0; i < t->nheld; i++)
		if (!t->held[i].write)
			t->held[i].write = stack;
	for (uint32_t i = 0; i < t->nmarks; i++)
		t->marks[i].wrote = true;
}

void red_access(struct dynamic *d, struct thread *t, uintptr_t addr,
                unsigned mask, bool write, uintptr_t pc, uint64_t *was)
{
	uint64_t *c = shadow_cell(d->shadow.dir, addr);
	uint32_t race = 0;
	bool looks = t->acc.atomic && !write && t->nmarks;
	if (looks && !t->cas_failed)
		mark_looks_again(t, addr, true);
	uint32_t right = looks ? mark_right(t) : 0;
	if (!c) {
		if (!shadow_leaf(&d->shadow, addr)) {
			t->cas_failed = false;
			return;
		}
		c = shadow_cell(d->shadow.dir, addr);
	}
	enum mover m = shadow_access(&d->shadow, &t->acc, c, mask, write, &race, was);
	if (write && !t->wrote && (t->nheld || t->nmarks))
		red_wrote(d, t, addr, pc);
	if (race)
		racy(d, t, addr, &d->shadow.races[race], write, m != MOVE_RACY, pc);
	if (d->reach.open)
		exact_data(d, t, addr, mask, write, pc);
	if (looks)
		mark_looked(t, addr, right);
	t->cas_failed = false;
}
