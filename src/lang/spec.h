/*
 * spec: a sequential specification written in the model language, for
 * `intact history --spec`:
 *
 *     object account {
 *       int[0..1000] balance;
 *       void deposit(int n) { balance += n; }
 *       bool withdraw(int n) {
 *         if (balance < n) { return false; }
 *         balance -= n;
 *         return true;
 *       }
 *     }
 *
 * One object that implements nothing (no `: register(...)`), with constants,
 * enums, procedures and variables beside it if need be, and no threads. Each
 * method runs alone, as one step.
 *
 * How: the file is parsed; then the object's braces are blanked out, which
 * makes its fields variables and its methods procedures at their places in the
 * text, and a thread for each method is appended, `step { result =
 * method(arguments); }`. That text is loaded like any model, so messages have
 * the places of the file.
 */
#ifndef INTACT_LANG_SPEC_H
#define INTACT_LANG_SPEC_H

#include "ir/seqspec.h"
#include "lang/lang.h"

/* NULL when there are errors (in l->diags) or when out of memory. Owned by l. */
const struct seqspec *lang_load_spec(struct lang *l, const char *path);
const struct seqspec *lang_load_spec_text(struct lang *l, const char *name, const char *text, size_t len);

#endif
