
#include <string.h>

#include "base/console.h"
#include "causal/program.h"
#include "judge/net.h"
#include "report/check_text.h"

/* The first thread that has the block of this name ("update" or
 * "worker.update"), and the block. */
static bool find_block(const struct ir *p, const char *name, uint32_t *thread, uint32_t *block)
{
	struct buf full;
	bool found = false;
	buf_init(&full);
	for (uint32_t b = 0; b < p->nblocks && !found; b++) {
		buf_clear(&full);
		check_text_name(p, b, &full);
		found = !strcmp(p->blocks[b].name, name) || !strcmp(buf_cstr(&full), name);
		if (found) {
			*block = b;
			*thread = p->templates[p->blocks[b].tmpl].first_thread;
		}
	}
	buf_free(&full);
	return found;
}

static bool write_net(const struct ir *p, const struct model_net *x, uint32_t thread, uint32_t block, struct arena *a,
                      struct diags *d, struct buf *out, const char **limit)
{
	struct program_options po = { .track = x->track.items,
		                      .abstract = x->abstract.items,
		                      .ntrack = (uint32_t)x->track.n,
		                      .nabstract = (uint32_t)x->abstract.n };
	struct program g;
	struct colour_net n;
	if (program_make(p, &po, a, d, &g, limit) != PROGRAM_OK ||
	    !program_net(&g, &thread, x->block ? 1 : 0, block, a, d, &n, limit))
		return false;
	net_write_form(&n.net, x->format, out);
	return true;
}

int model_net(const struct model_net *x, struct lang *l, struct buf *out, struct buf *wrong, struct buf *err, bool color_err)
{
	struct diags d;
	struct buf text;
	const char *limit = NULL;
	uint32_t thread = 0, block = IR_NONE;
	int rc = EXIT_HOLDS;
	if (x->block && !find_block(l->ir, x->block, &thread, &block)) {
		buf_printf(wrong, "--block: the model has no block '%s'", x->block);
		return EXIT_USAGE;
	}
	buf_init(&text);
	diags_init(&d, &l->arena);
	if (write_net(l->ir, x, thread, block, &l->arena, &d, &text, &limit) && !text.failed) {
		buf_add(out, buf_cstr(&text), text.len);
	} else if (d.errors) {
		rc = EXIT_USAGE;
	} else {
		buf_printf(err, "intact export: no net: limit reached (%s)\n", limit ? limit : "memory");
		rc = EXIT_UNKNOWN;
	}
	diags_render(&d, err, color_err);
	buf_free(&text);
	return rc;
}
