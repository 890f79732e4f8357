#include "history/judged.h"

const char *const condition_names[] = { "atomic", "regular", "safe", "sequential", NULL };

const char *const proof_names[] = { "none", "exhausted", "unwritten", "future", "chain", "zones", "inside",
	                            "fifo", "twice", "not-empty", "priority", "elimination", "supply", "stale", NULL };

_Static_assert(sizeof condition_names / sizeof *condition_names == COND_SEQUENTIAL + 2, "a name for each condition");
_Static_assert(sizeof proof_names / sizeof *proof_names == PROOF_STALE + 2, "a name for each proof");

const char *const algorithm_names[] = { "auto", "soar", "clmt", "greedy", "backward", "zones",
	                                "direct", "pairs", "search", "dfs", "bfs", "brute", NULL };
