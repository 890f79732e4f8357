/* completion_int: what the completion scripts of the shells share. */
#ifndef INTACT_CLI_COMPLETION_INT_H
#define INTACT_CLI_COMPLETION_INT_H

#include "cli/cli.h"

/* One shell: what is written before the tables, for one, and after them. */
struct completion_shell {
	const char *name;
	void (*begin)(struct buf *out);
	void (*table)(struct buf *out, const struct cmd *cmd, const struct opt *table);
	void (*end)(struct buf *out);
};
extern const struct completion_shell completion_bash, completion_zsh, completion_fish;

/* The suffixes of an option's files: "" any file, NULL: the value is no file. */
const char *completion_files(const struct cmd *cmd, const struct opt *t);
/* Of the arguments of a command: the words, then the names that @topic or @command stand for. */
void completion_words(const struct cmd *cmd, struct buf *out);
/* Of the arguments of a command: the suffixes of files (".atm .sml"); nothing: any. */
void completion_suffixes(const struct cmd *cmd, struct buf *out);
void completion_commands(struct buf *out);
bool completion_of_program(const struct cmd *cmd); /* they are a program and its arguments */

#endif
