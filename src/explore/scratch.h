/*
 * scratch: files of a search, in a directory of the user's, without a name: the system removes them when they are closed or
 * the process ends, however it ends.
 *
 * All files of one scratch share a limit of bytes. The first failure (a full disk, the limit, bytes that are not those that
 * were written) stays set and names itself; from then on everything fails. Threads may use different files at once.
 */
#ifndef INTACT_EXPLORE_SCRATCH_H
#define INTACT_EXPLORE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum scratch_trouble {
	SCRATCH_FINE,
	SCRATCH_FULL,    /* the limit was reached */
	SCRATCH_FAILED,  /* the system refused: see error */
	SCRATCH_DAMAGED, /* what was read is not what was written */
	SCRATCH_MEMORY,
};

struct scratch {
	int dir;             /* descriptor of the directory; the caller's */
	uint64_t limit;      /* bytes of all files; 0: none */
	uint64_t used, most; /* atomic */
	int trouble;         /* enum scratch_trouble; atomic */
	int error;           /* errno of SCRATCH_FAILED */
};

struct scratch_file {
	int fd; /* -1: none yet */
	uint64_t length;
};

/* Appends; false: see s->trouble. The file is created with its first bytes. */
bool scratch_write(struct scratch *s, struct scratch_file *f, const void *bytes, size_t n);
bool scratch_read(struct scratch *s, const struct scratch_file *f, void *bytes, size_t n, uint64_t offset);
/* The file is gone. */
void scratch_drop(struct scratch *s, struct scratch_file *f);
/* The first trouble counts. Returns false. */
bool scratch_fail(struct scratch *s, enum scratch_trouble t, int error);
static inline enum scratch_trouble scratch_trouble(const struct scratch *s)
{
	return (enum scratch_trouble)__atomic_load_n(&s->trouble, __ATOMIC_ACQUIRE);
}
/* What is wrong, as a sentence's end; NULL: nothing. */
const char *scratch_why(const struct scratch *s);

#endif
