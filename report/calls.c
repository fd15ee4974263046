/* Which system call a sample of raw_syscalls:* is of. */
#include "report/calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/sample.h"

#define FILTER "/id == "
#define NUMBER_AT 8 /* in both formats: u64 id behind the common fields */
#define ABI_32 1

int64_t mt_call_number(const char *name)
{
	const char *filter = strstr(name, FILTER);
	char *end;
	long number;

	if (strncmp(name, "raw_syscalls:", 13) || !filter)
		return -1;
	number = strtol(filter + strlen(FILTER), &end, 10);
	return *end == '/' && end > filter + strlen(FILTER) && number >= 0 ? number : -1;
}

bool mt_call_is(const struct mt_sample *sample, int64_t number)
{
	return sample->raw_size >= NUMBER_AT + 8 && sample->user_abi != ABI_32 &&
	       (int64_t)mt_get_le64(sample->raw + NUMBER_AT) == number;
}
