/*
 * What hardware would record of a stepped program's branches: a stack of records of some depth,
 * filtered, in call-stack mode or not. Instructions are told by their opcode bytes alone: no
 * disassembler has a part in it.
 */
#ifndef MT_TESTS_ORACLE_BRANCH_RECORDER_H
#define MT_TESTS_ORACLE_BRANCH_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records/sample.h"
#include "tests/oracle/stepper.h"

enum {
	RECORDER_DEPTH_MAX = 64,
};

struct branch_recorder {
	uint64_t type;				      /* PERF_SAMPLE_BRANCH_*: the filter */
	size_t depth;				      /* records kept */
	struct mt_branch records[RECORDER_DEPTH_MAX]; /* newest first */
	/* of calls in call-stack mode: the return address and where it was put */
	struct stepper_entry calls[RECORDER_DEPTH_MAX];
	size_t count;
	size_t index; /* of the register that the newest record is in, as
			 PERF_SAMPLE_BRANCH_HW_INDEX */
};

/* -j's words, "any,u" or "call_stack,u"; false for one that is none. */
bool branch_recorder_parse(const char *words, uint64_t *type);

/* Takes in what the stepper's last step did. */
void branch_recorder_follow(struct branch_recorder *recorder, const struct stepper *stepper);

#endif
