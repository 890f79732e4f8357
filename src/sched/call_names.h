#ifndef INTACT_SCHED_CALL_NAMES_H
#define INTACT_SCHED_CALL_NAMES_H

/* The name of a system call; NULL: not known. */
const char *sched_call_name(long nr);

#endif
