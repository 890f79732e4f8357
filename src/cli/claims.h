/* claims: a ledger (verify/ledger.h) whose text, messages and document are a command's. */
#ifndef INTACT_CLI_CLAIMS_H
#define INTACT_CLI_CLAIMS_H

#include "cli/outputs.h"
#include "verify/ledger.h"

void claims_init(struct ledger *l, struct cli *cli, const struct outputs *o, const char *file, const char *of);
/* Writes the reports that are wanted and frees the ledger; the exit code. */
int claims_end(struct ledger *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc);

#endif
