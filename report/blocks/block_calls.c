/* Threads in an array, found by tid; entries of ended threads are reused. */
#include "report/blocks/block_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "formats/records/address_sample.h"
#include "formats/records/attr.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "unwind/cfi/dump.h"

enum {
	DEPTH_MOST = 8, /* maximum number of nested functions of a thread */
	REG_SP = 7,	/* PERF_REG_X86_SP */
	ERRNO_MOST = 4095,
	FLAG_MAPPED = 2, /* glibc's flag in front of a block: it has a mapping of its own */
	FLAGS = 7,
	ONE_IN_MOST = 1 << 20,
};

/* An entry that waits for its return. */
struct entry {
	uint32_t function;
	bool has_asked;
	uint64_t asked, old, out, time;
	uint64_t was; /* as `old`, but stays if the block is freed; 0: the block is not resized */
};

struct thread {
	struct entry entries[DEPTH_MOST]; /* in order of time */
	size_t depth;
	uint64_t freed; /* the last freed address, if nothing else happened since; 0: none */
	uint32_t freed_by;
	uint64_t failed; /* time of the last failure, if nothing else happened since; 0: none */
};

struct mt_block_calls {
	bool sampled;
	MT_ARRAY(struct thread) threads;
	MT_ARRAY(uint32_t) unused; /* indices in threads */
	struct mt_map64 by_tid;
};

struct mt_block_calls *mt_block_calls_create(void)
{
	return mt_alloc(1, sizeof(struct mt_block_calls));
}

void mt_block_calls_destroy(struct mt_block_calls *calls)
{
	if (!calls)
		return;
	mt_array_deinit(&calls->threads);
	mt_array_deinit(&calls->unused);
	mt_map64_deinit(&calls->by_tid);
	free(calls);
}

/* ---- Events ---- */

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(text, word, length) && (text[length] == ' ' || !text[length]);
}

enum mt_block_operation mt_block_operation_of(const char *account)
{
	static const struct {
		const char *word;
		enum mt_block_operation operation;
	} known[] = {
		{"alloc", MT_BLOCK_ALLOC},
		{"enter", MT_BLOCK_ENTER},
		{"free", MT_BLOCK_FREE},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (has_word(account, known[i].word))
			return known[i].operation;
	}
	return MT_BLOCK_NONE;
}

uint32_t mt_block_one_in(const char *account)
{
	const char *word = strstr(account, " one-in=");
	unsigned long number = word ? strtoul(word + strlen(" one-in="), NULL, 10) : 1;

	return number < 1 ? 1 : number > ONE_IN_MOST ? ONE_IN_MOST : (uint32_t)number;
}

bool mt_block_sizes(const char *account, uint64_t *least, uint64_t *most)
{
	const char *word = strstr(account, " size=");

	return word && sscanf(word, " size=%" SCNu64 "-%" SCNu64, least, most) == 2 &&
	       *least <= *most && *most;
}

void mt_block_calls_set_sampled(struct mt_block_calls *calls)
{
	calls->sampled = true;
}

struct mt_block_event mt_block_event_parse(const struct mt_event_record *record,
					   struct mt_strings *strings)
{
	struct mt_block_event out = {0};
	char account[512], *name;
	size_t size = record->account.size;

	size = size < sizeof(account) ? size : sizeof(account) - 1;
	if (size)
		memcpy(account, record->account.bytes, size);
	account[size] = '\0';
	out.operation = mt_block_operation_of(account);
	if (record->role != (out.operation == MT_BLOCK_ALLOC ? MT_ROLE_SAMPLE : MT_ROLE_MARK))
		out.operation = MT_BLOCK_NONE;
	out.one_in = mt_block_one_in(account);
	if (!mt_block_sizes(account, &out.least, &out.most))
		out.most = 0;
	name = strstr(account, " of=");
	name = name ? name + strlen(" of=") : account + size;
	out.function = mt_strings_intern(strings, name, strcspn(name, " "));
	out.ptr = mt_field_find(&record->format, "ptr");
	out.size = mt_field_find(&record->format, "size");
	out.count = mt_field_find(&record->format, "count");
	out.old = mt_field_find(&record->format, "old");
	out.out = mt_field_find(&record->format, "out");
	return out;
}

/* ---- Threads ---- */

/* Valid until the next thread is created. */
static struct thread *thread_of(struct mt_block_calls *calls, int32_t tid)
{
	uint64_t index;

	if (mt_map64_get(&calls->by_tid, (uint32_t)tid, &index))
		return &calls->threads.items[index];
	if (calls->unused.count) {
		index = calls->unused.items[--calls->unused.count];
	} else {
		index = calls->threads.count;
		mt_array_push(&calls->threads);
	}
	calls->threads.items[index] = (struct thread){0};
	mt_map64_put(&calls->by_tid, (uint32_t)tid, index);
	return &calls->threads.items[index];
}

void mt_block_calls_end(struct mt_block_calls *calls, int32_t tid)
{
	uint64_t index;

	if (!mt_map64_get(&calls->by_tid, (uint32_t)tid, &index))
		return;
	mt_map64_remove(&calls->by_tid, (uint32_t)tid);
	mt_array_append(&calls->unused, (uint32_t)index);
}

/* Removes the thread's entry of this function; false if no entry waits. */
static bool take_entry(struct thread *thread, uint32_t function, struct entry *out)
{
	size_t i = thread->depth;

	while (i && thread->entries[i - 1].function != function)
		i--;
	if (!i)
		return false;
	*out = thread->entries[i - 1];
	memmove(&thread->entries[i - 1], &thread->entries[i],
		(thread->depth - i) * sizeof(*thread->entries));
	thread->depth--;
	return true;
}

static uint64_t field_or(const struct mt_field *field, const struct mt_sample *sample,
			 uint64_t otherwise)
{
	uint64_t value;

	return mt_field_get(field, sample, &value) ? value : otherwise;
}

static void take_enter(struct thread *thread, const struct mt_block_event *event, bool sampled,
		       const struct mt_sample *sample, uint64_t time, struct mt_block_call *out)
{
	struct entry entry;

	take_entry(thread, event->function, &entry); /* the earlier call's return is missing */
	if (thread->depth == DEPTH_MOST)
		memmove(thread->entries, thread->entries + 1,
			--thread->depth * sizeof(*thread->entries));
	entry = (struct entry){
		.function = event->function,
		.old = field_or(&event->old, sample, 0),
		.out = field_or(&event->out, sample, 0),
		.time = time,
	};
	entry.has_asked = mt_field_get(&event->size, sample, &entry.asked);
	if (__builtin_mul_overflow(entry.asked, field_or(&event->count, sample, 1), &entry.asked))
		entry.asked = UINT64_MAX;
	entry.was = entry.has_asked && !entry.asked ? 0 : entry.old;
	thread->freed = thread->failed = 0;
	if (sampled && entry.old) {
		*out = (struct mt_block_call){
			.effect = MT_BLOCK_FREES, .freed = entry.old, .resizes = entry.was};
		entry.old = 0;
	}
	thread->entries[thread->depth++] = entry;
}

/*
 * Marks a block as freed, so that open calls do not free it again. True if one of them resizes it.
 */
static bool forget_old(struct thread *thread, uint64_t address)
{
	bool resizes = false;

	for (size_t i = 0; i < thread->depth; i++) {
		struct entry *entry = &thread->entries[i];

		resizes |= entry->old == address && entry->was == address;
		if (entry->old == address)
			entry->old = 0;
	}
	return resizes;
}

static void take_free(struct thread *thread, const struct mt_block_event *event, uint64_t address,
		      struct mt_block_call *out)
{
	bool again = thread->freed == address && thread->freed_by != event->function, resizes;

	if (!address || again)
		return;
	resizes = forget_old(thread, address);
	thread->freed = address;
	thread->freed_by = event->function;
	thread->failed = 0;
	*out = (struct mt_block_call){
		.effect = MT_BLOCK_FREES, .freed = address, .resizes = resizes};
}

/* Reads a word of the caller's stack. */
static bool read_stack(const struct mt_attr *attr, const struct mt_sample *sample, uint64_t address,
		       uint64_t *out)
{
	uint64_t mask = attr->sample_regs_user, bit = 1ull << REG_SP;
	struct mt_dump dump = {.bytes = sample->dump, .size = sample->dump_size};

	if (!sample->dump || sample->user_abi == 0 || !(mask & bit))
		return false;
	dump.start = sample->user_regs[__builtin_popcountll(mask & (bit - 1))];
	return mt_dump_read(&dump, address, out);
}

/* The low bits of the word before a block are flags. */
static uint64_t usable_bytes(uint64_t word)
{
	uint64_t alongside = word & FLAG_MAPPED ? 16 : 8;

	word &= ~(uint64_t)FLAGS;
	return word > alongside ? word - alongside : 0;
}

/* The effect of a function that returned `value`. Sets given->address. */
static enum mt_block_effect effect_of(const struct mt_block_event *event, const struct entry *entry,
				      uint64_t value, const struct mt_attr *attr,
				      const struct mt_sample *sample, struct mt_block_given *given)
{
	given->address = value;
	if (!entry->out)
		return value ? MT_BLOCK_GIVES : MT_BLOCK_FAILS;
	if (value > ERRNO_MOST)
		return MT_BLOCK_GIVES;
	if (value)
		return MT_BLOCK_FAILS;
	if (!read_stack(attr, sample, entry->out, &given->address))
		return MT_BLOCK_UNREADABLE;
	if (given->address && !mt_address_is_sampled(given->address, event->one_in))
		return MT_BLOCK_NOTHING; /* the kernel's filter cannot read this address */
	return given->address ? MT_BLOCK_GIVES : MT_BLOCK_FAILS;
}

/* True for a block of a size that the event leaves out. A failure of unknown size is kept. */
static bool is_left_out(const struct mt_block_event *event, const struct mt_block_call *call)
{
	const struct mt_block_given *given = &call->given;
	uint64_t bytes = given->has_asked ? given->asked : given->usable;

	if (!event->most || (call->effect == MT_BLOCK_FAILS && !given->has_asked))
		return false;
	return bytes < event->least || bytes > event->most;
}

static void take_alloc(struct thread *thread, const struct mt_block_event *event,
		       const struct mt_attr *attr, const struct mt_sample *sample, uint64_t time,
		       struct mt_block_call *out)
{
	struct entry entry = {0};
	struct mt_block_given given = {.time = time, .tid = sample->tid};
	uint64_t value, failed = thread->failed;

	take_entry(thread, event->function, &entry);
	thread->freed = thread->failed = 0;
	if (!mt_field_get(&event->ptr, sample, &value))
		return;
	given.was = entry.was;
	given.enter = entry.time;
	given.has_asked = entry.has_asked;
	given.asked = entry.asked;
	given.usable = usable_bytes(field_or(&event->size, sample, 0));
	out->effect = effect_of(event, &entry, value, attr, sample, &given);
	out->given = given;
	out->freed = entry.old;
	out->resizes = entry.was;
	if (out->effect != MT_BLOCK_FAILS) {
		forget_old(thread, entry.old);
		if (out->effect == MT_BLOCK_GIVES && is_left_out(event, out))
			out->effect = entry.old ? MT_BLOCK_FREES : MT_BLOCK_NOTHING;
		return;
	}
	out->freed = 0;
	out->resizes = false;
	if (entry.has_asked && !entry.asked) {
		out->effect = entry.old ? MT_BLOCK_FREES : MT_BLOCK_NOTHING;
		out->freed = entry.old;
		return;
	}
	if ((failed && entry.time && entry.time <= failed) || is_left_out(event, out))
		out->effect = MT_BLOCK_NOTHING;
	thread->failed = time;
}

struct mt_block_call mt_block_calls_take(struct mt_block_calls *calls,
					 const struct mt_block_event *event,
					 const struct mt_attr *attr, const struct mt_sample *sample,
					 uint64_t time)
{
	struct mt_block_call out = {0};
	struct thread *thread;
	uint64_t address;

	if (event->operation == MT_BLOCK_NONE)
		return out;
	thread = thread_of(calls, sample->tid);
	if (event->operation == MT_BLOCK_ENTER)
		take_enter(thread, event, calls->sampled, sample, time, &out);
	else if (event->operation == MT_BLOCK_ALLOC)
		take_alloc(thread, event, attr, sample, time, &out);
	else if (mt_field_get(&event->ptr, sample, &address))
		take_free(thread, event, address, &out);
	return out;
}
