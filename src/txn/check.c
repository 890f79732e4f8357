/* check: see check.h. */
#include "txn/check.h"

#include <string.h>

#include "base/invariant.h"
#include "txn/members.h"

bool txn_question_parse(struct txn_question *q, const char *list, const char **bad, size_t *len)
{
	q->nlevels = 0;
	assert(list);
	for (const char *p = list;; p++) {
		size_t n = strcspn(p, ",");
		struct isolation i;
		if (!isolation_by_name(p, n, q->sessions, &i)) {
			*bad = p;
			*len = n;
			return false;
		}
		if (q->realtime && i.order == ORDER_NONE && i.level != LEVEL_US)
			i.order = ORDER_REALTIME;
		bool twin = false;
		for (uint32_t k = 0; k < q->nlevels; k++)
			twin |= q->levels[k].level == i.level && q->levels[k].order == i.order;
		if (!twin)
			q->levels[q->nlevels++] = i;
		p += n;
		if (!*p)
			return true;
	}
}

static struct txn_answer *answer_of(struct txn_check *c, struct isolation i)
{
	assert(i.level < LEVEL_COUNT && i.order < ORDER_COUNT);
	return &c->answers[i.level][i.order];
}

static const struct txn_answer *answered(const struct txn_check *c, struct isolation i)
{
	assert(i.level < LEVEL_COUNT && i.order < ORDER_COUNT);
	return &c->answers[i.level][i.order];
}

static struct isolation nth(uint32_t k)
{
	assert(k < (uint32_t)LEVEL_COUNT * ORDER_COUNT);
	return (struct isolation){ (uint8_t)(k % LEVEL_COUNT), (uint8_t)(k / LEVEL_COUNT) };
}

#define ALL_LEVELS ((uint32_t)LEVEL_COUNT * ORDER_COUNT)

/* What the new answer says of other levels: weaker ones hold, or stronger ones are violated, too. */
static void spread(struct txn_check *c, struct isolation i)
{
	assert(isolation_exists(i));
	const struct txn_answer *a = answer_of(c, i);
	if (a->d.verdict == TXN_UNDECIDED)
		return;
	for (uint32_t k = 0; k < ALL_LEVELS; k++) {
		struct isolation o = nth(k);
		struct txn_answer *b = answer_of(c, o);
		bool follows = a->d.verdict == TXN_HOLDS ? isolation_implies(i, o) : isolation_implies(o, i);
		if (!isolation_exists(o) || !follows || b->decided || b->implied_by >= 0)
			continue;
		b->implied_by = i.order * LEVEL_COUNT + i.level;
		b->d = a->d;
		b->d.level = o;
	}
}

/* One level. Where it is guessed what counters were read as, the guess shows that a level holds, and what is left without it that one is violated. */
static void decide_level(struct txn_check *c, struct isolation i, struct txn_decide_options opts, struct limits *lim,
                         struct decision *out)
{
	txn_decide(c->deps, i, opts, c->arena, lim, out);
	if (!c->deps->certain || (out->verdict == TXN_HOLDS && !c->deps->th->members->nopen))
		return;
	txn_decide(c->deps->certain, i, opts, c->arena, lim, out);
	if (out->verdict == TXN_HOLDS)
		*out = (struct decision){ .level = i, .verdict = TXN_UNDECIDED, .limit = COUNTER_READS };
}

static void decide(struct txn_check *c, struct isolation i, struct limits *lim)
{
	struct txn_answer *a = answer_of(c, i);
	if (!isolation_exists(i) || a->decided || a->implied_by >= 0)
		return;
	decide_level(c, i, (struct txn_decide_options){ .prove = c->prove }, lim, &a->d);
	a->decided = true;
	spread(c, i);
	assert(a->decided && a->d.level.level == i.level && a->d.level.order == i.order);
}

/* All levels: the strongest first, which settles everything when it holds; then the cheap ones, which may settle everything when they
 * do not; then the rest from above. */
static void decide_all(struct txn_check *c, struct limits *lim)
{
	static const uint8_t cheap[] = { LEVEL_RU, LEVEL_RC, LEVEL_MAV, LEVEL_RA, LEVEL_CC };
	decide(c, (struct isolation){ LEVEL_SER, (uint8_t)c->most }, lim);
	for (unsigned o = 0; o <= c->most; o++)
		for (uint32_t k = 0; k < sizeof cheap; k++)
			decide(c, (struct isolation){ cheap[k], (uint8_t)o }, lim);
	for (int o = (int)c->most; o >= 0; o--)
		for (int l = LEVEL_COUNT - 1; l >= 0; l--)
			decide(c, (struct isolation){ (uint8_t)l, (uint8_t)o }, lim);
}

#define TRY_CONFLICTS 20000

/* Perhaps a stronger level holds, which is easier to see; what this does not find out is not an answer. */
static void try(struct txn_check *c, struct isolation i, struct limits *lim)
{
	struct txn_answer *a = answer_of(c, i);
	if (!isolation_exists(i) || a->decided || a->implied_by >= 0)
		return;
	decide_level(c, i, (struct txn_decide_options){ .max_conflicts = TRY_CONFLICTS, .prove = c->prove }, lim, &a->d);
	a->decided = a->d.verdict != TXN_UNDECIDED;
	spread(c, i);
}

/* Session order gives better chains for clocks than none; serializability needs the fewest pairs of versions. */
static void decide_asked(struct txn_check *c, struct isolation i, struct limits *lim)
{
	bool searches = i.level != LEVEL_RU && i.level != LEVEL_RC && i.level != LEVEL_MAV && i.level != LEVEL_RA &&
	                i.level != LEVEL_CC;
	uint8_t order = i.order == ORDER_NONE && c->most != ORDER_NONE ? ORDER_SESSION : i.order;
	if (searches && i.level != LEVEL_SER)
		try(c, (struct isolation){ LEVEL_SER, order }, lim);
	if (searches && i.level != LEVEL_US && i.level != LEVEL_SI && i.level != LEVEL_SER)
		try(c, (struct isolation){ LEVEL_SI, order }, lim);
	if (i.level >= LEVEL_CC)
		try(c, (struct isolation){ i.level, order }, lim);
	decide(c, i, lim);
}

bool txn_check(struct txn_check *c, const struct deps *d, const struct txn_question *q, struct arena *keep, struct limits *lim,
               struct why *why)
{
	memset(c, 0, sizeof *c);
	c->deps = d;
	c->arena = keep;
	c->all = !q->nlevels;
	c->prove = q->prove;
	c->most = d->th->realtime ? ORDER_REALTIME : d->th->sessions ? ORDER_SESSION : ORDER_NONE;
	for (uint32_t k = 0; k < ALL_LEVELS; k++)
		answer_of(c, nth(k))->implied_by = -1;
	for (uint32_t k = 0; k < q->nlevels; k++)
		if (q->levels[k].order > c->most) {
			return why_set(why, "%s",
			               q->levels[k].order == ORDER_REALTIME
			                       ? "has no real time: not every transaction has its invocation"
			                       : "names no sessions (processes)");
		}
	if (c->all) {
		for (uint32_t k = 0; k < ALL_LEVELS; k++)
			answer_of(c, nth(k))->asked = isolation_exists(nth(k)) && nth(k).order <= c->most;
		decide_all(c, lim);
	}
	for (uint32_t k = 0; k < q->nlevels; k++)
		answer_of(c, q->levels[k])->asked = true;
	/* from the strongest, whatever the order of the question: the reasons are the same when it is asked again */
	for (uint32_t k = c->all ? 0 : ALL_LEVELS; k-- > 0;)
		if (answer_of(c, nth(k))->asked)
			decide_asked(c, nth(k), lim);
	c->verdict = TXN_HOLDS;
	for (uint32_t k = 0; k < ALL_LEVELS; k++) {
		const struct txn_answer *a = answer_of(c, nth(k));
		if (a->asked && (a->d.verdict == TXN_VIOLATED || (a->d.verdict == TXN_UNDECIDED && c->verdict == TXN_HOLDS)))
			c->verdict = a->d.verdict;
	}
	assert(c->all || q->nlevels);
	return true;
}

bool txn_check_strongest(const struct txn_check *c, struct isolation i)
{
	if (!answered(c, i)->asked || answered(c, i)->d.verdict != TXN_HOLDS)
		return false;
	for (uint32_t k = 0; k < ALL_LEVELS; k++) {
		struct isolation o = nth(k);
		const struct txn_answer *a = answered(c, o);
		if (a->asked && a->d.verdict == TXN_HOLDS && (o.level != i.level || o.order != i.order) && isolation_implies(o, i))
			return false;
	}
	return true;
}

bool txn_check_weakest(const struct txn_check *c, struct isolation i)
{
	if (!answered(c, i)->asked || answered(c, i)->d.verdict != TXN_VIOLATED)
		return false;
	for (uint32_t k = 0; k < ALL_LEVELS; k++) {
		struct isolation o = nth(k);
		const struct txn_answer *a = answered(c, o);
		if (a->asked && a->d.verdict == TXN_VIOLATED && (o.level != i.level || o.order != i.order) &&
		    isolation_implies(i, o))
			return false;
	}
	return true;
}

const struct txn_answer *txn_check_reason(const struct txn_check *c, struct isolation i)
{
	const struct txn_answer *a = &c->answers[i.level][i.order];
	while (a->implied_by >= 0)
		a = &c->answers[a->implied_by % LEVEL_COUNT][a->implied_by / LEVEL_COUNT];
	return a;
}
