/*
 * watch: one key of a history that is being written.
 *
 * Mostly the monitor (online.h) judges it, event by event. Where too many
 * configurations are possible for that, the key is judged as a recorded
 * history is: all that was written of it so far, again and again, when it has
 * grown by a quarter and whenever nothing new is there to read. So the verdict
 * on what was written is the one of `intact history` on the same lines, at a
 * cost that is a few times the one of the last judgement.
 *
 * For that, and to explain a violation, the operations are kept (40 bytes
 * each) since the last moment at which one state was possible and nothing that
 * was open had taken effect or been seen; a million of them at most while the
 * monitor continues.
 */
#ifndef INTACT_LIN_WATCH_H
#define INTACT_LIN_WATCH_H

#include "lin/online.h"

#define WATCH_ROWS 1024 /* configurations of the monitor, at most */

struct logged {
	struct hop op;   /* as understood; its answer once it came */
	uint32_t slot;   /* of the monitor */
	uint32_t handle; /* RANK_INF: it is over, or will never answer */
	uint32_t end;    /* event of its answer, also when it failed; RANK_INF */
	uint32_t line;   /* of its answer */
	bool failed;
};

struct watch {
	struct history *h;
	const struct interpretation *in;
	uint32_t k, max_rows;
	proof_text *say; /* for watch_explain */
	struct online o;
	bool open, monitored;
	val init; /* before the first operation of the log */
	struct logged *log;
	uint32_t n, cap, nevents;
	bool kept; /* the log is whole */
	uint32_t *handles, nhandles, chandles, *unused, nunused, cunused;
	uint32_t good; /* so many events are known to be right */
	uint32_t next; /* judge again at this many */
	int64_t judged_ns, cost_ns;
	uint32_t peak;
	/* violated: */
	uint32_t cut; /* events until it was certain */
};

bool watch_open(struct watch *w, struct history *h, const struct interpretation *in, uint32_t k, uint32_t max_rows,
                proof_text *say);
void watch_close(struct watch *w);
/* An invocation; a handle, or RANK_INF when a limit is reached. */
uint32_t watch_call(struct watch *w, const struct hop *op);
/* Answers: 1 fine, 0 violated, -1 a limit is reached. */
int watch_return(struct watch *w, uint32_t handle, const struct hop *op, uint32_t line);
int watch_crash(struct watch *w, uint32_t handle);
int watch_fail(struct watch *w, uint32_t handle, uint32_t line);
/* Judges what is not judged yet. */
int watch_settle(struct watch *w);
/* In how many nanoseconds it is to be settled when nothing comes until then
 * (this takes at most half of the time); -1: there is nothing to do. */
int64_t watch_due(const struct watch *w);
/* After 0: the operation with whose answer it became certain. */
const struct logged *watch_culprit(const struct watch *w);
/* Why, in a sentence; free() it. NULL: the log is not whole, or a limit. */
char *watch_explain(struct watch *w);

#endif
