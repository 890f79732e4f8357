/*
 * read: recognising histories of transactions, and matching answers to invocations. See read.h.
 *
 * A process has at most one open transaction. Records without a process are read as one nameless process each: an
 * invocation is answered by the next record, and session order says nothing of them. Where only completions are
 * recorded there is no real time.
 */
#include "txn/read.h"

#include "txn/members.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is it? -------------------------------------------------------------------- */

/* r(1,2,3,4) */
static bool looks_like_plume(const char *p)
{
	if ((*p != 'r' && *p != 'w') || p[1] != '(')
		return false;
	p += 2;
	for (int i = 0; i < 4; i++) {
		p += strspn(p, " ");
		p += *p == '-';
		size_t n = strspn(p, "0123456789");
		p += n + strspn(p + n, " ");
		if (!n || *p++ != (i < 3 ? ',' : ')'))
			return false;
	}
	return true;
}

/* Is the text behind p a vector of micro-operations: [[:r, ((:append, [["w"? */
static bool looks_like_mops(const char *p, bool json)
{
	for (int i = 0; i < 2; i++) {
		p += strspn(p, " \t\r\n");
		if (*p != '[' && (json || *p != '('))
			return false;
		p++;
	}
	p += strspn(p, " \t\r\n");
	if (*p != ':' && *p != '"')
		return false;
	p++;
	p += *p == ':';
	size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz");
	return (n == 1 && (*p == 'r' || *p == 'w')) || (n == 6 && !memcmp(p, "append", 6)) || (n == 4 && !memcmp(p, "read", 4)) ||
	       (n == 5 && !memcmp(p, "write", 5)) || (n == 3 && (!memcmp(p, "add", 3) || !memcmp(p, "inc", 3)));
}

/* `:f :txn`, or "f": "txn" with any spelling of the keyword; p is behind the member's name. */
static bool looks_like_txn(const char *p, bool json)
{
	p += strspn(p, json ? " \t\r\n:" : " \t\r\n");
	if (json && *p++ != '"')
		return false;
	p += *p == ':';
	return !strncmp(p, "txn", 3) && !((p[3] >= 'a' && p[3] <= 'z') || p[3] == '-');
}

/* The members `value` and `f` in the beginning of the text decide. Records of a nemesis come first sometimes, so many are
 * looked at; not all of the window, which may be large. */
enum { SNIFFED = 1000 };

static bool looks_like_transactions(const char *p, bool json)
{
	char mark = json ? '"' : ':';
	for (int members = 0; members < SNIFFED && (p = strchr(p, mark)) != NULL;) {
		p++;
		if (!strncmp(p, json ? "value\"" : "value", json ? 6 : 5)) {
			p += json ? 6 : 5;
			if (looks_like_mops(p + strspn(p, json ? " \t\r\n:" : " \t\r\n"), json))
				return true;
			members++;
		} else if (*p == 'f' && (json ? p[1] == '"' : strchr(" \t\r\n:", p[1]) && p[1])) {
			p += json ? 2 : 1;
			if (looks_like_txn(p, json))
				return true;
			members++;
		}
	}
	return false;
}

bool txn_sniff(struct reader *r)
{
	const char *p = r->in.buf + r->in.pos;
	p += strspn(p, " \t\r\n");
	enum format found = r->format >= FORMAT_PLUME                                  ? r->format
	                    : looks_like_plume(p)                                      ? FORMAT_PLUME
	                    : r->format == FORMAT_CSV && txn_looks_like_dbcop(&r->in)  ? FORMAT_DBCOP
	                    : r->format == FORMAT_JSON && txn_looks_like_dbcop_json(p) ? FORMAT_DBCOP_JSON
	                    : r->format == FORMAT_EDN && txn_looks_like_dbcop_json(p)  ? FORMAT_DBCOP_JSON
	                    : r->format == FORMAT_CSV && txn_looks_like_csv(p)         ? FORMAT_TXN_CSV
	                                                                               : r->format;
	if (found >= FORMAT_PLUME) {
		r->format = found;
		r->h->format = format_names[found];
		return true;
	}
	if (r->format != FORMAT_EDN && r->format != FORMAT_JSON)
		return false;
	return looks_like_transactions(p, r->format == FORMAT_JSON);
}

/* ---- records ------------------------------------------------------------------------ */

struct build {
	struct txn_history *th;
	struct reader *r;
	uint32_t *open; /* by session: transaction + 1 */
	uint32_t nopen;
	uint32_t nameless; /* the open transaction of no process + 1 */
	uint32_t events;
	bool invoked;
};

uint32_t txn_session(struct txn_history *th, val proc)
{
	uint32_t p = proc_intern(th->h, proc);
	th->sessions = true;
	if (p >= th->nsessions)
		th->nsessions = p + 1;
	return p;
}

static uint32_t *open_of(struct build *b, uint32_t session)
{
	if (session >= b->nopen) {
		uint32_t n = b->nopen ? b->nopen : 64;
		while (n <= session)
			n *= 2;
		uint32_t *p = arena_array(b->th->h->arena, uint32_t, n);
		if (b->nopen)
			memcpy(p, b->open, b->nopen * sizeof *p);
		b->open = p;
		b->nopen = n;
	}
	return &b->open[session];
}

static const char *process(struct build *b, val proc)
{
	struct buf text;
	buf_init(&text);
	val_print(&b->th->h->vals, proc, &text);
	const char *s = arena_strdup(b->th->h->arena, buf_cstr(&text));
	buf_free(&text);
	return s;
}

/* Reads that tell nothing: of invocations, and of what did not commit for certain. */
static void forget_reads(struct txn_history *th, const struct txn *t)
{
	for (uint32_t i = 0; i < t->nops; i++)
		if (th->ops[t->first + i].kind == MOP_READ)
			th->ops[t->first + i].v = VAL_NONE;
}

static bool on_invoke(struct build *b, const struct txn_rec *rec, uint32_t *open, uint32_t from)
{
	struct txn_history *th = b->th;
	if (*open) {
		reader_error(b->r, rec->start, rec->len, "two-open-transactions",
		             rec->has_proc ? "process %s begins a transaction while another one of it is open"
		                           : "a transaction%s begins while another one is open, and no record names a process",
		             rec->has_proc ? process(b, rec->proc) : "");
		diag_note(b->r->d, history_line(th->h, th->txns[*open - 1].line), (struct span){ 0, 0 }, "it was invoked here");
		diag_hint(b->r->d, "a transaction that got no answer is ended by :info; then its process may go on");
		return false;
	}
	struct txn *t = txn_push(th);
	if (!t)
		return false;
	t->first = from;
	t->nops = th->nops - from;
	t->session = rec->has_proc ? txn_session(th, rec->proc) : UINT32_MAX;
	t->call = b->events++;
	t->line = rec->line;
	forget_reads(th, t);
	*open = th->n;
	b->invoked = true;
	return true;
}

/* The answer's micro-operations replace the invocation's: in place when there are as many. */
static void take_ops(struct txn_history *th, struct txn *t, uint32_t from)
{
	uint32_t n = th->nops - from;
	if (n == t->nops) {
		memcpy(&th->ops[t->first], &th->ops[from], n * sizeof *th->ops);
		th->nops = from;
	} else {
		t->first = from;
		t->nops = n;
	}
}

static bool on_answer(struct build *b, const struct txn_rec *rec, uint32_t *open, uint32_t from)
{
	struct txn_history *th = b->th;
	struct txn *t;
	if (*open) {
		t = &th->txns[*open - 1];
		*open = 0;
	} else { /* only completions are recorded */
		t = txn_push(th);
		if (!t)
			return false;
		t->first = from;
		t->session = rec->has_proc ? txn_session(th, rec->proc) : UINT32_MAX;
		t->call = b->events++;
		t->line = rec->line;
		t->nops = th->nops - from;
		th->realtime = false;
	}
	if (rec->has_ops && t->first != from)
		take_ops(th, t, from);
	t->status = rec->kind == REC_OK ? TXN_COMMITTED : rec->kind == REC_FAIL ? TXN_ABORTED : TXN_UNKNOWN;
	if (t->status == TXN_COMMITTED)
		t->ret = b->events++;
	else
		forget_reads(th, t);
	return true;
}

static bool on_record(struct build *b, const struct txn_rec *rec, uint32_t from)
{
	struct txn_history *th = b->th;
	if (!rec->client) {
		th->h->nskipped++;
		th->nops = from;
		return true;
	}
	uint32_t *open = rec->has_proc ? open_of(b, txn_session(th, rec->proc)) : &b->nameless;
	return rec->kind == REC_INVOKE ? on_invoke(b, rec, open, from) : on_answer(b, rec, open, from);
}

static bool read_forms(struct build *b)
{
	struct reader *r = b->r;
	for (;;) {
		struct txn_rec rec;
		size_t used = 0;
		uint32_t newlines = 0, from = b->th->nops;
		enum form_status st = txn_rec_form(b->th, r, &rec, &used, &newlines);
		if (st == FORM_MORE) {
			input_fill(&r->in);
			if (r->in.error) {
				diag_error(r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", r->in.name, r->in.error);
				return false;
			}
			continue;
		}
		if (st == FORM_BAD)
			return false;
		if (!rec.start)
			return true;
		if (!on_record(b, &rec, from))
			return false;
		r->in.pos += used;
		r->line += newlines;
		if ((b->th->n & 0xFFFF) == 0 && lim_spent(b->th->h->lim))
			return false;
	}
}

/* Transactions of no process are sessions of their own; those that never answered stay open forever. */
static void finish(struct txn_history *th)
{
	for (uint32_t i = 0; i < th->n; i++) {
		struct txn *t = &th->txns[i];
		if (t->session == UINT32_MAX)
			t->session = th->nsessions++;
		th->ncommitted += t->status == TXN_COMMITTED;
		th->naborted += t->status == TXN_ABORTED;
		th->nunknown += t->status == TXN_UNKNOWN;
		for (uint32_t k = 0; k < t->nops; k++) {
			uint8_t kind = th->ops[t->first + k].kind;
			*(kind == MOP_READ     ? &th->reads
			  : kind == MOP_WRITE  ? &th->writes
			  : kind == MOP_APPEND ? &th->appends
			  : kind == MOP_ADD    ? &th->adds
			                       : &th->incs) += 1;
		}
	}
}

bool txn_read(struct txn_history *th, struct reader *r)
{
	struct build b = { .th = th, .r = r };
	th->realtime = true;
	bool ok;
	switch (r->format) {
	case FORMAT_PLUME:
		ok = txn_read_plume(th, r);
		break;
	case FORMAT_DBCOP:
		ok = txn_read_dbcop(th, r);
		break;
	case FORMAT_DBCOP_JSON:
		ok = txn_read_dbcop_json(th, r);
		break;
	case FORMAT_COBRA:
		ok = txn_read_cobra(th, r);
		break;
	case FORMAT_TXN_CSV:
		ok = txn_read_csv(th, r);
		break;
	default:
		ok = read_forms(&b);
	}
	if (!ok)
		return false;
	th->realtime &= b.invoked || r->format == FORMAT_TXN_CSV;
	finish(th);
	if (th->n)
		return members_expand(th, r->d);
	diag_error(r->d, "no-transactions", NULL, (struct span){ 0, 0 }, "%s: no transaction to judge%s (read as %s)", r->in.name,
	           th->h->nskipped ? ": nothing but records of no client" : "", r->h->format);
	diag_hint(r->d, "--format=NAME says what it is, when the guess is wrong");
	return false;
}

bool txn_line_begin(struct reader *r, struct txn_line *l, bool *ok)
{
	for (;;) {
		if (r->in.eof && r->in.pos >= r->in.end)
			return false;
		l->start = r->in.buf + r->in.pos;
		l->end = memchr(l->start, '\n', r->in.end - r->in.pos);
		if (l->end || r->in.eof)
			break;
		input_fill(&r->in);
		if (r->in.error) {
			diag_error(r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", r->in.name, r->in.error);
			*ok = false;
			return false;
		}
	}
	l->last = !l->end;
	if (l->last)
		l->end = r->in.buf + r->in.end;
	*l->end = '\0';
	return true;
}

void txn_line_end(struct reader *r, const struct txn_line *l)
{
	assert(l->start == r->in.buf + r->in.pos && l->end >= l->start);
	if (!l->last)
		*l->end = '\n';
	r->in.pos += (size_t)(l->end - l->start) + !l->last;
	r->line += !l->last;
}
