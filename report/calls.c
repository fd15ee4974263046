/* Which system call a sample of raw_syscalls:* is of. */
#include "report/calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/attr.h"
#include "formats/base/bytes.h"
#include "formats/sample.h"

#define FILTER "id == "
#define NUMBER_AT 8 /* in both formats: u64 id behind the common fields */
#define ABI_32 1

int64_t mt_call_number(const char *name)
{
	const char *filter = strchr(name, '/');
	bool more = filter && filter[1] == '('; /* && what the user filters by */
	const char *digits = filter ? filter + 1 + more + strlen(FILTER) : NULL;
	char *end;
	long number;

	if (!filter || strncmp(name, "raw_syscalls:", 13) ||
	    strncmp(filter + 1 + more, FILTER, strlen(FILTER)))
		return -1;
	number = strtol(digits, &end, 10);
	return *end == (more ? ')' : '/') && end > digits && number >= 0 ? number : -1;
}

bool mt_call_is(const struct mt_sample *sample, int64_t number)
{
	return sample->raw_size >= NUMBER_AT + 8 && sample->user_abi != ABI_32 &&
	       (int64_t)mt_get_le64(sample->raw + NUMBER_AT) == number;
}

/* ---- What a call was, and what became of it ---- */

#define VALUES_AT 16 /* behind the number: the result, or the arguments, 8 bytes each */

static const struct {
	const char *name;
	enum mt_call_number number;
} known[] = {
	{"mmap", MT_CALL_MMAP},
	{"munmap", MT_CALL_MUNMAP},
	{"brk", MT_CALL_BRK},
	{"mremap", MT_CALL_MREMAP},
};

/* Behind "syscalls:" or "raw_syscalls:": "sys_exit_brk", "sys_exit/..."; NULL for others. */
static const char *point_of(const char *event, bool *raw)
{
	*raw = !strncmp(event, "raw_", 4);
	event += *raw ? 4 : 0;
	return strncmp(event, "syscalls:sys_e", 14) ? NULL : event + 9;
}

/* The number that the event's name says; -1: it is in the sample. */
static int64_t number_of(const char *event, const char *point, bool raw)
{
	const char *call = strchr(point + 4, '_');

	if (raw)
		return mt_call_number(event);
	for (size_t i = 0; call && i < sizeof(known) / sizeof(*known); i++) {
		if (!strcmp(call + 1, known[i].name))
			return known[i].number;
	}
	return -1;
}

bool mt_call_event_is(const char *event, enum mt_call_number number)
{
	bool raw;
	const char *point = point_of(event, &raw);
	int64_t said = point ? number_of(event, point, raw) : -1;

	return point && (said == (int64_t)number || (raw && said < 0));
}

/* The arguments as the registers still have them; false where those were not recorded. */
static bool read_registers(const struct mt_attr *attr, const struct mt_sample *sample,
			   struct mt_call *out)
{
	/* rdi, rsi, rdx, r10, r8, r9 as perf numbers registers */
	static const uint8_t registers[MT_CALL_ARGUMENTS] = {5, 4, 3, 18, 16, 17};
	uint64_t mask = attr->sample_regs_user;

	if (!sample->user_regs || sample->user_abi != 2)
		return false;
	for (int i = 0; i < MT_CALL_ARGUMENTS; i++) {
		uint64_t bit = 1ull << registers[i];

		if (!(mask & bit))
			return false;
		out->arguments[i] = sample->user_regs[__builtin_popcountll(mask & (bit - 1))];
	}
	return true;
}

/* The arguments that an enter record has; those behind its end are 0. */
static void read_arguments(const struct mt_sample *sample, struct mt_call *out)
{
	for (size_t i = 0; i < MT_CALL_ARGUMENTS; i++) {
		size_t at = VALUES_AT + 8 * i;

		if (sample->raw_size >= at + 8)
			out->arguments[i] = mt_get_le64(sample->raw + at);
	}
}

bool mt_call_decode(const char *event, const struct mt_attr *attr, const struct mt_sample *sample,
		    struct mt_call *out)
{
	struct mt_call call = {0};
	bool raw;
	const char *point = point_of(event, &raw);

	if (!point || sample->raw_size < VALUES_AT + 8 || sample->user_abi == ABI_32)
		return false;
	call.number = number_of(event, point, raw);
	if (raw && call.number < 0)
		call.number = (int64_t)mt_get_le64(sample->raw + NUMBER_AT);
	call.exit = !strncmp(point, "sys_exit", 8);
	if (call.exit) {
		call.result = (int64_t)mt_get_le64(sample->raw + VALUES_AT);
		call.have_arguments = read_registers(attr, sample, &call);
	} else {
		read_arguments(sample, &call);
		call.have_arguments = true;
	}
	*out = call;
	return true;
}
