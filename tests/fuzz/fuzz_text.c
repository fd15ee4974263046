/*
 * Folded stacks from any bytes. Reading must end, stay inside its memory, and name frames inside
 * the text. The first byte selects the format: one count per line, two counts per line, or the
 * output of perf script, which is refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/base/err.h"
#include "formats/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int sum; /* of all bytes seen: the sanitizer reports bad ranges */

static void touch(struct mt_text text)
{
	for (size_t i = 0; i < text.size; i++)
		sum += (uint8_t)text.bytes[i];
}

static void touch_record(const struct mt_record *record)
{
	touch((struct mt_text){(const char *)record->body, record->size});
	for (size_t i = 0; record->reported && i < record->reported->count; i++) {
		if (!record->reported->frames[i].name.size)
			__builtin_trap();
		touch(record->reported->frames[i].name);
		touch(record->reported->frames[i].dso);
	}
}

static void read_file(int fd)
{
	struct mt_reader *reader = NULL;
	struct mt_record record;
	struct mt_error *err;
	char path[64];
	bool more = true;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = mt_reader_open(path, NULL, &reader);
	err = err ? err : mt_reader_rewind(reader, 0);
	while (!err && more) {
		err = mt_reader_next(reader, &record, &more);
		if (!err && more)
			touch_record(&record);
	}
	mt_reader_destroy(reader);
	mt_error_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const begin[] = {"", "a;b 1\n", "a;b 1 2\n",
					    "a 1 [000] 1.5: 1 b:\n\t1 c (d)\n"};
	const char *first = begin[size ? *data % 4 : 0];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, first, strlen(first)) == (ssize_t)strlen(first) &&
	    (size < 2 || write(fd, data + 1, size - 1) == (ssize_t)size - 1))
		read_file(fd);
	if (fd >= 0)
		close(fd);
	return 0;
}
