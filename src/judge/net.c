/*
 * net: see net.h. Coverability and deadlock are decided on the prefix (causal/query.h), and shown with a marking and
 * the firings that lead to it.
 */
#include "judge/net.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/console.h"
#include "base/invariant.h"
#include "causal/query.h"
#include "judge/net_json.h"
#include "report/doc.h"
#include "report/render.h"

_Static_assert(EXIT_HOLDS == 0 && EXIT_UNKNOWN == 3, "codes are indices of words");

enum { TO_NONE, TO_PNML, TO_PEP, TO_DOT };
const char *const net_forms[] = { "none", "pnml", "pep", "dot", NULL };

void net_write_form(const struct net *n, int form, struct buf *out)
{
	assert(form > TO_NONE && form <= TO_DOT);
	switch (form) {
	case TO_PNML:
		net_write_pnml(n, out);
		break;
	case TO_PEP:
		net_write_pep(n, out);
		break;
	default:
		net_write_dot(n, out);
		break;
	}
}

struct net_run {
	const struct net_args *a;
	const struct net_sink *to;
	const char *path;
	struct unfold_options opt;
	int form;
	struct net net;
	struct prefix prefix;
	uint32_t *goal, ngoal;
	struct query_answer covered, dead;
	bool judged; /* there are answers, or a limit */
	bool spent;  /* the prefix is not complete */
};

static void set_limits(struct net_run *r)
{
	r->opt.max_events = r->a->max_events;
	r->opt.max_bytes = r->a->max_bytes;
	r->opt.keep_cutoffs = r->a->prefix_only ? 0 : 1 << 20;
	if (!r->opt.max_bytes) {
		long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
		r->opt.max_bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)4 << 30;
	}
	if (r->a->timeout)
		r->opt.deadline = clock_seconds() + (double)r->a->timeout;
	assert(r->opt.max_bytes);
}

/* ---- --cover ------------------------------------------------------------ */

static int unknown_place(struct net_run *r, const char *name, size_t len)
{
	struct buf safe, near;
	buf_init(&safe);
	buf_init(&near);
	buf_safe(&safe, name, len);
	char *word = strndup(name, len);
	int best = word && r->net.nplaces < 1 << 20 ? nearest_name(word, r->net.place_name, (int)r->net.nplaces) : -1;
	if (best >= 0)
		buf_safe(&near, r->net.place_name[best], strlen(r->net.place_name[best]));
	buf_printf(r->to->wrong,
	           best >= 0 ? "--cover: the net has no place '%s'; did you mean '%s'?" : "--cover: the net has no place '%s'%s",
	           buf_cstr(&safe), buf_cstr(&near));
	free(word);
	buf_free(&safe);
	buf_free(&near);
	return EXIT_USAGE;
}

/* The place of this name into goal[]; one that two places bear is refused. */
static int add_goal(struct net_run *r, const char *name, size_t len)
{
	assert(r->goal && r->ngoal <= NET_MAX_WIDTH);
	uint32_t found = NET_NONE, times = 0;
	for (uint32_t p = 0; p < r->net.nplaces; p++)
		if (strlen(r->net.place_name[p]) == len && !memcmp(r->net.place_name[p], name, len)) {
			found = p;
			times++;
		}
	if (!times)
		return unknown_place(r, name, len);
	if (times > 1) {
		buf_printf(r->to->wrong, "--cover: %u places of the net have that name", times);
		return EXIT_USAGE;
	}
	for (uint32_t i = 0; i < r->ngoal; i++)
		if (r->goal[i] == found)
			return EXIT_HOLDS;
	if (r->ngoal == NET_MAX_WIDTH) {
		buf_printf(r->to->wrong, "--cover: more than %u places", NET_MAX_WIDTH);
		return EXIT_USAGE;
	}
	r->goal[r->ngoal++] = found;
	return EXIT_HOLDS;
}

static int read_goal(struct net_run *r)
{
	const char *s = r->a->cover;
	int rc = EXIT_HOLDS;
	if (!s)
		return rc;
	r->goal = calloc(NET_MAX_WIDTH, sizeof *r->goal);
	if (!r->goal)
		return EXIT_INTERNAL;
	while (rc == EXIT_HOLDS) {
		size_t len = strcspn(s, ",");
		if (!len)
			buf_str(r->to->wrong, "--cover: a place's name is missing");
		rc = len ? add_goal(r, s, len) : EXIT_USAGE;
		if (!s[len])
			break;
		s += len + 1;
	}
	return rc;
}

/* ---- the report --------------------------------------------------------- */

static const char *word(const struct query_answer *a)
{
	return a->found > 0 ? "yes" : a->found < 0 ? "unknown" : "no";
}

static void name_list(const char *const *name, const char *key, const uint32_t *ids, uint32_t n, struct json_out *j)
{
	assert(!n || ids);
	json_begin_array(j, key);
	for (uint32_t i = 0; i < n; i++)
		json_text(j, NULL, name[ids[i]]);
	json_end(j);
}

static void witness(struct net_run *r, const struct query_answer *a, struct json_out *j)
{
	assert(a->found <= 0 || a->marking || !a->nmarking);
	if (a->found > 0) {
		name_list(r->net.place_name, "marking", a->marking, a->nmarking, j);
		name_list(r->net.trans_name, "run", a->run, a->nrun, j);
	} else if (a->found < 0) {
		json_text(j, "limit", a->limit);
	}
}

static void answers(struct net_run *r, struct json_out *j)
{
	json_bool(j, "safe", true);
	if (!r->a->prefix_only) {
		json_line(j, 2);
		json_begin_object(j, "deadlock");
		json_text(j, "answer", word(&r->dead));
		json_bool(j, "asked", r->a->deadlock);
		json_text(j, "by", "prefix");
		witness(r, &r->dead, j);
		json_end(j);
	}
	if (!r->a->cover)
		return;
	json_line(j, 2);
	json_begin_object(j, "cover");
	json_text(j, "answer", word(&r->covered));
	json_text(j, "by", "prefix");
	name_list(r->net.place_name, "places", r->goal, r->ngoal, j);
	witness(r, &r->covered, j);
	json_end(j);
}

static void document(struct net_run *r, int rc, struct buf *out)
{
	assert(rc >= EXIT_HOLDS && rc <= EXIT_UNKNOWN);
	static const char *const word[] = { "holds", "violated", "unknown", "unknown" };
	const struct prefix *p = &r->prefix;
	struct json_out w, *j = &w;
	json_out_init(j, out, false);
	doc_begin(j, "net", 0);
	json_text(j, "verdict", word[rc]);
	json_begin_array(j, "results");
	json_begin_object(j, NULL);
	json_line(j, 2);
	json_text(j, "file", r->path);
	json_line(j, 2);
	json_uint(j, "places", r->net.nplaces);
	json_uint(j, "transitions", r->net.ntrans);
	json_uint(j, "initially_marked", r->net.ninit);
	json_line(j, 2);
	json_uint(j, "events", p->kept + p->cutoffs);
	json_uint(j, "cutoffs", p->cutoffs);
	json_uint(j, "conditions", prefix_conditions(p));
	json_line(j, 2);
	if (r->spent)
		json_text(j, "limit", p->limit);
	else
		answers(r, j);
	net_json(&r->net, r->spent ? NULL : p, j);
	json_line(j, 0);
	json_end(j);
	json_end(j);
	doc_end(j);
}

/* The document, and the text of it. */
static void tell(struct net_run *r, int rc)
{
	assert(r->judged);
	struct buf doc;
	buf_init(&doc);
	document(r, rc, &doc);
	if (r->to->document) {
		buf_add(r->to->document, buf_cstr(&doc), doc.len);
		r->to->document->failed |= doc.failed;
	}
	if (r->to->text) {
		json_t *told = json_loadb(buf_cstr(&doc), doc.len, 0, NULL);
		net_result_text(json_array_get(json_object_get(told, "results"), 0), r->to->text);
		r->to->text->failed |= !told;
		json_decref(told);
	}
	buf_free(&doc);
}

static int unsafe(struct net_run *r)
{
	assert(r->prefix.unsafe_place < r->net.nplaces && r->prefix.unsafe_trans < r->net.ntrans);
	struct buf *err = r->to->err;
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
	assert(!r->judged);
	r->spent = r->judged = true;
	return EXIT_UNKNOWN;
}

static int analyse(struct net_run *r)
{
	assert(r->a && !r->form);
	int rc = read_goal(r);
	if (rc != EXIT_HOLDS)
		return rc;
	set_limits(r);
	enum unfold_status st = unfold(&r->net, &r->opt, &r->prefix);
	if (st == UNFOLD_UNSAFE)
		return unsafe(r);
	if (st == UNFOLD_LIMIT)
		return spent(r);
	r->judged = true;
	if (r->a->cover)
		prefix_cover(&r->prefix, r->goal, r->ngoal, &r->covered);
	if (!r->a->prefix_only)
		prefix_deadlock(&r->prefix, &r->dead);
	if (r->covered.found > 0 || (r->a->deadlock && r->dead.found > 0))
		return EXIT_VIOLATED;
	if (r->covered.found < 0 || (r->a->deadlock && r->dead.found < 0))
		return EXIT_UNKNOWN;
	return EXIT_HOLDS;
}

static int load(struct net_run *r, struct arena *a)
{
	struct source src;
	struct diags d;
	struct why why;
	jmp_buf oom;
	if (setjmp(oom)) {
		buf_str(r->to->err, "intact net: out of memory while reading the net\n");
		return EXIT_UNKNOWN;
	}
	a->oom = &oom;
	diags_init(&d, a);
	if (!source_read(&src, a, r->path, &why)) {
		buf_str(r->to->err, "intact net: cannot read ");
		buf_safe(r->to->err, r->path, strlen(r->path));
		buf_printf(r->to->err, ": %s\n", why.text);
		return EXIT_USAGE;
	}
	bool ok = net_read(&src, a, &d, &r->net);
	diags_render(&d, r->to->err, r->to->color_err);
	if (!ok)
		return EXIT_USAGE;
	if (!r->form)
		return analyse(r);
	net_write_form(&r->net, r->form, r->to->text);
	return EXIT_HOLDS;
}

static int run(struct net_run *r)
{
	assert(r->to && r->path && (r->a || r->form));
	struct arena a;
	arena_init(&a, 0);
	int rc = load(r, &a);
	if (r->judged)
		tell(r, rc);
	prefix_free(&r->prefix);
	answer_free(&r->covered);
	answer_free(&r->dead);
	free(r->goal);
	arena_free(&a);
	return rc;
}

const char *net_args_wrong(const struct net_args *a)
{
	return a->prefix_only && a->deadlock ? "--prefix and --deadlock cannot be combined" : NULL;
}

int net_judge(const struct net_args *a, const char *path, const struct net_sink *to)
{
	return run(&(struct net_run){ .a = a, .to = to, .path = path });
}

int net_rewrite(int form, const char *path, const struct net_sink *to)
{
	return run(&(struct net_run){ .to = to, .path = path, .form = form });
}
