#include "event/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

#define ORDER_NOBODY UINT32_MAX
#define WARN_MAX     20 /* warnings told; the rest is counted */

struct order_lock {
	uint32_t owner, depth;
	uint64_t since; /* event of the acquire */
};

struct order_thread {
	uint32_t depth; /* of open blocks */
	bool seen, forked, joined;
	uint64_t forked_at, joined_at;
};

struct order {
	const char *file;
	bool lenient;
	trace_msg_fn *fn;
	void *ctx;
	struct order_lock *locks;
	struct order_thread *threads;
	uint32_t nlocks, nthreads;
	uint32_t warned;
	bool nomem;
};

struct order *order_new(const char *file, bool lenient, trace_msg_fn *fn, void *ctx)
{
	struct order *o = calloc(1, sizeof *o);
	if (!o)
		return NULL;
	o->file = strcmp(file, "-") ? file : "<stdin>";
	o->lenient = lenient;
	o->fn = fn;
	o->ctx = ctx;
	return o;
}

void order_free(struct order *o)
{
	if (!o)
		return;
	free(o->locks);
	free(o->threads);
	free(o);
}

static struct order_lock *lock_of(struct order *o, uint32_t id)
{
	if (id >= o->nlocks) {
		uint32_t old = o->nlocks;
		if (!GROW(o->locks, o->nlocks, id + 1ull)) {
			o->nomem = true;
			return NULL;
		}
		for (uint32_t i = old; i < o->nlocks; i++)
			o->locks[i].owner = ORDER_NOBODY;
	}
	assert(id < o->nlocks);
	return &o->locks[id];
}

static struct order_thread *thread_of(struct order *o, uint32_t id)
{
	o->nomem |= !GROW(o->threads, o->nthreads, id + 1ull);
	assert(o->nomem || id < o->nthreads);
	return o->nomem ? NULL : &o->threads[id];
}

/* Tells of a fault; true when it ends the reading. */
static bool fault(struct order *o, const struct event *e, const struct trace_names *t, bool error, const char *code,
                  const char *hint, const char *fmt, ...) __attribute__((format(printf, 7, 8)));

static bool fault(struct order *o, const struct event *e, const struct trace_names *t, bool error, const char *code,
                  const char *hint, const char *fmt, ...)
{
	struct buf b;
	va_list ap;
	bool fatal = error && !o->lenient;
	if (!fatal && o->warned++ >= WARN_MAX)
		return false;
	buf_init(&b);
	buf_printf(&b, "thread ");
	names_show(&t->ns[NS_THREAD], e->thread, &b);
	buf_char(&b, ' ');
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	struct trace_msg m = {
		.error = fatal,
		.code = code,
		.file = o->file,
		.line = e->line,
		.event = e->index,
		.text = buf_cstr(&b),
		.hint = hint,
	};
	if (o->fn)
		o->fn(o->ctx, &m);
	buf_free(&b);
	return fatal;
}

/* A name in a message; the buffer is the caller's. */
static const char *name(const struct trace_names *t, enum name_space s, uint32_t id, struct buf *b)
{
	buf_init(b);
	names_show(&t->ns[s], id, b);
	return buf_cstr(b);
}

static const char LENIENT[] = "--lenient treats this as a warning";

static bool acquire(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->kind == EVENT_ACQ);
	struct order_lock *l = lock_of(o, e->target);
	bool stop = false;
	if (!l)
		return true;
	if (l->owner == e->thread) {
		l->depth++;
		e->flags = EVENT_INNER;
		return false;
	}
	if (l->owner != ORDER_NOBODY) {
		struct buf a, b;
		stop = fault(o, e, t, true, "lock-held", LENIENT, "acquires lock %s, which thread %s holds since event %llu",
		             name(t, NS_LOCK, e->target, &a), name(t, NS_THREAD, l->owner, &b), (unsigned long long)l->since);
		buf_free(&a);
		buf_free(&b);
	}
	*l = (struct order_lock){ e->thread, 1, e->index };
	assert(l->owner == e->thread && l->depth == 1);
	return stop;
}

static bool release(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->kind == EVENT_REL);
	struct order_lock *l = lock_of(o, e->target);
	struct buf a, b;
	bool stop = false;
	if (!l)
		return true;
	if (l->owner == e->thread) {
		if (--l->depth)
			e->flags = EVENT_INNER;
		else
			l->owner = ORDER_NOBODY;
		return false;
	}
	name(t, NS_LOCK, e->target, &a);
	if (l->owner != ORDER_NOBODY) {
		stop = fault(o, e, t, true, "lock-not-held", LENIENT, "releases lock %s, which thread %s holds since event %llu",
		             buf_cstr(&a), name(t, NS_THREAD, l->owner, &b), (unsigned long long)l->since);
		buf_free(&b);
	} else if (l->since) {
		stop = fault(o, e, t, true, "lock-not-held", LENIENT, "releases lock %s, which no thread holds", buf_cstr(&a));
	} else {
		fault(o, e, t, false, "lock-held-before", "expected if the recording began in the middle of a run",
		      "releases lock %s, which was not acquired in this trace", buf_cstr(&a));
	}
	buf_free(&a);
	*l = (struct order_lock){ ORDER_NOBODY, 0, e->index };
	return stop;
}

static bool fork_thread(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->kind == EVENT_FORK);
	struct order_thread *child = thread_of(o, e->target);
	struct buf a;
	bool stop = false;
	if (!child)
		return true;
	name(t, NS_THREAD, e->target, &a);
	if (e->target == e->thread)
		stop = fault(o, e, t, true, "fork-self", LENIENT, "forks itself");
	else if (child->forked)
		stop = fault(o, e, t, true, "forked-twice", LENIENT, "forks thread %s, which event %llu forked already",
		             buf_cstr(&a), (unsigned long long)child->forked_at);
	else if (child->seen)
		stop = fault(o, e, t, true, "forked-late", LENIENT, "forks thread %s, which has run before", buf_cstr(&a));
	child->forked = true;
	child->forked_at = e->index;
	buf_free(&a);
	assert(child->forked_at == e->index);
	return stop;
}

static bool join_thread(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->kind == EVENT_JOIN);
	struct order_thread *child = thread_of(o, e->target);
	struct buf a;
	bool stop = false;
	if (!child)
		return true;
	name(t, NS_THREAD, e->target, &a);
	if (e->target == e->thread)
		stop = fault(o, e, t, true, "join-self", LENIENT, "joins itself");
	else if (child->joined)
		fault(o, e, t, false, "joined-twice", NULL, "joins thread %s, which event %llu joined already", buf_cstr(&a),
		      (unsigned long long)child->joined_at);
	else if (child->depth)
		fault(o, e, t, false, "joined-in-block", NULL, "joins thread %s inside its block: the end of the block is missing",
		      buf_cstr(&a));
	child->joined = true;
	child->joined_at = e->index;
	buf_free(&a);
	assert(child->joined_at == e->index);
	return stop;
}

static bool end_block(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->thread < o->nthreads);
	struct order_thread *th = &o->threads[e->thread];
	if (th->depth) {
		if (--th->depth)
			e->flags = EVENT_INNER;
		return false;
	}
	e->flags = EVENT_INNER;
	if (th->forked)
		return fault(o, e, t, true, "end-without-begin", LENIENT, "ends a block that it did not begin");
	fault(o, e, t, false, "begun-before", "its earlier events are treated as outside of blocks",
	      "ends a block that began before this trace");
	return false;
}

static bool check_one(struct order *o, struct event *e, const struct trace_names *t)
{
	assert(e->kind < EVENT_KINDS);
	struct order_thread *th = thread_of(o, e->thread);
	bool stop = false;
	if (!th)
		return true;
	th->seen = true;
	if (th->joined)
		stop = fault(o, e, t, true, "after-join", LENIENT, "runs on after event %llu joined it",
		             (unsigned long long)th->joined_at);
	if (stop)
		return true;
	switch (e->kind) {
	case EVENT_ACQ:
		return acquire(o, e, t);
	case EVENT_REL:
		return release(o, e, t);
	case EVENT_FORK:
		return fork_thread(o, e, t);
	case EVENT_JOIN:
		return join_thread(o, e, t);
	case EVENT_BEGIN:
		if (th->depth++)
			e->flags = EVENT_INNER;
		return false;
	case EVENT_END:
		return end_block(o, e, t);
	default:
		return false;
	}
}

size_t order_check(struct order *o, struct event *ev, size_t n, const struct trace_names *names)
{
	for (size_t i = 0; i < n; i++) {
		struct event *e = &ev[i];
		assert(e->kind < EVENT_KINDS && (!i || e->index > ev[i - 1].index)); /* events come in order */
		if (event_is_access(e) && e->thread < o->nthreads && o->threads[e->thread].seen && !o->threads[e->thread].joined)
			continue;
		if (check_one(o, e, names)) {
			if (o->nomem && o->fn) {
				struct trace_msg m = { .error = true, .code = "memory", .file = o->file, .text = "out of memory" };
				o->fn(o->ctx, &m);
			}
			return i;
		}
	}
	return n;
}
