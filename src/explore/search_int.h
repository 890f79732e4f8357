/*
 * search_int: what the files of search share (search.c: levels, meetings,
 * limits; expand.c: the successors of one state; counterexample.c: the path;
 * search_save.c: checkpoints; search_dist.c: several processes).
 */
#ifndef INTACT_EXPLORE_SEARCH_INT_H
#define INTACT_EXPLORE_SEARCH_INT_H

#include <pthread.h>

#include "explore/level_log.h"
#include "explore/search.h"
#include "explore/store.h"

#define BATCH STORE_SLACK

struct chunk { /* states of a level, as keys of the store */
	uint64_t *keys;
	uint32_t n;
	uint64_t first; /* number of its first state; when tracing */
};

struct level {
	struct chunk **chunk;
	uint64_t n, cap;
};

struct origin { /* how a state was reached, kept only when tracing */
	uint32_t parent, thread, edge;
};

struct thread_span { /* threads of one kind side by side, for expand's fast path */
	uint32_t kind, count;
	uint8_t shift, bits;
};

struct search_run {           /* threads of a symmetric group with the same local state */
	uint32_t first, last; /* threads */
	uint32_t id;
	uint32_t low, high; /* the runs of its group */
	uint64_t code;      /* what they can do */
};

struct worker {
	struct search *s;
	pthread_t thread;
	struct chunk *chunk; /* being expanded, from state `at` on */
	uint32_t at;
	struct chunk *out; /* being filled */
	uint64_t transitions;
	uint32_t ticks;  /* work since the clock was looked at */
	uint32_t nbatch; /* successors waiting for their insertion */
	uint64_t *batch; /* keys */
	uint64_t place[BATCH];
	bool check[BATCH]; /* may be quiescent */
	struct origin from[BATCH];
	uint64_t count[BATCH]; /* when tracing: transitions up to this one */
	/* where a successor's key may be: the store's table, or the cache of a search on disk */
	uint64_t *table, cap;
	struct disk_worker *disk; /* or NULL */
	struct dist_worker *dist; /* or NULL */
	/* the state being expanded, and a successor */
	uint32_t global, nruns;
	struct search_run *runs;
	uint32_t *ids, *nodes, *child_nodes;
	uint64_t *words, *child;
};

struct search {
	const struct search_options *o;
	struct product prod;
	struct store store;
	uint32_t nthreads;
	uint32_t *first, *last; /* by thread: its symmetric group */
	uint8_t *bits;          /* of the fields */
	struct thread_span *spans;
	uint32_t nspans;
	bool tracing;
	bool plain; /* expand_plain may be tried */
	struct level cur, next;
	uint32_t chunk; /* states of one */
	uint64_t taken; /* chunks of cur, atomically */
	uint64_t chunk_bytes;
	struct origin *origins;
	uint64_t norigins, cap_origins;
	struct {
		uint32_t parent, thread, edge;
	} hit; /* thread IR_NONE: the state itself */
	struct search_result *r;
	/* meetings */
	pthread_mutex_t lock;
	pthread_cond_t met;
	struct worker *workers;
	uint32_t nworkers, waiting;
	uint64_t meeting;
	int stop; /* come to a meeting; atomic */
	bool quit, widen;
	double next_tick;
	struct disk_search *disk; /* or NULL: in memory */
	struct dist_search *dist; /* or NULL: on this rank alone */
	uint64_t hit_transitions; /* when tracing: up to a violation that a state is; 0: it is none */
	bool torn;                /* not all that waits in chunks has the layout of the store */
	/* with a checkpoint */
	struct checkpoint_key key;
	struct level_log log;
	bool resumed;
};

enum expanded {
	EXPANDED, /* all of it */
	AGAIN,    /* not all; a meeting has been requested, then again */
};

/* Does the thread stay where it is? */
static inline bool search_frozen(const struct search *s, uint32_t thread)
{
	return s->o->few && s->prod.ir->threads[thread].index > s->o->few;
}

/* States found so far; on disk, up to the present level. */
uint64_t search_states(const struct search *s);

/* expand.c */
/* Quiescent, and the shadow differs? */
bool search_is_wrong(struct worker *w, const uint64_t *key);
enum expanded expand(struct worker *w);
void flush(struct worker *w);
void search_make_spans(struct search *s);

/* search.c */
void search_give_up(struct search *s, const char *limit);
void search_hit(struct search *s, enum search_verdict v, struct origin at);
void search_ask_meeting(struct search *s);
bool search_push(struct worker *w, const uint64_t *key);
/* A state for a level; *out is the chunk being filled. */
bool search_put(struct worker *w, struct chunk **out, struct level *l, const uint64_t *key);
bool search_level_add(struct level *l, struct chunk *c);
/* All but the initial state, which it begins with unless it is another rank's search. */
bool search_prepare(struct search *s, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                    const struct search_options *o, struct search_result *r, bool tracing);
/* What workers have pushed becomes the present level; false: there was nothing, or memory has ended. */
bool search_next_level(struct search *s);
void search_check_limits(struct search *s);
/* More threads, when there is enough to do. */
void search_hire(struct search *s);
/* The product is told which ids fit. */
void search_tell_limits(struct search *s);
/* Fields as wide as all ids given out so far need; `ahead`: with a bit for ids to come, where there is room. */
void search_widths(const struct search *s, uint8_t *bits, bool ahead);
bool search_init(struct search *s, const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                 const struct search_options *o, struct search_result *r, bool tracing);
void search_limit(struct search *s, const char *name);
void search_explore(struct search *s);
void search_free(struct search *s);

/* Fields as wide as s->bits says, enough for all ids. False when out of memory. */
bool search_set_fields(struct search *s);
/* Workers look for successors where they are now. */
void search_aim(struct search *s);
/* A chunk for the next level or from a file; its states are counted in chunk_bytes. */
struct chunk *search_chunk_new(struct search *s);
void search_chunk_free(struct search *s, struct chunk *c);
void search_level_free(struct search *s, struct level *l);
bool search_worker_room(struct worker *w);
void search_worker_free_room(struct worker *w);
/* The level log of a search that a checkpoint may be written of. */
bool search_begin_log(struct search *s);
/* What the first thread has pushed becomes this level. */
bool search_level_of(struct search *s, struct level *l);

/* search_save.c */
/* The states of the level that begins go into the log. */
bool search_log_level(struct search *s);
/* Writes a checkpoint; no thread works. False: checkpoint_trouble. */
bool search_save(struct search *s);
/* Continues from the checkpoint when there is one of this search (*resumed). False when it cannot be loaded. */
bool search_load(struct search *s, bool *resumed);

/* counterexample.c */
void search_trace(const struct ir *ir, enum prod_mode mode, uint32_t block, const struct labelling *lab,
                  const struct search_options *o, bool on_disk, struct search_result *r);

#endif
