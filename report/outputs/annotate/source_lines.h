/* The source lines of places, with the lines around them, as far as this host has the files. */
#ifndef MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_LINES_H
#define MT_REPORT_OUTPUTS_ANNOTATE_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "formats/base/array.h"

struct mt_places;
struct mt_source_paths;

struct mt_source_line {
	uint32_t file, line; /* a text of the places; 1 is the first */
	char *text;	     /* UTF-8, without tabs */
};

struct mt_source_lines {
	MT_ARRAY(struct mt_source_line) lines; /* by file and line */
	MT_ARRAY(uint32_t) changed;	       /* files written after the recording */
	size_t left;			       /* places whose lines had no room */
	size_t used;			       /* bytes of all texts */
};

/* recorded: ns since 1970, or 0. Zeroed before. */
void mt_source_lines_read(struct mt_source_lines *lines, const struct mt_places *places,
			  const struct mt_source_paths *paths, uint64_t recorded);
void mt_source_lines_deinit(struct mt_source_lines *lines);

#endif
