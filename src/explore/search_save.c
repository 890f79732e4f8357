/*
 * search_save: a search that is going on, written into a checkpoint and read from it.
 *
 * With a checkpoint the states of each level go into a level log when the level begins. At a
 * meeting, when no thread works, the rest is little: the ids (product_save.c), the counters,
 * the states of the present level that are still to be expanded, and those of the next that
 * are known so far. A state whose expansion was broken off is still to be expanded; expanding
 * it again adds nothing twice, so the numbers of states and transitions are those of a search
 * that was never stopped.
 *
 * Reading fills the store, sized for all states at once, from the log and from what is known of
 * the next level. The fields get the widths they had, so that most runs of the log go into the table as they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/varint.h"
#include "explore/search_disk.h"
#include "explore/search_int.h"

enum { LIST_TODO, LIST_NEXT }; /* state_run_head.what of the lists in the state file */

static void put(struct buf *b, uint64_t v)
{
	unsigned char s[16];
	buf_add(b, (const char *)s, (size_t)(put_varint(s, v) - s));
}

/* ---- writing ------------------------------------------------------------ */

bool search_log_level(struct search *s)
{
	bool ok = !s->disk || disk_log_level(s, &s->log);
	for (uint64_t i = 0; ok && i < s->cur.n; i++)
		for (uint32_t k = 0; ok && k < s->cur.chunk[i]->n; k++)
			ok = level_log_put(&s->log, &s->store, s->cur.chunk[i]->keys + (size_t)k * s->store.key);
	return ok && level_log_end(&s->log);
}

static bool put_chunk(struct search *s, struct level_log *list, const struct chunk *c, uint32_t from)
{
	for (uint32_t k = from; c && k < c->n; k++)
		if (!level_log_put(list, &s->store, c->keys + (size_t)k * s->store.key))
			return false;
	return true;
}

/* The states to be expanded, then those of the next level. */
static bool put_lists(struct search *s, struct buf *b)
{
	struct level_log list;
	bool ok = level_log_init(&list, -1, NULL);
	list.max = s->log.max;
	ok = ok && (!s->disk || disk_log_level(s, &list));
	for (uint64_t i = 0; ok && i < s->cur.n; i++)
		ok = put_chunk(s, &list, s->cur.chunk[i], 0);
	for (uint32_t i = 0; ok && !s->disk && i < s->nworkers; i++)
		ok = put_chunk(s, &list, s->workers[i].chunk, s->workers[i].at);
	ok = ok && level_log_end(&list) && (!s->disk || disk_log_next(s, &list));
	for (uint64_t i = 0; ok && i < s->next.n; i++)
		ok = put_chunk(s, &list, s->next.chunk[i], 0);
	for (uint32_t i = 0; ok && i < s->nworkers; i++)
		ok = put_chunk(s, &list, s->workers[i].out, 0);
	ok = ok && level_log_end(&list);
	buf_add(b, list.waiting.data ? list.waiting.data : "", list.waiting.len);
	ok = ok && !list.waiting.failed && !b->failed;
	level_log_free(&list);
	return ok;
}

bool search_save(struct search *s)
{
	struct checkpoint *c = s->o->checkpoint;
	struct buf b, ids;
	uint64_t transitions = 0;
	assert(c && !s->tracing && !s->store.broken);
	if (s->log.out_of_memory) {
		errno = ENOMEM;
		checkpoint_no_room(c);
		return false;
	}
	for (uint32_t i = 0; i < s->nworkers; i++)
		transitions += s->workers[i].transitions;
	if (s->disk && !disk_readable(s))
		return false; /* the checkpoint before stays */
	if (s->disk)
		transitions = disk_transitions(s->disk);
	buf_init(&b);
	buf_init(&ids);
	product_save(&s->prod, &ids);
	put(&b, search_states(s));
	put(&b, transitions);
	put(&b, s->r->depth);
	put(&b, s->r->bytes);
	put(&b, s->log.level);
	for (uint32_t i = 0; i <= s->nthreads; i++)
		put(&b, s->bits[i]);
	put(&b, ids.len);
	buf_add(&b, ids.data, ids.len);
	bool ok = !ids.failed && put_lists(s, &b);
	if (!ok)
		errno = ENOMEM;
	if (s->disk && s->r->verdict == SEARCH_LIMIT)
		disk_give_back(s); /* which may make the room that the checkpoint needs */
	if (!ok || !level_log_sync(&s->log))
		checkpoint_no_room(c);
	else
		ok = checkpoint_write(c, s->key, s->log.name, s->log.synced, &b);
	if (s->disk)
		disk_set_saved(s);
	buf_free(&b);
	buf_free(&ids);
	return ok;
}

/* ---- reading ------------------------------------------------------------ */

struct loading {
	struct search *s;
	uint64_t states; /* of the levels and of the next one */
	uint64_t next;   /* of them, of the next one */
	uint32_t levels;
	bool out_of_memory;
};

static bool ids_exist(const struct search *s, const uint32_t *ids)
{
	const struct product *x = &s->prod;
	bool ok = ids[0] < x->globals.n;
	for (uint32_t i = 0; i < s->nthreads; i++)
		ok &= ids[i + 1] < x->kinds[x->kind_of[i]].ninfo;
	for (uint32_t i = 0; i < s->nthreads; i++)
		ok &= s->first[i] == i || ids[i] <= ids[i + 1]; /* groups are sorted */
	return ok;
}

static bool key_of(struct search *s, const uint32_t *ids, uint64_t key[STORE_INLINE])
{
	struct worker *w = &s->workers[0];
	struct store *st = &s->store;
	if (!st->tree) {
		store_pack(st, ids, key);
		return true;
	}
	store_pack(st, ids, w->words);
	do
		key[0] = tree_root(&st->nodes, w->words, st->at.words, w->nodes, NULL, NULL);
	while (!key[0] && tree_grow(&st->nodes));
	return key[0] != 0;
}

static bool insert(struct loading *l, const uint64_t *key)
{
	struct store *st = &l->s->store;
	if (l->states <= st->n)
		return false; /* more than there should be */
	bool new = store_insert(st, key, store_place(store_hash(key, st->key), st->cap)) == STORE_NEW;
	store_added(st, new);
	return new;
}

static bool same_layout(const struct store_layout *a, const struct store_layout *b)
{
	bool same = a->nfields == b->nfields && a->words == b->words;
	for (uint32_t i = 0; same && i < a->nfields; i++)
		same = a->field[i].bits == b->field[i].bits;
	return same;
}

#define AHEAD 16u /* states whose places are on their way to the cache */

/* The states of a level are only looked for, never expanded: their ids need not be looked at. Where the layout is the
 * present one, keys go into the table as they are. */
static bool load_run(void *arg, const struct level_run *run)
{
	struct loading *l = arg;
	struct search *s = l->s;
	struct store *st = &s->store;
	uint32_t words = run->at->words, *ids = s->workers[0].ids;
	if (s->disk)
		return run->level < l->levels && run->n <= l->states - disk_states(s->disk) && disk_load_run(s, run);
	bool as_it_is = !st->tree && same_layout(run->at, &st->at), ok = run->level < l->levels && run->n <= l->states - st->n;
	uint64_t places[AHEAD], n = run->n, new = 0;
	for (uint64_t i = 0; ok && as_it_is && i < n + AHEAD; i++) {
		if (i >= AHEAD)
			new += store_insert(st, run->states + (i - AHEAD) * words, places[i % AHEAD]) == STORE_NEW;
		if (i >= n)
			continue;
		const uint64_t *key = run->states + i * words;
		ok = key[0] && (words == 1 || !(key[0] & STORE_BUSY));
		places[i % AHEAD] = store_place(store_hash(key, words), st->cap);
		store_prefetch(st, places[i % AHEAD]);
	}
	for (uint64_t i = 0; ok && !as_it_is && i < n; i++) {
		uint64_t key[STORE_INLINE];
		store_unpack_by(run->at, run->states + i * words, ids);
		ok = ids_exist(s, ids);
		l->out_of_memory |= ok && !key_of(s, ids, key);
		ok = ok && !l->out_of_memory;
		new += ok &&store_insert(st, key, store_place(store_hash(key, st->key), st->cap)) == STORE_NEW;
	}
	store_added(st, new);
	return ok && new == n; /* no state is of two levels */
}

static bool load_list(void *arg, uint32_t list, const uint32_t *ids)
{
	struct loading *l = arg;
	struct search *s = l->s;
	uint64_t key[STORE_INLINE];
	if (list > LIST_NEXT || !ids_exist(s, ids) || (list == LIST_TODO && l->next))
		return false;
	if (s->disk) {
		l->next += list == LIST_NEXT;
		return disk_states(s->disk) + (list == LIST_NEXT) <= l->states && disk_load_state(s, list == LIST_NEXT, ids);
	}
	l->out_of_memory = !key_of(s, ids, key);
	if (l->out_of_memory || (list == LIST_NEXT && !insert(l, key)))
		return false;
	if (list == LIST_NEXT && !l->next++)
		l->out_of_memory = !search_level_of(s, &s->cur); /* what was pushed so far is the present level */
	l->out_of_memory |= !search_push(&s->workers[0], key);
	return !l->out_of_memory;
}

/* Counters and ids; how long they are in the file, or 0. */
static uint64_t load_head(struct loading *l, const unsigned char *text, uint64_t len)
{
	struct search *s = l->s;
	struct cursor c = { text, text + len, false };
	l->states = get_varint(&c);
	s->workers[0].transitions = get_varint(&c);
	s->r->depth = (uint32_t)get_varint(&c);
	s->r->bytes = get_varint(&c);
	l->levels = (uint32_t)get_varint(&c);
	bool fit = true;
	for (uint32_t i = 0; i <= s->nthreads; i++) {
		s->bits[i] = (uint8_t)get_varint(&c);
		fit &= s->bits[i] >= 1 && s->bits[i] <= 32;
	}
	uint64_t ids = get_varint(&c);
	if (c.bad || !fit || ids > (uint64_t)(c.end - c.p))
		return 0;
	struct cursor in = { c.p, c.p + ids, false };
	if (!product_load(&s->prod, &in) || in.p != in.end)
		return 0;
	for (uint32_t i = 0; i < s->nthreads; i++)
		fit &= (s->prod.kinds[s->prod.kind_of[i]].ninfo - 1ull) >> s->bits[i + 1] == 0;
	if (!fit || s->prod.globals.n >> s->bits[0])
		return 0; /* each id fits its field */
	s->log.level = l->levels;
	return (uint64_t)(c.p - text) + ids;
}

/* Room for all states: in memory, or else on disk. */
static bool make_room(struct loading *l)
{
	struct search *s = l->s;
	struct disk_place *d = s->o->disk;
	bool here = search_set_fields(s) && !(d && d->from && l->states >= d->from) && store_reserve(&s->store, l->states);
	return here || (d && disk_load_begin(s));
}

/* NULL, or what is wrong. */
static const char *load_files(struct loading *l, int levels, uint64_t nlevels, int state, uint64_t nstate)
{
	struct search *s = l->s;
	unsigned char *text = levels >= 0 && state >= 0 ? malloc(nstate + 1) : NULL;
	uint64_t at;
	const char *wrong = NULL;
	if (!text || pread(state, text, nstate, 0) != (ssize_t)nstate || nstate < 4)
		wrong = "cannot be read";
	else if (!(at = load_head(l, text, nstate - 4)))
		wrong = "does not fit the model";
	else if (!make_room(l))
		wrong = "does not fit into the memory allowed (--max-memory)";
	else if (!(wrong = level_log_drain_runs(levels, 0, nlevels, s->nthreads + 1, load_run, l)))
		wrong = level_log_drain(state, at, nstate - 4 - at, s->nthreads + 1, load_list, l);
	if (s->disk) {
		if (!wrong && !disk_load_end(s, l->states))
			wrong = "is not complete, or does not fit on the disk";
		free(text);
		return wrong;
	}
	if (!wrong && !l->next && !search_level_of(s, &s->cur))
		wrong = "does not fit into memory";
	if (!wrong && s->store.n != l->states) /* there may be nothing left to expand: then the search ends at once */
		wrong = "is not complete";
	free(text);
	return l->out_of_memory ? "does not fit into memory" : wrong;
}

bool search_load(struct search *s, bool *resumed)
{
	struct loading l = { .s = s };
	int levels, state;
	uint64_t nlevels, nstate;
	*resumed = checkpoint_suspended(s->o->checkpoint, s->key, &levels, &nlevels, &state, &nstate);
	if (!*resumed)
		return true;
	const char *wrong = load_files(&l, levels, nlevels, state, nstate);
	if (state >= 0)
		close(state);
	if (wrong) {
		struct why why;
		why_set(&why, "the checkpoint %s", wrong);
		checkpoint_fail(s->o->checkpoint, why.text);
		if (levels >= 0)
			close(levels);
		return false;
	}
	free(s->log.name);
	s->log.name = strdup(checkpoint_levels(s->o->checkpoint));
	s->log.fd = levels;
	s->log.written = s->log.synced = nlevels;
	return s->log.name != NULL;
}
