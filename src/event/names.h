/*
 * names: the tables of a trace: threads, variables, locks, labels, places.
 *
 * One table maps names to dense ids and back. Representation: names of at
 * most eight bytes (nearly all of them in practice) are a 64-bit word, looked
 * up by one multiplication and about one comparison; longer ones by hash and
 * bytes. A name may also be an address (a recorder knows no more): then it
 * has no text of its own and is shown in hexadecimal.
 *
 * Invariant: ids are given in the order of first appearance, so a file that
 * lists them in that order reproduces them.
 */
#ifndef INTACT_EVENT_NAMES_H
#define INTACT_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"

enum name_space { NS_THREAD, NS_VAR, NS_LOCK, NS_LABEL, NS_LOC, NS_COUNT };

#define NAME_FULL     UINT32_MAX /* memory or ids ended */
#define NAMES_MAX_LEN 4096       /* bytes of one name */

struct name_entry {
	uint64_t word; /* text of up to 8 bytes, offset of a longer one, or address */
	uint32_t len;
	uint8_t is_addr;
};

struct name_slot {
	uint64_t word;
	uint32_t id1;  /* id + 1; 0 = free */
	uint32_t hash; /* of long names; 0 marks a short one */
};

struct names {
	struct name_entry *list;
	uint32_t len, cap;
	struct name_slot *slots;
	uint32_t nslots, used;
	char *text; /* the long names, one after the other */
	size_t text_len, text_cap;
	struct map by_addr;
};

/*
 * Which line of a text trace contains an event. A line is an event, except for
 * comments and empty lines: `runs` has an entry where the distance between the
 * two changes. At most LINE_RUNS are kept; later lines are unknown.
 */
struct line_run {
	uint64_t event, line; /* the first event of the run, and its line */
};
enum { LINE_RUNS = 1 << 20 };
struct event_lines {
	struct line_run *runs;
	uint32_t n, cap;
	uint64_t last; /* the last event given a line */
};

/* The five tables of a trace, and its lines. */
struct trace_names {
	struct names ns[NS_COUNT];
	struct event_lines lines;
};

void trace_names_init(struct trace_names *t);
void trace_names_free(struct trace_names *t);

/*
 * The id of a name, added when new; NAME_FULL when there is no room. `s` may
 * be read up to 8 bytes past its end: give names_add_safe other memory.
 */
uint32_t names_add(struct names *n, const char *s, size_t len);
uint32_t names_add_safe(struct names *n, const char *s, size_t len);
uint32_t names_add_addr(struct names *n, uint64_t addr);
/* Appends an entry whether or not the name is there already (files list
 * their tables so). An address may come with a text (NULL: none). */
bool names_append(struct names *n, const char *s, size_t len);
bool names_append_addr(struct names *n, uint64_t addr);

/* Events come in order. When out of memory, later lines are unknown. */
void lines_add(struct event_lines *l, uint64_t event, uint64_t line);
/* The line of an event; 0 when it is not known. */
uint64_t lines_of(const struct event_lines *l, uint64_t event);

/* The name as text; tmp holds it when it is short or an address. */
const char *names_text(const struct names *n, uint32_t id, char tmp[24], size_t *len);
/* Writes the name, made safe for terminals. */
void names_show(const struct names *n, uint32_t id, struct buf *out);
/* A place: number, text (the first line of it), or "?" for LOC_NONE. */
void loc_show(const struct trace_names *t, uint32_t loc, struct buf *out);

#endif
