/*
 * Runs of keys, their merging and sorting against a naive twin: one word to four, keys with lower words, arrays and runs,
 * layouts that change in between; the limit of the files; bytes that were damaged.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "explore/key_merge.h"
#include "explore/state_run.h"

static int tmp_dir(void)
{
	return open(access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", O_RDONLY | O_DIRECTORY);
}

static uint32_t comparing;

static int compare(const void *a, const void *b)
{
	return state_run_compare(a, b, comparing);
}

/* ---- a layout of so many words, each with three fields, the first of so many bits ---- */

#define FIELDS 12

static struct key_layout layout_of(uint32_t words, uint8_t wide, uint32_t low)
{
	struct key_layout l = { .low = low };
	uint8_t bits[FIELDS];
	for (uint32_t i = 0; i < words; i++) {
		bits[3 * i] = wide;
		bits[3 * i + 1] = 32;
		bits[3 * i + 2] = 17;
	}
	CHECK(store_lay_out(&l.at, 3 * words, bits));
	CHECK_EQ(l.at.words, words);
	return l;
}

/* Few keys in a small space, so that many are equal; and some that are far apart. */
static void random_key(struct rng *r, const struct key_layout *l, uint64_t *key)
{
	uint32_t ids[FIELDS];
	for (uint32_t f = 0; f < l->at.nfields; f++)
		ids[f] = rng_below(r, rng_below(r, 40) ? 3 : 1000);
	for (uint32_t k = 0; k < l->low; k++)
		key[k] = rng_below(r, 50);
	store_pack_by(&l->at, ids, key + l->low);
}

struct keys {
	uint64_t *at, n;
	uint32_t words;
	bool more; /* than there should be */
};

/* What was given: compared with what should be, one after the other. */
struct expected {
	const struct keys *keys;
	uint64_t at;
	bool wrong;
};

static bool expect(void *arg, const uint64_t *keys, uint64_t n)
{
	struct expected *e = arg;
	uint32_t words = e->keys->words;
	e->wrong |= n > e->keys->n - e->at || memcmp(keys, e->keys->at + e->at * words, n * words * 8) != 0;
	e->at += n;
	return !e->wrong;
}

/* Sorted, of equal keys (lower words aside) the first, without those of `known`. */
static struct keys twin(const struct keys *all, const struct keys *known, uint32_t low)
{
	struct keys out = { malloc((all->n + 1) * all->words * 8), 0, all->words, false };
	uint32_t words = all->words;
	comparing = words;
	if (all->n)
		qsort(all->at, all->n, words * 8, compare);
	for (uint64_t i = 0; i < all->n; i++) {
		const uint64_t *key = all->at + i * words;
		bool drop = i && !memcmp(key + low, key - words + low, (words - low) * 8);
		for (uint64_t k = 0; !drop && k < known->n; k++)
			drop = !memcmp(key + low, known->at + k * known->words, (words - low) * 8);
		if (!drop)
			memcpy(out.at + out.n++ * words, key, words * 8);
	}
	return out;
}

/* ---- random sorters, merged ------------------------------------------------ */

#define SORTERS 3u

static void one_merge(struct rng *r, struct scratch *s, uint32_t words, uint32_t low)
{
	struct key_layout narrow = layout_of(words, 12, low), wide = layout_of(words, 14, low), plain = wide;
	struct key_sorter t[SORTERS], known;
	struct key_reader from[200], old[60];
	struct keys all = { malloc(20000 * 8 * 8), 0, words + low, false }, before = { malloc(6000 * 8 * 8), 0, words, false };
	uint32_t nfrom = 0, nold, most = rng_below(r, 3) ? 200 : 4000;
	uint64_t key[8];
	plain.low = 0;
	CHECK(key_sorter_init(&known, s, &plain, 1 + rng_below(r, 500)));
	for (uint32_t i = rng_below(r, 1500); i; i--) {
		random_key(r, &plain, key);
		CHECK(key_sorter_put(&known, key));
		memcpy(before.at + before.n++ * words, key, words * 8);
	}
	for (uint32_t k = 0; k < SORTERS; k++) {
		bool changes = rng_below(r, 2); /* its runs have the narrow layout, what follows the wide one */
		uint64_t cap = 1 + rng_below(r, most);
		CHECK(key_sorter_init(&t[k], s, changes ? &narrow : &wide, cap));
		for (uint32_t i = rng_below(r, most); i; i--) {
			random_key(r, t[k].layout, key);
			CHECK(key_sorter_put(&t[k], key));
			if (t[k].layout == &narrow) { /* the twin has them as wide ones */
				uint32_t ids[FIELDS];
				store_unpack_by(&narrow.at, key + low, ids);
				store_pack_by(&wide.at, ids, key + low);
			}
			memcpy(all.at + all.n++ * all.words, key, all.words * 8);
		}
		if (changes) {
			CHECK(key_sorter_spill(&t[k]));
			t[k].layout = &wide;
		}
		CHECK(key_sorter_sort(&t[k]) && t[k].nruns + 1 + nfrom < 200);
		CHECK(key_sorter_read(&t[k], from + nfrom, &wide));
		nfrom += t[k].nruns + 1;
	}
	CHECK(key_sorter_sort(&known) && key_sorter_read(&known, old, &plain));
	nold = known.nruns + 1;
	struct keys should = twin(&all, &before, low);
	struct expected e = { .keys = &should };
	struct key_merge m = { .s = s, .words = words + low, .low = low, .source = from, .known = old, .nsources = nfrom,
		               .nknown = nold, .each = expect, .arg = &e };
	CHECK(key_merge(&m));
	CHECK(!e.wrong && e.at == should.n);
	for (uint32_t i = 0; i < nfrom; i++)
		key_reader_free(&from[i]);
	for (uint32_t i = 0; i < nold; i++)
		key_reader_free(&old[i]);
	for (uint32_t k = 0; k < SORTERS; k++)
		key_sorter_free(&t[k]);
	key_sorter_free(&known);
	free(narrow.at.field);
	free(wide.at.field);
	free(all.at);
	free(before.at);
	free(should.at);
}

static void test_merging(void)
{
	struct rng r;
	struct scratch s = { .dir = tmp_dir() };
	rng_seed(&r, 3);
	for (uint32_t i = 0; i < 120 && !check_failed; i++)
		one_merge(&r, &s, 1 + i % 4, i / 4 % 2);
	CHECK_EQ(s.used, 0);
	CHECK(s.most && !scratch_trouble(&s));
	close(s.dir);
}

static void test_sorting(void)
{
	struct rng r;
	rng_seed(&r, 5);
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t words = 1 + i % 5, n = rng_below(&r, i % 3 ? 100 : 9000), shift = rng_below(&r, 64);
		uint64_t *a = malloc((n + 1) * words * 8), *room = malloc((n + 1) * words * 8), *b = malloc((n + 1) * words * 8);
		for (uint32_t k = 0; k < n * words; k++)
			a[k] = b[k] = rng_next(&r) >> shift;
		comparing = words;
		qsort(b, n, words * 8, compare);
		CHECK(!memcmp(key_sort(a, room, n, words), b, (uint64_t)n * words * 8));
		free(a);
		free(room);
		free(b);
	}
}

/* ---- trouble ------------------------------------------------------------------ */

static void fill(struct key_writer *w, uint64_t n, bool *ok)
{
	for (uint64_t i = 1; *ok && i <= n; i++)
		*ok = key_writer_put(w, &(uint64_t){ i * 977 }, 1);
}

static void test_trouble(void)
{
	struct scratch s = { .dir = tmp_dir(), .limit = 100000 };
	struct key_layout l = { 0 };
	struct key_writer w;
	struct key_run run;
	struct key_reader r;
	bool ok = true;
	uint8_t bits[2] = { 31, 31 };
	CHECK(store_lay_out(&l.at, 2, bits));
	CHECK(key_writer_init(&w, &s, &l));
	fill(&w, 1000000, &ok);
	CHECK(!ok && scratch_trouble(&s) == SCRATCH_FULL);
	CHECK_STR(scratch_why(&s), "the limit --disk-size was reached");
	key_writer_cancel(&w);
	CHECK_EQ(s.used, 0);
	/* every bit of the file counts */
	for (uint32_t at = 0; at < 40; at++) {
		s = (struct scratch){ .dir = s.dir };
		ok = key_writer_init(&w, &s, &l);
		fill(&w, 5000, &ok);
		CHECK(ok && key_writer_end(&w, &run));
		uint64_t place = at * run.file.length / 40, n = 0;
		unsigned char c;
		CHECK(pread(run.file.fd, &c, 1, (off_t)place) == 1);
		c ^= (unsigned char)(1 << at % 8);
		CHECK(pwrite(run.file.fd, &c, 1, (off_t)place) == 1);
		CHECK(key_reader_init(&r, &s, &run, &l));
		while (key_reader_next(&r))
			n += r.n;
		CHECK(n < 5000 && scratch_trouble(&s) == SCRATCH_DAMAGED);
		key_reader_free(&r);
		CHECK(ftruncate(run.file.fd, (off_t)place) == 0);
		key_run_free(&s, &run);
	}
	free(l.at.field);
	close(s.dir);
}

int main(void)
{
	RUN(test_sorting);
	RUN(test_merging);
	RUN(test_trouble);
	return check_done();
}
