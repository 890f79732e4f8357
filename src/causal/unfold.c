/*
 * unfold: the algorithm.
 *
 * Events wait in buckets by |[e]| until they are inserted; whether one is a
 * cut-off is judged when it is found (cutoff.c), so that the order of insertion
 * within a bucket does not matter.
 *
 * Extensions by the newest event e take at least one of e's conditions and the rest
 * from its list in the co-relation (concurrency.c); the trail of config.h shows
 * whether they are pairwise concurrent, and also gives |[e]| and the marking's hash.
 *
 * 1-safety: when a kept event puts a token on a place of which a condition is
 * concurrent with it, that shows a reachable marking with two tokens. This
 * finds every unsafe net: the least unsafe configuration in the adequate order
 * holds no cut-off (else the configuration with the cut-off replaced by the
 * earlier event of equal marking would be unsafe too, and lesser), and of its
 * two conditions with the same place the younger one's event sees the older.
 * Markings are compared as multisets, so this argument needs no safe marking.
 *
 * Memory: about 90 bytes per event, 35 per condition, 8 to 12 per entry of the
 * co-relation, which dominates when many threads run side by side.
 */
#include "base/invariant.h"
#include "causal/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* ---- possible extensions ------------------------------------------------ */

/*
 * Chooses a condition for every place of t's preset from number i on. The
 * place numbered `pivot` has one already: condition `c` of the newest event;
 * of that event's other conditions only those after c may be chosen, so that
 * each preset is generated once.
 */
static bool choose(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot);

static bool try_condition(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot, uint32_t b)
{
	assert(b < p->nconds && i < net_npre(p->net, t) && i != pivot);
	struct config *c = &p->cfg;
	uint32_t f = c->conds[b].event;
	if (c->taken[b] || (!f && prefix_behind(p, b)))
		return prefix_in_time(p);
	if (f && f != p->current)
		prefix_build(p);
	bool ok = true, was = p->lazy;
	uint32_t len = c->ntrail;
	if (!was && !config_add(c, f))
		return prefix_in_time(p);
	if (!c->taken[b]) { /* its own causes do not take it, but be sure */
		c->taken[b] = 1;
		p->chosen[i] = b;
		ok = choose(p, t, i + 1, pivot);
		c->taken[b] = 0;
	}
	if (!was) /* else: empty still, or built meanwhile and wanted again */
		config_undo(c, len);
	return ok && prefix_in_time(p);
}

static bool choose(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot)
{
	assert(t < p->net->ntrans);
	const struct net *n = p->net;
	if (i == pivot)
		i++;
	if (i == net_npre(n, t))
		return cutoff_judge(p, t);
	uint32_t place = n->pre[n->pre_at[t] + i];
	uint32_t e = p->current, b0 = p->initial[place];
	if (!e) /* the beginning: its only condition of that place */
		return !b0 || b0 - 1 < p->chosen[pivot] || try_condition(p, t, i, pivot, b0 - 1);
	uint32_t end = p->cfg.events[e].post + uf_npost(&p->cfg, e);
	for (uint32_t b = p->chosen[pivot] + 1; b < end; b++)
		if (p->cfg.conds[b].place == place && !try_condition(p, t, i, pivot, b))
			return false;
	if (b0 && !try_condition(p, t, i, pivot, b0 - 1))
		return false;
	const uint32_t *co = p->co + p->cfg.events[e].co_at;
	for (uint32_t k = p->head[place]; k; k = p->link[k - 1])
		if (!try_condition(p, t, i, pivot, co[k - 1]))
			return false;
	return true;
}

/* Is there any choice at all for all places? */
static inline bool hopeful(const struct prefix *p, uint32_t t, bool initially)
{
	const struct net *n = p->net;
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++) {
		uint32_t b0 = p->initial[n->pre[i]];
		if (!p->near[n->pre[i]] && (initially || !b0 || prefix_behind(p, b0 - 1)))
			return false;
	}
	return true;
}

static bool extend_by(struct prefix *p, uint32_t c)
{
	assert(c < p->nconds);
	const struct net *n = p->net;
	uint32_t place = p->cfg.conds[c].place;
	bool calm = p->opt.reduced && !p->cfg.tint[c] && !p->stirred[place]; /* no loop matters */
	const uint32_t *at = calm ? p->move_at : n->use_at, *use = calm ? p->move : n->use;
	for (uint32_t u = at[place]; u < at[place + 1]; u++) {
		uint32_t t = use[u], pivot = 0;
		if ((p->opt.reduced && !calm && cutoff_idle(p, t, c)) || !hopeful(p, t, !p->cfg.conds[c].event))
			continue;
		while (n->pre[n->pre_at[t] + pivot] != place)
			pivot++;
		p->chosen[pivot] = c;
		p->cfg.taken[c] = 1;
		bool ok = choose(p, t, 0, pivot);
		p->cfg.taken[c] = 0;
		if (!ok)
			return false;
	}
	return true;
}

/* All extensions whose newest cause is e, the current event. */
static bool extend(struct prefix *p, uint32_t e)
{
	assert(e < p->nevents);
	const struct uf_event ev = p->cfg.events[e];
	uint32_t n = uf_npost(&p->cfg, e);
	bool ok = true;
	if (!PREFIX_RAW(p, p->link, p->cap_link, ev.co_n))
		return false;
	for (uint32_t i = ev.co_n; i > 0; i--) {
		uint32_t place = p->cfg.conds[p->co[ev.co_at + i - 1]].place;
		p->link[i - 1] = p->head[place];
		p->head[place] = i;
		p->near[place] = 1;
	}
	for (uint32_t c = ev.post; c < ev.post + n; c++)
		p->near[p->cfg.conds[c].place] = 1;
	for (uint32_t c = ev.post; c < ev.post + n && ok; c++)
		ok = extend_by(p, c);
	for (uint32_t i = 0; i < ev.co_n; i++) {
		uint32_t place = p->cfg.conds[p->co[ev.co_at + i]].place;
		p->head[place] = 0;
		p->near[place] = 0;
	}
	for (uint32_t c = ev.post; c < ev.post + n; c++)
		p->near[p->cfg.conds[c].place] = 0;
	return ok;
}

/* ---- the loop ----------------------------------------------------------- */

/* A condition concurrent with e on the place of one of e's own, or NET_NONE. */
static uint32_t second_token(struct prefix *p, uint32_t e)
{
	assert(e < p->nevents);
	const struct config *c = &p->cfg;
	const struct uf_event *ev = &c->events[e];
	uint32_t n = uf_npost(c, e), other = NET_NONE;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = c->conds[ev->post + i].place, b0 = p->initial[place];
		p->head[place] = 1;
		if (b0 && !prefix_behind(p, b0 - 1))
			other = b0 - 1;
	}
	for (uint32_t i = 0; i < p->nfound && other == NET_NONE; i++)
		if (p->head[c->conds[p->found[i]].place])
			other = p->found[i];
	for (uint32_t i = 0; i < n; i++)
		p->head[c->conds[ev->post + i].place] = 0;
	return other;
}

static enum unfold_status unsafe(struct prefix *p, uint32_t e, uint32_t other)
{
	assert(other < p->nconds);
	p->unsafe_place = p->cfg.conds[other].place;
	p->unsafe_trans = p->cfg.events[e].trans;
	prefix_build(p);
	config_add(&p->cfg, p->cfg.conds[other].event);
	return prefix_keep_marking(p) ? UNFOLD_UNSAFE : UNFOLD_LIMIT;
}

/* Makes e the current event. When the one before it is a cause of it and its
 * configuration is there, e is put on top: long chains are not walked again. */
static void go_to(struct prefix *p, uint32_t e)
{
	assert(e && e < p->nevents);
	bool behind = false;
	for (uint32_t i = 0; p->current && !p->lazy && i < uf_npre(&p->cfg, e); i++)
		behind |= p->cfg.conds[uf_pre(&p->cfg, e)[i]].event == p->current;
	p->current = e;
	p->lazy = !behind;
	if (behind)
		config_add(&p->cfg, e);
	else
		config_undo(&p->cfg, 0);
	assert(p->current == e);
}

static enum unfold_status insert(struct prefix *p, uint32_t e)
{
	enum unfold_status st = UNFOLD_DONE;
	go_to(p, e);
	if (!co_roots(p, e) || !co_meet(p, e) || !prefix_new_conditions(p, e)) {
		st = UNFOLD_LIMIT;
	} else {
		uint32_t other = second_token(p, e);
		if (other != NET_NONE)
			st = unsafe(p, e, other);
		else if (!co_keep(p, e) || !extend(p, e))
			st = p->red ? UNFOLD_RED : UNFOLD_LIMIT;
	}
	assert(st != UNFOLD_LIMIT || p->limit);
	return st;
}

/* Which arcs put back what was only read. */
static bool reading_arcs(struct prefix *p)
{
	const struct net *n = p->net;
	uint64_t cap = 0;
	if (!p->cfg.colours)
		return true;
	if (!PREFIX_RAW(p, p->cfg.kept_from, cap, (uint64_t)n->post_at[n->ntrans] + 1))
		return false;
	for (uint32_t t = 0; t < n->ntrans; t++) {
		uint32_t k = n->pre_at[t];
		for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++) { /* both ascend */
			while (k < n->pre_at[t + 1] && n->pre[k] < n->post[i])
				k++;
			bool same = k < n->pre_at[t + 1] && n->pre[k] == n->post[i];
			p->cfg.kept_from[i] = same && p->cfg.colours->read[k] ? k - n->pre_at[t] : NET_NONE;
		}
	}
	return true;
}

static bool start(struct prefix *p)
{
	const struct net *n = p->net;
	uint64_t seed = 0x1A57AC7, cap = 0, cap2 = 0, cap3 = 0, cap4 = 0, cap5 = 0, cap6 = 0, cap7 = 0;
	uint32_t widest = 1;
	for (uint32_t t = 0; t < n->ntrans; t++)
		widest = net_npre(n, t) > widest ? net_npre(n, t) : widest;
	uint64_t counters = ((uint64_t)n->nplaces + 1) * (p->cfg.colours ? COLOUR_PAIRS : 1);
	if (!PREFIX_ROOM(p, p->cfg.change, cap, counters) || !PREFIX_ROOM(p, p->cfg.place_hash, cap2, (uint64_t)n->nplaces + 1) ||
	    !PREFIX_ROOM(p, p->head, cap3, (uint64_t)n->nplaces + 1) || !PREFIX_ROOM(p, p->near, cap6, (uint64_t)n->nplaces + 1) ||
	    !PREFIX_ROOM(p, p->initial, cap5, (uint64_t)n->nplaces + 1) || !PREFIX_ROOM(p, p->chosen, cap4, (uint64_t)widest + 1) ||
	    !PREFIX_ROOM(p, p->root_of, cap7, (uint64_t)n->ninit + 1) || !PREFIX_ROOM(p, p->roots, p->cap_roots, 1) ||
	    !PREFIX_RAW(p, p->pool, p->cap_pool, UF_UNIT) || !PREFIX_RAW(p, p->co, p->cap_co, 1) || !reading_arcs(p) ||
	    !cutoff_start(p))
		return false;
	p->npool = 1;  /* 0 = none */
	p->nroots = 1; /* the empty list */
	for (uint32_t i = 0; i < n->ninit; i++)
		p->initial[n->init[i]] = i + 1;
	for (uint32_t i = 0; i < n->nplaces; i++)
		p->cfg.place_hash[i] = hash64(seed += 0x9E3779B97F4A7C15u);
	if (!prefix_new_event(p, NET_NONE, NULL, 0) || !prefix_new_conditions(p, 0))
		return false;
	uint32_t *slot = prefix_find(p, NET_NONE, COLOUR_A, 0); /* the initial marking */
	if (!slot)
		return false;
	*slot = 1;
	p->ntable = 1;
	return extend(p, 0);
}

static enum unfold_status run(struct prefix *p, const struct unfold_options *opt)
{
	enum unfold_status st = UNFOLD_DONE;
	p->net = p->cfg.net;
	p->opt = *opt;
	p->memory.max = opt->max_bytes;
	p->cfg.plain = opt->reduced;
	p->unsafe_place = p->unsafe_trans = NET_NONE;
	if (!start(p))
		return p->red ? UNFOLD_RED : UNFOLD_LIMIT;
	for (uint32_t size = 1; size < p->nbuckets && st == UNFOLD_DONE; size++)
		for (uint32_t e; (e = p->bucket[size]) && st == UNFOLD_DONE;) {
			p->bucket[size] = p->cfg.events[e].next;
			if (!p->cfg.events[e].dead)
				st = insert(p, e);
		}
	config_undo(&p->cfg, 0);
	assert(st != UNFOLD_LIMIT || p->limit);
	return st;
}

enum unfold_status unfold(const struct net *n, const struct unfold_options *opt, struct prefix *p)
{
	memset(p, 0, sizeof *p);
	p->cfg.net = n;
	return run(p, opt);
}

enum unfold_status unfold_coloured(const struct colour_net *n, const struct unfold_options *opt, struct prefix *p)
{
	memset(p, 0, sizeof *p);
	p->cfg.net = &n->net;
	p->cfg.colours = n;
	return run(p, opt);
}
