/*
 * follow: a history judged as it is written, from a pipe or a growing file.
 *
 * Each key is watched apart (watch.h).
 */
#ifndef INTACT_LIN_FOLLOW_H
#define INTACT_LIN_FOLLOW_H

#include "lin/lin.h"
#include "history/read.h"

struct follow_result {
	enum lin_verdict verdict;
	uint64_t ops, completed;
	uint32_t peak;      /* configurations at most */
	uint32_t max_open;  /* operations open at once, at most */
	struct hop culprit; /* violated: as understood */
	uint32_t line;      /* the line that made it certain */
	char *sentence;     /* why, or NULL; free() it */
	uint32_t recorded;  /* keys that were judged as recorded histories */
};

/* False after an error in d. `in` says what is known; what is not is guessed
 * from the beginning and filled in. max_rows: of a monitor; 0: the usual. `say` tells
 * why it is violated. */
bool follow(struct history *h, const char *path, const struct read_options *o, struct interpretation *in, uint32_t k,
            uint32_t max_rows, proof_text *say, struct diags *d, struct follow_result *out);
/* The same with a reader that is open already; it is closed then. */
bool follow_opened(struct reader *r, struct interpretation *in, uint32_t k, uint32_t max_rows, proof_text *say,
                   struct follow_result *out);

#endif
