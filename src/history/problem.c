#include "history/judged.h"

#include <stdlib.h>

const char *const condition_names[] = { "atomic", "regular", "safe", "sequential", NULL };

const char *const proof_names[] = { "none",  "exhausted", "unwritten", "future",      "chain",  "zones", "inside", "fifo",
	                            "twice", "not-empty", "priority",  "elimination", "supply", "stale", NULL };

_Static_assert(sizeof condition_names / sizeof *condition_names == COND_SEQUENTIAL + 2, "a name for each condition");
_Static_assert(sizeof proof_names / sizeof *proof_names == PROOF_STALE + 2, "a name for each proof");

const char *const algorithm_names[] = { "auto",  "soar",   "clmt", "greedy", "backward", "zones", "direct",
	                                "pairs", "search", "dfs",  "bfs",    "brute",    NULL };

bool problem_valid(const struct problem *p)
{
	bool *taken = calloc(p->nevents + 1, sizeof *taken), ok = true;
	for (uint32_t i = 0; taken && ok && i < p->n; i++) {
		const struct hop *op = &p->ops[i];
		bool ends = op->ret != RANK_INF;
		ok = op->call < p->nevents && (!ends || (op->ret < p->nevents && op->call < op->ret)) &&
		     (!i || p->ops[i - 1].call < op->call) && !taken[op->call] && !(ends && taken[op->ret]);
		if (!ok)
			break;
		taken[op->call] = true;
		if (ends)
			taken[op->ret] = true;
	}
	free(taken);
	return ok;
}
