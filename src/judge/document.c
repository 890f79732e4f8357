#include "judge/document.h"

#include "base/invariant.h"
#include "report/doc.h"

int judge_worse(int a, int b)
{
	assert(a >= EXIT_HOLDS && a <= EXIT_INTERNAL && b >= EXIT_HOLDS && b <= EXIT_INTERNAL);
	static const int rank[] = {
		[EXIT_HOLDS] = 0, [EXIT_UNKNOWN] = 1, [EXIT_VIOLATED] = 2, [EXIT_USAGE] = 3, [EXIT_INTERNAL] = 4
	};
	return rank[b] > rank[a] ? b : a;
}

struct buf *judge_next(struct buf *results)
{
	if (results && results->len)
		buf_str(results, ",\n");
	return results;
}

void judge_document(const char *kind, int rc, const struct buf *results, struct buf *out)
{
	assert(rc >= EXIT_HOLDS && rc <= EXIT_UNKNOWN);
	/* a file that could not be read leaves the whole undecided */
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	struct json_out j;
	json_out_init(&j, out, false);
	doc_begin(&j, kind, 0);
	json_text(&j, "verdict", word[rc]);
	doc_results(&j, results);
	doc_end(&j);
}
