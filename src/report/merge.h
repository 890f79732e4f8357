/*
 * merge: the documents of the parts of one check as one document, with the verdict of the whole: violated when a part is, unknown
 * when a part is or is missing, and holds only when all parts are there and hold.
 *
 * merge_history.c: shards of `intact history`, by keys; merge_explore.c: shards of `intact explore`; merge_run.c: runs of a test
 * matrix, which are wholes by themselves. When all shards are there the document is that of the whole check, except for what
 * docs/scale.md names.
 */
#ifndef INTACT_REPORT_MERGE_H
#define INTACT_REPORT_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define MERGE_MAX 100000u /* documents */

struct merge_input {
	const char *name;
	const char *text; /* a valid document (doc.h) */
	size_t len;
	const json_t *doc;
};

struct merging {
	struct arena *arena;
	struct merge_input *in; /* of one kind */
	uint32_t n;
	struct buf *err;   /* what does not fit together */
	const char *hint;  /* what to do about it, or NULL */
	struct buf *notes; /* what is missing */
};

/* Writes the document. False: the inputs are not parts of one whole, as m->err says. */
bool merge_documents(struct merging *m, struct buf *out);

/* ---- what the kinds share ---- */

/* "file: error: ..." into m->err; false. */
bool merge_wrong(struct merging *m, const struct merge_input *in, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * Puts the inputs in the order of their shards: at[k] is the input of shard k + 1, or NULL. `shard` and `shards` say which one an
 * input is. False: an input is no shard, is there twice, or is of another division. Missing ones go to m->notes; *missing counts them.
 */
struct merge_shard {
	uint32_t shard, shards;
};
bool merge_order(struct merging *m, const struct merge_shard *of, const struct merge_input **at, uint32_t *missing);
/* Is this member of both objects the same? If not, says so: "options differ". */
bool merge_same(struct merging *m, const struct merge_input *a, const json_t *x, const struct merge_input *b, const json_t *y,
                const char *key);

bool merge_history(struct merging *m, struct buf *out);
bool merge_explore(struct merging *m, struct buf *out);
bool merge_run(struct merging *m, struct buf *out);

#endif
