#include "base/invariant.h"
#include "dynamic/reduction.h"

#define INF         UINT32_MAX
#define REACH_HEADS (1u << 20)
#define RECORDS     (1u << 20)
#define NEIGHBOURS  512u /* cells whose heads are adjacent */
#define FIRST_SIZE  ((size_t)REACH_COLUMNS * REACH_THREADS * sizeof(uint32_t))
_Static_assert(!(REACH_HEADS & (REACH_HEADS - 1)) && REACH_HEADS % NEIGHBOURS == 0, "groups of neighbours fill the heads");

static bool map_tables(struct reach *r)
{
	if (r->access || r->failed)
		return !r->failed;
	r->column = pages_map(REACH_COLUMNS * sizeof *r->column);
	r->first = pages_map(FIRST_SIZE);
	r->low = pages_map(REACH_THREADS * sizeof *r->low);
	r->heads = pages_map(REACH_HEADS * sizeof *r->heads);
	r->access = pages_map(RECORDS * sizeof *r->access);
	if (!r->column || !r->first || !r->low || !r->heads || !r->access)
		reach_free(r);
	r->failed = !r->access;
	r->naccess = r->generation = 1;
	return !r->failed;
}

void reach_free(struct reach *r)
{
	if (r->column)
		pages_unmap(r->column, REACH_COLUMNS * sizeof *r->column);
	if (r->first)
		pages_unmap(r->first, FIRST_SIZE);
	if (r->low)
		pages_unmap(r->low, REACH_THREADS * sizeof *r->low);
	if (r->heads)
		pages_unmap(r->heads, REACH_HEADS * sizeof *r->heads);
	if (r->access)
		pages_unmap(r->access, RECORDS * sizeof *r->access);
	*r = (struct reach){ .whole = r->whole & (REACH_WHOLE | REACH_READS) };
}

/* ---- columns ------------------------------------------------------------ */

static uint32_t *row(const struct reach *r, uint32_t k)
{
	assert(k < REACH_COLUMNS);
	return r->first + (size_t)k * REACH_THREADS;
}

static void set_first(struct reach *r, uint32_t k, uint32_t tid, uint32_t epoch)
{
	assert(tid < r->nthreads && r->nthreads <= REACH_THREADS);
	row(r, k)[tid] = epoch;
	if (r->low[tid] > epoch)
		r->low[tid] = epoch;
}

/* Slots never seen before are not reached. */
static bool see_thread(struct reach *r, uint32_t tid)
{
	if (tid >= REACH_THREADS)
		return false;
	for (; r->nthreads <= tid; r->nthreads++) {
		r->low[r->nthreads] = INF;
		for (uint32_t k = 0; k < r->ncolumns; k++)
			row(r, k)[r->nthreads] = INF;
	}
	return true;
}

/* Column k begins now, with nothing reached but itself. */
static void begin_column(struct reach *r, uint32_t k, const struct thread *t, bool inner)
{
	assert(t->tid && t->tid < r->nthreads);
	for (uint32_t i = 0; i < r->nthreads; i++)
		row(r, k)[i] = INF;
	r->column[k] = (struct reach_column){ .tid = t->tid, .begin = t->acc.epoch, .inner = inner };
	set_first(r, k, t->tid, t->acc.epoch);
}

static void set_open(struct reach *r, uint32_t n)
{
	__atomic_store_n(&r->open, n, __ATOMIC_RELAXED);
	__atomic_store_n(&r->whole, (r->whole & (REACH_WHOLE | REACH_READS)) | n, __ATOMIC_RELAXED);
}

static void close_column(struct reach *r, uint32_t k)
{
	assert(k < r->ncolumns && r->column[k].tid && r->open);
	r->column[k].tid = 0;
	set_open(r, r->open - 1);
	while (r->ncolumns && !r->column[r->ncolumns - 1].tid)
		r->ncolumns--;
	if (r->open)
		return;
	/* Nothing can be reached: forget all. */
	for (uint32_t i = 0; i < r->nthreads; i++)
		r->low[i] = INF;
	r->naccess = 1;
	if (!++r->generation) {
		pages_clear(r->heads, REACH_HEADS * sizeof *r->heads);
		r->generation = 1;
	}
}

static void trim(struct reach *r, struct thread *t)
{
	assert(t->nmarks <= RED_MARKS && t->ncolumns <= RED_MARKS);
	for (; t->ncolumns > t->nmarks; t->ncolumns--) {
		struct mark *m = &t->marks[t->ncolumns - 1];
		if (m->column && r->column[m->column - 1].tid == t->tid)
			close_column(r, m->column - 1);
		m->column = 0;
	}
}

void reach_trim(struct thread *t)
{
	struct reach *r = t->reach;
	if (!r || t->ncolumns <= t->nmarks)
		return;
	spin_lock(&r->spin);
	trim(r, t);
	spin_unlock(&r->spin);
}

void reach_restart(struct thread *t, uint32_t marks)
{
	struct reach *r = t->reach;
	if (!r || !t->ncolumns)
		return;
	spin_lock(&r->spin);
	trim(r, t);
	red_tick(t);
	for (uint32_t i = 0; i < t->ncolumns; i++)
		if (t->marks[i].column && marks >> i & 1)
			begin_column(r, t->marks[i].column - 1, t, i > 0);
	spin_unlock(&r->spin);
}

void reach_forked(struct reach *r, uint32_t tid)
{
	r->spin.held = 0;
	for (uint32_t k = r->ncolumns; k--;)
		if (r->column[k].tid && r->column[k].tid != tid)
			close_column(r, k);
}

/* ---- links -------------------------------------------------------------- */

/* The transaction of the thread now, to others: its outermost block, or 0. */
static uint32_t outermost(const struct thread *t)
{
	return t->ncolumns ? t->marks[0].column : 0;
}

static uint32_t level_of(const struct thread *t, uint32_t k)
{
	for (uint32_t i = t->ncolumns; i; i--)
		if (t->marks[i - 1].column == k + 1)
			return i;
	return 0;
}

/* Block k reaches the thread's current transaction from here on. */
static void reach_here(struct reach *r, uint32_t k, const struct thread *t, uint32_t at, uint32_t block)
{
	set_first(r, k, t->tid, at);
	for (uint32_t i = 0; block && i < r->nthreads; i++)
		if (row(r, k)[i] > row(r, block - 1)[i])
			set_first(r, k, i, row(r, block - 1)[i]);
}

/* Epoch `epoch` of thread `from` comes before what thread t does now. The
 * source is known (or not) as `a`. */
static void link_to(struct reach *r, struct thread *t, uint32_t from, uint32_t epoch, const struct reach_access *a,
                    struct reach_cycle *out)
{
	uint32_t block = outermost(t);
	uint32_t at = block ? r->column[block - 1].begin : t->acc.epoch;
	bool news = false, tick = false;
	if (from >= r->nthreads || epoch < r->low[from])
		return;
	for (uint32_t k = 0; k < r->ncolumns; k++) {
		struct reach_column *c = &r->column[k];
		if (!c->tid || row(r, k)[from] > epoch)
			continue;
		if (c->tid == from && !c->out && a && a->mask) {
			c->out = a->stack;
			c->out_op = a->op;
			c->out_at = a->cell & REACH_LOCK ? REACH_LOCK | (uint32_t)a->cell
			                                 : a->cell << 3 | (unsigned)__builtin_ctz(a->mask);
		}
		uint32_t level = c->tid == t->tid ? level_of(t, k) : 0;
		if (level > out->level)
			*out = (struct reach_cycle){ level,     a ? a->uid : 0, a ? a->stack : 0, c->out,
				                     c->out_at, c->out_op,      a ? a->op : 0 };
		if (c->tid == t->tid || row(r, k)[t->tid] <= (c->inner ? t->acc.epoch : at))
			continue;
		news = true;
		tick |= c->inner || !block;
	}
	if (!news)
		return;
	if (tick) /* what it did before in this epoch is not reached */
		red_tick(t);
	if (!block)
		at = t->acc.epoch;
	for (uint32_t k = 0; k < r->ncolumns; k++) {
		struct reach_column *c = &r->column[k];
		if (!c->tid || c->tid == t->tid || row(r, k)[from] > epoch)
			continue;
		if (c->inner && row(r, k)[t->tid] > t->acc.epoch)
			set_first(r, k, t->tid, t->acc.epoch);
		else if (!c->inner && row(r, k)[t->tid] > at)
			reach_here(r, k, t, at, block);
	}
}

static __attribute__((noinline)) void link_first(struct reach *r, struct thread *t, struct reach_cycle *out)
{
	uint32_t from = t->fork_tid;
	struct reach_access a = { .uid = t->parent, .stack = t->created, .op = OP_ENTER, .mask = t->created ? 1 : 0 };
	t->fork_tid = 0;
	link_to(r, t, from, t->fork_epoch, &a, out);
}

/* The fork comes before the thread's first event, not before it has one. */
static inline void link_fork(struct reach *r, struct thread *t, struct reach_cycle *out)
{
	if (t->fork_tid)
		link_first(r, t, out);
}

void reach_open(struct thread *t)
{
	assert(t->nmarks >= 1 && t->nmarks <= RED_MARKS);
	struct reach *r = t->reach;
	struct mark *m = &t->marks[t->nmarks - 1];
	uint32_t k = 0;
	if (!r)
		return;
	spin_lock(&r->spin);
	if (map_tables(r) && see_thread(r, t->tid)) {
		while (k < REACH_COLUMNS && r->column[k].tid)
			k++;
		if (k < REACH_COLUMNS) {
			if (k >= r->ncolumns)
				r->ncolumns = k + 1;
			begin_column(r, k, t, t->nmarks > 1);
			m->column = k + 1;
			set_open(r, r->open + 1);
			t->ncolumns = t->nmarks;
			struct reach_cycle none = { 0 }; /* it has reached nothing yet */
			link_fork(r, t, &none);
		}
	}
	t->ncolumns = t->nmarks;
	spin_unlock(&r->spin);
}

/* ---- accesses ----------------------------------------------------------- */

static uint64_t *head_of(struct reach *r, uint64_t cell)
{
	assert(r->heads);
	uint64_t group = mix64(cell / NEIGHBOURS) % (REACH_HEADS / NEIGHBOURS);
	return &r->heads[group * NEIGHBOURS + cell % NEIGHBOURS];
}

static uint32_t chain(const struct reach *r, const uint64_t *head)
{
	return *head >> 32 == r->generation ? (uint32_t)*head : 0;
}

/* Keeps the access; what it makes unimportant goes. */
static void keep(struct reach *r, const struct reach_access *now, bool write)
{
	uint64_t *head = head_of(r, now->cell);
	uint32_t free = 0;
	for (uint32_t i = chain(r, head); i; i = r->access[i].next) {
		struct reach_access *a = &r->access[i];
		if (a->cell != now->cell)
			continue;
		bool a_write = a->op != OP_READ;
		if (write || (a->tid == now->tid && !a_write))
			a->mask &= (uint8_t)~now->mask;
		if (a->mask && a->tid == now->tid && a->epoch == now->epoch && a_write == write && a->stack == now->stack) {
			a->mask |= now->mask;
			return;
		}
		if (!a->mask)
			free = i;
	}
	if (!free) {
		if (r->naccess == RECORDS)
			return; /* full: what comes from here is not seen */
		free = r->naccess++;
		r->access[free] = *now;
		r->access[free].next = chain(r, head);
		*head = (uint64_t)r->generation << 32 | free;
		return;
	}
	uint32_t next = r->access[free].next;
	r->access[free] = *now;
	r->access[free].next = next;
}

/* In the table an access is a write unless its operation is OP_READ. */
static bool touch(struct thread *t, struct reach_access *now, bool write, struct reach_cycle *out)
{
	struct reach *r = t->reach;
	out->level = 0;
	spin_lock(&r->spin);
	trim(r, t);
	if (!r->open || !see_thread(r, t->tid)) {
		spin_unlock(&r->spin);
		return false;
	}
	link_fork(r, t, out);
	unsigned known = 0;
	for (uint32_t i = chain(r, head_of(r, now->cell)); i; i = r->access[i].next)
		if (r->access[i].cell == now->cell && r->access[i].tid == t->tid && r->access[i].op == OP_READ)
			known |= r->access[i].mask; /* the last write came before that */
	for (uint32_t i = chain(r, head_of(r, now->cell)); i; i = r->access[i].next) {
		const struct reach_access *a = &r->access[i];
		if (a->cell == now->cell && a->tid != t->tid &&
		    (a->op == OP_READ ? write && a->mask & now->mask : a->mask & now->mask & ~known))
			link_to(r, t, a->tid, a->epoch, a, out);
	}
	now->tid = (uint16_t)t->tid;
	now->uid = t->uid;
	now->epoch = t->acc.epoch;
	/* Outside of blocks, and reached by none: none will ever reach it, as a thread
	 * that is begins a new epoch. Nor is what it overwrites reached, or it were. */
	if (t->ncolumns || r->low[t->tid] <= t->acc.epoch)
		keep(r, now, write);
	spin_unlock(&r->spin);
	return out->level != 0;
}

bool reach_data(struct thread *t, uintptr_t addr, unsigned mask, uint8_t op, bool write, uint32_t stack, struct reach_cycle *out)
{
	assert(mask && mask <= 0xff && op < OP_KINDS);
	struct reach_access a = { .cell = (uint64_t)addr >> 3, .mask = (uint8_t)mask, .stack = stack, .op = write ? op : OP_READ };
	return touch(t, &a, write, out);
}

/* Objects that live at one address after the other are different ones. */
bool reach_lock(struct thread *t, uint32_t lock, uint32_t life, uint8_t op, bool write, uint32_t stack, struct reach_cycle *out)
{
	assert(lock && op < OP_KINDS);
	struct reach_access a = { .cell = REACH_LOCK | (uint64_t)(life & 0x7fffffff) << 32 | lock,
		                  .mask = 0xff,
		                  .stack = stack,
		                  .op = write ? op : OP_READ };
	return touch(t, &a, write, out);
}

void reach_begin(struct thread *parent, struct thread *child)
{
	struct reach *r = child->reach;
	if (!r || !r->open)
		return;
	spin_lock(&r->spin);
	if (r->open && see_thread(r, child->tid)) {
		/* Another thread had the slot. */
		for (uint32_t k = 0; k < r->ncolumns; k++)
			row(r, k)[child->tid] = INF;
		if (parent) {
			trim(r, parent);
			if (see_thread(r, parent->tid)) {
				struct reach_cycle none = { 0 };
				link_fork(r, parent, &none);
				child->fork_tid = parent->tid;
				child->fork_epoch = parent->acc.epoch;
			}
		}
	}
	spin_unlock(&r->spin);
}

struct reach_cycle reach_join(struct thread *t, const struct thread *other)
{
	struct reach *r = t->reach;
	struct reach_cycle out = { 0 };
	struct reach_access a = { .uid = other->uid };
	if (!r || !r->open)
		return out;
	spin_lock(&r->spin);
	trim(r, t);
	if (r->open && see_thread(r, t->tid)) {
		link_fork(r, t, &out);
		if (!other->fork_tid) /* else it did nothing */
			link_to(r, t, other->tid, other->acc.epoch, &a, &out);
	}
	spin_unlock(&r->spin);
	return out;
}

void reach_forget(struct reach *r, uintptr_t addr, size_t size)
{
	uint64_t from = ((uint64_t)addr + 7) >> 3, to = ((uint64_t)addr + size) >> 3;
	if (!r->open || to <= from)
		return;
	spin_lock(&r->spin);
	if (to - from > r->naccess) {
		for (uint32_t i = 1; i < r->naccess; i++)
			if (r->access[i].cell - from < to - from)
				r->access[i].mask = 0;
	} else {
		for (uint64_t cell = from; cell < to; cell++)
			for (uint32_t i = chain(r, head_of(r, cell)); i; i = r->access[i].next)
				if (r->access[i].cell == cell)
					r->access[i].mask = 0;
	}
	spin_unlock(&r->spin);
}
