/*
 * op: dependence of operations and their names. The reasons are in op.h.
 *
 * A kind belongs to a class; two operations are compared by class. Memory goes
 * by ranges, everything else by object ids; an operation with two objects
 * (cond wait and wake: condition and mutex) is dependent if either part is.
 */
#include "sched/op.h"

#include "base/invariant.h"

enum class {
	C_LOCAL, /* depends on nothing */
	C_ALL,   /* depends on everything */
	C_READ,
	C_WRITE,
	C_MUTEX,
	C_RD, /* a reader's operation on a rwlock */
	C_WR,
	C_WAIT,   /* joins the waiters of a condition or futex */
	C_SIGNAL, /* takes from the waiters */
	C_WAKE,   /* has left the waiters, or may leave by itself if timed */
	C_POST,
	C_SEM,
	C_VALUE,
	C_ARRIVE,
	C_ONCE,
	C_THREAD, /* exit and tryjoin of thread a */
	C_OBJECT, /* init and destroy: depends on everything on its object */
	C_FREE,   /* depends on everything in its range */
};

static const struct {
	const char *name;
	uint8_t class;
} kinds[SCHED_KINDS] = {
	[SCHED_NONE] = { "none", C_LOCAL },
	[SCHED_START] = { "start", C_LOCAL },
	[SCHED_CREATE] = { "create", C_LOCAL },
	[SCHED_JOIN] = { "join", C_LOCAL },
	[SCHED_TRYJOIN] = { "tryjoin", C_THREAD },
	[SCHED_EXIT] = { "exit", C_THREAD },
	[SCHED_PROCESS_EXIT] = { "process-exit", C_ALL },
	[SCHED_READ] = { "read", C_READ },
	[SCHED_WRITE] = { "write", C_WRITE },
	[SCHED_LOAD] = { "load", C_READ },
	[SCHED_STORE] = { "store", C_WRITE },
	[SCHED_FLUSH] = { "flush", C_WRITE },
	[SCHED_RMW] = { "rmw", C_WRITE },
	[SCHED_FENCE] = { "fence", C_LOCAL },
	[SCHED_FENCE_SC] = { "fence-sc", C_LOCAL },
	[SCHED_BUFFER] = { "buffer", C_LOCAL },
	[SCHED_DRAIN] = { "drain", C_LOCAL },
	[SCHED_LOCK] = { "lock", C_MUTEX },
	[SCHED_TRYLOCK] = { "trylock", C_MUTEX },
	[SCHED_UNLOCK] = { "unlock", C_MUTEX },
	[SCHED_RDLOCK] = { "rdlock", C_RD },
	[SCHED_WRLOCK] = { "wrlock", C_WR },
	[SCHED_TRYRD] = { "tryrdlock", C_RD },
	[SCHED_TRYWR] = { "trywrlock", C_WR },
	[SCHED_RDUNLOCK] = { "rdunlock", C_RD },
	[SCHED_WRUNLOCK] = { "wrunlock", C_WR },
	[SCHED_COND_WAIT] = { "cond-wait", C_WAIT },
	[SCHED_COND_WAKE] = { "cond-wake", C_WAKE },
	[SCHED_COND_SIGNAL] = { "cond-signal", C_SIGNAL },
	[SCHED_COND_BROADCAST] = { "cond-broadcast", C_SIGNAL },
	[SCHED_SEM_WAIT] = { "sem-wait", C_SEM },
	[SCHED_SEM_TRY] = { "sem-trywait", C_SEM },
	[SCHED_SEM_POST] = { "sem-post", C_POST },
	[SCHED_SEM_VALUE] = { "sem-value", C_VALUE },
	[SCHED_BARRIER_ARRIVE] = { "barrier-arrive", C_ARRIVE },
	[SCHED_BARRIER_LEAVE] = { "barrier-leave", C_LOCAL },
	[SCHED_ONCE] = { "once", C_ONCE },
	[SCHED_ONCE_END] = { "once-end", C_ONCE },
	[SCHED_FUTEX_WAIT] = { "futex-wait", C_WAIT },
	[SCHED_FUTEX_WOKEN] = { "futex-woken", C_WAKE },
	[SCHED_FUTEX_WAKE] = { "futex-wake", C_SIGNAL },
	[SCHED_INIT] = { "init", C_OBJECT },
	[SCHED_DESTROY] = { "destroy", C_OBJECT },
	[SCHED_FREE] = { "free", C_FREE },
	[SCHED_YIELD] = { "yield", C_LOCAL },
	[SCHED_SLEEP] = { "sleep", C_LOCAL },
	[SCHED_CHOICE] = { "choice", C_LOCAL },
	[SCHED_INVOKE] = { "invoke", C_LOCAL },
};

static bool overlap(const struct sched_op *x, const struct sched_op *y)
{
	assert(x->a + x->size >= x->a && y->a + y->size >= y->a);
	return x->a < y->a + y->size && y->a < x->a + x->size;
}

/* An operation of class p in the memory that y frees. */
static bool in_freed(const struct sched_op *x, enum class p, const struct sched_op *y)
{
	if (p <= C_WRITE || p == C_FREE)
		return overlap(x, y);
	return p != C_THREAD && (x->a - y->a < y->size || (x->b && x->b - y->a < y->size));
}

/* A read, and the flush of a store of the same thread. */
static bool own(const struct sched_op *read, const struct sched_op *write)
{
	return read->flags & write->flags & SCHED_OWN && write->kind == SCHED_FLUSH && read->order == write->order;
}

static bool leaves_by_itself(const struct sched_op *x)
{
	return x->flags & (SCHED_TIMED | SCHED_SPURIOUS);
}

/* The same object a, classes p <= q. */
static bool same_object(const struct sched_op *x, const struct sched_op *y, enum class p, enum class q)
{
	if (q == C_OBJECT)
		return true;
	switch (p) {
	case C_RD:
		return q != C_RD;
	case C_WAIT:
		return q == C_SIGNAL;
	case C_SIGNAL:
		return q == C_SIGNAL || (q == C_WAKE && leaves_by_itself(y));
	case C_WAKE:
		return false;
	case C_POST:
		return q != C_POST;
	case C_VALUE:
		return false;
	case C_SEM:
		return true;
	case C_ARRIVE:
		return !(x->flags & y->flags & SCHED_COMMUTES);
	case C_ONCE:
		return !(x->flags & y->flags & SCHED_PASSED);
	default:
		return true;
	}
}

bool sched_op_dependent(const struct sched_op *x, const struct sched_op *y)
{
	assert(x->kind < SCHED_KINDS && y->kind < SCHED_KINDS);
	enum class p = kinds[x->kind].class, q = kinds[y->kind].class;
	if (p > q) {
		const struct sched_op *z = x;
		enum class r = p;
		x = y, y = z, p = q, q = r;
	}
	if (p == C_ALL || q == C_ALL)
		return true;
	if (p == C_LOCAL)
		return (x->kind == SCHED_FENCE_SC || y->kind == SCHED_FENCE_SC) && x->flags & y->flags & SCHED_SEQ_CST;
	if ((x->flags | y->flags) & SCHED_MANY && q != C_THREAD)
		return true;
	if (q == C_FREE)
		return in_freed(x, p, y);
	if (p <= C_WRITE) {
		/* a futex wait reads its word */
		if (q <= C_WRITE)
			return q == C_WRITE && overlap(x, y) && !(p == C_READ && own(x, y));
		return p == C_WRITE && y->kind == SCHED_FUTEX_WAIT && overlap(x, y);
	}
	if (x->a == y->a && same_object(x, y, p, q))
		return true;
	if (q == C_OBJECT)
		return x->b && x->b == y->a;
	/* the mutex of a cond wait or wake: b; of lock, try, unlock: a */
	uint64_t m = p == C_MUTEX ? x->a : x->b, k = q == C_MUTEX ? y->a : y->b;
	return m && m == k && (x->b || y->b);
}

const char *sched_kind_name(uint8_t kind)
{
	return kind < SCHED_KINDS ? kinds[kind].name : "?";
}

uint8_t sched_kind_of(const char *name, uint32_t len)
{
	for (unsigned k = 0; k < SCHED_KINDS; k++) {
		uint32_t i = 0;
		while (i < len && kinds[k].name[i] == name[i] && name[i])
			i++;
		if (i == len && !kinds[k].name[i])
			return (uint8_t)k;
	}
	return SCHED_NONE;
}
