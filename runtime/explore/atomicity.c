/*
 * atomicity: is the executed schedule conflict-serializable, as far as the marked
 * blocks go? By the analysis that `intact trace` uses (dynamic/serial.c), on a log
 * of what happened.
 *
 * Logged is what happens while a block is open in some thread: no cycle contains
 * what happened before or is over by then (event/translate.h). Judged are runs
 * whose trace is new: equal traces have equal conflicts.
 *
 * Variables are bytes that are only ever used together in the run; what one thread
 * alone uses is left out. Conflicts of marked blocks are those of `intact trace`: of data,
 * atomics included, of creating and joining threads, and the order in which locks were
 * taken. An unmarked function (gap.c) is judged by data alone, unless the tool
 * asks for locks (`lock_order`): libraries that are not instrumented write unseen.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/invariant.h"
#include "dynamic/serial.h"
#include "runtime/explore/explorer.h"

#define LOCK_KEY (1ull << 62) /* in the address of what is logged: a lock, not the bytes there */

/* ---- the log ---- */

static void put(unsigned kind, unsigned bytes, uintptr_t addr, uintptr_t pc)
{
	assert(X.nlog <= X_LOG && (kind < EVENT_KINDS || (kind >= XL_INNER_BEGIN && kind < XL_KINDS)));
	if (unlikely(X.surveying)) {
		x_survey_event(kind, bytes, addr, pc);
		return;
	}
	if (!(X.logging & X_LOG_BLOCKS))
		return;
	if (X.nlog == X_LOG) {
		X.log_full = true;
		return;
	}
	uint32_t step;
	sched_events(X.sched, &step);
	X.log[X.nlog++] = (struct x_logged){
		.addr = addr, .pc = pc, .thread = (uint16_t)X.current, .kind = (uint8_t)kind, .bytes = (uint8_t)bytes, .step = step
	};
}

bool x_own_stack(uintptr_t addr)
{
	const struct x_slot *s = &X.slot[x_me()->slot];
	return X.current ? addr - (uintptr_t)s->lo < (uintptr_t)(s->hi - s->lo)
	                 : addr - ((uintptr_t)X.main_sp - (8u << 20)) < (8u << 20) + 4096;
}

void x_log_access(uintptr_t addr, unsigned bytes, bool write, bool atomic, uintptr_t pc)
{
	if (write && x_me()->blocks && !x_own_stack(addr))
		x_me()->block_wrote = true;
	uint32_t n = X.nlog;
	addr &= ~(uintptr_t)7;
	put(write ? EVENT_WRITE : EVENT_READ, bytes, addr, pc);
	if (!atomic || n == X.nlog)
		return;
	X.log[n].atomic = true;
	if (!write)
		X.log[n].value = *(const uint64_t *)addr;
}

void x_log_swap(uintptr_t addr, const void *found, unsigned size, bool ok, uintptr_t pc)
{
	if (!x_me()->blocks || X.surveying)
		return;
	for (unsigned done = 0, n; done < size; done += n, addr += n) {
		unsigned off = addr & 7;
		uint64_t value = 0;
		n = size - done < 8 - off ? size - done : 8 - off;
		__builtin_memcpy((char *)&value + off, (const char *)found + done, n);
		put(ok ? XL_SWAPS : XL_SWAP_FAILS, (0xffu >> (8 - n)) << off & 0xff, addr & ~(uintptr_t)7, pc);
		if (!X.log_full)
			X.log[X.nlog - 1].value = value;
	}
}

void x_log_thread(bool join, uint32_t thread, uintptr_t pc)
{
	assert(thread < X_THREADS);
	put(join ? EVENT_JOIN : EVENT_FORK, 0, thread, pc);
}

void x_log_lock(uintptr_t lock, bool acquire, bool shared)
{
	put(acquire ? EVENT_ACQ : EVENT_REL, shared ? 1 : 0xff, lock | LOCK_KEY, x_me()->op->pc);
}

void x_log_gap(unsigned kind, uint64_t gaps)
{
	put(kind, 0, gaps, 0);
}

/* ---- blocks ---- */

/* One of several inside each other: the outermost is the analysis's, the others are noted. */
static void begin(const char *name, uint64_t gaps, uintptr_t pc, bool judged)
{
	struct x_thread *t = x_me();
	uint64_t level = t->levels < 64 ? 1ull << t->levels : 0;
	t->levels++;
	t->judged = judged ? t->judged | level : t->judged & ~level;
	if (!judged)
		return;
	X.marks |= !gaps || gaps & X.gap_any;
	X.blocks++;
	if (!t->blocks++ && !X.open_blocks++)
		X.logging |= X_LOG_BLOCKS;
	if (t->blocks == 1) {
		t->block_name = name;
		t->block_pc = pc;
		t->block_wrote = false;
	}
	put(t->blocks == 1 ? EVENT_BEGIN : XL_INNER_BEGIN, 0, (uintptr_t)name, pc);
	if (!gaps)
		return;
	t->gaps |= gaps;
	x_log_gap(XL_GAPS, gaps);
}

void x_block_begin(const char *name, uintptr_t pc)
{
	if (X.c11)
		return;     /* conflicts would not be in the order of steps: not judged */
	x_drain_if_tso(pc); /* all conflicts of a block are within it */
	uint64_t gaps = X.ngaps ? x_gap_blocks(0, pc) : 0;
	begin(name, gaps, pc, gaps || !X.ctl->only_gaps);
}

/* What stands for the name of a block that is a function: its address, marked. */
#define BLOCK_FUNCTION (1ull << 63)

void x_function_begin(uint64_t gaps, uintptr_t fn, uintptr_t pc)
{
	if (X.c11)
		return;
	x_drain_if_tso(pc);
	begin((const char *)(fn | BLOCK_FUNCTION), gaps, pc, true);
}

void x_block_end(uintptr_t pc)
{
	struct x_thread *t = x_me();
	if (!t->levels)
		return;
	x_drain_if_tso(pc);
	t->levels--;
	if (t->levels < 64 && !(t->judged >> t->levels & 1))
		return;
	if (!t->blocks)
		return;
	if (--t->blocks) {
		put(XL_INNER_END, 0, 0, pc);
		return;
	}
	put(EVENT_END, 0, 0, pc);
	if (!t->top)
		t->gaps = t->in_gap = 0;
	if (!--X.open_blocks)
		X.logging = (uint8_t)((X.logging & ~X_LOG_BLOCKS) | (X.surveying ? X_LOG_BLOCKS : 0));
}

/* The current thread waits on a condition. A block that has written nothing yet starts over after it: what it saw is
 * looked at again (docs/run.md). */
void x_block_waits(void)
{
	struct x_thread *t = x_me();
	if (!t->blocks || t->block_wrote || X.surveying)
		return;
	put(EVENT_END, 0, 0, 0);
	put(EVENT_BEGIN, 0, (uintptr_t)t->block_name, t->block_pc);
	t->in_gap = 0;
	if (t->gaps)
		x_log_gap(XL_GAPS, t->gaps);
}

/* ---- memory for the analysis: taken from the front, forgotten after each use ---- */

void *x_own_malloc(size_t n);
void *x_own_calloc(size_t n, size_t size);
void *x_own_realloc(void *p, size_t n);
void x_own_free(void *p);

void *x_own_malloc(size_t n)
{
	n = (n + 31) & ~(size_t)15; /* with its size in front */
	if (n > X_SCRATCH - X.scratch_used)
		return NULL;
	char *p = (char *)X_SCRATCH_AT + X.scratch_used;
	X.scratch_used += n;
	*(size_t *)p = n - 16;
	return p + 16;
}

void *x_own_calloc(size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	void *p = x_own_malloc(bytes);
	if (p)
		__builtin_memset(p, 0, bytes);
	return p;
}

void *x_own_realloc(void *p, size_t n)
{
	size_t old = p ? ((size_t *)p)[-2] : 0;
	if (p && n <= old)
		return p;
	void *q = x_own_malloc(n);
	if (q && p)
		__builtin_memcpy(q, p, old);
	return q;
}

void x_own_free(void *p)
{
	(void)p;
}

/* ---- from the log to events ---- */

struct logged_cell {
	uint64_t key; /* address and 2; 0: free */
	uint16_t thread;
	uint8_t bytes, flags;
	uint32_t other; /* where in the log another thread uses it first, if it is shared */
};
enum { SHARED = 1, MIXED = 2, CELL_BITS = 16, CELLS = 1 << CELL_BITS };

static struct logged_cell *cell_of(struct logged_cell *table, uint64_t key)
{
	uint32_t h = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - CELL_BITS));
	while (table[h].key && table[h].key != key + 2)
		h = (h + 1) & (CELLS - 1);
	table[h].key = key + 2;
	return &table[h];
}

/* Which bytes are used together, and by whom. False: too many. */
static bool look(struct logged_cell *table)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < X.nlog; i++) {
		const struct x_logged *e = &X.log[i];
		if (e->kind > EVENT_REL)
			continue;
		struct logged_cell *c = cell_of(table, e->addr);
		if (!c->bytes && !c->flags) {
			c->thread = e->thread;
			c->bytes = e->bytes;
			c->flags = 4;
			if (++n > CELLS / 2)
				return false;
		}
		if (c->thread != e->thread && !(c->flags & SHARED)) {
			c->flags |= SHARED;
			c->other = i;
		}
		if (c->bytes != e->bytes)
			c->flags |= MIXED;
	}
	return true;
}

/*
 * Reads of a block that count no more, as in `intact run` (dynamic/reduction.h): an atomic read counts no more when a
 * compare-and-swap of the same block finds the value again, for then it might as well be done now. Nor does one
 * (the read of a swap that failed is one) when a swap fails and it is done again, if in between the block wrote
 * nothing that another thread has used, and gave up no lock. So a loop of load and compare-and-swap is one access, its last. What else
 * was read in between counts.
 */
enum { LOOKS = 16 };

struct looks {                 /* of one thread */
	uint32_t at[LOOKS], n; /* its atomic reads in its block: places in the log */
	uint32_t last;         /* those from here on were the last that it did */
	bool failed;           /* the next one is of a swap that fails; */
	bool again;            /* the last one was */
};

static void forget_look(struct looks *l, uint32_t k)
{
	assert(k < l->n);
	for (l->n--; k < l->n; k++)
		l->at[k] = l->at[k + 1];
	if (l->last > l->n)
		l->last = l->n;
}

/* The reads of this cell from `from` on count no more; with `value` only those that found it. */
static void dropped(struct looks *l, uint32_t from, const struct x_logged *e, const uint64_t *value)
{
	for (uint32_t k = l->n; k-- > from;) {
		struct x_logged *r = &X.log[l->at[k]];
		uint64_t mask = 0;
		for (unsigned b = 0; b < 8; b++)
			mask |= e->bytes >> b & 1 ? 0xffull << 8 * b : 0;
		if (r->addr != e->addr || r->bytes != e->bytes || (value && (r->value ^ *value) & mask))
			continue;
		r->dropped = true;
		forget_look(l, k);
	}
}

static void looked(struct looks *l, uint32_t i)
{
	const struct x_logged *e = &X.log[i], *was = l->n ? &X.log[l->at[l->n - 1]] : NULL;
	bool same = was && was->step == e->step && was->addr + 8 == e->addr; /* the second half of one of 16 bytes */
	if (l->again && !l->failed && !same)
		dropped(l, l->last, e, NULL);
	if (was && was->addr != e->addr && !same)
		l->last = l->n;
	if (!same)
		l->again = l->failed;
	l->failed = false;
	if (l->n == LOOKS) {
		uint32_t last = l->last;
		forget_look(l, 0);
		l->last = last ? last - 1 : 0;
	}
	l->at[l->n++] = i;
}

static void wrote(struct looks *l, uintptr_t cell)
{
	for (uint32_t k = l->n; k--;)
		if (X.log[l->at[k]].addr == cell)
			forget_look(l, k);
}

static void judge_tries(struct logged_cell *cells, struct looks *of)
{
	for (uint32_t i = 0; i < X.nlog; i++) {
		struct x_logged *e = &X.log[i];
		struct looks *l = &of[e->thread];
		bool final = false;
		e->dropped = false;
		switch (e->kind) {
		case EVENT_BEGIN:
		case EVENT_END:
		case XL_INNER_END:
			*l = (struct looks){ 0 };
			break;
		case XL_SWAPS:
			dropped(l, 0, e, &e->value);
			break;
		case XL_SWAP_FAILS:
			dropped(l, l->last, e, NULL);
			l->failed = true;
			break;
		case EVENT_READ:
		case EVENT_WRITE: {
			const struct logged_cell *c = cell_of(cells, e->addr);
			bool own = c->thread == e->thread && (!(c->flags & SHARED) || c->other > i);
			if (e->kind == EVENT_WRITE)
				wrote(l, e->addr);
			final = e->kind == EVENT_WRITE && !own;
			if (e->kind == EVENT_READ && e->atomic)
				looked(l, i);
			break;
		}
		case EVENT_REL:
		case EVENT_FORK:
		case EVENT_JOIN:
			final = true;
			break;
		default:
			break;
		}
		if (final) {
			l->last = l->n;
			l->again = false;
		}
	}
}

struct judge {
	struct serial *s;
	struct logged_cell *cells;
	struct event ev[64];
	uint32_t n;
	bool broken; /* the analysis stopped */
	bool locks;  /* the order in which locks were taken counts, too */
};

static void flush(struct judge *j)
{
	if (!j->broken && serial_feed(j->s, j->ev, j->n) != SERIAL_OK)
		j->broken = true;
	j->n = 0;
}

static void event(struct judge *j, uint32_t i, uint32_t target)
{
	assert(i < X.nlog && j->n < sizeof j->ev / sizeof *j->ev);
	const struct x_logged *e = &X.log[i];
	uint8_t kind = e->kind == EVENT_ACQ || e->kind == EVENT_REL ? e->bytes == 1 ? EVENT_READ : EVENT_WRITE : e->kind;
	j->ev[j->n++] = (struct event){ .index = i + 1, .thread = e->thread, .target = target, .loc = i, .kind = kind };
	if (j->n == sizeof j->ev / sizeof *j->ev)
		flush(j);
}

static void access_event(struct judge *j, uint32_t i)
{
	const struct x_logged *e = &X.log[i];
	const struct logged_cell *c = cell_of(j->cells, e->addr);
	uint32_t id = (uint32_t)(c - j->cells) * 8;
	if (!(c->flags & SHARED) || e->dropped)
		return;
	if (!(c->flags & MIXED) || e->kind > EVENT_WRITE) {
		event(j, i, id);
		return;
	}
	for (unsigned b = 0; b < 8; b++)
		if (e->bytes >> b & 1)
			event(j, i, id + b);
}

/* ---- cycles ---- */

enum { NESTED = 32 };

struct open_block {
	uint32_t at;       /* in the log */
	uint64_t gaps, in; /* its own; those whose first place was passed */
};

/* A cycle leaves thread's block behind event `from` and returns at `to`: the innermost
 * block around both that is at fault, as its place in the log and one; 0: none. A block of
 * gaps is when one of them begins in between; any other is. */
static uint32_t at_fault(uint32_t begin, uint32_t from, uint32_t to, uint64_t *gaps)
{
	struct open_block open[NESTED], *b;
	uint32_t n = 0, skipped = 0;
	uint16_t thread = X.log[begin].thread;
	for (uint32_t i = begin; i <= to; i++) {
		const struct x_logged *e = &X.log[i];
		if (e->thread != thread)
			continue;
		if (e->kind == EVENT_BEGIN || e->kind == XL_INNER_BEGIN) {
			if (n < NESTED)
				open[n++] = (struct open_block){ .at = i };
			else
				skipped++;
		} else if (e->kind == XL_INNER_END && skipped) {
			skipped--;
		} else if (e->kind == XL_INNER_END && n) {
			n--;
		} else if (e->kind == XL_GAPS && n && !skipped) {
			open[n - 1].gaps = e->addr;
		} else if (e->kind == XL_IN_GAP && i + 1 >= from) { /* of an access: right before it */
			for (b = open; b < open + n; b++)
				b->in |= e->addr;
		}
	}
	while (n--) {
		b = &open[n];
		if (b->at > from)
			continue;
		*gaps = b->gaps & (b->in | X.gap_any);
		if (*gaps || !b->gaps)
			return b->at + 1;
	}
	return 0;
}

/* Was the thread, or one it descends from, created by the block's own thread between these places of the log? Such a
 * function starts the others and waits for what they do, as main does. */
static bool created_inside(uint32_t thread, uint32_t block, uint32_t to)
{
	assert(thread < X.nthreads && block <= to && to < X.nlog);
	for (; thread; thread = X.thread[thread].parent)
		for (uint32_t i = block; i <= to; i++)
			if (X.log[i].kind == EVENT_FORK && X.log[i].thread == X.log[block].thread && X.log[i].addr == thread)
				return true;
	return false;
}

static bool through_own_threads(const struct cycle *y, uint32_t block)
{
	for (uint32_t i = 0; i < y->n; i++)
		for (int k = 0; k < 2; k++)
			if (created_inside((k ? &y->links[i].to : &y->links[i].from)->thread, block,
			                   (uint32_t)y->closing.event - 1))
				return true;
	return false;
}

static void found(void *ctx, const struct cycle *y)
{
	struct control *c = X.ctl;
	uint64_t gaps = 0;
	const struct cycle_end *b = &y->closing;
	if (X.cycle || !b->block)
		return;
	uint32_t from = (uint32_t)(y->n ? y->links[0].from.event : b->block) - 1;
	uint32_t block = at_fault((uint32_t)b->block - 1, from, (uint32_t)b->event - 1, &gaps);
	uint64_t unmarked = gaps & ~X.gap_any;
	if (!block || (unmarked && X.kept))
		return;
	bool *locks = ctx;
	if (*locks && unmarked && !c->lock_order)
		return; /* of unmarked functions: data */
	if (unmarked && !c->only_gaps && through_own_threads(y, block - 1))
		return;
	X.cycle = true;
	c->gaps = c->only_gaps ? gaps : unmarked;
	c->nlinks = y->n < CONTROL_LINKS ? y->n : CONTROL_LINKS;
	for (uint32_t i = 0; i < c->nlinks; i++)
		for (int k = 0; k < 2; k++) {
			const struct cycle_end *e = k ? &y->links[i].to : &y->links[i].from;
			const struct x_logged *l = &X.log[e->event - 1];
			c->link[i].end[k] = (struct control_end_of_link){
				.pc = l->pc,
				.addr = l->kind == EVENT_FORK || l->kind == EVENT_JOIN ? l->addr
				        : l->kind > EVENT_WRITE                        ? l->addr & ~LOCK_KEY
				                                : l->addr + (l->bytes ? (unsigned)__builtin_ctz(l->bytes) : 0),
				.thread = l->thread,
				.kind = l->kind,
				.step = l->step
			};
		}
	const struct x_logged *begin = &X.log[block - 1];
	c->block_name[0] = 0;
	c->block_fn = begin->addr & BLOCK_FUNCTION ? begin->addr & ~BLOCK_FUNCTION : 0;
	if (begin->addr && !(begin->addr & BLOCK_FUNCTION))
		rt_print(c->block_name, sizeof c->block_name, "%s", (const char *)begin->addr);
	c->block_pc = begin->pc;
	X.cycle_pc = X.log[b->event - 1].pc;
	c->block_thread = b->thread;
}

/* False: it could not be judged. */
static bool judge(bool locks)
{
	X.scratch_used = 0;
	struct judge *j = x_own_calloc(1, sizeof *j);
	j->cells = x_own_calloc(CELLS, sizeof *j->cells);
	j->locks = locks;
	j->s = serial_new(&(struct serial_opts){ .found = found, .ctx = &j->locks });
	struct looks *looks = x_own_calloc(X_THREADS, sizeof *looks);
	if (!j->s || !looks || X.log_full || !look(j->cells))
		return false;
	judge_tries(j->cells, looks);
	for (uint32_t i = 0; i < X.nlog; i++)
		switch (X.log[i].kind) {
		case EVENT_ACQ:
		case EVENT_REL:
			if (locks)
				access_event(j, i);
			break;
		case EVENT_READ:
		case EVENT_WRITE:
			access_event(j, i);
			break;
		case EVENT_FORK:
		case EVENT_JOIN:
			event(j, i, (uint32_t)X.log[i].addr);
			break;
		case EVENT_BEGIN:
		case EVENT_END:
			event(j, i, 0);
			break;
		default:
			break;
		}
	flush(j);
	serial_free(j->s);
	return !j->broken;
}

/* By data first: a cycle of data says more than one of locks. */
void x_judge(void)
{
	X.cycle = false;
	bool ok = judge(false);
	if (ok && !X.cycle && (X.marks || X.ctl->lock_order))
		ok = judge(true);
	X.ctl->judged += ok;
	X.ctl->unjudged += !ok;
}

/* Was this trace judged before? */
bool x_trace_is_new(uint64_t hash)
{
	if (!hash)
		return true;
	uint32_t h = (uint32_t)(hash >> 40) & (X_SEEN - 1);
	for (uint32_t tries = 0; tries < 64; tries++, h = (h + 1) & (X_SEEN - 1)) {
		if (X.seen[h] == hash)
			return false;
		if (!X.seen[h]) {
			X.seen[h] = hash;
			return true;
		}
	}
	return true; /* the table is full there: judged again, no harm */
}
