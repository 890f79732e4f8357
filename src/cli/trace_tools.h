/* trace_tools: the helpers of `intact trace`: convert, stats, verify. */
#ifndef INTACT_CLI_TRACE_TOOLS_H
#define INTACT_CLI_TRACE_TOOLS_H

#include <jansson.h>

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

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
/* The same for a report that is read already; `trace` NULL: the file it names. */
int trace_verify_report(struct cli *cli, const struct cmd *cmd, json_t *root,
                        const char *trace);

#endif
