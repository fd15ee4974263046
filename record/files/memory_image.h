/* A file that nothing leads to any more, put together from the memory of a process that maps it. */
#ifndef MT_RECORD_FILES_MEMORY_IMAGE_H
#define MT_RECORD_FILES_MEMORY_IMAGE_H

struct mt_mapped_file;
struct stat;

/*
 * What of the file is loaded, each piece where it stands in the file, as a file in memory: headers,
 * unwind tables and exported names, but no section headers. -1 where the process is gone or closed
 * to us, or the pieces make no ELF file.
 */
int mt_memory_image(const struct mt_mapped_file *file, struct stat *status);

#endif
