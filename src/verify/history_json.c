#include "base/invariant.h"
#include "verify/verify.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lin/check.h"
#include "report/history_text.h"

#define BUDGET (1u << 20) /* configurations of the naive search */

static enum verify_answer reject(struct why *why, const char *text)
{
	return verify_reject(why, text, RANK_INF);
}

static int name_index(const char *const *names, const json_t *j)
{
	const char *s = json_string_value(j);
	for (int i = 0; s && names[i]; i++)
		if (!strcmp(names[i], s))
			return i;
	return -1;
}

static val value_of(struct values *vs, const json_t *j, int depth)
{
	if (json_is_integer(j))
		return val_int(vs, json_integer_value(j));
	if (json_is_string(j))
		return val_text(vs, VK_STR, json_string_value(j), json_string_length(j));
	if (json_is_boolean(j))
		return val_bool(json_is_true(j));
	if (!json_is_array(j) || depth > 32)
		return VAL_NIL;
	uint32_t n = (uint32_t)json_array_size(j);
	val *e = calloc(n + 1ull, sizeof *e);
	for (uint32_t i = 0; e && i < n; i++)
		e[i] = value_of(vs, json_array_get(j, i), depth + 1);
	val v = val_list(vs, VK_LIST, e, e ? n : 0);
	free(e);
	return v;
}

/* Numbers of the history to numbers of the part; NULL: something is wrong. */
static uint32_t *numbers(const json_t *a, const struct history *h, const uint32_t *local, uint32_t *n)
{
	*n = (uint32_t)json_array_size(a);
	uint32_t *out = json_is_array(a) ? calloc(*n + 1ull, sizeof *out) : NULL;
	for (uint32_t i = 0; out && i < *n; i++) {
		const json_t *x = json_array_get(a, i);
		json_int_t v = json_integer_value(x);
		bool ok = json_is_null(x) || (json_is_integer(x) && v >= 0 && v < h->n);
		out[i] = ok && !json_is_null(x) ? local[v] : RANK_INF;
		if (!ok) {
			free(out);
			return NULL;
		}
	}
	assert(!out || *n == json_array_size(a));
	return out;
}

/* ---- explanations ----------------------------------------------------------------- */

/* What overlaps the culprit, when the report says so: the sentence counts it. */
static bool overlaps_told(const struct problem *p, uint32_t culprit, const uint32_t *ops, uint32_t nops)
{
	assert(culprit == RANK_INF || culprit < p->n);
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n && culprit != RANK_INF; i++)
		if (p->ops[i].ret != RANK_INF && p->ops[i].ret > p->ops[culprit].call && p->ops[i].call < p->ops[culprit].ret) {
			if (n >= nops || ops[n] != i)
				return false;
			n++;
		}
	return n == nops;
}

/* The line, how much had completed before, and the states by name. */
static enum verify_answer check_moment(const struct history *h, const json_t *j, const struct problem *p, uint32_t culprit,
                                       json_int_t culprit_number, struct why *why)
{
	assert(culprit < p->n && p->ops[culprit].ret != RANK_INF);
	assert(culprit_number >= 0 && culprit_number < h->n);
	const json_t *states = json_object_get(j, "states");
	uint32_t ended = 0, n = (uint32_t)json_array_size(states);
	for (uint32_t i = 0; i < p->n; i++)
		ended += p->ops[i].ret < p->ops[culprit].ret;
	if (json_integer_value(json_object_get(j, "line")) != h->ops[culprit_number].line ||
	    json_integer_value(json_object_get(j, "prefix")) != ended)
		return reject(why, "the line or the prefix in the report does not match the culprit");
	if (!n)
		return VERIFY_ACCEPTED;
	char *text[MAX_STATES_SHOWN];
	for (uint32_t i = 0; i < n && i < MAX_STATES_SHOWN; i++)
		text[i] = (char *)(uintptr_t)json_string_value(json_array_get(states, i));
	for (uint32_t i = 0; i < n; i++)
		if (n > MAX_STATES_SHOWN || !text[i])
			return reject(why, "the states in the report have no text");
	return verify_states(p, culprit, text, n, json_is_true(json_object_get(j, "more_states")), BUDGET, why);
}

/* The sentence is the one for these facts. */
static enum verify_answer check_sentence(const struct history *h, const struct interpretation *in, const json_t *j,
                                         enum condition cond, uint32_t k, int proof, uint32_t culprit, struct why *why)
{
	assert(proof >= PROOF_NONE && proof <= PROOF_STALE);
	assert(culprit == RANK_INF || culprit < h->n);
	const json_t *conflict = json_object_get(j, "conflict"), *states = json_object_get(j, "states");
	struct lin_check_options o = { .condition = cond, .k = k };
	struct part part = {
		.r = { .proof = (enum proof)proof, .culprit = culprit, .moment_open = !json_is_true(json_object_get(j, "exact")) }
	};
	uint32_t n = (uint32_t)json_array_size(conflict), *ops = calloc(n + 1ull, sizeof *ops);
	struct buf text;
	if (!ops)
		return VERIFY_UNDECIDED;
	for (uint32_t i = 0; i < n; i++)
		ops[i] = json_is_null(json_array_get(conflict, i)) ? RANK_INF
		                                                   : (uint32_t)json_integer_value(json_array_get(conflict, i));
	part.r.ops = ops;
	part.r.nops = n;
	for (uint32_t i = 0; i < json_array_size(states) && i < MAX_STATES_SHOWN; i++)
		part.r.states[part.r.nstates++] = (char *)(uintptr_t)json_string_value(json_array_get(states, i));
	part.r.more_states = json_is_true(json_object_get(j, "more_states"));
	assert(part.r.nstates <= MAX_STATES_SHOWN);
	buf_init(&text);
	history_proof_text(h, in, &o, &part, &text);
	const char *said = json_string_value(json_object_get(j, "sentence"));
	bool same = said && !strcmp(said, buf_cstr(&text));
	buf_free(&text);
	free(ops);
	return same ? VERIFY_ACCEPTED : reject(why, "the sentence in the report does not match its facts");
}

static enum verify_answer check_explanation(const struct history *h, const struct interpretation *in, const json_t *j,
                                            const struct problem *p, enum condition cond, const uint32_t *local, int proof,
                                            const uint32_t *ops, uint32_t nops, struct why *why)
{
	const json_t *c = json_object_get(j, "culprit");
	json_int_t cv = json_integer_value(c);
	bool has = json_is_integer(c) && cv >= 0 && cv < h->n && local[cv] != RANK_INF;
	uint32_t culprit = has ? local[cv] : RANK_INF;
	enum verify_answer v = VERIFY_ACCEPTED;
	assert(!has || culprit < p->n);
	if (c && !has)
		return reject(why, "the report names a culprit that does not exist");
	if (has && p->ops[culprit].ret == RANK_INF)
		return reject(why, "the report names a culprit that never returned");
	if (proof == PROOF_EXHAUSTED && nops && !overlaps_told(p, culprit, ops, nops))
		return reject(why, "the operations in conflict are not those that overlap the culprit");
	if (proof == PROOF_STALE && !(nops == 3 && ops[0] < p->n && ops[2] < p->n && p->ops[ops[2]].fn == FN_WRITE &&
	                              p->ops[ops[2]].ret < p->ops[ops[0]].call))
		return reject(why, "the write that the report names did not end before the read");
	if (has)
		v = check_moment(h, j, p, culprit, cv, why);
	if (v == VERIFY_ACCEPTED)
		v = check_sentence(h, in, j, cond, p->k, proof, has ? (uint32_t)cv : RANK_INF, why);
	return v;
}

static enum verify_answer check_part(const struct history *h, const struct interpretation *in, const json_t *j,
                                     const struct problem *p, enum condition cond, const uint32_t *local, struct why *why)
{
	assert(p->n <= h->n && p->nevents == h->nevents);
	uint32_t n, nops;
	bool weak = cond == COND_REGULAR || cond == COND_SAFE;
	const char *verdict = json_string_value(json_object_get(j, "verdict"));
	if (verdict && !strcmp(verdict, "holds")) {
		uint32_t *order = numbers(json_object_get(j, weak ? "saw" : "order"), h, local, &n);
		if (!order)
			return reject(why, "the report shows no order (make it with --witness)");
		enum verify_answer v = VERIFY_REJECTED;
		if (weak)
			v = n == p->n ? verify_reads_from(p, order, cond == COND_SAFE, why)
			              : reject(why, "the report is not about every operation");
		else if (cond == COND_SEQUENTIAL)
			v = verify_order_sequential(p, order, n, why);
		else
			v = verify_order(p, order, n, why);
		free(order);
		return v;
	}
	if (!verdict || strcmp(verdict, "violated"))
		return reject(why, "the report claims nothing about a part");
	int proof = name_index(proof_names, json_object_get(j, "proof"));
	const json_t *c = json_object_get(j, "culprit");
	json_int_t cv = json_integer_value(c);
	uint32_t culprit = json_is_integer(c) && cv >= 0 && cv < h->n ? local[cv] : RANK_INF;
	uint32_t *ops = numbers(json_object_get(j, "conflict"), h, local, &nops);
	if (proof < 0 || !ops) {
		free(ops);
		return reject(why, "the report shows no proof");
	}
	enum verify_answer v;
	if (weak)
		v = verify_read_impossible(p, culprit, cond == COND_SAFE, why);
	else if (cond == COND_SEQUENTIAL)
		v = verify_no_sequential(p, BUDGET, why);
	else
		v = verify_violation(p, (enum proof)proof, ops, nops, culprit, BUDGET, why); /* certain with it, exact or not */
	if (v == VERIFY_ACCEPTED)
		v = check_explanation(h, in, j, p, cond, local, proof, ops, nops, why);
	free(ops);
	return v;
}

/* The key, or the element, that a part is about. */
static bool belongs(const struct history *h, const struct hop *op, const json_t *part, struct values *vs)
{
	assert(!h->keys.len || op->key < h->keys.len);
	const json_t *key = json_object_get(part, "key"), *element = json_object_get(part, "element");
	if (element)
		return op->a == value_of(vs, element, 0);
	if (!key)
		return true;
	struct buf a, b;
	buf_init(&a);
	buf_init(&b);
	val_json(&h->vals, h->keys.data[op->key], &a);
	val_json(vs, value_of(vs, key, 0), &b);
	bool same = !strcmp(buf_cstr(&a), buf_cstr(&b));
	buf_free(&a);
	buf_free(&b);
	return same;
}

/* Gathers the operations of a part, with dense ranks, and checks it. */
static enum verify_answer one_part(struct history *h, const struct interpretation *in, const json_t *part, enum condition cond,
                                   uint32_t k, unsigned char *covered, struct why *why)
{
	struct hop *ops = calloc(h->n + 1ull, sizeof *ops);
	uint32_t *local = malloc((h->n + 1ull) * sizeof *local), n = 0;
	enum verify_answer v = VERIFY_UNDECIDED;
	if (ops && local) {
		for (uint32_t i = 0; i < h->n; i++) {
			local[i] = RANK_INF;
			if (!belongs(h, &h->ops[i], part, &h->vals))
				continue;
			covered[i] = 1;
			local[i] = n;
			ops[n++] = h->ops[i];
		}
		struct problem p = { .ops = ops,
			             .n = n,
			             .nevents = h->nevents,
			             .obj = in->object,
			             .init = in->init,
			             .k = k,
			             .vals = &h->vals,
			             .lim = h->lim,
			             .user = h->user };
		bool text = false; /* without appends a map is a register for each key */
		PARANOID(problem_valid(&p));
		for (uint32_t i = 0; i < n; i++)
			text |= ops[i].fn == FN_APPEND;
		if (p.obj == OBJ_KV && !text && cond != COND_SEQUENTIAL)
			p.obj = OBJ_CAS_REGISTER;
		if (k > 1)
			p.obj = OBJ_REGISTER;
		v = check_part(h, in, part, &p, cond, local, why);
		assert(v <= VERIFY_UNDECIDED && n <= h->n);
	}
	free(ops);
	free(local);
	return v;
}

/* --k=min found none: as many as there are writes are no help then. */
static uint32_t any_k(const struct history *h, const json_t *part)
{
	const char *proof = json_string_value(json_object_get(part, "proof"));
	uint32_t k = 1;
	for (uint32_t i = 0; i < h->n && proof && !strcmp(proof, "exhausted"); i++)
		k += h->ops[i].fn == FN_WRITE;
	return k;
}

enum verify_answer verify_history_json(struct history *h, const char *text, size_t len, struct why *why)
{
	assert(h && text && why);
	json_error_t err;
	json_t *root = json_loadb(text, len, 0, &err);
	const json_t *results = json_object_get(root, "results");
	const json_t *j = json_array_size(results) == 1 ? json_array_get(results, 0) : NULL;
	const json_t *parts = json_object_get(j, "parts");
	int obj = name_index(object_names, json_object_get(j, "object"));
	int cond = name_index(condition_names, json_object_get(j, "condition"));
	if (h->user) /* the report names the specification's object */
		obj = json_is_string(json_object_get(j, "object")) &&
		                      !strcmp(json_string_value(json_object_get(j, "object")), history_object(h, OBJ_USER))
		              ? OBJ_USER
		              : -1;
	json_int_t k = json_integer_value(json_object_get(j, "k"));
	struct interpretation in = { .object = obj > 0 ? (enum object)obj : OBJ_GUESS };
	enum verify_answer v = VERIFY_ACCEPTED;
	struct arena a;
	arena_init(&a, 0);
	struct diags d;
	diags_init(&d, &a);
	in.init = value_of(&h->vals, json_object_get(j, "init"), 0);
	in.nil_reads = json_object_get(j, "nil_reads") ? 2 : 1;
	in.pairs = json_object_get(j, "pairs") ? 1 : 2;
	in.failed_cas = json_object_get(j, "failed_cas") != NULL;
	unsigned char *covered = NULL;
	if (obj <= 0 || cond < 0 || k < 0 || !json_array_size(parts))
		v = reject(why, !root                          ? "the report is not JSON"
		                : json_array_size(results) > 1 ? "the report is about several histories"
		                                               : "this is not a report of intact history");
	else if (!history_interpret(h, &in, &d) || json_integer_value(json_object_get(j, "operations")) != h->n)
		v = reject(why, "the report is about another history");
	else if (!(covered = calloc(h->n + 1ull, 1)))
		v = VERIFY_UNDECIDED;
	/* one violated part is enough for "violated"; "holds" needs every part */
	const char *whole = json_string_value(json_object_get(j, "verdict"));
	bool holds = whole && !strcmp(whole, "holds"), violated = whole && !strcmp(whole, "violated");
	if (!violated && (json_object_get(j, "shard") || json_object_get(j, "missing"))) {
		why_set(why, "it is about a part of the history only: 'intact merge' joins the results of all shards");
		v = VERIFY_UNDECIDED;
	}
	if (v == VERIFY_ACCEPTED && ((!holds && !violated) || (holds && !k)))
		v = reject(why, "the report claims nothing");
	uint32_t bad = 0;
	for (size_t i = 0; i < json_array_size(parts) && v == VERIFY_ACCEPTED; i++) {
		const json_t *part = json_array_get(parts, i);
		const char *pv = json_string_value(json_object_get(part, "verdict"));
		bool is_bad = pv && !strcmp(pv, "violated");
		if (holds && is_bad)
			v = reject(why, "the report contradicts itself");
		if (v != VERIFY_ACCEPTED || (violated && !is_bad))
			continue;
		bad += is_bad;
		v = one_part(h, &in, part, (enum condition)cond, k ? (uint32_t)k : any_k(h, part), covered, why);
	}
	if (v == VERIFY_ACCEPTED && violated && !bad)
		v = reject(why, "the report names no violated part");
	for (uint32_t i = 0; v == VERIFY_ACCEPTED && holds && i < h->n; i++)
		if (!covered[i])
			v = reject(why, "the report is not about every operation");
	free(covered);
	json_decref(root);
	arena_free(&a);
	assert(v <= VERIFY_UNDECIDED);
	return v;
}
