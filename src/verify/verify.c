#include "verify/verify.h"

#include <string.h>

#include "base/invariant.h"

const char *verify_kind(const json_t *root)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	return kind ? kind : "check";
}

int verify_result(struct claim_list *l, json_t *root, const char *about, uint64_t max_states, struct buf *wrong)
{
	assert(l && wrong && max_states);
	const char *kind = verify_kind(root);
	if (!strcmp(kind, "check"))
		return check_verify_report(l, root, about, max_states);
	if (!strcmp(kind, "history"))
		return history_verify_report(l, root, about);
	if (!strcmp(kind, "trace"))
		return trace_verify_report(l, root, about, wrong);
	buf_str(wrong, "results of check, trace and history can be verified; this is one of '");
	buf_safe(wrong, kind, strlen(kind) < 40 ? strlen(kind) : 40);
	buf_char(wrong, '\'');
	return CLAIM_INPUT;
}
