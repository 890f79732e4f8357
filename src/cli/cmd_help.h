/* cmd_help: what is made of the commands' rows and option tables: the list of them, man pages, completion scripts. */
#ifndef INTACT_CLI_CMD_HELP_H
#define INTACT_CLI_CMD_HELP_H

#include "cli/cli.h"

void help_overview(struct buf *out);
/* man_page.c: writes the page of `c` (NULL: of intact(1)) to cli->out; an exit code. */
int man_page(struct cli *cli, const struct cmd *c);
/* completion.c: writes the script for "bash", "zsh" or "fish" to cli->out; an exit code. */
int completion_script(struct cli *cli, const char *shell);
/* cmd_explain.c: the topics; returns how many, at most `max`. */
int explain_names(const char **names, int max);

#endif
