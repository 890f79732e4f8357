/*
 * fuzz_recording: any bytes as a recording of a program, with its checksums
 * mended so that the fuzzer gets past them. It is judged, its findings are made
 * anew, and the result is a document.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file f;
	struct said s;
	uint8_t *copy = malloc(size + 1);
	memcpy(copy, data, size);
	mend_trace(copy, size);
	file_make(&f, copy, size);
	free(copy);
	command(&s, "trace", (const char *const[]){ "--json=-", "--predict", "--window=200", "--memory=64M", f.path, NULL });
	if (s.rc == 0 || s.rc == 1)
		look_at_document(buf_cstr(&s.out), s.out.len, true);
	said_free(&s);
	file_close(&f);
	return 0;
}
