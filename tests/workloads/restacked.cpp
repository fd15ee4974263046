/*
 * Faults pages on stacks that others have used before or use meanwhile, for the joiner: threads and
 * clones one after the other on one stack, children of vfork() on their parent's, signal handlers
 * on whatever was interrupted, a setcontext() that goes back again and again, C++20 coroutines.
 * The ways are those of ways.hpp, and a stack may have those of the interrupted code below a handler.
 *
 *	restacked ROUNDS
 */
#include <coroutine>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "ways.hpp"

static char stack[STACK] __attribute__((aligned(16)));

WAY(threada, nothing)
WAY(threadb, nothing)
WAY(clonea, nothing)
WAY(cloneb, nothing)
WAY(vfork, nothing)
WAY(handler, nothing)
WAY(againa, nothing)
WAY(againb, nothing)
WAY(coroutinea, nothing)
WAY(coroutineb, nothing)

/* A coroutine that nobody asks for anything. */
struct task {
	struct promise_type {
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static task coroutine_a()
{
	for (int i = 0;; i++) {
		root_coroutinea(i);
		co_await std::suspend_always{};
	}
}

static task coroutine_b()
{
	for (int i = 0;; i++) {
		root_coroutineb(i);
		co_await std::suspend_always{};
	}
}

static void *run_thread_a(void *)
{
	for (int i = 0; i < 4; i++)
		root_threada(i);
	return nullptr;
}

static void *run_thread_b(void *)
{
	for (int i = 0; i < 4; i++)
		root_threadb(i);
	return nullptr;
}

static int run_clone_a(void *)
{
	for (int i = 0; i < 4; i++)
		root_clonea(i);
	return 0;
}

static int run_clone_b(void *)
{
	for (int i = 0; i < 4; i++)
		root_cloneb(i);
	return 0;
}

static void on_signal(int)
{
	static int round;

	root_handler(round++);
}

static NOINLINE void start_thread(int i)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	pthread_create(&thread, &attr, i & 1 ? run_thread_a : run_thread_b, nullptr);
	pthread_join(thread, nullptr);
}

static NOINLINE void start_clone(int i)
{
	waitpid(clone(i & 1 ? run_clone_a : run_clone_b, stack + STACK, CLONE_VM | SIGCHLD,
		      nullptr),
		nullptr, 0);
}

static NOINLINE void start_vfork()
{
	pid_t child = vfork();

	if (!child) {
		for (int i = 0; i < 4; i++)
			root_vfork(i);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
}

static NOINLINE void go_back(int round)
{
	volatile int times = 0;
	ucontext_t here;

	getcontext(&here);
	times = times + 1;
	if (times <= 4) {
		times & 1 ? root_againa(round + times / 2) : root_againb(round + times / 2);
		setcontext(&here);
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	task a = coroutine_a(), b = coroutine_b();

	if (!map_pages((size_t)64 << 20))
		return 1;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < rounds; i++) {
		rand() & 1 ? a.handle.resume() : b.handle.resume();
		raise(SIGUSR1);
		go_back(i);
		if (i % 10)
			continue;
		start_thread(i / 10);
		start_clone(i / 10);
		start_vfork();
	}
	return 0;
}
