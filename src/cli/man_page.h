/* man_page: the man page of a command from its row and its option table; of intact(1) from the list of the commands. */
#ifndef INTACT_CLI_MAN_PAGE_H
#define INTACT_CLI_MAN_PAGE_H

#include "cli/cli.h"

/* Writes the page of `c` (NULL: of intact) to cli->out; an exit code. */
int man_page(struct cli *cli, const struct cmd *c);

#endif
