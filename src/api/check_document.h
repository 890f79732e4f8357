/* check_document: a result of check_run as a document (docs/json.md), for `intact check` and the library. */
#ifndef INTACT_API_CHECK_DOCUMENT_H
#define INTACT_API_CHECK_DOCUMENT_H

#include "base/buf.h"
#include "check/check.h"

/* `model`: as the user named it; `keep_dead`: it was read with its dead locals kept. */
void check_document(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                    struct buf *out);

#endif
