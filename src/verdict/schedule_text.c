#include "base/invariant.h"
#include "verdict/schedule_text.h"

void schedule_text_step(const struct run *r, uint32_t i, struct buf *out)
{
	assert(i < r->nsteps);
	const struct run_step *s = &r->steps[i];
	buf_printf(out, "%u", s->thread + 1);
	for (uint32_t k = 0; k < s->npick; k++)
		buf_printf(out, ".%u", r->picks[s->pick + k] + 1);
}

void schedule_text(const struct run *r, struct buf *out)
{
	for (uint32_t i = 0; i < r->nsteps; i++) {
		if (i)
			buf_char(out, ',');
		schedule_text_step(r, i, out);
	}
}
