#include "event/messages.h"

#include <string.h>

void msgs_add(void *ctx, const struct trace_msg *m)
{
	struct msgs *x = ctx;
	x->errors += m->error;
	x->nomem |= m->error && m->code && !strcmp(m->code, "memory");
	if (!x->silent)
		trace_msg_render(m, x->err, x->color);
}
