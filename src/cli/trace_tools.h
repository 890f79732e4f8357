/* trace_tools: the helpers of `intact trace`: convert, stats, verify. */
#ifndef INTACT_CLI_TRACE_TOOLS_H
#define INTACT_CLI_TRACE_TOOLS_H

#include "cli/cli.h"

/* Options and exactly `want` words; -1 to go on, else the exit code. */
int trace_tool_parse(struct cli *cli, const struct cmd *sub, const struct opt *table, int argc, char **argv, int want,
                     const char *what, const char **args);

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
/* `intact trace verify REPORT TRACE` */
int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv);

#endif
