/*
 * grower [REQUESTS [PAUSE]]: a program whose memory grows, for the demo and the tests. It answers requests, PAUSE
 * microseconds apart; each is parsed, handled and rendered with memory that is given back, and each leaves an entry in a
 * session cache that nothing ever removes: SessionCache::remember is guilty. The heap grows by brk, and the pages of what
 * is kept are touched.
 *
 * Prints how many bytes it kept. Meant to be built with -O2 -fomit-frame-pointer.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Keeps a call from becoming a jump, so that each function has its frame. */
#define KEEP_FRAME() asm volatile("" ::: "memory")

struct Session {
	std::string user;
	char *state;
};

class SessionCache {
	std::vector<Session *> sessions;

    public:
	size_t kept = 0;

	NOINLINE void remember(const std::string &user, size_t size)
	{
		Session *session = new Session{user, static_cast<char *>(malloc(size))};

		memset(session->state, 1, size);
		sessions.push_back(session);
		kept += size;
		KEEP_FRAME();
	}
};

class Server {
	SessionCache cache;

	/* Nested values, one frame for each level. */
	NOINLINE int parse_value(const std::string &text, size_t depth)
	{
		std::string inner = text + std::to_string(depth);
		int value = depth ? parse_value(inner, depth - 1) : static_cast<int>(inner.size());

		KEEP_FRAME();
		return value + 1;
	}

	NOINLINE std::string render_page(const std::string &user, int value)
	{
		std::vector<char> buffer(500, 'x'); /* small: malloc hands out the same one again */

		KEEP_FRAME();
		return user + std::string(buffer.data(), static_cast<size_t>(value) % buffer.size());
	}

	NOINLINE size_t log_in(const std::string &user, long number)
	{
		cache.remember(user, 3000 + static_cast<size_t>(number) % 7 * 100);
		KEEP_FRAME();
		return user.size();
	}

	NOINLINE size_t dispatch(const std::string &user, long number, int hops)
	{
		size_t done = hops ? dispatch(user, number, hops - 1) : log_in(user, number);

		KEEP_FRAME();
		return done + 1;
	}

    public:
	NOINLINE size_t handle_request(long number)
	{
		std::string user = "user" + std::to_string(number);
		int value = parse_value(user, 12);
		size_t hops = dispatch(user, number, 8);

		KEEP_FRAME();
		return hops + render_page(user, value).size();
	}

	size_t kept() const
	{
		return cache.kept;
	}
};

int main(int argc, char **argv)
{
	long requests = argc > 1 ? strtol(argv[1], nullptr, 10) : 20000;
	useconds_t pause = argc > 2 ? (useconds_t)strtoul(argv[2], nullptr, 10) : 0;
	Server server;
	size_t rendered = 0;

	for (long i = 0; i < requests; i++) {
		rendered += server.handle_request(i);
		if (pause)
			usleep(pause);
	}
	printf("grower: %ld requests, %zu bytes rendered, %zu bytes kept\n", requests, rendered, server.kept());
	return 0;
}
