/*
 * write: a history in another format, for `intact history convert`. Writes
 * the raw operations (before they are understood), so that nothing is lost
 * but comments and fields we do not know.
 */
#include <string.h>

#include "base/invariant.h"
#include "base/json_out.h"
#include "ir/seqspec.h"
#include "history/read.h"

static const char *raw_name(const struct history *h, const struct hop *op)
{
	assert(!h->user || op->fn < FN_COUNT || (uint32_t)(op->fn - FN_COUNT) < h->user->nmethods);
	return h->user && op->fn >= FN_COUNT ? h->user->methods[op->fn - FN_COUNT].name : fn_name(op->fn, OBJ_GUESS);
}

enum phase { INVOKED, ANSWERED, CRASHED };

static const char *type_of(const struct hop *op, enum phase ph)
{
	return ph == INVOKED ? "invoke" : ph == CRASHED ? "info" : op->flags & HF_FAILED ? "fail" : "ok";
}

static void edn_event(const struct history *h, const struct hop *op, const char *type, val v, const int64_t *time, struct buf *b)
{
	assert(op->proc < h->procs.len && (!h->keys.len || op->key < h->keys.len));
	buf_str(b, "{:process ");
	val_edn(&h->vals, h->procs.data[op->proc], b);
	buf_printf(b, ", :type :%s, :f :%s", type, raw_name(h, op));
	if (h->keys.len) {
		buf_str(b, ", :key ");
		val_edn(&h->vals, h->keys.data[op->key], b);
	}
	buf_str(b, ", :value ");
	val_edn(&h->vals, v, b);
	if (time)
		buf_printf(b, ", :time %lld", (long long)*time);
	buf_char(b, '}');
}

static void json_event(const struct history *h, const struct hop *op, const char *type, val v, const int64_t *time, struct buf *b)
{
	assert(op->proc < h->procs.len && (!h->keys.len || op->key < h->keys.len));
	struct json_out j;
	json_out_init(&j, b, true);
	json_begin_object(&j, NULL);
	val_json(&h->vals, h->procs.data[op->proc], json_value(&j, "process"));
	json_text(&j, "type", type);
	json_text(&j, "f", raw_name(h, op));
	if (h->keys.len)
		val_json(&h->vals, h->keys.data[op->key], json_value(&j, "key"));
	val_json(&h->vals, v, json_value(&j, "value"));
	if (time)
		json_int(&j, "time", *time);
	json_end(&j);
}

static void event(const struct history *h, const struct hop *op, enum phase ph, bool edn, struct buf *b)
{
	assert(op >= h->ops && op < h->ops + h->n);
	bool ret = ph == ANSWERED;
	val v = ret ? op->b : op->a;
	const int64_t *time = !h->timed ? NULL : &(ret ? h->tret : h->tcall)[op - h->ops];
	(edn ? edn_event : json_event)(h, op, type_of(op, ph), v == VAL_NONE ? VAL_NIL : v, time, b);
	buf_char(b, '\n');
}

/* A text that a cell may hold as it is: nothing else is written like it. */
static bool plain_text(const struct history *h, val v)
{
	static const char *const words[] = { "nil", "null", "true", "false", "inf" };
	if (val_kind(&h->vals, v) != VK_STR)
		return false;
	const char *s = h->vals.tab.data[v].text;
	size_t n = h->vals.tab.data[v].len;
	for (size_t i = 0; i < n; i++) {
		bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_';
		bool digit = s[i] >= '0' && s[i] <= '9';
		if (!letter && !(i && (digit || s[i] == '.' || s[i] == '-' || (s[i] == ' ' && i + 1 < n))))
			return false;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (n == strlen(words[i]) && !memcmp(s, words[i], n))
			return false;
	return n > 0;
}

/* A value as a CSV cell: plain text as it is, everything else as EDN, within
 * quotes (and its own doubled) when it has separators or quotes in it. */
static void cell(const struct history *h, val v, struct buf *b)
{
	if (v == VAL_NONE)
		return;
	if (plain_text(h, v)) {
		buf_add(b, h->vals.tab.data[v].text, h->vals.tab.data[v].len);
		return;
	}
	struct buf t;
	buf_init(&t);
	val_edn(&h->vals, v, &t);
	const char *s = buf_cstr(&t);
	bool quote = strpbrk(s, ",;\"\t") != NULL;
	buf_str(b, quote ? "\"" : "");
	for (; *s; s++) {
		if (*s == '"')
			buf_char(b, '"');
		buf_char(b, *s);
	}
	buf_str(b, quote ? "\"" : "");
	buf_free(&t);
}

static void csv_row(const struct history *h, const struct hop *op, struct buf *b)
{
	assert(op >= h->ops && op < h->ops + h->n);
	uint32_t i = (uint32_t)(op - h->ops);
	long long call = h->timed ? h->tcall[i] : op->call;
	cell(h, h->procs.data[op->proc], b);
	buf_printf(b, ",%s,", raw_name(h, op));
	if (h->keys.len) {
		cell(h, h->keys.data[op->key], b);
		buf_char(b, ',');
	}
	cell(h, op->a == VAL_NIL && op->fn != FN_WRITE ? VAL_NONE : op->a, b);
	buf_char(b, ',');
	enum op_shape shape = history_shape(h, op->fn);
	bool says = shape_sees(shape) || shape == OP_METHOD || op->b == VAL_TRUE || op->b == VAL_FALSE;
	cell(h, op->ret == RANK_INF || !says ? VAL_NONE : op->b, b);
	buf_printf(b, ",%s,%lld,", op->ret == RANK_INF ? "info" : op->flags & HF_FAILED ? "fail" : "ok", call);
	if (op->ret != RANK_INF)
		buf_printf(b, "%lld", (long long)(h->timed ? h->tret[i] : op->ret));
	buf_char(b, '\n');
}

/* Logs have no place for keys, which go into the values as [key value], nor
 * for names of processes, which get numbers. */
static void log_line(const struct history *h, const struct hop *op, enum phase ph, bool named, struct buf *b)
{
	assert(op->proc < h->procs.len);
	val v = ph == ANSWERED ? op->b : op->a;
	buf_str(b, "INFO  jepsen.util - ");
	if (named)
		buf_printf(b, "%u", op->proc);
	else
		val_edn(&h->vals, h->procs.data[op->proc], b);
	buf_printf(b, "\t:%s\t:%s\t", type_of(op, ph), raw_name(h, op));
	if (h->keys.len) {
		buf_char(b, '[');
		val_edn(&h->vals, h->keys.data[op->key], b);
		buf_char(b, ' ');
	}
	val_edn(&h->vals, v == VAL_NONE ? VAL_NIL : v, b);
	buf_str(b, h->keys.len ? "]\n" : "\n");
}

static bool any_named(const struct history *h)
{
	for (uint32_t i = 0; i < h->procs.len; i++)
		if (val_kind(&h->vals, h->procs.data[i]) != VK_INT)
			return true;
	return false;
}

void history_write(const struct history *h, enum format f, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg)
{
	assert(f > FORMAT_GUESS && f <= FORMAT_TXN_CSV);
	if (f == FORMAT_CSV) {
		buf_str(out, h->keys.len ? "client,op,key,value,result,status,call,return\n"
		                         : "client,op,value,result,status,call,return\n");
		for (uint32_t i = 0; i < h->n; i++) {
			csv_row(h, &h->ops[i], out);
			if (out->len > (1 << 20) && !flush(arg, out))
				return;
		}
		return;
	}
	bool named = any_named(h);
	/* events in order: calls ascend, responses are looked up by rank */
	uint32_t *at = lim_realloc(h->lim, NULL, 0, h->nevents * 4ull + 4);
	if (!at)
		return;
	memset(at, 0xFF, h->nevents * 4ull + 4);
	for (uint32_t i = 0; i < h->n; i++) {
		at[h->ops[i].call] = i * 2;
		if (h->ops[i].ret != RANK_INF)
			at[h->ops[i].ret] = i * 2 + 1;
	}
	for (uint32_t t = 0; t < h->nevents; t++) {
		if (at[t] == RANK_INF)
			continue;
		const struct hop *op = &h->ops[at[t] / 2];
		/* one that never answered is given up at once: that says the same */
		int last = !(at[t] & 1) && op->ret == RANK_INF ? CRASHED : at[t] & 1 ? ANSWERED : INVOKED;
		for (int ph = at[t] & 1 ? ANSWERED : INVOKED; ph <= last; ph += last == CRASHED ? 2 : 1) {
			if (f == FORMAT_LOG)
				log_line(h, op, (enum phase)ph, named, out);
			else
				event(h, op, (enum phase)ph, f == FORMAT_EDN, out);
		}
		if (out->len > (1 << 20) && !flush(arg, out))
			break;
	}
	lim_free(h->lim, at, h->nevents * 4ull + 4);
}
