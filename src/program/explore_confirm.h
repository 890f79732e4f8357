/*
 * explore_confirm: the findings of `intact run`, each explored: a search that is
 * steered into its gap until a schedule shows that the block is not atomic, or
 * fails after another thread came in between.
 */
#ifndef INTACT_PROGRAM_EXPLORE_CONFIRM_H
#define INTACT_PROGRAM_EXPLORE_CONFIRM_H

#include "program/explore_search.h"
#include "report/explore.h"

struct confirm_ask {
	struct explore_ask explore; /* of each search; `seconds` is for all of them together */
	const char *report;         /* what the findings are called after: a file */
	const char *save;           /* directory for schedules; NULL: none is saved */
	bool optional_save;         /* one that cannot be made is told of, and that is all */
	const char *what;           /* progress: "confirming" */
};

/*
 * Explores each of the findings (results of a document of `intact run`), suppressed and known ones left out. EXIT_HOLDS:
 * *out has them, in their order; otherwise a message is in cli->err and the code is returned: none is about this
 * program (EXIT_USAGE), or it cannot be explored.
 */
int confirm_findings(struct cli *cli, const struct confirm_ask *ask, const json_t *findings, struct arena *a,
                     struct explore_confirmation *out);

/* The exit code of that: one was confirmed, one was cut short, or neither. */
int confirm_code(const struct explore_confirmation *c);

/* The findings of a saved report, and its document (json_decref). NULL after a message. */
const json_t *confirm_read(struct cli *cli, const char *path, const char *program, json_t **document);

#endif
