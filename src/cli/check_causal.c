#include "cli/check_causal.h"

#include <stdlib.h>
#include <string.h>

#include "cli/answers.h"
#include "report/causal_text.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "report/step_text.h"
#include "verdict/replay.h"

/* ---- the run, concretely ---------------------------------------------------- */

/* "--threads worker=2 --schedule 1,1,2": what `intact sim` takes. p is the
 * model with the threads of the run. */
static void write_schedule(const struct ir *p, const uint32_t *declared, struct causal_run *r)
{
	struct run run;
	struct buf b;
	buf_init(&b);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].count != declared[t])
			buf_printf(&b, "--threads %s=%u ", p->templates[t].name, p->templates[t].count);
	buf_str(&b, "--schedule ");
	if (r->concrete == CAUSAL_POSSIBLE && run_init(&run, p)) {
		if (replay(&run, r->path, r->npath))
			text_schedule(&run, &b);
		run_free(&run);
	} else {
		for (uint32_t e = 0; e < r->nevents; e++) {
			const struct causal_thread *t = &r->threads[r->events[e].thread];
			buf_printf(&b, "%s%u", e ? "," : "", p->templates[t->tmpl].first_thread + t->index);
		}
	}
	free(r->schedule);
	r->schedule = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_free(&b);
}

/* The model once more with as many threads as the run has, and the run tried
 * on it. Quietly: when it cannot be read again (a pipe), it is not tried. */
static void try_with_more(struct cli *cli, const struct cmd *cmd, const struct check_causal *c,
                          const uint32_t *declared, struct causal_run *r, const struct ir *p)
{
	const char **items = calloc(p->ntemplates + 1ull, sizeof *items);
	struct model_options mo = *c->model;
	struct lang l;
	struct buf kept = cli->err;
	lang_init(&l);
	buf_init(&cli->err);
	mo.threads = (struct opt_list){ .items = items, .n = 0 };
	mo.quiet = true;
	for (uint32_t t = 0; items && t < p->ntemplates; t++)
		items[mo.threads.n++] = arena_printf(&l.arena, "%s=%u", p->templates[t].name, r->count[t]);
	if (items && strcmp(c->path, "-") != 0 &&
	    model_load(cli, cmd, &l, c->path, &mo) == EXIT_HOLDS) {
		causal_replay(l.ir, r);
		write_schedule(l.ir, declared, r);
	}
	buf_free(&cli->err);
	cli->err = kept;
	lang_free(&l);
	free(items);
}

static void look_at_run(struct cli *cli, const struct cmd *cmd, const struct check_causal *c,
                        const struct ir *p, struct causal_run *r)
{
	uint32_t *declared = calloc(p->ntemplates + 1ull, sizeof *declared);
	bool same = true;
	for (uint32_t t = 0; declared && t < p->ntemplates; t++) {
		declared[t] = p->templates[t].count;
		same &= r->count[t] == declared[t];
	}
	if (declared && same)
		write_schedule(p, declared, r);
	else if (declared && !p->sml)
		try_with_more(cli, cmd, c, declared, r, p);
	free(declared);
}

/* ---- questions and answers --------------------------------------------------- */

static int report(struct cli *cli, const struct cmd *cmd, const struct check_causal *c,
                  const struct ir *p, const struct verdict *v, uint32_t n)
{
	struct causal_text_options o = { .width = cli->columns, .utf8 = cli->utf8_out,
		                         .color = cli->color_out, .stats = c->stats, .model = c->path };
	struct check_json_options jo = { .model = c->path, .engine = c->engine, .block = c->block, .keep_dead = c->model->keep_dead };
	struct buf doc;
	int rc = answers_exit_code(v, n);
	cli->prose = !outputs_take_stdout(c->outputs);
	if (outputs_take_stdout(c->outputs))
		;
	else if (n)
		causal_text(p, v, n, &o, &cli->out);
	else
		buf_str(&cli->out, "no atomic block\n");
	if (!outputs_wanted(c->outputs))
		return rc;
	buf_init(&doc);
	check_json(p, v, n, &jo, &doc);
	rc = outputs_write(cli, cmd, c->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

int check_causal(struct cli *cli, const struct cmd *cmd, const struct check_causal *c,
                 const struct ir *p)
{
	struct verdict *v = calloc(p->nblocks + 1ull, sizeof *v);
	struct arena a;
	struct diags d;
	uint32_t n = 0;
	bool ok = true;
	int rc;
	if (!v)
		return EXIT_INTERNAL;
	arena_init(&a, 0);
	diags_init(&d, &a);
	for (uint32_t b = 0; b <= p->nblocks && ok; b++) {
		uint32_t block = b < p->nblocks ? b : VERDICT_PROGRAM;
		if (c->block ? block == VERDICT_PROGRAM || !answers_name_block(p, b, c->block) : !p->nblocks)
			continue;
		ok = causal_check(p, block, &c->causal, &d, &v[n]);
		if (v[n].causal)
			look_at_run(cli, cmd, c, p, v[n].causal);
		n++;
	}
	diags_render(&d, &cli->err, cli->color_err);
	if (!ok)
		rc = EXIT_USAGE;
	else if (c->block && !n)
		rc = cli_usage(cli, cmd, "--block: the model has no block '%s'", c->block);
	else
		rc = report(cli, cmd, c, p, v, n);
	for (uint32_t i = 0; i < n; i++)
		verdict_free(&v[i]);
	free(v);
	arena_free(&a);
	return rc;
}
