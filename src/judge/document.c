#include "judge/document.h"

#include "report/doc.h"

int judge_worse(int a, int b)
{
	static const int rank[] = { [EXIT_HOLDS] = 0, [EXIT_UNKNOWN] = 1, [EXIT_VIOLATED] = 2, [EXIT_USAGE] = 3, [EXIT_INTERNAL] = 4 };
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
	/* a file that could not be read leaves the whole undecided */
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	buf_char(out, '{');
	doc_begin(out, kind);
	buf_printf(out, ", \"verdict\": \"%s\", \"results\": [\n", word[rc]);
	buf_add(out, buf_cstr(results), results->len);
	buf_str(out, "\n]}\n");
}
