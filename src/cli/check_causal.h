/* check_causal: `intact check --engine=cover|unfold|causal`. */
#ifndef INTACT_CLI_CHECK_CAUSAL_H
#define INTACT_CLI_CHECK_CAUSAL_H

#include "causal/causal.h"
#include "cli/model.h"
#include "cli/outputs.h"

struct check_causal {
	struct causal_options causal;
	const char *path;  /* of the model */
	const char *engine; /* as it was asked for */
	const char *block; /* this one alone, or NULL */
	const struct outputs *outputs;
	bool stats;
	const struct model_options *model;
};

/* Answers and reports; the exit code. */
int check_causal(struct cli *cli, const struct cmd *cmd, const struct check_causal *c,
                 const struct ir *p);

#endif
