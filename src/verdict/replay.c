#include "verdict/replay.h"

#include <stdlib.h>

bool replay(struct run *r, const struct move *path, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t room = path[i].outcome + 1;
		struct run_outcome *out = calloc(room, sizeof *out);
		if (!out)
			return false;
		uint32_t count = run_outcomes(r, path[i].thread, out, room);
		bool ok = path[i].outcome < count;
		if (ok) {
			const struct run_outcome *o = &out[path[i].outcome];
			enum run_status s = run_step(r, path[i].thread, o->pick, o->npick);
			ok = s == RUN_OK || (s == RUN_FAULT && i + 1 == n);
		}
		free(out);
		if (!ok)
			return false;
	}
	return true;
}
