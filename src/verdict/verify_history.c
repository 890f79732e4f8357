#include "verdict/verify_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "history/spec.h"

_Static_assert(PROOF_SUPPLY + 1 == PROOF_STALE, "verify_violation() knows the proofs up to PROOF_SUPPLY");

enum verify_answer verify_reject(struct why *why, const char *text, uint32_t op)
{
	assert(*text);
	if (op == RANK_INF)
		why_set(why, "%s", text);
	else
		why_set(why, "%s (operation %u)", text, op);
	return VERIFY_REJECTED;
}

/* ---- orders ------------------------------------------------------------------ */

/* Each operation at most once, each completed one exactly once. */
enum verify_answer verify_permutation(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why)
{
	unsigned char *seen = calloc(p->n + 1ull, 1);
	enum verify_answer out = seen ? VERIFY_ACCEPTED : VERIFY_UNDECIDED;
	for (uint32_t i = 0; seen && i < n && out == VERIFY_ACCEPTED; i++) {
		if (order[i] >= p->n)
			out = verify_reject(why, "the order names an operation that does not exist", order[i]);
		else if (seen[order[i]]++)
			out = verify_reject(why, "an operation appears twice in the order", order[i]);
	}
	for (uint32_t i = 0; seen && i < p->n && out == VERIFY_ACCEPTED; i++)
		if (!seen[i] && p->ops[i].ret != RANK_INF)
			out = verify_reject(why, "a completed operation is missing from the order", i);
	free(seen);
	return out;
}

/* The least value to the root, or down from it: a heap in v[0..n-1]. */
static void sift(const struct values *vs, val *v, uint32_t n, uint32_t i, bool up)
{
	assert(i < n || !n);
	for (;;) {
		uint32_t j = up ? (i - 1) / 2 : 2 * i + 1;
		if (up ? i == 0 : j >= n)
			return;
		if (!up && j + 1 < n && val_compare(vs, v[j + 1], v[j]) < 0)
			j++;
		if (up ? val_compare(vs, v[j], v[i]) <= 0 : val_compare(vs, v[i], v[j]) <= 0)
			return;
		val t = v[i];
		v[i] = v[j];
		v[j] = t;
		i = j;
	}
}

/* Queues, stacks and priority queues are replayed in a plain array: their
 * specification keeps every state it was ever in. */
static enum verify_answer replay(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why)
{
	assert(p->obj == OBJ_QUEUE || p->obj == OBJ_STACK || p->obj == OBJ_PQUEUE);
	uint32_t len, head = 0, tail = 0;
	const val *init = val_elems(p->vals, p->init, &len);
	val *v = malloc(((size_t)n + len + 1) * sizeof *v);
	if (!v)
		return VERIFY_UNDECIDED;
	bool heap = p->obj == OBJ_PQUEUE, stack = p->obj == OBJ_STACK;
	enum verify_answer out = VERIFY_ACCEPTED;
	for (uint32_t i = 0; i < len + n && out == VERIFY_ACCEPTED; i++) {
		const struct hop *op = i < len ? NULL : &p->ops[order[i - len]];
		if (!op || op->fn == FN_ENQ || op->fn == FN_PUSH || op->fn == FN_INSERT) {
			v[tail++] = op ? op->a : init[i];
			if (heap)
				sift(p->vals, v, tail, tail - 1, true);
			continue;
		}
		val got = head == tail ? VAL_NIL : stack ? v[tail - 1] : v[head];
		if (op->b != VAL_NONE && op->b != got)
			out = verify_reject(why, "the object does not allow an operation at its place", order[i - len]);
		if (head == tail || op->fn == FN_PEEK)
			continue;
		if (heap) {
			v[0] = v[--tail];
			sift(p->vals, v, tail, 0, false);
		} else if (stack) {
			tail--;
		} else {
			head++;
		}
	}
	free(v);
	assert(head <= tail);
	return out;
}

static enum verify_answer check_legal(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why)
{
	assert(p->obj != OBJ_GUESS);
	if (p->obj == OBJ_QUEUE || p->obj == OBJ_STACK || p->obj == OBJ_PQUEUE)
		return replay(p, order, n, why);
	struct spec_ctx c;
	enum verify_answer out = VERIFY_ACCEPTED;
	spec_open(&c, spec_of(p->obj, p->k), p->vals, p->lim, p->k);
	c.user = p->user;
	uint32_t state = c.spec->init(&c, p->init);
	for (uint32_t i = 0; i < n && out == VERIFY_ACCEPTED; i++)
		if (!c.spec->apply(&c, state, &p->ops[order[i]], &state))
			out = verify_reject(why, "the object does not allow an operation at its place", order[i]);
	if (c.failed)
		out = VERIFY_UNDECIDED;
	spec_close(&c);
	return out;
}

enum verify_answer verify_order(const struct problem *p, const uint32_t *order, uint32_t n, struct why *why)
{
	assert(!n || order);
	enum verify_answer out = verify_permutation(p, order, n, why);
	uint32_t latest = 0; /* the latest invocation so far, + 1 */
	for (uint32_t i = 0; i < n && out == VERIFY_ACCEPTED; i++) {
		const struct hop *op = &p->ops[order[i]];
		if (op->ret != RANK_INF && op->ret + 1 < latest)
			out = verify_reject(why, "an operation follows one that was invoked after it ended", order[i]);
		if (op->call + 1 > latest)
			latest = op->call + 1;
	}
	return out == VERIFY_ACCEPTED ? check_legal(p, order, n, why) : out;
}

/* May the read return w, given the writes that ended before it began? `newest`
 * is the latest invocation + 1 among those. */
static bool may_return(const struct problem *p, const struct hop *rd, uint32_t w, uint32_t newest)
{
	assert(rd->fn == FN_READ && (w == RANK_INF || w < p->n));
	if (w == RANK_INF)
		return rd->b == p->init && newest == 0;
	const struct hop *wr = &p->ops[w];
	return wr->fn == FN_WRITE && wr->a == rd->b && wr->call < rd->ret && (wr->ret == RANK_INF || wr->ret + 1 > newest);
}

enum verify_answer verify_reads_from(const struct problem *p, const uint32_t *saw, bool safe, struct why *why)
{
	uint32_t *newest = calloc(p->nevents + 1ull, sizeof *newest); /* by rank */
	uint32_t *ended = calloc(p->nevents + 1ull, sizeof *ended);
	uint32_t *begun = calloc(p->nevents + 1ull, sizeof *begun);
	enum verify_answer out = newest && ended && begun ? VERIFY_ACCEPTED : VERIFY_UNDECIDED;
	for (uint32_t i = 0; i < p->n && out == VERIFY_ACCEPTED; i++) {
		if (p->ops[i].fn != FN_WRITE)
			continue;
		begun[p->ops[i].call + 1]++;
		if (p->ops[i].ret != RANK_INF) {
			newest[p->ops[i].ret + 1] = p->ops[i].call + 1;
			ended[p->ops[i].ret + 1]++;
		}
	}
	for (uint32_t t = 0; t < p->nevents && out == VERIFY_ACCEPTED; t++) {
		newest[t + 1] = newest[t + 1] > newest[t] ? newest[t + 1] : newest[t];
		ended[t + 1] += ended[t];
		begun[t + 1] += begun[t];
	}
	for (uint32_t i = 0; i < p->n && out == VERIFY_ACCEPTED; i++) {
		const struct hop *rd = &p->ops[i];
		if (rd->fn != FN_READ)
			continue;
		bool overlapped = begun[rd->ret] > ended[rd->call];
		if (saw[i] == i) {
			if (!safe || !overlapped)
				out = verify_reject(why, "a read overlaps no write and must return one", i);
		} else if ((saw[i] != RANK_INF && saw[i] >= p->n) || !may_return(p, rd, saw[i], newest[rd->call])) {
			out = verify_reject(why, "a read cannot have returned that write", i);
		}
	}
	free(newest);
	free(ended);
	free(begun);
	return out;
}

enum verify_answer verify_read_impossible(const struct problem *p, uint32_t read, bool safe, struct why *why)
{
	if (read >= p->n || p->ops[read].fn != FN_READ || p->ops[read].ret == RANK_INF)
		return verify_reject(why, "the proof is not about a completed read", read);
	const struct hop *rd = &p->ops[read];
	uint32_t newest = 0;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->ops[i].fn == FN_WRITE && p->ops[i].ret < rd->call && p->ops[i].call + 1 > newest)
			newest = p->ops[i].call + 1;
	bool possible = may_return(p, rd, RANK_INF, newest);
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->ops[i].fn != FN_WRITE)
			continue;
		possible |= may_return(p, rd, i, newest);
		possible |= safe && p->ops[i].call < rd->ret && p->ops[i].ret > rd->call;
	}
	return possible ? verify_reject(why, "the read may have returned that", read) : VERIFY_ACCEPTED;
}

/* ---- proofs ------------------------------------------------------------------- */

static val value_of(const struct problem *p, uint32_t op)
{
	assert(op == RANK_INF || op < p->n);
	if (op == RANK_INF)
		return p->init;
	return p->ops[op].fn == FN_WRITE ? p->ops[op].a : p->ops[op].b;
}

/* x ends before y begins; the initial write ended before everything. */
static bool precedes(const struct problem *p, uint32_t x, uint32_t y)
{
	assert((x == RANK_INF || x < p->n) && (y == RANK_INF || y < p->n));
	if (y == RANK_INF)
		return false;
	return x == RANK_INF || p->ops[x].ret < p->ops[y].call;
}

static bool is_put(uint8_t fn)
{
	return fn == FN_WRITE || fn == FN_ENQ || fn == FN_PUSH || fn == FN_INSERT;
}

static bool is_take(uint8_t fn)
{
	return fn == FN_DEQ || fn == FN_POP || fn == FN_POLL;
}

/* How often v was written or put in by operations invoked before a rank. */
static uint32_t writes_of(const struct problem *p, val v, uint32_t before)
{
	uint32_t len, n = v == p->init;
	const val *e = val_elems(p->vals, p->init, &len);
	for (uint32_t i = 0; i < len; i++)
		n += e[i] == v;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hop *o = &p->ops[i];
		bool cas = o->fn == FN_CAS && o->res != RES_FALSE && o->b == v && o->a != v;
		n += ((is_put(o->fn) && o->a == v) || cas) && o->call < before;
	}
	return n;
}

static enum verify_answer check_unwritten(const struct problem *p, const uint32_t *ops, struct why *why)
{
	assert(ops[0] < p->n);
	const struct hop *rd = &p->ops[ops[0]];
	bool cas = rd->fn == FN_CAS && rd->res == RES_TRUE;
	if (rd->ret == RANK_INF || (rd->fn != FN_READ && !cas && (!is_take(rd->fn) || rd->b == VAL_NIL)))
		return verify_reject(why, "the proof is not about a completed read or removal", ops[0]);
	if (writes_of(p, cas ? rd->a : rd->b, rd->ret))
		return verify_reject(why, "the value had been written when the read returned", ops[0]);
	return VERIFY_ACCEPTED;
}

/* ops[1] is the first to bring the value, and too late. */
static enum verify_answer check_future(const struct problem *p, const uint32_t *ops, uint32_t nops, struct why *why)
{
	enum verify_answer out = check_unwritten(p, ops, why);
	if (out != VERIFY_ACCEPTED)
		return out;
	const struct hop *rd = &p->ops[ops[0]];
	val v = rd->fn == FN_CAS ? rd->a : rd->b;
	if (nops < 2 || ops[1] == RANK_INF || writes_of(p, v, p->ops[ops[1]].call) || !writes_of(p, v, p->ops[ops[1]].call + 1))
		return verify_reject(why, "the proof names another operation than the first to write the value", ops[0]);
	return VERIFY_ACCEPTED;
}

/* ---- a lack of supply ------------------------------------------------------------ */

/* The value of a completed operation that shows the register holding it. */
static bool shows(const struct problem *p, uint32_t op, val *v)
{
	assert(op < p->n);
	const struct hop *o = &p->ops[op];
	*v = o->fn == FN_CAS ? o->a : o->b;
	return o->ret != RANK_INF && (o->fn == FN_READ || (o->fn == FN_CAS && o->res == RES_TRUE));
}

/* Was the register surely something else than v at a moment of the operation? */
static bool shows_other(const struct problem *p, uint32_t op, val v)
{
	assert(op < p->n);
	const struct hop *o = &p->ops[op];
	if (o->ret == RANK_INF)
		return false;
	return o->fn == FN_READ    ? o->b != v
	       : o->fn == FN_WRITE ? o->a != v
	                           : o->fn == FN_CAS && o->res == RES_TRUE && (o->a != v || o->b != v);
}

static bool may_bring(const struct hop *o, val v)
{
	return o->fn == FN_WRITE ? o->a == v : o->fn == FN_CAS && o->res != RES_FALSE && o->b == v && o->a != v;
}

/* Pairs of an operation that shows another value and a later one that shows
 * v, one pair after the other; then everything that could have brought v in
 * between, which is one less. */
static enum verify_answer check_supply(const struct problem *p, const uint32_t *ops, uint32_t nops, struct why *why)
{
	assert(nops >= 2);
	uint32_t n = (nops + 1) / 3, end = 0, reach = 0;
	val v = VAL_NONE, w;
	if (3 * n != nops + 1 || !n || ops[1] == RANK_INF || !shows(p, ops[1], &v))
		return verify_reject(why, "the proof does not name pairs of operations", RANK_INF);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t other = ops[2 * i], last = ops[2 * i + 1];
		if (last == RANK_INF || !shows(p, last, &w) || w != v)
			return verify_reject(why, "an operation does not show the value", last);
		if (other == RANK_INF ? i > 0 || p->init == v : !shows_other(p, other, v) || p->ops[other].ret >= p->ops[last].call)
			return verify_reject(why, "an operation does not show another value before", other);
		if (i && p->ops[other].call <= end)
			return verify_reject(why, "the pairs overlap", other);
		end = p->ops[last].ret;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		bool reaches = false, named = false;
		for (uint32_t k = 0; k < n && may_bring(&p->ops[i], v); k++)
			reaches |= p->ops[i].call < p->ops[ops[2 * k + 1]].ret &&
			           (ops[2 * k] == RANK_INF || p->ops[i].ret > p->ops[ops[2 * k]].call);
		for (uint32_t k = 2 * n; k < nops; k++)
			named |= ops[k] == i;
		if (reaches != named)
			return verify_reject(why,
			                     reaches ? "an operation could have written the value and is not named"
			                             : "an operation is named that could not have written the value",
			                     i);
		reach += reaches;
	}
	return reach < n ? VERIFY_ACCEPTED : verify_reject(why, "enough operations could have written the value", RANK_INF);
}

/* ---- containers ------------------------------------------------------------------ */

static enum verify_answer check_twice(const struct problem *p, const uint32_t *ops, struct why *why)
{
	assert(ops[0] < p->n && ops[1] < p->n);
	const struct hop *a = &p->ops[ops[0]], *b = &p->ops[ops[1]];
	if (ops[0] == ops[1] || !is_take(a->fn) || !is_take(b->fn) || a->ret == RANK_INF || b->ret == RANK_INF || a->b != b->b ||
	    a->b == VAL_NIL)
		return verify_reject(why, "the operations did not both take the value", RANK_INF);
	return writes_of(p, a->b, RANK_INF) > 1 ? verify_reject(why, "the value was put in more than once", RANK_INF)
	                                        : VERIFY_ACCEPTED;
}

/* in a before in b, and out b before out a (or a never came out). */
static enum verify_answer check_fifo(const struct problem *p, const uint32_t *ops, struct why *why)
{
	assert(ops[0] < p->n && ops[1] < p->n && ops[3] < p->n);
	const struct hop *ia = &p->ops[ops[0]], *ib = &p->ops[ops[1]], *ob = &p->ops[ops[3]];
	const struct hop *oa = ops[2] == RANK_INF ? NULL : &p->ops[ops[2]];
	if (p->obj != OBJ_QUEUE || ia->fn != FN_ENQ || ib->fn != FN_ENQ || ob->fn != FN_DEQ || ob->b != ib->a ||
	    ob->ret == RANK_INF || (oa && (oa->fn != FN_DEQ || oa->b != ia->a)))
		return verify_reject(why, "the operations are not those of two values", RANK_INF);
	if (writes_of(p, ia->a, RANK_INF) != 1 || writes_of(p, ib->a, RANK_INF) != 1)
		return verify_reject(why, "a value was put in more than once", RANK_INF);
	if (ia->ret >= ib->call || (oa && ob->ret >= oa->call))
		return verify_reject(why, "the operations do not precede each other as the proof says", RANK_INF);
	for (uint32_t i = 0; i < p->n && !oa; i++)
		if (p->ops[i].fn == FN_DEQ && (p->ops[i].b == ia->a || p->ops[i].b == VAL_NONE))
			return verify_reject(why, "the first value may have come out", i);
	return VERIFY_ACCEPTED;
}

/* At every moment of ops[0] some value is surely inside: one below its own
 * with `smaller`. A value that is put in more than once counts for nothing,
 * and nothing counts when a removal never answered. */
static enum verify_answer check_inside(const struct problem *p, const uint32_t *ops, bool smaller, struct why *why)
{
	assert(ops[0] < p->n);
	const struct hop *d = &p->ops[ops[0]];
	if (!is_take(d->fn) || d->ret == RANK_INF || (smaller ? p->obj != OBJ_PQUEUE : d->b != VAL_NIL))
		return verify_reject(why, "the proof is about another operation", ops[0]);
	uint32_t *until = malloc((p->nevents + 2ull) * sizeof *until); /* inside from gap g to until[g] */
	if (!until)
		return VERIFY_UNDECIDED;
	memset(until, 0, (p->nevents + 2ull) * sizeof *until);
	enum verify_answer out = VERIFY_ACCEPTED;
	struct map in;
	map_init(&in);
	for (uint32_t i = 0; i < p->n; i++) { /* who put each value in; twice: none */
		if (!is_put(p->ops[i].fn))
			continue;
		uint32_t had = map_get(&in, p->ops[i].a);
		map_put(&in, p->ops[i].a, had == MAP_NONE ? i : p->n);
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (is_put(p->ops[i].fn) && map_get(&in, p->ops[i].a) == i && p->ops[i].ret != RANK_INF &&
		    (!smaller || val_compare(p->vals, p->ops[i].a, d->b) < 0))
			until[p->ops[i].ret + 1] = p->nevents + 1;
	for (uint32_t i = 0; i < p->n; i++) {
		if (!is_take(p->ops[i].fn))
			continue;
		if (p->ops[i].b == VAL_NONE)
			out = verify_reject(why, "a removal never returned", i);
		uint32_t put = p->ops[i].b == VAL_NONE ? MAP_NONE : map_get(&in, p->ops[i].b);
		if (put != MAP_NONE && put < p->n && p->ops[put].ret != RANK_INF && until[p->ops[put].ret + 1] > p->ops[i].call)
			until[p->ops[put].ret + 1] = p->ops[i].call;
	}
	uint32_t lo = d->call + 1;
	if (smaller) { /* its own value must be in before it is taken */
		uint32_t put = map_get(&in, d->b);
		if (put < p->n && p->ops[put].call + 1 > lo)
			lo = p->ops[put].call + 1;
	}
	map_free(&in);
	uint32_t reach = 0;
	for (uint32_t g = 0; g <= d->ret && out == VERIFY_ACCEPTED; g++) {
		reach = until[g] > reach ? until[g] : reach;
		if (g >= lo && reach < g)
			out = verify_reject(why, "there is a moment at which the container may be empty", ops[0]);
	}
	free(until);
	return out;
}

/* Two values, each written once, of which each has an operation that precedes
 * one of the other. */
static enum verify_answer check_zones(const struct problem *p, const uint32_t *ops, bool inside, struct why *why)
{
	assert(ops[1] < p->n && ops[2] < p->n && ops[3] < p->n);
	uint32_t early = inside ? ops[3] : ops[2], late = inside ? ops[2] : ops[3];
	val a = value_of(p, ops[0]), b = value_of(p, early);
	if (a == b || value_of(p, ops[1]) != a || value_of(p, late) != b)
		return verify_reject(why, "the operations are not of two values", RANK_INF);
	if (writes_of(p, a, RANK_INF) != 1 || writes_of(p, b, RANK_INF) != 1)
		return verify_reject(why, "a value is written more than once", RANK_INF);
	if (!precedes(p, ops[0], late) || !precedes(p, early, ops[1]))
		return verify_reject(why, "the operations do not precede each other as the proof says", RANK_INF);
	return VERIFY_ACCEPTED;
}

/* One writer at a time: lower bounds on the write that each one saw. */
static enum verify_answer check_chain(const struct problem *p, const uint32_t *ops, uint32_t n, struct why *why)
{
	assert(n);
	uint32_t least = 0, last_write_end = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->ops[i].fn == FN_READ)
			continue;
		if (p->ops[i].fn != FN_WRITE || p->ops[i].call + 1 <= last_write_end)
			return verify_reject(why, "the writes are not consecutive", i);
		last_write_end = p->ops[i].ret == RANK_INF ? RANK_INF : p->ops[i].ret + 1;
	}
	for (uint32_t k = 0; k < n; k++) {
		if (k && !precedes(p, ops[k - 1], ops[k]))
			return verify_reject(why, "the chain is broken", ops[k]);
		const struct hop *op = &p->ops[ops[k]];
		bool write = op->fn == FN_WRITE, found = !write && least == 0 && op->b == p->init;
		for (uint32_t i = 0, number = 1; i < p->n && !found; i++) {
			if (p->ops[i].fn != FN_WRITE)
				continue;
			if (number >= least && (write ? i == ops[k] : p->ops[i].a == op->b && p->ops[i].call < op->ret)) {
				found = true;
				least = number;
			}
			number++;
		}
		if (found == (k + 1 == n))
			return verify_reject(why, found ? "the last read of the chain is possible" : "the chain is incomplete",
			                     ops[k]);
	}
	return VERIFY_ACCEPTED;
}

/* ---- violations ------------------------------------------------------------------ */

enum verify_answer verify_violation(const struct problem *p, enum proof proof, const uint32_t *ops, uint32_t nops, uint32_t culprit,
                                    uint32_t budget, struct why *why)
{
	assert(!nops || ops);
	static const uint8_t need[] = { [PROOF_UNWRITTEN] = 1, [PROOF_FUTURE] = 1, [PROOF_CHAIN] = 1, [PROOF_ZONES] = 4,
		                        [PROOF_INSIDE] = 4,    [PROOF_FIFO] = 4,   [PROOF_TWICE] = 2, [PROOF_NOT_EMPTY] = 1,
		                        [PROOF_PRIORITY] = 1,  [PROOF_COUNTS] = 0, [PROOF_SUPPLY] = 2 };
	bool reg = p->k <= 1 && (p->obj == OBJ_REGISTER || p->obj == OBJ_CAS_REGISTER || p->obj == OBJ_KV);
	bool about_reg = proof == PROOF_CHAIN || proof == PROOF_ZONES || proof == PROOF_INSIDE || proof == PROOF_SUPPLY;
	bool with_cas = proof == PROOF_SUPPLY || proof == PROOF_UNWRITTEN || proof == PROOF_FUTURE;
	if (culprit != RANK_INF && culprit >= p->n)
		return verify_reject(why, "the proof names an operation that does not exist", culprit);
	for (uint32_t i = 0; i < nops; i++)
		if (ops[i] >= p->n && ops[i] != RANK_INF)
			return verify_reject(why, "the proof names an operation that does not exist", ops[i]);
	if (proof > PROOF_SUPPLY || nops < need[proof])
		return verify_reject(why, "the proof names too few operations", RANK_INF);
	for (uint32_t i = 0; i < need[proof]; i++) { /* the initial write, a removal that never came */
		bool may_miss = (about_reg && proof != PROOF_CHAIN && i == 0) || (proof == PROOF_FIFO && i == 2);
		if (ops[i] == RANK_INF && !may_miss)
			return verify_reject(why, "the proof names too few operations", RANK_INF);
	}
	for (uint32_t i = 0; i < p->n && reg; i++) /* a write may also be part of a cas or append */
		reg = p->ops[i].fn == FN_READ || p->ops[i].fn == FN_WRITE || (with_cas && p->ops[i].fn == FN_CAS);
	bool box = p->obj == OBJ_QUEUE || p->obj == OBJ_STACK || p->obj == OBJ_PQUEUE;
	if (need[proof] && !(reg || (box && !about_reg)))
		return verify_reject(why, "the proof is about another kind of object", RANK_INF);
	switch (proof) {
	case PROOF_UNWRITTEN:
		return check_unwritten(p, ops, why);
	case PROOF_FUTURE:
		return check_future(p, ops, nops, why);
	case PROOF_CHAIN:
		return check_chain(p, ops, nops, why);
	case PROOF_ZONES:
	case PROOF_INSIDE:
		return check_zones(p, ops, proof == PROOF_INSIDE, why);
	case PROOF_SUPPLY:
		return check_supply(p, ops, nops, why);
	case PROOF_FIFO:
		return check_fifo(p, ops, why);
	case PROOF_TWICE:
		return check_twice(p, ops, why);
	case PROOF_PRIORITY: /* the one that is named is smaller and was put in before */
		if (nops > 1 && ops[1] != RANK_INF && p->ops[ops[0]].b != VAL_NIL &&
		    (!is_put(p->ops[ops[1]].fn) || p->ops[ops[1]].call > p->ops[ops[0]].ret ||
		     val_compare(p->vals, p->ops[ops[1]].a, p->ops[ops[0]].b) >= 0))
			return verify_reject(why, "the proof names a value that is not smaller", ops[1]);
		return check_inside(p, ops, true, why);
	case PROOF_NOT_EMPTY:
		return check_inside(p, ops, false, why);
	default:
		return verify_by_trying(p, culprit, budget, why);
	}
}
