#include "history/value.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/map.h"

_Static_assert(VAL_NIL == 0 && VAL_FALSE == 1 && VAL_TRUE == 2, "the first three values of the table, in this order");

void values_init(struct values *vs, struct arena *a)
{
	memset(vs, 0, sizeof *vs);
	vs->arena = a;
	struct value fixed[3] = { { .kind = VK_NIL }, { .kind = VK_BOOL }, { .kind = VK_BOOL } };
	for (int i = 0; i < 3; i++)
		avec_push(a, &vs->tab, fixed[i]);
	assert(vs->tab.len == 3);
}

void values_free(struct values *vs)
{
	free(vs->ids.slots);
	vs->ids = (struct idtab){ 0 };
}

static uint32_t hash_bytes(uint32_t seed, const void *p, size_t len)
{
	const unsigned char *s = p;
	uint64_t h = seed * 0x9E3779B97F4A7C15u ^ len;
	while (len >= 8) {
		uint64_t w;
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xD6E8FEB86659FD93u;
		h ^= h >> 32;
		s += 8;
		len -= 8;
	}
	uint64_t w = 0;
	if (len)
		memcpy(&w, s, len);
	return (uint32_t)(hash64(h ^ w));
}

static bool same(const struct value *a, const struct value *b)
{
	assert(a->kind > VK_BOOL && a->kind <= VK_SET);
	if (a->hash != b->hash || a->kind != b->kind || a->len != b->len)
		return false;
	if (a->kind == VK_INT)
		return a->num == b->num;
	if (a->kind == VK_LIST || a->kind == VK_SET)
		return !a->len || !memcmp(a->elems, b->elems, a->len * sizeof(val));
	return !memcmp(a->text, b->text, a->len);
}

struct value_wanted {
	const struct values *vs;
	const struct value *v;
};

static inline bool is_wanted(const void *ctx, uint32_t id)
{
	const struct value_wanted *w = ctx;
	return same(&w->vs->tab.data[id], w->v);
}

static inline uint32_t hash_of(const void *ctx, uint32_t id)
{
	return ((const struct values *)ctx)->tab.data[id].hash;
}

static void rehash(struct values *vs)
{
	uint32_t n = vs->ids.nslots ? vs->ids.nslots * 2 : 256, *slots = calloc(n, sizeof *slots);
	if (!slots) {
		if (vs->arena->oom)
			longjmp(*vs->arena->oom, 1);
		abort();
	}
	free(idtab_move(&vs->ids, slots, n, 3, vs->tab.len, hash_of, vs));
	assert(!idtab_full(&vs->ids, vs->tab.len));
}

/* `v` is complete except for its payload's owner: copied only when it is new. */
static val intern(struct values *vs, struct value v)
{
	assert(v.kind > VK_BOOL && v.kind <= VK_SET);
	if (idtab_full(&vs->ids, vs->tab.len))
		rehash(vs);
	uint32_t *slot = idtab_at(&vs->ids, v.hash, is_wanted, &(struct value_wanted){ vs, &v });
	if (*slot)
		return *slot - 1;
	if (v.kind == VK_LIST || v.kind == VK_SET) {
		val *copy = arena_alloc(vs->arena, v.len * sizeof(val) + 1);
		if (v.len)
			memcpy(copy, v.elems, v.len * sizeof(val));
		v.elems = copy;
	} else if (v.kind != VK_INT) {
		v.text = arena_strndup(vs->arena, v.text, v.len);
	}
	avec_push(vs->arena, &vs->tab, v);
	assert(!val_is_small(vs->tab.len - 1));
	*slot = vs->tab.len;
	return vs->tab.len - 1;
}

val val_int_big(struct values *vs, int64_t n)
{
	assert(n < -VAL_BIAS || n >= VAL_BIAS);
	struct value v = { .kind = VK_INT, .hash = (uint32_t)hash64((uint64_t)n), .num = n };
	return intern(vs, v);
}

val val_text(struct values *vs, enum value_kind kind, const char *s, size_t len)
{
	assert(kind == VK_NUM || kind == VK_STR || kind == VK_WORD);
	assert(len <= UINT32_MAX);
	struct value v = { .kind = (uint8_t)kind, .len = (uint32_t)len, .hash = hash_bytes(kind, s, len), .text = s };
	return intern(vs, v);
}

static int by_id(const void *a, const void *b)
{
	val x = *(const val *)a, y = *(const val *)b;
	return x < y ? -1 : x > y;
}

val val_list(struct values *vs, enum value_kind kind, const val *elems, uint32_t n)
{
	assert(kind == VK_LIST || kind == VK_SET);
	assert(!n || elems);
	val *tmp = NULL;
	if (kind == VK_SET && n) {
		tmp = arena_alloc(vs->arena, n * sizeof *tmp);
		memcpy(tmp, elems, n * sizeof *tmp);
		qsort(tmp, n, sizeof *tmp, by_id);
		uint32_t m = 1;
		for (uint32_t i = 1; i < n; i++)
			if (tmp[i] != tmp[m - 1])
				tmp[m++] = tmp[i];
		n = m;
		elems = tmp;
	}
	struct value v = { .kind = (uint8_t)kind, .len = n, .hash = hash_bytes(kind, elems, n * sizeof(val)), .elems = elems };
	return intern(vs, v);
}

enum value_kind val_kind(const struct values *vs, val v)
{
	assert(val_is_small(v) || v < vs->tab.len);
	return val_is_small(v) ? VK_INT : (enum value_kind)vs->tab.data[v].kind;
}

bool val_get_int(const struct values *vs, val v, int64_t *n)
{
	assert(val_is_small(v) || v < vs->tab.len);
	if (val_is_small(v)) {
		*n = val_small(v);
		return true;
	}
	if (vs->tab.data[v].kind != VK_INT)
		return false;
	*n = vs->tab.data[v].num;
	return true;
}

const val *val_elems(const struct values *vs, val v, uint32_t *n)
{
	enum value_kind k = val_kind(vs, v);
	*n = 0;
	if (k != VK_LIST && k != VK_SET)
		return NULL;
	*n = vs->tab.data[v].len;
	assert(!*n || vs->tab.data[v].elems);
	return vs->tab.data[v].elems;
}

int val_compare(const struct values *vs, val a, val b)
{
	int64_t x, y;
	bool ia = val_get_int(vs, a, &x), ib = val_get_int(vs, b, &y);
	if (ia && ib)
		return x < y ? -1 : x > y;
	if (ia != ib)
		return ia ? -1 : 1;
	const struct value *p = &vs->tab.data[a], *q = &vs->tab.data[b];
	assert(a < vs->tab.len && b < vs->tab.len);
	if (p->kind != q->kind || p->kind < VK_NUM || p->kind > VK_WORD)
		return a < b ? -1 : a > b;
	uint32_t n = p->len < q->len ? p->len : q->len;
	int c = memcmp(p->text, q->text, n);
	return c ? c : p->len < q->len ? -1 : p->len > q->len;
}

/* ---- printing ------------------------------------------------------------ */

enum style { PLAIN, JSON, EDN };

static void print(const struct values *vs, val v, struct buf *out, enum style st, int depth)
{
	int64_t n;
	if (val_get_int(vs, v, &n)) {
		buf_printf(out, "%lld", (long long)n);
		return;
	}
	const struct value *x = &vs->tab.data[v];
	assert(v < vs->tab.len && depth >= 0);
	switch ((enum value_kind)x->kind) {
	case VK_NIL:
		buf_str(out, st == JSON ? "null" : "nil");
		break;
	case VK_BOOL:
		buf_str(out, v == VAL_TRUE ? "true" : "false");
		break;
	case VK_WORD:
		if (st == JSON) {
			buf_json(out, x->text, x->len);
		} else {
			if (st == EDN)
				buf_char(out, ':');
			buf_safe(out, x->text, x->len);
		}
		break;
	case VK_STR:
		if (st == PLAIN) {
			buf_char(out, '"');
			buf_safe(out, x->text, x->len);
			buf_char(out, '"');
		} else {
			buf_json(out, x->text, x->len);
		}
		break;
	case VK_LIST:
	case VK_SET: {
		bool set = x->kind == VK_SET;
		buf_str(out, st == JSON || !set ? "[" : "#{");
		for (uint32_t i = 0; i < x->len && depth < 64; i++) {
			if (i)
				buf_str(out, st == JSON ? "," : " ");
			print(vs, x->elems[i], out, st, depth + 1);
		}
		buf_str(out, st == JSON || !set ? "]" : "}");
		break;
	}
	case VK_NUM:
	case VK_INT:
		buf_add(out, x->text, x->len);
		break;
	}
}

void val_print_whole(const struct values *vs, val v, struct buf *out)
{
	print(vs, v, out, PLAIN, 0);
}

#define LONG_VALUE 64 /* bytes; what is longer is cut */
#define LONG_HEAD  36
#define LONG_TAIL  16

static bool inside_character(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

void val_print(const struct values *vs, val v, struct buf *out)
{
	size_t start = out->len;
	print(vs, v, out, PLAIN, 0);
	if (out->failed || out->len - start <= LONG_VALUE)
		return;
	size_t head = start + LONG_HEAD, tail = out->len - LONG_TAIL;
	assert(head < tail && tail < out->len);
	while (inside_character(out->data[head]))
		head--;
	while (inside_character(out->data[tail]))
		tail++;
	size_t rest = out->len - tail;
	memcpy(out->data + head, " ... ", 5);
	memmove(out->data + head + 5, out->data + tail, rest);
	out->len = head + 5 + rest;
	out->data[out->len] = '\0';
	assert(out->failed || out->len >= start);
}

void val_json(const struct values *vs, val v, struct buf *out)
{
	print(vs, v, out, JSON, 0);
}

void val_edn(const struct values *vs, val v, struct buf *out)
{
	print(vs, v, out, EDN, 0);
}
