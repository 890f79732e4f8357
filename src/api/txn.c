/*
 * txn: the C API of include/intact/txn.h.
 *
 * Representation: a session keeps its transactions and their micro-operations in arrays of its own; begin and end take a number each
 * from the history's clock, so that the order of numbers is one that the events really had. The text of the history is what is checked, so that
 * a check, a file and `intact history` say the same.
 */
#include "intact/txn.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/json_out.h"
#include "judge/history.h"

enum recorded_end { OPEN, COMMITTED, ABORTED, UNKNOWN };

struct recorded_op {
	int64_t key, v;
	uint32_t n;   /* of a list; its elements are at `v` of the session's values */
	uint8_t kind; /* 'r', 'n' (none), 'l' (list), 'w', 'a' */
};

struct recorded_txn {
	uint64_t begin, end;
	size_t first, n;
	uint8_t how; /* enum recorded_end */
};

struct recorded_array {
	void *data;
	size_t len, cap;
};

struct intact_session {
	struct intact_txns *h;
	struct intact_session *next;
	struct recorded_array txns, ops, values;
	int64_t id;
	const char *misused; /* what is wrong, or NULL */
	bool open;
};

struct intact_txns {
	_Alignas(64) atomic_uint_fast64_t clock;
	_Alignas(64) _Atomic(struct intact_session *) sessions;
	atomic_int_fast64_t nsessions;
	atomic_bool no_memory;
	struct buf report, text;
};

API_EXPORT struct intact_txns *intact_txns_new(void)
{
	struct intact_txns *h = aligned_alloc(64, (sizeof *h + 63) / 64 * 64);
	if (!h)
		return NULL;
	memset(h, 0, sizeof *h);
	buf_init(&h->report);
	buf_init(&h->text);
	return h;
}

API_EXPORT void intact_txns_free(struct intact_txns *h)
{
	if (!h)
		return;
	for (struct intact_session *s = atomic_load(&h->sessions), *next; s; s = next) {
		next = s->next;
		free(s->txns.data);
		free(s->ops.data);
		free(s->values.data);
		free(s);
	}
	buf_free(&h->report);
	buf_free(&h->text);
	free(h);
}

API_EXPORT struct intact_session *intact_txns_session(struct intact_txns *h)
{
	struct intact_session *s = h ? calloc(1, sizeof *s) : NULL;
	if (!s) {
		if (h)
			atomic_store(&h->no_memory, true);
		return NULL;
	}
	s->h = h;
	s->id = atomic_fetch_add(&h->nsessions, 1);
	s->next = atomic_load(&h->sessions);
	while (!atomic_compare_exchange_weak(&h->sessions, &s->next, s))
		;
	return s;
}

/* ---- recording -------------------------------------------------------------------------------------- */

/* Room for n elements more; NULL when out of memory. */
static void *more(struct intact_session *s, struct recorded_array *a, size_t n, size_t size)
{
	assert(a->len <= a->cap && size);
	if (a->len + n > a->cap) {
		size_t cap = a->cap * 2 > a->len + n ? a->cap * 2 : a->len + n + 64;
		void *p = cap < SIZE_MAX / size / 2 ? realloc(a->data, cap * size) : NULL;
		if (!p) {
			atomic_store(&s->h->no_memory, true);
			return NULL;
		}
		a->data = p;
		a->cap = cap;
	}
	void *at = (char *)a->data + a->len * size;
	a->len += n;
	return at;
}

static struct recorded_txn *last_of(struct intact_session *s)
{
	assert(s->txns.len);
	return (struct recorded_txn *)s->txns.data + s->txns.len - 1;
}

API_EXPORT void intact_txn_begin(struct intact_session *s)
{
	struct recorded_txn *t;
	if (!s)
		return;
	if (s->open)
		s->misused = "a transaction begins while another one is open";
	if (!(t = more(s, &s->txns, 1, sizeof *t)))
		return;
	*t = (struct recorded_txn){ .first = s->ops.len, .how = OPEN };
	s->open = true;
	t->begin = atomic_fetch_add(&s->h->clock, 1);
}

static void note(struct intact_session *s, uint8_t kind, int64_t key, int64_t v, uint32_t n)
{
	struct recorded_op *o;
	if (!s)
		return;
	if (!s->open) {
		s->misused = atomic_load(&s->h->no_memory) ? s->misused : "a read or write outside a transaction";
		return;
	}
	if ((o = more(s, &s->ops, 1, sizeof *o)) != NULL) {
		*o = (struct recorded_op){ key, v, n, kind };
		last_of(s)->n++;
		assert(last_of(s)->first + last_of(s)->n == s->ops.len);
	}
}

API_EXPORT void intact_txn_read(struct intact_session *s, int64_t key, int64_t value)
{
	note(s, 'r', key, value, 0);
}

API_EXPORT void intact_txn_read_none(struct intact_session *s, int64_t key)
{
	note(s, 'n', key, 0, 0);
}

API_EXPORT void intact_txn_read_list(struct intact_session *s, int64_t key, const int64_t *values, size_t n)
{
	int64_t *to = s && n < UINT32_MAX ? more(s, &s->values, n, sizeof *to) : NULL;
	if (!to)
		return;
	if (n)
		memcpy(to, values, n * sizeof *to);
	note(s, 'l', key, (int64_t)(s->values.len - n), (uint32_t)n);
}

API_EXPORT void intact_txn_write(struct intact_session *s, int64_t key, int64_t value)
{
	note(s, 'w', key, value, 0);
}

API_EXPORT void intact_txn_append(struct intact_session *s, int64_t key, int64_t value)
{
	note(s, 'a', key, value, 0);
}

static void ended(struct intact_session *s, enum recorded_end how)
{
	if (!s)
		return;
	if (!s->open) {
		s->misused = atomic_load(&s->h->no_memory) ? s->misused : "a transaction ends that is not open";
		return;
	}
	assert(how != OPEN && last_of(s)->how == OPEN);
	last_of(s)->how = (uint8_t)how;
	last_of(s)->end = atomic_fetch_add(&s->h->clock, 1);
	s->open = false;
}

API_EXPORT void intact_txn_commit(struct intact_session *s)
{
	ended(s, COMMITTED);
}

API_EXPORT void intact_txn_abort(struct intact_session *s)
{
	ended(s, ABORTED);
}

API_EXPORT void intact_txn_unknown(struct intact_session *s)
{
	ended(s, UNKNOWN);
}

/* ---- the text ----------------------------------------------------------------------------------------- */

struct recorded_event {
	uint64_t at;
	const struct intact_session *s;
	size_t txn;
	bool end;
};

static int by_clock(const void *a, const void *b)
{
	const struct recorded_event *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void write_op(struct json_out *j, const struct intact_session *s, const struct recorded_op *o, bool answered)
{
	assert(o->kind != 'l' || (size_t)o->v + o->n <= s->values.len);
	json_begin_array(j, NULL);
	json_text(j, NULL, o->kind == 'w' ? "w" : o->kind == 'a' ? "append" : "r");
	json_int(j, NULL, o->key);
	if (o->kind == 'w' || o->kind == 'a' || (o->kind == 'r' && answered)) {
		json_int(j, NULL, o->v);
	} else if (o->kind == 'l' && answered) {
		json_begin_array(j, NULL);
		for (uint32_t i = 0; i < o->n; i++)
			json_int(j, NULL, ((const int64_t *)s->values.data)[(size_t)o->v + i]);
		json_end(j);
	} else {
		json_nothing(j, NULL);
	}
	json_end(j);
}

static void write_event(struct buf *out, const struct recorded_event *e)
{
	static const char *const words[] = { [COMMITTED] = "ok", [ABORTED] = "fail", [UNKNOWN] = "info" };
	const struct recorded_txn *t = (const struct recorded_txn *)e->s->txns.data + e->txn;
	struct json_out j;
	assert(e->txn < e->s->txns.len && t->first + t->n <= e->s->ops.len && (!e->end || t->how != OPEN));
	json_out_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_int(&j, "process", e->s->id);
	json_text(&j, "type", e->end ? words[t->how] : "invoke");
	json_text(&j, "f", "txn");
	json_begin_array(&j, "value");
	for (size_t i = 0; i < t->n; i++)
		write_op(&j, e->s, (const struct recorded_op *)e->s->ops.data + t->first + i, e->end && t->how == COMMITTED);
	json_end(&j);
	json_end(&j);
	json_out_end(&j);
	buf_char(out, '\n');
}

API_EXPORT const char *intact_txns_text(struct intact_txns *h, size_t *len)
{
	size_t n = 0, at = 0;
	const char *wrong = atomic_load(&h->no_memory) ? "out of memory while recording" : NULL;
	buf_clear(&h->text);
	for (const struct intact_session *s = atomic_load(&h->sessions); s; s = s->next) {
		wrong = wrong ? wrong : s->misused;
		n += 2 * s->txns.len;
	}
	struct recorded_event *e = wrong ? NULL : malloc((n + 1) * sizeof *e);
	if (!e) {
		buf_clear(&h->report);
		buf_printf(&h->report, "%s\n", wrong ? wrong : "out of memory");
		return NULL;
	}
	for (const struct intact_session *s = atomic_load(&h->sessions); s; s = s->next)
		for (size_t i = 0; i < s->txns.len; i++) {
			const struct recorded_txn *t = (const struct recorded_txn *)s->txns.data + i;
			e[at++] = (struct recorded_event){ t->begin, s, i, false };
			if (t->how != OPEN)
				e[at++] = (struct recorded_event){ t->end, s, i, true };
		}
	assert(at <= n);
	qsort(e, at, sizeof *e, by_clock);
	for (size_t i = 0; i < at; i++)
		write_event(&h->text, &e[i]);
	free(e);
	if (len)
		*len = h->text.len;
	return buf_cstr(&h->text);
}

API_EXPORT int intact_txns_save(struct intact_txns *h, const char *path)
{
	size_t len;
	const char *text = intact_txns_text(h, &len);
	FILE *f = text ? fopen(path, "w") : NULL;
	if (!f)
		return -1;
	bool ok = fwrite(text, 1, len, f) == len;
	return fclose(f) || !ok ? -1 : 0;
}

/* ---- checking -------------------------------------------------------------------------------------------- */

API_EXPORT enum intact_verdict intact_txns_check(struct intact_txns *h, const char *level)
{
	struct history_args a = { .jobs = 1, .level = level, .format = FORMAT_OF_RECORDED };
	struct buf text, err;
	size_t len;
	struct why why = { "" };
	const char *wrong = history_args_wrong(&a, &why), *recorded = wrong ? NULL : intact_txns_text(h, &len);
	if (wrong) {
		buf_clear(&h->report);
		buf_printf(&h->report, "%s\n", wrong);
	}
	if (!recorded)
		return atomic_load(&h->no_memory) ? INTACT_UNKNOWN : INTACT_MISUSED;
	buf_init(&text);
	buf_init(&err);
	struct history_sink sink = { .text = &text, .err = &err };
	struct history_run *run = history_run_new(&a, &sink);
	int rc = run && len ? history_judge_text(run, "recorded transactions", recorded, len) : len ? 3 : 2;
	history_run_free(run);
	buf_clear(&h->report);
	buf_add(&h->report, text.data, text.len);
	buf_add(&h->report, err.data, err.len);
	if (!len)
		buf_str(&h->report, "no transaction was recorded\n");
	buf_free(&text);
	buf_free(&err);
	return rc >= 0 && rc <= 2 ? (enum intact_verdict)rc : INTACT_UNKNOWN;
}

API_EXPORT const char *intact_txns_report(const struct intact_txns *h)
{
	return buf_cstr(&h->report);
}
