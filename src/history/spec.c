/*
 * spec: the built-in objects, except the key-value map (spec_kv.c). The
 * representation of a state is described above each; all but the register's
 * and the mutex's are interned vectors (states.c).
 */
#include "history/spec.h"

#include <stdlib.h>
#include <string.h>

#include "history/user.h"

/* ---- vectors ------------------------------------------------------------------ */

/* Room for n words of scratch. */
static uint32_t *scratch(struct spec_ctx *c, uint32_t n)
{
	if (n > c->ctmp) {
		uint32_t *p = lim_realloc(c->lim, c->tmp, c->ctmp * 4ull, n * 8ull);
		if (!p) {
			c->failed = true;
			return NULL;
		}
		c->tmp = p;
		c->ctmp = n * 2;
	}
	return c->tmp;
}

static uint32_t vec_init(struct spec_ctx *c, val init)
{
	uint32_t n = 0;
	const val *e = val_elems(c->vals, init, &n);
	return states_intern(c, e, n);
}

static void vec_print(struct spec_ctx *c, uint32_t state, struct buf *out)
{
	uint32_t n = states_len(c, state);
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_char(out, ' ');
		if (i == 8 && n > 10) {
			buf_printf(out, "... %u more", n - 8);
			break;
		}
		val_print(c->vals, states_at(c, state)[i], out);
	}
	buf_char(out, ']');
}

/* The vector with `v` put in at place `at`. */
static uint32_t vec_insert(struct spec_ctx *c, uint32_t state, uint32_t at, uint32_t v)
{
	uint32_t n = states_len(c, state), *t = scratch(c, n + 1);
	if (!t)
		return 0;
	const uint32_t *w = states_at(c, state);
	for (uint32_t i = 0; i < at; i++)
		t[i] = w[i];
	t[at] = v;
	for (uint32_t i = at; i < n; i++)
		t[i + 1] = w[i];
	return states_intern(c, t, n + 1);
}

static uint32_t vec_remove(struct spec_ctx *c, uint32_t state, uint32_t at)
{
	uint32_t n = states_len(c, state), *t = scratch(c, n);
	if (!t)
		return 0;
	const uint32_t *w = states_at(c, state);
	memcpy(t, w, at * 4ull);
	memcpy(t + at, w + at + 1, (n - at - 1) * 4ull);
	return states_intern(c, t, n - 1);
}

/* ---- register, cas-register ---------------------------------------------- */

static uint32_t reg_init(struct spec_ctx *c, val init)
{
	(void)c;
	return init;
}

static bool reg_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	(void)c;
	*next = s;
	if (op->fn == FN_READ)
		return op->b == s;
	if (op->fn == FN_WRITE) {
		*next = op->a;
		return true;
	}
	if (op->fn != FN_CAS)
		return false;
	if (op->a == s && op->res != RES_FALSE) {
		*next = op->b;
		return true;
	}
	return op->a != s && op->res != RES_TRUE;
}

static void reg_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	val_print(c->vals, s, out);
}

/* ---- k-atomic register: the last k values, the newest first ---------------- */

static uint32_t kreg_init(struct spec_ctx *c, val init)
{
	return states_intern(c, &init, 1);
}

static bool kreg_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t n = states_len(c, s);
	*next = s;
	if (op->fn == FN_READ) {
		for (uint32_t i = 0; i < n; i++)
			if (states_at(c, s)[i] == op->b)
				return true;
		return false;
	}
	if (op->fn != FN_WRITE)
		return false;
	uint32_t *t = scratch(c, n + 1);
	if (!t)
		return false;
	memcpy(t + 1, states_at(c, s), n * 4ull);
	t[0] = op->a;
	*next = states_intern(c, t, n + 1 < c->k ? n + 1 : c->k);
	return true;
}

/* ---- counter: two words, the value ---------------------------------------- */

static uint32_t counter_id(struct spec_ctx *c, int64_t n)
{
	uint32_t w[2] = { (uint32_t)(uint64_t)n, (uint32_t)((uint64_t)n >> 32) };
	return states_intern(c, w, 2);
}

static int64_t counter_value(const struct spec_ctx *c, uint32_t s)
{
	const uint32_t *w = states_at(c, s);
	return (int64_t)(w[0] | (uint64_t)w[1] << 32);
}

static uint32_t counter_init(struct spec_ctx *c, val init)
{
	int64_t n = 0;
	val_get_int(c->vals, init, &n);
	return counter_id(c, n);
}

static bool counter_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	int64_t n = 0, x = counter_value(c, s);
	*next = s;
	if (op->fn == FN_READ)
		return val_get_int(c->vals, op->b, &n) && n == x;
	if (op->fn != FN_ADD || !val_get_int(c->vals, op->a, &n))
		return false;
	*next = counter_id(c, (int64_t)((uint64_t)x + (uint64_t)n));
	return true;
}

static void counter_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	buf_printf(out, "%lld", (long long)counter_value(c, s));
}

/* ---- mutex: 0 free, 1 held ------------------------------------------------- */

static uint32_t mutex_init(struct spec_ctx *c, val init)
{
	(void)c;
	return init == VAL_TRUE;
}

static bool mutex_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	(void)c;
	*next = op->fn == FN_ACQUIRE;
	return s != *next;
}

static void mutex_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	(void)c;
	buf_str(out, s ? "held" : "free");
}

/* ---- set: ascending ids ----------------------------------------------------- */

static bool set_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t lo = 0, n = states_len(c, s), hi = n;
	const uint32_t *w = states_at(c, s);
	*next = s;
	if (op->fn == FN_READ) {
		uint32_t m;
		const val *e = val_elems(c->vals, op->b, &m);
		return m == n && (!n || !memcmp(e, w, n * 4ull));
	}
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (w[mid] < op->a)
			lo = mid + 1;
		else
			hi = mid;
	}
	bool in = lo < n && w[lo] == op->a;
	if (op->fn == FN_CONTAINS)
		return op->res == RES_NONE || in == (op->res == RES_TRUE);
	bool changes = op->fn == FN_ADD ? !in : op->fn == FN_REMOVE && in;
	if (op->fn != FN_ADD && op->fn != FN_REMOVE)
		return false;
	if (op->res != RES_NONE && changes != (op->res == RES_TRUE))
		return false;
	if (changes)
		*next = op->fn == FN_ADD ? vec_insert(c, s, lo, op->a) : vec_remove(c, s, lo);
	return true;
}

/* ---- queue (oldest first) and priority queue (least first) ------------------ */

/* What is at the front: its answer must be `b`, unless nothing was answered. */
static bool take(struct spec_ctx *c, uint32_t s, const struct hop *op, bool remove, uint32_t *next)
{
	uint32_t n = states_len(c, s);
	*next = s;
	if (!n)
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != states_at(c, s)[0])
		return false;
	if (remove)
		*next = vec_remove(c, s, 0);
	return true;
}

static bool queue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_ENQ)
		return (op->fn == FN_DEQ || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_DEQ, next);
	*next = vec_insert(c, s, states_len(c, s), op->a);
	return true;
}

static bool pqueue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_INSERT)
		return (op->fn == FN_POLL || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_POLL, next);
	uint32_t at = 0, n = states_len(c, s);
	while (at < n && val_compare(c->vals, states_at(c, s)[at], op->a) < 0)
		at++;
	*next = vec_insert(c, s, at, op->a);
	return true;
}

static uint32_t pqueue_init(struct spec_ctx *c, val init)
{
	uint32_t n, s = states_intern(c, NULL, 0);
	const val *e = val_elems(c->vals, init, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct hop op = { .fn = FN_INSERT, .a = e[i] };
		pqueue_apply(c, s, &op, &s);
	}
	return s;
}

/* ---- stack and append-list: cons cells (rest, newest); 0 is empty ------------ */

static uint32_t cons_init(struct spec_ctx *c, val init)
{
	uint32_t n, s = states_intern(c, NULL, 0);
	const val *e = val_elems(c->vals, init, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w[2] = { s, e[i] };
		s = states_intern(c, w, 2);
	}
	return s;
}

static bool stack_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_PUSH) {
		uint32_t w[2] = { s, op->a };
		*next = states_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_POP && op->fn != FN_PEEK)
		return false;
	if (!states_len(c, s))
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != states_at(c, s)[1])
		return false;
	if (op->fn == FN_POP)
		*next = states_at(c, s)[0];
	return true;
}

static bool list_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_APPEND) {
		uint32_t w[2] = { s, op->a };
		*next = states_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_READ)
		return false;
	uint32_t n;
	const val *e = val_elems(c->vals, op->b, &n);
	while (n && states_len(c, s) && states_at(c, s)[1] == e[n - 1]) {
		s = states_at(c, s)[0];
		n--;
	}
	return !n && !states_len(c, s);
}

static void cons_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	uint32_t n = 0;
	buf_str(out, "[newest first:");
	for (; states_len(c, s); s = states_at(c, s)[0]) {
		if (n++ == 8) {
			buf_str(out, " ...");
			break;
		}
		buf_char(out, ' ');
		val_print(c->vals, states_at(c, s)[1], out);
	}
	buf_str(out, n ? "]" : " nothing]");
}

/* ---- moving to another table ----------------------------------------------------- */

static uint32_t vec_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	return states_intern(to, states_at(from, s), states_len(from, s));
}

/* Down the chain, turning it over, and up again. */
static uint32_t cons_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	uint32_t n = 0, out = states_intern(to, NULL, 0);
	for (uint32_t x = s; states_len(from, x); x = states_at(from, x)[0])
		n++;
	uint32_t *t = malloc(n * 4ull + 4);
	if (!t) {
		to->failed = true;
		return out;
	}
	for (uint32_t x = s, k = n; states_len(from, x); x = states_at(from, x)[0])
		t[--k] = states_at(from, x)[1];
	for (uint32_t k = 0; k < n; k++) {
		uint32_t w[2] = { out, t[k] };
		out = states_intern(to, w, 2);
	}
	free(t);
	return out;
}

/* ---- the table -------------------------------------------------------------- */

static const struct spec specs[] = {
	[OBJ_REGISTER] = { "register", reg_init, reg_apply, NULL, reg_print },
	[OBJ_CAS_REGISTER] = { "cas-register", reg_init, reg_apply, NULL, reg_print },
	[OBJ_COUNTER] = { "counter", counter_init, counter_apply, vec_move, counter_print },
	[OBJ_MUTEX] = { "mutex", mutex_init, mutex_apply, NULL, mutex_print },
	[OBJ_SET] = { "set", vec_init, set_apply, vec_move, vec_print },
	[OBJ_QUEUE] = { "queue", vec_init, queue_apply, vec_move, vec_print },
	[OBJ_STACK] = { "stack", cons_init, stack_apply, cons_move, cons_print },
	[OBJ_PQUEUE] = { "priority-queue", pqueue_init, pqueue_apply, vec_move, vec_print },
	[OBJ_LIST] = { "append-list", cons_init, list_apply, cons_move, cons_print },
};
static const struct spec kreg = { "k-atomic register", kreg_init, kreg_apply, vec_move, vec_print };

const struct spec *spec_of(enum object o, uint32_t k)
{
	return k > 1 ? &kreg : o == OBJ_USER ? &user_spec : o == OBJ_KV ? &spec_kv : &specs[o];
}

void spec_open(struct spec_ctx *c, const struct spec *s, const struct values *vals,
               struct limits *lim, uint32_t k)
{
	memset(c, 0, sizeof *c);
	c->spec = s;
	c->vals = vals;
	c->lim = lim;
	c->k = k;
}

void spec_close(struct spec_ctx *c)
{
	lim_free(c->lim, c->st.words, c->st.cwords * 4);
	lim_free(c->lim, c->st.start, c->st.cap * sizeof *c->st.start);
	lim_free(c->lim, c->st.slots, c->st.nslots * 4ull);
	spec_kv_close(c);
	lim_free(c->lim, c->tmp, c->ctmp * 4ull);
	memset(c, 0, sizeof *c);
}
