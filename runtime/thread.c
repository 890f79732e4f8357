/*
 * thread: threads come and go; their state is made before they run and lives
 * until they are joined, because the joiner takes over their clock.
 *
 * Slots (14 bits of a shadow cell) are reused, epochs of a slot never go
 * back, so an old access can always be distinguished from a new thread's.
 * Without a free slot or memory a thread runs unwatched.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/relax.h"
#include "event/record.h"
#include "runtime/explore/explorer.h"
#include "rt.h"

static struct frame no_frames[2] = { { .fn = FRAME_NO_FN } };
struct rt_thread rt_nobody = {
	.busy = 1,
	.key = 0xffff,
	.t = { .frames = no_frames, .top = no_frames, .limit = no_frames },
};
__thread struct rt_thread *me = &rt_nobody;
static __thread int attaching; /* or not to be attached any more */
static pthread_key_t end_key;
static int end_key_made;

enum { FIRST_FRAMES = 128, MANY_SLOTS = 256 };

static struct rt_thread *take_struct(void)
{
	struct rt_thread *th = rt.free;
	if (th) {
		rt.free = th->next;
		return th;
	}
	size_t size = (sizeof *th + 4095) & ~(size_t)4095;
	th = pages_map(size);
	if (!th)
		return NULL;
	th->t.frames = pages_map(FIRST_FRAMES * sizeof(struct frame));
	if (!th->t.frames) {
		pages_unmap(th, size);
		return NULL;
	}
	th->t.limit = th->t.frames + FIRST_FRAMES - 2;
	return th;
}

static uint32_t take_slot(const struct rt_thread *parent)
{
	/* For races, one whose last thread's end is known to the new one's parent: what was done in it came
	 * before all that will be. */
	for (uint32_t i = 1; i < rt.nslots; i++)
		if (!rt.threads[i] && (!rt_dyn.races.dir || rt.nslots > MANY_SLOTS ||
		                       (parent && i < parent->t.clock.n && parent->t.clock.e[i] + 1 >= rt.slot_epoch[i])))
			return i;
	return rt.nslots <= SHADOW_MAX_TID ? rt.nslots++ : 0;
}

/* A struct with slot and clock, not yet running. */
static struct rt_thread *rt_thread_new(struct rt_thread *parent, uintptr_t pc)
{
	spin_lock(&rt.threads_lock);
	uint32_t slot = take_slot(parent);
	struct rt_thread *th = slot ? take_struct() : NULL;
	if (th)
		rt.threads[slot] = th;
	uint32_t uid = th ? ++rt.uids : 0;
	spin_unlock(&rt.threads_lock);
	if (!th)
		return NULL;
	struct thread *t = &th->t;
	th->state = RT_LIVE;
	th->self = 0;
	th->detached = false;
	th->busy = th->pending = th->iterations = 0;
	th->told = 0;
	th->told_top = NULL;
	th->enc = NULL;
	th->own_end = 0;
	th->reads_era = 0; /* they were another slot's */
	struct rt_thread *by = parent ? parent : &rt_nobody;
	bool rec = rec_try(by);
	red_thread_begin(&rt_dyn, t, parent ? &parent->t : NULL, slot, uid, rt.slot_epoch[slot] + 1, pc);
	if (uid < RT_UIDS) {
		rt.created[uid] = t->created;
		rt.parent[uid] = t->parent;
	}
	th->room = rt.atomic_fns ? NULL : t->limit;
	rt_set_key(th);
	__atomic_fetch_add(&rt.live, 1, __ATOMIC_RELAXED);
	if (rt_dyn.races.on)
		__atomic_fetch_or(&rt_dyn.reach.whole, REACH_READS, __ATOMIC_RELAXED);
	if (rec) {
		rec_put(by, REC_CREATE, 0, (uint64_t)slot << 32 | uid, pc);
		rec_end();
	}
	return th;
}

static void rt_thread_free(struct rt_thread *th)
{
	spin_lock(&rt.threads_lock);
	th->state = RT_FREE;
	rt.threads[th->t.tid] = NULL;
	th->next = rt.free;
	rt.free = th;
	spin_unlock(&rt.threads_lock);
}

/* The thread has run; its clock stays for the thread that joins it. */
static void rt_thread_end(struct rt_thread *th)
{
	bool rec = rec_try(th);
	rt.slot_epoch[th->t.tid] = th->t.acc.epoch + 1;
	red_thread_end(&th->t);
	__atomic_fetch_sub(&rt.live, 1, __ATOMIC_RELAXED);
	if (rec) {
		rec_put(th, REC_END, 0, 0, 0);
		rec_end();
	}
	bool free_now;
	spin_lock(&rt.threads_lock);
	free_now = th->detached;
	th->state = RT_ENDED;
	spin_unlock(&rt.threads_lock);
	if (free_now)
		rt_thread_free(th);
}

static void find_stack(struct rt_thread *th)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	pthread_attr_t attr;
	void *lo;
	size_t size;
	/* The main thread's grows; nothing else is mapped close below it. */
	th->t.stack_lo = here - (7u << 20);
	th->t.stack_hi = here + (64u << 10);
	if (th->t.uid == 1 || pthread_getattr_np(pthread_self(), &attr))
		return;
	if (!pthread_attr_getstack(&attr, &lo, &size)) {
		th->t.stack_lo = (uintptr_t)lo;
		th->t.stack_hi = (uintptr_t)lo + size;
	}
	pthread_attr_destroy(&attr);
}

/* Writes to a thread's own stack concern no other thread. */
static void rt_stack_bounds(struct rt_thread *th)
{
	find_stack(th);
	if (rec_try(th)) {
		rec_put(th, REC_STACK, 0, th->t.stack_lo, th->t.stack_hi);
		rec_end();
	}
	if (rt_dyn.races.on && th->t.uid != 1) /* another thread may have had it */
		races_forget(&rt_dyn, NULL, th->t.stack_lo, th->t.stack_hi - th->t.stack_lo, 0);
}

static void at_thread_end(void *arg)
{
	struct rt_thread *th = arg;
	/* Let the destructors of all other keys run first. */
	if (th->iterations-- > 0) {
		pthread_setspecific(end_key, th);
		return;
	}
	th->busy = 1;
	attaching = 1; /* what libc still calls, an allocator of the program's say, is no new thread */
	me = &rt_nobody;
	rt_thread_end(th);
}

static void watch_end(struct rt_thread *th)
{
	int none = 0;
	if (__atomic_compare_exchange_n(&end_key_made, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		pthread_key_create(&end_key, at_thread_end);
		__atomic_store_n(&end_key_made, 2, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&end_key_made, __ATOMIC_ACQUIRE) != 2)
		cpu_relax();
	th->iterations = 2;
	pthread_setspecific(end_key, th);
}

/* The main thread, or one created without the runtime's knowledge. */
struct rt_thread *rt_attach(void)
{
	if (attaching)
		return NULL;
	attaching = 1;
	struct rt_thread *th = rt_thread_new(NULL, 0);
	if (th) {
		th->self = pthread_self();
		th->detached = true;
		th->busy = 1;
		me = th;
		rt_stack_bounds(th);
		if (th->t.uid != 1) /* the main thread's end is the program's */
			watch_end(th);
		th->busy = 0;
	}
	attaching = 0;
	return th;
}

static void *intact_thread_main(void *arg)
{
	struct rt_thread *th = arg;
	th->busy = 1;
	me = th;
	th->self = pthread_self();
	rt_stack_bounds(th);
	watch_end(th);
	th->busy = 0;
	return th->start(th->arg);
}

int rt_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *), void *arg, uintptr_t pc, uintptr_t sp)
{
	if (unlikely(rt.explore))
		return x_create(id, attr, start, arg, pc);
	struct rt_thread *self = rt_enter(), *th = NULL;
	if (self) {
		red_prune(&self->t, sp);
		th = rt_thread_new(self, pc);
		rt_leave(self);
	}
	if (!th)
		return REAL(pthread_create)(id, attr, start, arg);
	int state = PTHREAD_CREATE_JOINABLE;
	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	th->detached = state == PTHREAD_CREATE_DETACHED;
	th->start = start;
	th->arg = arg;
	me->busy++; /* what libc allocates for it is no event of the program's */
	int r = REAL(pthread_create)(id, attr, intact_thread_main, th);
	me->busy--;
	if (r) {
		th->detached = true;
		rt_thread_end(th);
	} else if (th->state == RT_LIVE && !th->self) {
		th->self = *id; /* joined before it runs: the joiner must find it */
	}
	return r;
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	return rt_create(id, attr, start, arg, CALLER, FRAME);
}

/* The newest of that name: one that has been joined, by a thread that is about
 * to say so, may still bear it. */
static struct rt_thread *find(pthread_t id)
{
	struct rt_thread *found = NULL;
	spin_lock(&rt.threads_lock);
	for (uint32_t i = 1; i < rt.nslots; i++) {
		struct rt_thread *th = rt.threads[i];
		if (th && th->self == id && !th->detached && (!found || th->t.uid > found->t.uid))
			found = th;
	}
	spin_unlock(&rt.threads_lock);
	return found;
}

/* After a join: what the thread did happened before. */
static void joined(struct rt_thread *th, uintptr_t pc, uintptr_t sp)
{
	int keep = errno;
	struct rt_thread *self = th ? rt_enter() : NULL;
	if (self) {
		bool rec = rec_try(self);
		red_prune(&self->t, sp);
		red_join(&rt_dyn, &self->t, &th->t, pc);
		if (rec) {
			rec_put(self, REC_JOIN, 0, th->t.tid, pc);
			rec_end();
		}
		rt_leave(self);
	}
	if (th && th->state == RT_ENDED) {
		th->self = 0;
		rt_thread_free(th);
	}
	errno = keep;
}

int rt_join(pthread_t id, void **value, uintptr_t pc, uintptr_t sp)
{
	if (unlikely(rt.explore))
		return x_join(id, value, false, NULL, 0, pc);
	struct rt_thread *th = find(id);
	int r = REAL(pthread_join)(id, value);
	if (!r)
		joined(th, pc, sp);
	return r;
}

EXPORT int pthread_join(pthread_t id, void **value)
{
	return rt_join(id, value, CALLER, FRAME);
}

EXPORT int pthread_tryjoin_np(pthread_t id, void **value)
{
	if (unlikely(rt.explore))
		return x_join(id, value, true, NULL, 0, CALLER);
	struct rt_thread *th = find(id);
	int r = REAL(pthread_tryjoin_np)(id, value);
	if (!r)
		joined(th, CALLER, FRAME);
	return r;
}

EXPORT int pthread_timedjoin_np(pthread_t id, void **value, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_join(id, value, false, ts, CLOCK_REALTIME, CALLER);
	struct rt_thread *th = find(id);
	int r = REAL(pthread_timedjoin_np)(id, value, ts);
	if (!r)
		joined(th, CALLER, FRAME);
	return r;
}

EXPORT int pthread_clockjoin_np(pthread_t id, void **value, clockid_t clock, const struct timespec *ts)
{
	if (unlikely(rt.explore))
		return x_join(id, value, false, ts, clock, CALLER);
	struct rt_thread *th = find(id);
	int r = REAL(pthread_clockjoin_np)(id, value, clock, ts);
	if (!r)
		joined(th, CALLER, FRAME);
	return r;
}

int rt_detach(pthread_t id)
{
	if (unlikely(rt.explore))
		return x_detach(id, CALLER);
	struct rt_thread *th = find(id);
	int r = REAL(pthread_detach)(id);
	if (r || !th)
		return r;
	bool ended;
	spin_lock(&rt.threads_lock);
	ended = th->state == RT_ENDED;
	th->detached = true;
	spin_unlock(&rt.threads_lock);
	if (ended) {
		th->self = 0;
		rt_thread_free(th);
	}
	return 0;
}

EXPORT int pthread_detach(pthread_t id)
{
	return rt_detach(id);
}
