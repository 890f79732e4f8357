#include "explore/product_agree.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "explore/product_int.h"

/*
 * A content, as 32-bit numbers:
 *
 *   length, 0, plain globals, shadow globals            a global
 *   length, kind + 1, frame, shadow frame, phase,       a local; the script is its choices, in the order in which
 *                     script                            they were pushed
 *
 * Numbers go in the byte order of the machine: ranks of one search run the same program.
 */

bool product_mark_all(struct product *x, struct product_mark *m)
{
	if (!m->frames) {
		m->frames = calloc(x->nkinds + 1ull, sizeof *m->frames);
		m->locals = calloc(x->nkinds + 1ull, sizeof *m->locals);
	}
	if (!x->wide)
		x->wide = malloc(PRODUCT_WIDE * sizeof *x->wide);
	if (!m->frames || !m->locals || !x->wide)
		return false;
	assert(x->globals.n && !x->out_of_memory);
	m->plain_globals = x->plain_globals.n;
	m->globals = x->agreed = x->globals.n;
	m->scripts = x->scripts.n;
	for (uint32_t i = 0; i < x->nkinds; i++) {
		struct prod_kind *k = &x->kinds[i];
		assert(k->ninfo == k->locals.n);
		m->frames[i] = k->frames.n;
		m->locals[i] = k->agreed = k->ninfo;
	}
	memset(x->wide, 0, PRODUCT_WIDE * sizeof *x->wide);
	return true;
}

void product_mark_free(struct product_mark *m)
{
	free(m->frames);
	free(m->locals);
	*m = (struct product_mark){ 0 };
}

uint64_t product_ids(const struct product *x)
{
	uint64_t n = (uint64_t)x->plain_globals.n + x->globals.n + x->scripts.n;
	for (uint32_t i = 0; i < x->nkinds; i++)
		n += (uint64_t)x->kinds[i].frames.n + x->kinds[i].ninfo;
	return n;
}

/* ---- telling ------------------------------------------------------------- */

static void add(struct buf *b, const int32_t *v, uint32_t n)
{
	if (n)
		buf_add(b, (const char *)v, n * sizeof *v);
}

static void add1(struct buf *b, uint32_t v)
{
	buf_add(b, (const char *)&v, sizeof v);
}

/* The choices of a script in the order in which they were pushed. */
static void add_script(const struct product *x, uint32_t script, struct buf *b)
{
	size_t at = b->len;
	for (uint32_t s = script; s; s = (uint32_t)vector_table_get(&x->scripts, s)[0])
		add1(b, (uint32_t)vector_table_get(&x->scripts, s)[1]);
	if (b->failed)
		return;
	uint32_t n = (uint32_t)((b->len - at) / 4);
	for (uint32_t i = 0; i < n / 2; i++) {
		char t[4], *low = b->data + at + 4 * i, *high = b->data + at + 4 * (n - 1 - i);
		memcpy(t, low, 4);
		memcpy(low, high, 4);
		memcpy(high, t, 4);
	}
}

/* The length goes before it. */
static size_t begin(struct buf *b, uint32_t tag)
{
	size_t at = b->len;
	add1(b, 0);
	add1(b, tag);
	return at;
}

static void end(struct buf *b, size_t at)
{
	assert(b->failed || ((b->len - at) % 4 == 0 && b->len - at >= 8));
	uint32_t n = (uint32_t)((b->len - at) / 4 - 1);
	if (!b->failed)
		memcpy(b->data + at, &n, sizeof n);
}

void product_tell(const struct product *x, const struct product_mark *m, struct buf *out)
{
	assert(m->globals <= x->globals.n && m->plain_globals <= x->plain_globals.n && m->scripts <= x->scripts.n);
	for (uint32_t i = m->globals; i < x->globals.n; i++) {
		const int32_t *v = vector_table_get(&x->globals, i);
		size_t at = begin(out, 0);
		add(out, vector_table_get(&x->plain_globals, (uint32_t)v[0]), x->plain_globals.width);
		add(out, vector_table_get(&x->plain_globals, (uint32_t)v[1]), x->plain_globals.width);
		end(out, at);
	}
	for (uint32_t t = 0; t < x->nkinds; t++) {
		const struct prod_kind *k = &x->kinds[t];
		assert(m->locals[t] <= k->ninfo && m->frames[t] <= k->frames.n);
		for (uint32_t i = m->locals[t]; i < k->ninfo; i++) {
			const struct prod_local *l = &k->info[i];
			size_t at = begin(out, t + 1);
			add(out, vector_table_get(&k->frames, l->frame), k->frames.width);
			add(out, vector_table_get(&k->frames, l->shadow), k->frames.width);
			add1(out, l->phase);
			add_script(x, l->script, out);
			end(out, at);
		}
	}
}

/* ---- agreeing ------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
	const int32_t *x = *(const int32_t *const *)a, *y = *(const int32_t *const *)b;
	uint32_t n = (uint32_t)x[0] < (uint32_t)y[0] ? (uint32_t)x[0] : (uint32_t)y[0];
	if (x[1] != y[1]) /* globals before locals, kind by kind */
		return x[1] < y[1] ? -1 : 1;
	int c = memcmp(x + 2, y + 2, (n - 1) * sizeof *x);
	return c ? c : (x[0] > y[0]) - (x[0] < y[0]);
}

static void truncate_all(struct product *x, const struct product_mark *m)
{
	vector_table_truncate(&x->plain_globals, m->plain_globals);
	vector_table_truncate(&x->globals, m->globals);
	vector_table_truncate(&x->scripts, m->scripts);
	for (uint32_t i = 0; i < x->nkinds; i++) {
		vector_table_truncate(&x->kinds[i].frames, m->frames[i]);
		vector_table_truncate(&x->kinds[i].locals, m->locals[i]);
		x->kinds[i].ninfo = m->locals[i];
		assert(x->kinds[i].agreed == m->locals[i]); /* no state has an id that is forgotten */
	}
}

static bool put_global(struct product *x, const int32_t *v, uint32_t n)
{
	uint32_t width = x->plain_globals.width;
	assert(x->agreed <= x->globals.n);
	if (n != 2 * width)
		return false;
	uint32_t plain = vector_table_add(&x->plain_globals, v), shadow = vector_table_add(&x->plain_globals, v + width);
	return plain != VECTOR_TABLE_NONE && shadow != VECTOR_TABLE_NONE &&
	       product_add_global(x, plain, shadow) != VECTOR_TABLE_NONE;
}

/* Is it a frame of this kind? */
static bool is_frame(const struct product *x, const struct prod_kind *k, const int32_t *v)
{
	const struct ir_template *t = &x->ir->templates[k->tmpl];
	return (uint32_t)v[0] >= t->node && (uint32_t)v[0] < t->node + t->nnode;
}

static bool put_local(struct product *x, struct prod_kind *k, const int32_t *v, uint32_t n)
{
	uint32_t width = k->frames.width, script = 0;
	bool commit = x->mode == PROD_COMMIT;
	if (n < 2 * width + 1 || !is_frame(x, k, v) || !is_frame(x, k, v + width) || (uint32_t)v[2 * width] > 1)
		return false;
	uint32_t frame = vector_table_add(&k->frames, v), shadow = commit ? vector_table_add(&k->frames, v + width) : 0;
	for (uint32_t i = 2 * width + 1; i < n && script != VECTOR_TABLE_NONE; i++) {
		int32_t pushed[2] = { (int32_t)script, v[i] };
		script = vector_table_add(&x->scripts, pushed);
	}
	return frame != VECTOR_TABLE_NONE && shadow != VECTOR_TABLE_NONE && script != VECTOR_TABLE_NONE &&
	       product_add_local(x, k, frame, shadow, script, (uint8_t)v[2 * width]) != VECTOR_TABLE_NONE;
}

static bool put(struct product *x, const int32_t *v)
{
	uint32_t n = (uint32_t)v[0] - 1, tag = (uint32_t)v[1];
	if (tag > x->nkinds)
		return false;
	return tag ? put_local(x, &x->kinds[tag - 1], v + 2, n) : put_global(x, v + 2, n);
}

/* Where each content begins; NULL: damaged, or out of memory. */
static const int32_t **contents(const int32_t *told, uint64_t words, uint64_t *n)
{
	uint64_t count = 0;
	for (uint64_t at = 0; at < words; count++) {
		uint64_t len = (uint32_t)told[at];
		if (!len || len > words - at - 1)
			return NULL;
		at += len + 1;
	}
	const int32_t **list = malloc((count + 1) * sizeof *list);
	*n = count;
	for (uint64_t i = 0, at = 0; list && i < count; i++) {
		list[i] = told + at;
		at += (uint32_t)told[at] + 1ull;
	}
	return list;
}

bool product_agree(struct product *x, struct product_mark *m, const unsigned char *told, const uint64_t *lengths, uint32_t n)
{
	uint64_t all = 0, count = 0;
	bool fit = true;
	for (uint32_t i = 0; i < n; i++) {
		fit &= lengths[i] % 4 == 0;
		all += lengths[i];
	}
	const int32_t **list = fit ? contents((const int32_t *)(const void *)told, all / 4, &count) : NULL;
	if (!list)
		return false;
	truncate_all(x, m);
	qsort(list, count, sizeof *list, compare);
	bool ok = true;
	for (uint64_t i = 0; ok && i < count; i++)
		if (!i || compare(&list[i - 1], &list[i]))
			ok = put(x, list[i]);
	free(list);
	return ok && product_mark_all(x, m);
}
