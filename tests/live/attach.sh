#!/bin/bash
# Programs that already run: recordings with -p, -t, -C and -a begin while they run, include the processes that they start, and end
# with them or at a signal.
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
build_steps
cd "$TMPDIR" || exit 1

# serve: starts `steps serve` with its words on descriptor 7 and its answers on 8; $served is its pid.
serve() {
	rm -f words answers
	mkfifo words answers
	"$steps" serve <words >answers &
	exec 7>words 8<answers
	read -r _ served <&8
}

# ask WORD PAGES: makes the program do WORD with PAGES, and sets $tid, $start and $end from its answer.
ask() {
	echo "$1 $2" >&7
	read -r _ tid start end <&8
}

# begin OPTION...: starts mtrec in the background, sets $recorder to its pid, and waits until it records.
begin() {
	rm -f live.mtr
	"$mtrec" -e page-faults -o live.mtr "$@" 2>said >stdout &
	recorder=$!
	until_recording $recorder live.mtr
}

# done_with STATUS DESCRIPTION: waits for mtrec, and checks its exit status.
done_with() {
	local status=0
	wait "$recorder" || status=$?
	is "$2" "$status" "$1"
}

serve
ask touch 10
begin -p "$served"
ask touch 100
main="$start $end $tid"
echo 'workers 50' >&7
read -r _ tid start end <&8
first="$start $end $tid"
read -r _ tid start end <&8
second="$start $end $tid"
ask thread 70
late="$start $end $tid"
kill -INT "$recorder"
done_with 0 '-p until SIGINT'
says '... prints its closing line' '^mtrec: .* 0 lost -> live.mtr$' said
ask touch 20
dump live.mtr
# shellcheck disable=SC2086
{
	is '... it has the main thread' "$(faults_in $main)" 100
	is '... a thread that existed before' "$(faults_in $first)" 50
	is '... another such thread' "$(faults_in $second)" 50
	is '... a thread that came later' "$(faults_in $late)" 70
	is '... and nothing after its end' "$(faults_in "$start" "$end")" 0
}
is '... its tasks are described' "$(grep -c " TASK .*pid=$served " "$dump")" 3
says '... with command line and start' " TASK .*pid=$served tid=$served .*start_ticks=[1-9][0-9]* .*exe=\"$steps\" cmdline=.*serve" \
	"$dump"
says '... its maps' " MAP .*pid=$served .*path=\"$steps\"" "$dump"
says '... the build id of its image' " IMAGE .* path=\"$steps\" build_id=[0-9a-f]{16,} " "$dump"
check 'the file follows FORMAT.md' "$MT_TOP/scripts/mtdump" --check live.mtr

worker=$(cut -d' ' -f3 <<<"$first")
begin -t "$worker"
echo 'workers 30' >&7
read -r _ tid start end <&8
first="$start $end $tid"
read -r _ tid start end <&8
second="$start $end $tid"
kill -TERM "$recorder"
done_with 0 '-t until SIGTERM'
dump live.mtr
# shellcheck disable=SC2086
{
	is '... the thread' "$(faults_in $first)" 30
	is '... and no other' "$(faults_in $second)" 0
}

begin -p "$served"
ask touch 10
echo 'quit 0' >&7
done_with 0 '-p ends with its target'

serve
expect 9 '-p with a command ends with the command' "$mtrec" -e page-faults -o live.mtr -p "$served" -- sh -c 'exit 9'
begin -p "$served"
kill -INT "$recorder"
done_with 4 'nothing happened: status 4'
says '... and says so' '^mtrec: no sample came while it recorded$' said
begin -p "$served,$$"
echo 'quit 0' >&7
sleep 0.5
check '-p of two processes continues while one of them runs' kill -0 "$recorder"
kill -HUP "$recorder"
wait "$recorder"
(
	trap '' HUP
	exec "$mtrec" -q -e page-faults -o live.mtr -p $$
) &
recorder=$!
sleep 0.5
kill -HUP "$recorder"
sleep 0.3
check 'nohup is respected' kill -0 "$recorder"
kill -INT "$recorder"
wait "$recorder"

if [ "$(id -u)" -ne 0 ]; then
	skip '-a and -C' 'recording every process needs root'
	finish
fi
serve
begin -a --call-graph none
ask touch 200
kill -INT "$recorder"
done_with 0 '-a until SIGINT'
dump live.mtr
is '... it has the faults of other processes' "$(faults_in "$start" "$end" "$tid")" 200
is '... but not the recorder' "$(grep -c "kernel=SAMPLE .* pid=$recorder " "$dump")" 0
between '... running processes are described' 5 "$(grep -c ' TASK ' "$dump")" 100000
says '... this shell too' " TASK .*pid=$$ tid=$$ " "$dump"
is '... but not the recorder' "$(grep -c " TASK .*pid=$recorder " "$dump")" 0
echo 'quit 0' >&7
wait "$!" 2>/dev/null

expect 0 "-a with a command" "$mtrec" -e page-faults --call-graph none -a -o live.mtr -- "$steps" faults 300
read -r _ tid start end < <(grep region "$out")
dump live.mtr
is '... it has the faults of the command' "$(faults_in "$start" "$end" "$tid")" 300

cpu=$(sed 's/[-,].*//' /sys/devices/system/cpu/online)
expect 0 '-C' "$mtrec" -e page-faults --call-graph none -C "$cpu" -o live.mtr -- taskset -c "$cpu" "$steps" faults 300
read -r _ tid start end < <(grep region "$out")
dump live.mtr
is '... has the faults on that CPU' "$(faults_in "$start" "$end" "$tid")" 300
is '... and nothing of other CPUs' "$(grep 'kernel=SAMPLE' "$dump" | grep -Evc " cpu=$cpu( |\$)")" 0
is '... and the recording says so, if there are others' "$(grep -c " INFO .*key=.target-cpus. value=.$cpu.$" "$dump")" \
	"$(($(nproc --all) > 1))"
finish
