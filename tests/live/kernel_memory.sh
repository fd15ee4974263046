#!/bin/bash
# A program that opens files and holds them: what the kernel holds for it, by path and beside /proc/slabinfo.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
report=$MT_BUILD/mtreport
cd "$TMPDIR" || exit 1
[ -e /sys/kernel/tracing/events/kmem/kmem_cache_alloc ] || skip_all 'no tracepoints of the kernel'"'"'s allocators'
cat >hold.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((noinline)) static int hold(int count)
{
	for (int i = 0; i < count; i++) {
		if (open("/dev/null", O_RDONLY) < 0)
			return 1;
	}
	return 0;
}

int main(void)
{
	struct rlimit most = {20000, 20000};

	char go;

	return setrlimit(RLIMIT_NOFILE, &most) || read(0, &go, 1) < 1 || hold(10000) || write(1, "held\n", 5) != 5 ||
	       read(0, &go, 1) < 0;
}
END
check 'a program that holds files' "${CC:-cc}" -O1 -g -o hold hold.c || finish

# objects CACHE: how many of it are in use
objects() {
	awk -v name="$1" '$1 == name { print $2 }' /proc/slabinfo
}

mkfifo go
./hold <go >held &
holder=$!
exec 3>go
"$mtrec" -q -e kmem -p "$holder" -o k.mtr 2>why &
recorder=$!
until_recording "$recorder" k.mtr
before=$(objects filp)
echo >&3
until_true grep -q held held
after=$(objects filp)
kill -TERM "$recorder"
wait "$recorder"
exec 3>&-
wait "$holder"
"$report" -q --kernel-memory --csv --by kind k.mtr >kinds.csv
is 'each file is an object of the cache' 10000 "$(awk -F, '$1 == "filp" { print $3 }' kinds.csv)"
between '... as /proc/slabinfo has it' $((10000 * 95 / 100)) $((after - before)) $((10000 * 105 / 100 + 64))
"$report" -q --kernel-memory --folded --weight objects k.mtr >folded
says 'by the path that opened them' 'main;hold;.*alloc_empty_file;.* 10000$' folded
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check k.mtr
finish
