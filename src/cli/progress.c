#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"

#define FIRST          0.4 /* seconds of silence */
#define PROGRESS_EVERY 0.2

/* 1234567 as "1.23M" */
static void shorten(char out[16], double n)
{
	assert(n >= 0);
	static const char unit[] = { 0, 'k', 'M', 'G', 'T' };
	int u = 0;
	while (n >= 1000 && u < 4) {
		n /= 1000;
		u++;
	}
	int digits = !u || n >= 100 ? 0 : n >= 10 ? 1 : 2;
	snprintf(out, 16, "%.*f%c", digits, n, unit[u]);
}

void progress_begin(struct progress *p)
{
	*p = (struct progress){ .on = isatty(2) };
	p->start = p->last = clock_seconds();
}

void progress_line(void *arg, uint64_t states, uint64_t transitions, uint32_t depth, uint64_t bytes)
{
	struct progress *p = arg;
	assert(!p->shown || p->on);
	double t = clock_seconds(), span = t - p->last;
	char text[2][16];
	(void)transitions;
	if (!p->on || span < PROGRESS_EVERY || t - p->start < FIRST)
		return;
	/* fewer than before: another search has begun */
	uint64_t more = states >= p->states ? states - p->states : states;
	shorten(text[0], (double)states);
	shorten(text[1], (double)more / span);
	fprintf(stderr, "\r%s states, %s/s, depth %u, %llu MiB, %.1f s\033[K", text[0], text[1], depth,
	        (unsigned long long)(bytes >> 20), t - p->start);
	fflush(stderr);
	p->shown = true;
	p->last = t;
	p->states = states;
}

void progress_schedules(void *arg, const struct explore_progress *x)
{
	struct progress *p = arg;
	double t = clock_seconds(), span = t - p->last;
	char text[4][16], left[64] = "";
	if (!p->on || span < PROGRESS_EVERY || t - p->start < FIRST)
		return;
	uint64_t more = x->schedules >= p->states ? x->schedules - p->states : x->schedules;
	shorten(text[0], (double)x->schedules);
	shorten(text[1], (double)more / span);
	shorten(text[2], (double)x->traces);
	if (x->estimate_known && x->estimate_total > (double)x->traces) {
		shorten(text[3], x->estimate_total - (double)x->traces);
		snprintf(left, sizeof left, ", about %s left", text[3]);
	}
	fprintf(stderr, "\r%s%s%s schedules, %s/s, %s distinct%s, %.1f s\033[K", p->what ? p->what : "", p->what ? ": " : "",
	        text[0], text[1], text[2], left, t - p->start);
	fflush(stderr);
	p->shown = true;
	p->last = t;
	p->states = x->schedules;
}

void progress_end(struct progress *p)
{
	if (!p->shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->shown = false;
	assert(!p->shown);
}
