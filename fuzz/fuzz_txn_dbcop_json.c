/* fuzz_txn_dbcop_json: any bytes as a history of transactions in the format dbcop-json. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "dbcop-json", NULL);
	return 0;
}
