/*
 * engine: what reports and the independent checker may know of an engine: its
 * name, and what a statement of it is worth. The engines themselves, with
 * their rows, are in src/check (engine.h there); a verdict points to the row.
 */
#ifndef INTACT_VERDICT_ENGINE_H
#define INTACT_VERDICT_ENGINE_H

#include <stdbool.h>

enum engine_question {                   /* what it answers when it is asked by itself */
	               ENGINE_BLOCKS,    /* are the blocks atomic, is the program serializable? */
	               ENGINE_CAUSALITY, /* are they causally atomic? Has verdicts and a report of its own */
	               ENGINE_FAULTS,    /* can a fault, a failed assertion or a deadlock happen? */
	               ENGINE_WAY_OUT,   /* can threads always leave their blocks? */
	               ENGINE_PROPERTY,  /* do the model's conditions on states hold? */
	               ENGINE_OBJECTS,   /* does every history of an object meet its condition? */
};

struct engine {
	const char *name;    /* in results, tables and --engine; a word */
	const char *summary; /* one line, for --help and `intact explain` */
	enum engine_question question;
	bool abstract;     /* it forgets data: a proof holds, a violation is a suspicion */
	bool any_threads;  /* a proof may be for any number of threads */
	const char *topic; /* of `intact explain` */
};

#endif
