#!/bin/bash
# If the writer cannot keep up, mtrec makes it real-time. It does so again after the writer was not real-time for a moment, in which
# it may have caught up.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
build_steps
cd "$TMPDIR" || exit 1

# urgent PID: prints its threads that are real-time and not bound to one CPU.
urgent() {
	local task
	for task in /proc/"$1"/task/*; do
		sed 's/.*) //' "$task/stat" | awk '$39 != 1 { exit 1 }' &&
			[ "$(awk '/^Cpus_allowed_list:/ { print $2 ~ /^[0-9]+$/ }' "$task/status")" = 0 ] &&
			echo "${task##*/}"
	done
	return 0
}

# storm_until_urgent: runs storms, 40 at most, until the writer's thread is urgent, and prints that thread.
storm_until_urgent() {
	local i
	for ((i = 0; i < 40; i++)); do
		echo >&9
		sleep 0.05
		urgent "$pid" >now
		comm -13 before now | grep . && return
	done
}

if [ "$(nproc)" = 1 ]; then
	skip_all 'with one CPU, any thread looks pinned'
fi
# attempt: makes a recording that no process reads while its command storms. writer: the thread that became real-time; left: the number
# of real-time threads after the test takes that from it; again: the thread that became real-time after that.
attempt() {
	rm -f hold out ready
	mkfifo hold out
	"$mtrec" -q -e brk,page-faults --memory 16M -z 0 --embed none -o out -- bash -c \
		"touch ready; while read -r; do '$steps' threads 2 20 >/dev/null; done" <hold 2>said &
	pid=$!
	exec 9>hold 8<out
	until_true test -e ready
	urgent "$pid" >before
	writer=$(storm_until_urgent)
	chrt -o -p 0 "${writer:-none}"
	left=$(urgent "$pid" | grep -cx "${writer:-none}")
	again=$(storm_until_urgent)
	exec 9>&-
	cat <&8 >f.mtr
	exec 8<&-
	wait "$pid"
	status=$?
}

# If the storms have filled all memory, nothing is handed on that could make the writer real-time again. If they continue, the writer is
# real-time again before the test looks. In both cases another attempt is made.
for _ in 1 2 3 4; do
	attempt
	[ -z "$writer" ] || [ "$left" != 0 ] || [ "$again" != "$writer" ] || break
done
is 'nobody reads: the writer is real-time' "$(wc -w <<<"$writer")" 1
is '... no longer' "$left" 0
is '... and again' "$again" "$writer"
is 'the recording' "$status" 0
finish
