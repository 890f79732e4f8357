#include "judge/object_history.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/invariant.h"
#include "base/json_out.h"
#include "history/history.h"
#include "history/judged.h"
#include "history/object.h"

/* The order that `intact history` found, of one key or several. A line of the history is an event. */
void object_keep_order(void *arg, const struct history *h, const struct check *c)
{
	struct object_judge *j = arg;
	const struct objtest_history *of = j->at_hand;
	uint64_t after[OBJTEST_CALLS] = { 0 }, begun = 0, all = 0;
	assert(j->named && of);
	j->ordered = 0;
	if (c->verdict != LIN_HOLDS || j->args.condition != COND_ATOMIC)
		return;
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct result *r = &c->parts[i].r;
		uint64_t set = 0;
		for (uint32_t k = 0; k < r->norder; k++) {
			uint32_t line = r->order[k] < h->n ? h->ops[r->order[k]].line : 0;
			if (!line || line > of->nevents)
				return;
			uint32_t call = of->event[line - 1] / 2;
			after[call] |= set;
			set |= 1ull << call;
		}
		all |= set;
	}
	/* merged, with the order in time */
	uint64_t ended = 0;
	for (uint32_t i = 0; i < of->nevents; i++) {
		uint32_t call = of->event[i] / 2;
		if (of->event[i] & 1)
			ended |= 1ull << call;
		else
			after[call] |= ended;
	}
	while (begun != all) {
		uint32_t call = 0;
		while (call < OBJTEST_CALLS && (!(all >> call & 1) || begun >> call & 1 || after[call] & all & ~begun))
			call++;
		if (call == OBJTEST_CALLS)
			return;
		j->before[call] = begun;
		begun |= 1ull << call;
	}
	j->ordered = all;
}

/* Of an operation of a built-in object; OP_METHOD: of a specification in a file. */
static enum op_shape shape_of(const struct object_judge *j, const struct objtest_op *op)
{
	if (j->args.spec)
		return OP_METHOD;
	uint32_t fn = fn_by_name(op->as, strlen(op->as));
	const struct object_operation *o = object_operation((enum object)j->args.object, fn);
	return o ? o->shape : fn_shape(fn);
}

static bool is_boolean(const struct object_judge *j, const struct objtest_op *op)
{
	enum op_shape shape = shape_of(j, op);
	return op->flags & OBJTEST_BOOLEAN || shape == OP_CAS || shape == OP_CHANGES || shape == OP_ASKS || shape == OP_TRIES ||
	       shape == OP_OFFERS;
}

static void value_write(const struct object_judge *j, const struct objtest_op *op, int64_t v, struct buf *b)
{
	if (v == OBJTEST_RESULT_VOID || v == OBJTEST_RESULT_EMPTY)
		buf_str(b, "null");
	else if (is_boolean(j, op))
		buf_str(b, v ? "true" : "false");
	else
		buf_printf(b, "%" PRId64, v);
}

static void event_write(const struct object_judge *j, const struct objtest_call *c, bool returned, int64_t result, struct buf *b)
{
	const struct objtest_op *op = &j->about->op[c->op];
	bool keyed = !j->args.spec && j->args.object == OBJ_KV;
	uint32_t n = 0, from = keyed;
	while (n < OBJTEST_ARGS && op->arg[n].kind)
		n++;
	bool answers_full = result == OBJTEST_RESULT_FULL && shape_of(j, op) == OP_OFFERS;
	bool full = returned && result == OBJTEST_RESULT_FULL && !answers_full;
	struct json_out w, *o = &w;
	json_out_init(o, b, false);
	json_begin_object(o, NULL);
	json_uint(o, "process", c->thread);
	json_text(o, "type", !returned ? "invoke" : full ? "fail" : "ok");
	json_text(o, "f", op->as);
	if (keyed)
		json_int(o, "key", c->arg[0]);
	if (returned && answers_full) {
		json_bool(o, "value", false);
	} else if (returned && !full) {
		value_write(j, op, result, json_value(o, "value"));
	} else if (n <= from) {
		buf_str(json_value(o, "value"), "null");
	} else if (n == from + 1) {
		json_int(o, "value", c->arg[from]);
	} else {
		json_begin_array(o, "value");
		for (uint32_t k = from; k < n; k++)
			json_int(o, NULL, c->arg[k]);
		json_end(o);
	}
	json_end(o);
	buf_char(b, '\n');
}

static val value_made(const struct object_judge *j, const struct objtest_op *op, int64_t v, struct values *vs)
{
	if (v == OBJTEST_RESULT_VOID || v == OBJTEST_RESULT_EMPTY)
		return VAL_NIL;
	return is_boolean(j, op) ? val_bool(v != 0) : val_int(vs, v);
}

static val arguments_made(const struct objtest_op *op, const struct objtest_call *c, uint32_t from, struct values *vs)
{
	val v[OBJTEST_ARGS];
	uint32_t n = 0;
	assert(from <= 1);
	while (from + n < OBJTEST_ARGS && op->arg[from + n].kind) {
		v[n] = val_int(vs, c->arg[from + n]);
		n++;
	}
	return n == 0 ? VAL_NIL : n == 1 ? v[0] : val_list(vs, VK_LIST, v, n);
}

/* The history at hand without a text in between, which took ten times as long: what the lines of event_write are read as. False: an operation is
 * unknown, and a message is wanted. */
static bool history_made(void *arg, struct history *h)
{
	struct object_judge *j = arg;
	bool keyed = !j->args.spec && j->args.object == OBJ_KV;
	uint32_t at[OBJTEST_CALLS];
	for (uint32_t i = 0; i < j->at_hand->nevents; i++) {
		uint32_t call = j->at_hand->event[i] / 2;
		const struct objtest_call *c = &j->scenario.call[call];
		const struct objtest_op *op = &j->about->op[c->op];
		int64_t result = j->at_hand->result[call];
		if (!(j->at_hand->event[i] & 1)) {
			uint32_t fn = history_fn(h, op->as, strlen(op->as));
			struct hop *o = fn == FN_NONE ? NULL : history_push(h);
			if (!o)
				return false;
			at[call] = h->n - 1;
			*o = (struct hop){ .call = h->nevents++, .ret = RANK_INF, .b = VAL_NONE, .line = i + 1, .fn = (uint8_t)fn };
			o->a = arguments_made(op, c, keyed, &h->vals);
			o->proc = proc_intern(h, val_int(&h->vals, c->thread));
			o->key = keyed ? key_intern(h, val_int(&h->vals, c->arg[0])) : 0;
			continue;
		}
		assert(at[call] < h->n);
		struct hop *o = &h->ops[at[call]];
		bool full = result == OBJTEST_RESULT_FULL, answers = full && shape_of(j, op) == OP_OFFERS;
		o->ret = h->nevents++;
		o->flags = full && !answers ? HF_FAILED : 0;
		o->b = answers ? VAL_FALSE : full ? arguments_made(op, c, keyed, &h->vals) : value_made(j, op, result, &h->vals);
	}
	h->format = "calls";
	return true;
}

/* "pop -> 1 by process 1 (line 3)": the lines are of a text that is not shown. */
static void sentence_write(const char *s, struct buf *out)
{
	while (*s) {
		if (!strncmp(s, " (line ", 7) && strchr(s, ')')) {
			s = strchr(s, ')') + 1;
		} else if (!strncmp(s, "process ", 8) && s[8] >= '0' && s[8] <= '9') {
			s += 8;
			buf_str(out, *s == '0' ? "main" : "T");
			s += *s == '0';
		} else {
			buf_char(out, *s++);
		}
	}
}

static void reason_of_results(struct object_judge *j)
{
	json_t *doc = json_loadb(buf_cstr(&j->results), j->results.len, JSON_DECODE_ANY, NULL), *part;
	size_t i;
	json_array_foreach(json_object_get(doc, "parts"), i, part)
	{
		const char *s = json_string_value(json_object_get(part, "sentence"));
		if (s && !j->reason.len)
			sentence_write(s, &j->reason);
	}
	json_decref(doc);
	if (!j->reason.len)
		buf_str(&j->reason, "no order of the calls gives these results");
}

enum seq_verdict object_ask_history(struct object_judge *j, const struct objtest_scenario *sc, const struct objtest_history *h)
{
	struct buf text;
	bool any = false;
	assert(j->named && j->at_hand == h && h->nevents <= 2 * sc->ncalls);
	for (uint32_t i = 0; i < sc->ncalls; i++)
		any |= h->state[i] == OBJTEST_RETURNED &&
		       (h->result[i] != OBJTEST_RESULT_FULL || shape_of(j, &j->about->op[sc->call[i].op]) == OP_OFFERS);
	if (!any)
		return SEQ_EXPLAINED; /* nothing has happened */
	buf_clear(&j->results);
	buf_clear(&j->spoilt);
	int rc = history_judge_made(j->run, "history", history_made, j);
	if (rc == EXIT_USAGE) { /* what is wrong with it is said of a text */
		buf_init(&text);
		for (uint32_t i = 0; i < h->nevents; i++) {
			uint32_t c = h->event[i] / 2;
			event_write(j, &sc->call[c], h->event[i] & 1, h->result[c], &text);
		}
		buf_clear(&j->spoilt);
		rc = history_judge_text(j->run, "history", buf_cstr(&text), text.len);
		buf_free(&text);
	}
	if (rc == EXIT_HOLDS)
		return SEQ_EXPLAINED;
	if (rc == EXIT_VIOLATED) {
		reason_of_results(j);
		return SEQ_NOT_EXPLAINED;
	}
	if (rc == EXIT_USAGE && !j->error.len)
		buf_add(&j->error, j->spoilt.data, j->spoilt.len);
	return SEQ_UNKNOWN;
}
