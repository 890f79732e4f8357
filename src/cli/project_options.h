/*
 * project_options: the options that the project file gives a command.
 *
 * A table [COMMAND] has the command's long options as keys; keys before the first table (atomic, not-atomic, suppressions,
 * baseline) go to every command with an option of this name. They become words in front of those of the command line, so
 * that the command line has the last word. The whole file is checked against the option tables of all commands, whichever
 * is run: an unknown key or a wrong value is an error with its place.
 */
#ifndef INTACT_CLI_PROJECT_OPTIONS_H
#define INTACT_CLI_PROJECT_OPTIONS_H

#include "cli/cli.h"

struct project_words {
	struct arena arena;
	int argc;
	char **argv; /* ended by NULL */
};

/* The command line of `cmd` with the project's options, in `w` (free with project_words_free); false after messages.
 * `file`: the project file; NULL: the one that holds here, if any. */
bool project_options(struct cli *cli, const struct cmd *cmd, const char *file, int argc, char **argv, struct project_words *w);
void project_words_free(struct project_words *w);
/* Checks the file alone; false after messages. */
bool project_check(struct cli *cli, const char *file);

#endif
