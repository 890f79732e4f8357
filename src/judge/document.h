/* document: what several judged files are together: the worst code, and a document around their results. */
#ifndef INTACT_JUDGE_DOCUMENT_H
#define INTACT_JUDGE_DOCUMENT_H

#include "base/buf.h"
#include "base/console.h"

/* The code of several files: what is worst for who relies on it. */
int judge_worse(int a, int b);
/* Where the next result goes, behind a comma when it is not the first; NULL: `results` is NULL. */
struct buf *judge_next(struct buf *results);
/* The document of this kind with `results`, written already; `rc`: the code of them together. */
void judge_document(const char *kind, int rc, const struct buf *results, struct buf *out);

#endif
