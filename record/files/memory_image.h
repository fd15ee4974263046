/* Rebuilds a file that cannot be opened any more from the memory of a process that maps it. */
#ifndef MT_RECORD_FILES_MEMORY_IMAGE_H
#define MT_RECORD_FILES_MEMORY_IMAGE_H

struct mt_mapped_file;
struct stat;

/*
 * A memfd with the loaded pieces of the file at their file offsets: headers, unwind tables and
 * exported names, but no section headers. -1 if the process is gone, its memory may not be read, or
 * the pieces are no ELF file.
 */
int mt_memory_image(const struct mt_mapped_file *file, struct stat *status);

#endif
