/* export_net: `intact export --net=FORMAT`, the Petri net of a model. */
#ifndef INTACT_CLI_EXPORT_NET_H
#define INTACT_CLI_EXPORT_NET_H

#include "cli/model.h"

enum { NET_OFF, NET_PNML, NET_PEP, NET_DOT };

struct export_net {
	int format;        /* NET_* */
	const char *block; /* whose chosen occurrence has its own places, or NULL */
	struct opt_list track, abstract;
};

/* Prints the net of a loaded model; the exit code. */
int export_net(struct cli *cli, const struct cmd *cmd, const struct export_net *x, struct lang *l);

#endif
