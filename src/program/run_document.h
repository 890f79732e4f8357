/* run_document: what came of a watched run, as a document (docs/json.md, kind "run"). */
#ifndef INTACT_PROGRAM_RUN_DOCUMENT_H
#define INTACT_PROGRAM_RUN_DOCUMENT_H

#include "program/run_once.h"

/* The findings are those of s->log (run_log_begin). */
void run_document(const struct settings *s, const char *program, const struct run_result *r, struct buf *out);

#endif
