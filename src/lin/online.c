#include "lin/online.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "ir/seqspec.h"

static uint32_t mask_words(const struct online *o)
{
	return (o->nslots + 31) / 32;
}

static uint32_t stride(const struct online *o)
{
	return 1 + mask_words(o) + o->nslots;
}

static uint32_t *row(const struct online *o, const struct online_rows *r, uint32_t i)
{
	assert(i < r->cap);
	return r->w + (size_t)i * stride(o);
}

static bool has(const uint32_t *row, uint32_t slot)
{
	return row[1 + slot / 32] >> slot % 32 & 1;
}

static void put(uint32_t *row, uint32_t slot, bool on)
{
	assert(slot < UINT32_MAX - 31);
	uint32_t bit = 1u << slot % 32;
	row[1 + slot / 32] = on ? row[1 + slot / 32] | bit : row[1 + slot / 32] & ~bit;
}

static uint32_t *saw(const struct online *o, uint32_t *row, uint32_t slot)
{
	assert(slot < o->nslots);
	return row + 1 + mask_words(o) + slot;
}

static bool rows_reserve(struct online *o, struct online_rows *r, uint32_t n)
{
	if (n <= r->cap)
		return true;
	uint32_t cap = n * 2 + 16;
	size_t s = stride(o) * 4ull;
	uint32_t *w = lim_realloc(o->lim, r->w, r->cap * s, cap * s);
	if (!w) {
		o->failed = true;
		return false;
	}
	r->w = w;
	r->cap = cap;
	assert(n <= r->cap);
	return true;
}

/* ---- slots -------------------------------------------------------------------- */

/* More slots, a few at first: rows are laid out again. */
static bool more_slots(struct online *o)
{
	uint32_t old = o->nslots, oldm = mask_words(o), olds = o->nslots ? stride(o) : 0;
	uint32_t more = old < 16 ? 8 : (old / 2 + 7) / 8 * 8;
	struct slot *s = lim_realloc(o->lim, o->slots, old * sizeof *s, (old + more) * sizeof *s);
	if (!s) {
		o->failed = true;
		return false;
	}
	memset(s + old, 0, more * sizeof *s);
	o->slots = s;
	o->nslots = old + more;
	uint32_t news = stride(o), newm = mask_words(o), cap = o->cur.n + 16;
	uint32_t *w = lim_realloc(o->lim, NULL, 0, (size_t)cap * news * 4);
	uint32_t *scratch = lim_realloc(o->lim, o->scratch, olds * 4ull, news * 4ull);
	if (scratch)
		o->scratch = scratch;
	if (!w || !scratch) {
		o->failed = true;
		lim_free(o->lim, w, w ? (size_t)cap * news * 4 : 0);
		return false;
	}
	memset(w, 0, (size_t)cap * news * 4);
	for (uint32_t i = 0; i < o->cur.n; i++) {
		const uint32_t *a = o->cur.w + (size_t)i * olds;
		uint32_t *b = w + (size_t)i * news;
		memcpy(b, a, (1 + oldm) * 4ull);
		memcpy(b + 1 + newm, a + 1 + oldm, old * 4ull);
	}
	lim_free(o->lim, o->cur.w, (size_t)o->cur.cap * olds * 4);
	lim_free(o->lim, o->out.w, (size_t)o->out.cap * olds * 4);
	o->cur.w = w;
	o->cur.cap = cap;
	o->out = (struct online_rows){ 0 };
	assert(o->nslots > old);
	return true;
}

bool online_open(struct online *o, const struct spec *spec, const struct values *vals, val init, uint32_t k, struct limits *lim,
                 const void *user)
{
	memset(o, 0, sizeof *o);
	o->lim = lim;
	spec_open(&o->obj, spec, vals, lim, k);
	o->obj.user = user;
	spec_open(&o->sets, NULL, vals, lim, 0);
	states_intern(&o->sets, NULL, 0); /* 0: nothing seen */
	if (!more_slots(o))
		return false;
	row(o, &o->cur, 0)[0] = spec->init(&o->obj, init);
	o->cur.n = 1;
	return !o->obj.failed;
}

void online_close(struct online *o)
{
	size_t s = o->nslots ? stride(o) * 4ull : 0;
	lim_free(o->lim, o->cur.w, o->cur.cap * s);
	lim_free(o->lim, o->out.w, o->out.cap * s);
	lim_free(o->lim, o->scratch, o->scratch ? s : 0);
	lim_free(o->lim, o->slots, o->nslots * sizeof *o->slots);
	lim_free(o->lim, o->heads, o->nheads * 4ull);
	lim_free(o->lim, o->link, o->clink * 4ull);
	spec_close(&o->obj);
	spec_close(&o->sets);
}

/* ---- the set of rows ------------------------------------------------------------- */

static bool is_crashed_bit(const struct online *o, uint32_t word, uint32_t *mask)
{
	*mask = 0;
	for (uint32_t b = 0; b < 32 && word * 32 + b < o->nslots && o->ncrashed; b++)
		if (o->slots[word * 32 + b].crashed)
			*mask |= 1u << b;
	return *mask != 0;
}

static uint32_t row_hash(const struct online *o, const uint32_t *r)
{
	uint64_t h = r[0];
	uint32_t m;
	for (uint32_t i = 0; i < mask_words(o); i++) {
		is_crashed_bit(o, i, &m);
		h = (h ^ (r[1 + i] & ~m)) * 0xD6E8FEB86659FD93u;
		h ^= h >> 31;
	}
	for (uint32_t s = 0; s < o->nslots; s++) {
		if (o->slots[s].observer)
			continue; /* rows that differ in what readers may see are compared */
		h = (h ^ r[1 + mask_words(o) + s]) * 0xD6E8FEB86659FD93u;
		h ^= h >> 31;
	}
	return (uint32_t)hash64(h);
}

/* Are all states of set a in set b? Both ascend. */
static bool within(const struct online *o, uint32_t a, uint32_t b)
{
	assert(a < o->sets.st.n && b < o->sets.st.n);
	if (a == b)
		return true;
	const uint32_t *x = states_at(&o->sets, a), *y = states_at(&o->sets, b);
	uint32_t n = states_len(&o->sets, a), m = states_len(&o->sets, b), j = 0;
	if (n >= m)
		return false;
	for (uint32_t i = 0; i < n; i++, j++) {
		while (j < m && y[j] < x[i])
			j++;
		if (j == m || y[j] != x[i])
			return false;
	}
	return true;
}

/* Does a make b superfluous? It is equal, except that it used fewer of the
 * crashed ones, and its readers may have seen all that those of b may: then
 * whatever can happen from b on can happen from a on. */
static bool covers(const struct online *o, const uint32_t *a, const uint32_t *b)
{
	uint32_t m, after = 1 + mask_words(o);
	if (a[0] != b[0])
		return false;
	for (uint32_t i = 0; i < mask_words(o); i++) {
		is_crashed_bit(o, i, &m);
		if ((a[1 + i] ^ b[1 + i]) & ~m || a[1 + i] & m & ~b[1 + i])
			return false;
	}
	for (uint32_t s = 0; s < o->nslots; s++)
		if (a[after + s] != b[after + s] && (!o->slots[s].observer || !within(o, b[after + s], a[after + s])))
			return false;
	return true;
}

static void set_clear(struct online *o)
{
	o->out.n = 0;
	if (o->nheads)
		memset(o->heads, 0, o->nheads * 4ull);
	assert(!o->out.n);
}

static bool set_grow(struct online *o)
{
	if (!rows_reserve(o, &o->out, o->out.n + 1))
		return false;
	if (o->out.cap > o->clink) {
		uint32_t *l = lim_realloc(o->lim, o->link, o->clink * 4ull, o->out.cap * 4ull);
		if (!l) {
			o->failed = true;
			return false;
		}
		o->link = l;
		o->clink = o->out.cap;
	}
	if (o->out.n < o->nheads)
		return true;
	uint32_t n = o->nheads ? o->nheads * 2 : 64;
	uint32_t *h = lim_realloc(o->lim, NULL, 0, n * 4ull);
	if (!h) {
		o->failed = true;
		return false;
	}
	memset(h, 0, n * 4ull);
	for (uint32_t i = 0; i < o->out.n; i++) {
		uint32_t b = row_hash(o, row(o, &o->out, i)) & (n - 1);
		o->link[i] = h[b];
		h[b] = i + 1;
	}
	lim_free(o->lim, o->heads, o->nheads * 4ull);
	o->heads = h;
	o->nheads = n;
	return true;
}

/* Adds a row to `out` unless it is covered there; with `replace` it takes the
 * place of one that it covers. */
static void set_add(struct online *o, const uint32_t *r, bool replace)
{
	if (!set_grow(o))
		return;
	assert(o->nheads && !(o->nheads & (o->nheads - 1)) && o->out.n < o->out.cap);
	uint32_t b = row_hash(o, r) & (o->nheads - 1);
	for (uint32_t i = o->heads[b]; i; i = o->link[i - 1]) {
		uint32_t *there = row(o, &o->out, i - 1);
		if (covers(o, there, r))
			return;
		if (replace && covers(o, r, there)) {
			memcpy(there, r, stride(o) * 4ull);
			return;
		}
	}
	if (o->max_rows && o->out.n >= o->max_rows) {
		o->failed = o->over = true;
		return;
	}
	memcpy(row(o, &o->out, o->out.n), r, stride(o) * 4ull);
	o->link[o->out.n] = o->heads[b];
	o->heads[b] = ++o->out.n;
}

/* ---- taking effect ------------------------------------------------------------------ */

static uint32_t set_with(struct online *o, uint32_t set, uint32_t state)
{
	assert(set < o->sets.st.n);
	uint32_t n = 0, m = 0, *t;
	n = (uint32_t)(o->sets.st.start[set + 1] - o->sets.st.start[set]);
	const uint32_t *w = states_at(&o->sets, set);
	for (uint32_t i = 0; i < n; i++)
		if (w[i] == state)
			return set;
	t = malloc((n + 1ull) * 4);
	if (!t) {
		o->failed = true;
		return set;
	}
	while (m < n && w[m] < state) {
		t[m] = w[m];
		m++;
	}
	t[m] = state;
	for (uint32_t i = m; i < n; i++)
		t[i + 1] = w[i];
	uint32_t id = states_intern(&o->sets, t, n + 1);
	free(t);
	o->failed |= o->sets.failed;
	return id;
}

static bool answers(const struct hop *op)
{
	return op->fn == FN_CAS || op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_POLL || op->fn == FN_REMOVE ||
	       op->fn == FN_ADD || op->fn >= FN_COUNT;
}

/* Slot y takes effect in row r: into o->scratch. */
static bool take_effect(struct online *o, const uint32_t *r, uint32_t y)
{
	assert(y < o->nslots && o->slots[y].used && !has(r, y));
	uint32_t next, *t = o->scratch;
	if (!o->obj.spec->apply(&o->obj, r[0], &o->slots[y].op, &next))
		return false;
	if (o->slots[y].crashed && next == r[0])
		return false;
	memcpy(t, r, stride(o) * 4ull);
	t[0] = next;
	put(t, y, true);
	if (!o->slots[y].crashed && answers(&o->slots[y].op))
		*saw(o, t, y) = r[0] + 1;
	if (next != r[0])
		for (uint32_t s = 0; s < o->nslots; s++)
			if (o->slots[s].used && o->slots[s].observer)
				*saw(o, t, s) = set_with(o, *saw(o, t, s), next);
	return true;
}

/* An equal crashed operation that is older and unused goes first. */
static bool not_its_turn(const struct online *o, const uint32_t *r, uint32_t y)
{
	assert(y < o->nslots);
	const struct slot *a = &o->slots[y];
	if (!a->crashed)
		return false;
	for (uint32_t s = 0; s < o->nslots; s++) {
		const struct slot *b = &o->slots[s];
		if (s != y && b->used && b->crashed && b->id < a->id && !has(r, s) && a->op.fn == b->op.fn && a->op.a == b->op.a &&
		    a->op.b == b->op.b)
			return true;
	}
	return false;
}

/* 1 the row satisfies the response of slot x, 0 not yet, -1 it never will. */
static int satisfied(struct online *o, const uint32_t *r, uint32_t x, const struct hop *op)
{
	assert(x < o->nslots && o->slots[x].used);
	uint32_t next, seen = *saw(o, (uint32_t *)(uintptr_t)r, x);
	if (o->slots[x].observer) {
		uint32_t n = (uint32_t)(o->sets.st.start[seen + 1] - o->sets.st.start[seen]);
		for (uint32_t i = 0; i < n; i++)
			if (o->obj.spec->apply(&o->obj, states_at(&o->sets, seen)[i], op, &next))
				return 1;
		return 0;
	}
	if (!has(r, x))
		return 0;
	if (!seen)
		return 1;
	return o->obj.spec->apply(&o->obj, seen - 1, op, &next) ? 1 : -1;
}

static void swap_rows(struct online *o)
{
	struct online_rows t = o->cur;
	o->cur = o->out;
	o->out = t;
	if (o->cur.n > o->peak)
		o->peak = o->cur.n;
	assert(o->peak >= o->cur.n);
}

/* ---- keeping it small ------------------------------------------------------------------ */

/* Sets and states that no row mentions any more are forgotten. */
static void collect(struct online *o)
{
	struct spec_ctx sets, obj;
	bool states = o->obj.spec->move && o->obj.st.n + o->obj.ntexts > 4096 + 64 * o->cur.n;
	if (o->sets.st.n < 4096 + 64 * o->cur.n && !states)
		return;
	spec_open(&sets, NULL, o->obj.vals, o->lim, 0);
	spec_open(&obj, o->obj.spec, o->obj.vals, o->lim, o->obj.k);
	obj.user = o->obj.user;
	states_intern(&sets, NULL, 0);
	uint32_t *tmp = NULL;
	for (uint32_t i = 0; i < o->cur.n; i++) {
		uint32_t *r = row(o, &o->cur, i);
		for (uint32_t s = 0; s < o->nslots; s++) {
			uint32_t *v = saw(o, r, s);
			if (!*v)
				continue;
			if (!o->slots[s].observer) {
				if (states)
					*v = o->obj.spec->move(&o->obj, *v - 1, &obj) + 1;
				continue;
			}
			uint32_t n = (uint32_t)(o->sets.st.start[*v + 1] - o->sets.st.start[*v]);
			uint32_t *t = realloc(tmp, n * 4ull + 4);
			if (!t) {
				o->failed = true;
				break;
			}
			tmp = t;
			for (uint32_t j = 0; j < n; j++) {
				uint32_t x = states_at(&o->sets, *v)[j];
				uint32_t k = j;
				x = states ? o->obj.spec->move(&o->obj, x, &obj) : x;
				for (; k > 0 && t[k - 1] > x; k--) /* sets stay sorted */
					t[k] = t[k - 1];
				t[k] = x;
			}
			*v = states_intern(&sets, t, n);
		}
		if (states)
			r[0] = o->obj.spec->move(&o->obj, r[0], &obj);
	}
	free(tmp);
	o->failed |= sets.failed | obj.failed;
	spec_close(&o->sets);
	o->sets = sets;
	if (states) {
		spec_close(&o->obj);
		o->obj = obj;
	} else {
		spec_close(&obj);
	}
}

/* ---- events ------------------------------------------------------------------------------ */

uint32_t online_call(struct online *o, const struct hop *op, uint32_t id)
{
	uint32_t s = 0;
	while (s < o->nslots && o->slots[s].used)
		s++;
	if (s == o->nslots && !more_slots(o))
		return RANK_INF;
	struct slot *t = &o->slots[s];
	*t = (struct slot){ .op = *op, .id = id, .used = true };
	t->op.ret = RANK_INF;
	t->op.res = RES_NONE;
	t->observer = op->fn == FN_READ || op->fn == FN_PEEK || op->fn == FN_CONTAINS;
	if (op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_POLL || op->fn >= FN_COUNT)
		t->op.b = VAL_NONE;
	o->nopen++;
	for (uint32_t i = 0; i < o->cur.n && t->observer; i++) {
		uint32_t *r = row(o, &o->cur, i);
		*saw(o, r, s) = set_with(o, 0, r[0]);
	}
	return o->failed ? RANK_INF : s;
}

static void release(struct online *o, uint32_t slot)
{
	assert(o->slots[slot].used && o->nopen);
	o->slots[slot].used = o->slots[slot].observer = o->slots[slot].crashed = false;
	o->nopen--;
}

/* The rows in `cur` without slot x, merged. */
static void merge(struct online *o, uint32_t x, bool keep_bit)
{
	assert(x < o->nslots);
	set_clear(o);
	for (uint32_t i = 0; i < o->cur.n && !o->failed; i++) {
		memcpy(o->scratch, row(o, &o->cur, i), stride(o) * 4ull);
		*saw(o, o->scratch, x) = 0;
		if (!keep_bit)
			put(o->scratch, x, false);
		set_add(o, o->scratch, true);
	}
	swap_rows(o);
}

int online_return(struct online *o, uint32_t x, const struct hop *op)
{
	assert(x < o->nslots && o->slots[x].used);
	/* all rows reachable by letting open operations take effect, expanded
	 * only while they do not satisfy the response */
	set_clear(o);
	for (uint32_t i = 0; i < o->cur.n && !o->failed; i++)
		if (satisfied(o, row(o, &o->cur, i), x, op) >= 0)
			set_add(o, row(o, &o->cur, i), false);
	o->slots[x].op = *op; /* from here on its answer is known */
	uint32_t *r = malloc(stride(o) * 4ull);
	o->failed |= !r;
	for (uint32_t i = 0; i < o->out.n && !o->failed; i++) {
		memcpy(r, row(o, &o->out, i), stride(o) * 4ull);
		if (satisfied(o, r, x, op))
			continue;
		for (uint32_t y = 0; y < o->nslots; y++)
			if (o->slots[y].used && !o->slots[y].observer && !has(r, y) && !not_its_turn(o, r, y) &&
			    take_effect(o, r, y))
				set_add(o, o->scratch, false);
		if ((++o->steps & 0xFF) == 0 && lim_spent(o->lim))
			o->failed = true;
	}
	free(r);
	if (o->failed || o->obj.failed)
		return -1;
	swap_rows(o);
	uint32_t n = 0;
	for (uint32_t i = 0; i < o->cur.n; i++)
		if (satisfied(o, row(o, &o->cur, i), x, op) > 0)
			memmove(row(o, &o->cur, n++), row(o, &o->cur, i), stride(o) * 4ull);
	if (!n) {
		o->cur.n = 0;
		return 0;
	}
	o->cur.n = n;
	merge(o, x, false);
	release(o, x);
	collect(o);
	return o->failed ? -1 : 1;
}

int online_crash(struct online *o, uint32_t x)
{
	assert(x < o->nslots && o->slots[x].used && !o->slots[x].crashed);
	if (o->slots[x].observer) {
		merge(o, x, false);
		release(o, x);
		return o->failed ? -1 : 1;
	}
	o->slots[x].crashed = true;
	o->ncrashed++;
	merge(o, x, true);
	return o->failed ? -1 : 1;
}

int online_fail(struct online *o, uint32_t x)
{
	assert(x < o->nslots && o->slots[x].used);
	uint32_t n = 0;
	for (uint32_t i = 0; i < o->cur.n; i++)
		if (!has(row(o, &o->cur, i), x))
			memmove(row(o, &o->cur, n++), row(o, &o->cur, i), stride(o) * 4ull);
	o->cur.n = n;
	if (!n)
		return 0;
	merge(o, x, false);
	release(o, x);
	return o->failed ? -1 : 1;
}

bool online_settled(const struct online *o, uint32_t *state)
{
	if (o->cur.n != 1)
		return false;
	uint32_t *r = row(o, &o->cur, 0);
	*state = r[0];
	for (uint32_t i = 0; i < mask_words(o); i++)
		if (r[1 + i])
			return false;
	for (uint32_t s = 0; s < o->nslots; s++)
		if (o->slots[s].used && o->slots[s].observer &&
		    (states_len(&o->sets, *saw(o, r, s)) != 1 || states_at(&o->sets, *saw(o, r, s))[0] != r[0]))
			return false;
	return true;
}

/* ---- a recorded history through the monitor -------------------------------------------- */

enum lin_verdict lin_bfs(const struct problem *p, struct result *r)
{
	result_init(r, ALG_BFS, p->lim);
	if (p->user ? p->user->choices : object_has(p->obj, OBJECT_CHOOSES))
		return result_refuse(r, "the specification is nondeterministic, which the monitor does not support", RANK_INF,
		                     RANK_INF);
	struct online o;
	uint32_t *ev = events_of(p), *slot = lim_realloc(p->lim, NULL, 0, p->n * 4ull + 4);
	int ok = online_open(&o, spec_of(p->obj, p->k), p->vals, p->init, p->k, p->lim, p->user) && ev && slot ? 1 : -1;
	for (uint32_t t = 0; t < p->nevents && ok > 0; t++) {
		if (ev[t] == RANK_INF)
			continue;
		uint32_t i = ev[t] / 2;
		if (ev[t] & 1) {
			ok = online_return(&o, slot[i], &p->ops[i]);
		} else {
			slot[i] = online_call(&o, &p->ops[i], i);
			ok = slot[i] == RANK_INF ? -1 : p->ops[i].ret == RANK_INF ? online_crash(&o, slot[i]) : 1;
		}
		if (!ok) {
			r->culprit = i;
			r->proof = PROOF_EXHAUSTED;
		}
	}
	r->steps = o.steps;
	online_close(&o);
	lim_free(p->lim, ev, ev ? p->nevents * 4ull + 4 : 0);
	lim_free(p->lim, slot, slot ? p->n * 4ull + 4 : 0);
	return r->verdict = ok > 0 ? LIN_HOLDS : ok == 0 ? LIN_VIOLATED : LIN_UNKNOWN;
}
