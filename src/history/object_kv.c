/*
 * object_kv: one key of a key-value map: a value, or a text that grows by
 * appending.
 *
 * A state is a node: the text of an older node and a piece after it. Equal
 * texts are one node: found by length and hash, then compared byte by byte,
 * so an append costs its piece and a comparison the length of the text.
 */
#include <stdlib.h>
#include <string.h>

#include "history/spec.h"

struct text_node {
	uint32_t prev; /* UINT32_MAX: the value itself */
	val piece;
	uint64_t len, hash;
	uint32_t next; /* node with the same hash, + 1 */
};

static const char *piece_text(const struct spec_ctx *c, val v, size_t *len)
{
	static const char none[] = "";
	*len = 0;
	if (val_is_small(v) || v == VAL_NONE)
		return none;
	const struct value *x = &c->vals->tab.data[v];
	if (x->kind != VK_STR)
		return none;
	*len = x->len;
	return x->text;
}

static uint64_t text_hash(uint64_t h, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		h = h * 0x9E3779B97F4A7C15u + (unsigned char)s[i] + 1;
	return h;
}

/* Walks two chains of pieces backwards. */
static bool text_same(const struct spec_ctx *c, struct text_node a, struct text_node b)
{
	size_t la, lb;
	const char *sa = piece_text(c, a.piece, &la), *sb = piece_text(c, b.piece, &lb);
	for (;;) {
		while (!la && a.prev != UINT32_MAX) {
			a = c->texts[a.prev];
			sa = piece_text(c, a.piece, &la);
		}
		while (!lb && b.prev != UINT32_MAX) {
			b = c->texts[b.prev];
			sb = piece_text(c, b.piece, &lb);
		}
		if (!la || !lb)
			return la == lb;
		size_t m = la < lb ? la : lb;
		if (memcmp(sa + la - m, sb + lb - m, m))
			return false;
		la -= m;
		lb -= m;
	}
}

static bool is_text(const struct spec_ctx *c, val v)
{
	return val_kind(c->vals, v) == VK_STR;
}

static uint32_t text_intern(struct spec_ctx *c, struct text_node t)
{
	uint32_t first = map_get(&c->text_map, t.hash);
	for (uint32_t i = first; i != MAP_NONE; i = c->texts[i].next - 1) {
		const struct text_node *o = &c->texts[i];
		bool plain = t.prev == UINT32_MAX && !is_text(c, t.piece);
		bool oplain = o->prev == UINT32_MAX && !is_text(c, o->piece);
		if (plain || oplain ? plain == oplain && t.piece == o->piece : t.len == o->len && text_same(c, t, *o))
			return i;
		if (!o->next)
			break;
	}
	if (c->ntexts == c->ctexts) {
		uint32_t cap = c->ctexts ? c->ctexts * 2 : 64;
		struct text_node *p = lim_realloc(c->lim, c->texts, c->ctexts * sizeof *p, cap * sizeof *p);
		if (!p) {
			c->failed = true;
			return 0;
		}
		c->texts = p;
		c->ctexts = cap;
	}
	t.next = first == MAP_NONE ? 0 : first + 1;
	c->texts[c->ntexts] = t;
	if (!map_put(&c->text_map, t.hash, c->ntexts)) {
		c->failed = true;
		return 0;
	}
	return c->ntexts++;
}

static struct text_node text_of(const struct spec_ctx *c, val v)
{
	size_t len;
	const char *s = piece_text(c, v, &len);
	struct text_node t = { UINT32_MAX, v, len, is_text(c, v) ? text_hash(0, s, len) : ~(uint64_t)v, 0 };
	return t;
}

bool spec_text(const struct spec_ctx *c, uint32_t state, uint64_t *len, uint64_t *hash)
{
	const struct text_node *t = &c->texts[state];
	*len = t->len;
	*hash = t->hash;
	return t->prev != UINT32_MAX || is_text(c, t->piece);
}

static uint32_t kv_init(struct spec_ctx *c, val init)
{
	return text_intern(c, text_of(c, init));
}

static bool kv_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	const struct text_node *now = &c->texts[s];
	if (op->fn == FN_WRITE) {
		*next = text_intern(c, text_of(c, op->a));
		return true;
	}
	if (op->fn == FN_APPEND) {
		size_t len;
		const char *p = piece_text(c, op->a, &len);
		bool had = now->prev != UINT32_MAX || is_text(c, now->piece);
		if (had && !len)
			return true;
		struct text_node t = { s, op->a, now->len + len, text_hash(had ? now->hash : 0, p, len), 0 };
		*next = text_intern(c, had ? t : text_of(c, op->a));
		return true;
	}
	if (op->fn != FN_READ && op->fn != FN_CAS)
		return false;
	struct text_node want = text_of(c, op->fn == FN_READ ? op->b : op->a);
	bool same = want.hash == now->hash && want.len == now->len && text_intern(c, want) == s;
	if (op->fn == FN_READ)
		return same;
	if (same && op->res != RES_FALSE) {
		*next = text_intern(c, text_of(c, op->b));
		return true;
	}
	return !same && op->res != RES_TRUE;
}

#define SHOWN 48 /* bytes of a text */

/* The text itself, however it came about; of a long one its end. */
static void kv_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	const struct text_node *t = &c->texts[s];
	if (t->prev == UINT32_MAX && !is_text(c, t->piece)) {
		val_print(c->vals, t->piece, out);
		return;
	}
	char tail[SHOWN];
	size_t n = 0;
	for (uint32_t x = s; x != UINT32_MAX && n < SHOWN; x = c->texts[x].prev) {
		size_t len;
		const char *p = piece_text(c, c->texts[x].piece, &len);
		while (len && n < SHOWN)
			tail[SHOWN - ++n] = p[--len];
	}
	if (t->len > SHOWN) {
		buf_printf(out, "a text of %llu bytes ending in ", (unsigned long long)t->len);
		while (n && ((unsigned char)tail[SHOWN - n] & 0xC0) == 0x80)
			n--; /* begin with a whole character */
	}
	buf_json(out, tail + SHOWN - n, n);
}

static uint32_t kv_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	uint32_t n = 0, out = 0;
	for (uint32_t x = s; x != UINT32_MAX; x = from->texts[x].prev)
		n++;
	uint32_t *t = malloc(n * 4ull + 4);
	if (!t) {
		to->failed = true;
		return 0;
	}
	for (uint32_t x = s, k = n; x != UINT32_MAX; x = from->texts[x].prev)
		t[--k] = from->texts[x].piece;
	for (uint32_t k = 0; k < n; k++) {
		struct hop op = { .fn = FN_APPEND, .a = t[k] };
		if (k == 0)
			out = text_intern(to, text_of(to, t[k]));
		else
			kv_apply(to, out, &op, &out);
	}
	free(t);
	return out;
}

static const struct spec kv = { kv_init, kv_apply, kv_move, kv_print, NULL };

static const struct object_operation ops[] = {
	{ .fn = FN_READ, .shape = OP_READS, .name = "get" },
	{ .fn = FN_WRITE, .shape = OP_WRITES, .name = "put" },
	{ .fn = FN_APPEND, .shape = OP_WRITES },
	{ .fn = FN_CAS, .shape = OP_CAS },
	{ 0 },
};

const struct object_type object_kv = {
	.aliases = "map",
	.operations = "get, put, append (to a text), cas, each with a key; without appends a register for each key",
	.ops = ops,
	.traits = OBJECT_VALUE | OBJECT_APPENDS,
	.spec = &kv,
};

void spec_kv_close(struct spec_ctx *c)
{
	lim_free(c->lim, c->texts, c->ctexts * sizeof *c->texts);
	map_free(&c->text_map);
}
