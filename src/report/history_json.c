#include "report/history_json.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "ir/seqspec.h"
#include "report/doc.h"
#include "report/history_text.h"
#include "report/transactions_text.h"
#include "report/render.h"

static void operations(const char *key, const uint32_t *ops, uint32_t n, struct json_out *j)
{
	assert(!n || ops);
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++) {
		if (ops[i] == RANK_INF)
			json_nothing(j, NULL);
		else
			json_uint(j, NULL, ops[i]);
	}
	json_end(j);
}

static void violation(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                      const struct part *p, struct json_out *j)
{
	assert(p->r.proof <= PROOF_STALE && p->r.verdict == LIN_VIOLATED);
	const struct result *r = &p->r;
	struct buf text;
	json_text(j, "proof", proof_names[r->proof]);
	operations("conflict", r->ops, r->nops, j);
	if (r->culprit != RANK_INF) {
		json_uint(j, "culprit", r->culprit);
		json_uint(j, "line", h->ops[r->culprit].line);
		json_bool(j, "exact", !r->moment_open);
		json_uint(j, "prefix", p->ended);
	}
	if (r->culprit != RANK_INF && p->window_op != RANK_INF && !r->moment_open) {
		json_begin_array(j, "window");
		json_uint(j, NULL, h->ops[p->window_op].line);
		json_uint(j, NULL, h->ops[r->culprit].line);
		json_end(j);
	}
	if (r->nstates) {
		json_begin_array(j, "states");
		for (uint32_t i = 0; i < r->nstates; i++)
			json_text(j, NULL, r->states[i]);
		json_end(j);
		json_bool(j, "more_states", r->more_states);
	}
	history_facts(h, in, r, j);
	buf_init(&text);
	history_proof_text(h, in, o, p, &text);
	json_text_buf(j, "sentence", &text);
	buf_free(&text);
}

static void part(const struct history *h, const struct interpretation *in, const struct lin_check_options *o, const struct part *p,
                 bool witness, struct json_out *j)
{
	assert(p->r.verdict <= LIN_REFUSED);
	const struct result *r = &p->r;
	bool weak = o->condition == COND_REGULAR || o->condition == COND_SAFE;
	json_begin_object(j, NULL);
	json_text(j, "verdict", history_verdicts[r->verdict]);
	json_uint(j, "operations", p->n);
	json_text(j, "algorithm", algorithm_names[r->algorithm]);
	if (p->key != VAL_NONE)
		val_json(&h->vals, p->key, json_value(j, p->element ? "element" : "key"));
	json_text_if(j, "why", r->why);
	json_flag(j, "skipped", p->skipped);
	if (o->k_min)
		json_uint(j, "k", p->k);
	if (o->delta)
		json_int(j, "delta", p->delta);
	if (r->verdict == LIN_HOLDS && r->order && witness)
		operations(weak ? "saw" : "order", r->order, r->norder, j);
	if (r->verdict == LIN_VIOLATED) {
		struct arena a;
		arena_init(&a, 0);
		json_text_if(j, "label", history_part_label(h, p, &a));
		arena_free(&a);
		violation(h, in, o, p, j);
	}
	json_end(j);
}

/* What it was checked as. */
static void question(const struct history *h, const struct interpretation *in, struct json_out *j)
{
	struct buf init;
	json_text(j, "object", history_object(h, in->object));
	val_json(&h->vals, in->init, json_value(j, "init"));
	buf_init(&init);
	val_print(&h->vals, in->init, &init);
	json_text_buf(j, "init_text", &init);
	buf_free(&init);
	json_text_if(j, "spec", h->user ? h->user->path : NULL);
	json_begin_array(j, "guessed");
	if (in->object_guessed)
		json_text(j, NULL, "object");
	if (in->init_guessed)
		json_text(j, NULL, "init");
	json_end(j);
}

/* ---- a shard ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 0x100000001B3u;
	return hash;
}

/* Of the operations as they were understood, values in full. */
static uint64_t history_hash(const struct history *h)
{
	uint64_t hash = 0xCBF29CE484222325u;
	struct buf b;
	buf_init(&b);
	for (uint32_t i = 0; i < h->n; i++) {
		const struct hop *o = &h->ops[i];
		const uint32_t numbers[] = { o->proc, o->key, o->fn, o->call, o->ret, o->res, o->line };
		hash = mix(hash, numbers, sizeof numbers);
		buf_clear(&b);
		if (o->a != VAL_NONE)
			val_print_whole(&h->vals, o->a, &b);
		buf_char(&b, 0);
		if (o->b != VAL_NONE)
			val_print_whole(&h->vals, o->b, &b);
		hash = mix(hash, b.data, b.len);
	}
	buf_free(&b);
	return hash;
}

/* Which part of the history it is, and what the others must agree on (`intact merge`). */
static void shard(const struct history *h, const struct lin_check_options *o, const struct check *c, bool witness,
                  struct json_out *j)
{
	char hash[17];
	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)history_hash(h));
	json_uint(j, "shard", o->shard + 1);
	json_uint(j, "shards", o->shards);
	json_uint(j, "all_parts", c->all_parts);
	json_text(j, "hash", hash);
	json_begin_object(j, "asked");
	json_text(j, "algorithm", algorithm_names[o->algorithm]);
	json_bool(j, "witness", witness);
	json_end(j);
}

void history_json(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
                  const struct check *c, bool witness, history_order *before, struct buf *out)
{
	struct json_out w, *j = &w;
	json_out_init(j, out, true);
	json_begin_object(j, NULL);
	json_text(j, "file", h->name);
	json_text(j, "format", h->format);
	if (o->shards)
		shard(h, o, c, witness, j);
	question(h, in, j);
	json_text_if(j, "nil_reads", in->nil_any ? "ignored" : NULL);
	json_flag(j, "pairs", in->paired);
	json_text_if(j, "failed_cas", in->failed_cas ? "unequal" : NULL);
	json_text(j, "condition", condition_names[o->condition]);
	json_uint(j, "k", o->k_min ? c->k : o->k);
	json_flag(j, "least_k", o->k_min);
	json_uint(j, "operations", h->n);
	json_uint(j, "processes", h->procs.len);
	json_uint(j, "pending", h->npending);
	json_uint(j, "failed", h->nfailed);
	json_text(j, "verdict", history_verdicts[c->verdict]);
	json_text_if(j, "limit", c->verdict == LIN_UNKNOWN ? history_limit(h->lim) : NULL);
	if (o->delta)
		json_int(j, "delta", c->delta);
	json_begin_array(j, "parts");
	for (uint32_t i = 0; i < c->nparts; i++)
		part(h, in, o, &c->parts[i], witness, j);
	json_end(j);
	json_line(j, 0);
	history_log(h, in, o, c, before, j);
	json_end(j);
}

void history_followed_json(const char *file, const struct history *h, const struct interpretation *in,
                           const struct history_followed *f, struct buf *out)
{
	struct json_out w, *j = &w;
	json_out_init(j, out, true);
	json_begin_object(j, NULL);
	json_text(j, "file", file);
	json_bool(j, "follow", true);
	question(h, in, j);
	json_text(j, "verdict", history_verdicts[f->verdict]);
	json_uint(j, "operations", f->operations);
	json_uint(j, "completed", f->completed);
	json_uint(j, "line", f->line);
	json_uint(j, "configurations", f->configurations);
	json_uint(j, "overlap", f->open);
	json_text_if(j, "culprit", f->culprit);
	json_text_if(j, "sentence", f->sentence);
	json_text_if(j, "limit", f->verdict == LIN_UNKNOWN ? f->limit : NULL);
	json_end(j);
}

void history_spent_json(const char *file, const char *limit, uint32_t shard, uint32_t shards, struct buf *out)
{
	struct json_out j;
	json_out_init(&j, out, true);
	json_begin_object(&j, NULL);
	json_text(&j, "file", file);
	if (shards) {
		json_uint(&j, "shard", shard);
		json_uint(&j, "shards", shards);
	}
	json_text(&j, "verdict", "unknown");
	json_text(&j, "limit", limit);
	json_end(&j);
}

void history_spent_text(const char *file, const char *limit, struct buf *out)
{
	buf_safe(out, file, strlen(file));
	buf_str(out, ": UNKNOWN: the limit on ");
	buf_safe(out, limit, strlen(limit));
	buf_str(out, " was reached\n");
}

/* ---- back ---------------------------------------------------------------------- */

static const char *safe_text(struct arena *a, const json_t *o, const char *key)
{
	const char *s = doc_safe(a, o, key);
	return s ? s : "";
}

static uint32_t number(const json_t *o, const char *key)
{
	return (uint32_t)doc_number(o, key);
}

static bool guessed(const json_t *r, const char *what)
{
	const json_t *g;
	size_t i;
	json_array_foreach(json_object_get(r, "guessed"), i,
	                   g) if (json_is_string(g) && !strcmp(json_string_value(g), what)) return true;
	return false;
}

static enum lin_verdict verdict_of(const json_t *o)
{
	return doc_is(o, "verdict", "holds") ? LIN_HOLDS : doc_is(o, "verdict", "violated") ? LIN_VIOLATED : LIN_UNKNOWN;
}

static const json_t *fact(const json_t *part, json_int_t op)
{
	const json_t *f;
	size_t i;
	json_array_foreach(json_object_get(part, "facts"), i, f) if (doc_number(f, "operation") == op) return f;
	return NULL;
}

static void read_conflict(struct history_told_part *t, struct arena *a, const json_t *p)
{
	const json_t *conflict = json_object_get(p, "conflict"), *op;
	size_t i, k;
	json_array_foreach(conflict, i, op)
	{
		bool told = !json_is_integer(op);
		for (k = 0; k < i && i < HISTORY_CONFLICT_TOLD; k++)
			told |= json_equal(json_array_get(conflict, k), op);
		if (i < HISTORY_CONFLICT_TOLD && !told)
			t->conflict[t->nconflict++] = safe_text(a, fact(p, json_integer_value(op)), "told");
	}
	if (i > HISTORY_CONFLICT_TOLD)
		t->more_conflict = (uint32_t)i - HISTORY_CONFLICT_TOLD;
}

static void read_part(struct history_told_part *t, struct arena *a, const json_t *p, bool atomic)
{
	t->label = doc_safe(a, p, "label");
	t->sentence = safe_text(a, p, "sentence");
	if (!json_object_get(p, "culprit"))
		return;
	t->culprit = safe_text(a, fact(p, doc_number(p, "culprit")), "text");
	t->line = number(p, "line");
	t->open = json_is_false(json_object_get(p, "exact"));
	t->ended = number(p, "prefix");
	t->from = (uint32_t)json_integer_value(json_array_get(json_object_get(p, "window"), 0));
	if (atomic)
		read_conflict(t, a, p);
}

static void read_parts(struct history_told *t, struct arena *a, const json_t *parts)
{
	const json_t *p;
	size_t i;
	json_array_foreach(parts, i, p)
	{
		int alg = 0;
		while (alg < ALG_BRUTE && !doc_is(p, "algorithm", algorithm_names[alg]))
			alg++;
		t->parts++;
		t->algorithms[alg].parts++;
		t->algorithms[alg].why = json_string_value(json_object_get(p, "why"));
		t->undecided |= json_is_true(json_object_get(p, "skipped"));
		if (verdict_of(p) != LIN_VIOLATED)
			continue;
		if (t->violated < HISTORY_PARTS_TOLD)
			read_part(&t->shown[t->violated], a, p, !strcmp(t->condition, condition_names[COND_ATOMIC]));
		t->violated++;
	}
	for (int alg = 0; alg <= ALG_BRUTE; alg++)
		if (t->algorithms[alg].why) {
			struct buf b;
			buf_init(&b);
			buf_safe(&b, t->algorithms[alg].why, strlen(t->algorithms[alg].why));
			t->algorithms[alg].why = arena_strdup(a, buf_cstr(&b));
			buf_free(&b);
		}
}

/* "2, 5"; NULL: none. */
static const char *shard_list(struct arena *a, const json_t *list)
{
	const char *text = NULL;
	const json_t *k;
	size_t i;
	json_array_foreach(list, i, k)
		text = arena_printf(a, "%s%s%lld", text ? text : "", text ? ", " : "", (long long)json_integer_value(k));
	return text;
}

static void judged_text(const json_t *r, struct arena *a, bool color, struct buf *out)
{
	struct history_told t = { .file = doc_text(r, "file"),
		                  .format = safe_text(a, r, "format"),
		                  .object = safe_text(a, r, "object"),
		                  .init = safe_text(a, r, "init_text"),
		                  .spec = json_string_value(json_object_get(r, "spec")),
		                  .operations = number(r, "operations"),
		                  .processes = number(r, "processes"),
		                  .pending = number(r, "pending"),
		                  .failed = number(r, "failed"),
		                  .keys = (uint32_t)json_array_size(json_object_get(json_object_get(r, "log"), "keys")),
		                  .object_guessed = guessed(r, "object"),
		                  .init_guessed = guessed(r, "init"),
		                  .paired = json_is_true(json_object_get(r, "pairs")),
		                  .nil_any = json_object_get(r, "nil_reads") != NULL,
		                  .verdict = verdict_of(r),
		                  .condition = safe_text(a, r, "condition"),
		                  .limit = safe_text(a, r, "limit"),
		                  .k = number(r, "k"),
		                  .least_k = json_is_true(json_object_get(r, "least_k")),
		                  .shard = number(r, "shard"),
		                  .shards = number(r, "shards"),
		                  .all_parts = number(r, "all_parts"),
		                  .missing = shard_list(a, json_object_get(r, "missing")),
		                  .has_delta = json_object_get(r, "delta") != NULL,
		                  .delta = doc_number(r, "delta") };
	read_parts(&t, a, json_object_get(r, "parts"));
	history_text(&t, color, out);
}

static void followed_text(const json_t *r, struct arena *a, struct buf *out)
{
	struct history_followed f = { .object = safe_text(a, r, "object"),
		                      .init = json_object_get(r, "spec") ? NULL : safe_text(a, r, "init_text"),
		                      .object_guessed = guessed(r, "object"),
		                      .init_guessed = guessed(r, "init"),
		                      .verdict = verdict_of(r),
		                      .culprit = safe_text(a, r, "culprit"),
		                      .sentence = doc_safe(a, r, "sentence"),
		                      .limit = safe_text(a, r, "limit"),
		                      .line = number(r, "line"),
		                      .open = number(r, "overlap"),
		                      .configurations = number(r, "configurations"),
		                      .operations = (uint64_t)doc_number(r, "operations"),
		                      .completed = (uint64_t)doc_number(r, "completed") };
	history_followed_text(&f, out);
}

void history_result_text(const json_t *result, bool color, struct buf *out)
{
	struct arena a;
	arena_init(&a, 0);
	if (json_object_get(result, "levels"))
		transactions_text(result, color, out);
	else if (json_is_true(json_object_get(result, "follow")))
		followed_text(result, &a, out);
	else if (json_object_get(result, "parts"))
		judged_text(result, &a, color, out);
	else
		history_spent_text(doc_text(result, "file"), doc_text(result, "limit"), out);
	arena_free(&a);
}
