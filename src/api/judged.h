/* judged: what the judges of files (src/judge) hand back, as a status and a document. */
#ifndef INTACT_API_JUDGED_H
#define INTACT_API_JUDGED_H

#include "base/buf.h"
#include "intact/intact.h"

#define API_EXPORT __attribute__((visibility("default")))

/* The code of a judge with the results that it wrote; they become *d. */
enum intact_status api_judged(const char *kind, int code, const struct buf *results, struct buf *messages,
                              struct intact_document *d);
/* The same, with the document itself. */
enum intact_status api_judged_document(int code, const struct buf *document, struct buf *messages, struct intact_document *d);

#endif
