/*
 * fuzz_suppressions: any bytes as a suppression file and as a list of atomic
 * functions (INTACT_OPTIONS=suppressions=, spec=). What can be read is held
 * against frames of every kind.
 */
#include "fuzz.h"
#include "report/finding.h"

static const struct src_frame frames[] = {
	{ .function = "increment", .file = "src/lost-update.c", .line = 30, .column = 6, .module = "/usr/bin/prog", .offset = 100 },
	{ .function = "std::vector<int, std::allocator<int> >::push_back(int&&)", .file = "/usr/include/c++/12/bits/stl_vector.h",
	  .line = 1, .module = "libx.so", .system = true },
	{ .module = "?" },
};

static void match_all(const struct pattern *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof frames / sizeof *frames; k++)
			pattern_matches(p[i].text, &frames[k]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file;
	struct arena a;
	struct buf err;
	file_make(&file, data, size);
	for (int spec = 0; spec < 2; spec++) {
		struct filter f;
		arena_init(&a, 0);
		buf_init(&err);
		filter_init(&f, &a);
		bool ok = (spec ? filter_read_spec : filter_read_suppressions)(&f, file.path, &err);
		if (ok == (err.len != 0))
			bad("refused without a message, or the other way round", buf_cstr(&err));
		match_all(f.atomic.data, f.atomic.len);
		match_all(f.not_atomic.data, f.not_atomic.len);
		match_all(f.suppressions.data, f.suppressions.len);
		arena_free(&a);
		buf_free(&err);
	}
	file_close(&file);
	return 0;
}
