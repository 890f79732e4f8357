/* say: verdicts about histories in words and as JSON. */
#ifndef INTACT_LIN_SAY_H
#define INTACT_LIN_SAY_H

#include "lin/check.h"

/* Why it is violated, one or two sentences. */
void say_proof(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
               const struct part *part, struct buf *out);
/* The report on one history. */
void say_text(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
              const struct check *c, bool witness, bool color, struct buf *out);
void say_json(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
              const struct check *c, bool witness, struct buf *out);
/* JSON members, each with a comma in front: what the operations of a proof
 * are, and all operations as columns (docs/json.md). */
void say_facts(const struct history *h, const struct interpretation *in, const struct result *r, struct buf *out);
void say_log(const struct history *h, const struct interpretation *in, const struct lin_check_options *o,
             const struct check *c, struct buf *out);
const char *say_limit(const struct limits *lim);

#endif
