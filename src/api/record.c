/*
 * record: the C API of include/intact/history.h.
 *
 * Representation: a recorder keeps its events in chunks that never move; the
 * history has a list of recorders and one counter, the clock. Invocation and
 * response take a number each from it, so the order of numbers is an order
 * the events really had: a response that took its number before an
 * invocation did had returned before it.
 */
#include "intact/history.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lin/check.h"
#include "history/read.h"
#include "lin/check.h"
#include "report/history_text.h"

#define RECORD_EXPORT __attribute__((visibility("default")))
#define CHUNK_EVENTS  1023
#define NEVER         UINT64_MAX

struct record_event {
	uint64_t call, ret;
	int64_t key, a, b, answer;
	uint8_t op, empty, keyed, cancelled;
};

struct record_chunk {
	struct record_chunk *next;
	uint32_t n;
	struct record_event ev[CHUNK_EVENTS];
};

struct intact_recorder {
	struct intact_history *h;
	struct intact_recorder *next;
	struct record_chunk *first, *last;
	struct record_event *open;
	int64_t id;
	bool misused;
};

struct intact_history {
	_Alignas(64) atomic_uint_fast64_t clock;
	_Alignas(64) _Atomic(struct intact_recorder *) recorders;
	atomic_int_fast64_t nrecorders;
	atomic_bool no_memory;
	enum intact_object object;
	int64_t initial;
	struct buf report, text;
};

RECORD_EXPORT struct intact_history *intact_history_new(enum intact_object object, int64_t initial)
{
	struct intact_history *h = aligned_alloc(64, (sizeof *h + 63) / 64 * 64);
	if (!h)
		return NULL;
	memset(h, 0, sizeof *h);
	h->object = object;
	h->initial = initial;
	buf_init(&h->report);
	buf_init(&h->text);
	return h;
}

RECORD_EXPORT void intact_history_free(struct intact_history *h)
{
	if (!h)
		return;
	for (struct intact_recorder *r = atomic_load(&h->recorders), *next; r; r = next) {
		next = r->next;
		for (struct record_chunk *c = r->first, *d; c; c = d) {
			d = c->next;
			free(c);
		}
		free(r);
	}
	buf_free(&h->report);
	buf_free(&h->text);
	free(h);
}

RECORD_EXPORT struct intact_recorder *intact_history_recorder(struct intact_history *h)
{
	struct intact_recorder *r = calloc(1, sizeof *r);
	if (!r) {
		atomic_store(&h->no_memory, true);
		return NULL;
	}
	r->h = h;
	r->id = atomic_fetch_add(&h->nrecorders, 1);
	r->next = atomic_load(&h->recorders);
	while (!atomic_compare_exchange_weak(&h->recorders, &r->next, r))
		;
	return r;
}

/* ---- recording -------------------------------------------------------------------- */

static void invoke(struct intact_recorder *r, bool keyed, int64_t key, enum intact_op op, int64_t a, int64_t b)
{
	if (!r)
		return;
	r->misused |= r->open != NULL;
	if (!r->last || r->last->n == CHUNK_EVENTS) {
		struct record_chunk *c = malloc(sizeof *c);
		if (!c) {
			atomic_store(&r->h->no_memory, true);
			return;
		}
		c->next = NULL;
		c->n = 0;
		*(r->last ? &r->last->next : &r->first) = c;
		r->last = c;
	}
	struct record_event *e = &r->last->ev[r->last->n++];
	*e = (struct record_event){ .ret = NEVER, .key = key, .a = a, .b = b, .op = (uint8_t)op, .keyed = keyed };
	r->open = e;
	e->call = atomic_fetch_add(&r->h->clock, 1);
}

RECORD_EXPORT void intact_invoke(struct intact_recorder *r, enum intact_op op, int64_t arg)
{
	invoke(r, false, 0, op, arg, 0);
}

RECORD_EXPORT void intact_invoke_key(struct intact_recorder *r, int64_t key, enum intact_op op, int64_t arg)
{
	invoke(r, true, key, op, arg, 0);
}

RECORD_EXPORT void intact_invoke_cas(struct intact_recorder *r, int64_t from, int64_t to)
{
	invoke(r, false, 0, INTACT_CAS, from, to);
}

static void answered(struct intact_recorder *r, int64_t answer, bool empty)
{
	if (!r)
		return;
	if (!r->open) {
		r->misused |= !atomic_load(&r->h->no_memory);
		return;
	}
	r->open->ret = atomic_fetch_add(&r->h->clock, 1);
	r->open->answer = answer;
	r->open->empty = empty;
	r->open = NULL;
}

RECORD_EXPORT void intact_return(struct intact_recorder *r, int64_t answer)
{
	answered(r, answer, false);
}

RECORD_EXPORT void intact_return_empty(struct intact_recorder *r)
{
	answered(r, 0, true);
}

RECORD_EXPORT void intact_cancel(struct intact_recorder *r)
{
	struct record_event *e = r ? r->open : NULL;
	answered(r, 0, false);
	if (e)
		e->cancelled = true;
}

/* ---- checking --------------------------------------------------------------------- */

static enum fn fn_of(uint8_t op)
{
	static const uint8_t f[] = { FN_NONE, FN_READ, FN_WRITE, FN_CAS,    FN_ADD,  FN_REMOVE,  FN_CONTAINS, FN_ENQ,
		                     FN_DEQ,  FN_PUSH, FN_POP,   FN_INSERT, FN_POLL, FN_ACQUIRE, FN_RELEASE };
	return op < sizeof f ? (enum fn)f[op] : FN_NONE;
}

static enum object object_of(enum intact_object o)
{
	for (int i = OBJ_GUESS + 1; i < OBJ_USER; i++)
		if (object_type((enum object)i)->recorded == (unsigned)o && o)
			return (enum object)i;
	return OBJ_GUESS;
}

static bool add(struct history *h, const struct intact_history *ih, const struct intact_recorder *r, const struct record_event *e)
{
	struct hop *op = history_push(h);
	if (!op)
		return false;
	struct values *vs = &h->vals;
	bool boolean = e->op == INTACT_CAS || (ih->object == INTACT_SET && e->op != INTACT_READ);
	op->fn = (uint8_t)fn_of(e->op);
	op->proc = proc_intern(h, val_int(vs, r->id));
	op->key = e->keyed ? key_intern(h, val_int(vs, e->key)) : 0;
	op->a = val_int(vs, e->a);
	if (e->op == INTACT_CAS) {
		val pair[2] = { op->a, val_int(vs, e->b) };
		op->a = val_list(vs, VK_LIST, pair, 2);
	}
	op->b = e->ret == NEVER ? VAL_NONE : e->empty ? VAL_NIL : boolean ? val_bool(e->answer != 0) : val_int(vs, e->answer);
	op->ret = e->ret == NEVER ? RANK_INF : 0;
	op->flags = e->cancelled ? HF_FAILED : 0;
	if (e->op == INTACT_ACQUIRE || e->op == INTACT_RELEASE)
		op->b = VAL_NONE;
	h->tcall[h->n - 1] = (int64_t)e->call;
	h->tret[h->n - 1] = e->ret == NEVER ? INT64_MAX : (int64_t)e->ret;
	return true;
}

/* All events as a history, ranked by the clock. */
static bool gather(struct intact_history *ih, struct history *h)
{
	h->timed = true;
	h->name = "recorded history";
	h->format = "recorded";
	for (struct intact_recorder *r = atomic_load(&ih->recorders); r; r = r->next)
		for (struct record_chunk *c = r->first; c; c = c->next)
			for (uint32_t i = 0; i < c->n; i++)
				if (!add(h, ih, r, &c->ev[i]))
					return false;
	return h->n == 0 || history_rank(h);
}

static const char recorder_misused[] = "a recorder had two operations open, or returned from none\n";

static bool misused(const struct intact_history *ih)
{
	for (struct intact_recorder *r = atomic_load(&((struct intact_history *)(uintptr_t)ih)->recorders); r; r = r->next)
		if (r->misused)
			return true;
	return false;
}

static enum intact_verdict judge(struct intact_history *ih, struct history *h, struct diags *d)
{
	if (misused(ih)) {
		buf_str(&ih->report, recorder_misused);
		return INTACT_MISUSED;
	}
	if (atomic_load(&ih->no_memory) || !gather(ih, h))
		return INTACT_UNKNOWN;
	struct interpretation in = { .object = object_of(ih->object), .nil_reads = 1, .pairs = 2 };
	in.init = object_has(in.object, OBJECT_VALUE) || object_type(in.object)->init == INIT_NUMBER
	                  ? val_int(&h->vals, ih->initial)
	                  : object_default_init(in.object, &h->vals);
	if (in.object == OBJ_GUESS || !history_interpret(h, &in, d)) {
		diags_render(d, &ih->report, false);
		return INTACT_MISUSED;
	}
	struct lin_check_options o = { .k = 1, .jobs = 1 };
	struct check c;
	enum lin_verdict v = LIN_UNKNOWN;
	if (lin_check(h, &in, &o, &c)) {
		v = c.verdict;
		struct history_told told;
		history_told_make(&told, h->arena, h, &in, &o, &c);
		history_text(&told, false, &ih->report);
	}
	check_free(&c, h);
	return v == LIN_HOLDS ? INTACT_HOLDS : v == LIN_VIOLATED ? INTACT_VIOLATED : INTACT_UNKNOWN;
}

struct session {
	struct arena arena;
	struct limits lim;
	struct history h;
	struct diags d;
};

static void session_open(struct session *s)
{
	memset(s, 0, sizeof *s);
	arena_init(&s->arena, 0);
	history_init(&s->h, &s->arena, &s->lim);
	diags_init(&s->d, &s->arena);
}

static void session_close(struct session *s)
{
	history_free(&s->h);
	arena_free(&s->arena);
	free(s);
}

RECORD_EXPORT enum intact_verdict intact_history_check(struct intact_history *ih)
{
	struct session *s = malloc(sizeof *s);
	jmp_buf oom;
	volatile enum intact_verdict v = INTACT_UNKNOWN;
	buf_clear(&ih->report);
	if (s) {
		session_open(s);
		s->arena.oom = &oom;
		if (!setjmp(oom))
			v = judge(ih, &s->h, &s->d);
		session_close(s);
	}
	if (v == INTACT_UNKNOWN && !ih->report.len)
		buf_str(&ih->report, "UNKNOWN: out of memory\n");
	return v;
}

RECORD_EXPORT const char *intact_history_report(const struct intact_history *ih)
{
	return buf_cstr(&ih->report);
}

/* The history as JSON lines into `out`, which `flush` may empty now and then. */
static bool write_lines(struct intact_history *ih, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg)
{
	struct session *s = malloc(sizeof *s);
	jmp_buf oom;
	volatile bool ok = false;
	if (!s)
		return false;
	session_open(s);
	s->arena.oom = &oom;
	if (!setjmp(oom) && gather(ih, &s->h)) {
		history_write(&s->h, FORMAT_JSON, out, flush, arg);
		ok = !out->failed;
	}
	session_close(s);
	return ok;
}

static bool flush_file(void *f, struct buf *b)
{
	return buf_flush(b, f);
}

RECORD_EXPORT int intact_history_save(struct intact_history *ih, const char *path)
{
	FILE *f = fopen(path, "w");
	struct buf b;
	if (!f)
		return -1;
	buf_init(&b);
	bool ok = write_lines(ih, &b, flush_file, f) && buf_flush(&b, f);
	buf_free(&b);
	return fclose(f) == 0 && ok ? 0 : -1;
}

static bool keep_all(void *arg, struct buf *b)
{
	(void)arg;
	return !b->failed;
}

RECORD_EXPORT const char *intact_history_text(struct intact_history *ih, size_t *len)
{
	bool wrong = misused(ih);
	buf_clear(&ih->text);
	buf_clear(&ih->report);
	if (wrong || atomic_load(&ih->no_memory) || !write_lines(ih, &ih->text, keep_all, NULL)) {
		buf_str(&ih->report, wrong ? recorder_misused : "UNKNOWN: out of memory\n");
		return NULL;
	}
	if (len)
		*len = ih->text.len;
	return buf_cstr(&ih->text);
}

RECORD_EXPORT enum intact_object intact_history_object(const struct intact_history *ih)
{
	return ih->object;
}

RECORD_EXPORT int64_t intact_history_initial(const struct intact_history *ih)
{
	return ih->initial;
}
