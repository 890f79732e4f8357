#include "base/invariant.h"
#include "cli/outputs.h"

#include "report/doc.h"

_Static_assert((int)CLAIM_HOLDS == EXIT_HOLDS && (int)CLAIM_VIOLATED == EXIT_VIOLATED && (int)CLAIM_INPUT == EXIT_USAGE &&
                       (int)CLAIM_OPEN == EXIT_UNKNOWN && (int)CLAIM_INTERNAL == EXIT_INTERNAL,
               "a status is an exit code");

void claims_init(struct claim_list *l, struct cli *cli, const char *file, const char *of)
{
	claim_list_init(l, &cli->err, file, of);
	l->color = cli->color_err;
}

int claims_end(struct claim_list *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc)
{
	assert(rc >= EXIT_HOLDS && rc <= EXIT_INTERNAL);
	struct buf doc, why;
	buf_init(&doc);
	buf_init(&why);
	/* claims are told although something else could not be read; a document is of what could */
	bool read = rc != CLAIM_INPUT, told = claim_list_document(l, read || !l->listed ? rc : CLAIM_OPEN, &doc);
	json_t *parsed = told && !outputs_take_stdout(o) ? doc_parse(buf_cstr(&doc), doc.len, &why) : NULL;
	if (parsed) {
		cli->prose = true;
		claim_list_text(parsed, &cli->out);
	}
	if (told && read && outputs_wanted(o))
		rc = outputs_write(cli, cmd, o, &doc, rc);
	json_decref(parsed);
	buf_free(&doc);
	buf_free(&why);
	claim_list_free(l);
	return rc;
}
