/* history_verify: a report of `intact history --json --witness` held against
 * its history, for `intact verify`. */
#ifndef INTACT_CLI_HISTORY_VERIFY_H
#define INTACT_CLI_HISTORY_VERIFY_H

#include <jansson.h>

#include "cli/cli.h"

/* `history`: the file, or NULL for the one that the report names. */
int history_verify_report(struct cli *cli, json_t *root, const char *history);

#endif
