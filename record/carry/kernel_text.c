/* Reads the whole text and moves the lines of functions to its front. */
#include "record/carry/kernel_text.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "record/proc/procfs.h"
#include "symbols/names/kernel_lines.h"

const struct mt_kernel_files mt_kernel_files = {"/proc/kallsyms", "/proc/modules"};

void mt_kernel_text_deinit(struct mt_kernel_text *text)
{
	free(text->lines);
	free(text->modules);
	*text = (struct mt_kernel_text){0};
}

/*
 * True if the lines were read with the modules that are loaded now. A kernel without modules has no
 * such file.
 */
static bool is_current(const struct mt_kernel_text *text, const char *modules)
{
	return text->lines && (modules && text->modules ? !strcmp(modules, text->modules)
							: !modules && !text->modules);
}

bool mt_kernel_text_update(struct mt_kernel_text *text, const struct mt_kernel_files *files)
{
	MT_CLEANUP_FREE char *modules = mt_read_text(files->modules, NULL);
	char *lines, *exact;
	size_t size;

	if (is_current(text, modules))
		return true;
	lines = mt_read_text(files->symbols, &size);
	if (!lines)
		return false;
	size = mt_kernel_lines_functions(lines, size);
	exact = realloc(lines, size + 1);
	mt_kernel_text_deinit(text);
	*text = (struct mt_kernel_text){exact ? exact : lines, size, MT_TAKE(modules)};
	return true;
}
