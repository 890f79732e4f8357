/*
 * ranks: a command that an MPI launcher has started several times (mpirun -n N intact ...): rank 0 is the command, the
 * others take part in its large searches and print nothing.
 */
#ifndef INTACT_CLI_RANKS_H
#define INTACT_CLI_RANKS_H

#include "check/check.h"
#include "cli/cli.h"
#include "cli/keep.h"
#include "dist/dist_open.h"

struct ranks {
	bool on; /* there are several */
	struct dist dist;
	struct search_ranks told;
};

/* clang-format off */
#define RANKS_OPTIONS(r) \
	{ OPT_UINT, "mpi-from", 0, "N", &(r)->told.from, "under mpirun: the other ranks take part in a search from N states on (default: 200000)", 1, 0, NULL }
/* clang-format on */

/* EXIT_HOLDS: go on; else the exit code. *rest: this is another rank, its work is done. */
int ranks_begin(struct ranks *r, struct cli *cli, const struct cmd *cmd, bool *rest);
/* Rank 0, with its options. EXIT_HOLDS, or what went wrong, said to the user. */
int ranks_check(struct ranks *r, struct cli *cli, const struct cmd *cmd, const struct keep *k, struct check_options *o);
/* For --stats: what the ranks did. */
void ranks_say(const struct ranks *r, struct buf *out);
/* The command has ended, with this exit code. */
void ranks_end(struct ranks *r, struct cli *cli, const struct cmd *cmd);

#endif
