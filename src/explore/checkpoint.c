#include "explore/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "base/varint.h"
#include "explore/level_log.h"
#include "explore/search.h"

#define MANIFEST     "checkpoint"
#define MANIFEST_NEW "checkpoint.new"
#define MAGIC        "intact checkpoint 1\n"
#define MANIFEST_MAX ((off_t)256 << 20) /* bytes */

static const char *const limits[] = { "states", "memory", "time", "step", "lag", "orders", "shadows" };
enum { LIMITS = sizeof limits / sizeof *limits };
static const char interrupt[] = "interrupt";

struct decided {
	struct checkpoint_key key;
	struct search_result r;
};

struct checkpoint {
	int dir;
	char *path, *what;
	double every, next;
	const volatile sig_atomic_t *stop;
	struct decided *decided; /* in the order of the questions */
	uint32_t n, cap, at;     /* `at`: the next question is this one's, when it is below n */
	/* the search that is going on, as the directory has it */
	bool suspended;
	struct checkpoint_key key;
	uint32_t number; /* of the search: as many were decided before it */
	struct checkpoint_file levels, state;
	uint32_t generation;
	bool exists;      /* in the directory */
	bool failed;      /* it could not be loaded */
	bool interrupted; /* a result was cut short by the signal */
	bool kept;        /* nothing more is written */
	bool last;        /* the one that a signal asks for is written */
	bool later;       /* its directory is made when it is needed: then `path` ends in "/intact-XXXXXX" until it is */
	struct why trouble;
	bool troubled;
};

/* ---- questions ---------------------------------------------------------- */

static uint64_t fold(uint64_t h, uint64_t v)
{
	return hash64(h ^ v) + 0x9E3779B97F4A7C15u;
}

static uint64_t fold_ir(uint64_t h, const struct ir *p)
{
	h = fold(fold(fold(fold(fold(h, p->nthreads), p->nnodes), p->nblocks), p->nglobals), p->ncode);
	for (uint32_t i = 0; i < p->nstate; i++)
		h = fold(h, (uint32_t)p->init[i]);
	for (uint32_t i = 0; i < p->nnodes; i++)
		h = fold(h, (uint64_t)p->nodes[i].kind << 32 | p->nodes[i].block);
	for (uint32_t i = 0; i < p->nsuccs; i++)
		h = fold(h, p->succs[i]);
	return h;
}

struct checkpoint_key checkpoint_key_of(enum checkpoint_kind kind, const struct ir *ir, enum prod_mode mode, uint32_t block,
                                        const struct labelling *lab, const struct search_options *o)
{
	uint64_t h = fold(fold(fold(0, kind), mode), block);
	const bool flags[] = { o->symmetry, o->merge_local, o->drop_pure, o->transactions, o->deadlock, o->faults, lab != NULL };
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		h = fold(h, flags[i]);
	h = fold(fold(h, o->few), o->max_states);
	h = fold_ir(h, ir);
	for (uint32_t i = 0; lab && i < ir->nsuccs; i++)
		h = fold(h, lab->edge[i]);
	for (uint32_t i = 0; lab && i < ir->nblocks; i++)
		h = fold(h, lab->at_entry[i]);
	return (struct checkpoint_key){ kind, h };
}

static bool same_key(struct checkpoint_key a, struct checkpoint_key b)
{
	return a.kind == b.kind && a.hash == b.hash;
}

/* ---- the manifest: writing ---------------------------------------------- */

static void put(struct buf *b, uint64_t v)
{
	unsigned char s[16];
	buf_add(b, (const char *)s, (size_t)(put_varint(s, v) - s));
}

static void put_text(struct buf *b, const char *s)
{
	put(b, strlen(s));
	buf_str(b, s);
}

static void put_decided(struct buf *b, const struct decided *d)
{
	uint32_t limit = 0;
	while (d->r.limit && limit < LIMITS && strcmp(limits[limit], d->r.limit))
		limit++;
	assert(limit < LIMITS);
	put(b, d->key.kind);
	put(b, d->key.hash);
	put(b, d->r.verdict);
	put(b, d->r.limit ? limit + 1 : 0);
	put(b, d->r.states);
	put(b, d->r.transitions);
	put(b, d->r.bytes);
	put(b, d->r.depth);
	put(b, d->r.npath);
	for (uint32_t i = 0; i < d->r.npath; i++) {
		put(b, d->r.path[i].thread);
		put(b, d->r.path[i].outcome);
	}
}

static void put_manifest(struct buf *b, const struct checkpoint *c, bool suspended)
{
	buf_str(b, MAGIC);
	put_text(b, c->what);
	put(b, c->generation);
	put(b, c->n);
	for (uint32_t i = 0; i < c->n; i++)
		put_decided(b, &c->decided[i]);
	put(b, suspended);
	if (suspended) {
		put(b, c->key.kind);
		put(b, c->key.hash);
		put(b, c->number);
		put_text(b, c->levels.name);
		put(b, c->levels.length);
		put_text(b, c->state.name);
		put(b, c->state.length);
	}
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)b->data, b->len);
	for (int i = 0; i < 4; i++)
		buf_char(b, (char)(crc >> 8 * i));
}

/* A new file with this text, on the disk. */
static bool write_file(int dir, const char *name, const struct buf *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	bool ok = fd >= 0 && !text->failed;
	for (size_t done = 0; ok && done < text->len;) {
		ssize_t k = write(fd, text->data + done, text->len - done);
		if (k < 0 && errno == EINTR)
			continue;
		ok = k > 0;
		done += ok ? (size_t)k : 0;
	}
	ok = ok && fsync(fd) == 0;
	int why = errno;
	if (fd >= 0 && close(fd) != 0 && ok) {
		ok = false;
		why = errno;
	}
	errno = why;
	return ok;
}

static bool trouble(struct checkpoint *c, const char *what)
{
	c->troubled = true;
	return why_set(&c->trouble, "%s: %s", what, strerror(errno));
}

bool checkpoint_later(const struct checkpoint *c)
{
	return c->later && c->dir < 0;
}

const char *checkpoint_path(const struct checkpoint *c)
{
	return c->path;
}

/* The directory is there from now on. */
static bool make_dir(struct checkpoint *c)
{
	if (c->dir >= 0)
		return true;
	assert(c->later);
	if (!mkdtemp(c->path) || (c->dir = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    flock(c->dir, LOCK_EX | LOCK_NB) != 0)
		return trouble(c, "the directory of the checkpoint was not made");
	return true;
}

/* The files of the directory that are ours and not among those that are needed are gone. */
static void sweep(const struct checkpoint *c, bool suspended)
{
	int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	if (!d && fd >= 0)
		close(fd);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		bool ours = !strncmp(e->d_name, "levels-", 7) || !strncmp(e->d_name, "state-", 6) ||
		            !strcmp(e->d_name, MANIFEST_NEW);
		bool needed = suspended && (!strcmp(e->d_name, c->levels.name) || !strcmp(e->d_name, c->state.name));
		if (ours && !needed)
			unlinkat(c->dir, e->d_name, 0);
	}
	if (d)
		closedir(d);
}

enum replaced {
	NOT_REPLACED, /* the last checkpoint is in place */
	RENAMED,      /* the new one is, but whether the disk has it is not known: the files of both are needed */
	REPLACED,
};

/* The present state of affairs replaces the last checkpoint. */
static enum replaced replace(struct checkpoint *c, bool suspended)
{
	struct buf b;
	if (!make_dir(c))
		return NOT_REPLACED;
	buf_init(&b);
	put_manifest(&b, c, suspended);
	bool renamed = write_file(c->dir, MANIFEST_NEW, &b) && renameat(c->dir, MANIFEST_NEW, c->dir, MANIFEST) == 0;
	bool synced = renamed && fsync(c->dir) == 0;
	c->troubled = false;
	if (!synced)
		trouble(c, renamed ? "the directory of the checkpoint was not synced" : "the checkpoint was not written");
	buf_free(&b);
	c->next = clock_seconds() + c->every;
	if (!renamed)
		return NOT_REPLACED;
	c->suspended = suspended;
	c->exists = true;
	return synced ? REPLACED : RENAMED;
}

/* ---- the manifest: reading ---------------------------------------------- */

static uint32_t get32(struct cursor *c)
{
	uint64_t v = get_varint(c);
	c->bad |= v > UINT32_MAX;
	return (uint32_t)v;
}

/* A text that lies in the input; its length in *n. */
static const char *get_text(struct cursor *c, uint64_t *n)
{
	*n = get_varint(c);
	if (c->bad || *n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		*n = 0;
	}
	const char *s = (const char *)c->p;
	c->p += *n;
	return s;
}

static void get_name(struct cursor *c, char name[40], const char *begins)
{
	uint64_t n;
	const char *s = get_text(c, &n);
	if (n >= 40 || memchr(s, '/', n) || memchr(s, 0, n) || n < strlen(begins) || strncmp(s, begins, strlen(begins)) != 0) {
		c->bad = true;
		n = 0;
	}
	memcpy(name, s, n);
	name[n] = 0;
}

static bool get_decided(struct cursor *c, struct decided *d)
{
	uint32_t kind = get32(c), verdict, limit;
	d->key = (struct checkpoint_key){ (enum checkpoint_kind)kind, get_varint(c) };
	verdict = get32(c);
	limit = get32(c);
	d->r = (struct search_result){ .verdict = (enum search_verdict)verdict };
	d->r.states = get_varint(c);
	d->r.transitions = get_varint(c);
	d->r.bytes = get_varint(c);
	d->r.depth = get32(c);
	d->r.npath = get32(c);
	if (c->bad || kind > CHECKPOINT_QUIESCENCE || verdict > SEARCH_LIMIT || limit > LIMITS ||
	    (verdict == SEARCH_LIMIT) != (limit > 0) || d->r.npath > (uint64_t)(c->end - c->p)) {
		d->r.npath = 0;
		return false;
	}
	d->r.limit = limit ? limits[limit - 1] : NULL;
	d->r.path = d->r.npath ? malloc(d->r.npath * sizeof *d->r.path) : NULL;
	if (d->r.npath && !d->r.path)
		return false;
	for (uint32_t i = 0; i < d->r.npath; i++) {
		d->r.path[i].thread = get32(c);
		d->r.path[i].outcome = get32(c);
	}
	return !c->bad;
}

static bool get_manifest(struct checkpoint *c, struct cursor in, struct buf *err)
{
	uint64_t len;
	const char *what = get_text(&in, &len);
	if (!in.bad && (len != strlen(c->what) || memcmp(what, c->what, len) != 0)) {
		/* the first line that differs says what is wrong */
		size_t line = 0, same = 0;
		while (same < len && c->what[same] && what[same] == c->what[same]) {
			same++;
			line = what[same - 1] == '\n' ? same : line;
		}
		size_t theirs = strcspn(what + line, "\n"), ours = strcspn(c->what + line, "\n");
		theirs = theirs > len - line ? len - line : theirs;
		buf_str(err, "is of another check: ");
		buf_safe(err, what + line, theirs);
		buf_str(err, " there, ");
		buf_safe(err, c->what + line, ours);
		buf_str(err, " here");
		return false;
	}
	c->generation = get32(&in) + 1;
	uint32_t n = get32(&in);
	bool ok = !in.bad && n <= (uint64_t)(in.end - in.p);
	for (uint32_t i = 0; ok && i < n; i++) {
		ok = GROW(c->decided, c->cap, c->n + 1ull);
		if (ok)
			ok = get_decided(&in, &c->decided[c->n++]);
	}
	uint64_t suspended = ok ? get_varint(&in) : 0;
	if (suspended == 1) {
		c->key.kind = (enum checkpoint_kind)get32(&in);
		c->key.hash = get_varint(&in);
		c->number = get32(&in);
		get_name(&in, c->levels.name, "levels-");
		c->levels.length = get_varint(&in);
		get_name(&in, c->state.name, "state-");
		c->state.length = get_varint(&in);
		ok = c->number == c->n;
	}
	if (!ok || in.bad || suspended > 1 || in.p != in.end)
		buf_str(err, "is damaged: its file '" MANIFEST "' has no sense");
	c->suspended = suspended == 1;
	return !err->len;
}

/* All bytes of a file; NULL: `why` says why. */
static unsigned char *read_all(int dir, const char *name, off_t max, size_t *len, struct why *why)
{
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	unsigned char *text = NULL;
	if (fd < 0 || fstat(fd, &st) != 0)
		why_set(why, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_size > max)
		why_set(why, "not a file that intact wrote");
	else if (!(text = malloc((size_t)st.st_size + 1)))
		why_set(why, "out of memory");
	*len = 0;
	while (text && *len < (size_t)st.st_size) {
		ssize_t k = read(fd, text + *len, (size_t)st.st_size - *len);
		if (k <= 0)
			break;
		*len += (size_t)k;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* A file that belongs to the checkpoint: there, long enough and whole? */
static bool whole(struct checkpoint *c, const struct checkpoint_file *f, bool runs, struct buf *err)
{
	struct stat st;
	int fd = openat(c->dir, f->name, O_RDONLY | O_CLOEXEC);
	const char *wrong = NULL;
	if (fd < 0 || fstat(fd, &st) != 0)
		wrong = errno == ENOENT ? "is missing" : strerror(errno);
	else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < f->length)
		wrong = "is truncated";
	else if (runs)
		wrong = level_log_verify(fd, 0, f->length);
	if (fd >= 0)
		close(fd);
	if (!wrong && !runs) {
		size_t len;
		struct why why;
		unsigned char *text = read_all(c->dir, f->name, (off_t)1 << 42, &len, &why);
		uint32_t crc = 0;
		for (int i = 0; text && f->length >= 4 && i < 4; i++)
			crc |= (uint32_t)text[f->length - 4 + (unsigned)i] << 8 * i;
		if (!text || (len != f->length || len < 4 || crc != crc32_z(0, text, len - 4)))
			wrong = "is damaged";
		free(text);
	}
	if (wrong)
		buf_printf(err, "cannot be resumed: its file '%s' %s", f->name, wrong);
	return !wrong;
}

static bool load(struct checkpoint *c, struct buf *err)
{
	size_t len, magic = strlen(MAGIC);
	struct why why;
	unsigned char *text = read_all(c->dir, MANIFEST, MANIFEST_MAX, &len, &why);
	uint32_t crc = 0;
	if (!text) {
		buf_printf(err, "holds no checkpoint: %s: %s", MANIFEST, why.text);
		return false;
	}
	for (int i = 0; len >= 4 && i < 4; i++)
		crc |= (uint32_t)text[len - 4 + (unsigned)i] << 8 * i;
	if (len < magic || memcmp(text, MAGIC, magic) != 0)
		buf_str(err, "is damaged: its file '" MANIFEST "' was not written by this version of intact");
	else if (len < magic + 4 || crc != crc32_z(0, text, len - 4))
		buf_str(err, "is damaged: the checksum of its file '" MANIFEST "' is wrong");
	else
		get_manifest(c, (struct cursor){ text + magic, text + len - 4, false }, err);
	free(text);
	return !err->len && (!c->suspended || (whole(c, &c->levels, true, err) && whole(c, &c->state, false, err)));
}

/* ---- opening and closing ------------------------------------------------- */

static bool open_dir(struct checkpoint *c, const struct checkpoint_setup *o, struct buf *err)
{
	struct stat st;
	if (!o->resume && mkdir(o->dir, 0777) != 0 && errno != EEXIST) {
		buf_printf(err, "cannot be created: %s", strerror(errno));
		return false;
	}
	c->dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir < 0)
		buf_printf(err, "cannot be opened: %s", strerror(errno));
	else if (flock(c->dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		buf_str(err, "is in use by another process");
	else if (!o->resume && fstatat(c->dir, MANIFEST, &st, AT_SYMLINK_NOFOLLOW) == 0)
		buf_str(err, "holds a checkpoint already: continue from it with --resume, or name another directory");
	return !err->len;
}

struct checkpoint *checkpoint_open(const struct checkpoint_setup *o, struct buf *err)
{
	struct checkpoint *c = calloc(1, sizeof *c);
	if (!c)
		return NULL;
	assert(o->every >= 0 && !err->len);
	c->dir = -1;
	c->later = o->later;
	c->path = malloc(strlen(o->dir) + sizeof "/intact-XXXXXX");
	if (c->path)
		strcat(strcpy(c->path, o->dir), o->later ? "/intact-XXXXXX" : "");
	c->what = strdup(o->what);
	c->every = o->every;
	c->stop = o->stop;
	if (!c->path || !c->what)
		buf_str(err, "out of memory");
	else if (!o->later && open_dir(c, o, err) && o->resume && load(c, err))
		sweep(c, c->suspended);
	c->exists = o->resume;
	c->next = clock_seconds() + c->every;
	if (!err->len)
		return c;
	checkpoint_close(c);
	return NULL;
}

void checkpoint_finish(struct checkpoint *c)
{
	bool whole = c && !c->kept && !c->interrupted && !checkpoint_later(c);
	if (whole && c->later) {
		sweep(c, false);
		unlinkat(c->dir, MANIFEST, 0);
		rmdir(c->path);
		c->exists = false;
	} else if (whole && replace(c, false) == REPLACED) {
		sweep(c, false);
	}
}

void checkpoint_close(struct checkpoint *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		free(c->decided[i].r.path);
	free(c->decided);
	if (c->dir >= 0)
		close(c->dir);
	free(c->path);
	free(c->what);
	free(c);
}

/* ---- while the check runs ------------------------------------------------ */

bool checkpoint_stopping(const struct checkpoint *c)
{
	return c && c->stop && *c->stop;
}

bool checkpoint_interrupted(const struct checkpoint *c)
{
	return c->interrupted;
}

const char *checkpoint_trouble(const struct checkpoint *c)
{
	return c->troubled ? c->trouble.text : NULL;
}

bool checkpoint_exists(const struct checkpoint *c)
{
	return c->exists;
}

bool checkpoint_failed(const struct checkpoint *c)
{
	return c->failed;
}

const char *checkpoint_levels(const struct checkpoint *c)
{
	return c->levels.name;
}

void checkpoint_no_room(struct checkpoint *c)
{
	trouble(c, "the checkpoint was not written");
	c->next = clock_seconds() + c->every;
}

void checkpoint_fail(struct checkpoint *c, const char *why)
{
	c->troubled = c->kept = c->failed = true;
	why_set(&c->trouble, "%s", why);
}

void checkpoint_keep(struct checkpoint *c)
{
	c->kept = true;
}

/* What the signal asks for: the results so far, unless the search that was stopped has written more. */
static void stop_here(struct checkpoint *c)
{
	c->interrupted = true;
	if (!c->last && !c->kept && replace(c, c->suspended && c->number == c->n) == REPLACED)
		c->last = true;
}

bool checkpoint_kept(const struct checkpoint *c)
{
	return c->kept;
}

bool checkpoint_stops(struct checkpoint *c)
{
	if (!checkpoint_stopping(c))
		return false;
	stop_here(c);
	return true;
}

bool checkpoint_recall(struct checkpoint *c, struct checkpoint_key key, struct search_result *r)
{
	if (!c)
		return false;
	if (checkpoint_stops(c)) {
		*r = (struct search_result){ .verdict = SEARCH_LIMIT, .limit = interrupt };
		return true;
	}
	if (c->at >= c->n)
		return false;
	const struct decided *d = &c->decided[c->at];
	if (!same_key(d->key, key)) { /* another question than last time: what followed is of no use */
		for (uint32_t i = c->at; i < c->n; i++)
			free(c->decided[i].r.path);
		c->n = c->at;
		c->suspended = false;
		return false;
	}
	*r = d->r;
	r->path = d->r.npath ? malloc(d->r.npath * sizeof *r->path) : NULL;
	if (d->r.npath && !r->path)
		return false;
	if (d->r.npath)
		memcpy(r->path, d->r.path, d->r.npath * sizeof *r->path);
	c->at++;
	return true;
}

void checkpoint_record(struct checkpoint *c, struct checkpoint_key key, const struct search_result *r)
{
	if (!c || c->kept)
		return;
	if (r->limit && !strcmp(r->limit, interrupt)) {
		stop_here(c);
		return;
	}
	if (r->limit && (!strcmp(r->limit, "time") || !strcmp(r->limit, "memory") || !strcmp(r->limit, "disk"))) {
		if (!checkpoint_later(c))
			replace(c, c->suspended && c->number == c->n); /* with more of it the question is asked again */
		c->kept = true;
		return;
	}
	struct decided d = { .key = key, .r = *r };
	d.r.path = r->npath ? malloc(r->npath * sizeof *d.r.path) : NULL;
	if ((r->npath && !d.r.path) || !GROW(c->decided, c->cap, c->n + 1ull)) {
		free(d.r.path);
		errno = ENOMEM;
		checkpoint_no_room(c);
		c->kept = true; /* the list has a gap now */
		return;
	}
	if (r->npath)
		memcpy(d.r.path, r->path, r->npath * sizeof *d.r.path);
	c->decided[c->n++] = d;
	c->at = c->n;
	c->generation++;
	if (checkpoint_due(c) && replace(c, false) == REPLACED)
		sweep(c, false);
}

/* ---- the search that is going on ----------------------------------------- */

bool checkpoint_suspended(struct checkpoint *c, struct checkpoint_key key, int *levels, uint64_t *nlevels, int *state,
                          uint64_t *nstate)
{
	if (!c->suspended || c->kept || c->number != c->n || c->at != c->n || !same_key(c->key, key))
		return false;
	*levels = openat(c->dir, c->levels.name, O_RDWR | O_CLOEXEC);
	*state = openat(c->dir, c->state.name, O_RDONLY | O_CLOEXEC);
	*nlevels = c->levels.length;
	*nstate = c->state.length;
	return true;
}

bool checkpoint_due(const struct checkpoint *c)
{
	return !c->kept && !checkpoint_later(c) && clock_seconds() >= c->next;
}

int checkpoint_dir(struct checkpoint *c)
{
	return make_dir(c) ? c->dir : -1;
}

void checkpoint_level_name(const struct checkpoint *c, char name[40])
{
	snprintf(name, 40, "levels-%u-%u", c->n, c->generation);
}

bool checkpoint_write(struct checkpoint *c, struct checkpoint_key key, const char *levels, uint64_t nlevels, struct buf *state)
{
	if (c->kept)
		return false;
	const struct checkpoint before = *c;
	c->generation++;
	c->key = key;
	c->number = c->n;
	snprintf(c->levels.name, sizeof c->levels.name, "%s", levels);
	c->levels.length = nlevels;
	snprintf(c->state.name, sizeof c->state.name, "state-%u-%u", c->n, c->generation);
	uint32_t crc = (uint32_t)crc32_z(0, (const unsigned char *)state->data, state->len);
	for (int i = 0; i < 4; i++)
		buf_char(state, (char)(crc >> 8 * i));
	c->state.length = state->len;
	enum replaced done = NOT_REPLACED;
	if (!write_file(c->dir, c->state.name, state))
		trouble(c, "the checkpoint was not written");
	else
		done = replace(c, true);
	if (done == REPLACED)
		sweep(c, true);
	if (done != NOT_REPLACED) {
		c->last |= checkpoint_stopping(c);
		return done == REPLACED;
	}
	unlinkat(c->dir, c->state.name, 0);
	c->next = clock_seconds() + c->every;
	c->key = before.key;
	c->number = before.number;
	c->levels = before.levels;
	c->state = before.state;
	return false;
}
