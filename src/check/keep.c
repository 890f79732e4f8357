#include "check/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "version.h"

#define LONGEST_INTERVAL 31536000.0 /* seconds: a year */

bool check_keep_interval(const char *text, double *seconds)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	double v = strtod(text, &end);
	double unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : 1;
	end += *end == 's' || *end == 'm' || *end == 'h';
	*seconds = v * unit;
	return !*end && *seconds <= LONGEST_INTERVAL;
}

static void say_names(struct buf *b, const char *what, const char *const *names, uint32_t n)
{
	buf_printf(b, "%s:", what);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(b, " %s", names[i]);
	buf_char(b, '\n');
}

/* One line for each thing that must not change; the first that differs is named to the user. */
static void say_what(const struct ir *p, const struct check_options *o, struct buf *b)
{
	const struct search_options *s = &o->search;
	uint64_t h = 0xCBF29CE484222325u;
	for (uint32_t i = 0; i < p->src->len; i++)
		h = (h ^ (unsigned char)p->src->text[i]) * 0x100000001B3u;
	buf_printf(b, "intact %s\nmodel: %016llx (%u bytes)\nlanguage: %s\nthreads:", INTACT_VERSION, (ull)h, p->src->len,
	           p->sml ? "sml" : "atm");
	for (uint32_t t = 0; t < p->ntemplates; t++)
		buf_printf(b, " %s=%u%s", p->templates[t].name, p->templates[t].count, p->templates[t].any_count ? " or any" : "");
	buf_printf(b, "\nengine: %s\nblock: %s\nfaults alone: %d\ndeadlock: %d\nstats: %d\nreduced: %d\n",
	           engine_chosen(o->engine, o->all), o->block ? o->block : "all", o->faults, o->deadlock, o->count, o->reduced);
	buf_printf(b, "reductions: symmetry=%d local=%d pure=%d transactions=%d dead=%d\nmax-states: %llu\n", s->symmetry,
	           s->merge_local, s->drop_pure, s->transactions, !p->keep_dead, (ull)s->max_states);
	buf_printf(b, "objects: %s by %s\n", object_conditions[o->objects.condition],
	           o->objects.assertion ? o->objects.assertion->about.name : "monitor");
	say_names(b, "track", o->track, o->ntrack);
	say_names(b, "abstract", o->abstract, o->nabstract);
}

struct checkpoint *check_keep_open(const struct check_keep *k, const struct ir *p, const struct check_options *o, struct buf *err)
{
	struct buf what;
	buf_init(&what);
	say_what(p, o, &what);
	struct checkpoint_setup setup = {
		.dir = k->dir, .resume = k->resume, .later = k->later, .every = k->every, .what = buf_cstr(&what), .stop = k->stop
	};
	struct checkpoint *c = checkpoint_open(&setup, err);
	assert(c || err->len);
	buf_free(&what);
	return c;
}
