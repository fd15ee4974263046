/*
 * Sums over the facts, and facts as sentences.
 */
#include "report/tables/facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/text.h"

uint64_t mt_facts_lost(const struct mt_facts_recording *recording)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < recording->losses.count; i++)
		lost += recording->losses.items[i].count;
	if (lost < recording->kernel_lost)
		lost = recording->kernel_lost;
	if (lost < recording->counted_lost)
		lost = recording->counted_lost;
	if (recording->reading->has_mark && lost < recording->reading->mark.lost)
		lost = recording->reading->mark.lost;
	if (recording->reading->has_end && lost < recording->reading->end.lost)
		lost = recording->reading->end.lost;
	return lost;
}

uint64_t mt_facts_throttled(const struct mt_facts *facts)
{
	uint64_t times = 0;

	for (size_t i = 0; i < facts->recordings.count; i++)
		times += facts->recordings.items[i].throttled;
	return times;
}

const char *mt_facts_build_id(const struct mt_facts *facts, const char *path)
{
	const char *found = NULL;

	for (size_t i = 0; i < facts->images.count; i++) {
		const struct mt_facts_image *image = &facts->images.items[i];

		if (strcmp(image->path, path) != 0 || !*image->build_id)
			continue;
		if (found && strcmp(found, image->build_id) != 0)
			return NULL;
		found = image->build_id;
	}
	return found;
}

uint64_t mt_facts_lost_all(const struct mt_facts *facts)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < facts->recordings.count; i++)
		lost += mt_facts_lost(&facts->recordings.items[i]);
	return lost;
}

bool mt_facts_damaged(const struct mt_facts_recording *recording)
{
	const struct mt_damage *damage = &recording->reading->damage;

	return (damage->cut_short && !recording->growing) || damage->skipped_bytes ||
	       damage->damaged_chunks || damage->missing_chunks || damage->damaged_records ||
	       damage->disordered;
}

const char *mt_facts_info(const struct mt_facts_recording *recording, const char *key)
{
	for (size_t i = 0; i < recording->info.count; i++) {
		if (!strcmp(recording->info.items[i].key, key))
			return recording->info.items[i].value;
	}
	return NULL;
}

uint64_t mt_facts_named_whole(const struct mt_facts *facts)
{
	uint64_t whole = facts->ends[MT_END_ROOT];

	for (int i = 0; i < MT_END_REASONS; i++)
		whole += facts->entry_ends[i];
	return whole;
}

uint64_t mt_facts_incomplete(const struct mt_facts *facts)
{
	return facts->user_stacks - facts->ends[MT_END_ROOT] - facts->ends[MT_END_UNREPORTED];
}

bool mt_facts_ended_early(const struct mt_facts_recording *recording, int32_t pid, uint64_t began,
			  uint64_t ended)
{
	/* mtrec stops about 60 ms after its command ends, later on a busy host. */
	const uint64_t last = 500000000;
	uint64_t half = (recording->end - recording->start) / 2;

	if (ended + last < recording->end)
		return true;
	/* The command is exempt: the shell that execs it may have taken most of the time. */
	return pid != recording->command && ended - began < (last < half ? last : half);
}

uint64_t mt_facts_observed_end(const struct mt_facts_recording *recording, uint64_t ended)
{
	return ended ? ended : recording->end;
}

double mt_facts_seconds(const struct mt_facts *facts)
{
	double seconds = 0;

	for (size_t i = 0; i < facts->recordings.count; i++) {
		const struct mt_facts_recording *r = &facts->recordings.items[i];

		if (r->end > r->start)
			seconds += (double)(r->end - r->start) / 1e9;
	}
	return seconds;
}

struct sentence {
	char *out;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *s, const char *format, ...)
{
	va_list args;
	int n;

	if (s->used + 3 > s->size)
		return;
	if (s->used) {
		memcpy(s->out + s->used, ", ", 3);
		s->used += 2;
	}
	va_start(args, format);
	n = vsnprintf(s->out + s->used, s->size - s->used, format, args);
	va_end(args);
	s->used += n < 0 ? 0 : (size_t)n < s->size - s->used ? (size_t)n : s->size - s->used - 1;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

size_t mt_facts_describe_damage(const struct mt_facts_recording *recording, char *out, size_t size)
{
	const struct mt_damage *d = &recording->reading->damage;
	struct sentence s = {out, size, 0};

	if (size)
		*out = '\0';
	if (d->cut_short && !recording->growing)
		add(&s, "cut short (it has no end)");
	if (d->missing_chunks)
		add(&s, "%s chunk%s missing", mt_text_count((double)d->missing_chunks).text,
		    plural(d->missing_chunks));
	if (d->damaged_chunks)
		add(&s, "%s damaged chunk%s left out",
		    mt_text_count((double)d->damaged_chunks).text, plural(d->damaged_chunks));
	if (d->stray_chunks)
		add(&s, "%s chunk%s left out that belong to no recording",
		    mt_text_count((double)d->stray_chunks).text, plural(d->stray_chunks));
	if (d->refused_chunks)
		add(&s, "%s chunk%s left out that only a later mtreport can read",
		    mt_text_count((double)d->refused_chunks).text, plural(d->refused_chunks));
	if (d->damaged_records)
		add(&s, "%s damaged record%s left out",
		    mt_text_count((double)d->damaged_records).text, plural(d->damaged_records));
	if (d->skipped_bytes)
		add(&s, "%s byte%s skipped that are no chunk",
		    mt_text_count((double)d->skipped_bytes).text, plural(d->skipped_bytes));
	if (d->disordered)
		add(&s, "%s record%s out of order", mt_text_count((double)d->disordered).text,
		    plural(d->disordered));
	if (d->unknown_records)
		add(&s, "%s record%s of a kind this version does not know",
		    mt_text_count((double)d->unknown_records).text, plural(d->unknown_records));
	return s.used;
}

void mt_facts_add_unseen(struct mt_facts *facts, const struct mt_facts_unseen *unseen)
{
	struct mt_facts_unseen *known;

	for (size_t i = facts->unseen.count; i-- > 0;) {
		known = &facts->unseen.items[i];
		if (known->recording == unseen->recording && known->pid == unseen->pid &&
		    !strcmp(known->process, unseen->process)) {
			known->calls |= unseen->calls;
			return;
		}
	}
	known = mt_array_push(&facts->unseen);
	if (known)
		*known = *unseen;
}

bool mt_facts_blocks_rate(const struct mt_facts_blocks *blocks, char *out, size_t size)
{
	char least[32] = "";

	if (!blocks->one_in_most)
		return false;
	if (blocks->one_in_least < blocks->one_in_most)
		snprintf(least, sizeof(least), "1 in %" PRIu32 " to ", blocks->one_in_least);
	snprintf(out, size,
		 "%s1 in %" PRIu32 " blocks was sampled, by address: estimates with 95 %% "
		 "intervals",
		 least, blocks->one_in_most);
	return true;
}

static void report_counts(const struct mt_facts_blocks *blocks,
			  const struct mt_facts_durations *durations,
			  void (*print)(void *context, const char *sentence), void *context)
{
	const struct {
		uint64_t count;
		const char *what, *how;
	} sentences[] = {
		{blocks->twice, "block",
		 "freed twice (--blocks --all has the paths that allocated them)"},
		{blocks->unseen_frees, "block",
		 "not seen freed before the address was given again"},
		{blocks->unreadable, "block",
		 "given at an address that no sample shows: not counted"},
		{durations->unbegun, "end", "recorded without a beginning: not counted"},
		{durations->unended, "beginning", "recorded without an end: not counted"},
		{blocks->unknown, "block",
		 "freed but not seen allocated: before the recording, or by what was not "
		 "recorded"},
	};
	char text[256];

	if (mt_facts_blocks_rate(blocks, text, sizeof(text)))
		print(context, text);
	if (blocks->unprobed) {
		snprintf(text, sizeof(text),
			 "%s is not probed: its blocks are missing (mtrec -p PID)",
			 strrchr(blocks->unprobed, '/') ? strrchr(blocks->unprobed, '/') + 1
							: blocks->unprobed);
		print(context, text);
	}
	for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
		if (!sentences[i].count)
			continue;
		snprintf(text, sizeof(text), "%" PRIu64 " %s%s %s", sentences[i].count,
			 sentences[i].what, sentences[i].count == 1 ? "" : "s", sentences[i].how);
		print(context, text);
	}
}

/* The first process with such calls; sets *count to the number of these processes. */
static const struct mt_facts_unseen *find_unseen(const struct mt_facts *facts,
						 enum mt_unseen_calls call, size_t *count)
{
	const struct mt_facts_unseen *first = NULL;

	*count = 0;
	for (size_t i = 0; i < facts->unseen.count; i++) {
		const struct mt_facts_unseen *unseen = &facts->unseen.items[i];

		if (!(unseen->calls & call))
			continue;
		first = first ? first : unseen;
		++*count;
	}
	return first;
}

void mt_facts_report_unseen(const struct mt_facts *facts,
			    void (*print)(void *context, const char *sentence), void *context)
{
	static const struct {
		enum mt_unseen_calls call;
		const char *one, *several, *sentence;
	} sentences[] = {
		{MT_UNSEEN_NARROW, "is", "are", "32-bit, calls go unseen: mapped is in doubt"},
		{MT_UNSEEN_RING, "has", "have", "io_uring, madvise goes unseen: may hold less"},
		{MT_UNSEEN_ADVICE, "has", "have", "used process_madvise: what it took goes unseen"},
	};
	char text[160];

	report_counts(&facts->blocks, &facts->durations, print, context);
	for (size_t k = 0; k < sizeof(sentences) / sizeof(sentences[0]); k++) {
		size_t count;
		const struct mt_facts_unseen *first = find_unseen(facts, sentences[k].call, &count);

		if (count > 1)
			snprintf(text, sizeof(text), "%.40s and %zu more %s %s", first->process,
				 count - 1, sentences[k].several, sentences[k].sentence);
		else if (count)
			snprintf(text, sizeof(text), "%.40s (%d) %s %s", first->process,
				 (int)first->pid, sentences[k].one, sentences[k].sentence);
		if (count)
			print(context, text);
	}
}

void mt_facts_deinit(struct mt_facts *facts)
{
	for (size_t i = 0; i < facts->recordings.count; i++) {
		mt_array_deinit(&facts->recordings.items[i].info);
		mt_array_deinit(&facts->recordings.items[i].notes);
		mt_array_deinit(&facts->recordings.items[i].losses);
	}
	mt_array_deinit(&facts->recordings);
	mt_array_deinit(&facts->events);
	mt_array_deinit(&facts->images);
	mt_array_deinit(&facts->jitdumps);
	mt_array_deinit(&facts->unseen);
}
