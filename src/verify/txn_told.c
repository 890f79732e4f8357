/* txn_told: see txn_told.h. */
#include "verify/txn_told.h"

#include <string.h>

#include "base/invariant.h"
#include "txn/keys.h"
#include "txn/say.h"

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

static void claim(struct claim_list *l, const char *name, enum claim_answer answer, const char *why)
{
	claim_list_add(l, &(struct claim){ .name = name, .answer = answer, .why = why });
}

static const json_t *listed(const json_t *levels, const char *name)
{
	const json_t *x;
	size_t i;
	json_array_foreach(levels, i, x)
	{
		if (!strcmp(text_of(x, "level"), name))
			return x;
	}
	return NULL;
}

/* The report's question; false when a name in it is none. */
static bool question(const json_t *result, struct txn_question *q)
{
	const json_t *levels = json_object_get(result, "levels"), *x;
	size_t i;
	*q = (struct txn_question){ 0 };
	json_array_foreach(levels, i, x)
	{
		const char *name = text_of(x, "level");
		q->prove |= json_object_get(x, "proof") != NULL;
		if (json_object_get(result, "lattice"))
			continue;
		if (q->nlevels == sizeof q->levels / sizeof *q->levels ||
		    !isolation_by_name(name, strlen(name), false, &q->levels[q->nlevels++]))
			return false;
	}
	return true;
}

/* The result again: as a document, or NULL when a limit was reached. */
static json_t *again(const json_t *result, struct deps *d, const struct txn_keys *keys, struct limits *lim)
{
	struct txn_question q;
	struct txn_check *c = arena_new(d->arena, struct txn_check);
	struct why why;
	struct buf text;
	json_t *told = NULL;
	if (!question(result, &q) || !txn_check(c, d, &q, d->arena, lim, &why))
		return NULL;
	c->keys = keys;
	if (keys && (keys->verdict == TXN_VIOLATED || c->verdict == TXN_HOLDS))
		c->verdict = keys->verdict;
	buf_init(&text);
	txn_say_json(c, false, &text);
	if (!text.failed)
		told = json_loadb(buf_cstr(&text), text.len, JSON_ALLOW_NUL, NULL);
	buf_free(&text);
	return told;
}

/* The first of the members that the report has and that is not what was told again; NULL: none is. */
static const char *differs(const json_t *said, const json_t *told, const char *const *members)
{
	for (; *members; members++) {
		const json_t *a = json_object_get(said, *members);
		if (a && !json_equal(a, json_object_get(told, *members)))
			return *members;
	}
	return NULL;
}

static bool wrong_member(struct claim_list *l, const char *name, const char *member)
{
	struct buf why;
	if (!member)
		return false;
	buf_init(&why);
	buf_printf(&why, "'%s' does not match the history", member);
	claim(l, name, CLAIM_REJECTED, buf_cstr(&why));
	buf_free(&why);
	return true;
}

/* What follows from the answers of the report itself. */
static bool verdict_wrong(struct claim_list *l, const json_t *result)
{
	const json_t *levels = json_object_get(result, "levels"), *x, *keys = json_object_get(result, "keys");
	const char *worst = "holds";
	size_t i;
	if (!json_array_size(levels)) {
		claim(l, "levels", CLAIM_REJECTED, "the report answers nothing");
		return true;
	}
	json_array_foreach(levels, i, x)
	{
		const char *v = text_of(x, "verdict");
		if (!strcmp(v, "violated") || (!strcmp(v, "unknown") && strcmp(worst, "violated")))
			worst = v;
	}
	if (keys && (!strcmp(text_of(keys, "verdict"), "violated") || !strcmp(worst, "holds")))
		worst = text_of(keys, "verdict");
	if (!strcmp(worst, text_of(result, "verdict")))
		return false;
	claim(l, "verdict", CLAIM_REJECTED, "the verdict does not follow from the levels");
	return true;
}

void txn_told(struct claim_list *l, const json_t *result, struct deps *d, const struct txn_keys *keys, struct limits *lim)
{
	static const char *const of_result[] = { "transactions", "processes", "operations", "failed",   "pending", "counts",
		                                 "init_text",    "lattice",   "line",       "sentence", NULL };
	static const char *const of_level[] = { "aliases",  "strongest",    "weakest", "anomaly",   "with", "limit",
		                                "sentence", "transactions", "cycle",   "ambiguous", NULL };
	static const char *const of_keys[] = { "judged", "key", "key_text", "anomaly", "sentence", NULL };
	if (verdict_wrong(l, result))
		return;
	json_t *told = again(result, d, keys, lim);
	const json_t *said = json_object_get(result, "levels"), *levels = json_object_get(told, "levels"), *x;
	size_t i;
	bool wrong = false, open = !told;
	json_array_foreach(levels, i, x)
	{
		const json_t *mine = listed(said, text_of(x, "level"));
		open |= !strcmp(text_of(x, "verdict"), "unknown") && strcmp(text_of(mine, "verdict"), "unknown");
		if (mine)
			continue;
		wrong = true;
		claim(l, text_of(x, "level"), CLAIM_REJECTED, "the report does not answer it");
	}
	if (open && !wrong) {
		claim(l, "explanation", CLAIM_UNKNOWN, "it could not be told again within the limits");
	} else if (!wrong) {
		wrong = wrong_member(l, "result", differs(result, told, of_result));
		json_array_foreach(said, i, x)
			wrong |= wrong_member(l, text_of(x, "level"), differs(x, listed(levels, text_of(x, "level")), of_level));
		wrong |= wrong_member(l, "keys", differs(json_object_get(result, "keys"), json_object_get(told, "keys"), of_keys));
		if (!wrong)
			claim(l, "explanation", CLAIM_ACCEPTED, "counts, cycles and sentences are those of the history");
	}
	json_decref(told);
}
