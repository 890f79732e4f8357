/*
 * explore_search: runs the servers of `intact explore` until a schedule fails or all
 * that was asked for is done, and confirms a failure in a process of its own.
 */
#ifndef INTACT_PROGRAM_EXPLORE_SEARCH_H
#define INTACT_PROGRAM_EXPLORE_SEARCH_H

#include "base/console.h"
#include "program/explore_gaps.h"
#include "program/explore_server.h"

/* A search under way. */
struct explore_progress {
	uint64_t schedules, limit; /* limit 0: none */
	uint64_t traces;
	bool estimate_known;
	double estimate_total, estimate_seen;
};

struct explore_ask {
	char **argv; /* the program and its arguments */
	uint64_t schedules, seed, jobs, depth, max_steps, seconds, stall;
	double until;        /* the time limit by server_now(); 0: from `seconds`, if given */
	int strategy;        /* enum sched_strategy */
	int64_t preemptions; /* bound; -1: none */
	bool races, spurious, fork, no_coverage;
	uint32_t memory;           /* enum control_memory */
	bool keep;                 /* do not minimise */
	bool real, gdb;            /* a replay: with real threads; under gdb */
	const char *const *atomic; /* patterns of functions that are marked blocks, for the schedule file */
	uint32_t natomic;
	void (*progress)(void *arg, const struct explore_progress *p); /* now and then; NULL: not wanted */
	void *arg;
	int survey_fd; /* runs are told in records into this file; 0: no. They are not confirmed */
	uint64_t survey_room;
	const struct explore_gaps *gaps;   /* functions that may not be atomic; NULL: none */
	bool only_gaps;                    /* they are to be confirmed: nothing else counts */
	const struct control *replay;      /* follow this one's events instead; NULL: explore */
	const struct explore_tests *tests; /* an object test; NULL: a program */
	uint32_t shard, shards;            /* part `shard`, from 0, of so many of the search; shards 0: all of it */
	const char *scenario;              /* of an object test, for the schedule file; or NULL */
	bool raw;                          /* a failure is neither minimised nor confirmed: explore_settle does that */
};

/* Who answers the questions of an object test (sched/objtest.h). */
struct explore_tests {
	/* The first scenario of a process that explores, into c->object.scenario and c->sched. Again when the process must be started again. */
	void (*begin)(void *arg, unsigned server, struct control *c);
	uint32_t (*serve)(void *arg, struct control *c); /* a question: the reply */
	void *arg;
};

struct explore_got {
	struct control *failed;   /* a copy of the block of the run that failed, in detail; NULL: none */
	struct sched_stats stats; /* of all servers together */
	uint64_t cut, cpu_ns, schedule, blocks, judged, unjudged, awaits, cancels;
	uint64_t buffered, buffers_full;    /* TSO: stores that went into a store buffer; that found it full */
	uint64_t aside;                     /* schedules that failed without having to do with the gaps (only_gaps) */
	uint32_t verdict;                   /* enum sched_verdict: of all servers, the one that says least */
	uint32_t ended;                     /* servers that came to an end */
	struct sched_divergence divergence; /* of SCHED_NONDETERMINISTIC */
	uint32_t mode;
	char why_fork[CONTROL_TEXT]; /* "" unless each run had a process */
	uint32_t tried;              /* schedules the minimiser tried */
	uint32_t nraces;
	struct control_race race[CONTROL_RACES];
	struct control *modules; /* a block whose modules explain addresses: `failed`, or another */
	double seconds;
	bool late;             /* the time was over, and a run under way was cut off */
	uint32_t most_threads; /* of a run */
};

/* Returns an exit code: EXIT_HOLDS when the search came to an end, whatever it found;
 * otherwise the message is in cli->err. */
int explore_search(struct cli *cli, const struct explore_ask *ask, struct explore_got *got);
/* Minimises and confirms what a raw search has found; got->failed replaces it. */
int explore_settle(struct cli *cli, const struct explore_ask *ask, struct explore_got *got);
void explore_got_free(struct explore_got *got);

#endif
