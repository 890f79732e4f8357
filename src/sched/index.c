/*
 * index: pending operations by object, so that those that may depend on an
 * operation are found without looking at all threads.
 *
 * A thread with an operation on one object hangs in the bucket of that
 * object's 8-byte granule; what has more than one (memory across granules, the
 * condition and mutex of a wait, process exit) hangs in `wide`, which every
 * question looks at. An operation that is wide itself asks every bucket: rare,
 * and then the threads are all it has to look at. Kept only by partial-order
 * sampling with more than INDEX_FROM threads.
 */
#include "sched/session.h"

static uint32_t bucket_of(uint64_t a)
{
	return (uint32_t)((a >> 3) * 0x9e3779b97f4a7c15u >> 56);
}

static bool is_wide(const struct sched_op *op)
{
	return op->b || op->kind == SCHED_PROCESS_EXIT || op->flags & SCHED_MANY || (op->size && (op->a ^ (op->a + op->size - 1)) >> 3);
}

void index_reset(struct sched *s)
{
	s->uses_index = false;
	for (uint32_t i = 0; i < BUCKETS; i++)
		s->bucket[i] = NONE;
	s->wide = NONE;
}

static uint32_t *head_of(struct sched *s, uint32_t bucket)
{
	return bucket == BUCKETS ? &s->wide : &s->bucket[bucket];
}

void index_add(struct sched *s, uint32_t t)
{
	struct thread *x = &s->th[t];
	x->bucket = is_wide(&x->op) ? BUCKETS : bucket_of(x->op.a);
	uint32_t *head = head_of(s, x->bucket);
	x->prev = NONE;
	x->next = *head;
	if (*head != NONE)
		s->th[*head].prev = t;
	*head = t;
}

void index_remove(struct sched *s, uint32_t t)
{
	struct thread *x = &s->th[t];
	if (x->bucket == NONE)
		return;
	if (x->prev == NONE)
		*head_of(s, x->bucket) = x->next;
	else
		s->th[x->prev].next = x->next;
	if (x->next != NONE)
		s->th[x->next].prev = x->prev;
	x->bucket = NONE;
}

uint32_t index_lists(const struct sched *s, const struct sched_op *op, uint32_t *lists)
{
	uint32_t n = 0;
	lists[n++] = s->wide;
	if (!is_wide(op)) {
		lists[n++] = s->bucket[bucket_of(op->a)];
		return n;
	}
	for (uint32_t i = 0; i < BUCKETS; i++)
		if (s->bucket[i] != NONE)
			lists[n++] = s->bucket[i];
	return n;
}
