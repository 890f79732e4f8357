/*
 * intact/intact.h: the library of `intact`: check models, histories, recorded
 * executions and nets, look at the verdicts, render results.
 *
 *     struct intact_model *m = intact_model_new();
 *     struct intact_check *c = intact_check_new();
 *     struct intact_document *d = intact_document_new();
 *     if (intact_model_load(m, "queue.atm") || intact_check_run(c, m, d)) ... messages ...
 *     for (size_t i = 0; i < intact_document_answers(d); i++)
 *         printf("%s: %s\n", intact_answer_name(d, i), intact_answer_message(d, i));
 *     intact_document_free(d); intact_check_free(c); intact_model_free(m);
 *
 * Objects. Every struct is opaque, made by its _new function (NULL: out of memory) and freed by its _free function, which takes
 * NULL too. They refer to nothing of each other: free them in any order. A string or a text that is returned belongs to the
 * object it was asked of, and is valid until that object is loaded again, run again or freed.
 *
 * Errors. A function that can fail returns enum intact_status; on anything but INTACT_OK the object's _messages function has the
 * reasons as text: file:line:column, what was expected, a hint. The library never prints and never exits.
 *
 * Threads. Different objects may be used by different threads at the same time; one object by one thread at a time.
 *
 * Histories of objects are recorded with <intact/history.h>, transactions of a database with <intact/txn.h>.
 */
#ifndef INTACT_INTACT_H
#define INTACT_INTACT_H

#include <stddef.h>
#include <stdint.h>

#include <intact/history.h>
#include <intact/txn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when something is added; what is here stays as it is under one soname. */
#define INTACT_API_VERSION 3

/* INTACT_API_VERSION of the library that is linked. */
int intact_api_version(void);
/* The version of Intact: "0.1.0". */
const char *intact_version(void);

enum intact_status {
	INTACT_OK = 0,
	INTACT_INVALID = 1, /* a file, a text or an option is wrong, or there is no such answer */
	INTACT_NO_MEMORY = 2,
	INTACT_INTERNAL = 3, /* a bug in Intact */
};

/* ---- models (.atm, .sml: docs/language.md) ---------------------------------------------------------------------- */

struct intact_model;

struct intact_model *intact_model_new(void);
void intact_model_free(struct intact_model *m);
/* Before it is loaded: run n threads of this name; 0: a proof is to be for any number of them. */
enum intact_status intact_model_threads(struct intact_model *m, const char *name, uint32_t n);
/* Reads a file; ".sml" is SML. What was loaded before is forgotten. */
enum intact_status intact_model_load(struct intact_model *m, const char *path);
/* The same for a text; `name` is used in messages; its suffix determines the language. */
enum intact_status intact_model_load_text(struct intact_model *m, const char *name, const char *text, size_t len);
/* Warnings, or why it could not be loaded; "" when there is nothing to say. */
const char *intact_model_messages(const struct intact_model *m);

/* ---- checks ------------------------------------------------------------------------------------------------------ */

struct intact_check;
struct intact_document;

struct intact_check *intact_check_new(void);
void intact_check_free(struct intact_check *c);
/*
 * An option of `intact check`, named without its dashes: "engine", "block", "max-states", "max-memory", "timeout", "jobs",
 * "condition", "assertion", "track", "abstract" with a value as on the command line; "faults", "deadlock", "reduced" with NULL.
 * "track" and "abstract" may be set several times.
 */
enum intact_status intact_check_set(struct intact_check *c, const char *option, const char *value);
/* Checks the model. The result is the document *d; may be run again, with other options or another model. */
enum intact_status intact_check_run(struct intact_check *c, const struct intact_model *m, struct intact_document *d);
/* What was wrong with the last option or run; "" when nothing was. */
const char *intact_check_messages(const struct intact_check *c);

/* ---- histories, recorded executions, nets (since version 2) ------------------------------------------------------------ */

/*
 * A judge of files: options by name, then any number of files, the result of each a document. On anything but INTACT_OK the reasons
 * are in its messages; warnings are there, too.
 *
 * Histories of objects (docs/history.md), as `intact history` judges them. Options: "object", "spec", "init", "condition", "k", "delta",
 * "algorithm", "format", "order", "nil", "failed-cas", "pairs", "jobs", "timeout", "max-memory", "witness", and of transactions "level", "sessions",
 * "realtime", "keys", "version-order" ("delta", "witness", "sessions", "realtime" and "keys" with NULL, the others with a value as on the command line).
 */
struct intact_history_judge;
struct intact_history_judge *intact_history_judge_new(void);
void intact_history_judge_free(struct intact_history_judge *j);
enum intact_status intact_history_judge_set(struct intact_history_judge *j, const char *option, const char *value);
enum intact_status intact_history_judge_file(struct intact_history_judge *j, const char *path, struct intact_document *d);
/* The same for a text; `name` stands in messages and in the result. */
enum intact_status intact_history_judge_text(struct intact_history_judge *j, const char *name, const char *text, size_t len,
                                             struct intact_document *d);
/* What was recorded with <intact/history.h>, after the recording threads are done. Object and initial value are its own unless options say otherwise. */
enum intact_status intact_history_judge_recorded(struct intact_history_judge *j, struct intact_history *h,
                                                 struct intact_document *d);
const char *intact_history_judge_messages(const struct intact_history_judge *j);

/*
 * Recorded executions (docs/trace.md), as `intact trace` judges them: traces, and recordings of `intact run --record` with what the run
 * found. Options: "algorithm", "window", "limit" (findings that the result lists: 50; "0": all), "process", "memory", "witness" (a
 * file) with a value; "predict" (other schedules), "each", "lenient" with NULL; "options": for the findings of a recording, as
 * INTACT_OPTIONS has them ("suppressions=FILE"); the environment is not read.
 */
struct intact_trace_judge;
struct intact_trace_judge *intact_trace_judge_new(void);
void intact_trace_judge_free(struct intact_trace_judge *j);
enum intact_status intact_trace_judge_set(struct intact_trace_judge *j, const char *option, const char *value);
enum intact_status intact_trace_judge_file(struct intact_trace_judge *j, const char *path, struct intact_document *d);
const char *intact_trace_judge_messages(const struct intact_trace_judge *j);

/* Petri nets (PNML, ll_net), as `intact net` judges them. Options: "cover" (places), "max-events", "max-memory", "timeout" with a value;
 * "deadlock", "prefix" with NULL. */
struct intact_net_judge;
struct intact_net_judge *intact_net_judge_new(void);
void intact_net_judge_free(struct intact_net_judge *j);
enum intact_status intact_net_judge_set(struct intact_net_judge *j, const char *option, const char *value);
enum intact_status intact_net_judge_file(struct intact_net_judge *j, const char *path, struct intact_document *d);
const char *intact_net_judge_messages(const struct intact_net_judge *j);

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The result of a command as a document (docs/json.md): of one of the above, or one that `intact COMMAND --json` saved. */
struct intact_document *intact_document_new(void);
void intact_document_free(struct intact_document *d);
enum intact_status intact_document_load(struct intact_document *d, const char *path);
enum intact_status intact_document_load_text(struct intact_document *d, const char *text, size_t len);
/* Why it could not be loaded or rendered. */
const char *intact_document_messages(const struct intact_document *d);

/* "check", "history", "trace", ...; "" before anything is loaded. */
const char *intact_document_kind(const struct intact_document *d);
/* Of all answers together: one violation is enough, then one unknown. INTACT_UNKNOWN before anything is loaded. */
enum intact_verdict intact_document_verdict(const struct intact_document *d);

/* An answer is that to one question: a block, the program, an object, a finding. Numbers from 0; for others the
 * functions return INTACT_UNKNOWN, 0 or "". */
size_t intact_document_answers(const struct intact_document *d);
const char *intact_answer_name(const struct intact_document *d, size_t i); /* "worker.increment", "program" */
enum intact_verdict intact_answer_verdict(const struct intact_document *d, size_t i);
const char *intact_answer_engine(const struct intact_document *d, size_t i);  /* of a check: "reduction", "exact", ... */
const char *intact_answer_title(const struct intact_document *d, size_t i);   /* "worker.increment is not atomic" */
const char *intact_answer_message(const struct intact_document *d, size_t i); /* what went wrong, or why it is not known */
const char *intact_answer_file(const struct intact_document *d, size_t i);
uint32_t intact_answer_line(const struct intact_document *d, size_t i); /* 0: not known */
/* The counterexample as `intact sim --schedule` takes it ("1,2,1,2"); "" when there is none. */
const char *intact_answer_schedule(const struct intact_document *d, size_t i);
/* Its steps in order: who, and what ("count = 1"). */
size_t intact_answer_steps(const struct intact_document *d, size_t i);
const char *intact_step_thread(const struct intact_document *d, size_t i, size_t step);
const char *intact_step_text(const struct intact_document *d, size_t i, size_t step);
uint32_t intact_step_line(const struct intact_document *d, size_t i, size_t step);

enum intact_format {
	INTACT_JSON = 1,
	INTACT_TEXT,
	INTACT_HTML,
	INTACT_SARIF,
	INTACT_JUNIT,
	INTACT_GITHUB,
	INTACT_DOT, /* of a net, small enough to be drawn; since version 2 */
};

/* The document as `intact report` renders it, ended by a NUL; *len (unless NULL) is its length. NULL: out of memory, nothing
 * is loaded, or there is no such format. */
const char *intact_document_render(struct intact_document *d, enum intact_format f, size_t *len);

/*
 * Checks a result of `check`, `trace` or `history` (made with --witness) again without the engines that made it, as `intact verify` does:
 * counterexamples are replayed; claims that something holds are searched independently. `about`: the model, trace or history that it must
 * be about; NULL: what the result itself names. The answer is a document of kind "verify": INTACT_HOLDS when everything is accepted,
 * INTACT_VIOLATED when something is rejected or missing; its answers are the claims. Messages are d's.
 */
enum intact_status intact_document_verify(struct intact_document *d, const char *about, struct intact_document *answer);

#ifdef __cplusplus
}
#endif
#endif
