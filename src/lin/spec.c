#include "lin/spec.h"

#include <stdlib.h>
#include <string.h>

#include "lin/user.h"

/* ---- interned vectors ---------------------------------------------------- */

static uint32_t hash_words(const uint32_t *w, uint32_t n)
{
	uint64_t h = n;
	for (uint32_t i = 0; i < n; i++) {
		h = (h ^ w[i]) * 0xD6E8FEB86659FD93u;
		h ^= h >> 29;
	}
	return (uint32_t)hash64(h);
}

static uint32_t vec_len(const struct spec_ctx *c, uint32_t id)
{
	return (uint32_t)(c->st.start[id + 1] - c->st.start[id]);
}

static const uint32_t *vec_at(const struct spec_ctx *c, uint32_t id)
{
	return c->st.words + c->st.start[id];
}

static bool states_grow(struct spec_ctx *c, uint32_t len)
{
	struct states *t = &c->st;
	if (t->nwords + len > t->cwords) {
		size_t cap = (t->cwords + len) * 2 + 64;
		uint32_t *w = lim_realloc(c->lim, t->words, t->cwords * 4, cap * 4);
		if (!w)
			return false;
		t->words = w;
		t->cwords = cap;
	}
	if (t->n + 2 > t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 64;
		size_t *s = lim_realloc(c->lim, t->start, t->cap * sizeof *s, cap * sizeof *s);
		if (!s)
			return false;
		if (!t->cap)
			s[0] = 0;
		t->start = s;
		t->cap = cap;
	}
	if ((size_t)t->n * 4 >= (size_t)t->nslots * 3) {
		uint32_t m = t->nslots ? t->nslots * 2 : 128;
		uint32_t *s = lim_realloc(c->lim, NULL, 0, m * 4ull);
		if (!s)
			return false;
		memset(s, 0, m * 4ull);
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t h = hash_words(vec_at(c, i), vec_len(c, i)) & (m - 1);
			while (s[h])
				h = (h + 1) & (m - 1);
			s[h] = i + 1;
		}
		lim_free(c->lim, t->slots, t->nslots * 4ull);
		t->slots = s;
		t->nslots = m;
	}
	return true;
}

/* The id of a vector; `w` may not point into the table. */
static uint32_t vec_intern(struct spec_ctx *c, const uint32_t *w, uint32_t len)
{
	struct states *t = &c->st;
	if (!states_grow(c, len)) {
		c->failed = true;
		return 0;
	}
	uint32_t h = hash_words(w, len) & (t->nslots - 1);
	for (; t->slots[h]; h = (h + 1) & (t->nslots - 1)) {
		uint32_t id = t->slots[h] - 1;
		if (vec_len(c, id) == len && (!len || !memcmp(vec_at(c, id), w, len * 4ull)))
			return id;
	}
	if (len)
		memcpy(t->words + t->nwords, w, len * 4ull);
	t->nwords += len;
	t->start[++t->n] = t->nwords;
	t->slots[h] = t->n;
	return t->n - 1;
}

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
	return vec_intern(c, e, n);
}

static void vec_print(struct spec_ctx *c, uint32_t state, struct buf *out)
{
	uint32_t n = vec_len(c, state);
	buf_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			buf_char(out, ' ');
		if (i == 8 && n > 10) {
			buf_printf(out, "... %u more", n - 8);
			break;
		}
		val_print(c->vals, vec_at(c, state)[i], out);
	}
	buf_char(out, ']');
}

/* The vector with `v` put in at place `at`. */
static uint32_t vec_insert(struct spec_ctx *c, uint32_t state, uint32_t at, uint32_t v)
{
	uint32_t n = vec_len(c, state), *t = scratch(c, n + 1);
	if (!t)
		return 0;
	const uint32_t *w = vec_at(c, state);
	for (uint32_t i = 0; i < at; i++)
		t[i] = w[i];
	t[at] = v;
	for (uint32_t i = at; i < n; i++)
		t[i + 1] = w[i];
	return vec_intern(c, t, n + 1);
}

static uint32_t vec_remove(struct spec_ctx *c, uint32_t state, uint32_t at)
{
	uint32_t n = vec_len(c, state), *t = scratch(c, n);
	if (!t)
		return 0;
	const uint32_t *w = vec_at(c, state);
	memcpy(t, w, at * 4ull);
	memcpy(t + at, w + at + 1, (n - at - 1) * 4ull);
	return vec_intern(c, t, n - 1);
}

uint32_t states_intern(struct spec_ctx *c, const uint32_t *w, uint32_t len)
{
	return vec_intern(c, w, len);
}

const uint32_t *states_at(const struct spec_ctx *c, uint32_t id)
{
	return vec_at(c, id);
}

uint32_t states_len(const struct spec_ctx *c, uint32_t id)
{
	return vec_len(c, id);
}

uint32_t states_count(const struct spec_ctx *c)
{
	return c->st.n;
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
	return vec_intern(c, &init, 1);
}

static bool kreg_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	uint32_t n = vec_len(c, s);
	*next = s;
	if (op->fn == FN_READ) {
		for (uint32_t i = 0; i < n; i++)
			if (vec_at(c, s)[i] == op->b)
				return true;
		return false;
	}
	if (op->fn != FN_WRITE)
		return false;
	uint32_t *t = scratch(c, n + 1);
	if (!t)
		return false;
	memcpy(t + 1, vec_at(c, s), n * 4ull);
	t[0] = op->a;
	*next = vec_intern(c, t, n + 1 < c->k ? n + 1 : c->k);
	return true;
}

/* ---- counter: two words, the value ---------------------------------------- */

static uint32_t counter_id(struct spec_ctx *c, int64_t n)
{
	uint32_t w[2] = { (uint32_t)(uint64_t)n, (uint32_t)((uint64_t)n >> 32) };
	return vec_intern(c, w, 2);
}

static int64_t counter_value(const struct spec_ctx *c, uint32_t s)
{
	const uint32_t *w = vec_at(c, s);
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
	uint32_t lo = 0, n = vec_len(c, s), hi = n;
	const uint32_t *w = vec_at(c, s);
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
	uint32_t n = vec_len(c, s);
	*next = s;
	if (!n)
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != vec_at(c, s)[0])
		return false;
	if (remove)
		*next = vec_remove(c, s, 0);
	return true;
}

static bool queue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_ENQ)
		return (op->fn == FN_DEQ || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_DEQ, next);
	*next = vec_insert(c, s, vec_len(c, s), op->a);
	return true;
}

static bool pqueue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	if (op->fn != FN_INSERT)
		return (op->fn == FN_POLL || op->fn == FN_PEEK) && take(c, s, op, op->fn == FN_POLL, next);
	uint32_t at = 0, n = vec_len(c, s);
	while (at < n && val_compare(c->vals, vec_at(c, s)[at], op->a) < 0)
		at++;
	*next = vec_insert(c, s, at, op->a);
	return true;
}

static uint32_t pqueue_init(struct spec_ctx *c, val init)
{
	uint32_t n, s = vec_intern(c, NULL, 0);
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
	uint32_t n, s = vec_intern(c, NULL, 0);
	const val *e = val_elems(c->vals, init, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w[2] = { s, e[i] };
		s = vec_intern(c, w, 2);
	}
	return s;
}

static bool stack_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_PUSH) {
		uint32_t w[2] = { s, op->a };
		*next = vec_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_POP && op->fn != FN_PEEK)
		return false;
	if (!vec_len(c, s))
		return op->b == VAL_NIL || op->b == VAL_NONE;
	if (op->b != VAL_NONE && op->b != vec_at(c, s)[1])
		return false;
	if (op->fn == FN_POP)
		*next = vec_at(c, s)[0];
	return true;
}

static bool list_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	*next = s;
	if (op->fn == FN_APPEND) {
		uint32_t w[2] = { s, op->a };
		*next = vec_intern(c, w, 2);
		return true;
	}
	if (op->fn != FN_READ)
		return false;
	uint32_t n;
	const val *e = val_elems(c->vals, op->b, &n);
	while (n && vec_len(c, s) && vec_at(c, s)[1] == e[n - 1]) {
		s = vec_at(c, s)[0];
		n--;
	}
	return !n && !vec_len(c, s);
}

static void cons_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	uint32_t n = 0;
	buf_str(out, "[newest first:");
	for (; vec_len(c, s); s = vec_at(c, s)[0]) {
		if (n++ == 8) {
			buf_str(out, " ...");
			break;
		}
		buf_char(out, ' ');
		val_print(c->vals, vec_at(c, s)[1], out);
	}
	buf_str(out, n ? "]" : " nothing]");
}

/* ---- key-value map, one key: a value, or text that grows by appending --------
 * A node is a text as the one before plus a piece. Equal texts are one node:
 * found by length and hash, then compared byte by byte. */

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
		if (plain || oplain ? plain == oplain && t.piece == o->piece
		                    : t.len == o->len && text_same(c, t, *o))
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

static void kv_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	const struct text_node *t = &c->texts[s];
	if (t->prev == UINT32_MAX) {
		val_print(c->vals, t->piece, out);
		return;
	}
	buf_printf(out, "a text of %llu bytes ending in ", (unsigned long long)t->len);
	val_print(c->vals, t->piece, out);
}

/* ---- moving to another table ----------------------------------------------------- */

static uint32_t vec_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	return vec_intern(to, vec_at(from, s), vec_len(from, s));
}

/* Down the chain, turning it over, and up again. */
static uint32_t cons_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	uint32_t n = 0, out = vec_intern(to, NULL, 0);
	for (uint32_t x = s; vec_len(from, x); x = vec_at(from, x)[0])
		n++;
	uint32_t *t = malloc(n * 4ull + 4);
	if (!t) {
		to->failed = true;
		return out;
	}
	for (uint32_t x = s, k = n; vec_len(from, x); x = vec_at(from, x)[0])
		t[--k] = vec_at(from, x)[1];
	for (uint32_t k = 0; k < n; k++) {
		uint32_t w[2] = { out, t[k] };
		out = vec_intern(to, w, 2);
	}
	free(t);
	return out;
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
	[OBJ_KV] = { "kv", kv_init, kv_apply, kv_move, kv_print },
	[OBJ_LIST] = { "append-list", cons_init, list_apply, cons_move, cons_print },
};
static const struct spec kreg = { "k-atomic register", kreg_init, kreg_apply, vec_move, vec_print };

const struct spec *spec_of(enum object o, uint32_t k)
{
	return k > 1 ? &kreg : o == OBJ_USER ? &user_spec : &specs[o];
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
	lim_free(c->lim, c->texts, c->ctexts * sizeof *c->texts);
	lim_free(c->lim, c->tmp, c->ctmp * 4ull);
	map_free(&c->text_map);
	memset(c, 0, sizeof *c);
}
