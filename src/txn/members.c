/* members: see members.h. */
#include "txn/members.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define AMOUNT_MAX  ((int64_t)1 << 40)
#define COUNT_CELLS ((int64_t)1 << 20) /* of one count of sums */
#define COUNT_WORK  ((int64_t)1 << 30) /* of all of them */
#define MEMBERS_MAX (1u << 27)         /* expanded micro-operations */

enum { NO_KIND, KIND_REGISTER, KIND_LIST, KIND_SET, KIND_COUNTER };

struct expander {
	struct txn_history *th;
	struct txn_members *s;
	struct diags *d;
	struct arena *a;
	uint8_t *kind;      /* by key */
	uint32_t *stamp;    /* by member: read + 1 that holds it */
	uint32_t *writer;   /* by member of a counter: its transaction; of a set: 0 */
	uint32_t *sorted;   /* members of counters, by counter and time */
	uint32_t *of_first; /* by counter: its slice of `sorted` */
	struct map element; /* (set, element) -> member */
	val added;
	uint32_t reads;
	uint32_t *list; /* scratch of choose */
	uint8_t *count; /* ... of count_sums */
	int64_t work;
};

static bool mistake(struct expander *x, uint32_t t, uint32_t key, const char *what, const char *hint)
{
	struct buf name;
	buf_init(&name);
	val_print(&x->th->h->vals, x->th->h->keys.data[key], &name);
	diag_error(x->d, "mixed-key", x->th->h->show_line ? x->th->h->show_line(x->th->h, x->th->txns[t].line) : NULL,
	           (struct span){ 0, 0 }, "key %s %s", buf_cstr(&name), what);
	diag_hint(x->d, "%s", hint);
	buf_free(&name);
	return false;
}

/* ---- which members there are ---------------------------------------------------------------------- */

static uint32_t new_member(struct expander *x, uint32_t key, val v, bool counter)
{
	struct txn_members *s = x->s;
	assert(key < s->first);
	struct txn_member e = { key, s->head[key], v, counter };
	avec_push(x->a, &s->members, e);
	s->head[key] = s->members.len;
	return s->members.len - 1;
}

/* By micro-operation of the text: the member that it adds. */
static bool find_members(struct expander *x, uint32_t *member)
{
	const struct txn_history *th = x->th;
	for (uint32_t t = 0; t < th->n; t++)
		for (uint32_t i = th->txns[t].first; i < th->txns[t].first + th->txns[t].nops; i++) {
			const struct mop *m = &th->ops[i];
			static const uint8_t kinds[] = { NO_KIND, KIND_REGISTER, KIND_LIST, KIND_SET, KIND_COUNTER };
			uint8_t kind = kinds[m->kind];
			int64_t n;
			if (kind != NO_KIND && x->kind[m->key] != NO_KIND && x->kind[m->key] != kind)
				return mistake(x, t, m->key, "is used in two ways",
				               "a key is a register (w), a list (append), a set (add) or a counter (inc)");
			if (kind != NO_KIND)
				x->kind[m->key] = kind;
			if (kind == KIND_COUNTER) {
				if (!val_get_int(&th->h->vals, m->v, &n) || n > AMOUNT_MAX || n < -AMOUNT_MAX)
					return mistake(
						x, t, m->key, "is incremented by something that is no whole number below 2^40",
						"[:inc x 1] adds 1 to the counter x; [:add x 1] puts the element 1 into the set x");
				member[i] = new_member(x, m->key, m->v, true);
			} else if (kind == KIND_SET) {
				uint32_t id = x->s->members.len, got = id;
				if (!map_intern(&x->element, (uint64_t)m->key << 32 | m->v, &got))
					longjmp(*x->a->oom, 1);
				member[i] = got == id ? new_member(x, m->key, m->v, false) : got;
			}
		}
	return true;
}

struct timed_member {
	uint64_t time;
	uint32_t member;
};

static int by_time(const void *a, const void *b)
{
	const struct timed_member *x = a, *y = b;
	return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->member < y->member ? -1 : x->member > y->member;
}

/* Increments that did not abort, by counter, in the order in which they may have taken effect. */
static void sort_increments(struct expander *x, const uint32_t *member)
{
	const struct txn_history *th = x->th;
	uint32_t nkeys = x->s->first, n = x->s->members.len, at = 0;
	struct timed_member *list = arena_array(x->a, struct timed_member, (size_t)n + 1);
	uint64_t *time = arena_array(x->a, uint64_t, (size_t)n + 1);
	x->writer = arena_array(x->a, uint32_t, n + 1);
	x->sorted = arena_array(x->a, uint32_t, n + 1);
	x->list = arena_array(x->a, uint32_t, n + 1);
	x->of_first = arena_array(x->a, uint32_t, nkeys + 1);
	for (uint32_t t = 0; t < th->n; t++)
		for (uint32_t i = th->txns[t].first; i < th->txns[t].first + th->txns[t].nops; i++)
			if (th->ops[i].kind == MOP_INC) {
				const struct txn *y = &th->txns[t];
				x->writer[member[i]] = t;
				/* those of unknown fate last: they may not have taken effect */
				time[member[i]] = y->status == TXN_COMMITTED
				                          ? (th->realtime ? (uint64_t)y->call + y->ret : 2 * (uint64_t)t)
				                          : (UINT64_C(1) << 40) + t;
			}
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t m = 0;
		x->of_first[k] = at;
		for (uint32_t e = x->kind[k] == KIND_COUNTER ? x->s->head[k] : 0; e; e = x->s->members.data[e - 1].next)
			if (th->txns[x->writer[e - 1]].status != TXN_ABORTED)
				list[m++] = (struct timed_member){ time[e - 1], e - 1 };
		qsort(list, m, sizeof *list, by_time);
		for (uint32_t i = 0; i < m; i++)
			x->sorted[at++] = list[i].member;
	}
	x->of_first[nkeys] = at;
	assert(at <= n);
}

/* ---- which increments a read saw -------------------------------------------------------------------- */

static int64_t amount(const struct expander *x, uint32_t member)
{
	int64_t n = 0;
	assert(member < x->s->members.len && x->s->members.data[member].counter);
	val_get_int(&x->th->h->vals, x->s->members.data[member].v, &n);
	assert(n <= AMOUNT_MAX && n >= -AMOUNT_MAX);
	return n;
}

enum txn_choice { CHOICE_NONE, CHOICE_ONE, CHOICE_SEVERAL, CHOICE_OPEN };

static void hold(struct expander *x, uint32_t member)
{
	assert(member < x->s->members.len && x->reads);
	x->stamp[member] = x->reads;
}

/* How many subsets of the n increments have the sum (none, one, several), by counting the sums of the first i of them; marks one. Others
 * than zero, within [low, high]. */
static enum txn_choice count_sums(struct expander *x, const uint32_t *list, uint32_t n, int64_t low, int64_t high, int64_t sum)
{
	int64_t width = high - low + 1, cells = width > COUNT_CELLS ? width : width * (n + 1);
	if (cells > COUNT_CELLS || x->work + cells > COUNT_WORK)
		return CHOICE_OPEN;
	assert(low <= 0 && high >= 0 && sum >= low && sum <= high);
	x->work += cells;
	if (!x->count)
		x->count = arena_alloc(x->a, (size_t)COUNT_CELLS);
	memset(x->count, 0, (size_t)cells);
	x->count[-low] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *from = x->count + (int64_t)i * width, *to = from + width;
		int64_t a = amount(x, list[i]);
		for (int64_t v = 0; v < width; v++) {
			unsigned ways = from[v] + (v - a >= 0 && v - a < width ? from[v - a] : 0u);
			to[v] = (uint8_t)(ways > 2 ? 2 : ways);
		}
	}
	uint8_t ways = x->count[n * width + sum - low];
	if (!ways)
		return CHOICE_NONE;
	for (uint32_t i = n; i-- > 0;) { /* the earliest ones where there is a choice */
		const uint8_t *from = x->count + (int64_t)i * width;
		if (from[sum - low])
			continue;
		sum -= amount(x, list[i]);
		hold(x, list[i]);
	}
	assert(sum == 0);
	return ways == 1 ? CHOICE_ONE : CHOICE_SEVERAL;
}

/* The read of a counter by t: what it must have seen of its own is marked already, and is no more part of `sum`. */
static enum txn_choice choose(struct expander *x, uint32_t t, uint32_t key, int64_t sum)
{
	uint32_t *list = x->list, n = 0;
	int64_t low = 0, high = 0, at = 0;
	assert(x->kind[key] == KIND_COUNTER && t < x->th->n);
	for (uint32_t i = x->of_first[key]; i < x->of_first[key + 1]; i++) {
		uint32_t e = x->sorted[i];
		int64_t a = amount(x, e);
		if (x->writer[e] == t || !a)
			continue;
		list[n++] = e;
		low += a < 0 ? a : 0;
		high += a > 0 ? a : 0;
	}
	if (sum < low || sum > high)
		return CHOICE_NONE;
	if (sum == low || sum == high) {
		for (uint32_t i = 0; i < n; i++)
			if ((amount(x, list[i]) > 0) == (sum == high))
				hold(x, list[i]);
		/* none of one sign, all of the other; both when there is nothing */
		return CHOICE_ONE;
	}
	uint32_t prefix = 0;
	while (prefix < n && at != sum)
		at += amount(x, list[prefix++]);
	bool first = at == sum;
	x->reads++; /* what count_sums marks is not always wanted */
	enum txn_choice c = count_sums(x, list, n, low, high, sum);
	if (c == CHOICE_NONE || c == CHOICE_ONE || !first)
		return c;
	x->reads++;
	for (uint32_t i = 0; i < prefix; i++)
		hold(x, list[i]);
	return CHOICE_SEVERAL;
}

/* ---- the micro-operations ---------------------------------------------------------------------------- */

static bool push(struct expander *x, uint32_t told, enum mop_kind kind, uint32_t key, val v, bool guessed)
{
	struct txn_history *th = x->th;
	struct txn_members *s = x->s;
	uint32_t cap = th->ops_cap, at = th->nops;
	if (at >= MEMBERS_MAX) {
		atomic_store(&th->h->lim->spent, LIMIT_MEMORY);
		return false;
	}
	if (!txn_push_op(th, kind, key, v))
		return false;
	if (th->ops_cap != cap) {
		uint32_t *longer = arena_array(x->a, uint32_t, th->ops_cap);
		uint64_t *bits = arena_array(x->a, uint64_t, th->ops_cap / 64 + 1);
		if (at) {
			memcpy(longer, s->told_of, at * sizeof *longer);
			memcpy(bits, s->guessed, (at / 64 + 1) * sizeof *bits);
		}
		s->told_of = longer;
		s->guessed = bits;
	}
	assert(told < s->ntold && th->nops == at + 1);
	s->told_of[at] = told;
	s->guessed[at / 64] |= (uint64_t)guessed << (at % 64);
	return true;
}

static void odd(struct expander *x, uint32_t t, enum odd_kind kind, val v)
{
	assert(x->th->nops > x->th->txns[t].first); /* its own read that says nothing */
	struct odd_read o = { t, x->th->nops - 1 - x->th->txns[t].first, v, (uint8_t)kind };
	avec_push(x->a, &x->s->odd, o);
}

/* All members of the key, those that are marked as seen. */
static bool push_members(struct expander *x, uint32_t told, uint32_t key, bool guessed)
{
	for (uint32_t e = x->s->head[key]; e; e = x->s->members.data[e - 1].next) {
		if (x->kind[key] == KIND_COUNTER && (x->th->txns[x->writer[e - 1]].status == TXN_ABORTED || !amount(x, e - 1)))
			continue; /* was not seen, or made no difference */
		if (!push(x, told, MOP_READ, x->s->first + e - 1, x->stamp[e - 1] == x->reads ? x->added : VAL_NIL, guessed))
			return false;
	}
	return true;
}

static bool read_set(struct expander *x, uint32_t t, uint32_t told, const struct mop *m)
{
	uint32_t n, key = m->key;
	enum value_kind kind = val_kind(&x->th->h->vals, m->v);
	if (kind != VK_SET && kind != VK_LIST && m->v != VAL_NIL)
		return mistake(x, t, key, "is a set (add), but a read of it saw something else",
		               "a read of a set has its elements: [:r x #{1 2}] or [:r x [1 2]]; a counter is incremented by inc");
	const val *list = val_elems(&x->th->h->vals, m->v, &n);
	x->reads++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = map_get(&x->element, (uint64_t)key << 32 | list[i]);
		if (e == MAP_NONE)
			odd(x, t, ODD_GARBAGE, list[i]);
		else if (x->stamp[e] == x->reads)
			odd(x, t, ODD_DUPLICATE, list[i]);
		else
			hold(x, e);
	}
	return push_members(x, told, key, false);
}

static bool read_counter(struct expander *x, uint32_t t, uint32_t told, uint32_t op, const struct mop *ops)
{
	const struct mop *m = &ops[op];
	int64_t sum = 0;
	if (m->v != VAL_NIL && (!val_get_int(&x->th->h->vals, m->v, &sum) || sum > (INT64_C(1) << 62) || sum < -(INT64_C(1) << 62)))
		return mistake(x, t, m->key, "is a counter (inc), but a read of it saw no whole number",
		               "a read of a counter has its sum: [:r x 3]");
	uint32_t own = 0; /* its own ones before the read */
	for (uint32_t i = 0; i < op; i++)
		if (ops[i].key == m->key && ops[i].kind == MOP_INC) {
			int64_t a = 0;
			val_get_int(&x->th->h->vals, ops[i].v, &a);
			sum -= a;
			own++;
		}
	x->reads++;
	enum txn_choice c = choose(x, t, m->key, sum);
	if (c == CHOICE_NONE)
		odd(x, t, ODD_GARBAGE, m->v);
	if (c == CHOICE_OPEN)
		x->s->nopen++;
	if (c == CHOICE_NONE || c == CHOICE_OPEN)
		return true;
	/* of its own increments the first `own` stand before the read */
	uint32_t mine = 0;
	for (uint32_t e = x->s->head[m->key]; e; e = x->s->members.data[e - 1].next)
		mine += x->writer[e - 1] == t;
	for (uint32_t e = x->s->head[m->key]; e; e = x->s->members.data[e - 1].next) /* from the last one back */
		if (x->writer[e - 1] == t && mine-- <= own)
			hold(x, e - 1);
	x->s->nguessed += c == CHOICE_SEVERAL;
	return push_members(x, told, m->key, c == CHOICE_SEVERAL);
}

static bool expand_txn(struct expander *x, uint32_t t, const uint32_t *member)
{
	struct txn_history *th = x->th;
	struct txn *y = &th->txns[t];
	uint32_t from = y->first, n = y->nops;
	const struct mop *ops = &x->s->told[from];
	y->first = th->nops;
	for (uint32_t i = 0; i < n; i++) {
		const struct mop *m = &ops[i];
		uint8_t kind = x->kind[m->key];
		bool ok;
		if (m->kind == MOP_ADD || m->kind == MOP_INC)
			ok = push(x, from + i, MOP_WRITE, x->s->first + member[from + i], x->added, false);
		else if (m->kind != MOP_READ || (kind != KIND_SET && kind != KIND_COUNTER))
			ok = push(x, from + i, (enum mop_kind)m->kind, m->key, m->v, false);
		else
			ok = push(x, from + i, MOP_READ, m->key, VAL_NONE, false) &&
			     (m->v == VAL_NONE   ? true
			      : kind == KIND_SET ? read_set(x, t, from + i, m)
			                         : read_counter(x, t, from + i, i, ops));
		if (!ok)
			return false;
	}
	assert(th->nops >= y->first + n);
	y->nops = th->nops - y->first;
	return true;
}

static bool expand(struct expander *x)
{
	struct txn_history *th = x->th;
	struct txn_members *s = x->s;
	assert(s->first == th->h->keys.len && !s->members.len);
	uint32_t *member = arena_array(x->a, uint32_t, (size_t)th->nops + 1);
	x->kind = arena_array(x->a, uint8_t, s->first + 1);
	s->head = arena_array(x->a, uint32_t, s->first + 1);
	if (!find_members(x, member))
		return false;
	x->stamp = arena_array(x->a, uint32_t, s->members.len + 1);
	sort_increments(x, member);
	for (uint32_t i = 0; i < s->members.len; i++)
		avec_push(x->a, &th->h->keys, th->h->keys.data[s->members.data[i].key]);
	s->told = th->ops;
	s->ntold = th->nops;
	s->told_cap = th->ops_cap;
	th->ops = NULL;
	th->nops = th->ops_cap = 0;
	for (uint32_t t = 0; t < th->n; t++) {
		if (!expand_txn(x, t, member))
			return false;
		if ((t & 0xFFF) == 0 && lim_spent(th->h->lim))
			return false;
	}
	return true;
}

bool members_expand(struct txn_history *th, struct diags *d)
{
	bool any = th->adds || th->incs;
	if (!any)
		return true;
	struct txn_members *s = arena_new(th->h->arena, struct txn_members);
	struct expander x = { .th = th, .s = s, .d = d, .a = th->h->arena, .added = val_text(&th->h->vals, VK_WORD, "added", 5) };
	assert(!th->members);
	s->first = th->h->keys.len;
	th->members = s;
	map_init(&x.element);
	bool ok = expand(&x);
	map_free(&x.element);
	if (!s->nguessed)
		s->guessed = NULL;
	PARANOID(!ok || !members_wrong(th));
	return ok;
}

void members_free(struct txn_history *th)
{
	struct txn_members *s = th->members;
	if (s && s->told_cap)
		lim_free(th->h->lim, s->told, s->told_cap * sizeof *s->told);
	th->members = NULL;
}

/* ---- the same, looked at from outside -------------------------------------------------------------------- */

/* What one read of a set or counter was made of: of a set as many members as it has elements, each of them one; of a counter, increments that sum up to it. */
static const char *read_wrong(const struct txn_history *th, const struct txn *x, uint32_t from, uint32_t to)
{
	assert(from < to && to <= x->nops);
	const struct mop *told = members_told(th, &th->ops[x->first + from]);
	uint32_t n, held = 0;
	int64_t sum = 0, saw = 0;
	bool counter = false;
	const val *list = val_elems(&th->h->vals, told->v, &n);
	for (uint32_t i = from + 1; i < to; i++) {
		const struct mop *m = &th->ops[x->first + i];
		const struct txn_member *e = members_of(th, m->key);
		if (!e || e->key != told->key || m->kind != MOP_READ)
			return "a read of a set or counter is mixed with others";
		counter = e->counter;
		if (m->v == VAL_NIL)
			continue;
		int64_t a = 0;
		if (counter)
			val_get_int(&th->h->vals, e->v, &a);
		sum += a;
		bool in = counter;
		for (uint32_t k = 0; k < n && !in; k++)
			in = list[k] == e->v;
		if (!in)
			return "a set is read with an element that the read did not see";
		held++;
	}
	val_get_int(&th->h->vals, told->v, &saw);
	if (counter && to > from + 1 && sum != saw)
		return "a counter is read with increments that do not have the sum";
	return counter || held == n || to == from + 1 ? NULL : "a set is read without an element that the read saw";
}

const char *members_wrong(const struct txn_history *th)
{
	const struct txn_members *s = th->members;
	uint32_t k = 0; /* odd reads are in the order of transactions */
	for (uint32_t t = 0; s && t < th->n; t++) {
		const struct txn *x = &th->txns[t];
		for (uint32_t i = 0, to; x->status == TXN_COMMITTED && i < x->nops; i = to) {
			for (to = i + 1; to < x->nops && s->told_of[x->first + to] == s->told_of[x->first + i];)
				to++;
			bool odd = false;
			for (; k < s->odd.len && s->odd.data[k].txn == t && s->odd.data[k].op < to; k++)
				odd = true;
			const char *wrong = odd || to == i + 1 ? NULL : read_wrong(th, x, i, to);
			if (wrong)
				return wrong;
		}
	}
	return NULL;
}

void members_print(const struct txn_history *th, const struct txn_member *e, const struct mop *m, struct buf *out)
{
	if (m->kind == MOP_READ)
		buf_str(out, m->v == VAL_NIL ? "without " : "with ");
	val_print(&th->h->vals, e->v, out);
}
