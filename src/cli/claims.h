/* claims: a claims (report/claim_list.h) whose text, messages and document are a command's. */
#ifndef INTACT_CLI_CLAIMS_H
#define INTACT_CLI_CLAIMS_H

#include "cli/outputs.h"
#include "report/claim_list.h"

void claims_init(struct claim_list *l, struct cli *cli, const char *file, const char *of);
/* Writes the text, or the reports that are wanted in its place or besides, and frees the claims; the exit code. */
int claims_end(struct claim_list *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc);

#endif
