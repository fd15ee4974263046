/* Parses lines of /proc/PID/maps, which are hostile input: paths are arbitrary bytes. */
#include "record/proc/map_line.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/records/record.h"

/* Unescapes a newline in place. /proc/PID/maps writes it as \012 and escapes nothing else. */
static size_t unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = !strncmp(from, "\\012", 4);

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
	return (size_t)(to - path);
}

bool mt_map_line_get(char *line, struct mt_map_record *map)
{
	char perms[5];
	unsigned long long start, end, offset, inode;
	unsigned major, minor;
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms, &offset, &major,
		   &minor, &inode, &path_at) < 7 ||
	    strlen(perms) != 4)
		return false;
	map->start = start;
	map->end = end;
	map->offset = offset;
	map->major = major;
	map->minor = minor;
	map->inode = inode;
	map->prot = (perms[0] == 'r' ? PROT_READ : 0u) | (perms[1] == 'w' ? PROT_WRITE : 0u) |
		    (perms[2] == 'x' ? PROT_EXEC : 0u);
	map->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	map->path = (struct mt_text){.bytes = line + path_at, .size = unescape(line + path_at)};
	return true;
}
