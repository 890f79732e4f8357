/* fuzz_txn_dbcop: any bytes as a history of transactions in the format dbcop. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "dbcop", NULL);
	return 0;
}
