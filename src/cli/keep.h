/*
 * keep: --checkpoint, --resume and --disk of a command: the directories, the signals, and the line that resumes.
 *
 * While it is open, SIGINT and SIGTERM ask the search to write a checkpoint and to end; a second signal ends the process.
 */
#ifndef INTACT_CLI_KEEP_H
#define INTACT_CLI_KEEP_H

#include "check/keep.h"
#include "cli/cli.h"
#include "cli/progress.h"

struct keep {
	const char *checkpoint, *resume, *every, *disk; /* the options */
	struct disk_place place;
	struct progress *line; /* that a message must not run into */
	struct checkpoint *c;
	int argc; /* the words of the command, for the line that resumes */
	char **argv;
};

/* clang-format off */
#define KEEP_OPTIONS(k) \
	{ OPT_STR, "checkpoint", 0, "DIR", &(k)->checkpoint, "write checkpoints into DIR; SIGINT and SIGTERM write one and exit with 3", 0, 0, NULL }, \
	{ OPT_STR, "every", 0, "TIME", &(k)->every, "time between checkpoints: 90s, 10m (default), 2h; 0 is after every level", 0, 0, NULL }, \
	{ OPT_STR, "resume", 0, "DIR", &(k)->resume, "continue from the checkpoint in DIR, with the same model and options", 0, 0, NULL }, \
	{ OPT_STR, "disk", 0, "DIR", &(k)->disk, "when the memory limit is reached, searches over states go on in files in DIR", 0, 0, NULL }, \
	{ OPT_SIZE, "disk-size", 0, "SIZE", &(k)->place.limit, "limit of these files (default: what the disk has)", 1 << 16, 0, NULL }, \
	{ OPT_UINT, "disk-from", 0, "N", &(k)->place.from, "go to --disk at N states, before the memory limit", 1, 0, NULL }
/* clang-format on */

/* Opens the directory if one was named. EXIT_HOLDS, or what went wrong, said to the user. */
int keep_begin(struct keep *k, struct cli *cli, const struct cmd *cmd, const struct ir *p, struct check_options *o);
/* The check has run. True: it was cut short, *rc is the exit code, and there is nothing to report. */
bool keep_cut(struct keep *k, struct cli *cli, const struct cmd *cmd, int *rc);
/* The reports are written. */
void keep_end(struct keep *k, struct cli *cli, const struct cmd *cmd, int rc);

#endif
