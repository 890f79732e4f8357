/*
 * baseline: findings of `intact run` that are known, in a file: CI fails on others only.
 *
 * The file is text, a JSON object on each line, for people to read, comment and merge: first {"intact": "baseline", "version": 1},
 * then an entry for each gap, sorted:
 *   {"function": "transfer", "pattern": "lost update", "after": ["get"], "before": ["set"]}
 * with "mark" when it is a marked block. `after` and `before` are the calls that lead from the function to both sides of the gap, by
 * name, the outermost first; no lines and no addresses, so that entries survive changes elsewhere. Lines that begin with # are
 * comments and stay with the entry below them; empty lines are skipped.
 *
 * A file comes from outside: it is bounded (16 MiB, 100,000 entries), and what is wrong in it is said with its place.
 */
#ifndef INTACT_REPORT_BASELINE_H
#define INTACT_REPORT_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_out.h"

#define BASELINE_MAX_BYTES   ((uint32_t)16 << 20)
#define BASELINE_MAX_ENTRIES 100000u

struct baseline_key {
	const char *function, *mark, *pattern; /* "": none */
	const char *after, *before;            /* calls, a line each */
};

struct baseline_entry {
	struct baseline_key key;
	const char *comment; /* lines above it, each with its end; "": none */
	uint32_t line;       /* 0: it is not in the file */
	uint32_t hits;       /* findings that it was the entry of */
};

struct baseline {
	struct arena *arena;
	const char *path;
	AVEC(struct baseline_entry) list; /* of the file, sorted */
	AVEC(struct baseline_entry) learned;
	const char *tail;   /* comments below the last entry */
	bool learn, accept; /* gaps are learned; those that are shown by default, too */
};

/* Reads the file. `optional`: one that does not exist, or is empty, has no entries. False after a message in err. */
bool baseline_read(struct baseline *b, struct arena *a, const char *path, bool optional, struct buf *err, bool color);
/* Its entry, or NULL. */
struct baseline_entry *baseline_find(const struct baseline *b, const struct baseline_key *key);
/* Adds one that baseline_find did not find; the strings stay the caller's. */
void baseline_learn(struct baseline *b, const struct baseline_key *key);
/*
 * Adds what was learned to the file as it is now, which other runs may have changed since it was read: one writer at a time, and a
 * reader sees the old file or the new one. *added: how many entries were not in it. False after a message in err.
 */
bool baseline_save(const struct baseline *b, struct buf *err, bool color, uint32_t *added);

/* The member "baseline" of a document; `known`: findings that are in it. */
void baseline_json(const struct baseline *b, uint32_t known, struct json_out *j);
/* "transfer (lost update)" */
void baseline_name(const struct baseline_key *k, struct buf *out);

#endif
