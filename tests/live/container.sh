#!/bin/bash
# mtrec records a C++ program in a mount namespace and root directory of its own from outside, and carries its inlined functions and
# lines by default. The screen and all other reports are the same in a place without the program's files.
# timeout: 120
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_root 'unshare -m'
needs_mtrec
needs_command "${CXX:-g++}"
cd "$TMPDIR" || exit 1
report=$MT_BUILD/mtreport
prepare_nothing "$report"
"${CXX:-g++}" -O2 -g -std=c++17 -o grower "$MT_TOP/tests/workloads/grower.cpp" || exit 1
mkdir root root/tmp root/app
put_program root grower
mv root/grower root/app/


# inside OPTION...: records a program that already runs there.
inside() {
	unshare -m chroot root /ld.so --library-path / /app/grower 100000 2000 >ran &
	for _ in {1..100}; do
		[ "$(cat "/proc/$!/comm")" = ld.so ] && break
		sleep 0.05
	done
	"$MT_BUILD/mtrec" -q -e vm,rss -p $! "$@" -- sleep 1.2
	status=$?
	kill $!
	wait $! 2>why
	return $status
}

check 'a program in a container is recorded from outside' inside -o inside.mtr
check 'the file follows FORMAT.md' "$MT_TOP/scripts/mtdump" --check inside.mtr
"$MT_BUILD/mtrec" -q -e vm,rss -o plain.mtr ./grower 400 >ran 2>said
"$MT_BUILD/mtrec" -q -e vm,rss --embed lines -o lines.mtr ./grower 400 >ran 2>said
inside --embed symbols -o less.mtr 2>said

# same DESCRIPTION FILE OPTION...: the report is the same here and without any files, byte for byte, and is not empty.
same() {
	local what=$1 file=$2
	shift 2
	"$report" -q "$@" "$file" >here 2>why
	in_nothing mtreport -q "$@" "$file" >elsewhere 2>>why
	{ diff here elsewhere && cat why; } >differs
	if [ -s here ] && cmp -s here elsewhere; then pass "$what"; else fail "$what" differs; fi
}

"$report" -q --folded --srcline inside.mtr >named
check 'the program in the container has lines' grep -q 'SessionCache::remember grower.cpp:' named
mv root/app root/gone
mv grower gone
same 'the screen' inside.mtr
same '--growth --folded' inside.mtr --growth --folded
same '--outstanding --paths' inside.mtr --outstanding --paths
same '--folded with lines' inside.mtr --folded --srcline
"$report" -q --folded --srcline inside.mtr >unnamed
check '... and as before the files were removed' diff named unnamed
same 'the screen of a program outside a container, with --embed lines' lines.mtr
same '--growth --folded' lines.mtr --growth --folded

in_nothing mtreport lines.mtr >shown 2>said
check 'if lines are carried, no message is printed' test "$(grep -c 'inlined functions and lines' said)" -eq 0
in_nothing mtreport plain.mtr >shown 2>said
says 'lines that stayed on the host are reported, once' 'inlined functions and lines are not at hand for .*grower' said
check '... in one line' test "$(grep -c 'inlined functions and lines' said)" -eq 1
says '... with what to do' 'mtreport --seal OUT --embed lines FILE there adds it, mtrec --embed lines records it' said
in_nothing mtreport --no-inline --folded plain.mtr >shown 2>said
check '... but not if no lines are requested' test "$(grep -c 'inlined functions and lines' said)" -eq 0
in_nothing mtreport less.mtr >shown 2>said
says '--embed symbols carries no lines of a container, either' 'inlined functions and lines are not at hand' said
finish
