/* transactions: see transactions.h. */
#include "judge/transactions.h"

#include <string.h>

#include "base/invariant.h"
#include "judge/document.h"
#include "lin/lin.h"
#include "report/transactions_text.h"
#include "txn/generate.h"
#include "txn/keys.h"
#include "txn/say.h"

static bool question_of(const struct history_args *a, struct txn_question *q, const char **bad, size_t *len)
{
	*q = (struct txn_question){ .sessions = a->sessions, .realtime = a->realtime, .prove = a->witness };
	return !a->level || txn_question_parse(q, a->level, bad, len);
}

const char *transactions_args_wrong(const struct history_args *a, struct why *why)
{
	struct txn_question q;
	const char *bad;
	size_t len;
	if (question_of(a, &q, &bad, &len))
		return NULL;
	char name[80];
	snprintf(name, sizeof name, "%.*s", (int)(len < 60 ? len : 60), bad);
	int near = nearest_name(name, level_names, LEVEL_COUNT);
	why_set(why, "--level: '%s' is no isolation level%s%s%s; see docs/transactions.md", name,
	        near >= 0 ? " (did you mean " : "", near >= 0 ? level_names[near] : "", near >= 0 ? "?)" : "");
	return why->text;
}

/* Options that are about objects. */
static const char *object_option(const struct history_args *a)
{
	return a->object != OBJ_GUESS        ? "--object"
	       : a->condition != COND_ATOMIC ? "--condition"
	       : a->k                        ? "--k"
	       : a->delta                    ? "--delta"
	       : a->algorithm != ALG_AUTO    ? "--algorithm"
	                                     : NULL;
}

const char *transactions_option(const struct history_args *a)
{
	return a->keys            ? "--keys"
	       : a->sessions      ? "--sessions"
	       : a->realtime      ? "--realtime"
	       : a->version_order ? "--version-order"
	                          : NULL;
}

/* The result, and the text of it. */
static void tell(const struct transactions_job *j, const struct txn_check *c)
{
	struct buf json, *results = judge_next(j->sink->results), *text = j->sink->quiet ? NULL : j->sink->text;
	buf_init(&json);
	if (results || text)
		txn_say_json(c, j->a->witness, &json);
	if (results) {
		buf_add(results, buf_cstr(&json), json.len);
		results->failed |= json.failed;
	}
	if (text) {
		json_t *result = json.failed ? NULL : json_loadb(buf_cstr(&json), json.len, JSON_ALLOW_NUL, NULL);
		if (result)
			transactions_text(result, j->sink->color, text);
		text->failed |= !result;
		json_decref(result);
	}
	buf_free(&json);
}

int transactions_judge(struct transactions_job *j, struct reader *r)
{
	assert(j->a && j->sink && j->h && j->lim);
	struct txn_history th;
	struct txn_question q;
	struct txn_check c;
	struct deps d;
	const char *bad = object_option(j->a);
	struct why why;
	size_t len;
	if (bad) {
		diag_error(j->d, "transactions", NULL, (struct span){ 0, 0 },
		           "%s: %s is about operations on an object, but these are transactions", r->in.name, bad);
		diag_hint(j->d, "--level=NAME says which isolation level to check");
		return EXIT_USAGE;
	}
	question_of(j->a, &q, &bad, &len);
	txn_history_init(&th, j->h);
	th.version_order = (uint8_t)j->a->version_order;
	int rc = EXIT_USAGE;
	if (!txn_read(&th, r)) {
		rc = j->d->errors ? EXIT_USAGE : EXIT_UNKNOWN;
	} else if (!th.nops && !j->beginning) {
		diag_error(j->d, "no-transactions", NULL, (struct span){ 0, 0 },
		           "%s: nothing to judge: no record reads, writes or appends as a transaction does", r->in.name);
		diag_hint(j->d, "transactions have values like [[:r x 1] [:w y 2]]; without --level the history is checked as that "
		                "of an object");
	} else if (j->following && !th.realtime) {
		diag_error(j->d, "not-events", NULL, (struct span){ 0, 0 },
		           "%s: --follow needs invocations and answers of transactions as they happen, not answers alone",
		           r->in.name);
		diag_hint(j->d,
		          "a transaction may be answered before the one that it read from: without --follow the whole history is "
		          "checked");
	} else if (j->a->keys && !th.realtime) {
		diag_error(j->d, "no-order", NULL, (struct span){ 0, 0 },
		           "%s: --keys: the history has no real time: not every transaction has its invocation", r->in.name);
		diag_hint(j->d, "linearizability is about invocations and answers");
	} else if (th.version_order == VERSIONS_REALTIME && !th.realtime) {
		diag_error(j->d, "no-order", NULL, (struct span){ 0, 0 },
		           "%s: --version-order=realtime: the history has no real time: not every transaction has its invocation",
		           r->in.name);
		diag_hint(j->d, "--version-order=recorded takes the order of the records");
	} else if (th.version_order == VERSIONS_SESSION && !th.sessions) {
		diag_error(j->d, "no-order", NULL, (struct span){ 0, 0 },
		           "%s: --version-order=session: the history names no sessions (processes)", r->in.name);
		diag_hint(j->d, "--version-order=recorded takes the order of the records");
	} else if (!deps_build(&d, &th, j->init, j->h->arena, j->d)) {
		rc = EXIT_USAGE;
	} else if (!txn_check(&c, &d, &q, j->h->arena, j->lim, &why)) {
		diag_error(j->d, "no-order", NULL, (struct span){ 0, 0 }, "%s: the history %s", r->in.name, why.text);
		diag_hint(j->d, "ask for a level without \"strong\": --level=serializable");
	} else {
		static const int codes[] = { EXIT_HOLDS, EXIT_VIOLATED, EXIT_UNKNOWN };
		struct txn_keys keys;
		if (j->a->keys) {
			txn_keys_check(&keys, &d, j->h->arena, j->d, j->lim);
			c.keys = &keys;
			if (keys.verdict == TXN_VIOLATED || c.verdict == TXN_HOLDS)
				c.verdict = keys.verdict;
		}
		c.followed = j->followed;
		tell(j, &c);
		rc = codes[c.verdict];
		j->said = true;
		if (j->a->keys)
			txn_keys_free(&keys);
	}
	txn_history_free(&th);
	return rc;
}

int history_generate(const char *workload, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg, struct why *why)
{
	struct txn_workload w;
	if (!txn_workload_parse(&w, workload, why))
		return EXIT_USAGE;
	return txn_generate(&w, out, flush, arg) ? EXIT_HOLDS : EXIT_INTERNAL;
}
