/*
 * explore_schedule: schedule files (sched/schedule.h) of `intact explore`: the failing
 * run that was confirmed, written; a file, read for a replay.
 */
#ifndef INTACT_PROGRAM_EXPLORE_SCHEDULE_H
#define INTACT_PROGRAM_EXPLORE_SCHEDULE_H

#include "program/explore_search.h"

/* The build id of a file in hex; "" when it has none. */
void explore_build_id(const char *path, char *out, size_t room);
/* `intact explore --replay FILE`, as a shell reads it. */
const char *explore_replay_line(struct arena *a, const char *file);
/* The run in got->failed. False after a message. */
bool explore_save(struct cli *cli, const char *path, const struct explore_ask *ask, const struct explore_got *got);

struct explore_file {
	void *memory, *text;
	char **argv;       /* the program and arguments it was made with */
	struct control *c; /* events, origins, places and modules as of another process */
	uint64_t seed;
	const char *scenario;     /* of an object test; NULL: of none */
	uint32_t memory_model;    /* enum control_memory */
	struct explore_gaps gaps; /* functions that were judged, and the patterns of others */
	const char **atomic;
	uint32_t natomic;
};

/* False after a message with the file's line and a caret. */
bool explore_load(struct cli *cli, const char *path, struct explore_file *f);
void explore_file_free(struct explore_file *f);
/* Is the program at argv[0] the one of the file? Otherwise a warning: places are then not
 * compared. False when it cannot be replayed at all. */
bool explore_same_build(struct cli *cli, struct explore_file *f, const char *program);

#endif
