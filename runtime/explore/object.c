/*
 * object: an object test (intact/test.h) under exploration.
 *
 * In place of main the explorer executes the scenario that the tool has given: create, the
 * calls before, a thread for each column, the calls after, validate, destroy.
 *
 * The history of a run is judged by the tool (sched/objtest.h says what a history is, and what it stands for in
 * the exhaustive search). A run costs no system call when an order of the calls that explained another history with the
 * same results explains this one, too, or when the verdict is known: it is kept by a hash of 128 bits of what it depends on.
 *
 * The sequential oracle executes calls one at a time, each by the thread of its column (which
 * may matter: thread-local data, owners of locks): a thread waits at its gate until main lets it
 * through, and main waits until the call is done. So at every point only one thread can run, whatever
 * the strategy. A call that cannot go on alone ends the run.
 */
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <sys/syscall.h>

#include "intact/test.h"
#include "runtime/explore/explorer.h"

_Static_assert((int)INTACT_TEST_ARGUMENTS == (int)OBJTEST_ARGS && (int)INTACT_TEST_OPERATIONS == (int)OBJTEST_OPS &&
                       (int)INTACT_TEST_CALLS == (int)OBJTEST_LISTED,
               "the header's bounds are those of the block");
_Static_assert(sizeof(long) == 8 && INTACT_VOID == OBJTEST_RESULT_VOID && INTACT_EMPTY == OBJTEST_RESULT_EMPTY &&
                       INTACT_FULL == OBJTEST_RESULT_FULL,
               "results");
_Static_assert((int)INTACT_BLOCKS == (int)OBJTEST_BLOCKS && (int)INTACT_BOOLEAN == (int)OBJTEST_BOOLEAN, "flags");

extern const struct intact_test *intact_test_object_2 __attribute__((weak, visibility("default")));

static inline struct control_objtest *ctl(void)
{
	return &X.ctl->object;
}

static inline const struct intact_test *test(void)
{
	return intact_test_object_2;
}

bool x_object_is_test(void)
{
	return &intact_test_object_2 && intact_test_object_2;
}

/* ---- questions to the tool ---- */

static uint32_t ask(uint32_t what)
{
	struct control_objtest *o = ctl();
	uint32_t before = __atomic_load_n(&o->replies, __ATOMIC_RELAXED);
	uint64_t one = 1;
	__atomic_store_n(&o->ask, what, __ATOMIC_RELEASE);
	if (x_sys(SYS_write, o->fd, (long)&one, sizeof one, 0, 0, 0) != sizeof one)
		x_give_up(CONTROL_WHY_INTERNAL, "the program has closed the descriptor by which it talks to `intact explore`");
	while (__atomic_load_n(&o->replies, __ATOMIC_ACQUIRE) == before)
		x_sys(SYS_futex, (long)&o->replies, FUTEX_WAIT, before, 0, 0, 0);
	return o->reply;
}

/* ---- the description ---- */

static void copy_text(char *to, size_t room, const char *from)
{
	rt_print(to, room, "%s", from ? from : "");
}

static bool long_text(const char *s, size_t room)
{
	size_t n = 0;
	while (s && s[n])
		n++;
	return n >= room;
}

static _Noreturn void wrong(const char *what, const char *name)
{
	x_give_up(CONTROL_WHY_UNSUPPORTED, "object test '%s': %s", name ? name : "", what);
}

static uint32_t op_number(const char *name)
{
	for (uint32_t i = 0; i < OBJTEST_OPS && test()->operations[i].call; i++)
		if (rt_same(test()->operations[i].name, name))
			return i;
	return OBJTEST_OPS;
}

static uint32_t listed(struct objtest_call *to, const struct intact_call *from, unsigned part)
{
	uint32_t n = 0;
	for (; n < OBJTEST_LISTED && from[n].name; n++) {
		uint32_t op = op_number(from[n].name);
		if (op == OBJTEST_OPS)
			wrong("`before` or `after` names an operation that the object does not have", from[n].name);
		to[n] = (struct objtest_call){ .op = (uint16_t)op, .part = (uint8_t)part };
		for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
			to[n].arg[k] = from[n].arg[k];
	}
	return n;
}

static void describe_op(struct objtest_op *to, const struct intact_operation *from, bool model)
{
	const char *name = test()->name;
	if (!from->name || !*from->name)
		wrong("an operation has no name", name);
	if (long_text(from->name, OBJTEST_NAME) || long_text(from->as, OBJTEST_NAME))
		wrong("the name of an operation is too long", name);
	if (model && !from->model)
		wrong("`model_create` is given, but not every operation has a `model`", name);
	if (!model && from->model)
		wrong("an operation has a `model`, but `model_create` is not given", name);
	copy_text(to->name, sizeof to->name, from->name);
	copy_text(to->as, sizeof to->as, from->as ? from->as : from->name);
	to->flags = (from->flags & (OBJTEST_BLOCKS | OBJTEST_BOOLEAN)) | (model ? OBJTEST_HAS_MODEL : 0);
	to->threads = from->threads;
	for (uint32_t k = 0; k < OBJTEST_ARGS; k++) {
		const struct intact_argument *a = &from->arg[k];
		if (a->kind < 0 || a->kind > 2 || (a->kind && a->lo > a->hi))
			wrong("an argument's range is empty", from->name);
		to->arg[k] = (struct objtest_arg){ a->lo, a->hi, (uint32_t)a->kind };
	}
}

static uint32_t progress(void)
{
	const struct intact_test *t = test();
	if (!t->progress)
		return OBJTEST_ANY_PROGRESS;
	for (uint32_t i = 0; i < OBJTEST_OPS && t->operations[i].call; i++)
		if (t->operations[i].flags & INTACT_BLOCKS)
			wrong("`progress` is given, but an operation may wait (INTACT_BLOCKS)", t->operations[i].name);
	if (rt_same(t->progress, "obstruction-free"))
		return OBJTEST_OBSTRUCTION_FREE;
	if (!rt_same(t->progress, "lock-free"))
		wrong("`progress` is neither \"obstruction-free\" nor \"lock-free\"", t->name);
	return OBJTEST_LOCK_FREE;
}

_Noreturn void x_object_describe(void)
{
	const struct intact_test *t = test();
	struct objtest_about *a = &ctl()->about;
	if (long_text(t->name, OBJTEST_NAME) || long_text(t->spec, OBJTEST_TEXT) || long_text(t->initial, OBJTEST_TEXT) ||
	    long_text(t->condition, OBJTEST_NAME))
		wrong("a text of the test is too long", t->name);
	copy_text(a->name, sizeof a->name, t->name ? t->name : "object");
	copy_text(a->spec, sizeof a->spec, t->spec);
	copy_text(a->initial, sizeof a->initial, t->initial);
	copy_text(a->condition, sizeof a->condition, t->condition ? t->condition : "linearizable");
	a->has_model = t->model_create != NULL;
	a->progress = progress();
	for (a->nops = 0; a->nops < OBJTEST_OPS && t->operations[a->nops].call; a->nops++)
		describe_op(&a->op[a->nops], &t->operations[a->nops], a->has_model);
	if (!a->nops)
		wrong("it has no operations", t->name);
	a->nbefore = listed(a->before, t->before, OBJTEST_BEFORE);
	a->nafter = listed(a->after, t->after, OBJTEST_AFTER);
	X.ctl->state = CONTROL_OBJECT;
	for (;;)
		x_sys(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* ---- a run ---- */

static sem_t gate[OBJTEST_THREADS + 1], done; /* of the sequential oracle */
static void *object;

static void note(uint32_t call, unsigned returned)
{
	struct objtest_history *h = &ctl()->history;
	uint32_t n;
	sched_events(X.sched, &n);
	h->state[call] = returned ? OBJTEST_RETURNED : OBJTEST_CALLED;
	h->step[h->nevents] = n && X.current ? n - 1 : OBJTEST_NO_STEP;
	h->event[h->nevents++] = (uint8_t)(2 * call + returned);
	if (unlikely(X.c11))
		x_views_call(call, returned);
}

void x_object_invoked(void)
{
	struct x_thread *t = x_me();
	note(t->invokes - 1u, 0);
	t->invokes = 0;
}

/* Makes call i; the current thread is the one of its column. With `points` it is invoked with its first step, and
 * a step is made for it if it has none. */
static NOINLINE void x_object_call(uint32_t i, bool model, bool points)
{
	const struct objtest_call *c = &ctl()->scenario.call[i];
	const struct intact_operation *op = &test()->operations[c->op];
	long arg[OBJTEST_ARGS], (*fn)(void *, const long *) = model ? op->model : op->call;
	struct x_thread *t = x_me();
	for (uint32_t k = 0; k < OBJTEST_ARGS; k++)
		arg[k] = c->arg[k];
	x_effect(); /* calls that read the same are no loop */
	if (points)
		t->invokes = (uint8_t)(i + 1);
	else
		note(i, 0);
	t->in_call = points;
	long result = fn(object, arg);
	t->in_call = false;
	if (unlikely(X.drains_returns))
		x_drain((uintptr_t)op->call + 1);
	if (t->invokes)
		x_point(SCHED_INVOKE, NULL, 0, 0, 0, 0, (uintptr_t)op->call + 1);
	ctl()->history.result[i] = op->flags & INTACT_BOOLEAN ? result != 0 : result;
	note(i, 1);
	if (unlikely(X.progress))
		x_progress_returned();
}

static uint32_t length(const char *s)
{
	uint32_t n = 0;
	while (s[n])
		n++;
	return n;
}

void x_object_call_text(char *to, size_t room)
{
	const struct control_objtest *o = ctl();
	uint32_t call = 0, n;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++)
		if (o->scenario.call[i].part == OBJTEST_PARALLEL && o->scenario.call[i].thread == x_me()->column &&
		    o->history.state[i] != OBJTEST_RETURNED) {
			call = i;
			break;
		}
	const struct objtest_call *c = &o->scenario.call[call];
	const struct intact_operation *op = &test()->operations[c->op];
	rt_print(to, room, "%s(", op->name);
	for (uint32_t k = 0; k < OBJTEST_ARGS && op->arg[k].kind; k++) {
		n = length(to);
		rt_print(to + n, room - n, "%s%ld", k ? ", " : "", (long)c->arg[k]);
	}
	n = length(to);
	rt_print(to + n, room - n, ") of T%u", c->thread);
}

static void *x_object_thread(void *arg)
{
	const struct objtest_scenario *s = &ctl()->scenario;
	uint32_t self = (uint32_t)(uintptr_t)arg;
	x_me()->column = (uint8_t)self;
	for (uint32_t i = 0; i < s->ncalls; i++)
		if (s->call[i].part == OBJTEST_PARALLEL && s->call[i].thread == self)
			x_object_call(i, false, true);
	return NULL;
}

static void make_part(unsigned part)
{
	const struct objtest_scenario *s = &ctl()->scenario;
	for (uint32_t i = 0; i < s->ncalls; i++)
		if (s->call[i].part == part)
			x_object_call(i, false, false);
}

static NOINLINE void x_object_scenario(void)
{
	const struct intact_test *t = test();
	pthread_t id[OBJTEST_THREADS + 1];
	uint32_t n = ctl()->scenario.nthreads;
	object = t->create ? t->create() : NULL;
	make_part(OBJTEST_BEFORE);
	for (uint32_t i = 1; i <= n; i++)
		x_create(&id[i], NULL, x_object_thread, (void *)(uintptr_t)i, 0);
	for (uint32_t i = 1; i <= n; i++)
		x_join(id[i], NULL, false, NULL, 0, 0);
	make_part(OBJTEST_AFTER);
	if (t->validate)
		t->validate(object);
	if (t->destroy)
		t->destroy(object);
}

/* ---- the sequential oracle ---- */

static void *gated(void *arg)
{
	const struct control_objtest *o = ctl();
	uint32_t self = (uint32_t)(uintptr_t)arg;
	for (uint32_t i = 0; i < o->norder; i++)
		if (o->scenario.call[o->order[i]].thread == self) {
			x_sem_wait(&gate[self], false, 0, NULL, 0);
			x_object_call(o->order[i], o->about.has_model, false);
			x_sem_post(&done, 0);
		}
	return NULL;
}

static void run_order(void)
{
	const struct intact_test *t = test();
	struct control_objtest *o = ctl();
	pthread_t id;
	o->about.has_model = t->model_create != NULL;
	object = t->model_create ? t->model_create() : t->create ? t->create() : NULL;
	x_sem_init(&done, 0, 0);
	for (uint32_t i = 1; i <= o->scenario.nthreads; i++)
		x_sem_init(&gate[i], 0, 0);
	for (uint32_t i = 1; i <= o->scenario.nthreads; i++)
		x_create(&id, NULL, gated, (void *)(uintptr_t)i, 0);
	for (uint32_t i = 0; i < o->norder; i++) {
		uint32_t thread = o->scenario.call[o->order[i]].thread;
		if (!thread) {
			x_object_call(o->order[i], o->about.has_model, false);
			continue;
		}
		x_sem_post(&gate[thread], 0);
		x_sem_wait(&done, false, 0, NULL, 0);
	}
	x_end_run(); /* the threads need not end */
}

/* What the tool gave is within bounds: it made it itself; a corrupted block must not lead astray. */
static bool fits(void)
{
	const struct control_objtest *o = ctl();
	bool ok = o->scenario.ncalls <= OBJTEST_CALLS && o->scenario.nthreads <= OBJTEST_THREADS && o->norder <= OBJTEST_CALLS;
	for (uint32_t i = 0; ok && i < o->scenario.ncalls; i++) {
		const struct objtest_call *c = &o->scenario.call[i];
		ok = c->op < OBJTEST_OPS && test()->operations[c->op].call && c->thread <= o->scenario.nthreads;
	}
	for (uint32_t i = 0; ok && i < o->norder; i++)
		ok = o->order[i] < o->scenario.ncalls;
	return ok;
}

NOINLINE int x_object_main(void)
{
	struct objtest_history *h = &ctl()->history;
	if (!fits())
		x_give_up(CONTROL_WHY_INTERNAL, "the scenario is damaged");
	h->nevents = h->stuck = 0;
	if (X.c11)
		x_views_no_calls();
	for (uint32_t i = 0; i < OBJTEST_CALLS; i++) {
		h->state[i] = OBJTEST_NOT_CALLED;
		h->result[i] = 0;
	}
	if (ctl()->mode == OBJTEST_SERIAL)
		run_order();
	x_object_scenario();
	return 0;
}

/* No thread can go on: do all that wait do so in operations that may? Calls that wait before their first step are
 * invoked now. */
bool x_object_waits(void)
{
	struct control_objtest *o = ctl();
	struct objtest_history *h = &o->history;
	bool any = false;
	for (uint32_t i = 0; i < X.nthreads; i++)
		if (X.thread[i].state == XT_LIVE && X.thread[i].invokes) {
			uint32_t call = X.thread[i].invokes - 1u;
			X.thread[i].invokes = 0;
			h->state[call] = OBJTEST_CALLED;
			h->step[h->nevents] = OBJTEST_NO_STEP;
			h->event[h->nevents++] = (uint8_t)(2 * call);
			if (X.c11) {
				uint32_t was = X.current;
				X.current = i;
				x_views_call(call, false);
				X.current = was;
			}
		}
	for (uint32_t i = 0; i < o->scenario.ncalls; i++)
		if (h->state[i] == OBJTEST_CALLED) {
			if (!(test()->operations[o->scenario.call[i].op].flags & INTACT_BLOCKS) && o->mode != OBJTEST_SERIAL)
				return false;
			any = true;
		}
	if (any)
		h->stuck = OBJTEST_WAITS;
	return any;
}

/* ---- the verdict on a run ---- */

static void fold(uint64_t h[2], uint64_t x)
{
	__uint128_t m = (__uint128_t)(h[0] ^ x ^ 0x2d358dccaa6c78a5u) * (h[1] ^ 0x8bb84b93962eacc9u);
	h[0] = (uint64_t)(m >> 64) ^ (uint64_t)m;
	h[1] = h[1] * 0x9e3779b97f4a7c15u + (x ^ (uint64_t)(m >> 64)) + 1;
}

/* Under C11 memory: the calls that are before each other. */
static uint32_t find_happens(void)
{
	struct objtest_history *h = &ctl()->history;
	for (uint32_t i = 0; i < ctl()->scenario.ncalls; i++) {
		h->first_first[i] = h->first_last[i] = h->last_last[i] = 0;
		h->last_first[i] = x_views_calls_before(i);
	}
	return OBJTEST_HAPPENS;
}

/* The sets of a partial history; false: only the schedule that was executed is known. */
static bool find_order(void)
{
	struct objtest_history *h = &ctl()->history;
	uint32_t first[OBJTEST_CALLS], last[OBJTEST_CALLS], n = ctl()->scenario.ncalls;
	if (!sched_order(X.sched))
		return false;
	for (uint32_t i = 0; i < n; i++)
		first[i] = last[i] = OBJTEST_NO_STEP;
	for (uint32_t i = 0; i < h->nevents; i++)
		(h->event[i] & 1 ? last : first)[h->event[i] / 2] = h->step[i];
	for (uint32_t i = 0; i < n; i++) {
		h->first_first[i] = h->last_first[i] = h->first_last[i] = h->last_last[i] = 0;
		for (uint32_t k = 0; k < n; k++) {
			uint64_t bit = 1ull << k;
			if (k == i || first[k] == OBJTEST_NO_STEP)
				continue;
			bool ended = last[k] != OBJTEST_NO_STEP;
			if (first[i] != OBJTEST_NO_STEP) {
				h->first_first[i] |= sched_happens_before(X.sched, first[k], first[i]) ? bit : 0;
				h->last_first[i] |= ended && sched_happens_before(X.sched, last[k], first[i]) ? bit : 0;
			}
			if (last[i] != OBJTEST_NO_STEP) {
				h->first_last[i] |= sched_happens_before(X.sched, first[k], last[i]) ? bit : 0;
				h->last_last[i] |= ended && sched_happens_before(X.sched, last[k], last[i]) ? bit : 0;
			}
		}
	}
	return true;
}

/* For each call, those that cannot begin after it has ended: an order that explains the history may have them before it. */
static void find_allowed(uint64_t *allowed)
{
	const struct control_objtest *o = ctl();
	const struct objtest_history *h = &o->history;
	uint64_t begun = 0, all = (1ull << o->scenario.ncalls) - 1;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++)
		allowed[i] = all; /* of one that has not ended */
	if (h->partial == OBJTEST_HAPPENS) {
		for (uint32_t i = 0; i < o->scenario.ncalls; i++)
			for (uint32_t k = 0; k < o->scenario.ncalls; k++)
				allowed[i] &= h->last_first[k] >> i & 1 ? ~(1ull << k) : all;
		return;
	}
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t call = h->event[i] / 2;
		if (!(h->event[i] & 1))
			begun |= 1ull << call;
		else
			allowed[call] = begun;
	}
	if (!h->partial)
		return;
	uint64_t parallel = 0;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++)
		if (o->scenario.call[i].part == OBJTEST_PARALLEL)
			parallel |= 1ull << i;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++)
		if (parallel >> i & 1 && h->state[i] == OBJTEST_RETURNED)
			allowed[i] = h->first_last[i] | (allowed[i] & ~parallel);
}

static void hash_results(uint64_t out[2])
{
	const struct control_objtest *o = ctl();
	const struct objtest_history *h = &o->history;
	out[0] = 0x9e3779b97f4a7c15u;
	out[1] = 0xd1b54a32d192ed03u + h->stuck;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++) {
		fold(out, h->state[i]);
		fold(out, h->state[i] == OBJTEST_RETURNED ? (uint64_t)h->result[i] : 0);
	}
	out[0] += !out[0];
}

/* The rest of what the verdict depends on. */
static void hash_order(uint64_t out[2], const uint64_t *allowed)
{
	const struct control_objtest *o = ctl();
	const struct objtest_history *h = &o->history;
	for (uint32_t i = 0; i < o->scenario.ncalls; i++) {
		fold(out, allowed[i]);
		if (!h->partial)
			continue;
		fold(out, h->first_first[i]);
		fold(out, h->last_first[i]);
		fold(out, h->last_last[i]);
	}
	out[0] += !out[0];
}

/* Where the hash is kept, or would be; NULL: the table is full there. */
static uint64_t *memo_at(const uint64_t hash[2], bool *known)
{
	for (uint32_t i = 0; i < 64; i++) {
		uint64_t *m = X.object_memo[(hash[0] + i) % OBJTEST_MEMO];
		*known = m[0] == hash[0] && m[1] == hash[1];
		if (*known || !m[0])
			return m;
	}
	*known = false;
	return NULL;
}

/* Does an order that explained a history with these results explain this one, too? For each call, the calls before it
 * in the order are allowed there. */
static bool explained(const uint64_t results[2], const uint64_t *allowed)
{
	uint32_t n = ctl()->scenario.ncalls;
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t at = (uint32_t)(results[0] + i) % OBJTEST_ORDERS;
		if (!X.object_order[at].results[0])
			return false;
		if (X.object_order[at].results[0] != results[0] || X.object_order[at].results[1] != results[1])
			continue;
		bool fits = true;
		for (uint32_t c = 0; c < n && fits; c++)
			fits = !(X.object_order[at].ordered >> c & 1) || !(X.object_order[at].before[c] & ~allowed[c]);
		if (fits)
			return true;
	}
	return false;
}

static void keep_order(const uint64_t results[2])
{
	for (uint32_t i = 0; i < 16 && ctl()->ordered; i++) {
		uint32_t at = (uint32_t)(results[0] + i) % OBJTEST_ORDERS;
		if (X.object_order[at].results[0])
			continue;
		X.object_order[at].results[0] = results[0];
		X.object_order[at].results[1] = results[1];
		X.object_order[at].ordered = ctl()->ordered;
		for (uint32_t c = 0; c < OBJTEST_CALLS; c++)
			X.object_order[at].before[c] = ctl()->before[c];
		return;
	}
}

/* Asks about the history of the run that has ended; X.end says what it is. */
void x_object_judge(void)
{
	uint64_t hash[2], results[2], allowed[OBJTEST_CALLS];
	bool known;
	if (ctl()->mode != OBJTEST_EXPLORE || X.race_unseen || X.unjudged)
		return; /* accesses that are no points yet may be the first or last steps of a call; they are points from the next run on */
	ctl()->history.partial = X.c11                                       ? find_happens()
	                         : !X.detail && !X.ctl->goal && find_order() ? OBJTEST_TRACE
	                                                                     : OBJTEST_ONE_ORDER;
	hash_results(results);
	find_allowed(allowed);
	if (explained(results, allowed))
		return;
	hash[0] = results[0];
	hash[1] = results[1];
	hash_order(hash, allowed);
	uint64_t *m = memo_at(hash, &known);
	if (known)
		return;
	ctl()->histories++;
	uint32_t reply = ask(OBJTEST_ASK_JUDGE);
	if (reply == OBJTEST_WRONG) {
		X.end = CONTROL_NOT_LINEARIZABLE;
		X.end_pc = 0;
		x_failed();
		return;
	}
	ctl()->unknown += reply == OBJTEST_UNKNOWN;
	if (reply == OBJTEST_FINE)
		keep_order(results);
	if (m) {
		m[0] = hash[0];
		m[1] = hash[1];
	}
}

/*
 * The tool found an order of first and last steps, which agrees with happens-before, that cannot be explained: the whole
 * schedule in such an order, into the block. A step comes when all that happen before it are there, and if it is
 * a first or last step, when it is the next of those.
 */
bool x_object_reorder(void)
{
	struct objtest_history *h = &ctl()->history;
	struct control *c = X.ctl;
	uint32_t n, put = 0, at = 0;
	const struct sched_event *e = sched_events(X.sched, &n);
	if (h->partial != OBJTEST_TRACE || n > CONTROL_STEPS)
		return false;
	uint8_t *made = (uint8_t *)X_SCRATCH_AT; /* by event: 1 made, 2 a first or last step */
	__builtin_memset(made, 0, n);
	for (uint32_t i = 0; i < h->nevents && i < 2 * OBJTEST_CALLS; i++)
		if (h->step[i] < n)
			made[h->step[i]] = 2;
	while (put < n) {
		uint32_t before = put;
		for (uint32_t i = 0; i < n; i++) {
			while (at < h->nevents && (h->step[at] >= n || made[h->step[at]] == 1))
				at++;
			if (made[i] == 1 || (made[i] == 2 && (at == h->nevents || h->step[at] != i)))
				continue;
			bool free = true;
			for (uint32_t k = 0; k < n && free; k++)
				free = made[k] == 1 || k == i || !sched_happens_before(X.sched, k, i);
			if (!free)
				continue;
			c->events[put++] = e[i];
			made[i] = 1;
		}
		if (put == before)
			return false;
	}
	return true;
}

void x_object_begin(void)
{
	X.tests = ctl()->mode == OBJTEST_EXPLORE || ctl()->mode == OBJTEST_SERIAL;
	if (X.tests && !x_object_is_test())
		x_give_up(CONTROL_WHY_UNSUPPORTED, "the program is no object test");
	if (ctl()->mode == OBJTEST_EXPLORE)
		X.progress = X.weak ? OBJTEST_ANY_PROGRESS : progress();
	X.unjudged = X.tests && rt_same(test()->condition ? test()->condition : "", "none");
	/* Sequential consistency does not ask when a call has returned, all else does: docs/object-tests.md. */
	X.drains_returns = X.tso && X.tests && !rt_same(test()->condition ? test()->condition : "", "sequential");
}

/* The oracle: what the last order came to, and the next one. */
void x_object_order(void)
{
	if (X.end != CONTROL_OK)
		ctl()->history.stuck = X.end == CONTROL_LIMIT ? OBJTEST_CUT : OBJTEST_FAILED;
	if (ask(OBJTEST_ASK_ORDER) == OBJTEST_END)
		for (;;)
			x_sys(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* All that was asked for about this scenario is done. True: another one is there. */
bool x_object_next(void)
{
	if (ctl()->mode != OBJTEST_EXPLORE || ask(OBJTEST_ASK_NEXT) == OBJTEST_END)
		return false;
	__builtin_memset(X.object_memo, 0, sizeof X.object_memo);
	for (uint32_t i = 0; i < OBJTEST_ORDERS; i++)
		X.object_order[i].results[0] = 0;
	return true;
}
