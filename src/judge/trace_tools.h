/* trace_tools: a trace in another format, and what it holds. Both return an exit code (base/console.h); what is wrong goes to m->err. */
#ifndef INTACT_JUDGE_TRACE_TOOLS_H
#define INTACT_JUDGE_TRACE_TOOLS_H

#include "event/messages.h"
#include "event/writer.h"

/* Format (0: by the name, 1: STD text, 2: our own) and compression (0: by the name, 1: none, 2: zstd, 3: gzip) of a file. */
void trace_choose(const char *path, int to, int compress, struct writer_opts *o);
/* Writes the trace `in` to `to`; *events counts them. */
int trace_copy(const char *in, const char *to, const struct writer_opts *wo, struct msgs *m, uint64_t *events);
/* Threads, events by kind, blocks, locks, and the `top` busiest of each, as text or as JSON. */
int trace_count_file(const char *file, bool json, uint32_t top, struct msgs *m, struct buf *out);

#endif
