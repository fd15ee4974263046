/* The stepper's end of a feed (branch_feed.h). */
#ifndef MT_TESTS_ORACLE_FEEDING_H
#define MT_TESTS_ORACLE_FEEDING_H

#include <stdint.h>

struct mt_unwind_input;
struct stepper;
struct feeding;

/*
 * Makes the file, says of which process in a line on standard output, and waits for the recorder;
 * NULL where the file cannot be made.
 */
struct feeding *feeding_begin(const char *path, const struct stepper *stepper);

/* A sample of now, which the recorder has then; index: of the newest branch's register. */
void feeding_sample(struct feeding *feeding, const struct stepper *stepper,
		    const struct mt_unwind_input *input, uint64_t index);

#endif
