#include "explore/step_access.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

bool step_access_init(struct step_access *t, struct product *x)
{
	uint32_t widest = 0;
	memset(t, 0, sizeof *t);
	t->x = x;
	map_init(&t->by_edge);
	for (uint32_t i = 0; i < x->ir->ntemplates; i++)
		if (x->ir->templates[i].nslots > widest)
			widest = x->ir->templates[i].nslots;
	t->events = calloc(IR_MAX_EVENTS, sizeof *t->events);
	t->room = calloc((size_t)x->ir->nglobals + widest + 1, 2 * sizeof *t->room);
	return t->events && t->room;
}

void step_access_free(struct step_access *t)
{
	map_free(&t->by_edge);
	seqtab_free(&t->lists);
	free(t->events);
	free(t->room);
	memset(t, 0, sizeof *t);
}

struct touch_finding { /* the choices of one outcome */
	uint32_t want, at;
	bool found;
	struct ir_choices ch;
};

static bool find(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                 const struct ir_effect *eff)
{
	struct touch_finding *w = arg;
	(void)r;
	(void)g;
	(void)f;
	(void)eff;
	if (w->at++ != w->want)
		return true;
	w->ch = *ch;
	w->found = true;
	return false;
}

static int by_value(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return x < y ? -1 : x > y;
}

/* The recorded accesses as a list of places; a write hides a read. */
static uint32_t make_list(struct step_access *t, const struct ir_effect *eff)
{
	assert(eff->nevents <= IR_MAX_EVENTS);
	const uint32_t reading = IRA_READ | IRA_READ_INV | IRA_READ_RESP;
	int32_t list[IR_MAX_EVENTS];
	uint32_t out = 0;
	for (uint32_t i = 0; i < eff->nevents; i++) {
		const struct ir_event *e = &eff->events[i];
		list[i] = (int32_t)(t->x->ir->vars[e->var].slot + e->elem) * 2 + ((e->mode & ~reading) != 0);
	}
	qsort(list, eff->nevents, sizeof *list, by_value);
	for (uint32_t i = 0; i < eff->nevents; i++)
		if (i + 1 == eff->nevents || list[i + 1] >> 1 != list[i] >> 1)
			list[out++] = list[i];
	assert(out <= eff->nevents && (out > 0) == (eff->nevents > 0));
	return seqtab_add(&t->lists, list, out);
}

static uint32_t compute(struct step_access *t, uint32_t kind, uint32_t global, uint32_t local, const struct prod_edge *edge)
{
	assert(edge->nmoves == 1 && !t->x->merge_local && !t->x->transactions); /* a single step */
	struct product *x = t->x;
	const struct prod_kind *k = &x->kinds[kind];
	size_t ng = x->ir->nglobals, nf = k->frames.width;
	int32_t *g = t->room, *f = g + ng, *g2 = f + nf, *f2 = g2 + ng;
	struct touch_finding w = { .want = x->moves[edge->move] };
	struct ir_effect eff = { .events = t->events };
	uint32_t plain = (uint32_t)vector_table_get(&x->globals, global)[0];
	memcpy(g, vector_table_get(&x->plain_globals, plain), ng * sizeof *g);
	memcpy(f, vector_table_get(&k->frames, k->info[local].frame), nf * sizeof *f);
	ir_each(x->ir, k->thread, g, f, g2, f2, find, &w);
	w.ch.fixed = w.ch.n;
	w.ch.n = 0;
	t->limit |= !w.found || ir_exec(x->ir, k->thread, g, f, &w.ch, &eff) != IR_OK || eff.nevents >= IR_MAX_EVENTS;
	uint32_t id = make_list(t, &eff);
	if (id == SEQTAB_NONE || !map_put(&t->by_edge, edge->move, id))
		t->out_of_memory = true;
	return id;
}

const int32_t *step_access_of(struct step_access *t, uint32_t kind, uint32_t global, uint32_t local, const struct prod_edge *edge,
                              uint32_t *n)
{
	assert(kind < t->x->nkinds && edge->move < t->x->nmoves);
	uint32_t id = map_get(&t->by_edge, edge->move);
	if (id == MAP_NONE)
		id = compute(t, kind, global, local, edge);
	if (!t->out_of_memory)
		return seqtab_get(&t->lists, id, n);
	*n = 0;
	return NULL;
}
