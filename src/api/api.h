/* api: what the implementation files of include/intact/intact.h share. */
#ifndef INTACT_API_API_H
#define INTACT_API_API_H

#include <jansson.h>

#include "base/buf.h"
#include "check/check.h"
#include "intact/intact.h"
#include "base/opts.h"

struct api_threads { /* asked for before the model is loaded */
	char *name;
	uint32_t n; /* 0: any */
};

struct intact_model {
	struct lang lang;
	bool loaded; /* lang.ir is there */
	struct api_threads *threads;
	uint32_t nthreads;
	struct buf messages;
};

/* The bytes of a document, checked: INTACT_OK, or the reason is in d's messages. `text` is copied. */
enum intact_status api_document_set(struct intact_document *d, const char *name, const char *text, size_t len);

/* ---- judged.c: what the judges of files (src/judge) hand back, as a status and a document ---- */

#define API_EXPORT __attribute__((visibility("default")))

/* The code of a judge with the results that it wrote; they become *d. */
enum intact_status api_judged(const char *kind, int code, const struct buf *results, struct buf *messages,
                              struct intact_document *d);
/* The same, with the document itself. */
enum intact_status api_judged_document(int code, const struct buf *document, struct buf *messages, struct intact_document *d);

/* ---- options.c: options by name, as "engine" and "exact", for the tables of the commands (base/opts.h) ---- */

/* The texts that parsed options point to; zero to begin with. */
struct api_words {
	char **list;
	size_t n;
};

/* Takes the option of the table that has this name; what is wrong goes to `messages`. */
enum intact_status api_option(struct api_words *w, const struct opt *table, const char *option, const char *value,
                              struct buf *messages);
void api_words_free(struct api_words *w);

#endif
