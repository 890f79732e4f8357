/*
 * serial_rows: the clocks themselves (serial.c): rows E[t][.], serials, and
 * the memory they live in.
 *
 * A row is an array of entries by increasing slot; a slot remembers the rows
 * it stands in, so that a block that ends is taken out of exactly those.
 */
#include <stdlib.h>
#include <string.h>

#include "dynamic/serial_int.h"

/* ---- memory ------------------------------------------------------------- */

/* realloc under the budget; NULL leaves the old block and ends the analysis. */
void *serial_grow_to(struct serial *s, void *p, size_t old, size_t now, size_t elem)
{
	if (now > SIZE_MAX / elem ||
	    (s->o.budget && s->bytes + (now - old) * elem > s->o.budget)) {
		s->end = SERIAL_NOMEM;
		return NULL;
	}
	void *q = realloc(p, now * elem);
	if (!q) {
		s->end = SERIAL_NOMEM;
		return NULL;
	}
	memset((char *)q + old * elem, 0, (now - old) * elem);
	s->bytes += (now - old) * elem;
	return q;
}


bool serial_grow_array(struct serial *s, void **p, uint32_t *n, uint32_t want,
                       size_t elem)
{
	size_t cap = *n ? *n : 16;
	while (cap <= want)
		cap *= 2;
	if (cap > UINT32_MAX / 2) {
		s->end = SERIAL_NOMEM;
		return false;
	}
	void *q = serial_grow_to(s, *p, *n, cap, elem);
	if (!q)
		return false;
	*p = q;
	*n = (uint32_t)cap;
	return true;
}

/* ---- the clocks --------------------------------------------------------- */

/* Where slot k stands in the row, or would. */
static uint32_t row_at(const struct row *r, uint32_t k)
{
	uint32_t lo = 0, hi = r->n;
	while (hi - lo > 8) {
		uint32_t mid = (lo + hi) / 2;
		if (r->e[mid].slot < k)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo < hi && r->e[lo].slot < k)
		lo++;
	return lo;
}

/* E[t][k], or NULL for INF. */
struct entry *row_get(struct serial *s, uint32_t t, uint32_t k)
{
	struct row *r = &s->rows[t];
	uint32_t at = row_at(r, k);
	return at < r->n && r->e[at].slot == k ? &r->e[at] : NULL;
}

/* E[t][k] = serial, reached by the path `why` (whose reference it takes). */
void row_set(struct serial *s, uint32_t t, uint32_t k, uint32_t serial,
                uint32_t why)
{
	struct row *r = &s->rows[t];
	struct slot *sl = &s->slots[k];
	uint32_t at = row_at(r, k);
	if (at < r->n && r->e[at].slot == k) {
		why_drop(s, r->e[at].why);
	} else {
		if (!GROW(s, sl->touched, sl->cap, sl->ntouched) ||
		    !GROW(s, r->e, r->cap, r->n)) {
			why_drop(s, why);
			return;
		}
		sl->touched[sl->ntouched++] = t;
		memmove(r->e + at + 1, r->e + at, (r->n - at) * sizeof *r->e);
		r->n++;
		if (++s->entries > s->st.live)
			s->st.live = s->entries;
	}
	r->e[at] = (struct entry){ k, serial, why };
	if (serial < r->min)
		r->min = serial;
}

/*
 * The first n of s->fresh, none of which is in row t, go into it; one pass
 * from the end, because with thousands of open blocks there are thousands.
 */
bool row_set_fresh(struct serial *s, uint32_t t, uint32_t n)
{
	struct row *r = &s->rows[t];
	if (!GROW(s, r->e, r->cap, r->n + n))
		return false;
	uint32_t from = r->n, to = r->n + n, left = n;
	while (left) {
		if (from && r->e[from - 1].slot > s->fresh[left - 1].slot)
			r->e[--to] = r->e[--from];
		else
			r->e[--to] = s->fresh[--left];
	}
	r->n += n;
	s->entries += n;
	if (s->entries > s->st.live)
		s->st.live = s->entries;
	for (uint32_t i = 0; i < n; i++) {
		struct slot *sl = &s->slots[s->fresh[i].slot];
		if (s->fresh[i].serial < r->min)
			r->min = s->fresh[i].serial;
		if (!GROW(s, sl->touched, sl->cap, sl->ntouched))
			return false;
		sl->touched[sl->ntouched++] = t;
	}
	return true;
}

/* E[t][k] = INF. */
void row_unset(struct serial *s, uint32_t t, uint32_t k)
{
	struct row *r = &s->rows[t];
	uint32_t at = row_at(r, k);
	why_drop(s, r->e[at].why);
	memmove(r->e + at, r->e + at + 1, (r->n - at - 1) * sizeof *r->e);
	if (--r->n == 0)
		r->min = INF;
}

bool row_slots_grow(struct serial *s)
{
	uint32_t n = s->slots_cap;
	return GROW(s, s->free_slots, n, n) && GROW(s, s->slots, s->slots_cap, s->slots_cap);
}

/*
 * Moves the serials of thread t down when they reach the limit: all below the
 * first one that an open block reaches are alike.
 */
static void rebase(struct serial *s, uint32_t t)
{
	struct thread *th = &s->threads[t];
	struct row *r = &s->rows[t];
	uint32_t base = th->serial;
	for (uint32_t i = 0; i < r->n; i++)
		if (r->e[i].serial < base)
			base = r->e[i].serial;
	uint32_t shift = base - 1;
	uint32_t limit = s->o.serial_limit ? s->o.serial_limit : SERIAL_MAX;
	if (shift < limit / 4) {
		s->end = SERIAL_LIMIT;
		return;
	}
#define DOWN(x) ((x) = (x) > shift ? (x) - shift : 0)
#define DOWN_IF(a) ((a)->thread == t ? (void)DOWN((a)->serial) : (void)0)
	for (uint32_t i = 0; i < s->nvars; i++) {
		DOWN_IF(&s->vars[i].w);
		DOWN_IF(&s->vars[i].r);
	}
	for (uint32_t i = 1; i < s->nmore; i++)
		DOWN_IF(&s->more[i]);
	for (uint32_t i = 0; i < s->nlocks; i++)
		DOWN_IF(&s->locks[i]);
	for (uint32_t i = 0; i < s->nthreads; i++)
		DOWN_IF(&s->threads[i].forked);
	for (uint32_t i = 1; i < s->nlinks; i++) {
		DOWN_IF(&s->links[i].link.from);
		DOWN_IF(&s->links[i].link.to);
	}
	for (uint32_t k = 0; k < s->nslots; k++)
		DOWN_IF(&s->slots[k]);
	for (uint32_t i = 0; i < r->n; i++)
		DOWN(r->e[i].serial);
	DOWN(th->serial);
	if (r->min < INF)
		DOWN(r->min);
}

void row_next_serial(struct serial *s, uint32_t t)
{
	uint32_t limit = s->o.serial_limit ? s->o.serial_limit : SERIAL_MAX;
	if (s->threads[t].serial >= limit)
		rebase(s, t);
	s->threads[t].serial++;
}
