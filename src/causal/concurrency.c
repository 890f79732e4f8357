/*
 * concurrency: which conditions may hold together, as sorted lists.
 *
 * Conditions are numbered as their events are inserted, so "older" is "lower".
 * Each inserted event e has the list old(e) of the conditions older than its
 * own that are concurrent with it, ascending; each condition b has the list
 * younger(b) of the events inserted after b's that are concurrent with b, each
 * event as its first condition (ascending by construction; an event without
 * conditions is beside nothing). For b of event f and c of event g then
 *     b co c  iff  g = f and b != c, or c in old(f), or first(g) in younger(b).
 *
 * Initial conditions are beside nearly everything when there are many threads,
 * so they are in no list old(e), and have the opposite list: behind(b), the
 * events whose past takes b. Nothing can be in conflict with a condition that
 * has no causes, so b is concurrent with g exactly when g is not in behind(b);
 * and for the event that is being extended root_of[] knows it at once. Which
 * initial conditions an event has in its past is a list too (roots[]): along a
 * chain of events that take no further one it is the same list.
 *
 * The list of a new event e is what is concurrent with all of its preset. Let b
 * be the youngest condition of the preset and f its event. A condition c of it
 * that is older than f is in old(f), and is looked up for each other condition
 * of the preset; c of f itself is concurrent with them all, because they are
 * concurrent with b and so with f; what is younger than f is the intersection of
 * the lists of younger events, beginning with the shortest, without what is
 * behind initial conditions. Looking up is galloping through sorted lists: the
 * cost is that of the shorter list, not of the longer one (an old condition is
 * beside nearly every event, in all branches of conflict). When the whole preset
 * is initial, all events are visited except runs of those in behind() of it;
 * there are no more such events than transitions.
 *
 * Lists of younger events live in one pool in blocks of 4, 8, 16... entries.
 */
#include "base/invariant.h"
#include "causal/prefix.h"

#include <string.h>

/* The first place in v[lo..n) that is not below x. */
static inline uint32_t gallop(const uint32_t *v, uint32_t lo, uint32_t n, uint32_t x)
{
	assert(lo <= n);
	if (lo >= n || v[lo] >= x)
		return lo;
	uint32_t step = 1; /* v[lo] < x */
	while (step < n - lo && v[lo + step] < x) {
		lo += step;
		step <<= 1;
	}
	uint32_t hi = step < n - lo ? lo + step : n;
	while (hi - lo > 1) { /* v[lo] < x, and v[hi] >= x or hi = n */
		uint32_t mid = lo + (hi - lo) / 2;
		if (v[mid] < x)
			lo = mid;
		else
			hi = mid;
	}
	assert(hi <= n);
	return hi;
}

static inline const uint32_t *younger_of(const struct prefix *p, uint32_t b)
{
	return p->pool + (size_t)p->younger[b].at * UF_UNIT;
}

/* Keeps those of found[0..n), all older than some event beside b, that are
 * concurrent with b. */
static uint32_t filter_older(struct prefix *p, uint32_t n, uint32_t b)
{
	assert(n <= p->nfound && b < p->nconds);
	const struct uf_cond *conds = p->cfg.conds;
	const struct uf_event *f = &p->cfg.events[conds[b].event];
	const uint32_t *old = p->co + f->co_at, *young = younger_of(p, b);
	uint32_t *v = p->found, out = 0, i = 0, k = 0, ny = p->younger[b].n;
	uint32_t end = f->post + uf_npost(&p->cfg, conds[b].event);
	for (; i < n && v[i] < f->post; i++) {
		k = gallop(old, k, f->co_n, v[i]);
		if (k == f->co_n)
			break;
		if (old[k] == v[i])
			v[out++] = v[i];
	}
	while (i < n && v[i] < f->post)
		i++;
	for (; i < n && v[i] < end; i++)
		if (v[i] != b)
			v[out++] = v[i];
	for (k = 0; i < n; i++) {
		uint32_t first = conds[v[i]].first;
		k = gallop(young, k, ny, first);
		if (k == ny)
			break;
		if (young[k] == first)
			v[out++] = v[i];
	}
	assert(out <= n);
	return out;
}

/* Of n firsts, or with `each` conditions, in v: those not behind the initial
 * condition b; how many. */
static uint32_t without_behind(const struct prefix *p, uint32_t *v, uint32_t n, uint32_t b, bool each)
{
	assert(b < p->nconds);
	const uint32_t *list = younger_of(p, b);
	uint32_t nl = p->younger[b].n, k = 0, out = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = each ? p->cfg.conds[v[i]].first : v[i];
		k = gallop(list, k, nl, first);
		if (k == nl || list[k] != first)
			v[out++] = v[i];
	}
	assert(out <= n);
	return out;
}

static bool add_found(struct prefix *p, const uint32_t *v, uint32_t n)
{
	if (!PREFIX_RAW(p, p->found, p->cap_found, (uint64_t)p->nfound + n))
		return false;
	if (n)
		memcpy(p->found + p->nfound, v, n * sizeof *v);
	p->nfound += n;
	assert(p->nfound <= p->cap_found);
	return true;
}

/* All conditions of the event that begins with condition `first`. */
static bool add_conditions(struct prefix *p, uint32_t first)
{
	uint32_t n = uf_npost(&p->cfg, p->cfg.conds[first].event);
	if (!PREFIX_RAW(p, p->found, p->cap_found, (uint64_t)p->nfound + n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		p->found[p->nfound++] = first + i;
	return true;
}

static inline bool is_initial(const struct prefix *p, uint32_t b)
{
	return b < p->net->ninit;
}

/* The firsts behind found[0..n0) become all conditions of their events. */
static bool spell_out(struct prefix *p, uint32_t n0)
{
	assert(n0 <= p->nfound);
	uint32_t n1 = p->nfound, firsts = n1 - n0;
	for (uint32_t j = 0; j < firsts; j++)
		if (!add_conditions(p, p->found[n0 + j]))
			return false;
	if (firsts)
		memmove(p->found + n0, p->found + n1, (p->nfound - n1) * sizeof *p->found);
	p->nfound -= firsts;
	return true;
}

/* What is younger than the event of b, the youngest of pre[] and not initial. */
static bool meet_younger(struct prefix *p, const uint32_t *pre, uint32_t npre, uint32_t b)
{
	assert(npre && b < p->nconds);
	uint32_t base = b, from = 0, first = p->cfg.conds[b].first;
	uint32_t best = p->younger[b].n;
	for (uint32_t i = 0; i < npre && best; i++) {
		if (is_initial(p, pre[i]))
			continue;
		uint32_t n = p->younger[pre[i]].n;
		uint32_t k = gallop(younger_of(p, pre[i]), 0, n, first + 1);
		if (n - k < best) {
			best = n - k;
			base = pre[i];
			from = k;
		}
	}
	if (!best)
		return true;
	uint32_t n0 = p->nfound;
	if (!add_found(p, younger_of(p, base) + from, best))
		return false;
	uint32_t left = best;
	for (uint32_t i = 0; i < npre && left; i++) {
		if (pre[i] == base || is_initial(p, pre[i]))
			continue;
		const uint32_t *list = younger_of(p, pre[i]);
		uint32_t n = p->younger[pre[i]].n, k = 0, out = 0, *v = p->found + n0;
		for (uint32_t j = 0; j < left; j++) {
			k = gallop(list, k, n, v[j]);
			if (k == n)
				break;
			if (list[k] == v[j])
				v[out++] = v[j];
		}
		left = out;
	}
	for (uint32_t i = 0; i < npre && left; i++)
		if (is_initial(p, pre[i]))
			left = without_behind(p, p->found + n0, left, pre[i], false);
	p->nfound = n0 + left;
	return spell_out(p, n0);
}

/* The conditions of f's event in found[], without those that are in pre[]. */
static bool meet_siblings(struct prefix *p, const uint32_t *pre, uint32_t npre, uint32_t first)
{
	uint32_t n = p->nfound, out = n;
	if (!add_conditions(p, first))
		return false;
	for (uint32_t k = n; k < p->nfound; k++) {
		uint32_t x = p->found[k];
		bool own = false;
		for (uint32_t i = 0; i < npre && !own; i++)
			own = pre[i] == x;
		p->found[out] = x;
		out += !own;
	}
	p->nfound = out;
	assert(out >= n && p->nfound == out);
	return true;
}

/* The number, in the order of insertion, of the event that begins with this
 * condition; an inserted event is in no bucket any more and has it there. */
static inline uint32_t rank(const struct prefix *p, uint32_t first)
{
	return p->cfg.events[p->cfg.conds[first].event].next;
}

/* list[k..n) begins with events that were inserted consecutively: the last of
 * them. */
static uint32_t run_end(const struct prefix *p, const uint32_t *list, uint32_t k, uint32_t n)
{
	assert(k < n);
	uint32_t base = rank(p, list[k]), step = 1, lo = k;
	while (step < n - lo && rank(p, list[lo + step]) - base == lo + step - k) {
		lo += step;
		step <<= 1;
	}
	uint32_t hi = step < n - lo ? lo + step : n;
	while (hi - lo > 1) { /* lo is in the run, hi is not */
		uint32_t mid = lo + (hi - lo) / 2;
		if (rank(p, list[mid]) - base == mid - k)
			lo = mid;
		else
			hi = mid;
	}
	assert(lo >= k && lo < n);
	return lo;
}

/* The whole preset is initial: every event but those behind it. The longest list
 * of what is behind is stepped over a run at a time: with one lock and many
 * threads it is all of the events. */
static bool meet_all(struct prefix *p, const uint32_t *pre, uint32_t npre)
{
	const struct config *c = &p->cfg;
	uint32_t b = pre[0], k = 0;
	for (uint32_t i = 1; i < npre; i++)
		b = p->younger[pre[i]].n > p->younger[b].n ? pre[i] : b;
	const uint32_t *list = younger_of(p, b);
	uint32_t n = p->younger[b].n;
	for (uint32_t x = p->net->ninit; x < p->nconds; x += uf_npost(c, c->conds[x].event)) {
		if (k < n && list[k] == x) {
			k = run_end(p, list, k, n);
			x = list[k++];
		} else if (!add_found(p, &x, 1)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < npre && p->nfound; i++)
		if (pre[i] != b)
			p->nfound = without_behind(p, p->found, p->nfound, pre[i], false);
	return spell_out(p, 0);
}

bool co_meet(struct prefix *p, uint32_t e)
{
	assert(e && e < p->nevents && uf_npre(&p->cfg, e));
	const struct config *c = &p->cfg;
	const uint32_t *pre = uf_pre(c, e);
	uint32_t npre = uf_npre(c, e), b = pre[0];
	for (uint32_t i = 1; i < npre; i++)
		b = pre[i] > b ? pre[i] : b;
	const struct uf_event *f = &c->events[c->conds[b].event];
	p->nfound = 0;
	if (is_initial(p, b))
		return meet_all(p, pre, npre);
	if (!add_found(p, p->co + f->co_at, f->co_n))
		return false;
	for (uint32_t i = 0; i < npre && p->nfound; i++) {
		if (is_initial(p, pre[i]))
			p->nfound = without_behind(p, p->found, p->nfound, pre[i], true);
		else if (pre[i] < f->post)
			p->nfound = filter_older(p, p->nfound, pre[i]);
	}
	return meet_siblings(p, pre, npre, f->post) && meet_younger(p, pre, npre, b);
}

/* ---- keeping ------------------------------------------------------------ */

/* A block for UF_UNIT << cls entries, or 0 when out of memory. */
static uint32_t new_block(struct prefix *p, uint32_t cls)
{
	assert(cls < sizeof p->free_block / sizeof *p->free_block);
	uint32_t at = p->free_block[cls];
	if (at) {
		p->free_block[cls] = p->pool[(size_t)at * UF_UNIT];
		return at;
	}
	at = p->npool;
	if (at > UINT32_MAX - (UINT32_C(1) << cls)) {
		prefix_stop(p, "memory");
		return 0;
	}
	if (!PREFIX_RAW(p, p->pool, p->cap_pool, ((uint64_t)at + (UINT64_C(1) << cls)) * UF_UNIT))
		return 0;
	p->npool += UINT32_C(1) << cls;
	return at;
}

static bool add_younger(struct prefix *p, uint32_t b, uint32_t first)
{
	assert(b < p->nconds && first < p->nconds);
	struct uf_younger *y = &p->younger[b];
	if (!y->at || y->n == UF_UNIT << y->cls) {
		uint32_t cls = y->at ? y->cls + 1 : 0, at = new_block(p, cls);
		if (!at)
			return false;
		if (y->at) {
			memcpy(p->pool + (size_t)at * UF_UNIT, p->pool + (size_t)y->at * UF_UNIT, y->n * sizeof *p->pool);
			p->pool[(size_t)y->at * UF_UNIT] = p->free_block[y->cls];
			p->free_block[y->cls] = y->at;
		}
		y->at = at;
		y->cls = cls;
	}
	p->pool[(size_t)y->at * UF_UNIT + y->n++] = first;
	assert(y->n <= UF_UNIT << y->cls);
	return true;
}

/*
 * The list of e is the union of those of its causes and of the initial
 * conditions in its preset. It mostly is that of one cause, and then shared with it.
 */
bool co_roots(struct prefix *p, uint32_t e)
{
	const struct config *c = &p->cfg;
	const uint32_t *pre = uf_pre(c, e);
	uint32_t npre = uf_npre(c, e), n = 0, longest = 0;
	uint64_t most = npre;
	for (uint32_t i = 0; i < npre; i++)
		most += p->roots[c->events[c->conds[pre[i]].event].roots];
	if (p->nroots + most >= UINT32_MAX)
		return prefix_stop(p, "memory");
	if (!PREFIX_RAW(p, p->roots, p->cap_roots, p->nroots + 1 + most))
		return false;
	uint32_t *out = p->roots + p->nroots + 1;
	for (uint32_t i = 0; i < npre; i++) {
		uint32_t list = c->events[c->conds[pre[i]].event].roots, len = p->roots[list];
		for (uint32_t k = 1; k <= len; k++) {
			uint32_t b = p->roots[list + k];
			if (p->root_of[b] != e + 1)
				out[n++] = b;
			p->root_of[b] = e + 1;
		}
		longest = len > p->roots[longest] ? list : longest;
		if (is_initial(p, pre[i])) {
			p->root_of[pre[i]] = e + 1;
			out[n++] = pre[i];
		}
	}
	if (n == p->roots[longest]) {
		p->cfg.events[e].roots = longest;
		return true;
	}
	p->cfg.events[e].roots = (uint32_t)p->nroots;
	p->roots[p->nroots] = n;
	p->nroots += 1 + n;
	return true;
}

bool co_keep(struct prefix *p, uint32_t e)
{
	assert(e < p->nevents);
	struct uf_event *ev = &p->cfg.events[e];
	if (!PREFIX_RAW(p, p->co, p->cap_co, p->nco + p->nfound))
		return false;
	ev->co_at = p->nco;
	ev->co_n = p->nfound;
	if (p->nfound)
		memcpy(p->co + p->nco, p->found, p->nfound * sizeof *p->co);
	p->nco += p->nfound;
	if (!uf_npost(&p->cfg, e))
		return true;
	ev->next = p->nranks++;
	for (uint32_t i = 0; i < p->nfound; i++)
		if (!add_younger(p, p->found[i], ev->post))
			return false;
	for (uint32_t k = 1; k <= p->roots[ev->roots]; k++)
		if (!add_younger(p, p->roots[ev->roots + k], ev->post))
			return false;
	return true;
}
