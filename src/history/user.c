#include "history/user.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

static const struct seqspec_method *method_of(const struct seqspec *s, uint32_t fn)
{
	assert(fn >= FN_COUNT && fn - FN_COUNT < s->nmethods);
	return &s->methods[fn - FN_COUNT];
}

static bool same_name(const char *method, const char *name, size_t len)
{
	size_t n = strlen(method);
	if (n == len + 1 && method[n - 1] == '_')
		n--;
	bool same = n == len;
	for (size_t i = 0; i < n && same; i++)
		same = method[i] == (name[i] == '-' ? '_' : name[i]);
	return same;
}

uint32_t user_fn(const struct seqspec *s, const char *name, size_t len)
{
	for (uint32_t i = 0; i < s->nmethods; i++)
		if (same_name(s->methods[i].name, name, len))
			return FN_COUNT + i;
	return FN_NONE;
}

/* ---- values ------------------------------------------------------------------------------ */

enum { NO_VALUE, OUT_OF_RANGE, A_VALUE };

/* A value of the history as one of the type. */
static int convert(const struct seqspec *s, const struct values *vs, const struct seqspec_type *t, val v, int32_t *out)
{
	int64_t n;
	if (v == VAL_FALSE || v == VAL_TRUE)
		n = v == VAL_TRUE;
	else if (val_get_int(vs, v, &n))
		;
	else if (t->kind == IR_VALUE_ENUM && t->enum_id != IR_NONE && val_kind(vs, v) >= VK_STR && val_kind(vs, v) <= VK_WORD) {
		const struct ir_enum *e = &s->ir->enums[t->enum_id];
		const char *text = vs->tab.data[v].text;
		text += *text == ':';
		for (n = 0; n < e->n && strcmp(e->members[n], text); n++)
			;
	} else {
		return NO_VALUE;
	}
	*out = (int32_t)n;
	return n >= t->lo && n <= t->hi ? A_VALUE : OUT_OF_RANGE;
}

static const val *arguments(const struct values *vs, const struct seqspec_method *m, const struct hop *op, uint32_t *n)
{
	if (m->nparams >= 2)
		return val_elems(vs, op->a, n);
	*n = m->nparams;
	return &op->a;
}

static int wrong(const struct seqspec_method *m, struct why *why, const char *what)
{
	struct buf b;
	buf_init(&b);
	buf_printf(&b, "%s (%s is declared with ", what, m->name);
	if (!m->nparams)
		buf_str(&b, "no parameters");
	for (uint32_t i = 0; i < m->nparams; i++) {
		const struct seqspec_type *t = &m->params[i];
		buf_printf(&b, "%s%s", i ? ", " : "",
		           t->kind == IR_VALUE_BOOL   ? "bool"
		           : t->kind == IR_VALUE_ENUM ? "an enum"
		                                      : "");
		if (t->kind == IR_VALUE_INT)
			buf_printf(&b, "%d..%d", t->lo, t->hi);
	}
	buf_char(&b, ')');
	why_set(why, "%s", buf_cstr(&b));
	buf_free(&b);
	return -1;
}

int user_interpret(struct history *h, struct hop *op, struct why *why)
{
	const struct seqspec *s = h->user;
	if (op->fn < FN_COUNT || op->fn >= FN_COUNT + s->nmethods) {
		why_set(why, "not an operation of the specification");
		return -1;
	}
	const struct seqspec_method *m = method_of(s, op->fn);
	uint32_t n = 0;
	int32_t x;
	if (op->flags & HF_FAILED)
		return 0;
	if (m->nparams && op->a == VAL_NONE)
		return wrong(m, why, "the argument is missing");
	const val *e = arguments(&h->vals, m, op, &n);
	if (m->nparams >= 2 && (!e || n != m->nparams))
		return wrong(m, why, "expected a list of arguments, as in [1 2]");
	for (uint32_t i = 0; i < m->nparams; i++)
		if (convert(s, &h->vals, &m->params[i], e[i], &x) != A_VALUE)
			return wrong(m, why, "an argument is not a value of its type");
	if (op->ret == RANK_INF || !m->has_result || op->b == VAL_NIL)
		op->b = VAL_NONE;
	/* a result outside the range is an answer that the object cannot give */
	if (op->b != VAL_NONE && convert(s, &h->vals, &m->result, op->b, &x) == NO_VALUE)
		return wrong(m, why, "the result is not a value of its type");
	return 1;
}

void user_print(const struct history *h, const struct hop *op, struct buf *out)
{
	const struct seqspec_method *m = method_of(h->user, op->fn);
	buf_str(out, m->name);
	if (m->nparams && op->a != VAL_NONE) {
		buf_char(out, ' ');
		val_print(&h->vals, op->a, out);
	}
	if (op->b != VAL_NONE) {
		buf_str(out, " -> ");
		val_print(&h->vals, op->b, out);
	}
}

/* ---- the specification ------------------------------------------------------------------------ */

static uint32_t state_width(const struct seqspec *s)
{
	return s->ir->nglobals;
}

static uint32_t user_init(struct spec_ctx *c, val init)
{
	const struct seqspec *s = c->user;
	(void)init;
	return states_intern(c, (const uint32_t *)s->ir->init, state_width(s));
}

struct user_collect {
	struct spec_ctx *c;
	const struct seqspec *s;
	uint32_t *rows;
	uint32_t n, cap;
	bool check; /* the result must be `result` */
	int32_t result;
	bool failed;
};

static void collect(void *arg, const int32_t *g, int32_t result)
{
	struct user_collect *k = arg;
	uint32_t w = state_width(k->s);
	if (k->failed || (k->check && result != k->result))
		return;
	for (uint32_t i = 0; i < k->n; i++)
		if (!memcmp(k->rows + (size_t)i * w, g, w * sizeof *g))
			return;
	if (k->n == USER_MAX_SET || !GROW_AS(GROW_UNSET, NULL, k->rows, k->cap, k->n + 1ull, w + 1ull)) {
		k->failed = true;
		return;
	}
	memcpy(k->rows + (size_t)k->n++ * w, g, w * sizeof *g);
}

static int compare_rows(const void *a, const void *b, void *bytes)
{
	return memcmp(a, b, *(size_t *)bytes);
}

static bool user_apply(struct spec_ctx *c, uint32_t state, const struct hop *op, uint32_t *next)
{
	const struct seqspec *s = c->user;
	const struct seqspec_method *m = method_of(s, op->fn);
	struct user_collect k = { .c = c, .s = s, .check = op->b != VAL_NONE && m->has_result };
	int32_t args[SEQSPEC_MAX_PARAMS];
	uint32_t w = state_width(s), n = 0, len;
	const val *e = arguments(c->vals, m, op, &n);
	for (uint32_t i = 0; i < m->nparams; i++)
		convert(s, c->vals, &m->params[i], e[i], &args[i]); /* checked when it was read */
	if (k.check && convert(s, c->vals, &m->result, op->b, &k.result) != A_VALUE)
		return false;
	int32_t *room = malloc((4ull * w + IR_MAX_SLOTS) * sizeof *room);
	bool ok = room != NULL;
	const uint32_t *set = states_at(c, state);
	len = states_len(c, state);
	for (uint32_t at = 0; ok && at < len && !k.failed; at += w) {
		memcpy(room + 3ull * w + IR_MAX_SLOTS, set + at, w * sizeof *room);
		ok = seqspec_apply(s, room + 3ull * w + IR_MAX_SLOTS, op->fn - FN_COUNT, args, room, collect, &k);
	}
	free(room);
	size_t bytes = w * sizeof *k.rows;
	if (!ok || k.failed) {
		c->failed = true;
		atomic_store(&c->lim->spent, LIMIT_MEMORY);
	} else if (k.n) {
		qsort_r(k.rows, k.n, bytes, compare_rows, &bytes);
		*next = states_intern(c, k.rows, k.n * w);
	}
	ok = ok && k.n && !c->failed;
	free(k.rows);
	return ok;
}

static uint32_t user_move(struct spec_ctx *from, uint32_t state, struct spec_ctx *to)
{
	return states_intern(to, states_at(from, state), states_len(from, state));
}

/* "balance = 5, open = true"; several states with "or" between them. */
static void user_show(struct spec_ctx *c, uint32_t state, struct buf *out)
{
	const struct seqspec *s = c->user;
	uint32_t w = state_width(s), len = states_len(c, state), shown = 0;
	for (uint32_t at = 0; at < len; at += w, shown++) {
		if (shown == 4) {
			buf_str(out, " or ...");
			return;
		}
		buf_str(out, shown ? " or {" : "{");
		bool first = true;
		for (uint32_t v = 0; v < s->ir->nvars; v++) {
			const struct ir_var *var = &s->ir->vars[v];
			bool own = var->slot == s->result;
			for (uint32_t i = 0; i < s->narg; i++)
				own |= var->slot == s->arg[i];
			if (own)
				continue;
			buf_printf(out, "%s%s = ", first ? "" : ", ", var->name);
			first = false;
			buf_str(out, var->is_array ? "[" : "");
			for (uint32_t i = 0; i < var->len && i < 16; i++) {
				buf_str(out, i ? " " : "");
				ir_print_value(s->ir, var->value, var->enum_id, (int32_t)states_at(c, state)[at + var->slot + i],
				               out);
			}
			buf_str(out, var->len > 16 ? " ..." : "");
			buf_str(out, var->is_array ? "]" : "");
		}
		buf_char(out, '}');
	}
}

const struct spec user_spec = { user_init, user_apply, user_move, user_show, NULL };
