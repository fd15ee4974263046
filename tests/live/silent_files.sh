#!/bin/bash
# A program runs from a file system that no longer answers (a dead NFS mount, a FUSE daemon that hangs). mtrec cannot read the file, but
# continues, records the samples of all processes, and ends.
# timeout: 180
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
needs_command "${CC:-cc}"
cd "$TMPDIR" || exit 1
[ -c /dev/fuse ] || skip_all 'no /dev/fuse here'
"${CC:-cc}" -O1 -o silent_mount "$MT_TOP/tests/workloads/silent_mount.c" 2>why || skip_all "the FUSE server does not build: $(head -n 1 why)"
cat >touch.c <<'END'
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		char *p = mmap(NULL, 4096 * 50, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, 4096 * 50, MADV_NOHUGEPAGE);
		for (int k = 0; k < 50; k++)
			p[4096L * k] = 1;
		munmap(p, 4096 * 50);
		usleep(100000);
	}
	return 0;
}
END
"${CC:-cc}" -O1 -static -Wl,--build-id -o touch touch.c 2>why || skip_all 'no static C library'
cp touch beside
mkdir mount
./silent_mount mount touch >said 2>&1 &
server=$!
stop() {
	kill "$server" "$program" "$other" 2>/dev/null
	kill -KILL "$program" 2>/dev/null
	umount -l mount 2>/dev/null
}
trap stop EXIT
until_true test -s said
grep -q '^mounted' said || skip_all "FUSE cannot be mounted here: $(head -n 1 said)"
cat mount/program >/dev/null # all of it is in memory: it runs on when nobody answers
mount/program 600 &
program=$!
./beside 600 &
other=$!
until_true grep -q 'mount/program' /proc/$program/maps
kill -USR1 "$server"

mkdir empty # mtreport would ask the file here, too
# recorded NAME OPTION...: records all processes to NAME.mtr for a second; mtrec ends after one more deadline.
recorded() {
	local name=$1
	shift
	timeout -s KILL 60 "$mtrec" -a -e page-faults --duration 1s "$@" -o "$name.mtr" >"$name.said" 2>&1
	is "$name: the recording ends by itself" $? 0
	timeout 60 "$MT_BUILD/mtreport" -q --folded --symfs empty "$name.mtr" >"$name.folded" 2>"$name.why"
	check '... with samples of the program whose file does not answer' grep -q '^program' "$name.folded"
	check '... and of others' grep -q '^beside' "$name.folded"
}

recorded plain
check '... with names of the others' grep -q '^beside.*;main' plain.folded
recorded nothing --embed none
finish
