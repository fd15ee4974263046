/* Facts about the host, and the event table, as records. */
#include "record/state/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/chunks/chunk.h"
#include "formats/records/record.h"
#include "record/cli/options.h"
#include "record/open/clock.h"
#include "record/plan/plan.h"
#include "record/plan/throttle.h"
#include "record/proc/procfs.h"
#include "record/rings/state_writer.h"

#define CPUS_ONLINE "/sys/devices/system/cpu/online"
#define NT_GNU_BUILD_ID 3

struct mt_error *mt_host_cpus(struct mt_number_list *out)
{
	MT_CLEANUP_FREE char *text = mt_read_text(CPUS_ONLINE, NULL);

	if (text) {
		text[strcspn(text, "\n")] = '\0';
		return mt_parse_list(CPUS_ONLINE, text, MT_CPU_MAX, out);
	}
	for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		if (!mt_list_add(out, cpu))
			return mt_error_nomem();
	}
	return NULL;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void mt_host_anchor(struct mt_state *state, const struct mt_clock *clock)
{
	struct mt_clock_record record = {
		.recording = mt_clock_now(clock),
		.monotonic = clock_ns(CLOCK_MONOTONIC),
		.realtime = clock_ns(CLOCK_REALTIME),
		.boottime = clock_ns(CLOCK_BOOTTIME),
	};

	if (!clock->perf)
		record.monotonic = record.recording;
	(void)mt_state_put(state, mt_clock_put, &record);
}

static void put_info(struct mt_state *state, const char *key, const char *value)
{
	struct mt_info_record info = {.key = {key, strlen(key)}, .value = {value, strlen(value)}};

	(void)mt_state_put(state, mt_info_put, &info);
}

static void put_number(struct mt_state *state, const char *key, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, value);
	put_info(state, key, text);
}

void mt_host_begin(struct mt_state *state, uint64_t start, pid_t command)
{
	put_number(state, "start", (int64_t)start);
	if (command)
		put_number(state, "command-pid", command);
}

char *mt_host_quote(int argc, char *const *argv)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
	char *line = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&line, &size);

	for (int i = 0; out && i < argc; i++) {
		bool quote = !*argv[i] || argv[i][strspn(argv[i], plain)];

		fprintf(out, "%s%s", i ? " " : "", quote ? "'" : "");
		for (const char *c = argv[i]; *c; c++)
			fputs(*c == '\'' ? "'\\''" : (char[]){*c, 0}, out);
		fputs(quote ? "'" : "", out);
	}
	return out && !fclose(out) ? line : NULL;
}

/*
 * Puts the command line. With --strip leaves out the command's arguments, because they are memory
 * of a target.
 */
static void put_command(struct mt_state *state, const struct mt_record_options *options, int argc,
			char **argv)
{
	int reported =
		options->strip && options->command ? (int)(options->command - argv) + 1 : argc;
	MT_CLEANUP_FREE char *line = mt_host_quote(reported < argc ? reported : argc, argv);

	if (line)
		put_info(state, "command", line);
}

/* Puts the kernel's build id from its notes: name size, descriptor size, type, "GNU\0", bytes. */
static void put_kernel_build_id(struct mt_state *state)
{
	size_t size = 0;
	MT_CLEANUP_FREE char *notes = mt_read_text("/sys/kernel/notes", &size);
	char hex[2 * 64 + 1] = "";

	for (size_t at = 0; notes && at + 12 <= size;) {
		uint32_t name = mt_get_le32(notes + at), bytes = mt_get_le32(notes + at + 4);
		size_t desc = at + 12 + ((name + 3u) & ~3u);

		if (name > size || bytes > size || desc + bytes > size)
			break;
		if (mt_get_le32(notes + at + 8) == NT_GNU_BUILD_ID && name == 4 &&
		    !memcmp(notes + at + 12, "GNU", 4) && bytes <= 64) {
			for (size_t i = 0; i < bytes; i++)
				snprintf(hex + 2 * i, 3, "%02x", (unsigned char)notes[desc + i]);
			put_info(state, "kernel-build-id", hex);
			return;
		}
		at = desc + ((bytes + 3u) & ~3u);
	}
}

/*
 * Puts the cgroup of the command, which starts in the recorder's cgroup and has no TASK record.
 * Uses the line of the hierarchy that accounts for memory, or the last line.
 */
static void put_cgroup(struct mt_state *state)
{
	MT_CLEANUP_FREE char *cgroup = mt_read_textf(NULL, "/proc/self/cgroup");
	char *next = cgroup, *line, *found = NULL;

	while ((line = strsep(&next, "\n")) && *line) {
		found = line;
		if (strstr(line, "memory"))
			break;
	}
	if (found)
		put_info(state, "cgroup", found);
}

/* Puts a list, as in "pid 1,2". */
static void put_list(struct mt_state *state, const char *key, const char *before,
		     const struct mt_number_list *list)
{
	MT_CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&line, &size);

	for (size_t i = 0; out && i < list->count; i++)
		fprintf(out, "%s%s%d", i ? "," : "", i ? "" : before, list->items[i]);
	if (out && !fclose(out))
		put_info(state, key, line);
}

static void put_target(struct mt_state *state, const struct mt_record_options *options)
{
	const struct mt_number_list *list = options->pids.count ? &options->pids : &options->tids;

	if (!list->count) {
		bool all = mt_options_target_cpus(options);

		put_info(state, "target", all ? "all" : "command");
		if (!all)
			put_cgroup(state);
		return;
	}
	put_list(state, "target", options->pids.count ? "pid " : "tid ", list);
}

void mt_host_describe_choice(struct mt_state *head, const struct mt_target_choice *choice)
{
	if (choice->comm)
		put_info(head, "target-comm", choice->comm);
	if (choice->by_user)
		put_number(head, "target-uid", choice->uid);
	if (choice->cgroup)
		put_info(head, "target-cgroup", choice->cgroup);
}

static void put_call_graph(struct mt_state *state, const struct mt_record_options *options)
{
	char dwarf[32];

	snprintf(dwarf, sizeof(dwarf), "dwarf,%u", options->dump_size);
	put_info(state, "call-graph",
		 options->call_graph == MT_GRAPH_DWARF ? dwarf
		 : options->call_graph == MT_GRAPH_FP  ? "fp"
						       : "none");
}

static void put_uname(struct mt_state *state)
{
	struct utsname name;
	MT_CLEANUP_FREE char *boot = mt_read_text("/proc/sys/kernel/random/boot_id", NULL);

	if (!uname(&name)) {
		put_info(state, "host", name.nodename);
		put_info(state, "kernel", name.release);
		put_info(state, "kernel-version", name.version);
		put_info(state, "arch", name.machine);
	}
	if (boot) {
		boot[strcspn(boot, "\n")] = '\0';
		put_info(state, "boot-id", boot);
	}
}

/* The event's name with its filter; the caller frees it. */
static char *full_name(const struct mt_planned_event *event)
{
	if (!event->filter)
		return strdup(event->name);
	return mt_format("%s/%s/", event->name, event->filter);
}

static void put_events(struct mt_state *state, const struct mt_plan *plan)
{
	for (uint32_t i = 0; i < plan->events.count; i++) {
		const struct mt_planned_event *event = &plan->events.items[i];
		MT_CLEANUP_FREE char *name = full_name(event);
		struct mt_event_record record = {
			.index = i,
			.role = event->role,
			.pair = event->pair,
			.class = event->class,
			.name = {name ? name : "", name ? strlen(name) : 0},
			.alias = {event->alias, strlen(event->alias)},
			.unit = {event->unit, strlen(event->unit)},
			.attr = {(const char *)&event->attr, sizeof(event->attr)},
			.format = {event->format, event->format ? strlen(event->format) : 0},
			.account = {event->account, event->account ? strlen(event->account) : 0},
		};

		if (!event->left_out)
			(void)mt_state_put(state, mt_event_put, &record);
	}
}

/* Puts the weight of the samples of thinning variants. */
static void put_weights(struct mt_state *state, const struct mt_plan *plan)
{
	for (uint32_t i = 0; i < plan->events.count; i++) {
		uint32_t thinning = mt_levels[plan->events.items[i].level].thinning;

		if (thinning > 1)
			mt_state_put_weight(state, i, thinning, 1);
	}
}

void mt_host_describe(struct mt_state *head, const struct mt_record_options *options,
		      const struct mt_clock *clock, const struct mt_plan *plan, int argc,
		      char **argv)
{
	struct mt_header_record header = {
		.major = MT_FORMAT_MAJOR,
		.minor = MT_FORMAT_MINOR,
		.clock = clock->perf ? MT_CLOCK_PERF : CLOCK_MONOTONIC,
	};

	if (getrandom(header.id, sizeof(header.id), GRND_NONBLOCK) != sizeof(header.id))
		memcpy(header.id,
		       &(struct timespec){.tv_sec = (time_t)clock_ns(CLOCK_REALTIME),
					  .tv_nsec = getpid()},
		       sizeof(header.id));
	(void)mt_state_put(head, mt_header_put, &header);
	put_info(head, "tool", "mtrec " MT_VERSION);
	put_command(head, options, argc, argv);
	if (options->strip)
		put_info(head, "stripped", "mtrec " MT_VERSION);
	put_uname(head);
	put_kernel_build_id(head);
	put_number(head, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	put_number(head, "page-size", sysconf(_SC_PAGESIZE));
	put_target(head, options);
	if (options->cpus.count && options->cpus.count < (size_t)sysconf(_SC_NPROCESSORS_ONLN))
		put_list(head, "target-cpus", "", &options->cpus);
	put_call_graph(head, options);
	mt_host_anchor(head, clock);
	put_events(head, plan);
	put_weights(head, plan);
}
