/* check_document: a result of check_run as the data of its renderers, for `intact check` and the library. */
#ifndef INTACT_API_CHECK_DOCUMENT_H
#define INTACT_API_CHECK_DOCUMENT_H

#include "check/check.h"
#include "report/checked.h"

/* `model`: as the user named it; `keep_dead`: it was read with its dead locals kept. Replays the
 * counterexamples; false: out of memory. stories_free(c->stories, c->n) is due in any case. */
bool check_result_told(const struct check_result *r, const struct check_options *o, const char *model, bool keep_dead,
                       struct checked *c);

#endif
