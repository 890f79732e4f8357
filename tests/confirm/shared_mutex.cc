/* confirm: finds fetch -- shared for the look, exclusive for the change, free in between. */
#include <mutex>
#include <shared_mutex>
#include <thread>

class Table {
	std::shared_timed_mutex m;
	int entries[4] = {}, used = 0;

	int find(int key)
	{
		for (int i = 0; i < used; i++)
			if (entries[i] == key)
				return i;
		return -1;
	}

public:
	int fetch(int key)
	{
#ifdef FIXED
		std::unique_lock<std::shared_timed_mutex> g(m);
		int at = find(key);
#else
		int at;
		{
			std::shared_lock<std::shared_timed_mutex> g(m);
			at = find(key);
		}
		if (at >= 0)
			return at;
		std::unique_lock<std::shared_timed_mutex> g(m);
#endif
		if (at < 0)
			entries[at = used++] = key;
		return at;
	}
};

static Table table;

static void user(int key)
{
	table.fetch(key);
	table.fetch(5);
}

int main()
{
	std::thread a(user, 7), b(user, 8);
	a.join();
	b.join();
	return 0;
}
