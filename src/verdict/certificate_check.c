/* certificate_check: the rows of a section are read, then each is looked at; see certificate.h. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "verdict/certificate.h"

struct cert_checking {
	const struct ir *p;
	const struct cert_claim *q;
	struct cert_reader *r;
	struct cert_result *out;
	struct cert_space s;
	struct seqtab rows;
	uint32_t nranks, goals[CERT_RANKS], *ranks; /* by row, nranks each */
	uint64_t cap_ranks, max_bytes;
	uint32_t best[CERT_RANKS]; /* of the successors of the row that is looked at */
};

static void reject(struct cert_checking *x, const char *why)
{
	if (!x->out->wrong)
		x->out->wrong = why;
}

static bool going(const struct cert_checking *x)
{
	return !x->r->error && !x->out->wrong && !x->out->limit;
}

static void look_at_memory(struct cert_checking *x)
{
	uint64_t n = cert_space_bytes(&x->s) + seqtab_bytes(&x->rows) + x->cap_ranks * sizeof *x->ranks;
	if (n > x->out->bytes)
		x->out->bytes = n;
	if (n > x->max_bytes && !x->out->limit)
		x->out->limit = "memory";
}

/* ---- reading ------------------------------------------------------------------------------------ */

bool cert_claim_read(struct cert_reader *r, struct cert_claim *q)
{
	uint64_t kind = cert_number(r), block;
	*q = (struct cert_claim){ .kind = (enum cert_kind)kind, .block = VERDICT_PROGRAM };
	if (r->error || kind == CERT_END)
		return false;
	if (kind == CERT_PLAIN) {
		q->faults = cert_number(r) == 1;
		q->deadlock = cert_number(r) == 1;
		q->way_out = cert_number(r) == 1;
		q->properties = (uint32_t)cert_number(r);
	} else if (kind == CERT_SERIAL) {
		block = cert_number(r);
		q->block = block && block <= IR_MAX_CODE ? (uint32_t)block - 1 : VERDICT_PROGRAM;
		q->any_moment = cert_number(r) == 1;
	} else {
		cert_wrong(r, "a section is of an unknown kind");
	}
	return !r->error;
}

/* Numbers below `most`, ascending, as marks. */
static void read_marks(struct cert_reader *r, uint8_t *marks, uint32_t most)
{
	uint64_t n = cert_number(r), at = 0;
	for (uint64_t i = 0; i < n && !r->error; i++) {
		at += cert_number(r);
		if (at >= most)
			cert_wrong(r, "a commit point is at no step of the model");
		else
			marks[at] = 1;
	}
}

/* One table: rows of `width` values, each as the differences to the one before. `kind`: of frames, IR_NONE of globals. */
static void read_table(struct cert_checking *x, struct seqtab *t, uint32_t width, uint32_t kind)
{
	uint64_t n = cert_number(x->r);
	int32_t *v = calloc(width + 1ull, sizeof *v);
	if (!v)
		x->out->limit = "memory";
	for (uint64_t i = 0; i < n && going(x); i++) {
		for (uint32_t k = 0; k < width; k++)
			v[k] = (int32_t)unzigzag(cert_number(x->r), (uint64_t)v[k]);
		if (x->r->error)
			break;
		if (kind == IR_NONE ? !ir_globals_valid(x->p, v) : !cert_frame_valid(&x->s, kind, v))
			cert_wrong(x->r, "it has values that the model's variables cannot have");
		else if (seqtab_add(t, v, width) != i)
			cert_wrong(x->r, "a table has the same values twice");
		if (i % 4096 == 0)
			look_at_memory(x);
	}
	free(v);
}

/* A row: how much it has in common with the one before, its length, by how much it is greater there, and the rest. */
static void read_rows(struct cert_checking *x)
{
	struct cert_words row = { 0 };
	uint64_t n = cert_number(x->r), common, len;
	for (uint64_t i = 0; i < n && going(x); i++) {
		common = cert_number(x->r);
		len = cert_number(x->r);
		uint64_t most = (CERT_SHADOWS + 1ull) * (x->p->nthreads + 1ull), before = row.n;
		if (common > before || common >= len || len > most || len > x->max_bytes / 8) {
			cert_wrong(x->r, "its rows are not in order");
			break;
		}
		if (!GROW(row.v, row.cap, len)) {
			x->out->limit = "memory";
			break;
		}
		row.n = len;
		for (uint64_t k = common; k < len && !x->r->error; k++) {
			bool greater = k == common && k < before;
			uint64_t d = cert_number(x->r), v = (greater ? (uint64_t)row.v[k] : 0) + d;
			if (v > INT32_MAX || (greater && !d))
				cert_wrong(x->r, "its rows are not in order");
			row.v[k] = (int32_t)v;
		}
		if (!x->r->error && !cert_row_valid(&x->s, row.v, (uint32_t)len))
			cert_wrong(x->r, "a row names values that its tables do not have");
		if (!x->r->error && seqtab_add(&x->rows, row.v, (uint32_t)len) != i)
			x->out->limit = "memory"; /* ascending rows are different rows */
		if (!x->r->error && !GROW_RAW(x->ranks, x->cap_ranks, (i + 1) * x->nranks + 1))
			x->out->limit = "memory";
		for (uint32_t k = 0; k < x->nranks && going(x); k++)
			x->ranks[i * x->nranks + k] = (uint32_t)cert_number(x->r);
		if (i % 4096 == 0)
			look_at_memory(x);
	}
	x->out->states = x->rows.n;
	free(row.v);
}

/* ---- looking at rows ------------------------------------------------------------------------------- */

static bool one_successor(void *arg)
{
	struct cert_checking *x = arg;
	uint32_t id = seqtab_find(&x->rows, x->s.next.v, (uint32_t)x->s.next.n);
	if (id == SEQTAB_NONE) {
		reject(x, "a step leads from a state of the set to one that is not in it");
		return false;
	}
	for (uint32_t k = 0; k < x->nranks; k++)
		if (x->ranks[(uint64_t)id * x->nranks + k] < x->best[k])
			x->best[k] = x->ranks[(uint64_t)id * x->nranks + k];
	return true;
}

/* What is claimed of each state by itself, and its ranks. */
static void look_at_state(struct cert_checking *x, uint32_t id)
{
	const struct ir *p = x->p;
	const int32_t *state = cert_state(&x->s);
	if (x->q->faults && x->s.fault)
		reject(x, "a step from a state of the set has a fault");
	if (x->q->deadlock && !x->s.moved && !ir_all_finished(p, state))
		reject(x, "a state of the set is a deadlock");
	for (uint32_t i = 0; i < p->nproperties; i++)
		if (x->q->properties >> i & 1 && p->properties[i].kind != IRP_REACH && ir_property_broken(p, i, state))
			reject(x, "a state of the set breaks the condition");
	for (uint32_t k = 0; k < x->nranks; k++) {
		uint32_t rank = x->ranks[(uint64_t)id * x->nranks + k];
		bool goal = x->goals[k] == IR_NONE ? ir_quiescent(p, state) : ir_property_holds(p, x->goals[k], state);
		if (rank ? x->best[k] >= rank : !x->s.fault && !goal)
			reject(x, "a state of the set has a rank that no way to the goal explains");
	}
}

static void look_at_all(struct cert_checking *x)
{
	uint32_t len;
	if (going(x) && (!cert_first(&x->s) || seqtab_find(&x->rows, x->s.next.v, (uint32_t)x->s.next.n) == SEQTAB_NONE))
		reject(x, "the initial state is not in the set");
	for (uint32_t i = 0; i < x->rows.n && going(x); i++) {
		const int32_t *row = seqtab_get(&x->rows, i, &len);
		memset(x->best, 0xff, x->nranks * sizeof *x->best);
		cert_load(&x->s, row, len);
		cert_expand(&x->s, one_successor, x);
		if (x->s.limit)
			x->out->limit = x->s.limit;
		else if (x->s.nonsense)
			reject(x, "a row has values that no state has together");
		else if (x->s.unexplained)
			reject(x,
			       "a state with all threads outside blocks is the end of no serial execution that the set knows of");
		else if (x->q->kind == CERT_PLAIN && going(x))
			look_at_state(x, i);
		if (i % 4096 == 0)
			look_at_memory(x);
	}
	look_at_memory(x);
}

void cert_check(struct cert_reader *r, const struct ir *p, struct cert_claim *q, uint64_t max_bytes, struct cert_result *out)
{
	struct cert_checking x = { .p = p, .q = q, .r = r, .out = out, .max_bytes = max_bytes };
	*out = (struct cert_result){ 0 };
	q->edge = calloc(p->nsuccs + 1ull, 1);
	q->entry = calloc(p->nblocks + 1ull, 1);
	if (p->nproperties < 32 && q->properties >> p->nproperties)
		cert_wrong(r, "it claims a condition that the model does not have");
	if (q->kind == CERT_SERIAL && q->block != VERDICT_PROGRAM && q->block >= p->nblocks)
		cert_wrong(r, "it is about a block that the model does not have");
	if (!cert_space_init(&x.s, p, q) || !q->edge || !q->entry)
		out->limit = "memory";
	if (going(&x) && q->kind == CERT_SERIAL) {
		read_marks(r, q->edge, p->nsuccs);
		read_marks(r, q->entry, p->nblocks);
	}
	x.nranks = going(&x) ? cert_goals(p, q, x.goals) : 0;
	if (going(&x))
		read_table(&x, &x.s.globals, p->nglobals, IR_NONE);
	for (uint32_t k = 0; k < x.s.nkinds && going(&x); k++)
		read_table(&x, &x.s.frames[k], p->templates[p->threads[x.s.thread_of[k]].tmpl].nslots, k);
	if (going(&x))
		read_rows(&x);
	look_at_all(&x);
	if (r->error)
		out->wrong = r->error;
	cert_space_free(&x.s);
	seqtab_free(&x.rows);
	free(x.ranks);
	free(q->edge);
	free(q->entry);
	q->edge = q->entry = NULL;
}
