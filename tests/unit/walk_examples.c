/*
 * walk_examples DIRECTORY|MODEL...: every model takes 10,000 random steps
 * with several seeds. After each step
 *   - what it did to shared state is among what its node declares,
 *   - every value of the state lies within the range of its slot,
 *   - the program lowered with dead locals kept is where this one is,
 * and no fault, no deadlock happens that the model's header does not announce
 * (`// @expect fault: KIND`, `// @expect deadlock: yes`).
 *
 * INTACT_WALK_SEEDS and INTACT_WALK_STEPS ask for more than 3 and 10000.
 */
#include "check.h"

#include <ftw.h>

#include "lang/lang.h"
#include "verdict/run.h"

static char *paths[4096];
static int npaths;

struct walker {
	const struct ir *p;
	const char *path;
	char fault[32];
	bool deadlock;
};

static void complain(const struct walker *w, uint64_t seed, uint32_t step, const char *what)
{
	printf("# %s, seed %" PRIu64 ", step %u: %s\n", w->path, seed, step, what);
	check_failed++;
}

static const char *header(const struct source *src, const char *key)
{
	const char *at = strstr(src->text, key);
	return at ? at + strlen(key) : NULL;
}

static bool declared(const struct ir *p, const struct ir_node *n, const struct ir_event *e)
{
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &p->accesses[n->access + i];
		if (a->ins == e->ins && a->var == e->var && (a->mode & e->mode) == e->mode &&
		    (a->index == IR_NONE || a->index == e->elem))
			return true;
	}
	return false;
}

static bool leads_to(const struct ir *p, const struct ir_node *n, uint32_t next)
{
	for (uint32_t i = 0; i < n->nsucc; i++)
		if (p->succs[n->succ + i] == next)
			return true;
	return false;
}

static bool in_range(const struct ir *p, const int32_t *s)
{
	for (uint32_t v = 0; v < p->nvars; v++)
		for (uint32_t i = 0; i < p->vars[v].len; i++)
			if (s[p->vars[v].slot + i] < p->vars[v].lo || s[p->vars[v].slot + i] > p->vars[v].hi)
				return false;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_template *tm = &p->templates[p->threads[t].tmpl];
		for (uint32_t i = 0; i < tm->nslots; i++) {
			int32_t x = s[p->threads[t].frame + i];
			if (x < p->slots[tm->slot + i].lo || x > p->slots[tm->slot + i].hi)
				return false;
		}
	}
	return true;
}

static void check_step(struct walker *w, const struct run *r, uint64_t seed)
{
	uint32_t at = r->nsteps - 1;
	const struct run_step *s = &r->steps[at];
	const struct ir_node *n = &w->p->nodes[s->node];
	const int32_t *now = run_now(r);
	for (uint32_t i = 0; i < s->nevent; i++)
		if (!declared(w->p, n, &r->events[s->event + i]))
			complain(w, seed, at, "an access that the node does not declare");
	if (s->fault == IRF_NONE && !leads_to(w->p, n, s->next))
		complain(w, seed, at, "led to a node that is not among the successors");
	if (!in_range(w->p, now))
		complain(w, seed, at, "a value outside the range of its slot");
}

/* The same step in the program that keeps dead locals. */
static void check_twin(struct walker *w, struct run *twin, const struct run *r, uint64_t seed)
{
	const struct run_step *s = &r->steps[r->nsteps - 1];
	const struct ir *q = twin->ir;
	enum run_status st = run_step(twin, s->thread, s->npick ? r->picks + s->pick : NULL, s->npick);
	bool same = st == (s->fault == IRF_NONE ? RUN_OK : RUN_FAULT) && q->nglobals == w->p->nglobals &&
	            !memcmp(run_now(twin), run_now(r), q->nglobals * sizeof(int32_t));
	for (uint32_t t = 0; t < q->nthreads && same; t++)
		same = ir_node_of(q, run_now(twin), t) == ir_node_of(w->p, run_now(r), t);
	if (!same)
		complain(w, seed, r->nsteps - 1, "keeping dead locals changes what happens");
}

static bool all_finished(const struct run *r)
{
	for (uint32_t t = 0; t < r->ir->nthreads; t++)
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind != IRN_END)
			return false;
	return true;
}

static void walk(struct walker *w, const struct ir *kept, uint64_t seed, uint32_t steps)
{
	struct run r, twin;
	struct rng rng;
	rng_seed(&rng, seed);
	while (steps > 0 && !check_failed) {
		CHECK(run_init(&r, w->p) && run_init(&twin, kept));
		enum run_status st = RUN_OK;
		while (steps > 0 && st == RUN_OK && !check_failed) {
			st = run_random(&r, &rng);
			if (st > RUN_FAULT)
				break;
			steps--;
			check_step(w, &r, seed);
			check_twin(w, &twin, &r, seed);
		}
		if (st == RUN_FAULT && strcmp(w->fault, ir_fault_name(run_fault(&r).fault)))
			complain(w, seed, r.nsteps - 1, ir_fault_name(run_fault(&r).fault));
		if (st == RUN_BLOCKED && !all_finished(&r) && !w->deadlock)
			complain(w, seed, r.nsteps, "a deadlock that the header does not announce");
		if (st == RUN_BLOCKED && !r.nsteps)
			steps = 0; /* nothing ever happens here */
		CHECK(st == RUN_OK || st == RUN_FAULT || st == RUN_BLOCKED);
		run_free(&r);
		run_free(&twin);
	}
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *v = getenv(name);
	return v && *v ? strtoull(v, NULL, 10) : otherwise;
}

static void walk_model(const char *path)
{
	struct lang l, k;
	struct lang_options o = { .sml = -1 };
	struct walker w = { .path = path };
	lang_init(&l);
	lang_init(&k);
	bool ok = lang_load(&l, path, &o);
	o.keep_dead = true;
	ok = ok && lang_load(&k, path, &o);
	CHECK(ok);
	if (ok) {
		const char *f = header(&l.src, "@expect fault: "), *d = header(&l.src, "@expect deadlock: ");
		CHECK(f != NULL && d != NULL);
		snprintf(w.fault, sizeof w.fault, "%.*s", f ? (int)strcspn(f, " \r\n") : 0, f ? f : "");
		w.deadlock = d && !strncmp(d, "yes", 3);
		w.p = l.ir;
		uint64_t seeds = setting("INTACT_WALK_SEEDS", 3);
		for (uint64_t seed = 1; seed <= seeds; seed++)
			walk(&w, k.ir, seed, (uint32_t)setting("INTACT_WALK_STEPS", 10000));
	}
	lang_free(&l);
	lang_free(&k);
}

static int found(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *dot = strrchr(path, '.');
	(void)st;
	(void)at;
	if (type == FTW_F && dot && (!strcmp(dot, ".atm") || !strcmp(dot, ".sml")) && npaths < 4096)
		paths[npaths++] = strdup(path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		nftw(argv[i], found, 16, 0);
	qsort(paths, (size_t)npaths, sizeof *paths, by_name);
	for (int i = 0; i < npaths; i++) {
		check_failed = 0;
		walk_model(paths[i]);
		check_bad += check_failed != 0;
		const char *name = strstr(paths[i], "examples/");
		printf("%s %d - %s\n", check_failed ? "not ok" : "ok", ++check_count, name ? name : paths[i]);
		fflush(stdout);
		free(paths[i]);
	}
	if (!npaths) {
		printf("1..1\nnot ok 1 - no model found\n");
		return 1;
	}
	return check_done();
}
