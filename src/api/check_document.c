#include "api/check_document.h"

bool check_result_told(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                       struct checked *c)
{
	*c = (struct checked){ .p = r->p,
		               .v = r->v,
		               .n = r->n,
		               .model = model,
		               .engine = engine_chosen(o->engine, o->all),
		               .all = o->all,
		               .block = o->block,
		               .causality = r->causality,
		               .keep_dead = keep_dead,
		               .fault_free = r->fault_free,
		               .states = r->states,
		               .transitions = r->transitions };
	if (!r->causality) {
		c->faults = o->faults;
		c->deadlock = o->deadlock;
		c->quiescence = quiescence_word(r->way_out);
	}
	c->stories = stories_make(r->p, r->v, r->n);
	return c->stories != NULL;
}
