#!/bin/bash
# A program makes files and holds them open: compares the kernel's memory for it, by path, with /proc/slabinfo.
# timeout: 180
# slow: makes tens of thousands of files
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
	char name[32];

	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%d", i);
		if (open(name, O_RDONLY | O_CREAT, 0600) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct rlimit most = {20000, 20000};
	char go;

	return argc < 2 || chdir(argv[1]) || setrlimit(RLIMIT_NOFILE, &most) || read(0, &go, 1) < 1 || hold(10000) || write(1, "held\n", 5) != 5 ||
	       read(0, &go, 1) < 0;
}
END
check 'a program that holds files' "${CC:-cc}" -O1 -g -o hold hold.c || finish

# Files in memory: each has one dentry, which stays.
files=$(mktemp -d -p /dev/shm mtrec-held-XXXXXX) || skip_all 'no /dev/shm'
trap 'rm -rf "$files"' EXIT

# objects CACHE: prints how many objects of the cache are in use. Objects that are free in a CPU's own slabs count as used until
# the CPU returns the slabs.
objects() {
	[ ! -w "/sys/kernel/slab/$1/shrink" ] || echo 1 >"/sys/kernel/slab/$1/shrink"
	awk -v name="$1" '$1 == name { print $2 }' /proc/slabinfo
}

# A process that reads /proc/PID/fd meanwhile makes a dentry and an inode of /proc for each open file. So as many dentries are
# subtracted as there are such inodes.
files_in() {
	echo "$(objects filp) $(($(objects dentry) - $(objects proc_inode_cache)))"
}

mkfifo go
# hold_recorded OUT OPTION...: records a run without losses; $filp, $dentry: by how many objects the caches grew in /proc/slabinfo.
hold_recorded() {
	until_none_lost why hold_once "$@"
	says "$1: recorded without losses, in one of three attempts" ', 0 lost -> ' why
}
hold_once() {
	local out=$1 holder recorder filp_before dentry_before
	shift
	rm -f held "$out"
	./hold "$files" <go >held &
	holder=$!
	exec 3>go
	"$mtrec" -e kmem -p "$holder" -o "$out" "$@" 2>why &
	recorder=$!
	until_recording "$recorder" "$out"
	read -r filp_before dentry_before < <(files_in)
	echo >&3
	until_true grep -q held held
	read -r filp dentry < <(files_in)
	filp=$((filp - filp_before)) dentry=$((dentry - dentry_before))
	kill -TERM "$recorder"
	wait "$recorder"
	exec 3>&-
	wait "$holder"
	find "$files" -type f -delete
}
hold_recorded k.mtr
"$report" -q --kernel-memory --csv --by kind k.mtr >kinds.csv
"$report" -q --kernel-memory --folded --weight objects k.mtr >folded
for cache in filp dentry; do
	is "each file is an object of $cache" 10000 "$(awk -F, -v name=$cache '$1 == name { print $3 }' kinds.csv)"
	size=$(awk -v name=$cache '$1 == name { print $4 }' /proc/slabinfo)
	is '... of its size' $((10000 * size)) "$(awk -F, -v name=$cache '$1 == name { print $2 }' kinds.csv)"
done
between 'files are as /proc/slabinfo has them, within 5 %' 9500 "$filp" 10500
between '... and their dentries' 9500 "$dentry" 10500
says 'by the path that opened them' 'main;hold;.*alloc_empty_file;.* 10000$' folded
says '... and made them' 'main;hold;.*;__d_alloc;.* 10000$' folded
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check k.mtr

# RCU frees inodes in softirqs, where some kernels count events that they do not record: recorded and lost events together are all.
if grep -q '\bname\b' /sys/kernel/tracing/events/kmem/kmem_cache_free/format && mkdir "/dev/shm/mtrec-test.$$"; then
	export -f objects
	# shellcheck disable=SC2016
	"$mtrec" -a -e kmem:kmem_cache_free --filter 'name=="shmem_inode_cache"' --call-graph none -o freed.mtr -- bash -c \
		'cd "$1"; before=$(objects shmem_inode_cache)
		for ((i = 0; i < 3000; i++)); do : >$i; done; cd /; rm -r "$1"
		for ((i = 0; i < 100 && $(objects shmem_inode_cache) > before + 100; i++)); do sleep 0.1; done' - "/dev/shm/mtrec-test.$$" 2>notes
	read -r recorded lost < <(sed -nE 's/.* s, ([0-9,]+) samples.* ([0-9,]+) lost.*/\1 \2/p' notes | tr -d ,)
	rm -rf "/dev/shm/mtrec-test.$$"
	between "every inode freed is recorded or counted as lost ($recorded, $lost)" 3001 $((recorded + lost)) 3100
else
	skip 'every inode freed is recorded or counted as lost' 'no name of the cache in the event, or no /dev/shm'
fi

# Objects are sampled by address: the interval contains the true number, which the program knows.
hold_recorded s.mtr --malloc-sample 16
"$report" --kernel-memory --csv --by kind s.mtr >kinds.csv 2>notes
says "1 in 16 objects: that they are estimates is said" "1 in 16 blocks was sampled" notes
read -r low estimate high < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == "filp" { print int($at["objects_low"]), int($at["objects"]), int($at["objects_high"]) + 1 }' kinds.csv)
# The interval contains it 19 times in 20; an interval that is one and a half times as wide nearly always does.
between "... the interval holds the 10,000 files that are held ($low to $high, estimate $estimate)" $((low - (estimate - low) / 2)) 10000 \
	$((high + (high - estimate) / 2))
between '... and is as narrow as the sample allows' 1 $((high - low)) 6000
check '... as FORMAT.md says' "$MT_TOP/scripts/mtdump" --check s.mtr
finish
