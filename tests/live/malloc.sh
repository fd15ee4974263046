#!/bin/bash
# -e malloc: each call of the allocator that the target really uses is recorded, once.
# slow: the kernel takes a tenth of a second to take each probe off, and an allocator has seventeen
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

build() { # FLAG...
	# shellcheck disable=SC2086
	${CC:-cc} -D_GNU_SOURCE -O1 -fno-builtin "$@" "$MT_TOP/tests/workloads/allocates.c"
}
build -o allocates || exit 1

# record PROGRAM ROUNDS: records the program, and writes its calls to $list: "ROLE FUNCTION CALLS".
list=$TMPDIR/list
record() {
	until_none_lost "$err" record_once "$mtrec" -o m.mtr -e malloc -- "$1" "$2" || return
	"$MT_TOP/scripts/mtdump" m.mtr |
		sed -En 's/^  event [0-9]+ "([^"]*)" \("mtrec_[^"]*"\) (sample|mark): ([0-9]+) samples$/\2 \1 \3/p' |
		awk '{ sum[$1 " " $2] += $3 } END { for (k in sum) print k, sum[k] }' >"$list"
}
calls() { # ROLE FUNCTION...
	awk -v role="$1" -v names="$2" 'BEGIN { split(names, n); for (i in n) is[n[i]] = 1 } $1 == role && $2 in is { s += $3 } END { print s + 0 }' "$list"
}

# samples FUNCTION...: prints how many blocks the functions returned; entered FUNCTION...: how many of their entries were recorded.
samples() { calls sample "$*"; }
entered() { calls mark "$*"; }
check_counts() { # TITLE PROGRAM FILE
	check "recorded: $1" record "$2" 100
	says "... names the file that is probed" "^mtrec: malloc: [0-9]+ functions of [^ ]*$3" "$err"
	says '... nothing is lost' ', 0 lost' "$err"
	is '... each posix_memalign, once' "$(samples posix_memalign)" 100
	between '... each malloc, and those at the start of the program' 200 "$(samples malloc)" 210
	between '... each calloc' 100 "$(samples calloc)" 105
	is '... with the requested sizes' "$(entered malloc calloc posix_memalign)" "$(samples malloc calloc posix_memalign)"
}
check_libc() { # only glibc's functions do this: they call no other allocator function, except reallocarray
	is '... realloc, reallocarray, which calls it' "$(samples realloc) $(samples reallocarray)" '200 100'
	is '... aligned_alloc, memalign, which are one' "$(samples aligned_alloc memalign)" 200
	is '... free' "$(entered free)" 600
}

check_counts 'glibc' ./allocates libc.so.6
is '... exactly' "$(samples malloc) $(samples calloc)" '200 100'
check_libc
"$MT_BUILD/mtreport" --script m.mtr >"$TMPDIR/script"
says 'a block has its address and size' ':malloc: .* ptr=0x[0-9a-f]+ size=0x71$' "$TMPDIR/script"
says '... and a failed call has none' ':malloc: .* ptr=0x0 ' "$TMPDIR/script"
is '... and whole stacks' "$(grep -c ' main+0x' "$TMPDIR/script")" 900
"$MT_TOP/scripts/mtdump" --json m.mtr >json
for account in 'alloc of=malloc' 'enter of=calloc' 'free of=free'; do
	says "an event is '$account'" "\"account\": \"$account\"" json
done
"$mtrec" --stat -e malloc -- ./allocates 100 >"$out" 2>"$err"
"$MT_BUILD/mtreport" --info m.mtr >info 2>&1
says 'of every block 4 KiB of stack are copied' ' stack 4096 ' info
is '... and nothing else' "$(grep ' stack ' info | grep -cvE ' stack (4096|65528) ')" 0
says '--stat counts blocks' '^ *200 +malloc' "$err"

for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
	if PATH=$PATH:/sbin ldconfig -p | grep -q "[[:space:]]$library "; then
		export LD_PRELOAD=$library
		check_counts "$library" ./allocates "$library"
		unset LD_PRELOAD
	else
		skip "$library" "it is not here: scripts/install-deps ci"
	fi
done

if PATH=$PATH:/sbin ldconfig -p | grep -q '[[:space:]]libjemalloc.so.2 '; then
	check 'an allocator that comes with exec' "$mtrec" -q -e malloc -o later.mtr -- env LD_PRELOAD=libjemalloc.so.2 ./allocates 100
	expect 0 '... is not probed' "$MT_BUILD/mtreport" later.mtr
	says '... which is reported' '^! libjemalloc.so.2 is not probed: its blocks are missing \(mtrec -p PID\)$' "$out"
else
	skip 'an allocator that comes with exec' 'no libjemalloc here: scripts/install-deps ci'
fi

if build -static -o static 2>"$err"; then
	check_counts 'a static program' ./static static
	check_libc
	strip static
	expect 2 'a static program without symbols' "$mtrec" -o no.mtr -e malloc -- ./static
	says '... has no known allocator' 'no allocator with symbols'
else
	skip 'a static program' 'libc.a is not here'
fi

# Processes with different allocators.
start() { # LIBRARY
	LD_PRELOAD=$1 ./allocates 100000000 &
	started=$!
}
start ''
plain=$started
start libjemalloc.so.2 2>/dev/null
other=$started
until_runs $plain allocates libc.so
until_runs $other allocates libc.so
check 'two processes' "$mtrec" -o two.mtr -e malloc --malloc-sample all -p $plain,$other --duration 100ms
says '... with libc' 'of .*libc\.so\.6'
! grep -q libjemalloc /proc/$other/maps || says '... and jemalloc' 'of .*libjemalloc\.so\.2'
kill $plain $other
wait $plain $other 2>/dev/null

expect 2 'a rate' "$mtrec" -o no.mtr -e malloc -c 10 -- ./allocates
says '... cannot be combined with it' 'records every block'
if command -v setpriv >/dev/null; then
	expect 125 'a plain user' setpriv --reuid 65534 --clear-groups "$mtrec" -o no.mtr -e malloc -- true
	says '... gets the message that root is needed' 'root'
fi
if setpriv --list-caps 2>/dev/null | grep -q perfmon; then
	expect 125 'one with CAP_PERFMON' setpriv --reuid 65534 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon "$mtrec" -o no.mtr -e malloc -- true
	says '... gets the message what it can record' 'CAP_PERFMON does not suffice for probes. -e vm,rss needs none'
fi
check 'nothing is left in tracefs' probes_are_gone
finish
