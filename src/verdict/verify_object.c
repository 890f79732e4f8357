/*
 * verify_object: every history of a register in a model, gone through anew (verify_anew.h).
 *
 * A state of the search is an interleaved state with the set of what the register can be: its value, and of each
 * operation that has been invoked and not answered whether it has taken effect and, of a read, what
 * it then saw. An operation may take effect at any moment between its invocation and its answer; the answer needs
 * the effect, and of a read the value that was seen. A set that becomes empty is a history that is not
 * atomic, and this is exact: the set holds what any order of the operations leads to.
 *
 * Representation: one of the set is a row: the value, then a word for each thread: IDLE, ASKED (and the value to
 * be written behind it), DONE (and the value seen). Values have 32 bits, so a thread has two words.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "verdict/rows.h"
#include "verdict/verify_anew.h"

#define MAX_SET   20000u
#define MAX_BYTES ((uint64_t)2 << 30)

enum { IDLE, READ_ASKED, WRITE_ASKED, DONE };

struct pair {
	uint32_t state, set, parent;
	struct move by;
};

struct object_search {
	const struct ir *p;
	uint32_t object, width;
	struct verify_anew *out;
	struct rows states, ways, sets;
	struct pair *pairs;
	uint32_t npairs, cap_pairs, wrong;
	struct map seen;
	uint32_t *set, nset, cap_set;
	uint32_t *stamp, stamped, cap_stamp;
	int32_t *from, *to, *way, *other;
	uint32_t at, thread, outcome;
};

static void spent(struct object_search *x, const char *limit)
{
	if (!x->out->limit)
		x->out->limit = limit;
}

static void add_way(struct object_search *x, const int32_t *way)
{
	uint32_t id = row_add(&x->ways, way, x->width);
	if (id == MAP_NONE || !GROW(x->stamp, x->cap_stamp, id + 1ull) || !GROW(x->set, x->cap_set, x->nset + 1ull))
		spent(x, "memory");
	else if (x->nset == MAX_SET)
		spent(x, "orders of the operations at one state");
	else if (x->stamp[id] != x->stamped) {
		x->stamp[id] = x->stamped;
		x->set[x->nset++] = id;
	}
}

/* What has been asked may be done now. */
static void close_set(struct object_search *x)
{
	uint32_t len;
	for (uint32_t i = 0; i < x->nset && !x->out->limit; i++)
		for (uint32_t t = 0; t < x->p->nthreads && !x->out->limit; t++) {
			memcpy(x->other, row(&x->ways, x->set[i], &len), x->width * sizeof *x->other);
			int32_t *now = x->other + 1 + 2 * t;
			if (now[0] == WRITE_ASKED)
				x->other[0] = now[1];
			else if (now[0] == READ_ASKED)
				now[1] = x->other[0];
			else
				continue;
			now[0] = DONE;
			add_way(x, x->other);
		}
}

static bool counts(const struct object_search *x, uint32_t oper)
{
	return oper != IR_NONE && x->p->opers[oper].object == x->object && ir_oper_counts(x->p, oper);
}

/* The set `from` behind what the step invoked or answered. */
static void follow(struct object_search *x, uint32_t from, const struct ir_effect *eff, bool answer)
{
	uint32_t n, len, oper = answer ? eff->responded : eff->invoked;
	bool writes = x->p->opers[oper].is_write;
	x->nset = 0;
	x->stamped++;
	for (uint32_t i = 0; row(&x->sets, from, &n), i < n && !x->out->limit; i++) {
		uint32_t id = (uint32_t)row(&x->sets, from, &n)[i];
		memcpy(x->way, row(&x->ways, id, &len), x->width * sizeof *x->way);
		int32_t *now = x->way + 1 + 2 * x->thread;
		if (answer && (now[0] != DONE || (!writes && now[1] != eff->result)))
			continue;
		now[0] = answer ? IDLE : writes ? WRITE_ASKED : READ_ASKED;
		now[1] = !answer && writes ? eff->arg : 0;
		add_way(x, x->way);
	}
	close_set(x);
}

static int by_number(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	return (a > b) - (a < b);
}

static uint32_t keep_set(struct object_search *x)
{
	if (x->nset)
		qsort(x->set, x->nset, sizeof *x->set, by_number);
	uint32_t id = row_add(&x->sets, (const int32_t *)x->set, x->nset);
	if (id == MAP_NONE)
		spent(x, "memory");
	return id;
}

static void add_pair(struct object_search *x, uint32_t set)
{
	uint32_t state = row_add(&x->states, x->to, x->p->nstate), id = x->npairs, n;
	if (state == MAP_NONE || !map_intern(&x->seen, (uint64_t)state << 32 | set, &id) ||
	    !GROW(x->pairs, x->cap_pairs, x->npairs + 1ull) ||
	    rows_bytes(&x->states) + rows_bytes(&x->ways) + rows_bytes(&x->sets) +
	            x->cap_pairs * sizeof *x->pairs + x->seen.cap * sizeof(struct map_slot) > MAX_BYTES) {
		spent(x, "memory");
		return;
	}
	if (id != x->npairs)
		return;
	x->pairs[x->npairs++] = (struct pair){ state, set, x->at, { x->thread, x->outcome } };
	row(&x->sets, set, &n);
	if (!n)
		x->wrong = id;
	if (x->npairs > x->out->max_states)
		spent(x, "states");
}

static bool one_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                     const struct ir_effect *eff)
{
	struct object_search *x = arg;
	(void)ch;
	if (r == IR_FAULT && eff->fault == IRF_LIMIT)
		spent(x, "instructions of one step");
	if (r == IR_OK) {
		uint32_t set = x->pairs[x->at].set;
		memcpy(x->to, next, sizeof *next * x->p->nstate);
		ir_clear_dead(x->p, x->to);
		for (int answer = 0; answer < 2; answer++)
			if (counts(x, answer ? eff->responded : eff->invoked)) {
				follow(x, set, eff, answer);
				set = keep_set(x);
			}
		if (!x->out->limit)
			add_pair(x, set);
	}
	x->outcome++;
	return !x->out->limit && x->wrong == MAP_NONE;
}

static void search(struct object_search *x, int32_t *scratch)
{
	uint32_t len;
	memcpy(x->to, x->p->init, x->p->nstate * sizeof *x->to);
	ir_clear_dead(x->p, x->to);
	x->way[0] = x->p->objects[x->object].init;
	x->stamped = 1;
	add_way(x, x->way);
	uint32_t set = keep_set(x);
	if (!x->out->limit)
		add_pair(x, set);
	for (x->at = 0; x->at < x->npairs && !x->out->limit && x->wrong == MAP_NONE; x->at++) {
		memcpy(x->from, row(&x->states, x->pairs[x->at].state, &len), x->p->nstate * sizeof *x->from);
		for (x->thread = 0; x->thread < x->p->nthreads && !x->out->limit && x->wrong == MAP_NONE; x->thread++) {
			x->outcome = 0;
			ir_successors(x->p, x->from, x->thread, scratch, one_step, x);
		}
	}
}

static bool keep_path(struct object_search *x)
{
	uint32_t n = 0;
	for (uint32_t i = x->wrong; i; i = x->pairs[i].parent)
		n++;
	x->out->path = malloc((n + 1) * sizeof *x->out->path);
	x->out->npath = x->out->path ? n : 0;
	for (uint32_t i = x->wrong; x->out->path && i; i = x->pairs[i].parent)
		x->out->path[--n] = x->pairs[i].by;
	return x->out->path != NULL;
}

void verify_anew_object(struct verify_anew *v, const struct ir *p, uint32_t object)
{
	struct object_search x = { .p = p, .object = object, .out = v, .wrong = MAP_NONE, .width = 1 + 2 * p->nthreads };
	size_t n = (size_t)p->nstate + x.width;
	int32_t *room = calloc(n * 5, sizeof *room);
	v->limit = NULL;
	v->path = NULL;
	v->npath = 0;
	v->answer = VERIFY_LIMIT;
	if (!room) {
		v->limit = "memory";
		return;
	}
	x.from = room;
	x.to = room + n;
	x.way = room + 2 * n;
	x.other = room + 3 * n;
	search(&x, room + 4 * n);
	v->states = x.npairs;
	if (x.wrong != MAP_NONE && keep_path(&x))
		v->answer = VERIFY_UNEXPLAINED;
	else if (x.wrong != MAP_NONE)
		v->limit = "memory";
	else if (!v->limit)
		v->answer = VERIFY_EXPLAINED;
	rows_free(&x.states);
	rows_free(&x.ways);
	rows_free(&x.sets);
	map_free(&x.seen);
	free(x.pairs);
	free(x.set);
	free(x.stamp);
	free(room);
}
