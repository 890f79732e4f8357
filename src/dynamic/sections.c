/*
 * sections: taking and letting go of locks (reduction.h): the sets of locks
 * held, what one section knows of those before it, and blocks that release a
 * lock and acquire it again.
 */
#include "base/invariant.h"
#include "dynamic/facts.h"
#include "dynamic/findings.h"
#include "dynamic/log.h"
#include "dynamic/mark.h"
#include "dynamic/reduction.h"
#include "dynamic/token.h"

static struct held *held_find(struct thread *t, uintptr_t addr)
{
	assert(t->nheld <= RED_HELD);
	for (uint32_t i = t->nheld; i; i--)
		if (t->held[i - 1].addr == addr)
			return &t->held[i - 1];
	return NULL;
}

uint32_t red_lock_id(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	unsigned i = red_known(addr);
	if (t->known[i].addr != addr || !t->known[i].id) {
		t->known[i].addr = addr;
		t->known[i].id = lock_id(&d->locks, addr);
	}
	return t->known[i].id;
}

/*
 * Since the thread released the lock (entry e) another thread held it, and
 * releases and acquisitions conflict on both sides: that is a cycle. The last
 * section that was not a reader's cleared the readers: those that are there
 * came later.
 */
static bool came_between(const struct thread *t, const struct lock *l, bool read, const struct log_entry *e)
{
	return (l->rel_tid && l->rel_tid != t->tid) || (!read && !e->read && l->readers.n);
}

/* The section that came in between, into the finding: one that wrote, if any did. */
static void who_came(const struct thread *t, struct lock *l, const struct log_entry *e, struct finding *f)
{
	spin_lock(&l->spin); /* other readers may be letting go */
	bool wrote = l->wrote.uid && l->wrote.uid != t->uid && l->wrote.seq > e->seq;
	struct lock_section s = wrote ? l->wrote : *lock_last(l);
	spin_unlock(&l->spin);
	f->confirmed = wrote;
	if (!s.uid || s.uid == t->uid)
		return;
	f->other = s.uid;
	f->other_acquire = s.acquire;
	f->other_write = s.write;
	f->other_held = s.held;
}

/*
 * A gap of a thread's first function, which is most often a loop that goes on as long as the program: are turns of one
 * section, and what threads do in phases, left out? Of the others the first executions are looked at, then each time
 * that their number has doubled, and the first that another thread came into. False: not this one. `skipped` gets how
 * many were not looked at.
 */
static __attribute__((noinline)) bool outer_wanted(struct thread *t, const struct log_entry *e, const struct held *h, bool came,
                                                   uint32_t *skipped)
{
	enum { FIRST = 32 };
	assert(!*skipped && h->acquire);
	if (log_crossed(t, e))
		return false;
	struct outer_gap *g = &t->outer[(e->stack ^ h->acquire * 5u) % RED_OUTER];
	if (g->commit != e->stack || g->violation != h->acquire)
		*g = (struct outer_gap){ e->stack, h->acquire, 0, 0 };
	uint32_t n = ++g->n;
	if (n > FIRST && !(n & (n - 1)))
		*skipped = n / 2 - 1;
	return n <= FIRST || !(n & (n - 1)) || (came && g->came++ < FIRST);
}

/* The lock was released and is taken again: who contains both? `at`: the section before; `outer`: only the thread's
 * first function can. */
static __attribute__((noinline)) void gap_in(struct dynamic *d, struct thread *t, struct lock *l, struct held *h, uint32_t at,
                                             bool outer)
{
	assert(h >= t->held && h <= t->held + t->nheld && h->lock == (uint32_t)(l - d->locks.locks));
	uint32_t skipped = 0;
	const struct log_entry *e = &t->log[at % RED_LOG];
	struct frame *home = log_home(t, at);
	if (outer ? !log_first_function(t, home) : log_outermost(t, home))
		return;
	if (t->nmarks && log_marked(t, at, home))
		return;
	if (outer && !outer_wanted(t, e, h, came_between(t, l, h->read, e), &skipped))
		return;
	if (d->alone)
		d->alone(t);
	struct finding f = {
		.kind = FIND_LOCK,
		/* A loop is not reported, the same places without one are. */
		.key = mix64(home->pc ^ mix64((uint64_t)e->stack << 32 | h->acquire)) ^ (e->acquire == h->acquire),
		.address = l->addr,
		.uid = t->uid,
		.tid = t->tid,
		.from = e->epoch,
		.to = t->acc.epoch,
		.entered = red_entered(d, t, home),
		.section = e->acquire,
		.commit = e->stack,
		.violation = h->acquire,
		.lock = h->lock,
		.life = l->life,
		.across = log_held_across(d, t, at),
		.commit_held = e->held,
		.held = t->acc.all,
		.commit_op = OP_RELEASE,
		.violation_op = OP_ACQUIRE,
		.loop = e->acquire == h->acquire,
		.cycle = came_between(t, l, h->read, e),
		.delayed = t->delayed == l->addr,
		.made = l->created,
		.crossed = log_crossed(t, e),
		.skipped = skipped,
		.inherited = e->back != UINT8_MAX && (int32_t)(at - e->back - home->log) < 0,
	};
	if (f.cycle)
		who_came(t, l, e, &f);
	f.taken = h->read ? 0 : t->log_taken[at % RED_LOG];
	if (f.taken)
		f.unsettled = t->uid;
	h->finding = finding_merge(d, &f);
	h->block = home->log;
	h->gap = at;
	h->came = f.cycle;
	h->first_wrote = e->wrote && !e->read;
	if (h->finding)
		finding_judge(d, t, h->finding);
}

/*
 * Data that is written under this lock was read without it, and now the lock is taken: a check before the lock. What
 * follows is judged as after a gap; when it looks at the data again it is no finding (finding_pattern.c). `outer`: in the thread's
 * first function, else only in another.
 */
static __attribute__((noinline)) void looked_before(struct dynamic *d, struct thread *t, struct lock *l, struct held *h, bool outer)
{
	assert(t->looked && t->looked <= t->nlog && t->looked_race < d->shadow.nraces);
	uint32_t at = t->looked - 1;
	const struct race *r = &d->shadow.races[t->looked_race];
	const struct log_entry *e = &t->log[at % RED_LOG];
	if (h->finding || h->read || t->nlog - at > d->history || e->kind != LOG_READ || !lockset_has(&d->sets, r->wlocks, h->lock))
		return;
	struct frame *home = log_home(t, at);
	if (outer ? !log_first_function(t, home) : log_outermost(t, home))
		return;
	if (t->nmarks && log_marked(t, at, home))
		return;
	if (d->alone)
		d->alone(t);
	bool came = r->w[0].uid && !red_same(t, r, &r->w[0]) && r->wseq != e->seq;
	struct finding f = {
		.kind = FIND_LOCK,
		.bare = true,
		.key = mix64(home->pc ^ mix64((uint64_t)e->stack << 32 | h->acquire)) ^ 2,
		.address = l->addr,
		.address2 = e->key & ~(1ull << 63),
		.uid = t->uid,
		.tid = t->tid,
		.from = e->epoch,
		.to = t->acc.epoch,
		.entered = red_entered(d, t, home),
		.commit = e->stack,
		.violation = h->acquire,
		.lock = h->lock,
		.life = l->life,
		.commit_held = e->held,
		.held = t->acc.all,
		.commit_op = OP_READ,
		.violation_op = OP_ACQUIRE,
		.cycle = came,
		.delayed = t->delayed == l->addr,
		.confirmed = came,
		.made = l->created,
		.crossed = log_crossed(t, e),
	};
	if (came) {
		f.other = red_who(d, &r->w[0]);
		f.other_write = r->w[0].stack;
		f.other_op = OP_WRITE;
	}
	h->finding = finding_merge(d, &f);
	h->block = home->log;
	h->gap = at;
	h->came = came;
	if (h->finding)
		finding_judge(d, t, h->finding);
}

/* What a lock that is taken again, or was looked in front of, ends: of the innermost functions first. */
static inline void taken_again(struct dynamic *d, struct thread *t, struct lock *l, struct held *h, const uint32_t *last)
{
	uint32_t at;
	bool inner = log_find(d, t, h->lock, &at);
	if (inner)
		gap_in(d, t, l, h, at, false);
	if (__builtin_expect(t->looked, 0))
		looked_before(d, t, l, h, false);
	bool judged = h->finding && d->findings[h->finding].ready; /* else what is known of it so far shows nothing */
	if (!inner && !judged && t->log[*last % RED_LOG].acquire != h->acquire &&
	    log_find_section(d, t, h->lock, *last)) /* else it is a loop */
		gap_in(d, t, l, h, *last, true);
	if (__builtin_expect(t->looked, 0)) {
		looked_before(d, t, l, h, true);
		t->looked = 0;
	}
}

/* What the section that ends did with what was left before the gap. */
static enum uses used(const struct dynamic *d, const struct thread *t, const struct held *section)
{
	uint32_t from = section->block;
	if (t->nlog - from > d->history)
		from = t->nlog - d->history;
	for (uint32_t i = from; i != t->nlog; i++) {
		const struct log_entry *e = &t->log[i % RED_LOG];
		if (e->kind == LOG_SECTION && e->key == section->lock && e->first == section->first)
			return USES_BACK;
	}
	return USES_WRITE;
}

/* What happened before this acquire: the sections that wrote, and for one
 * that may write those that read, too. Two readers are not ordered. Other
 * readers may be letting go meanwhile; a writer is alone. */
static void learn(struct dynamic *d, struct thread *t, struct lock *l, bool read)
{
	uint32_t by = l->rel_tid;
	bool known = by && by < t->clock.n && t->clock.e[by] >= l->rel_epoch;
	if (l->clock.n && !known) {
		t->learned = t->acc.epoch;
		if (read)
			spin_lock(&l->spin);
		clock_join(&d->bump, &t->clock, &l->clock);
		if (read)
			spin_unlock(&l->spin);
	}
	if (!read && l->readers.n) {
		t->learned = t->acc.epoch;
		clock_join(&d->bump, &t->clock, &l->readers);
	}
}

/* The other side of learn; the lock's spin is held. */
static void teach(struct dynamic *d, struct thread *t, struct lock *l, bool read)
{
	if (read) {
		clock_join(&d->bump, &l->readers, &t->clock);
		return;
	}
	if (l->readers.n)
		clock_clear(&l->readers);
	/* Of a thread that has learned nothing since its own release of the lock only its own entry is another. */
	if (l->rel_tid == t->tid && l->rel_epoch > t->learned) {
		assert(l->clock.n == t->clock.n && t->clock.e[t->tid] == t->acc.epoch);
		l->clock.e[t->tid] = t->acc.epoch;
		PARANOID(clock_equal(&l->clock, &t->clock));
	} else {
		bool copied = clock_copy(&d->bump, &l->clock, &t->clock);
		l->rel_tid = copied && t->tid < t->clock.n ? t->tid : 0;
	}
	l->rel_epoch = t->acc.epoch;
}

/*
 * What keeps others from entering such a section: the locks held when it was
 * entered, some of which may have been released since (hand over hand), and
 * those still held at its end.
 */
static __attribute__((noinline)) uint32_t guards(struct dynamic *d, struct thread *t, const struct held *section)
{
	uint32_t set = t->acc.all, n;
	const uint32_t *before = lockset_members(&d->sets, section->all, &n);
	for (uint32_t i = 0; i < n; i++)
		set = lockset_add(&d->sets, &t->cache, set, before[i]);
	return set;
}

/* While marked blocks are open: reach.h. */
static __attribute__((noinline)) void exact_lock(struct dynamic *d, struct thread *t, uint32_t id, uint8_t op, bool write,
                                                 uint32_t stack)
{
	assert(id && id < d->locks.max);
	struct lock *l = &d->locks.locks[id];
	struct reach_cycle c;
	if (reach_lock(t, id, l->life, op, write, stack, &c))
		mark_cycle(d, t, &c,
		           &(struct finding){
				   .address = l->addr, .lock = id, .life = l->life, .violation = stack, .violation_op = op });
}

static uint32_t unwritten(const struct thread *t)
{
	uint32_t marks = 0;
	for (uint32_t i = 0; i < t->nmarks; i++)
		marks |= (uint32_t)!t->marks[i].wrote << i;
	return marks;
}

/* No signal came after the section that might have been giving back. */
static __attribute__((noinline)) void not_given(struct dynamic *d, struct thread *t)
{
	assert(t->giving && t->giving < d->nfindings);
	uint32_t finding = t->giving;
	t->giving = 0;
	if (d->alone)
		d->alone(t);
	finding_settle(d, t, finding, 0);
}

/* The thread takes a lock, and has signalled or might have given back. */
static __attribute__((noinline)) void after_signal(struct dynamic *d, struct thread *t, uintptr_t addr, bool read)
{
	if (t->giving)
		not_given(d, t);
	if (t->signalled && !read && t->signalled == red_lock_id(d, t, addr)) {
		d->locks.locks[t->signalled].monitor = true;
		t->signalled = 0;
	}
}

/* The section that ends is the second of an unsettled finding. */
static __attribute__((noinline)) void settle(struct dynamic *d, struct thread *t, const struct held *section)
{
	assert(section->finding && section->finding < d->nfindings);
	const struct finding *f = &d->findings[section->finding];
	if (f->unsettled != t->uid)
		return;
	bool same = section->word == f->taken;
	if (same && !section->signalled)
		t->giving = section->finding; /* the signal may come yet */
	else
		finding_settle(d, t, section->finding, same ? f->taken : 0);
}

/* The section after a gap ends. */
static __attribute__((noinline)) void second_ends(struct dynamic *d, struct thread *t, struct lock *l, const struct held *section)
{
	if (section->write && !section->read)
		finding_wrote(d, t, section->finding, section, used(d, t, section));
	facts_look(d, t, l, section);
	settle(d, t, section);
}

void red_signal(struct dynamic *d, struct thread *t)
{
	const struct log_entry *last = &t->log[(t->nlog - 1) % RED_LOG];
	for (uint32_t i = 0; i < t->nheld; i++) {
		t->held[i].signalled = true;
		if (!t->held[i].read)
			d->locks.locks[t->held[i].lock].monitor = true;
	}
	/* A lock's record is changed by who holds it: later. */
	if (!t->nheld && t->nlog && last->kind == LOG_SECTION && !last->read)
		t->signalled = (uint32_t)last->key;
	if (t->giving) {
		uint32_t finding = t->giving;
		t->giving = 0;
		if (d->alone)
			d->alone(t);
		finding_settle(d, t, finding, d->findings[finding].taken);
	}
}

void red_acquire(struct dynamic *d, struct thread *t, uintptr_t addr, bool read, bool wait, uintptr_t pc)
{
	if (t->giving | t->signalled)
		after_signal(d, t, addr, read);
	struct held *h = held_find(t, addr);
	if (h) {
		h->depth++; /* re-entrant: a both-mover */
		t->trying = false;
		return;
	}
	uint32_t id = red_lock_id(d, t, addr);
	if (!id || t->nheld == RED_HELD) {
		t->lost++;
		return;
	}
	struct lock *l = &d->locks.locks[id];
	t->backing_off = false;
	h = &t->held[t->nheld];
	*h = (struct held){ .addr = addr, .lock = id, .depth = 1, .read = read, .log = t->nlog, .monitor = l->monitor };
	h->seq = __atomic_add_fetch(&l->seq, 1, __ATOMIC_RELAXED);
	h->acquire = h->origin = red_stack(d, t, pc);
	if (!l->created && !read) /* which of several readers was first is not known */
		l->created = h->acquire | LOCK_FIRST_USE;
	if (!wait) {
		taken_again(d, t, l, h, &t->known[red_known(addr)].last);
	} else {
		t->synced = t->acc.epoch + 2; /* what follows this section is another phase */
		if (t->wait_lock == id)
			h->origin = t->wait_origin;
	}
	if (__builtin_expect(t->delayed != 0, 0) && t->delayed == addr)
		t->delayed = 0;
	learn(d, t, l, read);
	if (d->order.edges) {
		if (t->nheld && !t->trying)
			lock_order_take(d, t, h);
		if (!read) {
			l->owner = t->uid;
			l->owned = h->acquire;
		}
	}
	t->trying = false;
	if (t->nmarks)
		mark_acquire(d, t, id, h->acquire, wait);
	if (d->reach.open) {
		if (wait)
			reach_restart(t, unwritten(t));
		exact_lock(d, t, id, wait ? OP_WAIT : OP_ACQUIRE, !read, h->acquire);
	}
	t->nheld++;
	t->monitors += h->monitor;
	t->wrote = false;
	/* So that a function entered from here on is known to be later. */
	log_acquire(t);
	h->traced = t->traced |= h->seq < TRAIL_FIRST || l->pending;
	h->all = t->acc.all;
	h->wr = t->acc.wr;
	t->acc.all = lockset_add(&d->sets, &t->cache, h->all, id);
	if (!read)
		t->acc.wr = h->wr == h->all ? t->acc.all : lockset_add(&d->sets, &t->cache, h->wr, id);
	red_tick(t);
}

/* The same when it is not the last taken, or when one taken before it went first: the sets of before have what is no longer
 * held, or have not what still is. */
static __attribute__((noinline)) void let_go_between(struct dynamic *d, struct thread *t, struct held *h)
{
	struct held section = *h;
	for (; h < t->held + t->nheld; h++) {
		*h = h[1];
		h->stale = true;
	}
	*h = section;
	t->acc.all = lockset_remove(&d->sets, &t->cache, t->acc.all, section.lock);
	if (!section.read)
		t->acc.wr = lockset_remove(&d->sets, &t->cache, t->acc.wr, section.lock);
}

/* Takes the lock from those held; it is the first entry behind them then, and is returned. The last taken leaves the sets of
 * before. */
static struct held *let_go(struct dynamic *d, struct thread *t, struct held *h)
{
	assert(h >= t->held && h < t->held + t->nheld);
	struct held *last = &t->held[--t->nheld];
	if (h == last)
		t->traced = h > t->held && h[-1].traced;
	if (h == last && !h->stale) {
		t->acc.all = h->all;
		t->acc.wr = h->wr;
	} else {
		let_go_between(d, t, h);
	}
	return last;
}

void red_release(struct dynamic *d, struct thread *t, uintptr_t addr, bool wait, uintptr_t pc)
{
	if (t->giving)
		not_given(d, t);
	struct held *h = held_find(t, addr);
	t->unheld = !h;
	if (!h) {
		if (t->lost)
			t->lost--;
		else if (d->races.dir) /* what it did still comes before what the next holder does */
			red_sync_release(d, t, addr);
		return;
	}
	if (--h->depth && !wait)
		return;
	uint32_t id = h->lock;
	struct lock *l = &d->locks.locks[id];
	struct held *section = let_go(d, t, h); /* nothing is taken before the end of this function */
	t->monitors -= section->monitor;
	if (d->alone && (l->pending || section->finding))
		d->alone(t);
	uint32_t held = section->all == t->acc.all ? section->all : guards(d, t, section);
	if (d->order.edges && !section->read)
		l->owner = 0;
	spin_lock(&l->spin);
	/* Of several readers, who comes first with something new is as chance has it. */
	if (section->read && d->alone && !evidence_known(t, l, section, held)) {
		spin_unlock(&l->spin);
		d->alone(t);
		spin_lock(&l->spin);
	}
	struct lock_section *seen = section->write && !section->read ? &l->wrote : &l->last;
	if (!section->read || !lock_readers(l) || t->uid <= l->last.uid) {
		seen->uid = t->uid;
		seen->seq = section->seq;
		seen->acquire = section->acquire;
		seen->held = t->acc.all;
		if (seen == &l->wrote)
			seen->write = section->write;
		else
			seen->read = section->read;
	}
	teach(d, t, l, section->read);
	evidence_add(d, t, l, section, held);
	uint32_t taken = token_taken(section);
	if (taken) /* also before the lock is known for a monitor: what was taken then is given back after */
		l->taker = t->uid;
	spin_unlock(&l->spin);
	uint32_t stack = red_stack(d, t, pc);
	if (section->finding)
		second_ends(d, t, l, section);
	if (wait) {
		l->monitor = true;
		t->wait_lock = id;
		t->wait_origin = section->origin;
	}
	if (d->reach.open)
		exact_lock(d, t, id, OP_RELEASE, !section->read, stack);
	bool backs_off = t->backing_off && !section->write;
	if (!wait && !backs_off) {
		log_push(t, (struct log_entry){ .key = id,
		                                .stack = stack,
		                                .acquire = section->origin,
		                                .held = t->acc.all,
		                                .seq = section->seq,
		                                .epoch = t->acc.epoch,
		                                .kind = LOG_SECTION,
		                                .read = section->read,
		                                .wrote = section->write != 0,
		                                .back = log_back(t, section),
		                                .first = section->read ? 0 : section->first });
		t->known[red_known(addr)].last = t->nlog - 1;
	}
	if (taken && !wait && !backs_off)
		t->log_taken[(t->nlog - 1) % RED_LOG] = taken;
	if (t->nmarks && !backs_off)
		mark_release(t, id, stack, wait);
	red_tick(t);
	t->stamp = t->acc.epoch;
	if (backs_off && d->reach.open)
		reach_restart(t, unwritten(t));
}

void red_renew(struct dynamic *d, struct thread *t, uint32_t lock, uintptr_t pc)
{
	lock_renew(&d->locks.locks[lock]);
	if (pc)
		d->locks.locks[lock].created = red_stack(d, t, pc);
}

void red_sync_release(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	uint32_t id = red_lock_id(d, t, addr);
	if (id) {
		struct lock *l = &d->locks.locks[id];
		spin_lock(&l->spin);
		clock_join(&d->bump, &l->clock, &t->clock);
		l->rel_tid = 0;
		spin_unlock(&l->spin);
	} else {
		d->races.off = true; /* the table is full: an order is lost */
	}
	red_tick(t);
	t->stamp = t->acc.epoch;
}

void red_sync_acquire(struct dynamic *d, struct thread *t, uintptr_t addr)
{
	uint32_t id = red_lock_id(d, t, addr);
	if (!id)
		return;
	struct lock *l = &d->locks.locks[id];
	if (!l->clock.n)
		return;
	spin_lock(&l->spin);
	clock_join(&d->bump, &t->clock, &l->clock);
	spin_unlock(&l->spin);
	red_learned(t);
	t->synced = t->acc.epoch;
}
