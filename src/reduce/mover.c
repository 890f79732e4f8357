#include "reduce/mover.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum { PAIRS_MAX = 1 << 20 };

#define READS  (IRA_READ | IRA_READ_INV | IRA_READ_RESP)
#define WRITES (IRA_WRITE | IRA_WRITE_INV | IRA_WRITE_RESP)

struct mover_entry {
	struct group g;
	uint32_t *to; /* where the id of its group goes */
};

static int order(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *pa, const void *pb)
{
	const struct group *a = &((const struct mover_entry *)pa)->g, *b = &((const struct mover_entry *)pb)->g;
	int c = order(a->var, b->var);
	c = c ? c : order(a->elem, b->elem);
	c = c ? c : order(a->set, b->set);
	c = c ? c : order(a->thread, b->thread);
	c = c ? c : order(a->write, b->write);
	return c;
}

static int compare_whole(const void *pa, const void *pb)
{
	const struct group *a = &((const struct mover_entry *)pa)->g, *b = &((const struct mover_entry *)pb)->g;
	int c = compare(pa, pb);
	return c ? c : order(a->access, b->access);
}

/* One entry for each shared access of each node that can be reached. */
static uint32_t collect(const struct flow *f, bool any, struct mover_entry *out, uint32_t *group_of)
{
	const struct ir *p = f->ir;
	uint32_t n = 0;
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		bool single = !any && tm->count == 1 && !tm->any_count;
		for (uint32_t id = tm->node; id < tm->node + tm->nnode; id++) {
			const struct ir_node *nd = &p->nodes[id];
			if (f->set[id] == FLOW_UNREACHED)
				continue;
			for (uint32_t k = nd->access; k < nd->access + nd->naccess; k++) {
				const struct ir_access *a = &p->accesses[k];
				if (!(a->mode & (READS | WRITES)))
					continue;
				out[n++] = (struct mover_entry){ { a->var, p->vars[a->var].is_array ? a->index : 0, f->set[id],
					                           single ? t : IR_NONE, (a->mode & WRITES) != 0, k, id, IR_NONE },
					                         &group_of[k] };
			}
		}
	}
	assert(n <= p->naccesses);
	return n;
}

static void make_groups(struct movers *m, struct mover_entry *e, uint32_t n, struct arena *a)
{
	qsort(e, n, sizeof *e, compare_whole);
	m->groups = arena_array(a, struct group, n + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || compare(&e[i - 1], &e[i])) {
			assert(m->ngroups <= i);
			m->groups[m->ngroups++] = e[i].g;
		}
		*e[i].to = m->ngroups - 1;
	}
}

static bool in_conflict(const struct flow *f, const struct group *a, const struct group *b)
{
	assert(a->var == b->var);
	if (!a->write && !b->write)
		return false;
	if (a->elem != b->elem && a->elem != IR_NONE && b->elem != IR_NONE)
		return false;
	if (a->thread != IR_NONE && a->thread == b->thread)
		return false;
	return held_locks_disjoint(&f->sets, a->set, b->set);
}

/* Prefers a write as the one to blame. */
static void note(struct movers *m, uint32_t g, uint32_t other)
{
	assert(g < m->ngroups && other < m->ngroups);
	uint32_t *c = &m->groups[g].conflict;
	if (*c == IR_NONE || (!m->groups[*c].write && m->groups[other].write))
		*c = other;
}

/* Groups first .. last - 1 are those of one variable. */
static void compare_groups(struct movers *m, struct flow *f, uint32_t first, uint32_t last)
{
	assert(first < last && last <= m->ngroups && m->groups[first].var == m->groups[last - 1].var);
	uint64_t n = last - first;
	if (n * n <= PAIRS_MAX) {
		for (uint32_t i = first; i < last; i++)
			for (uint32_t j = i; j < last; j++)
				if (in_conflict(f, &m->groups[i], &m->groups[j])) {
					note(m, i, j);
					note(m, j, i);
				}
		return;
	}
	/* too many: sound and coarse. A group has no conflict when all groups
	 * that overlap its element (all of them, to be quick) share a lock. */
	uint32_t common = m->groups[first].set, writer = IR_NONE;
	bool many = false;
	for (uint32_t i = first; i < last; i++) {
		common = held_locks_meet(&f->sets, common, m->groups[i].set);
		if (m->groups[i].write)
			writer = i;
		many |= m->groups[i].thread == IR_NONE || m->groups[i].thread != m->groups[first].thread;
	}
	for (uint32_t i = first; i < last && common == HELD_LOCKS_NONE && writer != IR_NONE && many; i++)
		m->groups[i].conflict = writer;
}

/* Is it a lock that is read only by attempts to take it? */
static bool is_hand_lock(const struct flow *f, uint32_t var)
{
	return (f->hand[var] & (HAND_LOCK | HAND_OBSERVED | HAND_TAKEN)) == (HAND_LOCK | HAND_TAKEN);
}

static void classify(struct movers *m, const struct flow *f, uint32_t id, const uint32_t *group_of)
{
	const struct ir_node *n = &f->ir->nodes[id];
	bool takes = false, frees = false;
	m->cause[id] = m->lock[id] = IR_NONE;
	for (uint32_t k = n->access; k < n->access + n->naccess; k++) {
		const struct ir_access *a = &f->ir->accesses[k];
		takes |= a->mode == IRA_ACQUIRE;
		frees |= a->mode == IRA_RELEASE;
		if (!(a->mode & (READS | WRITES)) || m->groups[group_of[k]].conflict == IR_NONE)
			continue;
		if (f->focus[id] == a->var && is_hand_lock(f, a->var)) {
			struct outcome e;
			uint32_t i = 0;
			while (flow_edge(f, id, &i, &e)) {
				takes |= e.before == 0 && e.after == 1;
				frees |= e.before == 1 && e.after == 0;
				if (e.before != e.after || f->waits[id] != IR_NONE)
					m->lock[id] = a->var;
			}
			continue;
		}
		assert(group_of[k] < m->ngroups && m->groups[group_of[k]].var == a->var);
		m->mover[id] = MOVER_NON;
		if (m->cause[id] == IR_NONE)
			m->cause[id] = group_of[k];
	}
	if (m->mover[id] == MOVER_NON)
		return;
	m->mover[id] = takes && frees ? MOVER_NON : takes ? MOVER_RIGHT : frees ? MOVER_LEFT : MOVER_BOTH;
}

enum reduce_mover mover_of(const struct movers *m, const struct flow *f, uint32_t node, uint32_t block)
{
	assert(node < f->ir->nnodes && m->mover[node] <= MOVER_NON);
	assert(m->lock[node] == IR_NONE || f->hand[m->lock[node]] & HAND_LOCK);
	uint32_t who;
	if (m->lock[node] != IR_NONE && !flow_private(f, m->lock[node], block, &who))
		return MOVER_NON;
	return (enum reduce_mover)m->mover[node];
}

void movers_find(struct movers *m, struct flow *f, bool any, struct arena *a)
{
	const struct ir *p = f->ir;
	memset(m, 0, sizeof *m);
	uint32_t *group_of = arena_array(a, uint32_t, p->naccesses + 1);
	struct mover_entry *e = arena_array(a, struct mover_entry, p->naccesses + 1);
	uint32_t n = collect(f, any, e, group_of);
	make_groups(m, e, n, a);
	for (uint32_t i = 0, j; i < m->ngroups; i = j) {
		for (j = i; j < m->ngroups && m->groups[j].var == m->groups[i].var;)
			j++;
		compare_groups(m, f, i, j);
	}
	m->mover = arena_array(a, uint8_t, p->nnodes + 1);
	m->cause = arena_array(a, uint32_t, p->nnodes + 1);
	m->lock = arena_array(a, uint32_t, p->nnodes + 1);
	for (uint32_t id = 0; id < p->nnodes; id++)
		if (f->set[id] != FLOW_UNREACHED)
			classify(m, f, id, group_of);
}
