/* Identifies the running kernel by release, build id and load address. */
#include "report/names/host_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "formats/base/cleanup.h"
#include "formats/base/cursor.h"

#define NOTES "/sys/kernel/notes"
#define KALLSYMS "/proc/kallsyms"

enum {
	NOTES_MAX = 16384,
	NOTE_BUILD_ID = 3, /* NT_GNU_BUILD_ID */
};

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* The build id among the notes, or NULL. */
static const uint8_t *find_build_id(const uint8_t *notes, size_t size, size_t *length)
{
	struct mt_cursor c = mt_cursor_init(notes, size);

	while (mt_cursor_left(&c)) {
		uint32_t name_size = mt_cursor_u32(&c), type;
		const uint8_t *name, *id;

		*length = mt_cursor_u32(&c);
		type = mt_cursor_u32(&c);
		name = mt_cursor_bytes(&c, align4(name_size));
		id = mt_cursor_bytes(&c, align4(*length));
		if (c.bad)
			break;
		if (type == NOTE_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4))
			return id;
	}
	return NULL;
}

static bool same_build_id(const char *hex)
{
	MT_CLEANUP_FCLOSE FILE *file = fopen(NOTES, "re");
	uint8_t notes[NOTES_MAX];
	size_t size = file ? fread(notes, 1, sizeof(notes), file) : 0, length = 0;
	const uint8_t *id = find_build_id(notes, size, &length);

	if (!id || strlen(hex) != 2 * length)
		return false;
	for (size_t i = 0; i < length; i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", id[i]);
		if (memcmp(byte, hex + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

/* True if /proc/kallsyms ("address type name") has the symbol ("name address"). */
static bool same_place(const char *symbol)
{
	MT_CLEANUP_FCLOSE FILE *file = fopen(KALLSYMS, "re");
	const char *blank = strchr(symbol, ' ');
	unsigned long long wanted = blank ? strtoull(blank + 1, NULL, 16) : 0, address;
	char line[512], name[256];

	while (file && wanted && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %255s", &address, name) == 2 &&
		    !strncmp(name, symbol, (size_t)(blank - symbol)) && !name[blank - symbol])
			return address == wanted;
	}
	return false;
}

bool mt_host_kernel_is(const char *release, const char *build_id, const char *symbol)
{
	struct utsname host;

	if (!release || !symbol || uname(&host) || strcmp(host.release, release) != 0)
		return false;
	return (!build_id || same_build_id(build_id)) && same_place(symbol);
}
