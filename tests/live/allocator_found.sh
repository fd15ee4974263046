#!/bin/bash
# -e malloc with musl, static programs, and a program's own operator new: the blocks of each path are those that the program keeps.
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

cat >keeps.c <<'C'
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) void keep(void)
{
	void *block;

	for (int i = 0; i < 50; i++) {
		kept = malloc(100);
		free(malloc(100));
	}
	for (int i = 0; i < 20; i++)
		kept = calloc(3, 50);
	for (int i = 0; i < 10; i++) {
		block = malloc(5000);
		kept = malloc(16);
		block = reallocarray(block, 10, 2000);
		kept = block;
	}
	for (int i = 0; i < 5; i++) {
		if (!posix_memalign(&block, 64, 1000))
			kept = block;
	}
}
int main(int argc, char **argv)
{
	if (argc > 1 && read(0, argv[1], 1) < 0) /* until its standard input ends */
		return 1;
	keep();
	return 0;
}
C
blocks=95,$((50 * 100 + 20 * 150 + 10 * 20016 + 5 * 1000))

# An arena with its own operator new and delete. With HEADER, it takes each block from malloc, with room for a header before it.
cat >news.cpp <<'C'
#include <cstddef>
#include <cstdlib>
#include <new>
#ifdef HEADER
__attribute__((noinline)) void *operator new(std::size_t n) { return static_cast<char *>(std::malloc(n + 16)) + 16; }
__attribute__((noinline)) void operator delete(void *p) noexcept { std::free(static_cast<char *>(p) - 16); }
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { std::free(static_cast<char *>(p) - 16); }
#else
static char arena[1 << 20];
static std::size_t used;
static void *volatile freed;
__attribute__((noinline)) void *operator new(std::size_t n)
{
	used += (n + 15) / 16 * 16;
	return arena + used - (n + 15) / 16 * 16;
}
__attribute__((noinline)) void operator delete(void *p) noexcept { freed = p; }
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { freed = static_cast<char *>(p) + 1; }
#endif
struct thing {
	char bytes[40];
};
static void *volatile kept;
__attribute__((noinline)) void keep()
{
	for (int i = 0; i < 50; i++) {
		kept = new thing;
		thing *gone = new thing;
		kept = gone;
		delete gone;
	}
	for (int i = 0; i < 20; i++)
		kept = std::malloc(100);
}
int main()
{
	keep();
	return 0;
}
C
flags='-O1 -g -fno-builtin -fno-optimize-sibling-calls'

# kept: prints blocks and bytes of the paths through keep(), whatever their last frame is
kept() {
	"$MT_BUILD/mtreport" --blocks --csv m.mtr 2>"$TMPDIR/said" |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) is[$i] = i } /;keep/ { blocks += $is["blocks"]; bytes += $is["bytes"] } END { print blocks + 0 "," bytes + 0 }'
}
check_blocks() { # TITLE PROGRAM FILE WANTED
	record_without_losses "$1: recorded" "$mtrec" -o m.mtr -e malloc -- "$2"
	says '... by the functions of its allocator' "functions of [^ ]*$3" "$err"
	is '... has the blocks that are kept, and their bytes' "$(kept)" "$4"
	is '... and no odd frees' "$(grep -c 'blocks were' "$TMPDIR/said")" 0
}

if command -v musl-gcc >/dev/null; then
	# shellcheck disable=SC2086
	musl-gcc $flags -o musl keeps.c && musl-gcc $flags -static -o musl_static keeps.c || exit 1
	check_blocks 'musl' ./musl '(ld-musl[^ ]*|libc.so)' $blocks
	check_blocks 'musl, static' ./musl_static musl_static $blocks
	mkfifo begin
	./musl wait <begin &
	pid=$!
	exec 3>begin
	until_true grep -q musl "/proc/$pid/maps"
	rm -f m.mtr
	"$mtrec" -o m.mtr -e malloc --malloc-sample all -p $pid >"$out" 2>"$err" 3>&- &
	until_recording $! m.mtr
	exec 3>&-
	check 'musl, running' wait $!
	is '... has the same blocks' "$(kept)" $blocks
else
	skip 'musl' 'no musl-gcc: scripts/install-deps ci'
fi
# shellcheck disable=SC2086
if ${CC:-cc} $flags -static -o static keeps.c 2>"$err"; then
	check_blocks 'static' ./static static $blocks
	check '... sampled' "$mtrec" -o m.mtr -e malloc --malloc-sample 2 -- ./static
	is '... has its sizes without entries, as glibc keeps them' "$("$MT_TOP/scripts/mtdump" m.mtr | grep -c '"malloc" .*mark')" 0
else
	skip 'static' 'libc.a is not here'
fi
cxx=${CXX:-c++}
# shellcheck disable=SC2086
if command -v "${cxx%% *}" >/dev/null && $cxx $flags -o news news.cpp && $cxx $flags -DHEADER -o header news.cpp &&
	$cxx $flags -DHEADER -fno-plt -o header_got news.cpp; then
	check_blocks 'operator new of an arena' ./news news,.*libc 70,4000
	check_blocks 'operator new that calls malloc is malloc' ./header 'libc[^,]* are' $((50 + 20)),$((50 * 56 + 2000))
	check_blocks '... through its slot, too' ./header_got 'libc[^,]* are' $((50 + 20)),$((50 * 56 + 2000))
	if $cxx $flags -static -o news_static news.cpp 2>"$err"; then
		check_blocks 'operator new of a static program' ./news_static news_static 70,4000
	fi
else
	skip 'operator new' "no C++ compiler: $cxx"
fi
finish
