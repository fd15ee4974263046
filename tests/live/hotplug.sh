#!/bin/bash
# A CPU goes offline and comes back: mtrec opens its events again, and the recording says so. The test replaces the kernel's list of
# CPUs by a file of its own. With MT_HOTPLUG=1, the last CPU really goes offline, for two seconds.
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_root
[ "$(nproc)" -gt 1 ] || skip_all 'one CPU is to stay'
build_steps
cd "$TMPDIR" || exit 1
online=/sys/devices/system/cpu/online
last=$(sed 's/.*[-,]//' $online)
cp $online all
cp all list
sed "s/[-,]$last\$//" all >without
if [ -z "${MT_HOTPLUG:-}" ]; then
	unshare -m true 2>/dev/null || skip_all 'unshare -m is not allowed here'
	hidden=(unshare -m bash -c "mount --bind list $online && exec \"\$@\"" hidden)
	go_offline() { cat without >list; }
	come_back() { cat all >list; }
else
	hidden=()
	go_offline() { echo 0 >"/sys/devices/system/cpu/cpu$last/online"; }
	come_back() { echo 1 >"/sys/devices/system/cpu/cpu$last/online"; }
fi

"${hidden[@]}" "$mtrec" -C "$last" --comm '^steps$' -e page-faults --embed none -o f.mtr 2>said &
pid=$!
until_recording "$pid" f.mtr
go_offline
until_true grep -q "CPU $last went offline" said
come_back
until_true grep -q "CPU $last is online again" said
says 'that a CPU went' "^mtrec: CPU $last went offline\$" said
says '... and came back' "^mtrec: CPU $last is online again: what ran there" said
sleep 0.3
taskset -c "$last" "$steps" faults 300 >out
kill -INT "$pid"
wait "$pid"
is 'the recording' $? 0
says '... has lost nothing' ' 0 lost ->' said
"$MT_TOP/scripts/mtdump" --check f.mtr >/dev/null
is '... can be read' $? 0
dump f.mtr
read -r _ tid start end < <(grep region out)
is '... and has what ran there since' "$(faults_in "$start" "$end" "$tid")" 300
says '... with notes of it' "NOTE.*CPU $last is online again" "$dump"
finish
