#!/bin/bash
# Probes: functions of files and static probes, with their arguments; no probe remains afterwards.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_uprobes
needs_compiler
cd "$TMPDIR" || exit 1

build() { # FLAG...
	# shellcheck disable=SC2086
	${CC:-cc} -D_GNU_SOURCE -O1 -fno-optimize-sibling-calls "$@" "$MT_TOP/tests/workloads/probed.c"
}
build -g -o probed || exit 1

# record WORD...: records ./probed with -e WORD to probed.mtr, and writes its samples as text to $list. Dumps are small, so that the
# rings hold all of them on a busy machine, too.
list=$TMPDIR/list
record() {
	record_without_losses "recorded: ${*//$'\n'/ }" "$mtrec" --call-graph dwarf,2048 --no-seeds -o probed.mtr -e "$@" -- ./probed
	"$MT_BUILD/mtreport" --script probed.mtr >"$list" 2>"$err"
}
hits() { grep -Ec ":$1(/[^/]*/)?: " "$list"; }

record 'u:./probed:work(n=arg1,name=arg2:string)'
is 'a function is hit at every call' "$(hits work)" 1000
is '... with its arguments' "$(sed -n 's/.*work: .* n=\(0x\)*\([0-9a-f]*\) name=\(.*\)/\2 \3/p' "$list" | sort -u | wc -l)" 1000
says '... of both kinds' ' n=0x3e7 name=step$' "$list"
is '... and a whole stack' "$(grep -c ' outer+0x' "$list")" 1000
is '... which mtreport adds up' "$("$MT_BUILD/mtreport" --folded --weight n probed.mtr | awk '{ sum += $NF } END { print sum }')" 499500
expect 2 'a field that no event has' "$MT_BUILD/mtreport" --folded --weight m probed.mtr
record 'u:./probed:*ou*,u:./probed:main' --filter 'common_pid > 0'
is 'a pattern stands for every function that matches' "$(hits outer) $(hits countdown)" '1000 4000'
says '... and each is an event of its own' 'u:\./probed:outer' <("$MT_BUILD/mtreport" --info probed.mtr)
record 'u:./probed:work(n=%rdi)' --filter 'n >= 990'
is 'a filter on an argument' "$(hits work)" 10
record 'ur:./probed:work(r=retval:s32)'
is 'a return has the value' "$(sed -n 's/.* r=//p' "$list" | awk '{ sum += $1 } END { print sum }')" $((3 * 999 * 1000 / 2))
is '... and the stack of the caller' "$(grep -A1 ':work: ' "$list" | grep -c ' outer+0x')" 1000
record 'ur:./probed:countdown,u:./probed:countdown'
is 'functions with a pending return probe do not end stacks' "$(grep -c '_start+0x' "$list") $(hits countdown) $(hits countdown_1)" \
	'8000 4000 4000'
"$mtrec" -v -o probed.mtr -e 'ur:./probed:countdown,u:./probed:countdown' -- ./probed >said 2>&1
says 'the place that costs least is named' 'probe mtrec_.*/countdown_1: .* bytes in: a (push|jump|call) is emulated' said
record 'u:./probed:countdown,u:./probed:countdown+0'
is '... and has as many hits as the start' "$(hits countdown) $(hits countdown_1)" '4000 4000'
offset=$(objdump -d --disassemble=work probed | awk '/^ / { print $1; if (++n == 2) exit }' | tail -1)
start=$(nm probed | awk '$3 == "work" { print $1 }')
record "u:./probed:work+$((0x${offset%:} - 0x$start)),u:./probed:0x$start"
is 'a place within a function, and an address' "$(hits work) $(hits _0x0*[0-9a-f]*)" '1000 1000'
record 'u:libc:usleep'
says 'libc is the file that the command is linked with' 'usleep' <("$MT_BUILD/mtreport" --info probed.mtr)

# A stripped file, whose names are in .gnu_debugdata, or in the debug file of its build id.
cp probed whole
if command -v objcopy xz >/dev/null; then
	nm whole -f posix --defined-only | awk '$2 ~ /^[Tt]$/ { print $1 }' >keep
	objcopy -S --remove-section .gnu_debuglink --remove-section .comment --keep-symbols=keep whole mini 2>"$err"
	xz -f mini
	objcopy -S --add-section .gnu_debugdata=mini.xz whole probed
	record 'u:./probed:work'
	is 'names of .gnu_debugdata' "$(hits work)" 1000
	objcopy --only-keep-debug whole probed.debug
	objcopy -S --add-gnu-debuglink=probed.debug whole probed
	record "u:$TMPDIR/probed:work"
	is 'names of the debug file' "$(hits work)" 1000
	cp whole probed
else
	skip 'names of stripped files' 'no objcopy or xz here'
fi

# Static probes.
if build -DWITH_SDT -o probed 2>"$err"; then
	record 'usdt:./probed:demo:step'
	says 'the semaphore is up while it is recorded' '^listened 1000$' "$out"
	is '... and the probe has its arguments' "$(sed -n 's/.* arg1=\(.*\) arg2=\(.*\)/\1 \2/p' "$list" | awk '$1 == -$2' | wc -l)" 1000
	./probed >"$out"
	says '... and is down afterwards' '^listened 0$' "$out"
	./probed 100000 1000 >/dev/null &
	target=$!
	until_true grep -q 'r-xp.*/probed' /proc/$target/maps
	check '--list usdt -p' "$mtrec" --list usdt -p $target
	says '... has the word and the arguments' "^usdt:.*/probed:demo:step  \\(.+@.+ -2@.+\\)\$" "$out"
	kill $target
	wait $target 2>/dev/null
	cp whole probed
else
	skip 'static probes' 'no sys/sdt.h: install systemtap-sdt-dev'
fi

# A running target, whose file was replaced on disk: mtrec probes the mapped file.
./probed 100000 1000 >/dev/null &
target=$!
until_runs $target probed /libc
cp probed new
mv new probed
check 'a process, by name' "$mtrec" -q -o live.mtr -e 'u:probed:work,u:libc:usleep' -p $target --duration 300ms
"$MT_BUILD/mtreport" --script live.mtr >"$list" 2>"$err"
is '... whose file was replaced meanwhile' "$([ "$(hits work)" -gt 10 ] && echo hit)" hit

# No probe remains, however mtrec ends.
mine() { grep -c ":mtrec_$1_" "$probes"; }
start_recorder() {
	rm -f live.mtr
	"$mtrec" -q -o live.mtr -e 'u:probed:work,ur:libc:usleep' -p $target >/dev/null 2>&1 &
	recorder=$!
	until_recording $recorder live.mtr
}
for signal in INT TERM; do
	start_recorder
	is "probes are there, named for the process ($signal)" "$(mine $recorder)" 3
	kill -$signal $recorder
	wait $recorder
	is "... and gone after SIG$signal" "$(mine $recorder)" 0
done
for way in '--clean' '-q -e page-faults -o next.mtr -- true'; do
	start_recorder
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	is 'SIGKILL leaves them' "$(mine $recorder)" 3
	# shellcheck disable=SC2086
	check "... and mtrec ${way%% -o*} removes them" "$mtrec" $way
	is '... all' "$(mine $recorder)" 0
done
start_recorder
check "--clean spares a recorder that lives" "$mtrec" --clean
is '... and its probes' "$(mine $recorder)" 3
kill $recorder
wait $recorder
kill $target
wait $target 2>/dev/null

# refused WORD REGEX: checks for exit status 2 and a line with the reason.
refused() {
	expect 2 "refused: $1" "$mtrec" -o no.mtr -e "$1" -a -- true
	says "... $2" "$2"
	[ ! -e no.mtr ] || fail 'a refused word leaves no file'
}
refused "u:$TMPDIR/probed:wrk" 'has no function wrk'
says '... and what may have been meant' 'did you mean work'
refused "u:$TMPDIR/none:work" 'No such file'
refused "u:$TMPDIR:work" 'Is a directory'
refused 'u:/dev/null:work' 'not a regular file'
refused 'u:libnosuch:work' 'no target maps a file called libnosuch'
refused "usdt:$TMPDIR/probed:demo:none" 'has no static probe demo:none'
refused "u:$TMPDIR/probed:work(x=%zz)" 'no such register'
refused "u:$TMPDIR/probed:work(x=+0(%di):zz)" 'Unknown type'
refused "ur:$TMPDIR/probed:work(arg1)" 'gone when a function returns'
refused 'u:libc:memcpy' 'chooses among several'
if [ -e /sys/kernel/tracing/kprobe_events ]; then
	record 'k:do_exit(code=arg1)'
	says 'a function of the kernel' ':do_exit: .*code=' "$list"
else
	expect 125 'no kprobes' "$mtrec" -o no.mtr -e k:do_exit -- ./probed
	says '... is reported' 'this kernel has no kprobes \(CONFIG_KPROBE_EVENTS\)'
fi
if command -v setpriv >/dev/null; then
	expect 125 'a plain user' setpriv --reuid 65534 --clear-groups "$mtrec" -o no.mtr -e "u:$TMPDIR/probed:work" -- true
	says '... gets the message that root is needed' 'root'
fi
check 'nothing is left in tracefs' probes_are_gone
finish
