/*
 * Source text for the page: the lines that places are at, with those around them, as far as this
 * host has the files.
 */
#ifndef MT_REPORT_OUTPUTS_HTML_PAGE_SOURCES_H
#define MT_REPORT_OUTPUTS_HTML_PAGE_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct mt_page_data;
struct mt_places;
struct mt_source_paths;

/*
 * Writes columns "source_file" (ids of texts), "source_line" and "source_text", and members
 * "source_changed" (the ids of files that changed after the recording) and "source_left" (how many
 * lines had no room). False out of memory.
 */
bool mt_page_sources_write(const struct mt_places *places, const struct mt_source_paths *paths,
			   uint64_t recorded, struct mt_page_data *data);

#endif
