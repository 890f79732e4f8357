/* certified: what a certificate (certificate.h) covers, question by question, for the reports of who wrote it. */
#ifndef INTACT_VERDICT_CERTIFIED_H
#define INTACT_VERDICT_CERTIFIED_H

#include <stdbool.h>
#include <stdint.h>

enum certified_about { ABOUT_BLOCK, ABOUT_PROGRAM, ABOUT_FAULTS, ABOUT_DEADLOCK, ABOUT_WAY_OUT, ABOUT_OBJECT, ABOUT_PROPERTY };

struct certified_question {
	enum certified_about about;
	uint32_t number; /* of the block, object or condition */
	bool certified;
	const char *why; /* not certified: why; certified: NULL, or a remark */
	uint64_t states; /* rows of its set; 0: it has none of its own */
};

struct certified {
	const char *file;
	struct certified_question *v;
	uint32_t n;
	uint64_t states, bytes; /* rows of all sets; of the file */
	double seconds;         /* for searching and writing */
};

#endif
