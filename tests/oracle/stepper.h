/*
 * Runs a program one instruction at a time and keeps its true call chain by watching calls and
 * returns, without CFI and without a disassembler. For the tools of this folder.
 *
 * An entry of the chain lives at the stack slot of its return address. It is removed when the stack
 * pointer rises past the slot, by return, longjmp or sigreturn alike. Programs that switch stacks
 * are supported only if the new stack has lower addresses.
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
	uint64_t slot; /* stack slot of the return address */
	uint64_t pc;
};

struct mt_unwind_regs;

struct stepper {
	pid_t pid;
	int status; /* status of the last wait */
	struct user_regs_struct regs;
	struct stepper_entry chain[STEPPER_DEPTH_MAX];
	size_t depth;
	bool remap;    /* the mappings may have changed */
	uint64_t held; /* stack pointer after a return address was popped into a register,
			  or 0 */
	/*
	 * of the last step: the registers before it, its code, and whether a signal was delivered
	 * instead
	 */
	struct user_regs_struct before;
	uint8_t code[STEPPER_CODE];
	bool signalled;
	struct mt_image_set *images;
	struct mt_image_map *map; /* as of the last stepper_read_mappings() */
};

/* Prints `what` and errno to standard error, and exits with status 2. */
void stepper_die(const char *what) __attribute__((noreturn));

/* Starts the program and stops it at its first instruction. */
void stepper_init(struct stepper *stepper, char **argv);
void stepper_deinit(struct stepper *stepper);

/* Runs the program to its first int3, where the chain starts. False if it never gets there. */
bool stepper_run_to_trap(struct stepper *stepper);

/* Runs one instruction. False if the program has ended; `status` is then its wait status. */
bool stepper_step(struct stepper *stepper);

/* Gets the registers in the unwinder's form. */
void stepper_get_regs(const struct stepper *stepper, struct mt_unwind_regs *out);

/*
 * Reads at most `size` bytes of the stack, page by page as the kernel does; returns the number
 * read.
 */
size_t stepper_read_dump(const struct stepper *stepper, uint8_t *dump, size_t size);

/* Reads the current mappings from /proc. */
void stepper_read_mappings(struct stepper *stepper);

/* Returns the number of bytes read. */
size_t stepper_read_memory(const struct stepper *stepper, uint64_t address, void *to, size_t size);

#endif
