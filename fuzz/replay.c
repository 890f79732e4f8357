/*
 * replay: a fuzz target without libFuzzer, so that any compiler can run it:
 * each file of the corpus as it is, then mutants of it. TAP on stdout.
 *
 * Usage: TARGET FILE-OR-DIRECTORY...
 * INTACT_FUZZ_MUTANTS (100): of each file. INTACT_FUZZ_SEED (1): printed; the
 * mutant that was tried last is in INTACT_FUZZ_KEEP, when that names a file.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "fuzz.h"

#define MAX_SIZE (64u << 10)

static struct rng rng;

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	(void)seed;
	return LLVMFuzzerMutate(data, size, max);
}

/* Bytes changed, taken out, doubled, or moved. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	static const char pieces[] = "\"'()[]{}:,;=#\n \t\\0129-+.eE\xff";
	for (uint32_t times = 1 + rng_below(&rng, 4); times; times--) {
		size_t at = size ? rng_below(&rng, (uint32_t)size) : 0, n = size - at;
		n = n ? 1 + rng_below(&rng, n < 32 ? (uint32_t)n : 32) : 0;
		switch (rng_below(&rng, 5)) {
		case 0:
			if (size)
				data[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
			break;
		case 1:
			if (size)
				data[at] = (uint8_t)pieces[rng_below(&rng, sizeof pieces - 1)];
			break;
		case 2:
			memmove(data + at, data + at + n, size - at - n);
			size -= n;
			break;
		case 3:
			if (size + n <= max) {
				memmove(data + at + n, data + at, size - at);
				size += n;
			}
			break;
		default:
			if (size) {
				size_t to = rng_below(&rng, (uint32_t)size);
				memmove(data + to, data + at, size - to < n ? size - to : n);
			}
		}
	}
	return size;
}

static void keep(const uint8_t *data, size_t size)
{
	const char *path = getenv("INTACT_FUZZ_KEEP");
	FILE *f = path ? fopen(path, "wb") : NULL;
	if (f) {
		fwrite(data, 1, size, f);
		fclose(f);
	}
}

static uint64_t tried;

static void try_file(const char *path, uint32_t mutants)
{
	static uint8_t data[MAX_SIZE], mutant[MAX_SIZE];
	FILE *f = fopen(path, "rb");
	size_t size = f ? fread(data, 1, sizeof data, f) : 0;
	if (!f) {
		printf("Bail out! %s cannot be read\n", path);
		exit(1);
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	tried++;
	for (uint32_t i = 0; i < mutants; i++, tried++) {
		memcpy(mutant, data, size);
		size_t n = LLVMFuzzerCustomMutator(mutant, size, sizeof mutant, rng_below(&rng, UINT32_MAX));
		keep(mutant, n);
		LLVMFuzzerTestOneInput(mutant, n);
	}
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static uint32_t setting(const char *name, uint32_t other)
{
	const char *s = getenv(name);
	return s && *s ? (uint32_t)strtoul(s, NULL, 10) : other;
}

int main(int argc, char **argv)
{
	uint32_t mutants = setting("INTACT_FUZZ_MUTANTS", 100), seed = setting("INTACT_FUZZ_SEED", 1), files = 0;
	rng_seed(&rng, seed);
	LLVMFuzzerInitialize(&argc, &argv);
	printf("# seed %u, %u mutants of each file\n", seed, mutants);
	fflush(stdout);
	for (int i = 1; i < argc; i++) {
		struct dirent **names;
		struct stat st;
		if (stat(argv[i], &st) == 0 && !S_ISDIR(st.st_mode)) {
			try_file(argv[i], mutants);
			files++;
			continue;
		}
		int n = scandir(argv[i], &names, visible, alphasort);
		for (int k = 0; k < n; k++) {
			char path[4096];
			snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
			try_file(path, mutants);
			files++;
			free(names[k]);
		}
		if (n >= 0)
			free(names);
	}
	printf("1..1\n%s 1 - %u files and their mutants, %llu inputs\n", files ? "ok" : "not ok", files, (unsigned long long)tried);
	return files ? 0 : 1;
}
