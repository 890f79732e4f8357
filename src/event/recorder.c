/*
 * Parts. With `keep`, records go to PATH.part0, PATH.part1, ... of an eighth
 * of it each; a part begins with what it builds on (record_state.h), so it is a
 * trace of its own. The oldest is removed when there are more than eight. In
 * the end they are put together to PATH, the openings of all but the first
 * left out. Should the recorder itself be killed, the parts are there.
 */
#include "event/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "event/itr.h"
#include "event/record_pack.h"
#include "event/record_state.h"
#include "event/record_stream.h"

enum { PARTS = 8, BLOCK = 131072, STREAMS = 1 << 18, ROOM = STREAMS + REC_OWN + 64, LEVEL = -20, FAST = -100, GAIN = 8, LEAVE = 8 };
#define MAX_PCS     (1u << 20)
#define MAX_MODULES 4096

struct recorder_process {
	unsigned char *streams; /* the block that is being made */
	size_t len;
	/* with parts */
	struct recdec *dec;
	struct rec *held;
	size_t n;
	struct record_state *state;
};

struct recorder {
	char *path;
	int fd;
	int whole; /* with parts: PATH itself, kept open for its lock */
	const char *error;
	struct record_pack *pack;
	ZSTD_CCtx *zstd;
	struct buf raw, stored;
	struct recorder_process *proc;
	uint32_t nproc;
	struct map pcs_at;
	uint64_t *pcs;
	uint32_t npcs, pcs_cap;
	struct recorder_module *modules;
	uint32_t nmodules, modules_cap;
	char text[REC_TEXT_MAX + 1];
	uint64_t keep;
	bool parted;               /* there was a `keep` */
	uint32_t first_part, part; /* those that are there; part: being written */
	uint64_t part_bytes;
	uint64_t blocks;      /* of streams */
	uint64_t plain_until; /* blocks of streams that are not compressed */
	struct rec *decoded;  /* of one span */
	struct recorder_size size;
};

static void fail(struct recorder *r, const char *why)
{
	if (!r->error)
		r->error = why;
}

static void emit(struct recorder *r, const void *p, size_t n)
{
	assert(r->fd >= 0 || r->error);
	const char *s = p;
	r->part_bytes += n;
	r->size.bytes += n;
	while (n && !r->error) {
		ssize_t w = write(r->fd, s, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0) {
			fail(r, strerror(errno));
			return;
		}
		s += w;
		n -= (size_t)w;
	}
}

static void part_name(const struct recorder *r, uint32_t part, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "%s.part%u", r->path, part);
}

/* The header, at the beginning of r->fd. */
static bool begin_file(struct recorder *r)
{
	unsigned char head[ITR_HEADER];
	itr_put_header(head);
	r->part_bytes = 0;
	emit(r, head, sizeof head);
	return !r->error;
}

/* A file that another recorder writes is not touched. */
static bool open_file(struct recorder *r, const char *path)
{
	struct stat st;
	r->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		fail(r, strerror(errno));
		return false;
	}
	if (flock(r->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		fail(r, "another recording is being written to it");
		return false;
	}
	if (S_ISREG(st.st_mode) && ftruncate(r->fd, 0)) {
		fail(r, strerror(errno));
		return false;
	}
	return begin_file(r);
}

static bool open_part(struct recorder *r)
{
	assert(r->parted);
	struct buf name;
	buf_init(&name);
	part_name(r, r->part, &name);
	bool ok = open_file(r, buf_cstr(&name));
	buf_free(&name);
	return ok;
}

struct recorder *recorder_open(const char *path, uint64_t keep, struct why *why)
{
	struct recorder *r = calloc(1, sizeof *r);
	why_set(why, "out of memory");
	if (!r)
		return NULL;
	r->fd = r->whole = -1;
	r->keep = keep;
	r->parted = keep != 0;
	r->path = strdup(path);
	r->pack = record_pack_new();
	r->zstd = ZSTD_createCCtx();
	map_init(&r->pcs_at);
	buf_init(&r->raw);
	buf_init(&r->stored);
	if (r->path && r->pack && r->zstd) {
		/* The name must be good for a file, parts or not. */
		if (open_file(r, path) && keep) {
			r->whole = r->fd;
			open_part(r);
		}
		if (!r->error)
			return r;
		why_set(why, "%s", r->error);
	}
	r->error = why->text;
	recorder_close(r, why);
	return NULL;
}

/* ---- blocks ------------------------------------------------------------- */

/* What the threads packed gains little from further compression, and is written
 * immediately: where it was less than an eighth, the next blocks are stored as
 * they are. */
static void put_block(struct recorder *r, struct itr_head h, const void *raw, size_t len)
{
	assert(len <= ITR_MAX_RAW);
	const char *p = raw;
	unsigned char head[ITR_HEAD];
	size_t bound = ZSTD_compressBound(len);
	h.raw = h.stored = (uint32_t)len;
	if (r->stored.len < bound)
		buf_repeat(&r->stored, 0, bound - r->stored.len);
	if (r->raw.failed || r->stored.failed) {
		fail(r, "out of memory");
		return;
	}
	bool streams = h.encoding == ITR_STREAMS;
	if (!streams || r->blocks >= r->plain_until) {
		size_t n = ZSTD_compressCCtx(r->zstd, r->stored.data, bound, p, len, streams ? FAST : LEVEL);
		if (!ZSTD_isError(n) && n < len) {
			p = r->stored.data;
			h.stored = (uint32_t)n;
			h.compression = ITR_ZSTD;
		}
		if (streams && h.stored > len - len / GAIN)
			r->plain_until = r->blocks + LEAVE;
	}
	h.crc = itr_crc(p, h.stored);
	itr_put_head(&h, head);
	emit(r, head, sizeof head);
	emit(r, p, h.stored);
}

/* r->raw as a block. */
static void put_raw(struct recorder *r, struct itr_head h)
{
	put_block(r, h, buf_cstr(&r->raw), r->raw.len);
	buf_clear(&r->raw);
}

static void move_module(struct recorder *r, uint64_t lo, uint64_t page)
{
	uint64_t delta = rec_moved_to(lo, page) - lo;
	for (uint32_t i = 0; i < r->nmodules; i++) {
		struct recorder_module *m = &r->modules[i];
		if (m->lo != lo)
			continue;
		m->from = lo;
		m->lo += delta;
		m->hi += delta;
		m->base += delta;
	}
}

static void see_module(struct recorder *r, struct rec rec)
{
	if (rec_arg(rec) == 2) {
		move_module(r, rec_addr(rec), rec_pc(rec));
		return;
	}
	if (rec_arg(rec)) {
		if (r->nmodules)
			r->modules[r->nmodules - 1].base = rec_addr(rec);
		return;
	}
	if (r->nmodules == MAX_MODULES || !GROW(r->modules, r->modules_cap, r->nmodules + 1ull))
		return;
	r->modules[r->nmodules] = (struct recorder_module){ rec_addr(rec), rec_pc(rec), 0, strdup(r->text), 0 };
	r->nmodules += r->modules[r->nmodules].path != NULL;
}

void recorder_pc(struct recorder *r, uint64_t pc)
{
	uint32_t at = r->npcs;
	if (!pc || r->npcs == MAX_PCS || !map_intern(&r->pcs_at, pc, &at) || at != r->npcs)
		return;
	if (GROW(r->pcs, r->pcs_cap, r->npcs + 1ull))
		r->pcs[r->npcs++] = pc;
	assert(r->npcs <= MAX_PCS);
}

/* How many were written: not a TEXT whose letters are still to come. */
static size_t put_records(struct recorder *r, uint32_t process, const struct rec *rec, size_t n, bool opening)
{
	n = record_pack_put(r->pack, rec, n, &r->raw);
	if (n)
		put_raw(r, (struct itr_head){ .type = ITR_RECORDS,
		                              .encoding = ITR_PACKED,
		                              .count = (uint32_t)n,
		                              .first = r->size.records + 1,
		                              .process = process | (opening ? ITR_OPENING : 0) });
	assert(n <= BLOCK);
	return n;
}

/* ---- parts -------------------------------------------------------------- */

struct opening {
	struct recorder *r;
	uint32_t process;
	struct rec *v;
	size_t n;
};

static bool open_with(void *ctx, const struct rec *rec, size_t n)
{
	struct opening *o = ctx;
	if (o->n + n > BLOCK) {
		put_records(o->r, o->process, o->v, o->n, true);
		o->n = 0;
	}
	memcpy(o->v + o->n, rec, n * sizeof *rec);
	o->n += n;
	assert(o->n <= BLOCK || n > BLOCK);
	return !o->r->error;
}

static void next_part(struct recorder *r)
{
	struct opening o = { r, 0, malloc(BLOCK * sizeof *o.v), 0 };
	if (!o.v) {
		fail(r, "out of memory");
		return;
	}
	if (close(r->fd))
		fail(r, strerror(errno));
	r->fd = -1;
	r->part++;
	if (r->part - r->first_part >= PARTS) {
		struct buf name;
		buf_init(&name);
		part_name(r, r->first_part++, &name);
		unlink(buf_cstr(&name));
		buf_free(&name);
	}
	if (open_part(r))
		for (uint32_t i = 0; i < r->nproc; i++)
			if (r->proc[i].state) {
				o.process = i;
				record_state_tell(r->proc[i].state, open_with, &o);
				put_records(r, i, o.v, o.n, true);
				o.n = 0;
			}
	free(o.v);
}

/* Copies the blocks of a part to r->fd, its opening only when it is the first. */
static void append_part(struct recorder *r, const char *path, bool first)
{
	FILE *f = fopen(path, "rbe");
	unsigned char head[ITR_HEAD];
	struct itr_head h;
	if (!f || fseek(f, ITR_HEADER, SEEK_SET)) {
		fail(r, strerror(errno));
		if (f)
			fclose(f);
		return;
	}
	while (!r->error && fread(head, 1, sizeof head, f) == sizeof head && itr_get_head(head, &h)) {
		buf_clear(&r->stored);
		buf_repeat(&r->stored, 0, h.stored);
		if (r->stored.failed || fread(r->stored.data, 1, h.stored, f) != h.stored) {
			fail(r, "a part cannot be read");
			break;
		}
		if (!first && h.process & ITR_OPENING)
			continue;
		emit(r, head, sizeof head);
		emit(r, r->stored.data, h.stored);
	}
	fclose(f);
}

static void join_parts(struct recorder *r)
{
	struct buf name;
	buf_init(&name);
	if (close(r->fd))
		fail(r, strerror(errno));
	r->size.bytes = 0;
	r->fd = r->whole;
	r->whole = -1;
	if (lseek(r->fd, 0, SEEK_SET) < 0 || ftruncate(r->fd, 0))
		fail(r, strerror(errno));
	begin_file(r);
	for (uint32_t i = r->first_part; i <= r->part && !r->error; i++) {
		part_name(r, i, &name);
		append_part(r, buf_cstr(&name), i == r->first_part);
	}
	for (uint32_t i = r->first_part; i <= r->part && !r->error; i++) {
		part_name(r, i, &name);
		unlink(buf_cstr(&name));
	}
	r->keep = 0;
	buf_free(&name);
}

/* ---- records ------------------------------------------------------------ */

static struct recorder_process *process_of(struct recorder *r, uint32_t process)
{
	if (!GROW(r->proc, r->nproc, process + 1ull))
		return NULL;
	struct recorder_process *p = &r->proc[process];
	if (!p->streams)
		p->streams = malloc(ROOM);
	if (!p->streams || !r->keep || p->held)
		return p->streams ? p : NULL;
	p->held = malloc(BLOCK * sizeof *p->held);
	p->state = record_state_new();
	p->dec = recdec_new();
	assert(process < r->nproc && p->streams);
	return p->held && p->state && p->dec ? p : NULL;
}

/* Writes the records held, all but a TEXT that is not complete. */
static void write_held(struct recorder *r, uint32_t process)
{
	assert(process < r->nproc);
	struct recorder_process *p = &r->proc[process];
	size_t whole = p->held && p->n ? put_records(r, process, p->held, p->n, false) : 0;
	if (!whole)
		return;
	r->size.records += whole;
	if (p->state && !record_state_note(p->state, p->held, whole))
		fail(r, "out of memory");
	memmove(p->held, p->held + whole, (p->n - whole) * sizeof *p->held);
	p->n -= whole;
	if (r->keep && r->part_bytes > r->keep / PARTS)
		next_part(r);
}

/* With parts: records are held until there is a block of them. */
static void hold(struct recorder *r, uint32_t process, const struct rec *rec, size_t n)
{
	assert(process < r->nproc && r->proc[process].n <= BLOCK);
	struct recorder_process *p = &r->proc[process];
	while (n && !r->error) {
		size_t now = BLOCK - p->n < n ? BLOCK - p->n : n;
		memcpy(p->held + p->n, rec, now * sizeof *rec);
		p->n += now;
		rec += now;
		n -= now;
		if (p->n == BLOCK)
			write_held(r, process);
		if (p->n == BLOCK) /* a TEXT longer than any: the program's doing */
			fail(r, "the program sent an invalid message");
	}
}

static void write_streams(struct recorder *r, uint32_t process)
{
	assert(process < r->nproc && r->proc[process].len <= ROOM);
	struct recorder_process *p = &r->proc[process];
	if (!p->len)
		return;
	put_block(r,
	          (struct itr_head){
			  .type = ITR_RECORDS, .encoding = ITR_STREAMS, .count = 1, .first = ++r->blocks, .process = process },
	          p->streams, p->len);
	p->len = 0;
}

/* With parts: bytes of a slot, as the records they are. */
static void hold_span(struct recorder *r, uint32_t process, unsigned slot, const void *bytes, size_t n)
{
	assert(process < r->nproc && r->proc[process].dec);
	size_t count = 0;
	if (!r->decoded)
		r->decoded = malloc(REC_OWN * sizeof *r->decoded);
	const char *why = r->decoded ? recdec_span(r->proc[process].dec, slot, bytes, n, r->decoded, &count) : "out of memory";
	if (why)
		fail(r, why);
	else
		hold(r, process, r->decoded, count);
}

bool recorder_span(struct recorder *r, uint32_t process, unsigned slot, const void *a, size_t na, const void *b, size_t nb)
{
	struct recorder_process *p = r->error ? NULL : process_of(r, process);
	if (!p || na + nb > REC_OWN) {
		fail(r, p ? "the program sent an invalid message" : "out of memory");
		return false;
	}
	unsigned char *s = p->streams + p->len;
	if (!r->keep)
		s = put_varint(put_varint(s, (uint64_t)slot << 1), na + nb);
	memcpy(s, a, na);
	if (nb)
		memcpy(s + na, b, nb);
	if (r->keep) {
		hold_span(r, process, slot, s, na + nb);
		return !r->error;
	}
	p->len = (size_t)(s - p->streams) + na + nb;
	if (p->len >= STREAMS)
		write_streams(r, process);
	return !r->error;
}

bool recorder_plain(struct recorder *r, uint32_t process, const struct rec *rec, size_t n)
{
	struct recorder_process *p = r->error ? NULL : process_of(r, process);
	if (!p || n > 1 + REC_TEXT_MAX / 16) {
		fail(r, p ? "the program sent an invalid message" : "out of memory");
		return false;
	}
	if (rec_kind(*rec) == REC_TEXT) {
		memcpy(r->text, rec + 1, rec_addr(*rec));
		r->text[rec_addr(*rec)] = 0;
	} else if (rec_kind(*rec) == REC_MODULE) {
		see_module(r, *rec);
	}
	if (r->keep) {
		hold(r, process, rec, n);
		return !r->error;
	}
	unsigned char *s = put_varint(put_varint(p->streams + p->len, 1), n);
	memcpy(s, rec, n * sizeof *rec);
	p->len = (size_t)(s - p->streams) + n * sizeof *rec;
	r->size.records += n;
	if (p->len >= STREAMS)
		write_streams(r, process);
	return !r->error;
}

bool recorder_flush(struct recorder *r, uint32_t process)
{
	if (process < r->nproc && !r->error) {
		if (r->keep)
			write_held(r, process);
		else
			write_streams(r, process);
	}
	return !r->error;
}

void recorder_count(struct recorder *r, uint64_t records, uint64_t accesses)
{
	r->size.accesses += accesses;
	if (!r->keep)
		r->size.records += records;
}

/* Everything held is written, parts are put together. */
static void settle(struct recorder *r)
{
	for (uint32_t i = 0; i < r->nproc; i++) {
		recorder_flush(r, i);
		r->proc[i].n = 0;
	}
	if (r->keep && r->fd >= 0 && !r->error)
		join_parts(r);
}

void recorder_seen(const struct recorder *r, struct recorder_seen *out)
{
	*out = (struct recorder_seen){ r->pcs, r->npcs, r->modules, r->nmodules };
}

bool recorder_symbols(struct recorder *r, const char *text, size_t len)
{
	settle(r);
	while (len && !r->error) {
		size_t n = len < ITR_MAX_RAW / 2 ? len : ITR_MAX_RAW / 2;
		while (n < len && n && text[n - 1] != '\n')
			n--;
		if (!n)
			break;
		buf_add(&r->raw, text, n);
		put_raw(r, (struct itr_head){ .type = ITR_SYMBOLS });
		text += n;
		len -= n;
	}
	return !r->error;
}

void recorder_size(const struct recorder *r, struct recorder_size *out)
{
	*out = r->size;
}

bool recorder_close(struct recorder *r, struct why *why)
{
	if (r->fd >= 0) {
		settle(r);
		if (!r->error)
			put_raw(r, (struct itr_head){ .type = ITR_END, .first = r->parted ? r->size.records : r->blocks });
		if (close(r->fd))
			fail(r, strerror(errno));
	}
	if (r->whole >= 0)
		close(r->whole);
	bool ok = !r->error;
	if (!ok && r->error != why->text) /* recorder_open() gave the reason itself */
		why_set(why, "%s", r->error);
	for (uint32_t i = 0; i < r->nproc; i++) {
		free(r->proc[i].streams);
		free(r->proc[i].held);
		recdec_free(r->proc[i].dec);
		record_state_free(r->proc[i].state);
	}
	free(r->proc);
	free(r->decoded);
	map_free(&r->pcs_at);
	free(r->pcs);
	for (uint32_t i = 0; i < r->nmodules; i++)
		free(r->modules[i].path);
	free(r->modules);
	record_pack_free(r->pack);
	ZSTD_freeCCtx(r->zstd);
	buf_free(&r->raw);
	buf_free(&r->stored);
	free(r->path);
	free(r);
	return ok;
}
