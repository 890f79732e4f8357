#include "api/check_document.h"

#include "report/check_json.h"

void check_document(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                    struct buf *out)
{
	struct check_json_options jo = { .model = model, .engine = engine_chosen(o->engine, o->all), .block = o->block,
		                         .keep_dead = keep_dead };
	if (!r->causality) {
		jo.faults = o->faults;
		jo.deadlock = o->deadlock;
		jo.quiescence = quiescence_word(r->way_out);
	}
	check_json(r->p, r->v, r->n, &jo, out);
}
