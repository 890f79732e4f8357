/* fuzz_txn_csv: any bytes as a history of transactions in the format txn-csv. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "txn-csv", NULL);
	return 0;
}
