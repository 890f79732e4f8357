/* verify: intact_document_verify of include/intact/intact.h: a result checked again, without the engines that made it. */
#include <string.h>

#include "api/api.h"
#include "verify/check_verify.h"
#include "verify/history_verify.h"

struct kind {
	const char *name;
	int (*verify)(struct claim_list *l, json_t *root, const char *about);
};

static int verify_check(struct claim_list *l, json_t *root, const char *about)
{
	return check_verify_report(l, root, about, VERIFY_STATES);
}

/* The kinds of documents that can be verified here. */
static const struct kind kinds[] = { { "check", verify_check }, { "history", history_verify_report } };

EXPORT enum intact_status intact_document_verify(struct intact_document *d, const char *about, struct intact_document *answer)
{
	const struct kind *kind = NULL;
	const char *name = intact_document_kind(d);
	enum intact_status status = INTACT_INVALID;
	struct buf *err = api_document_messages(d), doc;
	struct claim_list l;
	buf_clear(err);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		kind = !strcmp(kinds[i].name, name) ? &kinds[i] : kind;
	if (!kind || d == answer) {
		buf_str(err, !*name ? "no document is loaded" : kind ? "the answer must be another document"
		                    : "only results of check and history can be verified");
		return INTACT_INVALID;
	}
	buf_init(&doc);
	claim_list_init(&l, err, "result", name);
	l.keep = true;
	int end = kind->verify(&l, api_document_root(d), about);
	if (claim_list_document(&l, end, &doc))
		status = doc.failed ? INTACT_NO_MEMORY : api_document_set(answer, "the answer", buf_cstr(&doc), doc.len);
	else if (end == CLAIM_INTERNAL)
		status = INTACT_INTERNAL;
	claim_list_free(&l);
	buf_free(&doc);
	return status;
}
