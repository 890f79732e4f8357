/*
 * perturb: delays where findings are predicted (`intact run --perturb`), so that another thread comes in and the run
 * takes a path that it would hardly take by itself.
 *
 * A place is a stack at which a gap begins or ends: behind the release before it; where there is none, in front of the
 * acquire, or of the write, that ends it. It is entered when its finding is ready (rt_perturb_learn), so that it takes
 * effect when the program comes there again. Whether the n-th visit of a place is delayed is a coin thrown by the seed, the
 * place and n: addresses are left out, except what the loader does not change of them.
 *
 * One thread is delayed at a time: two would wait for each other. A delay ends when another thread has come (it took the lock, or changed the data), or after perturb_ms milliseconds.
 * A write under a lock that keeps the others out is no place, the acquire in front of it is (`bare`, of sections.c).
 * Nothing is held meanwhile that the program does not hold itself, and the thread is not busy for the runtime: signals are
 * handled. A place is delayed DELAYS times at most, and no more once threads have come ENOUGH times.
 *
 * Look-ups take no lock: a place is written before its stack, which is what they compare. Places are entered under the
 * lock of the findings and never leave.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dynamic/findings.h"
#include "dynamic/log.h"
#include "rt.h"

enum { PERTURB_PLACES = 2048, PERTURB_SLOTS = 2 * PERTURB_PLACES, PERTURB_FILTER = 1 << 16, DELAYS = 32, ENOUGH = 4, FRAMES = 64 };
enum { STEP_US = 100, STEPS_PER_MS = 1000 / STEP_US };

struct perturb_place {
	uint32_t stack; /* 0: free */
	uint32_t visits, delays, came;
	uint64_t name; /* of the stack, the same in every run of this program */
	uint8_t op;    /* OP_RELEASE: behind it; OP_ACQUIRE, OP_WRITE: in front of it */
};

static struct perturb_place places[PERTURB_SLOTS];
static uint32_t nplaces, learned; /* findings below `learned` that were ready have been entered */
static uint8_t entered[RED_MAX_FINDINGS / 8];
static uint8_t filter[PERTURB_FILTER / 8]; /* program counters of places in front of something */
static uint32_t total_delays, total_came, delaying;

static uint32_t filter_of(uintptr_t pc)
{
	return (uint32_t)(mix64(pc) % PERTURB_FILTER);
}

static struct perturb_place *place_of(uint32_t stack, enum finding_op op)
{
	for (uint32_t i = (uint32_t)mix64(stack) % PERTURB_SLOTS, n = 0; n < PERTURB_SLOTS; n++, i = (i + 1) % PERTURB_SLOTS) {
		uint32_t there = __atomic_load_n(&places[i].stack, __ATOMIC_ACQUIRE);
		if (!there || there == stack)
			return there && places[i].op == op ? &places[i] : NULL;
	}
	return NULL;
}

/* ---- which places ---- */

/* Pages are where the loader likes, so of each address what lies inside one counts. */
static uint64_t name_of(uint32_t stack, enum finding_op op)
{
	uint64_t pcs[FRAMES], name = op;
	uint32_t n = stack_walk(&rt_dyn.stacks, stack, pcs, FRAMES);
	for (uint32_t i = 0; i < n; i++)
		name = mix64(name ^ (pcs[i] & 0xfff));
	return name;
}

static void enter(uint32_t stack, enum finding_op op)
{
	uint32_t i = (uint32_t)mix64(stack) % PERTURB_SLOTS;
	while (places[i].stack && places[i].stack != stack)
		i = (i + 1) % PERTURB_SLOTS;
	if (places[i].stack || !stack || nplaces == PERTURB_PLACES)
		return;
	if (op != OP_RELEASE) {
		uint32_t bit = filter_of((uintptr_t)hazard_place(&rt_dyn, stack));
		__atomic_fetch_or(&filter[bit / 8], (uint8_t)(1u << bit % 8), __ATOMIC_RELAXED);
	}
	nplaces++;
	places[i].name = name_of(stack, op);
	places[i].op = (uint8_t)op;
	__atomic_store_n(&places[i].stack, stack, __ATOMIC_RELEASE);
	__atomic_store_n(&rt.perturb, true, __ATOMIC_RELEASE);
}

void rt_perturb_learn(void)
{
	int busy = me->busy;
	me->busy = 1;
	spin_lock(&rt_dyn.lock);
	for (uint32_t i = learned ? learned : 1; i < rt_dyn.nfindings; i++) {
		const struct finding *f = &rt_dyn.findings[i];
		bool known = entered[i / 8] >> i % 8 & 1;
		if (i == learned + !learned && known)
			learned = i + 1;
		if (known || !finding_counts(f, false) || f->kind == FIND_CYCLE || (f->loop && !f->name && !rt.opt.report_loops))
			continue;
		entered[i / 8] |= (uint8_t)(1u << i % 8);
		if (f->commit_op == OP_RELEASE)
			enter(f->commit, OP_RELEASE);
		else if (f->violation_op == OP_ACQUIRE || (f->violation_op == OP_WRITE && (f->wrong || f->held == LOCKSET_EMPTY)))
			enter(f->violation, f->violation_op);
	}
	spin_unlock(&rt_dyn.lock);
	me->busy = busy;
}

/* ---- the delay ---- */

/* What changes when another thread comes: the lock's count, or the data. */
struct perturb_watch {
	const uint32_t *seq;
	const uint64_t *data;
	uint64_t was;
};

static bool came(const struct perturb_watch *w)
{
	return w->seq ? __atomic_load_n(w->seq, __ATOMIC_RELAXED) != (uint32_t)w->was
	              : __atomic_load_n(w->data, __ATOMIC_RELAXED) != w->was;
}

/* Is this visit delayed? The number of the visit, from 1 on, or 0; then delay() must follow. */
static uint32_t chosen(struct perturb_place *p)
{
	uint32_t n = __atomic_add_fetch(&p->visits, 1, __ATOMIC_RELAXED);
	if (rt.live < 2 || __atomic_load_n(&p->came, __ATOMIC_RELAXED) >= ENOUGH ||
	    mix64(mix64((uint64_t)rt.opt.perturb ^ p->name) + n) & 1)
		return 0;
	if (__atomic_load_n(&p->delays, __ATOMIC_RELAXED) >= DELAYS || __atomic_exchange_n(&delaying, 1, __ATOMIC_ACQUIRE))
		return 0;
	__atomic_fetch_add(&p->delays, 1, __ATOMIC_RELAXED);
	return n;
}

/* True: another thread came because of it. */
static NOINLINE bool delay(struct perturb_place *p, uint32_t visit, const struct perturb_watch *w)
{
	static const char *const where[OP_KINDS] = {
		[OP_RELEASE] = "behind a release", [OP_ACQUIRE] = "before an acquire", [OP_WRITE] = "before a write"
	};
	int keep = errno;
	struct timespec step = { 0, STEP_US * 1000 };
	bool at_once = came(w), in = at_once;
	for (long i = 0; i < rt.opt.perturb_ms * STEPS_PER_MS && !in; i++) {
		syscall(SYS_nanosleep, &step, NULL); /* libc's would be a cancellation point */
		in = came(w);
	}
	__atomic_store_n(&delaying, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&total_delays, 1, __ATOMIC_RELAXED);
	if (in) {
		__atomic_fetch_add(&p->came, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&total_came, 1, __ATOMIC_RELAXED);
	}
	if (rt.opt.verbosity)
		rt_sayf("Intact: perturb: place %lx, visit %u, %s: %s\n", (unsigned long)p->name, visit, where[p->op],
		        in ? "another thread came" : "no thread came");
	errno = keep;
	return in && !at_once;
}

void rt_perturb_released(const void *obj)
{
	struct rt_thread *th = me;
	struct thread *t = &th->t;
	if (th->busy || !t->nlog)
		return;
	const struct log_entry *e = &t->log[(t->nlog - 1) % RED_LOG];
	if (e->kind != LOG_SECTION || rt_dyn.locks.locks[e->key].addr != (uintptr_t)obj)
		return;
	struct perturb_place *p = place_of(e->stack, OP_RELEASE);
	uint32_t visit = p ? chosen(p) : 0;
	const uint32_t *seq = &rt_dyn.locks.locks[e->key].seq;
	/* Other readers have come already. */
	if (visit && delay(p, visit,
	                   &(struct perturb_watch){ .seq = seq, .was = e->read ? __atomic_load_n(seq, __ATOMIC_RELAXED) : e->seq }))
		t->delayed = (uintptr_t)obj;
}

/* The place in front of what is done at `pc`; `sp`: where the caller's frame is, 0: not asked. */
static struct perturb_place *before(struct rt_thread *th, uintptr_t pc, uintptr_t sp, enum finding_op op)
{
	if (sp)
		red_prune(&th->t, sp);
	return place_of(red_stack(&rt_dyn, &th->t, pc), op);
}

static bool filtered(uintptr_t pc)
{
	uint32_t bit = filter_of(pc);
	return !(__atomic_load_n(&filter[bit / 8], __ATOMIC_RELAXED) >> bit % 8 & 1);
}

void rt_perturb_acquire(const void *obj, uintptr_t pc, uintptr_t sp)
{
	struct rt_thread *th = filtered(pc) ? NULL : rt_enter();
	if (!th)
		return;
	struct perturb_place *p = before(th, pc, sp, OP_ACQUIRE);
	uint32_t id = p ? red_lock_id(&rt_dyn, &th->t, (uintptr_t)obj) : 0, visit = id ? chosen(p) : 0;
	rt_leave(th);
	const uint32_t *seq = &rt_dyn.locks.locks[id].seq;
	if (visit && delay(p, visit, &(struct perturb_watch){ .seq = seq, .was = __atomic_load_n(seq, __ATOMIC_RELAXED) }))
		th->t.delayed = (uintptr_t)obj;
}

void rt_perturb_write(uintptr_t addr, uintptr_t pc)
{
	struct rt_thread *th = filtered(pc) ? NULL : rt_enter();
	if (!th)
		return;
	struct perturb_place *p = before(th, pc, 0, OP_WRITE);
	uint32_t visit = p ? chosen(p) : 0;
	rt_leave(th);
	const uint64_t *data = (const uint64_t *)(addr & ~(uintptr_t)7); /* on the page that is about to be written */
	if (visit)
		delay(p, visit, &(struct perturb_watch){ .data = data, .was = __atomic_load_n(data, __ATOMIC_RELAXED) });
}

/* ---- what is said of them ---- */

uint32_t rt_perturbed(uint32_t *others)
{
	*others = __atomic_load_n(&total_came, __ATOMIC_RELAXED);
	return __atomic_load_n(&total_delays, __ATOMIC_RELAXED);
}

void rt_perturb_forked(void)
{
	total_delays = total_came = delaying = 0;
}
