/* The status line during a recording, and the closing line. Pure. */
#ifndef MT_RECORD_CLI_CLOSING_LINE_H
#define MT_RECORD_CLI_CLOSING_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* The present contents of a recording. */
struct mt_progress {
	double seconds;
	uint64_t samples, lost;
	uint64_t raw_bytes; /* bytes of the kernel's records, mostly stacks */
	uint64_t written;   /* bytes of the file; 0: a pipe, or empty */
	uint64_t memory; /* resident bytes of the targets; of_host: available bytes; 0: unknown */
	bool of_host;
};

enum {
	MT_LINE_SIZE = 512,
};

/* "12 s, 60,412 samples, 0 lost, file 1.2 MB, resident 348.3 MB" */
void mt_status_line(const struct mt_progress *progress, char out[MT_LINE_SIZE]);

/* "12.63 s, 60,412 samples, stacks 12.5 GB -> file 113.0 MB, 0 lost"; the file's name follows. */
void mt_closing_line(const struct mt_progress *progress, char out[MT_LINE_SIZE]);

#endif
