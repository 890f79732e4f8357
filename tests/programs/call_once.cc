/* std::call_once and a function-local static.
 * intact: none */
#include <mutex>
#include <string>
#include <thread>
static std::once_flag flag;
static std::string *name;
static const std::string &get()
{
	std::call_once(flag, [] { name = new std::string("intact"); });
	static std::string other = *name + "!";
	return other;
}
int main()
{
	size_t n[3];
	std::thread t[3];
	for (int i = 0; i < 3; i++)
		t[i] = std::thread([&n, i] { n[i] = get().size(); });
	for (auto &x : t)
		x.join();
	return n[0] == 7 && n[2] == 7 ? 0 : 1;
}
