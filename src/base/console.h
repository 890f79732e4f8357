/*
 * console: what a command writes to: results go to `out`, which main flushes to stdout; diagnostics go to `err`,
 * flushed to stderr before it. With the exit codes that all commands share.
 */
#ifndef INTACT_BASE_CONSOLE_H
#define INTACT_BASE_CONSOLE_H

#include <stdbool.h>

#include "base/buf.h"

enum {
	EXIT_HOLDS = 0,
	EXIT_VIOLATED = 1,
	EXIT_USAGE = 2,
	EXIT_UNKNOWN = 3,
	EXIT_INTERNAL = 4,
};

struct cmd;
struct opt;

struct cli {
	struct buf out, err;
	bool color_out, color_err; /* a terminal, and NO_COLOR is not set */
	bool utf8_out;             /* a terminal in a UTF-8 locale */
	bool prose;                /* `out` is text for people: on a terminal its long lines are folded */
	bool keeps_pipe;           /* SIGPIPE was ignored before us: programs we start ignore it too */
	unsigned columns;          /* of the terminal; 100 when there is none */
	/* What gets the help of a command in place of `out`: man pages and completions; NULL: the text. */
	void (*help)(struct cli *cli, const struct cmd *cmd, const struct opt *table);
	void *help_arg;
};

#endif
