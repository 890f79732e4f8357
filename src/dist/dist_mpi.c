/*
 * dist_mpi: dist over MPI; every call of MPI that intact makes is in this file.
 *
 * Compiled once for each MPI library that is there, as a module of its own (dist_open.c loads it).
 *
 * Messages come through a ring of receives, posted in order and tested in order, one at a time: MPI matches the messages of
 * a rank with receives in the order in which both were posted, so what came first is handed out first. (Testing all of them
 * at once would hand out whichever is complete; an end of a phase overtakes its data then.) A message that is longer than a
 * receive goes in pieces, the first byte of each piece says whether more follow; the pieces of one message are adjacent, as
 * puts are.
 *
 * Sends are not waited for: their buffers wait in a list until they are gone. Nothing blocks inside MPI: collective calls
 * are the non-blocking ones, tested with dist_pause in between, so that ranks that wait leave the processor to others.
 */
#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "dist/dist_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECEIVES   16
#define PIECE      ((size_t)256 << 10) /* bytes of a receive */
#define TAG        7
#define PIECE_MORE 1u /* first byte of a piece: the message goes on in the next one of the rank */
#define PIECE_LAST 0u
#define MPI_PART   ((size_t)1 << 30) /* bytes of one broadcast */

struct sending {
	struct sending *next;
	MPI_Request request;
	size_t n;
	unsigned char bytes[];
};

struct partly { /* a message of which not all pieces have come */
	unsigned char *bytes;
	size_t n;
};

struct mpi_state {
	MPI_Comm messages, calls;
	MPI_Request ring[RECEIVES];
	unsigned char *buffer[RECEIVES];
	uint32_t head;
	struct sending *first, **last;
	uint64_t waiting;
	struct partly *partly; /* by rank */
	bool began;            /* MPI was started here */
};

static bool trouble(struct dist *d, int code)
{
	char text[MPI_MAX_ERROR_STRING + 1] = "";
	int n = 0;
	if (code == MPI_SUCCESS)
		return false;
	MPI_Error_string(code, text, &n);
	if (!d->broken)
		snprintf(d->why.text, sizeof d->why.text, "MPI: %.*s", n < 160 ? n : 160, text);
	d->broken = true;
	return true;
}

/* Buffers of sends that are gone are freed. They go in order, so the first that is not gone ends the search. */
static void reap(struct dist *d)
{
	struct mpi_state *s = d->state;
	int gone = 1;
	while (s->first && gone) {
		struct sending *p = s->first;
		if (trouble(d, MPI_Test(&p->request, &gone, MPI_STATUS_IGNORE)) || !gone)
			return;
		s->first = p->next;
		if (!s->first)
			s->last = &s->first;
		s->waiting -= p->n;
		free(p);
	}
}

static bool put_piece(struct dist *d, uint32_t to, const unsigned char *bytes, size_t n, bool more)
{
	struct mpi_state *s = d->state;
	struct sending *p = malloc(sizeof *p + n + 1);
	if (!p)
		return false;
	p->next = NULL;
	p->n = n + 1;
	p->bytes[0] = more ? PIECE_MORE : PIECE_LAST;
	memcpy(p->bytes + 1, bytes, n);
	if (trouble(d, MPI_Isend(p->bytes, (int)(n + 1), MPI_BYTE, (int)to, TAG, s->messages, &p->request))) {
		free(p);
		return false;
	}
	*s->last = p;
	s->last = &p->next;
	s->waiting += p->n;
	return true;
}

static bool mpi_put(struct dist *d, uint32_t to, unsigned char *bytes, size_t n)
{
	bool ok = true;
	for (size_t at = 0; ok && at < n;) {
		size_t part = n - at < PIECE - 1 ? n - at : PIECE - 1;
		ok = put_piece(d, to, bytes + at, part, at + part < n);
		at += part;
	}
	free(bytes);
	reap(d);
	return ok && !d->broken;
}

static bool post(struct dist *d, uint32_t i)
{
	struct mpi_state *s = d->state;
	return !trouble(d, MPI_Irecv(s->buffer[i], (int)PIECE, MPI_BYTE, MPI_ANY_SOURCE, TAG, s->messages, &s->ring[i]));
}

static bool mpi_take(struct dist *d, uint32_t *from, unsigned char **bytes, size_t *n)
{
	struct mpi_state *s = d->state;
	reap(d);
	for (;;) {
		MPI_Status status;
		int there = 0, count = 0;
		if (d->broken || trouble(d, MPI_Test(&s->ring[s->head], &there, &status)) || !there ||
		    trouble(d, MPI_Get_count(&status, MPI_BYTE, &count)))
			return false;
		const unsigned char *piece = s->buffer[s->head];
		struct partly *p = &s->partly[status.MPI_SOURCE];
		size_t more = (size_t)count - 1;
		unsigned char *whole = count > 0 ? realloc(p->bytes, p->n + more + 1) : NULL;
		if (!whole) {
			snprintf(d->why.text, sizeof d->why.text, "out of memory");
			d->broken = true;
			return false;
		}
		memcpy(whole + p->n, piece + 1, more);
		*p = (struct partly){ whole, p->n + more };
		bool last = piece[0] == PIECE_LAST;
		bool posted = post(d, s->head);
		s->head = (s->head + 1) % RECEIVES;
		if (!posted)
			return false;
		if (!last)
			continue;
		*from = (uint32_t)status.MPI_SOURCE;
		*bytes = p->bytes;
		*n = p->n;
		*p = (struct partly){ 0 };
		return true;
	}
}

static bool wait_for(struct dist *d, MPI_Request *r)
{
	uint32_t idle = 0;
	for (int done = 0; !trouble(d, MPI_Test(r, &done, MPI_STATUS_IGNORE));) {
		if (done)
			return true;
		reap(d);
		dist_pause(&idle);
	}
	return false;
}

static bool mpi_sum(struct dist *d, uint64_t *v, uint32_t n)
{
	struct mpi_state *s = d->state;
	MPI_Request r;
	return !trouble(d, MPI_Iallreduce(MPI_IN_PLACE, v, (int)n, MPI_UINT64_T, MPI_SUM, s->calls, &r)) && wait_for(d, &r);
}

/* A rank's part at a time, in pieces that a count of MPI has room for. */
static bool mpi_gather(struct dist *d, const void *mine, size_t n, unsigned char **all, uint64_t *lengths)
{
	struct mpi_state *s = d->state;
	MPI_Request r;
	uint64_t own = n, whole = 0, at = 0;
	*all = NULL;
	if (trouble(d, MPI_Iallgather(&own, 1, MPI_UINT64_T, lengths, 1, MPI_UINT64_T, s->calls, &r)) || !wait_for(d, &r))
		return false;
	for (uint32_t i = 0; i < d->n; i++)
		whole += lengths[i];
	*all = malloc(whole + 1);
	if (!*all) /* the others would wait forever: the caller ends this rank, and the launcher the others */
		return false;
	bool ok = true;
	for (uint32_t i = 0; ok && i < d->n; at += lengths[i++]) {
		if (i == d->rank && n)
			memcpy(*all + at, mine, n);
		for (uint64_t k = 0; ok && k < lengths[i]; k += MPI_PART) {
			uint64_t part = lengths[i] - k < MPI_PART ? lengths[i] - k : MPI_PART;
			ok = !trouble(d, MPI_Ibcast(*all + at + k, (int)part, MPI_BYTE, (int)i, s->calls, &r)) && wait_for(d, &r);
		}
	}
	if (!ok) {
		free(*all);
		*all = NULL;
	}
	return ok;
}

static uint64_t mpi_waiting(const struct dist *d)
{
	return ((const struct mpi_state *)d->state)->waiting;
}

static void free_state(struct mpi_state *s)
{
	for (int i = 0; i < RECEIVES; i++)
		free(s->buffer[i]);
	free(s->partly);
	free(s);
}

static void mpi_close(struct dist *d)
{
	struct mpi_state *s = d->state;
	if (d->broken) /* the launcher sees the process end without MPI_Finalize, and ends the others */
		return;
	while (s->first && !d->broken && wait_for(d, &s->first->request)) /* to MPI_REQUEST_NULL, which is gone */
		reap(d);
	for (int i = 0; i < RECEIVES; i++) {
		MPI_Cancel(&s->ring[i]);
		MPI_Request_free(&s->ring[i]);
	}
	MPI_Request r; /* MPI_Finalize may wait with a busy processor: all come to it together */
	if (!trouble(d, MPI_Ibarrier(s->calls, &r)))
		wait_for(d, &r);
	MPI_Comm_free(&s->messages);
	MPI_Comm_free(&s->calls);
	if (s->began)
		MPI_Finalize();
	free_state(s);
	d->state = NULL;
}

static const struct dist_ops mpi_ops = { mpi_put, mpi_take, mpi_sum, mpi_gather, mpi_waiting, mpi_close };

static void name_library(struct dist *d)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
	int n = 0;
	MPI_Get_library_version(text, &n);
	n = (int)strcspn(text, ",\n");
	snprintf(d->name, sizeof d->name, "%.*s", n < 90 ? n : 90, text);
	for (char *c = d->name; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
}

bool DIST_MPI_SYMBOL(struct dist *d)
{
	struct mpi_state *s = calloc(1, sizeof *s);
	int began = 0, level = 0, rank = 0, n = 0, here = 0;
	MPI_Comm beside;
	*d = (struct dist){ .ops = &mpi_ops, .state = s };
	if (!s) {
		snprintf(d->why.text, sizeof d->why.text, "out of memory");
		return false;
	}
	s->last = &s->first;
	MPI_Initialized(&began);
	s->began = !began;
	if (!began && trouble(d, MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level)))
		return false;
	MPI_Query_thread(&level);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (level < MPI_THREAD_SERIALIZED) {
		snprintf(d->why.text, sizeof d->why.text, "this MPI library cannot be used by several threads in turn");
		return false;
	}
	if (trouble(d, MPI_Comm_rank(MPI_COMM_WORLD, &rank)) || trouble(d, MPI_Comm_size(MPI_COMM_WORLD, &n)) ||
	    trouble(d, MPI_Comm_dup(MPI_COMM_WORLD, &s->messages)) || trouble(d, MPI_Comm_dup(MPI_COMM_WORLD, &s->calls)) ||
	    trouble(d, MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &beside)) ||
	    trouble(d, MPI_Comm_size(beside, &here)) || trouble(d, MPI_Comm_free(&beside)))
		return false;
	d->rank = (uint32_t)rank;
	d->n = (uint32_t)n;
	d->here = (uint32_t)here;
	name_library(d);
	s->partly = calloc(d->n, sizeof *s->partly);
	bool ok = s->partly != NULL;
	for (uint32_t i = 0; ok && i < RECEIVES; i++)
		ok = (s->buffer[i] = malloc(PIECE)) != NULL;
	if (!ok)
		snprintf(d->why.text, sizeof d->why.text, "out of memory");
	for (uint32_t i = 0; ok && i < RECEIVES; i++)
		ok = post(d, i);
	return ok;
}
