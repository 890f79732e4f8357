/*
 * interpret: from names and raw values to calls on an object.
 *
 * The names of operations decide which object is meant unless the user says;
 * what was guessed is kept for the report, because a different object or
 * initial value is a different question. Each operation is then normalised:
 * synonyms become one function code, [key value] pairs are split, results
 * move to `b` or `res`, and operations that constrain nothing are dropped.
 */
#include <string.h>

#include "base/invariant.h"
#include "history/user.h"

uint32_t history_fn(const struct history *h, const char *s, size_t len)
{
	return h->user ? user_fn(h->user, s, len) : (uint32_t)fn_by_name(s, len);
}

const char *history_object(const struct history *h, enum object o)
{
	assert(h->user || o < OBJ_COUNT);
	return h->user ? h->user->name : object_names[o];
}

val object_default_init(enum object o, struct values *vs)
{
	switch (object_type(o)->init) {
	case INIT_NUMBER:
		return val_int(vs, 0);
	case INIT_COUNT:
		return val_int(vs, object_type(o)->start);
	case INIT_HELD:
		return VAL_FALSE;
	case INIT_SET:
		return val_list(vs, VK_SET, NULL, 0);
	case INIT_LIST:
		return val_list(vs, VK_LIST, NULL, 0);
	default:
		return VAL_NIL;
	}
}

/* ---- guesses ------------------------------------------------------------- */

static bool is_collection(const struct history *h, val v)
{
	if (v == VAL_NONE)
		return false;
	enum value_kind k = val_kind(&h->vals, v);
	return k == VK_LIST || k == VK_SET;
}

static bool guess_pairs(const struct history *h)
{
	bool read = false;
	for (uint32_t i = 0; i < h->n; i++) {
		const struct hop *op = &h->ops[i];
		uint32_t n;
		if (op->a == VAL_NONE)
			return false;
		const val *e = val_elems(&h->vals, op->a, &n);
		if (!e || n != 2)
			return false;
		if (op->fn == FN_READ) {
			if (e[1] != VAL_NIL)
				return false;
			read = true;
		}
	}
	return read;
}

enum object history_guess_object(const struct history *h, bool *paired)
{
	uint64_t have = 0;
	bool reads_list = false, reads_other = false;
	*paired = guess_pairs(h);
	for (uint32_t i = 0; i < h->n; i++) {
		const struct hop *op = &h->ops[i];
		assert(op->fn < 64); /* a bit for each function of the objects */
		have |= UINT64_C(1) << op->fn;
		if (op->fn != FN_READ || op->b == VAL_NONE || op->b == VAL_NIL)
			continue;
		uint32_t n;
		const val *e = val_elems(&h->vals, op->b, &n);
		bool list = *paired ? e && n == 2 && is_collection(h, e[1]) : is_collection(h, op->b);
		reads_list |= list;
		reads_other |= !list;
	}
#define HAS(f) (have >> (f)&1)
	if (h->declared != OBJ_GUESS)
		return h->declared;
	for (int o = OBJ_GUESS + 1; o < OBJ_USER; o++) /* an operation that it alone has */
		for (const struct object_operation *op = object_type((enum object)o)->ops; op->fn; op++)
			if (op->fn >= FN_COUNT && HAS(op->fn))
				return (enum object)o;
	if (HAS(FN_ACQUIRE) || HAS(FN_RELEASE))
		return OBJ_MUTEX;
	if (HAS(FN_CONTAINS))
		return OBJ_SET;
	if (HAS(FN_ENQ) || HAS(FN_DEQ))
		return OBJ_QUEUE;
	if (HAS(FN_PUSH) || HAS(FN_POP))
		return OBJ_STACK;
	if (HAS(FN_POLL))
		return OBJ_PQUEUE;
	if (HAS(FN_REMOVE) || HAS(FN_INSERT))
		return OBJ_SET;
	if (HAS(FN_APPEND))
		return reads_list || (!reads_other && !HAS(FN_WRITE)) ? OBJ_LIST : OBJ_KV;
	if (HAS(FN_CAS))
		return OBJ_CAS_REGISTER;
	if (HAS(FN_ADD) || HAS(FN_DEC))
		return reads_list ? OBJ_SET : OBJ_COUNTER;
	return OBJ_REGISTER;
#undef HAS
}

/* What a write wrote or a read that answered returned; VAL_NONE for others. */
static val told_value(const struct history *h, const struct hop *op, bool paired)
{
	assert(op->ret == RANK_INF || op->ret > op->call);
	val v = op->fn == FN_WRITE                                                     ? op->a
	        : op->fn == FN_READ && !(op->flags & HF_FAILED) && op->ret != RANK_INF ? op->b
	                                                                               : VAL_NONE;
	uint32_t n = 0;
	const val *e = paired && v != VAL_NONE ? val_elems(&h->vals, v, &n) : NULL;
	return e && n == 2 ? e[1] : paired ? VAL_NONE : v;
}

/* What a register holds at first: what a read saw before any write was
 * invoked; nil when some read saw nil; else 0 for numbers. */
static val guess_init(struct history *h, enum object o, bool paired)
{
	assert(o != OBJ_GUESS);
	bool numbers = true, text = object_has(o, OBJECT_APPENDS);
	uint32_t first_write = RANK_INF;
	val early = VAL_NONE, empty = val_text(&h->vals, VK_STR, "", 0);
	for (uint32_t i = 0; i < h->n; i++) {
		const struct hop *op = &h->ops[i];
		bool upd = op->fn == FN_WRITE || op->fn == FN_CAS || op->fn == FN_APPEND;
		if (upd && op->call < first_write)
			first_write = op->call;
		val v = told_value(h, op, paired);
		int64_t n;
		if (v != VAL_NONE) {
			if (op->fn == FN_READ && (v == VAL_NIL || v == empty))
				return v;
			numbers &= val_get_int(&h->vals, v, &n);
		}
		text &= op->fn != FN_WRITE || (v != VAL_NONE && val_kind(&h->vals, v) == VK_STR);
	}
	for (uint32_t i = 0; i < h->n && early == VAL_NONE; i++)
		if (h->ops[i].fn == FN_READ && h->ops[i].ret < first_write)
			early = told_value(h, &h->ops[i], paired);
	if (early != VAL_NONE)
		return early;
	if (text)
		return empty;
	return numbers ? val_int(&h->vals, 0) : VAL_NIL;
}

/* ---- one operation ------------------------------------------------------- */

static bool split_pair(struct history *h, struct hop *op, struct why *why)
{
	uint32_t n;
	const val *e = op->a == VAL_NONE ? NULL : val_elems(&h->vals, op->a, &n);
	if (!e || n != 2) {
		return why_set(why, "expected a [key value] pair (--pairs=no: values are not pairs)");
	}
	op->key = key_intern(h, e[0]);
	op->a = e[1];
	if (op->b == VAL_NONE)
		return true;
	e = val_elems(&h->vals, op->b, &n);
	if (e && n == 2)
		op->b = e[1];
	return true;
}

static int interpret_cas(struct history *h, const struct interpretation *in, struct hop *op, struct why *why)
{
	uint32_t n;
	const val *e = op->a == VAL_NONE ? NULL : val_elems(&h->vals, op->a, &n);
	if (!e || n != 2) {
		why_set(why, "cas needs two values, [from to]");
		return -1;
	}
	if (op->flags & HF_FAILED) {
		if (!in->failed_cas)
			return 0;
		op->res = RES_FALSE;
	} else if (op->ret != RANK_INF) {
		op->res = op->b == VAL_FALSE ? RES_FALSE : RES_TRUE;
	}
	op->a = e[0];
	assert(n == 2);
	op->b = e[1];
	return 1;
}

static int interpret_read(struct history *h, const struct interpretation *in, struct hop *op, struct why *why)
{
	if (op->ret == RANK_INF || op->b == VAL_NONE || (op->b == VAL_NIL && in->nil_any))
		return 0;
	int64_t x;
	enum object_init holds = object_type(in->object)->init;
	if ((holds == INIT_NUMBER || holds == INIT_COUNT) && !val_get_int(&h->vals, op->b, &x)) {
		if (op->b == VAL_NIL)
			return 0;
		why_set(why, "%s",
		        holds == INIT_NUMBER ? "a counter's read needs a whole number" : "the read needs a whole number");
		return -1;
	}
	if (holds == INIT_LIST || holds == INIT_SET) {
		enum value_kind k = holds == INIT_SET ? VK_SET : VK_LIST;
		uint32_t n = 0;
		const val *e = val_elems(&h->vals, op->b, &n);
		if (!e && op->b != VAL_NIL) {
			why_set(why, "the read needs a list of elements");
			return -1;
		}
		if (val_kind(&h->vals, op->b) != k)
			op->b = val_list(&h->vals, k, e, n);
	}
	return 1;
}

/* The change of a counter, by 1 unless it says. */
static int interpret_count(struct history *h, struct hop *op, bool less, struct why *why)
{
	int64_t x;
	if (op->a == VAL_NONE || op->a == VAL_NIL)
		op->a = val_int(&h->vals, 1);
	if (!val_get_int(&h->vals, op->a, &x) || x == INT64_MIN) {
		why_set(why, "a counter is changed by a whole number");
		return -1;
	}
	if (less)
		op->a = val_int(&h->vals, -x);
	op->b = VAL_NONE;
	return 1;
}

static int interpret_element(struct hop *op, bool asks, struct why *why)
{
	if (op->a == VAL_NONE || op->a == VAL_NIL) {
		why_set(why, "the element is missing");
		return -1;
	}
	if (op->ret != RANK_INF && (op->b == VAL_TRUE || op->b == VAL_FALSE))
		op->res = op->b == VAL_TRUE ? RES_TRUE : RES_FALSE;
	if (asks && op->res == RES_NONE) {
		bool none = op->ret == RANK_INF || op->b == VAL_NONE || op->b == VAL_NIL || op->b == op->a;
		why_set(why, "contains must return true, false or nothing");
		return none ? 0 : -1;
	}
	op->b = VAL_NONE;
	return 1;
}

int hop_interpret(struct history *h, const struct interpretation *in, struct hop *op, struct why *why)
{
	assert(in->object != OBJ_GUESS || h->user);
	if (in->paired && !split_pair(h, op, why))
		return -1;
	if (h->user)
		return user_interpret(h, op, why);
	const struct object_operation *t = object_operation(in->object, op->fn);
	if (!t) {
		why_set(why, "not an operation of this object");
		return -1;
	}
	bool less = op->fn == FN_DEC;
	op->fn = t->fn;
	if (t->shape == OP_CAS)
		return interpret_cas(h, in, op, why);
	if (op->flags & HF_FAILED)
		return 0;
	switch (t->shape) {
	case OP_READS:
		return interpret_read(h, in, op, why);
	case OP_PEEKS:
		return op->ret != RANK_INF && op->b != VAL_NONE;
	case OP_TAKES:
		if (op->ret == RANK_INF)
			op->b = VAL_NONE; /* it may have taken anything */
		else if (op->b == VAL_NONE)
			op->b = VAL_NIL;
		return 1;
	case OP_COUNTS:
		return interpret_count(h, op, less, why);
	case OP_OFFERS:
		if (op->ret != RANK_INF)
			op->res = op->b == VAL_FALSE && op->a != VAL_FALSE ? RES_FALSE : RES_TRUE;
		if (op->a == VAL_NONE) {
			why_set(why, "the value is missing");
			return -1;
		}
		op->b = VAL_NONE;
		return 1;
	case OP_CHANGES:
	case OP_ASKS:
		return interpret_element(op, t->shape == OP_ASKS, why);
	case OP_LOCKS:
		return op->ret == RANK_INF || op->b != VAL_FALSE;
	case OP_TRIES:
		if (op->ret == RANK_INF || (op->b != VAL_TRUE && op->b != VAL_FALSE))
			op->b = VAL_NONE;
		return 1;
	default:
		if (op->a == VAL_NONE) {
			why_set(why, "the value is missing");
			return -1;
		}
		op->b = VAL_NONE;
		return 1;
	}
}

/* ---- the whole history --------------------------------------------------- */

static bool wrong_op(struct history *h, const struct interpretation *in, const struct hop *op, const char *why, struct diags *d)
{
	assert(*why);
	struct buf b;
	buf_init(&b);
	hop_print(h, op, OBJ_GUESS, &b);
	diag_error(d, "bad-operation", op->line && h->show_line ? h->show_line(h, op->line) : NULL, (struct span){ 0, 0 },
	           "%s: %s (checked as %s%s%s)", buf_cstr(&b), why, h->user ? "" : "a ", history_object(h, in->object),
	           in->object_guessed ? ", a guess" : "");
	if (in->object_guessed)
		diag_hint(d, "--object=NAME sets the type of the object");
	buf_free(&b);
	return false;
}

#define BOUND_WANTED "the bound, a whole number from 1 to 1000000000, or a list of the bound and what is inside: [4 1 2]"

bool init_missing(const struct history *h, const struct interpretation *in, struct diags *d)
{
	if (h->user || object_type(in->object)->init != INIT_BOUND)
		return false;
	diag_error(d, "bad-init", NULL, (struct span){ 0, 0 }, "a %s needs an initial value", object_names[in->object]);
	diag_hint(d, "--init=N: %s", BOUND_WANTED);
	return true;
}

/* A list has the bound, too; a queue cannot begin with more than fits. */
static bool bound_holds(enum object o, int64_t bound, uint32_t len)
{
	return o != OBJ_BOUNDED_QUEUE || !len || len - 1 <= bound;
}

/* What --init may be for the object, or NULL when it is that. */
static const char *init_wanted(const struct values *vs, enum object o, val init)
{
	assert(init != VAL_NONE && o != OBJ_GUESS);
	enum value_kind k = val_kind(vs, init);
	int64_t n;
	switch (object_type(o)->init) {
	case INIT_NUMBER:
		return val_get_int(vs, init, &n) ? NULL : "a whole number";
	case INIT_COUNT:
		return val_get_int(vs, init, &n) && n >= 0 && n <= INT32_MAX ? NULL : "a whole number from 0 to 2147483647";
	case INIT_HELD:
		return k == VK_BOOL ? NULL : "false (free) or true (held)";
	case INIT_SET:
		return k == VK_LIST || k == VK_SET ? NULL : "its elements in brackets: [1 2]";
	case INIT_BOUND: {
		uint32_t len = 0;
		const val *e = val_elems(vs, init, &len);
		bool number = val_get_int(vs, k == VK_LIST && len ? e[0] : init, &n) && n >= 1 && n <= INIT_MOST_BOUND;
		return number && bound_holds(o, n, len) ? NULL : BOUND_WANTED;
	}
	case INIT_LIST:
		return k == VK_LIST ? NULL : "what is in it, in brackets and oldest first: [1 2]";
	default:
		return NULL;
	}
}

bool init_fits(struct history *h, struct interpretation *in, struct diags *d)
{
	assert(in->init != VAL_NONE);
	const char *wanted = init_wanted(&h->vals, in->object, in->init);
	if (wanted) {
		struct buf b;
		buf_init(&b);
		val_print(&h->vals, in->init, &b);
		diag_error(d, "bad-init", NULL, (struct span){ 0, 0 }, "--init: a %s cannot start as %s",
		           history_object(h, in->object), buf_cstr(&b));
		diag_hint(d, "give %s", wanted);
		buf_free(&b);
		return false;
	}
	if (object_type(in->object)->init == INIT_SET) { /* in the order of sets */
		uint32_t n;
		const val *e = val_elems(&h->vals, in->init, &n);
		in->init = val_list(&h->vals, VK_SET, e, n);
	}
	return true;
}

bool history_interpret(struct history *h, struct interpretation *in, struct diags *d)
{
	bool paired = false;
	enum object o = h->user ? OBJ_USER : history_guess_object(h, &paired);
	in->object_guessed = in->object == OBJ_GUESS && !h->user;
	if (h->user) {
		in->object = OBJ_USER;
		in->init = VAL_NIL;
	}
	if (in->object_guessed)
		in->object = o;
	in->paired = in->pairs == 1 || (in->pairs == 0 && paired);
	bool reg = object_has(in->object, OBJECT_VALUE);
	in->init_guessed = in->init == VAL_NONE;
	if (in->init_guessed && init_missing(h, in, d))
		return false;
	if (in->init_guessed)
		in->init = reg ? guess_init(h, in->object, in->paired) : object_default_init(in->object, &h->vals);
	else if (!init_fits(h, in, d))
		return false;
	bool nil_written = in->init == VAL_NIL;
	for (uint32_t i = 0; i < h->n && reg && !nil_written; i++)
		nil_written = h->ops[i].fn == FN_WRITE && h->ops[i].a == VAL_NIL;
	in->nil_any = reg && (in->nil_reads == 2 || (in->nil_reads == 0 && !nil_written));
	uint32_t n = 0;
	bool nil_used = false;
	h->nfailed = h->npending = h->nreads_open = 0;
	struct why why = { "" };
	for (uint32_t i = 0; i < h->n; i++) {
		struct hop *op = &h->ops[i];
		uint8_t failed = op->flags & HF_FAILED;
		bool open = op->ret == RANK_INF, nil = op->fn == FN_READ && op->b == VAL_NIL;
		int keep = hop_interpret(h, in, op, &why);
		if (keep < 0)
			return wrong_op(h, in, op, why.text, d);
		h->nfailed += failed != 0;
		h->npending += open && keep;
		h->nreads_open += open && !keep && !failed;
		nil_used |= nil && !keep && !failed && !open;
		if (!keep)
			continue;
		h->ops[n] = *op;
		if (h->tcall) {
			h->tcall[n] = h->tcall[i];
			h->tret[n] = h->tret[i];
		}
		n++;
	}
	h->n = n;
	in->nil_any &= nil_used;
	assert(n <= h->cap && in->object != OBJ_GUESS && in->init != VAL_NONE);
	return true;
}

/* ---- in words ------------------------------------------------------------ */

void hop_print_short(const struct history *h, const struct hop *op, enum object o, struct buf *out)
{
	const struct values *vs = &h->vals;
	if (h->user && op->fn >= FN_COUNT) {
		user_print(h, op, out);
		return;
	}
	enum op_shape shape = fn_shape(op->fn);
	buf_str(out, fn_name(op->fn, o));
	if (shape == OP_CAS && o != OBJ_GUESS) {
		buf_char(out, ' ');
		val_print(vs, op->a, out);
		buf_str(out, " to ");
		val_print(vs, op->b, out);
	} else if (!shape_sees(shape) && shape != OP_LOCKS && shape != OP_TRIES && op->a != VAL_NONE) {
		buf_char(out, ' ');
		val_print(vs, op->a, out);
	}
	if ((shape_sees(shape) || shape == OP_TRIES) && op->ret != RANK_INF && op->b != VAL_NONE) {
		buf_str(out, " -> ");
		if (op->b == VAL_NIL && shape != OP_READS)
			buf_str(out, "empty");
		else
			val_print(vs, op->b, out);
	}
	if (op->res != RES_NONE)
		buf_str(out, op->res == RES_TRUE ? " -> true" : " -> false");
}

void hop_print(const struct history *h, const struct hop *op, enum object o, struct buf *out)
{
	assert(op->proc < h->procs.len && (!h->keys.len || op->key < h->keys.len));
	hop_print_short(h, op, o, out);
	buf_str(out, " by process ");
	val_print(&h->vals, h->procs.data[op->proc], out);
	if (h->keys.len) {
		buf_str(out, " on key ");
		val_print(&h->vals, h->keys.data[op->key], out);
	}
	if (op->ret == RANK_INF)
		buf_str(out, ", never answered");
	if (op->line)
		buf_printf(out, " (line %u)", op->line);
}
