/* confirm: finds get -- find, then insert: the second insert replaces the first.
 * confirm: unseen -- the tree is changed by the library, which is not instrumented: only the lock tells. */
#include <map>
#include <mutex>
#include <string>
#include <thread>

class Cache {
	std::mutex m;
	std::map<int, std::string> entries;

	bool has(int key)
	{
		std::lock_guard<std::mutex> g(m);
		return entries.find(key) != entries.end();
	}
	void put(int key, const char *v)
	{
		std::lock_guard<std::mutex> g(m);
		entries[key] = v;
	}

public:
	void get(int key, const char *v)
	{
#ifdef FIXED
		std::lock_guard<std::mutex> g(m);
		entries.emplace(key, v);
#else
		if (!has(key))
			put(key, v);
#endif
	}
};

static Cache cache;

static void first()
{
	cache.get(3, "first");
	cache.get(1, "first");
}

static void second()
{
	cache.get(2, "second");
	cache.get(1, "second");
}

int main()
{
	std::thread a(first), b(second);
	a.join();
	b.join();
	return 0;
}
