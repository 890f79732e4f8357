/*
 * explore_server: a process that explores: the program under test, started with a
 * block of shared memory (sched/control.h) in which it finds what to do and
 * leaves what it found.
 *
 * The process may be corrupted by the program's own bugs. Nothing in the block is
 * used unchecked, and the caller confirms every failure with a fresh process.
 */
#ifndef INTACT_PROGRAM_EXPLORE_SERVER_H
#define INTACT_PROGRAM_EXPLORE_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sched/control.h"

struct explore_server {
	struct control *c;
	int fd, pidfd;
	pid_t pid, parent;
	int status; /* as of waitpid, when it has ended */
	bool ended;
	uint64_t beat;    /* at the last look */
	double looked_at; /* when that was */
	double minded;    /* when it was last looked whether it lives */
	double charged;   /* time without progress since the last beat, in seconds */
	double cpu;       /* of the process that runs schedules: by the last look */
	pid_t child;      /* that process, if it is a child of `pid`; or 0 */
	int ask_fd;       /* of an object test: it has a question (sched/objtest.h); -1: it has none */
	/* Answers it: a reply. NULL: server_wait leaves questions alone. */
	uint32_t (*serve)(void *arg, struct control *c);
	void *serve_arg;
	bool gdb;     /* start it under gdb, on the terminal */
	bool stalled; /* it was told that its run takes long without progress */
	double began; /* when it was started */
	double until; /* the time limit, by server_now(); 0: none */
	bool cut;     /* the run that was under way at the limit did not end: it was cut off */
};

/* A block with the defaults; false after a message. */
bool server_new(struct explore_server *s, struct buf *err);
void server_free(struct explore_server *s);
/* Starts the program; s->c is filled in. False after a message. */
bool server_start(struct explore_server *s, char **argv, bool keeps_pipe, struct buf *err);
/* Looks after n of them until one has ended, or `seconds` have passed. A process
 * that computes or sleeps for `stall` seconds without progress is asked to end its run, then killed. At its time limit
 * a process ends after the run that is under way, which may take twice as long as those before it, at least a second;
 * then it is cut off. */
void server_wait(struct explore_server *s, unsigned n, double seconds, double stall);
/* Before it is started: it may ask questions. False after a message. */
bool server_asks(struct explore_server *s, struct buf *err);
/* Waits for the next question of one process; false: it has ended, or was ended after 2 * `stall` seconds. */
bool server_question(struct explore_server *s, double stall);
void server_answer(struct explore_server *s, uint32_t reply);
double server_now(void);

#endif
