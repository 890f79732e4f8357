/* fuzz_history_log: any bytes as a history in the format log. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "log", NULL);
	return 0;
}
