/*
 * level_log: the states of a search, level by level, as sorted runs (state_run.h) in one file
 * that only grows.
 *
 * Put the states of a level, in any order, end the level; drain gives every state back, level
 * by level. What is put waits in memory, sorted and coded once there are STATE_RUN_MAX of them
 * or the level ends, and goes to the file when level_log_sync is called or much is waiting: a
 * search that ends before the first checkpoint touches no file.
 *
 * What is behind `synced` bytes is not part of the log: a process that was killed may have left
 * something there. A failed write leaves the log as it was, in memory; it is tried again.
 */
#ifndef INTACT_EXPLORE_LEVEL_LOG_H
#define INTACT_EXPLORE_LEVEL_LOG_H

#include "explore/state_run.h"
#include "explore/store.h"

struct level_log {
	int dir;                  /* descriptor of the directory */
	char *name;               /* of the file in it; NULL: there is none, all stays in `waiting` */
	int fd;                   /* -1: not created yet */
	uint64_t written, synced; /* bytes of the file */
	struct buf waiting;       /* runs that are not in the file */
	uint32_t level;           /* being filled */
	/* the states of the run to come */
	uint64_t *states, *room;
	uint64_t n, cap;
	uint64_t max; /* of one run, STATE_RUN_MAX at most */
	uint32_t words, nfields;
	uint8_t *bits;
	bool out_of_memory;
};

/* `name` is copied; `dir` stays the caller's. */
bool level_log_init(struct level_log *l, int dir, const char *name);
void level_log_free(struct level_log *l);
/* A state of the present level, as a key of the store. False when out of memory. */
bool level_log_put(struct level_log *l, const struct store *s, const uint64_t *key);
/* The level is complete. */
bool level_log_end(struct level_log *l);
/* All that was put is in the file, on the disk. False: errno says why. */
bool level_log_sync(struct level_log *l);
uint64_t level_log_bytes(const struct level_log *l);

struct level_run { /* states that are read: sorted, all of one level and one layout */
	uint32_t level;
	uint64_t n;
	const uint64_t *states; /* at->words each */
	const struct store_layout *at;
};

/* False stops: they are not what they should be. */
typedef bool level_log_each_run(void *arg, const struct level_run *run);
/* Every run of `length` bytes of a file, of states with so many fields; NULL, or what is wrong. */
const char *level_log_drain_runs(int fd, uint64_t offset, uint64_t length, uint32_t nfields, level_log_each_run *each, void *arg);
/* The same state by state: `ids` are nfields of them. */
typedef bool level_log_each(void *arg, uint32_t level, const uint32_t *ids);
const char *level_log_drain(int fd, uint64_t offset, uint64_t length, uint32_t nfields, level_log_each *each, void *arg);
/* The same without decoding: only the checksums. */
const char *level_log_verify(int fd, uint64_t offset, uint64_t length);

#endif
