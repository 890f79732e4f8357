/*
 * product_save: the ids of a product, written and read.
 *
 * A state names its parts by ids, so a state that was written means something only with the
 * tables that gave out the ids. The tables are written in the order of the ids and filled in
 * that order again; what is derived (attributes, transitions) is computed again. What is read
 * is checked: an id that does not come out as it was is damage.
 */
#include "base/invariant.h"
#include "base/varint.h"
#include "explore/product_int.h"

static void put(struct buf *b, uint64_t v)
{
	unsigned char s[16];
	buf_add(b, (const char *)s, (size_t)(put_varint(s, v) - s));
}

/* Values change little from one vector to the next. */
static void put_table(struct buf *b, const struct vector_table *t)
{
	put(b, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		const int32_t *v = vector_table_get(t, i), *last = i ? vector_table_get(t, i - 1) : NULL;
		for (uint32_t k = 0; k < t->width; k++)
			put(b, zigzag((uint64_t)(int64_t)v[k], last ? (uint64_t)(int64_t)last[k] : 0));
	}
}

void product_save(const struct product *x, struct buf *b)
{
	put_table(b, &x->plain_globals);
	put_table(b, &x->globals);
	put_table(b, &x->scripts);
	put(b, x->nkinds);
	for (uint32_t i = 0; i < x->nkinds; i++) {
		assert(x->kinds[i].ninfo == x->kinds[i].locals.n);
		put_table(b, &x->kinds[i].frames);
		put_table(b, &x->kinds[i].locals);
	}
}

typedef uint32_t add_fn(struct product *x, struct prod_kind *k, struct vector_table *t, const int32_t *v);

static uint32_t add_vector(struct product *x, struct prod_kind *k, struct vector_table *t, const int32_t *v)
{
	(void)x, (void)k;
	return vector_table_add(t, v);
}

static uint32_t add_global(struct product *x, struct prod_kind *k, struct vector_table *t, const int32_t *v)
{
	(void)k, (void)t;
	bool there = (uint32_t)v[0] < x->plain_globals.n && (uint32_t)v[1] < x->plain_globals.n;
	return there ? product_add_global(x, (uint32_t)v[0], (uint32_t)v[1]) : VECTOR_TABLE_NONE;
}

/* A frame's first value is its node. */
static uint32_t add_frame(struct product *x, struct prod_kind *k, struct vector_table *t, const int32_t *v)
{
	const struct ir_template *tm = &x->ir->templates[k->tmpl];
	bool there = (uint32_t)v[0] >= tm->node && (uint32_t)v[0] < tm->node + tm->nnode;
	return there ? vector_table_add(t, v) : VECTOR_TABLE_NONE;
}

static uint32_t add_local(struct product *x, struct prod_kind *k, struct vector_table *t, const int32_t *v)
{
	uint32_t frame = (uint32_t)v[0], shadow = (uint32_t)v[1], script = (uint32_t)v[2], phase = (uint32_t)v[3],
		 frames = k->frames.n;
	(void)t;
	bool there = frame < frames && script < x->scripts.n && phase <= 1 &&
	             (x->mode == PROD_COMMIT ? shadow < frames : !shadow && !script && !phase) &&
	             (!phase || product_marked(x, (uint32_t)vector_table_get(&k->frames, frame)[0]));
	uint32_t id = there ? product_add_local(x, k, frame, shadow, script, (uint8_t)phase) : VECTOR_TABLE_NONE;
	return k->frames.n == frames ? id : VECTOR_TABLE_NONE; /* every frame was there */
}

static bool get_table(struct cursor *c, struct product *x, struct prod_kind *k, struct vector_table *t, add_fn *add)
{
	uint64_t n = get_varint(c), from = t->n;
	int32_t *v = calloc(t->width + 1ull, sizeof *v);
	bool ok = v && n >= from && n < UINT32_MAX;
	for (uint64_t i = 0; ok && i < n; i++) {
		for (uint32_t j = 0; j < t->width; j++)
			v[j] = (int32_t)(int64_t)unzigzag(get_varint(c), (uint64_t)(int64_t)v[j]);
		ok = !c->bad && add(x, k, t, v) == i; /* also for those that are there from the start */
	}
	free(v);
	return ok;
}

bool product_load(struct product *x, struct cursor *c)
{
	bool ok = get_table(c, x, NULL, &x->plain_globals, add_vector) && get_table(c, x, NULL, &x->globals, add_global) &&
	          get_table(c, x, NULL, &x->scripts, add_vector) && get_varint(c) == x->nkinds;
	for (uint32_t i = 0; ok && i < x->nkinds; i++)
		ok = get_table(c, x, &x->kinds[i], &x->kinds[i].frames, add_frame) &&
		     get_table(c, x, &x->kinds[i], &x->kinds[i].locals, add_local);
	return ok && !x->out_of_memory;
}
