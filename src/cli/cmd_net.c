/*
 * net: `intact net FILE`, the prefix of a plain net's unfolding and what can
 * be read off it.
 *
 * Coverability and deadlock are decided on the prefix (causal/query.h), and
 * shown with a marking and the firings that lead to it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "causal/query.h"
#include "cli/net_json.h"
#include "cli/outputs.h"
#include "report/doc.h"
#include "report/render.h"

enum { TO_NONE, TO_PNML, TO_PEP, TO_DOT };

struct net_run {
	struct cli *cli;
	const struct cmd *cmd;
	const char *path, *cover;
	struct unfold_options opt;
	uint64_t timeout;
	bool deadlock, prefix_only;
	struct outputs outputs;
	const char *dot;
	int to;
	struct net net;
	struct prefix prefix;
	uint32_t *goal, ngoal;
	struct answer covered, dead;
	bool spent;  /* the prefix is not complete */
};

static void set_limits(struct net_run *r)
{
	if (!r->opt.max_bytes) {
		long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
		r->opt.max_bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2
		                                         : (uint64_t)4 << 30;
	}
	if (r->timeout)
		r->opt.deadline = clock_seconds() + (double)r->timeout;
}

/* ---- --cover ------------------------------------------------------------ */

static int unknown_place(struct net_run *r, const char *name, size_t len)
{
	struct buf safe, near;
	buf_init(&safe);
	buf_init(&near);
	buf_safe(&safe, name, len);
	char *word = strndup(name, len);
	int best = word && r->net.nplaces < 1 << 20
	                   ? nearest_name(word, r->net.place_name, (int)r->net.nplaces) : -1;
	if (best >= 0)
		buf_safe(&near, r->net.place_name[best], strlen(r->net.place_name[best]));
	cli_usage(r->cli, r->cmd, best >= 0 ? "--cover: the net has no place '%s'; did you mean '%s'?"
	                                    : "--cover: the net has no place '%s'%s",
	          buf_cstr(&safe), buf_cstr(&near));
	free(word);
	buf_free(&safe);
	buf_free(&near);
	return EXIT_USAGE;
}

/* The place of this name into goal[]; one that two places bear is refused. */
static int add_goal(struct net_run *r, const char *name, size_t len)
{
	uint32_t found = NET_NONE, times = 0;
	for (uint32_t p = 0; p < r->net.nplaces; p++)
		if (strlen(r->net.place_name[p]) == len && !memcmp(r->net.place_name[p], name, len)) {
			found = p;
			times++;
		}
	if (!times)
		return unknown_place(r, name, len);
	if (times > 1)
		return cli_usage(r->cli, r->cmd, "--cover: %u places of the net have that name", times);
	for (uint32_t i = 0; i < r->ngoal; i++)
		if (r->goal[i] == found)
			return EXIT_HOLDS;
	if (r->ngoal == NET_MAX_WIDTH)
		return cli_usage(r->cli, r->cmd, "--cover: more than %u places", NET_MAX_WIDTH);
	r->goal[r->ngoal++] = found;
	return EXIT_HOLDS;
}

static int read_goal(struct net_run *r)
{
	const char *s = r->cover;
	int rc = EXIT_HOLDS;
	if (!s)
		return rc;
	r->goal = calloc(NET_MAX_WIDTH, sizeof *r->goal);
	if (!r->goal)
		return EXIT_INTERNAL;
	while (rc == EXIT_HOLDS) {
		size_t len = strcspn(s, ",");
		rc = len ? add_goal(r, s, len)
		         : cli_usage(r->cli, r->cmd, "--cover: a place's name is missing");
		if (!s[len])
			break;
		s += len + 1;
	}
	return rc;
}

/* ---- the report --------------------------------------------------------- */

static void names(struct net_run *r, const uint32_t *places, uint32_t n)
{
	struct buf *out = &r->cli->out;
	for (uint32_t i = 0; i < n; i++) {
		const char *s = r->net.place_name[places[i]];
		buf_str(out, i ? ", " : "");
		if (i >= 40) {
			buf_printf(out, "... (%u in all)", n);
			return;
		}
		buf_safe(out, s, strlen(s));
	}
}

static const char *word(const struct answer *a)
{
	return a->found > 0 ? "yes" : a->found < 0 ? "unknown" : "no";
}

/* The run that leads to a marking, without the middle when it is long. */
static void run_text(struct net_run *r, const struct answer *a)
{
	struct buf *out = &r->cli->out;
	if (!a->nrun) {
		buf_str(out, "          initially\n");
		return;
	}
	buf_printf(out, "          after %u firing%s:", a->nrun, a->nrun > 1 ? "s" : "");
	for (uint32_t i = 0; i < a->nrun; i++) {
		const char *s = r->net.trans_name[a->run[i]];
		if (a->nrun > 60 && i >= 40 && i + 10 < a->nrun) {
			if (i == 40)
				buf_str(out, " ...");
			continue;
		}
		buf_char(out, ' ');
		buf_safe(out, s, strlen(s));
	}
	buf_char(out, '\n');
}

static void deadlock_text(struct net_run *r)
{
	struct buf *out = &r->cli->out;
	buf_printf(out, "deadlock  %s", word(&r->dead));
	if (r->dead.found > 0) {
		buf_str(out, ": nothing can fire at {");
		buf_str(out, r->dead.nmarking ? " " : "");
		names(r, r->dead.marking, r->dead.nmarking);
		buf_str(out, " }\n");
		run_text(r, &r->dead);
	} else {
		buf_printf(out, " (%s)\n", r->dead.found ? r->dead.limit : "decided on the prefix");
	}
}

static void text(struct net_run *r)
{
	struct buf *out = &r->cli->out;
	const struct prefix *p = &r->prefix;
	buf_printf(out, "net       %u places, %u transitions, %u initially marked\n", r->net.nplaces,
	           r->net.ntrans, r->net.ninit);
	buf_printf(out, "prefix    %llu events, %llu of them cut-offs; %llu conditions\n",
	           (unsigned long long)(p->kept + p->cutoffs), (unsigned long long)p->cutoffs,
	           (unsigned long long)prefix_conditions(p));
	buf_str(out, "1-safe    yes\n");
	if (!r->prefix_only)
		deadlock_text(r);
	if (!r->cover)
		return;
	buf_str(out, "cover     ");
	names(r, r->goal, r->ngoal);
	if (r->covered.found > 0) {
		buf_str(out, ": reachable, for example at {");
		buf_char(out, ' ');
		names(r, r->covered.marking, r->covered.nmarking);
		buf_str(out, " }\n");
		run_text(r, &r->covered);
	} else if (r->covered.found < 0) {
		buf_printf(out, ": unknown (%s)\n", r->covered.limit);
	} else {
		buf_str(out, ": not reachable (decided on the prefix)\n");
	}
}

/* ---- the document -------------------------------------------------------- */

static void name_list(const char *const *name, const char *key, const uint32_t *ids, uint32_t n,
                      struct buf *out)
{
	buf_printf(out, ", \"%s\": [", key);
	for (uint32_t i = 0; i < n; i++) {
		const char *s = name[ids[i]];
		buf_str(out, i ? ", " : "");
		buf_json(out, s, strlen(s));
	}
	buf_char(out, ']');
}

static void answer(struct net_run *r, const struct answer *a, struct buf *out)
{
	if (a->found > 0) {
		name_list(r->net.place_name, "marking", a->marking, a->nmarking, out);
		name_list(r->net.trans_name, "run", a->run, a->nrun, out);
	} else if (a->found < 0) {
		buf_printf(out, ", \"limit\": \"%s\"", a->limit);
	}
	buf_char(out, '}');
}

static void answers(struct net_run *r, struct buf *out)
{
	buf_str(out, "  \"safe\": true");
	if (!r->prefix_only) {
		buf_printf(out, ",\n  \"deadlock\": {\"answer\": \"%s\", \"asked\": %s, \"by\": \"prefix\"",
		           word(&r->dead), r->deadlock ? "true" : "false");
		answer(r, &r->dead, out);
	}
	if (!r->cover)
		return;
	buf_printf(out, ",\n  \"cover\": {\"answer\": \"%s\", \"by\": \"prefix\"", word(&r->covered));
	name_list(r->net.place_name, "places", r->goal, r->ngoal, out);
	answer(r, &r->covered, out);
}

static void document(struct net_run *r, int rc, struct buf *out)
{
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	const struct prefix *p = &r->prefix;
	buf_char(out, '{');
	doc_begin(out, "net");
	buf_printf(out, ", \"verdict\": \"%s\", \"results\": [{\n  \"file\": ", word[rc]);
	buf_json(out, r->path, strlen(r->path));
	buf_printf(out, ",\n  \"places\": %u, \"transitions\": %u, \"initially_marked\": %u,\n", r->net.nplaces,
	           r->net.ntrans, r->net.ninit);
	buf_printf(out, "  \"events\": %llu, \"cutoffs\": %llu, \"conditions\": %llu,\n",
	           (unsigned long long)(p->kept + p->cutoffs), (unsigned long long)p->cutoffs,
	           (unsigned long long)prefix_conditions(p));
	if (r->spent)
		buf_printf(out, "  \"limit\": \"%s\"", p->limit);
	else
		answers(r, out);
	net_json(&r->net, r->spent ? NULL : p, out);
	buf_str(out, "\n}]}\n");
}

static int write_reports(struct net_run *r, int rc)
{
	struct buf doc, why, dot;
	if (!outputs_wanted(&r->outputs) && !r->dot)
		return rc;
	buf_init(&doc);
	document(r, rc, &doc);
	if (r->dot) {
		buf_init(&why);
		buf_init(&dot);
		json_t *d = doc_parse(buf_cstr(&doc), doc.len, &why);
		if (d)
			render_dot(d, &dot);
		rc = d && outputs_file(r->cli, r->cmd, r->dot, "digraph intact", &dot) ? rc : EXIT_USAGE;
		json_decref(d);
		buf_free(&why);
		buf_free(&dot);
	}
	rc = outputs_write(r->cli, r->cmd, &r->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

static int unsafe(struct net_run *r)
{
	struct buf *err = &r->cli->err;
	const struct prefix *p = &r->prefix;
	const char *place = r->net.place_name[p->unsafe_place];
	const char *trans = r->net.trans_name[p->unsafe_trans];
	buf_safe(err, r->path, strlen(r->path));
	buf_str(err, ": error: the net is not 1-safe: place '");
	buf_safe(err, place, strlen(place));
	buf_str(err, "' can hold two tokens [net-unsafe]\n  note: when '");
	buf_safe(err, trans, strlen(trans));
	buf_str(err, "' fires last, the marking is {");
	/* the place first: a marking can be long */
	for (uint32_t pass = 0, shown = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < p->nmarking; i++) {
			const char *s = r->net.place_name[p->marking[i]];
			if ((p->marking[i] == p->unsafe_place) == (pass != 0) || shown == 40)
				continue;
			buf_str(err, shown++ ? ", " : " ");
			buf_safe(err, s, strlen(s));
		}
	if (p->nmarking > 40)
		buf_printf(err, ", ... (%u tokens in all)", p->nmarking);
	buf_str(err, " }\n");
	return EXIT_USAGE;
}

static int spent(struct net_run *r)
{
	const struct prefix *p = &r->prefix;
	r->spent = true;
	if (!outputs_take_stdout(&r->outputs))
		buf_printf(&r->cli->out, "unknown: the limit on %s was reached after %llu events\n",
		           p->limit, (unsigned long long)(p->kept + p->cutoffs));
	return write_reports(r, EXIT_UNKNOWN);
}

static int analyse(struct net_run *r)
{
	int rc = read_goal(r);
	if (rc != EXIT_HOLDS)
		return rc;
	set_limits(r);
	enum unfold_status st = unfold(&r->net, &r->opt, &r->prefix);
	if (st == UNFOLD_UNSAFE)
		return unsafe(r);
	if (st == UNFOLD_LIMIT)
		return spent(r);
	if (r->cover)
		prefix_cover(&r->prefix, r->goal, r->ngoal, &r->covered);
	if (!r->prefix_only)
		prefix_deadlock(&r->prefix, &r->dead);
	if (!outputs_take_stdout(&r->outputs) && !(r->dot && !strcmp(r->dot, "-"))) {
		r->cli->prose = true;
		text(r);
	}
	if (r->covered.found > 0 || (r->deadlock && r->dead.found > 0))
		return write_reports(r, EXIT_VIOLATED);
	if (r->covered.found < 0 || (r->deadlock && r->dead.found < 0))
		return write_reports(r, EXIT_UNKNOWN);
	return write_reports(r, EXIT_HOLDS);
}

static int load_and_run(struct net_run *r, struct arena *a)
{
	struct source src;
	struct diags d;
	const char *why;
	jmp_buf oom;
	if (setjmp(oom)) {
		buf_str(&r->cli->err, "intact net: out of memory while reading the net\n");
		return EXIT_UNKNOWN;
	}
	a->oom = &oom;
	diags_init(&d, a);
	if (!source_read(&src, a, r->path, &why)) {
		buf_str(&r->cli->err, "intact net: cannot read ");
		buf_safe(&r->cli->err, r->path, strlen(r->path));
		buf_printf(&r->cli->err, ": %s\n", why);
		return EXIT_USAGE;
	}
	bool ok = net_read(&src, a, &d, &r->net);
	diags_render(&d, &r->cli->err, r->cli->color_err);
	if (!ok)
		return EXIT_USAGE;
	switch (r->to) {
	case TO_PNML: net_write_pnml(&r->net, &r->cli->out); return EXIT_HOLDS;
	case TO_PEP:  net_write_pep(&r->net, &r->cli->out); return EXIT_HOLDS;
	case TO_DOT:  net_write_dot(&r->net, &r->cli->out); return EXIT_HOLDS;
	default:      return analyse(r);
	}
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	static const char *const forms[] = { "none", "pnml", "pep", "dot", NULL };
	struct net_run *r = calloc(1, sizeof *r);
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	if (!r || !args) {
		free(r);
		free(args);
		return EXIT_INTERNAL;
	}
	*r = (struct net_run){ .cli = cli, .cmd = cmd };
	const struct opt table[] = {
		{ OPT_STR, "cover", 0, "PLACE[,PLACE...]", &r->cover, "check whether all these places can be marked at once (exit 1 if so)", 0, 0, NULL },
		{ OPT_FLAG, "deadlock", 0, NULL, &r->deadlock, "treat a deadlock as a violation: exit 1 if there is one, 3 if unknown", 0, 0, NULL },
		{ OPT_FLAG, "prefix", 0, NULL, &r->prefix_only, "build only the prefix: do not search for a deadlock", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits (when one is reached, the answer is unknown)", 0, 0, NULL },
		{ OPT_UINT, "max-events", 0, "N", &r->opt.max_events, "events of the prefix, including cut-offs", 1, 0, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &r->opt.max_bytes, "memory limit (default: half the machine's memory)", 1 << 16, 0, NULL },
		{ OPT_UINT, "timeout", 0, "SECONDS", &r->timeout, "time limit for the whole command", 1, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output", 0, 0, NULL },
		{ OPT_CHOICE, "to", 0, "FORM", &r->to, "print the net in this format instead", 0, 0, forms },
		{ OPT_FILE, "dot", 0, "FILE", &r->dot, "write the prefix (or the net) for Graphviz, if it is small", 0, 0, NULL },
		OUTPUT_OPTIONS(&r->outputs),
		{ .help = NULL },
	};
	struct opts o = { table, args, 0, false };
	struct buf why;
	struct arena a;
	int rc;
	buf_init(&why);
	arena_init(&a, 0);
	if (!opts_parse(&o, argc, argv, &why)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	} else if (o.help) {
		rc = cli_help(cli, cmd, table);
	} else if (!o.nargs && outputs_swallowed(&r->outputs, &why)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	} else if (o.nargs != 1) {
		rc = cli_usage(cli, cmd, o.nargs ? "expected one FILE argument" : "missing FILE argument");
	} else if (outputs_wrong(&r->outputs)) {
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&r->outputs));
	} else if (r->prefix_only && r->deadlock) {
		rc = cli_usage(cli, cmd, "--prefix and --deadlock cannot be combined");
	} else {
		r->opt.keep_cutoffs = r->prefix_only ? 0 : 1 << 20;
		r->path = args[0];
		rc = load_and_run(r, &a);
	}
	prefix_free(&r->prefix);
	answer_free(&r->covered);
	answer_free(&r->dead);
	free(r->goal);
	arena_free(&a);
	buf_free(&why);
	free(args);
	free(r);
	return rc;
}

const struct cmd cmd_net = {
	"net", "unfold a Petri net (PNML, ll_net)", "net [OPTIONS] FILE",
	"Builds the complete finite prefix of the unfolding of a 1-safe net. Reports its size, whether the\n"
	"net can deadlock, and whether places can be marked together. Reads PEP's ll_net and PNML\n"
	"place/transition nets ('-' is standard input). For a net that is not 1-safe, reports the place\n"
	"and the marking that show it.\n\n"
	"Exit code: 0 done (and not coverable), 1 coverable or (--deadlock) a deadlock, 2 usage or input,\n"
	"3 unknown (a limit was reached), 4 internal error.",
	NULL, run,
};
