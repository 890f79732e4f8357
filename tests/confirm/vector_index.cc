/* confirm: finds last -- size() and at() are locked one by one: the element may be gone. */
#include <mutex>
#include <thread>
#include <vector>

class Shared {
	std::mutex m;
	std::vector<int> v;

public:
	size_t size()
	{
		std::lock_guard<std::mutex> g(m);
		return v.size();
	}
	int at(size_t i)
	{
		std::lock_guard<std::mutex> g(m);
		return i < v.size() ? v[i] : -1;
	}
	void push(int x)
	{
		std::lock_guard<std::mutex> g(m);
		v.push_back(x);
	}
	void pop()
	{
		std::lock_guard<std::mutex> g(m);
		if (v.size() > 1)
			v.pop_back();
	}
	int last()
	{
#ifdef FIXED
		std::lock_guard<std::mutex> g(m);
		return v.empty() ? 0 : v[v.size() - 1];
#else
		size_t n = size();
		return n ? at(n - 1) : 0;
#endif
	}
};

static Shared shared;

int main()
{
	shared.push(1);
	shared.push(1);
	if (shared.size() != 2 || shared.at(1) != 1)
		return 1;
	int last = 0;
	std::thread a([&] { last = shared.last(); }), b([] { shared.pop(); });
	a.join();
	b.join();
	return last > 1;
}
