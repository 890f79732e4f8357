/* verify: a saved result of any kind that can be checked again, without what made it. */
#ifndef INTACT_VERIFY_VERIFY_H
#define INTACT_VERIFY_VERIFY_H

#include <jansson.h>
#include <stdint.h>

#include "history/read.h"
#include "report/claim_list.h"
#include "verdict/verify_history.h"

/* The kind of a document, for verify_result: what its "kind" says; "check", which says what is missing, when it says nothing. */
const char *verify_kind(const json_t *root);
/*
 * Checks the document again; the claims go to *l, its status comes back. `about`: the model, trace or history that it must
 * be about, or NULL for what the document itself names; `max_states`: to go through where nothing is violated (VERIFY_STATES).
 * CLAIM_INPUT and a message in `wrong`: the document as such cannot be verified.
 */
int verify_result(struct claim_list *l, json_t *root, const char *about, uint64_t max_states, struct buf *wrong);

/* ---- check_verify.c: a result of `intact check --json` against its model ---- */

#define VERIFY_STATES 300000u /* of a search through what holds, unless told otherwise */

/* `model`: the file that it must be about, or NULL. `max_states`: of a search through what holds. */
int check_verify_report(struct claim_list *l, json_t *root, const char *model, uint64_t max_states);

/* ---- certificate_verify.c: a certificate (verdict/certificate.h) against its model ---- */

#define VERIFY_BYTES ((uint64_t)4 << 30) /* of memory, unless told otherwise */

/* Every question of the model is a claim; those that the certificate does not cover are unchecked. */
int certificate_verify(struct claim_list *l, const char *certificate, const char *model, uint64_t max_bytes);

/* ---- history_verify.c: a report of `intact history --json --witness` against its history ---- */

/* `history`: the file, or NULL for the one that the report names. */
int history_verify_report(struct claim_list *l, json_t *root, const char *history);

/* ---- history_json.c: the same, of a history that was read ---- */

/* `h` as read (not yet interpreted): object, initial value and condition are
 * taken from the report. `why` gets a reason unless it is accepted. */
enum verify_answer verify_history_json(struct history *h, const char *text, size_t len, struct why *why);

/* ---- trace_verify.c: a report of `intact trace --json` against its trace ---- */

/* Every cycle, by a judge that shares nothing with the analyses. The report as read; `trace` NULL: the file it names. What is wrong with the report itself goes to `wrong`. */
int trace_verify_report(struct claim_list *l, json_t *root, const char *trace, struct buf *wrong);

/* ---- txn_verify.c: a report of `intact history --json` on transactions against its history ---- */

/* `result` has "levels"; `path` is the history. Orders (--witness) of serializable, snapshot-isolation and prefix are followed step by
 * step, other answers are decided again. Returns CLAIM_INPUT, or what the claims come to. */
int txn_verify(struct claim_list *l, const json_t *result, struct history *h, const char *path, enum format format,
               struct diags *d);

#endif
