/* level: names and the order of the levels. See level.h. */
#include "txn/level.h"

#include <string.h>

#include "base/invariant.h"

const char *const level_names[] = {
	[LEVEL_RU] = "read-uncommitted",
	[LEVEL_RC] = "read-committed",
	[LEVEL_CS] = "cursor-stability",
	[LEVEL_MAV] = "monotonic-atomic-view",
	[LEVEL_MV] = "monotonic-view",
	[LEVEL_RA] = "read-atomic",
	[LEVEL_UA] = "update-atomic",
	[LEVEL_CC] = "causal",
	[LEVEL_PC] = "prefix",
	[LEVEL_CV] = "consistent-view",
	[LEVEL_SI] = "snapshot-isolation",
	[LEVEL_US] = "update-serializable",
	[LEVEL_SER] = "serializable",
	NULL,
};

static const char *const session_names[] = {
	[LEVEL_RU] = "strong-session-read-uncommitted",
	[LEVEL_RC] = "strong-session-read-committed",
	[LEVEL_CS] = "strong-session-cursor-stability",
	[LEVEL_MAV] = "strong-session-monotonic-atomic-view",
	[LEVEL_MV] = "strong-session-monotonic-view",
	[LEVEL_RA] = "strong-session-read-atomic",
	[LEVEL_UA] = "strong-session-update-atomic",
	[LEVEL_CC] = "strong-session-causal",
	[LEVEL_PC] = "strong-session-prefix",
	[LEVEL_CV] = "strong-session-consistent-view",
	[LEVEL_SI] = "strong-session-snapshot-isolation",
	[LEVEL_US] = "strong-session-update-serializable",
	[LEVEL_SER] = "strong-session-serializable",
};

static const char *const strong_names[] = {
	[LEVEL_RU] = "strong-read-uncommitted",
	[LEVEL_RC] = "strong-read-committed",
	[LEVEL_CS] = "strong-cursor-stability",
	[LEVEL_MAV] = "strong-monotonic-atomic-view",
	[LEVEL_MV] = "strong-monotonic-view",
	[LEVEL_RA] = "strong-read-atomic",
	[LEVEL_UA] = "strong-update-atomic",
	[LEVEL_CC] = "strong-causal",
	[LEVEL_PC] = "strong-prefix",
	[LEVEL_CV] = "strong-consistent-view",
	[LEVEL_SI] = "strong-snapshot-isolation",
	[LEVEL_US] = "strong-update-serializable",
	[LEVEL_SER] = "strict-serializable",
};

_Static_assert(sizeof level_names / sizeof *level_names == LEVEL_COUNT + 1, "a name for each level, and NULL");
_Static_assert(sizeof strong_names / sizeof *strong_names == LEVEL_COUNT, "a name for each level");

/* Other names of a level. */
static const struct {
	const char *name;
	uint8_t level;
} aliases[] = {
	{ "PL-1", LEVEL_RU },
	{ "PL-2", LEVEL_RC },
	{ "PL-CS", LEVEL_CS },
	{ "PL-2L", LEVEL_MV },
	{ "PL-2+", LEVEL_CV },
	{ "parallel-snapshot-isolation", LEVEL_CV },
	{ "forward-consistent-view", LEVEL_CV },
	{ "PL-FCV", LEVEL_CV },
	{ "causal-cerone", LEVEL_CC },
	{ "prefix-consistency", LEVEL_PC },
	{ "PL-SI", LEVEL_SI },
	{ "generalized-snapshot-isolation", LEVEL_SI },
	{ "generalised-snapshot-isolation", LEVEL_SI },
	{ "PL-3U", LEVEL_US },
	{ "PL-3", LEVEL_SER },
	{ "repeatable-read", LEVEL_SER },
	{ "PL-2.99", LEVEL_SER },
	{ "conflict-serializable", LEVEL_SER },
	{ "view-serializable", LEVEL_SER },
};

const char *isolation_name(struct isolation i)
{
	assert(i.level < LEVEL_COUNT && i.order < ORDER_COUNT);
	const char *const *const names[] = { level_names, session_names, strong_names };
	return names[i.order][i.level];
}

const char *level_aliases(enum txn_level l)
{
	assert(l < LEVEL_COUNT);
	static const char *const text[LEVEL_COUNT] = {
		[LEVEL_RU] = "PL-1",
		[LEVEL_RC] = "PL-2",
		[LEVEL_CS] = "PL-CS",
		[LEVEL_MV] = "PL-2L",
		[LEVEL_CC] = "causal-cerone",
		[LEVEL_CV] = "PL-2+, parallel-snapshot-isolation",
		[LEVEL_SI] = "PL-SI, generalized",
		[LEVEL_US] = "PL-3U",
		[LEVEL_SER] = "PL-3, repeatable-read",
	};
	return text[l];
}

static bool is(const char *s, size_t len, const char *w)
{
	return strlen(w) == len && !memcmp(s, w, len);
}

static bool starts(const char **s, size_t *len, const char *w)
{
	size_t n = strlen(w);
	if (*len <= n || memcmp(*s, w, n))
		return false;
	*s += n;
	*len -= n;
	return true;
}

bool isolation_by_name(const char *s, size_t len, bool sessions, struct isolation *i)
{
	if (is(s, len, "strict-serializable") || is(s, len, "PL-SS")) {
		*i = (struct isolation){ LEVEL_SER, ORDER_REALTIME };
		return true;
	}
	bool bare = false;
	i->order = ORDER_NONE;
	if (starts(&s, &len, "strong-session-"))
		i->order = ORDER_SESSION;
	else if (starts(&s, &len, "strong-"))
		i->order = ORDER_REALTIME;
	else
		bare = true;
	int found = -1;
	for (int l = 0; l < LEVEL_COUNT; l++)
		if (is(s, len, level_names[l]))
			found = l;
	for (size_t a = 0; a < sizeof aliases / sizeof *aliases; a++)
		if (is(s, len, aliases[a].name))
			found = aliases[a].level;
	if (found < 0)
		return false;
	if (bare && sessions) {
		i->order = found == LEVEL_US ? ORDER_NONE : ORDER_SESSION;
		found = is(s, len, "read-committed") ? LEVEL_MAV : found;
	}
	i->level = (uint8_t)found;
	assert(found >= 0 && found < LEVEL_COUNT);
	return isolation_exists(*i);
}

bool isolation_exists(struct isolation i)
{
	return i.level < LEVEL_COUNT && i.order < ORDER_COUNT && (i.level != LEVEL_US || i.order == ORDER_NONE);
}

/* What each implies directly, with the same order of transactions: bits of levels. */
#define BIT(l) (1u << LEVEL_##l)
static const uint32_t implied[LEVEL_COUNT] = {
	[LEVEL_RC] = BIT(RU),           [LEVEL_CS] = BIT(RC),  [LEVEL_MAV] = BIT(RC),
	[LEVEL_MV] = BIT(MAV),          [LEVEL_RA] = BIT(MAV), [LEVEL_UA] = BIT(RA),
	[LEVEL_CC] = BIT(RA),           [LEVEL_PC] = BIT(CC),  [LEVEL_CV] = BIT(CS) | BIT(MV) | BIT(UA) | BIT(CC),
	[LEVEL_SI] = BIT(CV) | BIT(PC), [LEVEL_US] = BIT(CV),  [LEVEL_SER] = BIT(SI) | BIT(US),
};

static bool level_implies(unsigned a, unsigned b)
{
	assert(a < LEVEL_COUNT && b < LEVEL_COUNT);
	if (a == b)
		return true;
	for (unsigned l = 0; l < LEVEL_COUNT; l++)
		if ((implied[a] >> l & 1) && level_implies(l, b))
			return true;
	return false;
}

bool isolation_implies(struct isolation a, struct isolation b)
{
	assert(a.order < ORDER_COUNT && b.order < ORDER_COUNT);
	if (a.order < b.order)
		return false;
	/* update-serializable has no variants: one with an order reaches it through serializable without */
	if (b.level == LEVEL_US)
		return a.level == LEVEL_US || level_implies(a.level, LEVEL_US);
	if (a.level == LEVEL_US)
		return b.order == ORDER_NONE && level_implies(LEVEL_US, b.level);
	return level_implies(a.level, b.level);
}
