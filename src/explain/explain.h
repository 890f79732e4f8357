/*
 * explain: the pages of `intact explain`. A page is a name, a title, a few
 * paragraphs, and an example: what is wrong in it and how it is right, or for
 * a topic, a model to try. A test feeds the examples of diagnostics to the
 * command that reads them: the wrong one must bring the message, the right
 * one must not.
 */
#ifndef INTACT_EXPLAIN_EXPLAIN_H
#define INTACT_EXPLAIN_EXPLAIN_H

struct explain_page {
	const char *name, *title;
	const char *text;          /* paragraphs, lines of at most 90 columns */
	const char *wrong, *right; /* examples, or NULL */
	const char *reader;        /* what reads them: "atm", "sml", "trace", "history", "net" */
};

/* In a page's text: a line for each engine of the ladder. */
#define EXPLAIN_LADDER  "\001"
/* A line for each object of histories. */
#define EXPLAIN_OBJECTS "\002"

/* Each table ends with a NULL name. */
extern const struct explain_page explain_topics[]; /* ideas and engines */
extern const struct explain_page explain_model[];  /* diagnostics of models */
extern const struct explain_page explain_input[];  /* of traces, histories, nets and the rest */

#endif
