/*
 * certificate_verify: a certificate against the model that it is about (verdict/certificate.h has the argument). Here is which program each section is
 * about, and which questions the model has: each is a claim, whether the certificate covers it or not.
 *
 * Nothing is accepted before the whole file has been read: a part of it that is missing or damaged rejects all of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "lang/lang.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "verdict/certificate.h"
#include "verify/verify.h"

enum { MAX_THREADS = 10000 };

struct certificate_answer { /* to a question */
	bool covered;
	const char *wrong, *limit;
	uint64_t states;
};

struct certificate_judge {
	struct claim_list *l;
	struct cert_reader r;
	struct lang lang;
	uint64_t max_bytes, bytes; /* of memory: the bound, the most that a section took */
	/* by question: blocks, the program, faults, deadlock, the way out, conditions on states */
	struct certificate_answer *answers;
};

enum certificate_whole {
	CERTIFICATE_PROGRAM,
	CERTIFICATE_FAULTS,
	CERTIFICATE_DEADLOCK,
	CERTIFICATE_WAY_OUT,
	CERTIFICATE_PROPERTIES
};

static struct certificate_answer *answer_of(struct certificate_judge *j, uint32_t whole)
{
	assert(j->answers && whole < CERTIFICATE_PROPERTIES + j->lang.ir->nproperties);
	return &j->answers[j->lang.ir->nblocks + whole];
}

/* ---- the model ---------------------------------------------------------------------------------- */

/* The text that the hash at the head is of. */
static int same_text(struct certificate_judge *j, const char *model)
{
	struct arena a;
	struct source src;
	struct why why;
	char own[17], said[17];
	int rc = CLAIM_HOLDS;
	arena_init(&a, 0);
	if (!source_read(&src, &a, model, &why)) {
		buf_printf(j->l->err, "intact verify: %s: %s\n", model, why.text);
		rc = CLAIM_INPUT;
	} else {
		text_hash(src.text, src.len, own);
		if (!cert_text(&j->r, said, sizeof said))
			rc = CLAIM_VIOLATED;
		else if (strcmp(own, said)) {
			j->r.error = "it belongs to another model than this file, or to another text of it";
			rc = CLAIM_VIOLATED;
		}
	}
	arena_free(&a);
	return rc;
}

/* Is it the program that the certificate's rows are of? */
static bool same_program(struct certificate_judge *j, const char *said)
{
	struct buf text;
	char own[17];
	buf_init(&text);
	ir_print(j->lang.ir, &text);
	assert(strlen(said) < sizeof own);
	text_hash(buf_cstr(&text), text.len, own);
	bool same = !text.failed && !strcmp(own, said);
	buf_free(&text);
	return same;
}

/* The model, with as many threads as the certificate is about. */
static int load(struct certificate_judge *j, const char *model)
{
	char program[17], name[1000];
	int rc = same_text(j, model);
	if (rc != CLAIM_HOLDS)
		return rc;
	cert_text(&j->r, program, sizeof program);
	struct lang_options o = { .sml = (int)(cert_number(&j->r) & 1) };
	uint64_t n = cert_number(&j->r);
	struct lang_threads *counts = arena_array(&j->lang.arena, struct lang_threads, n < 100000 ? n + 1 : 1);
	for (uint64_t i = 0; i < n && !j->r.error; i++) {
		bool ok = n < 100000 && cert_text(&j->r, name, sizeof name);
		uint64_t count = cert_number(&j->r);
		if (!j->r.error && (!ok || !count || count > MAX_THREADS))
			j->r.error = "a number of threads is out of range";
		else if (!j->r.error)
			counts[o.nthreads++] = (struct lang_threads){ arena_strdup(&j->lang.arena, name), (uint32_t)count, false };
	}
	if (j->r.error)
		return CLAIM_VIOLATED;
	o.threads = counts;
	if (!lang_load(&j->lang, model, &o)) {
		diags_render(&j->lang.diags, j->l->err, j->l->color);
		return CLAIM_INPUT;
	}
	if (!same_program(j, program)) {
		j->r.error = "this version of intact makes another program of the model than the one that wrote it";
		return CLAIM_VIOLATED;
	}
	return CLAIM_HOLDS;
}

/* ---- sections ------------------------------------------------------------------------------------- */

static void answer(struct certificate_answer *a, const struct cert_result *r)
{
	assert(r->states || r->wrong || r->limit);
	a->covered = true;
	a->states = r->states;
	if (!a->wrong)
		a->wrong = r->wrong;
	if (!a->limit)
		a->limit = r->limit;
}

static void one_section(struct certificate_judge *j, struct cert_claim *q, const char **limit)
{
	const struct ir *p = j->lang.ir;
	assert(!*limit && !j->r.error);
	struct cert_result r;
	struct lang alone;
	lang_init(&alone);
	bool own = q->kind == CERT_SERIAL && q->block < p->nblocks && p->nblocks > 1;
	if (own && !lang_load_again(&alone, p, q->block, NULL))
		*limit = "memory";
	else
		cert_check(&j->r, own ? alone.ir : p, q, j->max_bytes, &r);
	if (!*limit && !j->r.error) {
		j->bytes = r.bytes > j->bytes ? r.bytes : j->bytes;
		*limit = r.limit;
		if (q->kind == CERT_SERIAL)
			answer(q->block < p->nblocks ? &j->answers[q->block] : answer_of(j, CERTIFICATE_PROGRAM), &r);
		if (q->faults)
			answer(answer_of(j, CERTIFICATE_FAULTS), &r);
		if (q->deadlock)
			answer(answer_of(j, CERTIFICATE_DEADLOCK), &r);
		if (q->way_out)
			answer(answer_of(j, CERTIFICATE_WAY_OUT), &r);
		for (uint32_t i = 0; i < p->nproperties; i++)
			if (q->properties >> i & 1)
				answer(answer_of(j, CERTIFICATE_PROPERTIES + i), &r);
	}
	lang_free(&alone);
}

/* All of them, to the end of the file; a limit that was reached. */
static const char *sections(struct certificate_judge *j)
{
	assert(j->answers);
	const char *limit = NULL;
	struct cert_claim q;
	while (!limit && cert_claim_read(&j->r, &q))
		one_section(j, &q, &limit);
	if (!limit)
		cert_complete(&j->r);
	return limit;
}

/* ---- the claims ------------------------------------------------------------------------------------- */

static void say(struct certificate_judge *j, const char *name, uint32_t line, const struct certificate_answer *a, const char *shown,
                const char *none)
{
	struct claim c = { .name = name, .claimed = a->covered ? "holds" : NULL, .line = line, .states = a->states };
	struct buf why;
	buf_init(&why);
	c.answer = !a->covered ? CLAIM_UNCHECKED : a->wrong ? CLAIM_REJECTED : a->limit ? CLAIM_UNKNOWN : CLAIM_ACCEPTED;
	if (c.answer == CLAIM_UNCHECKED)
		buf_printf(&why, "not certified: %s", none);
	else if (c.answer == CLAIM_REJECTED)
		buf_str(&why, a->wrong);
	else if (c.answer == CLAIM_UNKNOWN)
		buf_printf(&why, "limit on %s reached", a->limit);
	else
		buf_printf(&why, "%s (%llu states, every step stays among them)", shown, (ull)a->states);
	c.why = buf_cstr(&why);
	assert(c.answer != CLAIM_ACCEPTED || (a->covered && a->states));
	claim_list_add(j->l, &c);
	buf_free(&why);
}

#define NOT_COVERED "the certificate does not cover it"

static uint32_t line_of(const struct ir *p, struct span at)
{
	return source_pos(p->src, at.start).line;
}

static void blocks_and_program(struct certificate_judge *j)
{
	const struct ir *p = j->lang.ir;
	assert(!j->r.error);
	const struct certificate_answer *program = answer_of(j, CERTIFICATE_PROGRAM);
	bool whole = program->covered && !program->wrong && !program->limit;
	for (uint32_t b = 0; b < p->nblocks; b++) {
		const struct certificate_answer *own = &j->answers[b];
		struct buf name;
		buf_init(&name);
		check_text_name(p, b, &name);
		say(j, buf_cstr(&name), line_of(p, p->blocks[b].span),
		    own->covered ? own
		    : whole      ? program
		                 : own,
		    own->covered ? "every run ends like a serial run" : "as part of the program", NOT_COVERED);
		buf_free(&name);
	}
	if (p->nblocks)
		say(j, "program", 0, program, "every run ends like a serial run", NOT_COVERED);
}

/* Every question of the model (docs/check.md), and deadlocks when the certificate speaks of them. */
static void claims(struct certificate_judge *j)
{
	const struct ir *p = j->lang.ir;
	assert(p->nthreads && !j->r.error);
	blocks_and_program(j);
	say(j, "faults", 0, answer_of(j, CERTIFICATE_FAULTS), "no step has a fault", NOT_COVERED);
	if (p->nblocks)
		say(j, "way out", 0, answer_of(j, CERTIFICATE_WAY_OUT), "the threads can always leave their blocks", NOT_COVERED);
	if (answer_of(j, CERTIFICATE_DEADLOCK)->covered)
		say(j, "deadlock", 0, answer_of(j, CERTIFICATE_DEADLOCK), "in no state all threads wait", NOT_COVERED);
	for (uint32_t i = 0; i < p->nobjects; i++)
		say(j, p->objects[i].name, line_of(p, p->objects[i].span), &(struct certificate_answer){ 0 }, NULL,
		    "the histories of objects have no certificates");
	for (uint32_t i = 0; i < p->nproperties; i++)
		say(j, p->properties[i].text, line_of(p, p->properties[i].span), answer_of(j, CERTIFICATE_PROPERTIES + i),
		    p->properties[i].kind == IRP_ALWAYS    ? "it holds in every state"
		    : p->properties[i].kind == IRP_FINALLY ? "it holds whenever all threads have finished"
		                                           : "from every state, one in which it holds can be reached",
		    NOT_COVERED);
}

/* Threads that are not as many as the text declares. */
static void say_threads(struct certificate_judge *j)
{
	const struct ir *p = j->lang.ir;
	struct buf b;
	buf_init(&b);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count != p->templates[t].declared)
			buf_printf(&b, "%s%u %s instead of %u", b.len ? ", " : "it is about ", p->templates[t].count,
			           p->templates[t].name, p->templates[t].declared);
	if (b.len)
		claim_list_add(j->l, &(struct claim){ .name = "threads", .answer = CLAIM_ACCEPTED, .why = buf_cstr(&b) });
	buf_free(&b);
}

static int judge(struct certificate_judge *j, const char *model)
{
	assert(model && !j->answers);
	int rc = load(j, model);
	if (rc == CLAIM_HOLDS) {
		const struct ir *p = j->lang.ir;
		j->answers = calloc(p->nblocks + p->nproperties + (size_t)CERTIFICATE_PROPERTIES + 1, sizeof *j->answers);
		const char *limit = j->answers ? sections(j) : NULL;
		if (!j->answers)
			return CLAIM_INTERNAL;
		for (size_t i = 0; limit && i < p->nblocks + p->nproperties + (size_t)CERTIFICATE_PROPERTIES; i++)
			j->answers[i] = (struct certificate_answer){ .covered = true, .limit = limit };
		if (!j->r.error) {
			say_threads(j);
			claims(j);
		}
		rc = claim_list_code(j->l);
	}
	if (j->r.error) {
		claim_list_add(j->l, &(struct claim){ .name = "certificate", .answer = CLAIM_REJECTED, .why = j->r.error });
		rc = CLAIM_VIOLATED;
	}
	return rc;
}

int certificate_verify(struct claim_list *l, const char *certificate, const char *model, uint64_t max_bytes)
{
	struct certificate_judge j = { .l = l, .max_bytes = max_bytes };
	assert(l && certificate && model && max_bytes);
	int rc = CLAIM_INPUT;
	l->subject = model;
	lang_init(&j.lang);
	errno = 0;
	if (cert_open(&j.r, certificate)) {
		rc = judge(&j, model);
	} else {
		buf_str(l->err, "intact verify: ");
		buf_safe(l->err, certificate, strlen(certificate));
		buf_printf(l->err, ": %s\n", j.r.error ? j.r.error : strerror(errno));
		if (j.r.foreign)
			buf_str(l->err, "hint: a certificate is written by 'intact check --certificate FILE MODEL'\n");
	}
	cert_close(&j.r);
	lang_free(&j.lang);
	free(j.answers);
	return rc;
}
