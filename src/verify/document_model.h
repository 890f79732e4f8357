/* document_model: the model that a document of `intact check` or `intact sim` carries. */
#ifndef INTACT_VERIFY_DOCUMENT_MODEL_H
#define INTACT_VERIFY_DOCUMENT_MODEL_H

#include <jansson.h>

#include "lang/lang.h"

/* Loads it into `l` (lang_init'ed) with as many threads as the document says; `any`: with those
 * marked of which any number was asked about. NULL, or why it cannot be loaded. */
const char *document_model(struct lang *l, const json_t *doc, bool any);

#endif
