/*
 * read_csv: transactions as rows, one for each micro-operation.
 *
 *   session,txn,op,key,value,status,call,return
 *   0,1,w,x,1,ok,10,20
 *   1,1,r,x,[1 2],ok,12,25
 *
 * The first line names the columns, in any order: session (or process, client), txn (or transaction), op (r, w, append, add, inc; f), key, value;
 * status (ok, fail, info) and the times call and return may be left out. Rows with the same session and txn are one transaction, in the order
 * of the rows; its status and times are those of its last row that has them. A value is a number, a text, a list in brackets, or nothing: nil.
 * Text in double quotes may hold commas; "" is a quote. With call times on every transaction there is real time.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "txn/read.h"

enum { CSV_SESSION, CSV_TXN, CSV_OP, CSV_KEY, CSV_VALUE, CSV_STATUS, CSV_CALL, CSV_RETURN, CSV_COUNT };
#define CSV_FIELDS 32
#define CSV_NONE   INT64_MIN

struct csv_row {
	uint32_t txn;
	struct mop op;
};

struct csv_txn {
	int64_t call, ret;
};

struct csv {
	struct txn_history *th;
	struct reader *r;
	int column[CSV_COUNT]; /* its place, or -1 */
	AVEC(struct csv_row) rows;
	AVEC(struct csv_txn) times;
	struct map known; /* (session, txn's name) -> transaction */
	AVEC(val) names;
	char *start; /* of the line */
};

static bool named(const char *s, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && !strncmp(s, *words, n))
			return true;
	return false;
}

static int column_of(const char *s, size_t n)
{
	static const char *const words[CSV_COUNT][5] = {
		{ "session", "process", "client", NULL },
		{ "txn", "transaction", "tx", NULL },
		{ "op", "f", "kind", NULL },
		{ "key", "variable", NULL },
		{ "value", NULL },
		{ "status", "type", NULL },
		{ "call", "start", "begin", NULL },
		{ "return", "end", NULL },
	};
	for (int c = 0; c < CSV_COUNT; c++)
		if (named(s, n, words[c]))
			return c;
	return -1;
}

/* The header: columns, or false when it is not one of transactions. */
static bool header(const char *s, int column[CSV_COUNT])
{
	int at = 0;
	for (int c = 0; c < CSV_COUNT; c++)
		column[c] = -1;
	for (;; at++) {
		s += strspn(s, " \t");
		size_t n = strcspn(s, ",\r\n"), len = n;
		while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
			len--;
		int c = column_of(s, len);
		if (c >= 0 && column[c] < 0)
			column[c] = at;
		s += n;
		if (*s++ != ',' || at == CSV_FIELDS)
			break;
	}
	return column[CSV_TXN] >= 0 && column[CSV_OP] >= 0 && column[CSV_KEY] >= 0 && column[CSV_VALUE] >= 0;
}

bool txn_looks_like_csv(const char *p)
{
	int column[CSV_COUNT];
	return header(p, column);
}

/* ---- one line ---------------------------------------------------------------------------------------- */

struct csv_field {
	const char *s;
	size_t n;
};

/* Splits the line in place: quoted fields lose their quotes. The number of fields, or -1 after an error. */
static int split(struct csv *c, char *s, char *e, struct csv_field *f)
{
	int n = 0;
	for (char *p = s;; p++) {
		if (n == CSV_FIELDS) {
			reader_error(c->r, s, 1, "bad-record", "more than %d columns", CSV_FIELDS);
			return -1;
		}
		p += strspn(p, " \t");
		if (*p == '"') {
			char *from = ++p, *to = p;
			while (p < e && (*p != '"' || p[1] == '"')) {
				p += *p == '"';
				*to++ = *p++;
			}
			if (p >= e) {
				reader_error(c->r, s, 1, "bad-record", "a quoted field does not end");
				return -1;
			}
			f[n++] = (struct csv_field){ from, (size_t)(to - from) };
			p++;
			p += strspn(p, " \t\r");
		} else {
			size_t len = strcspn(p, ","), k = len;
			while (k && strchr(" \t\r", p[k - 1]))
				k--;
			f[n++] = (struct csv_field){ p, k };
			p += len;
		}
		if (p >= e || !*p)
			return n;
		if (*p != ',') {
			reader_error(c->r, s, 1, "bad-record", "expected a comma after a quoted field");
			return -1;
		}
	}
}

static bool number(struct csv_field f, int64_t *x)
{
	struct form p = { .p = f.s, .end = f.s + f.n, .last = true };
	return f.n && form_int(&p, x) == FORM_OK && p.p == f.s + f.n;
}

static val value_of(struct csv *c, struct csv_field f)
{
	struct values *vs = &c->th->h->vals;
	int64_t x;
	if (!f.n || (f.n == 3 && !memcmp(f.s, "nil", 3)) || (f.n == 4 && !memcmp(f.s, "null", 4)))
		return VAL_NIL;
	if (number(f, &x))
		return val_int(vs, x);
	if (f.s[0] != '[' || f.s[f.n - 1] != ']')
		return val_text(vs, VK_STR, f.s, f.n);
	AVEC(val) list = { 0 };
	for (const char *p = f.s + 1, *e = f.s + f.n - 1; p < e;) {
		size_t n = 0;
		while (p + n < e && !strchr(" ,;", p[n]))
			n++;
		if (n)
			avec_push(c->th->h->arena, &list, value_of(c, (struct csv_field){ p, n }));
		p += n + 1;
	}
	return val_list(vs, VK_LIST, list.data, list.len);
}

static struct csv_field at(const struct csv *c, const struct csv_field *f, int n, int what)
{
	int k = c->column[what];
	return k >= 0 && k < n ? f[k] : (struct csv_field){ "", 0 };
}

static bool is(struct csv_field f, const char *w)
{
	return f.n == strlen(w) && !memcmp(f.s, w, f.n);
}

static bool bad(struct csv *c, const char *what, struct csv_field f)
{
	reader_error(c->r, f.n ? f.s : c->start, f.n ? f.n : 1, "bad-record", "%s", what);
	diag_hint(c->r->d, "a row looks like 0,1,w,x,5,ok under the header session,txn,op,key,value,status");
	return false;
}

static uint32_t transaction_of(struct csv *c, struct csv_field session, struct csv_field name)
{
	uint32_t id = MAP_NONE, s = 0;
	struct txn_history *th = c->th;
	bool anonymous = c->column[CSV_SESSION] < 0;
	if (!anonymous)
		s = txn_session(th, value_of(c, session));
	uint64_t key = (uint64_t)(anonymous ? UINT32_MAX : s) << 32 | value_of(c, name);
	id = map_get(&c->known, key);
	if (id != MAP_NONE)
		return id;
	struct txn *t = txn_push(th);
	if (!t || !map_put(&c->known, key, th->n - 1))
		return MAP_NONE;
	t->session = anonymous ? UINT32_MAX : s;
	t->line = c->r->line;
	t->call = t->ret = th->n - 1;
	t->status = TXN_COMMITTED;
	avec_push(th->h->arena, &c->times, ((struct csv_txn){ CSV_NONE, CSV_NONE }));
	return th->n - 1;
}

static bool row(struct csv *c, const struct csv_field *f, int n)
{
	struct csv_field op = at(c, f, n, CSV_OP), status = at(c, f, n, CSV_STATUS), call = at(c, f, n, CSV_CALL),
			 ret = at(c, f, n, CSV_RETURN);
	int kind = is(op, "r") || is(op, "read")     ? MOP_READ
	           : is(op, "w") || is(op, "write")  ? MOP_WRITE
	           : is(op, "append") || is(op, "a") ? MOP_APPEND
	           : is(op, "add")                   ? MOP_ADD
	           : is(op, "inc")                   ? MOP_INC
	                                             : -1;
	if (kind < 0)
		return bad(c, "expected r, w, append, add or inc as the operation", op);
	if (!at(c, f, n, CSV_KEY).n)
		return bad(c, "a row needs its key", op);
	if (kind != MOP_READ && !at(c, f, n, CSV_VALUE).n)
		return bad(c, "a write needs its value", op);
	uint32_t t = transaction_of(c, at(c, f, n, CSV_SESSION), at(c, f, n, CSV_TXN));
	if (t == MAP_NONE)
		return false;
	struct txn *x = &c->th->txns[t];
	if (status.n) {
		if (!is(status, "ok") && !is(status, "fail") && !is(status, "info") && !is(status, "commit") &&
		    !is(status, "abort"))
			return bad(c, "expected ok, fail or info as the status", status);
		x->status = is(status, "ok") || is(status, "commit") ? TXN_COMMITTED
		            : is(status, "info")                     ? TXN_UNKNOWN
		                                                     : TXN_ABORTED;
	}
	if ((call.n && !number(call, &c->times.data[t].call)) || (ret.n && !number(ret, &c->times.data[t].ret)))
		return bad(c, "expected a whole number as the time", call.n && !number(call, &c->times.data[t].call) ? call : ret);
	struct csv_row y = {
		t, { key_intern(c->th->h, value_of(c, at(c, f, n, CSV_KEY))), value_of(c, at(c, f, n, CSV_VALUE)), (uint8_t)kind }
	};
	x->nops++;
	avec_push(c->th->h->arena, &c->rows, y);
	return true;
}

/* ---- all of them ---------------------------------------------------------------------------------------- */

static bool place(struct csv *c)
{
	struct txn_history *th = c->th;
	uint32_t first = 0;
	for (uint32_t t = 0; t < th->n; t++) {
		th->txns[t].first = first;
		first += th->txns[t].nops;
		th->txns[t].nops = 0;
	}
	for (uint32_t i = 0; i < c->rows.len; i++)
		if (!txn_push_op(th, MOP_READ, 0, VAL_NIL))
			return false;
	for (uint32_t i = 0; i < c->rows.len; i++) {
		struct txn *t = &th->txns[c->rows.data[i].txn];
		struct mop *m = &th->ops[t->first + t->nops++];
		*m = c->rows.data[i].op;
		if (m->kind == MOP_READ && t->status != TXN_COMMITTED)
			m->v = VAL_NONE;
	}
	return true;
}

struct csv_moment {
	int64_t time;
	uint32_t what; /* transaction * 2, + 1: its answer */
};

/* Calls before answers of the same time: they overlap. */
static int by_time(const void *a, const void *b)
{
	const struct csv_moment *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if ((x->what ^ y->what) & 1)
		return x->what & 1 ? 1 : -1;
	return x->what < y->what ? -1 : x->what > y->what;
}

/* Ranks from the times, and the transactions in the order of their calls. False after an error. */
static bool rank(struct csv *c)
{
	struct txn_history *th = c->th;
	struct arena *a = th->h->arena;
	struct csv_moment *m = arena_array(a, struct csv_moment, 2 * (size_t)th->n + 1);
	struct txn *sorted = arena_array(a, struct txn, (size_t)th->n + 1);
	uint32_t n = 0, calls = 0, *at = arena_array(a, uint32_t, th->n + 1);
	th->realtime = true;
	for (uint32_t t = 0; t < th->n; t++) {
		const struct csv_txn *x = &c->times.data[t];
		th->realtime &= x->call != CSV_NONE;
		if (x->ret != CSV_NONE && x->ret < x->call) {
			diag_error(c->r->d, "time-backwards", history_line(th->h, th->txns[t].line), (struct span){ 0, 0 },
			           "the transaction returns (%lld) before it is called (%lld)", (long long)x->ret,
			           (long long)x->call);
			return false;
		}
	}
	for (uint32_t t = 0; t < th->n && th->realtime; t++) {
		m[n++] = (struct csv_moment){ c->times.data[t].call, 2 * t };
		if (c->times.data[t].ret != CSV_NONE && th->txns[t].status == TXN_COMMITTED)
			m[n++] = (struct csv_moment){ c->times.data[t].ret, 2 * t + 1 };
	}
	for (uint32_t t = 0; t < th->n; t++)
		if (th->txns[t].status != TXN_COMMITTED || (th->realtime && c->times.data[t].ret == CSV_NONE))
			th->txns[t].ret = RANK_INF;
	if (!th->realtime)
		return true;
	qsort(m, n, sizeof *m, by_time);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = m[i].what / 2;
		if (m[i].what & 1) {
			sorted[at[t]].ret = i;
		} else {
			at[t] = calls;
			sorted[calls] = th->txns[t];
			sorted[calls++].call = i;
		}
	}
	assert(calls == th->n);
	if (th->n)
		memcpy(th->txns, sorted, th->n * sizeof *sorted);
	return true;
}

bool txn_read_csv(struct txn_history *th, struct reader *r)
{
	struct csv c = { .th = th, .r = r };
	bool ok = true, first = true;
	map_init(&c.known);
	struct txn_line l;
	while (ok && txn_line_begin(r, &l, &ok)) {
		struct csv_field f[CSV_FIELDS];
		char *s = l.start;
		c.start = s;
		if (first) {
			ok = header(s, c.column);
			if (!ok)
				bad(&c, "expected a header with the columns txn, op, key and value", (struct csv_field){ s, 1 });
			first = false;
		} else if (s[strspn(s, " \t\r")] && *s != '#') {
			int n = split(&c, s, l.end, f);
			ok = n > 0 && row(&c, f, n);
		}
		txn_line_end(r, &l);
		ok = ok && ((c.rows.len & 0xFFFF) || !lim_spent(th->h->lim));
	}
	map_free(&c.known);
	return ok && place(&c) && rank(&c);
}
