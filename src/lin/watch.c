#include "lin/watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "lin/check.h"

#define LOG_MAX   (1u << 20) /* operations kept beside the monitor */
#define LOG_SHORT 64         /* not worth shortening below */

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool watch_open(struct watch *w, struct history *h, const struct interpretation *in, uint32_t k, uint32_t max_rows, proof_text *say)
{
	memset(w, 0, sizeof *w);
	w->h = h;
	w->in = in;
	w->k = k;
	w->say = say;
	w->init = in->init;
	w->open = w->monitored = w->kept = true;
	enum object obj = k > 1 ? OBJ_REGISTER : in->object;
	bool ok = online_open(&w->o, spec_of(obj, k), &h->vals, in->init, k, h->lim, h->user);
	w->o.max_rows = max_rows;
	return ok;
}

void watch_close(struct watch *w)
{
	if (w->monitored)
		online_close(&w->o);
	lim_free(w->h->lim, w->log, w->cap * sizeof *w->log);
	free(w->handles);
	free(w->unused);
	memset(w, 0, sizeof *w);
}

/* ---- as a recorded history ------------------------------------------------------- */

/* What was known before event `cut`, into the ops of a history. */
static uint32_t known_before(const struct watch *w, uint32_t cut, struct hop *ops)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->n && w->log[i].op.call < cut; i++) {
		const struct logged *l = &w->log[i];
		struct hop op = l->op;
		if (l->end < cut && l->failed)
			continue;
		if (l->end >= cut && !hop_still_open(&op))
			continue;
		ops[n++] = op;
	}
	assert(n <= w->n);
	return n;
}

/* Judges it; with `why` says why it is wrong. LIN_UNKNOWN: a limit is reached. */
static enum lin_verdict judge(const struct watch *w, uint32_t cut, struct buf *why)
{
	assert(cut <= w->nevents);
	struct history h = *w->h;
	struct interpretation in = *w->in;
	struct lin_check_options o = { .condition = COND_ATOMIC, .algorithm = ALG_AUTO, .k = w->k, .jobs = 1 };
	struct check c;
	size_t bytes = (w->n + 1ull) * sizeof *h.ops;
	h.ops = lim_realloc(h.lim, NULL, 0, bytes);
	if (!h.ops)
		return LIN_UNKNOWN;
	h.n = known_before(w, cut, h.ops);
	h.nevents = cut;
	in.init = w->init;
	enum lin_verdict v = LIN_HOLDS;
	if (h.n) {
		v = lin_check(&h, &in, &o, &c) ? c.verdict : LIN_UNKNOWN;
		for (uint32_t i = 0; why && v == LIN_VIOLATED && i < c.nparts && !why->len; i++)
			if (c.parts[i].r.verdict == LIN_VIOLATED)
				w->say(&h, &in, &o, &c.parts[i], why);
		check_free(&c, &h);
	}
	lim_free(h.lim, h.ops, bytes);
	return v;
}

/* Wrong with all that is there: since when? The events known to be right grow
 * until one more is wrong. */
static int find_cut(struct watch *w)
{
	assert(w->good <= w->nevents);
	uint32_t bad = w->nevents;
	while (w->good + 1 < bad) {
		uint32_t mid = w->good + (bad - w->good) / 2;
		enum lin_verdict v = judge(w, mid, NULL);
		if (v > LIN_VIOLATED)
			return -1;
		*(v == LIN_HOLDS ? &w->good : &bad) = mid;
	}
	w->cut = bad;
	assert(w->cut && w->cut <= w->nevents);
	return 0;
}

static int judge_all(struct watch *w)
{
	int64_t start = now_ns();
	enum lin_verdict v = judge(w, w->nevents, NULL);
	if (v == LIN_VIOLATED)
		return find_cut(w);
	if (v != LIN_HOLDS)
		return -1;
	w->good = w->nevents;
	w->next = w->nevents + w->nevents / 4 + 32;
	w->judged_ns = now_ns();
	w->cost_ns = w->judged_ns - start;
	return 1;
}

int64_t watch_due(const struct watch *w)
{
	if (!w->open || w->monitored || w->good == w->nevents)
		return -1;
	int64_t left = w->judged_ns + w->cost_ns - now_ns();
	return left > 0 ? left : 0;
}

int watch_settle(struct watch *w)
{
	return watch_due(w) < 0 ? 1 : judge_all(w);
}

const struct logged *watch_culprit(const struct watch *w)
{
	assert(w->cut <= w->nevents);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->log[i].end != RANK_INF && w->log[i].end + 1 == w->cut)
			return &w->log[i];
	return NULL;
}

char *watch_explain(struct watch *w)
{
	struct buf b;
	char *text = NULL;
	buf_init(&b);
	if (w->kept && judge(w, w->cut, &b) == LIN_VIOLATED && b.len)
		text = strdup(buf_cstr(&b));
	buf_free(&b);
	return text;
}

/* ---- the log --------------------------------------------------------------------- */

/* The only state that is possible, as an initial value; false: it is not that. */
static bool only_state(struct watch *w, val *v)
{
	uint32_t s;
	if (w->k > 1 || !online_settled(&w->o, &s))
		return false;
	const struct spec *spec = w->o.obj.spec;
	return spec->value && spec->value(&w->o.obj, s, &w->h->vals, v);
}

/* What is over is forgotten; what is open restarts the log. */
static void forget(struct watch *w)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		if (w->log[i].end != RANK_INF)
			continue;
		w->log[n] = w->log[i];
		w->log[n].op.call = n;
		if (w->log[n].handle != RANK_INF)
			w->handles[w->log[n].handle] = n;
		n++;
	}
	w->n = w->nevents = n;
	assert(n <= w->cap);
}

static void shorten(struct watch *w)
{
	val v;
	if (w->n < LOG_SHORT || w->o.cur.n != 1 || w->nevents < w->next)
		return;
	w->next = w->nevents + 8; /* not at every event */
	if (!only_state(w, &v))
		return;
	w->init = v;
	w->kept = true;
	forget(w);
	w->next = 0;
}

static struct logged *log_push(struct watch *w)
{
	if (w->monitored && w->n >= LOG_MAX) {
		w->kept = false;
		forget(w);
	}
	if (w->n == w->cap) {
		uint32_t cap = w->cap ? w->cap * 2 : 16;
		struct logged *l = lim_realloc(w->h->lim, w->log, w->cap * sizeof *l, cap * sizeof *l);
		if (!l)
			return NULL;
		w->log = l;
		w->cap = cap;
	}
	assert(w->n < w->cap);
	return &w->log[w->n++];
}

/* ---- events ------------------------------------------------------------------------ */

/* The monitor has given up: from here on as a recorded history. */
static int monitor_over(struct watch *w)
{
	assert(w->monitored);
	w->peak = w->o.peak;
	if (!w->o.over || !w->kept)
		return -1;
	online_close(&w->o);
	w->monitored = false;
	w->good = 0;
	w->cost_ns = w->judged_ns = 0;
	return judge_all(w);
}

/* What came out of the monitor, or is due without it. */
static int outcome(struct watch *w, int ok)
{
	if (!w->monitored)
		return w->nevents < w->next ? 1 : judge_all(w);
	if (ok < 0)
		return monitor_over(w);
	if (w->o.peak > w->peak)
		w->peak = w->o.peak;
	if (ok == 0)
		w->cut = w->nevents;
	else
		shorten(w);
	return ok;
}

uint32_t watch_call(struct watch *w, const struct hop *op)
{
	uint32_t handle = w->nunused ? w->unused[--w->nunused] : w->nhandles++;
	if (!GROW(w->handles, w->chandles, w->nhandles) || !GROW(w->unused, w->cunused, w->nhandles))
		return RANK_INF;
	struct logged *l = log_push(w);
	if (!l)
		return RANK_INF;
	*l = (struct logged){ .op = *op, .handle = handle, .end = RANK_INF };
	l->op.call = w->nevents++;
	l->op.ret = RANK_INF;
	w->handles[handle] = w->n - 1;
	if (w->monitored)
		l->slot = online_call(&w->o, &l->op, w->n - 1);
	return w->monitored && l->slot == RANK_INF && monitor_over(w) < 0 ? RANK_INF : handle;
}

static struct logged *ended(struct watch *w, uint32_t handle, uint32_t line)
{
	assert(handle < w->nhandles && w->handles[handle] < w->n);
	struct logged *l = &w->log[w->handles[handle]];
	assert(l->handle == handle);
	w->unused[w->nunused++] = handle;
	l->handle = RANK_INF;
	l->line = line;
	return l;
}

int watch_return(struct watch *w, uint32_t handle, const struct hop *op, uint32_t line)
{
	struct logged *l = ended(w, handle, line);
	uint32_t call = l->op.call;
	l->op = *op;
	l->op.call = call;
	l->op.ret = l->end = w->nevents++;
	assert(l->op.call < l->op.ret);
	return outcome(w, w->monitored ? online_return(&w->o, l->slot, &l->op) : 1);
}

int watch_crash(struct watch *w, uint32_t handle)
{
	struct logged *l = ended(w, handle, 0);
	bool observer = l->op.fn == FN_READ || l->op.fn == FN_PEEK || l->op.fn == FN_CONTAINS;
	if (observer) { /* says nothing, so it can be forgotten */
		l->failed = true;
		l->end = w->nevents++;
	}
	return outcome(w, w->monitored ? online_crash(&w->o, l->slot) : 1);
}

int watch_fail(struct watch *w, uint32_t handle, uint32_t line)
{
	struct logged *l = ended(w, handle, line);
	l->failed = true;
	l->end = w->nevents++;
	return outcome(w, w->monitored ? online_fail(&w->o, l->slot) : 1);
}
