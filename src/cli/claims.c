#include "cli/claims.h"

_Static_assert((int)LEDGER_HOLDS == EXIT_HOLDS && (int)LEDGER_VIOLATED == EXIT_VIOLATED && (int)LEDGER_INPUT == EXIT_USAGE &&
               (int)LEDGER_OPEN == EXIT_UNKNOWN && (int)LEDGER_INTERNAL == EXIT_INTERNAL, "a status is an exit code");

void claims_init(struct ledger *l, struct cli *cli, const struct outputs *o, const char *file, const char *of)
{
	ledger_init(l, &cli->err, file, of);
	l->color = cli->color_err;
	l->keep = outputs_wanted(o);
	if (outputs_take_stdout(o))
		return;
	l->text = &cli->out;
	cli->prose = true;
}

int claims_end(struct ledger *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc)
{
	struct buf doc;
	buf_init(&doc);
	if (l->keep && ledger_document(l, rc, &doc))
		rc = outputs_write(cli, cmd, o, &doc, rc);
	buf_free(&doc);
	ledger_free(l);
	return rc;
}
