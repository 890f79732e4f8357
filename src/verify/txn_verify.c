/* txn_verify: see verify.h. */
#include "base/invariant.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "txn/check.h"
#include "txn/keys.h"
#include "txn/read.h"
#include "verify/txn_order.h"
#include "verify/txn_refute.h"
#include "verify/txn_replay.h"
#include "verify/txn_told.h"

struct txn_held {
	const struct txn_history *th;
	struct deps *d;
	struct limits *lim;
	struct txn_facts *facts;
	const json_t *levels; /* the report's answers */
};

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

static bool level_of(const char *name, struct isolation *i)
{
	return isolation_by_name(name, strlen(name), false, i);
}

/* Do the ends of transactions keep the order of versions? */
static const char *versions_wrong(const struct txn_held *v, const int64_t *x, size_t n, bool events)
{
	int64_t *ends = arena_array(v->d->arena, int64_t, n + 1);
	size_t k = 0;
	for (size_t i = 0; i < n; i++)
		if (!events || x[i] < 0)
			ends[k++] = events ? -x[i] : x[i];
	return txn_versions_wrong(v->facts, ends, k);
}

/* An order against the level that it is for: run, or compared with the definition. */
static enum claim_answer hold_order(const struct txn_held *v, struct isolation level, const int64_t *x, size_t n, bool events,
                                    struct why *why)
{
	const char *wrong = NULL;
	bool run = level.level == LEVEL_SER || level.level == LEVEL_SI || level.level == LEVEL_PC, too_long = false;
	if (events != (level.level == LEVEL_SI || level.level == LEVEL_PC))
		wrong = "the level needs another kind of order";
	else if (txn_direct_anomaly(v->facts, (enum txn_level)level.level))
		wrong = txn_direct_anomaly(v->facts, (enum txn_level)level.level);
	else if (run)
		wrong = txn_replay(v->th, level, v->d->init, x, n, events, v->d->arena);
	else
		wrong = txn_order_wrong(v->facts, level, x, n, &too_long);
	if (!wrong && run)
		wrong = versions_wrong(v, x, n, events);
	why_set(why, "%s", wrong ? wrong : too_long ? "the order is too long to be followed" : "the order explains every read");
	return wrong ? CLAIM_REJECTED : too_long ? CLAIM_UNKNOWN : CLAIM_ACCEPTED;
}

/* The order of the report. */
static enum claim_answer follow(const struct txn_held *v, const json_t *answer, struct isolation level, struct why *why)
{
	const json_t *events = json_object_get(answer, "events"), *list = events ? events : json_object_get(answer, "order");
	size_t n = json_array_size(list);
	int64_t *x = arena_array(v->d->arena, int64_t, n + 1);
	for (size_t i = 0; i < n; i++)
		x[i] = json_integer_value(json_array_get(list, i));
	return hold_order(v, level, x, n, events != NULL, why);
}

/* A proof of the report; false when it has not the form of one. */
static bool read_step(struct txn_proof *p, const json_t *x, struct arena *a)
{
	static const char *const words[] = { "session", "realtime", "wr", "ww", "rw" };
	struct proof_step s = { 0 };
	size_t kind = 0, n = json_array_size(x);
	json_int_t num[4] = { 1, 1, 1, 0 };
	const char *word = json_string_value(json_array_get(x, 0));
	while (kind < 5 && word && strcmp(word, words[kind]))
		kind++;
	if (!word || kind == 5 || n != (kind < PROOF_WR ? 3u : kind < PROOF_RW ? 4u : 5u))
		return false;
	for (size_t i = 1; i < n; i++) {
		num[i - 1] = json_integer_value(json_array_get(x, i));
		if (!json_is_integer(json_array_get(x, i)) || num[i - 1] < (i == 4 ? 0 : 1) || num[i - 1] >= UINT32_MAX)
			return false;
	}
	s = (struct proof_step){ (uint32_t)num[0] - 1, (uint32_t)num[1] - 1, (uint32_t)num[2] - 1,
		                 num[3] ? (uint32_t)num[3] - 1 : PROOF_INITIAL, (uint8_t)kind };
	avec_push(a, &p->steps, s);
	return true;
}

static bool read_fact(struct txn_proof *p, const json_t *x, struct arena *a)
{
	uint32_t num[3];
	for (size_t i = 0; i < 3; i++) {
		json_int_t n = json_integer_value(json_array_get(x, i));
		if (!json_is_integer(json_array_get(x, i)) || n < 1 || n >= UINT32_MAX)
			return false;
		num[i] = (uint32_t)n - 1;
	}
	avec_push(a, &p->facts, ((struct proof_fact){ num[0], num[1], num[2] }));
	return true;
}

static bool read_proof(struct txn_proof *p, const json_t *list, struct arena *a)
{
	const json_t *item, *x;
	size_t i, k;
	json_array_foreach(list, i, item)
	{
		const json_t *cycle = json_object_get(item, "cycle"), *part = cycle ? cycle : json_object_get(item, "clause");
		struct proof_clause c = { cycle ? p->steps.len : p->facts.len, (uint32_t)json_array_size(part), !cycle };
		json_array_foreach(part, k, x) if (!(cycle ? read_step : read_fact)(p, x, a)) return false;
		avec_push(a, &p->clauses, c);
	}
	return true;
}

static enum claim_answer refute(const struct txn_held *v, struct isolation level, const struct txn_proof *p, struct why *why)
{
	const char *wrong = txn_refute(v->facts, level, p);
	why_set(why, "%s", wrong ? wrong : "every step of the proof is right");
	return wrong ? CLAIM_REJECTED : CLAIM_ACCEPTED;
}

/* What was decided again, held to the same checks as a report. */
static enum claim_answer hold_decision(const struct txn_held *v, const struct decision *x, struct why *why)
{
	bool events = x->family == FAMILY_SI || x->family == FAMILY_PC;
	int64_t *list;
	enum claim_answer a;
	if (x->verdict == TXN_VIOLATED) {
		if (!x->proof || x->proof->too_long) {
			why_set(why, "decided again; the proof is too long to be checked");
			return CLAIM_UNKNOWN;
		}
		a = refute(v, x->level, x->proof, why);
		if (a == CLAIM_ACCEPTED)
			why_set(why, "decided again, and the proof of it is right");
		return a;
	}
	list = arena_array(v->d->arena, int64_t, x->norder + 1);
	for (uint32_t i = 0; i < x->norder; i++) {
		int64_t t = (int64_t)v->d->txn[events ? x->order[i] / 2 : x->order[i]] + 1;
		list[i] = events && x->order[i] & 1 ? -t : t;
	}
	a = hold_order(v, x->level, list, x->norder, events, why);
	if (a == CLAIM_ACCEPTED)
		why_set(why, "decided again, and the order of it explains every read");
	return a;
}

/* Decided again, stronger levels first. */
static enum claim_answer again(const struct txn_held *v, struct isolation level, const char *claimed, struct why *why)
{
	static const char *const words[] = { "holds", "violated", "unknown" };
	struct txn_question q = { .levels = { level }, .nlevels = 1, .prove = true };
	struct txn_check *c = arena_new(v->d->arena, struct txn_check);
	if (!txn_check(c, v->d, &q, v->d->arena, v->lim, why))
		return CLAIM_REJECTED;
	if (c->verdict == TXN_UNDECIDED) {
		why_set(why, "it was not decided again within the limits");
		return CLAIM_UNKNOWN;
	}
	if (strcmp(words[c->verdict], claimed)) {
		why_set(why, "decided again: it is not so");
		return CLAIM_REJECTED;
	}
	return hold_decision(v, &txn_check_reason(c, level)->d, why);
}

static const json_t *listed(const struct txn_held *v, const char *level)
{
	const json_t *x;
	size_t k;
	json_array_foreach(v->levels, k, x) if (!strcmp(text_of(x, "level"), level)) return x;
	return NULL;
}

/* One answer; `top`: it may follow from another one of the report. */
static enum claim_answer hold_level(const struct txn_held *v, const json_t *answer, bool top, struct why *why)
{
	struct isolation level, by;
	const char *claimed = text_of(answer, "verdict"), *from = text_of(answer, "by");
	bool holds = !strcmp(claimed, "holds");
	if (!level_of(text_of(answer, "level"), &level) || (*from && !level_of(from, &by))) {
		why_set(why, "there is no such level");
		return CLAIM_REJECTED;
	}
	if (!strcmp(claimed, "unknown")) {
		why_set(why, "the report does not decide it");
		return CLAIM_UNKNOWN;
	}
	if (*from && !(holds ? isolation_implies(by, level) : isolation_implies(level, by))) {
		why_set(why, "it does not follow from the level that it is said to follow from");
		return CLAIM_REJECTED;
	}
	struct isolation of = *from ? by : level;
	if (holds && (json_is_array(json_object_get(answer, "order")) || json_is_array(json_object_get(answer, "events"))))
		return follow(v, answer, of, why);
	if (!holds && txn_direct_anomaly(v->facts, (enum txn_level)of.level)) {
		why_set(why, "%s", txn_direct_anomaly(v->facts, (enum txn_level)of.level));
		return CLAIM_ACCEPTED;
	}
	if (!holds && json_is_array(json_object_get(answer, "proof"))) {
		struct txn_proof p = { 0 };
		why_set(why, "the proof is not in the form of one");
		return read_proof(&p, json_object_get(answer, "proof"), v->d->arena) ? refute(v, of, &p, why) : CLAIM_REJECTED;
	}
	const json_t *other = *from && top ? listed(v, from) : NULL;
	if (other && !strcmp(text_of(other, "verdict"), claimed))
		return hold_level(v, other, false, why);
	return again(v, of, claimed, why);
}

/* What is said of the keys, each alone, has no proof: it is decided again. */
static void hold_keys(struct claim_list *l, const json_t *said, const struct txn_keys *k)
{
	static const char *const words[] = { "holds", "violated", "unknown" };
	struct claim c = { .name = "linearizable keys", .claimed = text_of(said, "verdict"), .answer = CLAIM_REJECTED };
	if (!strcmp(c.claimed, "unknown")) {
		c.claimed = NULL;
		c.answer = CLAIM_UNKNOWN;
		c.why = "the report does not say";
	} else if (!k) {
		c.why = "the history has no real time";
	} else {
		bool same = !strcmp(c.claimed, words[k->verdict]);
		c.answer = k->verdict == TXN_UNDECIDED ? CLAIM_UNKNOWN : same ? CLAIM_ACCEPTED : CLAIM_REJECTED;
		c.why = k->verdict == TXN_UNDECIDED ? "a limit was reached"
		        : same                      ? "decided again, with the same result"
		                                    : "decided again, with the opposite result";
	}
	claim_list_add(l, &c);
}

/* Everything that the report says. */
static void hold_all(struct claim_list *l, const json_t *result, const struct txn_held *v, struct diags *d)
{
	const json_t *answer, *said = json_object_get(result, "keys");
	size_t i;
	struct txn_keys keys;
	bool alone = said && v->th->realtime;
	if (alone)
		txn_keys_check(&keys, v->d, v->th->h->arena, d, v->lim);
	json_array_foreach(v->levels, i, answer)
	{
		struct claim c = { .name = text_of(answer, "level"), .claimed = text_of(answer, "verdict") };
		struct why why = { "" };
		c.answer = hold_level(v, answer, true, &why);
		c.why = why.text;
		c.claimed = strcmp(c.claimed, "unknown") ? c.claimed : NULL;
		claim_list_add(l, &c);
	}
	if (said)
		hold_keys(l, said, alone ? &keys : NULL);
	txn_told(l, result, v->d, alone ? &keys : NULL, v->lim);
	if (alone)
		txn_keys_free(&keys);
}

/* The history, or of one that was followed the lines up to the one with which the report was made. */
static bool open_lines(struct reader *r, const json_t *result, struct history *h, const char *path, enum format format,
                       struct diags *d)
{
	json_int_t lines = json_integer_value(json_object_get(result, "followed"));
	struct source src;
	struct why why = { "" };
	if (lines <= 0)
		return reader_open(r, h, path, format, d);
	memset(r, 0, sizeof *r);
	if (!source_read(&src, h->arena, path, &why)) {
		diag_error(d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", path, why.text);
		return false;
	}
	size_t len = 0;
	for (const char *p = src.text; lines && len < src.len; lines--) {
		p = memchr(src.text + len, '\n', src.len - len);
		len = p ? (size_t)(p - src.text) + 1 : src.len;
	}
	return reader_open_text(r, h, path, src.text, len, format, d);
}

int txn_verify(struct claim_list *l, const json_t *result, struct history *h, const char *path, enum format format, struct diags *d)
{
	assert(json_object_get(result, "levels"));
	struct reader r;
	struct txn_history th;
	struct deps deps;
	if (!open_lines(&r, result, h, path, format, d)) {
		reader_close(&r);
		return CLAIM_INPUT;
	}
	txn_sniff(&r);
	txn_history_init(&th, h);
	val init = json_is_integer(json_object_get(result, "init"))
	                   ? val_int(&h->vals, json_integer_value(json_object_get(result, "init")))
	           : json_is_string(json_object_get(result, "init"))
	                   ? val_text(&h->vals, VK_STR, json_string_value(json_object_get(result, "init")),
	                              json_string_length(json_object_get(result, "init")))
	                   : VAL_NIL;
	const char *versions = text_of(result, "version_order");
	for (uint8_t i = 0; version_order_names[i]; i++)
		if (!strcmp(versions, version_order_names[i]))
			th.version_order = i;
	bool ok = txn_read(&th, &r) && deps_build(&deps, &th, init, h->arena, d);
	reader_close(&r);
	if (ok) {
		struct txn_held v = { &th, &deps, h->lim, txn_facts_new(&th, deps.init, h->arena),
			              json_object_get(result, "levels") };
		hold_all(l, result, &v, d);
		txn_facts_free(v.facts);
	}
	txn_history_free(&th);
	return ok ? claim_list_code(l) : CLAIM_INPUT;
}
