#include "verdict/verify_serial.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define SERIAL_NOBODY UINT32_MAX
#define MAX_ARROWS    (1u << 27)

/* The last transaction of some threads with an access or release, since the last write or acquire. */
struct since {
	uint32_t *thread, *node;
	uint32_t n, cap, cap_node;
};

struct serial_object { /* a variable or a lock */
	uint32_t last; /* the last write's transaction, or SERIAL_NOBODY */
	bool seen;
	struct since since;     /* reads; releases */
	uint32_t owner1, depth; /* of a lock: the holder + 1 */
};

struct verify_thread {
	bool seen;
	uint32_t node; /* its transaction, or SERIAL_NOBODY */
	uint32_t depth;
	uint32_t fork; /* the transaction that forked it, until its next event; or SERIAL_NOBODY */
};

struct serial_judge {
	struct serial_object *vars, *locks;
	struct verify_thread *threads;
	uint32_t nvars, nlocks, nthreads;
	uint64_t *first; /* by transaction: its first event */
	uint32_t nnodes, cap_nodes;
	uint32_t *from, *to; /* arrows */
	uint32_t narrows, cap_from, cap_to;
	uint64_t *cycle;
	const char *limit;
};

struct serial_judge *serial_judge_new(void)
{
	return calloc(1, sizeof(struct serial_judge));
}

static void free_objects(struct serial_object *o, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(o[i].since.thread);
		free(o[i].since.node);
	}
	free(o);
}

void serial_judge_free(struct serial_judge *j)
{
	if (!j)
		return;
	free_objects(j->vars, j->nvars);
	free_objects(j->locks, j->nlocks);
	free(j->threads);
	free(j->first);
	free(j->from);
	free(j->to);
	free(j->cycle);
	free(j);
}

/* ---- the graph ----------------------------------------------------------- */

static void arrow(struct serial_judge *j, uint32_t from, uint32_t to)
{
	if (from == SERIAL_NOBODY || from == to || j->limit)
		return;
	for (uint32_t k = j->narrows; k-- > 0 && k + 4 > j->narrows;)
		if (j->from[k] == from && j->to[k] == to)
			return; /* just drawn */
	if (j->narrows == MAX_ARROWS)
		j->limit = "arrows between transactions";
	else if (!GROW(j->from, j->cap_from, j->narrows + 1ull) || !GROW(j->to, j->cap_to, j->narrows + 1ull))
		j->limit = "memory";
	if (j->limit)
		return;
	j->from[j->narrows] = from;
	j->to[j->narrows++] = to;
}

/* From all of them, and forgets them. */
static void arrows_since(struct serial_judge *j, struct since *s, uint32_t to, bool forget)
{
	for (uint32_t i = 0; i < s->n; i++)
		arrow(j, s->node[i], to);
	if (forget)
		s->n = 0;
}

static void remember(struct serial_judge *j, struct since *s, uint32_t thread, uint32_t node)
{
	uint32_t i = 0;
	while (i < s->n && s->thread[i] != thread)
		i++;
	if (i == s->n) {
		if (!GROW(s->thread, s->cap, s->n + 1ull) || !GROW(s->node, s->cap_node, s->n + 1ull)) {
			j->limit = "memory";
			return;
		}
		s->thread[s->n++] = thread;
	}
	s->node[i] = node;
}

static void on_access(struct serial_judge *j, struct serial_object *o, const struct event *e, uint32_t node)
{
	if (!o->seen || (e->flags & EVENT_FIRST)) {
		o->seen = true;
		o->last = SERIAL_NOBODY;
		o->since.n = 0;
	}
	arrow(j, o->last, node);
	if (e->kind == EVENT_WRITE) {
		arrows_since(j, &o->since, node, true);
		o->last = node;
	} else {
		remember(j, &o->since, e->thread, node);
	}
}

static void on_lock(struct serial_judge *j, struct serial_object *o, const struct event *e, uint32_t node)
{
	bool mine = o->owner1 == e->thread + 1;
	if (o->owner1 && !mine) {
		j->limit = "sense: a lock is taken or released while another thread holds it";
		return;
	}
	if (e->kind == EVENT_ACQ) {
		if (o->depth++)
			return;
		if (e->flags & EVENT_FIRST)
			o->since.n = 0;
		o->owner1 = e->thread + 1;
		arrows_since(j, &o->since, node, true);
	} else {
		if (mine && --o->depth)
			return;
		o->owner1 = o->depth = 0;
		remember(j, &o->since, e->thread, node);
	}
}

static bool object_at(struct serial_judge *j, struct serial_object **list, uint32_t *n, uint32_t id)
{
	if (GROW(*list, *n, id + 1ull))
		return true;
	j->limit = "memory";
	return false;
}

static struct verify_thread *thread_at(struct serial_judge *j, uint32_t id)
{
	if (!GROW(j->threads, j->nthreads, id + 1ull)) {
		j->limit = "memory";
		return NULL;
	}
	struct verify_thread *t = &j->threads[id];
	if (!t->seen)
		*t = (struct verify_thread){ .seen = true, .node = SERIAL_NOBODY, .fork = SERIAL_NOBODY };
	return t;
}

/* The transaction of the event, a new one outside of blocks. */
static uint32_t node_of(struct serial_judge *j, struct verify_thread *t, const struct event *e)
{
	if (!t->depth || t->node == SERIAL_NOBODY) {
		if (j->nnodes == SERIAL_NOBODY - 1 || !GROW(j->first, j->cap_nodes, j->nnodes + 1ull)) {
			j->limit = "memory";
			return SERIAL_NOBODY;
		}
		j->first[j->nnodes] = e->index;
		arrow(j, t->node, j->nnodes);
		t->node = j->nnodes++;
	}
	arrow(j, t->fork, t->node);
	t->fork = SERIAL_NOBODY;
	return t->node;
}

static void one_event(struct serial_judge *j, const struct event *e)
{
	struct verify_thread *t = thread_at(j, e->thread), *u;
	uint32_t node = t ? node_of(j, t, e) : SERIAL_NOBODY;
	if (j->limit)
		return;
	switch (e->kind) {
	case EVENT_READ:
	case EVENT_WRITE:
		if (object_at(j, &j->vars, &j->nvars, e->target))
			on_access(j, &j->vars[e->target], e, node);
		break;
	case EVENT_ACQ:
	case EVENT_REL:
		if (object_at(j, &j->locks, &j->nlocks, e->target))
			on_lock(j, &j->locks[e->target], e, node);
		break;
	case EVENT_FORK:
		if ((u = thread_at(j, e->target)) && u->fork != SERIAL_NOBODY)
			j->limit = "sense: a thread is forked twice";
		else if (u)
			u->fork = node;
		break;
	case EVENT_JOIN:
		if ((u = thread_at(j, e->target)))
			arrow(j, u->node, node);
		break;
	case EVENT_BEGIN:
		t->depth++;
		break;
	case EVENT_END:
		if (t->depth)
			t->depth--;
		break;
	}
}

bool serial_judge_feed(struct serial_judge *j, const struct event *ev, size_t n)
{
	for (size_t i = 0; i < n && !j->limit; i++)
		one_event(j, &ev[i]);
	return !j->limit;
}

/* ---- what is left when nothing leads to it -------------------------------- */

/* Some cycle among the transactions that are left (left[i] > 0: that many arrows lead to i). Each has an arrow from another
 * that is left, so going backwards comes round. */
static uint32_t find_cycle(struct serial_judge *j, const uint32_t *left, uint32_t *back, uint32_t *met)
{
	uint32_t at = 0, n = 0, k;
	for (uint32_t i = 0; i < j->narrows; i++)
		if (left[j->from[i]] && left[j->to[i]])
			back[j->to[i]] = j->from[i];
	while (!left[at])
		at++;
	memset(met, 0, j->nnodes * sizeof *met);
	for (; !met[at]; at = back[at])
		met[at] = 1;
	uint32_t least = k = at;
	do {
		n++;
		least = k < least ? k : least;
	} while ((k = back[k]) != at);
	k = at = back[least]; /* so that the earliest comes first */
	j->cycle = calloc(n, sizeof *j->cycle);
	if (!j->cycle) {
		j->limit = "memory";
		return 0;
	}
	uint32_t i = n;
	do
		j->cycle[--i] = j->first[k];
	while ((k = back[k]) != at);
	return n;
}

struct serial_judged serial_judge_end(struct serial_judge *j)
{
	uint32_t *left = calloc(j->nnodes + 1ull, sizeof *left), *start = calloc(j->nnodes + 2ull, sizeof *start);
	uint32_t *next = calloc(j->narrows + 1ull, sizeof *next), *queue = calloc(j->nnodes + 1ull, sizeof *queue);
	uint32_t head = 0, tail = 0, n = 0;
	if (!left || !start || !next || !queue)
		j->limit = "memory";
	if (!j->limit) {
		for (uint32_t i = 0; i < j->narrows; i++) {
			left[j->to[i]]++;
			start[j->from[i] + 2]++;
		}
		for (uint32_t i = 0; i < j->nnodes; i++)
			start[i + 2] += start[i + 1];
		for (uint32_t i = 0; i < j->narrows; i++)
			next[start[j->from[i] + 1]++] = j->to[i];
		for (uint32_t i = 0; i < j->nnodes; i++)
			if (!left[i])
				queue[tail++] = i;
		for (; head < tail; head++)
			for (uint32_t k = start[queue[head]]; k < start[queue[head] + 1]; k++)
				if (!--left[next[k]])
					queue[tail++] = next[k];
		if (tail < j->nnodes)
			n = find_cycle(j, left, queue, start);
	}
	free(left);
	free(start);
	free(next);
	free(queue);
	return (struct serial_judged){ j->limit, j->cycle, j->limit ? 0 : n };
}
