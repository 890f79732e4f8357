#include "program/run_record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "event/recorder.h"
#include "report/finding.h"

enum { MAX_PROCESSES = 4096, MUCH = 256 << 10 };

struct tap {
	struct rec_shm *shm;
	uint64_t tail;
	struct rec text[1 + REC_TEXT_MAX / 16]; /* a TEXT that is not complete */
	uint64_t ntext;
	uint64_t *own; /* by slot: bytes taken of its own ring */
	bool idle;
};

struct recording {
	struct recorder *out;
	const char *path;
	bool parts;
	struct tap *from; /* by number of the process */
	uint32_t n;
	uint32_t lost;  /* processes that were too many */
	uint64_t taken; /* bytes out of the shared memories */
};

struct recording *recording_begin(const char *path, uint64_t keep, struct why *why)
{
	struct recording *r = calloc(1, sizeof *r);
	why_set(why, "out of memory");
	if (!r)
		return NULL;
	r->path = path;
	r->parts = keep != 0;
	r->from = calloc(MAX_PROCESSES, sizeof *r->from);
	r->out = r->from ? recorder_open(path, keep, why) : NULL;
	if (r->out)
		return r;
	free(r->from);
	free(r);
	return NULL;
}

void recording_add(struct recording *r, int fd)
{
	assert(fd >= 0 && r->n <= MAX_PROCESSES);
	struct stat st;
	void *p = MAP_FAILED;
	if (r->n < MAX_PROCESSES && !fstat(fd, &st) && (size_t)st.st_size == sizeof(struct rec_shm))
		p = mmap(NULL, sizeof(struct rec_shm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	uint64_t *own = p != MAP_FAILED ? calloc(REC_SLOTS, sizeof *own) : NULL;
	if (!own) {
		if (p != MAP_FAILED)
			munmap(p, sizeof(struct rec_shm));
		r->lost++;
		return;
	}
	r->from[r->n++] = (struct tap){ .shm = p, .own = own };
}

/* n more bytes of the own ring of `slot`. */
static void take_own(struct recording *r, uint32_t i, unsigned slot, uint64_t n)
{
	assert(i < r->n);
	struct tap *s = &r->from[i];
	if (!slot || slot >= REC_SLOTS || !n || n > REC_OWN)
		return;
	struct rec_own *o = &s->shm->own[slot];
	uint64_t at = s->own[slot] % REC_OWN, first = REC_OWN - at < n ? REC_OWN - at : n;
	assert(first && first <= n && at + first <= REC_OWN);
	recorder_span(r->out, i, slot, &o->bytes[at], first, o->bytes, n - first);
	s->own[slot] += n;
	r->taken += n;
	__atomic_store_n(&o->taken, s->own[slot], __ATOMIC_RELEASE);
}

/* A record of no slot's; a TEXT waits for its letters. */
static void take_plain(struct recording *r, uint32_t i, struct rec rec)
{
	assert(i < r->n);
	struct tap *s = &r->from[i];
	if (!s->ntext && (rec_kind(rec) >= REC_KINDS || rec_slot(rec) >= REC_SLOTS ||
	                  (rec_kind(rec) == REC_TEXT && rec_addr(rec) > REC_TEXT_MAX)))
		return;
	s->text[s->ntext++] = rec;
	assert(s->ntext <= sizeof s->text / sizeof *s->text);
	if (rec_kind(s->text[0]) != REC_TEXT || s->ntext == 1 + rec_letters(s->text[0])) {
		recorder_plain(r->out, i, s->text, s->ntext);
		s->ntext = 0;
	}
}

/* Records of the ring, with what its SPANs speak of in their places. */
static void take_records(struct recording *r, uint32_t i, const struct rec *rec, uint64_t n)
{
	assert(i < r->n);
	struct tap *s = &r->from[i];
	for (uint64_t k = 0; k < n; k++) {
		if (rec_kind(rec[k]) == REC_SPAN && !s->ntext)
			take_own(r, i, rec_slot(rec[k]), rec_addr(rec[k]));
		else
			take_plain(r, i, rec[k]);
	}
}

/* The contents of the ring. Numbers there are the program's: not trusted. */
static uint64_t take_ring(struct recording *r, uint32_t i)
{
	struct tap *s = &r->from[i];
	uint64_t head = __atomic_load_n(&s->shm->head, __ATOMIC_ACQUIRE), n = head - s->tail;
	if (n > REC_RING)
		n = REC_RING;
	for (uint64_t left = n; left;) {
		uint64_t at = s->tail % REC_RING, run = REC_RING - at;
		if (run > left)
			run = left;
		if (run > REC_RING / 8)
			run = REC_RING / 8; /* so that the program has room again soon */
		take_records(r, i, &s->shm->ring[at], run);
		s->tail += run;
		left -= run;
		__atomic_store_n(&s->shm->tail, s->tail, __ATOMIC_RELEASE);
	}
	return n;
}

/* What was used, and how much of it: for the names, and for the end. */
static void take_counts(struct recording *r, uint32_t i)
{
	struct rec_shm *shm = r->from[i].shm;
	uint64_t n = __atomic_load_n(&shm->npcs, __ATOMIC_ACQUIRE);
	for (uint64_t k = 0; k < n && k < REC_PCS; k++)
		recorder_pc(r->out, shm->pcs[k] & REC_LOW);
	for (uint32_t k = 1; k < shm->slots && k < REC_SLOTS; k++)
		recorder_count(r->out, shm->own[k].accesses + shm->own[k].others, shm->own[k].accesses);
}

static void untap(struct tap *s)
{
	munmap(s->shm, sizeof *s->shm);
	free(s->own);
	s->shm = NULL;
	s->own = NULL;
}

/* The process is gone: what its threads had noted for themselves too. */
static void take_rest(struct recording *r, uint32_t i)
{
	struct rec_shm *shm = r->from[i].shm;
	if (!shm)
		return;
	take_ring(r, i);
	/* Only the slots in use: looking at the others would make their pages. */
	uint32_t slots = __atomic_load_n(&shm->slots, __ATOMIC_RELAXED);
	for (uint32_t k = 1; k < slots && k < REC_SLOTS; k++)
		take_own(r, i, k, __atomic_load_n(&shm->own[k].n, __ATOMIC_ACQUIRE) - r->from[i].own[k]);
	recorder_flush(r->out, i);
	take_counts(r, i);
	untap(&r->from[i]);
}

bool recording_drain(struct recording *r)
{
	uint64_t before = r->taken;
	for (uint32_t i = 0; i < r->n; i++) {
		struct tap *s = &r->from[i];
		if (!s->shm)
			continue;
		uint64_t n = take_ring(r, i);
		r->taken += n * sizeof(struct rec);
		if (!n && !s->idle) /* nothing new: let the file have all */
			recorder_flush(r->out, i);
		s->idle = !n;
		if (!n && i && kill((pid_t)s->shm->pid, 0) && errno == ESRCH)
			take_rest(r, i);
	}
	return r->taken - before > MUCH;
}

struct addresses {
	AVEC(uint64_t) v;
};

/* The program's counters as they were told, and those in modules that have been moved
 * as they are known since. */
static void add_addresses(struct addresses *all, struct arena *a, const struct recorder_seen *seen)
{
	for (uint32_t i = 0; i < seen->npcs; i++)
		avec_push(a, &all->v, seen->pcs[i]);
	for (uint32_t k = 0; k < seen->nmodules; k++) {
		const struct recorder_module *m = &seen->modules[k];
		for (uint32_t i = 0; m->from && i < seen->npcs; i++)
			if (seen->pcs[i] - m->from - 1 < m->hi - m->lo)
				avec_push(a, &all->v, seen->pcs[i] - m->from + m->lo);
	}
}

/* So that the file says all by itself, wherever it is read. */
static void save_symbols(struct recording *r)
{
	struct addresses all = { 0 };
	struct recorder_seen seen;
	struct raw_report report = { 0 };
	struct arena a;
	struct buf text;
	arena_init(&a, 0);
	buf_init(&text);
	recorder_seen(r->out, &seen);
	for (uint32_t i = 0; i < seen.nmodules; i++) {
		const struct recorder_module *m = &seen.modules[i];
		struct raw_module raw = { m->lo, m->hi, m->base, m->path };
		bool known = false;
		for (uint32_t k = 0; k < report.modules.len; k++)
			known |= report.modules.data[k].lo == m->lo && !strcmp(report.modules.data[k].path, m->path);
		if (!known)
			avec_push(&a, &report.modules, raw);
	}
	add_addresses(&all, &a, &seen);
	struct symbols *names = symbols_open(&a);
	symbols_save(names, &report, all.v.data, all.v.len, &text);
	symbols_close(names);
	if (!text.failed)
		recorder_symbols(r->out, buf_cstr(&text), text.len);
	buf_free(&text);
	arena_free(&a);
}

bool recording_end(struct recording *r, struct buf *err, bool quiet)
{
	struct recorder_size size;
	struct why why = { "" };
	for (uint32_t i = 0; i < r->n; i++)
		take_rest(r, i);
	if (r->n)
		save_symbols(r);
	recorder_size(r->out, &size);
	uint64_t accesses = size.accesses;
	bool ok = recorder_close(r->out, &why);
	struct stat st;
	if (!ok && r->parts)
		buf_printf(err, "intact: the recording %s is not complete: %s; its last parts are in %s.part*\n", r->path, why.text,
		           r->path);
	else if (!ok)
		buf_printf(err, "intact: the recording %s is not complete: %s\n", r->path, why.text);
	else if (r->n && !quiet && !stat(r->path, &st))
		buf_printf(err, "intact: recorded %llu events (%llu accesses) of %u process%s: %s, %llu bytes\n",
		           (unsigned long long)size.records, (unsigned long long)accesses, r->n, r->n == 1 ? "" : "es", r->path,
		           (unsigned long long)st.st_size);
	if (r->lost)
		buf_printf(err, "intact: %u more processes were not recorded\n", r->lost);
	free(r->from);
	free(r);
	return ok;
}
