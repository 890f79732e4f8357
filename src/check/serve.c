#include "check/serve.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "explore/search_dist.h"
#include "lang/lang.h"

/* The program that a question is about, made as rank 0 made it. */
static bool load(struct lang *l, const unsigned char *message, size_t n)
{
	struct dist_program p;
	bool ok = dist_program_of(message, n, &p);
	struct lang_threads *threads = ok ? calloc(p.ntemplates + 1ull, sizeof *threads) : NULL;
	ok = threads != NULL;
	for (uint32_t t = 0; ok && t < p.ntemplates; t++)
		threads[t] = (struct lang_threads){ p.names[t], p.count[t], p.any[t] };
	struct lang_options o = {
		.keep_dead = p.keep_dead, .threads = threads, .nthreads = p.ntemplates, .sml = p.sml, .alone1 = p.alone1
	};
	ok = ok && lang_load_text(l, p.name, p.text, p.length, &o);
	free(threads);
	dist_program_free(&p);
	return ok;
}

static void answer(struct dist *d, const unsigned char *message, size_t n)
{
	struct lang l;
	lang_init(&l);
	bool ok = load(&l, message, n);
	dist_follow(d, message, n, ok ? l.ir : NULL);
	lang_free(&l);
}

bool check_serve(struct dist *d)
{
	uint32_t idle = 0, from;
	unsigned char *message;
	size_t n;
	bool more = true;
	assert(d->rank);
	while (more && !d->broken) {
		if (!dist_take(d, &from, &message, &n)) {
			dist_pause(&idle);
			continue;
		}
		idle = 0;
		more = message[0] != DIST_QUIT;
		if (message[0] == DIST_QUESTION)
			answer(d, message, n);
		else if (more)
			dist_fail(d, "a message is not what it should be");
		free(message);
	}
	return !d->broken;
}

void check_serve_end(struct dist *d)
{
	assert(!d->rank);
	for (uint32_t r = 1; r < d->n && !d->broken; r++) {
		unsigned char *quit = malloc(1);
		if (!quit) {
			dist_fail(d, "out of memory");
			return;
		}
		quit[0] = DIST_QUIT;
		dist_put(d, r, quit, 1);
	}
}
