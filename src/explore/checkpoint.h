/*
 * checkpoint: a directory from which a check that was stopped goes on.
 *
 * A check is a sequence of searches, and which one comes next depends only on what the earlier
 * ones found. So a checkpoint is the results of the searches that have ended, in order, and how
 * far the present one is. A check that is resumed asks the same questions; the first are
 * answered from the list, the search that was going on is loaded and continues, and whatever
 * has no place in the list (reduction, causality, explanations) is worked out again. An answer
 * counts only for the question it was given to (struct checkpoint_key); where a question is
 * another one, because a limit was changed, the rest of the list is dropped.
 *
 * The directory:
 *
 *   checkpoint   what it is of (model, options, version), the results, and which of the other
 *                files belong to it, with their lengths and checksums
 *   levels-N     the states of search N, level by level (level_log.h); only grows
 *   state-N-G    the rest of search N: ids, counters, which states of the present level are to
 *                be expanded, which of the next are known (search_save.c)
 *
 * `checkpoint` is replaced as a whole: written under another name, synced, renamed, and the
 * directory synced. Until then the files of the one before stay. So whenever the process is
 * killed there is one complete checkpoint, the last one, or none if the first was not finished.
 *
 * A write that fails (a full disk) leaves the last checkpoint as it is; the search continues, and
 * checkpoint_trouble says why. When a search ends at a limit of time or memory, the checkpoint
 * stays where that search was: resumed with more, the check continues from there.
 */
#ifndef INTACT_EXPLORE_CHECKPOINT_H
#define INTACT_EXPLORE_CHECKPOINT_H

#include <signal.h>

#include "base/buf.h"
#include "explore/product.h"
#include "verdict/verdict.h"

struct search_options;
struct search_result;
struct checkpoint;

enum checkpoint_kind { CHECKPOINT_SEARCH, CHECKPOINT_EXACT, CHECKPOINT_QUIESCENCE };

struct checkpoint_key { /* a question */
	enum checkpoint_kind kind;
	uint64_t hash; /* of everything the answer depends on, memory and time aside */
};

struct checkpoint_file { /* a file that belongs to the checkpoint */
	char name[40];
	uint64_t length;
};

struct checkpoint_setup {
	const char *dir;
	bool resume;      /* there is a checkpoint to go on from */
	bool later;       /* `dir` gets a directory for it, once there is something to be written */
	double every;     /* seconds between checkpoints; 0: at every occasion */
	const char *what; /* the model and the options that matter, as a text: must be the same when it is resumed */
	const volatile sig_atomic_t *stop; /* set by a signal; or NULL */
};

/* NULL: err says why, in one line. */
struct checkpoint *checkpoint_open(const struct checkpoint_setup *o, struct buf *err);
/* The last checkpoint of the check: its results alone. To be called when all is decided. A directory that was made later is
 * removed, unless the check can continue from it. */
void checkpoint_finish(struct checkpoint *c);
void checkpoint_close(struct checkpoint *c);

/* Has a signal asked to stop? From then on no search begins. `c` may be NULL: no. */
bool checkpoint_stopping(const struct checkpoint *c);
/* The same, for work that has no result when it is asked: what is known so far is written. */
bool checkpoint_stops(struct checkpoint *c);
/* A search ended because of the signal: its result is no result. */
bool checkpoint_interrupted(const struct checkpoint *c);
/* Why the last checkpoint could not be written, or NULL. */
const char *checkpoint_trouble(const struct checkpoint *c);
/* Is there a checkpoint to resume? */
bool checkpoint_exists(const struct checkpoint *c);
/* Its directory. */
const char *checkpoint_path(const struct checkpoint *c);
/* Is there no directory yet, as it is made later? Then a search begins its level log when it needs one. */
bool checkpoint_later(const struct checkpoint *c);
/* Could the checkpoint not be loaded? Then the results are none. */
bool checkpoint_failed(const struct checkpoint *c);

struct checkpoint_key checkpoint_key_of(enum checkpoint_kind kind, const struct ir *ir, enum prod_mode mode, uint32_t block,
                                        const struct labelling *lab, const struct search_options *o);
/* The answer to the question, if the list has it; or, when a signal asks to stop, that nothing is known. Either way no search
 * is needed. `c` may be NULL: false. */
bool checkpoint_recall(struct checkpoint *c, struct checkpoint_key key, struct search_result *r);
/* The question is answered. */
void checkpoint_record(struct checkpoint *c, struct checkpoint_key key, const struct search_result *r);

/* ---- for the search that is going on ---- */

/* The files of the question, when it is the one that was going on; opened. */
bool checkpoint_suspended(struct checkpoint *c, struct checkpoint_key key, int *levels, uint64_t *nlevels, int *state,
                          uint64_t *nstate);
/* Is it time for one? */
bool checkpoint_due(const struct checkpoint *c);
/* -1: it could not be made, see checkpoint_trouble. */
int checkpoint_dir(struct checkpoint *c);
/* A name for the level log of a search that begins. */
void checkpoint_level_name(const struct checkpoint *c, char name[40]);
/* Writes a checkpoint: this level log has so many bytes on the disk, `state` (to which the checksum is added) is the rest.
 * False: checkpoint_trouble. */
bool checkpoint_write(struct checkpoint *c, struct checkpoint_key key, const char *levels, uint64_t nlevels, struct buf *state);
/* The level log that checkpoint_suspended has opened. */
const char *checkpoint_levels(const struct checkpoint *c);
/* The level log could not be written: errno says why. It is tried again later. */
void checkpoint_no_room(struct checkpoint *c);
/* Something went wrong that is not a matter of the directory's files as they were opened. */
void checkpoint_fail(struct checkpoint *c, const char *why);
/* The check has come to a limit: the checkpoint stays as it is from now on. */
void checkpoint_keep(struct checkpoint *c);
bool checkpoint_kept(const struct checkpoint *c);

#endif
