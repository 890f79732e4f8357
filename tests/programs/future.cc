/* Results through futures are handed over.
 * intact: none */
#include <future>
#include <numeric>
#include <vector>
static long sum(const std::vector<int> &v)
{
	return std::accumulate(v.begin(), v.end(), 0L);
}
int main()
{
	std::vector<int> v(1000);
	std::iota(v.begin(), v.end(), 1);
	auto a = std::async(std::launch::async, [&] { return sum(v); });
	auto b = std::async(std::launch::async, [&] { return sum(v); });
	return a.get() == 500500 && b.get() == 500500 ? 0 : 1;
}
