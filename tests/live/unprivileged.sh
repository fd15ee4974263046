#!/bin/bash
# Without privileges, with this machine's perf_event_paranoid: mtrec records, or says what the kernel refuses, why, and what to do.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
[ "$(id -u)" -eq 0 ] && needs_command setpriv
build_steps
cd "$TMPDIR" || exit 1
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

# A directory that another user can access, wherever the tree is.
free=$(mktemp -d /tmp/mtrec-unprivileged.XXXXXX) && chmod 755 "$free"
trap 'rm -rf "$free"' EXIT
cp "$mtrec" "$steps" "$free/" && mkdir "$free/home" && chmod 777 "$free/home"
cd "$free/home" || exit 1

as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
user() {
	"${as_user[@]}" "$@"
}

# refused DESCRIPTION STATUS REGEX HINT COMMAND...: checks for that exit status and two lines, one with the reason, one with advice.
refused() {
	local description=$1 status=$2 line=$3 hint=$4
	shift 4
	expect "$status" "$description" user "$free/mtrec" "$@"
	says '... gets a message with what and why' "^mtrec: .*$line" "$err"
	says '... and what to do' "^mtrec: .*$hint" "$err"
	is '... in two lines' "$(wc -l <"$err")" 2
}

if [ "$paranoid" -le 2 ]; then
	record_without_losses 'faults of an own command' user "$free/mtrec" -e page-faults --call-graph dwarf,1024 \
		-o own.mtr -- "$free/steps" faults 300
	read -r _ tid start end < <(grep region "$out")
	# the rings that any user may lock hold about a hundred small dumps, but few of the default size
	if [ "$(ulimit -l)" != unlimited ] && [ "$(ulimit -l)" -lt 16384 ]; then
		says '... the rings are as large as is allowed' '^mtrec: rings of [0-9]+ instead of [0-9]+ KiB a CPU, all that the mlock budget allows; .*perf_event_mlock_kb=[0-9]+ '
	fi
	dump own.mtr
	is '... every one' "$(faults_in "$start" "$end" "$tid")" 300
	says '... with stacks' ' event=1 .*callchain=.* dump_crc32=' "$dump"
	expect 0 'faults at the default settings' user "$free/mtrec" -e page-faults -o own.mtr -- "$free/steps" faults 300
	lost=$(sed -n 's/.* \([0-9,]*\) lost -> .*/\1/p' "$err")
	dump own.mtr
	between '... each is there or counted as lost' 300 $(($(samples_of 1) + lost)) 500
	mkfifo "$free/pipe"
	"${as_user[@]}" "$free/steps" serve <"$free/pipe" >"$free/ready" &
	exec 7>"$free/pipe"
	until_true grep -q ready "$free/ready"
	rm own.mtr
	"${as_user[@]}" "$free/mtrec" -e page-faults -o own.mtr -p $! 7>&- &
	until_recording $! own.mtr
	printf 'touch 100\nquit 0\n' >&7
	expect 0 'faults of an own process' wait $!
	dump own.mtr
	between '... every one' 100 "$(samples_of 1)" 150
	exec 7>&-
	wait
else
	refused 'faults of an own command' 125 'perf_event_open: ' 'perf_event_paranoid' -e page-faults -- true
fi
if [ "$paranoid" -gt 0 ]; then
	refused '-a' 3 'page-faults|of names and mappings|a ring buffer|perf_event_open' 'perf_event_paranoid' -e page-faults -a
	refused '-a with a command' 125 '(Permission denied|Operation not permitted)' 'root' -e page-faults -a -- true
else
	skip '-a is refused' 'perf_event_paranoid is 0 or less here'
fi
if [ "$(id -u)" -eq 0 ]; then
	expect 3 "another user's process" user "$free/mtrec" -e page-faults -p $$
	says '... gets a message with its owner, and what to do' \
		"^mtrec: process $$ belongs to root: run as root, or with CAP_PERFMON and CAP_SYS_PTRACE$"
	is '... in one line' "$(wc -l <"$err")" 1
fi
if [ ! -r /sys/kernel/tracing/events ] || ! user test -r /sys/kernel/tracing/events; then
	refused 'a tracepoint without tracefs' 3 'sched:sched_switch: cannot look up' 'root' -e sched:sched_switch -p 1
	expect 0 '--list without tracefs' user "$free/mtrec" --list
	cp "$out" "$free/list"
	says '... has the table' '^page-faults ' "$free/list"
	[ "$paranoid" -lt 1 ] || says '... as far as this user may' '^page-faults +software +part .*here: of own processes only' "$free/list"
	says '... and why not the rest' '^kmem +group +no +.*here: .*tracefs' "$free/list"
	expect 3 '... but cannot list a tracepoint' user "$free/mtrec" --list sched_switch
else
	skip 'tracepoints without tracefs' 'tracefs is open to everybody here'
fi
chmod 555 "$free/home"
expect 125 'a directory that is not ours' user "$free/mtrec" -e page-faults -o own2.mtr -- true
[ "$paranoid" -gt 2 ] || says '... is reported' '^mtrec: cannot write own2.mtr: Permission denied$'
is 'nothing was changed' "$(cat /proc/sys/kernel/perf_event_paranoid)" "$paranoid"
finish
