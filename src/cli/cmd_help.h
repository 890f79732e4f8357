/* cmd_help: the list of the commands. */
#ifndef INTACT_CLI_CMD_HELP_H
#define INTACT_CLI_CMD_HELP_H

#include "base/buf.h"

void help_overview(struct buf *out);

#endif
