/* fuzz_atm: .atm texts through the whole front end; see fuzz_model.h. */
#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_model("input.atm", data, size);
	return 0;
}
