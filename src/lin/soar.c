/*
 * soar: the assertion of Fig. 3, line by line.
 *
 *   SOAR(wrs, rds): with w the last write,
 *     one write left:  every read returns w's value                      a1
 *     otherwise:       no read outside linRds was invoked after w ended  a2
 *                      and SOAR(wrs \ {w}, rds \ linRds)                 a3
 *   linRds: reads that return w's value (l1), do not precede w (l2), and are
 *     followed only by reads that return w's value (l3)
 *
 * The paper's sets are flags here and every quantifier is a loop: O(n^3), on
 * purpose. Pending reads have been dropped, a pending write has no response
 * (INF in the paper).
 */
#include <string.h>

#include "lin/lin.h"

struct soar {
	const struct problem *p;
	uint32_t *wrs; /* operations, in order of invocation; w0 is not among them */
	uint32_t *rds; /* the reads left */
	uint32_t nwrs, nrds;
	bool *lin;
};

static val last_value(const struct soar *s)
{
	return s->nwrs ? s->p->ops[s->wrs[s->nwrs - 1]].a : s->p->init;
}

static bool in_lin_rds(const struct soar *s, const struct hop *rd)
{
	const struct hop *w = s->nwrs ? &s->p->ops[s->wrs[s->nwrs - 1]] : NULL;
	if (rd->b != last_value(s)) /* l1 */
		return false;
	if (w && !(rd->ret > w->call)) /* l2 */
		return false;
	for (uint32_t i = 0; i < s->nrds; i++) { /* l3 */
		const struct hop *other = &s->p->ops[s->rds[i]];
		if (rd->ret < other->call && other->b != last_value(s))
			return false;
	}
	return true;
}

static int soar(struct soar *s)
{
	while (s->nwrs) {
		const struct hop *w = &s->p->ops[s->wrs[s->nwrs - 1]];
		for (uint32_t i = 0; i < s->nrds; i++)
			s->lin[i] = in_lin_rds(s, &s->p->ops[s->rds[i]]);
		uint32_t left = 0;
		for (uint32_t i = 0; i < s->nrds; i++) {
			if (s->lin[i])
				continue;
			if (w->ret != RANK_INF && s->p->ops[s->rds[i]].call > w->ret) /* a2 */
				return 0;
			s->rds[left++] = s->rds[i];
		}
		s->nrds = left;
		s->nwrs--; /* a3 */
		if (lim_spent(s->p->lim))
			return -1;
	}
	for (uint32_t i = 0; i < s->nrds; i++) /* a1 */
		if (s->p->ops[s->rds[i]].b != s->p->init)
			return 0;
	return 1;
}

enum lin_verdict lin_soar(const struct problem *p, struct result *r)
{
	uint32_t a, b;
	result_init(r, ALG_SOAR, p->lim);
	if (!writes_in_sequence(p, &a, &b))
		return result_refuse(r, "it requires a single writer, and two writes overlap", a, b);
	struct soar s = { .p = p };
	size_t bytes = p->n * 4ull + 4;
	s.wrs = lim_realloc(p->lim, NULL, 0, bytes);
	s.rds = lim_realloc(p->lim, NULL, 0, bytes);
	s.lin = lim_realloc(p->lim, NULL, 0, p->n + 1ull);
	int out = -1;
	if (s.wrs && s.rds && s.lin) {
		for (uint32_t i = 0; i < p->n; i++) {
			if (p->ops[i].fn == FN_WRITE)
				s.wrs[s.nwrs++] = i;
			else
				s.rds[s.nrds++] = i;
		}
		out = soar(&s);
	}
	lim_free(p->lim, s.wrs, s.wrs ? bytes : 0);
	lim_free(p->lim, s.rds, s.rds ? bytes : 0);
	lim_free(p->lim, s.lin, s.lin ? p->n + 1ull : 0);
	return r->verdict = out < 0 ? LIN_UNKNOWN : out ? LIN_HOLDS : LIN_VIOLATED;
}
