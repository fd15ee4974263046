/* Parses a line of /proc/PID/maps. */
#ifndef MT_RECORD_PROC_MAP_LINE_H
#define MT_RECORD_PROC_MAP_LINE_H

#include <stdbool.h>

struct mt_map_record;

/*
 * Parses "start-end perms offset major:minor inode   path", without a newline: sets all of map but
 * pid and the times. The path is unescaped in place and borrows the line. False if the line does
 * not have that form.
 */
bool mt_map_line_get(char *line, struct mt_map_record *map);

#endif
