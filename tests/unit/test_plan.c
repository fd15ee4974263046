/*
 * record/plan/plan: from the words of -e to attributes, for kernels with more and with fewer
 * features.
 */
#include "tests/unit/planning.h"

MT_TEST(the_first_event_is_the_side_band)
{
	struct mt_plan *plan = planned("-e page-faults -a");
	const struct mt_planned_event *event;

	MT_REQUIRE(plan);
	event = &plan->events.items[0];
	MT_CHECK_EQ(plan->events.count, 2);
	MT_CHECK_EQ(event->role, MT_ROLE_SIDEBAND);
	MT_CHECK_EQ(event->class, MT_CLASS_RARE);
	MT_CHECK_EQ(event->pair, MT_EVENT_NONE);
	MT_CHECK_EQ(event->attr.type, PERF_TYPE_SOFTWARE);
	MT_CHECK_EQ(event->attr.config, PERF_COUNT_SW_DUMMY);
	MT_CHECK(event->attr.mmap && event->attr.mmap2 && event->attr.comm &&
		 event->attr.comm_exec && event->attr.task);
	MT_CHECK(has_none(event, STACK | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW));
	mt_plan_destroy(plan);
}

MT_TEST(a_pattern_is_for_every_tracepoint_that_matches)
{
	struct mt_plan *plan;
	struct mt_error *err = plan_for("-e syscalls:sys_exit_m*,sched:* -a", &all_features, &plan);

	MT_REQUIRE(!err);
	MT_CHECK_EQ(asked_for(plan), 1 + 4 + 1);
	MT_CHECK_STR(plan->events.items[1].name, "syscalls:sys_exit_mmap");
	MT_CHECK_STR(plan->events.items[1].alias, "syscalls:sys_exit_mmap");
	MT_CHECK_STR(plan->events.items[5].name, "sched:sched_switch");
	mt_plan_destroy(plan);
	err = plan_for("-e sched:no*such -a", &all_features, &plan);
	MT_REQUIRE(err);
	MT_CHECK_EQ(err->kind, MT_ERR_USAGE);
	mt_error_destroy(err);
	err = plan_for("-e no:such -a", &all_features, &plan);
	MT_REQUIRE(err);
	MT_CHECK_EQ(err->kind, MT_ERR_USAGE);
	mt_error_destroy(err);
}

MT_TEST(a_probe_is_a_tracepoint_called_as_its_word)
{
	struct mt_plan *plan =
		planned("-e u:/a/b:f(x=%di,y=+0(%si)),brk,ur:c:g(r=retval,s=+8($retval)) --filter "
			"r>1 -a");

	MT_REQUIRE(plan && MT_CHECK_EQ(asked_for(plan), 6));
	MT_CHECK_STR(plan->events.items[1].alias, "u:/a/b:f");
	MT_CHECK_EQ(plan->events.items[1].attr.config, 300);
	MT_CHECK(has(&plan->events.items[1], PERF_SAMPLE_RAW | STACK));
	MT_CHECK(!plan->events.items[1].filter);
	MT_CHECK_STR(plan->events.items[4].alias, "ur:c:g");
	MT_CHECK_EQ(plan->events.items[4].role, MT_ROLE_MARK);
	MT_CHECK(!plan->events.items[4].filter);
	MT_CHECK_EQ(plan->events.items[5].role, MT_ROLE_SAMPLE);
	MT_CHECK_STR(plan->events.items[5].filter, "r>1");
	MT_CHECK_STR(plan->notes.items[0], "a note");
	mt_plan_destroy(plan);
	plan = planned("-e ur:c:g --call-graph fp -a");
	MT_REQUIRE(plan && MT_CHECK_EQ(asked_for(plan), 2));
	mt_plan_destroy(plan);
}

MT_TEST(every_event_has_what_distinguishes_records)
{
	struct mt_plan *plan = planned("-e page-faults,brk,cpu-clock,sched:sched_switch -a");

	MT_REQUIRE(plan);
	for (size_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		MT_CHECK(has(event, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
					    PERF_SAMPLE_CPU));
		MT_CHECK(event->attr.disabled && event->attr.sample_id_all);
		MT_CHECK(event->attr.use_clockid && event->attr.clockid == CLOCK_MONOTONIC);
		MT_CHECK_EQ(event->attr.read_format, PERF_FORMAT_ID | (1u << 4));
		MT_CHECK(event->attr.watermark && event->attr.wakeup_watermark);
		MT_CHECK_EQ(event->attr.size, sizeof(event->attr));
		MT_CHECK_EQ(event->id_offset, sizeof(struct perf_event_header));
		MT_CHECK_EQ(event->decoded.sample_type, event->attr.sample_type);
	}
	mt_plan_destroy(plan);
}

MT_TEST(a_page_fault_is_sampled_each_time_with_address_and_stack)
{
	struct mt_plan *plan = planned("-e page-faults -a");
	const struct mt_planned_event *event;

	MT_REQUIRE(plan);
	event = &plan->events.items[1];
	MT_CHECK_STR(event->name, "page-faults");
	MT_CHECK_STR(event->alias, "page-faults");
	MT_CHECK_STR(event->unit, "faults");
	MT_CHECK_EQ(event->role, MT_ROLE_SAMPLE);
	MT_CHECK_EQ(event->class, MT_CLASS_STORM);
	MT_CHECK_EQ(event->attr.type, PERF_TYPE_SOFTWARE);
	MT_CHECK_EQ(event->attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	MT_CHECK_EQ(event->attr.sample_period, 1);
	MT_CHECK(!event->attr.freq);
	MT_CHECK(has(event, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN | STACK));
	MT_CHECK_EQ(event->attr.sample_stack_user, 16384);
	MT_CHECK(event->attr.sample_regs_user);
	MT_CHECK(!event->attr.exclude_kernel && !event->attr.exclude_user);
	mt_plan_destroy(plan);
}

MT_TEST(a_syscall_is_an_exit_with_stack_and_an_enter_without)
{
	static const char *const names[] = {"brk", "mmap", "munmap", "mremap"};

	for (size_t i = 0; i < 4; i++) {
		char line[32], exits[64], enters[64];
		const struct mt_planned_event *exit, *enter;
		struct mt_plan *plan;

		snprintf(line, sizeof(line), "-e %s -a", names[i]);
		snprintf(exits, sizeof(exits), "syscalls:sys_exit_%s", names[i]);
		snprintf(enters, sizeof(enters), "syscalls:sys_enter_%s", names[i]);
		plan = planned(line);
		MT_REQUIRE(plan && MT_CHECK_EQ(asked_for(plan), 3));
		exit = &plan->events.items[1];
		enter = &plan->events.items[2];
		MT_CHECK_STR(exit->name, exits);
		MT_CHECK_STR(enter->name, enters);
		MT_CHECK_STR(exit->alias, names[i]);
		MT_CHECK_STR(enter->alias, names[i]);
		MT_CHECK_STR(exit->format, exits);
		MT_CHECK_EQ(exit->attr.type, PERF_TYPE_TRACEPOINT);
		MT_CHECK_EQ(exit->attr.config, 102 + 2 * i);
		MT_CHECK_EQ(enter->attr.config, 101 + 2 * i);
		MT_CHECK(exit->role == MT_ROLE_SAMPLE && enter->role == MT_ROLE_MARK);
		MT_CHECK(exit->pair == 2 && enter->pair == 1);
		MT_CHECK(exit->class == MT_CLASS_RARE && enter->class == MT_CLASS_RARE);
		MT_CHECK(has(exit, PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN | STACK));
		MT_CHECK(has(enter, PERF_SAMPLE_RAW));
		MT_CHECK(has_none(enter, PERF_SAMPLE_CALLCHAIN | STACK));
		MT_CHECK(exit->attr.sample_period == 1 && enter->attr.sample_period == 1);
		mt_plan_destroy(plan);
	}
}

MT_TEST(thinning_leaves_the_time_marks_whole)
{
	struct mt_plan *plan = planned("-e brk -a -c 10");

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.items[1].attr.sample_period, 10);
	MT_CHECK_EQ(plan->events.items[2].attr.sample_period, 1);
	mt_plan_destroy(plan);
}

MT_TEST(any_tracepoint_by_its_name)
{
	struct mt_plan *plan = planned("-e sched:sched_switch -a");

	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 2));
	MT_CHECK_STR(plan->events.items[1].name, "sched:sched_switch");
	MT_CHECK_STR(plan->events.items[1].unit, "events");
	MT_CHECK_EQ(plan->events.items[1].attr.config, 300);
	MT_CHECK_EQ(plan->events.items[1].class, MT_CLASS_STORM);
	MT_CHECK(has(&plan->events.items[1], PERF_SAMPLE_RAW | STACK));
	mt_plan_destroy(plan);
}

MT_TEST(clocks_and_hardware_are_sampled_by_time)
{
	static const char *const events[] = {"cpu-clock", "task-clock", "cycles"};

	for (size_t i = 0; i < 3; i++) {
		char line[64];
		struct mt_plan *plan;

		snprintf(line, sizeof(line), "-e %s -a", events[i]);
		plan = planned(line);
		MT_REQUIRE(plan);
		MT_CHECK(plan->events.items[1].attr.freq);
		MT_CHECK_EQ(plan->events.items[1].attr.sample_freq, 1000);
		MT_CHECK(has(&plan->events.items[1], PERF_SAMPLE_PERIOD));
		mt_plan_destroy(plan);
		snprintf(line, sizeof(line), "-e %s -a -F 99", events[i]);
		plan = planned(line);
		MT_REQUIRE(plan);
		MT_CHECK(plan->events.items[1].attr.freq);
		MT_CHECK_EQ(plan->events.items[1].attr.sample_freq, 99);
		mt_plan_destroy(plan);
		snprintf(line, sizeof(line), "-e %s -a -c 1000000", events[i]);
		plan = planned(line);
		MT_REQUIRE(plan);
		MT_CHECK(!plan->events.items[1].attr.freq);
		MT_CHECK_EQ(plan->events.items[1].attr.sample_period, 1000000);
		mt_plan_destroy(plan);
	}
}

MT_TEST(a_frequency_never_thins_what_is_counted)
{
	struct mt_plan *plan = planned("-e brk,cpu-clock,page-faults,sched:sched_switch -a -F 99");

	MT_REQUIRE(plan && MT_CHECK_EQ(asked_for(plan), 6));
	for (size_t i = 1; i < asked_for(plan); i++) {
		bool clock = i == 3;

		MT_CHECK_EQ(plan->events.items[i].attr.freq, clock);
		MT_CHECK_EQ(plan->events.items[i].attr.sample_period, clock ? 99 : 1);
	}
	mt_plan_destroy(plan);
}

/* Names of the planned variants, in order: alias and level. */
static char *variants_of(const struct mt_plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 1; i < plan->events.count; i++) {
		if (plan->events.items[i].full != i)
			fprintf(out, " %s:%d", plan->events.items[i].alias,
				plan->events.items[i].level);
	}
	fclose(out);
	return text;
}

MT_TEST(a_frequency_thins_storms_and_leaves_calls_whole)
{
	struct mt_plan *plan = planned("-e brk,cpu-clock,page-faults -a -F 99");
	char *variants;

	MT_REQUIRE(plan && MT_CHECK_EQ(plan->storm_rate, 99) && MT_CHECK_EQ(plan->notes.count, 1));
	MT_CHECK_STR(plan->notes.items[0],
		     "-F 99: page-faults: thinned to about as many samples a second");
	MT_REQUIRE(MT_CHECK_OK(mt_plan_add_variants(plan, MT_VARIANTS_STORMS)));
	variants = variants_of(plan);
	MT_CHECK_STR(variants, " page-faults:1 page-faults:2 page-faults:3 page-faults:4");
	free(variants);
	mt_plan_destroy(plan);
}

MT_TEST(a_frequency_thins_nothing_where_max_rate_or_the_kernels_limit_is_asked_for)
{
	static const char *const lines[] = {
		"-e page-faults -a -F max",
		"-e page-faults -a -F 99 --max-rate 7",
		"-e cpu-clock -a -F 99",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct mt_plan *plan = planned(lines[i]);

		MT_REQUIRE(plan);
		MT_CHECK_EQ(plan->storm_rate, 0);
		MT_CHECK_EQ(plan->notes.count, 0);
		mt_plan_destroy(plan);
	}
}

MT_TEST(to_count_only_leaves_out_marks_and_sampling)
{
	struct mt_plan *plan = planned("--stat -e brk,page-faults -a");
	size_t opened = 0;

	MT_REQUIRE(plan);
	mt_plan_count_only(plan);
	for (size_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		opened += !event->left_out;
		MT_CHECK_EQ(event->left_out, event->role != MT_ROLE_SAMPLE);
		MT_CHECK(!event->attr.sample_period && !event->attr.sample_type);
		MT_CHECK(!event->attr.sample_stack_user);
	}
	MT_CHECK_EQ(opened, 2);
	mt_plan_destroy(plan);
}

MT_TEST(all_user_and_all_kernel_choose_the_level_of_counted_events)
{
	struct mt_plan *plan = planned("-e cycles:k,page-faults -a --all-user");

	MT_REQUIRE(plan);
	for (size_t i = 1; i < asked_for(plan); i++) {
		MT_CHECK(plan->events.items[i].attr.exclude_kernel);
		MT_CHECK(!plan->events.items[i].attr.exclude_user);
	}
	mt_plan_destroy(plan);
	plan = planned("-e cycles,page-faults:u -a --all-kernel");
	MT_REQUIRE(plan);
	for (size_t i = 1; i < asked_for(plan); i++) {
		MT_CHECK(!plan->events.items[i].attr.exclude_kernel);
		MT_CHECK(plan->events.items[i].attr.exclude_user);
	}
	mt_plan_destroy(plan);
}

MT_TEST(a_frequency_for_nothing_is_a_mistake)
{
	struct mt_plan *plan = NULL;
	struct mt_error *err = plan_for("-e brk -a -F 99", &all_features, &plan);

	MT_REQUIRE(MT_CHECK(err && err->kind == MT_ERR_USAGE));
	MT_CHECK_STR(err->message, "-F: none of these events is sampled by time");
	MT_CHECK(err->hint && strstr(err->hint, "-c"));
	mt_error_destroy(err);
}

MT_TEST(no_sample_period_where_the_kernel_would_then_sample_every_event)
{
	static const char *const lines[] = {
		"-e page-faults,brk,sched:sched_switch,cs,faults,minor-faults -a",
		"-e page-faults,brk,sched:sched_switch -a -c 1000",
		"-e cpu-clock -a -c 1000",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct mt_plan *plan = planned(lines[i]);

		MT_REQUIRE(plan);
		for (size_t e = 0; e < plan->events.count; e++)
			MT_CHECK(has_none(&plan->events.items[e], PERF_SAMPLE_PERIOD));
		mt_plan_destroy(plan);
	}
}

MT_TEST(call_graph_decides_what_a_stack_is)
{
	struct mt_plan *plan = planned("-e page-faults -a --call-graph fp");

	MT_REQUIRE(plan);
	MT_CHECK(has(&plan->events.items[1], PERF_SAMPLE_CALLCHAIN));
	MT_CHECK(has_none(&plan->events.items[1], STACK));
	MT_CHECK_EQ(plan->events.items[1].sp_back, 0);
	mt_plan_destroy(plan);
	plan = planned("-e page-faults,brk -a --call-graph none");
	MT_REQUIRE(plan);
	MT_CHECK(has_none(&plan->events.items[1], PERF_SAMPLE_CALLCHAIN | STACK));
	MT_CHECK(has_none(&plan->events.items[2], PERF_SAMPLE_CALLCHAIN | STACK));
	mt_plan_destroy(plan);
	plan = planned("-e page-faults -a --call-graph dwarf,65528");
	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.items[1].attr.sample_stack_user, 65528);
	mt_plan_destroy(plan);
}

MT_TEST(the_stack_pointer_is_found_from_after)
{
	struct mt_plan *plan = planned("-e page-faults -a");
	uint64_t regs;

	MT_REQUIRE(plan);
	regs = plan->events.items[1].attr.sample_regs_user;
#if defined(__x86_64__)
	MT_CHECK_EQ(regs, 0xff0fff);
	/* sp is register 7; registers 8 to 11 and 16 to 23 follow it */
	MT_CHECK_EQ(plan->events.items[1].sp_back, 8 * 13);
#endif
	MT_CHECK(regs);
	mt_plan_destroy(plan);
}

MT_TEST(modifiers_choose_user_or_kernel)
{
	struct mt_plan *plan = planned("-e page-faults:u,faults:k,cs:uk -a");

	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 4));
	MT_CHECK(plan->events.items[1].attr.exclude_kernel);
	MT_CHECK(!plan->events.items[1].attr.exclude_user);
	MT_CHECK_STR(plan->events.items[1].name, "page-faults");
	MT_CHECK_STR(plan->events.items[1].alias, "page-faults:u");
	MT_CHECK(plan->events.items[2].attr.exclude_user);
	MT_CHECK(!plan->events.items[2].attr.exclude_kernel);
	MT_CHECK(!plan->events.items[3].attr.exclude_user &&
		 !plan->events.items[3].attr.exclude_kernel);
	mt_plan_destroy(plan);
}

MT_TEST(an_event_named_twice_is_opened_once)
{
	struct mt_plan *plan = planned("-e brk,page-faults,brk -e page-faults,sched:sched_switch "
				       "-e sched:sched_switch -a");

	MT_REQUIRE(plan);
	MT_CHECK_EQ(asked_for(plan), 1 + 2 + 1 + 1);
	mt_plan_destroy(plan);
}

MT_TEST(children_are_followed_unless_whole_cpus_are_recorded)
{
	static const struct {
		const char *line;
		bool inherit;
	} rows[] = {{"-e page-faults -a", false},  {"-e page-faults -C 0", false},
		    {"-e page-faults true", true}, {"-e page-faults -p 1", true},
		    {"-e page-faults -t 1", true}, {"-e page-faults -a true", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mt_plan *plan = planned(rows[i].line);

		MT_REQUIRE(plan);
		MT_CHECK_EQ(plan->events.items[0].attr.inherit, rows[i].inherit);
		MT_CHECK_EQ(plan->events.items[1].attr.inherit, rows[i].inherit);
		mt_plan_destroy(plan);
	}
}

MT_TEST(what_a_kernel_lacks_is_not_asked_for)
{
	struct mt_perf_features none = {0};
	struct mt_plan *plan = planned_without("-e page-faults,brk -a", none);

	MT_REQUIRE(plan);
	for (size_t i = 0; i < plan->events.count; i++) {
		const struct perf_event_attr *attr = &plan->events.items[i].attr;

		MT_CHECK(!(attr->sample_type & PERF_SAMPLE_IDENTIFIER));
		MT_CHECK(!attr->mmap2 && !attr->comm_exec && !attr->use_clockid && !attr->clockid);
		MT_CHECK_EQ(attr->read_format, PERF_FORMAT_ID);
		MT_CHECK(attr->exclude_kernel && attr->exclude_callchain_kernel);
	}
	MT_CHECK_EQ(plan->events.items[0].attr.config, PERF_COUNT_SW_ALIGNMENT_FAULTS);
	MT_CHECK(plan->events.items[0].attr.sample_period > 1ull << 60);
	mt_plan_destroy(plan);
}

MT_TEST(without_identifiers_all_samples_of_a_ring_begin_alike)
{
	struct mt_perf_features features = all_features;
	struct mt_plan *plan;

	features.identifier = false;
	plan = planned_without("-e page-faults,brk,cpu-clock,sched:sched_switch -a", features);
	MT_REQUIRE(plan);
	for (size_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		MT_CHECK(has(event, PERF_SAMPLE_ID | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR));
		/* header, ip, pid and tid, time, addr, id */
		MT_CHECK_EQ(event->pid_offset, 16);
		MT_CHECK_EQ(event->time_offset, 24);
		MT_CHECK_EQ(event->id_offset, 40);
	}
	mt_plan_destroy(plan);
}

MT_TEST(offsets_follow_the_fields)
{
	struct mt_plan *plan = planned("-e page-faults -a");

	MT_REQUIRE(plan);
	/* header, identifier, [ip,] pid and tid, time */
	MT_CHECK_EQ(plan->events.items[0].pid_offset, 16);
	MT_CHECK_EQ(plan->events.items[0].time_offset, 24);
	MT_CHECK_EQ(plan->events.items[1].pid_offset, 24);
	MT_CHECK_EQ(plan->events.items[1].time_offset, 32);
	mt_plan_destroy(plan);
}

static void check_refused(const char *events, enum mt_error_kind kind, const char *message)
{
	char line[128];
	struct mt_plan *plan = NULL;
	struct mt_error *err;

	snprintf(line, sizeof(line), "-e %s -a", events);
	err = plan_for(line, &all_features, &plan);
	if (MT_CHECK(err)) {
		MT_CHECK_EQ(err->kind, kind);
		MT_CHECK_STR(err->message, message);
		MT_CHECK(err->hint);
	}
	MT_CHECK(!plan);
	mt_error_destroy(err);
}

MT_TEST(unknown_events_are_named)
{
	check_refused("nosuch", MT_ERR_USAGE, "unknown event 'nosuch'");
	check_refused("brk,nosuch,cs", MT_ERR_USAGE, "unknown event 'nosuch'");
	check_refused("Brk", MT_ERR_USAGE, "unknown event 'Brk'");
	check_refused("no:such", MT_ERR_USAGE, "no no:such");
	check_refused("~", MT_ERR_USAGE, "-e: empty event name");
	check_refused("brk,", MT_ERR_USAGE, "-e: empty event name");
	check_refused(",brk", MT_ERR_USAGE, "-e: empty event name");
	check_refused("page-faults:x", MT_ERR_USAGE, "bad modifier in 'page-faults:x'");
	check_refused("page-faults:", MT_ERR_USAGE, "bad modifier in 'page-faults:'");
	check_refused("vm:u", MT_ERR_USAGE, "bad modifier in 'vm:u'");
	check_refused("brk:u", MT_ERR_USAGE, "bad modifier in 'brk:u'");
}

MT_TEST(a_filter_is_for_the_last_word_whatever_is_around_it)
{
	static const char *const lines[] = {
		"-e page-faults,sched:sched_switch --filter x>1 -a",
		"-e {page-faults,sched:sched_switch} --filter x>1 -a",
		"-e {page-faults,sched:sched_switch}:S --filter x>1 -a",
		"-e {sched:sched_switch} --filter x>1 -a",
		"-e kmem:rss_stat,sched:sched_* --filter x>1 -a",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct mt_plan *plan = planned(lines[i]);
		const struct mt_planned_event *last =
			plan ? &plan->events.items[plan->events.count - 1] : NULL;

		MT_REQUIRE(plan);
		MT_CHECK(last->filter && !strcmp(last->filter, "x>1"));
		MT_CHECK(plan->events.count == 2 || !plan->events.items[1].filter);
		mt_plan_destroy(plan);
	}
}

MT_TEST(a_filter_after_a_pattern_is_for_all_that_match)
{
	struct mt_plan *plan = planned("-e page-faults,syscalls:sys_exit_m* --filter ret<0 -a");

	MT_REQUIRE(plan);
	MT_CHECK(!plan->events.items[1].filter);
	for (size_t i = 2; i < asked_for(plan); i++)
		MT_CHECK(plan->events.items[i].filter &&
			 !strcmp(plan->events.items[i].filter, "ret<0"));
	MT_CHECK(plan->events.count > 3);
	mt_plan_destroy(plan);
}

/* The last event of a plan that has seeds. */
static const struct mt_planned_event *last_with_seeds(struct mt_plan *plan)
{
	MT_CHECK(!mt_plan_add_seeds(plan));
	return &plan->events.items[plan->events.count - 1];
}

MT_TEST(a_storm_with_small_dumps_has_a_seed)
{
	struct mt_plan *plan = planned("-e page-faults,brk -a -c 3 --call-graph dwarf,8192");
	const struct mt_planned_event *seed;

	MT_REQUIRE(plan);
	seed = last_with_seeds(plan);
	MT_CHECK_EQ(seed->role, MT_ROLE_SEED);
	MT_CHECK_STR(seed->alias, "page-faults");
	MT_CHECK_EQ(seed->attr.sample_stack_user, 65528);
	MT_CHECK_EQ(seed->attr.sample_period, 111);
	MT_CHECK_STR(plan->events.items[seed->pair].alias, "page-faults");
	MT_CHECK_EQ(plan->events.items[seed->pair].seed, plan->events.count - 1);
	mt_plan_destroy(plan);
}

MT_TEST(a_clocks_seed_is_rare_though_its_timer_is_at_its_limit)
{
	struct mt_plan *plan = planned("-e cpu-clock -a -c 1 --call-graph dwarf,8192");

	MT_REQUIRE(plan);
	MT_CHECK_EQ(last_with_seeds(plan)->attr.sample_period, 370000);
	MT_CHECK_EQ(plan->events.items[1].attr.sample_period, 10000);
	mt_plan_destroy(plan);
}

MT_TEST(a_limit_lowers_the_frequency_of_what_is_sampled_by_time)
{
	struct mt_plan *plan = planned("-e cpu-clock,page-faults -a");

	MT_REQUIRE(plan);
	MT_CHECK(!mt_plan_limit_others(plan, 600, 4));
	MT_CHECK_EQ(plan->events.items[1].attr.sample_freq, 150);
	MT_CHECK_EQ(plan->events.items[1].decoded.sample_period, 150);
	MT_CHECK_EQ(plan->events.items[2].attr.sample_period, 1);
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 1));
	MT_CHECK_STR(plan->notes.items[0],
		     "cpu-clock: -F 150 on each CPU, for at most 600 samples a second in all");
	MT_CHECK(!mt_plan_limit_others(plan, 3, 4));
	MT_CHECK_EQ(plan->events.items[1].attr.sample_freq, 1);
	MT_CHECK(!mt_plan_limit_others(plan, 4000, 4));
	MT_CHECK_EQ(plan->notes.count, 2);
	mt_plan_destroy(plan);
}

MT_TEST(what_no_limit_can_thin_is_reported)
{
	struct mt_plan *plan = planned("-e cpu-clock,{page-faults,cs} -a");

	MT_REQUIRE(plan);
	MT_CHECK(!mt_plan_limit_others(plan, 0, 4));
	MT_CHECK_EQ(plan->events.items[1].attr.sample_freq, 1000);
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 3));
	MT_CHECK(strstr(plan->notes.items[0], "cpu-clock is sampled by time, and not thinned"));
	MT_CHECK(strstr(plan->notes.items[1], "page-faults is counted in a group"));
	MT_CHECK(strstr(plan->notes.items[2], "cs is counted in a group"));
	mt_plan_destroy(plan);
}

MT_TEST(what_needs_no_seed_has_none)
{
	static const char *const lines[] = {
		"-e page-faults -a --call-graph dwarf,65528",
		"-e page-faults -a --call-graph fp",
		"-e cpu-clock -a -F 99 --call-graph dwarf,8192",
		"-e brk -a",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct mt_plan *plan = planned(lines[i]);

		MT_REQUIRE(plan);
		MT_CHECK(last_with_seeds(plan)->role != MT_ROLE_SEED);
		mt_plan_destroy(plan);
	}
}

MT_TEST_MAIN
