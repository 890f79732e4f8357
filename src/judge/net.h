/*
 * net: a Petri net judged: the prefix of its unfolding, whether it can deadlock, whether places can be marked
 * together. For `intact net` and the library.
 */
#ifndef INTACT_JUDGE_NET_H
#define INTACT_JUDGE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/opts.h"
#include "lang/lang.h"

/* The options as they are given. */
struct net_args {
	const char *cover; /* places, with commas between them; or NULL */
	bool deadlock, prefix_only;
	uint64_t max_events, max_bytes, timeout;
};

/* Rows of an option table, for `intact net` and the library. `a`: a struct net_args *. */
/* clang-format off */
#define NET_QUESTION_OPTIONS(a) \
	{ OPT_STR, "cover", 0, "PLACE[,PLACE...]", &(a)->cover, "check whether all these places can be marked at once (exit 1 if so)", 0, 0, NULL }, \
	{ OPT_FLAG, "deadlock", 0, NULL, &(a)->deadlock, "treat a deadlock as a violation: exit 1 if there is one, 3 if unknown", 0, 0, NULL }, \
	{ OPT_FLAG, "prefix", 0, NULL, &(a)->prefix_only, "build only the prefix: do not search for a deadlock", 0, 0, NULL }
/* clang-format on */
/* clang-format off */
#define NET_LIMIT_OPTIONS(a) \
	{ OPT_UINT, "max-events", 0, "N", &(a)->max_events, "events of the prefix, including cut-offs", 1, 0, NULL }, \
	{ OPT_SIZE, "max-memory", 0, "SIZE", &(a)->max_bytes, "memory limit (default: half the machine's memory)", 1 << 16, 0, NULL }, \
	{ OPT_UINT, "timeout", 0, "SECONDS", &(a)->timeout, "time limit for the whole command", 1, 0, NULL }
/* clang-format on */

/* What is wrong with the options together, or NULL. */
const char *net_args_wrong(const struct net_args *a);

/* Where it goes. */
struct net_sink {
	struct buf *text;     /* the report; NULL: none is wanted */
	struct buf *document; /* (docs/json.md); NULL: none is wanted */
	struct buf *err;      /* what is wrong with the net */
	struct buf *wrong;    /* what is wrong with the options, which only shows when the net is known */
	bool color_err;
};

/* Judges the net in a file ("-": standard input); an exit code (base/console.h). */
int net_judge(const struct net_args *a, const char *path, const struct net_sink *to);

/* The forms a net is written in: "none" first, ended by NULL. */
extern const char *const net_forms[];
struct net;
void net_write_form(const struct net *n, int form, struct buf *out);
/* Writes the net in this form (a number of net_forms) into to->text. */
int net_rewrite(int form, const char *path, const struct net_sink *to);

/* ---- model_net.c: the Petri net of a model, for `intact export --net=FORMAT` ---- */

struct model_net {
	int format;        /* of net_forms (judge/net.h); 0: none */
	const char *block; /* whose chosen occurrence has its own places, or NULL */
	struct opt_list track, abstract;
};

/* Writes the net of a loaded model; the exit code. What is wrong with the options goes to `wrong`, with the model to `err`. */
int model_net(const struct model_net *x, struct lang *l, struct buf *out, struct buf *wrong, struct buf *err, bool color_err);

#endif
