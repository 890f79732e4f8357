#include "check/certify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "check/commit_points.h"
#include "verdict/certificate.h"

struct certifying {
	const struct ir *p;
	const struct check_result *r;
	const struct certify_options *o;
	struct certified *c;
	struct cert_limits limits;
	struct cert_writer w;
	bool contradiction;
};

/* ---- the questions ------------------------------------------------------------------------- */

static struct certified_question *question(struct certifying *x, enum certified_about about, uint32_t number)
{
	for (uint32_t i = 0; i < x->c->n; i++)
		if (x->c->v[i].about == about && x->c->v[i].number == number)
			return &x->c->v[i];
	assert(false);
	return NULL;
}

static void ask(struct certifying *x, enum certified_about about, uint32_t number, const char *why)
{
	assert(x->c->n < x->p->nblocks + x->p->nobjects + x->p->nproperties + 4);
	x->c->v[x->c->n++] = (struct certified_question){ .about = about, .number = number, .why = why };
}

static bool list_questions(struct certifying *x)
{
	const struct ir *p = x->p;
	assert(!x->c->n);
	x->c->v = calloc(p->nblocks + p->nobjects + p->nproperties + 4ull, sizeof *x->c->v);
	if (!x->c->v)
		return false;
	for (uint32_t b = 0; b < p->nblocks; b++)
		ask(x, ABOUT_BLOCK, b, NULL);
	if (p->nblocks)
		ask(x, ABOUT_PROGRAM, 0, NULL);
	ask(x, ABOUT_FAULTS, 0, NULL);
	if (p->nblocks)
		ask(x, ABOUT_WAY_OUT, 0, NULL);
	if (x->o->check->deadlock)
		ask(x, ABOUT_DEADLOCK, 0, NULL);
	for (uint32_t i = 0; i < p->nobjects; i++)
		ask(x, ABOUT_OBJECT, i, "the histories of objects have no certificates");
	for (uint32_t i = 0; i < p->nproperties; i++)
		ask(x, ABOUT_PROPERTY, i, NULL);
	return true;
}

/* What the check found about it: NULL when it was no question of its own. */
static const struct verdict *found(const struct certifying *x, enum certified_about about, uint32_t number)
{
	assert(about != ABOUT_OBJECT && (about != ABOUT_BLOCK || number < x->p->nblocks));
	for (uint32_t i = 0; i < x->r->n; i++) {
		const struct verdict *v = &x->r->v[i];
		enum engine_question q = v->engine ? v->engine->question : ENGINE_BLOCKS;
		bool blocks = !v->object1 && !v->property1 && (q == ENGINE_BLOCKS || q == ENGINE_CAUSALITY);
		if ((about == ABOUT_BLOCK && blocks && v->block == number) ||
		    (about == ABOUT_PROGRAM && blocks && v->block == VERDICT_PROGRAM) ||
		    (about == ABOUT_PROPERTY && v->property1 == number + 1) ||
		    (about == ABOUT_FAULTS && q == ENGINE_FAULTS && v->problem == PROBLEM_FAULT) ||
		    (about == ABOUT_DEADLOCK && q == ENGINE_FAULTS && v->problem == PROBLEM_DEADLOCK) ||
		    (about == ABOUT_WAY_OUT && q == ENGINE_WAY_OUT))
			return v;
	}
	return NULL;
}

static bool is_violated(const struct certifying *x, enum certified_about about, uint32_t number)
{
	const struct verdict *v = found(x, about, number);
	return v && v->answer == ANSWER_VIOLATED;
}

/* ---- sets ---------------------------------------------------------------------------------------- */

/* Writes the section when there is a set; how the search ended. */
static struct cert_made search(struct certifying *x, const struct ir *p, struct cert_claim *q)
{
	struct cert_made made;
	struct cert_search *s = cert_search_new(p, q, &x->limits, &made);
	assert(s || made.why);
	bool empty = q->kind == CERT_PLAIN && !q->faults && !q->deadlock && !q->way_out && !q->properties;
	if (!made.why && !empty) {
		cert_search_write(s, &x->w);
		x->c->states += made.states;
	}
	cert_search_free(s);
	return made;
}

/* What the set shows of a question that only states decide. */
static void settle(struct certifying *x, enum certified_about about, uint32_t number, bool shown, const struct cert_made *made)
{
	struct certified_question *q = question(x, about, number);
	const struct verdict *v = found(x, about, number);
	q->certified = shown && !made->why;
	assert(!q->certified || made->states);
	q->states = q->certified ? made->states : 0;
	if (q->certified)
		return;
	q->why = made->why ? made->why : is_violated(x, about, number) ? "it is violated" : "it does not hold";
	bool proved = about == ABOUT_FAULTS     ? x->r->fault_free
	              : about == ABOUT_WAY_OUT  ? x->r->way_out == WAY_OUT_ALWAYS
	              : about == ABOUT_PROPERTY ? v && v->answer == ANSWER_HOLDS
	                                        : false;
	x->contradiction |= proved && !made->why && x->r->p == x->p;
}

static void certify_states(struct certifying *x)
{
	const struct ir *p = x->p;
	assert(p->nproperties <= IR_MAX_PROPERTIES);
	struct cert_claim q = {
		.kind = CERT_PLAIN, .faults = true, .deadlock = true, .way_out = p->nblocks > 0, .block = VERDICT_PROGRAM
	};
	for (uint32_t i = 0; i < p->nproperties; i++)
		if (!is_violated(x, ABOUT_PROPERTY, i))
			q.properties |= 1u << i;
	q.way_out &= !is_violated(x, ABOUT_WAY_OUT, 0);
	struct cert_made made = search(x, p, &q);
	settle(x, ABOUT_FAULTS, 0, q.faults, &made);
	if (p->nblocks)
		settle(x, ABOUT_WAY_OUT, 0, q.way_out, &made);
	if (x->o->check->deadlock)
		settle(x, ABOUT_DEADLOCK, 0, q.deadlock, &made);
	for (uint32_t i = 0; i < p->nproperties; i++)
		settle(x, ABOUT_PROPERTY, i, q.properties >> i & 1, &made);
}

/* The set for a block, or the program: with commit points, then at every moment. `why` as for a question. */
static struct cert_made certify_serial(struct certifying *x, const struct ir *p, uint32_t block)
{
	assert(p->nblocks && (block == VERDICT_PROGRAM || block < p->nblocks));
	struct cert_claim q = { .kind = CERT_SERIAL, .block = block };
	struct commit_points points;
	struct cert_made made = { .why = "memory" };
	if (commit_points_hint(p, block, &points)) {
		q.edge = points.edge;
		q.entry = (uint8_t *)points.at_entry;
		q.any_moment = points.none != NULL;
		made = search(x, p, &q);
	}
	if (made.why && !q.any_moment && strcmp(made.why, "memory") && strcmp(made.why, "time") && strcmp(made.why, "states")) {
		q.any_moment = true;
		made = search(x, p, &q);
	}
	commit_points_free(&points);
	return made;
}

/* Commit-atomicity keeps to the order of time: what it proves has a set. */
static void look_for_contradiction(struct certifying *x, enum certified_about about, uint32_t number, const struct cert_made *made)
{
	const struct verdict *v = found(x, about, number);
	x->contradiction |= made->why && !strcmp(made->why, CERT_UNEXPLAINED) && v && v->answer == ANSWER_HOLDS && !v->as_part &&
	                    v->engine == &engine_commit.about && x->r->p == x->p;
}

static void certify_blocks(struct certifying *x)
{
	const struct ir *p = x->p;
	assert(p->nblocks);
	struct certified_question *program = question(x, ABOUT_PROGRAM, 0);
	program->why = "it is violated";
	if (!is_violated(x, ABOUT_PROGRAM, 0)) {
		struct cert_made made = certify_serial(x, p, VERDICT_PROGRAM);
		look_for_contradiction(x, ABOUT_PROGRAM, 0, &made);
		program->why = made.why;
		program->certified = !made.why;
		program->states = made.why ? 0 : made.states;
	}
	for (uint32_t b = 0; b < p->nblocks; b++) {
		struct certified_question *q = question(x, ABOUT_BLOCK, b);
		struct lang l;
		lang_init(&l);
		if (program->certified) {
			q->certified = true;
			q->why = "as part of the program";
		} else if (is_violated(x, ABOUT_BLOCK, b)) {
			q->why = "it is violated";
		} else {
			bool alone = p->nblocks > 1 && lang_load_again(&l, p, b, NULL);
			struct cert_made made = certify_serial(x, alone ? l.ir : p, b);
			look_for_contradiction(x, ABOUT_BLOCK, b, &made);
			q->why = made.why;
			q->certified = !made.why;
			q->states = made.why ? 0 : made.states;
		}
		lang_free(&l);
	}
}

/* ---- the file ---------------------------------------------------------------------------------------- */

static void write_head(struct certifying *x)
{
	const struct ir *p = x->p;
	assert(strlen(x->o->text) == 16 && strlen(x->o->program) == 16);
	cert_put_text(&x->w, x->o->text);
	cert_put_text(&x->w, x->o->program);
	cert_put_number(&x->w, p->sml);
	cert_put_number(&x->w, p->ntemplates);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		cert_put_text(&x->w, p->templates[t].name);
		cert_put_number(&x->w, p->templates[t].count);
	}
}

/* Limits that were reached, as reasons. */
static void say_limits(struct certified *c)
{
	static const char *const limits[][2] = { { "memory", "limit on memory reached" },
		                                 { "states", "limit on states reached" },
		                                 { "time", "limit on time reached" },
		                                 { "shadows of one state", "too many serial executions of one state" },
		                                 { "states of a block alone", "a block that runs alone has too many states" },
		                                 { "instructions of one step", "a step has too many instructions" } };
	for (uint32_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
			if (!c->v[i].certified && c->v[i].why && !strcmp(c->v[i].why, limits[k][0]))
				c->v[i].why = limits[k][1];
}

enum certify_status certify(const struct ir *p, const struct check_result *r, const struct certify_options *o, struct certified *c)
{
	struct certifying x = { .p = p, .r = r, .o = o, .c = c };
	const struct search_options *s = &o->check->search;
	struct stat st;
	*c = (struct certified){ .file = o->path, .seconds = clock_seconds() };
	x.limits = (struct cert_limits){ s->max_states, s->max_bytes, s->deadline };
	if (!s->max_states && s->deadline <= 0)
		x.limits.max_states = CERTIFY_STATES;
	if (!list_questions(&x))
		return CERTIFY_NO_MEMORY;
	assert(c->n && c->v);
	if (!cert_create(&x.w, o->path))
		return CERTIFY_NOT_WRITTEN;
	write_head(&x);
	certify_states(&x);
	if (p->nblocks)
		certify_blocks(&x);
	cert_put_number(&x.w, CERT_END);
	if (!cert_finish(&x.w)) {
		int why = errno;
		unlink(o->path); /* no part of one */
		errno = why;
		return CERTIFY_NOT_WRITTEN;
	}
	c->bytes = stat(o->path, &st) == 0 ? (uint64_t)st.st_size : 0;
	say_limits(c);
	c->seconds = clock_seconds() - c->seconds;
	for (uint32_t i = 0; i < c->n; i++)
		assert(c->v[i].certified || c->v[i].why); /* no silent gap */
	return x.contradiction ? CERTIFY_CONTRADICTION : CERTIFY_OK;
}
