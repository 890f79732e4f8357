/* args: see args.h. */
#include "check/args.h"

#include "base/clock.h"

void check_args_init(struct check_args *a)
{
	struct search_options *s = &a->options.search;
	s->symmetry = s->merge_local = s->drop_pure = s->transactions = true;
	engine_choices(a->engines);
	engine_names(ENGINE_OBJECTS, a->judges);
}

void check_args_done(struct check_args *a)
{
	struct check_options *o = &a->options;
	engine_choose(a->engines[a->engine], &o->engine, &o->all);
	o->objects.assertion = engine_find(a->judges[a->judge]);
	o->search.jobs = (uint32_t)a->jobs;
	o->search.deadline = a->timeout ? clock_seconds() + (double)a->timeout : 0;
	o->track = a->track.items;
	o->ntrack = (uint32_t)a->track.n;
	o->abstract = a->abstract.items;
	o->nabstract = (uint32_t)a->abstract.n;
}
