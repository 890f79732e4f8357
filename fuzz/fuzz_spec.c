/*
 * fuzz_spec: any bytes as a specification (--spec), held against two histories
 * of an account: one with all kinds of answers, one that breaks it.
 */
#include <string.h>

#include "fuzz.h"

static const char good[] =
	"{:process 0 :type :invoke :f :deposit :value 5}\n"
	"{:process 1 :type :invoke :f :withdraw :value 3}\n"
	"{:process 0 :type :ok :f :deposit :value 5}\n"
	"{:process 1 :type :ok :f :withdraw :value [3 true]}\n"
	"{:process 0 :type :invoke :f :read}\n"
	"{:process 2 :type :invoke :f :withdraw :value 1}\n"
	"{:process 0 :type :ok :f :read :value 2}\n"
	"{:process 2 :type :info :f :withdraw :value 1}\n";
static const char wrong[] =
	"{:process 0 :type :invoke :f :deposit :value 5}\n"
	"{:process 0 :type :ok :f :deposit :value 5}\n"
	"{:process 0 :type :invoke :f :read}\n"
	"{:process 0 :type :ok :f :read :value 7}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file spec;
	file_make(&spec, data, size);
	look_at_history(good, strlen(good), NULL, spec.path);
	look_at_history(wrong, strlen(wrong), NULL, spec.path);
	file_close(&spec);
	return 0;
}
