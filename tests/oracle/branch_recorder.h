/*
 * What hardware in call-stack mode would record of a stepped program: the calls still open, as many
 * as it has registers. Instructions are classified by their opcode bytes alone: no disassembler has
 * a part in it.
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
	size_t depth;				      /* records kept */
	struct mt_branch records[RECORDER_DEPTH_MAX]; /* newest first */
	/* the return address of each call and where it was put */
	struct stepper_entry calls[RECORDER_DEPTH_MAX];
	size_t count;
};

/* Takes in what the stepper's last step did. */
void branch_recorder_follow(struct branch_recorder *recorder, const struct stepper *stepper);

#endif
