/* api: what the implementation files of include/intact/intact.h share. */
#ifndef INTACT_API_API_H
#define INTACT_API_API_H

#include <jansson.h>

#include "api/judged.h"
#include "base/buf.h"
#include "check/check.h"

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

/* What is loaded, or NULL; where its messages go. */
json_t *api_document_root(struct intact_document *d);
struct buf *api_document_messages(struct intact_document *d);
/* The bytes of a document, checked: INTACT_OK, or the reason is in d's messages. `text` is copied. */
enum intact_status api_document_set(struct intact_document *d, const char *name, const char *text, size_t len);

#endif
