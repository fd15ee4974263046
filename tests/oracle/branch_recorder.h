/*
 * Simulates call-stack mode of the hardware for a stepped program: the hardware records the open
 * calls, up to the number of its registers. Instructions are classified by their opcode bytes
 * alone, without a disassembler.
 */
#ifndef MT_TESTS_ORACLE_BRANCH_RECORDER_H
#define MT_TESTS_ORACLE_BRANCH_RECORDER_H

#include <stddef.h>

#include "formats/records/sample.h"
#include "tests/oracle/stepper.h"

enum {
	RECORDER_DEPTH_MAX = 64,
};

struct branch_recorder {
	size_t depth;				      /* number of records kept */
	struct mt_branch records[RECORDER_DEPTH_MAX]; /* newest first */
	/* for each record, the return address and its stack slot */
	struct stepper_entry calls[RECORDER_DEPTH_MAX];
	size_t count;
};

/* Updates the records for the stepper's last step. */
void branch_recorder_follow(struct branch_recorder *recorder, const struct stepper *stepper);

#endif
