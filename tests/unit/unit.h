/*
 * The frame of a unit test program: TAP on stdout, exit 1 if a check failed.
 *
 *	#include "tests/unit/unit.h"
 *
 *	MT_TEST(cursor_stops_at_the_end)
 *	{
 *		MT_CHECK(cursor.bad);
 *		MT_CHECK_EQ(mt_cursor_left(&cursor), 0);
 *	}
 *
 *	MT_TEST_MAIN
 *
 * A failed check is reported and the test goes on; MT_REQUIRE leaves the test. MT_SKIP leaves it as
 * skipped, with the reason. `test_x NAME...` runs the named tests alone.
 */
#ifndef MT_TESTS_UNIT_UNIT_H
#define MT_TESTS_UNIT_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/err.h"

/* AddressSanitizer takes time, keeps freed memory, and uses additional memory. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define MT_SANITIZED 1
#else
#define MT_SANITIZED 0
#endif

struct mt_unit_test {
	const char *name;
	void (*run)(void);
	struct mt_unit_test *next;
};

static struct {
	struct mt_unit_test *first, **last;
	unsigned int failures; /* of the current test */
	const char *skipped;   /* the reason, or NULL if the test is not skipped */
} mt_unit;

static inline void mt_unit_add(struct mt_unit_test *test)
{
	if (!mt_unit.last)
		mt_unit.last = &mt_unit.first;
	*mt_unit.last = test;
	mt_unit.last = &test->next;
}

static inline bool mt_unit_check(bool ok, const char *file, int line, const char *what)
{
	if (!ok) {
		mt_unit.failures++;
		printf("# %s:%d: %s\n", file, line, what);
	}
	return ok;
}

static inline bool mt_unit_check_eq(long long a, long long b, const char *file, int line,
				    const char *what)
{
	if (!mt_unit_check(a == b, file, line, what))
		printf("#   %lld (0x%llx) is not %lld (0x%llx)\n", a, (unsigned long long)a, b,
		       (unsigned long long)b);
	return a == b;
}

static inline void mt_unit_print_string(const char *prefix, const char *s)
{
	printf("#   %s", prefix);
	if (!s)
		printf("NULL");
	for (; s && *s; s++) {
		if (*s == '\n')
			printf("\\n");
		else
			putchar(*s);
	}
	putchar('\n');
}

static inline bool mt_unit_check_str(const char *a, const char *b, const char *file, int line,
				     const char *what)
{
	bool ok = a == b || (a && b && !strcmp(a, b));

	if (!mt_unit_check(ok, file, line, what)) {
		mt_unit_print_string("is  ", a);
		mt_unit_print_string("not ", b);
	}
	return ok;
}

/* Takes err. */
static inline bool mt_unit_check_ok(struct mt_error *err, const char *file, int line,
				    const char *what)
{
	bool ok = !err;

	if (!mt_unit_check(ok, file, line, what))
		mt_unit_print_string("", err->message);
	mt_error_destroy(err);
	return ok;
}

/* Takes err. */
static inline bool mt_unit_check_err(struct mt_error *err, enum mt_error_kind kind,
				     const char *file, int line, const char *what)
{
	bool ok = err && err->kind == kind;

	if (!mt_unit_check(ok, file, line, what))
		mt_unit_print_string("", err ? err->message : "no error");
	mt_error_destroy(err);
	return ok;
}

static inline bool mt_unit_wanted(const struct mt_unit_test *test, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], test->name))
			return true;
	}
	return argc < 2;
}

static inline bool mt_unit_run(const struct mt_unit_test *test, unsigned int number)
{
	mt_unit.failures = 0;
	mt_unit.skipped = NULL;
	test->run();
	printf("%s %u - %s", mt_unit.failures ? "not ok" : "ok", number, test->name);
	if (mt_unit.skipped && !mt_unit.failures)
		printf(" # SKIP %s", mt_unit.skipped);
	printf("\n");
	return !mt_unit.failures;
}

static inline int mt_unit_main(int argc, char **argv)
{
	unsigned int wanted = 0, number = 0;
	bool ok = true;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct mt_unit_test *t = mt_unit.first; t; t = t->next)
		wanted += mt_unit_wanted(t, argc, argv);
	printf("1..%u\n", wanted);
	for (struct mt_unit_test *t = mt_unit.first; t; t = t->next) {
		if (mt_unit_wanted(t, argc, argv))
			ok = mt_unit_run(t, ++number) && ok;
	}
	return ok && wanted ? 0 : 1;
}

#define MT_TEST(test)                                                                 \
	static void test_##test(void);                                                \
	static struct mt_unit_test unit_##test = {.name = #test, .run = test_##test}; \
	__attribute__((constructor)) static void add_##test(void)                     \
	{                                                                             \
		mt_unit_add(&unit_##test);                                            \
	}                                                                             \
	static void test_##test(void)

#define MT_TEST_MAIN                             \
	int main(int argc, char **argv)          \
	{                                        \
		return mt_unit_main(argc, argv); \
	}

/* Each macro returns whether the check held. MT_CHECK_EQ compares integers, enums and pointers. */
#define MT_CHECK(cond) mt_unit_check((cond), __FILE__, __LINE__, #cond)
#define MT_CHECK_EQ(a, b) \
	mt_unit_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define MT_CHECK_STR(a, b) mt_unit_check_str((a), (b), __FILE__, __LINE__, #a " is " #b)

/*
 * For functions that return a struct mt_error *: MT_CHECK_OK expects none, MT_CHECK_ERR one of that
 * kind. The error is destroyed.
 */
#define MT_CHECK_OK(call) mt_unit_check_ok((call), __FILE__, __LINE__, #call)
#define MT_CHECK_ERR(call, kind) \
	mt_unit_check_err((call), (kind), __FILE__, __LINE__, #call " fails with " #kind)

/* Like MT_CHECK, but a failure ends the test. */
#define MT_REQUIRE(cond)             \
	do {                         \
		if (!MT_CHECK(cond)) \
			return;      \
	} while (0)

/* Ends the test as skipped; `why` is a string literal. */
#define MT_SKIP(why)                     \
	do {                             \
		mt_unit.skipped = (why); \
		return;                  \
	} while (0)

#endif
