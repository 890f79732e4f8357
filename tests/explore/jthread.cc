// explore: find assertion
// explore: says polls > 0
// explore: flags -std=c++20
// A jthread is told to stop and joined by its destructor; it may be told before it has begun.
#include <atomic>
#include <cassert>
#include <thread>

int main()
{
	std::atomic<int> polls{ 0 };
	{
		std::jthread t([&](std::stop_token stop) {
#ifdef FIXED
			do
				polls++;
			while (!stop.stop_requested() && polls < 2);
#else
			while (!stop.stop_requested() && polls < 2)
				polls++;
#endif
		});
	}
	assert(polls > 0);
	return 0;
}
