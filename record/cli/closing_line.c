/* Formats figures for people, and the two lines that contain them. */
#include "record/cli/closing_line.h"

#include <stdio.h>

/* Formats 60412 as 60,412. */
static const char *grouped(uint64_t n, char out[32])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

/* Formats 1234567 as 1.2 MB. */
static const char *bytes_text(uint64_t bytes, char out[32])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double scaled = (double)bytes;
	size_t unit = 0;

	for (; scaled >= 999.95; scaled /= 1000)
		unit++;
	snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", scaled, units[unit]);
	return out;
}

void mt_status_line(const struct mt_progress *progress, char out[MT_LINE_SIZE])
{
	char samples[32], lost[32], bytes[32];
	int at = snprintf(out, MT_LINE_SIZE, "%.0f s, %s samples, %s lost", progress->seconds,
			  grouped(progress->samples, samples), grouped(progress->lost, lost));

	if (progress->written)
		at += snprintf(out + at, (size_t)(MT_LINE_SIZE - at), ", file %s",
			       bytes_text(progress->written, bytes));
	if (progress->memory)
		snprintf(out + at, (size_t)(MT_LINE_SIZE - at), ", %s %s",
			 progress->of_host ? "host available" : "resident",
			 bytes_text(progress->memory, bytes));
}

void mt_closing_line(const struct mt_progress *progress, char out[MT_LINE_SIZE])
{
	char samples[32], lost[32], stacks[32], file[32];

	snprintf(out, MT_LINE_SIZE, "%.2f s, %s samples, stacks %s -> file %s, %s lost",
		 progress->seconds, grouped(progress->samples, samples),
		 bytes_text(progress->raw_bytes, stacks), bytes_text(progress->written, file),
		 grouped(progress->lost, lost));
}
