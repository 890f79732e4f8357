/* fuzz_txn_edn: any bytes as a history of transactions in the format edn. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "edn", NULL);
	return 0;
}
