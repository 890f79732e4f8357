/* model_net: the Petri net of a model, for `intact export --net=FORMAT`. */
#ifndef INTACT_JUDGE_MODEL_NET_H
#define INTACT_JUDGE_MODEL_NET_H

#include "base/opts.h"
#include "lang/lang.h"

struct model_net {
	int format;        /* of net_forms (judge/net.h); 0: none */
	const char *block; /* whose chosen occurrence has its own places, or NULL */
	struct opt_list track, abstract;
};

/* Writes the net of a loaded model; the exit code. What is wrong with the options goes to `wrong`, with the model to `err`. */
int model_net(const struct model_net *x, struct lang *l, struct buf *out, struct buf *wrong, struct buf *err, bool color_err);

#endif
