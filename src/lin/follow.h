/*
 * follow: a history judged as it is written, from a pipe or a growing file.
 *
 * One monitor (online.h) a key. Nothing is kept of operations that are over,
 * so memory depends on how many overlap (and on the number of keys).
 */
#ifndef INTACT_LIN_FOLLOW_H
#define INTACT_LIN_FOLLOW_H

#include "lin/lin.h"
#include "history/read.h"

struct follow_result {
	enum lin_verdict verdict;
	uint64_t ops, completed;
	uint32_t peak;          /* configurations at most */
	uint32_t max_open;      /* operations open at once, at most */
	struct hop culprit;     /* violated: as understood */
	uint32_t line;          /* the line that made it certain */
	char *states;           /* what the object could have been; free() it */
};

/* False after an error in d. `in` says what is known; what is not is guessed
 * from the beginning and filled in. */
bool follow(struct history *h, const char *path, const struct read_options *o, struct interpretation *in,
            uint32_t k, struct diags *d, struct follow_result *out);

#endif
