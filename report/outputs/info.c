/*
 * --info: all facts about the recordings: origin, events, images, losses.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/outputs/outputs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

enum {
	NAME_MOST = 100, /* bytes shown of an event's name */
};

static const char *const role_names[] = {"sample", "mark", "side-band", "seed", "counted beside"};

static void print_pair(FILE *to, const char *key, const char *value)
{
	fputs("  ", to);
	mt_text_print_clean(key, to);
	fprintf(to, "%*s ", mt_text_columns(key) < 16 ? (int)(16 - mt_text_columns(key)) : 0, "");
	mt_text_print_clean(value, to);
	fputc('\n', to);
}

__attribute__((format(printf, 3, 4))) static void print_line(FILE *to, const char *key,
							     const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	print_pair(to, key, text);
}

static void print_format(const struct mt_recording *reading, FILE *to)
{
	char id[33];

	if (reading->foreign) {
		print_pair(to, "format", reading->foreign);
		return;
	}
	for (int i = 0; i < 16; i++)
		snprintf(id + 2 * i, 3, "%02x", reading->header.id[i]);
	print_line(to, "format", "%u.%u", reading->header.major, reading->header.minor);
	print_line(to, "id", "%s", id);
}

static void print_header(const struct mt_facts_recording *r, FILE *to)
{
	const struct mt_recording *reading = r->reading;

	print_format(reading, to);
	if (r->start_utc)
		print_line(to, "started", "%s", mt_text_date(r->start_utc).text);
	print_line(to, "lasted", "%s", mt_text_duration((double)(r->end - r->start) / 1e9).text);
	if (reading->header.clock == MT_CLOCK_PERF)
		print_pair(to, "clock", "the kernel's perf clock");
	else
		print_line(to, "clock", "%u", reading->header.clock);
}

static void print_end(const struct mt_facts_recording *r, FILE *to)
{
	static const char *const ended[] = {NULL, "exited with status", "was killed by signal"};
	const struct mt_end_record *end = &r->reading->end;

	if (!r->reading->has_end) {
		print_pair(to, "end", "none: the recording was cut short");
		if (r->reading->has_mark)
			print_line(to, "complete up to", "%.3f s",
				   (double)(int64_t)(r->reading->mark.complete_below - r->start) /
					   1e9);
		return;
	}
	if (end->command_end == 1 || end->command_end == 2)
		print_line(to, "command", "%s %u", ended[end->command_end], end->command_status);
	print_line(to, "kernel records", "%s", mt_text_bytes((double)end->raw_bytes).text);
}

static void print_loss(const struct mt_facts_recording *r, const struct mt_facts_loss *loss,
		       FILE *to)
{
	char stream[32] = "no stream that is known";

	if (loss->stream != MT_STREAM_NONE)
		snprintf(stream, sizeof(stream), "stream %u", loss->stream);
	print_line(to, "", "%s lost in %s between %.3f s and %.3f s",
		   mt_text_count((double)loss->count).text, stream,
		   (double)(int64_t)(loss->from - r->start) / 1e9,
		   (double)(int64_t)(loss->to - r->start) / 1e9);
}

static void print_numbers(const struct mt_facts_recording *r, FILE *to)
{
	char damage[400];

	print_line(to, "samples", "%s", mt_text_count((double)r->samples).text);
	print_line(to, "lost", "%s", mt_text_count((double)mt_facts_lost(r)).text);
	if (r->throttled)
		print_line(to, "throttled", "%s times: what was left out is not counted",
			   mt_text_count((double)r->throttled).text);
	for (size_t i = 0; i < r->losses.count; i++)
		print_loss(r, &r->losses.items[i], to);
	if (r->reading->foreign)
		print_line(to, "file", "%s", mt_text_bytes((double)r->reading->size).text);
	else
		print_line(to, "file", "%s in %s chunks, %s unpacked",
			   mt_text_bytes((double)r->reading->size).text,
			   mt_text_count((double)r->reading->chunks).text,
			   mt_text_bytes((double)r->reading->raw_bytes).text);
	if (mt_facts_describe_damage(r, damage, sizeof(damage)))
		print_pair(to, "missing", damage);
	print_line(to, "tasks", "%s in %s processes, %s mappings when it began",
		   mt_text_count((double)r->tasks).text, mt_text_count((double)r->processes).text,
		   mt_text_count((double)r->maps).text);
}

static void print_recording(const struct mt_facts_recording *r, FILE *to)
{
	mt_text_print_clean(r->file, to);
	fputc('\n', to);
	print_header(r, to);
	for (size_t i = 0; i < r->info.count; i++)
		print_pair(to, r->info.items[i].key, r->info.items[i].value);
	print_end(r, to);
	print_numbers(r, to);
	for (size_t i = 0; i < r->notes.count; i++)
		print_pair(to, r->notes.items[i].level ? "warning" : "note",
			   r->notes.items[i].text);
	fputc('\n', to);
}

/* Cuts the name, because a filter of sampled blocks is longer than a screen. */
static void print_event_name(const char *name, FILE *to)
{
	char start[NAME_MOST + 1];
	int shown = strlen(name) > NAME_MOST ? NAME_MOST - 2 : NAME_MOST;

	snprintf(start, sizeof(start), "%.*s", shown, name);
	mt_text_print_clean(start, to);
	if (shown < NAME_MOST)
		fputs("..", to);
}

static void print_event(const struct mt_facts_event *event, FILE *to)
{
	const struct mt_attr *attr = &event->attr;

	fputs("  ", to);
	mt_text_print_clean(event->alias, to);
	if (strcmp(event->alias, event->name) != 0) {
		fputs(" = ", to);
		print_event_name(event->name, to);
	}
	fprintf(to, ": %s, %s records",
		event->role <= MT_ROLE_MEMBER ? role_names[event->role] : "unknown role",
		mt_text_count((double)event->samples).text);
	if (event->lost)
		fprintf(to, ", %s lost", mt_text_count((double)event->lost).text);
	fprintf(to, "\n    type %u config 0x%" PRIx64 " %s %" PRIu64 " sample_type 0x%" PRIx64,
		attr->type, attr->config, mt_attr_has(attr, MT_ATTR_FREQ) ? "freq" : "period",
		attr->sample_period, attr->sample_type);
	if (attr->sample_stack_user)
		fprintf(to, " stack %u regs 0x%" PRIx64, attr->sample_stack_user,
			attr->sample_regs_user);
	fprintf(to, " flags 0x%" PRIx64 " size %u\n", attr->flags, attr->size);
}

static const char *reported(const char *source)
{
	return source ? source : "none";
}

static void print_image(const struct mt_facts_image *image, FILE *to)
{
	fputs("  ", to);
	mt_text_print_clean(image->path, to);
	fprintf(to, "\n    build id %s, ", *image->build_id ? image->build_id : "not recorded");
	if (image->missing) {
		fputs("not at hand: ", to);
		mt_text_print_clean(image->missing, to);
	} else {
		fputs("at hand", to);
		if (image->found_at && strcmp(image->found_at, image->path) != 0) {
			fputs(": ", to);
			mt_text_print_clean(image->found_at, to);
		}
	}
	if (!image->missing)
		fprintf(to, "\n    unwind tables: %s, names: %s, lines: %s",
			reported(image->unwind), reported(image->names), reported(image->lines));
	if (image->refused) {
		fputs("\n    not used: ", to);
		mt_text_print_clean(image->refused, to);
	}
	if (image->fetch)
		fprintf(to, "\n    --debuginfod would ask for its %s", image->fetch);
	if (image->problem) {
		fputs("\n    the recorder says: ", to);
		mt_text_print_clean(image->problem, to);
	}
	fputc('\n', to);
}

static void print_jitdump(const struct mt_facts_jitdump *dump, FILE *to)
{
	fputs("  ", to);
	mt_text_print_clean(dump->path, to);
	if (dump->problem) {
		fprintf(to, "\n    not used: %s\n", dump->problem);
		return;
	}
	fprintf(to, "\n    %s functions, %s; unwind tables: %s, lines: %s\n",
		mt_text_count((double)dump->functions).text,
		dump->carried ? "carried" : "of the file here", dump->unwind ? "yes" : "none",
		dump->lines ? "yes" : "none");
	if (dump->untimed)
		fputs("    its times are of another clock: the last code of an address counts\n",
		      to);
	if (dump->left_out)
		fprintf(to, "    %s more functions are too many\n",
			mt_text_count((double)dump->left_out).text);
}

static void print_jitdumps(const struct mt_facts *facts, FILE *to)
{
	if (facts->jitdumps.count)
		fputs("\njitdumps\n", to);
	for (size_t i = 0; i < facts->jitdumps.count; i++)
		print_jitdump(&facts->jitdumps.items[i], to);
}

static struct mt_error *write_info(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	const struct mt_facts *facts = view->facts;
	struct mt_error *err = NULL;
	struct mt_row row;

	while (mt_table_read(table, &row, &err))
		;
	if (err)
		return err;
	for (size_t i = 0; i < facts->recordings.count; i++)
		print_recording(&facts->recordings.items[i], to);
	fputs("events\n", to);
	for (size_t i = 0; i < facts->events.count; i++)
		print_event(&facts->events.items[i], to);
	if (facts->undecodable)
		fprintf(to, "  %s record%s could not be decoded\n",
			mt_text_count((double)facts->undecodable).text,
			facts->undecodable == 1 ? "" : "s");
	fputs("\nimages\n", to);
	for (size_t i = 0; i < facts->images.count; i++)
		print_image(&facts->images.items[i], to);
	print_jitdumps(facts, to);
	return NULL;
}

const struct mt_output mt_output_info = {
	.name = "info",
	.help = "host, events, images, losses and damage",
	.needs = MT_NEEDS_IMAGES | MT_REPORTS_FACTS,
	.write = write_info,
};
