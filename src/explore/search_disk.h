/*
 * search_disk: a search whose states are in files (delayed duplicate detection).
 *
 * Successors are not looked up one by one. They are collected, sorted and written as runs; when a level ends the runs are
 * merged, and what none of the runs of known states has is the next level (key_merge.h), which is a run itself. Runs of known
 * states are merged when the last is not much smaller than the one before, so that there are few and each state is rewritten
 * a logarithmic number of times. A cache in front of the collecting drops most of the successors that were met lately; it
 * forgets, and never errs.
 *
 * In memory are the tables of the product, the collected successors, the cache, and of each run the first key of each block:
 * what max_bytes allows, whatever the number of states. States, transitions, depth and verdict are those of a search in
 * memory, as each state is expanded once.
 *
 * A search begins in memory and comes here at the memory limit (disk_begin): what the store has, what is known of the next
 * level and what is left of the present one become runs. When it is traced it is here from its first state on, or not at
 * all; then each state's record has the number that a search in memory would have met it by: its parent's number in its
 * level, the thread and the outcome. Of equal states the lowest is kept, and a level is sorted by them, so that the states are
 * expanded in the order of the search in memory, and the violation that is found and the way to it are the same.
 *
 * A checkpoint is of the moment when the present level began (or when the search came here): that needs no merging.
 *
 * Cost: 25 to 60 ns for a transition; each level reads the known states once, 1 to 3 bytes for each.
 */
#ifndef INTACT_EXPLORE_SEARCH_DISK_H
#define INTACT_EXPLORE_SEARCH_DISK_H

#include "explore/key_merge.h"
#include "explore/search_int.h"

struct disk_search;

/* The search, in memory until now, goes on in files. No thread works. False: it stays as it was, and a limit is set when
 * the disk is the reason. */
bool disk_begin(struct search *s);
void disk_free(struct search *s);
/* Room for a worker that is new. */
bool disk_worker_init(struct worker *w);
void disk_worker_free(struct worker *w);
void disk_aim(struct worker *w);
/* The worker's batch is collected. */
void disk_found(struct worker *w);
/* A part of the level for the worker. */
bool disk_take(struct worker *w);
/* Is nothing left to take? */
bool disk_taken(const struct disk_search *d);
/* The level ends. False: there is no next, or a limit was reached, and then the search is still at the beginning of this one. */
bool disk_advance(struct search *s);
/* Fields as wide as s->bits says. */
bool disk_widen(struct search *s);
uint64_t disk_states(const struct disk_search *d);
uint64_t disk_bytes(const struct search *s);
/* When a violation was found while tracing: how many states there were. */
void disk_count_hit(struct search *s);
struct origin *disk_steps_to_hit(const struct search *s, uint32_t *n);

/* ---- checkpoints ---- */

/* Is the level that is going on in a checkpoint? */
bool disk_saved(const struct disk_search *d);
/* The states of the level, as it was when it began, are logged; false: trouble. */
bool disk_log_level(struct search *s, struct level_log *log);
/* The same of what was known of the next level then. */
bool disk_log_next(struct search *s, struct level_log *log);
uint64_t disk_transitions(const struct disk_search *d);
/* Can the files still be read? A full disk is forgiven for that. */
bool disk_readable(struct search *s);
/* The level is in a checkpoint. When the search has ended, the files are given back. */
void disk_set_saved(struct search *s);
void disk_give_back(struct search *s);

/* A search that is loaded: no states yet. Then sorted runs of states that were expanded or are to be, the states that are to
 * be, those of the next level. disk_load_end: false when there are not so many states. */
bool disk_load_begin(struct search *s);
bool disk_load_run(struct search *s, const struct level_run *run);
bool disk_load_state(struct search *s, bool next, const uint32_t *ids);
bool disk_load_end(struct search *s, uint64_t states);

#endif
