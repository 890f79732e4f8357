/*
 * run_processes: which processes of a run were watched, and what each of them
 * reported about itself (runtime/run_status.c). What it found is in raw_reports
 * (finding.h).
 *
 * A process is one program image: after exec another one begins under the same
 * number.
 */
#ifndef INTACT_PROGRAM_RUN_PROCESSES_H
#define INTACT_PROGRAM_RUN_PROCESSES_H

#include "base/arena.h"
#include "base/json_out.h"

struct process {
	uint32_t pid;
	const char *exe;
	uint32_t threads, functions, locks;
	uint32_t delays, came;  /* --perturb: delays, and how many others came into */
	bool begun;             /* else it is the fork of another */
	bool unwatched;         /* the runtime could not start in it */
	bool ended;             /* it told so itself: the numbers are known */
	bool perturbed;         /* delays were asked for */
	bool halted;            /* it printed its first finding and stopped */
	AVEC(const char *) own; /* functions of ours that it defines itself */
};

struct processes {
	struct arena *arena;
	AVEC(struct process) list;
	uint32_t more; /* that were too many to list */
};

/* One datagram; what matters of it is copied. False: it is about something else. */
bool processes_take(struct processes *p, const char *text, size_t len);
/* Was this process watched, and any at all? */
bool processes_watched(const struct processes *p, uint32_t pid);
bool processes_any(const struct processes *p);
/* Did one stop at its first finding? */
bool processes_halted(const struct processes *p);
/* "bank: 4 threads, 12 functions, 3 locks", of several the sum. */
void processes_text(const struct processes *p, struct buf *out);
/* Their names without directories, each once, at most eight of them. */
void processes_names(const struct processes *p, struct buf *out);
/* Notes on functions that a program has instead of ours. */
void processes_own(const struct processes *p, struct buf *out);
/* The line about delays, when some were asked for. */
void processes_perturbed(const struct processes *p, struct buf *out);
/* The member "processes" of a document. */
void processes_json(const struct processes *p, struct json_out *j);

#endif
