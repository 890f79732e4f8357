#include "lin/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

bool cover_open(struct cover *c, uint32_t n, struct limits *lim)
{
	memset(c, 0, sizeof *c);
	c->lim = lim;
	c->n = n;
	c->size = 1;
	while (c->size < n)
		c->size *= 2;
	c->min = lim_realloc(lim, NULL, 0, c->size * 8ull);
	c->add = lim_realloc(lim, NULL, 0, c->size * 8ull);
	if (c->min && c->add) {
		memset(c->min, 0, c->size * 8ull);
		memset(c->add, 0, c->size * 8ull);
		return true;
	}
	cover_close(c);
	return false;
}

void cover_close(struct cover *c)
{
	lim_free(c->lim, c->min, c->min ? c->size * 8ull : 0);
	lim_free(c->lim, c->add, c->add ? c->size * 8ull : 0);
	c->min = c->add = NULL;
}

static void pull(struct cover *c, uint32_t i)
{
	int32_t a = c->min[2 * i], b = c->min[2 * i + 1];
	c->min[i] = (a < b ? a : b) + c->add[i];
}

void cover_set(struct cover *c, const int32_t *counts)
{
	for (uint32_t i = 0; i < c->size; i++) {
		c->min[c->size + i] = i < c->n ? counts[i] : COVER_GONE;
		c->add[c->size + i] = 0;
	}
	for (uint32_t i = c->size; i-- > 1;) {
		c->add[i] = 0;
		pull(c, i);
	}
}

static void apply(struct cover *c, uint32_t i, int32_t by)
{
	c->min[i] += by;
	if (i < c->size)
		c->add[i] += by;
}

void cover_add(struct cover *c, uint32_t lo, uint32_t hi, int32_t by)
{
	if (lo > hi)
		return;
	assert(hi < c->n);
	uint32_t l = lo + c->size, r = hi + c->size + 1, l0 = l, r0 = r - 1;
	for (; l < r; l /= 2, r /= 2) {
		if (l & 1)
			apply(c, l++, by);
		if (r & 1)
			apply(c, --r, by);
	}
	for (l0 /= 2; l0; l0 /= 2)
		pull(c, l0);
	for (r0 /= 2; r0; r0 /= 2)
		pull(c, r0);
}

int32_t cover_least(const struct cover *c, uint32_t *at)
{
	assert(c->size && !(c->size & (c->size - 1)));
	uint32_t i = 1;
	while (i < c->size)
		i = c->min[2 * i] <= c->min[2 * i + 1] ? 2 * i : 2 * i + 1;
	assert(i >= c->size && i < 2 * c->size);
	*at = i - c->size;
	return c->min[1];
}

static uint32_t first_zero(const struct cover *c, uint32_t i, uint32_t from, uint32_t to, uint32_t lo, uint32_t hi, int32_t above)
{
	assert(from <= to && i < 2 * c->size);
	if (to < lo || from > hi || c->min[i] + above > 0)
		return RANK_INF;
	if (i >= c->size)
		return from;
	uint32_t mid = from + (to - from) / 2;
	above += c->add[i];
	uint32_t at = first_zero(c, 2 * i, from, mid, lo, hi, above);
	return at != RANK_INF ? at : first_zero(c, 2 * i + 1, mid + 1, to, lo, hi, above);
}

uint32_t cover_first_zero(const struct cover *c, uint32_t lo, uint32_t hi)
{
	return lo > hi ? RANK_INF : first_zero(c, 1, 0, c->size - 1, lo, hi, 0);
}

/* ---- items -------------------------------------------------------------------- */

static enum lin_verdict wrong(struct result *r, enum proof proof, uint32_t n, uint32_t a, uint32_t b)
{
	r->proof = proof;
	r->culprit = a;
	r->moment_open = true;
	if (!result_facts(r, n))
		return result_unknown(r);
	r->ops[0] = a;
	if (n > 1)
		r->ops[1] = b;
	return r->verdict = LIN_VIOLATED;
}

void items_close(struct items *s)
{
	lim_free(s->p->lim, s->it, s->it ? s->bytes_it : 0);
	lim_free(s->p->lim, s->empties, s->empties ? s->bytes_empties : 0);
	dense_free(&s->d);
}

static enum lin_verdict put_in(struct items *s, enum fn in, enum fn out, struct result *r)
{
	const struct problem *p = s->p;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hop *op = &p->ops[i];
		if (op->fn != in && op->fn != out)
			return result_refuse(r, "an operation only observes (peek), which requires the search", i, RANK_INF);
		if (op->fn == out && op->b == VAL_NONE)
			return result_refuse(r, "a removal never returned, which requires the search", i, RANK_INF);
		if (op->fn != in)
			continue;
		struct item *it = &s->it[dense_get(&s->d, op->a)];
		if (it->in != RANK_INF)
			return result_refuse(r, "it requires distinct values, and two are equal", it->in, i);
		it->in = i;
		it->in_lo = op->call + 1;
		it->in_hi = op->ret == RANK_INF ? p->nevents + 1 : op->ret;
	}
	return LIN_HOLDS;
}

enum lin_verdict items_open(struct items *s, const struct problem *p, enum fn in, enum fn out, struct result *r)
{
	uint32_t len;
	memset(s, 0, sizeof *s);
	s->p = p;
	s->ngaps = p->nevents + 2;
	val_elems(p->vals, p->init, &len);
	if (len)
		return result_refuse(r, "it starts from an empty container", RANK_INF, RANK_INF);
	if (!dense_build_fn(&s->d, p, in))
		return result_unknown(r);
	s->n = s->d.n;
	s->bytes_it = s->n * sizeof *s->it;
	s->bytes_empties = p->n * 4ull + 4;
	s->it = lim_realloc(p->lim, NULL, 0, s->bytes_it);
	s->empties = lim_realloc(p->lim, NULL, 0, s->bytes_empties);
	if (!s->it || !s->empties)
		return result_unknown(r);
	for (uint32_t v = 0; v < s->n; v++) /* never taken: taken after everything */
		s->it[v] = (struct item){ RANK_INF, RANK_INF, 0, 0, p->nevents + 1, p->nevents + 1 };
	enum lin_verdict v = put_in(s, in, out, r);
	for (uint32_t i = 0; i < p->n && v == LIN_HOLDS; i++) {
		const struct hop *op = &p->ops[i];
		if (op->fn != out)
			continue;
		if (op->b == VAL_NIL) {
			s->empties[s->nempties++] = i;
			continue;
		}
		uint32_t k = dense_get(&s->d, op->b);
		if (k == RANK_INF || s->it[k].in == RANK_INF)
			return wrong(r, PROOF_UNWRITTEN, 1, i, 0);
		struct item *it = &s->it[k];
		if (it->out != RANK_INF)
			return wrong(r, PROOF_TWICE, 2, op->ret > p->ops[it->out].ret ? i : it->out,
			             op->ret > p->ops[it->out].ret ? it->out : i);
		if (op->ret < p->ops[it->in].call)
			return wrong(r, PROOF_FUTURE, 2, i, it->in);
		it->out = i;
		it->out_lo = op->call + 1;
		it->out_hi = op->ret;
		if (it->out_lo < it->in_lo)
			it->out_lo = it->in_lo;
		if (it->in_hi > it->out_hi)
			it->in_hi = it->out_hi;
	}
	/* one that may never have gone in, and was not taken out, is no item */
	for (uint32_t k = 0; k < s->n && v == LIN_HOLDS; k++)
		if (s->it[k].in != RANK_INF && s->it[k].out == RANK_INF && p->ops[s->it[k].in].ret == RANK_INF)
			s->it[k].in = RANK_INF;
	return v;
}

int32_t *items_counts(const struct items *s)
{
	int32_t *c = lim_realloc(s->p->lim, NULL, 0, (s->ngaps + 1) * 4ull);
	if (!c)
		return NULL;
	memset(c, 0, (s->ngaps + 1) * 4ull);
	for (uint32_t v = 0; v < s->n; v++) {
		uint32_t lo, hi;
		if (s->it[v].in != RANK_INF && item_inside(&s->it[v], &lo, &hi)) {
			c[lo]++;
			c[hi + 1]--;
		}
	}
	for (uint32_t g = 1; g < s->ngaps; g++)
		c[g] += c[g - 1];
	return c;
}

enum lin_verdict items_place_empties(const struct items *s, const int32_t *counts, uint32_t *gaps, struct result *r)
{
	assert(s->ngaps == s->p->nevents + 2);
	uint32_t *next = lim_realloc(s->p->lim, NULL, 0, (s->ngaps + 1) * 4ull);
	if (!next)
		return result_unknown(r);
	next[s->ngaps] = RANK_INF;
	for (uint32_t g = s->ngaps; g-- > 0;)
		next[g] = counts[g] == 0 ? g : next[g + 1];
	enum lin_verdict v = LIN_HOLDS;
	for (uint32_t i = 0; i < s->nempties && v == LIN_HOLDS; i++) {
		const struct hop *op = &s->p->ops[s->empties[i]];
		gaps[i] = next[op->call + 1];
		if (gaps[i] > op->ret) {
			v = wrong(r, PROOF_NOT_EMPTY, 1, s->empties[i], 0);
			r->culprit = lin_certain_by(s->p, op->ret); /* an open removal might have emptied it */
		}
	}
	lim_free(s->p->lim, next, (s->ngaps + 1) * 4ull);
	return v;
}

static int by_place(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;
	if (a->gap != b->gap)
		return a->gap < b->gap ? -1 : 1;
	if (a->cls != b->cls)
		return a->cls < b->cls ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

void placed_emit(struct placed *a, uint32_t n, struct result *r)
{
	qsort(a, n, sizeof *a, by_place);
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].op != RANK_INF)
			r->order[r->norder++] = a[i].op;
		if (a[i].op2 != RANK_INF)
			r->order[r->norder++] = a[i].op2;
	}
}
