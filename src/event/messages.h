/* messages: what a reader says about a trace, rendered and counted. */
#ifndef INTACT_EVENT_MESSAGES_H
#define INTACT_EVENT_MESSAGES_H

#include "event/reader.h"

/* ctx of msgs_add, which is a trace_msg_fn. */
struct msgs {
	struct buf *err; /* where they go */
	bool color;
	bool silent; /* they have been told already */
	uint64_t errors;
	bool nomem; /* one of them was about memory: a limit, not a mistake */
};
void msgs_add(void *ctx, const struct trace_msg *m);

#endif
