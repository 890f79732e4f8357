#include "explore/level_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/invariant.h"

#define WAITING_MAX ((size_t)16 << 20) /* bytes; then they go to the file before anybody asks */

bool level_log_init(struct level_log *l, int dir, const char *name)
{
	*l = (struct level_log){ .dir = dir, .fd = -1, .max = STATE_RUN_MAX };
	buf_init(&l->waiting);
	l->name = name ? strdup(name) : NULL;
	return !name || l->name;
}

void level_log_free(struct level_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	buf_free(&l->waiting);
	free(l->name);
	free(l->states);
	free(l->room);
	free(l->bits);
	*l = (struct level_log){ .fd = -1 };
}

uint64_t level_log_bytes(const struct level_log *l)
{
	return l->waiting.cap + l->cap * l->words * 16;
}

/* ---- the file ----------------------------------------------------------- */

/* What waits goes behind what is written; nothing is lost when it does not. */
static bool write_out(struct level_log *l)
{
	if (l->fd < 0)
		l->fd = openat(l->dir, l->name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (l->fd < 0)
		return false;
	for (size_t done = 0; done < l->waiting.len;) {
		ssize_t k = pwrite(l->fd, l->waiting.data + done, l->waiting.len - done, (off_t)(l->written + done));
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		done += (size_t)k;
	}
	l->written += l->waiting.len;
	buf_clear(&l->waiting);
	return true;
}

bool level_log_sync(struct level_log *l)
{
	assert(l->name && !l->n);
	if ((l->waiting.len || l->fd < 0) && !write_out(l))
		return false;
	if (l->synced < l->written && fsync(l->fd) != 0)
		return false;
	l->synced = l->written;
	return true;
}

/* ---- putting ------------------------------------------------------------ */

/* The states that wait for it become a run. */
static bool make_run(struct level_log *l)
{
	if (!l->n)
		return true;
	state_run_sort(l->states, l->room, l->n, l->words);
	if (!state_run_write(&l->waiting, l->level, l->nfields, l->bits, l->words, l->states, l->n))
		return false;
	l->n = 0;
	if (l->name && l->waiting.len >= (l->max < STATE_RUN_MAX ? WAITING_MAX / 16 : WAITING_MAX))
		write_out(l); /* when it fails, level_log_sync will say why */
	return true;
}

/* The layout of the store is another one: the states so far become a run of their own. */
static bool set_layout(struct level_log *l, const struct store *s)
{
	bool same = l->bits && l->nfields == s->at.nfields && l->words == s->at.words;
	for (uint32_t i = 0; same && i < l->nfields; i++)
		same = l->bits[i] == s->at.field[i].bits;
	if (same)
		return true;
	if (!make_run(l))
		return false;
	free(l->states);
	free(l->room);
	free(l->bits);
	l->states = l->room = NULL;
	l->cap = 0;
	l->nfields = s->at.nfields;
	l->words = s->at.words;
	l->bits = malloc(l->nfields);
	for (uint32_t i = 0; l->bits && i < l->nfields; i++)
		l->bits[i] = s->at.field[i].bits;
	return l->bits != NULL;
}

static bool make_room(struct level_log *l)
{
	uint64_t cap = l->cap ? l->cap * 2 : 1024;
	assert(l->max && l->max <= STATE_RUN_MAX);
	uint64_t *states = realloc(l->states, cap * l->words * sizeof *states);
	if (states)
		l->states = states;
	uint64_t *room = states ? realloc(l->room, cap * l->words * sizeof *room) : NULL;
	if (!room)
		return false;
	l->room = room;
	l->cap = cap;
	return true;
}

bool level_log_put(struct level_log *l, const struct store *s, const uint64_t *key)
{
	if (l->out_of_memory || !set_layout(l, s) || (l->n >= l->max && !make_run(l)) || (l->n == l->cap && !make_room(l))) {
		l->out_of_memory = true;
		return false;
	}
	store_words(s, key, l->states + l->n++ * l->words);
	return true;
}

bool level_log_end(struct level_log *l)
{
	if (!make_run(l))
		l->out_of_memory = true;
	l->level++;
	return !l->out_of_memory;
}

/* ---- draining ----------------------------------------------------------- */

static bool read_at(int fd, void *to, uint64_t n, uint64_t offset)
{
	for (uint64_t done = 0; done < n;) {
		ssize_t k = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		done += (uint64_t)k;
	}
	return true;
}

/* The states of one run, with the layout it was written with. */
static const char *drain_run(const struct state_run_head *h, const unsigned char *rest, level_log_each_run *each, void *arg)
{
	const uint8_t *bits;
	uint64_t *states;
	const char *wrong = NULL;
	struct store_layout at = { 0 };
	if (!state_run_read(h, rest, &bits, &states))
		return "is damaged";
	for (uint32_t i = 0; i < h->nfields; i++)
		if (bits[i] < 1 || bits[i] > 32)
			wrong = "is damaged";
	if (!wrong && !store_lay_out(&at, h->nfields, bits))
		wrong = "does not fit into memory";
	if (!wrong && at.words != h->words)
		wrong = "is damaged";
	if (!wrong && !each(arg, &(struct level_run){ h->what, h->n, states, &at }))
		wrong = "names states that do not exist";
	free(at.field);
	free(states);
	return wrong;
}

static const char *read_runs(int fd, uint64_t offset, uint64_t length, uint32_t nfields, level_log_each_run *each, void *arg)
{
	uint64_t end = offset + length;
	const char *wrong = NULL;
	while (!wrong && offset < end) {
		unsigned char head[STATE_RUN_HEAD], *rest = NULL;
		struct state_run_head h;
		if (end - offset < sizeof head || !read_at(fd, head, sizeof head, offset))
			wrong = "is truncated";
		else if (!state_run_read_head(head, &h) || (nfields && h.nfields != nfields))
			wrong = "is damaged";
		else if (h.bytes > end - offset - sizeof head)
			wrong = "is truncated";
		else if (!(rest = malloc(h.bytes)))
			wrong = "does not fit into memory";
		else if (!read_at(fd, rest, h.bytes, offset + sizeof head))
			wrong = "is truncated";
		else if (each)
			wrong = drain_run(&h, rest, each, arg);
		else if (!state_run_whole(&h, rest))
			wrong = "is damaged";
		free(rest);
		if (!wrong)
			offset += sizeof head + h.bytes;
	}
	return wrong;
}

const char *level_log_drain_runs(int fd, uint64_t offset, uint64_t length, uint32_t nfields, level_log_each_run *each, void *arg)
{
	assert(nfields && each);
	return read_runs(fd, offset, length, nfields, each, arg);
}

struct by_state {
	level_log_each *each;
	void *arg;
	uint32_t *ids;
};

static bool each_state(void *arg, const struct level_run *run)
{
	struct by_state *b = arg;
	bool ok = true;
	for (uint64_t k = 0; ok && k < run->n; k++) {
		store_unpack_by(run->at, run->states + k * run->at->words, b->ids);
		ok = b->each(b->arg, run->level, b->ids);
	}
	return ok;
}

const char *level_log_drain(int fd, uint64_t offset, uint64_t length, uint32_t nfields, level_log_each *each, void *arg)
{
	struct by_state b = { each, arg, malloc(nfields * sizeof *b.ids) };
	const char *wrong = b.ids ? level_log_drain_runs(fd, offset, length, nfields, each_state, &b) : "does not fit into memory";
	free(b.ids);
	return wrong;
}

const char *level_log_verify(int fd, uint64_t offset, uint64_t length)
{
	return read_runs(fd, offset, length, 0, NULL, NULL);
}
