#!/bin/bash
# An unprivileged user tries to disturb root's mtrec -e malloc -a with files that his processes map: hundreds of allocators, symbols
# that are not functions, a file that is truncated while it is read, a FIFO and a link in place of a file.
# timeout: 180
# slow: the kernel takes a tenth of a second to take each probe off
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root 'defining probes'
needs_command setpriv
needs_command strace
if [ -z "${IN_OWN_MOUNTS:-}" ] && [ ! -e /sys/kernel/tracing/uprobe_events ]; then
	IN_OWN_MOUNTS=1 exec unshare -m --propagation private "$BASH" "$0"
fi
probes=/sys/kernel/tracing/uprobe_events
[ -e "$probes" ] || mount -t tracefs none /sys/kernel/tracing || skip_all 'no tracefs here'
[ -e "$probes" ] || skip_all "no uprobes here: no $probes"
needs_compiler
cd "$TMPDIR" || exit 1
chmod 755 . # the other user's processes run here
mkdir -m 777 theirs
as_other() {
	exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

cat >fake.c <<'C'
#include <stddef.h>
static char arena[1 << 16];
static size_t used;
void *malloc(size_t size) { used += (size + 15) & ~15ul; return arena + used % 32768; }
void free(void *block) { (void)block; }
C
cat >data.c <<'C'
__asm__(".data\n.globl malloc, free\n.type malloc,@function\n.type free,@function\n"
	"malloc: .skip 32\n.size malloc, 32\nfree: .skip 32\n.size free, 32\n.text\n");
C
cat >inside.c <<'C'
__asm__(".text\n.globl outer, malloc, free\n.type outer,@function\n.type malloc,@function\n.type free,@function\n"
	"outer: .cfi_startproc\n.byte 0x48\nmalloc: .byte 0xb8,1,2,3,4,5,6,7,8\nfree: ret\n.cfi_endproc\n.size outer, .-outer\n");
C
cat >maps.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) || mmap(0, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	puts("mapped");
	fflush(stdout);
	pause();
}
C
cat >cuts.c <<'C'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	static char bytes[16 << 20];
	int fd = open(argv[1], O_RDWR);
	ssize_t size = read(fd, bytes, sizeof(bytes));

	for (;;) {
		if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != size)
			return 1;
	}
}
C
{ # reading its symbols takes a while
	echo '#include "fake.c"'
	echo '__asm__(".text\n"'
	awk 'BEGIN { for (i = 0; i < 50000; i++) printf("\".globl s%d\\ns%d: nop\\n\"\n", i, i) }'
	echo ');'
} >cut.c
${CC:-cc} -O1 -fno-builtin -shared -fPIC -o cut.so cut.c || exit 1
${CC:-cc} -O1 -fno-builtin -shared -fPIC -o fake.so fake.c && ${CC:-cc} -w -fno-builtin -shared -fPIC -o data.so data.c &&
	${CC:-cc} -shared -fPIC -o inside.so inside.c && ${CC:-cc} -O1 -o maps maps.c &&
	${CC:-cc} -O1 -o cuts cuts.c || exit 1

# ours: prints the probes of this mtrec in tracefs.
ours() {
	grep -c ":mtrec_$1_" "$probes"
}

others=()
# map FILE...: starts a process of the other user that maps the files.
map() {
	as_other ./maps "$@" >mapped &
	others+=($!)
	until_true grep -q mapped mapped
}

unmap() {
	for pid in "${others[@]}"; do
		kill "$pid"
		wait "$pid"
	done 2>/dev/null
	others=()
}

now_ms() {
	date +%s%3N
}

# --- Symbols that are not functions ---
cp data.so inside.so theirs
map theirs/data.so theirs/inside.so
expect 0 'malloc in data, or inside a function, refuses nobody else' "$mtrec" -e malloc --malloc-sample 64 -a -o no.mtr -- sleep 0.3
says '... and the file is named' 'left out: .*theirs/(data|inside).so.*' 
says '... and the C library is recorded' 'functions of .*libc'
unmap

# --- A file that is truncated while its symbols are read ---
cp cut.so theirs/cut.so
chown 65534 theirs/cut.so
map theirs/cut.so
as_other ./cuts theirs/cut.so &
others+=($!)
for turn in 1 2 3 4; do
	"$mtrec" -q -e malloc --malloc-sample 64 -a -o cut.mtr -- sleep 0.1 >"$out" 2>"$err"
	status=$?
	check "a file that is truncated all the time, time $turn: it records, or says why not" test $status -eq 0 -o $status -eq 125
done
unmap

# --- Hundreds of allocators ---
for i in $(seq 500); do cp fake.so "theirs/fake$i.so"; done
for i in 0 1 2 3 4 5 6 7 8 9; do
	map $(seq -f "theirs/fake%g.so" $((i * 50 + 1)) $((i * 50 + 50)))
done
# The best of three: other programs may hold the CPUs for a moment.
best=100000
for turn in 1 2 3; do
	rm -f many.mtr
	began=$(now_ms)
	"$mtrec" -e malloc --malloc-sample 64 -a -o many.mtr 2>said &
	recorder=$!
	until_recording $recorder many.mtr
	took=$(($(now_ms) - began))
	count=$(ours $recorder)
	sleep 0.5
	began=$(now_ms)
	kill -TERM $recorder
	wait $recorder
	status=$?
	stopped=$(($(now_ms) - began))
	[ $stopped -lt $best ] && best=$stopped
	[ $best -lt 1000 -a $took -lt 5000 ] && break
	until_true probes_are_gone $recorder
done
check "500 copies of an allocator: it records within 5 s ($took ms)" test $took -lt 5000
between '... with a bounded number of probes' 10 "$count" 200
check "SIGTERM while it records: gone within 1 s ($best ms)" test $best -lt 1000
check '... with the status that it ends with otherwise' test $status -eq 0 -o $status -eq 4
check '... and a whole file' "$MT_TOP/scripts/mtdump" --check many.mtr
says '... and says how many files are left out' 'left out: .*and [0-9]+ more' said
says '... with the C library first' 'malloc: [0-9]+ functions of [^,]*libc' said
check '... and leaves no probe' probes_are_gone $recorder

for wait in 0.05 0.5 0.9 1.4; do
	"$mtrec" -e malloc --malloc-sample auto -a -o stopped.mtr 2>"$err" &
	recorder=$!
	sleep $wait
	prepares=$([ -s stopped.mtr ] || echo yes)
	began=$(now_ms)
	kill -TERM $recorder
	wait $recorder
	took=$(($(now_ms) - began))
	if [ "$prepares" ]; then
		check "SIGTERM $wait s after the start, while it prepares: gone within 1 s ($took ms)" test $took -lt 1000
	fi
	check '... and no probe is left' probes_are_gone $recorder
	rm -f stopped.mtr
done

# --- Files that mtrec opens: 400 links to a device, in place of mapped files, a perf map, a jitdump and a source file ---
cat >generated.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#line 1 "theirs/source.c"
__attribute__((noinline)) static void touch(volatile char *p, long size) { for (long i = 0; i < size; i += 4096) p[i] = 1; }
__attribute__((noinline)) static void after(void) {}
int main(int argc, char **argv)
{
	char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(argv[1], O_RDWR);
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (unlink(argv[1]) || symlink("/dev/ptmx", argv[1]) || symlink("/dev/ptmx", path))
		return 1;
	memcpy(code, (void *)touch, (char *)after - (char *)touch);
	puts("mapped");
	fflush(stdout);
	for (;;) {
		char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		((void (*)(volatile char *, long))code)(p, 1 << 19);
		touch(p + (1 << 19), 1 << 19);
		munmap(p, 1 << 20);
		usleep(20000);
	}
}
C
${CC:-cc} -g -O1 -fcf-protection=none -o generated generated.c || exit 1
for i in $(seq 400); do ln -sf /dev/ptmx "theirs/fake$i.so"; done
ln -s /dev/ptmx theirs/source.c
ln -s /dev/ptmx theirs/link.so
mkfifo theirs/pipe.so
chown -h 65534 theirs/*
cp fake.so theirs/jit-1.dump
chown 65534 theirs/jit-1.dump
as_other ./generated theirs/jit-1.dump >mapped &
others+=($!)
until_true grep -q mapped mapped
# opened REGEX: prints how many calls in `opened` match, not counting those that only named the file (O_PATH).
opened() {
	grep -v O_PATH opened | grep -cE "$1"
}
for what in 'malloc --malloc-sample 64' vm,rss,page-faults; do
	strace -f -y -e trace=openat,open -o opened "$mtrec" -q -e $what -a -o trace.mtr -- sleep 0.5 2>"$err"
	is "$what: no device and no pipe is opened" "$(opened '"(/dev/ptmx|/dev/pts)|= [0-9]+</dev/(ptmx|pts)|/(link|pipe)\.so"')" 0
	is "$what: no foreign file is opened by its path" "$(opened ', "[^" ]*theirs/')" 0
done
for how in '--annotate touch' '--html out.html' '--info' ''; do
	strace -f -y -e trace=openat,open -o opened "$MT_BUILD/mtreport" $how trace.mtr >"$out" 2>"$err"
	is "mtreport $how: no device and no pipe is opened" "$(opened '= [0-9]+</dev/(ptmx|pts)')" 0
done
rm -f "/tmp/perf-${others[-1]}.map"
unmap
finish
