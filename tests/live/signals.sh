#!/bin/bash
# Signals while a command runs: the command gets them, mtrec waits for it, and the file is readable whatever happens to mtrec.
# timeout: 120
# slow: kills mtrec at twenty moments
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

set -m # without it background processes and their children ignore SIGINT

# begin COMMAND...: mtrec with a command in the background, pid in $recorder, until the command has made ./started.
begin() {
	rm -f started ended live.mtr
	"$mtrec" -e page-faults -o live.mtr -- "$@" 2>said >stdout &
	recorder=$!
	until_true test -e started
	sleep 0.1
}

done_with() {
	local status=0
	wait "$recorder" || status=$?
	is "$2" "$status" "$1"
}

for signal in INT TERM HUP; do
	begin bash -c "trap 'sleep 0.3; touch ended; exit 5' $signal; touch started; while :; do sleep 0.05; done"
	kill -$signal "$recorder"
	done_with 5 "SIG$signal goes to the command, whose status is kept"
	check '... which is waited for' test -e ended
	says '... and the file is whole' '^mtrec: .* samples, .* 0 lost -> live.mtr$' said
done
begin sh -c 'touch started; exec sleep 20'
kill -TERM "$recorder"
done_with 143 'a command that SIGTERM ends'

# A terminal sends a signal to the whole process group: the command must not get it a second time from mtrec.
cat >twice.py <<'END'
import os, pty, subprocess, sys, time
mtrec, steps = sys.argv[1:3]
script = "n=0; trap 'n=$((n+1)); echo got $n >>got' INT; : >started; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit 6"
pid, terminal = pty.fork()
if not pid:
    os.execv(mtrec, [mtrec, "-q", "-e", "page-faults", "-o", "live.mtr", "--", "bash", "-c", script])
for _ in range(200):
    if os.path.exists("started"):
        break
    time.sleep(0.05)
os.write(terminal, b"\x03")
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
END
rm -f started got
is 'a ^C at the terminal' "$(python3 twice.py "$mtrec" "$steps")" 6
is '... reaches the command once' "$(cat got)" 'got 1'

# SIGSTOP: meanwhile the rings are full and events are lost; mtrec reports their count, and the file is whole.
rm -f go
begin sh -c "touch started; until [ -e go ]; do sleep 0.05; done; exec '$steps' faults 20000"
kill -STOP "$recorder"
touch go
sleep 5
kill -CONT "$recorder"
done_with 0 'stopped for 5 s: the status is that of the command'
says '... losses are reported' '^mtrec: .* samples, .* [1-9][0-9,]* lost -> live.mtr$' said
check '... and the file is whole' "$MT_TOP/scripts/mtdump" --check live.mtr
"$MT_BUILD/mtreport" --info live.mtr >info 2>&1
number() {
	sed -En "s/^ *$1 +([0-9,]+)\$/\1/p" info | tr -d ,
}
is '... samples and losses add up to all faults' "$(($(number samples) + $(number lost) >= 20000))" 1

# SIGKILL at 20 moments (MT_KILLS=100: at as many): the file is a valid prefix, and at most the last second is missing.
set +m
bad=0 read=0 kills=${MT_KILLS:-20}
for i in $(seq "$kills"); do
	rm -f live.mtr
	"$mtrec" -q -e page-faults --call-graph dwarf,1024 -o live.mtr -- "$steps" drip 2>said &
	recorder=$!
	until_true test -s live.mtr
	sleep "$((RANDOM % 14 / 10)).$((RANDOM % 10))"
	command=$(pgrep -P "$recorder")
	read -r now _ </proc/uptime # without a process, which would take its time on a busy machine
	kill -KILL "$recorder"
	now=$((10#${now/./} * 10000000))
	wait "$recorder" 2>/dev/null
	[ -z "$command" ] || kill -KILL "$command"
	"$MT_TOP/scripts/mtdump" --records --check live.mtr >"$dump" 2>checked && read=$((read + 1))
	sed "s/^/# $i: /" checked | head -n 5
	# After the last MARK, or the beginning, there is less than a second, and what writing a MARK takes: its drains have 0.2 s.
	since=$(sed -En 's/.* (MARK .*T|CLOCK .*monotonic)=([0-9]+) .*/\2/p' "$dump" | tail -n 1)
	[ $((now - since)) -lt 1200000000 ] || bad=$((bad + 1))
	[ $((now - since)) -lt 1200000000 ] || echo "# $i: $((now - since)) ns before the end"
done
is "$kills times SIGKILL: files that can be read" "$read" "$kills"
is '... and have all but the last second' "$bad" 0

finish
