/*
 * fuzz_report: any bytes as a saved result. What the schema lets through is
 * rendered in every form.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_document((const char *)data, size, false);
	return 0;
}
