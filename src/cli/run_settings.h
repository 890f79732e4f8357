/*
 * run_settings: what INTACT_OPTIONS and the command line say about reports of
 * watched programs, and where these reports go.
 */
#ifndef INTACT_CLI_RUN_SETTINGS_H
#define INTACT_CLI_RUN_SETTINGS_H

#include "cli/cli.h"
#include "report/finding.h"

struct settings {
	struct arena arena;
	struct filter filter;
	struct text_options text;
	struct shown shown;
	const char *log_path;
	bool print_suppressions;
	struct finding_log log; /* for reports */
	struct symbols *symbols; /* text.symbols */
	double asked, said;      /* progress: when it began, when it was last shown */
};

/* The value of a key of INTACT_OPTIONS, the last one given; NULL when it is not there. */
const char *run_option(struct arena *a, const char *name);
/* Fills in what INTACT_OPTIONS says; `s` is zero except for its arena. False
 * when a file it names cannot be read (cli->err says so). */
bool settings_read(struct cli *cli, struct settings *s);
/* The files that were opened for names, and the arena. */
void settings_free(struct settings *s);
/* Was anything cut that may have been a finding? */
bool settings_cut(const struct settings *s);
/* Sends the report of process `pid` where `s` says. */
void settings_deliver(struct cli *cli, struct settings *s, struct buf *text, uint32_t pid);
/* Findings are kept as JSON too from now on, in s->log. */
void run_log_begin(struct settings *s);

#endif
