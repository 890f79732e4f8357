// explore: find assertion
// explore: says ended == 1
// The destructor of a thread-local object runs when its thread ends, not when the function has returned.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> ended, done;
struct last {
	~last() { ended++; }
};
static thread_local last at_the_end;

int main()
{
	std::thread t([] {
		(void)&at_the_end;
		done = 1;
	});
#ifdef FIXED
	t.join();
#else
	while (!done)
		std::this_thread::yield();
#endif
	assert(ended == 1);
#ifndef FIXED
	t.join();
#endif
	return 0;
}
