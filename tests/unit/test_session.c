/*
 * report/session/session: from a recording to samples, each with its task, space, weight and stack.
 */
#include "report/session/session.h"

#include "formats/base/strings.h"
#include "report/session/selection.h"
#include "report/stacks/frames.h"
#include "report/stacks/spaces.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "tests/unit/report_records.h"
#include "tests/unit/unit.h"
#include "unwind/unwind.h"

/* Samples of a session as text: "time comm pid/tid event weight root;...;leaf", one a line. */
struct reported {
	char text[8192];
	size_t used;
	struct mt_selection selection;
	uint64_t samples, selected, lost, undecodable;
	size_t processes, events, infos;
	char host[16];
	double start_utc, lasted;
	uint32_t last_space, generation;
};

static void report_stack(struct reported *reported, struct mt_session *session, uint32_t stack)
{
	size_t depth, names;
	const uint32_t *frames;

	if (stack == MT_STACK_NONE)
		return;
	frames = mt_stacks_get(mt_session_stacks(session), stack, &depth);
	while (depth--) {
		const struct mt_frame_name *name =
			mt_frames_names(mt_session_frames(session), frames[depth], &names);

		reported->used += (size_t)snprintf(
			reported->text + reported->used, sizeof(reported->text) - reported->used,
			"%s%s",
			mt_strings_get(mt_frames_strings(mt_session_frames(session)), name->name),
			depth ? ";" : "");
	}
}

static void deliver(struct reported *reported, struct mt_session *session,
		    const struct mt_session_sample *s)
{
	const struct mt_facts *facts = mt_session_facts(session);

	reported->used += (size_t)snprintf(
		reported->text + reported->used, sizeof(reported->text) - reported->used,
		"%llu %s %d/%d %s %g ", (unsigned long long)(s->time - REPORT_START),
		mt_strings_get(mt_session_strings(session), s->task->comm), s->task->pid,
		s->task->tid, facts->events.items[s->event].alias, s->weight);
	report_stack(reported, session, s->stack);
	reported->used += (size_t)snprintf(reported->text + reported->used,
					   sizeof(reported->text) - reported->used, "\n");
	reported->last_space = s->space->id;
	reported->generation = s->space->generation;
}

/* Reads the recording as built so far. */
static void see(struct mt_builder *b, struct reported *reported)
{
	char kallsyms[32];
	const char *file = mt_builder_file(b);
	struct mt_session_options options = {
		.files = &file,
		.file_count = 1,
		.selection = &reported->selection,
		.stacks = true,
		.method = mt_unwind_methods,
		.max_frames = 100,
		.kallsyms = report_records_kallsyms(kallsyms),
	};
	struct mt_session_sample sample;
	struct mt_session *session;
	const struct mt_facts *facts;
	bool more = true;

	if (!MT_CHECK_OK(mt_session_open(&options, &session)))
		return;
	while (MT_CHECK_OK(mt_session_next(session, &sample, &more)) && more)
		deliver(reported, session, &sample);
	facts = mt_session_facts(session);
	reported->samples = facts->samples;
	reported->selected = facts->selected;
	reported->lost = mt_facts_lost_all(facts);
	reported->processes = facts->recordings.items[0].processes;
	reported->undecodable = facts->undecodable;
	reported->events = facts->events.count;
	reported->infos = facts->recordings.items[0].info.count;
	snprintf(reported->host, sizeof(reported->host), "%s",
		 mt_facts_info(&facts->recordings.items[0], "host") ?: "");
	reported->start_utc = (double)facts->recordings.items[0].start_utc / 1e9;
	reported->lasted =
		(double)(facts->recordings.items[0].end - facts->recordings.items[0].start);
	mt_session_destroy(session);
	mt_selection_deinit(&reported->selection);
	unlink(kallsyms);
}

static void sample(struct mt_builder *b, uint64_t time, int pid, int tid)
{
	report_records_sample(b, &(struct report_sample){.time = time, .pid = pid, .tid = tid});
}

MT_TEST(comms_are_those_of_the_moment)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	report_records_comm(&b, 10, 5, 5, "before", false);
	sample(&b, 20, 5, 5);
	report_records_fork(&b, 30, 6, 6, 5);
	sample(&b, 40, 6, 6);
	report_records_comm(&b, 50, 6, 6, "child", true);
	sample(&b, 60, 6, 6);
	report_records_comm(&b, 70, 5, 5, "after", false);
	sample(&b, 80, 5, 5);
	sample(&b, 90, 9, 9);
	sample(&b, 95, 0, 0);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 before 5/5 page-faults 1 \n"
				    "40 before 6/6 page-faults 1 \n"
				    "60 child 6/6 page-faults 1 \n"
				    "80 after 5/5 page-faults 1 \n"
				    "90 :9 9/9 page-faults 1 \n"
				    "95 swapper 0/0 page-faults 1 \n");
	MT_CHECK_EQ(reported.samples, 6);
	MT_CHECK_EQ(reported.start_utc, 1700000000);
	mt_builder_deinit(&b);
}

MT_TEST(the_recorders_child_counts_from_its_exec_on)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	report_records_info(&b, "target", "all");
	report_records_info(&b, "command-pid", "5");
	report_records_comm(&b, 10, 5, 5, "mtrec", false);
	report_records_comm(&b, 10, 6, 6, "other", false);
	sample(&b, 20, 5, 5);
	sample(&b, 30, 6, 6);
	report_records_comm(&b, 40, 5, 5, "command", true);
	sample(&b, 50, 5, 5);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "30 other 6/6 page-faults 1 \n50 command 5/5 page-faults 1 \n");
	MT_CHECK_EQ(reported.samples, 2);
	mt_builder_deinit(&b);
}

MT_TEST(records_out_of_order_are_put_in_order)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	sample(&b, 60, 5, 5);
	report_records_comm(&b, 10, 5, 5, "early", false);
	sample(&b, 20, 5, 5);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 early 5/5 page-faults 1 \n60 early 5/5 page-faults 1 \n");
	mt_builder_deinit(&b);
}

MT_TEST(user_frames_are_in_the_images_mapped_just_then)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	report_records_mmap(&b, 10, 5, 0x10000, 0x10000, "/no/such/app");
	report_records_mmap(&b, 11, 5, 0x40000, 0x10000, "/no/such/libx.so");
	report_records_sample(
		&b, &(struct report_sample){
			    .time = 20, .pid = 5, .tid = 5, .user = {0x40010, 0x10020, 0x90000}});
	report_records_fork(&b, 30, 6, 6, 5); /* the child has a copy of the map */
	report_records_mmap(&b, 35, 6, 0x40000, 0x10000, "/no/such/liby.so");
	report_records_sample(&b,
			      &(struct report_sample){
				      .time = 40, .pid = 6, .tid = 6, .user = {0x40010, 0x10020}});
	report_records_sample(&b,
			      &(struct report_sample){
				      .time = 41, .pid = 5, .tid = 5, .user = {0x40010, 0x10020}});
	report_records_fork(&b, 50, 6, 7, 6); /* a thread shares it */
	report_records_sample(		      /* a later mapping does not apply */
			      &b, &(struct report_sample){
					  .time = 52, .pid = 6, .tid = 7, .user = {0x60010}});
	report_records_mmap(&b, 55, 6, 0x60000, 0x10000, "/no/such/libz.so");
	report_records_sample(
		&b, &(struct report_sample){.time = 60, .pid = 6, .tid = 7, .user = {0x60010}});
	report_records_comm(&b, 70, 6, 6, "new", true); /* exec clears it */
	report_records_sample(
		&b, &(struct report_sample){.time = 80, .pid = 6, .tid = 6, .user = {0x60010}});
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 :5 5/5 page-faults 1 [app];[libx.so]\n"
				    "40 :5 6/6 page-faults 1 [app];[liby.so]\n"
				    "41 :5 5/5 page-faults 1 [app];[libx.so]\n"
				    "52 :5 6/7 page-faults 1 [unknown]\n"
				    "60 :5 6/7 page-faults 1 [libz.so]\n"
				    "80 new 6/6 page-faults 1 [unknown]\n");
	MT_CHECK_EQ(reported.generation, 1);
	mt_builder_deinit(&b);
}

MT_TEST(kernel_frames_are_innermost_and_callers_are_looked_up_at_their_calls)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	/* 0xffffffff81000200 is the return address of a call at the very end of do_syscall_64. */
	report_records_sample(
		&b, &(struct report_sample){.time = 20,
					    .pid = 5,
					    .tid = 5,
					    .kernel = {REPORT_K_FAULT, REPORT_KERNEL + 0x200},
					    .user = {0x40010}});
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 :5 5/5 page-faults 1 [unknown];do_syscall_64;do_fault\n");
	mt_builder_deinit(&b);
}

MT_TEST(marks_are_no_samples)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	report_records_sample(
		&b,
		&(struct report_sample){.time = 20, .pid = 5, .tid = 5, .event = EVENT_BRK_ENTER});
	report_records_sample(
		&b, &(struct report_sample){.time = 30, .pid = 5, .tid = 5, .event = EVENT_BRK});
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "30 :5 5/5 brk 1 \n");
	MT_CHECK_EQ(reported.samples, 1);
	mt_builder_deinit(&b);
}

static void note_first_progress(void *context, double done)
{
	double *first = context;

	if (*first < 0)
		*first = done;
}

MT_TEST(progress_follows_samples_and_not_state_records_far_ahead_of_them)
{
	double first = -1;
	struct mt_builder b;
	const char *file;
	struct mt_session_options options = {.files = &file,
					     .file_count = 1,
					     .selection = &(struct mt_selection){0},
					     .progress = note_first_progress,
					     .progress_context = &first};
	struct mt_session_sample out;
	struct mt_session *session;
	bool more = true;

	report_records_begin(&b);
	for (uint64_t i = 0; i < 10000; i++)
		report_records_sample(&b, &(struct report_sample){.time = 20 + i * 1000000,
								  .pid = 5,
								  .tid = 5,
								  .event = EVENT_BRK});
	mt_builder_add(&b, MT_CODEC_ZSTD);
	mt_builder_begin(&b, MT_CHUNK_STATE, 0);
	for (uint64_t i = 0; i < 10000; i++)
		mt_gauge_put(&b.block,
			     &(struct mt_gauge_record){.pid = 5,
						       .before = REPORT_START + 9999999999,
						       .after = REPORT_START + 9999999999,
						       .name = {"RssAnon", 7}});
	report_records_end(&b);
	file = mt_builder_file(&b);
	MT_REQUIRE(!mt_session_open(&options, &session));
	while (MT_CHECK_OK(mt_session_next(session, &out, &more)) && more)
		;
	MT_CHECK(first > 0.3 && first < 0.6);
	mt_session_destroy(session);
	mt_builder_deinit(&b);
}

MT_TEST(weights_hold_from_their_time_on)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	sample(&b, 20, 5, 5);
	mt_weight_put(&b.block, REPORT_START + 25,
		      &(struct mt_weight_record){
			      .event = EVENT_FAULTS, .numerator = 100, .denominator = 8});
	sample(&b, 30, 5, 5);
	report_records_sample(
		&b, &(struct report_sample){.time = 35, .pid = 5, .tid = 5, .event = EVENT_BRK});
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text,
		     "20 :5 5/5 page-faults 1 \n30 :5 5/5 page-faults 12.5 \n35 :5 5/5 brk 1 \n");
	mt_builder_deinit(&b);
}

/* Variants are one event for the user. The weight in STATE replaces the estimate in HEAD. */
MT_TEST(weights_of_variants_hold_for_the_whole_recording)
{
	struct mt_weight_record weight = {.event = VARIANT, .numerator = 50, .denominator = 1};
	struct reported reported = {0};
	struct mt_builder b;

	mt_builder_init(&b);
	mt_builder_head_begin(&b);
	report_records_event(&b, EVENT_FAULTS, MT_ROLE_SAMPLE, "page-faults", "page-faults");
	report_records_event(&b, VARIANT, MT_ROLE_SAMPLE, "page-faults", "page-faults");
	mt_weight_put(&b.block, 0, &weight);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_DATA, 0);
	sample(&b, 20, 5, 5);
	report_records_sample(
		&b, &(struct report_sample){.time = 30, .pid = 5, .tid = 5, .event = VARIANT});
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_STATE, 0);
	weight.numerator = 99;
	weight.denominator = 2;
	mt_weight_put(&b.block, 0, &weight);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 :5 5/5 page-faults 1 \n30 :5 5/5 page-faults 49.5 \n");
	MT_CHECK_EQ(reported.events, 1);
	MT_CHECK_EQ(reported.samples, 2);
	mt_builder_deinit(&b);
}

MT_TEST(of_an_info_reported_twice_the_last_one_holds)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	sample(&b, 20, 5, 5);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_STATE, 0);
	report_records_info(&b, "host", "renamed");
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.host, "renamed");
	MT_CHECK_EQ(reported.infos, 2);
	mt_builder_deinit(&b);
}

static void build_mixture(struct mt_builder *b)
{
	report_records_begin(b);
	report_records_comm(b, 1, 5, 5, "five", false);
	report_records_comm(b, 1, 6, 6, "six", false);
	report_records_mmap(b, 2, 6, 0x10000, 0x10000, "/no/such/app");
	report_records_sample(b, &(struct report_sample){.time = 1000000000,
							 .pid = 5,
							 .tid = 5,
							 .cpu = 1,
							 .kernel = {REPORT_K_FAULT}});
	report_records_sample(b, &(struct report_sample){.time = 2000000000,
							 .pid = 6,
							 .tid = 6,
							 .event = EVENT_BRK,
							 .kernel = {REPORT_K_BRK}});
	report_records_sample(
		b,
		&(struct report_sample){.time = 3000000000, .pid = 6, .tid = 7, .user = {0x10010}});
	report_records_end(b);
}

/* Checks the times of the selected samples, in seconds. */
static void check_selection(struct reported *reported, const char *times)
{
	struct mt_builder b;
	char seen[64] = "";

	build_mixture(&b);
	see(&b, reported);
	for (const char *at = reported->text; *at; at += strcspn(at, "\n") + 1)
		snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%c", *at);
	MT_CHECK_STR(seen, times);
	MT_CHECK_EQ(reported->samples, 3);
	MT_CHECK_EQ(reported->selected, strlen(times));
	mt_builder_deinit(&b);
	*reported = (struct reported){0};
}

MT_TEST(selectors_select)
{
	struct reported reported = {0};

	check_selection(&reported, "123");
	mt_error_destroy(mt_match_add("-e", "brk", &reported.selection.events));
	check_selection(&reported, "2");
	mt_error_destroy(mt_match_add("-e", "syscalls:sys_exit_brk", &reported.selection.events));
	check_selection(&reported, "2");
	mt_error_destroy(mt_match_add("--comm", "/^s/", &reported.selection.comms));
	check_selection(&reported, "23");
	mt_error_destroy(mt_numbers_add("--pid", "6", &reported.selection.pids));
	check_selection(&reported, "23");
	mt_error_destroy(mt_numbers_add("--tid", "7,5", &reported.selection.tids));
	check_selection(&reported, "13");
	mt_error_destroy(mt_numbers_add("--cpu", "1", &reported.selection.cpus));
	check_selection(&reported, "1");
	mt_error_destroy(mt_timespan_parse("--time", "1,3", &reported.selection.time));
	check_selection(&reported, "12");
	mt_error_destroy(mt_timespan_parse("--time", "15%-", &reported.selection.time));
	check_selection(&reported, "23");
	mt_error_destroy(mt_match_add("--dso", "app", &reported.selection.dsos));
	check_selection(&reported, "3");
	mt_error_destroy(mt_match_add("--symbol", "do_brk,do_fault", &reported.selection.symbols));
	check_selection(&reported, "12");
}

/*
 * Each lost record is counted in one LOSS record; the kernel's LOST records count the same loss
 * again.
 */
MT_TEST(losses_are_what_loss_records_sum_up_to)
{
	struct kernel_bytes lost = kernel_begin(MT_KERNEL_LOST, 0);
	struct reported reported = {0};
	struct mt_builder b;
	struct mt_loss_record loss = {.stream = 0,
				      .event = EVENT_FAULTS,
				      .from = 1,
				      .to = 2,
				      .count = 7,
				      .source = MT_LOSS_KERNEL};

	report_records_begin(&b);
	sample(&b, 20, 5, 5);
	put64(&lost, EVENT_FAULTS);
	put64(&lost, 100);
	report_records_put(&b, 25, 5, 5, &lost);
	mt_builder_add(&b, MT_CODEC_STORED);
	mt_builder_begin(&b, MT_CHUNK_STATE, 0);
	mt_loss_put(&b.block, &loss);
	loss.source = MT_LOSS_COUNTS;
	loss.count = 9;
	mt_loss_put(&b.block, &loss);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_EQ(reported.lost, 16);
	MT_CHECK_EQ(reported.undecodable, 0);
	mt_builder_deinit(&b);
}

MT_TEST(a_second_recording_in_the_file_has_tasks_of_its_own)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	report_records_comm(&b, 10, 5, 5, "first", false);
	sample(&b, 20, 5, 5);
	report_records_end(&b);
	report_records_begin_again(&b);
	sample(&b, 15, 5, 5);
	report_records_end(&b);
	see(&b, &reported);
	MT_CHECK_STR(reported.text, "20 first 5/5 page-faults 1 \n15 :5 5/5 page-faults 1 \n");
	mt_builder_deinit(&b);
}

MT_TEST(what_is_cut_after_its_head_lasted_no_time)
{
	struct reported reported = {0};
	struct mt_builder b;

	report_records_begin(&b);
	see(&b, &reported);
	MT_CHECK_EQ(reported.samples, 0);
	MT_CHECK(reported.lasted == 0);
	mt_builder_deinit(&b);
}

MT_TEST(unreadable_files_are_errors)
{
	const char *file = "/no/such/file.mtr";
	struct mt_selection selection = {0};
	struct mt_session_options options = {
		.files = &file, .file_count = 1, .selection = &selection};
	struct mt_session *session = NULL;

	MT_CHECK_ERR(mt_session_open(&options, &session), MT_ERR_OS);
	MT_CHECK(!session);
}

MT_TEST_MAIN
