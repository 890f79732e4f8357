/* completion: scripts that complete `intact` in bash, zsh and fish, from the rows and option tables of the commands. */
#ifndef INTACT_CLI_COMPLETION_H
#define INTACT_CLI_COMPLETION_H

#include "cli/cli.h"

/* Writes the script for "bash", "zsh" or "fish" to cli->out; an exit code. */
int completion_script(struct cli *cli, const char *shell);

/* cmd_explain.c: the topics; returns how many, at most `max`. */
int explain_names(const char **names, int max);

#endif
