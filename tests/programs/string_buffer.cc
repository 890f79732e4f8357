/* The paper's StringBuffer in C++; the window is not exploited.
 * intact: find StringBuffer::append predicted
 * explore: none -- its threads never overlap */
#include <cstring>
#include <mutex>
#include <thread>
class StringBuffer {
	mutable std::recursive_mutex lock;
	char value[256] = "";
	int count = 0;
public:
	explicit StringBuffer(const char *s) { count = (int)strlen(s); memcpy(value, s, (size_t)count); }
	int length() const {
		std::lock_guard<std::recursive_mutex> g(lock);
		return count;
	} /* @commit */
	void getChars(int from, int to, char *dst) const {
		std::lock_guard<std::recursive_mutex> g(lock); /* @violation */
		memcpy(dst, value + from, (size_t)(to - from));
	}
	void clear() {
		std::lock_guard<std::recursive_mutex> g(lock);
		count = 0;
	}
	StringBuffer &append(const StringBuffer &sb) { /* @entered */
		std::lock_guard<std::recursive_mutex> g(lock);
		int len = sb.length();
		sb.getChars(0, len, value + count);
		count += len;
		return *this;
	}
};
int main() {
	StringBuffer a("abc"), b("def");
	std::thread t1([&] { a.append(b); });
	t1.join();
	std::thread t2([&] { b.clear(); });
	t2.join();
	return a.length() == 6 ? 0 : 1;
}
