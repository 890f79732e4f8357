/*
 * cli: what the commands share.
 *
 * A command is a row in the table of main.c; its function gets the words
 * after its name and returns the exit code. Where its output goes, and the
 * exit codes: base/console.h.
 */
#ifndef INTACT_CLI_H
#define INTACT_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/console.h"
#include "base/diag.h"
#include "base/opts.h"

struct cmd {
	const char *name;
	const char *summary; /* one line for `intact help` */
	const char *usage;   /* the arguments of `intact` */
	const char *about;   /* paragraphs of `intact help CMD` */
	/* Its arguments, for completions: words it begins with, globs of files, @program, @topic, @command; NULL: any file.
	 * A word with a --help of its own gets its own part in the man page. */
	const char *takes;
	int (*run)(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
};

/* Every command, ended by a NULL name. */
extern const struct cmd *const cli_commands[];

const struct cmd *cli_find(const char *name); /* or NULL */
int cli_unknown_command(struct cli *cli, const char *name);
/* `intact CMD --help`, from the row and an option table; to cli->help when that is set. */
int cli_help(struct cli *cli, const struct cmd *cmd, const struct opt *table);
/* Runs the command with --help, then each word of `takes` with it: cli->help gets all the tables. */
void cli_all_help(struct cli *cli, const struct cmd *cmd);
/* The value of --shard, "K/N" with K from 1 to N: *shard gets K - 1. False: it is none. */
bool cli_shard(const char *text, uint32_t *shard, uint32_t *shards);
/* A wrong command line: the message, the usage, exit code 2. */
int cli_usage(struct cli *cli, const struct cmd *cmd, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- trace_tools.c: the helpers of `intact trace`: convert, stats, verify ---- */

int trace_convert(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
int trace_stats_cmd(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
/* `intact trace verify REPORT TRACE` */
int trace_verify(struct cli *cli, const struct cmd *cmd, int argc, char **argv);

#endif
