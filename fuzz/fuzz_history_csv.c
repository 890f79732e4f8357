/* fuzz_history_csv: any bytes as a history in the format csv. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "csv", NULL);
	return 0;
}
