/*
 * A program run one instruction at a time, its true call chain kept by watching calls and returns.
 * No CFI and no disassembler has a part in it. For the tools of this folder.
 *
 * An entry of the chain lives at the stack slot of its return address and goes when the stack
 * pointer rises past it, by return, longjmp or sigreturn alike. Programs that switch stacks to
 * lower addresses than they came from are as good, others are not.
 */
#ifndef MT_TESTS_ORACLE_STEPPER_H
#define MT_TESTS_ORACLE_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct mt_image_map;
struct mt_image_set;

enum {
	STEPPER_DEPTH_MAX = 512,
	STEPPER_CODE = 16,
};

struct stepper_entry {
	uint64_t slot; /* where the return address stands */
	uint64_t pc;
};

struct mt_unwind_regs;

struct stepper {
	pid_t pid;
	int status; /* of the last wait */
	struct user_regs_struct regs;
	struct stepper_entry chain[STEPPER_DEPTH_MAX];
	size_t depth;
	bool remap;    /* the mappings may have changed */
	uint64_t held; /* the stack pointer above a return address that was popped into a register,
			  or 0 */
	/* the last step: where it began, the bytes there, and whether a signal was delivered
	 * instead
	 */
	struct user_regs_struct before;
	uint8_t code[STEPPER_CODE];
	bool signalled;
	struct mt_image_set *images;
	struct mt_image_map *map; /* as of the last stepper_read_mappings() */
};

/* Says so on standard error, with errno, and ends the tool with status 2. */
void stepper_die(const char *what) __attribute__((noreturn));

/* Starts the program, stopped at its first instruction. */
void stepper_init(struct stepper *stepper, char **argv);
void stepper_deinit(struct stepper *stepper);

/*
 * Lets it run to its own int3 instruction: the chain begins there. False where it has none.
 */
bool stepper_run_to_trap(struct stepper *stepper);

/* One instruction on; false when the program has ended, with its wait status in status. */
bool stepper_step(struct stepper *stepper);

/* The registers as the unwinder takes them. */
void stepper_get_regs(const struct stepper *stepper, struct mt_unwind_regs *out);

/* The stack, up to so many bytes of it, page by page as the kernel dumps it; gives how many. */
size_t stepper_read_dump(const struct stepper *stepper, uint8_t *dump, size_t size);

/* What is mapped now, from /proc. */
void stepper_read_mappings(struct stepper *stepper);

/* Gives how many bytes could be read. */
size_t stepper_read_memory(const struct stepper *stepper, uint64_t address, void *to, size_t size);

#endif
