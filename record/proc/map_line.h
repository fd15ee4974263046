/* Parses a line of /proc/PID/maps. */
#ifndef MT_RECORD_PROC_MAP_LINE_H
#define MT_RECORD_PROC_MAP_LINE_H

#include <stdbool.h>

struct mt_map_record;

/*
 * Parses "start-end perms offset major:minor inode   path", without a newline. Sets all of map
 * except pid and the times. Unescapes the path in place; map borrows it from the line. Returns
 * false if the line does not have that form.
 */
bool mt_map_line_get(char *line, struct mt_map_record *map);

#endif
