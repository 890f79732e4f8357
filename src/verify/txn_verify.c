/* txn_verify: see verify.h. */
#include "base/invariant.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "txn/check.h"
#include "txn/read.h"
#include "verify/txn_replay.h"

struct txn_held {
	const struct txn_history *th;
	struct deps *d;
	struct limits *lim;
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

/* The order of the report, followed; *followed: there is one that can be. NULL: right. */
static const char *follow(const struct txn_held *v, const json_t *answer, struct isolation level, bool *followed)
{
	const json_t *events = json_object_get(answer, "events"), *order = json_object_get(answer, "order"),
		     *list = events ? events : order;
	struct isolation by = level;
	if (*text_of(answer, "by"))
		level_of(text_of(answer, "by"), &by);
	*followed = json_is_array(list) && (by.level == LEVEL_SER || by.level == LEVEL_SI || by.level == LEVEL_PC) &&
	            (by.level == LEVEL_SER) == !events;
	if (!*followed)
		return NULL;
	size_t n = json_array_size(list);
	int64_t *x = arena_array(v->d->arena, int64_t, n + 1);
	for (size_t i = 0; i < n; i++)
		x[i] = json_integer_value(json_array_get(list, i));
	return txn_replay(v->th, by, v->d->init, x, n, events != NULL, v->d->arena);
}

/* Decided again, stronger levels first. */
static enum claim_answer again(const struct txn_held *v, struct isolation level, const char *claimed, struct why *why)
{
	static const char *const words[] = { "holds", "violated", "unknown" };
	struct txn_question q = { .levels = { level }, .nlevels = 1 };
	struct txn_check *c = arena_new(v->d->arena, struct txn_check);
	if (!txn_check(c, v->d, &q, v->d->arena, v->lim, why))
		return CLAIM_REJECTED;
	why_set(why, "%s",
	        c->verdict == TXN_UNDECIDED           ? "it was not decided again within the limits"
	        : !strcmp(words[c->verdict], claimed) ? "decided again"
	                                              : "decided again: it is not so");
	return c->verdict == TXN_UNDECIDED ? CLAIM_UNKNOWN : !strcmp(words[c->verdict], claimed) ? CLAIM_ACCEPTED : CLAIM_REJECTED;
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
	bool followed = false, holds = !strcmp(claimed, "holds");
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
	const char *wrong = holds ? follow(v, answer, level, &followed) : NULL;
	if (wrong || followed) {
		why_set(why, "%s", wrong ? wrong : "the order explains every read");
		return wrong ? CLAIM_REJECTED : CLAIM_ACCEPTED;
	}
	const json_t *other = *from && top ? listed(v, from) : NULL;
	if (other && !strcmp(text_of(other, "verdict"), claimed))
		return hold_level(v, other, false, why);
	return again(v, *from ? by : level, claimed, why);
}

int txn_verify(struct claim_list *l, const json_t *result, struct history *h, const char *path, enum format format, struct diags *d)
{
	assert(json_object_get(result, "levels"));
	struct reader r;
	struct txn_history th;
	struct deps deps;
	const json_t *answer;
	size_t k;
	if (!reader_open(&r, h, path, format, d)) {
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
	bool ok = txn_read(&th, &r) && deps_build(&deps, &th, init, h->arena, d);
	reader_close(&r);
	if (ok) {
		struct txn_held v = { &th, &deps, h->lim, json_object_get(result, "levels") };
		json_array_foreach(v.levels, k, answer)
		{
			struct claim c = { .name = text_of(answer, "level"), .claimed = text_of(answer, "verdict") };
			struct why why = { "" };
			c.answer = hold_level(&v, answer, true, &why);
			c.why = why.text;
			c.claimed = strcmp(c.claimed, "unknown") ? c.claimed : NULL;
			claim_list_add(l, &c);
		}
	}
	txn_history_free(&th);
	return ok ? claim_list_code(l) : CLAIM_INPUT;
}
