#include "dist/dist.h"

#include <stdlib.h>

#include "base/invariant.h"

bool dist_fail(struct dist *d, const char *why)
{
	if (!d->broken)
		why_set(&d->why, "%s", why);
	d->broken = true;
	return false;
}

bool dist_put(struct dist *d, uint32_t to, unsigned char *bytes, size_t n)
{
	assert(to < d->n && to != d->rank && n && bytes[0] != DIST_END);
	if (d->broken) {
		free(bytes);
		return false;
	}
	d->sent_messages++;
	d->sent_bytes += n;
	return d->ops->put(d, to, bytes, n) || dist_fail(d, "out of memory");
}

bool dist_take(struct dist *d, uint32_t *from, unsigned char **bytes, size_t *n)
{
	while (!d->broken && d->ops->take(d, from, bytes, n)) {
		assert(*n && *from < d->n && *from != d->rank);
		if ((*bytes)[0] != DIST_END)
			return true;
		free(*bytes);
		d->ends++;
		assert(d->ends < d->n); /* each rank ends a phase once */
	}
	return false;
}

bool dist_end(struct dist *d)
{
	assert(d->rank < d->n);
	for (uint32_t i = 1; i < d->n && !d->broken; i++) {
		unsigned char *end = malloc(1);
		if (!end)
			return dist_fail(d, "out of memory");
		end[0] = DIST_END;
		if (!d->ops->put(d, (d->rank + i) % d->n, end, 1))
			return dist_fail(d, "out of memory");
	}
	return !d->broken;
}

bool dist_sum(struct dist *d, uint64_t *v, uint32_t n)
{
	assert(!d->ends || dist_ended(d) || d->broken);
	if (d->broken)
		return false;
	d->ends = 0;
	return d->ops->sum(d, v, n) || dist_fail(d, "a rank was lost");
}

bool dist_gather(struct dist *d, const void *mine, size_t n, unsigned char **all, uint64_t *lengths)
{
	return !d->broken && (d->ops->gather(d, mine, n, all, lengths) || dist_fail(d, "a rank was lost, or memory has ended"));
}

void dist_close(struct dist *d)
{
	if (d->ops)
		d->ops->close(d);
	d->ops = NULL;
}
