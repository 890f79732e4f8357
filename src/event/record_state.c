#include "event/record_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

/* A growing list of records; TEXTs precede what they belong to. */
struct record_state_list {
	struct rec *v;
	size_t n, cap;
};

struct record_state_lock {
	uint64_t addr;
	uint32_t depth;
	struct rec acquire;
};

struct record_state_thread {
	bool live;
	struct rec create, stack;
	struct record_state_list frames;
	struct record_state_list marks; /* each with its TEXT, if it has one */
	struct record_state_lock *locks;
	uint32_t nlocks, locks_cap;
	uint32_t depth[64]; /* functions at each mark */
	size_t mark_at[64]; /* in `marks` */
	uint32_t nmarks;
};

struct record_state {
	struct record_state_list modules; /* options too */
	struct record_state_list text;    /* the last TEXT */
	struct record_state_thread *threads;
	uint32_t nthreads;
	bool nomem;
};

struct record_state *record_state_new(void)
{
	return calloc(1, sizeof(struct record_state));
}

void record_state_free(struct record_state *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		free(s->threads[i].frames.v);
		free(s->threads[i].marks.v);
		free(s->threads[i].locks);
	}
	free(s->threads);
	free(s->modules.v);
	free(s->text.v);
	free(s);
}

static void add(struct record_state *s, struct record_state_list *l, const struct rec *r, size_t n)
{
	if (!n)
		return;
	if (!GROW_RAW(l->v, l->cap, l->n + n)) {
		s->nomem = true;
		return;
	}
	memcpy(l->v + l->n, r, n * sizeof *r);
	l->n += n;
	assert(l->n <= l->cap);
}

static struct record_state_thread *thread(struct record_state *s, uint32_t slot)
{
	if (GROW(s->threads, s->nthreads, slot + 1ull))
		return &s->threads[slot];
	s->nomem = true;
	return NULL;
}

static void create(struct record_state *s, struct rec r)
{
	struct record_state_thread *t = thread(s, (uint32_t)(rec_addr(r) >> 32) & (REC_SLOTS - 1));
	if (!t)
		return;
	t->live = true;
	t->frames.n = t->marks.n = 0;
	t->nlocks = t->nmarks = 0;
	t->stack = (struct rec){ 0, 0 };
	/* Its parent may be gone when this is sent again. */
	t->create = rec_make(REC_CREATE, 0, rec_addr(r), 0, rec_pc(r));
	assert(!t->nlocks && !t->nmarks && t->live);
}

static void acquire(struct record_state *s, struct record_state_thread *t, struct rec r)
{
	for (uint32_t i = 0; i < t->nlocks; i++)
		if (t->locks[i].addr == rec_addr(r)) {
			t->locks[i].depth++;
			return;
		}
	if (GROW(t->locks, t->locks_cap, t->nlocks + 1ull))
		t->locks[t->nlocks++] = (struct record_state_lock){ rec_addr(r), 1, r };
	else
		s->nomem = true;
}

static void release(struct record_state_thread *t, struct rec r)
{
	for (uint32_t i = 0; i < t->nlocks; i++) {
		if (t->locks[i].addr != rec_addr(r))
			continue;
		if (!--t->locks[i].depth || rec_arg(r) & REC_WAIT) {
			memmove(&t->locks[i], &t->locks[i + 1], (t->nlocks - i - 1) * sizeof *t->locks);
			t->nlocks--;
		}
		return;
	}
}

/* The last mark goes, with its TEXT. */
static void unmark(struct record_state_thread *t)
{
	assert(t->nmarks);
	if (--t->nmarks < 64)
		t->marks.n = t->mark_at[t->nmarks];
}

static void mark(struct record_state *s, struct record_state_thread *t, struct rec r)
{
	if (t->nmarks < 64) {
		t->depth[t->nmarks] = (uint32_t)t->frames.n;
		t->mark_at[t->nmarks] = t->marks.n;
		add(s, &t->marks, &r, 1);
		if (rec_arg(r) & REC_NAMED)
			add(s, &t->marks, s->text.v, s->text.n);
	}
	t->nmarks++;
	assert(t->nmarks);
}

static void pop(struct record_state_thread *t, uint64_t keep)
{
	if (keep < t->frames.n)
		t->frames.n = keep;
	while (t->nmarks && t->nmarks <= 64 && t->depth[t->nmarks - 1] > t->frames.n)
		unmark(t);
	assert(t->frames.n <= t->frames.cap);
}

/* Told again it leaves nothing. */
static void push(struct record_state *s, struct record_state_thread *t, struct rec r)
{
	pop(t, rec_keep(r));
	r.a &= ~(UINT64_C(0xfe) << 48);
	add(s, &t->frames, &r, 1);
}

static void one(struct record_state *s, struct rec r)
{
	unsigned kind = rec_kind(r);
	if (kind == REC_CREATE) {
		create(s, r);
		return;
	}
	if (kind == REC_MODULE) {
		if (!rec_arg(r))
			add(s, &s->modules, s->text.v, s->text.n);
		add(s, &s->modules, &r, 1);
		return;
	}
	struct record_state_thread *t = thread(s, rec_slot(r));
	if (!t)
		return;
	if (kind == REC_STACK) {
		if (rec_arg(r) != REC_CALLED) /* that is of the thread's beginning */
			t->stack = r;
	} else if (kind == REC_END)
		t->live = false;
	else if (kind == REC_ACQUIRE)
		acquire(s, t, r);
	else if (kind == REC_RELEASE)
		release(t, r);
	else if (kind == REC_PUSH)
		push(s, t, r);
	else if (kind == REC_POP)
		pop(t, rec_addr(r));
	else if (kind == REC_MARK)
		mark(s, t, r);
	else if (kind == REC_MARK_END && t->nmarks)
		unmark(t);
}

bool record_state_note(struct record_state *s, const struct rec *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned kind = rec_kind(r[i]);
		if (kind <= REC_ATOMIC_WRITE)
			continue;
		if (kind == REC_TEXT) {
			size_t len = 1 + rec_letters(r[i]);
			s->text.n = 0;
			add(s, &s->text, &r[i], len);
			if (rec_arg(r[i]) == REC_TEXT_OPTIONS)
				add(s, &s->modules, &r[i], len);
			i += len - 1;
		} else {
			one(s, r[i]);
		}
	}
	return !s->nomem;
}

static bool tell_list(const struct record_state_list *l, record_state_fn *fn, void *ctx)
{
	assert(l->n <= l->cap);
	for (size_t i = 0; i < l->n;) {
		size_t len = rec_kind(l->v[i]) == REC_TEXT ? 1 + rec_letters(l->v[i]) : 1;
		if (!fn(ctx, &l->v[i], len))
			return false;
		i += len;
	}
	return true;
}

/* Marks are kept with their TEXT after them: it goes first. */
static bool tell_marks(const struct record_state_thread *t, uint32_t depth, size_t *at, uint32_t *next, record_state_fn *fn,
                       void *ctx)
{
	const struct record_state_list *l = &t->marks;
	while (*next < t->nmarks && *next < 64 && t->depth[*next] <= depth && *at < l->n) {
		struct rec m = l->v[(*at)++];
		if (rec_arg(m) & REC_NAMED && *at < l->n) {
			size_t len = 1 + rec_letters(l->v[*at]);
			if (!fn(ctx, &l->v[*at], len))
				return false;
			*at += len;
		}
		if (!fn(ctx, &m, 1))
			return false;
		(*next)++;
	}
	return true;
}

static bool tell_thread(const struct record_state_thread *t, record_state_fn *fn, void *ctx)
{
	size_t at = 0;
	uint32_t next = 0;
	if (!fn(ctx, &t->create, 1) || (t->stack.a && !fn(ctx, &t->stack, 1)))
		return false;
	for (size_t i = 0; i <= t->frames.n; i++) {
		if (i && !fn(ctx, &t->frames.v[i - 1], 1))
			return false;
		if (!tell_marks(t, (uint32_t)i, &at, &next, fn, ctx))
			return false;
	}
	for (uint32_t i = 0; i < t->nlocks; i++)
		for (uint32_t k = 0; k < t->locks[i].depth; k++)
			if (!fn(ctx, &t->locks[i].acquire, 1))
				return false;
	return true;
}

bool record_state_tell(const struct record_state *s, record_state_fn *fn, void *ctx)
{
	if (!tell_list(&s->modules, fn, ctx))
		return false;
	for (uint32_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].live && !tell_thread(&s->threads[i], fn, ctx))
			return false;
	return true;
}
