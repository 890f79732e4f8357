/*
 * Sorted runs of states and the level log against what was put in: one word, two, many; layouts that change in between;
 * bytes that were damaged.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "explore/level_log.h"

/* ---- sorting ------------------------------------------------------------ */

static void test_sort(void)
{
	struct rng r;
	rng_seed(&r, 7);
	for (uint32_t round = 0; round < 60; round++) {
		uint32_t words = 1 + rng_below(&r, 3), n = rng_below(&r, round % 3 ? 300 : 5000), shift = rng_below(&r, 60);
		uint64_t *a = malloc((size_t)n * words * 8 + 8), *room = malloc((size_t)n * words * 8 + 8), sum = 0, after = 0;
		for (uint32_t i = 0; i < n * words; i++)
			sum += a[i] = rng_next(&r) >> shift;
		state_run_sort(a, room, n, words);
		for (uint32_t i = 0; i < n * words; i++)
			after += a[i];
		CHECK(sum == after);
		for (uint32_t i = 1; i < n; i++)
			CHECK(state_run_compare(a + (size_t)(i - 1) * words, a + (size_t)i * words, words) <= 0);
		free(a);
		free(room);
	}
}

/* ---- the log against its twin: the ids that were put, by level ------------ */

struct twin {
	uint32_t nfields, n, cap;
	uint32_t *ids, *level; /* in the order of the log */
	uint32_t at;           /* while it is drained */
	bool wrong;
};

static struct twin *sorting;

static int by_level_and_order(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b, n = sorting->nfields;
	if (sorting->level[i] != sorting->level[k])
		return sorting->level[i] < sorting->level[k] ? -1 : 1;
	for (uint32_t f = n; f-- > 0;)
		if (sorting->ids[i * n + f] != sorting->ids[k * n + f])
			return sorting->ids[i * n + f] < sorting->ids[k * n + f] ? -1 : 1;
	return 0;
}

static bool compare_next(void *arg, uint32_t level, const uint32_t *ids)
{
	struct twin *t = arg;
	t->wrong |= t->at >= t->n || t->level[t->at] != level ||
	            memcmp(t->ids + (size_t)t->at * t->nfields, ids, t->nfields * 4) != 0;
	t->at++;
	return !t->wrong;
}

static void sort_twin(struct twin *t)
{
	uint32_t *order = malloc(sizeof *order * (t->n + 1)), *ids = malloc(sizeof *ids * t->nfields * (t->n + 1)),
		 *level = malloc(sizeof *level * (t->n + 1)), n = 0;
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = i;
	sorting = t;
	qsort(order, t->n, sizeof *order, by_level_and_order);
	for (uint32_t i = 0; i < t->n; i++) {
		if (i && !by_level_and_order(&order[i - 1], &order[i]))
			continue; /* a state is put once */
		memcpy(ids + (size_t)n * t->nfields, t->ids + (size_t)order[i] * t->nfields, t->nfields * 4);
		level[n++] = t->level[order[i]];
	}
	free(t->ids);
	free(t->level);
	free(order);
	t->ids = ids;
	t->level = level;
	t->n = n;
}

static void put_state(struct level_log *l, struct store *s, const uint32_t *ids)
{
	uint64_t key[STORE_INLINE], *words = malloc(8 * s->at.words);
	uint32_t *nodes = malloc(4 * tree_room(s->at.words));
	store_pack(s, ids, words);
	if (s->tree)
		while (!(key[0] = tree_root(&s->nodes, words, s->at.words, nodes, NULL, NULL)))
			CHECK(tree_grow(&s->nodes));
	else
		memcpy(key, words, 8 * s->key);
	CHECK(level_log_put(l, s, key));
	free(words);
	free(nodes);
}

/* The layouts of a level: narrow ones first, as they become in a search. */
static void one_log(struct rng *r, uint32_t nfields, uint32_t maxbits, int dir)
{
	struct twin t = { .nfields = nfields };
	struct level_log l;
	uint8_t *bits = malloc(nfields);
	uint32_t levels = 1 + rng_below(r, 5), per = 1 + rng_below(r, 700);
	t.ids = malloc((size_t)levels * per * nfields * 4);
	t.level = malloc((size_t)levels * per * 4);
	CHECK(level_log_init(&l, dir, "log"));
	for (uint32_t level = 0; level < levels; level++) {
		struct store s;
		for (uint32_t f = 0; f < nfields; f++)
			bits[f] = (uint8_t)(2 + rng_below(r, maxbits - 1));
		CHECK(store_init(&s, nfields, bits, 0));
		struct twin one = {
			.nfields = nfields, .n = per, .ids = malloc((size_t)per * nfields * 4), .level = malloc(4 * per)
		};
		for (uint32_t i = 0; i < per; i++) {
			one.level[i] = level;
			for (uint32_t f = 0; f < nfields; f++)
				one.ids[i * nfields + f] = rng_below(r, f ? 1u << bits[f] : (1u << bits[f]) - 1);
		}
		sort_twin(&one); /* without doubles */
		for (uint32_t i = 0; i < one.n; i++) {
			uint32_t k = (i * 7919u) % one.n; /* put in another order when that is one */
			if (one.n % 7919u == 0)
				k = i;
			put_state(&l, &s, one.ids + (size_t)k * nfields);
		}
		memcpy(t.ids + (size_t)t.n * nfields, one.ids, (size_t)one.n * nfields * 4);
		memcpy(t.level + t.n, one.level, (size_t)one.n * 4);
		t.n += one.n;
		CHECK(level_log_end(&l));
		if (rng_below(r, 2))
			CHECK(level_log_sync(&l));
		free(one.ids);
		free(one.level);
		store_free(&s);
	}
	CHECK(level_log_sync(&l));
	CHECK(!level_log_verify(l.fd, 0, l.synced));
	const char *wrong = level_log_drain(l.fd, 0, l.synced, nfields, compare_next, &t);
	CHECK(!wrong && !t.wrong && t.at == t.n);

	/* damaged: never drained as if it were whole */
	unsigned char *text = malloc(l.synced);
	CHECK(pread(l.fd, text, l.synced, 0) == (ssize_t)l.synced);
	for (uint32_t i = 0; i < 20; i++) {
		uint64_t at = rng_next(r) % l.synced;
		unsigned char was = text[at], now = (unsigned char)(was ^ 1u << rng_below(r, 8));
		CHECK(pwrite(l.fd, &now, 1, (off_t)at) == 1);
		CHECK(level_log_verify(l.fd, 0, l.synced));
		t.at = 0;
		t.wrong = false;
		CHECK(level_log_drain(l.fd, 0, l.synced, nfields, compare_next, &t));
		CHECK(pwrite(l.fd, &was, 1, (off_t)at) == 1);
	}
	CHECK(level_log_verify(l.fd, 0, l.synced - 1));
	free(text);
	free(bits);
	free(t.ids);
	free(t.level);
	level_log_free(&l);
}

static void test_log(void)
{
	struct rng r;
	char name[] = "/tmp/state_run.XXXXXX";
	CHECK(mkdtemp(name));
	int dir = open(name, O_RDONLY | O_DIRECTORY);
	rng_seed(&r, 11);
	for (uint32_t round = 0; round < 40; round++) {
		static const uint32_t fields[] = { 1, 3, 6, 12, 40 };
		one_log(&r, fields[round % 5], 2 + rng_below(&r, 12), dir);
	}
	unlinkat(dir, "log", 0);
	close(dir);
	rmdir(name);
}

int main(void)
{
	RUN(test_sort);
	RUN(test_log);
	return check_done();
}
