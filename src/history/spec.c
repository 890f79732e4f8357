/*
 * spec: what the objects' specifications share: vectors of words as states, and contexts.
 */
#include "history/spec.h"

#include <string.h>

#include "history/user.h"

/* ---- vectors ------------------------------------------------------------------ */

uint32_t *spec_scratch(struct spec_ctx *c, uint32_t n)
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

uint32_t vec_init(struct spec_ctx *c, val init)
{
	uint32_t n = 0;
	const val *e = val_elems(c->vals, init, &n);
	return states_intern(c, e, n);
}

uint32_t vec_init_bound(struct spec_ctx *c, val init)
{
	uint32_t n = 0;
	const val *e = val_elems(c->vals, init, &n);
	return states_intern(c, e ? e : &init, e ? n : 1);
}

/* Without those before `from`. */
static void print_from(struct spec_ctx *c, uint32_t state, uint32_t from, struct buf *out)
{
	uint32_t n = states_len(c, state) - from;
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_char(out, ' ');
		if (i == 8 && n > 10) {
			buf_printf(out, "... %u more", n - 8);
			break;
		}
		val_print(c->vals, states_at(c, state)[from + i], out);
	}
	buf_char(out, ']');
}

void vec_print(struct spec_ctx *c, uint32_t state, struct buf *out)
{
	print_from(c, state, 0, out);
}

void spec_print_after_bound(struct spec_ctx *c, uint32_t state, struct buf *out)
{
	print_from(c, state, 1, out);
}

uint32_t vec_insert(struct spec_ctx *c, uint32_t state, uint32_t at, uint32_t v)
{
	uint32_t n = states_len(c, state), *t = spec_scratch(c, n + 1);
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

uint32_t vec_remove(struct spec_ctx *c, uint32_t state, uint32_t at)
{
	uint32_t n = states_len(c, state), *t = spec_scratch(c, n);
	if (!t)
		return 0;
	const uint32_t *w = states_at(c, state);
	memcpy(t, w, at * 4ull);
	memcpy(t + at, w + at + 1, (n - at - 1) * 4ull);
	return states_intern(c, t, n - 1);
}

uint32_t vec_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	return states_intern(to, states_at(from, s), states_len(from, s));
}

bool vec_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	*v = val_list(vals, VK_LIST, states_at(c, s), states_len(c, s));
	return true;
}

/* ---- contexts --------------------------------------------------------------- */

static void *limited(void *lim, void *p, size_t old, size_t now)
{
	if (now)
		return lim_realloc(lim, p, old, now);
	lim_free(lim, p, old);
	return NULL;
}

uint32_t states_intern(struct spec_ctx *c, const uint32_t *w, uint32_t len)
{
	uint32_t id = seqtab_add(&c->st, (const int32_t *)w, len);
	c->failed |= id == SEQTAB_NONE;
	return id == SEQTAB_NONE ? 0 : id;
}

const struct spec *spec_of(enum object o, uint32_t k)
{
	return k > 1 ? &spec_kregister : o == OBJ_USER ? &user_spec : object_type(o)->spec;
}

void spec_open(struct spec_ctx *c, const struct spec *s, const struct values *vals, struct limits *lim, uint32_t k)
{
	memset(c, 0, sizeof *c);
	c->spec = s;
	c->vals = vals;
	c->lim = lim;
	c->st.memory = limited;
	c->st.arg = lim;
	c->k = k;
}

void spec_close(struct spec_ctx *c)
{
	seqtab_free(&c->st);
	spec_kv_close(c);
	lim_free(c->lim, c->tmp, c->ctmp * 4ull);
	memset(c, 0, sizeof *c);
}
