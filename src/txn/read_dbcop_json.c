/*
 * read_dbcop_json: histories as dbcop writes them in JSON.
 *
 *   history := [ session* ] | { ..., "data": [ session* ] }        session := [ transaction* ]
 *   transaction := { "events": [ event* ], "committed": bool }
 *   event := { "Read": { "variable": V, "version": N | null } } | { "Write": { "variable": V, "version": N } } | ["r"|"w", V, N]
 *
 * The text is read whole: up to INPUT_MAX_RECORD bytes.
 */
#include <jansson.h>

#include <string.h>

#include "txn/read.h"

struct dbcop {
	struct txn_history *th;
	struct reader *r;
	size_t session, transaction;
};

static bool wrong(struct dbcop *b, const char *what)
{
	diag_error(b->r->d, "bad-record", NULL, (struct span){ 0, 0 }, "%s: transaction %zu of session %zu: %s", b->r->in.name,
	           b->transaction + 1, b->session + 1, what);
	diag_hint(b->r->d,
	          "dbcop's JSON is [[{\"events\": [{\"Write\": {\"variable\": 0, \"version\": 1}}], \"committed\": true}]]");
	return false;
}

/* A number or a text. */
static bool name_of(struct dbcop *b, const json_t *x, val *v)
{
	struct values *vs = &b->th->h->vals;
	if (json_is_integer(x))
		*v = val_int(vs, json_integer_value(x));
	else if (json_is_string(x))
		*v = val_text(vs, VK_STR, json_string_value(x), json_string_length(x));
	else if (json_is_null(x))
		*v = VAL_NIL;
	else
		return false;
	return true;
}

static bool event(struct dbcop *b, const json_t *e)
{
	bool write = false;
	const json_t *variable, *version;
	val key, v;
	if (json_is_array(e)) {
		const char *tag = json_string_value(json_array_get(e, 0));
		if (!tag || (strcmp(tag, "r") && strcmp(tag, "w")) || json_array_size(e) != 3)
			return wrong(b, "expected an event such as [\"r\", 0, 1]");
		write = *tag == 'w';
		variable = json_array_get(e, 1);
		version = json_array_get(e, 2);
	} else {
		const json_t *x = json_object_get(e, "Write");
		write = x != NULL;
		x = x ? x : json_object_get(e, "Read");
		variable = json_object_get(x, "variable");
		version = json_object_get(x, "version");
	}
	if (!variable || !version || !name_of(b, variable, &key) || key == VAL_NIL)
		return wrong(b, "expected an event: Read or Write with a variable and a version");
	if (!name_of(b, version, &v) || (write && v == VAL_NIL))
		return wrong(b, "expected a version: a number, or null for a read of the initial state");
	if (!txn_push_op(b->th, write ? MOP_WRITE : MOP_READ, key_intern(b->th->h, key), v))
		longjmp(*b->th->h->arena->oom, 1);
	return true;
}

static bool transaction(struct dbcop *b, const json_t *x, uint32_t session)
{
	const json_t *events = json_object_get(x, "events"), *committed = json_object_get(x, "committed"), *e;
	size_t i;
	if (!json_is_array(events) || !json_is_boolean(committed))
		return wrong(b, "expected \"events\", an array, and \"committed\", a truth value");
	struct txn *t = txn_push(b->th);
	if (!t)
		return false;
	uint32_t at = b->th->n - 1;
	json_array_foreach(events, i, e) if (!event(b, e)) return false;
	t = &b->th->txns[at];
	t->session = session;
	t->call = at;
	t->nops = b->th->nops - t->first;
	t->status = json_is_true(committed) ? TXN_COMMITTED : TXN_ABORTED;
	t->ret = json_is_true(committed) ? at : RANK_INF;
	for (uint32_t k = 0; k < t->nops && t->status == TXN_ABORTED; k++)
		if (b->th->ops[t->first + k].kind == MOP_READ)
			b->th->ops[t->first + k].v = VAL_NONE;
	return true;
}

static bool sessions(struct dbcop *b, const json_t *list)
{
	const json_t *s, *t;
	if (!json_is_array(list)) {
		diag_error(b->r->d, "bad-record", NULL, (struct span){ 0, 0 },
		           "%s: expected an array of sessions, alone or as \"data\"", b->r->in.name);
		return false;
	}
	json_array_foreach(list, b->session, s)
	{
		b->transaction = 0;
		if (!json_is_array(s))
			return wrong(b, "a session is an array of transactions");
		uint32_t session = txn_session(b->th, val_int(&b->th->h->vals, (int64_t)b->session + 1));
		json_array_foreach(s, b->transaction, t) if (!transaction(b, t, session)) return false;
	}
	return true;
}

/* [[{"events" or {... "data" ... "events" */
bool txn_looks_like_dbcop_json(const char *p)
{
	bool object = *p == '{';
	if (object)
		return strstr(p, "\"data\"") && strstr(p, "\"events\"") && strstr(p, "\"committed\"");
	for (int i = 0; i < 2; i++) {
		if (*p != '[')
			return false;
		p += 1 + strspn(p + 1, " \t\r\n");
	}
	return *p == '{' && strstr(p, "\"events\"") && strstr(p, "\"committed\"");
}

bool txn_read_dbcop_json(struct txn_history *th, struct reader *r)
{
	struct dbcop b = { .th = th, .r = r };
	json_error_t e;
	jmp_buf oom, *was = th->h->arena->oom;
	th->realtime = false;
	while (!r->in.eof && !r->in.error)
		input_fill(&r->in);
	if (r->in.error) {
		diag_error(r->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", r->in.name, r->in.error);
		return false;
	}
	json_t *doc = json_loadb(r->in.buf + r->in.pos, r->in.end - r->in.pos, 0, &e);
	if (!doc) {
		reader_error(r, r->in.buf + r->in.pos + (e.position > 0 ? (size_t)e.position - 1 : 0), 1, "bad-record", "%s",
		             e.text);
		return false;
	}
	bool ok = false;
	if (!setjmp(oom)) {
		th->h->arena->oom = &oom;
		ok = sessions(&b, json_is_object(doc) ? json_object_get(doc, "data") : doc);
		th->h->arena->oom = was;
	} else {
		th->h->arena->oom = was;
		json_decref(doc);
		longjmp(*was, 1);
	}
	json_decref(doc);
	return ok;
}
