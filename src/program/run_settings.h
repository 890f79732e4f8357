/*
 * run_settings: what INTACT_OPTIONS and the command line say about reports of
 * watched programs, and where these reports go.
 */
#ifndef INTACT_PROGRAM_RUN_SETTINGS_H
#define INTACT_PROGRAM_RUN_SETTINGS_H

#include "base/console.h"
#include "report/finding.h"

struct settings {
	struct arena arena;
	struct filter filter;
	struct text_options text;
	struct shown shown;
	const char *log_path;
	bool print_suppressions;
	struct finding_log log;  /* the findings, as results of a document */
	struct symbols *symbols; /* text.symbols */
	const char *options;     /* or NULL */
	double asked, said;      /* progress: when it began, when it was last shown */
};

/* ... of the environment, for a command: names that take their time are told of on a terminal. */
bool settings_of_command(struct settings *s, struct cli *cli);
/* Findings in this file are known; `learn`: those that are not are learned into it, for settings_learned. False after a message. */
bool settings_baseline(struct settings *s, const char *path, bool learn, bool accept, struct buf *err, bool color);
/* Writes what was learned, and says how much that was and what was not. False: it could not be written. */
bool settings_learned(const struct settings *s, struct buf *err, bool color);
/* The value of a key of the options, the last one given; NULL when it is not there. */
const char *settings_option(struct settings *s, const char *name);
/* The files that were opened for names, and the arena. */
void settings_free(struct settings *s);
/* Only these are looked for: a list like "races,locks". False after a message. */
bool settings_only(struct settings *s, const char *list, struct buf *err);
/* Was anything cut that may have been a finding? */
bool settings_cut(const struct settings *s);
/* Sends the report of process `pid` where `s` says. */
void settings_deliver(struct cli *cli, struct settings *s, struct buf *text, uint32_t pid);

/* ---- functions of a program that are to be marked blocks, by name ---- */

/* Tells the programs that are started from now on which functions of `program` are marked blocks: those that `match`
 * picks (report/finding.h, symbols_functions). False: there is no such program. */
bool atomic_functions_set(struct arena *a, const char *program,
                          bool (*match)(void *ctx, const char *function, const char *file, uint32_t line, bool there), void *ctx);

#endif
