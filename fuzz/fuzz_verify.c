/*
 * fuzz_verify: any bytes as a saved result for `intact verify`: it answers, and
 * its own result is a document.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file f;
	struct said s;
	file_make(&f, data, size);
	command(&s, "verify", (const char *const[]){ "--json=-", "--max-states=2000", f.path, NULL });
	if (s.rc != 2)
		look_at_document(buf_cstr(&s.out), s.out.len, true);
	said_free(&s);
	file_close(&f);
	return 0;
}
