#include "dynamic/reduction.h"

#include "base/invariant.h"
#include "dynamic/facts.h"
#include "dynamic/findings.h"
#include "dynamic/log.h"
#include "dynamic/mark.h"
#include "dynamic/token.h"

/* ---- stacks ---- */

/* Inlined functions have no return address of their own: the symboliser
 * finds them from the program counter, so they add nothing to the stack.
 *
 * Arguments passed on the stack and not yet taken off it lower the stack pointer,
 * as a call does. A function that was called has its entry hook near its start,
 * one that was inlined has it elsewhere. */
#define ARGUMENTS 128u
#define PROLOGUE  128u

bool red_inlined(const struct frame *f)
{
	uintptr_t lower = f[-1].sp - f[0].sp;
	if (f[0].site != f[-1].site || lower >= ARGUMENTS)
		return false;
	return lower < 16 || (f[0].fn != f[-1].fn && f[0].pc - f[0].fn >= PROLOGUE);
}

/* Called through a pointer, before the thread did anything that is judged? */
static bool through_pointer(const struct thread *t, const struct frame *f)
{
	size_t depth = (size_t)(f - t->frames);
	return f->log <= t->lead && depth >= 2 && depth < 2 + RED_CALLED_MAX && t->pointers >> (depth - 2) & 1;
}

/* The stack at this frame's call, when it is not known yet. */
static __attribute__((noinline)) uint32_t make_node(struct dynamic *d, struct thread *t, struct frame *f)
{
	struct frame *from = f;
	while (from > t->frames && !(from->node & FRAME_NODE))
		from--;
	for (; from < f; from++) {
		struct frame *g = from + 1;
		uint32_t node = from->node & FRAME_NODE;
		if (g->pc && !(g > t->frames + 1 && red_inlined(g))) {
			bool through = t->pointers << 1 && through_pointer(t, g);
			node = stack_push(&d->stacks, node, g->site | (through ? STACK_THROUGH : 0));
			node = stack_push(&d->stacks, node, g->pc | STACK_MARK);
		}
		g->node = node | (g->node & FRAME_TOLD);
	}
	return f->node & FRAME_NODE;
}

/* The stack at this frame's call. */
static inline uint32_t red_frame_node(struct dynamic *d, struct thread *t, struct frame *f)
{
	assert(f >= t->frames && f <= t->top);
	uint32_t node = f->node & FRAME_NODE;
	return node || f == t->frames ? node : make_node(d, t, f);
}

uint32_t red_entered(struct dynamic *d, struct thread *t, struct frame *f)
{
	assert(f > t->frames && f <= t->top);
	uint32_t node = red_frame_node(d, t, f);
	if (f == t->frames + 1 || !red_inlined(f))
		return node;
	node = stack_push(&d->stacks, node, f->pc);
	return f->fn && f->fn != FRAME_NO_FN ? stack_push(&d->stacks, node, (f->fn + 1) | STACK_NAME) : node;
}

/* The functions that are active, except the outermost: main and threads' first ones
 * are not judged. Inlined ones are in no stack, so they are counted apart. */
static void note_functions(struct dynamic *d, const struct thread *t)
{
	for (const struct frame *f = t->top; d->functions && f > t->frames + 1; f--) {
		uint32_t i = (uint32_t)mix64(f->fn) % RED_FUNCTIONS, tries = 0;
		uintptr_t was = f->fn;
		if (!f->fn || f->fn == FRAME_NO_FN)
			continue;
		for (; tries < RED_FUNCTIONS; tries++, i = (i + 1) % RED_FUNCTIONS) {
			was = 0;
			if (__atomic_compare_exchange_n(&d->functions[i], &was, f->fn, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			    was == f->fn)
				break;
		}
		if (!was && tries < RED_FUNCTIONS)
			__atomic_fetch_add(&d->nfunctions, 1, __ATOMIC_RELAXED);
	}
}

static __attribute__((noinline)) uint32_t remember(struct dynamic *d, struct thread *t, uint32_t parent, uintptr_t pc, unsigned i)
{
	uint32_t before = d->stacks.n;
	t->seen[i].pc = pc;
	t->seen[i].parent = parent;
	t->seen[i].id = stack_push(&d->stacks, parent, pc);
	if (d->stacks.n != before) /* a place met for the first time */
		note_functions(d, t);
	return t->seen[i].id;
}

uint32_t red_stack(struct dynamic *d, struct thread *t, uintptr_t pc)
{
	uint32_t parent = t->top->node & FRAME_NODE; /* 0: not known yet, or nothing is called */
	if (!parent && t->top > t->frames)
		parent = red_frame_node(d, t, t->top);
	unsigned i = (unsigned)((pc ^ parent) * 0x9e3779b97f4a7c15ull >> 58);
	if (t->seen[i].pc != pc || t->seen[i].parent != parent)
		return remember(d, t, parent, pc, i);
	return t->seen[i].id;
}

void red_moved(struct thread *t)
{
	for (unsigned i = 0; i < sizeof t->seen / sizeof *t->seen; i++)
		t->seen[i].pc = 0;
	for (unsigned i = 0; i < sizeof t->known / sizeof *t->known; i++)
		t->known[i].addr = 0;
	if (t->trail)
		t->trail->n += TRAIL_SIZE; /* it has the old addresses */
}

void red_prune(struct thread *t, uintptr_t sp)
{
	while (t->top > t->frames && t->top->sp + 8 < sp)
		t->top--;
	while (t->nmarks && t->marks[t->nmarks - 1].nframes > (uint32_t)(t->top - t->frames))
		t->nmarks--;
	/* Their columns go later (reach_trim): signals may come in here. */
}

/* ---- locks ---- */

/* A new epoch: what the fast path knows of older accesses ends here. */
void red_tick(struct thread *t)
{
	assert(t->acc.epoch != UINT32_MAX);
	t->acc.epoch++;
	if (t->tid < t->clock.n)
		t->clock.e[t->tid] = t->acc.epoch;
	red_clock(t);
}

/* All that `other` has done so far comes before whatever t does from now on. */
static void fixed_order(struct dynamic *d, struct thread *t, const struct thread *other)
{
	clock_join(&d->bump, &t->fixed, &other->fixed);
	if (other->tid < CLOCK_MAX && clock_reserve(&d->bump, &t->fixed, other->tid + 1) &&
	    t->fixed.e[other->tid] < other->acc.epoch)
		t->fixed.e[other->tid] = other->acc.epoch;
}

struct trail *red_ring(struct dynamic *d, uint32_t tid)
{
	if (!d->trails[tid] && !(d->trails[tid] = pages_map(sizeof **d->trails)))
		d->trails[tid] = d->spare;
	return d->trails[tid];
}

void red_thread_begin(struct dynamic *d, struct thread *t, struct thread *parent, uint32_t tid, uint32_t uid, uint32_t first,
                      uintptr_t pc)
{
	assert(tid && tid <= SHADOW_MAX_TID);
	red_thread_end(t);
	t->reach = &d->reach;
	t->fork_tid = 0;
	t->tid = t->acc.tid = tid;
	t->trail = red_ring(d, tid);
	t->uid = uid;
	t->top = t->frames;
	t->frames[0] = (struct frame){ .sp = ~(uintptr_t)0 >> 1, .fn = FRAME_NO_FN };
	t->nheld = t->nlog = t->nmarks = t->lost = 0;
	t->traced = false;
	t->wrote = t->backing_off = t->cas_failed = false;
	t->wait_lock = t->giving = t->pointers = t->monitors = t->signalled = 0;
	t->lead = t->synced = t->looked = t->first_from = t->first_to = t->nfirst = 0;
	for (unsigned i = 0; i < RED_OUTER; i++)
		t->outer[i] = (struct outer_gap){ 0 };
	t->acc.all = t->acc.wr = LOCKSET_EMPTY;
	t->acc.cache = &t->cache;
	t->acc.epoch = t->acc.first = t->learned = first;
	t->stack_lo = t->stack_hi = 0;
	clock_clear(&t->clock);
	clock_clear(&t->fixed);
	if (tid < CLOCK_MAX)
		clock_reserve(&d->bump, &t->clock, tid + 1);
	t->parent = t->created = 0;
	if (tid < RED_SLOTS) {
		d->slot[tid].past = d->slot[tid].uid;
		d->slot[tid].past_first = d->slot[tid].first;
		d->slot[tid].uid = uid;
		d->slot[tid].first = first;
	}
	if (parent) {
		clock_join(&d->bump, &t->clock, &parent->clock);
		fixed_order(d, t, parent);
		t->parent = parent->uid;
		if (uid < RED_UIDS)
			d->parents[uid] = parent->uid;
		t->created = red_stack(d, parent, pc);
	}
	red_tick(t);
	t->stamp = t->acc.epoch;
	t->fenced = false;
	t->foreign = !parent && uid > 1;
	clock_clear(&t->fence_released);
	clock_clear(&t->fence_acquired);
	d->races.on |= d->races.dir && uid > 1; /* what one thread did before came before all */
	if (d->reach.open)
		reach_begin(parent, t);
	t->joined = t->since = t->acc.epoch;
	if (parent) {
		red_tick(parent);
		parent->stamp = parent->since = parent->acc.epoch;
	}
}

/* As `seen` has them already, stacks are rebuilt. */
void red_called(struct thread *t, uint32_t pointers)
{
	t->pointers = pointers | RED_CALLED;
	for (struct frame *f = t->frames + 2; f <= t->top; f++)
		f->node &= FRAME_TOLD;
}

void red_thread_end(struct thread *t)
{
	t->nmarks = 0;
	reach_trim(t);
}

void red_join(struct dynamic *d, struct thread *t, const struct thread *other, uintptr_t pc)
{
	assert(t != other);
	t->learned = t->acc.epoch;
	clock_join(&d->bump, &t->clock, &other->clock);
	fixed_order(d, t, other);
	if (d->reach.open) {
		struct reach_cycle c = reach_join(t, other);
		if (c.level)
			mark_cycle(d, t, &c,
			           &(struct finding){ .violation = pc ? red_stack(d, t, pc) : 0, .violation_op = OP_JOIN });
	}
	red_tick(t);
	t->joined = t->since = t->acc.epoch;
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

static __attribute__((noinline)) void exact_data(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, bool write,
                                                 uintptr_t pc)
{
	uint8_t op = t->acc.atomic ? OP_ATOMIC : write ? OP_WRITE : OP_READ;
	uint32_t stack = red_stack(d, t, pc);
	struct reach_cycle c;
	if (reach_data(t, addr, mask, op, write, stack, &c))
		mark_cycle(d, t, &c, &(struct finding){ .address = addr, .violation = stack, .violation_op = op });
}

/* ---- data ---- */

/* The latest write by another thread that can meet what t does since `from`. */
static const struct race_access *other_write(const struct dynamic *d, const struct thread *t, const struct race *r, uint32_t from)
{
	for (int i = 0; i < 2; i++)
		if (r->w[i].uid && !red_same(t, r, &r->w[i]) && !finding_cannot_meet(d, t, from, &r->w[i]))
			return &r->w[i];
	return NULL;
}

/*
 * A lock held across a read and a write, and another writer's: each holds one, and none is common. A variable of the
 * program is meant to be under one lock. Memory that a program's own allocator passes on is under one lock today and
 * another tomorrow: there both must have come back.
 */
static bool wrong_lock(struct dynamic *d, const struct thread *t, uintptr_t addr, const struct race *r, uint32_t across,
                       uint32_t read, const struct race_access *w)
{
	/* Neither at the read nor at the write: an object that moves from one list to another is under both locks in turn. */
	if (!across || !w->held || lockset_meet(&d->sets, NULL, read, w->held) != LOCKSET_EMPTY ||
	    lockset_meet(&d->sets, NULL, t->acc.all, w->held) != LOCKSET_EMPTY)
		return false;
	if (addr - d->static_lo < d->static_hi - d->static_lo)
		return true;
	return w == &r->w[0] && r->w[1].uid && red_same(t, r, &r->w[1]) &&
	       lockset_meet(&d->sets, NULL, across, r->w[1].held) != LOCKSET_EMPTY;
}

/*
 * Racing data read and then written in one block. When no other thread that can meet it has written the data so far, the
 * finding waits for one (finding_writer).
 */
static void racy_write(struct dynamic *d, struct thread *t, uintptr_t addr, struct race *r, uint32_t stack)
{
	uint32_t at;
	uint64_t key = (uint64_t)addr | 1ull << 63;
	bool outer = !log_find(d, t, key, &at);
	if (outer && !log_find_back(d, t, key, &at))
		return;
	const struct log_entry *e = &t->log[at % RED_LOG];
	struct frame *home = log_home(t, at);
	if (e->kind != LOG_READ || (outer ? !log_first_function(t, home) || log_crossed(t, e) : log_outermost(t, home)))
		return;
	if (t->nmarks && log_marked(t, at, home))
		return;
	/* Unless another thread intervened, two cases are ignored. A lock held
	 * across the pair is taken as meant to protect it, though not every writer
	 * holds it, unless the writer holds another (wrong_lock). And one's own stack is used again by
	 * every call: what raced there before was another variable. */
	uint32_t across = log_held_across(d, t, at);
	bool own_stack = addr >= t->stack_lo && addr < t->stack_hi;
	bool confirmed = r->w[0].uid && !red_same(t, r, &r->w[0]) && r->wseq != e->seq;
	const struct race_access *w = other_write(d, t, r, e->epoch);
	bool wrong = w && wrong_lock(d, t, addr, r, across, e->held, w);
	if ((own_stack || (across && !wrong)) && !confirmed)
		return;
	if (!w && (r->finding || confirmed))
		return;
	struct finding f = {
		.kind = FIND_RACE,
		.key = mix64(home->pc ^ mix64((uint64_t)e->stack << 32 | stack)),
		.address = addr,
		.uid = t->uid,
		.tid = t->tid,
		.from = e->epoch,
		.to = t->acc.epoch,
		.entered = red_entered(d, t, home),
		.commit = e->stack,
		.violation = stack,
		.across = across,
		.commit_held = e->held,
		.held = t->acc.all,
		.commit_op = OP_READ,
		.violation_op = OP_WRITE,
		.uses = USES_WRITE,
		.other = w ? red_who(d, w) : 0,
		.other_write = w ? w->stack : 0,
		.other_op = OP_WRITE,
		.other_held = wrong ? w->held : LOCKSET_EMPTY,
		.confirmed = confirmed,
		.crossed = log_crossed(t, e),
		.wrong = wrong,
	};
	uint32_t id = finding_merge(d, &f);
	if (id && (!w || !w->stack)) /* where it wrote was not kept: perhaps it does so again */
		r->finding = id;
	if (id && w && !d->findings[id].ready)
		finding_ready(d, &d->findings[id], NULL);
}

/* An entry for an access to racing data; `lead`: a thread that has done nothing else so far still has not (through_pointer). */
static void note_racy(struct thread *t, uintptr_t addr, const struct race *r, bool write, bool lead, uint32_t stack)
{
	assert(t->lead <= t->nlog);
	t->lead += lead && t->lead == t->nlog;
	log_push(t, (struct log_entry){ .key = (uint64_t)addr | 1ull << 63,
	                                .stack = stack,
	                                .held = t->acc.all,
	                                .seq = r ? r->wseq + write : 0,
	                                .epoch = t->acc.epoch,
	                                .kind = write ? LOG_WRITE : LOG_READ });
	t->log_trail[(t->nlog - 1) % RED_LOG] = trail_now(t->trail);
}

/*
 * Data that was another thread's alone is read, by no order after that and under no common lock: not racing yet, but
 * when it is written it is this read that counts. Of a function that reads much for the first time, a few are kept, so
 * that a table does not drive all else out of the log.
 */
static __attribute__((noinline)) void first_read(struct dynamic *d, struct thread *t, uintptr_t addr, uintptr_t pc)
{
	enum { RUN = 16 };
	if (t->top <= t->frames || t->nfirst >= RED_FIRST_READS)
		return;
	if (t->first_to != t->nlog || (int32_t)(t->top->log - t->first_from) > 0)
		t->first_from = t->nlog;
	if (t->nlog - t->first_from >= RUN)
		return;
	note_racy(t, addr, NULL, false, true, red_stack(d, t, pc));
	t->first_to = t->nlog;
	t->nfirst++;
}

static void racy(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, struct race *r, bool write, bool mover,
                 uintptr_t pc)
{
	uint32_t stack = red_stack(d, t, pc);
	if (!t->acc.atomic && t->top > t->frames) {
		if (write)
			racy_write(d, t, addr, r, stack);
		note_racy(t, addr, r, write, t->top == t->frames + 1, stack);
		if (!write && !t->nheld && r->wlocks) {
			t->looked = t->nlog;
			t->looked_race = (uint32_t)(r - d->shadow.races);
			trail_push(t->trail, addr, mask | TRAIL_SHARED | TRAIL_BARE, 0, pc, trail_now(t->trail));
		}
	}
	if (write && r->finding)
		finding_writer(d, t, r->finding, addr, stack);
	if (t->nmarks && !mover)
		mark_access(d, t, addr, r, write, stack);
	race_note(r, (struct race_access){ t->uid, stack, t->tid, t->acc.epoch, t->acc.all }, write);
}

void red_wrote(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, bool update, uintptr_t pc)
{
	assert(t->nheld <= RED_HELD && t->nmarks <= RED_MARKS);
	if (addr >= t->stack_lo && addr < t->stack_hi)
		return;
	uint32_t word = token_word(addr, mask);
	uint32_t stack = red_stack(d, t, pc);
	t->wrote = true;
	for (uint32_t i = 0; i < t->nheld; i++) {
		struct held *h = &t->held[i];
		if (!h->write) {
			h->write = stack;
			h->word = word;
			h->first = addr;
			h->blind = !update;
		} else if (h->word != word) {
			h->word = TOKEN_MANY;
		}
		/* It may be a token: the next write is asked for, too. */
		if (h->monitor && h->word != TOKEN_MANY)
			t->wrote = false;
	}
	for (uint32_t i = 0; i < t->nmarks; i++)
		t->marks[i].wrote = true;
}

/* Data is written under these locks from now on that sections before may have read
 * without an entry in a trail. */
static __attribute__((noinline)) void untraced(struct dynamic *d, struct thread *t)
{
	for (uint32_t i = 0; i < t->nheld; i++) {
		struct lock *l = &d->locks.locks[t->held[i].lock];
		spin_lock(&l->spin);
		l->untraced = t->held[i].seq;
		for (uint32_t k = 0; k < l->nev; k++)
			if (l->ev[k].uid != t->uid)
				l->ev[k].kept = KEPT_MISSED;
		spin_unlock(&l->spin);
	}
	t->acc.unread = false;
}

void red_access(struct dynamic *d, struct thread *t, uintptr_t addr, unsigned mask, bool write, uintptr_t pc, uint64_t *was)
{
	assert(mask && mask <= 0xff);
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
	bool first = write && !t->wrote && (t->nheld || t->nmarks);
	bool update = first && (!t->monitors || shadow_read_now(&d->shadow, &t->acc, c, mask));
	uint64_t found = 0;
	bool again = t->traced && *c >> CELL_TAG == CELL_OTHER && shadow_known_now(&d->shadow, &t->acc, c, mask, write);
	enum mover m = shadow_access(&d->shadow, &t->acc, c, mask, write, &race, &found);
	if (was)
		*was = found;
	if (t->traced && m != MOVE_READ && !again)
		red_trail(t, addr, mask, write, m != MOVE_LOCAL, found, pc);
	if (__builtin_expect(t->acc.unread, 0))
		untraced(d, t);
	if (first)
		red_wrote(d, t, addr, mask, update, pc);
	if (race)
		racy(d, t, addr, mask, &d->shadow.races[race], write, m != MOVE_RACY, pc);
	else if (m == MOVE_READ && found && found >> CELL_TAG == CELL_EXCL && !t->acc.atomic && cell_open(*c, mask))
		first_read(d, t, addr, pc);
	if (d->reach.open)
		exact_data(d, t, addr, mask, write, pc);
	if (looks)
		mark_looked(t, addr, right);
	t->cas_failed = false;
}
