/* Runs a program instruction by instruction under ptrace. */
#include "tests/oracle/stepper.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "unwind/unwind.h"

#define INSTRUCTION_MAX 15

void stepper_die(const char *what)
{
	fprintf(stderr, "stepper: %s: %s\n", what, strerror(errno));
	exit(2);
}

size_t stepper_read_memory(const struct stepper *t, uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)address, .iov_len = size};
	ssize_t n = process_vm_readv(t->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static void add_mapping(struct stepper *t, const char *line)
{
	struct mt_mapping m = {0};
	struct mt_image_identity identity = {.path = "//anon"};
	char prot[5], path[512] = "";
	unsigned long inode;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %511[^\n]", &m.start, &m.end, prot, &m.offset,
		   &identity.device_major, &identity.device_minor, &inode, path) < 7)
		return;
	identity.inode = inode;
	if (path[0])
		identity.path = path;
	m.prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
		 (prot[2] == 'x' ? PROT_EXEC : 0);
	m.image = mt_image_set_intern(t->images, &identity);
	if (!m.image || !mt_image_map_insert(t->map, &m))
		stepper_die("mappings");
}

void stepper_read_mappings(struct stepper *t)
{
	char name[64], line[1024];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", t->pid);
	f = fopen(name, "re");
	if (!f)
		return;
	mt_image_map_clear(t->map);
	while (fgets(line, sizeof(line), f))
		add_mapping(t, line);
	fclose(f);
	t->remap = false;
}

static void push(struct stepper *t, uint64_t slot, uint64_t pc)
{
	if (t->depth == STEPPER_DEPTH_MAX) {
		errno = E2BIG;
		stepper_die("call chain");
	}
	t->chain[t->depth++] = (struct stepper_entry){.slot = slot, .pc = pc};
}

static void pop_to(struct stepper *t, uint64_t sp)
{
	while (t->depth && t->chain[t->depth - 1].slot < sp)
		t->depth--;
}

/* True for prefixes followed by e8 or ff /2. */
static bool is_call(const uint8_t *code)
{
	while (*code == 0x66 || *code == 0x67 || *code == 0xf2 || *code == 0xf3 || *code == 0x2e ||
	       *code == 0x3e || (*code & 0xf0) == 0x40)
		code++;
	return code[0] == 0xe8 || (code[0] == 0xff && (code[1] >> 3 & 7) == 2);
}

static bool is_syscall(const uint8_t *code)
{
	return code[0] == 0x0f && code[1] == 0x05;
}

/* Enters a handler: pushes the interrupted frame, and then the handler's return address. */
static void enter_handler(struct stepper *t, const struct user_regs_struct *before)
{
	uint64_t restorer;

	if (t->regs.rip == before->rip || stepper_read_memory(t, t->regs.rsp, &restorer, 8) != 8)
		return;
	push(t, before->rsp - 8, before->rip);
	push(t, t->regs.rsp, restorer);
}

/*
 * True after `pop %reg` of a return address: the program may push it again, so the entry stays
 * until the stack pointer changes.
 */
static bool holds(struct stepper *t, const uint8_t *code)
{
	if (*code == 0x41)
		code++;
	if ((*code & 0xf8) == 0x58 && t->depth && t->chain[t->depth - 1].slot + 8 == t->regs.rsp)
		t->held = t->regs.rsp;
	else if (t->regs.rsp != t->held)
		t->held = 0;
	return t->held;
}

static void follow(struct stepper *t, const struct user_regs_struct *before, const uint8_t *code)
{
	uint64_t pc;

	if (!holds(t, code))
		pop_to(t, t->regs.rsp);
	if (t->regs.rsp == before->rsp - 8 && is_call(code) &&
	    stepper_read_memory(t, t->regs.rsp, &pc, 8) == 8 &&
	    pc - before->rip <= INSTRUCTION_MAX &&
	    pc != t->regs.rip) /* a call of the next instruction does not count */
		push(t, t->regs.rsp, pc);
	t->remap |= is_syscall(code);
}

bool stepper_step(struct stepper *t)
{
	int sig = 0;

	t->before = t->regs;
	memset(t->code, 0, sizeof(t->code));
	stepper_read_memory(t, t->before.rip, t->code, sizeof(t->code));
	if (WIFSTOPPED(t->status) && WSTOPSIG(t->status) != SIGTRAP)
		sig = WSTOPSIG(t->status);
	if (ptrace(PTRACE_SINGLESTEP, t->pid, NULL, (void *)(long)sig) ||
	    waitpid(t->pid, &t->status, 0) != t->pid || !WIFSTOPPED(t->status) ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		return false;
	t->signalled = sig;
	if (sig)
		enter_handler(t, &t->before);
	else
		follow(t, &t->before, t->code);
	return true;
}

/* Tracer and tracee alternate: on one CPU the program takes little more than half the time. */
static void stay_on_this_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : (size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t start(char **argv)
{
	pid_t pid;

	stay_on_this_cpu();
	pid = fork();

	if (pid < 0)
		stepper_die("fork");
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[0], argv);
		stepper_die(argv[0]);
	}
	return pid;
}

void stepper_init(struct stepper *t, char **argv)
{
	*t = (struct stepper){.remap = true};
	t->images = mt_image_set_create();
	t->map = mt_image_map_create();
	if (!t->images || !t->map ||
	    !mt_image_set_add_source(t->images, &mt_image_source_local, NULL))
		stepper_die("start");
	t->pid = start(argv);
	if (waitpid(t->pid, &t->status, 0) != t->pid || !WIFSTOPPED(t->status) ||
	    ptrace(PTRACE_SETOPTIONS, t->pid, NULL, (void *)PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		stepper_die(argv[0]);
}

bool stepper_run_to_trap(struct stepper *t)
{
	if (ptrace(PTRACE_CONT, t->pid, NULL, NULL) || waitpid(t->pid, &t->status, 0) != t->pid ||
	    !WIFSTOPPED(t->status) || WSTOPSIG(t->status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs))
		return false;
	t->remap = true;
	return true;
}

void stepper_deinit(struct stepper *t)
{
	mt_image_map_destroy(t->map);
	mt_image_set_destroy(t->images);
}

size_t stepper_read_dump(const struct stepper *stepper, uint8_t *dump, size_t size)
{
	struct iovec local = {.iov_base = dump, .iov_len = size}, remote[size / 4096 + 2];
	uint64_t address = stepper->regs.rsp, end = address + size;
	size_t n = 0;
	ssize_t got;

	while (address < end) {
		uint64_t next = (address | 4095) + 1;

		if (next > end)
			next = end;
		remote[n++] =
			(struct iovec){.iov_base = (void *)address, .iov_len = next - address};
		address = next;
	}
	got = process_vm_readv(stepper->pid, &local, 1, remote, n, 0);
	return got > 0 ? (size_t)got & ~(size_t)7 : 0;
}

void stepper_get_regs(const struct stepper *stepper, struct mt_unwind_regs *out)
{
	const struct user_regs_struct *r = &stepper->regs;
	const uint64_t values[MT_UNWIND_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
						 r->rbp, r->rsp, r->r8,	 r->r9,	 r->r10, r->r11,
						 r->r12, r->r13, r->r14, r->r15, r->rip};

	memcpy(out->value, values, sizeof(values));
	out->valid = (1u << MT_UNWIND_REGS) - 1;
}
