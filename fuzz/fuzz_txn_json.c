/* fuzz_txn_json: any bytes as a history of transactions in the format json. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "json", NULL);
	return 0;
}
