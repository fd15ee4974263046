#!/bin/bash
# vm records all data for an account of address spaces: every call, failed ones too; the time at which each took the address
# space for writing; whose memory a new task has; and the mappings.
# timeout: 180
# together: it looks only at what it starts itself
. "$(dirname "$0")/../lib.sh"
needs_mtrec
needs_calls
[ "$(uname -m)" = x86_64 ] || skip_all 'the registers are those of x86_64'
# shellcheck disable=SC2086
${CC:-cc} -D_GNU_SOURCE -O1 -g -pthread -o "$TMPDIR/truth" "$MT_TOP/tests/workloads/ledger_truth.c" || exit 1
cd "$TMPDIR" || exit 1

record_without_losses 'vm of a program that moves its memory about' "$mtrec" -m 32M -e vm ./truth maps 8000 3 7 4
cp "$out" told
dump mtrec.mtr
cat >look.py <<'END'
import bisect, collections, re, sys

EVENT = re.compile(r' EVENT .* index=(\d+) role=(\d) .*? name="([^"]*)" alias="([^"]*)"')
SAMPLE = re.compile(r" (?:SAMPLE|KERNEL|PACKED) (\d+) event=(\d+) .*kernel=SAMPLE .*? pid=(\d+) tid=(\d+)")
RAW = re.compile(r" raw=([0-9a-f]*)")
REGISTER = re.compile(r"\b(di|si|dx):0x([0-9a-f]+)")
MARKER = 0x6d7472000000

events, calls, marks, tasks, mapped = {}, [], [], [], 0
for line in open(sys.argv[1], errors="replace"):
    event = EVENT.search(line)
    if event:
        events[int(event[1])] = (int(event[2]), event[3], event[4])
        continue
    mapped += " kernel=MMAP2 " in line and "//anon" in line
    sample = SAMPLE.search(line)
    if not sample:
        continue
    time, (role, name, alias) = int(sample[1]), events[int(sample[2])]
    raw = bytes.fromhex(RAW.search(line)[1])
    entry = (time, name, alias, int(sample[3]), int(sample[4]), raw, dict(
        (key, int(value, 16)) for key, value in REGISTER.findall(line)), " stack_dyn_size=" in line)
    (calls if role == 0 else marks).append(entry)
    if name == "task:task_newtask":
        tasks.append(int.from_bytes(raw[32:40], "little"))

pid = int(open("told").read().split()[1])


def result(call):
    return int.from_bytes(call[5][16:24], "little", signed=True)


def failed(call):
    return result(call) != call[6]["di"] if call[2] == "brk" else -4096 < result(call) < 0


markers = [call for call in calls if call[3] == pid and call[2] == "madvise" and call[6]["di"] == MARKER]
first, last = min(c[0] for c in markers), max(c[0] for c in markers)
mine = [call for call in calls if call[3] == pid and first <= call[0] <= last]
made = collections.Counter(call[2] for call in mine)
bad = collections.Counter(call[2] for call in mine if failed(call))
for name in "brk mmap munmap mremap mprotect madvise shmat shmdt".split():
    print("count", name, "made", made[name], "failed", bad[name])
print("markers", sorted((m[6]["si"], m[6]["dx"] - (1 << 64)) for m in markers)[:2], len(markers) % 2)
print("stacks", sum(not call[7] for call in calls), sum(mark[7] for mark in marks))

# each call is between its entry and its exit
enters, locks = collections.defaultdict(list), collections.defaultdict(list)
for mark in sorted(marks):
    if mark[1].startswith("syscalls:sys_enter_"):
        enters[mark[4], mark[2]].append(mark[0])
    if mark[1].startswith("mmap_lock:"):
        locks[mark[4]].append(mark[0])
unpaired = unlocked = 0
for call in mine:
    times = enters[call[4], call[2]]
    at = bisect.bisect_left(times, call[0])
    unpaired += at == 0
    begin = times[at - 1] if at else 0
    held = bisect.bisect_left(locks[call[4]], call[0]) - bisect.bisect_left(locks[call[4]], begin)
    unlocked += not failed(call) and call[2] in ("mmap", "munmap", "mremap") and held < 1
print("unpaired", unpaired, "unlocked", unlocked)
print("tasks", sum(not flags & 0x100 for flags in tasks) > 0, sum(flags & 0x10100 == 0x100 for flags in tasks) > 0,
      sum(flags & 0x10100 == 0x10100 for flags in tasks) >= 2)
print("mapped", mapped > made["mmap"] // 4)
END
python3 look.py "$dump" >seen 2>"$err" || cat "$err" >&2
grep '^count' told >want
grep '^count' seen >got
while read -r _ name _ count _ bad; do
	is "... $name: as many calls and failures as were made" "$(grep "^count $name " got)" "count $name made $count failed $bad"
done <want
is '... the workload has all calls' "$(wc -l <want)" 8
says '... its markers are in it' '^markers \[\(0, -2\), \(0, -1\)\] 0' seen
says '... each call has a stack, no mark has' '^stacks 0 0$' seen
if "$mtrec" --list mmap_lock:mmap_lock_acquire_returned >/dev/null 2>&1; then
	says '... each has an entry, and took the lock in between' '^unpaired 0 unlocked 0$' seen
else
	says '... each has an entry' '^unpaired 0 ' seen
	skip '... and took the lock in between' 'this kernel has no event of the lock'
fi
says '... new tasks say whose memory they have: copies, shared, threads' '^tasks True True True$' seen
says '... the side-band has mappings of no file' '^mapped True$' seen
check '... checkpoints are there' test "$(find . -name 'maps.[0-9]*' | wc -l)" -ge 4

expect 0 'rss' "$mtrec" -e rss -- ./truth maps 100 1
dump mtrec.mtr
if "$mtrec" --list kmem:rss_stat >/dev/null 2>&1; then
	number=$(sed -n 's/.* EVENT .* index=\([0-9]*\) role=1 .* name="kmem:rss_stat".*/\1/p' "$dump")
	faults=$(sed -n 's/.* EVENT .* index=\([0-9]*\) role=0 .* name="page-faults".*/\1/p' "$dump" | head -1)
	if grep -q 'name="kmem:mm_page_alloc/order > 0/"' "$dump"; then
		skip '... each change of the counts' 'this kernel reports changes in batches'
	else
		check '... a change of the counts about each fault' test "$(samples_of "$number")" -ge $(($(samples_of "$faults") / 2))
	fi
	is '... without stacks' "$(grep -c " event=$number .*\(callchain\|regs_abi\)" "$dump")" 0
	check 'counts alone are recorded' "$mtrec" -q -e rss -o counts.mtr -- true
	expect 0 '... and reported' "$MT_BUILD/mtreport" --resident counts.mtr
	says '... with what cannot be distinguished' 'munmap and madvise were not recorded: what was given back counts as reclaimed$' "$out"
else
	skip '... each change of the counts' 'this kernel does not report them'
fi

# mtrec reads /proc of a process that only sleeps: at the start, each second, at the end.
sleep 60 &
sleeper=$!
until_true grep -q sleep "/proc/$sleeper/comm"
expect 4 'gauges of a process without samples' "$mtrec" -q -e vm -p "$sleeper" -o gauges.mtr --duration 2200ms
size=$(awk '/^VmSize:/ { print $2 * 1024 }' "/proc/$sleeper/status")
lines=$(wc -l <"/proc/$sleeper/maps")
kill "$sleeper"
dump gauges.mtr
is '... its size, at both ends' "$(grep -c " GAUGE .* pid=$sleeper .* value=$size name=\"VmSize\"" "$dump")" 2
is '... and no other size' "$(grep ' GAUGE .*"VmSize"' "$dump" | grep -vc "value=$size ")" 0
is '... what is resident, exactly, at both ends' "$(grep -c ' GAUGE .*"smaps_rollup Rss"' "$dump")" 2
is '... its maps' "$(grep -c " MAP .* pid=$sleeper " "$dump")" "$lines"
is '... and again after the first reading and at the end' "$(grep -c " REREAD .* pid=$sleeper " "$dump")" $((2 * lines))
check '... as the page has it' "$MT_TOP/scripts/mtdump" --check gauges.mtr
expect 0 'gauges of a command and its children' "$mtrec" -q -e vm -o gauges.mtr -- sh -c 'sleep 1.7; :'
dump gauges.mtr
check '... both processes' test "$(grep -o ' GAUGE .* pid=[1-9][0-9]*' "$dump" | sed 's/.*pid=//' | sort -u | wc -l)" -eq 2
check 'the file is as the page has it' "$MT_TOP/scripts/mtdump" --check mtrec.mtr
finish
