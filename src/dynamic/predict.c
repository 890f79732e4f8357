#include "dynamic/predict.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"

#define KEYS_MAX 1000000

struct predict {
	struct predict_opts o;
	struct predicted *list;
	size_t n, cap;
	uint64_t kinds[2], kept[2];
	struct map by_places; /* -> place in the list, or MAP_NONE - 1: not kept */
	bool nomem;
	struct reduce *reduce;
	struct reorder *reorder;
};

struct predict *predict_new(const struct predict_opts *o)
{
	struct predict *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->o = *o;
	map_init(&p->by_places);
	p->reduce = reduce_new(p);
	p->reorder = reorder_new(p, o->window);
	if (!p->reduce || !p->reorder) {
		predict_free(p);
		return NULL;
	}
	return p;
}

void predict_free(struct predict *p)
{
	if (!p)
		return;
	reduce_free(p->reduce);
	reorder_free(p->reorder);
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i].order);
	free(p->list);
	map_free(&p->by_places);
	free(p);
}

bool predict_feed(struct predict *p, const struct event *ev, size_t n)
{
	return reduce_feed(p->reduce, ev, n) && reorder_feed(p->reorder, ev, n) && !p->nomem;
}

bool predict_finish(struct predict *p)
{
	return reorder_finish(p->reorder) && !p->nomem;
}

const struct predicted *predict_list(const struct predict *p, size_t *n)
{
	*n = p->n;
	return p->list;
}

uint64_t predict_count(const struct predict *p, enum predict_kind kind)
{
	assert((unsigned)kind < sizeof p->kinds / sizeof *p->kinds);
	return p->kinds[kind];
}

struct predictions predict_all(const struct predict *p)
{
	struct predictions all = { .proven = predict_count(p, PREDICT_PROVEN), .possible = predict_count(p, PREDICT_POSSIBLE) };
	all.list = predict_list(p, &all.n);
	return all;
}

static uint64_t key_of(const struct predicted *f)
{
	uint64_t h = hash64((uint64_t)f->kind + 1);
	h = hash64(h ^ ((uint64_t)f->first.loc << 32 | f->second.loc));
	h = hash64(h ^ ((uint64_t)f->between.loc << 32 | f->begin.loc));
	h = hash64(h ^ f->until.loc);
	return hash64(h ^ ((uint64_t)f->first.kind << 16 | (uint64_t)f->second.kind << 8 | f->between.kind));
}

bool predict_known(const struct predict *p, const struct predicted *f)
{
	return map_get(&p->by_places, key_of(f)) != MAP_NONE;
}

void predict_add(struct predict *p, struct predicted f)
{
	assert(f.kind == PREDICT_PROVEN || f.kind == PREDICT_POSSIBLE);
	assert(f.kind != PREDICT_PROVEN || f.order);
	uint64_t key = key_of(&f);
	uint32_t at = map_get(&p->by_places, key);
	if (at != MAP_NONE) {
		if (at < p->n)
			p->list[at].count++;
		free(f.order);
		return;
	}
	p->kinds[f.kind]++;
	bool keep = !p->o.limit || p->kept[f.kind] < p->o.limit;
	if (p->by_places.len < KEYS_MAX)
		p->nomem |= !map_put(&p->by_places, key, keep ? (uint32_t)p->n : MAP_NONE - 1);
	if (keep && !GROW(p->list, p->cap, p->n + 1)) {
		p->nomem = true;
		keep = false;
	}
	if (!keep) {
		free(f.order);
		return;
	}
	f.count = 1;
	p->kept[f.kind]++;
	p->list[p->n++] = f;
}
