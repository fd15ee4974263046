#!/bin/bash
# Records system calls of the user's own processes without privileges and without tracefs: by a scan, its cache, a list that root
# wrote, or, if all of these fail, by page faults and mmap records.
# timeout: 180
# slow: scans all system calls several times
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command cc
[ "$(id -u)" -eq 0 ] || skip_all 'two users are needed: run as root'
needs_command setpriv
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip_all 'perf_event_paranoid is above 2'
free=$(mktemp -d /tmp/mtrec-own.XXXXXX) && chmod 755 "$free"
trap 'rm -rf "$free"' EXIT
cp "$mtrec" "$free/" && mkdir "$free/home" && chmod 777 "$free/home"
cat >"$free/grow.c" <<'EOF'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static __attribute__((noinline)) void map_some(int i)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, 8192);
	if (i & 1)
		munmap(p, 8192);
	usleep(200); /* small rings, and a drain at normal priority on a busy machine */
}
static __attribute__((noinline)) void grow_heap(void)
{
	memset(sbrk(4096), 1, 4096);
	usleep(200);
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		map_some(i);
	for (int i = 0; i < 70; i++)
		grow_heap();
}
EOF
cc -O1 -g -fno-inline -o "$free/grow" "$free/grow.c" || skip_all 'the test program does not build here'
cd "$free/home" || exit 1
user() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all \
		env HOME=/nonexistent XDG_CACHE_HOME="$free/home" "$@"
}
if user test -r /sys/kernel/tracing/events; then
	skip_all 'tracefs is open to everybody here'
fi

# calls EVENT FUNCTION: prints how many samples of that event have that function in their stack.
calls() {
	"$MT_BUILD/mtreport" --folded -e "$1" own.mtr 2>/dev/null | awk -v f="$2" '$0 ~ f { n += $NF } END { print n + 0 }'
}

# holds NAME: checks that the recording has every call, with complete stacks.
holds() {
	check "$1: every brk" test "$(calls brk ";main;grow_heap;")" -ge 70
	check "$1: every mmap" test "$(calls mmap ';main;map_some')" -eq 60
	check "$1: every munmap" test "$(calls munmap ';main;map_some')" -eq 30
	check "$1: every page touched" test "$(calls page-faults ';main;map_some')" -ge 120
	"$MT_BUILD/mtreport" own.mtr >summary 2>/dev/null
	check "$1: the stacks are complete" awk '/^stacks/ { exit !($2 == "all" || $2 >= 98) }' summary
}

record() {
	until_none_lost "$err" record_once user "$free/mtrec" -v --call-graph dwarf,8192 -e brk,mmap,munmap,page-faults -o own.mtr "$@"
}

expect 0 'without a list' record "$free/grow"
says '... a scan finds the ids' '^mtrec: tracepoints: a scan$'
says '... and what the recording lacks is said' 'no kernel side'
holds 'a scan'
expect 0 'once more' record "$free/grow"
says '... the ids are cached' '^mtrec: tracepoints: the cache of a scan, proven$'
holds 'the cache'
sed -i 's/^id 6/id 7/; s/^id 1/id 2/' mtrec/tracepoint-ids
expect 0 'with a cache of wrong ids' record "$free/grow"
holds 'a wrong cache'

expect 0 '--check as root writes a list' "$mtrec" --check --tracepoint-ids "$free/ids"
says '... and says so' "^ok +tracepoint ids +[0-9]+ written to $free/ids\$" "$out"
check '... with all tracepoints' test "$(grep -c '^id ' "$free/ids")" -gt 500
check '... and formats of the calls' grep -q '^format syscalls:sys_exit_brk$' "$free/ids"
rm -rf mtrec
expect 0 'with that list' record --tracepoint-ids "$free/ids" "$free/grow"
says '... it is used' 'the list of --tracepoint-ids, proven'
holds 'a list'
"$MT_BUILD/mtreport" --info own.mtr >info
sed 's/^id \([0-9]*\) syscalls/id 1\1 syscalls/' "$free/ids" >"$free/wrong"
expect 0 'with a list of wrong ids' record --tracepoint-ids "$free/wrong" "$free/grow"
holds 'a wrong list'
sed 's/^kernel .*/kernel 3.10.0 #1/' "$free/ids" >"$free/other"
expect 125 'with the list of another kernel' record --tracepoint-ids "$free/other" "$free/grow"
says '... is reported' 'was written by another kernel'
expect 125 'with something else' record --tracepoint-ids "$free/grow.c" "$free/grow"
says '... is reported, too' 'is not a list of tracepoint ids'
expect 2 'a false number' user "$free/mtrec" -e syscalls:sys_exit_brk=3 -o own.mtr "$free/grow"
says '... is reported with the right one' 'its id is [0-9]+ on this kernel, not 3$'
id=$(sed -n 's/^id \([0-9]*\) syscalls:sys_exit_brk$/\1/p' "$free/ids")
expect 0 'the right number' user "$free/mtrec" -e "syscalls:sys_exit_brk=$id" -o own.mtr "$free/grow"
check '... records' test "$(calls syscalls:sys_exit_brk ";main;grow_heap;")" -ge 70

expect 0 '--check without privileges' user "$free/mtrec" --check
says '... has brk for own processes' '^part +brk +own processes$' "$out"
says '... and what would allow more' 'needs: .*CAP_PERFMON' "$out"
finish
