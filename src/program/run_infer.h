/* run_infer: `intact run --infer`: a specification of what is not atomic, from what runs show. */
#ifndef INTACT_PROGRAM_RUN_INFER_H
#define INTACT_PROGRAM_RUN_INFER_H

#include "program/run_once.h"

/* Runs argv until nothing new is found, at most `runs` times, and writes the specification to `path`, which is read first when it
 * exists. The status of the last run (run_once.h), or EXIT_USAGE after a message. */
int run_infer(struct cli *cli, struct settings *s, const struct run_how *how, const char *path, uint64_t runs, char **argv,
              struct run_result *r);

#endif
