#!/bin/bash
# On kernels from 3.10 to 5.4, which tests/workloads/old_kernel.c emulates: the recorder uses the features of that kernel, reports
# the missing ones, and the recording has its samples with complete stacks and meaningful times.
# timeout: 240
# slow: a recording for each kernel from 3.10 to 5.4
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command cc
[ "$(id -u)" -eq 0 ] || skip_all 'tracepoints need root here'
case $(file -L "$mtrec" 2>/dev/null) in *'statically linked'*) skip_all 'a static mtrec cannot be preloaded into' ;; esac
cc -O1 -D_GNU_SOURCE -shared -fPIC -o "$TMPDIR/old_kernel.so" "$MT_TOP/tests/workloads/old_kernel.c" -ldl ||
	skip_all 'the library that plays old kernels does not build here'
case $(ldd "$mtrec" 2>/dev/null) in *libasan*) preload=$(cc -print-file-name=libasan.so): ;; *) preload= ;; esac
cd "$TMPDIR" || exit 1
cat >grow.c <<'EOF'
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static __attribute__((noinline)) void *map_some(void *ignored)
{
	for (int i = 0; i < 40; i++) {
		void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(p, 1, 8192);
		munmap(p, 8192);
	}
	return ignored;
}
static __attribute__((noinline)) void grow_heap(void)
{
	for (int i = 0; i < 50; i++)
		memset(sbrk(4096), 1, 4096);
}
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, map_some, NULL);
	pthread_join(thread, NULL);
	if (!fork()) {
		grow_heap();
		_exit(0);
	}
	wait(NULL);
	return 0;
}
EOF
cc -O1 -g -fno-inline -pthread -o grow grow.c || skip_all 'the test program does not build here'

# on VERSION COMMAND...: runs the command as on a kernel of that version.
on() {
	local version=$1
	shift
	env LD_PRELOAD="$preload$TMPDIR/old_kernel.so" OLD_KERNEL="$version" "$@"
}

# missing: prints the features that the kernel lacks according to -v, one word per line.
missing() {
	sed -n 's/^mtrec: this kernel gives us no \(.*\) (.*): .*/\1/p' "$err" | paste -sd,
}

# calls EVENT FUNCTION: prints how many samples of that event have that function in their stack.
calls() {
	"$MT_BUILD/mtreport" --folded -e "$1" our.mtr 2>/dev/null | awk -v f="$2" '$0 ~ f { n += $NF } END { print n + 0 }'
}

# holds NAME: checks that every call and page fault of the test program is there, unwound from main on.
holds() {
	"$MT_BUILD/mtreport" --comm grow our.mtr >summary 2>/dev/null
	check "$1: every brk of a child process" test "$(calls brk ';main;grow_heap;')" -ge 50
	check "$1: every mmap of another thread" test "$(calls mmap ';map_some')" -eq 40
	check "$1: every page fault" test "$(calls page-faults ';map_some')" -ge 80
	check "$1: the stacks are complete" awk -v least="${2:-97}" '/^stacks/ { exit !($2 == "all" || $2 >= least) }' summary
	"$MT_BUILD/mtreport" --info our.mtr >info 2>/dev/null
	check "$1: nothing is damaged" bash -c '! grep -E "^  (missing|damaged)" info'
	check "$1: it began now" awk -v now="$(date -u +%s)" '
		/^  started/ { gsub(/[-:]/, " "); t = mktime($2 " " $3 " " $4 " " $5 " " $6 " " $7); exit !(now - t < 20 && t <= now + 1) }' info
}

oldest='lost counts,event clock,exec in COMM,close on exec,MMAP2,identifier first,dummy event,id by ioctl'
for row in "3.10|$oldest" '4.4|lost counts' '4.15|lost counts' '4.18|lost counts' '5.4|lost counts'; do
	version=${row%%|*}
	until_none_lost "$err" record_once on "$version" "$mtrec" -v --call-graph dwarf,8192 -e brk,mmap,page-faults -o our.mtr env -u LD_PRELOAD ./grow
	is "$version: a recording" $? 0
	cp "$err" said
	is "$version: it misses what $version has not" "$(missing)" "${row#*|}"
	says "$version: ... and loses nothing" ', 0 lost ->' said
	TZ=UTC holds "$version"
	says "$version: the recording says what is missing" 'note .*no lost counts' info
	expect 0 "$version: --check" on "$version" "$mtrec" --check
	says "$version: ... names the kernel" "^ok +kernel +$version\\." "$out"
	check "$version: ... and all that is missed" test "$(grep -cE '^part +(lost counts|event clock|exec in COMM|MMAP2|identifier first)|^ok .* no: ' "$out")" -eq \
		"$(tr ',' '\n' <<<"${row#*|}" | wc -l)"
done
expect 0 '3.10: the clock' on 3.10 "$mtrec" -e page-faults -o our.mtr env -u LD_PRELOAD ./grow
"$MT_BUILD/mtreport" --info our.mtr >info 2>/dev/null
says "... is the kernel's own" 'clock +the kernel.s perf clock' info
expect 0 '3.10: the whole host' on 3.10 "$mtrec" -q --call-graph dwarf,8192 -e brk,mmap,page-faults -a -o our.mtr env -u LD_PRELOAD ./grow
TZ=UTC holds '3.10, -a' 90

expect 0 '3.10: --list' on 3.10 "$mtrec" --list
cp "$out" list
says '... has brk' '^brk +syscall +yes +rare ' list
says '... not what came later, and why' '^cgroup-switches +software +no +.*here: .*No such file' list

# Events that replace missing ones.
export OLD_KERNEL_WITHOUT=syscalls
expect 0 'without syscalls:*: --list' on 5.4 "$mtrec" --list
cp "$out" list
says '... what serves instead' '^vm +group +part +.*here: .*raw_syscalls with a filter serve' list
says '... what is missing' '^memory +group +part +.*here: .*no syscalls:sys_exit_mmap' list
says '... what is not' '^kmem +group +yes ' list
expect 0 'without syscalls:*' on 5.4 "$mtrec" -v --call-graph dwarf,8192 -e brk,mmap,page-faults -o our.mtr env -u LD_PRELOAD ./grow
says '... raw_syscalls serve, and it is said' 'raw_syscalls with a filter serve; calls of 32-bit programs are left out'
TZ=UTC holds 'raw_syscalls'
says '... the recording has the filter' 'brk = raw_syscalls:sys_exit/id == [0-9]+/: sample' info
expect 0 'the same on 3.10' on 3.10 "$mtrec" -q --call-graph dwarf,8192 -e brk,mmap,page-faults -o our.mtr env -u LD_PRELOAD ./grow
TZ=UTC holds 'raw_syscalls, 3.10'
export OLD_KERNEL_WITHOUT=tracepoints
expect 0 'without any tracepoint' on 5.4 "$mtrec" --call-graph dwarf,8192 -e brk,mmap -o our.mtr env -u LD_PRELOAD ./grow
says '... page faults and mmap records replace both' 'page faults and .* records stand in for brk, mmap;'
check '... one line says so' test "$(grep -c 'stand in' "$err")" -eq 1
check '... page faults are there' test "$(calls page-faults ';map_some')" -ge 80
"$MT_BUILD/mtreport" --info our.mtr >info 2>/dev/null
says '... with the records of data mappings' 'dummy: side-band, [1-9][0-9]{2,} records' info
expect 0 '... --list' on 5.4 "$mtrec" --list
cp "$out" list
says '... has the replacement' '^brk +syscall +part +.*here: page faults .* stand in for brk' list
says '... and what nothing replaces' '^kmem +group +no +.*here: .*tracefs' list
export OLD_KERNEL_WITHOUT=perf
expect 0 '--list without perf events' on 5.4 "$mtrec" --list
is '... has nothing of the table' "$(awk '$2 ~ /^(syscall|group|software)$/ && ($3 != "no" || !/here: cannot record: perf_event_open/)' "$out")" ''
expect 3 '--check without perf events' on 5.4 "$mtrec" --check
says '... says that nothing can be recorded' 'costs: nothing can be recorded' "$out"
finish
