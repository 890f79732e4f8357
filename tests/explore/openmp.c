/* explore: find assertion
 * explore: says total == 4
 * explore: flags -fopenmp
 * explore: sampled
 * explore: option -n 300
 * OpenMP by libgomp: its threads are the program's, but libgomp's own spinning is not seen. */
#include <assert.h>
#include <stdatomic.h>

int main(void)
{
	atomic_int total = 0;
#pragma omp parallel for num_threads(2)
	for (int i = 0; i < 4; i++)
#ifdef FIXED
		atomic_fetch_add(&total, 1);
#else
		atomic_store(&total, atomic_load(&total) + 1);
#endif
	assert(total == 4);
	return 0;
}
