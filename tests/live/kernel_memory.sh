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
# hold_recorded OUT OPTION...: records a run; $before and $after are the files in use.
hold_recorded() {
	local out=$1 holder recorder
	shift
	./hold <go >held &
	holder=$!
	exec 3>go
	"$mtrec" -q -e kmem -p "$holder" -o "$out" "$@" 2>why &
	recorder=$!
	until_recording "$recorder" "$out"
	before=$(objects filp)
	echo >&3
	until_true grep -q held held
	after=$(objects filp)
	kill -TERM "$recorder"
	wait "$recorder"
	exec 3>&-
	wait "$holder"
}
hold_recorded k.mtr
"$report" -q --kernel-memory --csv --by kind k.mtr >kinds.csv
is 'each file is an object of the cache' 10000 "$(awk -F, '$1 == "filp" { print $3 }' kinds.csv)"
between '... as /proc/slabinfo has it' $((10000 * 95 / 100)) $((after - before)) $((10000 * 105 / 100 + 64))
"$report" -q --kernel-memory --folded --weight objects k.mtr >folded
says 'by the path that opened them' 'main;hold;.*alloc_empty_file;.* 10000$' folded
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check k.mtr

# Sampled by address: the interval holds the truth, which the program knows.
rm -f held
hold_recorded s.mtr --malloc-sample 16
"$report" --kernel-memory --csv --by kind s.mtr >kinds.csv 2>notes
says "1 in 16 objects: that they are estimates is said" "1 in 16 blocks was sampled" notes
read -r low estimate high < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == "filp" { print int($at["objects_low"]), int($at["objects"]), int($at["objects_high"]) + 1 }' kinds.csv)
# It holds 19 times in 20; one and a half of it nearly always.
between "... the interval holds the 10,000 files that are held ($low to $high, estimate $estimate)" $((low - (estimate - low) / 2)) 10000 \
	$((high + (high - estimate) / 2))
between '... and is as narrow as the sample allows' 1 $((high - low)) 6000
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check s.mtr
finish
