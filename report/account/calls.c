/* Reads system call numbers from names and samples of raw_syscalls:*. */
#include "report/account/calls.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/bytes.h"
#include "formats/records/sample.h"

#define FILTER "id == "
#define NUMBER_AT 8 /* in both formats: u64 id after the common fields */
#define ABI_32 1

int64_t mt_call_number(const char *name)
{
	const char *filter = strchr(name, '/');
	bool more = filter && filter[1] == '('; /* && and the user's filter follow */
	const char *digits = filter ? filter + 1 + more + strlen(FILTER) : NULL;
	char *end;
	long number;

	if (!filter || strncmp(name, "raw_syscalls:", 13) ||
	    strncmp(filter + 1 + more, FILTER, strlen(FILTER)))
		return -1;
	number = strtol(digits, &end, 10);
	return *end == (more ? ')' : '/') && end > digits && number >= 0 ? number : -1;
}

int64_t mt_call_number_in(const struct mt_sample *sample)
{
	if (sample->raw_size < NUMBER_AT + 8 || sample->user_abi == ABI_32)
		return -1;
	return (int64_t)mt_get_le64(sample->raw + NUMBER_AT);
}
