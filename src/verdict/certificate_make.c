/*
 * certificate_make: finds the sets of certificates, breadth first by the rules of certificate_space.c, and writes them. Nothing here is
 * trusted: what it writes is checked again.
 *
 * Cost: a row of the set and, for ranks, 8 bytes per step; bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"
#include "event/crc.h"
#include "verdict/certificate.h"

enum { LEVEL = 6 }; /* of compression */

/* ---- the file ------------------------------------------------------------------------------ */

static void put_word(unsigned char *p, uint32_t v)
{
	assert(p);
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * i);
}

bool cert_create(struct cert_writer *w, const char *path)
{
	*w = (struct cert_writer){ .f = fopen(path, "wb") };
	if (!w->f)
		return false;
	w->block = malloc(CERT_BLOCK);
	w->packed = malloc(CERT_HEAD + ZSTD_COMPRESSBOUND(CERT_BLOCK));
	w->failed = !w->block || !w->packed || fwrite(CERT_MAGIC, 1, sizeof CERT_MAGIC - 1, w->f) != sizeof CERT_MAGIC - 1;
	return true;
}

static void end_block(struct cert_writer *w)
{
	assert(w->len <= CERT_BLOCK);
	size_t packed = 0;
	if (w->failed)
		return;
	if (w->len)
		packed = ZSTD_compress(w->packed + CERT_HEAD, ZSTD_COMPRESSBOUND(CERT_BLOCK), w->block, w->len, LEVEL);
	w->failed = ZSTD_isError(packed);
	if (w->failed)
		return;
	put_word(w->packed, (uint32_t)w->len);
	put_word(w->packed + 4, (uint32_t)packed);
	put_word(w->packed + 8, w->sum);
	w->sum = crc_of(w->packed, CERT_HEAD + packed);
	put_word(w->packed + 8, w->sum);
	w->failed = fwrite(w->packed, 1, CERT_HEAD + packed, w->f) != CERT_HEAD + packed;
	w->len = 0;
}

void cert_put_number(struct cert_writer *w, uint64_t v)
{
	assert(w->f);
	if (w->failed)
		return;
	if (w->len + 10 > CERT_BLOCK)
		end_block(w);
	w->len = (size_t)(put_varint(w->block + w->len, v) - w->block);
}

void cert_put_text(struct cert_writer *w, const char *s)
{
	size_t n = strlen(s);
	cert_put_number(w, n);
	for (size_t i = 0; i < n && !w->failed; i++) {
		if (w->len == CERT_BLOCK)
			end_block(w);
		w->block[w->len++] = (unsigned char)s[i];
	}
}

bool cert_finish(struct cert_writer *w)
{
	assert(w->f);
	if (!w->failed && w->len)
		end_block(w);
	end_block(w); /* an empty one */
	bool ok = !w->failed;
	ok &= fclose(w->f) == 0;
	int why = errno;
	free(w->block);
	free(w->packed);
	memset(w, 0, sizeof *w);
	errno = why;
	return ok;
}

/* ---- the search ------------------------------------------------------------------------------- */

struct cert_search {
	const struct ir *p;
	struct cert_claim *q;
	const struct cert_limits *l;
	struct cert_made *made;
	struct cert_space s;
	struct seqtab rows;
	uint32_t at;
	uint32_t *from, *to; /* steps, when there are ranks */
	uint64_t nsteps, cap_from, cap_to;
	uint32_t ngoals, goals[CERT_RANKS], *ranks[CERT_RANKS]; /* of q; by row */
};

static void give_up(struct cert_search *x, const char *why)
{
	assert(why && *why);
	if (!x->made->why)
		x->made->why = why;
}

static uint64_t bytes_of(const struct cert_search *x)
{
	return cert_space_bytes(&x->s) + seqtab_bytes(&x->rows) + (x->cap_from + x->cap_to) * sizeof *x->from;
}

static bool one_successor(void *arg)
{
	struct cert_search *x = arg;
	uint32_t id = seqtab_add(&x->rows, x->s.next.v, (uint32_t)x->s.next.n);
	x->made->steps++;
	assert(id == SEQTAB_NONE || id < x->rows.n);
	if (id == SEQTAB_NONE) {
		give_up(x, "memory");
	} else if (x->ngoals) {
		if (!GROW_RAW(x->from, x->cap_from, x->nsteps + 1) || !GROW_RAW(x->to, x->cap_to, x->nsteps + 1)) {
			give_up(x, "memory");
			return false;
		}
		x->from[x->nsteps] = x->at;
		x->to[x->nsteps++] = id;
	}
	return !x->made->why;
}

/* What is wanted and does not hold in this state is wanted no more. */
static void look_at_state(struct cert_search *x)
{
	const struct ir *p = x->p;
	const int32_t *state = cert_state(&x->s);
	x->q->faults &= !x->s.fault;
	assert(x->q->kind == CERT_PLAIN);
	PARANOID(ir_state_valid(p, state));
	x->q->deadlock &= x->s.moved || ir_all_finished(p, state);
	for (uint32_t i = 0; i < p->nproperties; i++)
		if (x->q->properties >> i & 1 && p->properties[i].kind != IRP_REACH && ir_property_broken(p, i, state))
			x->q->properties &= ~(1u << i);
}

static void look_at_limits(struct cert_search *x)
{
	if (x->l->max_states && x->rows.n > x->l->max_states)
		give_up(x, "states");
	if (x->l->max_bytes && bytes_of(x) > x->l->max_bytes)
		give_up(x, "memory");
	if (x->l->deadline > 0 && clock_seconds() > x->l->deadline)
		give_up(x, "time");
}

static void explore(struct cert_search *x)
{
	uint32_t len;
	if (!cert_first(&x->s) || seqtab_add(&x->rows, x->s.next.v, (uint32_t)x->s.next.n) == SEQTAB_NONE)
		give_up(x, "memory");
	for (x->at = 0; x->at < x->rows.n && !x->made->why; x->at++) {
		const int32_t *row = seqtab_get(&x->rows, x->at, &len);
		cert_load(&x->s, row, len);
		cert_expand(&x->s, one_successor, x);
		if (x->s.limit)
			give_up(x, x->s.limit);
		else if (x->s.unexplained || x->s.nonsense)
			give_up(x, x->q->any_moment ? CERT_UNEXPLAINED : "the commit points do not fit");
		if (x->q->kind == CERT_PLAIN && !x->made->why)
			look_at_state(x);
		if (x->at % 1024 == 0)
			look_at_limits(x);
	}
	x->made->states = x->rows.n;
}

/* ---- ranks --------------------------------------------------------------------------------------- */

/* The steps backwards: those to row i are back[start[i] .. start[i + 1]). */
static bool turn_round(struct cert_search *x, uint64_t **start, uint32_t **back)
{
	assert(x->ngoals);
	uint64_t n = x->rows.n;
	*start = calloc(n + 2, sizeof **start);
	*back = malloc((x->nsteps + 1) * sizeof **back);
	if (!*start || !*back)
		return false;
	for (uint64_t i = 0; i < x->nsteps; i++)
		(*start)[x->to[i] + 2]++;
	for (uint64_t i = 0; i < n; i++)
		(*start)[i + 2] += (*start)[i + 1];
	for (uint64_t i = 0; i < x->nsteps; i++)
		(*back)[(*start)[x->to[i] + 1]++] = x->from[i];
	return true;
}

/* Rank 0 in *rank where the goal holds, else IR_NONE. False: it is not known. */
static bool goals(struct cert_search *x, uint32_t k, uint32_t *rank)
{
	uint32_t len;
	for (uint32_t i = 0; i < x->rows.n && !x->made->why; i++) {
		const int32_t *row = seqtab_get(&x->rows, i, &len);
		cert_load(&x->s, row, len);
		const int32_t *state = cert_state(&x->s);
		bool fine = x->goals[k] == IR_NONE ? ir_quiescent(x->p, state) : ir_property_holds(x->p, x->goals[k], state),
		     fault = false;
		for (uint32_t t = 0; t < x->p->nthreads && !fine && !fault; t++) {
			uint32_t at = map_get(&x->s.steps[x->s.kind_of[t]],
			                      (uint64_t)(uint32_t)x->s.now.v[0] << 32 | (uint32_t)x->s.now.v[1 + t]);
			for (uint32_t m = 1; at != MAP_NONE && m <= x->s.moves[at].g; m++)
				fault |= x->s.moves[at + m].fault;
		}
		rank[i] = fine || fault ? 0 : IR_NONE;
	}
	return !x->made->why;
}

/* Distances to the goal. False: from some row it cannot be reached, or memory has ended. */
static bool distances(struct cert_search *x, uint32_t k, const uint64_t *start, const uint32_t *back)
{
	uint32_t n = x->rows.n, head = 0, tail = 0;
	uint32_t *rank = malloc((n + 1ull) * sizeof *rank), *queue = malloc((n + 1ull) * sizeof *queue);
	x->ranks[k] = rank;
	bool ok = rank && queue && goals(x, k, rank);
	for (uint32_t i = 0; ok && i < n; i++)
		if (!rank[i])
			queue[tail++] = i;
	for (; ok && head < tail; head++)
		for (uint64_t e = start[queue[head]]; e < start[queue[head] + 1]; e++)
			if (rank[back[e]] == IR_NONE) {
				rank[back[e]] = rank[queue[head]] + 1;
				queue[tail++] = back[e];
			}
	assert(tail <= n && head <= tail);
	free(queue);
	return ok && tail == n;
}

/* The ranks of all goals; those that cannot always be reached are wanted no more. */
static void rank_all(struct cert_search *x)
{
	uint32_t n = x->ngoals, kept = 0;
	uint64_t *start = NULL;
	uint32_t *back = NULL;
	bool lost[CERT_RANKS] = { 0 };
	if (!n || x->made->why)
		return;
	if (!turn_round(x, &start, &back))
		give_up(x, "memory");
	for (uint32_t k = 0; k < n && !x->made->why; k++)
		lost[k] = !distances(x, k, start, back);
	free(start);
	free(back);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t *own = x->ranks[k];
		x->ranks[k] = NULL;
		if (!lost[k]) {
			x->ranks[kept++] = own;
			continue;
		}
		free(own);
		if (x->goals[k] == IR_NONE)
			x->q->way_out = false;
		else
			x->q->properties &= ~(1u << x->goals[k]);
	}
	x->ngoals = cert_goals(x->p, x->q, x->goals);
	assert(x->ngoals == kept);
}

struct cert_search *cert_search_new(const struct ir *p, struct cert_claim *q, const struct cert_limits *l, struct cert_made *made)
{
	struct cert_search *x = calloc(1, sizeof *x);
	assert(q->kind == CERT_PLAIN || (q->kind == CERT_SERIAL && (q->block == VERDICT_PROGRAM || q->block < p->nblocks)));
	assert(q->kind == CERT_PLAIN || q->any_moment || (q->edge && q->entry));
	*made = (struct cert_made){ 0 };
	if (!x) {
		made->why = "memory";
		return NULL;
	}
	x->p = p;
	x->q = q;
	x->l = l;
	x->made = made;
	x->ngoals = cert_goals(p, q, x->goals);
	if (cert_space_init(&x->s, p, q))
		explore(x);
	else
		give_up(x, "memory");
	rank_all(x);
	return x;
}

void cert_search_free(struct cert_search *x)
{
	if (!x)
		return;
	for (uint32_t k = 0; k < CERT_RANKS; k++)
		free(x->ranks[k]);
	cert_space_free(&x->s);
	seqtab_free(&x->rows);
	free(x->from);
	free(x->to);
	free(x);
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static void write_marks(struct cert_writer *w, const uint8_t *marks, uint32_t most)
{
	uint32_t n = 0, at = 0;
	for (uint32_t i = 0; marks && i < most; i++)
		n += marks[i] != 0;
	cert_put_number(w, n);
	for (uint32_t i = 0; n && i < most; i++)
		if (marks[i]) {
			cert_put_number(w, i - at);
			at = i;
		}
}

static void write_table(struct cert_writer *w, const struct seqtab *t)
{
	uint32_t len = 0;
	cert_put_number(w, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		const int32_t *v = seqtab_get(t, i, &len), *before = i ? v - len : NULL;
		for (uint32_t k = 0; k < len; k++)
			cert_put_number(w, zigzag((uint64_t)v[k], before ? (uint64_t)before[k] : 0));
	}
}

static int by_row(const void *a, const void *b, void *arg)
{
	const struct seqtab *t = arg;
	uint32_t n, m;
	const int32_t *x = seqtab_get(t, *(const uint32_t *)a, &n), *y = seqtab_get(t, *(const uint32_t *)b, &m);
	for (uint32_t i = 0; i < n && i < m; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return n < m ? -1 : n > m;
}

static void write_rows(struct cert_search *x, struct cert_writer *w)
{
	assert(x->rows.n && x->ngoals <= CERT_RANKS);
	uint32_t n = x->rows.n, nranks = x->ngoals, len, before_len = 0;
	const int32_t *before = NULL;
	uint32_t *order = malloc((n + 1ull) * sizeof *order);
	if (!order) {
		w->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, by_row, &x->rows);
	cert_put_number(w, n);
	for (uint32_t i = 0; i < n; i++) {
		const int32_t *v = seqtab_get(&x->rows, order[i], &len);
		uint32_t common = 0;
		while (common < before_len && common < len && v[common] == before[common])
			common++;
		assert(common < len && (common == before_len || v[common] > before[common])); /* ascending */
		cert_put_number(w, common);
		cert_put_number(w, len);
		for (uint32_t k = common; k < len; k++)
			cert_put_number(w, (uint64_t)(k == common && k < before_len ? v[k] - before[k] : v[k]));
		for (uint32_t k = 0; k < nranks; k++) {
			assert(x->ranks[k][order[i]] != IR_NONE); /* the goal can be reached */
			cert_put_number(w, x->ranks[k][order[i]]);
		}
		before = v;
		before_len = len;
	}
	free(order);
}

void cert_search_write(struct cert_search *x, struct cert_writer *w)
{
	assert(!x->made->why);
	cert_put_number(w, x->q->kind);
	if (x->q->kind == CERT_PLAIN) {
		cert_put_number(w, x->q->faults);
		cert_put_number(w, x->q->deadlock);
		cert_put_number(w, x->q->way_out);
		cert_put_number(w, x->q->properties);
	} else {
		cert_put_number(w, x->q->block == VERDICT_PROGRAM ? 0 : x->q->block + 1ull);
		cert_put_number(w, x->q->any_moment);
		write_marks(w, x->q->edge, x->p->nsuccs);
		write_marks(w, x->q->entry, x->p->nblocks);
	}
	write_table(w, &x->s.globals);
	for (uint32_t k = 0; k < x->s.nkinds; k++)
		write_table(w, &x->s.frames[k]);
	write_rows(x, w);
}
