/*
 * read_form: one record of an EDN or JSON history.
 *
 *   record := { (name value)* } | [ process type operation value? ... ]
 *
 * Names are recognised whatever the order; those we do not know are skipped
 * with their values. An operation given whole (porcupine) has Call and Return
 * times; its Input and Output are whatever the test's author chose, so the
 * usual shapes are understood: an object with op/key/value fields, an array
 * ["write", 3], or a bare value.
 */
#include <string.h>

#include "base/invariant.h"
#include "history/read.h"

_Static_assert(COL_STATUS < 32 && CSV_MAX_COLUMNS <= 255, "columns seen are bits; a number of columns is kept in bytes");

static bool is(const char *s, size_t len, const char *w)
{
	return strlen(w) == len && !memcmp(s, w, len);
}

/* Ignoring case and underscores: ClientId, client_id. */
static bool like(const char *s, size_t len, const char *w)
{
	size_t j = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '_')
			continue;
		char c = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] + 32 : s[i]);
		if (w[j++] != c)
			return false;
	}
	return w[j] == 0;
}

static bool any_of(const char *s, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (like(s, len, *words))
			return true;
	return false;
}

static enum form_status set_fn(struct form *f, struct read_rec *rec)
{
	assert(f->p <= f->end);
	static const uint8_t codes[] = { FN_READ, FN_WRITE, FN_CAS };
	int64_t n;
	if (*f->p >= '0' && *f->p <= '2') { /* 0 read, 1 write, 2 cas or append */
		enum form_status st = form_int(f, &n);
		if (st == FORM_OK && n <= 2)
			rec->fn = codes[n];
		return st;
	}
	const char *at = f->p;
	enum form_status st = form_name(f, &rec->fname, &rec->fname_len);
	if (st != FORM_OK)
		return st;
	if (*at != '"' && *at != ':' && is(rec->fname, rec->fname_len, "true"))
		rec->fn = FN_READ;
	else if (*at != '"' && *at != ':' && is(rec->fname, rec->fname_len, "false"))
		rec->fn = FN_WRITE;
	else
		rec->fn = fn_by_name(rec->fname, rec->fname_len);
	return FORM_OK;
}

/* Between two members of a map: the separator, then a name. 1 another member,
 * 0 the end, -1 see *st. */
static int next_member(struct form *f, bool *first, const char **s, size_t *len, enum form_status *st)
{
	assert(f->p <= f->end && *st == FORM_OK);
	form_space(f);
	if (*f->p == '}') {
		f->p++;
		return 0;
	}
	if (f->json && !*first) {
		if (*f->p != ',') {
			*st = f->p >= f->end && !f->last ? FORM_MORE : form_fail(f, f->p, "expected ',' or '}'");
			return -1;
		}
		f->p++;
		form_space(f);
	}
	*first = false;
	*st = form_name(f, s, len);
	if (*st != FORM_OK)
		return -1;
	form_space(f);
	if (f->json) {
		if (*f->p != ':') {
			*st = f->p >= f->end && !f->last ? FORM_MORE : form_fail(f, f->p, "expected ':' after the name");
			return -1;
		}
		f->p++;
		form_space(f);
	}
	return 1;
}

struct io {
	val value, from, to, key, ok, exists, unknown;
};

static enum form_status io_object(struct form *f, struct read_rec *rec, struct io *io)
{
	static const char *const op[] = { "op", "f", "type", "method", "kind", "name", "operation", NULL };
	static const char *const from[] = { "from", "arg1", "old", "expected", NULL };
	static const char *const to[] = { "to", "arg2", "new", NULL };
	static const char *const value[] = { "value", "val", "v", "arg", "result", "data", NULL };
	bool first = true;
	const char *s;
	size_t len;
	enum form_status st = FORM_OK;
	f->p++;
	int more;
	while ((more = next_member(f, &first, &s, &len, &st)) > 0) {
		if (any_of(s, len, op))
			st = set_fn(f, rec);
		else if (like(s, len, "key"))
			st = form_value(f, &io->key, 1);
		else if (any_of(s, len, from))
			st = form_value(f, &io->from, 1);
		else if (any_of(s, len, to))
			st = form_value(f, &io->to, 1);
		else if (any_of(s, len, value))
			st = form_value(f, &io->value, 1);
		else if (like(s, len, "ok"))
			st = form_value(f, &io->ok, 1);
		else if (like(s, len, "exists"))
			st = form_value(f, &io->exists, 1);
		else if (like(s, len, "unknown"))
			st = form_value(f, &io->unknown, 1);
		else
			st = form_skip(f, 1);
		if (st != FORM_OK)
			return st;
	}
	return more < 0 ? st : FORM_OK;
}

static enum form_status input(struct form *f, struct read_rec *rec)
{
	struct io io = { VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE };
	enum form_status st;
	if (*f->p == '[') { /* ["write", 3] */
		f->p++;
		form_space(f);
		if ((st = set_fn(f, rec)) != FORM_OK)
			return st;
		val v[3];
		int n = 0;
		for (;;) {
			form_space(f);
			if (*f->p == ',' && f->json) {
				f->p++;
				form_space(f);
			}
			if (*f->p == ']')
				break;
			if (n == 3)
				return form_fail(f, f->p, "too many arguments");
			if ((st = form_value(f, &v[n++], 1)) != FORM_OK)
				return st;
		}
		f->p++;
		rec->in = n == 0 ? VAL_NONE : n == 1 ? v[0] : val_list(f->vals, VK_LIST, v, (uint32_t)n);
		return FORM_OK;
	}
	if (*f->p != '{')
		return set_fn(f, rec);
	if ((st = io_object(f, rec, &io)) != FORM_OK)
		return st;
	if (io.key != VAL_NONE) {
		rec->key = io.key;
		rec->has_key = true;
	}
	rec->in = io.value;
	if (rec->fn == FN_CAS && io.from == VAL_NONE && io.value != VAL_NONE && val_kind(f->vals, io.value) == VK_STR) {
		rec->fn = FN_APPEND; /* the code 2 of key-value tests */
	} else if (rec->fn == FN_CAS && io.from != VAL_NONE) {
		val pair[2] = { io.from, io.to != VAL_NONE ? io.to : io.value };
		if (pair[1] == VAL_NONE)
			return form_fail(f, f->p, "a cas needs what it compares with and what it stores");
		rec->in = val_list(f->vals, VK_LIST, pair, 2);
	} else if (io.value == VAL_NONE && io.from != VAL_NONE) {
		rec->in = io.from;
	}
	return FORM_OK;
}

static enum form_status output(struct form *f, struct read_rec *rec)
{
	struct io io = { VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE, VAL_NONE };
	struct read_rec dummy = *rec;
	if (*f->p != '{')
		return form_value(f, &rec->out, 1);
	enum form_status st = io_object(f, &dummy, &io);
	if (st != FORM_OK)
		return st;
	rec->out = io.exists == VAL_FALSE ? VAL_NIL : io.value;
	rec->ok = io.ok;
	if (io.unknown == VAL_TRUE)
		rec->has_ret = false, rec->skip = true; /* see below: answered nothing */
	return FORM_OK;
}

static enum form_status set_type(struct form *f, struct read_rec *rec)
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
	if (rec->kind == REC_SKIP)
		return form_fail(f, at, "expected invoke, ok, fail or info");
	return FORM_OK;
}

static enum form_status time_or_null(struct form *f, int64_t *t, bool *has)
{
	if (*f->p == 'n') {
		*has = false;
		return form_skip(f, 1);
	}
	*has = true;
	return form_int(f, t);
}

static enum form_status member(struct form *f, const char *s, size_t len, struct read_rec *rec, bool *unknown_out)
{
	enum form_status st;
	/* the names of every line of a Jepsen history first */
	switch (len) {
	case 1:
		if (*s == 'f')
			return set_fn(f, rec);
		break;
	case 3:
		if (is(s, len, "key")) {
			rec->has_key = true;
			return form_value(f, &rec->key, 1);
		}
		break;
	case 4:
		if (is(s, len, "type"))
			return set_type(f, rec);
		if (is(s, len, "time")) {
			rec->has_time = true;
			return form_int(f, &rec->time);
		}
		break;
	case 5:
		if (is(s, len, "value"))
			return form_value(f, &rec->in, 1);
		break;
	case 7:
		if (is(s, len, "process")) {
			rec->has_proc = true;
			return form_value(f, &rec->proc, 1);
		}
		break;
	}
	if (like(s, len, "clientid") || like(s, len, "client")) {
		rec->has_proc = true;
		return form_value(f, &rec->proc, 1);
	}
	if (like(s, len, "op"))
		return set_fn(f, rec);
	if (like(s, len, "input"))
		return input(f, rec);
	if (like(s, len, "output") || like(s, len, "result")) {
		st = output(f, rec);
		*unknown_out = rec->skip;
		rec->skip = false;
		return st;
	}
	if (like(s, len, "call"))
		return time_or_null(f, &rec->call, &rec->has_call);
	if (like(s, len, "return"))
		return time_or_null(f, &rec->ret, &rec->has_ret);
	return form_skip(f, 1);
}

/* What {"ok": false} means (or a bare false, of what only puts in): a cas
 * compared unequal, a put did not happen, a read says nothing, a removal found
 * nothing; of a set it is the answer. The order of Input and Output is free,
 * so this comes last. */
static void settle_output(const struct history *h, struct read_rec *rec)
{
	enum op_shape shape = history_shape(h, rec->fn);
	bool no = rec->ok == VAL_FALSE || (rec->ok == VAL_NONE && rec->out == VAL_FALSE && shape == OP_WRITES);
	if (no && (shape == OP_WRITES || shape == OP_READS))
		rec->failed = true;
	else if (no && (shape == OP_TAKES || shape == OP_PEEKS))
		rec->out = VAL_NIL;
	else if (rec->ok != VAL_NONE && (rec->fn == FN_CAS || rec->out == VAL_NONE))
		rec->out = rec->ok;
}

/* [81 :invoke :read nil]; other contents are skipped. */
static enum form_status vector_record(struct form *f, struct read_rec *rec)
{
	assert(*f->p == '[');
	enum form_status st = FORM_OK;
	f->p++;
	for (int i = 0; st == FORM_OK; i++) {
		form_space(f);
		while (f->json && *f->p == ',') {
			f->p++;
			form_space(f);
		}
		if (*f->p == ']') {
			f->p++;
			return i >= 3 ? FORM_OK
			              : form_fail(f, f->p - 1, "expected a process, a type and an operation in the vector");
		}
		if (f->p >= f->end)
			return f->last ? form_fail(f, f->p, "the vector is not closed") : FORM_MORE;
		rec->has_proc |= i == 0;
		st = i == 0   ? form_value(f, &rec->proc, 1)
		     : i == 1 ? set_type(f, rec)
		     : i == 2 ? set_fn(f, rec)
		     : i == 3 ? form_value(f, &rec->in, 1)
		              : form_skip(f, 1);
	}
	return st;
}

/* Does a vector begin here that is one record, not all of them? */
static int is_vector_record(struct form *f)
{
	assert(*f->p == '[');
	const char *p = f->p + 1;
	while (form_is_space(*p) || *p == ',')
		p++;
	if (p >= f->end && !f->last)
		return -1;
	return (*p >= '0' && *p <= '9') || *p == ':' || *p == '"' || *p == '-';
}

/* The names are the user's specification's when there is one. */
static void resolve(const struct reader *r, struct read_rec *rec)
{
	if (r->h->user && rec->fname)
		rec->fn = history_fn(r->h, rec->fname, rec->fname_len);
}

enum form_status rec_form(struct reader *r, struct read_rec *rec, size_t *used, uint32_t *newlines)
{
	struct form form = { .p = r->in.buf + r->in.pos,
		             .end = r->in.buf + r->in.end,
		             .json = r->format == FORMAT_JSON,
		             .last = r->in.eof,
		             .vals = &r->h->vals },
		    *f = &form;
	enum form_status st = FORM_OK;
	rec->kind = REC_SKIP;
	bool unknown_out = false, first = true;
	form_space(f);
	if (f->json && *f->p == ',') {
		f->p++;
		form_space(f);
	}
	int vector = *f->p == '[' ? is_vector_record(f) : 0;
	if (vector < 0)
		return FORM_MORE;
	if (!r->started && !vector && (*f->p == '[' || (*f->p == '(' && !f->json))) {
		f->p++;
		r->in_array = r->started = true;
		goto done;
	}
	r->started |= f->p < f->end;
	if (r->in_array && (*f->p == ']' || *f->p == ')')) {
		f->p++;
		r->in_array = false;
		r->ended = true;
		goto done;
	}
	if (f->p >= f->end) {
		if (!r->in.eof)
			return FORM_MORE;
		if (r->in_array)
			st = form_fail(f, f->p, "the array is not closed");
		goto done;
	}
	if (*f->p == '#' && !f->json) { /* #jepsen.history.Op{...} */
		while (*f->p && *f->p != '{' && !form_is_space(*f->p))
			f->p++;
		form_space(f);
	}
	rec->start = f->p;
	rec->line = r->line + f->newlines;
	if (vector && !r->ended) {
		st = vector_record(f, rec);
		if (st == FORM_MORE)
			return FORM_MORE;
		rec->len = (size_t)(f->p - rec->start);
		resolve(r, rec);
		goto done;
	}
	if (*f->p != '{' || r->ended) {
		st = f->p >= f->end && !r->in.eof
		             ? FORM_MORE
		             : form_fail(f, f->p, r->ended ? "unexpected text after the array" : "expected a record in braces");
		goto done;
	}
	f->p++;
	for (;;) {
		const char *s;
		size_t len;
		int more = next_member(f, &first, &s, &len, &st);
		if (more > 0)
			st = member(f, s, len, rec, &unknown_out);
		if (more <= 0 || st != FORM_OK)
			break;
	}
	rec->len = (size_t)(f->p - rec->start);
	resolve(r, rec);
	if (st == FORM_OK && rec->has_call) {
		rec->kind = REC_OP;
		settle_output(r->h, rec);
		if (unknown_out || (rec->has_ret && rec->ret < 0 && rec->call >= 0))
			rec->has_ret = false;
	}
done:
	if (st == FORM_BAD) {
		reader_error(r, f->at, f->at < f->end ? 1 : 0, "bad-record", "%s", f->why);
		if (f->at >= f->end)
			diag_hint(r->d, "the text seems to be truncated: the records before the last one form a history");
		else
			diag_hint(r->d, r->format == FORMAT_JSON
			                        ? "a record looks like {\"process\": 0, \"type\": \"invoke\", \"f\": \"write\", "
			                          "\"value\": 3}"
			                        : "a record looks like {:process 0, :type :invoke, :f :write, :value 3}");
	}
	*used = (size_t)(f->p - (r->in.buf + r->in.pos));
	*newlines = f->newlines;
	assert(f->p <= f->end && *used <= r->in.end - r->in.pos);
	return st;
}
