/*
 * simulated: a run of `intact sim` as data, as text and as a document. A saved
 * document becomes the same data again (api/document_text.c).
 */
#ifndef INTACT_REPORT_SIMULATED_H
#define INTACT_REPORT_SIMULATED_H

#include "base/buf.h"
#include "verdict/run.h"

enum sim_end {
	END_STEPS,     /* the number of steps asked for is used up */
	END_SCHEDULE,  /* the schedule is */
	END_QUIESCENT, /* --until=quiescent */
	END_SESSION,   /* the user has had enough */
	END_FINISHED,  /* every thread has */
	END_DEADLOCK,  /* none can move, and not all have finished */
	END_FAULT,
	END_MEMORY,
};
extern const char *const sim_end_names[]; /* ended by NULL */

struct simulated {
	const struct run *run;
	const char *model; /* as the user named it */
	enum sim_end end;
	bool used_seed;
	bool random; /* the steps are those of the seed alone */
	uint64_t seed;
	uint64_t runs, steps; /* --until=fault: how many runs of how many steps; 0: one */
};

enum sim_trace { TRACE_TABLE, TRACE_LIST, TRACE_NONE };

struct sim_text_options {
	unsigned width;
	bool utf8, color;
	enum sim_trace trace;
	uint32_t max_rows; /* of the trace; 0: all */
	bool session;      /* the steps were shown as they were taken, and a fault with them */
};

void simulated_text(const struct simulated *s, const struct sim_text_options *o, struct buf *out);
/* The document; the verdict is "holds", "violated" or "unknown". */
void simulated_json(const struct simulated *s, const char *verdict, struct buf *out);

/* "m = free, count = 1", all shared variables. */
void sim_shared_text(const struct run *r, bool utf8, struct buf *out);
/* The run so far. */
void sim_trace_text(const struct run *r, const struct sim_text_options *o, struct buf *out);
/* The fault of the last step: place, sentence, source line. */
void sim_fault_text(const struct run *r, bool color, struct buf *out);
/* A word as the shell takes it. */
void sim_shell_word(struct buf *out, const char *word);

#endif
