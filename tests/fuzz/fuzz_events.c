/*
 * The words of -e from any text, planned on a machine with a PMU of a few terms. The first byte
 * selects the kernel's features.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/base/err.h"
#include "record/cli/options.h"
#include "record/open/perf_event.h"
#include "record/plan/plan.h"
#include "record/plan/planner.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoint_source.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/fuzz-pmu-XXXXXX";

static void put(const char *path, const char *text)
{
	char whole[128];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	f = text ? fopen(whole, "we") : NULL;
	if (!text)
		mkdir(whole, 0700);
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

static void remove_root(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(root))
		abort();
	atexit(remove_root);
	put("cpu", NULL);
	put("cpu/format", NULL);
	put("cpu/events", NULL);
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32-35\n");
	put("cpu/format/odd", "config1:63,0-2\n");
	put("cpu/format/bad", "config9:5-\n");
	put("cpu/events/mem", "event=0xcd,odd=3\n");
	put("cpu/events/loop", "loop,mem\n");
	return 0;
}

static struct mt_error *find(void *context, const char *name, struct mt_tracepoint *out)
{
	(void)context;
	if (strncmp(name, "sched:", 6) != 0 && strncmp(name, "syscalls:", 9) != 0)
		return mt_error_create(MT_ERR_NOT_FOUND, "no %s", name);
	*out = (struct mt_tracepoint){.id = 7, .format = strdup("")};
	return NULL;
}

static struct mt_error *each(void *source, bool (*one)(void *context, const char *name),
			     void *context)
{
	(void)source;
	(void)(one(context, "sched:sched_switch") && one(context, "sched:sched_wakeup"));
	return NULL;
}

static void plan(const char *words, uint8_t flags)
{
	const struct mt_perf_features features = {
		.kernel_frames = flags & 1,
		.format_lost = flags & 2,
		.identifier = flags & 4,
		.ioc_id = flags & 8,
		.inherited_reads = flags & 16,
		.user_stack = true,
	};
	const struct mt_tracepoint_source source = {.find = find, .each = each, .pmu_root = root};
	char *argv[] = {"mtrec", "-a", "-e", (char *)words, NULL};
	struct mt_record_options options;
	struct mt_plan *made = NULL;
	struct mt_error *err = mt_record_options_parse(4, argv, &options);

	if (!err) {
		err = mt_plan_create(&options, &features, &source, &made);
		mt_record_options_deinit(&options);
	}
	mt_error_destroy(err);
	mt_plan_destroy(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words;

	if (size < 2)
		return 0;
	words = strndup((const char *)data + 1, size - 1);
	if (!words)
		return 0;
	plan(words, data[0]);
	free(words);
	return 0;
}
