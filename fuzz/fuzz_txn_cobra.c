/* fuzz_txn_cobra: any bytes as a history of transactions in the format cobra. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_history(data, size, "cobra", NULL);
	return 0;
}
