/* trace_tools: the helpers of `intact trace`: convert, stats, verify. */
#ifndef INTACT_CLI_TRACE_TOOLS_H
#define INTACT_CLI_TRACE_TOOLS_H

#include "cli/cli.h"

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
/* `intact trace verify REPORT TRACE` */
int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv);

#endif
