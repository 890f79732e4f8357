
#include "api/api.h"
#include "base/invariant.h"
#include "judge/document.h"

enum intact_status api_judged_document(int code, const struct buf *document, struct buf *messages, struct intact_document *d)
{
	if (code == EXIT_USAGE)
		return INTACT_INVALID;
	if (code == EXIT_INTERNAL)
		return INTACT_INTERNAL;
	if (!document->len && !document->failed) {
		/* a limit was reached before there was anything to say */
		return INTACT_NO_MEMORY;
	}
	enum intact_status status = document->failed ? INTACT_NO_MEMORY
	                                             : api_document_set(d, "the result", buf_cstr(document), document->len);
	if (status != INTACT_OK)
		buf_str(messages, intact_document_messages(d));
	return status;
}

enum intact_status api_judged(const char *kind, int code, const struct buf *results, struct buf *messages,
                              struct intact_document *d)
{
	assert(kind && results);
	struct buf doc;
	buf_init(&doc);
	if (code != EXIT_USAGE && code != EXIT_INTERNAL && !results->failed)
		judge_document(kind, code, results, &doc);
	doc.failed |= results->failed;
	enum intact_status status = api_judged_document(code, &doc, messages, d);
	buf_free(&doc);
	return status;
}
