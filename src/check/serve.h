/*
 * serve: a rank that takes part in the searches of a check that rank 0 makes (explore/search_dist.h).
 *
 * Rank 0 asks every question and decides which engine answers it; what is no large search over states it does alone,
 * while the others wait here. A rank needs no model and no options of its own: a question brings them.
 */
#ifndef INTACT_CHECK_SERVE_H
#define INTACT_CHECK_SERVE_H

#include "dist/dist.h"

/* Takes part until rank 0 says that all is done (true) or a rank is lost (false: d->why). */
bool check_serve(struct dist *d);
/* For rank 0: all is done. */
void check_serve_end(struct dist *d);

#endif
