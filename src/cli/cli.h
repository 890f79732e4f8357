/*
 * cli: what the commands share: exit codes, where output goes, colours.
 *
 * A command is a row in the table of main.c; its function gets the words
 * after its name and returns the exit code. Results go to `out`, which main
 * flushes to stdout; diagnostics go to `err`, flushed to stderr before it.
 */
#ifndef INTACT_CLI_H
#define INTACT_CLI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/opts.h"

enum {
	EXIT_HOLDS = 0,
	EXIT_VIOLATED = 1,
	EXIT_USAGE = 2,
	EXIT_UNKNOWN = 3,
	EXIT_INTERNAL = 4,
};

struct cli {
	struct buf out, err;
	bool color_out, color_err; /* a terminal, and NO_COLOR is not set */
	bool utf8_out;             /* a terminal in a UTF-8 locale */
	bool prose;                /* `out` is text for people: on a terminal its long lines are folded */
	bool keeps_pipe;           /* SIGPIPE was ignored before us: programs we start ignore it too */
	unsigned columns;          /* of the terminal; 100 when there is none */
};

struct cmd {
	const char *name;
	const char *summary; /* one line for `intact help` */
	const char *usage;   /* the arguments of `intact` */
	const char *about;   /* paragraphs of `intact help CMD` */
	const struct opt *options; /* for --help only; may be NULL */
	int (*run)(struct cli *cli, const struct cmd *cmd, int argc, char **argv);
};

/* Every command, ended by a NULL name. */
extern const struct cmd *const cli_commands[];

/* `intact CMD --help`, from the row and an option table. */
int cli_help(struct cli *cli, const struct cmd *cmd, const struct opt *table);
/* A wrong command line: the message, the usage, exit code 2. */
int cli_usage(struct cli *cli, const struct cmd *cmd, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
