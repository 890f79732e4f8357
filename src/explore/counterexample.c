/*
 * counterexample: the way to a violation. The search is done again by one thread that
 * remembers where every state came from; it meets a violation at the same depth, and
 * the same one however many threads the first search had. It obeys the same limits as
 * the first search: when one is reached, there is a violation and no path to show,
 * which is unknown. Where the first search was on disk, or memory is used up, this one is there as well.
 */
#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "base/invariant.h"
#include "explore/search_disk.h"
#include "explore/search_int.h"

/* Replaces an id in its sorted group, taking the threads' names along. */
static void sort_named(const struct search *s, uint32_t *ids, uint32_t *who, uint32_t pos)
{
	uint32_t name = who[pos], v = ids[pos + 1], i = pos;
	for (; i > s->first[pos] && ids[i] > v; i--) {
		ids[i + 1] = ids[i];
		who[i] = who[i - 1];
	}
	for (; i < s->last[pos] && ids[i + 2] < v; i++) {
		ids[i + 1] = ids[i + 2];
		who[i] = who[i + 1];
	}
	assert(i >= s->first[pos] && i <= s->last[pos]);
	ids[i + 1] = v;
	who[i] = name;
	assert(i == s->first[pos] || ids[i] <= v);
	assert(i == s->last[pos] || v <= ids[i + 2]);
}

static bool append_moves(struct search *s, const struct prod_edge *e, uint32_t thread)
{
	assert(e->nmoves && e->move + e->nmoves <= s->prod.nmoves && thread < s->nthreads);
	struct search_result *r = s->r;
	struct move *p = realloc(r->path, sizeof *p * (r->npath + e->nmoves));
	if (!p)
		return false;
	r->path = p;
	for (uint32_t i = 0; i < e->nmoves; i++)
		p[r->npath++] = (struct move){ thread, s->prod.moves[e->move + i] };
	return true;
}

/* The steps to the violation, first one first; *n of them. */
static struct origin *steps_to_hit(const struct search *s, uint32_t *n)
{
	if (s->disk)
		return disk_steps_to_hit(s, n);
	assert(s->hit.parent < s->norigins && s->origins[0].thread == IR_NONE);
	uint32_t count = 0;
	for (uint32_t i = s->hit.parent; s->origins[i].thread != IR_NONE; i = s->origins[i].parent)
		count++;
	struct origin *steps = calloc(count + 2, sizeof *steps);
	*n = count;
	if (!steps)
		return NULL;
	for (uint32_t i = s->hit.parent; count; i = s->origins[i].parent)
		steps[--count] = s->origins[i];
	if (s->hit.thread != IR_NONE)
		steps[(*n)++] = (struct origin){ 0, s->hit.thread, s->hit.edge };
	assert(!count);
	return steps;
}

/* Follows them from the initial state. */
static bool make_path(struct search *s, const struct ir *ir)
{
	uint32_t n = 0, *who = calloc(s->nthreads + 1, sizeof *who), *ids = s->workers[0].ids;
	struct origin *steps = steps_to_hit(s, &n);
	bool ok = who && steps;
	ids[0] = product_initial_global(&s->prod);
	for (uint32_t i = 0; ok && i < ir->nthreads; i++) {
		ids[i + 1] = product_initial_local(&s->prod, i);
		who[i] = i;
	}
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t pos = steps[i].thread, count;
		const struct prod_edge *e = product_step(&s->prod, s->prod.kind_of[pos], ids[0], ids[pos + 1], &count);
		assert(!e || steps[i].edge < count);
		ok = e && append_moves(s, &e[steps[i].edge], who[pos]);
		if (!ok)
			break;
		ids[0] = e[steps[i].edge].global;
		ids[pos + 1] = e[steps[i].edge].local;
		sort_named(s, ids, who, pos);
	}
	free(who);
	free(steps);
	return ok;
}

void search_trace(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                  const struct search_options *o, bool on_disk, struct search_result *r)
{
	struct search s;
	struct search_options quiet = *o;
	struct search_result again = { 0 };
	quiet.progress = NULL;
	bool ok = search_init(&s, ir, mode, block, lab, &quiet, &again, true) && (!on_disk || disk_begin(&s));
	if (ok)
		search_explore(&s);
	if (o->disk && !on_disk && (!ok || (again.verdict == SEARCH_LIMIT && !strcmp(again.limit, "memory")))) {
		search_free(&s);
		search_trace(ir, mode, block, lab, o, true, r);
		return;
	}
	bool found = again.verdict != SEARCH_HOLDS && again.verdict != SEARCH_LIMIT;
	ok = ok && found && make_path(&s, ir);
	again.bytes = r->bytes > again.bytes ? r->bytes : again.bytes;
	if (!ok) {
		free(again.path);
		again.path = NULL;
		again.npath = 0;
		again.limit = again.verdict == SEARCH_LIMIT ? again.limit : "memory";
		again.verdict = SEARCH_LIMIT;
	}
	assert(again.verdict != SEARCH_HOLDS);
	search_free(&s);
	*r = again;
}
