/*
 * read: histories from text. The formats:
 *
 *   edn   {:process 0, :type :invoke, :f :write, :value 3} a line or in one
 *         vector (Jepsen, Knossos); :nemesis skipped; or [0 :invoke :write 3]
 *   json  the same as JSON, one object per line or in one array; or whole
 *         operations {"ClientId":0,"Input":..,"Call":1,"Output":..,"Return":5}
 *   csv   client,op,value,call,return with or without a header; also
 *         separated by blanks, tabs or semicolons
 *   log   INFO  jepsen.util - 0  :invoke  :write  3
 *   violin  [1] call add(3), then [1] return (Violin, LiMo)
 *
 * and those of transactions alone, which txn/read.h reads: plume, dbcop, dbcop-json, cobra (a directory), txn-csv
 *
 * A reader yields one record at a time and keeps nothing of the text; history
 * building (matching responses to invocations) is on top of it.
 */
#ifndef INTACT_HISTORY_READ_H
#define INTACT_HISTORY_READ_H

#include "history/form.h"
#include "history/history.h"
#include "history/input.h"

enum format {
	FORMAT_GUESS,
	FORMAT_EDN,
	FORMAT_JSON,
	FORMAT_CSV,
	FORMAT_LOG,
	FORMAT_VIOLIN,
	FORMAT_PLUME,
	FORMAT_DBCOP,
	FORMAT_DBCOP_JSON,
	FORMAT_COBRA,
	FORMAT_TXN_CSV
};
extern const char *const format_names[]; /* by enum format, NULL-terminated */

enum read_kind { REC_SKIP, REC_INVOKE, REC_OK, REC_FAIL, REC_INFO, REC_OP };

struct read_rec {
	enum read_kind kind;
	uint32_t fn; /* enum fn, or a method of the user's specification */
	bool has_proc, has_key, has_time, has_call, has_ret, failed, skip;
	val proc, key;
	val in, out; /* VAL_NONE when absent; an event has only `in` */
	val ok;      /* of an output: what its "ok" says */
	int64_t time, call, ret;
	uint32_t line;
	const char *start; /* in the reader's window */
	size_t len;
	const char *fname; /* the name of the operation as written */
	size_t fname_len;
};

enum read_order { ORDER_STRICT, ORDER_LINES, ORDER_TIME };

struct read_options {
	enum format format;
	enum read_order order; /* what counts when lines and times disagree */
	bool keep_times;       /* for --delta */
	bool drop_times;       /* clock times are not needed once ranked */
};

#define CSV_MAX_COLUMNS 32
enum csv_column { COL_SKIP, COL_CLIENT, COL_OP, COL_VALUE, COL_CALL, COL_RETURN, COL_KEY, COL_RESULT, COL_STATUS };

struct reader {
	struct input in;
	struct history *h;
	struct diags *d;
	enum format format;
	uint32_t line; /* of the window's first byte */
	bool started, in_array, ended;
	bool directory; /* there is no text: in.name is a directory */
	uint8_t columns[CSV_MAX_COLUMNS];
	uint32_t ncolumns;
	char sep;                  /* 0: blanks */
	struct map called, passed; /* violin: by process, its open operation and what it was passed */
};

bool reader_open(struct reader *r, struct history *h, const char *path, enum format f, struct diags *d);
/* Over text in memory, for tests and fuzzing. */
bool reader_open_text(struct reader *r, struct history *h, const char *name, const char *text, size_t len, enum format f,
                      struct diags *d);
void reader_close(struct reader *r);
/* 1 and *rec, 0 at the end, -1 after an error. *rec's slices live until the
 * next call. */
int reader_next(struct reader *r, struct read_rec *rec);
/* An error at a slice of the window (or at the record). */
void reader_error(struct reader *r, const char *at, size_t len, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The whole history: raw operations with ranks. False after an error in d or
 * a reached limit in h->lim. */
bool history_read(struct history *h, const char *path, const struct read_options *o, struct diags *d);
bool history_read_text(struct history *h, const char *name, const char *text, size_t len, const struct read_options *o,
                       struct diags *d);
/* The same with a reader that is open already; it is closed then. */
bool history_read_opened(struct reader *r, const struct read_options *o);
/* One line of the history's file, read again for a message. */
struct source *history_line(struct history *h, uint32_t line);

/* the formats: a record at in->buf + in->pos; FORM_MORE asks for more text */
enum form_status rec_form(struct reader *r, struct read_rec *rec, size_t *used, uint32_t *newlines);
enum form_status rec_csv(struct reader *r, const char *s, const char *e, struct read_rec *rec);
enum form_status rec_violin(struct reader *r, const char *s, const char *e, struct read_rec *rec);
enum form_status rec_log(struct reader *r, const char *s, const char *e, struct read_rec *rec);

/* Writing, for `intact history convert`. */
void history_write(const struct history *h, enum format f, struct buf *out, bool (*flush)(void *arg, struct buf *b), void *arg);

#endif
