/*
 * Faults in pages that cut stack dumps. If the kernel ended a dump at a page that was never
 * touched, one byte of that page is read with process_vm_readv(2), unless it is a page of a file.
 * That faults the page in without changing its contents, and later dumps pass through it. A dump
 * that ends where the stack's mapping ends has no hole.
 *
 * A thread handles each hole once, at a limited number per second.
 */
#ifndef MT_RECORD_RINGS_PREFAULT_H
#define MT_RECORD_RINGS_PREFAULT_H

#include <stdint.h>

struct mt_error;
struct mt_prefault;

struct mt_prefault_counts {
	uint64_t faulted_in; /* pages faulted in */
	uint64_t ends;	     /* dumps that ended where the stack ends */
	uint64_t refused;    /* not permitted, page of a file, or process gone */
	uint64_t put_off;    /* holes beyond the limit per second */
};

/* Starts the thread. */
struct mt_error *mt_prefault_create(struct mt_prefault **out);

/* Ends the thread. A thread that hangs in a page of FUSE is abandoned until the process exits. */
void mt_prefault_destroy(struct mt_prefault *prefault);

/*
 * Reports that a dump of a thread of this process ended at that address although more was
 * requested. Callable from any thread; never waits.
 */
void mt_prefault_request(struct mt_prefault *prefault, uint32_t pid, uint64_t address);

/* The counts so far. */
struct mt_prefault_counts mt_prefault_counts(const struct mt_prefault *prefault);

/* How the mappings cover an address and the byte before it. */
enum mt_prefault_answer {
	MT_PREFAULT_UNKNOWN,   /* unknown; errno says why */
	MT_PREFAULT_ENDS,      /* no mapping covers both */
	MT_PREFAULT_CONTINUES, /* one mapping covers both */
	MT_PREFAULT_FILE,      /* a mapping of a file covers both */
};

/* Gets the answer from the text of /proc/PID/maps; never MT_PREFAULT_UNKNOWN. */
enum mt_prefault_answer mt_prefault_continues(const char *maps, uint64_t address);

/*
 * Gets the answer from the ioctl PROCMAP_QUERY on an open /proc/PID/maps; MT_PREFAULT_UNKNOWN with
 * errno ENOTTY before Linux 6.11.
 */
enum mt_prefault_answer mt_prefault_ask(int maps, uint64_t address);

#endif
