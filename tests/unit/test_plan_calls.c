/*
 * record/plan/plan_calls, plan_words: substitutes for calls, groups, and marks that
 * the plan adds.
 */
#include "tests/unit/planning.h"

MT_TEST(without_syscalls_raw_syscalls_serve_filtered_by_number)
{
	struct mt_plan *plan = planned_by("brk,mmap", find_raw);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(asked_for(plan), 5);
	MT_CHECK_EQ(plan->events.count, 1 + 24);
	for (size_t i = 1; i < 5; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];

		MT_CHECK_STR(event->name,
			     i % 2 ? "raw_syscalls:sys_exit" : "raw_syscalls:sys_enter");
		MT_CHECK_STR(event->alias, i < 3 ? "brk" : "mmap");
		MT_CHECK(event->filter && !strncmp(event->filter, "id == ", 6));
		MT_CHECK_EQ(event->pair, i % 2 ? i + 1 : i - 1);
		/* marks carry a register to give the ABI, and no stack */
		MT_CHECK(has(event, PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER));
		MT_CHECK_EQ(has(event, PERF_SAMPLE_STACK_USER), i % 2);
		MT_CHECK_EQ(event->decoded.sample_regs_user, event->attr.sample_regs_user);
	}
	MT_CHECK_STR(plan->events.items[1].filter, plan->events.items[2].filter);
	MT_CHECK(strcmp(plan->events.items[1].filter, plan->events.items[3].filter) != 0);
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 2));
	MT_CHECK(strstr(plan->notes.items[0], "32-bit"));
	MT_CHECK(strstr(plan->notes.items[1], "mmap_lock_acquire_returned, task:task_newtask: "
					      "not recorded"));
	mt_plan_destroy(plan);
}

MT_TEST(without_any_tracepoint_page_faults_and_mmap_records_replace_it)
{
	struct mt_plan *plan = planned_by("brk,mmap,munmap", find_none);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 2);
	MT_CHECK(plan->events.items[0].attr.mmap_data);
	MT_CHECK_EQ(plan->events.items[1].attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	MT_CHECK_EQ(plan->notes.count, 1);
	MT_CHECK(strstr(plan->notes.items[0], "brk, mmap, munmap"));
	MT_CHECK(strstr(plan->notes.items[0], "be root"));
	mt_plan_destroy(plan);
}

MT_TEST(page_faults_that_are_asked_for_are_not_asked_for_twice)
{
	struct mt_plan *plan = planned_by("faults,brk", find_none);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 2);
	mt_plan_destroy(plan);
}

MT_TEST(other_tracepoints_have_no_replacement)
{
	struct mt_tracepoint_source source = {.find = find_none};
	const char *words[] = {"sched:sched_switch"};
	struct mt_record_options options = {.events = {.items = words, .count = 1},
					    .all_cpus = true};
	struct mt_plan *plan = NULL;
	struct mt_error *err = mt_plan_create(&options, &all_features, &source, &plan);

	MT_REQUIRE(MT_CHECK(err));
	MT_CHECK_EQ(err->kind, MT_ERR_PERMISSION);
	mt_error_destroy(err);
}

MT_TEST(vm_is_every_call_that_this_kernel_has_and_what_orders_them)
{
	struct mt_plan *plan = planned("-e vm -a");
	const struct mt_planned_event *lock, *task;

	MT_REQUIRE(plan);
	/*
	 * the side-band, five calls of two events each, two marks; other calls do not exist in this
	 * kernel
	 */
	MT_CHECK_EQ(plan->events.count, 1 + 10 + 2);
	MT_CHECK(plan->events.items[0].attr.mmap_data && plan->events.items[0].decoded.flags);
	lock = event_named(plan, "mmap_lock:mmap_lock_acquire_returned");
	task = event_named(plan, "task:task_newtask");
	MT_REQUIRE(MT_CHECK(lock && task && event_named(plan, "syscalls:sys_exit_madvise")));
	MT_CHECK_STR(lock->filter, "write == 1 && success == 1");
	MT_CHECK_STR(lock->alias, lock->name);
	MT_CHECK(lock->role == MT_ROLE_MARK && lock->pair == MT_EVENT_NONE);
	MT_CHECK(lock->class == MT_CLASS_RARE && task->class == MT_CLASS_RARE);
	MT_CHECK(has(lock, PERF_SAMPLE_RAW) && has_none(lock, STACK | PERF_SAMPLE_CALLCHAIN));
	MT_CHECK(!task->filter && has_none(task, STACK | PERF_SAMPLE_CALLCHAIN));
	MT_CHECK_EQ(plan->notes.count, 0);
	mt_plan_destroy(plan);
}

MT_TEST(one_call_brings_the_others_of_vm_as_marks_without_stacks)
{
	static const char *const lines[] = {"-e brk,page-faults -a", "-e brk -p 1",
					    "-e syscalls:sys_exit_brk -c 7 -a"};

	for (size_t i = 0; i < 3; i++) {
		struct mt_plan *plan = planned(lines[i]);
		const struct mt_planned_event *exit, *enter;

		MT_REQUIRE(plan);
		exit = event_named(plan, "syscalls:sys_exit_munmap");
		enter = event_named(plan, "syscalls:sys_enter_munmap");
		MT_REQUIRE(MT_CHECK(exit && enter));
		MT_CHECK(exit->role == MT_ROLE_MARK && enter->role == MT_ROLE_MARK);
		MT_CHECK(plan->events.items + exit->pair == enter &&
			 plan->events.items + enter->pair == exit);
		MT_CHECK(exit->class == MT_CLASS_RARE && exit->attr.sample_period == 1);
		MT_CHECK(has(exit, PERF_SAMPLE_RAW) &&
			 has_none(exit, STACK | PERF_SAMPLE_CALLCHAIN));
		MT_CHECK(event_named(plan, "syscalls:sys_exit_madvise") &&
			 event_named(plan, "mmap_lock:mmap_lock_acquire_returned") &&
			 event_named(plan, "task:task_newtask"));
		MT_CHECK(plan->events.items[0].attr.mmap_data);
		MT_CHECK_EQ(event_named(plan, "syscalls:sys_exit_brk")->role, MT_ROLE_SAMPLE);
		MT_CHECK_EQ(plan->notes.count, 0);
		mt_plan_destroy(plan);
	}
}

MT_TEST(nothing_comes_along_where_no_call_is_sampled)
{
	static const char *const lines[] = {"-e page-faults -a", "-e rss,task:task_newtask -a",
					    "-e syscalls:sys_enter_mmap -a", "-e vm -a"};

	for (size_t i = 0; i < 4; i++) {
		struct mt_plan *plan = planned(lines[i]);

		MT_REQUIRE(plan);
		for (size_t k = 0; k < plan->events.count; k++) {
			const struct mt_planned_event *event = &plan->events.items[k];

			MT_CHECK(event->role != MT_ROLE_MARK || event->pair == MT_EVENT_NONE ||
				 plan->events.items[event->pair].role == MT_ROLE_SAMPLE);
		}
		mt_plan_destroy(plan);
	}
}

MT_TEST(what_is_alone_and_in_a_group_is_opened_once)
{
	struct mt_plan *plan = planned("-e brk,vm,mmap,rss,page-faults,vm -a");

	MT_REQUIRE(plan);
	/*
	 * rss adds page faults, rss_stat and, because rss_stat counts in batches, the page
	 * allocator
	 */
	MT_CHECK_EQ(plan->events.count, 1 + 10 + 2 + 3);
	mt_plan_destroy(plan);
}

MT_TEST(a_tracepoint_that_is_asked_for_is_sampled_alongside_its_mark)
{
	struct mt_plan *plan = planned("-e rss,task:task_newtask -a");

	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 6));
	MT_CHECK_EQ(plan->events.items[4].role, MT_ROLE_MARK);
	MT_CHECK_EQ(plan->events.items[5].role, MT_ROLE_SAMPLE);
	MT_CHECK_STR(plan->events.items[5].name, "task:task_newtask");
	mt_plan_destroy(plan);
}

static bool reported_each(void *context)
{
	(void)context;
	return true;
}

static bool reported_in_batches(void *context)
{
	(void)context;
	return false;
}

MT_TEST(the_page_allocator_serves_only_where_rss_stat_comes_in_batches)
{
	unsigned asked = 0;
	struct mt_tracepoint_source source = {
		.context = &asked, .find = find, .rss_each = reported_each};
	const char *words[] = {"rss"};
	struct mt_record_options options = {.events = {.items = words, .count = 1},
					    .all_cpus = true};
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(mt_plan_create(&options, &all_features, &source, &plan));
	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 4));
	MT_CHECK(event_named(plan, "kmem:rss_stat") && !event_named(plan, "kmem:mm_page_alloc"));
	MT_CHECK_EQ(event_named(plan, "kmem:rss_stat")->class, MT_CLASS_STORM);
	mt_plan_destroy(plan);
	source.rss_each = reported_in_batches;
	MT_CHECK_OK(mt_plan_create(&options, &all_features, &source, &plan));
	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 5));
	MT_CHECK_STR(event_named(plan, "kmem:mm_page_alloc")->filter, "order > 0");
	mt_plan_destroy(plan);
}

MT_TEST(a_group_says_what_it_lacks_without_privileges)
{
	struct mt_plan *plan = planned_by("vm", find_unprivileged);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 1 + 22);
	MT_CHECK(event_named(plan, "syscalls:sys_exit_io_uring_setup"));
	MT_CHECK(!event_named(plan, "syscalls:sys_exit_remap_file_pages"));
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 2));
	MT_CHECK_STR(
		plan->notes.items[0],
		"without privileges (mtrec --check): calls of threads that overlap are ordered "
		"by their exits, a process that shares its parent's memory (vfork) is taken "
		"for a copy until it calls exec");
	MT_CHECK(strstr(plan->notes.items[1], "remap_file_pages: not recorded"));
	mt_plan_destroy(plan);
}

MT_TEST(marks_out_of_reach_are_left_out_with_one_note)
{
	struct mt_plan *plan = planned_by("brk", find_unprivileged);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 1 + 22);
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 1));
	MT_CHECK(strstr(plan->notes.items[0],
			"remap_file_pages, mmap_lock:mmap_lock_acquire_returned, "
			"task:task_newtask: not recorded"));
	mt_plan_destroy(plan);
}

MT_TEST(a_group_falls_back_as_its_calls_do)
{
	struct mt_plan *plan = planned_by("vm", find_raw);

	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 1 + 24);
	MT_CHECK_EQ(plan->notes.count, 3);
	mt_plan_destroy(plan);
	plan = planned_by("vm", find_none);
	MT_REQUIRE(plan);
	MT_CHECK_EQ(plan->events.count, 2);
	MT_CHECK_EQ(plan->events.items[1].attr.config, PERF_COUNT_SW_PAGE_FAULTS);
	MT_CHECK(strstr(plan->notes.items[0], "stand in for brk, mmap, munmap, mremap, mprotect"));
	mt_plan_destroy(plan);
}

static bool only_stores(void *context, const struct perf_event_attr *attrs, size_t count)
{
	(void)context;
	(void)count;
	return attrs->config >> 8 & PERF_COUNT_HW_CACHE_OP_WRITE;
}

static bool no_event(void *context, const struct perf_event_attr *attrs, size_t count)
{
	(void)context;
	(void)attrs;
	(void)count;
	return false;
}

/* The plan of one word on a machine with those hardware events, or the error. */
static struct mt_error *plan_counting(const char *word,
				      bool (*together)(void *, const struct perf_event_attr *,
						       size_t),
				      struct mt_plan **out)
{
	unsigned asked = 0;
	struct mt_tracepoint_source source = {
		.context = &asked, .find = find, .together = together};
	const char *words[] = {word};
	struct mt_record_options options = {.events = {.items = words, .count = 1},
					    .all_cpus = true};

	return mt_plan_create(&options, &all_features, &source, out);
}

MT_TEST(a_group_samples_what_a_filter_lets_through_alongside_its_mark)
{
	struct mt_plan *plan = planned("-e swap,rss -a");
	const struct mt_planned_event *swap;

	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 1 + 1 + 4));
	swap = &plan->events.items[1];
	MT_CHECK_STR(swap->alias, "swap");
	MT_CHECK_STR(swap->name, "kmem:rss_stat");
	MT_CHECK_STR(swap->filter, "member == 2");
	MT_CHECK(swap->role == MT_ROLE_SAMPLE && has(swap, STACK));
	MT_CHECK_EQ(swap->class, MT_CLASS_STORM);
	MT_CHECK_EQ(plan->events.items[4].role, MT_ROLE_MARK);
	MT_CHECK(!plan->events.items[4].filter);
	mt_plan_destroy(plan);
}

MT_TEST(a_group_within_a_group_is_whole_and_what_is_absent_is_reported_once)
{
	struct mt_plan *plan = planned("-e hugepages -a");

	MT_REQUIRE(plan);
	MT_CHECK(event_named(plan, "syscalls:sys_exit_madvise") &&
		 event_named(plan, "kmem:rss_stat"));
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 1));
	MT_CHECK(!strncmp(plan->notes.items[0],
			  "hugepages: this machine has no huge_memory:mm_collapse_huge_page, "
			  "huge_memory:mm_collapse_huge_page_swapin, ",
			  107));
	mt_plan_destroy(plan);
}

MT_TEST(a_group_leaves_out_hardware_events_that_the_machine_lacks)
{
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(plan_counting("memory-pmc", only_stores, &plan));
	MT_REQUIRE(plan && MT_CHECK_EQ(plan->events.count, 2));
	MT_CHECK_STR(plan->events.items[1].alias, "dTLB-store-misses");
	MT_REQUIRE(MT_CHECK_EQ(plan->notes.count, 1));
	MT_CHECK_STR(plan->notes.items[0],
		     "memory-pmc: this machine has no LLC-loads, LLC-load-misses, dTLB-loads, "
		     "dTLB-load-misses, iTLB-load-misses");
	mt_plan_destroy(plan);
}

MT_TEST(a_group_of_which_the_machine_has_nothing_is_refused)
{
	struct mt_plan *plan = NULL;
	struct mt_error *err = plan_counting("memory-pmc", no_event, &plan);

	MT_REQUIRE(MT_CHECK(err));
	MT_CHECK_EQ(err->kind, MT_ERR_UNSUPPORTED);
	MT_CHECK(strstr(err->message, "memory-pmc: this machine has none of its events"));
	mt_error_destroy(err);
	err = plan_counting("oom", NULL, &plan);
	MT_REQUIRE(MT_CHECK(err));
	mt_error_destroy(err);
	MT_CHECK_OK(plan_counting("memory-pmc,brk", no_event, &plan));
	mt_plan_destroy(plan);
}

MT_TEST_MAIN
