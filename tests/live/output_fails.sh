#!/bin/bash
# Outputs of the recording: a pipe works like a file; an output that fails leaves a valid recording, and mtrec says so.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

# structure FILE: prints the kinds of chunks and records in FILE, without counts that differ from run to run.
structure() {
	"$MT_TOP/scripts/mtdump" --records "$1" | awk '{ print $4 }' | sort -u
}

# lasting DESCRIPTION LIMIT COMMAND...: checks that the command ends within LIMIT seconds; its exit status is in $status.
lasting() {
	local description=$1 limit=$2
	shift 2
	status=0
	timeout -s KILL "$limit" "$@" >"$out" 2>"$err" || status=$?
	[ "$status" -ne 137 ] && pass "$description" || fail "$description" "$err"
}

"$mtrec" -q -e page-faults -o file.mtr -- "$steps" faults 100 >said
"$mtrec" -q -e page-faults -o - -- "$steps" faults 100 2>said_err | cat >pipe.mtr
is 'a pipe gets what a file gets' "$(structure pipe.mtr)" "$(structure file.mtr)"
check '... and follows FORMAT.md' "$MT_TOP/scripts/mtdump" --check pipe.mtr
says "the command's output goes to stderr then" '^region ' said_err
is '... and nowhere else' "$(grep -ac '^region ' pipe.mtr)" 0
read -r _ tid start end < <(grep region said_err)
dump pipe.mtr
is '... with every sample' "$(faults_in "$start" "$end" "$tid")" 100
"$mtrec" -e page-faults -o - -- true 2>said_err >redirected.mtr
says 'the closing line names it' '-> standard output$' said_err
is '... which may be a file' "$(structure redirected.mtr)" "$(structure file.mtr)"

# a closed pipe: mtrec writes much more than a pipe holds. -z0, so that compression does not make it less
lasting 'a pipe that closes does not hang' 20 bash -c \
	"{ '$mtrec' -z0 -e page-faults -o - -- '$steps' faults 3000; echo status \$? >&2; } | head -c 1000 >head.mtr"
says '... fails with 125 for a command' '^status 125$'
says '... says why' '^mtrec: cannot write the recording: Broken pipe$'
says '... the command has run to its end' '^faults [0-9]+$'
"$steps" serve <<<'' >/dev/null
mkfifo words
"$steps" serve <words >/dev/null &
served=$!
exec 7>words
# touch_until_ended PAGES: has the server touch as many pages twice a second until the file "ended" exists, because neither a closed
# pipe nor a full disk shows when recording has begun.
touch_until_ended() {
	rm -f ended
	while [ ! -e ended ]; do
		sleep 0.5
		echo "touch $1"
	done >&7
}
touch_until_ended 3000 &
lasting '... without a command it ends' 20 bash -c \
	"{ '$mtrec' -z0 -e page-faults -o - -p $served; echo status \$? >&2; } | head -c 1000 >head.mtr"
says '... with 5' '^status 5$'
touch ended
exec 7>&-
wait
is 'the output is the beginning of a recording' "$("$MT_TOP/scripts/mtdump" --chunks head.mtr | grep -c HEAD)" 1

# a limit on the file size has the effect of a full disk, and needs no root
(ulimit -f 64; "$mtrec" -z0 -e page-faults -o limited.mtr -- "$steps" faults 2000 >said 2>said_err; echo $? >status)
is 'ulimit -f fails with 125' "$(cat status)" 125
says '... says why' '^mtrec: cannot write the recording: File too large$' said_err
says '... and what is left in the file' '^mtrec: what was written before \([0-9]+ bytes\) is a valid recording$' said_err
is '... as many bytes as it says' "$(stat -c %s limited.mtr)" "$(sed -n 's/.*(\([0-9]*\) bytes).*/\1/p' said_err)"
"$MT_TOP/scripts/mtdump" --chunks limited.mtr >chunks
is '... all of them in chunks' "$(grep -cE 'skipped|outside|torn|damaged' chunks)" 0
"$MT_TOP/scripts/mtdump" limited.mtr >summary
says '... the head among them' 'chunks:.*HEAD 1' summary

if [ "$(id -u)" -ne 0 ]; then
	skip 'a full disk' 'mounting a small tmpfs needs root'
	finish
fi
mkdir small
if ! mount -t tmpfs -o size=96k mtrec-test small 2>/dev/null; then
	skip 'a full disk' 'no tmpfs can be mounted here'
	finish
fi
expect 125 'a full disk fails with 125 for a command' "$mtrec" -z0 -e page-faults -o small/f.mtr -- "$steps" faults 2000
says '... says why' '^mtrec: cannot write the recording: No space left on device$'
cp small/f.mtr full.mtr
rm small/f.mtr
is '... as many bytes as it says' "$(stat -c %s full.mtr)" "$(sed -n 's/.*(\([0-9]*\) bytes).*/\1/p' "$err")"
"$MT_TOP/scripts/mtdump" full.mtr >summary
says '... a valid recording' 'chunks:.*HEAD 1' summary
mkfifo words2
"$steps" serve <words2 >/dev/null &
served=$!
exec 7>words2
touch_until_ended 2000 &
lasting '... without a command it ends' 20 "$mtrec" -z0 -e page-faults -o small/f.mtr -p "$served"
is '... with 5' "$status" 5
touch ended
exec 7>&-
wait
umount small
finish
