#include "cli/claims.h"

_Static_assert((int)CLAIM_HOLDS == EXIT_HOLDS && (int)CLAIM_VIOLATED == EXIT_VIOLATED && (int)CLAIM_INPUT == EXIT_USAGE &&
               (int)CLAIM_OPEN == EXIT_UNKNOWN && (int)CLAIM_INTERNAL == EXIT_INTERNAL, "a status is an exit code");

void claims_init(struct claim_list *l, struct cli *cli, const struct outputs *o, const char *file, const char *of)
{
	claim_list_init(l, &cli->err, file, of);
	l->color = cli->color_err;
	l->keep = outputs_wanted(o);
	if (outputs_take_stdout(o))
		return;
	l->text = &cli->out;
	cli->prose = true;
}

int claims_end(struct claim_list *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc)
{
	struct buf doc;
	buf_init(&doc);
	if (l->keep && claim_list_document(l, rc, &doc))
		rc = outputs_write(cli, cmd, o, &doc, rc);
	buf_free(&doc);
	claim_list_free(l);
	return rc;
}
