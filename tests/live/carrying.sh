#!/bin/bash
# Files that mtrec carries while it records, and at the end: a second signal ends the carrying, and the recording is complete.
# timeout: 120
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

set -m # without it background processes ignore SIGINT

# A program has so much "debug information" that carrying it takes seconds. Signals come every 50 ms: the first ends the recording,
# one of the next ends the carrying. Without the latter, no line says that an image is not carried.
seq 12000000 >much
cat >much.S <<'ASM'
	.section .note.GNU-stack,"",%progbits
	.section .debug_info,"",%progbits
	.incbin "much"
ASM
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -pthread -o large "$MT_TOP/tests/workloads/steps.c" much.S || exit 1
rm much
mkfifo words answers
./large serve <words >answers &
exec 7>words 8<answers
read -r _ served <&8
"$mtrec" -e page-faults --embed lines -o live.mtr -p "$served" 2>said &
recorder=$!
until_recording $recorder live.mtr
echo 'touch 20' >&7
read -r _ <&8
sleep 1.2 # two marks: the image is offered
kill -INT $recorder
unhurried() {
	cat /proc/$recorder/task/*/stat 2>/dev/null | sed 's/.*) //' | awk '$17 > 0' | grep -q .
}
hurries() {
	! unhurried
}
hurried=no
if until_true hurries && kill -0 $recorder 2>/dev/null; then hurried=yes; fi
while kill -INT $recorder 2>/dev/null; do sleep 0.05; done
status=0
wait $recorder || status=$?
exec 7>&- 8<&-
if [ "$(id -u)" -eq 0 ]; then
	is 'once the recording is over no thread gives way to others' $hurried yes
else
	skip 'once the recording is over no thread gives way to others' 'only root takes niceness back'
fi
is 'another signal ends the carrying; the exit status is as for one' "$status" 0
says '... it reports how many images are not carried' '[1-9][0-9]* images are not carried' said
says '... and what was recorded, last' '^mtrec: .* samples, .* 0 lost -> live.mtr$' said
check '... the file is whole' "$MT_TOP/scripts/mtdump" --check live.mtr
"$MT_BUILD/mtreport" --info live.mtr >info 2>&1
says '... and --info reports it, too' 'images are not carried' info

# killed COMMAND...: records a command that prints READY and continues, until its names are in the file; the recording has no end.
# Its report, made without any file of this machine, is in $TMPDIR/elsewhere.
mkdir empty
put_program empty "$MT_BUILD/mtreport"
killed() {
	rm -f live.mtr
	"$mtrec" -q -e page-faults -o live.mtr "$@" >/dev/null 2>&1 &
	local recorder=$! command
	until_true carries "1 .*/jitted.*"
	until_true carries "1 .*/ld[-.0-9a-z_]*so.*"
	until_true carries 3
	until_true carries 4
	command=$(pgrep -P "$recorder")
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	[ -z "$command" ] || kill -KILL "$command"
	cp live.mtr empty/read.mtr
	chroot empty /ld.so --library-path / /mtreport -q --folded --no-inline read.mtr >elsewhere 2>why
}

# carries KIND[ PATTERN]: true if the recording has a FILE of that kind by now
carries() {
	[ -s live.mtr ] && dump live.mtr 2>/dev/null
	grep -Eq " FILE .*kind=$1( |$)" "$dump"
}

# A program ends, and its file is gone by the end of the recording: all its sampled code has names, not just the code that
# was carried by then.
if [ "$(id -u)" -eq 0 ]; then
	build_steps
	cp "$steps" gone
	rm -f words answers
	mkfifo words answers
	./gone serve <words >answers &
	exec 7>words 8<answers
	read -r _ served <&8
	rm -f live.mtr
	"$mtrec" -q -e page-faults -p "$served" -o live.mtr 2>/dev/null &
	recorder=$!
	until_recording $recorder live.mtr
	echo 'touch 20' >&7
	until_true carries "1 .*/gone.*"
	echo 'workers 20' >&7
	sleep 0.2
	rm gone
	echo 'end 0' >&7
	wait $recorder
	exec 7>&- 8<&-
	cp live.mtr empty/read.mtr
	chroot empty /ld.so --library-path / /mtreport -q --folded --no-inline read.mtr >elsewhere 2>why
	check 'what a program did before it was gone is named' grep -q ';main;touch ' elsewhere
	check '... and what it did later' grep -q ';serve_thread;touch ' elsewhere
else
	skip 'what a program did before it was gone is named' 'chroot needs root'
fi

if [ "$(id -u)" -ne 0 ]; then
	skip 'names in a recording that was killed' 'chroot, and /proc/kallsyms, need root'
elif [ "$(uname -m)" != x86_64 ]; then
	skip 'names in a recording that was killed' 'the workload is x86-64 code'
else
	"${CC:-cc}" -O1 -g -o jitted "$MT_TOP/tests/workloads/jitted.c" || exit 1
	killed ./jitted 50 60
	check 'killed: code is named out of the perf map as it was' grep -q ';jitted touch of pages 50$' elsewhere
	check '... and what maps the program, of which is carried what was seen' grep -q ';dl_main[; ]' elsewhere
	check '... and its FILE record says so' grep -q ' FILE .*kind=1 .*kept=35 .*/jitted' "$dump"
	check '... and another FILE record says that it is a piece' grep -q ' FILE .*kind=4 .*kept=8 ' "$dump"
	check '... and the recording is sound' "$MT_TOP/scripts/mtdump" --check live.mtr
	if [ "$(cat /proc/sys/kernel/kptr_restrict)" = 2 ]; then
		skip '... and that of the kernel, too' 'kptr_restrict is 2'
	else
		check '... and that of the kernel, too' grep -Eq '[; ][a-z_0-9]*execve[a-z_0-9]*;' elsewhere
	fi
fi
finish
