/* sim_shell: `intact sim --interactive`. */
#ifndef INTACT_CLI_SIM_SHELL_H
#define INTACT_CLI_SIM_SHELL_H

#include "base/console.h"
#include "sim/sim.h"

/* A session on standard input and output; the steps that were taken are in s->run. */
void sim_shell(struct sim *s, struct cli *cli);

#endif
