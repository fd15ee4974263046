#!/bin/bash
# A program that runs from a memfd (by fexecve, as container runtimes run themselves) is unwound and named like one from a file, also
# with mtrec --strip. Code that a process itself puts into a memfd belongs to no image.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
[ "$(uname -m)" = x86_64 ] || skip_all 'made for x86-64'
needs_compiler
cd "$TMPDIR" || exit 1
cat >touch.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
/* push %rbp; mov %rsp, %rbp; movb $1, (%rdi); pop %rbp; ret */
static const unsigned char store[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x5d, 0xc3};
__attribute__((noinline)) int grow(char *p, int pages)
{
	for (int i = 0; i < pages; i++)
		p[4096L * i] = 1;
	return p[0];
}
int main(void)
{
	char *p = mmap(NULL, 4096 * 200, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = memfd_create("made", 0);
	void (*made)(char *);

	madvise(p, 4096 * 200, MADV_NOHUGEPAGE);
	if (pwrite(fd, store, sizeof(store), 0) != sizeof(store))
		return 1;
	made = (void (*)(char *))mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	for (int i = 100; i < 200; i++)
		made(p + 4096L * i);
	grow(p, 100);
	return (int)read(0, &fd, 1); /* stays: nobody can read what it was once it is gone */
}
END
cat >run.c <<'END'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv, char **env)
{
	int fd = memfd_create("code", MFD_CLOEXEC), from = open(argv[argc - 1], O_RDONLY);
	char bytes[4096];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)n) != n)
			return 1;
	fexecve(fd, argv, env);
	return 1;
}
END
for program in touch run; do
	# shellcheck disable=SC2086
	${CC:-cc} -D_GNU_SOURCE -O1 -Wl,--build-id -o "$program" "$program.c" 2>why || {
		cat why
		exit 1
	}
done
mkfifo go
named=';__libc_start_main;.*;main;grow 100$'
for way in '' --strip; do
	rm -f touch.mtr
	# shellcheck disable=SC2086
	"$mtrec" $way -q -e page-faults -o touch.mtr -- ./run ./touch <go &
	exec 9>go
	# the part that is recorded so far can be read at any time
	for ((i = 0; i < 200; i++)); do
		"$MT_BUILD/mtreport" -q --folded touch.mtr >folded 2>/dev/null
		grep -q "$named" folded && break
		sleep 0.1
	done
	exec 9>&-
	wait $!
	is "a program in a memfd is recorded${way:+ with $way}" $? 0
	"$MT_BUILD/mtreport" -q --folded touch.mtr >folded
	says '... its functions have names, and stacks lead through them' "$named" folded
	says '... and lead out of code that it made' ';main;\[memfd:made \(deleted\)\] 100$' folded
done
finish
