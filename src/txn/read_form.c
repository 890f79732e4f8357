/*
 * read_form: one record of a history of transactions in EDN or JSON.
 *
 *   record := { (name value)* }        value := nil | [ mop* ]
 *   mop    := [ :r key value? ] | [ :w key value ] | [ :append key value ] | [ :add key element ] | [ :inc key amount ]
 *
 * Micro-operations go straight into the history's array: nothing of the record is interned but keys and values.
 */
#include <string.h>

#include "txn/read.h"

static bool is(const char *s, size_t len, const char *w)
{
	return strlen(w) == len && !memcmp(s, w, len);
}

static enum form_status ended(struct form *f, const char *why)
{
	return f->p >= f->end && !f->last ? FORM_MORE
	                                  : form_fail(f, f->p, f->p >= f->end ? "the text ends in the middle of a record" : why);
}

/* Space, and in JSON the comma that must stand between elements. 1 another element, 0 the end `close`, -1 see *st. */
static int next_element(struct form *f, char close, bool *first, enum form_status *st)
{
	form_space(f);
	if (*f->p == close) {
		f->p++;
		return 0;
	}
	if (f->json && !*first) {
		if (*f->p != ',') {
			*st = ended(f, "expected ',' or the closing bracket");
			return -1;
		}
		f->p++;
		form_space(f);
	}
	*first = false;
	if (f->p >= f->end) {
		*st = ended(f, "");
		return -1;
	}
	return 1;
}

static int mop_of(const char *s, size_t len)
{
	if (is(s, len, "r") || is(s, len, "read"))
		return MOP_READ;
	if (is(s, len, "w") || is(s, len, "write"))
		return MOP_WRITE;
	return is(s, len, "append") ? MOP_APPEND : is(s, len, "add") ? MOP_ADD : is(s, len, "inc") ? MOP_INC : -1;
}

/* [:r x 1] */
static enum form_status micro_operation(struct txn_history *th, struct form *f)
{
	const char *open = f->p, *s;
	size_t len;
	bool first = true;
	enum form_status st = FORM_OK;
	val part[2] = { VAL_NONE, VAL_NONE };
	if (*f->p != '[' && (f->json || *f->p != '('))
		return ended(f, "expected a micro-operation such as [:r x 1], [:w x 1] or [:append x 1]");
	char close = *f->p++ == '[' ? ']' : ')';
	int more = next_element(f, close, &first, &st), n = 0;
	if (more <= 0)
		return more ? st : form_fail(f, open, "expected r, w, append, add or inc in the micro-operation");
	const char *at = f->p;
	if ((st = form_name(f, &s, &len)) != FORM_OK)
		return st;
	int kind = mop_of(s, len);
	if (kind < 0)
		return form_fail(f, at, "expected r, w, append, add or inc");
	for (; (more = next_element(f, close, &first, &st)) > 0; n++) {
		if (n == 2)
			return form_fail(f, f->p, "a micro-operation has a key and a value, and nothing else");
		if ((st = form_value(f, &part[n], 1)) != FORM_OK)
			return st;
	}
	if (more < 0)
		return st;
	if (!n || (n == 1 && kind != MOP_READ))
		return form_fail(f, open, n ? "a write needs its value" : "a micro-operation needs its key");
	if (n == 1)
		part[1] = VAL_NIL;
	if (!txn_push_op(th, (enum mop_kind)kind, key_intern(th->h, part[0]), part[1]))
		longjmp(*th->h->arena->oom, 1);
	return FORM_OK;
}

/* nil, or a vector of micro-operations. What processes without transactions (the nemesis) carry may be anything. */
static enum form_status value(struct txn_history *th, struct form *f, struct txn_rec *rec, struct form *bad)
{
	struct form start = *f;
	if (*f->p != '[' && (f->json || *f->p != '('))
		return form_skip(f, 1);
	char close = *f->p++ == '[' ? ']' : ')';
	uint32_t from = th->nops;
	enum form_status st = FORM_OK;
	bool first = true;
	int more;
	while ((more = next_element(f, close, &first, &st)) > 0)
		if ((st = micro_operation(th, f)) != FORM_OK)
			break;
	if (!more) {
		rec->has_ops = true;
		return FORM_OK;
	}
	th->nops = from;
	if (st != FORM_BAD)
		return st;
	/* an error only when the record is a client's, which a later member may say */
	*bad = *f;
	*f = start;
	return form_skip(f, 1);
}

static enum form_status type(struct form *f, struct txn_rec *rec)
{
	const char *s, *at = f->p;
	size_t len;
	enum form_status st = form_name(f, &s, &len);
	if (st != FORM_OK)
		return st;
	rec->kind = is(s, len, "invoke") ? REC_INVOKE
	            : is(s, len, "ok")   ? REC_OK
	            : is(s, len, "fail") ? REC_FAIL
	            : is(s, len, "info") ? REC_INFO
	                                 : REC_SKIP;
	return rec->kind == REC_SKIP ? form_fail(f, at, "expected invoke, ok, fail or info") : FORM_OK;
}

/* Members of the map behind its brace. */
static enum form_status members(struct txn_history *th, struct form *f, struct txn_rec *rec, struct form *bad)
{
	enum form_status st = FORM_OK;
	bool first = true;
	int more;
	while ((more = next_element(f, '}', &first, &st)) > 0) {
		const char *s;
		size_t len;
		if ((st = form_name(f, &s, &len)) != FORM_OK)
			return st;
		form_space(f);
		if (f->json) {
			if (*f->p != ':')
				return ended(f, "expected ':' after the name");
			f->p++;
			form_space(f);
		}
		if (is(s, len, "type")) {
			st = type(f, rec);
		} else if (is(s, len, "process")) {
			st = form_value(f, &rec->proc, 1);
			rec->has_proc = st == FORM_OK && rec->proc != VAL_NIL;
		} else if (is(s, len, "value")) {
			st = value(th, f, rec, bad);
		} else {
			st = form_skip(f, 1);
		}
		if (st != FORM_OK)
			return st;
	}
	return more < 0 ? st : FORM_OK;
}

/* Clients are numbers, and strings that are not the nemesis's name. */
static bool is_client(const struct txn_history *th, const struct txn_rec *rec)
{
	if (!rec->has_proc)
		return true;
	enum value_kind k = val_kind(&th->h->vals, rec->proc);
	if (k != VK_STR)
		return k == VK_INT || k == VK_NUM;
	const char *s = th->h->vals.tab.data[rec->proc].text;
	return strcmp(s, "nemesis") && strcmp(s, ":nemesis");
}

static enum form_status record(struct txn_history *th, struct reader *r, struct form *f, struct txn_rec *rec)
{
	struct form bad = { .why = NULL };
	if (*f->p == '#' && !f->json) { /* #jepsen.history.Op{...} */
		while (*f->p && *f->p != '{' && !form_is_space(*f->p))
			f->p++;
		form_space(f);
	}
	rec->start = f->p;
	rec->line = r->line + f->newlines;
	if (*f->p != '{' || r->ended)
		return ended(f, r->ended ? "expected nothing behind the array" : "expected a record in braces");
	f->p++;
	enum form_status st = members(th, f, rec, &bad);
	rec->len = (size_t)(f->p - rec->start);
	if (st != FORM_OK)
		return st;
	rec->client = is_client(th, rec);
	if (rec->client && bad.why) {
		*f = bad;
		return FORM_BAD;
	}
	if (rec->client && rec->kind == REC_SKIP)
		return form_fail(f, rec->start, "the record has no :type (invoke, ok, fail or info)");
	return FORM_OK;
}

/* The bracket around all records, the comma between two. 1 a record comes, 0 the end, -1 see *st. */
static int between(struct reader *r, struct form *f, enum form_status *st)
{
	form_space(f);
	if (!r->started && (*f->p == '[' || (*f->p == '(' && !f->json))) {
		r->in_array = true;
		f->p++;
		form_space(f);
	} else if (r->started && r->in_array && f->json && *f->p == ',') {
		f->p++;
		form_space(f);
	}
	if (r->in_array && !r->ended && (*f->p == ']' || *f->p == ')')) {
		r->ended = true;
		r->in_array = false;
		f->p++;
		form_space(f);
	}
	if (f->p < f->end)
		return 1;
	*st = !f->last ? FORM_MORE : r->in_array ? form_fail(f, f->p, "the array is not closed") : FORM_OK;
	return *st == FORM_OK ? 0 : -1;
}

enum form_status txn_rec_form(struct txn_history *th, struct reader *r, struct txn_rec *rec, size_t *used, uint32_t *newlines)
{
	struct form f = { .p = r->in.buf + r->in.pos,
		          .end = r->in.buf + r->in.end,
		          .last = r->in.eof,
		          .json = r->format == FORMAT_JSON,
		          .vals = &th->h->vals };
	bool in_array = r->in_array, was_ended = r->ended;
	uint32_t from = th->nops;
	enum form_status st = FORM_OK;
	memset(rec, 0, sizeof *rec);
	if (between(r, &f, &st) > 0)
		st = record(th, r, &f, rec);
	if (st == FORM_MORE) { /* read once more from the beginning */
		r->in_array = in_array;
		r->ended = was_ended;
		th->nops = from;
		return FORM_MORE;
	}
	if (st == FORM_BAD) {
		reader_error(r, f.at, f.at < f.end ? 1 : 0, "bad-record", "%s", f.why);
		diag_hint(r->d, r->format == FORMAT_JSON
		                        ? "a record looks like {\"process\": 0, \"type\": \"ok\", \"f\": \"txn\", \"value\": "
		                          "[[\"r\", \"x\", 1], [\"w\", \"y\", 2]]}"
		                        : "a record looks like {:process 0, :type :ok, :f :txn, :value [[:r x 1] [:w y 2]]}");
		th->nops = from;
		return FORM_BAD;
	}
	r->started = true;
	*used = (size_t)(f.p - (r->in.buf + r->in.pos));
	*newlines = f.newlines;
	return FORM_OK;
}
