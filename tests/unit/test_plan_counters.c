/*
 * record/plan/plan_counters, pmu: the same words give the same attributes as in
 * perf.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoint_source.h"
#include "tests/unit/unit.h"

static struct mt_perf_features features = {
	.identifier = true,
	.kernel_frames = true,
	.user_stack = true,
	.dummy = true,
	.ioc_id = true,
	.max_rate = 50000,
};

static struct mt_error *find(void *context, const char *name, struct mt_tracepoint *out)
{
	(void)context;
	(void)out;
	return mt_error_create(MT_ERR_NOT_FOUND, "no %s", name);
}

/* Number of events that the CPU can count at a time. */
static size_t counters = 99;
static struct perf_event_attr asked[20];

static bool together(void *context, const struct perf_event_attr *attrs, size_t count)
{
	(void)context;
	memcpy(asked, attrs, count * sizeof(*attrs));
	return count <= counters;
}

static char root[64];

static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	f = fopen(whole, "we");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

/* Makes a machine with a CPU PMU. */
static void make_pmu(void)
{
	char path[128];

	snprintf(root, sizeof(root), "/tmp/pmu-test-XXXXXX");
	if (!mkdtemp(root))
		return;
	for (size_t i = 0; i < 4; i++) {
		const char *const folders[] = {"cpu", "cpu/format", "cpu/events", "software"};

		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		mkdir(path, 0700);
	}
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/split", "config:0-3,32-35\n");
	put("cpu/format/ldlat", "config1:0-15\n");
	put("cpu/format/broken", "config:99\n");
	put("cpu/events/mem", "event=0xcd,umask=0x1,ldlat=3\n");
	put("cpu/events/loop", "loop\n");
	put("software/type", "1\n");
}

static void remove_pmu(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		root[0] = '\0';
}

static struct mt_error *plan_for(const char *line, struct mt_plan **out)
{
	char text[256], *argv[16];
	int argc = 0;
	struct mt_tracepoint_source source = {.find = find, .pmu_root = root, .together = together};
	struct mt_record_options options;
	struct mt_error *err;

	snprintf(text, sizeof(text), "mtrec %s -a", line);
	for (char *word = strtok(text, " "); word && argc < 15; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	err = mt_record_options_parse(argc, argv, &options);
	if (err)
		return err;
	err = mt_plan_create(&options, &features, &source, out);
	mt_record_options_deinit(&options);
	return err;
}

/* The attr of the first sampled event; all zero if the plan fails. */
static struct perf_event_attr attr_of(const char *line)
{
	struct mt_plan *plan = NULL;
	struct mt_error *err = plan_for(line, &plan);
	struct perf_event_attr attr = {0};

	MT_CHECK_OK(err);
	if (plan && plan->events.count > 1)
		attr = plan->events.items[1].attr;
	mt_plan_destroy(plan);
	return attr;
}

static void refuses(const char *line, const char *text)
{
	struct mt_plan *plan = NULL;
	struct mt_error *err = plan_for(line, &plan);

	MT_CHECK(err && (strstr(err->message, text) || (err->hint && strstr(err->hint, text))));
	mt_error_destroy(err);
	mt_plan_destroy(plan);
}

MT_TEST(hardware_and_cache_events_have_perfs_numbers)
{
	static const struct {
		const char *line;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{"-e cycles", 0, 0},
		{"-e stalled-cycles-backend", 0, 8},
		{"-e LLC-loads", 3, 0x2},
		{"-e LLC-load-misses", 3, 0x10002},
		{"-e L1-dcache-stores", 3, 0x100},
		{"-e dTLB-load-misses", 3, 0x10003},
		{"-e iTLB-load-misses", 3, 0x10004},
		{"-e branch-load-misses", 3, 0x10005},
		{"-e node-prefetch-misses", 3, 0x10206},
		{"-e r1a8", 4, 0x1a8},
		{"-e r1A8:u", 4, 0x1a8},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct perf_event_attr attr = attr_of(events[i].line);

		MT_CHECK_EQ(attr.type, events[i].type);
		MT_CHECK_EQ(attr.config, events[i].config);
		MT_CHECK(attr.sample_type & PERF_SAMPLE_PERIOD && attr.freq);
	}
}

MT_TEST(modifiers_say_where_it_counts_and_how_precisely)
{
	struct perf_event_attr attr = attr_of("-e cycles:u");

	MT_CHECK(!attr.exclude_user && attr.exclude_kernel && attr.exclude_hv);
	attr = attr_of("-e cycles:k");
	MT_CHECK(attr.exclude_user && !attr.exclude_kernel && attr.exclude_hv);
	attr = attr_of("-e cycles:uh");
	MT_CHECK(!attr.exclude_user && attr.exclude_kernel && !attr.exclude_hv);
	attr = attr_of("-e cycles:ukppD");
	MT_CHECK(!attr.exclude_user && !attr.exclude_kernel && attr.precise_ip == 2 && attr.pinned);
	MT_CHECK(!attr.exclude_guest && !attr.exclude_host && !attr.exclude_idle);
	attr = attr_of("-e cycles:P");
	MT_CHECK(attr.precise_ip == 3 && !attr.exclude_user && !attr.exclude_kernel);
	attr = attr_of("-e cycles:uH");
	MT_CHECK(attr.exclude_guest && !attr.exclude_host && !attr.exclude_user &&
		 attr.exclude_kernel);
	attr = attr_of("-e cycles:GI");
	MT_CHECK(attr.exclude_host && !attr.exclude_guest && attr.exclude_idle &&
		 !attr.exclude_user && !attr.exclude_kernel);
	attr = attr_of("-e cycles:GH");
	MT_CHECK(!attr.exclude_host && !attr.exclude_guest);
	refuses("-e cycles:x", "bad modifier");
	refuses("-e cycles:", "bad modifier");
	refuses("-e cycles:pppp", "bad modifier");
}

MT_TEST(what_happens_in_the_kernel_is_refused_to_whom_it_is_closed)
{
	features.kernel_frames = false;
	refuses("-e cs", "cs: it happens in the kernel");
	refuses("-e page-faults,cpu-migrations", "cpu-migrations: it happens in the kernel");
	refuses("-e page-faults:k", "CAP_PERFMON");
	refuses("-e {cpu-clock,cgroup-switches}:S", "cgroup-switches");
	MT_CHECK(attr_of("-e page-faults:uk").exclude_kernel);
	MT_CHECK(attr_of("-e page-faults").exclude_kernel);
	features.kernel_frames = true;
	MT_CHECK(attr_of("-e page-faults:k").exclude_user);
}

/* All cache events of perf's parser: caches, operations and results by each of their names. */
MT_TEST(cache_events_have_all_of_perfs_names)
{
	static const struct {
		const char *name;
		uint64_t config;
	} names[] = {
		{"L1-dcache", 0},
		{"l1-d", 0},
		{"l1d", 0},
		{"L1-data", 0},
		{"L1-dcache-load", 0},
		{"l1d-loads", 0},
		{"l1-d-load-miss", 0x10000},
		{"L1-data-misses", 0x10000},
		{"l1d-write-Reference", 0x100},
		{"l1d-prefetch", 0x200},
		{"L1-icache", 1},
		{"l1-i-read", 1},
		{"l1i-miss", 0x10001},
		{"L1-instruction-prefetches", 0x201},
		{"LLC", 2},
		{"L2-write-ops", 0x102},
		{"LLC-misses-store", 0x10102},
		{"LLC-speculative-load-misses", 0x10202},
		{"dTLB-stores", 0x103},
		{"d-tlb-speculative-read", 0x203},
		{"Data-TLB-prefetch-refs", 0x203},
		{"iTLB", 4},
		{"i-tlb-miss", 0x10004},
		{"Instruction-TLB-loads-access", 4},
		{"branch", 5},
		{"bpu", 5},
		{"btb-miss", 0x10005},
		{"bpc-load-Reference", 5},
		{"branches-load-misses", 0x10005},
		{"node", 6},
		{"node-access-store", 0x106},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char line[64];
		struct perf_event_attr attr;

		snprintf(line, sizeof(line), "-e %s:u", names[i].name);
		attr = attr_of(line);
		MT_CHECK_EQ(attr.type, PERF_TYPE_HW_CACHE);
		MT_CHECK_EQ(attr.config, names[i].config);
		MT_CHECK(attr.exclude_kernel && attr.freq);
	}
	MT_CHECK_EQ(attr_of("-e branches").type, PERF_TYPE_HARDWARE);
	MT_CHECK_EQ(attr_of("-e branch-misses").type, PERF_TYPE_HARDWARE);
	refuses("-e L1-icache-stores", "unknown event"); /* no such cache event */
	refuses("-e iTLB-prefetches", "unknown event");
	refuses("-e branch-stores", "unknown event");
	refuses("-e LLC-loads-stores", "unknown event");
	refuses("-e LLC-misses-miss", "unknown event");
	refuses("-e LLC-", "unknown event");
	refuses("-e LLC-loads-", "unknown event");
	refuses("-e llc-loads", "unknown event"); /* perf refuses it too */
	refuses("-e LLCX", "unknown event");
}

MT_TEST(other_names_are_perfs_too)
{
	static const struct {
		const char *line;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{"-e idle-cycles-frontend", 0, 7},
		{"-e idle-cycles-backend", 0, 8},
		{"-e cpu-cycles", 0, 0},
		{"-e branch-instructions", 0, 4},
		{"-e cs", 1, 3},
		{"-e migrations", 1, 4},
		{"-e faults", 1, 2},
		{"-e cgroup-switches", 1, 11},
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct perf_event_attr attr = attr_of(events[i].line);

		MT_CHECK_EQ(attr.type, events[i].type);
		MT_CHECK_EQ(attr.config, events[i].config);
	}
}

MT_TEST(modifiers_of_an_event_that_is_no_group)
{
	struct perf_event_attr attr = attr_of("-e cycles:e");
	struct mt_plan *plan = NULL;

	MT_CHECK(attr.exclusive && !attr.pinned && !(attr.sample_type & PERF_SAMPLE_READ));
	attr = attr_of("-e cycles:upp");
	MT_CHECK(!attr.exclude_user && attr.exclude_kernel && attr.precise_ip == 2);
	MT_CHECK(!attr.exclusive);
	attr = attr_of("-e cycles:W");
	MT_CHECK(!attr.exclusive && !attr.pinned && attr.freq);
	attr = attr_of("-e cycles:Su");
	MT_CHECK(attr.sample_type & PERF_SAMPLE_READ && attr.exclude_kernel && attr.freq);
	MT_CHECK(!(attr.read_format & PERF_FORMAT_GROUP) && attr.read_format & PERF_FORMAT_ID);
	refuses("-e cycles:b", "BPF program");
	refuses("-e cycles:ub", "BPF program");
	MT_CHECK_OK(plan_for("-e cs,page-faults:S", &plan));
	MT_REQUIRE(plan && plan->events.count == 3);
	MT_CHECK(!plan->events.items[1].leader && plan->events.items[2].leader == 2);
	MT_CHECK(plan->events.items[2].decoded.sample_type & PERF_SAMPLE_READ);
	mt_plan_destroy(plan);
}

MT_TEST(a_pmus_terms_go_where_its_formats_say)
{
	struct perf_event_attr attr;

	make_pmu();
	attr = attr_of("-e cpu/event=0xc4,umask=0x20/,page-faults");
	MT_CHECK_EQ(attr.type, 4);
	MT_CHECK_EQ(attr.config, 0x20c4);
	attr = attr_of("-e cpu/mem/u");
	MT_CHECK_EQ(attr.config, 0x1cd);
	MT_CHECK_EQ(attr.config1, 3);
	MT_CHECK(attr.exclude_kernel);
	attr = attr_of("-e cpu/mem,ldlat=30/:pp");
	MT_CHECK(attr.config1 == 30 && attr.precise_ip == 2);
	attr = attr_of("-e cpu/split=0xa5,period=1234/");
	MT_CHECK_EQ(attr.config, 0xa00000005);
	MT_CHECK(attr.sample_period == 1234 && !attr.freq);
	attr = attr_of("-e cpu/config=0xffff,freq=77/");
	MT_CHECK(attr.config == 0xffff && attr.sample_freq == 77 && attr.freq);
	remove_pmu();
}

MT_TEST(where_there_are_no_counters_it_is_said_what_works)
{
	strcpy(root, "/nowhere");
	refuses("-e cpu/event=1/", "cpu-clock samples by time");
	refuses("-e cpu/event=1/", "no such PMU");
	refuses("-e cpu_core/cycles/", "cpu-clock samples by time");
	refuses("-e nosuch/event=1/", "none that sysfs tells of");
}

MT_TEST(bad_terms_are_reported)
{
	make_pmu();
	refuses("-e nosuch/event=1/", "no such PMU");
	refuses("-e nosuch/event=1/", "it has cpu");
	refuses("-e cpu/evnt=1/", "no term 'evnt'");
	refuses("-e cpu/evnt=1/", "event");
	refuses("-e cpu/evnt=1/", "; and config, ");
	refuses("-e software/evnt=1/", "events are: config, ");
	refuses("-e cpu/event=0x100/", "does not fit");
	refuses("-e cpu/event=1x/", "no number");
	refuses("-e cpu/event=-1/", "no number");
	refuses("-e cpu/broken=1/", "does not fit");
	refuses("-e cpu/loop/", "no term");
	refuses("-e ../cpu/event=1/", "bad event");
	refuses("-e cpu/../type/", "bad term");
	refuses("-e cpu/event=1", "bad event");
	refuses("-e /event=1/", "bad event");
	remove_pmu();
}

MT_TEST(a_hardware_call_stack_comes_in_place_of_a_dump)
{
	struct perf_event_attr attr = attr_of("-e cycles --call-graph lbr");

	MT_CHECK_EQ(attr.branch_sample_type, 1 | 1 << 11 | 1 << 14 | 1 << 15);
	MT_CHECK(attr.sample_type & PERF_SAMPLE_BRANCH_STACK);
	MT_CHECK(!attr.sample_stack_user && attr.exclude_callchain_user);
	attr = attr_of("-e page-faults,cycles --call-graph lbr");
	MT_CHECK(!attr.branch_sample_type);
}

MT_TEST(a_hardware_call_stack_wants_a_hardware_event)
{
	refuses("-e page-faults --call-graph lbr", "hardware events alone");
	refuses("-e cpu-clock --call-graph lbr", "-e cycles --call-graph lbr");
}

/* perf's test-record-count and -freq. */
MT_TEST(rates)
{
	struct perf_event_attr attr = attr_of("-e cycles -c 123");

	MT_CHECK(attr.sample_period == 123 && !attr.freq);
	attr = attr_of("-e cycles -F 100");
	MT_CHECK(attr.sample_freq == 100 && attr.freq);
	attr = attr_of("-e cycles -F max");
	MT_CHECK(attr.sample_freq == 50000 && attr.freq);
	attr = attr_of("-e page-faults -F max");
	MT_CHECK(attr.sample_period == 1 && !attr.freq);
	refuses("-e {page-faults,cs} -F max", "none of these events is sampled by time");
}

MT_TEST(events_in_braces_are_opened_with_the_first_of_them)
{
	struct mt_plan *plan = NULL;
	const struct mt_planned_event *e;

	MT_CHECK_OK(plan_for("-e cs,{cycles:u,instructions,cpu-clock}:kpD,faults", &plan));
	MT_REQUIRE(plan && plan->events.count == 6);
	e = plan->events.items;
	MT_CHECK(!e[1].leader && e[2].leader == 2 && e[3].leader == 2 && e[4].leader == 2);
	MT_CHECK(!e[5].leader);
	MT_CHECK(e[2].attr.pinned && !e[3].attr.pinned && !e[4].attr.pinned && !e[5].attr.pinned);
	MT_CHECK(e[3].attr.precise_ip == 1 && e[3].attr.exclude_user && !e[3].attr.exclude_kernel);
	MT_CHECK(!e[1].attr.exclude_user && !e[1].attr.precise_ip);
	MT_CHECK(e[3].role == MT_ROLE_SAMPLE && e[3].attr.sample_period);
	MT_CHECK(!(e[2].attr.sample_type & PERF_SAMPLE_READ));
	mt_plan_destroy(plan);
}

/* perf's test-record-group-sampling. */
MT_TEST(the_first_of_a_group_is_sampled_with_the_counts_of_all)
{
	struct mt_plan *plan = NULL;
	const struct mt_planned_event *leader, *member;

	MT_CHECK_OK(plan_for("-e {cycles,cache-misses}:S", &plan));
	MT_REQUIRE(plan && plan->events.count == 3);
	leader = &plan->events.items[1];
	member = &plan->events.items[2];
	MT_CHECK(leader->attr.sample_type & PERF_SAMPLE_READ);
	MT_CHECK(leader->attr.read_format & PERF_FORMAT_GROUP);
	MT_CHECK(leader->decoded.read_format & PERF_FORMAT_GROUP && leader->attr.freq);
	MT_CHECK_EQ(member->role, MT_ROLE_MEMBER);
	MT_CHECK_EQ(member->pair, 1);
	MT_CHECK(!member->attr.sample_period && !member->attr.freq);
	MT_CHECK(!(member->attr.sample_type & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN)));
	MT_CHECK(!member->attr.sample_stack_user && !member->decoded.sample_stack_user);
	mt_plan_destroy(plan);
}

MT_TEST(a_group_is_exclusive_by_its_first_event)
{
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(plan_for("-e {cycles,instructions}:ue", &plan));
	MT_REQUIRE(plan && plan->events.count == 3);
	MT_CHECK(plan->events.items[1].attr.exclusive && !plan->events.items[2].attr.exclusive);
	MT_CHECK(plan->events.items[2].attr.exclude_kernel);
	mt_plan_destroy(plan);
}

MT_TEST(a_members_own_sides_count_alongside_the_groups)
{
	struct mt_plan *plan = NULL;
	const struct mt_planned_event *e;

	MT_CHECK_OK(plan_for("-e {cycles:u,instructions,cpu-clock:h}:k", &plan));
	MT_REQUIRE(plan && plan->events.count == 4);
	e = plan->events.items;
	MT_CHECK(!e[1].attr.exclude_user && !e[1].attr.exclude_kernel && e[1].attr.exclude_hv);
	MT_CHECK(e[2].attr.exclude_user && !e[2].attr.exclude_kernel && e[2].attr.exclude_hv);
	MT_CHECK(e[3].attr.exclude_user && !e[3].attr.exclude_kernel && !e[3].attr.exclude_hv);
	mt_plan_destroy(plan);
}

MT_TEST(the_first_ones_own_s_is_the_groups)
{
	struct mt_plan *plan = NULL;

	MT_CHECK_OK(plan_for("-e {cycles:uS,instructions:k}", &plan));
	MT_REQUIRE(plan && plan->events.count == 3);
	MT_CHECK(plan->events.items[1].attr.read_format & PERF_FORMAT_GROUP);
	MT_CHECK(plan->events.items[1].attr.sample_type & PERF_SAMPLE_READ);
	MT_CHECK(plan->events.items[1].attr.exclude_kernel);
	MT_CHECK_EQ(plan->events.items[2].role, MT_ROLE_MEMBER);
	MT_CHECK(plan->events.items[2].attr.exclude_user);
	mt_plan_destroy(plan);
}

MT_TEST(a_weak_group_is_one_where_it_can_be)
{
	static const char *const lines[] = {"-e {cycles,instructions}:uW",
					    "-e {cycles:u,instructions:uW}"};

	for (size_t i = 0; i < 4; i++) {
		struct mt_plan *plan = NULL;
		const struct mt_planned_event *e;

		counters = i < 2 ? 2 : 1;
		MT_CHECK_OK(plan_for(lines[i % 2], &plan));
		MT_REQUIRE(plan && plan->events.count == 3);
		e = plan->events.items;
		MT_CHECK_EQ(e[1].leader, i < 2 ? 1 : 0);
		MT_CHECK_EQ(e[2].leader, i < 2 ? 1 : 0);
		MT_CHECK_EQ(plan->notes.count, i < 2 ? 0 : 1);
		MT_CHECK(e[2].role == MT_ROLE_SAMPLE && e[2].attr.exclude_kernel);
		MT_CHECK(asked[0].config == 0 && asked[1].config == 1 && asked[1].exclude_kernel);
		mt_plan_destroy(plan);
	}
	counters = 99;
}

MT_TEST(a_weak_group_that_is_parted_is_read_one_by_one)
{
	struct mt_plan *plan = NULL;
	const struct mt_planned_event *e;

	counters = 1;
	MT_CHECK_OK(plan_for("-e {cycles,instructions}:SDW", &plan));
	counters = 99;
	MT_REQUIRE(plan && plan->events.count == 3);
	e = plan->events.items;
	for (size_t i = 1; i < 3; i++) {
		MT_CHECK(e[i].role == MT_ROLE_SAMPLE && e[i].attr.freq && e[i].attr.pinned);
		MT_CHECK(e[i].decoded.sample_type & PERF_SAMPLE_READ);
		MT_CHECK(!(e[i].attr.read_format & PERF_FORMAT_GROUP));
		MT_CHECK_EQ(e[i].leader, i);
	}
	mt_plan_destroy(plan);
	MT_CHECK_OK(plan_for("-e {cycles,instructions}:SW", &plan));
	MT_REQUIRE(plan && plan->events.count == 3);
	MT_CHECK_EQ(plan->events.items[2].role, MT_ROLE_MEMBER);
	mt_plan_destroy(plan);
}

MT_TEST(bad_groups_are_reported)
{
	refuses("-e {cycles,cs", "bad group");
	refuses("-e {}", "bad group");
	refuses("-e {cycles}x", "bad modifier");
	refuses("-e {cycles}:", "bad modifier");
	refuses("-e {cycles}:pppp", "bad modifier");
	refuses("-e {cycles,}", "empty");
	refuses("-e {cycles,cs:D}", "pinned, exclusive or read as a whole");
	refuses("-e {cycles,cs:e}", "pinned, exclusive or read as a whole");
	refuses("-e {cycles,cs:S}", "pinned, exclusive or read as a whole");
	refuses("-e {cycles,cs}:b", "BPF program");
	refuses("-e {cycles,cycles}", "asked for once");
	refuses("-e {cycles,vm}:S", "cannot be part of a group");
	refuses("-e {{cycles,cs},faults}", "cannot be part of a group");
}

MT_TEST(a_cpus_own_events_have_branches)
{
	struct perf_event_attr attr;

	make_pmu();
	put("cpu/type", "11\n");
	attr = attr_of("-e cpu/event=0xc4/ --call-graph lbr");
	MT_CHECK(attr.type == 11 && attr.branch_sample_type & 1 << 11);
	remove_pmu();
}

MT_TEST_MAIN
