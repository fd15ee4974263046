/* record/cli/control: perf's protocol, split into pieces in every way. */
#include "record/cli/control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "tests/unit/unit.h"

/*
 * A control that reads commands which the test writes to in[1], and writes answers which the test
 * reads from ack[0].
 */
struct pair {
	int in[2], ack[2];
	struct mt_control control;
};

static bool open_pair(struct pair *pair)
{
	char text[64];

	if (pipe(pair->in) || pipe(pair->ack))
		return false;
	snprintf(text, sizeof(text), "fd:%d,%d", pair->in[0], pair->ack[1]);
	return MT_CHECK_OK(mt_control_open(text, &pair->control));
}

static void close_pair(struct pair *pair)
{
	mt_control_close(&pair->control);
	close(pair->in[1]);
	close(pair->ack[0]);
}

static bool say(struct pair *pair, const char *text)
{
	return write(pair->in[1], text, strlen(text)) == (ssize_t)strlen(text) &&
	       mt_control_read(&pair->control);
}

MT_TEST(each_word_is_its_command)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK(say(&pair, "enable\ndisable\nping\nstop\nsnapshot\n"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_ENABLE);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_DISABLE);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_PING);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_STOP);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_UNKNOWN);
	MT_CHECK_STR(pair.control.line, "snapshot");
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	close_pair(&pair);
}

MT_TEST(a_line_may_come_in_pieces)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK(say(&pair, "ena"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	MT_CHECK(say(&pair, "ble"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	MT_CHECK(say(&pair, "\nst"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_ENABLE);
	MT_CHECK(say(&pair, "op\n"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_STOP);
	close_pair(&pair);
}

MT_TEST(perfs_own_clients_end_lines_with_a_nul_too)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK_EQ(write(pair.in[1], "enable\n\0stop\n", 14), 14);
	MT_CHECK(mt_control_read(&pair.control));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_ENABLE);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_STOP);
	close_pair(&pair);
}

MT_TEST(a_line_without_end_is_no_command)
{
	struct pair pair;
	char text[400];

	MT_REQUIRE(open_pair(&pair));
	memset(text, 'x', sizeof(text));
	MT_CHECK_EQ(write(pair.in[1], text, sizeof(text)), sizeof(text));
	MT_CHECK(mt_control_read(&pair.control));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_UNKNOWN);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	MT_CHECK(say(&pair, "\nstop\n"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_UNKNOWN);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_STOP);
	close_pair(&pair);
}

MT_TEST(what_was_done_is_acknowledged)
{
	struct pair pair;
	char answer[8] = "";

	MT_REQUIRE(open_pair(&pair));
	mt_control_ack(&pair.control);
	MT_CHECK_EQ(read(pair.ack[0], answer, sizeof(answer)), 4);
	MT_CHECK_STR(answer, "ack\n");
	close_pair(&pair);
}

MT_TEST(nobody_has_to_read_what_is_acknowledged)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	alarm(10);
	for (int i = 0; i < 100000; i++)
		mt_control_ack(&pair.control);
	alarm(0);
	close_pair(&pair);
}

MT_TEST(the_last_line_may_lack_its_end)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK(say(&pair, "sto"));
	MT_CHECK(say(&pair, "p"));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	close(pair.in[1]);
	MT_CHECK(!mt_control_read(&pair.control));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_STOP);
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	MT_CHECK(!mt_control_read(&pair.control));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_NONE);
	pair.in[1] = -1;
	close_pair(&pair);
}

MT_TEST(an_end_without_writers_is_reported)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK_EQ(write(pair.in[1], "ping\n", 5), 5);
	close(pair.in[1]);
	MT_CHECK(mt_control_read(&pair.control));
	MT_CHECK_EQ(mt_control_take(&pair.control), MT_CONTROL_PING);
	MT_CHECK(!mt_control_read(&pair.control));
	pair.in[1] = -1;
	close_pair(&pair);
}

MT_TEST(a_command_inherits_no_descriptor)
{
	struct pair pair;

	MT_REQUIRE(open_pair(&pair));
	MT_CHECK(fcntl(pair.control.in, F_GETFD) & FD_CLOEXEC);
	MT_CHECK(fcntl(pair.control.ack, F_GETFD) & FD_CLOEXEC);
	close_pair(&pair);
}

static bool refused(const char *text, const char *message)
{
	struct mt_control control;
	struct mt_error *err = mt_control_open(text, &control);
	bool ok = err && err->hint && strstr(err->message, message);

	mt_error_destroy(err);
	return ok;
}

MT_TEST(what_cannot_be_opened_is_reported)
{
	MT_CHECK(refused("fd:x", "'x' is no number of a descriptor"));
	MT_CHECK(refused("fd:9999", "descriptor 9999: Bad file descriptor"));
	MT_CHECK(refused("fifo:/no/such/fifo", "cannot open /no/such/fifo: No such file"));
	MT_CHECK(refused("fifo:/dev/null", "/dev/null is no FIFO"));
}

MT_TEST_MAIN
