/*
 * views: `intact explore --memory=c11`: the C11 memory model as repaired by Lahav, Vafeiadis, Kang, Hur and Dreyer (RC11,
 * PLDI 2017), with read-modify-writes alone continuing a release sequence (C++20), as a machine.
 *
 * Each atomic location keeps its stores ("messages") in modification order. A load reads any message that coherence lets it
 * read; a store goes anywhere behind what coherence puts before it, but not between a read-modify-write and what that
 * read; which one is a choice of the step (sched_choose), numbered from the newest. All locations have their newest value in memory;
 * for a load the chosen one is put there for its moment, since compiled code accesses memory itself.
 *
 * COHERENCE needs no views of its own. The explorer has a vector clock for each thread that is happens-before of C11: a
 * message carries what its release knew, and who acquires joins that. A message bounds an access if it happened before
 * it, or if a load that read it did: so messages keep thread and epoch of their store and of the loads that read them, and an
 * access goes from the newest message back to the first that bounds it. Locks, conditions, creation and joins work through the same clocks.
 *
 * SEQ_CST. The order S of seq_cst operations is that of execution. psc of RC11 then says:
 *   fence, fence      F1 before F2: what happens after F2 sees what F1 saw (coherently), or newer: x_sc_fence.bounds
 *   store W, fence F  what happens after F sees W or newer: location.fence
 *   fence F, access   an access sees the writes that happened before F, or newer: location.sc
 *   store W, access   and W: location.sc
 * RC11 asks only that some order S exists; here it agrees with po and rf, too. So executions in which S must contradict a chain of
 * relaxed accesses of further threads are not reached; tests/memory/rc11.py has an example.
 *
 * NOT COVERED. Load buffering (a load reads a store that is executed later): RC11 forbids it, C11 and hardware do not. Plain accesses are
 * made in memory: they read the newest store, which is all there is to read if they do not race, and a race is reported. A plain write to
 * an atomic (it is initialised again, or its memory is used for something else) ends its history. So does an access that overlaps it with another
 * size, or of 16 bytes: counted in control.buffers_full, as are messages that an access could have chosen beyond X_VISIBLE. A loop that has
 * repeated its reads twice reads the newest from then on: stores become visible in finite time, and an endless loop is one of the program.
 */
#include "base/invariant.h"
#include "runtime/explore/explorer.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };
enum { NOBODY = 0xffff, STEP = 1 << 20 };

#define V (X.views)

_Static_assert(X_THREADS <= sizeof V.last / sizeof *V.last, "a last access for each thread");

static inline bool acquires(int mo)
{
	return (mo &= 7) == ACQUIRE || mo == CONSUME || mo >= ACQ_REL;
}

static inline bool releases(int mo)
{
	return (mo & 7) >= RELEASE;
}

static inline bool is_sc(int mo)
{
	return (mo & 7) >= SEQ_CST;
}

static void begin_run(void)
{
	V.run = X.run;
	V.nlocations = V.nmessages = V.nseen = V.nfences = V.nbounds = 0;
	__builtin_memset(V.hash, 0, sizeof V.hash);
	__builtin_memset(V.last, 0, sizeof V.last);
}

static _Noreturn void full(const char *what)
{
	x_give_up(CONTROL_WHY_INTERNAL, "a run has more %s than --memory=c11 can track", what);
}

/* ---- memory ---- */

static uint64_t value_at(uintptr_t at, uint32_t size)
{
	uint64_t v = 0;
	__builtin_memcpy(&v, (const void *)at, size);
	return v;
}

static void put_value(const struct x_location *l, uint64_t v)
{
	__builtin_memcpy((void *)l->at, &v, l->size);
}

/* ---- locations ---- */

static uint32_t hash_of(uintptr_t at)
{
	return (uint32_t)((at >> 3) * 0x9e3779b97f4a7c15ull >> 40) & (X_LOCATION_HASH - 1);
}
_Static_assert(X_LOCATION_HASH >= 2 * X_LOCATIONS, "a free entry is always found");

/* The first location of this granule of eight bytes, or where it would go. */
static uint32_t slot_of(uintptr_t at)
{
	uint32_t h = hash_of(at);
	while (V.hash[h] && V.at[V.hash[h]].at >> 3 != at >> 3)
		h = (h + 1) & (X_LOCATION_HASH - 1);
	return h;
}

static bool overlaps(const struct x_location *l, uintptr_t at, size_t size)
{
	return l->at < at + size && at < l->at + l->size;
}

/* Its history is over; memory has the newest value. */
static void forget(struct x_location *l)
{
	l->newest = l->sc = l->fence = 0;
}

static uint32_t new_message(uint64_t value, uint16_t thread)
{
	if (V.nmessages + 1 >= X_MESSAGES)
		full("atomic stores");
	V.message[++V.nmessages] = (struct x_message){ .value = value, .thread = thread, .epoch = X.clock[X.current][X.current] };
	return V.nmessages;
}

/* With a history of at least what is in memory. 0: it cannot be in the tables. */
static uint32_t location_of(uintptr_t at, unsigned size)
{
	if (V.run != X.run)
		begin_run();
	if (size > 8 || ((at ^ (at + size - 1)) >> 3)) {
		X.ctl->buffers_full++;
		x_views_forget(at, size);
		return 0;
	}
	/* others in its granule that it overlaps */
	uint32_t h = hash_of(at), found = 0;
	for (; V.hash[h]; h = (h + 1) & (X_LOCATION_HASH - 1)) {
		struct x_location *l = &V.at[V.hash[h]];
		if (l->at == at && l->size == size) {
			found = V.hash[h];
		} else if (l->newest && overlaps(l, at, size)) {
			X.ctl->buffers_full += V.message[l->newest].older != 0;
			forget(l);
		}
	}
	if (!found) {
		if (V.nlocations + 1 >= X_LOCATIONS)
			full("atomics");
		found = V.hash[h] = ++V.nlocations;
		V.at[found] = (struct x_location){ .at = at, .size = size };
	}
	struct x_location *l = &V.at[found];
	if (l->newest && V.message[l->newest].value != value_at(at, size)) /* written unseen */
		forget(l);
	if (!l->newest)
		l->newest = new_message(value_at(at, size), NOBODY);
	return found;
}

void x_views_forget(uintptr_t at, size_t size)
{
	if (V.run != X.run)
		return;
	if (size / 8 > V.nlocations) {
		for (uint32_t i = 1; i <= V.nlocations; i++)
			if (overlaps(&V.at[i], at, size))
				forget(&V.at[i]);
		return;
	}
	for (uintptr_t a = at & ~(uintptr_t)7; a < at + size; a += 8)
		for (uint32_t h = slot_of(a); V.hash[h]; h = (h + 1) & (X_LOCATION_HASH - 1))
			if (overlaps(&V.at[V.hash[h]], at, size))
				forget(&V.at[V.hash[h]]);
}

/* ---- coherence ---- */

static bool known(uint16_t thread, uint32_t epoch)
{
	return thread == NOBODY || thread == X.current || epoch <= X.clock[X.current][thread];
}

static bool seen_before(const struct x_message *m)
{
	for (uint32_t s = m->seen; s; s = V.seen[s].next)
		if (known(V.seen[s].thread, V.seen[s].epoch))
			return true;
	return false;
}

/* The bound by seq_cst fences that happened before: the last of them has those before it. */
static uint32_t fence_bound(uint32_t location)
{
	for (uint32_t i = V.nfences; i-- > 0;) {
		const struct x_sc_fence *f = &V.sc_fence[i];
		if (known(f->thread, f->epoch))
			return location <= f->n ? V.bounds[f->bounds + location - 1] : 0;
	}
	return 0;
}

/* Of two messages of a location, the later one; 0 is before all. */
static uint32_t later(uint32_t a, uint32_t b)
{
	return !a || (b && V.message[b].order > V.message[a].order) ? b : a;
}

/* Messages that the current thread may read, the newest first; all of them, or X_VISIBLE. */
static uint32_t visible(uint32_t location, bool sc, uint32_t *list)
{
	const struct x_location *l = &V.at[location];
	uint32_t n = 0, fence = V.nfences ? fence_bound(location) : 0;
	for (uint32_t m = l->newest; m; m = V.message[m].older) {
		if (n == X_VISIBLE) {
			X.ctl->buffers_full++;
			break;
		}
		list[n++] = m;
		const struct x_message *x = &V.message[m];
		if (known(x->thread, x->epoch) || m == fence || (sc && m == l->sc) || seen_before(x))
			break;
	}
	return n;
}

/* ---- modification order ---- */

static void number_again(struct x_location *l)
{
	uint32_t m = l->newest;
	uint64_t order = 0;
	while (V.message[m].older)
		m = V.message[m].older;
	for (; m; m = V.message[m].newer)
		V.message[m].order = order += STEP;
}

static void insert_after(struct x_location *l, uint32_t m, uint32_t new)
{
	struct x_message *x = &V.message[new], *before = &V.message[m];
	x->older = m;
	x->newer = before->newer;
	before->newer = new;
	if (!x->newer) {
		x->order = before->order + STEP;
		l->newest = new;
		return;
	}
	struct x_message *after = &V.message[x->newer];
	after->older = new;
	x->order = before->order + (after->order - before->order) / 2;
	if (x->order == before->order)
		number_again(l);
}

/* ---- steps ---- */

/* A loop that only reads, or repeats one update: it sees what is newest. */
static bool repeats(uintptr_t at, unsigned kind, uintptr_t pc)
{
	const struct x_thread *t = x_me();
	bool again = kind == SCHED_RMW && V.last[X.current].at == at && V.last[X.current].pc == pc;
	V.last[X.current].updates = again ? V.last[X.current].updates + 1 : 0;
	return (t->spins && t->spin_rounds >= 2) || V.last[X.current].updates >= 2;
}

bool x_views_seq_cst(unsigned kind, int order)
{
	return is_sc(order) || (kind == SCHED_RMW && order & X_CAS && is_sc(order >> 4));
}

/* What the step chooses from: what it reads, or what a store comes after. */
static uint32_t candidates(uint32_t location, unsigned kind, int order, uint32_t *list)
{
	const struct x_location *l = &V.at[location];
	uint64_t mask = l->size == 8 ? ~0ull : (1ull << 8 * l->size) - 1;
	bool sc = is_sc(order), cas = kind == SCHED_RMW && order & X_CAS;
	uint32_t n = 0;
	if (kind == SCHED_LOAD)
		return visible(location, sc, list);
	if (cas && is_sc(order >> 4) != sc) { /* the wider of both is looked through */
		uint32_t other[X_VISIBLE], strict = visible(location, true, other), wide = visible(location, false, other);
		for (uint32_t i = 0; i < wide; i++) {
			bool same = V.message[other[i]].value == (V.last[X.current].expected & mask), bound = same == sc;
			if ((!bound || i < strict) && !(same && V.message[other[i]].updated))
				list[n++] = other[i];
		}
		return n;
	}
	for (uint32_t i = 0, all = visible(location, sc, list); i < all; i++) {
		const struct x_message *m = &V.message[list[i]];
		bool writes = !cas || m->value == (V.last[X.current].expected & mask);
		if (!(writes && m->updated))
			list[n++] = list[i];
	}
	return n;
}

static void report_choice(const struct x_message *m, bool newest, bool store)
{
	uint32_t n;
	sched_events(X.sched, &n);
	if (!n || n > CONTROL_STEPS)
		return;
	struct control_step *s = &X.ctl->steps[n - 1];
	if (!store)
		s->before = s->after = m->value;
	s->flags |= newest ? 0 : STEP_OLDER;
}

/* Behind the point of an atomic access. */
void x_views_choose(uintptr_t at, unsigned size, unsigned kind, int order, uintptr_t pc)
{
	uint32_t list[X_VISIBLE], c = 0;
	V.location = location_of(at, size);
	bool newest = repeats(at, kind, pc);
	V.last[X.current].at = at;
	V.last[X.current].pc = pc;
	if (!V.location)
		return;
	struct x_location *l = &V.at[V.location];
	uint32_t n = candidates(V.location, kind, order, list);
	assert(n && list[0] == l->newest);
	if (n > 1 && !newest && !X.solo && !X.forced)
		c = sched_choose(X.sched, n);
	V.chosen = list[c];
	const struct x_message *m = &V.message[V.chosen];
	bool is_newest = V.chosen == l->newest;
	X.ctl->buffered += !is_newest;
	if (kind != SCHED_STORE && !is_newest)
		put_value(l, m->value);
	if (unlikely(X.detail))
		report_choice(m, is_newest, kind == SCHED_STORE);
}

static void acquire(const struct x_message *m, int order)
{
	if (!m->nclock)
		return;
	if (acquires(order))
		x_join_clock(X.clock[X.current], m->clock, m->nclock);
	else if (x_fences())
		x_join_clock(X.thread_more[X.current].fence_acq, m->clock, m->nclock);
}

static void note_seen(struct x_message *m)
{
	uint32_t now = X.clock[X.current][X.current];
	struct x_seen_by *first = &V.seen[m->seen];
	if (m->seen && first->thread == X.current && first->epoch == now)
		return;
	if (V.nseen + 1 >= X_SEEN_BY)
		full("atomic loads");
	V.seen[++V.nseen] = (struct x_seen_by){ .epoch = now, .next = m->seen, .thread = (uint16_t)X.current };
	m->seen = V.nseen;
}

/* What is known to those who acquire from the new message; `from`: what a read-modify-write read. */
static void publish(uint32_t new, const struct x_message *from, int order)
{
	struct x_message *m = &V.message[new];
	const uint32_t *mine = releases(order) ? X.clock[X.current] : x_me()->fenced ? X.thread_more[X.current].fence_rel : NULL;
	uint32_t n = (X.nthreads + 3) & ~3u, old = from ? from->nclock : 0;
	if (!mine && !old)
		return;
	n = n > old ? n : old;
	if (X.nclocks + n > X_CLOCKS)
		full("atomic stores");
	m->clock = &X.clocks[X.nclocks];
	m->nclock = n;
	X.nclocks += n;
	for (uint32_t i = 0; i < n; i++)
		m->clock[i] = mine && i < X.nthreads ? mine[i] : 0;
	if (old)
		x_join_clock(m->clock, from->clock, old);
}

static void report_written(uint64_t value, bool newest)
{
	if (X.pending_write) {
		struct control_step *s = &X.ctl->steps[X.pending_write - 1];
		s->after = value;
		s->flags |= newest ? 0 : STEP_OLDER;
	}
	X.pending_write = 0;
}

/* Behind an atomic access; memory has what it made of the chosen value. */
void x_views_done(uintptr_t at, unsigned size, bool read, bool wrote, int order, uintptr_t pc)
{
	struct x_object *o = x_object(at, XO_ATOMIC, pc);
	if (!V.location) { /* as in sequentially consistent memory */
		x_atomic_done_sc(o, at, size, read, wrote, order, pc);
		return;
	}
	struct x_location *l = &V.at[V.location];
	uint32_t chosen = V.chosen, new = 0;
	uint64_t value = value_at(at, size);
	if (read) {
		acquire(&V.message[chosen], order);
		note_seen(&V.message[chosen]);
	}
	x_accessed_atomic(o, at, size, wrote, pc);
	V.last[X.current].value = value;
	if (!wrote) {
		x_spin_failed(at, size, pc);
	} else {
		x_effect();
		new = new_message(value, (uint16_t)X.current);
		publish(new, read ? &V.message[chosen] : NULL, order);
		insert_after(l, chosen, new);
		V.message[chosen].updated |= read;
		if (is_sc(order)) {
			l->sc = later(l->sc, new);
			l->fence = later(l->fence, new);
		}
		if (unlikely(X.detail))
			report_written(value, new == l->newest);
		X.clock[X.current][X.current] += releases(order);
	}
	if (V.message[l->newest].value != value)
		put_value(l, V.message[l->newest].value);
}

bool x_views_last(uintptr_t at, uint64_t *value)
{
	if (V.run != X.run || V.last[X.current].at != at)
		return false;
	*value = V.last[X.current].value;
	return true;
}

/* ---- calls of an object test ---- */

void x_views_no_calls(void)
{
	__builtin_memset(V.call, 0, sizeof V.call);
}

void x_views_call(uint32_t call, bool returned)
{
	assert(call < sizeof V.call / sizeof *V.call);
	if (returned) {
		V.call[call].epoch = X.clock[X.current][X.current];
		V.call[call].thread = (uint16_t)X.current;
		V.call[call].returned = true;
		return;
	}
	for (uint32_t i = 0; i < sizeof V.call / sizeof *V.call; i++)
		if (V.call[i].returned && known(V.call[i].thread, V.call[i].epoch))
			V.call[call].before |= 1ull << i;
}

uint64_t x_views_calls_before(uint32_t call)
{
	return V.call[call].before;
}

/* ---- seq_cst fences ---- */

/* Behind the point of the fence, before it releases. */
void x_views_fence(void)
{
	if (V.run != X.run)
		begin_run();
	if (V.nfences == X_SC_FENCES || V.nbounds + V.nlocations > X_SC_BOUNDS)
		full("seq_cst fences");
	struct x_sc_fence *f = &V.sc_fence[V.nfences];
	*f = (struct x_sc_fence){
		.epoch = X.clock[X.current][X.current], .bounds = V.nbounds, .n = V.nlocations, .thread = (uint16_t)X.current
	};
	for (uint32_t i = 1; i <= V.nlocations; i++) {
		struct x_location *l = &V.at[i];
		uint32_t written = 0, sees = 0, bound = fence_bound(i);
		for (uint32_t m = l->newest; m && !written; m = V.message[m].older) {
			const struct x_message *x = &V.message[m];
			if (known(x->thread, x->epoch))
				written = m;
			if (!sees && (written || m == bound || seen_before(x)))
				sees = m;
		}
		l->sc = later(l->sc, written);
		l->fence = later(l->fence, sees);
		V.bounds[V.nbounds++] = l->fence;
	}
	V.nfences++;
}
