/*
 * prefix: the arrays of the unfolder, and the table of markings.
 *
 * All arrays double, under one budget of bytes; the largest (the co-relation)
 * is not cleared, so that memory which is never used is never touched. The
 * table is one of event ids (idtab.h); a hit of the 64-bit
 * hash is confirmed by comparing the markings themselves.
 */
#include "causal/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/map.h"

bool prefix_stop(struct prefix *p, const char *limit)
{
	assert(limit);
	if (!p->limit)
		p->limit = limit;
	return false;
}

bool prefix_in_time(struct prefix *p)
{
	if (p->opt.deadline <= 0 || (++p->ticks & 1023))
		return true;
	return clock_seconds() < p->opt.deadline || prefix_stop(p, "time");
}

bool prefix_new_event(struct prefix *p, uint32_t trans, const uint32_t *pre, uint32_t npre)
{
	assert(p->nevents ? npre == net_npre(p->net, trans) : !npre); /* event 0 is the beginning */
	uint32_t cap = p->cap_events, cap2 = p->cap_events;
	if (!PREFIX_ROOM(p, p->cfg.trail, cap, (uint64_t)p->nevents + 1) ||
	    !PREFIX_ROOM(p, p->cfg.scratch, cap2, (uint64_t)p->nevents + 1) ||
	    !PREFIX_ROOM(p, p->cfg.events, p->cap_events, (uint64_t)p->nevents + 1) ||
	    !PREFIX_ROOM(p, p->cfg.pres, p->cap_pres, (uint64_t)p->npres + npre))
		return false;
	struct uf_event *e = &p->cfg.events[p->nevents++];
	memset(e, 0, sizeof *e);
	e->trans = trans;
	e->pre = p->npres;
	if (npre)
		memcpy(p->cfg.pres + p->npres, pre, npre * sizeof *pre);
	p->npres += npre;
	p->cfg.nevents = p->nevents;
	return true;
}

bool prefix_new_conditions(struct prefix *p, uint32_t e)
{
	assert(e < p->nevents);
	const struct net *net = p->net;
	struct config *c = &p->cfg;
	uint32_t n = uf_npost(c, e), at = e ? net->post_at[c->events[e].trans] : 0;
	uint32_t cap = p->cap_conds, cap2 = cap, cap3 = cap;
	if (!PREFIX_ROOM(p, c->taken, cap, (uint64_t)p->nconds + n) || !PREFIX_ROOM(p, c->tint, cap2, (uint64_t)p->nconds + n) ||
	    !PREFIX_ROOM(p, p->younger, cap3, (uint64_t)p->nconds + n) ||
	    !PREFIX_ROOM(p, c->conds, p->cap_conds, (uint64_t)p->nconds + n))
		return false;
	struct uf_event *ev = &c->events[e];
	ev->post = p->nconds;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = e ? net->post[at + i] : net->init[i];
		c->tint[p->nconds] = e ? config_put(c, at + i, c->pres + ev->pre, (enum colour)ev->colour) : 0;
		if (c->tint[p->nconds] && p->tinted && !p->tinted[place])
			cutoff_tinted(p, place);
		c->conds[p->nconds++] = (struct uf_cond){ place, e, ev->post };
	}
	return true;
}

bool prefix_keep_marking(struct prefix *p)
{
	free(p->marking);
	p->marking = calloc((size_t)p->net->nplaces * 2 + 1, sizeof *p->marking);
	if (!p->marking)
		return prefix_stop(p, "memory");
	p->nmarking = config_marking(&p->cfg, p->marking, p->net->nplaces * 2);
	assert(p->nmarking <= p->net->nplaces * 2);
	return true;
}

void prefix_build(struct prefix *p)
{
	if (!p->lazy)
		return;
	config_add(&p->cfg, p->current); /* chosen[] is of no event of [current] */
	p->lazy = false;
	assert(!p->lazy);
}

void prefix_free(struct prefix *p)
{
	struct config *c = &p->cfg;
	void *all[] = {
		c->events,    c->conds,   c->taken,   c->tint,    c->pres,  c->trail,   c->scratch,     c->change,    c->place_hash,
		c->kept_from, p->marking, p->co,      p->younger, p->pool,  p->bucket,  p->table.slots, p->found,     p->head,
		p->link,      p->chosen,  p->near,    p->initial, p->roots, p->root_of, p->tokens,      p->tokens_of, p->most,
		p->loop,      p->tinted,  p->stirred, p->move_at, p->move,  p->cut,
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	memset(p, 0, sizeof *p);
}

/* ---- markings ----------------------------------------------------------- */

struct prefix_wanted {
	struct prefix *p;
	uint32_t t;
	enum colour ev;
	uint64_t hash;
};

static inline bool is_wanted(const void *ctx, uint32_t e)
{
	const struct prefix_wanted *w = ctx;
	if (w->p->cfg.events[e].hash != w->hash)
		return false;
	prefix_build(w->p);
	return config_same_marking(&w->p->cfg, w->t, w->p->chosen, w->ev, e);
}

/* The table has some events only: it is filled from the old one. */
static bool grow_table(struct prefix *p)
{
	assert(p->ntable <= p->table.nslots);
	uint32_t n = p->table.nslots ? p->table.nslots * 2 : 1024, *slots;
	uint64_t more = (uint64_t)(n - p->table.nslots) * sizeof *slots;
	if (n >= UINT32_C(1) << 31 || (p->memory.max && p->memory.used + more > p->memory.max))
		return prefix_stop(p, "memory");
	slots = calloc(n, sizeof *slots);
	if (!slots)
		return prefix_stop(p, "memory");
	for (uint32_t i = 0; i < p->table.nslots; i++)
		if (p->table.slots[i])
			idtab_put(slots, n, (uint32_t)hash64(p->cfg.events[p->table.slots[i] - 1].hash), p->table.slots[i] - 1);
	free(p->table.slots);
	p->table = (struct idtab){ slots, n };
	p->memory.used += more;
	return true;
}

uint32_t *prefix_find(struct prefix *p, uint32_t t, enum colour ev, uint64_t hash)
{
	if (idtab_full(&p->table, p->ntable) && !grow_table(p))
		return NULL;
	return idtab_at(&p->table, (uint32_t)hash64(hash), is_wanted, &(struct prefix_wanted){ p, t, ev, hash });
}
