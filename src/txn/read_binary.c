/*
 * read_binary: the two binary formats of transactions.
 *
 *   dbcop   one file, bincode of Rust: numbers of 8 bytes, the least significant first
 *           history := id nodes variables transactions events, three strings (length, bytes), number of sessions, session*
 *           session := number of transactions, transaction*     transaction := number of events, event*, success (1 byte)
 *           event   := write (1 byte), variable, version, success (1 byte)
 *           Events without success did not happen, transactions without it aborted. Variables are 0 at first.
 *   cobra   a directory with one file for each client, NAME.log (or one such file): numbers of 8 bytes, the most significant first
 *           S transaction ; C transaction ; W write key value ; R writer write key value
 *           A value is the number of its write, which is unique. Reads of the initial state name the transaction
 *           0xbebeebee or 0xdeadbeef. A transaction without C has an unknown fate.
 *
 * Numbers that are counts are never trusted: memory grows with what was read.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "txn/read.h"

#define COBRA_INIT     INT64_C(0xbebeebee)
#define COBRA_NULL     INT64_C(0xdeadbeef)
#define COBRA_GC_TRUE  INT64_C(0x23332333)
#define COBRA_GC_FALSE INT64_C(0x66666666)
#define COBRA_FILES    100000u

struct bytes {
	struct txn_history *th;
	struct reader *r;
	struct input *in;
	uint64_t at; /* how many were taken */
	bool big;    /* the most significant byte first */
	bool bad;
};

static bool fail(struct bytes *b, const char *what)
{
	if (!b->bad && !b->th->h->lim->spent) {
		if (b->in->error)
			diag_error(b->r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", b->in->name, b->in->error);
		else
			diag_error(b->r->d, "bad-record", NULL, (struct span){ 0, 0 }, "%s: byte %llu: %s", b->in->name,
			           (unsigned long long)b->at, what);
	}
	b->bad = true;
	return false;
}

/* So many bytes are in the window. */
static bool have(struct bytes *b, size_t n)
{
	while (b->in->end - b->in->pos < n && !b->in->eof && !b->in->error)
		input_fill(b->in);
	return b->in->end - b->in->pos >= n && !b->in->error;
}

static bool take_byte(struct bytes *b, uint8_t *x)
{
	if (!have(b, 1))
		return fail(b, "the file ends in the middle of a transaction");
	*x = (uint8_t)b->in->buf[b->in->pos++];
	b->at++;
	return true;
}

static bool take(struct bytes *b, int64_t *x)
{
	uint64_t n = 0;
	if (!have(b, 8))
		return fail(b, "the file ends in the middle of a transaction");
	for (int i = 0; i < 8; i++)
		n |= (uint64_t)(uint8_t)b->in->buf[b->in->pos + (size_t)i] << 8 * (b->big ? 7 - i : i);
	b->in->pos += 8;
	b->at += 8;
	*x = (int64_t)n;
	return true;
}

static bool take_flag(struct bytes *b, bool *x)
{
	uint8_t c = 0;
	if (!take_byte(b, &c))
		return false;
	*x = c == 1;
	if (c <= 1)
		return true;
	b->at--;
	return fail(b, "expected a truth value, 0 or 1: this is not dbcop's format, or it is damaged");
}

static bool put(struct bytes *b, enum mop_kind kind, int64_t key, val v)
{
	struct values *vs = &b->th->h->vals;
	if (txn_push_op(b->th, kind, key_intern(b->th->h, val_int(vs, key)), v))
		return true;
	b->bad = true; /* a limit */
	return false;
}

static struct txn *begin(struct bytes *b, uint32_t session)
{
	struct txn *t = txn_push(b->th);
	if (!t || ((b->th->n & 0xFFFF) == 0 && lim_spent(b->th->h->lim))) {
		b->bad = true;
		return NULL;
	}
	t->session = session;
	t->call = b->th->n - 1;
	return t;
}

/* ---- dbcop ---------------------------------------------------------------------------------------- */

/* The five numbers and the text behind them look like it. */
bool txn_looks_like_dbcop(const struct input *in)
{
	const unsigned char *p = (const unsigned char *)in->buf + in->pos;
	size_t n = in->end - in->pos, at = 40;
	if (n < 72)
		return false;
	for (int i = 0; i < 3; i++) {
		uint64_t len = 0;
		for (size_t k = 0; k < 8 && at + 8 <= n; k++)
			len |= (uint64_t)p[at + k] << 8 * k;
		if (at + 8 > n || len > 4096 || at + 8 + len > n)
			return false;
		for (size_t k = 0; k < len; k++)
			if (p[at + 8 + k] < ' ')
				return false;
		at += 8 + (size_t)len;
	}
	/* numbers below 2^40: their upper bytes are 0 */
	for (size_t k = 0; k < 40; k += 8)
		if (p[k + 5] | p[k + 6] | p[k + 7])
			return false;
	return true;
}

static bool dbcop_transaction(struct bytes *b, uint32_t session)
{
	int64_t n, key, v;
	bool write, done, ok;
	struct txn *x = begin(b, session);
	if (!x || !take(b, &n))
		return false;
	uint32_t t = b->th->n - 1;
	if (n < 0)
		return fail(b, "a number of events is too large");
	for (int64_t i = 0; i < n; i++) {
		if (!take_flag(b, &write) || !take(b, &key) || !take(b, &v) || !take_flag(b, &done))
			return false;
		if (done && !put(b, write ? MOP_WRITE : MOP_READ, key, val_int(&b->th->h->vals, v)))
			return false;
	}
	if (!take_flag(b, &ok))
		return false;
	x = &b->th->txns[t];
	x->nops = b->th->nops - x->first;
	x->status = ok ? TXN_COMMITTED : TXN_ABORTED;
	x->ret = ok ? t : RANK_INF;
	for (uint32_t i = 0; i < x->nops && !ok; i++)
		if (b->th->ops[x->first + i].kind == MOP_READ)
			b->th->ops[x->first + i].v = VAL_NONE;
	return true;
}

bool txn_read_dbcop(struct txn_history *th, struct reader *r)
{
	struct bytes b = { .th = th, .r = r, .in = &r->in };
	int64_t n, sessions, size;
	th->realtime = false;
	th->init = val_int(&th->h->vals, 0);
	for (int i = 0; i < 5; i++)
		if (!take(&b, &n))
			return false;
	for (int i = 0; i < 3; i++) {
		uint8_t c;
		if (!take(&b, &size))
			return false;
		while (size-- > 0)
			if (!take_byte(&b, &c))
				return false;
	}
	if (!take(&b, &sessions))
		return false;
	for (int64_t s = 0; s < sessions; s++) {
		uint32_t session = txn_session(th, val_int(&th->h->vals, s + 1));
		if (!take(&b, &n))
			return false;
		for (int64_t i = 0; i < n; i++)
			if (!dbcop_transaction(&b, session))
				return false;
	}
	return !have(&b, 1) || fail(&b, "there is more after the last session");
}

/* ---- Cobra ------------------------------------------------------------------------------------------ */

static bool cobra_read(struct bytes *b)
{
	int64_t writer, id, key, v;
	if (!take(b, &writer) || !take(b, &id) || !take(b, &key) || !take(b, &v))
		return false;
	if (writer != COBRA_INIT && writer != COBRA_NULL)
		return put(b, MOP_READ, key, val_int(&b->th->h->vals, id));
	if (id == COBRA_INIT || id == COBRA_NULL)
		return put(b, MOP_READ, key, VAL_NIL);
	if (id == COBRA_GC_TRUE || id == COBRA_GC_FALSE)
		return true; /* the verifier's own garbage collection */
	return fail(b, "a read of the initial state names a write");
}

/* One file: a client. */
static bool cobra_file(struct bytes *b, uint32_t session)
{
	uint8_t op;
	int64_t id, open = 0, key, v;
	bool in = false;
	while (!b->bad && have(b, 1)) {
		if (!take_byte(b, &op) || (!in && op != 'S')) {
			b->at--;
			return fail(b, "expected S, the begin of a transaction (logs with timestamps are not read)");
		}
		if (op == 'R') {
			if (!cobra_read(b))
				return false;
		} else if (op == 'W') {
			if (!take(b, &id) || !take(b, &key) || !take(b, &v) ||
			    !put(b, MOP_WRITE, key, val_int(&b->th->h->vals, id)))
				return false;
		} else if (op == 'S' && !in) {
			if (!take(b, &open) || !begin(b, session))
				return false;
			in = true;
		} else if (op == 'C' && in) {
			if (!take(b, &id))
				return false;
			if (id != open)
				return fail(b, "C of another transaction than the open one");
			b->th->txns[b->th->n - 1].status = TXN_COMMITTED;
			b->th->txns[b->th->n - 1].ret = b->th->n - 1;
			in = false;
		} else {
			b->at--;
			return fail(b, "expected S, C, W or R (logs with timestamps are not read)");
		}
		struct txn *t = &b->th->txns[b->th->n - 1];
		t->nops = b->th->nops - t->first;
	}
	for (uint32_t i = 0; in && i < b->th->txns[b->th->n - 1].nops; i++) { /* never committed: its reads say nothing */
		struct mop *m = &b->th->ops[b->th->txns[b->th->n - 1].first + i];
		m->v = m->kind == MOP_READ ? VAL_NONE : m->v;
	}
	return !b->bad && !b->in->error;
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	return strlen(x) != strlen(y) ? (strlen(x) < strlen(y) ? -1 : 1) : strcmp(x, y);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n > m && !strcmp(s + n - m, end);
}

/* The directory's logs, T9.log before T10.log. */
static bool cobra_names(struct txn_history *th, struct reader *r, const char *path, const char ***names, uint32_t *n)
{
	AVEC(const char *) list = { 0 };
	DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL && list.len <= COBRA_FILES)
		if (ends_in(e->d_name, ".log") || ends_in(e->d_name, ".log.gz") || ends_in(e->d_name, ".log.zst"))
			avec_push(th->h->arena, &list, arena_strdup(th->h->arena, e->d_name));
	if (d)
		closedir(d);
	if (!list.len || list.len > COBRA_FILES) {
		diag_error(r->d, "no-logs", NULL, (struct span){ 0, 0 }, "%s: %s", path,
		           list.len ? "too many log files" : "a directory without log files");
		diag_hint(r->d, "a directory is read as Cobra's: one NAME.log for each client");
		return false;
	}
	qsort(list.data, list.len, sizeof *list.data, by_name);
	*names = list.data;
	*n = list.len;
	return true;
}

bool txn_read_cobra(struct txn_history *th, struct reader *r)
{
	const char **names;
	uint32_t n;
	th->realtime = false;
	if (!r->directory) {
		struct bytes one = { .th = th, .r = r, .in = &r->in, .big = true };
		return cobra_file(&one, txn_session(th, val_int(&th->h->vals, 0))) || (r->in.error && fail(&one, ""));
	}
	if (!cobra_names(th, r, r->in.name, &names, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct input in;
		const char *path = arena_printf(th->h->arena, "%s/%s", r->in.name, names[i]);
		struct bytes b = { .th = th, .r = r, .in = &in, .big = true };
		bool ok = input_open(&in, path);
		if (ok)
			ok = cobra_file(&b, txn_session(th, val_text(&th->h->vals, VK_WORD, names[i], strcspn(names[i], "."))));
		if (!ok && in.error && !b.bad)
			fail(&b, in.error);
		input_close(&in);
		if (!ok)
			return false;
	}
	return true;
}
