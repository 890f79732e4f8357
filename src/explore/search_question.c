/*
 * search_question: how ranks come together for a search. Rank 0 sends the question: the program (as the text and the numbers
 * it was made with), what is asked about it, the options that matter, and its tables of ids; then all ranks say whether
 * they can take part, and the states are distributed.
 */
#include "explore/search_dist_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/varint.h"

#define FROM 200000u /* states from which on others take part */

static void put(struct buf *b, uint64_t v)
{
	unsigned char s[16];
	buf_add(b, (const char *)s, (size_t)(put_varint(s, v) - s));
}

static void put_text(struct buf *b, const char *s, size_t n)
{
	put(b, n);
	buf_add(b, s, n);
	buf_char(b, '\0');
}

static const char *get_text(struct cursor *c, uint32_t *length)
{
	uint64_t n = get_varint(c);
	if (c->bad || n >= (uint64_t)(c->end - c->p) || n > UINT32_MAX || c->p[n]) {
		c->bad = true;
		return "";
	}
	const char *s = (const char *)c->p;
	c->p += n + 1;
	*length = (uint32_t)n;
	return s;
}

/* ---- the program ------------------------------------------------------------- */

static void put_program(struct buf *b, const struct ir *p)
{
	put_text(b, p->src->name, strlen(p->src->name));
	put_text(b, p->src->text, p->src->len);
	put(b, p->sml);
	put(b, p->keep_dead);
	put(b, p->alone1);
	put(b, p->ntemplates);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		put_text(b, p->templates[t].name, strlen(p->templates[t].name));
		put(b, p->templates[t].count);
		put(b, p->templates[t].any_count);
	}
}

static bool get_program(struct cursor *c, struct dist_program *p)
{
	uint32_t n;
	memset(p, 0, sizeof *p);
	p->name = get_text(c, &n);
	p->text = get_text(c, &p->length);
	p->sml = get_varint(c);
	p->keep_dead = get_varint(c);
	p->alone1 = (uint32_t)get_varint(c);
	p->ntemplates = (uint32_t)get_varint(c);
	if (c->bad || p->ntemplates > (uint64_t)(c->end - c->p))
		return false;
	p->count = calloc(p->ntemplates + 1ull, sizeof *p->count);
	p->any = calloc(p->ntemplates + 1ull, sizeof *p->any);
	p->names = calloc(p->ntemplates + 1ull, sizeof *p->names);
	bool ok = p->count && p->any && p->names;
	for (uint32_t t = 0; ok && t < p->ntemplates; t++) {
		p->names[t] = get_text(c, &n);
		p->count[t] = (uint32_t)get_varint(c);
		p->any[t] = get_varint(c);
	}
	return ok && !c->bad;
}

static struct cursor cursor_of(const unsigned char *message, size_t n)
{
	return (struct cursor){ message + 1, message + n, !n || message[0] != DIST_QUESTION };
}

bool dist_program_of(const unsigned char *message, size_t n, struct dist_program *p)
{
	struct cursor c = cursor_of(message, n);
	return get_program(&c, p);
}

void dist_program_free(struct dist_program *p)
{
	free(p->count);
	free(p->any);
	free(p->names);
	p->names = NULL;
	p->count = NULL;
	p->any = NULL;
}

/* ---- the question -------------------------------------------------------------- */

struct asked_search {
	enum prod_mode mode;
	uint32_t block;
	struct labelling lab; /* of this room: malloc'ed */
	bool labelled;
	struct search_options o;
	uint64_t hash, states;
	uint32_t depth;
	struct cursor ids; /* product_load */
};

static void put_flags(struct buf *b, const struct search_options *o)
{
	const bool flags[] = { o->symmetry, o->merge_local, o->drop_pure, o->transactions, o->deadlock, o->faults };
	uint64_t v = 0;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		v |= (uint64_t)flags[i] << i;
	put(b, v);
}

static void get_flags(struct cursor *c, struct search_options *o)
{
	uint64_t v = get_varint(c);
	o->symmetry = v & 1;
	o->merge_local = v >> 1 & 1;
	o->drop_pure = v >> 2 & 1;
	o->transactions = v >> 3 & 1;
	o->deadlock = v >> 4 & 1;
	o->faults = v >> 5 & 1;
}

static uint64_t hash_of(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                        const struct search_options *o)
{
	return checkpoint_key_of(CHECKPOINT_SEARCH, ir, mode, block, lab, o).hash;
}

static bool question_of(const struct search *s, struct buf *b)
{
	const struct search_options *o = s->o;
	const struct product *x = &s->prod;
	struct buf ids;
	double left = o->deadline > 0 ? o->deadline - clock_seconds() : 0;
	buf_char(b, DIST_QUESTION);
	put_program(b, x->ir);
	put(b, x->mode);
	put(b, x->block);
	put_flags(b, o);
	put(b, o->few);
	put(b, o->jobs);
	put(b, o->jobs_from);
	put(b, o->chunk);
	put(b, o->max_states);
	put(b, o->max_bytes);
	put(b, o->deadline <= 0 ? 0 : left > 0 ? 1 + (uint64_t)(left * 1e6) : 1);
	put(b, o->ranks->batch);
	put(b, s->store.n);
	put(b, s->r->depth);
	put(b, x->lab != NULL);
	for (uint32_t i = 0; x->lab && i < x->ir->nsuccs; i++)
		buf_char(b, (char)x->lab->edge[i]);
	for (uint32_t i = 0; x->lab && i < x->ir->nblocks; i++)
		buf_char(b, (char)x->lab->at_entry[i]);
	put(b, hash_of(x->ir, x->mode, x->block, x->lab, o));
	buf_init(&ids);
	product_save(x, &ids);
	put(b, ids.len);
	buf_add(b, ids.data, ids.len);
	bool ok = !b->failed && !ids.failed;
	buf_free(&ids);
	return ok;
}

/* The labelling of a program with so many edges and blocks. */
static bool get_labelling(struct cursor *c, const struct ir *ir, struct asked_search *q)
{
	if (ir->nsuccs + (uint64_t)ir->nblocks > (uint64_t)(c->end - c->p))
		return false;
	q->lab.edge = malloc(ir->nsuccs + 1ull);
	q->lab.at_entry = calloc(ir->nblocks + 1ull, sizeof *q->lab.at_entry);
	if (!q->lab.edge || !q->lab.at_entry)
		return false;
	for (uint32_t i = 0; i < ir->nsuccs; i++)
		q->lab.edge[i] = (uint8_t)get_byte(c);
	for (uint32_t i = 0; i < ir->nblocks; i++)
		q->lab.at_entry[i] = get_byte(c);
	return true;
}

/* False when it is not a question about this program, or memory has ended. */
static bool get_question(struct cursor *c, const struct ir *ir, struct asked_search *q)
{
	q->mode = (enum prod_mode)get_varint(c);
	q->block = (uint32_t)get_varint(c);
	get_flags(c, &q->o);
	q->o.few = (uint32_t)get_varint(c);
	q->o.jobs = (uint32_t)get_varint(c);
	q->o.jobs_from = get_varint(c);
	q->o.chunk = (uint32_t)get_varint(c);
	q->o.max_states = get_varint(c);
	q->o.max_bytes = get_varint(c);
	uint64_t left = get_varint(c);
	q->o.deadline = left ? clock_seconds() + (double)(left - 1) * 1e-6 : 0;
	q->o.ranks->batch = (uint32_t)get_varint(c);
	q->states = get_varint(c);
	q->depth = (uint32_t)get_varint(c);
	q->labelled = get_varint(c);
	if (c->bad || q->mode > PROD_COMMIT || (q->block != PROD_BLOCK_ALL && q->block >= ir->nblocks) ||
	    (q->labelled && !get_labelling(c, ir, q)))
		return false;
	q->hash = get_varint(c);
	uint64_t n = get_varint(c);
	if (c->bad || n != (uint64_t)(c->end - c->p))
		return false;
	q->ids = *c;
	return q->hash == hash_of(ir, q->mode, q->block, q->labelled ? &q->lab : NULL, &q->o);
}

static void free_question(struct asked_search *q)
{
	free(q->lab.edge);
	free(q->lab.at_entry);
}

/* ---- coming together -------------------------------------------------------------- */

/* What both sides do once the tables are equal: all ids are agreed, and every state goes to its owner. */
static void gather_states(struct search *s, uint64_t states, uint8_t *bits)
{
	struct dist_search *x = s->dist;
	struct level level = s->cur;
	assert(!s->next.n && s->prod.agreed == s->prod.globals.n);
	s->cur = (struct level){ 0 };
	x->states = states;
	search_widths(s, bits, false); /* narrow fields make small differences of what is sent */
	if (!dist_distribute(s, bits, &level)) {
		why_set(&x->ranks->why, "%s", x->d->why.text);
		search_limit(s, "ranks");
	}
	s->cur = level;
	s->taken = 0;
}

static bool tell_question(struct search *s)
{
	struct dist *d = s->dist->d;
	struct buf b;
	buf_init(&b);
	assert(!d->rank && !d->ends);
	bool ok = question_of(s, &b);
	for (uint32_t r = 0; ok && r < d->n; r++) {
		unsigned char *copy = r == d->rank ? NULL : malloc(b.len);
		if (copy)
			memcpy(copy, b.data, b.len);
		if (r != d->rank)
			ok = copy ? dist_put(d, r, copy, b.len) : dist_fail(d, "out of memory");
	}
	buf_free(&b);
	return ok;
}

/* Without the others: the search stays as it was. */
static void stay_alone(struct search *s)
{
	for (uint32_t i = 0; i < s->nworkers; i++)
		dist_worker_end(&s->workers[i]);
	s->prod.agreed = UINT32_MAX;
	for (uint32_t i = 0; i < s->prod.nkinds; i++)
		s->prod.kinds[i].agreed = UINT32_MAX;
	free(s->prod.wide);
	s->prod.wide = NULL;
	dist_search_free(s);
}

void dist_begin(struct search *s)
{
	struct search_ranks *ranks = s->o->ranks;
	struct dist *d = ranks->dist;
	uint64_t refused = 0;
	if (s->dist || d->broken || d->n < 2 || s->store.n < (ranks->from ? ranks->from : FROM) || ranks->why.text[0])
		return;
	assert(!d->rank && !s->tracing);
	uint8_t *bits = malloc(s->nthreads + 1ull);
	if (!bits || !dist_search_new(s)) {
		free(bits);
		return;
	}
	uint64_t transitions = 0;
	for (uint32_t i = 0; i < s->nworkers; i++)
		transitions += s->workers[i].transitions;
	s->dist->transitions = transitions;
	bool ok = product_mark_all(&s->prod, &s->dist->mark) && tell_question(s) && dist_sum(d, &refused, 1);
	if (ok && !refused) {
		ranks->shared++;
		pthread_mutex_unlock(&s->lock); /* the others wait for the end of this meeting */
		gather_states(s, s->store.n, bits);
		pthread_mutex_lock(&s->lock);
	} else {
		why_set(&ranks->why, "a search was not shared: %s",
		        d->broken ? d->why.text
		        : refused ? "a rank has no memory for it"
		                  : "out of memory");
		stay_alone(s);
	}
	free(bits);
}

/* This rank's part. */
static void take_part(struct dist *d, const struct ir *ir, struct asked_search *q)
{
	struct search s;
	struct search_result r = { 0 };
	uint64_t refused;
	assert(ir && d->rank && q->ids.p <= q->ids.end);
	bool ok = search_prepare(&s, ir, q->mode, q->block, q->labelled ? &q->lab : NULL, &q->o, &r, false) && dist_search_new(&s);
	uint8_t *bits = ok ? malloc(s.nthreads + 1ull) : NULL;
	ok = bits && product_load(&s.prod, &q->ids) && q->ids.p == q->ids.end && product_mark_all(&s.prod, &s.dist->mark);
	refused = !ok;
	if (dist_sum(d, &refused, 1) && !refused) {
		r.depth = q->depth;
		gather_states(&s, q->states, bits);
		s.resumed = true; /* threads are hired at once */
		search_explore(&s);
	}
	free(bits);
	search_free(&s);
}

void dist_follow(struct dist *d, const unsigned char *message, size_t n, const struct ir *ir)
{
	struct search_ranks ranks = { .dist = d };
	assert(d->n > 1 && n);
	struct asked_search q = { .o = { .ranks = &ranks } };
	struct cursor c = cursor_of(message, n);
	struct dist_program p;
	uint64_t refused = 1;
	assert(d->rank);
	if (get_program(&c, &p) && ir && get_question(&c, ir, &q))
		take_part(d, ir, &q);
	else
		dist_sum(d, &refused, 1);
	dist_program_free(&p);
	free_question(&q);
}
