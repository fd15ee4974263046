/* Nobody but the stepper writes samples: they are whole once `produced` is past them. */
#include "tests/oracle/feeding.h"

#include <asm/perf_regs.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/records/sample.h"
#include "tests/oracle/branch_feed.h"
#include "tests/oracle/stepper.h"
#include "unwind/unwind.h"

struct feeding {
	struct branch_feed *feed;
};

struct feeding *feeding_begin(const char *path, const struct stepper *stepper)
{
	struct feeding *feeding = calloc(1, sizeof(*feeding));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (!feeding || fd < 0 || ftruncate(fd, BRANCH_FEED_SIZE)) {
		free(feeding);
		return NULL;
	}
	feeding->feed = mmap(NULL, BRANCH_FEED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (feeding->feed == MAP_FAILED) {
		free(feeding);
		return NULL;
	}
	printf("%d\n", stepper->pid);
	fflush(stdout);
	while (!atomic_load(&feeding->feed->recording))
		usleep(1000);
	return feeding;
}

static void put_registers(const struct user_regs_struct *regs, uint64_t *out)
{
	out[PERF_REG_X86_AX] = regs->rax;
	out[PERF_REG_X86_BX] = regs->rbx;
	out[PERF_REG_X86_CX] = regs->rcx;
	out[PERF_REG_X86_DX] = regs->rdx;
	out[PERF_REG_X86_SI] = regs->rsi;
	out[PERF_REG_X86_DI] = regs->rdi;
	out[PERF_REG_X86_BP] = regs->rbp;
	out[PERF_REG_X86_SP] = regs->rsp;
	out[PERF_REG_X86_IP] = regs->rip;
	out[PERF_REG_X86_FLAGS] = regs->eflags;
	out[PERF_REG_X86_R8] = regs->r8;
	out[PERF_REG_X86_R9] = regs->r9;
	out[PERF_REG_X86_R10] = regs->r10;
	out[PERF_REG_X86_R11] = regs->r11;
	out[PERF_REG_X86_R12] = regs->r12;
	out[PERF_REG_X86_R13] = regs->r13;
	out[PERF_REG_X86_R14] = regs->r14;
	out[PERF_REG_X86_R15] = regs->r15;
}

void feeding_sample(struct feeding *feeding, const struct stepper *stepper,
		    const struct mt_unwind_input *input, uint64_t index)
{
	struct branch_feed *feed = feeding->feed;
	uint64_t at = atomic_load(&feed->produced);
	size_t branches = input->branch_count * sizeof(*input->branches);
	struct branch_feed_sample sample = {
		.size = sizeof(sample) + branches + input->dump_size,
		.pid = (uint32_t)stepper->pid,
		.branch_count = (uint32_t)input->branch_count,
		.ip = input->ip,
		.index = index,
		.dump_size = input->dump_size,
	};

	if (sample.size > BRANCH_FEED_SIZE - sizeof(*feed) - at || sample.size % 8)
		stepper_die("the feed");
	put_registers(&stepper->regs, sample.registers);
	memcpy(feed->samples + at, &sample, sizeof(sample));
	if (branches)
		memcpy(feed->samples + at + sizeof(sample), input->branches, branches);
	if (input->dump_size)
		memcpy(feed->samples + at + sizeof(sample) + branches, input->dump,
		       input->dump_size);
	atomic_store(&feed->produced, at + sample.size);
	while (atomic_load(&feed->consumed) <= at)
		usleep(100);
}
