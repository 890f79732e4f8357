/* std::shared_mutex: a reader that comes back as a writer.
 * intact: find Cache::fill predicted
 * explore: none -- its threads never overlap */
#include <mutex>
#include <shared_mutex>
#include <thread>
class Cache {
	std::shared_mutex m;
	int value = 0;
public:
	bool has() {
		std::shared_lock<std::shared_mutex> g(m);
		return value != 0;
	} /* @commit */
	void put(int v) {
		std::unique_lock<std::shared_mutex> g(m); /* @violation */
		value = v;
	}
	void fill(int v) { /* @entered */
		if (!has())
			put(v);
	}
	void clear() {
		std::unique_lock<std::shared_mutex> g(m);
		value = 0;
	}
};
int main()
{
	Cache c;
	std::thread a([&] { c.fill(1); });
	a.join();
	std::thread b([&] { c.clear(); });
	b.join();
	return c.has();
}
