/* trace_tools: the helpers of `intact trace`: convert, stats. */
#ifndef INTACT_CLI_TRACE_TOOLS_H
#define INTACT_CLI_TRACE_TOOLS_H

#include "cli/cli.h"
#include "event/reader.h"

/* Where messages about a trace go; ctx of msgs_add. */
struct msgs {
	struct cli *cli;
	uint64_t errors;
	bool silent; /* they have been told already */
	bool nomem; /* one of them was about memory: a limit, not a mistake */
};
void msgs_add(void *ctx, const struct trace_msg *m);

/* Options and exactly `want` words; -1 to go on, else the exit code. */
int trace_tool_parse(struct cli *cli, const struct cmd *sub, const struct opt *table,
                     int argc, char **argv, int want, const char *what,
                     const char **args);

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv);

#endif
