/* model: loading a model for a command, with the options all of them share. */
#ifndef INTACT_CLI_MODEL_H
#define INTACT_CLI_MODEL_H

#include "cli/cli.h"
#include "lang/lang.h"

struct model_options {
	struct opt_list threads; /* --threads name=n */
	bool sml, quiet;
	bool keep_dead;
};

/* Loads `path`; diagnostics go to cli->err (warnings too, unless quiet).
 * Returns EXIT_HOLDS, or the exit code of what went wrong. */
int model_load(struct cli *cli, const struct cmd *cmd, struct lang *l, const char *path, const struct model_options *o);

#endif
