// explore: find assertion
// explore: says total == 2
// Two tasks by std::async add to one number.
#include <atomic>
#include <cassert>
#include <future>

int main()
{
	std::atomic<int> total{ 0 };
	auto add = [&] {
#ifdef FIXED
		total++;
#else
		total = total + 1;
#endif
	};
	auto a = std::async(std::launch::async, add), b = std::async(std::launch::async, add);
	a.get();
	b.get();
	assert(total == 2);
	return 0;
}
