#!/bin/bash
# -p with more threads than files that mtrec may open: mtrec records whole CPUs, and keeps only the target, its threads and its children.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_command cc
[ "$(id -u)" -eq 0 ] || skip_all 'recording whole CPUs needs root'
cd "$TMPDIR" || exit 1
cat >many.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t go = PTHREAD_MUTEX_INITIALIZER;
static __attribute__((noinline)) void map_one(void)
{
	munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}
static void *thread(void *ignored)
{
	pthread_mutex_lock(&go);
	pthread_mutex_unlock(&go);
	map_one();
	return ignored;
}
int main(void)
{
	pthread_t threads[100];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_mutex_lock(&go);
	for (int i = 0; i < 100; i++)
		pthread_create(&threads[i], &small, thread, NULL);
	puts("ready");
	fflush(stdout);
	getchar();
	pthread_mutex_unlock(&go);
	for (int i = 0; i < 100; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 20; i++) {
		if (!fork()) {
			map_one();
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
EOF
cat >noise.c <<'EOF'
#include <sys/mman.h>
#include <unistd.h>
static __attribute__((noinline)) void map_one(void)
{
	munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}
int main(void)
{
	for (;; usleep(2000))
		map_one();
}
EOF
cc -O1 -g -fno-inline -pthread -o many many.c && cc -O1 -g -fno-inline -o noise noise.c || skip_all 'the test programs do not build here'
./noise &
noise=$!
mkfifo words
# Whole CPUs are recorded: faults of other programs may fill the rings, so a run with losses is repeated.
attempt() {
	local status
	rm -f many.mtr
	./many <words >ready &
	target=$!
	exec 7>words
	until_true grep -q ready ready
	bash -c 'ulimit -n 200; exec "$0" "$@"' "$mtrec" --call-graph dwarf,2048 -e mmap,page-faults -p $target -o many.mtr 2>said 7>&- &
	recorder=$!
	until_recording $recorder many.mtr
	echo go >&7
	wait $recorder
	status=$?
	exec 7>&-
	return $status
}
until_none_lost said attempt
is '100 threads with 200 files' $? 0
says '... whole CPUs are recorded, and it is said' 'whole CPUs are recorded and what is not of the targets is dropped: 101 threads, .* ulimit -n [0-9]+' said
says '... nothing is lost, in one of three attempts' ', 0 lost ->' said
kill $noise
"$MT_BUILD/mtreport" --folded -e mmap many.mtr >folded 2>/dev/null
is '... every thread and every child is there' "$(awk '/;map_one/ { n += $NF } END { print n }' folded)" 120
is '... and not the others' "$(grep -c '^mmap;noise;' folded)" 0
wait
finish
