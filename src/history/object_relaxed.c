/*
 * object_relaxed: queue, stack and priority queue out of order by less than k (Henzinger, Kirsch, Payer, Sezgin, Sokolova:
 * Quantitative relaxation of concurrent data structures, POPL 2013): what is taken off, or looked at, is one of the k that
 * are next. Empty is answered only when nothing is inside. With k = 1 they are the plain ones.
 *
 * Equal elements, and operations that never answered, leave open which element is gone, and a specification answers with one
 * next state: so a state is the set of all contents that agree with what was answered.
 *   [k e1 e2 ...]   one content, what is next to be taken first; k is a small number, so the first word is >= VAL_INT
 *   [s1 s2 ...]     two contents or more, ids of such states, which are < VAL_INT, in the order of what is inside
 * To look at what is inside makes the set smaller. So no operation leaves every state as it is, which FN_PEEK and a
 * FN_DEQ that found nothing promise (hop_observes): these operations have codes of their own.
 *
 * Cost: of an operation, the contents in the set times k times their length.
 */
#include <stdlib.h>

#include "base/invariant.h"
#include "history/spec.h"

enum kind { QUEUE, STACK, HEAP };
enum { TAKE, PEEK, OWN };
_Static_assert(FN_RELAXED_QUEUE_LAST + 1 - FN_RELAXED_QUEUE_FIRST == OWN &&
                       FN_RELAXED_STACK_LAST + 1 - FN_RELAXED_STACK_FIRST == OWN &&
                       FN_RELAXED_PQUEUE_LAST + 1 - FN_RELAXED_PQUEUE_FIRST == OWN,
               "each has the two operations");

/* Contents of the set that is being made. */
struct made {
	uint32_t *id, n, cap;
};

static bool is_content(const struct spec_ctx *c, uint32_t s)
{
	return states_at(c, s)[0] & VAL_INT;
}

static void keep(struct spec_ctx *c, struct made *m, uint32_t id)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->id[i] == id)
			return;
	if (m->n == m->cap) {
		uint32_t cap = m->cap ? 2 * m->cap : 8, *p = realloc(m->id, cap * sizeof *p);
		if (!p) {
			c->failed = true;
			return;
		}
		m->id = p;
		m->cap = cap;
	}
	m->id[m->n++] = id;
}

static bool is_before(const struct spec_ctx *c, uint32_t a, uint32_t b)
{
	const uint32_t *x = states_at(c, a), *y = states_at(c, b);
	uint32_t n = states_len(c, a), m = states_len(c, b), i = 0;
	while (i < n && i < m && x[i] == y[i])
		i++;
	return i < m && (i == n || x[i] < y[i]);
}

/* The state that is these contents. Frees them. */
static uint32_t state_of(struct spec_ctx *c, struct made *m)
{
	uint32_t s = m->n ? m->id[0] : 0;
	if (m->n > 1) {
		for (uint32_t i = 1; i < m->n; i++)
			for (uint32_t k = i; k && is_before(c, m->id[k], m->id[k - 1]); k--) {
				uint32_t t = m->id[k];
				m->id[k] = m->id[k - 1];
				m->id[k - 1] = t;
			}
		assert(!(m->id[0] & VAL_INT));
		s = states_intern(c, m->id, m->n);
	}
	free(m->id);
	return s;
}

/* Where what is put in goes: behind all, before all, or by its size. */
static uint32_t place_of(struct spec_ctx *c, enum kind kind, uint32_t s, val v)
{
	uint32_t at = 1, n = states_len(c, s);
	if (kind == QUEUE)
		return n;
	while (kind == HEAP && at < n && val_compare(c->vals, states_at(c, s)[at], v) < 0)
		at++;
	return at;
}

/* What one content can be after the operation. */
static void from_content(struct spec_ctx *c, enum kind kind, uint32_t s, uint32_t own, const struct hop *op, struct made *m)
{
	int64_t k = 1;
	uint32_t n = states_len(c, s) - 1;
	val_get_int(c->vals, states_at(c, s)[0], &k);
	if (own == OWN) {
		keep(c, m, vec_insert(c, s, place_of(c, kind, s, op->a), op->a));
		return;
	}
	if (!n && (op->b == VAL_NIL || op->b == VAL_NONE))
		keep(c, m, s);
	for (uint32_t at = 1; at <= n && at <= k && !c->failed; at++)
		if (op->b == VAL_NONE || op->b == states_at(c, s)[at])
			keep(c, m, own == TAKE ? vec_remove(c, s, at) : s);
}

static bool relaxed_apply(struct spec_ctx *c, enum kind kind, uint32_t s, uint32_t own, const struct hop *op, uint32_t *next)
{
	struct made m = { 0 };
	*next = s;
	if (is_content(c, s)) {
		from_content(c, kind, s, own, op, &m);
	} else {
		for (uint32_t i = 0; i < states_len(c, s) && !c->failed; i++)
			from_content(c, kind, states_at(c, s)[i], own, op, &m);
	}
	bool any = m.n;
	*next = state_of(c, &m);
	return any && !c->failed;
}

/* TAKE or PEEK, OWN: it puts in. */
static uint32_t own_of(const struct hop *op, uint32_t first, uint32_t puts)
{
	assert(op->fn == puts || op->fn == first + TAKE || op->fn == first + PEEK);
	return op->fn == puts ? OWN : op->fn - first;
}

static bool queue_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	return relaxed_apply(c, QUEUE, s, own_of(op, FN_RELAXED_QUEUE_FIRST, FN_ENQ), op, next);
}
static bool stack_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	return relaxed_apply(c, STACK, s, own_of(op, FN_RELAXED_STACK_FIRST, FN_PUSH), op, next);
}
static bool heap_apply(struct spec_ctx *c, uint32_t s, const struct hop *op, uint32_t *next)
{
	return relaxed_apply(c, HEAP, s, own_of(op, FN_RELAXED_PQUEUE_FIRST, FN_INSERT), op, next);
}

/* What is told first is the oldest; it is the last of a stack to be taken. */
static uint32_t init_of(struct spec_ctx *c, enum kind kind, val init)
{
	uint32_t n = 0;
	const val *e = val_elems(c->vals, init, &n);
	uint32_t s = states_intern(c, e ? e : &init, 1);
	for (uint32_t i = 1; i < n; i++)
		s = vec_insert(c, s, place_of(c, kind, s, e[i]), e[i]);
	return s;
}

static uint32_t queue_init(struct spec_ctx *c, val init)
{
	return init_of(c, QUEUE, init);
}
static uint32_t stack_init(struct spec_ctx *c, val init)
{
	return init_of(c, STACK, init);
}
static uint32_t heap_init(struct spec_ctx *c, val init)
{
	return init_of(c, HEAP, init);
}

static uint32_t relaxed_move(struct spec_ctx *from, uint32_t s, struct spec_ctx *to)
{
	if (is_content(from, s))
		return vec_move(from, s, to);
	struct made m = { 0 };
	for (uint32_t i = 0; i < states_len(from, s) && !to->failed; i++)
		keep(to, &m, vec_move(from, states_at(from, s)[i], to));
	return state_of(to, &m);
}

static void relaxed_print(struct spec_ctx *c, uint32_t s, struct buf *out)
{
	if (is_content(c, s)) {
		spec_print_after_bound(c, s, out);
		return;
	}
	uint32_t n = states_len(c, s);
	for (uint32_t i = 0; i < n; i++) {
		buf_str(out, i ? " or " : "");
		if (i == 4 && n > 5) {
			buf_printf(out, "%u more", n - i);
			return;
		}
		spec_print_after_bound(c, states_at(c, s)[i], out);
	}
}

/* Of a queue or a priority queue: a stack's initial value has the oldest first. */
static bool relaxed_value(struct spec_ctx *c, uint32_t s, struct values *vals, val *v)
{
	return is_content(c, s) && vec_value(c, s, vals, v);
}

static const struct spec queue = { queue_init, queue_apply, relaxed_move, relaxed_print, relaxed_value };
static const struct spec stack = { stack_init, stack_apply, relaxed_move, relaxed_print, NULL };
static const struct spec heap = { heap_init, heap_apply, relaxed_move, relaxed_print, relaxed_value };

#define TAKES(FIRST, word)                                                        \
	{                                                                         \
		.fn = (FIRST) + TAKE, .shape = OP_TAKES, .name = word,            \
		.also = FN_BIT(DEQ) | FN_BIT(POP) | FN_BIT(POLL) | FN_BIT(REMOVE) \
	}
#define PEEKS(FIRST)                                                                          \
	{                                                                                     \
		.fn = (FIRST) + PEEK, .shape = OP_PEEKS, .name = "peek", .also = FN_BIT(PEEK) \
	}

static const struct object_operation queue_ops[] = {
	{ .fn = FN_ENQ, .shape = OP_WRITES, .also = FN_BIT(PUSH) | FN_BIT(INSERT) | FN_BIT(ADD) },
	TAKES(FN_RELAXED_QUEUE_FIRST, "dequeue"),
	PEEKS(FN_RELAXED_QUEUE_FIRST),
	{ 0 },
};
static const struct object_operation stack_ops[] = {
	{ .fn = FN_PUSH, .shape = OP_WRITES, .also = FN_BIT(INSERT) | FN_BIT(ADD) },
	TAKES(FN_RELAXED_STACK_FIRST, "pop"),
	PEEKS(FN_RELAXED_STACK_FIRST),
	{ 0 },
};
static const struct object_operation heap_ops[] = {
	{ .fn = FN_INSERT, .shape = OP_WRITES, .also = FN_BIT(ADD) | FN_BIT(PUSH) | FN_BIT(ENQ) },
	TAKES(FN_RELAXED_PQUEUE_FIRST, "poll"),
	PEEKS(FN_RELAXED_PQUEUE_FIRST),
	{ 0 },
};

const struct object_type object_relaxed_queue = {
	.aliases = "k-queue k-fifo",
	.operations = "enqueue, dequeue and peek (one of the k oldest); nil means empty; --init: k",
	.ops = queue_ops,
	.init = INIT_BOUND,
	.traits = OBJECT_CHOOSES,
	.spec = &queue,
};
const struct object_type object_relaxed_stack = {
	.aliases = "k-stack",
	.operations = "push, pop and peek (one of the k newest); nil means empty; --init: k",
	.ops = stack_ops,
	.init = INIT_BOUND,
	.traits = OBJECT_CHOOSES,
	.spec = &stack,
};
const struct object_type object_relaxed_pqueue = {
	.aliases = "k-priority-queue relaxed-pqueue",
	.operations = "insert, poll and peek (one of the k least); nil means empty; --init: k",
	.ops = heap_ops,
	.init = INIT_BOUND,
	.traits = OBJECT_CHOOSES,
	.spec = &heap,
};
