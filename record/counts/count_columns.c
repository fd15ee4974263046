/*
 * Reads counters and prints their counts in the columns and words of perf stat, so that programs
 * which parse the output of perf stat work.
 */
#include "record/counts/count_columns.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "record/plan/plan.h"
#include "record/rings/event_set.h"

struct mt_count mt_count_read(const struct mt_event_set *opened, uint32_t event)
{
	struct mt_count sum = {0};

	for (size_t i = 0; i < opened->events.count; i++) {
		uint64_t values[3]; /* value, PERF_FORMAT_TOTAL_TIME_ENABLED, _RUNNING */

		if (opened->events.items[i].event != event ||
		    read(opened->events.items[i].fd, values, sizeof(values)) != sizeof(values))
			continue;
		sum.value += values[0];
		sum.enabled += values[1];
		sum.running += values[2];
	}
	return sum;
}

/* Returns now - before; 0 if that is negative, as when a counter can no longer be read. */
static uint64_t difference(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

struct mt_count mt_count_since(const struct mt_count *before, const struct mt_count *now)
{
	return (struct mt_count){.value = difference(before->value, now->value),
				 .enabled = difference(before->enabled, now->enabled),
				 .running = difference(before->running, now->running)};
}

/* Returns true for clocks, which count nanoseconds and which perf prints in milliseconds. */
static bool is_clock(const struct mt_planned_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
		event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Formats the count as text of at most 31 bytes. */
static void format_count(const struct mt_planned_event *event, const struct mt_count *count,
			 char out[32])
{
	double scale = count->running ? (double)count->enabled / (double)count->running : 0;

	if (event->left_out || !count->running)
		snprintf(out, 32, "<not %s>", event->left_out ? "supported" : "counted");
	else if (is_clock(event))
		snprintf(out, 32, "%.2f", (double)count->value * scale / 1e6);
	else if (count->running == count->enabled)
		snprintf(out, 32, "%llu", (unsigned long long)count->value);
	else
		snprintf(out, 32, "%.0f", (double)count->value * scale);
}

void mt_count_print(const struct mt_count_style *style, double seconds,
		    const struct mt_planned_event *event, const struct mt_count *count, FILE *to)
{
	double part =
		count->enabled ? 100.0 * (double)count->running / (double)count->enabled : 100;
	const char *unit = is_clock(event) && !event->left_out ? "msec" : "";
	const char *s = style->separator;
	char text[32];

	format_count(event, count, text);
	if (style->interval)
		fprintf(to, "%16.9f%s", seconds, s ? s : " ");
	if (s) {
		fprintf(to, "%s%s%s%s%s%s%llu%s%.2f%s%s\n", text, s, unit, s, event->alias, s,
			(unsigned long long)count->running, s, part, s, s);
		return;
	}
	fprintf(to, "%18s %-4s %s", text, unit, event->alias);
	if (count->running && count->running != count->enabled)
		fprintf(to, "  (%.2f%%)", part);
	fputc('\n', to);
}
