/*
 * certify: writes a certificate (verdict/certificate.h) for what a check has found to hold.
 *
 * Every question of the model is listed, with the reason when it is not certified. What was found violated is left out; the rest is searched again,
 * by the rules of the checker and for the declared threads, whichever engine has answered. Commit points are taken from the
 * commit engine, as hints: where they do not fit, blocks are tried at every moment.
 */
#ifndef INTACT_CHECK_CERTIFY_H
#define INTACT_CHECK_CERTIFY_H

#include "check/check.h"
#include "verdict/certified.h"

#define CERTIFY_STATES 20000000u /* of one set, when there is no limit on states or time */

struct certify_options {
	const char *path;
	char text[17], program[17]; /* hashes of the model's text and of the program it becomes */
	const struct check_options *check;
};

enum certify_status {
	CERTIFY_OK,
	CERTIFY_NOT_WRITTEN,   /* errno says why */
	CERTIFY_CONTRADICTION, /* the search for it finds wrong what an engine has proved: a bug */
	CERTIFY_NO_MEMORY,
};

/* `p`: the model, as loaded; `r`: what the check of it has found. c->v is malloc'ed. */
enum certify_status certify(const struct ir *p, const struct check_result *r, const struct certify_options *o, struct certified *c);

#endif
