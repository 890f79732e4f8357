/* fuzz_txn_plume: any bytes as a history of transactions in the format plume. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "plume", NULL);
	return 0;
}
