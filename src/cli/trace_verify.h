/*
 * trace_verify: a report of `intact trace --json` checked against its trace: every cycle, by a judge that
 * shares nothing with the analyses.
 */
#ifndef INTACT_CLI_TRACE_VERIFY_H
#define INTACT_CLI_TRACE_VERIFY_H

#include <jansson.h>

#include "cli/claims.h"

/* `intact trace verify REPORT TRACE` */
int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
/* The report as read; `trace` NULL: the file it names. */
int trace_verify_report(struct claim_list *l, struct cli *cli, const struct cmd *cmd, json_t *root, const char *trace);

#endif
