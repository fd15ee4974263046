/* record/rings/task_filter: which samples are kept, as threads appear, are renamed and fork. */
#include "record/rings/task_filter.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "tests/unit/unit.h"

#define MS 1000000ull
#define EXEC (1 << 13)

/* A /proc of at most a few threads. */
struct world {
	struct {
		uint32_t tid, uid;
		const char *comm;
	} threads[4];
	unsigned asked, asked_here;
	pthread_t here;
};

static bool look_up(void *context, uint32_t tid, struct mt_task_facts *out)
{
	struct world *world = context;

	world->asked++;
	world->asked_here += pthread_equal(world->here, pthread_self());
	for (size_t i = 0; i < 4; i++) {
		if (world->threads[i].tid != tid || !tid)
			continue;
		snprintf(out->comm, sizeof(out->comm), "%s", world->threads[i].comm);
		out->uid = world->threads[i].uid;
		return true;
	}
	return false;
}

static struct mt_task_filter *filter_for(struct world *world, const char *comm, const char *user)
{
	struct mt_task_source source = {world, look_up};
	struct mt_task_filter *filter = NULL;

	if (!MT_CHECK_OK(mt_task_filter_create(comm, user, &source, &filter)))
		return NULL;
	return filter;
}

static void see_comm(struct mt_task_filter *filter, uint32_t tid, const char *comm, bool exec,
		     uint64_t time)
{
	uint8_t record[64] = {0};

	mt_put_le32(record, PERF_RECORD_COMM);
	mt_put_le16(record + 4, exec ? EXEC : 0);
	mt_put_le32(record + 8, tid);
	mt_put_le32(record + 12, tid);
	snprintf((char *)record + 16, 16, "%s", comm);
	mt_task_filter_see(filter, record, sizeof(record), time);
}

static void see_fork(struct mt_task_filter *filter, uint32_t parent, uint32_t tid, uint64_t time)
{
	uint8_t record[64] = {0};

	mt_put_le32(record, PERF_RECORD_FORK);
	mt_put_le32(record + 8, tid);
	mt_put_le32(record + 12, parent);
	mt_put_le32(record + 16, tid);
	mt_put_le32(record + 20, parent);
	mt_task_filter_see(filter, record, sizeof(record), time);
}

MT_TEST(a_thread_is_looked_up_once)
{
	struct world world = {.threads = {{10, 0, "nginx"}, {11, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "^nginx$", NULL);

	for (int i = 0; i < 100; i++) {
		MT_CHECK(mt_task_filter_wants(filter, 10, 5 * MS));
		MT_CHECK(!mt_task_filter_wants(filter, 11, 5 * MS));
	}
	MT_CHECK_EQ(world.asked, 2);
	mt_task_filter_destroy(filter);
}

MT_TEST(a_new_name_holds_from_its_time_on)
{
	struct world world = {.threads = {{10, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "^work", NULL);

	MT_CHECK(!mt_task_filter_wants(filter, 10, 1 * MS));
	see_comm(filter, 10, "worker", false, 5 * MS);
	MT_CHECK(!mt_task_filter_wants(filter, 10, 4 * MS));
	MT_CHECK(mt_task_filter_wants(filter, 10, 6 * MS));
	see_comm(filter, 10, "idle", false, 8 * MS);
	MT_CHECK(mt_task_filter_wants(filter, 10, 7 * MS));
	MT_CHECK(!mt_task_filter_wants(filter, 10, 9 * MS));
	mt_task_filter_destroy(filter);
}

MT_TEST(a_child_begins_as_its_parent_is)
{
	struct world world = {.threads = {{10, 0, "nginx"}, {11, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "nginx", NULL);

	see_fork(filter, 10, 20, 1 * MS); /* both have ended before the filter looks at them */
	see_fork(filter, 11, 21, 1 * MS);
	MT_CHECK(mt_task_filter_wants(filter, 20, 2 * MS));
	MT_CHECK(!mt_task_filter_wants(filter, 21, 2 * MS));
	see_comm(filter, 21, "nginx", true, 3 * MS);
	MT_CHECK(mt_task_filter_wants(filter, 21, 4 * MS));
	mt_task_filter_destroy(filter);
}

MT_TEST(a_reused_number_is_a_new_thread)
{
	struct world world = {.threads = {{10, 0, "nginx"}, {11, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "nginx", NULL);

	see_fork(filter, 10, 20, 1 * MS);
	MT_CHECK(mt_task_filter_wants(filter, 20, 2 * MS));
	see_fork(filter, 11, 20, 3 * MS);
	MT_CHECK(!mt_task_filter_wants(filter, 20, 4 * MS));
	mt_task_filter_destroy(filter);
}

/* The name is read from one CPU's ring before the thread's start is read from another's. */
MT_TEST(names_that_are_read_before_the_beginning_hold)
{
	struct world world = {.threads = {{10, 0, "nginx"}, {11, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "nginx", NULL);

	see_comm(filter, 20, "nginx", false, 5 * MS);
	see_fork(filter, 11, 20, 2 * MS);
	MT_CHECK(!mt_task_filter_wants(filter, 20, 3 * MS));
	MT_CHECK(mt_task_filter_wants(filter, 20, 6 * MS));
	see_comm(filter, 21, "worker", false, 5 * MS);
	see_fork(filter, 10, 21, 2 * MS);
	MT_CHECK(mt_task_filter_wants(filter, 21, 3 * MS));
	MT_CHECK(!mt_task_filter_wants(filter, 21, 6 * MS));
	see_comm(filter, 21, "nginx", false,
		 4 * MS); /* late: matters only for the time before 5 ms */
	MT_CHECK(!mt_task_filter_wants(filter, 21, 6 * MS));
	mt_task_filter_destroy(filter);
}

MT_TEST(who_was_met_is_known_after_its_end)
{
	struct world world = {.threads = {{10, 0, "nginx"}, {11, 0, "bash"}, {12, 0, "bash"}}};
	struct mt_task_filter *filter = filter_for(&world, "^nginx$", NULL);

	see_comm(filter, 12, "nginx", false, 1 * MS); /* in a ring before /proc shows it */
	for (uint32_t tid = 10; tid <= 13; tid++)
		mt_task_filter_meet(filter, tid, 2 * MS);
	world.threads[0].tid = world.threads[1].tid = world.threads[2].tid = 0; /* they end */
	MT_CHECK_EQ(mt_task_filter_wants(filter, 10, 5 * MS), MT_TASK_KEPT);
	MT_CHECK_EQ(mt_task_filter_wants(filter, 11, 5 * MS), MT_TASK_DROPPED);
	MT_CHECK_EQ(mt_task_filter_wants(filter, 12, 5 * MS), MT_TASK_KEPT);
	MT_CHECK_EQ(mt_task_filter_wants(filter, 13, 5 * MS), MT_TASK_KEPT); /* not known */
	mt_task_filter_destroy(filter);
}

MT_TEST(a_user_who_changes_is_noticed)
{
	struct world world = {.threads = {{10, 0, "daemon"}}};
	struct mt_task_filter *filter = filter_for(&world, NULL, "33");

	MT_CHECK(!mt_task_filter_wants(filter, 10, 1 * MS));
	world.threads[0].uid = 33; /* setuid: there is no record */
	MT_CHECK(!mt_task_filter_wants(filter, 10, 100 * MS));
	MT_CHECK(mt_task_filter_wants(filter, 10, 300 * MS));
	world.threads[0].uid = 34;
	see_comm(filter, 10, "other", true, 310 * MS);
	MT_CHECK(!mt_task_filter_wants(filter, 10, 311 * MS));
	mt_task_filter_destroy(filter);
}

MT_TEST(name_and_user_both_must_fit)
{
	struct world world = {.threads = {{10, 33, "a"}, {11, 33, "b"}, {12, 1, "a"}}};
	struct mt_task_filter *filter = filter_for(&world, "a", "33");

	MT_CHECK(mt_task_filter_wants(filter, 10, 1));
	MT_CHECK(!mt_task_filter_wants(filter, 11, 1));
	MT_CHECK(!mt_task_filter_wants(filter, 12, 1));
	see_comm(filter, 11, "a", false, 2);
	MT_CHECK(mt_task_filter_wants(filter, 11, 3));
	mt_task_filter_destroy(filter);
}

MT_TEST(who_is_not_known_is_kept)
{
	struct world world = {0};
	struct mt_task_filter *filter = filter_for(&world, "a", NULL);

	MT_CHECK(mt_task_filter_wants(filter, 99, 1));
	mt_task_filter_destroy(filter);
}

MT_TEST(more_threads_than_slots)
{
	struct world world = {.threads = {{10, 0, "a"}}};
	struct mt_task_filter *filter = filter_for(&world, "a", NULL);

	for (uint32_t tid = 1; tid < 200000; tid++)
		see_fork(filter, 10, tid, tid * MS);
	MT_CHECK(mt_task_filter_wants(filter, 199999, 200001 * MS));
	MT_CHECK(mt_task_filter_wants(filter, 10, 200001 * MS));
	mt_task_filter_destroy(filter);
}

MT_TEST(short_records_are_passed_over)
{
	struct world world = {.threads = {{10, 0, "a"}}};
	struct mt_task_filter *filter = filter_for(&world, "a", NULL);
	uint8_t record[24] = {0};

	mt_put_le32(record, PERF_RECORD_COMM);
	for (size_t size = 0; size < sizeof(record); size++)
		mt_task_filter_see(filter, record, size, 1);
	MT_CHECK_EQ(world.asked, 0);
	mt_task_filter_destroy(filter);
}

static bool refused(const char *comm, const char *user, const char *message)
{
	struct mt_task_filter *filter = NULL;
	struct mt_error *err = mt_task_filter_create(comm, user, NULL, &filter);
	bool ok = err && err->kind == MT_ERR_USAGE && err->hint && strstr(err->message, message);

	mt_error_destroy(err);
	return ok && !filter;
}

/* As a drain decides at the end. */
static bool wants_in_the_end(struct mt_task_filter *filter, uint32_t tid, uint64_t time)
{
	enum mt_task_verdict verdict;

	while ((verdict = mt_task_filter_wants(filter, tid, time)) == MT_TASK_UNKNOWN)
		usleep(100);
	return verdict == MT_TASK_KEPT;
}

static void see_in_the_end(struct mt_task_filter *filter, uint32_t type, uint32_t tid,
			   uint32_t parent, const char *comm, uint64_t time)
{
	uint8_t record[64] = {0};

	mt_put_le32(record, type);
	mt_put_le32(record + 8, tid);
	mt_put_le32(record + 12, type == PERF_RECORD_COMM ? tid : parent);
	if (type == PERF_RECORD_COMM) {
		snprintf((char *)record + 16, 16, "%s", comm);
	} else {
		mt_put_le32(record + 16, tid);
		mt_put_le32(record + 20, parent);
	}
	while (!mt_task_filter_see(filter, record, sizeof(record), time))
		usleep(100);
}

MT_TEST(once_started_no_look_up_is_the_callers)
{
	struct world world = {.threads = {{.tid = 7, .uid = 1, .comm = "a"},
					  {.tid = 8, .uid = 1, .comm = "b"}},
			      .here = pthread_self()};
	struct mt_task_filter *filter = filter_for(&world, "^a$", NULL);

	MT_REQUIRE(filter && MT_CHECK_OK(mt_task_filter_start(filter)));
	MT_CHECK(wants_in_the_end(filter, 7, 1 * MS));
	MT_CHECK(!wants_in_the_end(filter, 8, 1 * MS));
	see_in_the_end(filter, PERF_RECORD_FORK, 9, 8, NULL, 2 * MS);
	see_in_the_end(filter, PERF_RECORD_FORK, 10, 7, NULL, 2 * MS);
	see_in_the_end(filter, PERF_RECORD_FORK, 11, 99, NULL, 2 * MS);
	MT_CHECK(!wants_in_the_end(filter, 9, 3 * MS));
	MT_CHECK(wants_in_the_end(filter, 10, 3 * MS));
	MT_CHECK(wants_in_the_end(filter, 11, 3 * MS)); /* nothing is known about its parent */
	for (unsigned i = 0; i < 100; i++) {
		see_in_the_end(filter, PERF_RECORD_COMM, 9, 0, i % 2 ? "a" : "b", (4 + i) * MS);
		MT_CHECK_EQ(wants_in_the_end(filter, 9, (4 + i) * MS), i % 2);
	}
	MT_CHECK(world.asked >= 3);
	MT_CHECK_EQ(world.asked_here, 0);
	mt_task_filter_destroy(filter);
}

MT_TEST(bad_expressions_and_users_are_reported)
{
	MT_CHECK(refused("(", NULL, "--comm: '(': "));
	MT_CHECK(
		refused(NULL, "nobody-of-that-name", "-u: there is no user 'nobody-of-that-name'"));
}

MT_TEST_MAIN
