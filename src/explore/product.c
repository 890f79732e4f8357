/*
 * product: see product.h. Here are the tables and the memo.
 */
#include "explore/product_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"

/* ---- tables ------------------------------------------------------------- */

uint32_t product_add_global(struct product *x, uint32_t g, uint32_t shadow)
{
	assert(g < x->plain_globals.n && shadow < x->plain_globals.n);
	int32_t v[2] = { (int32_t)g, (int32_t)shadow };
	uint32_t before = x->globals.n, id = vector_table_add(&x->globals, v);
	if (id == VECTOR_TABLE_NONE || id < before)
		return id;
	bool ok = stable_array_reserve(&x->unequal, (uint64_t)id + 1);
	for (uint32_t i = 0; ok && i < x->nkinds; i++) /* rows can be asked for from now on */
		ok = stable_array_reserve(&x->kinds[i].rows, (uint64_t)id + 1);
	if (!ok)
		return VECTOR_TABLE_NONE;
	*(bool *)stable_array_at(&x->unequal, id) = g != shadow;
	return id;
}

/* The frame with the slots that are dead at its node zeroed; the frame itself
 * unless the program keeps dead slots. */
static uint32_t canonical(struct product *x, struct prod_kind *k, uint32_t frame)
{
	const struct ir_node *n = &x->ir->nodes[vector_table_get(&k->frames, frame)[0]];
	if (!n->ndead)
		return frame;
	int32_t *f = malloc(sizeof *f * k->frames.width);
	if (!f)
		return VECTOR_TABLE_NONE;
	memcpy(f, vector_table_get(&k->frames, frame), sizeof *f * k->frames.width);
	for (uint32_t i = 0; i < n->ndead; i++)
		f[x->ir->kills[n->dead + i]] = 0;
	uint32_t id = vector_table_add(&k->frames, f);
	free(f);
	return id;
}

uint32_t product_add_local(struct product *x, struct prod_kind *k, uint32_t frame, uint32_t shadow, uint32_t script, uint8_t phase)
{
	assert(frame < k->frames.n && script < x->scripts.n && phase <= 1);
	assert(x->mode == PROD_COMMIT ? shadow < k->frames.n : !shadow && !script && !phase);
	int32_t v[4] = { (int32_t)frame, (int32_t)shadow, (int32_t)script, phase };
	uint32_t id = vector_table_add(&k->locals, v);
	if (id == VECTOR_TABLE_NONE || id < k->ninfo)
		return id;
	if (!GROW(k->info, k->cap, id + 1ull) || !stable_array_reserve(&k->attr, (uint64_t)id + 1))
		return VECTOR_TABLE_NONE;
	uint32_t node = (uint32_t)vector_table_get(&k->frames, frame)[0];
	uint32_t canon = canonical(x, k, frame);
	if (canon == VECTOR_TABLE_NONE)
		return VECTOR_TABLE_NONE;
	bool equal = x->mode == PROD_COMMIT && canon == canonical(x, k, shadow);
	bool inside = product_marked(x, node);
	k->info[id] = (struct prod_local){ frame, shadow, script, phase, inside, equal, canon };
	*(uint8_t *)stable_array_at(&k->attr, id) = (uint8_t)((inside ? PRODA_INSIDE : 0) | (equal ? 0 : PRODA_UNEQUAL) |
	                                                      (x->ir->nodes[node].kind == IRN_END ? PRODA_END : 0));
	assert(id == k->ninfo && id < k->cap);
	assert(!phase || inside); /* a block that was left is over */
	k->ninfo = id + 1;
	return id;
}

bool product_init(struct product *x, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab)
{
	assert(block == PROD_BLOCK_ALL || block < ir->nblocks);
	assert(mode == PROD_COMMIT || !lab);
	memset(x, 0, sizeof *x);
	x->ir = ir;
	x->mode = mode;
	x->block = block;
	x->lab = lab;
	x->limit = x->agreed = UINT32_MAX;
	pthread_mutex_init(&x->lock, NULL);
	stable_array_init(&x->unequal, 1);
	stable_array_init(&x->edges, sizeof(struct prod_edge));
	x->kind_of = calloc(ir->nthreads + 1, sizeof *x->kind_of);
	x->kinds = calloc(ir->nthreads + 1, sizeof *x->kinds);
	uint32_t widest = ir->nglobals;
	for (uint32_t t = 0; t < ir->ntemplates; t++)
		if (ir->templates[t].nslots > widest)
			widest = ir->templates[t].nslots;
	x->scratch = calloc((size_t)widest + 1, 8 * sizeof *x->scratch);
	if (!x->kind_of || !x->kinds || !x->scratch)
		return false;
	for (uint32_t i = 0; i < ir->nthreads; i++) {
		uint32_t t = ir->threads[i].tmpl;
		const struct ir_template *tm = &ir->templates[t];
		if (!tm->names_threads && i != tm->first_thread) {
			x->kind_of[i] = x->kind_of[i - 1];
			continue;
		}
		struct prod_kind *k = &x->kinds[x->nkinds];
		k->tmpl = t;
		k->thread = i;
		vector_table_init(&k->frames, tm->nslots);
		vector_table_init(&k->locals, 4);
		k->limit = k->agreed = UINT32_MAX;
		stable_array_init(&k->attr, 1);
		stable_array_init(&k->rows, sizeof(struct prod_row *));
		x->kind_of[i] = x->nkinds++;
	}
	assert(x->nkinds <= ir->nthreads);
	vector_table_init(&x->plain_globals, ir->nglobals);
	vector_table_init(&x->globals, 2);
	vector_table_init(&x->scripts, 3);
	int32_t empty[3] = { -1, -1, -1 };
	return vector_table_add(&x->scripts, empty) == 0;
}

void product_free(struct product *x)
{
	for (uint32_t i = 0; i < x->nkinds; i++) {
		struct prod_kind *k = &x->kinds[i];
		for (uint64_t g = 0; g < k->rows.cap; g++)
			free(*(struct prod_row **)stable_array_at(&k->rows, (uint32_t)g));
		vector_table_free(&k->frames);
		vector_table_free(&k->locals);
		stable_array_free(&k->attr);
		stable_array_free(&k->rows);
		free(k->memo);
		free(k->info);
	}
	for (uint32_t i = 0; i < x->nretired; i++)
		free(x->retired[i]);
	free(x->retired);
	free(x->kinds);
	free(x->kind_of);
	vector_table_free(&x->plain_globals);
	vector_table_free(&x->globals);
	vector_table_free(&x->scripts);
	stable_array_free(&x->unequal);
	stable_array_free(&x->edges);
	locks_free(&x->locks);
	free(x->moves);
	free(x->scratch);
	free(x->wide);
	pthread_mutex_destroy(&x->lock);
	memset(x, 0, sizeof *x);
}

uint32_t product_initial_global(struct product *x)
{
	uint32_t g = vector_table_add(&x->plain_globals, x->ir->init);
	return product_add_global(x, g, g);
}

uint32_t product_initial_local(struct product *x, uint32_t thread)
{
	struct prod_kind *k = &x->kinds[x->kind_of[thread]];
	uint32_t f = vector_table_add(&k->frames, x->ir->init + x->ir->threads[thread].frame);
	return product_add_local(x, k, f, x->mode == PROD_COMMIT ? f : 0, 0, 0);
}

uint64_t product_bytes(const struct product *x)
{
	uint64_t n = vector_table_bytes(&x->plain_globals) + vector_table_bytes(&x->globals) + vector_table_bytes(&x->scripts) +
	             stable_array_bytes(&x->edges) + stable_array_bytes(&x->unequal) + (uint64_t)x->cap_moves * 4 + x->row_bytes;
	for (uint32_t i = 0; i < x->nkinds; i++) {
		const struct prod_kind *k = &x->kinds[i];
		n += vector_table_bytes(&k->frames) + vector_table_bytes(&k->locals) + stable_array_bytes(&k->attr) +
		     stable_array_bytes(&k->rows) + (uint64_t)k->cap * sizeof *k->info;
	}
	return n;
}

/* ---- memo --------------------------------------------------------------- */

#define ROWS_MAX ((uint64_t)256 << 20) /* bytes of rows; then the map takes over */

/* Keeps what readers may still be looking at until the end. */
static bool retire(struct product *x, void *p)
{
	if (p && !GROW(x->retired, x->cap_retired, x->nretired + 1ull))
		return false;
	if (p)
		x->retired[x->nretired++] = p;
	return true;
}

/* The row of a global state, long enough for the local one; NULL if there is
 * none and none is to be made. */
static struct prod_row *row_for(struct product *x, struct prod_kind *k, uint32_t global, uint32_t local)
{
	assert(global < x->globals.n && local < k->ninfo + 4096ull);
	struct prod_row **at = stable_array_at(&k->rows, global), *old = *at;
	if (old && local < old->cap)
		return old;
	/* as wide as the ids that states have room for, when that is little */
	uint32_t cap = k->limit <= 64 ? k->limit : 16;
	while (cap <= local)
		cap *= 2;
	uint64_t bytes = sizeof *old + (uint64_t)cap * 8;
	if (x->row_bytes + bytes > ROWS_MAX)
		return NULL;
	struct prod_row *row = calloc(1, bytes);
	if (!row || !retire(x, old)) {
		free(row);
		return NULL;
	}
	assert(cap > local && (!old || cap > old->cap));
	row->cap = cap;
	if (old)
		memcpy(row->entry, old->entry, old->cap * sizeof *row->entry);
	x->row_bytes += bytes;
	__atomic_store_n(at, row, __ATOMIC_RELEASE);
	return row;
}

static struct prod_slot *map_locate(struct prod_map *m, uint64_t key)
{
	assert(m->n < m->cap && !(m->cap & (m->cap - 1)));
	uint64_t i = hash64(key) & (m->cap - 1);
	for (; __atomic_load_n(&m->slot[i].entry, __ATOMIC_ACQUIRE) && m->slot[i].key != key;)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

static bool map_grow(struct product *x, struct prod_kind *k)
{
	struct prod_map *old = k->memo;
	uint64_t cap = old ? old->cap * 2 : 4096, bytes = sizeof *old + cap * sizeof *old->slot;
	struct prod_map *m = calloc(1, bytes);
	if (!m || !retire(x, old)) {
		free(m);
		return false;
	}
	m->cap = cap;
	for (uint64_t i = 0; old && i < old->cap; i++)
		if (old->slot[i].entry)
			*map_locate(m, old->slot[i].key) = old->slot[i];
	m->n = old ? old->n : 0;
	x->row_bytes += bytes;
	__atomic_store_n(&k->memo, m, __ATOMIC_RELEASE);
	return true;
}

static bool remember(struct product *x, struct prod_kind *k, uint32_t global, uint32_t local, uint64_t entry)
{
	assert(entry && entry != PROD_WIDEN);
	struct prod_row *row = row_for(x, k, global, local);
	if (row) {
		__atomic_store_n(&row->entry[local], entry, __ATOMIC_RELEASE);
		return true;
	}
	if ((!k->memo || k->memo->n >= k->memo->cap / 4 * 3) && !map_grow(x, k))
		return false;
	struct prod_slot *slot = map_locate(k->memo, (uint64_t)global << 32 | local);
	slot->key = (uint64_t)global << 32 | local;
	__atomic_store_n(&slot->entry, entry, __ATOMIC_RELEASE);
	k->memo->n++;
	return true;
}

static uint64_t recall(const struct prod_kind *k, uint32_t global, uint32_t local)
{
	const struct prod_row *row = product_row(k, global);
	if (row && local < row->cap) {
		uint64_t e = __atomic_load_n(&row->entry[local], __ATOMIC_ACQUIRE);
		if (e)
			return e;
	}
	struct prod_map *m = __atomic_load_n(&k->memo, __ATOMIC_ACQUIRE);
	return m ? __atomic_load_n(&map_locate(m, (uint64_t)global << 32 | local)->entry, __ATOMIC_ACQUIRE) : 0;
}

static bool save_moves(struct product *x, const struct computing *c, const struct product_outcome *o)
{
	if (o->nmoves > UINT32_MAX / 2 - x->nmoves || !GROW(x->moves, x->cap_moves, x->nmoves + o->nmoves))
		return false;
	for (uint32_t i = o->nmoves, at = o->last; i-- > 0; at = c->chain[at].before)
		x->moves[x->nmoves + i] = c->chain[at].number;
	assert(o->nmoves && x->nmoves + o->nmoves <= x->cap_moves && o->last < c->nchain);
	x->nmoves += o->nmoves;
	return true;
}

/* The outcomes as a list after a header; where that is, or PROD_NONE. */
static uint32_t save(struct product *x, const struct computing *c)
{
	uint64_t at = stable_array_run(x->nedges, (uint64_t)c->nout + 1);
	if (at + c->nout + 1 > UINT32_MAX - 8 || !stable_array_reserve(&x->edges, at + c->nout + 1))
		return PROD_NONE;
	struct prod_edge *list = stable_array_at(&x->edges, (uint32_t)at);
	list[0] = (struct prod_edge){ .global = c->nout };
	for (uint32_t i = 0; i < c->nout; i++) {
		const struct product_outcome *o = &c->out[i];
		list[i + 1] = (struct prod_edge){ o->global, o->local, o->flags, x->nmoves, o->nmoves };
		if (!save_moves(x, c, o))
			return PROD_NONE;
	}
	assert(at >= x->nedges && at + c->nout + 1 <= x->edges.cap);
	x->nedges = at + c->nout + 1;
	return (uint32_t)at;
}

static bool within_limits(const struct product *x, const struct prod_kind *k, const struct computing *c)
{
	for (uint32_t i = 0; i < c->nout; i++)
		if (c->out[i].global >= x->limit || c->out[i].local >= k->limit || c->out[i].global >= x->agreed ||
		    c->out[i].local >= k->agreed)
			return false;
	return true;
}

static bool is_simple(const struct product *x, const struct computing *c)
{
	return x->simple && c->nout == 1 && !(c->out[0].flags & ~(uint32_t)PRODF_COMMIT) && c->out[0].global < 0x7ffffffe;
}

static uint64_t compute(struct product *x, struct prod_kind *k, uint32_t global, uint32_t local)
{
	struct computing c = { .x = x, .k = k };
	uint64_t entry = PROD_TROUBLE;
	uint32_t at;
	assert(global < x->globals.n && local < k->ninfo);
	product_merged_step(&c, global, local);
	x->computed++;
	if (x->out_of_memory)
		;
	else if (!within_limits(x, k, &c))
		entry = PROD_WIDEN; /* worked out again when there is room */
	else if (!c.nout && x->simple)
		entry = PROD_BLOCKED;
	else if (is_simple(x, &c))
		entry = (uint64_t)(c.out[0].global + 1) << 32 | c.out[0].local;
	else if ((at = save(x, &c)) != PROD_NONE)
		entry = PROD_LIST + at;
	else
		x->out_of_memory = true;
	if (entry != PROD_TROUBLE && entry != PROD_WIDEN && k->info[local].inside)
		entry |= PROD_INSIDE;
	assert(entry == PROD_WIDEN || entry == PROD_TROUBLE || (entry & ~PROD_INSIDE) == PROD_BLOCKED || product_is_list(entry) ||
	       entry >> 32);
	free(c.out);
	free(c.chain);
	return entry;
}

/* Where it is remembered that a step has a new id: among ranks that lasts until the end of the level, and the step is not to
 * be worked out for each state again. A fingerprint that is another step's only makes a state wait. */
static uint64_t *wide_slot(const struct product *x, uint64_t step)
{
	return x->wide ? &x->wide[(step >> 32) % PRODUCT_WIDE] : NULL;
}

uint64_t product_code_slow(struct product *x, uint32_t kind, uint32_t global, uint32_t local)
{
	assert(kind < x->nkinds && local < x->kinds[kind].ninfo);
	struct prod_kind *k = &x->kinds[kind];
	uint64_t e = recall(k, global, local);
	if (e)
		return e;
	pthread_mutex_lock(&x->lock);
	e = recall(k, global, local); /* another thread may have been faster */
	uint64_t step = (hash64((uint64_t)global << 32 | local) + kind) | 1, *wide = wide_slot(x, step);
	if (!e && wide && *wide == step) {
		e = PROD_WIDEN;
	} else if (!e && !x->out_of_memory) {
		e = compute(x, k, global, local);
		if (wide && e == PROD_WIDEN)
			*wide = step;
		if (e != PROD_WIDEN && e != PROD_TROUBLE && !remember(x, k, global, local, e)) {
			x->out_of_memory = true;
			e = PROD_TROUBLE;
		}
	}
	pthread_mutex_unlock(&x->lock);
	return e;
}

const struct prod_row *product_whole_row(struct product *x, uint32_t kind, uint32_t global)
{
	struct prod_kind *k = &x->kinds[kind];
	pthread_mutex_lock(&x->lock);
	const struct prod_row *row = k->limit <= 4096 ? row_for(x, k, global, k->limit - 1) : NULL;
	pthread_mutex_unlock(&x->lock);
	return row;
}

const struct prod_edge *product_step(struct product *x, uint32_t kind, uint32_t global, uint32_t local, uint32_t *n)
{
	uint64_t e = product_code(x, kind, global, local);
	assert(!x->simple);
	assert(e == PROD_TROUBLE || e == PROD_WIDEN || product_is_list(e));
	*n = 0;
	return e == PROD_TROUBLE || e == PROD_WIDEN ? NULL : product_list(x, e, n);
}
