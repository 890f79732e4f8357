/*
 * checked: what `intact check` found out about a model, as data for its
 * renderers: check_text.h writes it for a terminal, check_json.h as a document.
 * A saved document becomes the same data again (api/check_read.h).
 */
#ifndef INTACT_REPORT_CHECKED_H
#define INTACT_REPORT_CHECKED_H

#include "report/story.h"
#include "verdict/certified.h"

struct checked {
	const struct ir *p;
	const struct verdict *v; /* in the order of the questions */
	uint32_t n;
	struct story *stories;               /* one for each */
	const char *model;                   /* as the user named it */
	const char *engine;                  /* which was asked: "auto", "exact", ... */
	bool all;                            /* every engine on every question: a column each */
	const char *block;                   /* the one that was asked about alone, or NULL */
	bool faults;                         /* only faults were asked for */
	bool deadlock;                       /* deadlocks were */
	bool causality;                      /* the verdicts are about causality alone */
	const char *quiescence;              /* can threads always leave their blocks: always, lost,
	                          * unknown; NULL: was not asked */
	const struct certified *certificate; /* that was written; or NULL */
	bool keep_dead;                      /* the model was read with its dead locals kept */
	/* of the search itself, not in documents */
	bool fault_free; /* explored without a fault: */
	uint64_t states, transitions;
};

#endif
