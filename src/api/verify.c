/* verify: intact_document_verify of include/intact/intact.h: a result checked again, without the engines that made it. */
#include "api/api.h"
#include "verify/check_verify.h"
#include "verify/verify.h"

API_EXPORT enum intact_status intact_document_verify(struct intact_document *d, const char *about, struct intact_document *answer)
{
	enum intact_status status = INTACT_INVALID;
	struct buf *err = api_document_messages(d), doc;
	json_t *root = api_document_root(d);
	struct claim_list l;
	buf_clear(err);
	if (!root || d == answer) {
		buf_str(err, root ? "the answer must be another document" : "no document is loaded");
		return INTACT_INVALID;
	}
	buf_init(&doc);
	claim_list_init(&l, err, "result", verify_kind(root));
	int end = verify_result(&l, root, about, VERIFY_STATES, err);
	if (claim_list_document(&l, end, &doc))
		status = doc.failed ? INTACT_NO_MEMORY : api_document_set(answer, "the answer", buf_cstr(&doc), doc.len);
	else if (end == CLAIM_INTERNAL)
		status = INTACT_INTERNAL;
	claim_list_free(&l);
	buf_free(&doc);
	return status;
}
